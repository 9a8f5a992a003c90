//! What the tests need beside Rust: NVIDIA's run-time compiler and disassembler, as Python wheels in the target folder.
//!
//! The versions are pinned. NVRTC stays at 13.0, because a driver loads cubins of its own or an older release, and
//! drivers of 13.0 are common. The disassembler was first published as a wheel with 13.2; it reads the cubins of older
//! compilers.

use crate::step;
use crate::workspace;
use std::path::{Path, PathBuf};
use std::process::Command;

const WHEELS: [&str; 2] = ["nvidia-cuda-nvrtc==13.0.88", "nvidia-cuda-nvdisasm==13.2.51"];

/// The variables that tell the tests where the tools are, and that skipping for want of them is a failure.
pub(crate) struct Tools {
    pub(crate) variables: Vec<(&'static str, PathBuf)>,
}

impl Tools {
    /// Sets the variables for a command.
    pub(crate) fn apply(&self, command: &mut Command) {
        for (name, value) in &self.variables {
            command.env(name, value);
        }
        command.env("TILEPROOF_REQUIRE", "nvrtc,nvdisasm");
    }
}

/// Finds the tools that the environment names, or brings the pinned ones.
///
/// # Errors
/// If Python or the network is missing; the sentence says how to do without.
pub(crate) fn tools() -> Result<Tools, String> {
    const NAMES: [&str; 2] = ["TILEPROOF_NVRTC_DIR", "TILEPROOF_NVDISASM"];
    let [nvrtc, nvdisasm] = match NAMES.map(std::env::var_os) {
        [Some(nvrtc), Some(nvdisasm)] => [PathBuf::from(nvrtc), PathBuf::from(nvdisasm)],
        given => {
            let [lib, bin] = wheels().map_err(|error| {
                format!(
                    "{error}\nTo do without: set {} and {} to an installed CUDA's, or run `cargo test --workspace`, \
                     where tests that need them skip",
                    NAMES[0], NAMES[1]
                )
            })?;
            let [nvrtc, nvdisasm] = given;
            [nvrtc.map_or(lib, PathBuf::from), nvdisasm.map_or(bin.join("nvdisasm"), PathBuf::from)]
        }
    };
    for (name, path) in NAMES.into_iter().zip([&nvrtc, &nvdisasm]) {
        if !path.exists() {
            return Err(format!("{name}: {} does not exist", path.display()));
        }
        println!("{name}={}", path.display());
    }
    Ok(Tools { variables: NAMES.into_iter().zip([nvrtc, nvdisasm]).collect() })
}

/// The wheels' folders of libraries and of programs, installed unless they are there.
fn wheels() -> Result<[PathBuf; 2], String> {
    let venv = workspace::target()?.join("nvidia");
    let pins = WHEELS.join("\n");
    let stamp = venv.join("pins.txt");
    let python = venv.join("bin").join("python3");
    if std::fs::read_to_string(&stamp).is_ok_and(|installed| installed == pins) {
        println!("found {} in {}", WHEELS.join(", "), workspace::shown(&venv));
    } else {
        println!("installing {} into {}", WHEELS.join(", "), workspace::shown(&venv));
        install(&venv, &python)?;
        std::fs::write(&stamp, pins).map_err(|error| format!("cannot write {}: {error}", stamp.display()))?;
    }
    let mut ask = Command::new(&python);
    ask.args(["-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]);
    let packages = PathBuf::from(step::answer(ask)?).join("nvidia").join("cu13");
    Ok([packages.join("lib"), packages.join("bin")])
}

fn install(venv: &Path, python: &Path) -> Result<(), String> {
    let mut create = Command::new("python3");
    create.args(["-m", "venv", "--clear"]).arg(venv);
    step::run(create).map_err(|error| format!("{error}; install Python 3 with its venv and pip modules"))?;
    let mut pip = Command::new(python);
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--only-binary=:all:"])
        .args(WHEELS);
    step::run(pip)
        .map_err(|error| format!("{error}; pip needs the network, and x86-64 or Arm Linux for these wheels"))
}
