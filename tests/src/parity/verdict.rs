//! Whether what was predicted is what was read.

use super::counter::{self, AT_INSTRUCTIONS, COUNTERS};
use super::divide::{self, Vector};
use super::place::{self, Counts, Place};
use super::predict::Prediction;
use super::profile::{Metric, Profile};
use crate::sass::{self, Access, Action, Space};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// How a prediction fared. All but the last agree; those between the first and the last name the rule by which, and it has been checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Every witness says what was predicted.
    Equal,
    /// The hardware counted more wavefronts, and the profiler's addresses give exactly what was predicted: the rest are passes lost to
    /// arbitration, which no rule about addresses knows.
    Arbitration,
    /// The hardware counted exactly what was predicted, and the profiler's addresses say something else of loads for which its
    /// model is known to be wrong: some of 16 bytes a lane with inactive lanes, and of 8 bytes that merge and conflict.
    ProfilersModel,
    /// The model gives a bound, and neither witness is above it: for shared atomics other than the one that was measured.
    Bound,
    /// The cubin's table of lines gives some instructions another line, and the instructions of these lines can be divided so that each
    /// line gets exactly what was predicted. ptxas writes no line where two calls of one function follow each other, and forgets some
    /// that it moves.
    LinesTogether,
    /// Of a load from device memory fewer lanes take part than the source says, and its sectors and lines are exactly what was predicted:
    /// ptxas moves a load into the branch that alone needs its value.
    FewerLanes,
    /// None of these.
    Different,
}

/// One count of one launch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Row {
    /// What was counted: the name of a sum, or a place and what was counted there.
    pub what: String,
    /// The prediction.
    pub predicted: u64,
    /// The hardware's count, where there is an exact one.
    pub hardware: Option<u64>,
    /// What the profiler computes from addresses.
    pub addresses: Option<u64>,
    /// Whether they agree.
    pub verdict: Verdict,
}

impl Row {
    /// Whether there was nothing to count, and nothing was counted.
    pub fn is_nothing(&self) -> bool {
        self.predicted == 0 && self.hardware.unwrap_or(0) == 0 && self.addresses.unwrap_or(0) == 0
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Verdict::Equal => "equal",
            Verdict::Arbitration => "equal by addresses, the rest is arbitration",
            Verdict::ProfilersModel => "equal by hardware, the profiler's model is wrong here",
            Verdict::Bound => "within the model's bound",
            Verdict::LinesTogether => "equal, though the cubin mixes up the lines",
            Verdict::FewerLanes => "equal at its cost, by the lanes that need it",
            Verdict::Different => "DIFFERENT",
        })
    }
}

/// Compares the sums of a launch.
///
/// # Errors
/// A sentence that names the metric which the profile lacks.
pub fn sums(prediction: &Prediction, profile: &Profile) -> Result<Vec<Row>, String> {
    let read = |names: &[&str]| -> Result<Option<u64>, String> {
        let value = |name: &&str| {
            let found = profile.metrics.get(*name).map(|metric| metric.total);
            found.ok_or_else(|| format!("the profile of {} has no whole number for `{name}`", profile.kernel))
        };
        match names {
            [] => Ok(None),
            names => names.iter().map(value).sum::<Result<u64, String>>().map(Some),
        }
    };
    let inexact = prediction.places.iter().any(|(place, counts)| model_is_inexact(place, counts));
    COUNTERS
        .iter()
        .map(|counter| {
            let predicted =
                prediction.places.iter().map(|(place, counts)| (counter.adds)(place, counts)).sum();
            let (hardware, addresses) = (read(counter.hardware)?, read(counter.addresses)?);
            let inexact = inexact && counter.name == counter::SHARED_LOAD_WAVEFRONTS;
            let bound = counter.name == counter::SHARED_ATOMIC_WAVEFRONTS;
            let wavefronts = counter.name.ends_with("_wavefronts");
            let verdict = of_sum(predicted, hardware, addresses, Known { wavefronts, inexact, bound });
            Ok(Row { what: counter.name.to_owned(), predicted, hardware, addresses, verdict })
        })
        .collect()
}

