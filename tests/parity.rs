//! Predicts, launches and compares what the kernels count; see [`tileproof_tests::parity`].

use std::process::ExitCode;
use tileproof_examples::kernels::SUBJECTS;

fn main() -> ExitCode {
    tileproof_tests::parity::main(SUBJECTS)
}
