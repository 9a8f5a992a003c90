//! What a launch evaluates of a kernel, as data: its grid, its contract, and the conditions that the proofs left to it.

use crate::check::{Checked, LaunchCheck, Quantity};
use crate::ir::{BinaryOp, CompareOp, Expr, ExprKind, Handle, Kernel, Param, Scalar, UnaryOp};
use crate::span::SpanTable;
use tileproof_model::host::HostOp;

/// What a launch needs to know of a kernel beside its text and its parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launcher {
    /// The name of the entry point in the CUDA text.
    pub entry: String,
    /// Whether the CUDA text has a twin with 32-bit indices.
    pub narrow: bool,
    /// By parameter: the bytes to which its first element must be aligned; 1 for scalars.
    pub alignments: Vec<u32>,
    /// Blocks of the grid: x, y, z.
    pub grid: [Vec<HostOp>; 3],
    /// What must hold: the contract in order of the source, then what was left to the launch.
    pub conditions: Vec<Condition>,
}

/// A condition that must hold for a launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// A program whose result is 0 (violated) or 1.
    pub program: Vec<HostOp>,
    /// The condition as the source has it.
    pub text: String,
}

/// What a launch needs to know of a kernel that passed its checks and whose text has this entry point.
pub(super) fn launcher(checked: &Checked, entry: &str, spans: &SpanTable) -> Launcher {
    let kernel = checked.kernel();
    let contract = kernel.requires.iter().map(|contract| Condition {
        program: program(kernel, contract.condition),
        text: spans.get(contract.span).text.clone(),
    });
    let settled = checked
        .launch_checks()
        .iter()
        .map(|check| Condition { program: condition(check), text: check.text(kernel) });
    Launcher {
        entry: entry.to_owned(),
        narrow: checked.facts().narrow,
        alignments: checked.base_alignment().to_vec(),
        grid: kernel.grid.map(|extent| program(kernel, extent)),
        conditions: contract.chain(settled).collect(),
    }
}

fn place(param: &Handle<Param>) -> u32 {
    param.index() as u32
}

/// The program of a condition that the compiler left to the launch.
fn condition(check: &LaunchCheck) -> Vec<HostOp> {
    let is_multiple =
        |multiple: u32| [HostOp::Int(multiple.into()), HostOp::Rem, HostOp::Int(0), HostOp::Equal];
    match check {
        LaunchCheck::StrideMultiple { param, dimension, multiple } => {
            let alone = [HostOp::Extent(place(param), *dimension), HostOp::Int(2), HostOp::Less];
            let mut ops = alone.to_vec();
            ops.push(HostOp::Stride(place(param), *dimension));
            ops.extend(is_multiple(*multiple));
            ops.push(HostOp::Or);
            ops
        }
        LaunchCheck::Multiple { terms, constant, multiple } => {
            let mut ops = vec![HostOp::Int((*constant).into())];
            for (quantity, factor) in terms {
                ops.push(match quantity {
                    Quantity::Extent(param, dimension) => HostOp::Extent(place(param), *dimension),
                    Quantity::Stride(param, dimension) => HostOp::Stride(place(param), *dimension),
                    Quantity::Scalar(param) => HostOp::Scalar(place(param)),
                });
                ops.extend([HostOp::Int((*factor).into()), HostOp::Mul, HostOp::Add]);
            }
            ops.extend(is_multiple(*multiple));
            ops
        }
    }
}

/// A host expression as a postfix program.
fn program(kernel: &Kernel, expr: Handle<Expr>) -> Vec<HostOp> {
    let mut ops = Vec::new();
    push(kernel, expr, &mut ops);
    ops
}

fn push(kernel: &Kernel, expr: Handle<Expr>, ops: &mut Vec<HostOp>) {
    let kind = &kernel.exprs[expr].kind;
    // Of `&&` and `||` the right side counts only where the left one does not decide.
    if let ExprKind::Binary(op @ (BinaryOp::And | BinaryOp::Or), a, b) = kind
        && kernel.exprs[expr].ty.scalar() == Scalar::Bool
    {
        push(kernel, *a, ops);
        if *op == BinaryOp::Or {
            ops.push(HostOp::Int(1));
        }
        push(kernel, *b, ops);
        if *op == BinaryOp::And {
            ops.push(HostOp::Int(0));
        }
        ops.push(HostOp::Select);
        return;
    }
    for operand in kind.operands() {
        push(kernel, operand, ops);
    }
    let op = match kind {
        ExprKind::Int(value) => HostOp::Int(*value),
        ExprKind::Bool(value) => HostOp::Int((*value).into()),
        ExprKind::Param(param) => HostOp::Scalar(place(param)),
        ExprKind::Extent(param, dimension) => HostOp::Extent(place(param), *dimension),
        ExprKind::Stride(param, dimension) => HostOp::Stride(place(param), *dimension),
        ExprKind::Unary(UnaryOp::Negate, _) => {
            ops.push(HostOp::Int(-1));
            HostOp::Mul
        }
        ExprKind::Unary(UnaryOp::Not, _) => HostOp::Not,
        ExprKind::Binary(op, ..) => match op {
            BinaryOp::Add => HostOp::Add,
            BinaryOp::Sub => HostOp::Sub,
            BinaryOp::Mul => HostOp::Mul,
            BinaryOp::Div => HostOp::Div,
            BinaryOp::Rem => HostOp::Rem,
            BinaryOp::And => HostOp::And,
            BinaryOp::Or => HostOp::Or,
            BinaryOp::Xor => HostOp::Xor,
            BinaryOp::Shl => HostOp::Shl,
            BinaryOp::Shr => HostOp::Shr,
            BinaryOp::Min => HostOp::Min,
            BinaryOp::Max => HostOp::Max,
            BinaryOp::DivCeil => HostOp::DivCeil,
        },
        ExprKind::Compare(op, ..) => match op {
            CompareOp::Less => HostOp::Less,
            CompareOp::LessEqual => HostOp::LessEqual,
            CompareOp::Greater => HostOp::Greater,
            CompareOp::GreaterEqual => HostOp::GreaterEqual,
            CompareOp::Equal => HostOp::Equal,
            CompareOp::NotEqual => HostOp::NotEqual,
        },
        ExprKind::Select(..) => HostOp::Select,
        // The value is the same mathematical integer; lowering admits only conversions between integer types here.
        ExprKind::Cast(_)
        // Lowering refuses these in a host expression.
        | ExprKind::Float(_)
        | ExprKind::Misalignment(..)
        | ExprKind::Thread(_)
        | ExprKind::Block(_)
        | ExprKind::Grid(_)
        | ExprKind::Local(_)
        | ExprKind::Element(..)
        | ExprKind::Call(..)
        | ExprKind::Lane(..)
        | ExprKind::Vector(_) => return,
    };
    ops.push(op);
}
