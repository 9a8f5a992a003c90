//! From the text of a kernel to what the compiler says about it.

use crate::applied::applied;
use expect_test::Expect;
use proc_macro2::{LineColumn, TokenStream};
use std::fmt::Write;
use std::str::FromStr;
use tileproof_compiler::check::{Checked, check as judge};
use tileproof_compiler::diagnostic::{Diagnostic, Diagnostics, to_text};
use tileproof_compiler::ir::Kernel;
use tileproof_compiler::{ast, compile, expand, facts, lower};
use tileproof_model::report::{Report, Role, SiteReport, Space, Verdict};

/// Compiles a kernel, its attribute included, and compares what comes out: for an accepted one a line for each access, for
/// a refused one its diagnostics, each with the source text that it points to.
#[track_caller]
pub(crate) fn check(source: &str, expected: Expect) {
    expected.assert_eq(&outcome(source));
}

/// A kernel of one warp over vectors of 4,096 elements or more.
pub(crate) fn warp(body: &str) -> String {
    kernel(
        "block = [32], grid = [1], requires(input.len() >= 4096, output.len() >= 4096)",
        "input: &Tensor<f32, 1>, output: &mut Tensor<f32, 1>",
        body,
    )
}

/// A kernel of these arguments, parameters and body.
pub(crate) fn kernel(arguments: &str, parameters: &str, body: &str) -> String {
    format!("#[tiled_kernel({arguments})]\nfn kernel({parameters}) {{\n{body}\n}}")
}

/// The same, with what each barrier of an accepted kernel orders instead of its accesses.
#[track_caller]
pub(crate) fn check_order(source: &str, expected: Expect) {
    expected.assert_eq(&outcome_with(source, order));
}

/// What comes out, as text.
pub(crate) fn outcome(source: &str) -> String {
    outcome_with(source, accepted)
}

/// What comes out, as text; what is said of an accepted kernel is the caller's choice.
fn outcome_with(source: &str, accepted: impl Fn(&Checked) -> String) -> String {
    let mut diagnostics = Diagnostics::default();
    let checked = judged(source, &mut diagnostics);
    let (attribute, item) = split(source);
    let expanded = expand(attribute, item).to_string();
    let complains = expanded.contains("core :: compile_error") || expanded.contains("core :: panic");
    match checked {
        Some(checked) => {
            assert!(!diagnostics.is_failed() && !complains, "an accepted kernel expands without errors");
            accepted(&checked)
        }
        None => {
            assert!(complains, "a refused kernel expands to its errors");
            mends(source, &diagnostics);
            refused(source, &diagnostics)
        }
    }
}

fn judged(source: &str, diagnostics: &mut Diagnostics) -> Option<Checked> {
    let kernel = lowered(source, diagnostics)?;
    let facts = facts::analyse(&kernel);
    judge(kernel, facts, diagnostics)
}

fn lowered(source: &str, diagnostics: &mut Diagnostics) -> Option<Kernel> {
    let (attribute, item) = split(source);
    let family = ast::parse(attribute, item, &ast::Scope::default(), diagnostics)?;
    let ast = family.kernels.into_iter().next()?;
    let kernel = lower::lower(&ast, diagnostics);
    (!diagnostics.is_failed()).then_some(kernel)
}

/// How many pairs of intervals nothing orders, in all runs of the analysis.
#[track_caller]
pub(crate) fn open_pairs(source: &str) -> usize {
    let kernel = lowered(source, &mut Diagnostics::default()).expect("the kernel is well formed");
    let runs = facts::analyse(&kernel).runs;
    runs.iter().flat_map(|run| &run.intervals).map(|interval| interval.open.len()).sum()
}

/// The tokens of the attribute's arguments and of the item under it, with their places in the source.
fn split(source: &str) -> (TokenStream, TokenStream) {
    let mut tokens = TokenStream::from_str(source).expect("the source has matching brackets").into_iter();
    let (hash, brackets) = (tokens.next(), tokens.next());
    assert!(hash.is_some_and(|hash| hash.to_string() == "#"), "the source begins with its attribute");
    let Some(proc_macro2::TokenTree::Group(brackets)) = brackets else { panic!("an attribute has brackets") };
    let arguments = brackets.stream().into_iter().find_map(|token| match token {
        proc_macro2::TokenTree::Group(group) => Some(group.stream()),
        _ => None,
    });
    (arguments.unwrap_or_default(), tokens.collect())
}

fn order(checked: &Checked) -> String {
    let report = checked.report();
    let barriers = report.barriers.iter().map(ToString::to_string);
    let granted = report.trusts.iter().map(|trust| format!("granted: {trust}\n"));
    let text: String = barriers.chain(granted).collect();
    if text.is_empty() { "accepted without a barrier\n".into() } else { text }
}

