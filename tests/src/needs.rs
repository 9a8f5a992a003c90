//! What a test needs from its machine.
//!
//! A test that lacks something skips aloud, so that `cargo test --workspace` passes anywhere; where the set-up promised
//! it (`cargo xtask test` brings NVRTC and the disassembler, the GPU bundle runs beside a GPU), the same lack fails.

use std::io::Write;
use std::path::PathBuf;

/// Something outside Rust that a test needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// The run-time compiler, `libnvrtc`: the folder in `TILEPROOF_NVRTC_DIR`.
    Nvrtc,
    /// The disassembler: the executable in `TILEPROOF_NVDISASM`.
    Nvdisasm,
    /// A GPU with its driver; its presence is asked of the driver, not of a variable.
    Gpu,
}

impl Need {
    /// The word by which `TILEPROOF_REQUIRE` names it.
    pub fn word(self) -> &'static str {
        match self {
            Need::Nvrtc => "nvrtc",
            Need::Nvdisasm => "nvdisasm",
            Need::Gpu => "gpu",
        }
    }

    fn remedy(self) -> &'static str {
        match self {
            Need::Nvrtc => {
                "`cargo xtask test` fetches it, or set TILEPROOF_NVRTC_DIR to the folder of libnvrtc.so"
            }
            Need::Nvdisasm => "`cargo xtask test` fetches it, or set TILEPROOF_NVDISASM to the executable",
            Need::Gpu => "`cargo xtask gpu-bundle` builds what a host with a GPU can run",
        }
    }
}

/// The folder of `libnvrtc`, from `TILEPROOF_NVRTC_DIR`; `None` after a printed skip.
///
/// # Panics
/// If `TILEPROOF_REQUIRE` lists `nvrtc`.
#[track_caller]
pub fn nvrtc_dir() -> Option<PathBuf> {
    path_of("TILEPROOF_NVRTC_DIR", Need::Nvrtc)
}

/// The path of `nvdisasm`, from `TILEPROOF_NVDISASM`; `None` after a printed skip.
///
/// # Panics
/// If `TILEPROOF_REQUIRE` lists `nvdisasm`.
#[track_caller]
pub fn nvdisasm() -> Option<PathBuf> {
    path_of("TILEPROOF_NVDISASM", Need::Nvdisasm)
}

/// Says that a test is skipped for want of `need`, and why.
///
/// # Panics
/// If the comma-separated list in `TILEPROOF_REQUIRE` names the need.
#[track_caller]
pub fn skip(need: Need, why: &str) {
    let required = std::env::var("TILEPROOF_REQUIRE").unwrap_or_default();
    let word = need.word();
    assert!(
        !is_required(&required, need),
        "{word} is required here (TILEPROOF_REQUIRE={required}) and missing: {why}; {}",
        need.remedy()
    );
    // The test harness swallows what `eprintln!` prints in a test that passes, but not this.
    let place = std::panic::Location::caller();
    let _ = writeln!(std::io::stderr(), "skipped at {place}: no {word}: {why}; {}", need.remedy());
}

fn is_required(list: &str, need: Need) -> bool {
    list.split(',').any(|word| word.trim() == need.word())
}

#[track_caller]
fn path_of(variable: &str, need: Need) -> Option<PathBuf> {
    match std::env::var_os(variable).map(PathBuf::from) {
        Some(path) if path.exists() => Some(path),
        Some(path) => {
            skip(need, &format!("{variable} names {}, which does not exist", path.display()));
            None
        }
        None => {
            skip(need, &format!("{variable} is not set"));
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requirements_are_whole_words_of_a_list() {
        assert!(is_required("nvrtc,gpu", Need::Gpu));
        assert!(is_required(" nvrtc , nvdisasm", Need::Nvdisasm));
        assert!(!is_required("nvrtc", Need::Nvdisasm));
        assert!(!is_required("", Need::Nvrtc));
    }
}
