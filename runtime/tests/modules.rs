//! Kernels that share constants, type aliases and functions of their module, through rustc.
#![cfg(feature = "simulate")]

use tileproof::prelude::*;

/// Everything that a module shares.
#[tiled_module]
pub mod kernels {
    use tileproof::prelude::*;

    /// Computed from what is declared below it.
    const THREADS: usize = ROWS * TILE;
    const ROWS: usize = TILE / 4;
    const TILE: usize = 32;
    const HALF: Elem = 1.0 / 2.0;
    type Elem = f32;
    type Tile<T, const PAD: usize> = Shared<[[T; TILE]; TILE], Pad<PAD>>;
    type Input = Matrix<Elem>;

    /// An item for rustc alone.
    pub fn extents() -> [usize; 2] {
        [THREADS / ROWS, super::LOCAL_ROWS]
    }

    /// Transposes and halves.
    #[tiled_kernel(
        block = [TILE, ROWS],
        grid = [input.cols().div_ceil(TILE), input.rows().div_ceil(TILE)],
        requires(output.rows() == input.cols(), output.cols() == input.rows()),
    )]
    pub fn transpose(input: &Input, output: &mut Matrix<Elem>) {
        let mut tile = Tile::<Elem, 1>::new();
        let (row, col) = (block_y() * TILE + thread_y(), block_x() * TILE + thread_x());
        for k in (0..TILE).step_by(ROWS) {
            if row + k < input.rows() && col < input.cols() {
                tile[thread_y() + k][thread_x()] = input[[row + k, col]];
            }
        }
        sync_threads();
        let (row, col) = (block_x() * TILE + thread_y(), block_y() * TILE + thread_x());
        for k in (0..TILE).step_by(ROWS) {
            if row + k < output.rows() && col < output.cols() {
                output[[row + k, col]] = tile[thread_x()][thread_y() + k] * HALF;
            }
        }
    }

    /// Uses one constant only.
    #[tiled_kernel(block = [TILE], grid = [1], requires(output.len() >= TILE))]
    pub(crate) fn half(output: &mut Tensor<f32, 1>) {
        output[[thread_x()]] = HALF;
    }
}

const LOCAL_ROWS: usize = 8;

#[test]
fn constants_aliases_and_what_is_not_a_kernel() {
    let input: Vec<f32> = (0..40 * 50).map(|i| i as f32).collect();
    let mut output = vec![0.0; 40 * 50];
    let view = HostTensor::new(&input, [40, 50]).unwrap();
    kernels::transpose::simulate(&view, &mut HostTensorMut::new(&mut output, [50, 40]).unwrap()).unwrap();
    for (row, col) in [(0, 0), (39, 49), (7, 33)] {
        assert_eq!(output[col * 40 + row], input[row * 50 + col] / 2.0);
    }
    assert_eq!(kernels::transpose::report().block, [32, 8, 1]);
    assert_eq!(kernels::transpose::report().tiles[0].ty, "Shared<[[f32; 32]; 32], Pad<1>>");
    assert_eq!(kernels::extents(), [32, 8]);

    let mut output = [0.0; 32];
    kernels::half::simulate(&mut HostTensorMut::new(&mut output, [32]).unwrap()).unwrap();
    assert_eq!(output, [0.5; 32]);
}
