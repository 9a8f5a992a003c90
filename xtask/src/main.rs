//! The project's tasks: `cargo xtask TASK`.
//!
//! A task is a list of steps; a step is a command of which the output is shown as it runs. Nothing that a task brings leaves
//! the target folder.

use clap::{Parser, Subcommand};
use std::process::ExitCode;

mod bless;
mod book;
mod bundle;
mod setup;
mod step;
mod test;
mod workspace;

/// Project tasks of tileproof
#[derive(Parser)]
#[command(bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Everything: bring NVRTC and the disassembler, run all tests, lints, the examples, build and check the book
    Test,
    /// Accept what the golden and UI tests now produce, and show what changed
    Bless {
        /// Only the tests whose name contains this
        filter: Option<String>,
    },
    /// Build target/gpu-bundle/: what a host with a GPU but without Rust can run
    GpuBundle {
        /// Only these files of it, such as `record libtileproof_c.so`, which are what measures
        parts: Vec<String>,
    },
    /// On a host with a GPU: every kernel's predicted counts against the profiler's; as `./run.sh parity` of the bundle
    Parity,
    /// Build the book into book/output/ and check its includes and links
    Book {
        /// Leave out the checks
        #[arg(long)]
        render_only: bool,
    },
}

fn main() -> ExitCode {
    let result = match Arguments::parse().task {
        Task::Test => test::run(),
        Task::Bless { filter } => bless::run(filter.as_deref()),
        Task::GpuBundle { parts } => bundle::run(&parts),
        Task::Parity => bundle::parity(),
        Task::Book { render_only } => book::run(render_only),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
