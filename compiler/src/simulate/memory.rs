//! Loads and stores: addresses, what is wrong with them, what they cost, and the data they move.

use super::argument::{Argument, Buffer, TensorArgument};
use super::atomic;
use super::fault::{Earlier, FaultKind};
use super::program::{Access, Memory as Kind, Swizzle, Update};
use super::shared::{Objection, Shared, Stamp, Visitor};
use super::value::{self, Lanes};
use super::warp::{Flaw, Warp, lanes, place};
use crate::ir::{AtomicOp, Kernel, Proxy, Scalar};
use crate::span::SpanId;
use tileproof_model::access::{self, Cost};
use tileproof_model::report::{Role, SiteCounts};

/// All memory of a launch, and what its accesses have cost so far.
#[derive(Debug)]
pub(super) struct Memory<'k, 'a> {
    /// The block's extents.
    block: [u32; 3],
    /// The source of each access site.
    sites: Vec<SpanId>,
    tensors: &'k mut [Argument<'a>],
    pub(super) shared: Shared,
    pub(super) counts: Vec<SiteCounts>,
    /// The last access at each place in the program and its cost: warps and blocks tend to repeat it.
    last: Vec<Option<(access::Access, Cost)>>,
}

impl<'k, 'a> Memory<'k, 'a> {
    /// Memory for a launch of a program with so many accesses.
    pub(super) fn new(kernel: &Kernel, tensors: &'k mut [Argument<'a>], accesses: usize) -> Self {
        let counts = vec![SiteCounts::default(); kernel.sites.len()];
        let sites = kernel.sites.iter().map(|(_, site)| site.span).collect();
        let shared = Shared::new(kernel);
        Memory { block: kernel.block, sites, tensors, shared, counts, last: vec![None; accesses] }
    }

    /// Executes the access with this number for the active lanes of a warp, or says what is wrong with it in which lane.
    pub(super) fn access(&mut self, warp: &mut Warp, number: usize, access: &Access) -> Result<(), Flaw> {
        let active = warp.active;
        let offsets = offsets(access, warp)?;
        let size = u64::from(access.element.bytes());
        let mut addresses = [0; 32];
        for lane in lanes(active) {
            addresses[lane] = access.base + offsets[lane] * size;
        }
        aligned(access, warp, &addresses)?;
        self.count(number, access, active, &addresses);
        match (access.memory, access.update) {
            (Kind::Tensor(tensor), Some(update)) => {
                self.update_global(tensor, access, update, warp, &offsets);
                Ok(())
            }
            (Kind::Tensor(tensor), None) => {
                self.global(tensor, access, warp, &offsets);
                Ok(())
            }
            (Kind::Tile(tile), Some(update)) => self.update_tile(tile, access, update, warp, &offsets),
            (Kind::Tile(tile), None) => self.tile(tile, access, warp, &offsets),
        }
    }

    pub(super) fn count(&mut self, number: usize, access: &Access, active: u32, addresses: &Lanes) {
        let active = access.issuer.lanes(active);
        let offsets = relative(active, addresses);
        let model =
            access::Access { operation: access.operation, width: access.model_width, active, offsets };
        let cost = match self.last[number] {
            Some((last, cost)) if last == model => cost,
            Some(_) | None => {
                let cost = access::cost(&model);
                self.last[number] = Some((model, cost));
                cost
            }
        };
        let counts = &mut self.counts[access.site];
        counts.instructions += 1;
        counts.lanes += u64::from(active.count_ones());
        counts.wavefronts += u64::from(cost.wavefronts);
        counts.ideal_wavefronts += u64::from(cost.ideal_wavefronts);
        counts.sectors += u64::from(cost.sectors);
        counts.ideal_sectors += u64::from(cost.ideal_sectors);
        if access.operation.is_global() {
            counts.lines += u64::from(cost.lines);
        }
        counts.useful_bytes += u64::from(cost.useful_bytes);
    }

    /// Moves data between registers and a tensor; every element is inside.
    pub(super) fn global(&mut self, tensor: usize, access: &Access, warp: &mut Warp, offsets: &Lanes) {
        let Argument::Tensor(tensor) = &mut self.tensors[tensor] else {
            unreachable!("the arguments were checked");
        };
        let size = access.element.bytes() as usize;
        for i in 0..access.width {
            let register = access.data.plus(i);
            let range = |lane: usize| {
                let start = (offsets[lane] as usize + i as usize) * size;
                start..start + size
            };
            match (access.role, &mut tensor.buffer) {
                (Role::Read, buffer) => {
                    let bytes = buffer.bytes();
                    let active = warp.active;
                    let values = warp.write(register);
                    for lane in lanes(active) {
                        values[lane] = value::from_bytes(access.element, &bytes[range(lane)]);
                    }
                }
                (Role::Write, Buffer::Write(bytes)) => {
                    let values = warp.read(register);
                    for lane in lanes(warp.active) {
                        value::to_bytes(values[lane], &mut bytes[range(lane)]);
                    }
                }
                (Role::Update, _) => unreachable!("an update is not a load or store"),
                (Role::Write, Buffer::Read(_)) => unreachable!("the arguments were checked"),
            }
        }
    }

    /// Moves data between registers and a tile; every element is inside.
    fn tile(&mut self, tile: usize, access: &Access, warp: &mut Warp, offsets: &Lanes) -> Result<(), Flaw> {
        let (site, element, phase) = (access.site as u32, access.element, warp.phase);
        for lane in lanes(warp.active) {
            let visitor = Visitor { thread: warp.first_thread + lane as u32, phase, site };
            for i in 0..access.width {
                let offset = offsets[lane] + u64::from(i);
                let register = access.data.plus(i);
                let objection = match access.role {
                    Role::Read => {
                        let value = self.shared.load(tile, element, offset, visitor);
                        value.map(|value| warp.write(register)[lane] = value)
                    }
                    Role::Update => unreachable!("an update is not a load or store"),
                    Role::Write => {
                        let value = warp.read(register)[lane];
                        match access.proxy {
                            Proxy::Generic => self.shared.store(tile, element, offset, visitor, value),
                            Proxy::Async => self.shared.start_copy(tile, element, offset, visitor, value),
                        }
                    }
                };
                objection.map_err(|objection| {
                    let mut index = index(access, warp, lane);
                    if let Some(innermost) = index.last_mut() {
                        *innermost += u64::from(i);
                    }
                    (self.fault(access, index, objection), lane as u32)
                })?;
            }
        }
        Ok(())
    }

    /// Updates elements of a tensor, lane after lane; every element is inside.
    fn update_global(
        &mut self,
        tensor: usize,
        access: &Access,
        update: Update,
        warp: &mut Warp,
        offsets: &Lanes,
    ) {
        let Argument::Tensor(TensorArgument { buffer: Buffer::Write(bytes), .. }) = &mut self.tensors[tensor]
        else {
            unreachable!("the arguments were checked");
        };
        let size = access.element.bytes() as usize;
        for lane in lanes(warp.active) {
            let start = offsets[lane] as usize * size;
            let place = &mut bytes[start..start + size];
            let before = value::from_bytes(access.element, place);
            let (new, expected) = (warp.read(update.value)[lane], warp.read(update.expected)[lane]);
            let after = match (access.element, update.op) {
                (Scalar::F32, AtomicOp::Add) => atomic::add_without_subnormals(before, new),
                (_, _) => atomic::updated(update.op, access.element, before, expected, new),
            };
            value::to_bytes(after, place);
            warp.write(access.data)[lane] = before;
        }
    }

    /// Updates elements of a tile, lane after lane; every element is inside.
    fn update_tile(
        &mut self,
        tile: usize,
        access: &Access,
        update: Update,
        warp: &mut Warp,
        offsets: &Lanes,
    ) -> Result<(), Flaw> {
        let (site, element, phase) = (access.site as u32, access.element, warp.phase);
        for lane in lanes(warp.active) {
            let visitor = Visitor { thread: warp.first_thread + lane as u32, phase, site };
            let (new, expected) = (warp.read(update.value)[lane], warp.read(update.expected)[lane]);
            let apply = |before| atomic::updated(update.op, element, before, expected, new);
            match self.shared.update(tile, element, offsets[lane], visitor, apply) {
                Ok(before) => warp.write(access.data)[lane] = before,
                Err(objection) => {
                    return Err((self.fault(access, index(access, warp, lane), objection), lane as u32));
                }
            }
        }
        Ok(())
    }

    fn fault(&self, access: &Access, element: Vec<u64>, objection: Objection) -> FaultKind {
        let object = access.object.clone();
        let race = |stamp: Stamp, role| {
            let site = stamp.site as usize;
            let thread = place(self.block, stamp.thread);
            let earlier = Earlier { site, span: self.sites[site], role, thread };
            FaultKind::Race {
                object: object.clone(),
                element: element.clone(),
                site: access.site,
                role: access.role,
                earlier,
            }
        };
        match objection {
            Objection::UnderWay(stamp) => {
                let site = stamp.site as usize;
                let thread = place(self.block, stamp.thread);
                let earlier = Earlier { site, span: self.sites[site], role: Role::Write, thread };
                FaultKind::UnderWay { object, element, role: access.role, earlier }
            }
            Objection::AfterRead(stamp) => race(stamp, Role::Read),
            Objection::AfterWrite(stamp) => race(stamp, Role::Write),
            Objection::AfterUpdate(stamp) => race(stamp, Role::Update),
            Objection::Uninitialised => FaultKind::Uninitialised { object, element },
        }
    }
}

