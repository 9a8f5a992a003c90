//! Predictions against hardware: every kernel, at several sizes, in sums and at each access.
//!
//! The simulator says what a launch counts; Nsight Compute reads what it did count. Both are compared to the last wavefront, in the
//! sums over the launch ([`counter`]) and at every place of the source that accesses memory ([`place`]), and so are the accesses
//! of the machine code with those of the report. A difference fails unless a rule explains it, and the rule is named in the
//! table and was checked on the numbers ([`verdict`]).
//!
//! [`main`] makes an executable of a table of kernels, which a host without Rust can run beside the profiler and the
//! disassembler. Without a name it takes all of them:
//!
//! ```text
//! export TILEPROOF_LINEINFO=1
//! parity prepare FOLDER [KERNEL…]               # machine.json, KERNEL.cubin, predicted.json
//! ncu --csv --page raw --print-units base --print-metric-instances details --metrics "$(parity metrics)" \
//!     --log-file FOLDER/profile.csv parity launch [KERNEL…]
//! parity compare FOLDER RESULTS                 # RESULTS/DATE-GPU-parity.json, RESULTS/parity.txt
//! ```

pub mod counter;
pub mod divide;
pub mod place;
pub mod predict;
pub mod profile;
pub mod record;
pub mod verdict;

use crate::sass;
use predict::{Prediction, launches};
use profile::Profile;
use record::Compared;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use tileproof::device;
use tileproof_examples::machine::Machine;
use tileproof_examples::subject::Subject;

/// The executable `parity` over a table of kernels; see the module's documentation for its commands.
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
        ["metrics"] => Ok((counter::metrics().join(",") + "\n", true)),
        ["prepare", folder, names @ ..] => {
            let subjects = named(subjects, names)?;
            let count = prepare(&subjects, Path::new(folder))?;
            Ok((format!("predicted {count} launches of {} kernels\n", subjects.len()), true))
        }
        ["launch", names @ ..] => {
            let subjects = named(subjects, names)?;
            let counts: Result<Vec<usize>, String> = subjects
                .iter()
                .map(|it| launch(it).map_err(|error| format!("{}: {error}", it.name)))
                .collect();
            Ok((format!("launched {} times\n", counts?.iter().sum::<usize>()), true))
        }
        ["compare", folder, results] => compare_files(Path::new(folder), Path::new(results)),
        _ => Err("usage: parity metrics | prepare FOLDER [KERNEL…] | launch [KERNEL…] | \
                  compare FOLDER RESULTS"
            .into()),
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

/// Predicts, and writes what belongs to the first GPU: what it is, and the machine code that it runs.
fn prepare(subjects: &[Subject], folder: &Path) -> Result<usize, String> {
    let context = device::context(0).map_err(|error| error.to_string())?;
    let machine = Machine::of(&context).map_err(|error| error.to_string())?;
    write(&folder.join("machine.json"), to_json(&machine))?;
    for subject in subjects {
        let loaded = (subject.load)(&context).map_err(|error| format!("{}: {error}", subject.name))?;
        write(&folder.join(subject.name).with_extension("cubin"), &loaded.compiled().cubin)?;
    }
    let predictions = predict::all(subjects)?;
    write(&folder.join("predicted.json"), to_json(&predictions))?;
    Ok(predictions.len())
}

/// Launches at each size on the first GPU, waits, and demands the right results. Says how often.
fn launch(subject: &Subject) -> Result<usize, Box<dyn Error>> {
    let context = device::context(0)?;
    let mut count = 0;
    for (_, shape) in launches(subject) {
        let run = (subject.launch)(&context.default_stream(), shape.size, shape.gap)?;
        predict::right(subject, &run)?;
        count += 1;
    }
    Ok(count)
}

