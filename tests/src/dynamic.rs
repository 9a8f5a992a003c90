//! Kernels compiled at run time from the text of their source, run on the simulator or launched on a GPU with plain bytes.
//!
//! What a launch does (the contract, the grid, the twin, the order of the parameters, loading) is the runtime's code for
//! kernels that a macro wrote. It takes a `Description`, which the macro leaves as a constant; here one is made from what the
//! compiler returns, and never freed, because the runtime's caches know a kernel by its address. A test of very many kernels calls
//! [`tileproof::unload`] now and then, so that their code does not fill the device.

use std::sync::Arc;
use tileproof::__private::{
    Description, DeviceArgument, ErasedShape, ErasedView, ErasedViewMut, HostArgument, LaunchCheck, Param,
    ParamKind, launch, simulate_compiled,
};
use tileproof::cudarc::driver::{CudaSlice, CudaStream, DriverError};
use tileproof::{Counts, Error, ScalarType, ScalarValue, ViewError};
use tileproof_compiler::Compiled;
use tileproof_compiler::emit::Launcher;
use tileproof_compiler::ir;
use tileproof_compiler::simulate::Buffer;

/// Bytes before and after each tensor on the device that no kernel may touch. Allocations are aligned to as many, so that a tensor is
/// aligned as it is for the simulator.
const MARGIN: usize = 256;

/// What the margins hold.
const POISON: u8 = 0xa5;

/// A kernel compiled at run time. Its parts can be read; whoever runs it from several threads needs no lock.
#[derive(Clone, Debug)]
pub struct Dynamic {
    /// The kernel as the simulator runs it.
    pub kernel: ir::Kernel,
    /// The kernel as the runtime compiles and launches it, with its CUDA text and its report.
    pub description: &'static Description,
}

/// An argument of a run.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum Argument {
    Scalar(ScalarValue),
    Tensor(Tensor),
}

/// A tensor in plain bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tensor {
    /// The type of its elements.
    pub element: ScalarType,
    /// The extents in elements, outermost first; at least one.
    pub extents: Vec<usize>,
    /// The distances between neighbours in elements, outermost first, one a dimension; the last is 1.
    pub strides: Vec<usize>,
    /// Where the first element is, in elements from the beginning of the bytes, which is aligned as an allocation is.
    pub offset: usize,
    /// The memory, elements in little-endian order. What lies before, between and behind the elements belongs to it, too: a run must
    /// leave it as it is.
    pub bytes: Vec<u8>,
}

impl Tensor {
    /// Elements one after another, from the beginning of their bytes.
    ///
    /// # Panics
    /// If the product of the extents overflows.
    pub fn new(element: ScalarType, extents: &[usize], bytes: Vec<u8>) -> Tensor {
        let mut strides = vec![1usize; extents.len()];
        for d in (1..extents.len()).rev() {
            strides[d - 1] = strides[d].checked_mul(extents[d]).expect("a tensor that fits into memory");
        }
        Tensor { element, extents: extents.to_vec(), strides, offset: 0, bytes }
    }

    fn first_byte(&self) -> usize {
        self.offset * self.element.bytes() as usize
    }

    fn shape(&self, mutable: bool) -> Result<ErasedShape, ViewError> {
        let length = self.bytes.len().saturating_sub(self.first_byte()) / self.element.bytes() as usize;
        ErasedShape::new(&self.extents, &self.strides, length, mutable)
    }
}

/// What a run left.
#[derive(Clone, Debug)]
pub struct Run {
    /// The arguments, in order, as they are afterwards.
    pub arguments: Vec<Argument>,
    /// What was counted, an access site a row.
    pub counts: Counts,
}

/// Why a run has no result.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// A tensor whose bytes are not what its shape needs.
    #[error("argument {argument} is no tensor: {source}")]
    Shape {
        /// The number of the argument.
        argument: usize,
        /// What is wrong.
        source: ViewError,
    },
    /// The runtime refused the launch, or the simulator found a fault.
    #[error(transparent)]
    Run(#[from] Error),
    /// The driver failed before or after the launch: the kernel's own fault comes to light here.
    #[error("the driver could not {action}: {source}")]
    Driver {
        /// What was to be done.
        action: &'static str,
        /// The driver's error.
        source: DriverError,
    },
    /// The kernel takes things for granted, so that a launch of it with any arguments is not safe.
    #[error("`{kernel}` has trusts, and only what is proven is launched here; take them out of the source")]
    Trusts {
        /// The kernel.
        kernel: &'static str,
    },
    /// The kernel wrote outside of a tensor, or into one that it may only read.
    #[error("`{kernel}` wrote byte {byte} of argument {argument}, where 0 is the first of its memory")]
    Touched {
        /// The kernel.
        kernel: &'static str,
        /// The number of the argument.
        argument: usize,
        /// The place of the byte from the beginning of the tensor's memory; negative before it.
        byte: isize,
    },
}

