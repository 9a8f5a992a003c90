//! Transposes of large planes whose rows begin anywhere: each row of the output is written from a boundary of its own, so that
//! whole sectors are written.
//!
//! A tile's window of a row of the output begins `skew` elements before the window of an aligned row, where `skew` is what the
//! row's first element lies behind a boundary. A block reads `N` rows of the input more than it writes columns, those that the
//! skews of its rows may ask for.

use crate::prelude::*;

/// Turns tiles of `ROWS` × `COLS` elements of 4 or 8 bytes, windows beginning at multiples of `N` elements.
#[tiled_kernel(
    block = [32, 16],
    grid = [(input.extent(1) + N - 1).div_ceil(ROWS), input.extent(2).div_ceil(64), input.extent(0)],
    requires(
        output.extent(0) == input.extent(0),
        output.extent(1) == input.extent(2),
        output.extent(2) == input.extent(1),
    ),
    instances((u32, 8, 56), (u64, 4, 60)),
)]
pub(crate) fn skewed<T, const N: usize, const ROWS: usize>(input: &Tensor<T, 3>, output: &mut Tensor<T, 3>) {
    let mut tile = Shared::<[[T; 64]; 64], Pad<1>>::new();
    let batch = block_z();
    let (row0, col0) = (block_x() * ROWS, block_y() * 64);
    let mut elements = [[0; 2]; 4];
    for i in 0..4 {
        let row = row0 + 16 * i + thread_y();
        for j in 0..2 {
            let col = col0 + 32 * j + thread_x();
            if row >= N && row - N < input.extent(1) && col < input.extent(2) {
                elements[i][j] = input[[batch, row - N, col]];
            }
        }
    }
    for i in 0..4 {
        for j in 0..2 {
            tile[32 * j + thread_x()][16 * i + thread_y()] = elements[i][j];
        }
    }
    sync_threads();

    let (plane, pitch) = (output.stride(0) % N, output.stride(1) % N);
    let past = output.misalignment::<N>() + batch % N * plane;
    for k in (0..64).step_by(16) {
        let row = col0 + k + thread_y();
        let skew = (past + row % N * pitch) % N;
        for window in (0..ROWS).step_by(32) {
            let i = window + thread_x();
            if i < ROWS {
                let col = row0 + i;
                let element = tile[k + thread_y()][i + N - skew];
                if row < output.extent(1) && col >= skew && col - skew < output.extent(2) {
                    output[[batch, row, col - skew]] = element;
                }
            }
        }
    }
}

/// The same for bytes, four of them in a word. The input's first element is byte `first` of `words`. Of a row words are read: the
/// two that hold four of its bytes, which a shift puts into place. `rest` are
/// the up to three bytes behind the last whole word.
#[tiled_kernel(
    block = [32, 16],
    grid = [(output.cols() + 3).div_ceil(124), output.rows().div_ceil(128)],
    requires(first < 4, rest.len() < 4, pitch * output.cols() <= 1 << 30, words.len() <= 1 << 30, output.rows() <= 1 << 30),
)]
pub(crate) fn skewed_bytes(
    first: usize,
    pitch: usize,
    words: &Tensor<u32, 1>,
    rest: &Tensor<u8, 1>,
    output: &mut Matrix<u8>,
) {
    let mut tile = Shared::<[[[u32; 32]; 32]; 4], Pad<1>>::new();
    let (row0, col0) = (block_x() * 124, block_y() * 128);
    let inside = col0 + 4 * thread_x() < output.rows();
    let at_the_end = row0 + 124 >= output.cols();
    for place in (0..32).step_by(16) {
        let row0 = row0 + 4 * (place + thread_y());
        let mut low = [0u32; 4];
        let mut high = [0u32; 4];
        for i in 0..4 {
            let row = row0 + i;
            if row >= 4 && row - 4 < output.cols() && inside {
                let word = (first + (row - 4) * pitch) / 4 + col0 / 4 + thread_x();
                if word < words.len() {
                    low[i] = words[[word]];
                }
                if word + 1 < words.len() {
                    high[i] = words[[word + 1]];
                }
            }
        }
        if at_the_end {
            let mut end = 0u32;
            for j in 0..rest.len() {
                end |= (rest[[j]] as u32) << (8 * j as u32);
            }
            for i in 0..4 {
                let row = row0 + i;
                if row >= 4 && row - 4 < output.cols() {
                    let word = (first + (row - 4) * pitch) / 4 + col0 / 4 + thread_x();
                    low[i] = if word == words.len() { end } else { low[i] };
                    high[i] = if word + 1 == words.len() { end } else { high[i] };
                }
            }
        }
        let mut rows = [0u32; 4];
        for i in 0..4 {
            let past = (first + (row0 + i) % 4 * (pitch % 4)) % 4;
            rows[i] = (((high[i] as u64) << 32 | low[i] as u64) >> (8 * past as u32)) as u32;
        }
        let (even, odd) = (
            rows[0] & 0x00ff00ff | rows[1] << 8 & 0xff00ff00,
            rows[0] >> 8 & 0x00ff00ff | rows[1] & 0xff00ff00,
        );
        let (even_2, odd_2) = (
            rows[2] & 0x00ff00ff | rows[3] << 8 & 0xff00ff00,
            rows[2] >> 8 & 0x00ff00ff | rows[3] & 0xff00ff00,
        );
        tile[0][thread_x()][place + thread_y()] = even & 0xffff | even_2 << 16;
        tile[1][thread_x()][place + thread_y()] = odd & 0xffff | odd_2 << 16;
        tile[2][thread_x()][place + thread_y()] = even >> 16 | even_2 & 0xffff0000;
        tile[3][thread_x()][place + thread_y()] = odd >> 16 | odd_2 & 0xffff0000;
    }
    sync_threads();

    let (past, pitch) = (output.misalignment::<4>(), output.pitch() % 4);
    for k in (0..128).step_by(16) {
        let place = k + thread_y();
        let row = col0 + place;
        let skew = (past + row % 4 * pitch) % 4;
        let (low, high) = ((4 - skew) / 4, (7 - skew) / 4);
        let shift = 8 * ((4 - skew) % 4) as u32;
        let i = thread_x();
        if row < output.rows() && i < 31 {
            let col = row0 + 4 * i;
            let (low, high) = (tile[place % 4][place / 4][i + low], tile[place % 4][place / 4][i + high]);
            let word = (((high as u64) << 32 | low as u64) >> shift) as u32;
            let four = [word as u8, (word >> 8) as u8, (word >> 16) as u8, (word >> 24) as u8];
            if col >= skew && col - skew + 4 <= output.cols() {
                output.write([row, col - skew], Vector::new(four));
            } else {
                for j in 0..4 {
                    if col + j >= skew && col + j - skew < output.cols() {
                        #[budget(excess_sectors = 3, because = "the first and the last columns of a row")]
                        output[[row, col + j - skew]] = four[j];
                    }
                }
            }
        }
    }
}