/// What is known of a sum before it is compared.
#[derive(Clone, Copy, Default)]
struct Known {
    /// Whether it is wavefronts, of which arbitration costs some.
    wavefronts: bool,
    /// Whether the profiler's model may be wrong in it.
    inexact: bool,
    /// Whether the prediction is a bound.
    bound: bool,
}

fn of_sum(predicted: u64, hardware: Option<u64>, addresses: Option<u64>, known: Known) -> Verdict {
    let equal = |witness: Option<u64>| witness.is_none_or(|it| it == predicted);
    let within = |witness: Option<u64>| witness.is_none_or(|it| it <= predicted);
    match (equal(hardware), equal(addresses)) {
        (true, true) => Verdict::Equal,
        (false, true) if known.wavefronts && addresses.is_some() && hardware > Some(predicted) => {
            Verdict::Arbitration
        }
        (true, false) if known.inexact && hardware.is_some() => Verdict::ProfilersModel,
        _ if known.bound && within(hardware) && within(addresses) => Verdict::Bound,
        (false, true) | (true, false) | (false, false) => Verdict::Different,
    }
}

/// Whether the profiler's own model may be wrong here: loads from shared memory of 16 bytes with inactive lanes, and of 8 bytes that
/// merge and conflict. `hardware` has to be right then.
fn model_is_inexact(place: &Place, counts: &Counts) -> bool {
    if !counter::loads_shared(place) {
        return false;
    }
    let some_inactive = counts.lanes < 32 * counts.requests;
    match place.access.bytes {
        16 => some_inactive,
        8 => counts.wavefronts > counts.ideal_wavefronts && counts.ideal_wavefronts < 2 * counts.requests,
        _ => false,
    }
}

/// Compares the counts at the places of a launch. `hardware_is_right` says that the sum of the wavefronts of shared loads, by hardware, is
/// what was predicted: then the profiler's model may be what is wrong at a place.
///
/// # Errors
/// A sentence: the profile is of another machine code, or lacks a metric.
pub fn places(
    prediction: &Prediction,
    code: &sass::Kernel,
    profile: &Profile,
    hardware_is_right: bool,
) -> Result<Vec<Row>, String> {
    let mut by_access: BTreeMap<Access, Site> = BTreeMap::new();
    for (place, counts) in &prediction.places {
        by_access.entry(place.access).or_default().predicted.insert(place.line, *counts);
    }
    for (place, counts) in read(code, profile)? {
        by_access.entry(place.access).or_default().read.push((place.line, counts));
    }
    Ok(by_access.iter().flat_map(|(access, site)| of_access(access, site, hardware_is_right)).collect())
}

/// All places of one kind of access.
#[derive(Default)]
struct Site {
    /// What each line is predicted to count.
    predicted: BTreeMap<u32, Counts>,
    /// What each instruction counted, with its line.
    read: Vec<(u32, Counts)>,
}

