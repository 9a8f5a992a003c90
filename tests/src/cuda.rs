//! CUDA text → cubin, by the path that kernels take: the runtime's NVRTC, with its options and its reading of the log.

use tileproof::__private::{Cow, Description, Known, LeastArchitecture, Report};
use tileproof::{Architecture, CompileOptions, Compiled, Error, IndexWidth};

/// Compiles a text that holds one entry point, in one of its two twins.
///
/// # Errors
/// If NVRTC is missing, does not know the architecture, or rejects the text.
///
/// # Panics
/// If the text has no entry point.
pub fn compile(text: &str, architecture: Architecture, width: IndexWidth) -> Result<Compiled, Error> {
    let name = entry(text).expect("`extern \"C\" __global__ void __launch_bounds__(N) name(`");
    description(name, text).compile_with(architecture, CompileOptions { width, source_lines: false })
}

/// The name of the entry point.
fn entry(text: &str) -> Option<&str> {
    let (_, behind) = text.split_once("extern \"C\" __global__ void __launch_bounds__(")?;
    let (_, behind) = behind.split_once(") ")?;
    Some(behind.split_once('(')?.0)
}

/// The least architecture that the text says it is for.
fn least_architecture(text: &str) -> Option<LeastArchitecture> {
    let line = text.lines().find(|line| line.starts_with("// for sm_"))?;
    let (name, function) = line.strip_prefix("// for ")?.split_once(" and later, because of ")?;
    let architecture = Known::from_name(name)?;
    Some(LeastArchitecture { architecture, function: function.to_owned().into(), line: 0 })
}

/// A kernel of which only the text is known. Descriptions are constants of the program, so its text lives as long.
fn description(name: &str, text: &str) -> Description {
    let (name, text): (&'static str, &'static str) = (name.to_owned().leak(), text.to_owned().leak());
    Description {
        name,
        attribute: "",
        item: "",
        shared: "",
        cuda: text,
        lines: &[],
        file: "",
        narrow: true,
        block: [1; 3],
        params: &[],
        grid: [&[]; 3],
        checks: &[],
        report: Report {
            kernel: Cow::Borrowed(name),
            block: [1; 3],
            shared_bytes: 0,
            tiles: Cow::Borrowed(&[]),
            sites: Cow::Borrowed(&[]),
            barriers: Cow::Borrowed(&[]),
            least_architecture: least_architecture(text),
            occupancy: Cow::Borrowed(&[]),
            work: Cow::Borrowed(&[]),
            launch_checks: Cow::Borrowed(&[]),
            trusts: Cow::Borrowed(&[]),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::entry;

    #[test]
    fn the_entry_point_is_found_behind_its_launch_bounds() {
        let text = "x\nextern \"C\" __global__ void __launch_bounds__(256) copy(\n    const f32* input) {}";
        assert_eq!(entry(text), Some("copy"));
        assert_eq!(entry("__global__ void copy() {}"), None);
    }
}
