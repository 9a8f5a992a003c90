//! Every emitted text compiles with NVRTC, for every architecture and in both index widths, without a warning, a spill
//! or a stack.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use tileproof::{Architecture, IndexWidth};
use tileproof_examples::kernels::SUBJECTS;
use tileproof_tests::{cuda, needs};

const ARCHITECTURES: [Architecture; 7] = [
    Architecture::new(7, 5),
    Architecture::new(8, 0),
    Architecture::new(8, 6),
    Architecture::new(8, 9),
    Architecture::new(9, 0),
    Architecture::new(10, 0),
    Architecture::new(12, 0),
];

/// A text with its name.
type Text = (String, String);

#[test]
fn the_kernels() {
    let texts: Vec<Text> =
        SUBJECTS.iter().map(|subject| (subject.name.to_owned(), subject.cuda.to_owned())).collect();
    compiles(&texts);
}

#[test]
fn operations_on_whole_tiles() {
    use tileproof_tests::tiles::*;
    let texts = [
        ("transpose_elements", transpose_elements::CUDA_SOURCE),
        ("transpose_vectors", transpose_vectors::CUDA_SOURCE),
        ("transpose_bytes", transpose_bytes::CUDA_SOURCE),
        ("row_sums", row_sums::CUDA_SOURCE),
        ("doubled", doubled::CUDA_SOURCE),
    ];
    compiles(&texts.map(|(name, text)| (name.to_owned(), text.to_owned())));
}

/// The kernels that the compiler's own tests build by hand, with constructs that the examples have not.
#[test]
fn the_golden_texts_of_the_compiler() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../compiler/tests/golden");
    let texts: Vec<Text> = std::fs::read_dir(folder)
        .expect("the compiler's golden files")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "cu"))
        .map(|path| (path.display().to_string(), std::fs::read_to_string(&path).expect("text")))
        .collect();
    assert!(!texts.is_empty());
    compiles(&texts);
}

#[track_caller]
fn compiles(texts: &[Text]) {
    if needs::nvrtc_dir().is_none() {
        return;
    }
    let next = AtomicUsize::new(0);
    let worker = || -> Vec<String> {
        let mut problems = Vec::new();
        while let Some((name, text)) = texts.get(next.fetch_add(1, Ordering::Relaxed)) {
            for architecture in ARCHITECTURES {
                for width in [IndexWidth::Narrow, IndexWidth::Wide] {
                    let problem = problem(text, architecture, width);
                    problems.extend(problem.map(|it| format!("{name}, {architecture}, {width:?}: {it}")));
                }
            }
        }
        problems
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let problems: Vec<String> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("a worker")).collect()
    });
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// What is wrong with the text on an architecture.
fn problem(text: &str, architecture: Architecture, width: IndexWidth) -> Option<String> {
    let compiled = match cuda::compile(text, architecture, width) {
        Ok(compiled) => compiled,
        Err(error) => return Some(error.to_string()),
    };
    if !compiled.warnings.is_empty() {
        return Some(compiled.log);
    }
    match compiled.usage {
        None => Some(format!("the log does not say what the kernel uses\n{}", compiled.log)),
        Some(usage) if usage.spill_store_bytes + usage.spill_load_bytes + usage.stack_bytes > 0 => {
            Some(format!("{usage:?}"))
        }
        Some(_) => None,
    }
}
