//! The captures are `nvdisasm` 13.2 on cubins that NVRTC 13.0.88 made of the `.cu` files beside them, `NOP`s removed.

use super::*;

const PROBE_SM_80: &str = include_str!("../captured/probe.sm_80.sass");
const PROBE_SM_90: &str = include_str!("../captured/probe.sm_90.sass");
const FRAGMENTS_SM_90: &str = include_str!("../captured/fragments.sm_90.sass");

fn kernel(sass: &str, name: &str) -> Kernel {
    let kernels = parse(sass).unwrap();
    kernels.into_iter().find(|k| k.name == name).unwrap_or_else(|| panic!("no kernel {name}"))
}

/// One line an access kind: how many, and what.
fn table(kernel: &Kernel) -> String {
    kernel.counts().iter().map(|(access, count)| format!("{count} × {access}\n")).collect()
}

#[test]
fn a_copy_is_one_load_and_one_store() {
    let copy = kernel(PROBE_SM_90, "copy");
    assert_eq!(table(&copy), "1 × global load of 4 bytes\n1 × global store of 4 bytes\n");
    assert_eq!(copy.local(), 0);
    assert_eq!(copy.instructions[0].opcode, "LDG.E.CONSTANT");
    assert!(!copy.instructions[0].predicated);
}

/// As the source of the probe has them; the three `@!PT LDS` that pad the asynchronous copy do not count.
#[test]
fn widths_and_spaces_are_told_apart() {
    let everything = "\
1 × global load of 1 byte
1 × global load of 8 bytes
1 × global load of 16 bytes
1 × global store of 1 byte
1 × global store of 4 bytes
1 × global store of 8 bytes
1 × global reduction of 4 bytes
1 × shared load of 2 bytes
1 × shared load of 4 bytes
1 × shared load of 8 bytes
1 × shared store of 2 bytes
1 × shared store of 16 bytes
1 × shared atomic of 4 bytes
1 × shared asynchronous copy of 16 bytes
5 × local load of 4 bytes
16 × local store of 16 bytes
";
    assert_eq!(table(&kernel(PROBE_SM_90, "probe")), everything);
    assert_eq!(table(&kernel(PROBE_SM_80, "probe")), everything);
    assert_eq!(kernel(PROBE_SM_90, "probe").local(), 21);
    assert_eq!(kernel(PROBE_SM_90, "probe").count(Space::Global, Action::Load, 16), 1);
    assert_eq!(kernel(PROBE_SM_90, "probe").count(Space::Global, Action::Load, 2), 0);
}

#[test]
fn a_predicate_is_seen() {
    let probe = kernel(PROBE_SM_90, "probe");
    let load = probe.instructions.iter().find(|i| i.opcode == "LDG.E.128.CONSTANT").unwrap();
    assert!(load.predicated);
    let store = probe.instructions.iter().find(|i| i.opcode == "STS.128").unwrap();
    assert!(!store.predicated);
}

#[test]
fn fragments_and_wide_atomics() {
    let expected = "\
1 × global load of 4 bytes
2 × global store of 4 bytes
1 × global reduction of 4 bytes
2 × global reduction of 8 bytes
2 × shared load of 4 bytes
1 × shared store of 4 bytes
1 × shared atomic of 8 bytes
1 × shared matrix load of 16 bytes
1 × shared matrix store of 8 bytes
";
    assert_eq!(table(&kernel(FRAGMENTS_SM_90, "frag")), expected);
}

/// The loads sit in an inlined function of line 1 of the CUDA text; their source is the line that called it.
#[test]
fn an_inlined_access_belongs_to_its_caller() {
    let frag = kernel(FRAGMENTS_SM_90, "frag");
    let lines = |opcode: &str| -> Vec<u32> {
        let found = frag.instructions.iter().filter(|i| i.opcode == opcode);
        found.map(|i| i.source.as_ref().map_or(0, |(_, line)| *line)).collect()
    };
    assert_eq!(lines("LDS"), [20, 20]);
    assert_eq!(lines("LDSM.16.MT88.4"), [17]);
    assert!(
        frag.instructions.iter().all(|i| i.source.as_ref().is_some_and(|(file, _)| file == "src/kernels.rs"))
    );
    assert!(kernel(PROBE_SM_90, "copy").instructions.iter().all(|i| i.source.is_none()));
}

#[test]
fn what_is_not_known_is_an_error() {
    let unknown = ".text.k:\n        /*0010*/                   UBLKCP.S.G [UR4], [UR6], UR8 ;\n";
    let error = parse(unknown).unwrap_err();
    assert!(matches!(&error, Error::UnknownOpcode(kernel, line) if kernel == "k" && line.contains("UBLKCP")));
    assert!(error.to_string().contains("unknown memory instruction in kernel k"));
    assert!(matches!(parse("int main() {}").unwrap_err(), Error::NoKernel));
    assert!(matches!(parse(".text.k:\n//## File nowhere\n").unwrap_err(), Error::SourceLine(_)));
}

#[test]
fn the_disassembler_reports_what_it_refuses() {
    let missing = Path::new("/nonexistent/nvdisasm");
    assert!(matches!(disassemble(missing, &[]).unwrap_err(), Error::Run(path, _) if path == missing));
    if let Some(nvdisasm) = crate::needs::nvdisasm() {
        assert!(matches!(disassemble(&nvdisasm, b"not a cubin").unwrap_err(), Error::Refused(..)));
    }
}
