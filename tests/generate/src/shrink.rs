//! Makes a kernel that goes wrong as small as it can be and still go wrong.

use crate::print::{Budgets, item};
use crate::tree::{Expr, Kernel, Kind, Range, Stmt, Type};
use crate::value::{Scalar, Value};
use crate::walk::{Node, operands, visit};

/// The smallest kernel that was found for which `fails` still holds, after at most so many attempts. A smaller kernel need not be well
/// formed: what the compiler refuses is none for which something else fails.
pub fn shrink(kernel: &Kernel, attempts: usize, fails: &dyn Fn(&Kernel) -> bool) -> Kernel {
    let mut smallest = kernel.clone();
    let mut left = attempts;
    loop {
        let mut changed = false;
        let mut node = 0;
        while left > 0 {
            let mut edit = 0;
            let exists = loop {
                let mut candidate = smallest.clone();
                match apply(&mut candidate, node, edit) {
                    Applied::NoNode => break false,
                    Applied::NoEdit => break true,
                    Applied::Done => {
                        left -= 1;
                        if fails(&candidate) {
                            smallest = candidate;
                            changed = true;
                        } else {
                            edit += 1;
                        }
                    }
                }
            };
            if !exists {
                break;
            }
            node += 1;
        }
        let without = without_unused(&smallest);
        if fails(&without) {
            smallest = without;
        }
        if !changed || left == 0 {
            return smallest;
        }
    }
}

enum Applied {
    NoNode,
    NoEdit,
    Done,
}

/// Makes one edit of one part, both by their numbers.
fn apply(kernel: &mut Kernel, node: usize, edit: usize) -> Applied {
    let mut number = 0;
    let mut applied = Applied::NoNode;
    visit(kernel, &mut |part| {
        if number < node {
            number += 1;
            return false;
        }
        let done = match part {
            Node::List(list) => smaller_list(list, edit),
            Node::Expr(expr) => smaller_expr(expr, edit),
        };
        applied = if done { Applied::Done } else { Applied::NoEdit };
        true
    });
    applied
}

/// First without each of the statements, from the last one on, then with each replaced by what is in it.
fn smaller_list(list: &mut Vec<Stmt>, edit: usize) -> bool {
    let count = list.len();
    if edit < count {
        list.remove(count - 1 - edit);
        return true;
    }
    let inner = list.iter().enumerate().flat_map(|(place, stmt)| match stmt.clone() {
        Stmt::If { then, otherwise, .. } => vec![(place, then), (place, otherwise)],
        Stmt::While { body, .. } | Stmt::Loop { body } => vec![(place, body)],
        Stmt::For { local, range, body, .. } => {
            let value = match range {
                Range::Up { from, .. } => from,
                Range::Elements(_) => return vec![(place, body)],
                Range::List(values) => {
                    let value = values[0].clone();
                    Expr::of(value.scalar().unwrap_or(Scalar::Usize), Kind::Literal(value))
                }
            };
            let first = Stmt::Let { local, mutable: false, annotated: true, value };
            vec![(place, std::iter::once(first).chain(body).collect())]
        }
        Stmt::Let { .. }
        | Stmt::LetTuple { .. }
        | Stmt::Assign { .. }
        | Stmt::Store { .. }
        | Stmt::Write { .. }
        | Stmt::Atomic { .. }
        | Stmt::Break
        | Stmt::Continue
        | Stmt::Return
        | Stmt::SyncThreads
        | Stmt::SyncWarp
        | Stmt::Whole { .. }
        | Stmt::Commit
        | Stmt::Wait(_)
        | Stmt::Call { .. } => Vec::new(),
    });
    let chosen = inner.collect::<Vec<_>>().into_iter().nth(edit - count);
    match chosen {
        Some((place, inner)) => {
            list.splice(place..=place, inner);
            true
        }
        None => false,
    }
}

/// First one of its parts of the same type, then a literal.
fn smaller_expr(expr: &mut Expr, edit: usize) -> bool {
    if matches!(expr.kind, Kind::Literal(_)) {
        return false;
    }
    let ty = expr.ty.clone();
    let same = operands(expr).into_iter().filter(|operand| operand.ty == ty);
    let mut smaller: Vec<Expr> = same.map(|operand| operand.clone()).collect();
    let literals = |scalar: Scalar| {
        let one = if scalar.is_float() { Value::of_real(scalar, 1.0) } else { Value::of_bits(scalar, 1) };
        [Value::zero(scalar), one].map(|value| Expr::of(scalar, Kind::Literal(value)))
    };
    match ty {
        Type::Scalar(scalar) => smaller.extend(literals(scalar)),
        Type::Vector(scalar, _) | Type::Array(scalar, _) if !matches!(expr.kind, Kind::Repeat(_)) => {
            smaller.extend(
                literals(scalar).map(|value| Expr { ty: expr.ty.clone(), kind: Kind::Repeat(value.into()) }),
            );
        }
        Type::Vector(..) | Type::Array(..) | Type::Tuple(_) => {}
    }
    match smaller.into_iter().nth(edit) {
        Some(chosen) => {
            *expr = chosen;
            true
        }
        None => false,
    }
}

/// Without the last ones of what is declared and nowhere used.
fn without_unused(kernel: &Kernel) -> Kernel {
    let mut kernel = kernel.clone();
    let uses = |kernel: &Kernel, name: String| {
        let text = format!("{} {}", crate::print::attribute(kernel), item(kernel, &Budgets::new()));
        let word = |c: char| c.is_alphanumeric() || c == '_';
        text.match_indices(&name).filter(|(place, _)| !text[place + name.len()..].starts_with(word)).count()
    };
    while !kernel.tiles.is_empty() && uses(&kernel, format!("tile{}", kernel.tiles.len() - 1)) == 1 {
        kernel.tiles.pop();
    }
    while !kernel.helpers.is_empty() && uses(&kernel, format!("h{}", kernel.helpers.len() - 1)) == 1 {
        kernel.helpers.pop();
    }
    while !kernel.constants.is_empty() && uses(&kernel, format!("C{}", kernel.constants.len() - 1)) == 1 {
        kernel.constants.pop();
    }
    while !kernel.tables.is_empty() && uses(&kernel, format!("T{}", kernel.tables.len() - 1)) == 1 {
        kernel.tables.pop();
    }
    while !kernel.arguments.is_empty()
        && uses(&kernel, format!("argument{}", kernel.arguments.len() - 1)) == 1
    {
        kernel.arguments.pop();
    }
    while kernel.tensors.len() > 1 {
        let name = crate::print::tensor_name(&kernel, kernel.tensors.len() - 1);
        let mut without = kernel.clone();
        without.requires.retain(|text| !text.starts_with(&name));
        if uses(&without, name) != 1 {
            break;
        }
        without.tensors.pop();
        kernel = without;
    }
    kernel
}
