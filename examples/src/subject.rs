//! A kernel with everything that is needed to run and judge it: [`Subject`], made by [`subject!`](crate::subject).

use crate::array::Outputs;
use std::error::Error;
use std::sync::Arc;
use tileproof::__private::Description;
use tileproof::cudarc::driver::{CudaContext, CudaStream};
use tileproof::report::Report;
use tileproof::{Counts, Loaded};

/// A kernel, its reference, and the sizes at which they are compared.
#[derive(Clone, Copy)]
pub struct Subject {
    /// The kernel's name.
    pub name: &'static str,
    /// The emitted CUDA C.
    pub cuda: &'static str,
    /// What was proven.
    pub report: fn() -> &'static Report,
    /// What the attribute left of it, to compile it without a GPU.
    pub description: &'static Description,
    /// Compiles and loads for a GPU.
    pub load: fn(&Arc<CudaContext>) -> Result<Arc<Loaded>, tileproof::Error>,
    /// Awkward sizes: what the numbers mean is the kernel's affair.
    pub sizes: &'static [&'static [usize]],
    /// Sizes at which a profiler counts: see [`shapes`](Subject::shapes).
    pub counted: &'static [&'static [usize]],
    /// How many elements may follow a row: what the kernel's contract asks of a pitch.
    pub gap: usize,
    /// How far a result may be from the reference: 0, but where a function is only approximated.
    pub ulps: u64,
    /// Runs on the CPU at a size, with `gap` elements behind each row.
    pub simulate: Simulate,
    /// Runs on a GPU likewise.
    pub launch: Launch,
}

/// Runs a kernel on the CPU.
pub type Simulate = fn(size: &[usize], gap: usize) -> Result<(Counts, Run), Box<dyn Error>>;

/// Runs a kernel on a GPU.
pub type Launch = fn(stream: &Arc<CudaStream>, size: &[usize], gap: usize) -> Result<Run, Box<dyn Error>>;

/// A finished run.
pub struct Run {
    /// What the kernel wrote.
    pub actual: Outputs,
    /// What it should have written.
    pub expected: Outputs,
}

/// A size, and the elements behind each row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// The numbers of the size.
    pub size: &'static [usize],
    /// Elements behind each row.
    pub gap: usize,
}

impl Subject {
    /// Where a profiler counts: at the first size with one row right behind another, at the others with `gap` elements
    /// between them.
    pub fn shapes(&self) -> impl Iterator<Item = Shape> + use<> {
        let gap = self.gap;
        self.counted
            .iter()
            .enumerate()
            .map(move |(i, size)| Shape { size, gap: if i == 0 { 0 } else { gap } })
    }
}

impl Run {
    /// The first element that is wrong, in words.
    pub fn difference(&self, ulps: u64) -> Option<String> {
        self.actual.difference(&self.expected, ulps)
    }
}

/// The numbers of a size.
///
/// # Panics
/// If there are more or fewer than `N`.
pub fn numbers<const N: usize>(size: &[usize]) -> [usize; N] {
    size.try_into().unwrap_or_else(|_| panic!("a size of {N} numbers, not {size:?}"))
}

/// Makes the [`Subject`] of a kernel.
///
/// ```text
/// subject! {
///     kernel: saxpy(value alpha, read x, write y),
///     reference: reference,
///     sizes: [n]: [0] [1] [97] [1000],
///     counted: [1 << 20] [4099] [1],
///     data: |data| (0.5, data.random([n]), data.random([n])),
/// }
/// ```
///
/// `data` makes the arguments in order, for `n` of a size, out of a [`Data`](crate::array::Data); `reference` takes what
/// the kernel takes, with [`Array`](crate::array::Array)s for tensors. Optional, at the end: `gap: 12` and `ulps: 2`.
macro_rules! subject {
    (
        kernel: $kernel:ident($($role:ident $argument:ident),+ $(,)?),
        reference: $reference:path,
        sizes: [$($number:ident),+]: $([$($extent:expr),+])+,
        counted: $([$($counted:expr),+])+,
        data: |$data:ident| $arguments:expr
        $(, gap: $gap:expr)?
        $(, ulps: $ulps:expr)?
        $(,)?
    ) => {{
        #[allow(unused_mut)] // arguments that are only read are declared as the others
        const SUBJECT: $crate::subject::Subject = $crate::subject::Subject {
            name: stringify!($kernel),
            cuda: $kernel::CUDA_SOURCE,
            report: $kernel::report,
            description: <$kernel as tileproof::__private::Kernel>::DESCRIPTION,
            load: $kernel::load,
            sizes: &[$(&[$($extent),+]),+],
            counted: &[$(&[$($counted),+]),+],
            gap: 3 $(- 3 + $gap)?,
            ulps: 0 $(+ $ulps)?,
            simulate: |size, gap| {
                let [$($number),+] = $crate::subject::numbers(size);
                let $data = &mut $crate::array::Data::new(gap);
                let ($(mut $argument,)+) = $arguments;
                let counts = $kernel::simulate($(subject!(@host $role $argument)),+)?;
                let mut actual = $crate::array::Outputs::default();
                $(subject!(@written $role $argument actual);)+

                let $data = &mut $crate::array::Data::new(gap);
                let ($(mut $argument,)+) = $arguments;
                $reference($(subject!(@reference $role $argument)),+);
                let mut expected = $crate::array::Outputs::default();
                $(subject!(@written $role $argument expected);)+
                Ok((counts, $crate::subject::Run { actual, expected }))
            },
            launch: |stream, size, gap| {
                let [$($number),+] = $crate::subject::numbers(size);
                let $data = &mut $crate::array::Data::new(gap);
                let ($(mut $argument,)+) = $arguments;
                $(subject!(@upload $role $argument stream);)+
                $kernel::launch(stream, $(subject!(@device $role $argument)),+)?;
                $(subject!(@download $role $argument stream);)+
                let mut actual = $crate::array::Outputs::default();
                $(subject!(@written $role $argument actual);)+

                let $data = &mut $crate::array::Data::new(gap);
                let ($(mut $argument,)+) = $arguments;
                $reference($(subject!(@reference $role $argument)),+);
                let mut expected = $crate::array::Outputs::default();
                $(subject!(@written $role $argument expected);)+
                Ok($crate::subject::Run { actual, expected })
            },
        };
        SUBJECT
    }};

    (@host read $argument:ident) => { &$argument.host()? };
    (@host write $argument:ident) => { &mut $argument.host_mut()? };
    (@host value $argument:ident) => { $argument };

    (@device read $argument:ident) => { &$argument.view()? };
    (@device write $argument:ident) => { &mut $argument.view_mut()? };
    (@device value $argument:ident) => { $argument };

    (@reference read $argument:ident) => { &$argument };
    (@reference write $argument:ident) => { &mut $argument };
    (@reference value $argument:ident) => { $argument };

    (@upload read $argument:ident $stream:ident) => { let $argument = $argument.upload($stream)?; };
    (@upload write $argument:ident $stream:ident) => { let mut $argument = $argument.upload($stream)?; };
    (@upload value $argument:ident $stream:ident) => {};

    (@download read $argument:ident $stream:ident) => {};
    (@download write $argument:ident $stream:ident) => { let $argument = $argument.download($stream)?; };
    (@download value $argument:ident $stream:ident) => {};

    (@written read $argument:ident $outputs:ident) => {};
    (@written write $argument:ident $outputs:ident) => {
        $outputs.add(stringify!($argument), $argument);
    };
    (@written value $argument:ident $outputs:ident) => {};
}

pub(crate) use subject;
