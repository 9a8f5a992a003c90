//! Every emitted text compiles with NVRTC, for every architecture and in both index widths, without a warning, a spill
//! or a stack.

use std::fmt::Write;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tileproof::{Architecture, Compiled, Error, IndexWidth, Usage};
use tileproof_compiler::ir::{FUNCTIONS, Function, Scalar};
use tileproof_examples::kernels::SUBJECTS;
use tileproof_generate::found::Found;
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
fn the_library() {
    let texts: Vec<Text> = tileproof::kernels::descriptions()
        .into_iter()
        .map(|kernel| (kernel.name.to_owned(), kernel.cuda.to_owned()))
        .collect();
    compiles(&texts);
}

/// What NVRTC may take for a kernel on a slow and busy machine before something is wrong with the text.
const SLOW: Duration = Duration::from_secs(5);

/// Prints how long NVRTC takes for each kernel, the least of three times. Only a far excess fails: time is no property of the
/// text alone.
#[test]
fn compile_time() {
    if needs::nvrtc_dir().is_none() {
        return;
    }
    for subject in SUBJECTS {
        let run = || {
            let start = Instant::now();
            cuda::compile(subject.cuda, Architecture::new(9, 0), IndexWidth::Narrow).expect("it compiles");
            start.elapsed()
        };
        let least = (0..3).map(|_| run()).min().expect("three runs");
        println!("{:<24} {:>6.0} ms", subject.name, least.as_secs_f64() * 1e3);
        assert!(least < SLOW, "{} takes {least:?}", subject.name);
    }
}

