//! Predictions against hardware counters.
//!
//! A prediction is what the simulator counted over a launch; a measurement is what Nsight Compute read during one. Both
//! are held as [`Counters`], and [`compare`] wants them equal to the last wavefront. One leniency, and it is named in
//! the result: in a busy kernel the hardware's shared-memory wavefronts also hold passes lost to arbitration, which no
//! rule about addresses knows; where they exceed the prediction, the profiler's address-only counter of the same
//! instructions decides.
//!
//! [`main`] makes an executable of a table of kernels, which a host without Rust can run beside the profiler. Without a
//! name it takes all of them, each at the size that its [`Subject`] names:
//!
//! ```text
//! counters predict [KERNEL…] > predicted.csv
//! ncu --csv --page raw --print-units base --metrics "$(counters metrics)" --log-file measured.csv \
//!     counters launch [KERNEL…]
//! counters compare predicted.csv measured.csv
//! ```

use std::error::Error;
use std::fmt;
use std::process::ExitCode;
use tileproof::report::{Role, Space};
use tileproof::{Counts, device};
use tileproof_examples::subject::{Run, Subject};

/// Totals of one launch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Wavefronts of shared-memory loads.
    pub shared_load_wavefronts: u64,
    /// Wavefronts of shared-memory stores.
    pub shared_store_wavefronts: u64,
    /// 32-byte sectors of global loads.
    pub global_load_sectors: u64,
    /// 32-byte sectors of global stores.
    pub global_store_sectors: u64,
}

/// A kernel's name and its totals.
pub type Row = (String, Counters);

/// What the profiler read in one launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Measured {
    /// The kernel's name.
    pub kernel: String,
    /// What the hardware counted.
    pub hardware: Counters,
    /// Shared-memory wavefronts of loads and stores that the profiler derives from addresses alone.
    pub from_addresses: [u64; 2],
}

/// How a prediction fared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Agreement {
    /// The hardware counted what was predicted.
    Equal,
    /// The hardware counted more, and the profiler's address-only counter what was predicted.
    EqualButArbitration,
    /// Neither.
    Different,
}

/// One counter of one launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comparison {
    /// The kernel's name.
    pub kernel: String,
    /// What was counted, such as `shared_load_wavefronts`.
    pub counter: &'static str,
    /// The prediction.
    pub predicted: u64,
    /// The hardware's count.
    pub measured: u64,
    /// Whether they agree.
    pub agreement: Agreement,
}

/// The profiler's metrics: one for each field of [`Counters`] in order, then the two address-only ones.
pub const METRICS: [&str; 6] = [
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
];

const FIELDS: [&str; 4] =
    ["shared_load_wavefronts", "shared_store_wavefronts", "global_load_sectors", "global_store_sectors"];

impl Counters {
    /// The totals of a simulated launch.
    pub fn of(counts: &Counts) -> Counters {
        let mut totals = Counters::default();
        for run in &counts.sites {
            match (run.site.space, run.site.role) {
                (Space::Shared, Role::Read) => totals.shared_load_wavefronts += run.counts.wavefronts,
                // Asynchronous copies have counters of their own for what they write.
                (Space::Shared, Role::Write) if run.site.asynchronous => {}
                (Space::Shared, Role::Write) => totals.shared_store_wavefronts += run.counts.wavefronts,
                (Space::Global, Role::Read) => totals.global_load_sectors += run.counts.sectors,
                (Space::Global, Role::Write) => totals.global_store_sectors += run.counts.sectors,
                // Atomics have counters of their own.
                (Space::Shared | Space::Global, Role::Update) => {}
            }
        }
        totals
    }

    fn values(&self) -> [u64; 4] {
        [
            self.shared_load_wavefronts,
            self.shared_store_wavefronts,
            self.global_load_sectors,
            self.global_store_sectors,
        ]
    }

