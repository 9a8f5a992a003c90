//! The CUDA text of kernels that were built by hand, as golden files.

mod build;
mod kernels;
mod random;
mod sources;

use expect_test::{expect, expect_file};
use tileproof_compiler::emit::cuda::{CudaFacts, cuda};
use tileproof_compiler::ir::{Axis, Base, BinaryOp, CompareOp, ExprKind, Scalar, UnaryOp};

use build::{Build, E};

#[test]
fn golden_files() {
    for (name, kernel, facts) in kernels::all() {
        let cuda = cuda(&kernel, &facts);
        expect_file![format!("{}/tests/golden/{name}.cu", env!("CARGO_MANIFEST_DIR"))].assert_eq(&cuda.text);
    }
}

#[test]
fn equal_kernels_give_equal_texts() {
    for ((_, a, facts), (_, b, _)) in kernels::all().into_iter().zip(kernels::all()) {
        assert_eq!(cuda(&a, &facts), cuda(&b, &facts));
    }
}

proptest::proptest! {
    /// Whatever the control flow: no panic, and every name that is used is declared before, once, in an open scope.
    #[test]
    fn random_kernels(kernel in random::kernels()) {
        let text = cuda(&kernel, &CudaFacts { trips: vec![Some(8); 3], narrow: true }).text;
        declared(&text);
    }
}

/// Panics if a local is used outside the scope of its declaration, or declared twice.
fn declared(text: &str) {
    let (_, function) = text.split_once("__global__").expect("an entry point");
    let is_local = |word: &str| {
        ["value", "array", "loaded", "either", "k", "copy"]
            .iter()
            .any(|name| word.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('_')))
    };
    let mut scopes: Vec<Vec<&str>> = vec![vec![]];
    for line in function.lines() {
        if line.trim().starts_with('}') && scopes.len() > 1 {
            scopes.pop();
        }
        let words: Vec<&str> = line.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).collect();
        if line.trim_end().ends_with('{') {
            scopes.push(vec![]);
        }
        for (word, before) in words.iter().skip(1).zip(&words) {
            if ["i32", "index_t"].contains(before)
                && is_local(word)
                && line.contains(&format!("{before} {word}"))
            {
                assert!(
                    !scopes.iter().flatten().any(|name| name == word),
                    "{word} is declared twice in\n{text}"
                );
                scopes.last_mut().expect("the function's scope").push(word);
            }
        }
        for word in words.iter().filter(|word| is_local(word)) {
            assert!(scopes.iter().flatten().any(|name| name == word), "{word} is not declared in\n{text}");
        }
    }
}

/// What is left of a range is computed in an unsigned type of the counter's width: C alone would compute it of small types in
/// `int`, where it falls below zero if it wraps.
#[test]
fn a_loop_steps_within_its_type() {
    for (ty, rest) in [
        ("i8", "(u8)(n - j)"),
        ("u8", "n - j"),
        ("i16", "(u16)(n - j)"),
        ("u16", "n - j"),
        ("i32", "(u32)n - (u32)j"),
        ("u32", "n - j"),
        ("i64", "(u64)n - (u64)j"),
        ("u64", "n - j"),
        ("isize", "(index_t)n - (index_t)j"),
    ] {
        let item = format!(
            "fn kernel(n: {ty}, output: &mut Tensor<i32, 1>) {{
                let mut sum = 0;
                for j in (1..n).step_by(3) {{ sum += j as i32; }}
                output[[thread_x()]] = sum;
            }}"
        );
        let text =
            tileproof_compiler::compile("block = [32], grid = [1], requires(output.len() >= 32)", &item)
                .expect("it compiles")
                .cuda;
        let advance = format!("; j = {rest} > 3");
        assert!(text.contains(&advance), "of {ty}: no `{advance}` in\n{text}");
    }
}

/// C compilers warn about a variable that nothing reads.
#[test]
fn what_only_an_empty_loop_reads_is_left_out() {
    let item = "fn kernel(input: &Tensor<f32, 1>, output: &mut Tensor<f32, 1>) {
        let x = thread_x();
        let doubled = input[[x]] * 2.0;
        let mut sum = 0.0;
        for _ in 1..1 {
            sum += doubled;
            output[[x]] = sum;
        }
        output[[x]] = 1.0;
    }";
    let requires = "block = [32], grid = [1], requires(input.len() >= 32, output.len() >= 32)";
    let text = tileproof_compiler::compile(requires, item).expect("it compiles").cuda;
    assert!(!text.contains("doubled") && !text.contains("sum"), "{text}");
}