/// The index of an access in a lane.
fn index(access: &Access, warp: &Warp, lane: usize) -> Vec<u64> {
    access.index.iter().map(|register| warp.read(*register)[lane]).collect()
}

/// The offset of each active lane's first element, in elements; all its elements are inside.
pub(super) fn offsets(access: &Access, warp: &Warp) -> Result<Lanes, Flaw> {
    let mut offsets = [0u64; 32];
    let mut outside = 0;
    for (dimension, register) in access.index.iter().enumerate() {
        let index = warp.read(*register);
        let (limit, stride) = (limit(access, dimension), access.strides[dimension]);
        for lane in 0..32 {
            offsets[lane] = offsets[lane].wrapping_add(index[lane].wrapping_mul(stride));
            outside |= u32::from(index[lane] >= limit) << lane;
        }
    }
    if let Some(lane) = lanes(outside & warp.active).next() {
        return Err((out_of_bounds(access, &index(access, warp, lane)), lane as u32));
    }
    match &access.swizzle {
        Some(swizzle) => swizzled(swizzle, access, warp),
        None => Ok(offsets),
    }
}

/// The offsets under a layout that strides do not describe; the indices are inside.
fn swizzled(swizzle: &Swizzle, access: &Access, warp: &Warp) -> Result<Lanes, Flaw> {
    let Swizzle { layout, extents } = swizzle;
    let mut offsets = [0u64; 32];
    let mut index = vec![0u32; extents.len()];
    for lane in lanes(warp.active) {
        for (i, register) in index.iter_mut().zip(&access.index) {
            *i = warp.read(*register)[lane] as u32;
        }
        let first = layout.offset(extents, &index);
        for i in 1..access.width {
            if let Some(innermost) = index.last_mut() {
                *innermost += 1;
            }
            if layout.offset(extents, &index) != first + i {
                let (object, element) = (access.object.clone(), self::index(access, warp, lane));
                return Err((FaultKind::Scattered { object, element, width: access.width }, lane as u32));
            }
        }
        offsets[lane] = u64::from(first);
    }
    Ok(offsets)
}

