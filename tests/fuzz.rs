//! Random kernels on a GPU, where there is one, and without Rust on its host; see [`tileproof_tests::fuzz`].
//!
//! ```text
//! fuzz run --seeds 0..3000                     judges; the last line is a summary, the status says whether all agree
//! fuzz show --seed 17                          the source of a kernel
//! fuzz build --seeds 0..100                    compiles the CUDA with NVRTC, which needs no GPU
//! fuzz metrics                                 what the profiler shall count
//! fuzz predict --seeds 0..100 > predicted.json
//! ncu --csv --page raw --print-units base --metrics "$(fuzz metrics)" --log-file measured.csv fuzz launch --seeds 0..100
//! fuzz compare predicted.json measured.csv
//! ```

use clap::{Parser, Subcommand};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use tileproof::{Architecture, device, nvrtc};
use tileproof_generate::counted::counted;
use tileproof_generate::{generate::generate, judge::accept, print};
use tileproof_tests::fuzz;
use tileproof_tests::parity::predict::Prediction;
use tileproof_tests::parity::verdict::Verdict;
use tileproof_tests::parity::{self, counter, profile, record};

/// Judges random kernels.
#[derive(Parser)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Generates, compiles and runs kernels, and compares what they compute.
    Run {
        /// Which kernels: `FROM..TO`.
        #[arg(long, value_parser = seeds)]
        seeds: Range<u64>,
        /// How many threads; without it, one a core.
        #[arg(long)]
        threads: Option<usize>,
        /// The folder for the kernels that go wrong; without it `$OUT`, or here.
        #[arg(long)]
        out: Option<PathBuf>,
        /// Leaves the GPU out.
        #[arg(long)]
        simulator_only: bool,
    },
    /// Prints the source of a kernel.
    Show {
        /// Which one.
        #[arg(long)]
        seed: u64,
        /// As it is launched to be counted.
        #[arg(long)]
        counting: bool,
    },
    /// Compiles the CUDA of kernels, and prints what NVRTC warns of.
    Build {
        /// Which kernels: `FROM..TO`.
        #[arg(long, value_parser = seeds)]
        seeds: Range<u64>,
        /// The architecture, such as `sm_90`.
        #[arg(long, default_value = "sm_90")]
        arch: Architecture,
    },
    /// Prints the profiler's metrics.
    Metrics,
    /// Prints what the simulator counts, as JSON.
    Predict {
        /// Which kernels: `FROM..TO`.
        #[arg(long, value_parser = seeds)]
        seeds: Range<u64>,
    },
    /// Launches each kernel once.
    Launch {
        /// Which kernels: `FROM..TO`.
        #[arg(long, value_parser = seeds)]
        seeds: Range<u64>,
    },
    /// Compares predictions with what the profiler counted.
    Compare {
        /// What `predict` printed.
        predicted: PathBuf,
        /// The profiler's table.
        measured: PathBuf,
    },
}

fn seeds(text: &str) -> Result<Range<u64>, String> {
    let (from, to) = text.split_once("..").ok_or("write FROM..TO, such as 0..3000")?;
    let number = |text: &str| text.parse::<u64>().map_err(|error| format!("`{text}`: {error}"));
    Ok(number(from)?..number(to)?)
}

fn main() -> ExitCode {
    match run(Arguments::parse().command) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(command: Command) -> Result<bool, String> {
    match command {
        Command::Run { seeds, threads, out, simulator_only } => {
            let out = out.or(std::env::var_os("OUT").map(PathBuf::from)).unwrap_or_default();
            judged(seeds, threads, &out, simulator_only)
        }
        Command::Show { seed, counting } => {
            let kernel = match counting {
                true => counted(&generate(seed)).ok_or("it has accesses that no sum can hold")?,
                false => generate(seed),
            };
            match accept(&kernel) {
                Ok(accepted) => println!("#[tiled_kernel({})]\n{}", accepted.attribute, accepted.item),
                Err(refusal) => {
                    let item = print::item(&kernel, &print::Budgets::new());
                    println!("#[tiled_kernel({})]\n{item}\n\n{refusal}", print::attribute(&kernel));
                }
            }
            Ok(true)
        }
        Command::Build { seeds, arch } => {
            let problems = fuzz::problems(seeds, arch);
            problems.iter().for_each(|problem| println!("{problem}"));
            println!("{} problems", problems.len());
            Ok(problems.is_empty())
        }
        Command::Metrics => {
            println!("{}", counter::metrics().join(","));
            Ok(true)
        }
        Command::Predict { seeds } => {
            let json =
                serde_json::to_string(&fuzz::predictions(seeds)?).map_err(|error| error.to_string())?;
            println!("{json}");
            Ok(true)
        }
        Command::Launch { seeds } => {
            let context = device::context(0).map_err(|error| error.to_string())?;
            let stream = context.new_stream().map_err(|error| error.to_string())?;
            println!("launched {} kernels", fuzz::launches(seeds, &stream)?);
            Ok(true)
        }
        Command::Compare { predicted, measured } => compared(&predicted, &measured),
    }
}

fn judged(
    seeds: Range<u64>,
    threads: Option<usize>,
    out: &Path,
    simulator_only: bool,
) -> Result<bool, String> {
    let context = match simulator_only {
        true => None,
        false => {
            let context = device::context(0).map_err(|error| format!("{error}; or pass --simulator-only"))?;
            nvrtc().map_err(|error| error.to_string())?;
            Some(context)
        }
    };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let tally = fuzz::run(seeds, threads.unwrap_or(cores), context.as_ref());
    for (codes, seeds) in &tally.refused {
        println!(
            "{:>6} refused by {}: seeds {:?}",
            seeds.len(),
            codes.join(" "),
            &seeds[..seeds.len().min(8)]
        );
    }
    if !tally.found.is_empty() {
        std::fs::create_dir_all(out).map_err(|error| format!("cannot create {}: {error}", out.display()))?;
    }
    for found in &tally.found {
        let path = out.join(format!("fuzz-{}.txt", found.seed));
        std::fs::write(&path, &found.text)
            .map_err(|error| format!("cannot write {}: {error}", path.display()))?;
        if let Some(file) = &found.file {
            let path = out.join(format!("fuzz-{}.json", found.seed));
            std::fs::write(&path, file)
                .map_err(|error| format!("cannot write {}: {error}", path.display()))?;
        }
        let first = found.text.lines().next().unwrap_or_default();
        println!("{first} (the source is in {})", path.display());
    }
    println!("{}", tally.summary());
    Ok(tally.found.is_empty())
}

fn compared(predicted: &Path, measured: &Path) -> Result<bool, String> {
    let read = |path: &Path| {
        std::fs::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()))
    };
    let predictions: Vec<Prediction> = serde_json::from_str(&read(predicted)?)
        .map_err(|error| format!("{} is not as `fuzz predict` writes it: {error}", predicted.display()))?;
    let profiles = profile::read(&read(measured)?)?;
    // Random kernels have no lines.
    let all = parity::compare(&predictions, &profiles, |_| Ok(None))?;
    print!("{}", record::table(&all, |row| row.verdict != Verdict::Equal));
    let rows = || all.iter().flat_map(|launch| &launch.rows);
    let agree = rows().filter(|row| row.verdict != Verdict::Different).count();
    println!("{agree} of {} counters agree", rows().count());
    Ok(record::agrees(&all))
}
