//! What the input holds: words that look random and are known by their position, so that a part of a result can be checked
//! without a copy of the input.

use bytemuck::Pod;

/// Elements that are checked in one piece.
pub const PIECE: usize = 16384;

/// The bits of word `position`, of 32 bits: a mix in which each bit depends on each bit of the position (the finaliser of MurmurHash3).
/// The topmost bit of the exponent of a float of 32 or 64 bits is clear and the next one set: it is a number below 2, and normal, so
/// that a library which moves it by multiplying with one keeps it.
pub fn word(position: u64) -> u32 {
    let mut x = position as u32 ^ (position >> 32) as u32 ^ 0x9e37_79b9;
    x = (x ^ (x >> 16)).wrapping_mul(0x85eb_ca6b);
    x = (x ^ (x >> 13)).wrapping_mul(0xc2b2_ae35);
    (x ^ (x >> 16)) & !(1 << 30) | 1 << 29
}

/// Elements of the input from `first` on.
pub fn elements<T: Pod>(first: usize, count: usize) -> Vec<T> {
    let mut elements = vec![T::zeroed(); count];
    let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut elements);
    let mut position = first * size_of::<T>();
    let mut rest = bytes;
    while !rest.is_empty() {
        let word = word(position as u64 / 4).to_le_bytes();
        let word = &word[position % 4..];
        let taken = word.len().min(rest.len());
        let (part, behind) = rest.split_at_mut(taken);
        part.copy_from_slice(&word[..taken]);
        (rest, position) = (behind, position + taken);
    }
    elements
}

/// Element `index` of the input.
pub fn element<T: Pod>(index: usize) -> T {
    let mut element = T::zeroed();
    for (i, byte) in bytemuck::bytes_of_mut(&mut element).iter_mut().enumerate() {
        let position = index * size_of::<T>() + i;
        *byte = word(position as u64 / 4).to_le_bytes()[position % 4];
    }
    element
}

/// Where the pieces begin in which a result of `count` elements is checked: everywhere if it is short, otherwise the first and the last
/// one and others in between that lie `pieces` apart and off every power of two.
pub fn pieces(count: usize, pieces: usize) -> Vec<usize> {
    if count <= pieces * PIECE {
        return (0..count).step_by(PIECE).collect();
    }
    let last = count - PIECE;
    (0..pieces).map(|i| if i + 1 == pieces { last } else { (last / (pieces - 1)) * i }).collect()
}

#[cfg(test)]
mod tests {
    use super::{PIECE, element, elements, pieces, word};

    #[test]
    fn elements_are_known_by_their_position() {
        assert_ne!(word(0), word(1));
        assert_eq!(elements::<u32>(5, 2), [word(5), word(6)]);
        let bytes = elements::<u8>(3, 6);
        assert_eq!(bytes[0], (word(0) >> 24) as u8);
        assert_eq!(bytes[1..5], word(1).to_le_bytes());
        assert_eq!(bytes[5], word(2) as u8);
        assert_eq!(element::<u8>(4), bytes[1]);
        assert_eq!(elements::<f64>(7, 1)[0].to_bits(), element::<f64>(7).to_bits());
        assert_eq!(element::<u16>(3), (word(1) >> 16) as u16);
        assert!((0..1000).all(|i| element::<f32>(i).is_normal() && element::<f64>(i).is_normal()));
    }

    #[test]
    fn pieces_reach_both_ends() {
        assert_eq!(pieces(0, 4), [0; 0]);
        assert_eq!(pieces(PIECE + 1, 4), [0, PIECE]);
        let some = pieces(100 * PIECE + 7, 4);
        assert_eq!((some.len(), some[0], some[3]), (4, 0, 99 * PIECE + 7));
    }
}