    fn from_values(values: [u64; 4]) -> Counters {
        let [shared_load_wavefronts, shared_store_wavefronts, global_load_sectors, global_store_sectors] =
            values;
        Counters {
            shared_load_wavefronts,
            shared_store_wavefronts,
            global_load_sectors,
            global_store_sectors,
        }
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdict = match self.agreement {
            Agreement::Equal => "equal",
            Agreement::EqualButArbitration => "equal by addresses, the rest is arbitration",
            Agreement::Different => "DIFFERENT",
        };
        let Comparison { kernel, counter, predicted, measured, .. } = self;
        write!(f, "{kernel:<24} {counter:<24} predicted {predicted:>12} measured {measured:>12}  {verdict}")
    }
}

/// Predictions as CSV: a header, then a line a kernel.
pub fn to_csv(rows: &[Row]) -> String {
    let mut csv = format!("kernel,{}\n", FIELDS.join(","));
    for (kernel, counters) in rows {
        let values = counters.values().map(|v| v.to_string());
        csv.push_str(&format!("{kernel},{}\n", values.join(",")));
    }
    csv
}

/// Reads what [`to_csv`] wrote.
///
/// # Errors
/// A sentence that names the line: another header, a missing or an unreadable number.
pub fn from_csv(csv: &str) -> Result<Vec<Row>, String> {
    let mut lines = csv.lines();
    let header = format!("kernel,{}", FIELDS.join(","));
    if lines.next() != Some(header.as_str()) {
        return Err(format!(
            "the predictions do not begin with `{header}`; were they made by `counters predict`?"
        ));
    }
    lines
        .map(|line| {
            let mut fields = line.split(',');
            let kernel = fields.next().unwrap_or("").to_owned();
            let values: Result<Vec<u64>, _> = fields.map(str::parse).collect();
            match values.map(<[u64; 4]>::try_from) {
                Ok(Ok(values)) => Ok((kernel, Counters::from_values(values))),
                Ok(Err(_)) | Err(_) => Err(format!("`{line}` is not a kernel and four counts")),
            }
        })
        .collect()
}

/// Reads what `ncu --csv --page raw --print-units base` printed for [`METRICS`], a row a launch.
///
/// # Errors
/// A sentence: no table, a metric that the table lacks, a count that is no whole number.
pub fn from_profiler(csv: &str) -> Result<Vec<Measured>, String> {
    // The profiler's own messages begin with `==`, and the program's output may stand between them.
    let mut rows = csv.lines().filter(|line| line.starts_with('"')).map(quoted_fields);
    let header = rows.next().ok_or("the profiler printed no table: see its messages above")?;
    let column = |name: &str| {
        header
            .iter()
            .position(|field| field == name)
            .ok_or(format!("the profiler's table has no column `{name}`"))
    };
    let kernel = column("Kernel Name")?;
    let columns: Vec<usize> = METRICS.iter().map(|metric| column(metric)).collect::<Result<_, _>>()?;
    // The row below the header holds the units and no kernel.
    rows.filter(|row| row.get(kernel).is_some_and(|name| !name.is_empty()))
        .map(|row| {
            let count = |metric: usize| {
                let text = row.get(columns[metric]).map_or("", String::as_str);
                text.replace(',', "").parse::<u64>().map_err(|_| {
                    format!(
                        "`{text}`, the profiler's {} of {}, is not a whole number",
                        METRICS[metric], row[kernel]
                    )
                })
            };
            Ok(Measured {
                kernel: row[kernel].clone(),
                hardware: Counters::from_values([count(0)?, count(1)?, count(2)?, count(3)?]),
                from_addresses: [count(4)?, count(5)?],
            })
        })
        .collect()
}

/// The fields of `"a","b, c"`; doubled quotes stand for one.
fn quoted_fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut quoted = false;
    let mut characters = line.chars().peekable();
    while let Some(c) = characters.next() {
        match c {
            '"' if quoted && characters.peek() == Some(&'"') => {
                characters.next();
                fields.last_mut().expect("starts with one field").push('"');
            }
            '"' => quoted = !quoted,
            ',' if !quoted => fields.push(String::new()),
            c => fields.last_mut().expect("starts with one field").push(c),
        }
    }
    fields
}