/// A row for each line and count; or for each count alone, if only so they agree.
fn of_access(access: &Access, site: &Site, hardware_is_right: bool) -> Vec<Row> {
    let lines: BTreeSet<u32> =
        site.predicted.keys().copied().chain(site.read.iter().map(|(line, _)| *line)).collect();
    let mut apart = Vec::new();
    let (mut expected, mut found) = (Counts::default(), Counts::default());
    for line in lines {
        let predicted = site.predicted.get(&line).copied().unwrap_or_default();
        let read = sum(site.read.iter().filter(|(at, _)| *at == line).map(|(_, counts)| counts));
        let excused = hardware_is_right && model_is_inexact(&Place { line, access: *access }, &predicted);
        apart.extend(rows(&format!("line {line}, {access}"), access, &predicted, &read, excused));
        expected += predicted;
        found += read;
    }
    if apart.iter().all(|row| row.verdict != Verdict::Different) {
        return apart;
    }
    let lines: Vec<String> = site.predicted.keys().map(u32::to_string).collect();
    let together =
        rows(&format!("lines {}, {access}", lines.join(" and ")), access, &expected, &found, false);
    let vector = |counts: &Counts| {
        let Counts { requests: _, reads: _, lanes, wavefronts, ideal_wavefronts: _, sectors, lines } =
            *counts;
        // A bound divides nothing.
        let compared = |of: u64, expected: u64, found: u64| if expected == found { of } else { 0 };
        [
            lanes,
            compared(wavefronts, expected.wavefronts, found.wavefronts),
            compared(sectors, expected.sectors, found.sectors),
            compared(lines, expected.lines, found.lines),
        ]
    };
    let instructions: Vec<Vector> = site.read.iter().map(|(_, counts)| vector(counts)).collect();
    let wanted: Vec<Vector> = site.predicted.values().map(vector).collect();
    let agree = together.iter().all(|row| row.verdict != Verdict::Different);
    if !agree || lines.len() < 2 || !divide::divides(&instructions, &wanted) {
        return apart;
    }
    let together = together.into_iter().map(|row| match row.verdict {
        Verdict::Equal => Row { verdict: Verdict::LinesTogether, ..row },
        Verdict::Arbitration
        | Verdict::ProfilersModel
        | Verdict::Bound
        | Verdict::LinesTogether
        | Verdict::FewerLanes
        | Verdict::Different => row,
    });
    together.collect()
}

fn sum<'a>(all: impl Iterator<Item = &'a Counts>) -> Counts {
    all.fold(Counts::default(), |mut sum, counts| {
        sum += *counts;
        sum
    })
}

/// A row for each count that means something for an access. `excused`: the profiler's model may be wrong in the wavefronts.
fn rows(label: &str, access: &Access, expected: &Counts, found: &Counts, excused: bool) -> Vec<Row> {
    let copies = access.action == Action::CopyAsync;
    let shared = access.space == Space::Shared && !copies;
    // Of shared atomics the model gives a bound.
    let bound = shared && access.action == Action::Atomic;
    let counts: &[(&str, u64, u64)] = match shared {
        true => {
            &[("lanes", expected.lanes, found.lanes), ("wavefronts", expected.wavefronts, found.wavefronts)]
        }
        false => &[
            ("lanes", expected.lanes, found.lanes),
            ("sectors", expected.sectors, found.sectors),
            ("lines", expected.lines, found.lines),
        ],
    };
    let loads = access.space == Space::Global && access.action == Action::Load;
    let costs_the_same = (expected.sectors, expected.lines) == (found.sectors, found.lines);
    let row = |&(what, predicted, addresses): &(&str, u64, u64)| {
        let verdict = match predicted == addresses {
            true => Verdict::Equal,
            false if what == "wavefronts" && bound && addresses < predicted => Verdict::Bound,
            false if what == "wavefronts" && excused => Verdict::ProfilersModel,
            false if what == "lanes" && loads && costs_the_same && (1..predicted).contains(&addresses) => {
                Verdict::FewerLanes
            }
            false => Verdict::Different,
        };
        let what = format!("{label}: {what}");
        Row { what, predicted, hardware: None, addresses: Some(addresses), verdict }
    };
    counts.iter().map(row).collect()
}

