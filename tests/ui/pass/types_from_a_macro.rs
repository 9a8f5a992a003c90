//! Types and values that a macro puts in arrive in invisible groups.

use tileproof::prelude::*;

macro_rules! scale {
    ($name:ident, $t:ty, $matrix:ty, $layout:ty, $by:expr) => {
        #[tiled_kernel(
            block = [32],
            grid = [output.len().div_ceil(32)],
            requires(input.rows() == 1, input.cols() == output.len()),
        )]
        pub fn $name(input: &$matrix, output: &mut Tensor<$t, 1>, more: $t) {
            let mut tile = Shared::<[[$t; 32]; 1], $layout>::new();
            let index0 = block_x() * 32 + thread_x();
            if index0 < output.len() {
                tile[0][thread_x()] = input[[0, index0]] * $by;
                let value: [$t; 1] = [tile[0][thread_x()]];
                output[[index0]] = value[0] + more + 1 as $t;
            }
        }
    };
}
scale!(doubled, f32, Matrix<f32>, Pad<1>, 2.0);
scale!(tripled, i64, Tensor<i64, 2>, RowMajor, 3);

fn main() {
    let mut output = [0.0; 40];
    let view = [1.0; 40];
    doubled::simulate(
        &HostTensor::new(&view, [1, 40]).unwrap(),
        &mut HostTensorMut::new(&mut output, [40]).unwrap(),
        0.5,
    )
    .unwrap();
    assert_eq!(output, [3.5; 40]);
    let _ = (doubled::launch, tripled::launch, tripled::simulate);
}