fn accepted(checked: &Checked) -> String {
    let report = checked.report();
    let mut out = String::new();
    for site in report.sites.iter() {
        let _ = writeln!(out, "{}", row(site));
    }
    if report.shared_bytes > 0 {
        let _ = writeln!(out, "shared: {} bytes", report.shared_bytes);
    }
    for tile in report.tiles.iter() {
        if let Some(chosen) = &tile.chosen {
            let _ = writeln!(out, "`{}`: Auto chose {}: {chosen}", tile.name, tile.ty);
        }
    }
    for check in report.launch_checks.iter() {
        let _ = writeln!(out, "launch: {check}");
    }
    for trust in report.trusts.iter() {
        let _ = writeln!(out, "granted: {trust}");
    }
    out
}

fn row(site: &SiteReport) -> String {
    let verb = match site.role {
        Role::Read => "read",
        Role::Write => "write",
        Role::Update => "update",
    };
    let cost = match site.space {
        Space::Shared => format!("{}/{} wavefronts", site.wavefronts, site.ideal_wavefronts),
        Space::Global => format!("{}/{} sectors", site.sectors, site.ideal_sectors),
    };
    let verb = if site.asynchronous { format!("copy: {verb}") } else { verb.into() };
    let edge = if site.edge { " at the edge" } else { "" };
    let mut out =
        format!("{verb} `{}`{edge}: {} × {} B, {cost}", site.access, site.instructions, site.lane_bytes);
    let excess = site.worst_excess_wavefronts.max(site.worst_excess_sectors);
    if excess > 0 {
        let _ = write!(out, ", worst excess {excess}");
    }
    if !site.calls.is_empty() {
        let _ = write!(out, ", {}", site.calls);
    }
    if !site.also.is_empty() {
        let _ = write!(out, ", again on {:?}", site.also);
    }
    for (what, verdict) in [("cost", &site.cost), ("bounds", &site.bounds), ("alignment", &site.alignment)] {
        match verdict {
            Verdict::Proven => {}
            Verdict::Budgeted(because) => {
                let _ = write!(out, "; {what} budgeted: {because}");
            }
            Verdict::AtLaunch(condition) => {
                let _ = write!(out, "; {what} at launch: {condition}");
            }
            Verdict::Trusted(because) => {
                let _ = write!(out, "; {what} trusted: {because}");
            }
        }
    }
    out
}

fn refused(source: &str, diagnostics: &Diagnostics) -> String {
    let mut out = String::new();
    let mut say = |kind: &str, list: Vec<&Diagnostic>| {
        for diagnostic in list {
            let stretch = diagnostics.spans.get(diagnostic.span);
            let at = slice(source, stretch.start.start(), stretch.end.end());
            let _ = write!(out, "{kind}: {}\n  at `{at}`\n", to_text(diagnostic));
        }
    };
    say("error", diagnostics.errors());
    say("left to rustc", diagnostics.deferred());
    out
}

/// Demands of every help that says what to write where that it mends what it is about.
#[track_caller]
fn mends(source: &str, diagnostics: &Diagnostics) {
    for error in diagnostics.errors() {
        let stretch = diagnostics.spans.get(error.span);
        let place = byte(source, stretch.start.start())..byte(source, stretch.end.end());
        for help in &error.helps {
            let Some(mended) = applied(source, place.clone(), help) else { continue };
            let left = errors(&mended);
            // Behind what kept an access from being judged further there may be more to say of it.
            let told = format!("{} [{}]", error.message, error.code.number());
            assert!(
                left.len() < diagnostics.errors().len() || !left.contains(&told),
                "this help mends nothing: {help}\n{mended}\n{left:#?}"
            );
        }
    }
}

/// The messages of what is wrong with a kernel.
fn errors(source: &str) -> Vec<String> {
    let (attribute, item) = split(source);
    match compile(&attribute.to_string(), &item.to_string()) {
        Ok(_) => Vec::new(),
        Err(text) => {
            let heads = text.split("\n\n").filter_map(|error| error.lines().next()?.split_once(": "));
            heads.map(|(_, head)| head.to_owned()).collect()
        }
    }
}

/// The source between two places, on one line. Spans of the call site, as of an attribute's end, have no text.
fn slice(source: &str, start: LineColumn, end: LineColumn) -> String {
    let text = source.get(byte(source, start)..byte(source, end)).unwrap_or_default();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn byte(source: &str, at: LineColumn) -> usize {
    let line = source.split_inclusive('\n').take(at.line.saturating_sub(1)).map(str::len).sum::<usize>();
    let rest = &source[line..];
    line + rest.char_indices().nth(at.column).map_or(rest.len(), |(byte, _)| byte)
}

/// The access sites of a kernel that must be accepted.
#[track_caller]
pub(crate) fn sites(source: &str) -> Vec<SiteReport> {
    report(source).sites.into_owned()
}

/// The report of a kernel that is accepted, lines counted in this text.
pub(crate) fn report(source: &str) -> Report {
    let mut diagnostics = Diagnostics::default();
    match judged(source, &mut diagnostics) {
        Some(checked) => checked.report().clone(),
        None => panic!("{}\nin\n{source}", refused(source, &diagnostics)),
    }
}
