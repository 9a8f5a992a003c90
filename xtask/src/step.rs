//! Steps: named commands, run one after another, with their times and results.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// What became of a step.
pub(crate) struct Step {
    pub(crate) name: &'static str,
    pub(crate) time: Duration,
    /// Why it failed.
    pub(crate) result: Result<(), String>,
}

/// Runs a step, after a line that says so.
pub(crate) fn step(name: &'static str, action: impl FnOnce() -> Result<(), String>) -> Step {
    println!("\n==> {name}");
    let start = Instant::now();
    let result = action();
    if let Err(error) = &result {
        eprintln!("error: {name}: {error}");
    }
    Step { name, time: start.elapsed(), result }
}

/// Prints a table of the steps.
///
/// # Errors
/// If one of them failed; the sentence names those that did.
pub(crate) fn summary(steps: &[Step]) -> Result<(), String> {
    println!();
    for step in steps {
        let verdict = if step.result.is_ok() { "ok" } else { "FAILED" };
        println!("{:<7}{:>7.1} s  {}", verdict, step.time.as_secs_f64(), step.name);
    }
    let failed: Vec<&str> = steps.iter().filter(|s| s.result.is_err()).map(|s| s.name).collect();
    if failed.is_empty() { Ok(()) } else { Err(format!("failed: {}", failed.join(", "))) }
}

/// Runs a command to its end, its output shown as it comes.
///
/// # Errors
/// If it cannot start or does not succeed.
pub(crate) fn run(mut command: Command) -> Result<(), String> {
    let status = command.status().map_err(|error| cannot_start(&command, &error))?;
    succeeded(&command, status)
}

/// Runs a command to its end, its output shown as it comes and handed back: both streams, in the order of their lines.
///
/// # Errors
/// If it cannot start. Whether it succeeded is the second part of the answer.
pub(crate) fn run_and_keep(mut command: Command) -> Result<(Vec<String>, Result<(), String>), String> {
    let pipe = |error| format!("cannot open a pipe: {error}");
    let (reader, writer) = std::io::pipe().map_err(pipe)?;
    command.stdout(writer.try_clone().map_err(pipe)?).stderr(writer).stdin(Stdio::null());
    let mut child = command.spawn().map_err(|error| cannot_start(&command, &error))?;
    // Unless our ends of the pipe close, reading it would never end.
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut lines = Vec::new();
    for line in BufReader::new(reader).split(b'\n') {
        let line = line.map_err(|error| format!("cannot read the output of {command:?}: {error}"))?;
        let line = String::from_utf8_lossy(&line).into_owned();
        let mut out = std::io::stdout().lock();
        writeln!(out, "{line}").map_err(|error| format!("cannot write to standard output: {error}"))?;
        lines.push(line);
    }
    let status = child.wait().map_err(|error| format!("cannot wait for {command:?}: {error}"))?;
    Ok((lines, succeeded(&command, status)))
}

/// Runs a command that answers on standard output.
///
/// # Errors
/// If it cannot start or does not succeed.
pub(crate) fn answer(mut command: Command) -> Result<String, String> {
    let output = command.stderr(Stdio::inherit()).output().map_err(|error| cannot_start(&command, &error))?;
    succeeded(&command, output.status)?;
    Ok(String::from_utf8_lossy(&output.stdout).trim_end().to_owned())
}

fn cannot_start(command: &Command, error: &std::io::Error) -> String {
    format!("cannot start {}: {error}", shown(command))
}

fn succeeded(command: &Command, status: ExitStatus) -> Result<(), String> {
    if status.success() { Ok(()) } else { Err(format!("`{}` ended with {status}", shown(command))) }
}

/// The command line without its environment.
fn shown(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn both_streams_are_kept_in_order_and_failure_is_told() {
        let mut command = Command::new("sh");
        command.args(["-c", "echo one; echo two >&2; echo three; exit 3"]);
        let (lines, result) = run_and_keep(command).unwrap();
        assert_eq!(lines, ["one", "two", "three"]);
        assert!(result.unwrap_err().contains("exit status: 3"));
    }

    #[test]
    fn a_program_that_is_not_there_is_named() {
        let error = run(Command::new("no-such-program-at-all")).unwrap_err();
        assert!(error.starts_with("cannot start no-such-program-at-all"), "{error}");
    }

    #[test]
    fn a_failed_step_fails_the_summary_by_name() {
        let steps = [step("first", || Ok(())), step("second", || Err("broken".into()))];
        assert_eq!(summary(&steps), Err("failed: second".into()));
    }
}
