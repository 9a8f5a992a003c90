//! How many machine instructions a kernel has.

use std::path::Path;
use tileproof::{Architecture, IndexWidth};
use tileproof_tests::{cuda, sass};

/// The instructions of a CUDA text for sm_90, slow paths included, without what pads the end.
pub(crate) fn instructions(nvdisasm: &Path, text: &str) -> i64 {
    let compiled = cuda::compile(text, Architecture::new(9, 0), IndexWidth::Narrow).expect("a cubin");
    let sass = sass::disassemble(nvdisasm, &compiled.cubin).expect("machine code");
    let opcodes = sass.lines().filter_map(|line| {
        let (offset, text) = line.trim().strip_prefix("/*")?.split_once("*/")?;
        u32::from_str_radix(offset, 16).ok()?;
        text.split_whitespace().find(|word| !word.starts_with('@'))
    });
    // Behind the last exit the text spins in place and is filled up.
    let opcodes: Vec<&str> = opcodes.filter(|opcode| !opcode.starts_with("NOP")).collect();
    opcodes.len() as i64
}