fn compare_files(folder: &Path, results: &Path) -> Result<(String, bool), String> {
    let machine: Machine = from_json(&folder.join("machine.json"))?;
    let predictions: Vec<Prediction> = from_json(&folder.join("predicted.json"))?;
    let profiles = profile::read(&read(&folder.join("profile.csv"))?)?;
    let nvdisasm = std::env::var_os("TILEPROOF_NVDISASM").map_or("nvdisasm".into(), PathBuf::from);
    let code = |kernel: &str| {
        let path = folder.join(kernel).with_extension("cubin");
        let cubin =
            std::fs::read(&path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
        let kernels = sass::kernels(&nvdisasm, &cubin).map_err(|error| error.to_string())?;
        let found = kernels.into_iter().find(|it| it.name == kernel);
        found.map(Some).ok_or_else(|| format!("{} holds no kernel of that name", path.display()))
    };
    let all = compare(&predictions, &profiles, code)?;
    write(&results.join(machine.file_name("parity")), record::json(&machine, &all))?;
    write(&results.join("parity.txt"), record::full(&machine, &all))?;
    Ok((record::short(&machine, &all), record::agrees(&all)))
}

/// Compares every predicted launch with the profile of it: of a kernel's launches the first with the first, and so on. Where `code`
/// has no machine code of a kernel to give, the sums alone.
///
/// # Errors
/// A sentence: nothing was predicted, a kernel was launched more or less often than predicted, or the profile lacks a sum.
pub fn compare(
    predictions: &[Prediction],
    profiles: &[Profile],
    code: impl Fn(&str) -> Result<Option<sass::Kernel>, String>,
) -> Result<Vec<Compared>, String> {
    if predictions.is_empty() {
        return Err("no launch was predicted, so nothing was compared".into());
    }
    let mut all = Vec::new();
    for of_kernel in predictions.chunk_by(|a, b| a.launch.kernel == b.launch.kernel) {
        let kernel = &of_kernel[0].launch.kernel;
        let profiles: Vec<&Profile> = profiles.iter().filter(|it| it.kernel == *kernel).collect();
        if profiles.len() != of_kernel.len() {
            let (predicted, profiled) = (of_kernel.len(), profiles.len());
            return Err(format!(
                "{kernel}: {predicted} launches were predicted, and the profiler saw {profiled}"
            ));
        }
        let code = code(kernel);
        for (prediction, profile) in of_kernel.iter().zip(profiles) {
            all.push(of_launch(prediction, profile, &code)?);
        }
    }
    Ok(all)
}

fn of_launch(
    prediction: &Prediction,
    profile: &Profile,
    code: &Result<Option<sass::Kernel>, String>,
) -> Result<Compared, String> {
    let mut rows = verdict::sums(prediction, profile)?;
    let loads = rows.iter().find(|row| row.what == counter::SHARED_LOAD_WAVEFRONTS);
    let right = loads.is_some_and(|row| row.hardware == Some(row.predicted));
    let places = code.as_ref().map_err(String::clone).and_then(|code| {
        let Some(code) = code else { return Ok(Vec::new()) };
        let places = verdict::places(prediction, code, profile, right)?;
        Ok(places.into_iter().chain(verdict::widths(prediction, code)).collect())
    });
    let unmatched = match places {
        Ok(places) => {
            rows.extend(places);
            None
        }
        Err(reason) => Some(reason),
    };
    Ok(Compared { launch: prediction.launch.clone(), rows, unmatched })
}

fn read(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()))
}

fn write(path: &Path, content: impl AsRef<[u8]>) -> Result<(), String> {
    std::fs::write(path, content).map_err(|error| format!("cannot write {}: {error}", path.display()))
}

fn to_json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).expect("plain data have a JSON form")
}

