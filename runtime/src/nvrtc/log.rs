//! Reads NVRTC's log: what ptxas says about a kernel's registers and memory, and warnings.

/// What one kernel takes of a multiprocessor, as ptxas counts it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Registers a thread.
    pub registers: u32,
    /// Bytes of spilled registers that a thread's instructions store to local memory.
    pub spill_store_bytes: u32,
    /// Bytes of spilled registers that a thread's instructions load from local memory.
    pub spill_load_bytes: u32,
    /// Bytes of a thread's stack in local memory, spilled registers included.
    pub stack_bytes: u32,
    /// Bytes of static shared memory a block.
    pub shared_bytes: u32,
    /// Hardware barriers a block.
    pub barriers: u32,
}

/// What ptxas says about the entry point `kernel`, if it says anything.
pub(crate) fn usage(log: &str, kernel: &str) -> Option<Usage> {
    let entry = format!("Compiling entry function '{kernel}' for ");
    let mut lines = log.lines().skip_while(|line| !line.contains(&entry)).skip(1);
    let mut usage = Usage::default();
    for line in lines.by_ref() {
        if line.contains("Compiling entry function") {
            return None;
        }
        let text = line.trim_start_matches("ptxas").trim_start_matches([' ', ':', '.']);
        let text = text.strip_prefix("info").map_or(text, |rest| rest.trim_start_matches([' ', ':']));
        let used = text.starts_with("Used ");
        for phrase in text.split(',') {
            let phrase = phrase.trim().trim_start_matches("Used ").trim_start_matches("used ");
            let Some((number, what)) = phrase.split_once(' ') else { continue };
            let (Ok(number), what) = (number.parse(), what.trim_start_matches("bytes ")) else { continue };
            match what {
                "registers" => usage.registers = number,
                "barriers" => usage.barriers = number,
                "smem" => usage.shared_bytes = number,
                "stack frame" => usage.stack_bytes = number,
                "spill stores" => usage.spill_store_bytes = number,
                "spill loads" => usage.spill_load_bytes = number,
                // constant banks, cumulative stack, textures: not of a kernel of ours, or counted elsewhere
                _ => {}
            }
        }
        if used {
            return Some(usage);
        }
    }
    None
}

/// The lines that begin a warning, of the front end or of ptxas.
pub(crate) fn warnings(log: &str) -> Vec<String> {
    let is_warning = |line: &&str| {
        line.contains(": warning #") || line.contains(": warning:") || line.starts_with("ptxas warning")
    };
    log.lines().filter(is_warning).map(|line| line.trim().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::{Usage, usage, warnings};

    /// Printed by NVRTC 13.0 for `--gpu-architecture=sm_90 --ptxas-options=-v -warn-spills --maxrregcount=32`.
    const LOG: &str = r#"k.cu(2): warning #177-D: variable "unused" was declared but never referenced
  extern "C" __global__ void spill(float*a,int n){ float x[64]; int unused;
                                                                    ^

Remark: The warnings can be suppressed with "-diag-suppress <warning-number>"

ptxas info    : Overriding maximum register limit 256 for 'spill' with  32 of maxrregcount option
ptxas warning : Registers are spilled to local memory in function 'spill', 2352 bytes spill stores, 2944 bytes spill loads
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'simple' for 'sm_90'
ptxas info    : Function properties for simple
ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 12 registers, used 1 barriers, 4224 bytes smem
ptxas info    : Compile time = 1.789 ms
ptxas info    : Compiling entry function 'spill' for 'sm_90'
ptxas info    : Function properties for spill
ptxas         .     1296 bytes stack frame, 2352 bytes spill stores, 2944 bytes spill loads
ptxas info    : Used 32 registers, used 0 barriers, 1296 bytes cumulative stack size
ptxas info    : Compile time = 47.845 ms
"#;

    /// Printed by older releases: another indentation, and constant memory.
    const OLD_LOG: &str = "ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'f' for 'sm_75'
ptxas info    : Function properties for f
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 10 registers, 512 bytes smem, 376 bytes cmem[0]
";

    #[test]
    fn counts_of_each_kernel() {
        let simple = Usage { registers: 12, shared_bytes: 4224, barriers: 1, ..Usage::default() };
        assert_eq!(usage(LOG, "simple"), Some(simple));
        let spill = Usage {
            registers: 32,
            spill_store_bytes: 2352,
            spill_load_bytes: 2944,
            stack_bytes: 1296,
            ..Usage::default()
        };
        assert_eq!(usage(LOG, "spill"), Some(spill));
        let old = Usage { registers: 10, shared_bytes: 512, ..Usage::default() };
        assert_eq!(usage(OLD_LOG, "f"), Some(old));
    }

    #[test]
    fn a_log_that_does_not_say() {
        assert_eq!(usage("", "f"), None);
        assert_eq!(usage(LOG, "spil"), None);
        assert_eq!(usage(&LOG[..LOG.find("Used 12").unwrap()], "simple"), None);
    }

    #[test]
    fn warnings_of_both_compilers() {
        assert_eq!(
            warnings(LOG),
            [
                "k.cu(2): warning #177-D: variable \"unused\" was declared but never referenced",
                "ptxas warning : Registers are spilled to local memory in function 'spill', 2352 bytes spill stores, \
                 2944 bytes spill loads",
            ]
        );
        assert!(warnings(OLD_LOG).is_empty());
    }
}
