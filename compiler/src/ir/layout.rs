//! Layouts of shared tiles: maps from an index to an element offset.

/// Where each element of a tile is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Layout {
    /// Rows one after another.
    RowMajor,
    /// Rows one after another, each followed by so many unused elements.
    Pad(u32),
    /// Row-major, with the chunk of so many elements that an element is in moved within its row to the place
    /// `chunk ^ row`, the row taken modulo the chunks of a row.
    Xor(u32),
    /// Row-major, with the element offset `x` replaced by `x ^ ((x >> shift) & (mask << base))`, where `mask` has
    /// `bits` bits: CuTe's `Swizzle<B, M, S>` on elements. A negative shift goes to the left.
    Swizzle {
        /// B: how many bits are changed.
        bits: u32,
        /// M: the lowest bit that is changed; below it elements stay contiguous.
        base: u32,
        /// S: the distance from the bits that are changed up to those they are changed with.
        shift: i32,
    },
}

impl Layout {
    /// The elements that a tile takes, padding included; 2^32 - 1 stands for all that is more.
    pub fn elements(self, extents: &[u32]) -> u32 {
        let row = extents.last().copied().unwrap_or(1);
        let rows: u32 = extents.iter().product::<u32>().checked_div(row).unwrap_or(0);
        rows.saturating_mul(self.pitch(row))
    }

    /// The distance between rows, in elements.
    pub fn pitch(self, row: u32) -> u32 {
        match self {
            Layout::Pad(pad) => row + pad,
            Layout::RowMajor | Layout::Xor(_) | Layout::Swizzle { .. } => row,
        }
    }

    /// Why this is not a layout for a tile of these extents, if it is not: an element would be lost or leave the tile.
    pub fn defect(self, extents: &[u32]) -> Option<String> {
        let row = extents.last().copied().unwrap_or(1);
        match self {
            Layout::RowMajor | Layout::Pad(_) => None,
            Layout::Xor(0) => Some("a chunk has at least 1 element".into()),
            Layout::Xor(chunk) if row % chunk != 0 => {
                Some(format!("a row of {row} elements is not a whole number of chunks of {chunk}"))
            }
            Layout::Xor(chunk) if !(row / chunk).is_power_of_two() => Some(format!(
                "a row of {row} elements has {} chunks of {chunk}, and XOR keeps a number of chunks only if it is a power of two",
                row / chunk
            )),
            Layout::Xor(_) => None,
            Layout::Swizzle { bits, base, shift } => {
                swizzle_defect(bits, base, shift, self.elements(extents))
            }
        }
    }

    /// The element offset of the element at `index`, one index an extent. Indices may lie outside; the result then
    /// means nothing, but there is always one.
    pub fn offset(self, extents: &[u32], index: &[u32]) -> u32 {
        let row_extent = extents.last().copied().unwrap_or(1);
        let (column, outer) = index.split_last().map_or((0, index), |(column, outer)| (*column, outer));
        let row = outer
            .iter()
            .zip(extents)
            .fold(0u32, |row, (i, extent)| row.wrapping_mul(*extent).wrapping_add(*i));
        let linear = row.wrapping_mul(self.pitch(row_extent)).wrapping_add(column);
        match self {
            Layout::RowMajor | Layout::Pad(_) => linear,
            Layout::Xor(chunk) => {
                let chunks = (row_extent / chunk.max(1)).max(1);
                let swizzled = (column / chunk.max(1)) ^ (outer.last().copied().unwrap_or(0) % chunks);
                let moved = swizzled.wrapping_mul(chunk).wrapping_add(column % chunk.max(1));
                linear.wrapping_sub(column).wrapping_add(moved)
            }
            Layout::Swizzle { bits, base, shift } => swizzle(bits, base, shift, linear),
        }
    }

    /// Where the element with this number is, counted in rows of this layout's pitch; not for `Xor`, which looks at the row.
    pub(crate) fn place(self, linear: u32) -> u32 {
        match self {
            Layout::RowMajor | Layout::Pad(_) | Layout::Xor(_) => linear,
            Layout::Swizzle { bits, base, shift } => swizzle(bits, base, shift, linear),
        }
    }