/// What was read at each access of the machine code, of which the profiler has to know the same accesses, each as wide.
fn read(code: &sass::Kernel, profile: &Profile) -> Result<Vec<(Place, Counts)>, String> {
    let kernel = &profile.kernel;
    let metric = |name| {
        let found = profile.metrics.get(name);
        found.ok_or_else(|| format!("the profile of {kernel} has no whole number for `{name}`"))
    };
    let [bits, lanes, wavefronts, sectors, lines] = AT_INSTRUCTIONS.map(metric);
    let (bits, lanes, wavefronts, sectors, lines) = (bits?, lanes?, wavefronts?, sectors?, lines?);
    let Some(first) = lanes.at.keys().next() else {
        return Err(format!("the profile of {kernel} has no instructions"));
    };
    let at = |metric: &Metric, address| metric.at.get(&address).copied().unwrap_or(0);
    let accesses: BTreeMap<u64, &sass::Instruction> =
        code.instructions.iter().map(|it| (first + u64::from(it.offset), it)).collect();
    // What never executes has no width.
    for address in bits.at.keys().filter(|address| at(lanes, **address) > 0) {
        if !accesses.contains_key(address) {
            let offset = address - first;
            return Err(format!("{kernel}: at {offset:#x} the profile has an access, and the cubin none"));
        }
    }
    let mut read = Vec::new();
    for (address, instruction) in accesses {
        let counts = Counts {
            lanes: at(lanes, address),
            wavefronts: at(wavefronts, address),
            sectors: at(sectors, address),
            lines: at(lines, address),
            ..Counts::default()
        };
        let (found, expected) = (at(bits, address), u64::from(8 * instruction.access.bytes));
        if counts.lanes > 0 && found != expected {
            let (offset, opcode) = (address - first, &instruction.opcode);
            return Err(format!(
                "{kernel}: at {offset:#x} the profile has an access of {found} bits, and the cubin {opcode}"
            ));
        }
        read.push((place::of_instruction(instruction), counts));
    }
    Ok(read)
}

