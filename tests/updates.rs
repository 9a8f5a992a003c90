//! What the report says of an atomic update is what ptxas makes of it: which lanes execute it, and by which instruction.
//!
//! Each kernel has one warp, all of whose lanes update one element, so the count of the report tells how many of them
//! access memory.

use tileproof::report::{Role, SiteReport};
use tileproof::{Architecture, IndexWidth};
use tileproof_compiler::compile;
use tileproof_tests::{cuda, needs, sass};

/// One update.
#[derive(Clone, Copy, Debug)]
struct Update {
    op: &'static str,
    element: &'static str,
    is_shared: bool,
    /// The operand: a constant, or what differs from lane to lane.
    operand: &'static str,
    /// The index of the element.
    index: &'static str,
    is_used: bool,
}

/// What machine code does.
#[derive(Debug, PartialEq)]
struct Found {
    /// Whether lanes are combined before they access memory.
    combines: bool,
    form: Form,
}

#[derive(Debug, PartialEq)]
enum Form {
    Instruction,
    Count,
    Compare,
    Loop,
}

fn source(update: Update, budget: &str) -> String {
    let Update { op, element, is_shared, operand, index, is_used } = update;
    let (object, by) = if is_shared { ("tile", element) } else { ("sums", element) };
    let operands = match op {
        "compare_exchange" => format!("7 as {by}, {operand} as {by}"),
        _ => format!("{operand} as {by}"),
    };
    let call = format!("{object}.atomic_{op}([{index}], {operands})");
    let (statement, after) = match is_used {
        true => (format!("let old = {call};"), "output[[thread_x()]] = old;"),
        false => (format!("{call};"), ""),
    };
    format!(
        "fn update(n: usize, input: &Tensor<i32, 1>, sums: &mut Tensor<{element}, 1>, output: &mut Tensor<{element}, 1>) {{
    let mut tile = Shared::<[{element}; 32]>::new();
    tile[thread_x()] = 0 as {element};
    sync_threads();
    {budget}
    {statement}
    {after}
}}"
    )
}

/// The report's row, and the CUDA text.
fn compiled(update: Update) -> (SiteReport, String) {
    let attribute =
        "block = [32], grid = [1], requires(sums.len() >= 32, output.len() >= 32, input.len() >= 32, n < 32)";
    let result = compile(attribute, &source(update, "")).or_else(|errors| {
        let (_, budget) = errors.split_once("`#[budget(").unwrap_or_else(|| panic!("{update:?}\n{errors}"));
        let (budget, _) = budget.split_once('`').expect("the end of the budget");
        compile(attribute, &source(update, &format!("#[budget({budget}")))
    });
    let compiled = result.unwrap_or_else(|errors| panic!("{update:?}\n{errors}"));
    let mut sites = compiled.report.sites.iter().filter(|site| site.role == Role::Update);
    (sites.next().expect("the update").clone(), compiled.cuda.clone())
}

fn in_machine_code(text: &str) -> Option<Found> {
    let (Some(_), Some(nvdisasm)) = (needs::nvrtc_dir(), needs::nvdisasm()) else { return None };
    let compiled = cuda::compile(text, Architecture::new(9, 0), IndexWidth::Narrow).expect("a cubin");
    let sass = sass::disassemble(&nvdisasm, &compiled.cubin).expect("machine code");
    let has = |word: &str| sass.contains(word);
    let form = match () {
        () if has("ATOMS.POPC.INC") => Form::Count,
        () if has("ATOMS.CAST.SPIN") => Form::Loop,
        () if has("ATOMS.CAS") => Form::Compare,
        () => Form::Instruction,
    };
    Some(Found { combines: has("VOTE") || has("REDUX"), form })
}

/// What the row says. A lane alone in a loop takes a load and the two wavefronts of an exchange.
fn in_report(update: Update, site: &SiteReport) -> Found {
    let count = if update.is_shared { site.wavefronts } else { site.sectors };
    let (combines, form) = match (update.is_shared, update.element, count) {
        (true, "u32", 1) if update.operand == "1" && update.op == "add" && !update.is_used => {
            (false, Form::Count)
        }
        (_, _, 1) => (true, Form::Instruction),
        (_, _, 32) => (false, Form::Instruction),
        (true, _, 3) => (true, Form::Loop),
        (true, "f32", 96) | (true, _, 128) => (false, Form::Loop),
        (true, _, 64) => (false, Form::Compare),
        _ => panic!("{update:?}: {site}"),
    };
    Found { combines, form }
}

fn check(update: Update) {
    let (site, text) = compiled(update);
    let reported = in_report(update, &site);
    if let Some(found) = in_machine_code(&text) {
        assert_eq!(reported, found, "{update:?}\n{text}");
    }
}

#[test]
fn ptxas_combines_the_lanes_that_the_report_says() {
    let every = [("1", false), ("1", true), ("thread_x()", false), ("thread_x()", true), ("n", false)];
    let some = [("1", false), ("thread_x()", true)];
    for (is_shared, op, element, operands) in [
        (true, "add", "i32", &every[..]),
        (true, "add", "u32", &every),
        (true, "add", "u64", &every),
        (true, "add", "f32", &some),
        (true, "min", "u32", &some),
        (true, "min", "i64", &some[..1]),
        (true, "xor", "i32", &every[2..3]),
        (true, "exchange", "u64", &some[..1]),
        (true, "compare_exchange", "u32", &some[..1]),
        (false, "add", "i32", &every),
        (false, "add", "u64", &every[1..3]),
        (false, "add", "f32", &some[..1]),
        (false, "max", "i32", &some),
        (false, "exchange", "u32", &some[..1]),
        (false, "compare_exchange", "u64", &some[..1]),
    ] {
        for &(operand, is_used) in operands {
            check(Update { op, element, is_shared, operand, index: "0", is_used });
        }
    }
}

#[test]
fn ptxas_sees_that_the_index_is_the_same_for_all_lanes() {
    for index in [
        "n",
        "block_x()",
        "n / 2 + block_x() % 2",
        "if n > 3 { 5 } else { block_x() }",
        "thread_x() / 32",
        "thread_x() / 1024",
    ] {
        check(Update {
            op: "add",
            element: "i32",
            is_shared: true,
            operand: "thread_x()",
            index,
            is_used: false,
        });
    }
}