    /// The layout as a Rust type of the prelude.
    pub fn rust(self) -> String {
        match self {
            Layout::RowMajor => "RowMajor".into(),
            Layout::Pad(pad) => format!("Pad<{pad}>"),
            Layout::Xor(chunk) => format!("Xor<{chunk}>"),
            Layout::Swizzle { bits, base, shift } => format!("Swizzle<{bits}, {base}, {shift}>"),
        }
    }
}

fn swizzle(bits: u32, base: u32, shift: i32, x: u32) -> u32 {
    let mask = ((1u64 << bits.min(32)) - 1) as u32;
    let source = base as i32 + shift.max(0);
    let target = base as i32 - shift.min(0);
    let picked = x.checked_shr(source.max(0) as u32).unwrap_or(0) & mask;
    x ^ picked.checked_shl(target.max(0) as u32).unwrap_or(0)
}

fn swizzle_defect(bits: u32, base: u32, shift: i32, elements: u32) -> Option<String> {
    if bits == 0 {
        return None;
    }
    if shift.unsigned_abs() < bits {
        return Some(format!(
            "with a shift of {shift} the {bits} bits that are changed overlap those they are changed with, so two elements share a place"
        ));
    }
    let top = base.saturating_add(bits).saturating_add(if shift < 0 { shift.unsigned_abs() } else { 0 });
    let block = 1u64.checked_shl(top).unwrap_or(0);
    if block == 0 || u64::from(elements) % block != 0 {
        return Some(format!(
            "it permutes blocks of 2^{top} elements, and {elements} elements are not a whole number of them"
        ));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::Layout;

    /// Threads that a guard keeps from an access have indices of any size there.
    #[test]
    fn every_index_has_an_offset() {
        for layout in
            [Layout::RowMajor, Layout::Pad(3), Layout::Xor(4), Layout::Swizzle { bits: 3, base: 2, shift: 3 }]
        {
            for index in [[0, u32::MAX], [u32::MAX, 0], [u32::MAX, u32::MAX], [1 << 27, u32::MAX - 7]] {
                // There is no right answer, and no panic.
                std::hint::black_box(layout.offset(&[32, 32], &index));
            }
        }
    }

    /// A layout without a defect sends the elements of a tile to different places inside it.
    #[test]
    fn defect_is_exact() {
        let extents: [&[u32]; 6] = [&[32, 32], &[64, 64], &[3, 8, 16], &[5, 24], &[128], &[7, 32]];
        let mut layouts = vec![Layout::RowMajor];
        layouts.extend((0..5).map(Layout::Pad));
        layouts.extend((0..9).map(Layout::Xor));
        for bits in 0..6 {
            for base in 0..6 {
                layouts.extend((-8..9).map(|shift| Layout::Swizzle { bits, base, shift }));
            }
        }
        for extents in extents {
            for layout in &layouts {
                let mut seen = vec![false; layout.elements(extents) as usize];
                let total: u32 = extents.iter().product();
                let injective = (0..total).all(|linear| {
                    let mut rest = linear;
                    let mut index: Vec<u32> = extents
                        .iter()
                        .rev()
                        .map(|extent| {
                            let i = rest % extent;
                            rest /= extent;
                            i
                        })
                        .collect();
                    index.reverse();
                    let offset = layout.offset(extents, &index) as usize;
                    seen.get_mut(offset).is_some_and(|place| !std::mem::replace(place, true))
                });
                // A swizzle whose shift is too small may still be injective on a small tile by accident; the defect
                // is about the general map, so only the other direction is exact there.
                if layout.defect(extents).is_none() {
                    assert!(injective, "{layout:?} on {extents:?}");
                } else if !matches!(layout, Layout::Swizzle { .. } | Layout::Xor(_)) {
                    assert!(!injective, "{layout:?} on {extents:?}");
                }
            }
        }
    }

    #[test]
    fn swizzle_is_cutes() {
        // Swizzle<3, 4, 3>: bits 7..10 change bits 4..7.
        let layout = Layout::Swizzle { bits: 3, base: 4, shift: 3 };
        assert_eq!(layout.offset(&[1024], &[0b1_0100_0001]), 0b1_0100_0001 ^ (0b010 << 4));
        let left = Layout::Swizzle { bits: 2, base: 0, shift: -3 };
        assert_eq!(left.offset(&[1024], &[0b11]), 0b11011);
    }
}
