//! Runs plans, on whatever executes launches.

use super::kernel::{self, Arguments};
use super::plan::{Dimension, Plan, Step};
use crate::description::Description;
use crate::error::Error;

/// What executes a kernel of the library on parts of two sides.
pub(super) trait Machine {
    /// Runs a kernel with these arguments.
    ///
    /// # Errors
    /// As of a launch; then nothing has run.
    fn run(&mut self, kernel: &'static Description, arguments: &Arguments) -> Result<(), Error>;
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
    let arguments = kernel::arguments(step.kernel, step.word, dimensions, [input, output]);
    let result = machine.run(kernel, &arguments);
    let Err(Error::Grid { axis, .. }) = result else { return result };
    let along = kernel::along(step.kernel, axis, dimensions.len());
    let Some(divided) = along.into_iter().find(|place| dimensions[*place].extent > 1) else { return result };
    let Dimension { extent, input: in_stride, output: out_stride } = dimensions[divided];
    let half = extent / 2;
    let mut part = dimensions.to_vec();
    part[divided].extent = half;
    launch(step, &part, [input, output], machine)?;
    part[divided].extent = extent - half;
    let skipped = half * step.word.bytes();
    launch(step, &part, [input + skipped * in_stride, output + skipped * out_stride], machine)
}

#[cfg(test)]
mod tests {
    use super::{Arguments, Machine, run};
    use crate::description::Description;
    use crate::error::Error;
    use crate::kernels::kernel::Words;
    use crate::kernels::plan::{Side, plan};
    use crate::scalar::ScalarType;

    /// Copies elements one by one, and refuses more than `limit` indices of a dimension, as a grid does.
    struct Small {
        limit: usize,
        launches: usize,
        input: Vec<u32>,
        output: Vec<u32>,
    }

    impl Machine for Small {
        fn run(
            &mut self,
            kernel: &'static Description,
            Arguments { numbers, input, rest, output }: &Arguments,
        ) -> Result<(), Error> {
            assert!(numbers.is_empty() && rest.is_none());
            assert_eq!([input.element, output.element], [ScalarType::U32; 2]);
            let [.., rows, cols] = input.extents[..] else { panic!("{input:?}") };
            let planes: usize = input.extents[..3].iter().product();
            for (axis, extent) in [('x', cols), ('y', rows), ('z', planes)] {
                if extent > self.limit {
                    let limit = self.limit as u32;
                    return Err(Error::Grid { kernel: kernel.name, axis, blocks: extent as i128, limit });
                }
            }
            self.launches += 1;
            let each = |words: &Words| -> Vec<usize> {
                (0..words.extents.iter().product::<usize>())
                    .map(|mut number| {
                        let mut at = words.offset / 4;
                        for (extent, stride) in words.extents.iter().zip(&words.strides).rev() {
                            at += number % extent * stride;
                            number /= extent;
                        }
                        at
                    })
                    .collect()
            };
            for (from, to) in each(input).into_iter().zip(each(output)) {
                self.output[to] = self.input[from];
            }
            Ok(())
        }
    }

    #[test]
    fn what_is_more_than_a_grid_is_launched_in_parts() {
        let (extents, from, to) = ([3, 5, 9], [60, 11, 1], [70, 13, 1]);
        let plan = plan(
            ScalarType::F32,
            &extents,
            Side { strides: &from, address: 0 },
            Side { strides: &to, address: 4 },
        );
        for (limit, launches) in [(9, 1), (5, 2), (4, 6), (2, 30), (1, 135)] {
            let mut small = Small { limit, launches: 0, input: (1..400).collect(), output: vec![0; 400] };
            run(&plan, &mut small).unwrap();
            assert_eq!(small.launches, launches, "at most {limit}");
            let mut written = 0;
            for a in 0..3 {
                for b in 0..5 {
                    for c in 0..9 {
                        let at = |strides: [usize; 3]| a * strides[0] + b * strides[1] + c * strides[2];
                        assert_eq!(small.output[at(to)], small.input[at(from)]);
                        written += 1;
                    }
                }
            }
            assert_eq!(small.output.iter().filter(|word| **word != 0).count(), written);
        }
        let mut none = Small { limit: 0, launches: 0, input: vec![0; 400], output: vec![0; 400] };
        assert!(matches!(run(&plan, &mut none), Err(Error::Grid { .. })));
    }
}
