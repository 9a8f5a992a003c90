//! Runs plans, on whatever executes launches.

use super::kernel::{self, Words};
use super::plan::{Dimension, Plan, Step};
use crate::description::Description;
use crate::error::Error;
use crate::scalar::ScalarType;

/// What executes a kernel of the library on parts of two sides.
pub(super) trait Machine {
    /// Runs a kernel on tensors of such elements.
    ///
    /// # Errors
    /// As of a launch; then nothing has run.
    fn run(
        &mut self,
        kernel: &'static Description,
        element: ScalarType,
        input: &Words,
        output: &Words,
    ) -> Result<(), Error>;
}

/// Runs all steps.
///
/// # Errors
/// As of a launch; steps before the one that failed have run.
pub(super) fn run(plan: &Plan, machine: &mut impl Machine) -> Result<(), Error> {
    plan.steps.iter().try_for_each(|step| {
        let word = step.word.bytes();
        each(&step.launches, [step.input, step.output], word, &mut |places| {
            launch(step, &step.dimensions, places, machine)
        })
    })
}

/// For each index of the dimensions, the bytes to where it begins on both sides.
fn each(
    dimensions: &[Dimension],
    [input, output]: [usize; 2],
    word: usize,
    act: &mut dyn FnMut([usize; 2]) -> Result<(), Error>,
) -> Result<(), Error> {
    let Some((outer, rest)) = dimensions.split_first() else { return act([input, output]) };
    (0..outer.extent).try_for_each(|i| {
        each(rest, [input + i * outer.input * word, output + i * outer.output * word], word, act)
    })
}

/// Launches a step's kernel on these dimensions, in halves where they are more than a grid has blocks.
fn launch(
    step: &Step,
    dimensions: &[Dimension],
    [input, output]: [usize; 2],
    machine: &mut impl Machine,
) -> Result<(), Error> {
    let kernel = kernel::description(step.kernel, step.word);
    let (element, _) = kernel::elements(step.word);
    let [from, to] = kernel::arguments(step.kernel, step.word, dimensions, [input, output]);
    let result = machine.run(kernel, element, &from, &to);
    let Err(Error::Grid { .. }) = result else { return result };
    let Some(outer) = dimensions.iter().position(|dimension| dimension.extent > 1) else { return result };
    let Dimension { extent, input: in_stride, output: out_stride } = dimensions[outer];
    let half = extent / 2;
    let mut part = dimensions.to_vec();
    part[outer].extent = half;
    launch(step, &part, [input, output], machine)?;
    part[outer].extent = extent - half;
    let skipped = half * step.word.bytes();
    launch(step, &part, [input + skipped * in_stride, output + skipped * out_stride], machine)
}