/// The same for elements of 2 bytes, four of them in a word of 8.
#[tiled_kernel(
    block = [32, 16],
    grid = [(output.cols() + 15).div_ceil(112), output.rows().div_ceil(128)],
    requires(first < 4, rest.len() < 4, pitch * output.cols() <= 1 << 30, words.len() <= 1 << 30, output.rows() <= 1 << 30),
)]
pub(crate) fn skewed_halves(
    first: usize,
    pitch: usize,
    words: &Tensor<u64, 1>,
    rest: &Tensor<u16, 1>,
    output: &mut Matrix<u16>,
) {
    let mut tile = Shared::<[[[u64; 32]; 32]; 4], Pad<1>>::new();
    let (row0, col0) = (block_x() * 112, block_y() * 128);
    let inside = col0 + 4 * thread_x() < output.rows();
    let mut low = [[0u64; 4]; 2];
    let mut high = [[0u64; 4]; 2];
    for half in 0..2 {
        for i in 0..4 {
            let row = row0 + 4 * (16 * half + thread_y()) + i;
            if row >= 16 && row - 16 < output.cols() && inside {
                let word = (first + (row - 16) * pitch) / 4 + col0 / 4 + thread_x();
                if word < words.len() {
                    low[half][i] = words[[word]];
                }
                if word + 1 < words.len() {
                    high[half][i] = words[[word + 1]];
                }
            }
        }
    }
    if row0 + 112 >= output.cols() {
        let mut end = 0u64;
        for j in 0..rest.len() {
            end |= (rest[[j]] as u64) << (16 * j as u32);
        }
        for half in 0..2 {
            for i in 0..4 {
                let row = row0 + 4 * (16 * half + thread_y()) + i;
                if row >= 16 && row - 16 < output.cols() {
                    let word = (first + (row - 16) * pitch) / 4 + col0 / 4 + thread_x();
                    low[half][i] = if word == words.len() { end } else { low[half][i] };
                    high[half][i] = if word + 1 == words.len() { end } else { high[half][i] };
                }
            }
        }
    }
    for half in 0..2 {
        let mut left = [0u32; 4];
        let mut right = [0u32; 4];
        for i in 0..4 {
            let row = row0 + 4 * (16 * half + thread_y()) + i;
            let past = 16 * ((first + row % 4 * (pitch % 4)) % 4) as u32;
            let word = low[half][i] >> past | high[half][i] << 1 << (63 - past);
            left[i] = word as u32;
            right[i] = (word >> 32) as u32;
        }
        let place = 16 * half + thread_y();
        tile[0][thread_x()][place] =
            (left[0] & 0xffff | left[1] << 16) as u64 | ((left[2] & 0xffff | left[3] << 16) as u64) << 32;
        tile[1][thread_x()][place] = (left[0] >> 16 | left[1] & 0xffff0000) as u64
            | ((left[2] >> 16 | left[3] & 0xffff0000) as u64) << 32;
        tile[2][thread_x()][place] =
            (right[0] & 0xffff | right[1] << 16) as u64 | ((right[2] & 0xffff | right[3] << 16) as u64) << 32;
        tile[3][thread_x()][place] = (right[0] >> 16 | right[1] & 0xffff0000) as u64
            | ((right[2] >> 16 | right[3] & 0xffff0000) as u64) << 32;
    }
    sync_threads();

    let (past, pitch) = (output.misalignment::<16>(), output.pitch() % 16);
    for k in (0..128).step_by(16) {
        let place = k + thread_y();
        let row = col0 + place;
        let skew = (past + row % 16 * pitch) % 16;
        let (low, high) = ((16 - skew) / 4, (19 - skew) / 4);
        let shift = 16 * ((16 - skew) % 4) as u32;
        let i = thread_x();
        if row < output.rows() && i < 28 {
            let col = row0 + 4 * i;
            let (low, high) = (tile[place % 4][place / 4][i + low], tile[place % 4][place / 4][i + high]);
            let word = low >> shift | high << 1 << (63 - shift);
            let four = [word as u16, (word >> 16) as u16, (word >> 32) as u16, (word >> 48) as u16];
            if col >= skew && col - skew + 4 <= output.cols() {
                output.write([row, col - skew], Vector::new(four));
            } else {
                for j in 0..4 {
                    if col + j >= skew && col + j - skew < output.cols() {
                        #[budget(excess_sectors = 5, because = "the first and the last columns of a row")]
                        output[[row, col + j - skew]] = four[j];
                    }
                }
            }
        }
    }
}
