//! Copies of words that lie apart on one side or both.

use crate::prelude::*;

macro_rules! strided {
    ($name:ident: $element:ident, $width:literal, $excess:literal) => {
        /// Each thread moves four words; what lies between the words of a sector is moved in vain.
        #[tiled_kernel(
            block = [256],
            grid = [
                input.extent(3).div_ceil(1024),
                input.extent(2),
                input.extent(0) * input.extent(1),
            ],
            requires(
                output.extent(0) == input.extent(0),
                output.extent(1) == input.extent(1),
                output.extent(2) == input.extent(2),
                output.extent(3) == input.extent(3),
                output.extent(4) == $width,
                input.extent(4) == $width,
            ),
        )]
        pub(crate) fn $name(input: &Tensor<$element, 5>, output: &mut Tensor<$element, 5>) {
            let [a, b] = unflatten(block_z(), [input.extent(0), input.extent(1)]);
            let c = block_y();
            let mut words = [Vector::<$element, $width>::splat(0); 4];
            let first = block_x() * 1024 + thread_x();
            for k in 0..4 {
                if first + 256 * k < input.extent(3) {
                    #[budget(excess_sectors = $excess, because = "the words are as far apart as the caller says")]
                    words[k] = input.read::<$width>([a, b, c, first + 256 * k, 0]);
                }
            }
            for k in 0..4 {
                if first + 256 * k < output.extent(3) {
                    #[budget(excess_sectors = $excess, because = "the words are as far apart as the caller says")]
                    output.write([a, b, c, first + 256 * k, 0], words[k]);
                }
            }
        }
    };
}

strided!(strided_u8_1: u8, 1, 31);
strided!(strided_u16_1: u16, 1, 30);
strided!(strided_u32_1: u32, 1, 28);
strided!(strided_u64_1: u64, 1, 24);
strided!(strided_u32_4: u32, 4, 16);