/// Compares the kinds of accesses that a kernel's machine code holds with those of its report, widths included: a row for each that either
/// has, counted 1 where it is there.
pub fn widths(prediction: &Prediction, code: &sass::Kernel) -> Vec<Row> {
    let report: BTreeSet<Access> = prediction.places.iter().map(|(place, _)| place.access).collect();
    let machine: BTreeSet<Access> =
        code.instructions.iter().map(|it| place::of_instruction(it).access).collect();
    let row = |access: &Access| {
        let [predicted, found] = [&report, &machine].map(|it| u64::from(it.contains(access)));
        let verdict = if predicted == found { Verdict::Equal } else { Verdict::Different };
        Row {
            what: format!("in the machine code: {access}"),
            predicted,
            hardware: Some(found),
            addresses: None,
            verdict,
        }
    };
    report.union(&machine).map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parity::predict::Launch;

    const SASS: &str = r#"
.text.kernel:
    //## File "src/kernels.rs", line 7
        /*0000*/                   LDC R1, c[0x0][0x28] ;
        /*0010*/              @!P0 LDG.E.128.CONSTANT R4, desc[UR6][R2.64] ;
    //## File "src/kernels.rs", line 8
        /*0020*/                   LDS.128 R8, [R5] ;
        /*0030*/              @!PT LDS RZ, [RZ] ;
        /*0040*/                   LDS.128 R8, [R6] ;
    //## File "src/kernels.rs", line 9
        /*0050*/                   ATOMS.POPC.INC.32 RZ, [R9] ;
"#;

    fn access(space: Space, action: Action, bytes: u32) -> Access {
        Access { space, action, bytes }
    }

    fn counts(lanes: u64, wavefronts: u64, sectors: u64, lines: u64) -> Counts {
        let requests = lanes.div_ceil(32);
        Counts { requests, reads: 0, lanes, wavefronts, ideal_wavefronts: wavefronts, sectors, lines }
    }

    fn prediction(places: &[(u32, Access, Counts)]) -> Prediction {
        let launch = Launch { kernel: "kernel".into(), size: vec![1], gap: 0 };
        let places = places.iter().map(|&(line, access, counts)| (Place { line, access }, counts)).collect();
        Prediction { launch, places }
    }

    fn load() -> Access {
        access(Space::Global, Action::Load, 16)
    }

    fn read_tile() -> Access {
        access(Space::Shared, Action::Load, 16)
    }

    fn count() -> Access {
        access(Space::Shared, Action::Atomic, 4)
    }

    fn right() -> Prediction {
        prediction(&[
            (7, load(), counts(32, 0, 16, 4)),
            (8, read_tile(), counts(64, 12, 0, 0)),
            (9, count(), counts(32, 3, 0, 0)),
        ])
    }

    /// What the kernel above counted: the first load 16 sectors in 4 lines, the others 4 and 8 wavefronts, the atomic 3.
    fn profile() -> Profile {
        let at = |values: &[(u64, u64)]| Metric {
            total: values.iter().map(|(_, value)| value).sum(),
            at: values.iter().map(|(offset, value)| (0x7f00 + offset, *value)).collect(),
        };
        let mut metrics: BTreeMap<String, Metric> =
            counter::metrics().into_iter().map(|name| (name.to_owned(), Metric::default())).collect();
        let lanes = [(0x00, 32), (0x10, 32), (0x20, 32), (0x30, 0), (0x40, 32), (0x50, 32)];
        let bits = [(0x10, 128), (0x20, 128), (0x30, 32), (0x40, 128), (0x50, 32)];
        let named: [(&str, &[(u64, u64)]); 5] = [
            ("thread_inst_executed_true", &lanes),
            ("memory_access_size_type", &bits),
            ("memory_l1_wavefronts_shared", &[(0x20, 4), (0x30, 0), (0x40, 8), (0x50, 3)]),
            ("memory_l2_theoretical_sectors_global", &[(0x10, 16)]),
            ("memory_l1_tag_requests_global", &[(0x10, 4)]),
        ];
        metrics.extend(named.map(|(name, values)| (name.to_owned(), at(values))));
        Profile { kernel: "kernel".into(), metrics }
    }

    fn code() -> sass::Kernel {
        sass::parse(SASS).unwrap().pop().unwrap()
    }

    /// The verdicts that are not simply equal, each with its row.
    fn unequal(rows: &[Row]) -> Vec<(&str, Verdict)> {
        let unequal = rows.iter().filter(|row| row.verdict != Verdict::Equal);
        unequal.map(|row| (row.what.as_str(), row.verdict)).collect()
    }

    #[test]
    fn what_was_predicted_is_equal_at_every_place() {
        let rows = places(&right(), &code(), &profile(), true).unwrap();
        assert_eq!(unequal(&rows), []);
        let what: Vec<(&str, u64)> = rows.iter().map(|row| (row.what.as_str(), row.predicted)).collect();
        assert_eq!(
            what[..4],
            [
                ("line 7, global load of 16 bytes: lanes", 32),
                ("line 7, global load of 16 bytes: sectors", 16),
                ("line 7, global load of 16 bytes: lines", 4),
                ("line 8, shared load of 16 bytes: lanes", 64),
            ]
        );
        assert_eq!(unequal(&widths(&right(), &code())), []);
    }

    #[test]
    fn a_count_that_differs_fails_where_it_is() {
        let mut wrong = right();
        wrong.places[0].1.sectors += 1;
        wrong.places[1].1.wavefronts -= 1;
        let rows = places(&wrong, &code(), &profile(), true).unwrap();
        let different = [
            ("line 7, global load of 16 bytes: sectors", Verdict::Different),
            ("line 8, shared load of 16 bytes: wavefronts", Verdict::Different),
        ];
        assert_eq!(unequal(&rows), different);
    }

    #[test]
    fn of_an_atomic_the_model_gives_a_bound() {
        let mut bound = right();
        bound.places[2].1.wavefronts = 5;
        let rows = places(&bound, &code(), &profile(), true).unwrap();
        assert_eq!(unequal(&rows), [("line 9, shared atomic of 4 bytes: wavefronts", Verdict::Bound)]);
        bound.places[2].1.wavefronts = 2;
        let rows = places(&bound, &code(), &profile(), true).unwrap();
        assert_eq!(unequal(&rows), [("line 9, shared atomic of 4 bytes: wavefronts", Verdict::Different)]);
    }

    #[test]
    fn the_profilers_model_is_wrong_only_where_it_is_known_to_be_and_the_hardware_right() {
        let mut partly = right();
        partly.places[1].1 = Counts { wavefronts: 11, ..counts(64, 12, 0, 0) };
        let verdict = |partly: &Prediction, hardware_is_right| {
            places(partly, &code(), &profile(), hardware_is_right)
                .unwrap()
                .iter()
                .map(|row| row.verdict)
                .max()
        };
        // All lanes are active: no excuse.
        assert_eq!(verdict(&partly, true), Some(Verdict::Different));
        let mut profile = profile();
        profile.metrics.get_mut("thread_inst_executed_true").unwrap().at.insert(0x7f40, 31);
        partly.places[1].1.lanes = 63;
        for (hardware_is_right, expected) in [(true, Verdict::ProfilersModel), (false, Verdict::Different)] {
            let rows = places(&partly, &code(), &profile, hardware_is_right).unwrap();
            assert_eq!(unequal(&rows), [("line 8, shared load of 16 bytes: wavefronts", expected)]);
        }
    }

    #[test]
    fn lines_that_the_cubin_mixes_up_are_told_apart_by_what_they_count() {
        let on = |line, wavefronts| (line, read_tile(), counts(32, wavefronts, 0, 0));
        let others = [(7, load(), counts(32, 0, 16, 4)), (9, count(), counts(32, 3, 0, 0))];
        // The second load is on line 12, which the cubin does not know.
        let split = prediction(&[others[0], on(8, 8), on(12, 4), others[1]]);
        let rows = places(&split, &code(), &profile(), true).unwrap();
        assert_eq!(
            unequal(&rows),
            [
                ("lines 8 and 12, shared load of 16 bytes: lanes", Verdict::LinesTogether),
                ("lines 8 and 12, shared load of 16 bytes: wavefronts", Verdict::LinesTogether),
            ]
        );
        // The sum is right, but no instruction took 7 wavefronts.
        let wrong = prediction(&[others[0], on(8, 7), on(12, 5), others[1]]);
        let rows = places(&wrong, &code(), &profile(), true).unwrap();
        assert!(unequal(&rows).iter().any(|(_, verdict)| *verdict == Verdict::Different), "{rows:?}");
    }

    #[test]
    fn a_load_may_be_executed_by_the_lanes_that_need_it() {
        let at_load = |lanes, sectors| {
            let asked = prediction(&[
                (7, load(), counts(lanes, 0, sectors, 4)),
                (8, read_tile(), counts(64, 12, 0, 0)),
                (9, count(), counts(32, 3, 0, 0)),
            ]);
            let rows = places(&asked, &code(), &profile(), true).unwrap();
            unequal(&rows).into_iter().map(|(what, verdict)| (what.to_owned(), verdict)).collect::<Vec<_>>()
        };
        let lanes = "line 7, global load of 16 bytes: lanes".to_owned();
        assert_eq!(at_load(64, 16), [(lanes.clone(), Verdict::FewerLanes)]);
        assert_eq!(at_load(31, 16), [(lanes.clone(), Verdict::Different)]);
        assert_eq!(at_load(64, 17)[0], (lanes, Verdict::Different));
    }

    #[test]
    fn an_access_that_only_one_side_has_fails() {
        let mut rows = widths(&prediction(&[(7, load(), counts(32, 0, 16, 4))]), &code());
        rows.retain(|row| row.verdict == Verdict::Different);
        let what: Vec<&str> = rows.iter().map(|row| row.what.as_str()).collect();
        assert_eq!(
            what,
            ["in the machine code: shared load of 16 bytes", "in the machine code: shared atomic of 4 bytes",]
        );
        let places =
            places(&prediction(&[(7, load(), counts(32, 0, 16, 4))]), &code(), &profile(), true).unwrap();
        assert!(unequal(&places).contains(&("line 9, shared atomic of 4 bytes: lanes", Verdict::Different)));
    }

    #[test]
    fn a_profile_of_other_machine_code_is_an_error() {
        let with = |name: &str, offset: u64, value| {
            let mut profile = profile();
            profile.metrics.get_mut(name).unwrap().at.insert(0x7f00 + offset, value);
            places(&right(), &code(), &profile, true)
        };
        let error = with("memory_access_size_type", 0x10, 32).unwrap_err();
        assert_eq!(
            error,
            "kernel: at 0x10 the profile has an access of 32 bits, and the cubin LDG.E.128.CONSTANT"
        );
        let error = with("memory_access_size_type", 0x00, 32).unwrap_err();
        assert_eq!(error, "kernel: at 0x0 the profile has an access, and the cubin none");
        let mut lacking = profile();
        lacking.metrics.remove("memory_l1_tag_requests_global");
        assert!(
            places(&right(), &code(), &lacking, true)
                .unwrap_err()
                .contains("no whole number for `memory_l1_tag")
        );
    }

    #[test]
    fn sums_by_both_witnesses() {
        let mut profile = profile();
        let mut set = |name: &str, total| profile.metrics.get_mut(name).unwrap().total = total;
        set("smsp__sass_inst_executed_op_shared_ld.sum", 2);
        set("smsp__sass_inst_executed_op_global_ld.sum", 1);
        set("smsp__sass_inst_executed_op_shared_atom.sum", 1);
        set("l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", 1);
        set("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", 16);
        set("smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ld.sum", 16);
        set("smsp__sass_l1tex_tags_mem_global.sum", 4);
        // Two passes were lost to arbitration.
        set("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", 14);
        set("smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", 12);
        set("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum", 3);
        set("smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_atom.sum", 3);
        let rows = sums(&right(), &profile).unwrap();
        assert_eq!(rows.len(), COUNTERS.len());
        assert_eq!(unequal(&rows), [("shared_load_wavefronts", Verdict::Arbitration)]);

        profile.metrics.remove("smsp__sass_l1tex_tags_mem_global.sum");
        let error = sums(&right(), &profile).unwrap_err();
        assert_eq!(
            error,
            "the profile of kernel has no whole number for `smsp__sass_l1tex_tags_mem_global.sum`"
        );
    }

    #[test]
    fn each_rule_holds_only_where_it_is_meant() {
        let wavefronts = Known { wavefronts: true, ..Known::default() };
        let inexact = Known { inexact: true, ..wavefronts };
        let bound = Known { bound: true, ..wavefronts };
        use Verdict::{Arbitration, Bound, Different, Equal, ProfilersModel};
        for (hardware, addresses, known, expected) in [
            (Some(8), Some(8), Known::default(), Equal),
            (None, Some(8), Known::default(), Equal),
            (None, Some(9), Known::default(), Different),
            (Some(9), Some(8), wavefronts, Arbitration),
            // Sectors are not lost to arbitration, and it loses none.
            (Some(9), Some(8), Known::default(), Different),
            (Some(7), Some(8), wavefronts, Different),
            (Some(9), None, wavefronts, Different),
            (Some(8), Some(7), wavefronts, Different),
            (Some(8), Some(7), inexact, ProfilersModel),
            (Some(9), Some(7), inexact, Different),
            (Some(7), Some(5), bound, Bound),
            (Some(9), Some(5), bound, Different),
        ] {
            assert_eq!(of_sum(8, hardware, addresses, known), expected, "{hardware:?} {addresses:?}");
        }
    }
}
