//! Runs kernels on the CPU: for tests on machines without a GPU, and for what a profiler would count.
//!
//! The compiler's own simulator does the work. The kernel is not stored in any serialised form: the macro leaves the
//! function as text, and this module compiles it again, once a process, and demands the CUDA text that the macro left.

use crate::description::Description;
use crate::error::Error;
use crate::host::{HostTensor, HostTensorMut};
use crate::plan::{ArgumentShape, first, plan};
use crate::scalar::{Element, Scalar, ScalarType, ScalarValue};
use crate::shape::{ErasedShape, Shape};
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use tileproof_compiler::ir::Kernel;
use tileproof_compiler::simulate::{Argument, Buffer, TensorArgument};
use tileproof_model::report::{Role, SiteCounts, SiteReport, Space};

/// An argument of `simulate`.
pub struct HostArgument<'a>(Kind<'a>);

enum Kind<'a> {
    Tensor {
        element: ScalarType,
        data: Buffer<'a>,
        extents: &'a [usize],
        strides: &'a [usize],
        span: usize,
        address: u64,
    },
    Scalar(ScalarValue),
}

impl<'a> HostArgument<'a> {
    /// A tensor that the kernel reads.
    pub fn tensor<T: Element, const R: usize>(view: &'a HostTensor<'_, T, R>) -> Self {
        HostArgument::of::<T, R>(Buffer::Read(bytemuck::cast_slice(view.data)), &view.shape, view.offset)
    }

    /// A tensor that the kernel writes.
    pub fn tensor_mut<T: Element, const R: usize>(view: &'a mut HostTensorMut<'_, T, R>) -> Self {
        HostArgument::of::<T, R>(Buffer::Write(bytemuck::cast_slice_mut(view.data)), &view.shape, view.offset)
    }

    /// A tensor whose element type and rank are known only at run time: the elements of `data` from `offset` on.
    ///
    /// # Panics
    /// If the data ends before the offset.
    pub fn erased(data: Buffer<'a>, element: ScalarType, shape: &'a ErasedShape, offset: usize) -> Self {
        let ErasedShape { extents, strides, span } = shape;
        let first = offset * element.bytes() as usize;
        let data = match data {
            Buffer::Read(bytes) => Buffer::Read(&bytes[first..]),
            Buffer::Write(bytes) => Buffer::Write(&mut bytes[first..]),
        };
        HostArgument(Kind::Tensor { element, data, extents, strides, span: *span, address: first as u64 })
    }

    /// A tensor that begins with the data, at an address of which the simulator knows the alignment.
    #[cfg(feature = "kernels")]
    pub(crate) fn at(data: Buffer<'a>, element: ScalarType, shape: &'a ErasedShape, address: u64) -> Self {
        let ErasedShape { extents, strides, span } = shape;
        HostArgument(Kind::Tensor { element, data, extents, strides, span: *span, address })
    }

    /// A scalar whose type is known only at run time.
    pub fn erased_scalar(value: ScalarValue) -> Self {
        HostArgument(Kind::Scalar(value))
    }

    fn of<T: Element, const R: usize>(data: Buffer<'a>, shape: &'a Shape<R>, offset: usize) -> Self {
        HostArgument(Kind::Tensor {
            element: T::TYPE,
            data,
            extents: &shape.extents,
            strides: &shape.strides,
            span: shape.span,
            address: offset as u64 * size_of::<T>() as u64,
        })
    }

    /// A scalar.
    pub fn scalar(value: impl Scalar) -> Self {
        HostArgument(Kind::Scalar(value.value()))
    }

    fn shape(&self) -> ArgumentShape<'a> {
        match &self.0 {
            &Kind::Tensor { element, ref data, extents, strides, span, address } => {
                let mutable = matches!(data, Buffer::Write(_));
                ArgumentShape::Tensor { element, mutable, extents, strides, span, address }
            }
            Kind::Scalar(value) => ArgumentShape::Scalar(*value),
        }
    }

    /// The simulator's form of it. The data that a tensor is a part of begins at an aligned address, as device allocations do.
    fn lend(&mut self) -> Argument<'_> {
        match &mut self.0 {
            Kind::Tensor { data, extents, strides, address, element: _, span: _ } => {
                let buffer = match data {
                    Buffer::Read(bytes) => Buffer::Read(bytes),
                    Buffer::Write(bytes) => Buffer::Write(bytes),
                };
                let outer = strides.split_last().map_or(&[][..], |(_, outer)| outer);
                let words = |all: &[usize]| all.iter().map(|&n| n as u64).collect();
                Argument::Tensor(TensorArgument {
                    buffer,
                    extents: words(extents),
                    strides: words(outer),
                    base: *address % 256,
                })
            }
            Kind::Scalar(value) => Argument::Scalar(bits(*value)),
        }
    }
}