#[test]
fn operations_on_whole_tiles() {
    use tileproof_tests::tiles::*;
    let texts = [
        ("transpose_elements", transpose_elements::CUDA_SOURCE),
        ("transpose_vectors", transpose_vectors::CUDA_SOURCE),
        ("transpose_bytes", transpose_bytes::CUDA_SOURCE),
        ("transpose_dynamic", transpose_dynamic::CUDA_SOURCE),
        ("row_sums", row_sums::CUDA_SOURCE),
        ("doubled", doubled::CUDA_SOURCE),
        ("matmul_async", matmul_async::CUDA_SOURCE),
        ("copy_async", copy_async::CUDA_SOURCE),
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

/// Random kernels that went wrong once.
#[test]
fn kernels_that_went_wrong_once() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("generate/found");
    let texts: Vec<Text> = std::fs::read_dir(folder)
        .expect("the folder of the kernels")
        .map(|entry| {
            let path = entry.expect("an entry").path();
            let text = std::fs::read_to_string(&path).expect("text");
            let found: Found = serde_json::from_str(&text).expect("a kernel");
            let compiled = tileproof_compiler::compile(&found.attribute, &found.item.join("\n"));
            (path.display().to_string(), compiled.expect("the compiler accepts it").cuda)
        })
        .collect();
    assert!(!texts.is_empty());
    let problems = problems(&texts, |compiled| !compiled.warnings.is_empty());
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// Every function of the table, for every type that it is of.
#[test]
fn the_functions_of_numbers() {
    let mut texts: Vec<Text> = Scalar::ALL.into_iter().filter_map(functions).collect();
    texts.extend([Scalar::F16, Scalar::Bf16].map(halves));
    assert!(texts.len() > 8);
    let problems = problems(&texts, |compiled| !compiled.warnings.is_empty());
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// A vector of one element is that element in the text, wherever it is made, changed or taken apart.
#[test]
fn vectors_of_one_element() {
    let kernel = |ty: &str| {
        let unaligned =
            if ty == "f32" || ty == "f64" { "total = total + input.read_unaligned::<1>([i]);" } else { "" };
        let item = format!(
            "fn ones_{ty}(input: &Tensor<{ty}, 1>, output: &mut Tensor<{ty}, 1>) {{
                let i = block_x() * 32 + thread_x();
                let mut held = [input.read::<1>([0]); 3];
                let mut total = Vector::<{ty}, 1>::splat(input[[1]]);
                for k in 0..3 {{
                    if i + k < input.len() {{
                        let one = input.read::<1>([i + k]);
                        for j in 0..1 {{
                            held[k][j] = one[j];
                        }}
                    }}
                }}
                if i < output.len() {{
                    total = held[0] + shuffle_xor(held[1], 1) - held[2].map(|x| x * x);
                    {unaligned}
                    total = if total[0] < held[1][0] {{ total }} else {{ held[2] }};
                    output.write([i], Vector::new([total[0]]));
                }}
            }}"
        );
        let attribute = "block = [32], grid = [output.len().div_ceil(32)], requires(input.len() == output.len(), input.len() >= 2, input.len().is_multiple_of(32))";
        match tileproof_compiler::compile(attribute, &item) {
            Ok(compiled) => (ty.to_owned(), compiled.cuda),
            Err(error) => panic!("{item}\n{error}"),
        }
    };
    compiles(&["f32", "f64", "f16", "u32", "i64"].map(kernel));
}

/// Constant tables of every type, with the values that C has no literals for.
#[test]
fn constant_tables() {
    let texts: Vec<Text> = Scalar::ALL.into_iter().map(table).collect();
    compiles(&texts);
}

/// A kernel with a table of a type.
fn table(own: Scalar) -> Text {
    let ty = own.name();
    let (values, sum) = match own {
        Scalar::Bool => (vec!["true".into(), "false".into()], "total += u32::from(TABLE[j]);"),
        _ if own.is_half() => (
            vec![format!("{ty}::MAX"), format!("-{ty}::INFINITY"), format!("{ty}::NAN")],
            "total = TABLE[j].to_f32();",
        ),
        _ if own.is_float() => (
            ["MIN", "MAX", "MIN_POSITIVE", "INFINITY", "NEG_INFINITY", "NAN"]
                .map(|name| format!("{ty}::{name}"))
                .into(),
            "total += TABLE[j];",
        ),
        _ => (vec![format!("{ty}::MIN"), format!("{ty}::MAX"), "1".into()], "total ^= TABLE[j] as i64;"),
    };
    let output = match own {
        Scalar::Bool => "u32",
        _ if own.is_half() => "f32",
        _ if own.is_float() => ty,
        _ => "i64",
    };
    let item = format!(
        "fn table_{ty}(output: &mut Tensor<{output}, 1>) {{
            const TABLE: [{ty}; {0}] = [{1}];
            let i = block_x() * 32 + thread_x();
            if i < output.len() {{
                let j = block_x() % {0};
                let mut total = output[[i]];
                {sum}
                output[[i]] = total;
            }}
        }}",
        values.len(),
        values.join(", ")
    );
    match tileproof_compiler::compile("block = [32], grid = [output.len().div_ceil(32)]", &item) {
        Ok(compiled) => {
            assert!(compiled.cuda.contains("__constant__"), "{}", compiled.cuda);
            (ty.to_owned(), compiled.cuda)
        }
        Err(error) => panic!("{item}\n{error}"),
    }
}

/// A kernel with all functions of a type; `None` for one that no memory holds.
fn functions(own: Scalar) -> Option<Text> {
    if own == Scalar::Bool || own.is_half() {
        return None;
    }
    let memory = if own.is_index() { "i32" } else { own.name() };
    let mut body = String::new();
    for row in FUNCTIONS.iter().filter(|row| row.domain.holds(own)) {
        let operands = row.function.operands(own);
        let cast = |name: &str, to: Scalar| format!("({name} as {})", to.name());
        let first = match row.function {
            Function::FromBits => format!("{}::from_bits({})", own.name(), cast("y[[i]]", operands[0])),
            Function::BytePerm => "byte_perm(a, b, b)".into(),
            _ => {
                let rest: Vec<String> = operands[1..].iter().map(|to| cast("b", *to)).collect();
                format!("a.{}({})", row.name, rest.join(", "))
            }
        };
        let _ = writeln!(body, "total += ({first}) as f64;");
    }
    let item = format!(
        "fn functions_{0}(x: &Tensor<{memory}, 1>, y: &Tensor<u32, 1>, output: &mut Tensor<f64, 1>) {{
            let i = block_x() * 32 + thread_x();
            if i < output.len() {{
                let (a, b) = (x[[i]] as {0}, y[[i]] as {0});
                let mut total = 0.0;
                {body}
                output[[i]] = total;
            }}
        }}",
        own.name()
    );
    let attribute = "block = [32], grid = [output.len().div_ceil(32)], requires(x.len() == output.len(), y.len() == output.len())";
    match tileproof_compiler::compile(attribute, &item) {
        Ok(compiled) => Some((own.name().to_owned(), compiled.cuda)),
        Err(error) => panic!("{item}\n{error}"),
    }
}

