//! How much a block computes for what it moves.

use super::{Text, count};
use std::fmt;

/// What a block computes and moves: in all, or in one iteration of a loop whose iterations only the launch can count. What is in
/// such a loop counts there and nowhere else.
///
/// Where the iterations of such a loop differ by a remainder of its counter, as with stages, the first is meant.
///
/// Edges are not cut, and both sides of a condition count where the compiler cannot tell which is taken: the numbers are upper
/// bounds there, and exact elsewhere.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct WorkReport {
    /// Of such a loop the line of its head, counted from 1; `None` for what a block does outside of them.
    pub loop_line: Option<u32>,
    /// Where the loop is in a helper function: the calls that led there, as of an access site. Empty in the kernel itself.
    pub calls: Text,
    /// Floating-point operations of all threads, of any width: an addition, subtraction, multiplication, division, remainder or
    /// function is one, `mul_add` two, each value of a vector by itself. Comparisons, `min` and `max`, negation, `abs` and
    /// `copysign`, conversions and moves are none.
    pub operations: u64,
    /// Bytes of device memory that the accesses ask for, each counted once a warp instruction, at edges and in asynchronous
    /// copies too; `None` where an access is not known.
    pub global_bytes: Option<u64>,
    /// Bytes that shared memory could have moved in the time: 128 a wavefront; `None` where an access is not known.
    pub shared_bytes: Option<u64>,
}

impl WorkReport {
    /// The arithmetic intensity at the level of device memory: operations a byte that the accesses ask for, if no cache serves
    /// one twice. `None` without such bytes, or if they are not known.
    pub fn global_intensity(&self) -> Option<f64> {
        ratio(self.operations, self.global_bytes)
    }

    /// The arithmetic intensity at the level of shared memory: operations a byte that its wavefronts could have moved. Bank
    /// conflicts lower it. `None` without wavefronts, or if they are not known.
    pub fn shared_intensity(&self) -> Option<f64> {
        ratio(self.operations, self.shared_bytes)
    }
}

fn ratio(operations: u64, bytes: Option<u64>) -> Option<f64> {
    bytes.filter(|bytes| *bytes > 0).map(|bytes| operations as f64 / bytes as f64)
}

impl fmt::Display for WorkReport {
    /// What is computed and moved; where there are operations, a second line has them by the byte.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let calls = if self.calls.is_empty() { String::new() } else { format!(" ({})", self.calls) };
        let bytes = |bytes: Option<u64>| {
            bytes.map_or("an unknown number of bytes".to_string(), |bytes| count(bytes, "byte"))
        };
        write!(
            f,
            "{}{calls}: {}; {} of global memory asked for",
            each(self.loop_line),
            count(self.operations, "floating-point operation"),
            bytes(self.global_bytes)
        )?;
        match self.shared_bytes {
            Some(0) => writeln!(f)?,
            shared => writeln!(f, ", {} of shared-memory wavefronts", bytes(shared))?,
        }
        let levels = [("global memory", self.global_intensity()), ("shared memory", self.shared_intensity())];
        let levels: Vec<String> = levels
            .into_iter()
            .filter_map(|(level, intensity)| Some(format!("{:.2} operations a byte of {level}", intensity?)))
            .collect();
        if self.operations > 0 && !levels.is_empty() {
            writeln!(f, "  {}", levels.join(", "))?;
        }
        Ok(())
    }
}

/// What the counts are of.
pub(super) fn each(loop_line: Option<u32>) -> String {
    match loop_line {
        Some(line) => format!("an iteration of the loop on line {line}"),
        None => "a block".to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn work(operations: u64, global_bytes: Option<u64>, shared_bytes: Option<u64>) -> WorkReport {
        WorkReport { loop_line: None, calls: "".into(), operations, global_bytes, shared_bytes }
    }

    #[test]
    fn intensity_is_operations_a_byte() {
        let found = work(65_536, Some(8192), Some(32_768));
        assert_eq!((found.global_intensity(), found.shared_intensity()), (Some(8.0), Some(2.0)));
        assert_eq!(
            found.to_string(),
            "a block: 65536 floating-point operations; 8192 bytes of global memory asked for, 32768 bytes of shared-memory wavefronts\n  \
             8.00 operations a byte of global memory, 2.00 operations a byte of shared memory\n"
        );
    }

    #[test]
    fn what_is_not_known_has_no_intensity() {
        let found = work(1, None, Some(0));
        assert_eq!((found.global_intensity(), found.shared_intensity()), (None, None));
        assert_eq!(
            WorkReport { loop_line: Some(9), calls: "in `sum`, called on line 12".into(), ..found }
                .to_string(),
            "an iteration of the loop on line 9 (in `sum`, called on line 12): 1 floating-point operation; \
             an unknown number of bytes of global memory asked for\n"
        );
    }
}
