//! The arguments of one launch, their types erased: what the generated, typed methods hand to the runtime.

use crate::description::IndexWidth;
use crate::plan::ArgumentShape;
use crate::scalar::{Element, Scalar, ScalarType, ScalarValue};
use crate::shape::{ErasedShape, ViewError};
use crate::view::{TensorView, TensorViewMut};
use cudarc::driver::sys::CUdeviceptr;
use cudarc::driver::{CudaStream, CudaView, CudaViewMut, DevicePtr, DeviceSlice, LaunchArgs, PushKernelArg};
use std::mem::ManuallyDrop;
use std::sync::Arc;

/// An argument of `launch`.
pub struct DeviceArgument<'a>(Kind<'a>);

enum Kind<'a> {
    Tensor(&'a dyn DeviceTensorRead),
    TensorMut(&'a mut dyn DeviceTensorWrite),
    Scalar(ScalarValue),
}

impl<'a> DeviceArgument<'a> {
    /// A tensor that the kernel reads.
    pub fn tensor<T: Element, const R: usize>(view: &'a TensorView<'_, T, R>) -> Self {
        DeviceArgument(Kind::Tensor(view))
    }

    /// A tensor that the kernel writes.
    pub fn tensor_mut<T: Element, const R: usize>(view: &'a mut TensorViewMut<'_, T, R>) -> Self {
        DeviceArgument(Kind::TensorMut(view))
    }

    /// A scalar.
    pub fn scalar(value: impl Scalar) -> Self {
        DeviceArgument(Kind::Scalar(value.value()))
    }

    /// A tensor that the kernel reads.
    pub fn erased(view: &'a ErasedView<'_>) -> Self {
        DeviceArgument(Kind::Tensor(view))
    }

    /// A tensor that the kernel writes.
    pub fn erased_mut(view: &'a mut ErasedViewMut<'_>) -> Self {
        DeviceArgument(Kind::TensorMut(view))
    }

    /// A scalar whose type is known only at run time.
    pub fn erased_scalar(value: ScalarValue) -> Self {
        DeviceArgument(Kind::Scalar(value))
    }

    /// The stream that a tensor was allocated on.
    pub(crate) fn stream(&self) -> Option<&Arc<CudaStream>> {
        self.as_tensor().map(DeviceTensor::stream)
    }

    pub(crate) fn shape(&self) -> ArgumentShape<'_> {
        match &self.0 {
            Kind::Tensor(view) => view.shape(),
            Kind::TensorMut(view) => view.shape(),
            Kind::Scalar(value) => ArgumentShape::Scalar(*value),
        }
    }

    /// Its extents and outer strides, or itself if it is of type `usize` or `isize`: what is passed in the index width.
    pub(crate) fn index_words(&self, words: &mut Vec<usize>) {
        match (self.as_tensor(), &self.0) {
            (Some(view), _) => {
                words.extend(view.extents());
                words.extend(view.strides().split_last().map_or(&[][..], |(_, outer)| outer));
            }
            (None, Kind::Scalar(ScalarValue::Usize(value))) => words.push(*value),
            // Its low bits are the value in either width.
            (None, Kind::Scalar(ScalarValue::Isize(value))) => words.push(*value as usize),
            (None, Kind::Scalar(_) | Kind::Tensor(_) | Kind::TensorMut(_)) => {}
        }
    }

    /// Appends it to a launch, taking its index words from the front of `words`.
    pub(crate) fn push<'b>(&'b mut self, launch: &mut LaunchArgs<'b>, words: &mut IndexCursor<'b>) {
        match &mut self.0 {
            Kind::Tensor(view) => {
                let rank = view.extents().len();
                view.push(launch);
                words.push(launch, 2 * rank - 1);
            }
            Kind::TensorMut(view) => {
                let rank = view.extents().len();
                view.push_mut(launch);
                words.push(launch, 2 * rank - 1);
            }
            Kind::Scalar(value) => match value {
                ScalarValue::Bool(value) => _ = launch.arg(&*value),
                ScalarValue::I8(value) => _ = launch.arg(&*value),
                ScalarValue::I16(value) => _ = launch.arg(&*value),
                ScalarValue::I32(value) => _ = launch.arg(&*value),
                ScalarValue::I64(value) => _ = launch.arg(&*value),
                ScalarValue::U8(value) => _ = launch.arg(&*value),
                ScalarValue::U16(value) => _ = launch.arg(&*value),
                ScalarValue::U32(value) => _ = launch.arg(&*value),
                ScalarValue::U64(value) => _ = launch.arg(&*value),
                ScalarValue::Usize(_) | ScalarValue::Isize(_) => words.push(launch, 1),
                ScalarValue::F16(value) => _ = launch.arg(&*value),
                ScalarValue::Bf16(value) => _ = launch.arg(&*value),
                ScalarValue::F32(value) => _ = launch.arg(&*value),
                ScalarValue::F64(value) => _ = launch.arg(&*value),
            },
        }
    }

    fn as_tensor(&self) -> Option<&dyn DeviceTensor> {
        match &self.0 {
            Kind::Tensor(view) => Some(*view),
            Kind::TensorMut(view) => Some(&**view),
            Kind::Scalar(_) => None,
        }
    }
}