/// A kernel with all that there is for a float of 16 bits.
fn halves(own: Scalar) -> Text {
    let ty = own.name();
    let mut body = String::new();
    for row in FUNCTIONS.iter().filter(|row| row.domain.holds(own) && row.function.is_of_halves()) {
        let _ = match row.function {
            Function::FromBits => writeln!(body, "total = {ty}::from_bits(total.to_bits());"),
            Function::ToBits => writeln!(body, "count += total.to_bits() as u32;"),
            _ => {
                let rest = vec!["b"; row.rest.len()].join(", ");
                writeln!(body, "total = total + total.{}({rest});", row.name)
            }
        };
    }
    let item = format!(
        "fn halves_{ty}(x: &Tensor<{ty}, 1>, output: &mut Tensor<{ty}, 1>, scale: {ty}) {{
            let mut tile = Shared::<[{ty}; 256]>::new();
            let i = 8 * (block_x() * 32 + thread_x());
            if i + 8 <= output.len() {{
                let v = x.read::<8>([i]);
                let v = (v * v + v - Vector::<{ty}, 8>::splat(scale) * scale).map(|x| -x / scale);
                let v = v.max(-v).cast::<f32>().cast::<{ty}>();
                let mut count = 0u32;
                let mut total = scale;
                let mut list = [{ty}::ONE; 4];
                for k in 0..8 {{
                    let b = v[k];
                    {body}
                    list[k % 4] = total - b * scale / -total % b;
                    total = if total < b || list[0] == list[1] {{ total.max(b) }} else {{ list[k % 4].min(b) }};
                    total = {ty}::from_f64(total.to_f64()) + {ty}::from_f32(count as f32) + {ty}::from(k as u8);
                }}
                tile.write([8 * thread_x()], Vector::<{ty}, 8>::splat(total));
                output.write([i], tile.read::<8>([8 * thread_x()]));
            }}
        }}"
    );
    let attribute = "block = [32], grid = [output.len().div_ceil(256)], requires(x.len() == output.len(), output.len() % 8 == 0)";
    match tileproof_compiler::compile(attribute, &item) {
        Ok(compiled) => (ty.to_owned(), compiled.cuda),
        Err(error) => panic!("{item}\n{error}"),
    }
}

#[track_caller]
fn compiles(texts: &[Text]) {
    let uses_stack = |usage: &Usage| usage.spill_store_bytes + usage.spill_load_bytes + usage.stack_bytes > 0;
    let problems = problems(texts, |compiled| {
        !compiled.warnings.is_empty() || compiled.usage.as_ref().is_none_or(uses_stack)
    });
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// What is wrong with the texts on each architecture, each in both widths.
fn problems(texts: &[Text], is_wrong: impl Fn(&Compiled) -> bool + Sync) -> Vec<String> {
    if needs::nvrtc_dir().is_none() {
        return Vec::new();
    }
    let next = AtomicUsize::new(0);
    let worker = || -> Vec<String> {
        let mut problems = Vec::new();
        while let Some((name, text)) = texts.get(next.fetch_add(1, Ordering::Relaxed)) {
            for architecture in ARCHITECTURES {
                for width in [IndexWidth::Narrow, IndexWidth::Wide] {
                    let problem = match cuda::compile(text, architecture, width) {
                        Ok(compiled) if is_wrong(&compiled) => {
                            Some(format!("{:?}\n{}", compiled.usage, compiled.log))
                        }
                        Ok(_) | Err(Error::MissingInstruction { .. }) => None,
                        Err(error) => Some(error.to_string()),
                    };
                    problems.extend(problem.map(|it| format!("{name}, {architecture}, {width:?}: {it}")));
                }
            }
        }
        problems
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("a worker")).collect()
    })
}
