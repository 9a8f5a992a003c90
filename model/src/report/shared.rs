//! The shared memory of a block, and where it fits.

use super::Report;
use crate::limits::{Architecture, MAX_SHARED_WITHOUT_OPT_IN, dynamic_shared_bytes};

/// Whether an architecture has room for the shared memory of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "snake_case"))]
pub enum SharedFit {
    /// It is within the 48 KB that a block has everywhere.
    WithoutOptIn,
    /// The launcher opts in to more.
    WithOptIn,
    /// A block cannot have so much there.
    TooMuch,
}

impl Report {
    /// Static shared memory of a block, in bytes: all of it where 48 KB are enough, else none.
    pub fn static_shared_bytes(&self) -> u32 {
        self.shared_bytes - self.dynamic_shared_bytes()
    }

    /// Dynamic shared memory of a block, in bytes.
    pub fn dynamic_shared_bytes(&self) -> u32 {
        dynamic_shared_bytes(self.shared_bytes)
    }

    /// Whether the shared memory of a block fits an architecture.
    pub fn shared_fit(&self, architecture: Architecture) -> SharedFit {
        match self.shared_bytes {
            bytes if bytes <= MAX_SHARED_WITHOUT_OPT_IN => SharedFit::WithoutOptIn,
            bytes if bytes <= architecture.limits().shared_per_block => SharedFit::WithOptIn,
            _ => SharedFit::TooMuch,
        }
    }

    /// Where it fits, in one line; `None` without shared memory.
    pub(super) fn room(&self) -> Option<String> {
        if self.shared_bytes == 0 {
            return None;
        }
        if self.dynamic_shared_bytes() == 0 {
            return Some(format!(
                "fits without the opt-in, which begins at {MAX_SHARED_WITHOUT_OPT_IN} bytes"
            ));
        }
        let list = |wanted: SharedFit| {
            let mut groups: Vec<(u32, Vec<&str>)> = Vec::new();
            for (architecture, _) in self.occupancy.iter().filter(|(it, _)| self.shared_fit(*it) == wanted) {
                let limit = architecture.limits().shared_per_block;
                match groups.iter_mut().find(|(other, _)| *other == limit) {
                    Some((_, names)) => names.push(architecture.name()),
                    None => groups.push((limit, vec![architecture.name()])),
                }
            }
            let groups = groups.iter().map(|(limit, names)| format!("{} ({limit} bytes)", names.join(", ")));
            groups.collect::<Vec<_>>().join(", ")
        };
        let parts = [
            ("with the opt-in fits", list(SharedFit::WithOptIn)),
            ("is too much for", list(SharedFit::TooMuch)),
        ];
        let parts = parts.iter().filter(|(_, list)| !list.is_empty());
        Some(parts.map(|(verb, list)| format!("{verb} {list}")).collect::<Vec<_>>().join("; "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::{SUPPORTED, occupancy};
    use crate::report::sample;

    fn report(shared_bytes: u32) -> Report {
        let occupancy = SUPPORTED.map(|it| (it, occupancy(it, 256, 0, shared_bytes)));
        Report { shared_bytes, occupancy: occupancy.to_vec().into(), ..sample::report() }
    }

    #[test]
    fn what_fits_everywhere_is_static() {
        let report = report(49_152);
        assert_eq!((report.static_shared_bytes(), report.dynamic_shared_bytes()), (49_152, 0));
        assert!(SUPPORTED.iter().all(|it| report.shared_fit(*it) == SharedFit::WithoutOptIn));
        assert_eq!(report.room().as_deref(), Some("fits without the opt-in, which begins at 49152 bytes"));
    }

    #[test]
    fn what_needs_the_opt_in_says_where_it_fits() {
        let report = report(102_400);
        assert_eq!((report.static_shared_bytes(), report.dynamic_shared_bytes()), (0, 102_400));
        for (architecture, found) in report.occupancy.iter() {
            assert_eq!(
                found.blocks == 0,
                report.shared_fit(*architecture) == SharedFit::TooMuch,
                "{architecture:?}"
            );
        }
        assert_eq!(
            report.room().as_deref(),
            Some(
                "with the opt-in fits sm_80, sm_87 (166912 bytes), sm_90, sm_100, sm_103, sm_110 (232448 bytes); \
                 is too much for sm_75 (65536 bytes), sm_86, sm_89, sm_120, sm_121 (101376 bytes)"
            )
        );
    }

    #[test]
    fn none_needs_no_room() {
        assert_eq!(report(0).room(), None);
    }
}