/// How many elements a lane accesses in a dimension.
fn span(access: &Access, dimension: usize) -> u32 {
    if dimension + 1 == access.index.len() { access.width } else { 1 }
}

/// The least index in a dimension at which an element would be outside.
fn limit(access: &Access, dimension: usize) -> u64 {
    access.extents[dimension].saturating_sub(u64::from(span(access, dimension) - 1))
}

fn out_of_bounds(access: &Access, index: &[u64]) -> FaultKind {
    let object = access.object.clone();
    let outside = (0..index.len()).find(|dimension| index[*dimension] >= limit(access, *dimension));
    let dimension = outside.unwrap_or(0);
    let (width, extent) = (span(access, dimension), access.extents[dimension]);
    FaultKind::OutOfBounds { object, dimension, index: index[dimension], width, extent }
}

/// Whether every active lane's address is a multiple of the bytes that it accesses.
fn aligned(access: &Access, warp: &Warp, addresses: &Lanes) -> Result<(), Flaw> {
    let bytes = access.lane_bytes();
    let remainder = |lane: usize| (addresses[lane] % u64::from(bytes)) as u32;
    match lanes(warp.active).find(|lane| remainder(*lane) != 0) {
        Some(lane) => {
            let (object, element) = (access.object.clone(), index(access, warp, lane));
            Err((FaultKind::Misaligned { object, element, bytes, remainder: remainder(lane) }, lane as u32))
        }
        None => Ok(()),
    }
}

