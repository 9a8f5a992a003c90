//! What is missing of a bound: what is known instead, and what made it unknown.

use crate::diagnostic::Diagnostics;
use crate::facts::{Linear, Run, Wrap};
use crate::ir::{BinaryOp, Kernel};

/// How far what is known of an index may be from what is needed, to be worth telling.
const MOST: i64 = 1 << 10;

/// The inequality that is known, where it says less by a number: of `row + 3 < rows`, `row < rows`; of `n < 32`, `n < 40`.
/// `above` is what should not be negative.
pub(super) fn known(
    above: &Linear,
    (reach, limit): (&str, &str),
    holds: impl Fn(&Linear) -> bool,
) -> Option<String> {
    let number = |text: &str| text.parse::<i64>().ok();
    let (text, added) =
        reach.rsplit_once(" + ").and_then(|(text, added)| Some((text, number(added)?))).unwrap_or((reach, 0));
    // Beyond an extent that has a name, the grid alone may say as much.
    let (least, most) = match number(limit) {
        Some(_) => (1, MOST.max(added)),
        None => (1, added),
    };
    let enough = |by: i64| above.offset(by).is_some_and(|room| holds(&room));
    if most < least || !enough(most) {
        return None;
    }
    let (mut low, mut high) = (least, most);
    while low < high {
        let middle = (low + high) / 2;
        if enough(middle) { high = middle } else { low = middle + 1 }
    }
    Some(match (added - low, number(limit)) {
        (0, _) => format!("{text} < {limit}"),
        (rest @ 1.., _) => format!("{text} + {rest} < {limit}"),
        (rest, Some(limit)) => format!("{text} < {}", limit - rest),
        (_, None) => return None,
    })
}

/// The arithmetic that may wrap and that a form depends on.
pub(super) fn wrap<'a>(run: &'a Run, form: &Linear) -> Option<&'a Wrap> {
    run.wraps.iter().find(|wrap| form.terms.iter().any(|(symbol, _)| *symbol == wrap.symbol))
}

/// That it may wrap, and the same in numbers that do not, where there is such.
pub(super) fn widened(kernel: &Kernel, wrap: &Wrap, diagnostics: &Diagnostics) -> (String, Option<String>) {
    let text = |span| diagnostics.spans.get(span).text.as_str();
    let note = format!("`{}` is computed in `{}`, and may wrap", text(wrap.span), wrap.scalar.name());
    let operator = match wrap.op {
        BinaryOp::Add => "+",
        BinaryOp::Mul => "*",
        BinaryOp::Sub
        | BinaryOp::Div
        | BinaryOp::Rem
        | BinaryOp::And
        | BinaryOp::Or
        | BinaryOp::Xor
        | BinaryOp::Shl
        | BinaryOp::Shr
        | BinaryOp::Min
        | BinaryOp::Max
        | BinaryOp::DivCeil => return (note, None),
    };
    let [a, b] = wrap.operands.map(|operand| {
        let text = text(kernel.exprs[operand].span);
        if text.contains(' ') { format!("({text}) as usize") } else { format!("{text} as usize") }
    });
    (note, Some(format!("widen the operands instead: `{a} {operator} {b}`")))
}
