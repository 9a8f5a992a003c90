//! Vectors that begin anywhere: the aligned vectors that hold them are what is accessed and counted.

use super::memory::{Memory, offsets};
use super::program::{Access, Memory as Kind, Program, Register};
use super::warp::{Flaw, Warp, lanes};

/// Loads vectors from the aligned ones that hold their first and their last elements, in the lanes where both are inside the
/// tensor; `whole` says where.
pub(super) fn load(
    warp: &mut Warp,
    program: &Program,
    memory: &mut Memory<'_, '_>,
    [first, last]: [usize; 2],
    whole: Register,
) -> Result<(), Flaw> {
    let access = &program.accesses[first];
    let active = warp.active;
    let offsets = offsets(access, warp)?;
    let (bytes, element) = (u64::from(access.lane_bytes()), u64::from(access.element.bytes()));
    let end = access.base + element * elements(access);
    let (mut low, mut high) = ([0; 32], [0; 32]);
    let (mut inside, mut both) = (0, 0);
    for lane in lanes(active) {
        let address = access.base + offsets[lane] * element;
        low[lane] = address / bytes * bytes;
        high[lane] = (address + bytes - element) / bytes * bytes;
        let is_inside = access.base <= low[lane] && high[lane] + bytes <= end;
        inside |= u32::from(is_inside) << lane;
        both |= u32::from(is_inside && low[lane] != high[lane]) << lane;
    }
    for (number, lanes, addresses) in [(first, inside, &low), (last, both, &high)] {
        if lanes != 0 {
            memory.count(number, &program.accesses[number], lanes, addresses);
        }
    }
    let flags = warp.write(whole);
    for lane in lanes(active) {
        flags[lane] = u64::from(inside >> lane & 1);
    }
    for i in 0..access.width {
        let values = warp.write(access.data.plus(i));
        for lane in lanes(active) {
            values[lane] = 0;
        }
    }
    warp.active = inside;
    if let Kind::Tensor(tensor) = access.memory {
        memory.global(tensor, access, warp, &offsets);
    }
    warp.active = active;
    Ok(())
}

/// How many elements there are in memory from the first to the last one of a tensor that has some.
fn elements(access: &Access) -> u64 {
    let steps = access.extents.iter().zip(&access.strides);
    1 + steps.map(|(extent, stride)| extent.saturating_sub(1) * stride).sum::<u64>()
}
