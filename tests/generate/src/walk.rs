//! The parts of programs, to be changed in place.

use crate::tree::{Expr, Kernel, Kind, Place, Range, Stmt};

/// A part that can be made smaller.
pub enum Node<'a> {
    /// Statements one after another.
    List(&'a mut Vec<Stmt>),
    /// An expression.
    Expr(&'a mut Expr),
}

/// Shows every part of a kernel, outer ones before their parts, until the visitor has seen enough and says so by `true`.
pub fn visit(kernel: &mut Kernel, visitor: &mut dyn FnMut(Node<'_>) -> bool) -> bool {
    for helper in &mut kernel.helpers {
        if list(&mut helper.body, visitor) {
            return true;
        }
        if let Some(result) = &mut helper.result
            && expression(result, visitor)
        {
            return true;
        }
    }
    list(&mut kernel.body, visitor)
}

fn list(statements: &mut Vec<Stmt>, visitor: &mut dyn FnMut(Node<'_>) -> bool) -> bool {
    visitor(Node::List(statements)) || statements.iter_mut().any(|stmt| statement(stmt, visitor))
}

fn statement(stmt: &mut Stmt, visitor: &mut dyn FnMut(Node<'_>) -> bool) -> bool {
    let (expressions, lists) = parts(stmt);
    expressions.into_iter().any(|expr| expression(expr, visitor))
        || lists.into_iter().any(|statements| list(statements, visitor))
}

/// The expressions in a statement, without those of the statements in it.
pub fn expressions(stmt: &mut Stmt) -> Vec<&mut Expr> {
    parts(stmt).0
}

/// The expressions and the lists of statements in a statement.
pub fn parts(stmt: &mut Stmt) -> (Vec<&mut Expr>, Vec<&mut Vec<Stmt>>) {
    match stmt {
        Stmt::Let { value, .. } | Stmt::LetTuple { value, .. } => (vec![value], Vec::new()),
        Stmt::Assign { place, value, .. } => match place {
            Place::Element(_, index) => (vec![index, value], Vec::new()),
            Place::Local(_) | Place::Field(..) => (vec![value], Vec::new()),
        },
        Stmt::Store { access, value, .. } | Stmt::Write { access, value } => {
            (access.indices.iter_mut().chain([value]).collect(), Vec::new())
        }
        Stmt::Atomic { access, operands, .. } => {
            (access.indices.iter_mut().chain(operands).collect(), Vec::new())
        }
        Stmt::If { condition, then, otherwise } => (vec![condition], vec![then, otherwise]),
        Stmt::For { range, body, .. } => match range {
            Range::Up { from, to, .. } => (vec![from, to], vec![body]),
            Range::List(_) | Range::Elements(_) => (Vec::new(), vec![body]),
        },
        Stmt::While { condition, body } => (vec![condition], vec![body]),
        Stmt::Loop { body } => (Vec::new(), vec![body]),
        Stmt::Whole { parts, origin, .. } => (parts.iter_mut().chain(origin).collect(), Vec::new()),
        Stmt::Call { values, .. } => (values.iter_mut().collect(), Vec::new()),
        Stmt::Break
        | Stmt::Continue
        | Stmt::Return
        | Stmt::SyncThreads
        | Stmt::SyncWarp
        | Stmt::Commit
        | Stmt::Wait(_) => (Vec::new(), Vec::new()),
    }
}

fn expression(expr: &mut Expr, visitor: &mut dyn FnMut(Node<'_>) -> bool) -> bool {
    if visitor(Node::Expr(expr)) {
        return true;
    }
    if let Kind::Block(statements, _) = &mut expr.kind
        && list(statements, visitor)
    {
        return true;
    }
    operands(expr).into_iter().any(|operand| expression(operand, visitor))
}

/// The expressions in an expression; of a block its value alone.
pub fn operands(expr: &mut Expr) -> Vec<&mut Expr> {
    match &mut expr.kind {
        Kind::Literal(_)
        | Kind::Local(_)
        | Kind::Argument(_)
        | Kind::Position(_)
        | Kind::Extent(..)
        | Kind::Constant(_)
        | Kind::Field(..) => Vec::new(),
        Kind::Table(_, a)
        | Kind::Negative(a)
        | Kind::Not(a)
        | Kind::Cast(a)
        | Kind::Bits(a)
        | Kind::Repeat(a)
        | Kind::Element(_, a)
        | Kind::VectorSum(a)
        | Kind::DivCeil(a, _) => vec![a],
        Kind::Binary(_, a, b)
        | Kind::Compare(_, a, b)
        | Kind::And(a, b)
        | Kind::Or(a, b)
        | Kind::Map(a, _, b) => vec![a, b],
        Kind::If(a, b, c) => vec![a, b, c],
        Kind::Match(value, arms) => {
            std::iter::once(&mut **value).chain(arms.iter_mut().map(|(_, arm)| arm)).collect()
        }
        Kind::Block(_, value) => vec![value],
        Kind::Method(_, list)
        | Kind::Tuple(list)
        | Kind::List(list)
        | Kind::Collective(_, list)
        | Kind::Call(_, list)
        | Kind::BytePerm(list) => list.iter_mut().collect(),
        Kind::Load(access) | Kind::Read(access) | Kind::ReadUnaligned(access) | Kind::Contains(access) => {
            access.indices.iter_mut().collect()
        }
        Kind::GetOr(access, default) => access.indices.iter_mut().chain([&mut **default]).collect(),
        Kind::Update(_, access, list) => access.indices.iter_mut().chain(list).collect(),
        Kind::Unflatten(number, extents) | Kind::Rasterize(number, extents, _) => {
            std::iter::once(&mut **number).chain(extents).collect()
        }
        Kind::Flatten(index, extents) => index.iter_mut().chain(extents).collect(),
    }
}