/// A site is one call of one function, in the order of the source.
#[test]
fn every_site_is_one_call() {
    for (name, kernel, facts) in kernels::all() {
        let text = cuda(&kernel, &facts).text;
        let (_, body) = text.split_once("__global__").expect("an entry point");
        let calls = body.matches("load_").count() + body.matches("store_").count();
        // The loop of `control` that never runs holds a site.
        assert_eq!(calls + usize::from(name == "control"), kernel.sites.len(), "{name}");
    }
}

#[test]
fn lines_come_from_the_source() {
    let mut b = Build::new("k", [32, 1, 1]);
    let output = b.tensor("output", Scalar::F32, 1, true);
    let mut body = vec![];
    b.at("index");
    let x = b.thread(Axis::X);
    let value = b.cast(x, Scalar::F32);
    let value = b.bind(&mut body, "value", value);
    b.at("condition");
    let len = b.extent(output, 0);
    let guard = b.less(x, len);
    b.when(&mut body, guard, |b, body| {
        b.at("write");
        b.store(body, Base::Tensor(output), &[x], value);
    });
    b.kernel.body = body;
    let cuda = cuda(&b.kernel, &CudaFacts { trips: vec![], narrow: true });
    let lines: Vec<&str> = cuda.text.lines().collect();
    let table: Vec<String> = cuda
        .lines
        .iter()
        .map(|(line, span)| format!("{}: {}", b.spans.get(*span).text, lines[*line as usize - 1].trim()))
        .collect();
    expect![[r#"
        index: const f32 value = (f32)thread_x;
        condition: const bool active = thread_x < output_extent0;
        write: store_global_f32(&output[thread_x], value, active);
    "#]]
    .assert_eq(&(table.join("\n") + "\n"));
}

/// Expressions as text, apart from the rest of a kernel.
fn expressions(build: impl FnOnce(&mut Build) -> Vec<E>) -> String {
    let mut b = Build::new("k", [32, 1, 1]);
    let mut body = vec![];
    let output: Vec<_> = build(&mut b)
        .into_iter()
        .map(|value| {
            let scalar = b.kernel.exprs[value].ty.scalar();
            let output = b.tensor("o", scalar, 1, true);
            let x = b.n(0);
            b.store(&mut body, Base::Tensor(output), &[x], value);
        })
        .collect();
    b.kernel.body = body;
    let text = cuda(&b.kernel, &CudaFacts { trips: vec![], narrow: true }).text;
    let calls: Vec<&str> = text.lines().filter_map(|line| line.trim().strip_prefix("store_")).collect();
    assert_eq!(calls.len(), output.len());
    calls
        .iter()
        .filter_map(|call| call.split_once("], ")?.1.strip_suffix(", true);"))
        .map(|value| format!("{value}\n"))
        .collect()
}

#[test]
fn parentheses_and_constants() {
    let text = expressions(|b| {
        let (a, c) = (b.argument("a", Scalar::Usize), b.argument("c", Scalar::Usize));
        let x = b.argument("x", Scalar::F32);
        let p = b.argument("p", Scalar::Bool);
        let (zero, big, one) = (b.n(0), b.n(65536), b.n(1));
        let sum = b.add(a, c);
        let minus = b.scalar(ExprKind::Float(-1.0), Scalar::F32);
        let less = b.less(a, c);
        let either = b.binary(BinaryOp::Or, p, less);
        vec![
            b.binary(BinaryOp::Sub, a, sum),
            b.mul(sum, sum),
            b.and(sum, c),
            b.mul(big, big),
            b.compare(CompareOp::GreaterEqual, a, zero),
            b.less(a, zero),
            b.scalar(ExprKind::Select(p, one, big), Scalar::Usize),
            b.unary(UnaryOp::Negate, minus),
            b.unary(UnaryOp::Not, less),
            b.and(either, p),
            b.binary(BinaryOp::Div, a, zero),
            b.binary(BinaryOp::Shl, a, big),
            b.binary(BinaryOp::Rem, x, x),
            b.int(Scalar::I32, i128::from(i32::MIN)),
        ]
    });
    expect![[r#"
        a - (a + c)
        (a + c) * (a + c)
        (a + c) & c
        (index_t)65536 * 65536
        true
        false
        p ? (index_t)1 : 65536
        -(-1.0f)
        !(a < c)
        (p || a < c) && p
        wrapping_div_usize(a, 0)
        a << 0
        fmodf(x, x)
        (-2147483647 - 1)
    "#]]
    .assert_eq(&text);
}
