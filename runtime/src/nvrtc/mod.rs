//! Compiles CUDA text to a cubin, without a GPU.
//!
//! The cubin, not PTX, is what is taken from NVRTC: a driver that is older than the NVRTC refuses its PTX, and ptxas's
//! counts of registers and spills come with the cubin alone.

mod library;
mod log;
mod source;

pub use log::Usage;

use crate::architecture::Architecture;
use crate::description::{Description, IndexWidth};
use crate::error::Error;
use library::{Nvrtc, Program, Status};
use std::ffi::{CString, c_char, c_int};
use std::fmt;
use std::path::PathBuf;
use std::ptr;

/// How a kernel is compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompileOptions {
    /// Which twin.
    pub width: IndexWidth,
    /// Whether profilers and sanitizers are to show the Rust source: adds `#line` directives and a line table. It changes
    /// no instruction. By default, whether the environment variable `TILEPROOF_LINEINFO` is set to anything but `0`.
    pub source_lines: bool,
}

impl CompileOptions {
    /// What launches use: the preferred twin, and source lines if the environment asks for them.
    pub fn for_kernel(description: &Description) -> Self {
        let source_lines = std::env::var_os("TILEPROOF_LINEINFO").is_some_and(|value| value != "0");
        CompileOptions { width: description.preferred_width(), source_lines }
    }
}

/// A kernel compiled for one architecture.
#[derive(Clone, PartialEq)]
pub struct Compiled {
    /// The kernel.
    pub kernel: &'static str,
    /// What it was compiled for.
    pub architecture: Architecture,
    /// Which twin.
    pub width: IndexWidth,
    /// The version of the NVRTC that compiled it, major and minor.
    pub nvrtc_version: (u32, u32),
    /// The machine code, an ELF file.
    pub cubin: Vec<u8>,
    /// Everything that NVRTC and ptxas printed.
    pub log: String,
    /// What ptxas counted; `None` if the log does not say.
    pub usage: Option<Usage>,
    /// The lines of the log that begin a warning.
    pub warnings: Vec<String>,
}

impl fmt::Debug for Compiled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Compiled")
            .field("kernel", &self.kernel)
            .field("architecture", &self.architecture)
            .field("width", &self.width)
            .field("nvrtc_version", &self.nvrtc_version)
            .field("cubin_bytes", &self.cubin.len())
            .field("usage", &self.usage)
            .field("warnings", &self.warnings)
            .finish_non_exhaustive()
    }
}

impl Description {
    /// Compiles the kernel's preferred twin. Needs NVRTC, and no GPU.
    ///
    /// # Errors
    /// If the architecture lacks an instruction of the kernel, or NVRTC is missing, does not know the architecture, or rejects
    /// the text.
    pub fn compile(&self, architecture: Architecture) -> Result<Compiled, Error> {
        self.compile_with(architecture, CompileOptions::for_kernel(self))
    }

    /// Compiles the kernel. Needs NVRTC, and no GPU.
    ///
    /// # Errors
    /// If the architecture lacks an instruction of the kernel, or NVRTC is missing, does not know the architecture, or rejects
    /// the text.
    pub fn compile_with(
        &self,
        architecture: Architecture,
        options: CompileOptions,
    ) -> Result<Compiled, Error> {
        has_instructions(self, architecture)?;
        let nvrtc = library::nvrtc()?;
        if !nvrtc.architectures.contains(&architecture.capability()) {
            let names: Vec<String> = nvrtc.architectures.iter().map(|a| format!("sm_{a}")).collect();
            let (version, supported) = (nvrtc.version, names.join(", "));
            return Err(Error::UnsupportedArchitecture { architecture, version, supported });
        }
        let name = format!("{}.cu", self.name);
        let text = if options.source_lines {
            source::with_source_lines(self.cuda, &name, self.lines, self.file)
        } else {
            self.cuda.to_owned()
        };
        let (cubin, log) = compile(nvrtc, &name, text, &arguments(nvrtc.version, architecture, options))
            .map_err(|(reason, log)| Error::Compile { kernel: self.name, architecture, reason, log })?;
        Ok(Compiled {
            kernel: self.name,
            architecture,
            width: options.width,
            nvrtc_version: nvrtc.version,
            usage: log::usage(&log, self.name),
            warnings: log::warnings(&log),
            cubin,
            log,
        })
    }
}

/// Whether an architecture has all instructions of the kernel.
fn has_instructions(description: &Description, architecture: Architecture) -> Result<(), Error> {
    let Some(demand) = &description.report.least_architecture else { return Ok(()) };
    let (major, minor) = demand.architecture.compute_capability();
    let least = Architecture::new(major, minor);
    if architecture.capability() >= least.capability() {
        return Ok(());
    }
    let (function, line) = (demand.function.to_string(), demand.line);
    Err(Error::MissingInstruction { kernel: description.name, architecture, least, function, line })
}

