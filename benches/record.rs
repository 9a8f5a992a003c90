//! `record FOLDER [GROUP]…`: measures groups of cases and writes a record of each into the folder, such as
//! `<date>-<gpu>-ceiling-transpose.json`. The groups are copy, transpose, permute, matmul and hierarchy; without any, it is all.
//! `record --cases` prints the cases that programs in other languages are measured on.

use serde::Serialize;
use std::error::Error;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use tileproof::cudarc::driver::CudaStream;
use tileproof::device;
use tileproof_benches::case::{self, Group};
use tileproof_benches::{hierarchy, products, record};
use tileproof_examples::machine::Machine;

/// What is recorded beside the groups of cases: products, and the labs.
const MATMUL: &str = "matmul";
const HIERARCHY: &str = "hierarchy";

fn main() -> ExitCode {
    let names: Vec<&str> = Group::ALL.map(Group::name).into_iter().chain([MATMUL, HIERARCHY]).collect();
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next();
    if folder.as_deref() == Some("--cases") {
        println!("{:#}", case::listed());
        return ExitCode::SUCCESS;
    }
    let mut chosen: Vec<String> = arguments.collect();
    let Some(folder) = folder.filter(|_| chosen.iter().all(|name| names.contains(&name.as_str()))) else {
        eprintln!("usage: record FOLDER [GROUP]…, the groups being {}", names.join(", "));
        return ExitCode::FAILURE;
    };
    if chosen.is_empty() {
        chosen = names.into_iter().map(str::to_owned).collect();
    }
    match run(Path::new(&folder), &chosen) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => {
            eprintln!("error: a result differs from its reference");
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Whether every result equals its reference. Each group is written before the next one is measured.
fn run(folder: &Path, chosen: &[String]) -> Result<bool, Box<dyn Error>> {
    let context = device::context(0)?;
    let machine = Machine::of(&context)?;
    let stream = context.default_stream();
    std::fs::create_dir_all(folder)?;
    let mut right = true;
    for group in Group::ALL.into_iter().filter(|group| chosen.iter().any(|name| name == group.name())) {
        let record = record::measure(&stream, &machine, group)?;
        print!("{record}");
        write(folder, &machine, &format!("ceiling-{}", group.name()), &record)?;
        right &= record.is_right();
    }
    if chosen.iter().any(|name| name == MATMUL) {
        let products = products::measure(&stream, &machine)?;
        print!("{products}");
        write(folder, &machine, MATMUL, &products)?;
        right &= products.is_right();
    }
    if chosen.iter().any(|name| name == HIERARCHY) {
        right &= labs(folder, &machine, &stream)?;
    }
    Ok(right)
}

fn labs(folder: &Path, machine: &Machine, stream: &Arc<CudaStream>) -> Result<bool, Box<dyn Error>> {
    let labs = hierarchy::measure(stream, machine)?;
    print!("{labs}");
    write(folder, machine, HIERARCHY, &labs)?;
    Ok(labs.is_right())
}

fn write(
    folder: &Path,
    machine: &Machine,
    name: &str,
    record: &impl Serialize,
) -> Result<(), Box<dyn Error>> {
    let path = folder.join(machine.file_name(name));
    std::fs::write(&path, serde_json::to_string_pretty(record)? + "\n")?;
    println!("written to {}", path.display());
    Ok(())
}