impl Dynamic {
    /// Compiles a kernel from the text of its attribute's arguments and of its function; of a generic one the first instance.
    ///
    /// # Errors
    /// The compiler's errors as text.
    pub fn compile(attribute: &str, item: &str) -> Result<Dynamic, String> {
        Ok(Dynamic::of(tileproof_compiler::compile(attribute, item)?, attribute, item))
    }

    /// A kernel that is compiled already, and the texts that it was compiled from.
    pub fn of(compiled: Compiled, attribute: &str, item: &str) -> Dynamic {
        let Launcher { entry, narrow, alignments, grid, conditions } = compiled.launcher;
        let params = compiled.kernel.params.iter().zip(alignments).map(|((_, param), alignment)| Param {
            name: param.name.clone().leak(),
            kind: match param.kind {
                ir::ParamKind::Tensor { element, rank, mutable } => {
                    ParamKind::Tensor { element, rank, mutable, alignment }
                }
                ir::ParamKind::Scalar(scalar) => ParamKind::Scalar(scalar),
            },
        });
        let checks = conditions.into_iter().map(|condition| LaunchCheck {
            condition: condition.program.leak(),
            text: condition.text.leak(),
        });
        let description = Description {
            name: entry.leak(),
            attribute: attribute.to_owned().leak(),
            item: item.to_owned().leak(),
            shared: "",
            cuda: compiled.cuda.leak(),
            lines: &[],
            file: "",
            narrow,
            block: compiled.kernel.block,
            params: params.collect::<Vec<_>>().leak(),
            grid: grid.map(|program| &*program.leak()),
            checks: checks.collect::<Vec<_>>().leak(),
            report: compiled.report,
        };
        Dynamic { kernel: compiled.kernel, description: Box::leak(Box::new(description)) }
    }

    fn writes(&self, argument: usize) -> bool {
        let param = self.description.params.get(argument);
        matches!(param, Some(Param { kind: ParamKind::Tensor { mutable: true, .. }, .. }))
    }

    /// The shapes of the tensors, and none for scalars.
    fn shapes(&self, arguments: &[Argument]) -> Result<Vec<Option<ErasedShape>>, Failure> {
        let shape = |(argument, value): (usize, &Argument)| match value {
            Argument::Scalar(_) => Ok(None),
            Argument::Tensor(tensor) => match tensor.shape(self.writes(argument)) {
                Ok(shape) => Ok(Some(shape)),
                Err(source) => Err(Failure::Shape { argument, source }),
            },
        };
        arguments.iter().enumerate().map(shape).collect()
    }

    /// Runs the kernel on the simulator.
    ///
    /// # Errors
    /// What a launch would refuse, and what the simulator finds.
    ///
    /// # Panics
    /// If a tensor has no dimension, or not one stride a dimension.
    pub fn simulate(&self, arguments: &[Argument]) -> Result<Run, Failure> {
        let shapes = self.shapes(arguments)?;
        let mut after = arguments.to_vec();
        let host = after.iter_mut().zip(&shapes).enumerate();
        let mut host: Vec<HostArgument<'_>> = host
            .map(|(argument, value)| match value {
                (Argument::Tensor(tensor), Some(shape)) => {
                    let (element, offset) = (tensor.element, tensor.offset);
                    let buffer = match self.writes(argument) {
                        true => Buffer::Write(&mut tensor.bytes),
                        false => Buffer::Read(&tensor.bytes),
                    };
                    HostArgument::erased(buffer, element, shape, offset)
                }
                (Argument::Tensor(_), None) => unreachable!("a tensor has a shape"),
                (Argument::Scalar(value), _) => HostArgument::erased_scalar(*value),
            })
            .collect();
        let counts = simulate_compiled(self.description, &self.kernel, &mut host)?;
        drop(host);
        Ok(Run { arguments: after, counts })
    }