/// The bits of a value, in the low bits.
fn bits(value: ScalarValue) -> u64 {
    match value {
        ScalarValue::Bool(value) => value.into(),
        ScalarValue::I8(value) => value as u64,
        ScalarValue::I16(value) => value as u64,
        ScalarValue::I32(value) => value as u64,
        ScalarValue::I64(value) => value as u64,
        ScalarValue::U8(value) => value.into(),
        ScalarValue::U16(value) => value.into(),
        ScalarValue::U32(value) => value.into(),
        ScalarValue::U64(value) => value,
        ScalarValue::Usize(value) => value as u64,
        ScalarValue::Isize(value) => value as u64,
        ScalarValue::F16(value) => value.to_bits().into(),
        ScalarValue::Bf16(value) => value.to_bits().into(),
        ScalarValue::F32(value) => value.to_bits().into(),
        ScalarValue::F64(value) => value.to_bits(),
    }
}

/// What a simulated launch counted.
#[derive(Clone, Debug, PartialEq)]
pub struct Counts {
    /// One row an access site, in order of the source.
    pub sites: Vec<SiteRun>,
}

/// What a simulated launch counted at one access site.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SiteRun {
    /// The access site, with what the compiler proved about it.
    pub site: &'static SiteReport,
    /// The counts over the whole grid.
    pub counts: SiteCounts,
}

impl Counts {
    /// The sum over the sites that access `space` in direction `role`.
    pub fn total(&self, space: Space, role: Role) -> SiteCounts {
        let mut sum = SiteCounts::default();
        for SiteRun { site, counts } in &self.sites {
            if site.space == space && site.role == role {
                sum.instructions += counts.instructions;
                sum.lanes += counts.lanes;
                sum.wavefronts += counts.wavefronts;
                sum.ideal_wavefronts += counts.ideal_wavefronts;
                sum.sectors += counts.sectors;
                sum.ideal_sectors += counts.ideal_sectors;
                sum.lines += counts.lines;
                sum.useful_bytes += counts.useful_bytes;
            }
        }
        sum
    }

    /// Wavefronts that bank conflicts cost, over the shared accesses in direction `role`.
    pub fn excess_wavefronts(&self, role: Role) -> u64 {
        let total = self.total(Space::Shared, role);
        total.wavefronts - total.ideal_wavefronts
    }

    /// Useful over transferred bytes of the global accesses in direction `role`, between 0 and 1; `None` if there are none.
    pub fn sector_efficiency(&self, role: Role) -> Option<f64> {
        self.total(Space::Global, role).sector_efficiency()
    }
}

/// Checks the arguments as a launch does, and runs the kernel on the CPU. Tensors that the kernel writes hold the results
/// afterwards. Without work (a grid or an output of no extent) nothing runs and all counts are 0.
///
/// # Errors
/// Everything that can be wrong with the arguments, and what no kernel may do: an access outside its tensor, a race, a
/// barrier that some threads do not reach. Outputs may be partly written then.
fn simulate(description: &'static Description, arguments: &mut [HostArgument<'_>]) -> Result<Counts, Error> {
    simulate_compiled(description, &*kernel(description)?, arguments)
}

