//! `record FOLDER [ROWS COLS]…`: measures the transpose ladder beside both copies and writes
//! `<date>-<gpu>-transpose.json` into the folder. Without sizes, it takes two that are multiples of everything, and 8191 × 4097.

use std::error::Error;
use std::path::Path;
use std::process::ExitCode;
use tileproof::device;
use tileproof_benches::record;
use tileproof_examples::machine::Machine;

const SIZES: [usize; 6] = [8192, 8192, 16384, 16384, 8191, 4097];

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next();
    let extents: Result<Vec<usize>, _> = arguments.map(|text| text.parse()).collect();
    let (Some(folder), Ok(mut extents)) = (folder, extents) else { return usage() };
    if extents.is_empty() {
        extents.extend(SIZES);
    }
    let (sizes, []) = extents.as_chunks::<2>() else { return usage() };
    let sizes: Vec<(usize, usize)> = sizes.iter().map(|&[rows, cols]| (rows, cols)).collect();
    match run(Path::new(&folder), &sizes) {
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

fn usage() -> ExitCode {
    eprintln!("usage: record FOLDER [ROWS COLS]…");
    ExitCode::FAILURE
}

/// Whether every result equals its reference.
fn run(folder: &Path, sizes: &[(usize, usize)]) -> Result<bool, Box<dyn Error>> {
    let context = device::context(0)?;
    let machine = Machine::of(&context)?;
    let record = record::transpose(&context.default_stream(), &machine, sizes)?;
    std::fs::create_dir_all(folder)?;
    let path = folder.join(machine.file_name("transpose"));
    std::fs::write(&path, serde_json::to_string_pretty(&record)? + "\n")?;
    print!("{}", record::table(&record));
    println!("written to {}", path.display());
    Ok(record::is_right(&record))
}
