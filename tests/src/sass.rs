//! Memory instructions of compiled kernels, read from SASS.
//!
//! The report speaks of access sites; what the hardware runs is decided by `ptxas`, which may merge, split, drop or
//! duplicate accesses. So the tests disassemble every cubin and count what is there. The text is that of
//! `nvdisasm -c`, or `-c -gi` for source lines:
//!
//! ```text
//! .text.transpose_padded:
//!     //## File "src/kernels.rs", line 20
//!         /*02e0*/              @!P0 LDS R10, [R7+UR4] ;
//! ```
//!
//! An instruction under `@!PT` can never execute (`ptxas` pads asynchronous copies with such loads) and is left out. So are
//! reads of constant memory, where arguments live. Any other opcode that looks like a memory access and is not
//! known here is an error rather than a miscount.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};

/// The memory that an instruction addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Space {
    /// Device memory: `LDG`, `STG`, `ATOMG`, `REDG`.
    Global,
    /// The block's shared memory: `LDS`, `STS`, `ATOMS`, `LDSM`, `STSM`.
    Shared,
    /// A thread's own memory in DRAM: `LDL`, `STL`; spills and arrays indexed at run time.
    Local,
    /// An address whose space the compiler did not know: `LD`, `ST`, `ATOM`.
    Generic,
}

/// What an instruction does there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Memory to registers.
    Load,
    /// Registers to memory.
    Store,
    /// Read, modify and write, with the old value returned.
    Atomic,
    /// Read, modify and write without a result.
    Reduction,
    /// Global to shared memory past the registers: `cp.async`.
    CopyAsync,
    /// `ldmatrix`.
    LoadMatrix,
    /// `stmatrix`.
    StoreMatrix,
}

/// One kind of memory instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Access {
    /// The memory; for [`Action::CopyAsync`] the one that is written.
    pub space: Space,
    /// The direction.
    pub action: Action,
    /// Bytes that one lane moves: 1, 2, 4, 8, 16 or 32.
    pub bytes: u32,
}

/// One memory instruction of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// Byte offset from the kernel's first instruction.
    pub offset: u32,
    /// What it accesses.
    pub access: Access,
    /// The opcode with its modifiers, such as `LDG.E.128.CONSTANT`.
    pub opcode: String,
    /// Whether a predicate guards it.
    pub predicated: bool,
    /// File and line, counted from 1, of the outermost call that it was inlined into; `None` without line information.
    pub source: Option<(String, u32)>,
}

/// The memory instructions of one kernel, in order of address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kernel {
    /// The kernel's name.
    pub name: String,
    /// Its memory instructions.
    pub instructions: Vec<Instruction>,
}

impl Kernel {
    /// How many instructions of each kind there are. Loops that were not unrolled count once.
    pub fn counts(&self) -> BTreeMap<Access, u32> {
        let mut counts = BTreeMap::new();
        for instruction in &self.instructions {
            *counts.entry(instruction.access).or_insert(0) += 1;
        }
        counts
    }

    /// How many instructions there are of one kind.
    pub fn count(&self, space: Space, action: Action, bytes: u32) -> u32 {
        self.counts().get(&Access { space, action, bytes }).copied().unwrap_or(0)
    }

    /// How many instructions touch local memory; 0 unless registers spilled or an array is indexed at run time.
    pub fn local(&self) -> usize {
        self.instructions.iter().filter(|i| i.access.space == Space::Local).count()
    }
}

impl fmt::Display for Access {
    /// As in `shared load of 16 bytes`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let space = match self.space {
            Space::Global => "global",
            Space::Shared => "shared",
            Space::Local => "local",
            Space::Generic => "generic",
        };
        let action = match self.action {
            Action::Load => "load",
            Action::Store => "store",
            Action::Atomic => "atomic",
            Action::Reduction => "reduction",
            Action::CopyAsync => "asynchronous copy",
            Action::LoadMatrix => "matrix load",
            Action::StoreMatrix => "matrix store",
        };
        let plural = if self.bytes == 1 { "" } else { "s" };
        write!(f, "{space} {action} of {} byte{plural}", self.bytes)
    }
}