    /// Compiles the kernel with NVRTC for the stream's device unless that was done, launches it on copies of the arguments, waits,
    /// and returns them as they are afterwards. Nothing but the elements of tensors that the kernel may write can differ.
    ///
    /// # Errors
    /// What the runtime refuses, what the driver reports, and writes that leave their tensor.
    ///
    /// # Panics
    /// If a tensor has no dimension, or not one stride a dimension.
    pub fn launch(&self, stream: &Arc<CudaStream>, arguments: &[Argument]) -> Result<Vec<Argument>, Failure> {
        let kernel = self.description.name;
        if !self.description.report.trusts.is_empty() {
            return Err(Failure::Trusts { kernel });
        }
        self.shapes(arguments)?;
        let failed = |action| move |source| Failure::Driver { action, source };
        let mut memory = arguments
            .iter()
            .map(|argument| match argument {
                Argument::Scalar(_) => Ok(None),
                Argument::Tensor(tensor) => stream.clone_htod(&with_margins(&tensor.bytes)).map(Some),
            })
            .collect::<Result<Vec<Option<CudaSlice<u8>>>, _>>()
            .map_err(failed("copy the arguments to the device"))?;

        let views = memory.iter_mut().zip(arguments).enumerate();
        let mut views = views
            .map(|(argument, (memory, value))| {
                self.view(argument, memory.as_mut(), value)
                    .map_err(|source| Failure::Shape { argument, source })
            })
            .collect::<Result<Vec<View<'_>>, _>>()?;
        let mut device: Vec<DeviceArgument<'_>> = views
            .iter_mut()
            .map(|view| match view {
                View::Scalar(value) => DeviceArgument::erased_scalar(*value),
                View::Read(view) => DeviceArgument::erased(view),
                View::Write(view) => DeviceArgument::erased_mut(view),
            })
            .collect();
        // SAFETY: the text and the description are one kernel's, as the compiler returned them, and it takes nothing for granted.
        unsafe { launch(self.description, stream, &mut device) }?;
        drop(device);
        drop(views);

        let left = memory
            .iter()
            .map(|memory| memory.as_ref().map(|memory| stream.clone_dtoh(memory)).transpose())
            .collect::<Result<Vec<Option<Vec<u8>>>, _>>()
            .map_err(failed("run the kernel and copy its results"))?;
        stream.synchronize().map_err(failed("wait for the kernel"))?;
        let after =
            arguments.iter().zip(left).enumerate().map(|(argument, (before, left))| match (before, left) {
                (Argument::Tensor(tensor), Some(left)) => match self.foreign_byte(argument, tensor, &left) {
                    Some(byte) => Err(Failure::Touched { kernel, argument, byte }),
                    None => {
                        let bytes = left[MARGIN..][..tensor.bytes.len()].to_vec();
                        Ok(Argument::Tensor(Tensor { bytes, ..tensor.clone() }))
                    }
                },
                (before, _) => Ok(before.clone()),
            });
        after.collect()
    }

    fn view<'a>(
        &self,
        argument: usize,
        memory: Option<&'a mut CudaSlice<u8>>,
        value: &Argument,
    ) -> Result<View<'a>, ViewError> {
        match (value, memory) {
            (Argument::Tensor(tensor), Some(memory)) => {
                let Tensor { element, extents, strides, .. } = tensor;
                let own = MARGIN + tensor.first_byte()..MARGIN + tensor.bytes.len();
                Ok(match self.writes(argument) {
                    true => {
                        View::Write(ErasedViewMut::new(memory.slice_mut(own), *element, extents, strides)?)
                    }
                    false => View::Read(ErasedView::new(memory.slice(own), *element, extents, strides)?),
                })
            }
            (Argument::Tensor(_), None) => unreachable!("a tensor has memory"),
            (Argument::Scalar(value), _) => Ok(View::Scalar(*value)),
        }
    }

    /// The first byte that changed although the kernel may not write it, from the beginning of the tensor's own memory.
    fn foreign_byte(&self, argument: usize, before: &Tensor, left: &[u8]) -> Option<isize> {
        let mut own = vec![false; before.bytes.len()];
        if self.writes(argument) {
            mark_elements(before, &mut own);
        }
        let own = |at: usize| at.checked_sub(MARGIN).and_then(|at| own.get(at)).copied().unwrap_or(false);
        let was = with_margins(&before.bytes);
        let changed = was.iter().zip(left).enumerate().position(|(at, (was, is))| was != is && !own(at));
        changed.map(|at| at as isize - MARGIN as isize)
    }
}