/// Addresses relative to a multiple of 256 at or below the lowest, in 32 bits. Where lanes are 2 GiB apart or more,
/// the gaps between them are shortened by multiples of 256; so that they still touch different sectors and lines, and the same
/// banks.
fn relative(active: u32, addresses: &Lanes) -> [u32; 32] {
    let (low, high) = lanes(active)
        .fold((u64::MAX, 0), |(low, high), lane| (low.min(addresses[lane]), high.max(addresses[lane])));
    let mut relative = [0; 32];
    let low = low & !255;
    if high < low + (1 << 31) {
        for lane in lanes(active) {
            relative[lane] = (addresses[lane] - low) as u32;
        }
        return relative;
    }
    let mut order: Vec<usize> = lanes(active).collect();
    order.sort_unstable_by_key(|lane| addresses[*lane]);
    let mut base = low;
    let mut last = low;
    for lane in order {
        let gap = addresses[lane] - last;
        if gap > 1024 {
            base += (gap - 512) & !255;
        }
        last = addresses[lane];
        relative[lane] = (last - base) as u32;
    }
    relative
}

#[cfg(test)]
mod tests {
    use super::relative;

    #[test]
    fn lanes_far_apart_keep_alignment_and_distance() {
        let mut addresses = std::array::from_fn(|lane| {
            (31 - lane as u64) * (5 << 30) + 4 * lane as u64 + if lane == 3 { 0 } else { 96 }
        });
        addresses[7] = addresses[8] + 4;
        let active = !(1 << 5);
        let relative = relative(active, &addresses);
        for a in (0..32).filter(|lane| *lane != 5) {
            assert_eq!(u64::from(relative[a]) % 256, addresses[a] % 256);
            for b in (0..32).filter(|lane| *lane != 5) {
                assert_eq!(relative[a].cmp(&relative[b]), addresses[a].cmp(&addresses[b]));
                let (near, far) = (relative[a].abs_diff(relative[b]), addresses[a].abs_diff(addresses[b]));
                assert!(u64::from(near) == far || (near >= 512 && far > 1024), "{a} {b}: {near} {far}");
            }
        }
    }

    #[test]
    fn near_lanes_keep_their_distance() {
        let mut addresses = [1000; 32];
        addresses[1] = 1004 + (1 << 30);
        assert_eq!(relative(0b11, &addresses)[..2], [1000 - 768, 1004 - 768 + (1 << 30)]);
    }
}