/// Compares every launch of every predicted kernel, counter by counter.
///
/// # Errors
/// A sentence: nothing was predicted, or a kernel was predicted and not measured.
pub fn compare(predicted: &[Row], measured: &[Measured]) -> Result<Vec<Comparison>, String> {
    if predicted.is_empty() {
        return Err("no kernel was predicted, so nothing was compared".into());
    }
    let mut comparisons = Vec::new();
    for (kernel, prediction) in predicted {
        let mut launches = measured.iter().filter(|m| m.kernel == *kernel).peekable();
        if launches.peek().is_none() {
            return Err(format!("{kernel} was predicted but the profiler saw no launch of it"));
        }
        for launch in launches {
            let counted = prediction.values().into_iter().zip(launch.hardware.values());
            for (index, (predicted, measured)) in counted.enumerate() {
                let by_addresses = launch.from_addresses.get(index) == Some(&predicted);
                let agreement = if predicted == measured {
                    Agreement::Equal
                } else if measured > predicted && by_addresses {
                    Agreement::EqualButArbitration
                } else {
                    Agreement::Different
                };
                let counter = FIELDS[index];
                comparisons.push(Comparison {
                    kernel: kernel.clone(),
                    counter,
                    predicted,
                    measured,
                    agreement,
                });
            }
        }
    }
    Ok(comparisons)
}