/// A view of device memory whose element type and rank are erased.
trait DeviceTensor {
    fn stream(&self) -> &Arc<CudaStream>;
    fn extents(&self) -> &[usize];
    fn strides(&self) -> &[usize];
    fn shape(&self) -> ArgumentShape<'_>;
}

/// A [`DeviceTensor`] that the kernel reads.
trait DeviceTensorRead: DeviceTensor {
    /// Appends the pointer as one that is read.
    fn push<'b>(&'b self, launch: &mut LaunchArgs<'b>);
}

/// A [`DeviceTensor`] that the kernel writes.
trait DeviceTensorWrite: DeviceTensor {
    /// Appends the pointer as one that is written.
    fn push_mut<'b>(&'b mut self, launch: &mut LaunchArgs<'b>);
}

macro_rules! device_tensor {
    ($view:ident, mutable: $mutable:literal) => {
        impl<T: Element, const R: usize> DeviceTensor for $view<'_, T, R> {
            fn stream(&self) -> &Arc<CudaStream> {
                DeviceSlice::stream(&self.data)
            }

            fn extents(&self) -> &[usize] {
                &self.shape.extents
            }

            fn strides(&self) -> &[usize] {
                &self.shape.strides
            }

            fn shape(&self) -> ArgumentShape<'_> {
                ArgumentShape::Tensor {
                    element: T::TYPE,
                    mutable: $mutable,
                    extents: &self.shape.extents,
                    strides: &self.shape.strides,
                    span: self.shape.span,
                    address: address(&self.data),
                }
            }
        }
    };
}

device_tensor!(TensorView, mutable: false);
device_tensor!(TensorViewMut, mutable: true);

impl<T: Element, const R: usize> DeviceTensorRead for TensorView<'_, T, R> {
    fn push<'b>(&'b self, launch: &mut LaunchArgs<'b>) {
        launch.arg(&self.data);
    }
}

impl<T: Element, const R: usize> DeviceTensorWrite for TensorViewMut<'_, T, R> {
    fn push_mut<'b>(&'b mut self, launch: &mut LaunchArgs<'b>) {
        launch.arg(&mut self.data);
    }
}

/// Device memory whose element type and rank are known only at run time, as a tensor that a kernel reads.
pub struct ErasedView<'a>(Erased<CudaView<'a, u8>>);

/// Device memory whose element type and rank are known only at run time, as a tensor that a kernel writes.
pub struct ErasedViewMut<'a>(Erased<CudaViewMut<'a, u8>>);

struct Erased<M> {
    memory: M,
    element: ScalarType,
    shape: ErasedShape,
}

impl<'a> ErasedView<'a> {
    /// The beginning of `memory` as a tensor of `extents` and `strides`, in elements, outermost first.
    ///
    /// # Errors
    /// As of [`ErasedShape::new`].
    ///
    /// # Panics
    /// As [`ErasedShape::new`].
    pub fn new(
        memory: CudaView<'a, u8>,
        element: ScalarType,
        extents: &[usize],
        strides: &[usize],
    ) -> Result<Self, ViewError> {
        let length = memory.len() / element.bytes() as usize;
        let shape = ErasedShape::new(extents, strides, length, false)?;
        Ok(ErasedView(Erased { memory, element, shape }))
    }
}