/// Why SASS could not be had or read.
#[derive(Debug)]
pub enum Error {
    /// The disassembler could not be started or its input not written.
    Run(PathBuf, std::io::Error),
    /// The disassembler refused the cubin: its exit status and what it printed.
    Refused(PathBuf, String),
    /// An opcode that looks like a memory access and is not known here; kernel and line as printed.
    UnknownOpcode(String, String),
    /// A source-line comment that could not be read, as printed.
    SourceLine(String),
    /// The text holds no kernel.
    NoKernel,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Run(program, error) => {
                write!(
                    f,
                    "cannot run the disassembler {}: {error}; TILEPROOF_NVDISASM names it",
                    program.display()
                )
            }
            Error::Refused(program, log) => write!(f, "{} refused the cubin: {log}", program.display()),
            Error::UnknownOpcode(kernel, line) => write!(
                f,
                "unknown memory instruction in kernel {kernel}: `{line}`; teach tests/src/sass.rs its width, or that \
                 it is no access"
            ),
            Error::SourceLine(line) => write!(f, "cannot read the source position `{line}`"),
            Error::NoKernel => f.write_str(
                "no `.text.` section in the disassembly; was it made by nvdisasm -c from a cubin?",
            ),
        }
    }
}

impl std::error::Error for Error {}

/// Disassembles a cubin with the given `nvdisasm`, source lines included where the cubin has them.
///
/// # Errors
/// [`Error::Run`] and [`Error::Refused`].
pub fn disassemble(nvdisasm: &Path, cubin: &[u8]) -> Result<String, Error> {
    let run = |error| Error::Run(nvdisasm.to_path_buf(), error);
    let file = TemporaryFile::new(cubin).map_err(run)?;
    let output = Command::new(nvdisasm).arg("-c").arg("-gi").arg(&file.0).output().map_err(run)?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        let log = format!("{}: {}", output.status, String::from_utf8_lossy(&output.stderr).trim());
        Err(Error::Refused(nvdisasm.to_path_buf(), log))
    }
}

/// Disassembles a cubin and reads its kernels.
///
/// # Errors
/// All of [`Error`].
pub fn kernels(nvdisasm: &Path, cubin: &[u8]) -> Result<Vec<Kernel>, Error> {
    parse(&disassemble(nvdisasm, cubin)?)
}

/// Reads the kernels of a disassembly, in order of appearance.
///
/// # Errors
/// [`Error::UnknownOpcode`], [`Error::SourceLine`] and [`Error::NoKernel`].
pub fn parse(sass: &str) -> Result<Vec<Kernel>, Error> {
    let mut kernels: Vec<Kernel> = Vec::new();
    let mut source = None;
    for line in sass.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix(".text.").and_then(|l| l.strip_suffix(':')) {
            kernels.push(Kernel { name: name.to_owned(), instructions: Vec::new() });
            source = None;
        } else if let Some(position) = line.strip_prefix("//## File ") {
            // Of an inlined instruction one comment a call is printed, the outermost last.
            source = Some(source_position(position).ok_or_else(|| Error::SourceLine(line.to_owned()))?);
        } else if let (Some(kernel), Some((offset, text))) = (kernels.last_mut(), instruction_text(line)) {
            let Some(access) = access(text).map_err(|Unknown| unknown(&kernel.name, line))? else { continue };
            let (predicate, opcode) = predicate_and_opcode(text);
            kernel.instructions.push(Instruction {
                offset,
                access,
                opcode: opcode.to_owned(),
                predicated: predicate.is_some(),
                source: source.clone(),
            });
        }
    }
    if kernels.is_empty() { Err(Error::NoKernel) } else { Ok(kernels) }
}

/// An opcode that looks like a memory access and is not known here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unknown;

fn unknown(kernel: &str, line: &str) -> Error {
    Error::UnknownOpcode(kernel.to_owned(), line.to_owned())
}

/// What an instruction such as `@P0 LDS R4, [R0]` accesses; `None` if it accesses nothing that counts here, or can never execute.
///
/// # Errors
/// [`Unknown`].
pub fn access(text: &str) -> Result<Option<Access>, Unknown> {
    let (predicate, opcode) = predicate_and_opcode(text);
    match classify(opcode) {
        _ if predicate == Some("@!PT") => Ok(None),
        Class::Access(access) => Ok(Some(access)),
        Class::Other => Ok(None),
        Class::Unknown => Err(Unknown),
    }
}