/// An argument on the device.
enum View<'a> {
    Scalar(ScalarValue),
    Read(ErasedView<'a>),
    Write(ErasedViewMut<'a>),
}

fn with_margins(bytes: &[u8]) -> Vec<u8> {
    [&[POISON; MARGIN], bytes, &[POISON; MARGIN]].concat()
}

/// Sets the bytes of all elements of a tensor.
fn mark_elements(tensor: &Tensor, own: &mut [bool]) {
    let size = tensor.element.bytes() as usize;
    let Some((row, outer)) = tensor.extents.split_last() else { return };
    let rows: usize = outer.iter().product();
    for number in 0..rows {
        let (mut rest, mut first) = (number, tensor.offset);
        for (extent, stride) in outer.iter().zip(&tensor.strides).rev() {
            first += rest % extent * stride;
            rest /= extent;
        }
        own[first * size..(first + row) * size].fill(true);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tileproof::report::{Role, Space};

    const SCALE: (&str, &str) = (
        "block = [32], grid = [y.cols().div_ceil(32), y.rows()], requires(x.rows() == y.rows(), x.cols() == y.cols(), k > 0)",
        "fn scale(x: &Matrix<f32>, k: i32, y: &mut Matrix<f32>) {
            let (r, c) = (block_y(), block_x() * 32 + thread_x());
            if c < y.cols() {
                y[[r, c]] = x[[r, c]] * k as f32;
            }
        }",
    );

    fn floats(values: impl IntoIterator<Item = f32>) -> Vec<u8> {
        values.into_iter().flat_map(f32::to_le_bytes).collect()
    }

    /// 3 rows of 5, 7 apart, the first at element 4 of what `y` holds.
    fn arguments(k: i32) -> [Argument; 3] {
        let x = Tensor::new(ScalarType::F32, &[3, 5], floats((0..15).map(|i| i as f32)));
        let y = Tensor {
            element: ScalarType::F32,
            extents: vec![3, 5],
            strides: vec![7, 1],
            offset: 4,
            bytes: floats([-1.0; 24]),
        };
        [Argument::Tensor(x), Argument::Scalar(ScalarValue::I32(k)), Argument::Tensor(y)]
    }

    fn expected(k: i32) -> [Argument; 3] {
        let mut after = arguments(k);
        let Argument::Tensor(y) = &mut after[2] else { unreachable!() };
        for i in 0..15 {
            let at = 4 * (4 + i / 5 * 7 + i % 5);
            y.bytes[at..at + 4].copy_from_slice(&(i as f32 * k as f32).to_le_bytes());
        }
        after
    }

    #[test]
    fn a_kernel_from_text_is_simulated() {
        let scale = Dynamic::compile(SCALE.0, SCALE.1).unwrap();
        let run = scale.simulate(&arguments(3)).unwrap();
        assert_eq!(run.arguments, expected(3));
        // Of each row 20 bytes that begin 16, 44 and 72 bytes after an aligned address.
        let stores = run.counts.total(Space::Global, Role::Write);
        assert_eq!((stores.instructions, stores.sectors), (3, 2 + 1 + 1));
    }

    #[test]
    fn what_is_refused() {
        let scale = Dynamic::compile(SCALE.0, SCALE.1).unwrap();
        let refused = |arguments: &[Argument]| scale.simulate(arguments).unwrap_err().to_string();
        assert!(refused(&arguments(0)).contains("k > 0"));
        assert!(refused(&arguments(1)[1..]).contains("arguments"));
        let mut short = arguments(1);
        let Argument::Tensor(x) = &mut short[0] else { unreachable!() };
        x.bytes.pop();
        assert!(refused(&short).starts_with("argument 0 is no tensor: the shape [3, 5]"));
        assert!(Dynamic::compile("block = [32], grid = [1]", "fn f() { g(); }").unwrap_err().contains("TP"));
    }

    #[test]
    fn many_threads_compile_at_once() {
        let texts = std::thread::scope(|scope| {
            let compile = || Dynamic::compile(SCALE.0, SCALE.1).unwrap().description.cuda;
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(compile)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
        });
        assert!(texts.iter().all(|text| *text == texts[0]));
    }

    #[test]
    fn bytes_that_are_not_the_kernels() {
        let scale = Dynamic::compile(SCALE.0, SCALE.1).unwrap();
        let [Argument::Tensor(x), _, Argument::Tensor(y)] = arguments(1) else { unreachable!() };
        let touched = |argument, tensor: &Tensor, at: usize| {
            let mut left = with_margins(&tensor.bytes);
            left[at] ^= 1;
            scale.foreign_byte(argument, tensor, &left)
        };
        // The elements of `y` are bytes 16..36, 44..64 and 72..92 of 96.
        for at in
            (0..MARGIN + 16).chain([MARGIN + 36, MARGIN + 43, MARGIN + 92, MARGIN + 96, 2 * MARGIN + 95])
        {
            assert_eq!(touched(2, &y, at), Some(at as isize - MARGIN as isize));
        }
        for at in [16, 35, 44, 63, 72, 91] {
            assert_eq!(touched(2, &y, MARGIN + at), None);
        }
        assert_eq!(touched(0, &x, MARGIN + 3), Some(3));
    }
}