/// As `simulate`, of a kernel whose IR is at hand.
///
/// # Errors
/// As `simulate`.
pub fn simulate_compiled(
    description: &'static Description,
    kernel: &Kernel,
    arguments: &mut [HostArgument<'_>],
) -> Result<Counts, Error> {
    let name = description.name;
    let sites = &description.report.sites;
    let shapes: Vec<ArgumentShape<'_>> = arguments.iter().map(HostArgument::shape).collect();
    let counts = match plan(description, &shapes)? {
        None => vec![SiteCounts::default(); sites.len()],
        Some(plan) => {
            let mut lent: Vec<Argument<'_>> = arguments.iter_mut().map(HostArgument::lend).collect();
            tileproof_compiler::simulate::simulate(kernel, plan.grid, &mut lent)
                .map_err(|fault| Error::Fault { kernel: name, fault: fault.to_string() })?
        }
    };
    if counts.len() != sites.len() {
        let reason = format!("it has {} access sites, the report {}", counts.len(), sites.len());
        return Err(Error::NotReproduced { kernel: name, reason });
    }
    let sites = sites.iter().zip(counts).map(|(site, counts)| SiteRun { site, counts }).collect();
    Ok(Counts { sites })
}

/// Simulates the first of these kernels whose plan admits the arguments, as a launch would choose.
///
/// # Errors
/// As of a simulation: of the last kernel if none admits them.
pub fn simulate_first(
    kernels: &[&'static Description],
    arguments: &mut [HostArgument<'_>],
) -> Result<Counts, Error> {
    let shapes: Vec<ArgumentShape<'_>> = arguments.iter().map(HostArgument::shape).collect();
    match first(kernels, &shapes) {
        Some(kernel) => simulate(kernel, arguments),
        None => Ok(Counts { sites: Vec::new() }),
    }
}

/// The kernel's IR, compiled from its source on first use.
fn kernel(description: &'static Description) -> Result<Arc<Kernel>, Error> {
    static KERNELS: LazyLock<Mutex<HashMap<usize, Arc<Kernel>>>> = LazyLock::new(Mutex::default);
    let key = std::ptr::from_ref(description) as usize;
    // kernels are inserted whole, so a panic elsewhere leaves nothing half done
    let lock = || KERNELS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(kernel) = lock().get(&key) {
        return Ok(kernel.clone());
    }
    let not_reproduced = |reason| Error::NotReproduced { kernel: description.name, reason };
    let compiled =
        tileproof_compiler::compile_in(description.shared, description.attribute, description.item)
            .map_err(not_reproduced)?;
    if let Some(line) = first_difference(&compiled.cuda, description.cuda) {
        return Err(not_reproduced(format!("the texts differ in line {line}")));
    }
    let kernel = Arc::new(compiled.kernel);
    lock().insert(key, kernel.clone());
    Ok(kernel)
}

/// The first line in which two texts differ, counted from 1.
fn first_difference(a: &str, b: &str) -> Option<usize> {
    if a == b {
        return None;
    }
    let same = a.split('\n').zip(b.split('\n')).take_while(|(a, b)| a == b).count();
    Some(same + 1)
}

impl Description {
    /// Runs the kernel on the CPU: see [`simulate`].
    ///
    /// # Errors
    /// As [`simulate`].
    pub fn simulate(&'static self, arguments: &mut [HostArgument<'_>]) -> Result<Counts, Error> {
        simulate(self, arguments)
    }
}

#[cfg(test)]
mod tests {
    use super::{Counts, HostArgument, SiteRun, bits, first_difference};
    use crate::plan::ArgumentShape;
    use crate::scalar::{ScalarType, ScalarValue};
    use crate::testing::SITES;
    use crate::{HostTensor, HostTensorMut};
    use tileproof_model::report::{Role, SiteCounts, Space};

    #[test]
    fn host_tensors_as_the_simulator_takes_them() {
        let (input, mut output) = ([1.0f32; 12], [0u8; 12]);
        let input = HostTensor::with_strides(&input, [2, 3], [5, 1]).unwrap();
        let mut output = HostTensorMut::new(&mut output, [12]).unwrap();
        let mut input = HostArgument::tensor(&input);
        let output = HostArgument::tensor_mut(&mut output);
        assert_eq!(input.shape(), ArgumentShape::host(ScalarType::F32, false, &[2, 3], &[5, 1], 8));
        assert_eq!(output.shape(), ArgumentShape::host(ScalarType::U8, true, &[12], &[1], 12));
        let super::Argument::Tensor(lent) = input.lend() else { panic!("a tensor is lent as a tensor") };
        assert_eq!((lent.extents, lent.strides, lent.base), (vec![2, 3], vec![5], 0));
        assert_eq!(lent.buffer.bytes().len(), 48);
    }

    #[test]
    fn scalars_as_bits() {
        assert_eq!(bits(ScalarValue::Bool(true)), 1);
        assert_eq!(bits(ScalarValue::I8(-1)) as u8, 0xff);
        assert_eq!(bits(ScalarValue::F32(1.0)), 0x3f80_0000);
        assert_eq!(bits(ScalarValue::F64(1.0)), 0x3ff0_0000_0000_0000);
    }

    #[test]
    fn totals_by_space_and_role() {
        let row = |wavefronts, sectors, useful_bytes| SiteCounts {
            instructions: 1,
            lanes: 32,
            wavefronts,
            ideal_wavefronts: wavefronts.min(1),
            sectors,
            ideal_sectors: sectors,
            lines: sectors.div_ceil(4),
            useful_bytes,
        };
        let rows = [row(0, 4, 128), row(0, 32, 128)];
        let sites = SITES.iter().zip(rows).map(|(site, counts)| SiteRun { site, counts }).collect();
        let counts = Counts { sites };
        assert_eq!(counts.total(Space::Global, Role::Read), rows[0]);
        assert_eq!(counts.total(Space::Shared, Role::Read), SiteCounts::default());
        assert_eq!(counts.sector_efficiency(Role::Read), Some(1.0));
        assert_eq!(counts.sector_efficiency(Role::Write), Some(0.125));
        assert_eq!(counts.excess_wavefronts(Role::Write), 0);
    }

    #[test]
    fn where_texts_differ() {
        assert_eq!(first_difference("a\nb\n", "a\nb\n"), None);
        assert_eq!(first_difference("a\nb\n", "a\nc\n"), Some(2));
        assert_eq!(first_difference("a\nb\n", "a\n"), Some(2));
        assert_eq!(first_difference("", "a"), Some(1));
    }
}