/// The executable `counters` over a table of kernels; see the module's documentation for its commands.
pub fn main(subjects: &[Subject]) -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match run(subjects, &arguments) {
        Ok((output, success)) => {
            print!("{output}");
            if success { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(subjects: &[Subject], arguments: &[&str]) -> Result<(String, bool), String> {
    match arguments {
        ["metrics"] => Ok((METRICS.join(",") + "\n", true)),
        ["predict", names @ ..] => {
            let subjects = named(subjects, names)?;
            let predicted: Vec<Row> = subjects
                .iter()
                .map(|subject| Ok((subject.name.to_owned(), predict(subject).map_err(said_of(subject))?)))
                .collect::<Result<_, String>>()?;
            Ok((to_csv(&predicted), true))
        }
        ["launch", names @ ..] => {
            let subjects = named(subjects, names)?;
            subjects.iter().try_for_each(|subject| launch(subject).map_err(said_of(subject)))?;
            Ok((format!("launched {} kernels\n", subjects.len()), true))
        }
        ["compare", predicted, measured] => {
            let read =
                |path: &str| std::fs::read_to_string(path).map_err(|e| format!("cannot read {path}: {e}"));
            let comparisons = compare(&from_csv(&read(predicted)?)?, &from_profiler(&read(measured)?)?)?;
            let agree = comparisons.iter().filter(|c| c.agreement != Agreement::Different).count();
            let mut output: String = comparisons.iter().map(|c| format!("{c}\n")).collect();
            output.push_str(&format!("{agree} of {} counters agree\n", comparisons.len()));
            Ok((output, agree == comparisons.len()))
        }
        _ => {
            Err("usage: counters metrics | predict [KERNEL…] | launch [KERNEL…] | compare PREDICTED MEASURED"
                .into())
        }
    }
}

/// The subjects of these names; all of them where there is none.
fn named(subjects: &[Subject], names: &[&str]) -> Result<Vec<Subject>, String> {
    if names.is_empty() {
        return Ok(subjects.to_vec());
    }
    let find = |name: &&str| subjects.iter().find(|subject| subject.name == *name).copied();
    names.iter().map(|name| find(name).ok_or_else(|| format!("no kernel is named `{name}`"))).collect()
}

fn said_of(subject: &Subject) -> impl Fn(Box<dyn Error>) -> String {
    move |error| format!("{}: {error}", subject.name)
}

/// The simulator's totals of one launch, whose result must be right.
fn predict(subject: &Subject) -> Result<Counters, Box<dyn Error>> {
    let (counts, run) = (subject.simulate)(subject.counted, 0)?;
    right(subject, &run)?;
    Ok(Counters::of(&counts))
}

/// Launches once on the first GPU, waits, and demands the right result.
fn launch(subject: &Subject) -> Result<(), Box<dyn Error>> {
    let context = device::context(0)?;
    right(subject, &(subject.launch)(&context.default_stream(), subject.counted, 0)?)
}

fn right(subject: &Subject, run: &Run) -> Result<(), Box<dyn Error>> {
    match run.difference(subject.ulps) {
        None => Ok(()),
        Some(difference) => Err(difference.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tileproof_examples::kernels::elementwise;

    const PROFILE: &str = r#"==PROF== Connected to process 41 (/opt/bundle/counters)
==PROF== Profiling "transpose_naive" - 0: 0%....50%....100% - 2 passes
launched 2 kernels
==PROF== Disconnected from process 41
"ID","Kernel Name","Grid Size","l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum","l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum","l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum","l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum","smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum","smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_st.sum"
"","","","","","sector","sector","",""
"0","transpose_naive","(2, 2, 1)","0","0","512","4,096","0","0"
"1","transpose_shared","(2, 2, 1)","4,099","128","512","512","4,096","128"
"#;

    fn row(kernel: &str, values: [u64; 4]) -> Row {
        (kernel.to_owned(), Counters::from_values(values))
    }

    #[test]
    fn the_profilers_table_is_read_between_its_messages() {
        let measured = from_profiler(PROFILE).unwrap();
        assert_eq!(measured.len(), 2);
        assert_eq!(measured[0].kernel, "transpose_naive");
        assert_eq!(measured[0].hardware, Counters::from_values([0, 0, 512, 4096]));
        assert_eq!(measured[1].from_addresses, [4096, 128]);
    }

    #[test]
    fn arbitration_is_told_from_disagreement() {
        let measured = from_profiler(PROFILE).unwrap();
        let predicted =
            [row("transpose_naive", [0, 0, 512, 4095]), row("transpose_shared", [4096, 128, 512, 512])];
        let agreement: Vec<Agreement> =
            compare(&predicted, &measured).unwrap().into_iter().map(|c| c.agreement).collect();
        use Agreement::{Different, Equal, EqualButArbitration};
        assert_eq!(agreement, [Equal, Equal, Equal, Different, EqualButArbitration, Equal, Equal, Equal]);
    }

    #[test]
    fn a_kernel_that_was_not_profiled_is_an_error() {
        let error = compare(&[row("copy", [0; 4])], &from_profiler(PROFILE).unwrap()).unwrap_err();
        assert_eq!(error, "copy was predicted but the profiler saw no launch of it");
        assert!(compare(&[], &[]).unwrap_err().starts_with("no kernel was predicted"));
    }

    #[test]
    fn bad_tables_are_errors() {
        assert!(from_profiler("==ERROR== no permission\n").unwrap_err().contains("no table"));
        assert!(from_profiler("\"ID\",\"Kernel Name\"\n").unwrap_err().contains("no column `l1tex__data"));
        let fraction = PROFILE.replace("\"512\",\"4,096\"", "\"0.5\",\"4,096\"");
        assert!(from_profiler(&fraction).unwrap_err().contains("`0.5`"));
        assert!(from_csv("kernel\n").unwrap_err().contains("counters predict"));
        assert!(from_csv(&to_csv(&[]).replace('\n', "\ncopy,1,2\n")).unwrap_err().contains("`copy,1,2`"));
    }

    #[test]
    fn predictions_survive_csv() {
        let rows = vec![row("copy", [0, 0, 1, u64::MAX]), row("transpose_xor", [1, 2, 3, 4])];
        assert_eq!(from_csv(&to_csv(&rows)).unwrap(), rows);
    }

    #[test]
    fn the_commands() {
        let counted: &[usize] = &[1024];
        let subjects =
            [Subject { counted, ..elementwise::ADD }, Subject { counted, ..elementwise::SAXPY_F64 }];
        let (csv, success) = run(&subjects, &["predict", "add"]).unwrap();
        assert!(success);
        assert!(csv.ends_with("\nadd,0,0,256,128\n"), "{csv}");
        let (csv, _) = run(&subjects, &["predict"]).unwrap();
        assert!(csv.ends_with("\nsaxpy_f64,0,0,512,256\n"), "{csv}");
        assert_eq!(run(&subjects, &["launch", "sub"]).unwrap_err(), "no kernel is named `sub`");
        assert!(run(&subjects, &[]).unwrap_err().starts_with("usage"));
        assert_eq!(run(&[], &["metrics"]).unwrap().0.trim().split(',').count(), 6);
    }
}