fn from_json<T: serde::de::DeserializeOwned>(path: &Path) -> Result<T, String> {
    serde_json::from_str(&read(path)?)
        .map_err(|error| format!("{} is not as written: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use place::Counts;
    use predict::Launch;
    use profile::Metric;
    use tileproof_examples::kernels::elementwise;

    #[test]
    fn the_commands() {
        let (metrics, success) = run(&[], &["metrics"]).unwrap();
        assert!(success);
        assert!(
            metrics.trim().split(',').any(|it| it == "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"),
            "{metrics}"
        );
        assert!(metrics.trim().split(',').any(|it| it == "thread_inst_executed_true"), "{metrics}");
        assert_eq!(run(&[elementwise::ADD], &["launch", "sub"]).unwrap_err(), "no kernel is named `sub`");
        assert!(run(&[], &[]).unwrap_err().starts_with("usage"));
    }

    fn prediction(size: usize) -> Prediction {
        let launch = Launch { kernel: "copy".into(), size: vec![size], gap: 0 };
        Prediction { launch, places: Vec::new() }
    }

    fn profile(sectors: u64) -> Profile {
        let mut metrics: std::collections::BTreeMap<String, Metric> =
            counter::metrics().into_iter().map(|name| (name.to_owned(), Metric::default())).collect();
        let sectors = Metric { total: sectors, ..Metric::default() };
        metrics.insert("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum".to_owned(), sectors);
        metrics.get_mut("thread_inst_executed_true").expect("a metric").at.insert(0, 32);
        Profile { kernel: "copy".into(), metrics }
    }

    fn nothing(kernel: &str) -> Result<Option<sass::Kernel>, String> {
        Ok(Some(sass::Kernel { name: kernel.to_owned(), instructions: Vec::new() }))
    }

    #[test]
    fn the_launches_of_a_kernel_are_compared_in_their_order() {
        let all = compare(&[prediction(1), prediction(2)], &[profile(0), profile(4)], nothing).unwrap();
        let different = |compared: &Compared| {
            let rows = compared.rows.iter().filter(|row| row.verdict == verdict::Verdict::Different);
            rows.map(|row| row.what.clone()).collect::<Vec<_>>()
        };
        assert_eq!(
            all.iter().map(different).collect::<Vec<_>>(),
            [vec![], vec!["global_load_sectors".to_owned()]]
        );
        assert_eq!(all[1].launch.size, [2]);
    }

    #[test]
    fn what_was_not_profiled_is_an_error() {
        assert!(compare(&[], &[], nothing).unwrap_err().starts_with("no launch was predicted"));
        let error = compare(&[prediction(1), prediction(2)], &[profile(0)], nothing).unwrap_err();
        assert_eq!(error, "copy: 2 launches were predicted, and the profiler saw 1");
    }

    #[test]
    fn without_machine_code_the_sums_are_compared_and_the_launch_fails() {
        let all = compare(&[prediction(1)], &[profile(0)], |_| Err("no disassembler".into())).unwrap();
        assert_eq!(all[0].unmatched.as_deref(), Some("no disassembler"));
        assert!(all[0].rows.iter().all(|row| row.verdict == verdict::Verdict::Equal));
        assert!(!record::agrees(&all));
    }

    #[test]
    fn of_kernels_without_lines_the_sums_are_compared() {
        let all = compare(&[prediction(1)], &[profile(0)], |_| Ok(None)).unwrap();
        assert_eq!(all[0].rows.len(), counter::COUNTERS.len());
        assert!(record::agrees(&all));
    }

    #[test]
    fn files_are_compared_and_the_record_written() {
        let folder = std::env::temp_dir().join(format!("tileproof-parity-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let machine = Machine {
            date: "2026-11-30".into(),
            gpu: "NVIDIA H200".into(),
            architecture: "sm_90".into(),
            driver: None,
            driver_cuda: "13.0".into(),
            nvrtc: None,
        };
        write(&folder.join("machine.json"), to_json(&machine)).unwrap();
        let mut predicted = prediction(1);
        predicted.places.push((
            place::of_site(&(elementwise::ADD.report)().sites[0]),
            Counts { requests: 1, lanes: 32, sectors: 4, lines: 1, ..Counts::default() },
        ));
        write(&folder.join("predicted.json"), to_json(&[predicted])).unwrap();
        let names = counter::metrics();
        let cells = |cell: fn(&str) -> &str| {
            names.iter().map(|name| format!(",\"{}\"", cell(name))).collect::<String>()
        };
        let page = format!("\"Kernel Name\"{}\n\"copy\"{}\n", cells(|name| name), cells(|_| "0"));
        write(&folder.join("profile.csv"), page).unwrap();
        let (short, success) = compare_files(&folder, &folder).unwrap();
        assert!(!success, "{short}");
        assert!(short.contains("copy.cubin"), "the machine code is missing: {short}");
        assert!(
            short.lines().any(|line| line.contains("global_load_sectors") && line.ends_with("DIFFERENT")),
            "{short}"
        );
        assert!(
            read(&folder.join("2026-11-30-h200-parity.json"))
                .unwrap()
                .contains("\"measurement\": \"parity\"")
        );
        assert!(read(&folder.join("parity.txt")).unwrap().contains("counts agree"));
        // What is left behind lies in the temporary folder.
        let _ = std::fs::remove_dir_all(&folder);
    }
}
