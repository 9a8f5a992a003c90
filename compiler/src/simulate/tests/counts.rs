//! Counts of patterns whose cost is known.

use super::transpose::transpose;
use super::*;
use crate::simulate::simulate;
use tileproof_model::report::SiteCounts;

fn counts(kernel: &Kernel, grid: [u32; 3], shape: [u64; 2]) -> Vec<SiteCounts> {
    let bytes = vec![0; (shape[0] * shape[1] * 4) as usize];
    let mut result = bytes.clone();
    let arguments = &mut [input(&bytes, &shape), output(&mut result, &[shape[1], shape[0]])];
    simulate(kernel, grid, arguments).unwrap()
}

#[test]
fn tile_transposes() {
    for (layout, wavefronts) in
        [(Layout::RowMajor, 32), (Layout::Pad(1), 1), (Layout::Xor(1), 1), (Layout::Pad(2), 2)]
    {
        let [load, fill, drain, store] = counts(&transpose(layout), [2, 3, 1], [96, 64])[..] else {
            panic!("4 sites");
        };
        // 6 blocks of 8 warps, 4 iterations.
        let instructions = 6 * 8 * 4;
        let global = SiteCounts {
            instructions,
            lanes: 32 * instructions,
            sectors: 4 * instructions,
            ideal_sectors: 4 * instructions,
            lines: instructions,
            useful_bytes: 128 * instructions,
            ..SiteCounts::default()
        };
        let shared = |wavefronts| SiteCounts {
            instructions,
            lanes: 32 * instructions,
            wavefronts: wavefronts * instructions,
            ideal_wavefronts: instructions,
            useful_bytes: 128 * instructions,
            ..SiteCounts::default()
        };
        assert_eq!([load, fill, drain, store], [global, shared(1), shared(wavefronts), global], "{layout:?}");
    }
}

#[test]
fn edges_count_active_lanes() {
    // 33 columns: in the second block column one lane of each warp is inside.
    let [load, fill, _, store] = counts(&transpose(Layout::Pad(1)), [2, 1, 1], [32, 33])[..] else {
        panic!("4 sites");
    };
    assert_eq!((load.instructions, load.lanes, load.useful_bytes), (64, 32 * 33, 32 * 33 * 4));
    assert_eq!((fill.instructions, fill.wavefronts), (64, 64));
    // The row of the output that the second block column holds is written by one warp, the 32 others by 8 warps 4 times.
    assert_eq!((store.instructions, store.sectors), (33, 33 * 4));
}

#[test]
fn a_transposed_store_takes_a_sector_a_lane() {
    let mut b = Builder::new([32, 1, 1]);
    let target = Base::Tensor(b.tensor("output", Scalar::F32, 2, true));
    let (x, zero) = (b.thread(Axis::X), b.index(0));
    let value = b.expr(ExprKind::Float(1.5), Scalar::F32);
    let store = b.store(target, &[x, zero], value);
    let kernel = b.build(vec![store]);
    let mut result = vec![0; 32 * 64 * 4];
    let counts = simulate(&kernel, [1; 3], &mut [output(&mut result, &[32, 64])]).unwrap();
    let expected = SiteCounts {
        instructions: 1,
        lanes: 32,
        sectors: 32,
        ideal_sectors: 4,
        lines: 32,
        useful_bytes: 128,
        ..SiteCounts::default()
    };
    assert_eq!(counts, [expected]);
}

#[test]
fn the_base_decides_the_sectors() {
    let mut b = Builder::new([32, 1, 1]);
    let source = Base::Tensor(b.tensor("input", Scalar::F32, 1, false));
    let x = b.thread(Axis::X);
    let (load, _) = b.load(source, &[x], 1);
    let kernel = b.build(vec![load]);
    for (base, sectors) in [(0, 4), (4, 5), (32, 4), (252, 5)] {
        let bytes = [0; 128];
        let mut argument = input(&bytes, &[32]);
        if let Argument::Tensor(tensor) = &mut argument {
            tensor.base = base;
        }
        let counts = simulate(&kernel, [1; 3], &mut [argument]).unwrap();
        assert_eq!((counts[0].sectors, counts[0].ideal_sectors), (sectors, 4), "base {base}");
    }
}

#[test]
fn broadcast_and_vectors() {
    let mut b = Builder::new([32, 1, 1]);
    let tile = Base::Tile(b.tile(Scalar::F32, &[128], Layout::RowMajor));
    let (x, four, zero) = (b.thread(Axis::X), b.index(4), b.index(0));
    let value = b.expr(ExprKind::Float(1.0), Scalar::F32);
    let vector = b.typed(ExprKind::Vector(vec![value; 4]), Type::Vector(Scalar::F32, 4));
    let column = b.binary(BinaryOp::Mul, x, four);
    let store = b.store(tile, &[column], vector);
    let sync = b.sync();
    let (load, _) = b.load(tile, &[zero], 1);
    let kernel = b.build(vec![store, sync, load]);
    let [store, load] = simulate(&kernel, [1; 3], &mut []).unwrap()[..] else { panic!("2 sites") };
    assert_eq!((store.wavefronts, store.ideal_wavefronts, store.useful_bytes), (4, 4, 512));
    assert_eq!((load.wavefronts, load.ideal_wavefronts, load.useful_bytes), (1, 1, 4));
}

#[test]
fn a_grid_without_blocks_counts_nothing() {
    let counts = counts(&transpose(Layout::RowMajor), [0, 1, 1], [32, 0]);
    assert_eq!(counts, [SiteCounts::default(); 4]);
}