/// The NVRTC that kernels are compiled with: its path, and its version, major and minor.
///
/// # Errors
/// If there is none, or it cannot be used.
pub fn nvrtc() -> Result<(PathBuf, (u32, u32)), Error> {
    library::nvrtc().map(|nvrtc| (nvrtc.path.clone(), nvrtc.version))
}

/// NVRTC's command line.
fn arguments(version: (u32, u32), architecture: Architecture, options: CompileOptions) -> Vec<String> {
    let mut arguments = vec![
        format!("--gpu-architecture={architecture}"),
        // Rust does not contract `a * b + c`, and the simulator must agree bit for bit
        "--fmad=false".to_owned(),
        "--ptxas-options=-v".to_owned(),
    ];
    if options.width == IndexWidth::Wide {
        arguments.push("--define-macro=TILEPROOF_WIDE".to_owned());
    }
    if options.source_lines {
        arguments.push("--generate-line-info".to_owned());
    }
    // NVRTC keeps a cache from 12.9 on, and what comes from it has no ptxas lines in its log
    if version >= (12, 9) {
        arguments.push("--no-cache".to_owned());
    }
    arguments
}

/// The cubin and the log; or NVRTC's name for the failure, and the log.
fn compile(
    nvrtc: &Nvrtc,
    name: &str,
    text: String,
    arguments: &[String],
) -> Result<(Vec<u8>, String), (String, String)> {
    let text = c_string(text)?;
    let name = c_string(name.to_owned())?;
    let arguments: Vec<CString> = arguments.iter().cloned().map(c_string).collect::<Result<_, _>>()?;
    let arguments: Vec<*const c_char> = arguments.iter().map(|argument| argument.as_ptr()).collect();
    let program =
        OpenProgram::new(nvrtc, &text, &name).map_err(|status| (reason(nvrtc, status), String::new()))?;
    // SAFETY: the program exists, and the arguments are as many C strings, alive during the call, as are announced.
    let status =
        unsafe { (nvrtc.compile_program)(program.handle, arguments.len() as c_int, arguments.as_ptr()) };
    // a failure to read the log must not hide the failure to compile
    let log = program.bytes(nvrtc.log_size, nvrtc.log).unwrap_or_default();
    let log = String::from_utf8_lossy(&log).trim_end_matches('\0').to_owned();
    let cubin = match status {
        0 => program.bytes(nvrtc.cubin_size, nvrtc.cubin),
        _ => Err(status),
    };
    match cubin {
        Ok(cubin) => Ok((cubin, log)),
        Err(status) => Err((reason(nvrtc, status), log)),
    }
}

fn c_string(text: String) -> Result<CString, (String, String)> {
    CString::new(text).map_err(|_| ("the text holds a NUL character".to_owned(), String::new()))
}

fn reason(nvrtc: &Nvrtc, status: Status) -> String {
    // SAFETY: the function is NVRTC's, and the library is loaded as long as `nvrtc` is.
    unsafe { library::describe(nvrtc.error_string, status) }
}

/// A program that is destroyed at the end of its scope.
struct OpenProgram<'a> {
    nvrtc: &'a Nvrtc,
    handle: Program,
}

impl<'a> OpenProgram<'a> {
    fn new(nvrtc: &'a Nvrtc, text: &'a CString, name: &'a CString) -> Result<Self, Status> {
        let mut handle = ptr::null_mut();
        // SAFETY: text and name are C strings that outlive the program; there are no headers.
        let status = unsafe {
            (nvrtc.create_program)(&mut handle, text.as_ptr(), name.as_ptr(), 0, ptr::null(), ptr::null())
        };
        if status == 0 { Ok(OpenProgram { nvrtc, handle }) } else { Err(status) }
    }

    /// What NVRTC hands out in two calls: first its size, then its bytes.
    fn bytes(
        &self,
        get_size: unsafe extern "C" fn(Program, *mut usize) -> Status,
        get_bytes: unsafe extern "C" fn(Program, *mut c_char) -> Status,
    ) -> Result<Vec<u8>, Status> {
        let check = |status| if status == 0 { Ok(()) } else { Err(status) };
        let mut size = 0;
        // SAFETY: the program exists; the call writes one size.
        check(unsafe { get_size(self.handle, &mut size) })?;
        let mut bytes = vec![0u8; size];
        // SAFETY: the program exists; the call writes as many bytes as it has just said.
        check(unsafe { get_bytes(self.handle, bytes.as_mut_ptr().cast()) })?;
        Ok(bytes)
    }
}

impl Drop for OpenProgram<'_> {
    fn drop(&mut self) {
        // SAFETY: the program exists and is not used afterwards. A failure to destroy it leaks it, nothing more.
        _ = unsafe { (self.nvrtc.destroy_program)(&mut self.handle) };
    }
}