/// Splits `"src/kernels.rs", line 20 inlined at …` into file and line.
fn source_position(text: &str) -> Option<(String, u32)> {
    let (file, rest) = text.strip_prefix('"')?.split_once("\", line ")?;
    let digits = rest.split(|c: char| !c.is_ascii_digit()).next()?;
    Some((file.to_owned(), digits.parse().ok()?))
}

/// Splits `/*02e0*/  @!P0 LDS R10, [R7] ;` into the offset and the text behind it.
fn instruction_text(line: &str) -> Option<(u32, &str)> {
    let (offset, text) = line.strip_prefix("/*")?.split_once("*/")?;
    Some((u32::from_str_radix(offset, 16).ok()?, text.trim_start()))
}

fn predicate_and_opcode(text: &str) -> (Option<&str>, &str) {
    let mut words = text.split_whitespace().map(|word| word.trim_end_matches([';', ',']));
    match words.next() {
        Some(first) if first.starts_with('@') => (Some(first), words.next().unwrap_or("")),
        Some(first) => (None, first),
        None => (None, ""),
    }
}

enum Class {
    Access(Access),
    Other,
    Unknown,
}

fn classify(opcode: &str) -> Class {
    let mut parts = opcode.split('.');
    let base = parts.next().unwrap_or("");
    let modifiers: Vec<&str> = parts.collect();
    let (space, action) = match base {
        "LDG" => (Space::Global, Action::Load),
        "STG" => (Space::Global, Action::Store),
        "LDS" => (Space::Shared, Action::Load),
        "STS" => (Space::Shared, Action::Store),
        "LDL" => (Space::Local, Action::Load),
        "STL" => (Space::Local, Action::Store),
        "LD" => (Space::Generic, Action::Load),
        "ST" => (Space::Generic, Action::Store),
        "ATOM" => (Space::Generic, Action::Atomic),
        "ATOMG" => (Space::Global, Action::Atomic),
        "ATOMS" => (Space::Shared, Action::Atomic),
        // Before sm_90 the reduction on device memory has no `G`.
        "RED" | "REDG" => (Space::Global, Action::Reduction),
        "LDGSTS" => (Space::Shared, Action::CopyAsync),
        "LDSM" => (Space::Shared, Action::LoadMatrix),
        "STSM" => (Space::Shared, Action::StoreMatrix),
        "LDC" | "LDCU" | "LDGDEPBAR" | "REDUX" => return Class::Other,
        _ if ["LD", "ST", "ATOM", "RED", "UBLK", "UTMA", "UST"].iter().any(|p| base.starts_with(p)) => {
            return Class::Unknown;
        }
        _ => return Class::Other,
    };
    let bytes = match action {
        Action::LoadMatrix | Action::StoreMatrix => match modifiers.last() {
            Some(&"2") => 8,
            Some(&"4") => 16,
            _ => 4,
        },
        Action::Load | Action::Store | Action::Atomic | Action::Reduction | Action::CopyAsync => {
            modifiers.iter().find_map(|m| width_of(m)).unwrap_or(4)
        }
    };
    Class::Access(Access { space, action, bytes })
}

/// The bytes that a modifier stands for, where it tells a width.
fn width_of(modifier: &str) -> Option<u32> {
    Some(match modifier {
        "U8" | "S8" => 1,
        "U16" | "S16" => 2,
        "64" | "F64" | "U64" | "S64" => 8,
        "128" => 16,
        "256" => 32,
        _ => return None,
    })
}

/// A file for the disassembler, which reads no standard input; removed when dropped.
struct TemporaryFile(PathBuf);

impl TemporaryFile {
    fn new(bytes: &[u8]) -> std::io::Result<TemporaryFile> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let name = format!("tileproof-{}-{}.cubin", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        let mut file = std::fs::OpenOptions::new().write(true).create_new(true).open(&path)?;
        file.write_all(bytes)?;
        Ok(TemporaryFile(path))
    }
}

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        // A file left behind in the temporary folder harms no test.
        let _ = std::fs::remove_file(&self.0);
    }
}

#[cfg(test)]
mod tests;
