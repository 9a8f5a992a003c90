//! Kernels from text: what the compiler says of them, and what the simulator counts.

use tileproof_compiler::ir::ParamKind;
use tileproof_compiler::simulate::{Argument, Buffer, TensorArgument, simulate};
use tileproof_compiler::{Compiled, compile};
use tileproof_model::report::{Report, Role, SiteCounts, SiteReport, Space};

/// The value of an argument.
pub(crate) enum Given<'a> {
    /// A tensor of these extents, full of zeros.
    Zeros(&'a [u64]),
    /// A scalar.
    Number(u64),
}

/// A kernel that was compiled and run.
pub(crate) struct Run {
    pub(crate) report: Report,
    /// Over the whole grid, in the order of the report.
    pub(crate) counts: Vec<SiteCounts>,
}

impl Run {
    /// The last access to this kind of memory in this direction: what the compiler says, and what was counted.
    #[track_caller]
    pub(crate) fn last(&self, space: Space, role: Role) -> (&SiteReport, SiteCounts) {
        assert_eq!(self.report.sites.len(), self.counts.len());
        let sites = self.report.sites.iter().zip(&self.counts);
        let found = sites.rev().find(|(site, _)| site.space == space && site.role == role);
        found.map(|(site, counts)| (site, *counts)).expect("such an access")
    }
}

#[track_caller]
pub(crate) fn accepted(attribute: &str, parameters: &str, body: &str) -> Compiled {
    match compile(attribute, &format!("fn kernel({parameters}) {{\n{body}\n}}")) {
        Ok(compiled) => compiled,
        Err(errors) => panic!("{errors}\nin\n{body}"),
    }
}

/// The first lines of the errors of a kernel that must be refused.
#[track_caller]
pub(crate) fn refused(attribute: &str, parameters: &str, body: &str) -> String {
    let errors =
        compile(attribute, &format!("fn kernel({parameters}) {{\n{body}\n}}")).expect_err("an error");
    let heads = errors.split("\n\n").filter_map(|error| error.lines().next()?.split_once(": "));
    heads.map(|(_, head)| format!("{head}\n")).collect()
}

/// Compiles a kernel and runs it.
#[track_caller]
pub(crate) fn run(attribute: &str, parameters: &str, body: &str, grid: [u32; 3], given: &[Given<'_>]) -> Run {
    let Compiled { kernel, report, .. } = accepted(attribute, parameters, body);
    let mut memory: Vec<Vec<u8>> = kernel
        .params
        .iter()
        .zip(given)
        .map(|((_, param), given)| match (param.kind, given) {
            (ParamKind::Tensor { element, .. }, Given::Zeros(extents)) => {
                vec![0; extents.iter().product::<u64>() as usize * element.bytes() as usize]
            }
            _ => Vec::new(),
        })
        .collect();
    let mut arguments: Vec<Argument<'_>> = memory
        .iter_mut()
        .zip(given)
        .map(|(memory, given)| match given {
            Given::Number(number) => Argument::Scalar(*number),
            Given::Zeros(extents) => {
                let strides = (1..extents.len()).map(|from| extents[from..].iter().product()).collect();
                let buffer = Buffer::Write(memory);
                Argument::Tensor(TensorArgument { buffer, extents: extents.to_vec(), strides, base: 0 })
            }
        })
        .collect();
    let counts =
        simulate(&kernel, grid, &mut arguments).unwrap_or_else(|fault| panic!("{fault}\nin\n{body}"));
    Run { report, counts }
}

/// `#[budget]` for this excess; nothing for none.
pub(crate) fn budget(key: &str, excess: u64) -> String {
    match excess {
        0 => String::new(),
        _ => format!("#[budget({key} = {excess}, because = \"the case\")]"),
    }
}

/// Wavefronts of the last shared load or store of one warp, as compiler and simulator have them. The tile `t` is filled
/// by `fill` before; `x` is the lane, `v` a number of the element type, and `output` takes what is loaded. The budget on the
/// access is as tight as the excess demands, so the compiler accepts no less and no more.
#[track_caller]
pub(crate) fn wavefronts(
    role: Role,
    [element, tile]: [&str; 2],
    fill: &str,
    access: &str,
    excess: u64,
) -> u64 {
    let run = run(
        "block = [32], grid = [1], requires(output.len() >= 4096)",
        &format!("output: &mut Tensor<{element}, 1>, v: {element}"),
        &format!(
            "let mut t = Shared::<{tile}>::new();
            let x = thread_x();
            {fill}
            sync_threads();
            {}
            {access}",
            budget("bank_conflict", excess)
        ),
        [1, 1, 1],
        &[Given::Zeros(&[4096]), Given::Number(0)],
    );
    let (site, counts) = run.last(Space::Shared, role);
    assert_eq!(
        (site.instructions, site.wavefronts, site.ideal_wavefronts),
        (counts.instructions, counts.wavefronts, counts.ideal_wavefronts),
        "the simulator counts what the compiler says"
    );
    assert_eq!(u64::from(site.worst_excess_wavefronts), excess);
    site.wavefronts
}