#[cfg(test)]
mod tests {
    use super::{CompileOptions, Compiled, Usage, arguments, nvrtc};
    use crate::architecture::Architecture;
    use crate::description::{Description, IndexWidth};
    use crate::error::Error;
    use crate::testing::COPY;

    const HOPPER: Architecture = Architecture::new(9, 0);

    #[test]
    fn command_lines() {
        let plain = CompileOptions { width: IndexWidth::Narrow, source_lines: false };
        assert_eq!(
            arguments((12, 8), HOPPER, plain),
            ["--gpu-architecture=sm_90", "--fmad=false", "--ptxas-options=-v"]
        );
        let all = CompileOptions { width: IndexWidth::Wide, source_lines: true };
        assert_eq!(
            arguments((13, 0), HOPPER, all)[3..],
            ["--define-macro=TILEPROOF_WIDE", "--generate-line-info", "--no-cache"]
        );
    }

    /// Whether there is an NVRTC to test with; says so if not. One that the user names must be there.
    fn have_nvrtc() -> bool {
        match nvrtc() {
            Ok((path, (major, minor))) => {
                eprintln!("NVRTC {major}.{minor}: {}", path.display());
                true
            }
            Err(error @ Error::NvrtcMissing { .. }) if std::env::var_os("TILEPROOF_NVRTC_DIR").is_none() => {
                eprintln!("SKIPPED: {error}");
                false
            }
            Err(error) => panic!("{error}"),
        }
    }

    fn compile(description: &Description, width: IndexWidth, source_lines: bool) -> Compiled {
        description.compile_with(HOPPER, CompileOptions { width, source_lines }).unwrap()
    }

    #[test]
    fn both_twins_compile() {
        if !have_nvrtc() {
            return;
        }
        let narrow = compile(&COPY, IndexWidth::Narrow, false);
        let wide = compile(&COPY, IndexWidth::Wide, false);
        for compiled in [&narrow, &wide] {
            assert!(compiled.cubin.starts_with(b"\x7fELF"), "{compiled:?}");
            assert!(compiled.warnings.is_empty(), "{}", compiled.log);
            let usage = compiled.usage.expect("ptxas reports");
            assert_eq!(
                Usage { registers: 0, ..usage },
                Usage { shared_bytes: 1024, barriers: 1, ..Usage::default() }
            );
            assert!((4..=64).contains(&usage.registers), "{usage:?}");
        }
        assert_ne!(narrow.cubin, wide.cubin);
        assert_eq!(narrow, compile(&COPY, COPY.preferred_width(), false).with_log_of(&narrow));
    }

    impl Compiled {
        /// The log holds ptxas's own time, which differs from run to run.
        fn with_log_of(self, other: &Compiled) -> Compiled {
            Compiled { log: other.log.clone(), ..self }
        }
    }

    #[test]
    fn source_lines_reach_the_cubin_and_warnings() {
        if !have_nvrtc() {
            return;
        }
        let holds = |compiled: &Compiled, text: &str| {
            compiled.cubin.windows(text.len()).any(|w| w == text.as_bytes())
        };
        assert!(holds(&compile(&COPY, IndexWidth::Narrow, true), "copy.rs"));
        assert!(!holds(&compile(&COPY, IndexWidth::Narrow, false), "copy.rs"));
        let unused = Description {
            cuda: "extern \"C\" __global__ void copy() {\n  int unused;\n}\n",
            lines: &[(2, 77)],
            ..COPY
        };
        let warnings = compile(&unused, IndexWidth::Narrow, true).warnings;
        assert!(
            warnings[0].starts_with("src/copy.rs(77): warning #177-D: variable \"unused\""),
            "{warnings:?}"
        );
        let warnings = compile(&unused, IndexWidth::Narrow, false).warnings;
        assert!(warnings[0].starts_with("copy.cu(2): warning #177-D"), "{warnings:?}");
    }

    #[test]
    fn what_nvrtc_refuses() {
        if !have_nvrtc() {
            return;
        }
        let broken = Description { cuda: "extern \"C\" __global__ void copy( {", ..COPY };
        let error = broken.compile(HOPPER).unwrap_err();
        let Error::Compile { kernel: "copy", log, reason, .. } = &error else { panic!("{error}") };
        assert_eq!(reason, "NVRTC_ERROR_COMPILATION");
        assert!(log.contains("copy.cu(1): error:"), "{log}");
        assert!(error.to_string().contains(log.as_str()));
        let error = COPY.compile(Architecture::new(2, 0)).unwrap_err();
        let Error::UnsupportedArchitecture { supported, .. } = &error else { panic!("{error}") };
        assert!(supported.contains("sm_90"), "{error}");
        let nul = Description { cuda: "a\0b", ..COPY };
        assert!(nul.compile(HOPPER).unwrap_err().to_string().contains("the text holds a NUL character"));
    }
}
