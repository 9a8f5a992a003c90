//! Claims that every element is written, against runs: what is proven leaves none, and what is refused leaves one at some
//! shape.

use tileproof_compiler::compile;
use tileproof_compiler::simulate::{Argument, Buffer, TensorArgument, simulate};

/// Blocks along an axis, for an extent.
#[derive(Clone, Copy)]
enum Grid {
    Ceil(u32),
    Floor(u32),
    OneMore(u32),
    Known(u32),
}

impl Grid {
    fn text(self, extent: &str) -> String {
        match self {
            Grid::Ceil(by) => format!("{extent}.div_ceil({by})"),
            Grid::Floor(by) => format!("{extent} / {by}"),
            Grid::OneMore(by) => format!("{extent} / {by} + 1"),
            Grid::Known(blocks) => blocks.to_string(),
        }
    }

    fn blocks(self, extent: u32) -> u32 {
        match self {
            Grid::Ceil(by) => extent.div_ceil(by),
            Grid::Floor(by) => extent / by,
            Grid::OneMore(by) => extent / by + 1,
            Grid::Known(blocks) => blocks,
        }
    }
}

/// Whether the claim is proven: `None` where the kernel is refused without it.
fn proven(attribute: &str, item: &str) -> Option<bool> {
    compile(attribute, item).ok()?;
    match compile(&format!("{attribute}, covers(x)"), item) {
        Ok(_) => Some(true),
        Err(errors) => {
            assert!(errors.contains("TP0804"), "{attribute}\n{item}\n{errors}");
            Some(false)
        }
    }
}

/// Whether a run leaves an element.
fn leaves(attribute: &str, item: &str, grid: [u32; 3], extents: &[u32]) -> bool {
    let elements: u32 = extents.iter().product();
    if grid.contains(&0) || elements == 0 {
        return elements > 0;
    }
    let kernel = compile(attribute, item).expect("it has been compiled before").kernel;
    let mut bytes = vec![0; 4 * elements as usize];
    let extents: Vec<u64> = extents.iter().map(|extent| u64::from(*extent)).collect();
    let strides = (1..extents.len()).map(|dimension| extents[dimension..].iter().product()).collect();
    let x = TensorArgument { buffer: Buffer::Write(&mut bytes), extents, strides, base: 0 };
    let run = simulate(&kernel, grid, &mut [Argument::Tensor(x)]);
    assert!(run.is_ok(), "{attribute}\n{item}\n{:?}", run.err());
    bytes.chunks_exact(4).any(|element| element == [0; 4])
}

const LENGTHS: [u32; 14] = [0, 1, 2, 7, 31, 32, 33, 63, 64, 65, 96, 97, 128, 211];

#[test]
fn vectors() {
    let bodies = |guard: &str, stride: u32, parts: u32| {
        let range = format!(
            "for k in 0..{parts} {{ let j = b * {stride} + k * 32 + t; if {guard} {{ x[[j]] = 1.0; }} }}"
        );
        let stream = format!(
            "for j in (b * 32 + t..x.len()).step_by(32 * grid_x()) {{ if {guard} {{ x[[j]] = 1.0; }} }}"
        );
        let sides = format!(
            "let j = b * {stride} + t; if b % 2 == 0 {{ if {guard} {{ x[[j]] = 1.0; }} }} else {{ if {guard} {{ x[[j]] = 2.0; }} }}"
        );
        let one_side = format!(
            "let j = b * {stride} + t; if {guard} {{ if j + {parts} < x.len() {{ x[[j]] = 1.0; }} else {{ x[[j]] = 2.0; }} }}"
        );
        [range, stream, sides, one_side]
    };
    let (mut kept, mut refused) = (0, 0);
    for grid in [
        Grid::Ceil(32),
        Grid::Ceil(64),
        Grid::Floor(32),
        Grid::OneMore(32),
        Grid::OneMore(64),
        Grid::Known(2),
    ] {
        for (stride, parts) in [(32, 1), (64, 1), (64, 2), (96, 3)] {
            for guard in ["j < x.len()", "j + 1 < x.len()", "j > 0 && j < x.len()", "j < x.len() && t != 5"] {
                for body in bodies(guard, stride, parts) {
                    let item = format!(
                        "fn kernel(x: &mut Tensor<f32, 1>) {{ let (b, t) = (block_x(), thread_x()); {body} }}"
                    );
                    let attribute = format!("block = [32], grid = [{}]", grid.text("x.len()"));
                    let Some(proven) = proven(&attribute, &item) else { continue };
                    let left = LENGTHS
                        .into_iter()
                        .find(|length| leaves(&attribute, &item, [grid.blocks(*length), 1, 1], &[*length]));
                    assert_eq!(proven, left.is_none(), "{attribute}\n{item}\n{left:?}");
                    *(if proven { &mut kept } else { &mut refused }) += 1;
                }
            }
        }
    }
    assert!(kept > 10 && refused > 50, "{kept} proven, {refused} refused");
}

#[test]
fn matrices() {
    let tile = "let mut tile = Shared::<[[f32; 8]; 8]>::new(); for k in (0..8).step_by(4) { tile[y + k][t] = 1.0; } sync_threads();";
    let bodies = [
        "for k in (0..8).step_by(4) { let (r, c) = (block_y() * 8 + y + k, block_x() * 8 + t); if r < x.rows() && c < x.cols() { x[[r, c]] = 1.0; } }".to_string(),
        "let (r, c) = (block_y() * 8 + y, block_x() * 8 + t); if r < x.rows() && c < x.cols() { x[[r, c]] = 1.0; }".to_string(),
        "for c in (t..x.cols()).step_by(8) { let r = block_y() * 4 + y; if block_x() == 0 && r < x.rows() { x[[r, c]] = 1.0; } }".to_string(),
        "for c in (t..x.cols()).step_by(8) { for r in (y..x.rows()).step_by(4) { if block_x() == 0 && block_y() == 0 { x[[r, c]] = 1.0; } } }".to_string(),
        format!("{tile} tile.store(x, [block_y() * 8, block_x() * 8]);"),
        format!("{tile} if block_y() * 8 + 8 <= x.rows() {{ tile.store(x, [block_y() * 8, block_x() * 8]); }}"),
    ];
    let (mut kept, mut refused) = (0, 0);
    for across in [Grid::Ceil(8), Grid::Floor(8), Grid::Known(1)] {
        for down in [Grid::Ceil(4), Grid::Ceil(8), Grid::OneMore(8)] {
            for body in &bodies {
                let item = format!(
                    "fn kernel(x: &mut Matrix<f32>) {{ let (y, t) = (thread_y(), thread_x()); {body} }}"
                );
                let attribute = format!(
                    "block = [8, 4], grid = [{}, {}]",
                    across.text("x.cols()"),
                    down.text("x.rows()")
                );
                let Some(proven) = proven(&attribute, &item) else { continue };
                let left = [0, 1, 3, 4, 5, 8, 9, 17]
                    .into_iter()
                    .flat_map(|rows| [0, 1, 7, 8, 9, 16, 19].map(|columns| [rows, columns]))
                    .find(|shape| {
                        leaves(&attribute, &item, [across.blocks(shape[1]), down.blocks(shape[0]), 1], shape)
                    });
                assert_eq!(proven, left.is_none(), "{attribute}\n{item}\n{left:?}");
                *(if proven { &mut kept } else { &mut refused }) += 1;
            }
        }
    }
    assert!(kept > 5 && refused > 5, "{kept} proven, {refused} refused");
}
