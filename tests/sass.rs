//! The accesses in the machine code are those of the report: as many, of the same width, and none besides.

use std::collections::{BTreeMap, BTreeSet};
use tileproof::report::{Report, Role, Space};
use tileproof::{Architecture, CompileOptions, IndexWidth};
use tileproof_examples::kernels::SUBJECTS;
use tileproof_examples::ladder::{LADDER, Rung};
use tileproof_tests::parity::place;
use tileproof_tests::sass::{self, Access, Action, Kernel};
use tileproof_tests::{cuda, fuzz, needs};

/// What the report says that one warp executes. All loops of the ladder are unrolled, so each instruction of a warp is one
/// in the text.
fn expected(report: &Report) -> BTreeMap<Access, u32> {
    let warps = u64::from(report.block.iter().product::<u32>().div_ceil(32));
    let mut expected = BTreeMap::new();
    for site in report.sites.iter() {
        assert_eq!(site.instructions % warps, 0, "all warps take part in {site}");
        let space = match site.space {
            Space::Global => sass::Space::Global,
            Space::Shared => sass::Space::Shared,
        };
        let action = match site.role {
            Role::Read => Action::Load,
            Role::Write => Action::Store,
            Role::Update => Action::Atomic,
        };
        let instructions = u32::try_from(site.instructions / warps).expect("a number of instructions");
        *expected.entry(Access { space, action, bytes: site.lane_bytes }).or_insert(0) += instructions;
    }
    expected
}

/// What the kernel executes; atomics that return nothing are atomics too.
fn accesses(kernel: &Kernel) -> BTreeMap<Access, u32> {
    let mut accesses = BTreeMap::new();
    for (mut access, count) in kernel.counts() {
        if access.action == Action::Reduction {
            access.action = Action::Atomic;
        }
        *accesses.entry(access).or_insert(0) += count;
    }
    accesses
}

/// Kernels of the ladder with their machine code for sm_90, in both index widths.
fn machine_code(rungs: &[Rung]) -> Vec<(&'static Report, Kernel)> {
    let (Some(_), Some(nvdisasm)) = (needs::nvrtc_dir(), needs::nvdisasm()) else { return Vec::new() };
    let mut kernels = Vec::new();
    for rung in rungs {
        for width in [IndexWidth::Narrow, IndexWidth::Wide] {
            let compiled = cuda::compile(rung.cuda, Architecture::new(9, 0), width).expect("a cubin");
            let mut found = sass::kernels(&nvdisasm, &compiled.cubin).expect("machine code");
            assert_eq!(found.len(), 1, "{}", rung.name);
            kernels.extend(found.pop().map(|kernel| ((rung.report)(), kernel)));
        }
    }
    kernels
}

#[test]
fn the_accesses_in_the_machine_code_are_those_of_the_report() {
    for (report, kernel) in machine_code(&LADDER) {
        assert_eq!(kernel.local(), 0, "{}: {:#?}", kernel.name, kernel.instructions);
        assert_eq!(accesses(&kernel), expected(report), "{}: {:#?}", kernel.name, kernel.instructions);
    }
}

#[test]
fn the_vectorised_transpose_moves_16_bytes_a_lane() {
    let vectorised = LADDER.iter().find(|rung| rung.name == "transpose_vectorised").expect("in the ladder");
    for (_, kernel) in machine_code(&[*vectorised]) {
        let global = kernel.instructions.iter().filter(|it| it.access.space == sass::Space::Global);
        let opcodes: Vec<&str> = global.map(|it| it.opcode.as_str()).collect();
        assert_eq!(opcodes.len(), 8, "{opcodes:?}");
        for opcode in opcodes {
            assert!(opcode.split('.').any(|part| part == "128"), "{opcode}");
        }
    }
}

/// Of loops that are not unrolled one cannot count the instructions here, but that each is of a kind and a width that the report has, and
/// none of these is missing. How often each executes is compared on a GPU.
#[test]
fn every_kernel_accesses_what_its_report_says() {
    let (Some(_), Some(nvdisasm)) = (needs::nvrtc_dir(), needs::nvdisasm()) else { return };
    let options = CompileOptions { width: IndexWidth::Narrow, source_lines: true };
    let examples = SUBJECTS.iter().map(|subject| subject.description);
    for description in examples.chain(tileproof::kernels::descriptions()) {
        let compiled = description.compile_with(Architecture::new(9, 0), options).expect("a cubin");
        let kernels = sass::kernels(&nvdisasm, &compiled.cubin).expect("machine code");
        let [kernel] = &kernels[..] else { panic!("{} has {} kernels", description.name, kernels.len()) };
        let machine: BTreeSet<Access> =
            kernel.instructions.iter().map(|it| place::of_instruction(it).access).collect();
        let report: BTreeSet<Access> =
            description.report.sites.iter().map(|site| place::of_site(site).access).collect();
        assert_eq!(machine, report, "{}", description.name);
    }
}

/// A fragment of small elements is a vector in the text. Nothing takes it apart in machine code.
#[test]
fn fragments_go_from_the_load_to_the_product_as_they_are() {
    let (Some(_), Some(nvdisasm)) = (needs::nvrtc_dir(), needs::nvdisasm()) else { return };
    let of_matrices: Vec<_> =
        SUBJECTS.iter().filter(|subject| (subject.report)().least_architecture.is_some()).collect();
    assert!(of_matrices.len() >= 5);
    for subject in of_matrices {
        let compiled = cuda::compile(subject.cuda, Architecture::new(9, 0), IndexWidth::Narrow);
        let text = sass::disassemble(&nvdisasm, &compiled.expect("a cubin").cubin).expect("machine code");
        let lines: Vec<&str> = text.lines().collect();
        let first = lines.iter().position(|line| line.contains("LDSM.")).expect("a load of matrices");
        let last = lines.iter().rposition(|line| line.contains("MMA.")).expect("a product");
        let permuted = lines[first..last].iter().find(|line| line.contains("PRMT"));
        assert_eq!(permuted, None, "{}", subject.name);
    }
}

/// Random kernels in which all that is read is used, so that `ptxas` has no access to drop.
#[test]
fn random_kernels_access_what_their_reports_say() {
    let (Some(_), Some(nvdisasm)) = (needs::nvrtc_dir(), needs::nvdisasm()) else { return };
    let (compared, unlike) =
        fuzz::unlike_machine_code(0..60, Architecture::new(9, 0), &nvdisasm).expect("machine code");
    assert!(compared >= 45, "only {compared} kernels");
    assert!(unlike.is_empty(), "{}", unlike.join("\n"));
}
