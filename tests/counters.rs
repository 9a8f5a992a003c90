//! Predicts, launches and compares the kernels' hardware counters; see [`tileproof_tests::counters`].

use std::process::ExitCode;
use tileproof_examples::kernels::SUBJECTS;

fn main() -> ExitCode {
    tileproof_tests::counters::main(SUBJECTS)
}
