//! `cargo xtask gpu-bundle`: a folder that a host with a GPU, but without Rust and without network, can run.
//!
//! The executables are those of the GPU tests (kernels, runtime, library), the example, the parity of predictions and counts, the fuzzer, the benches and the
//! record of a measurement,
//! optimised and stripped; they need glibc, and find the driver and NVRTC when they start. The kernels as functions of C and a script
//! measure the library beside others that the host's Python has. `run.sh` drives them and the host's profiler and sanitizer.

use crate::step;
use crate::workspace::{cargo, shown, target};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What is built: cargo's arguments, the kind and name of the target, and its name in the bundle.
struct Part {
    build: &'static [&'static str],
    kind: &'static str,
    target: &'static str,
    name: &'static str,
}

/// What compares predictions with the profiler's counts.
const PARITY: Part = Part {
    build: &["build", "--package=tileproof-tests", "--bin=parity"],
    kind: "bin",
    target: "parity",
    name: "parity",
};

const PARTS: [Part; 10] = [
    Part {
        build: &["test", "--no-run", "--package=tileproof-tests", "--test=gpu"],
        kind: "test",
        target: "gpu",
        name: "gpu-tests",
    },
    Part {
        build: &["test", "--no-run", "--package=tileproof", "--test=gpu"],
        kind: "test",
        target: "gpu",
        name: "runtime-tests",
    },
    Part {
        build: &["test", "--no-run", "--package=tileproof-tests", "--test=library"],
        kind: "test",
        target: "library",
        name: "library-tests",
    },
    Part {
        build: &["test", "--no-run", "--package=tileproof-tests", "--test=numerics"],
        kind: "test",
        target: "numerics",
        name: "numerics",
    },
    Part {
        build: &["build", "--package=tileproof-examples", "--example=transpose"],
        kind: "example",
        target: "transpose",
        name: "transpose",
    },
    PARITY,
    Part {
        build: &["build", "--package=tileproof-tests", "--bin=fuzz"],
        kind: "bin",
        target: "fuzz",
        name: "fuzz",
    },
    Part {
        build: &["bench", "--no-run", "--package=tileproof-benches", "--bench=ceiling"],
        kind: "bench",
        target: "ceiling",
        name: "bench",
    },
    Part {
        build: &["build", "--package=tileproof-benches", "--bin=record"],
        kind: "bin",
        target: "record",
        name: "record",
    },
    Part {
        build: &["build", "--package=tileproof-c"],
        kind: "cdylib",
        target: "tileproof_c",
        name: "libtileproof_c.so",
    },
];

/// The most that the bundle may hold, in bytes: 64 MiB.
const LIMIT: u64 = 64 << 20;

/// Builds the parts of these names, or all, and fills `gpu-bundle/` in the target folder.
///
/// # Errors
/// On a host other than x86-64 Linux, if there is no such part, if a build fails, or if the bundle outgrows 64 MiB.
pub(crate) fn run(names: &[String]) -> Result<(), String> {
    let (bundle, size) = fill(&chosen(names)?)?;
    if size > LIMIT {
        return Err(format!("{} holds {size} bytes, more than the {LIMIT} that may travel", shown(&bundle)));
    }
    println!("{size:>10} bytes  in {}; on the host with the GPU: ./run.sh", shown(&bundle));
    Ok(())
}

/// The parts of these names, in their own order; without names, all.
fn chosen(names: &[String]) -> Result<Vec<Part>, String> {
    let known = PARTS.map(|part| part.name);
    if let Some(name) = names.iter().find(|name| !known.contains(&name.as_str())) {
        return Err(format!("the bundle has no part `{name}`; its parts are {}", known.join(", ")));
    }
    Ok(PARTS
        .into_iter()
        .filter(|part| names.is_empty() || names.iter().any(|name| name == part.name))
        .collect())
}

/// Builds what compares predictions with the profiler's counts, and runs it here. The results lie in `gpu-bundle/out/` of the
/// target folder.
///
/// # Errors
/// If a build fails, where there is no GPU, NVRTC, profiler or disassembler, or if a count is not what was predicted.
pub(crate) fn parity() -> Result<(), String> {
    let (bundle, _) = fill(&[PARITY])?;
    let mut script = Command::new("bash");
    script.arg(bundle.join("run.sh")).arg(PARITY.name).env("OUT", bundle.join("out"));
    step::run(script)
}

/// Builds parts into an empty bundle; says where it is, and how many bytes they are.
fn fill(parts: &[Part]) -> Result<(PathBuf, u64), String> {
    if !cfg!(all(target_arch = "x86_64", target_os = "linux")) {
        return Err("the bundle holds x86-64 Linux executables; build it on such a host".into());
    }
    let bundle = target()?.join("gpu-bundle");
    let fail = |error| format!("cannot fill {}: {error}", shown(&bundle));
    if bundle.exists() {
        std::fs::remove_dir_all(&bundle).map_err(fail)?;
    }
    std::fs::create_dir_all(&bundle).map_err(fail)?;
    let mut size = 0;
    for part in parts {
        let built = build(part)?;
        let bytes = std::fs::copy(&built, bundle.join(part.name)).map_err(fail)?;
        println!("{:>10} bytes  {}", bytes, part.name);
        size += bytes;
    }
    write_script(&bundle.join("run.sh")).map_err(fail)?;
    std::fs::write(bundle.join("peers.py"), include_str!("../../../benches/peers/peers.py")).map_err(fail)?;
    Ok((bundle, size))
}

fn build(part: &Part) -> Result<PathBuf, String> {
    let mut command = cargo(part.build);
    command.args(["--profile=bundle", "--message-format=json-render-diagnostics"]);
    let messages = step::answer(command)?;
    artifact(&messages, part.kind, part.target).ok_or_else(|| {
        format!("cargo {} named no file of {} {}", part.build.join(" "), part.kind, part.target)
    })
}

/// Finds an executable, or a library to be loaded, among cargo's messages, one JSON object a line.
fn artifact(messages: &str, kind: &str, target: &str) -> Option<PathBuf> {
    let file = |message: &Value| {
        let library = || {
            message["filenames"]
                .as_array()?
                .iter()
                .find_map(|name| name.as_str().filter(|it| it.ends_with(".so")))
        };
        message["executable"].as_str().or_else(library).map(PathBuf::from)
    };
    messages
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter(|message| message["reason"] == "compiler-artifact")
        .filter(|message| message["target"]["name"] == target && message["target"]["kind"][0] == kind)
        .find_map(|message| file(&message))
}

fn write_script(path: &Path) -> std::io::Result<()> {
    std::fs::write(path, include_str!("run.sh"))?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