impl<'a> ErasedViewMut<'a> {
    /// As [`ErasedView::new`], of memory that is written.
    ///
    /// # Errors
    /// As of [`ErasedShape::new`].
    ///
    /// # Panics
    /// As [`ErasedShape::new`].
    pub fn new(
        memory: CudaViewMut<'a, u8>,
        element: ScalarType,
        extents: &[usize],
        strides: &[usize],
    ) -> Result<Self, ViewError> {
        let length = memory.len() / element.bytes() as usize;
        let shape = ErasedShape::new(extents, strides, length, true)?;
        Ok(ErasedViewMut(Erased { memory, element, shape }))
    }
}

macro_rules! erased_tensor {
    ($view:ident, mutable: $mutable:literal) => {
        impl DeviceTensor for $view<'_> {
            fn stream(&self) -> &Arc<CudaStream> {
                DeviceSlice::stream(&self.0.memory)
            }

            fn extents(&self) -> &[usize] {
                &self.0.shape.extents
            }

            fn strides(&self) -> &[usize] {
                &self.0.shape.strides
            }

            fn shape(&self) -> ArgumentShape<'_> {
                ArgumentShape::Tensor {
                    element: self.0.element,
                    mutable: $mutable,
                    extents: &self.0.shape.extents,
                    strides: &self.0.shape.strides,
                    span: self.0.shape.span,
                    address: address(&self.0.memory),
                }
            }
        }
    };
}

erased_tensor!(ErasedView, mutable: false);
erased_tensor!(ErasedViewMut, mutable: true);

impl DeviceTensorRead for ErasedView<'_> {
    fn push<'b>(&'b self, launch: &mut LaunchArgs<'b>) {
        launch.arg(&self.0.memory);
    }
}

impl DeviceTensorWrite for ErasedViewMut<'_> {
    fn push_mut<'b>(&'b mut self, launch: &mut LaunchArgs<'b>) {
        launch.arg(&mut self.0.memory);
    }
}

/// The address of device memory. cudarc tells it only to those who will use it, and records the use in the memory's
/// read event when its guard is dropped; the launch itself will do that, so the guard is forgotten.
pub(crate) fn address<T>(memory: &impl DevicePtr<T>) -> CUdeviceptr {
    let (address, use_guard) = memory.device_ptr(memory.stream());
    _ = ManuallyDrop::new(use_guard);
    address
}

/// The extents, strides and `usize` scalars of a launch, in the width of its twin.
pub(crate) enum IndexWords {
    Narrow(Vec<u32>),
    Wide(Vec<u64>),
}

/// What is left of [`IndexWords`] while they are appended to a launch.
pub(crate) enum IndexCursor<'b> {
    Narrow(std::slice::Iter<'b, u32>),
    Wide(std::slice::Iter<'b, u64>),
}

impl IndexWords {
    /// The words of `arguments` in this width; the plan has checked that narrow ones fit.
    pub(crate) fn new(arguments: &[DeviceArgument<'_>], width: IndexWidth) -> Self {
        let mut words = Vec::new();
        arguments.iter().for_each(|argument| argument.index_words(&mut words));
        match width {
            IndexWidth::Narrow => IndexWords::Narrow(words.into_iter().map(|word| word as u32).collect()),
            IndexWidth::Wide => IndexWords::Wide(words.into_iter().map(|word| word as u64).collect()),
        }
    }

    pub(crate) fn cursor(&self) -> IndexCursor<'_> {
        match self {
            IndexWords::Narrow(words) => IndexCursor::Narrow(words.iter()),
            IndexWords::Wide(words) => IndexCursor::Wide(words.iter()),
        }
    }
}

impl<'b> IndexCursor<'b> {
    /// Appends the next `count` words to a launch.
    fn push(&mut self, launch: &mut LaunchArgs<'b>, count: usize) {
        match self {
            IndexCursor::Narrow(words) => words.take(count).for_each(|word| _ = launch.arg(word)),
            IndexCursor::Wide(words) => words.take(count).for_each(|word| _ = launch.arg(word)),
        }
    }
}
