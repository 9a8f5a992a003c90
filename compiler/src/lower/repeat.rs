//! Loops.
//!
//! The IR has two: a counted one that runs up, and one with a condition. Ranges that run down or include their end become
//! arithmetic on the counter of the first; a loop that is left early becomes the second, or goes round idly where its
//! iterations are few and known, so that it can still be unrolled.

use super::flow::{self, Exit, Flow, Target, TargetKind};
use super::{Binding, Lower, Operand, Ty, elements};
use crate::diagnostic::{Code, Diagnostic};
use crate::ir::{self, BinaryOp, Block, CompareOp, ExprKind, Handle, Scalar, Stmt, UnaryOp, Unroll};
use crate::span::SpanId;
use syn::{Expr, Pat};

/// A counted loop with at most so many iterations stays one although it is left early.
const MOST_IDLE: i128 = 64;

/// The values that the variable of a `for` loop takes.
struct Range {
    /// The counter of the loop in the IR takes these.
    start: Handle<ir::Expr>,
    end: Handle<ir::Expr>,
    step: Handle<ir::Expr>,
    /// How the variable follows from it.
    order: Order,
    /// The type of the variable, where the counter has a wider one.
    narrowed: Option<Ty>,
}

/// How the variable of a loop follows from its counter.
#[derive(Clone, Copy)]
enum Order {
    /// It is the counter.
    Up,
    /// It runs down from the last number below the end: `rev()`.
    DownFromEnd,
    /// It runs down from the counter's last value: `step_by(…).rev()`.
    DownFromLast,
}

impl Lower<'_> {
    /// `while condition { … }`.
    pub(super) fn while_loop(&mut self, head: &syn::ExprWhile) {
        let span = self.span(&head.cond);
        self.targets.push(Target::new(TargetKind::Loop, head.label.as_ref()));
        let mut pure = None;
        let body = self.in_flow(|lower| {
            let condition = lower.condition(&head.cond);
            if lower.here().is_first() {
                pure = condition;
                lower.block_items(&head.body);
                return;
            }
            // The condition holds statements: they are executed at the beginning of every iteration.
            let then = lower.in_flow(|lower| lower.block_items(&head.body));
            let otherwise = lower.in_flow(|lower| {
                let target = lower.targets.len() - 1;
                lower.leave_for(target, "done", &head.cond);
            });
            if let Some(condition) = condition {
                lower.push_if(condition, then, otherwise);
            }
        });
        let condition = match pure {
            Some(condition) => condition,
            None => self.bool_expr(ExprKind::Bool(true), span),
        };
        self.finish_loop(condition, body, span);
    }

    /// `loop { … }`, which may have a value.
    pub(super) fn endless_loop(&mut self, head: &syn::ExprLoop) -> Operand {
        let span = self.span(&head.loop_token);
        self.targets.push(Target::new(TargetKind::Loop, head.label.as_ref()));
        let body = self.in_flow(|lower| lower.block_items(&head.body));
        let result = self.targets.last().and_then(|target| target.result.clone());
        let left = self.targets.last().is_some_and(|target| target.leave.is_some());
        if body.1.exits.is_empty() && !self.is_unreachable() {
            self.targets.pop();
            return self.unsupported(
                &head.loop_token,
                "this loop never ends",
                "leave it with `break` or `return`",
            );
        }
        let always = self.bool_expr(ExprKind::Bool(true), span);
        self.finish_loop(always, body, span);
        match result {
            Some(result) => result,
            None if left => Operand::Tuple(Vec::new()),
            None => Operand::Poison,
        }
    }

    /// The exits by which threads leave the loop of the innermost target, whose body this is; it is no target any more.
    fn leave_loop(&mut self, (body, flow): (&mut Block, &Flow)) -> (Option<Exit>, Vec<Exit>) {
        let Some(Target { leave, again, .. }) = self.targets.pop() else { return (None, Vec::new()) };
        let own: Vec<Exit> = leave.into_iter().chain(again).collect();
        self.arrive(&own);
        if let Some(again) = again {
            let clear = self.set_exit(again, false);
            body.insert(0, clear);
        }
        let stops = flow.exits.iter().copied().filter(|exit| Some(*exit) != again).collect();
        (leave, stops)
    }

    /// Adds the loop of the innermost target.
    fn finish_loop(&mut self, condition: Handle<ir::Expr>, body: (Block, Flow), span: SpanId) {
        let (mut body, flow) = body;
        let (leave, stops) = self.leave_loop((&mut body, &flow));
        self.conditional_loop(condition, body, leave, stops, span);
    }

    /// A loop that goes on while the condition holds and none of the exits has been taken.
    fn conditional_loop(
        &mut self,
        mut condition: Handle<ir::Expr>,
        mut body: Block,
        leave: Option<Exit>,
        mut stops: Vec<Exit>,
        span: SpanId,
    ) {
        // `{ if c { break } … }` goes on while `!c`; with another exit, threads take that after the loop.
        let mut afterwards = Vec::new();
        while let Some((leaves, exit, rest)) = leading_exit(&self.kernel, &mut body, &stops) {
            if Some(exit) != leave {
                afterwards.push((condition, exit));
            }
            let stays = self.not(leaves);
            condition = self.both(condition, stays);
            body = rest;
            if !super::build::assigns(&self.kernel, &body, exit) {
                stops.retain(|stop| *stop != exit);
            }
        }
        if !stops.is_empty() {
            let none = self.none_of(&stops);
            condition = self.both(condition, none);
        }
        if let Some(leave) = leave {
            let arriving = self.hold();
            let clear = self.set_exit(leave, false);
            self.push(clear);
            self.release(arriving);
        }
        let outer = self.hold();
        self.release(outer.iter().copied().filter(|exit| stops.contains(exit)).collect());
        self.push(Stmt::While { condition, body, span });
        for (mut others_hold, exit) in afterwards {
            if !stops.is_empty() {
                let none = self.none_of(&stops);
                others_hold = self.both(others_hold, none);
            }
            let gone = self.in_flow(|lower| lower.exit(exit));
            if matches!(self.kernel.exprs[others_hold].kind, ExprKind::Bool(true)) {
                self.splice(gone.0, gone.1, None);
            } else {
                self.push_if(others_hold, gone, Default::default());
            }
        }
    }

    fn not(&mut self, condition: Handle<ir::Expr>) -> Handle<ir::Expr> {
        let (ty, span) = (self.ty(condition), self.kernel.exprs[condition].span);
        if let ExprKind::Unary(UnaryOp::Not, inner) = self.kernel.exprs[condition].kind {
            return inner;
        }
        if let ExprKind::Compare(op, a, b) = self.kernel.exprs[condition].kind
            && self.terms.is_integer(self.ty(a).term)
        {
            return self.expr(ExprKind::Compare(flow::opposite(op), a, b), ty, span);
        }
        self.expr(ExprKind::Unary(UnaryOp::Not, condition), ty, span)
    }

    /// `a && b`.
    fn both(&mut self, a: Handle<ir::Expr>, b: Handle<ir::Expr>) -> Handle<ir::Expr> {
        if matches!(self.kernel.exprs[a].kind, ExprKind::Bool(true)) {
            return b;
        }
        let (ty, span) = (self.ty(a), self.kernel.exprs[a].span);
        self.expr(ExprKind::Binary(BinaryOp::And, a, b), ty, span)
    }

    /// `for variable in range { … }`, `for pattern in array { … }`.
    pub(super) fn for_loop(&mut self, head: &syn::ExprForLoop, unroll: Unroll) {
        let is_array = elements::is_array(&head.expr);
        let variable = match &*head.pat {
            // The elements are what the pattern takes apart; this counts them.
            pattern if is_array => Some(syn::Ident::new("number", syn::spanned::Spanned::span(pattern))),
            Pat::Ident(name) if name.mutability.is_none() && name.by_ref.is_none() => {
                Some(name.ident.clone())
            }
            Pat::Wild(wild) => Some(syn::Ident::new("_unused", wild.underscore_token.span)),
            other => {
                self.unsupported(other, "the variable of a loop is a plain name", "write `for i in 0..n`");
                None
            }
        };
        let (range, elements) = match is_array {
            true => self.loop_elements(&head.expr).map(|(elements, count)| {
                let span = self.span(&head.expr);
                let [start, end, step] =
                    [0, i128::from(count), 1].map(|bound| self.index_literal(bound, span));
                (Range { start, end, step, order: Order::Up, narrowed: None }, Some(elements))
            }),
            false => self.range(&head.expr).map(|range| (range, None)),
        }
        .unzip();
        let elements = elements.flatten();
        self.targets.push(Target::new(TargetKind::Loop, head.label.as_ref()));
        let (Some(name), Some(range)) = (variable, range) else {
            // The body is still read for errors of its own.
            self.in_block(|lower| {
                if let Pat::Ident(_) | Pat::Tuple(_) = &*head.pat {
                    lower.bind_pattern(&head.pat, Operand::Poison);
                }
                lower.block_items(&head.body);
            });
            self.targets.pop();
            return;
        };
        let (span, name_span) = (self.span(&head.expr), self.span(&name));
        let ty = self.ty(range.start);
        let counter = self.local(&name.to_string(), ty, Vec::new(), name_span);
        let (mut body, flow) = self.in_flow(|lower| {
            match &elements {
                Some(elements) => {
                    let number = lower.expr(ExprKind::Local(counter), ty, span);
                    let element = lower.element_at(elements, number);
                    lower.bind_pattern(&head.pat, element);
                }
                None => {
                    let variable = lower.loop_variable(&name, counter, &range);
                    lower.bind(name.to_string(), variable);
                }
            }
            lower.block_items(&head.body);
        });
        let (leave, stops) = self.leave_loop((&mut body, &flow));
        let Range { start, end, step, .. } = range;
        if stops.is_empty() {
            let repeat = ir::Loop { variable: counter, start, end, step, body, unroll, span };
            let handle = self.kernel.loops.add(repeat);
            self.push(Stmt::For(handle));
            return;
        }
        let number = |expr: Handle<ir::Expr>| match self.kernel.exprs[expr].kind {
            ExprKind::Int(value) => Some(value),
            _ => None,
        };
        let few = match (number(start), number(end), number(step)) {
            (Some(start), Some(end), Some(step)) => (end - start) / step <= MOST_IDLE,
            _ => false,
        };
        let steps_by_one = number(step) == Some(1);
        let is_index = self.terms.get(ty.term) == Some(Scalar::Usize);
        if few || unroll == Unroll::Full || !(steps_by_one || is_index) {
            // Counted, and idle once all have left.
            let condition = self.none_of(&stops);
            let body = vec![Stmt::If { condition, then: body, otherwise: Vec::new() }];
            let arriving = self.hold();
            if let Some(leave) = leave {
                let clear = self.set_exit(leave, false);
                self.push(clear);
            }
            self.release(arriving);
            let repeat = ir::Loop { variable: counter, start, end, step, body, unroll, span };
            let handle = self.kernel.loops.add(repeat);
            self.push(Stmt::For(handle));
            return;
        }
        let arriving = self.hold();
        let (end, step) = (self.unchanging("bound", end), self.unchanging("bound", step));
        self.push(Stmt::Assign { local: counter, value: start });
        self.release(arriving);
        let now = self.expr(ExprKind::Local(counter), ty, span);
        let next = self.expr(ExprKind::Binary(BinaryOp::Add, now, step), ty, span);
        let condition = self.bool_expr(ExprKind::Compare(CompareOp::Less, now, end), span);
        // A thread that leaves does not count on; nothing reads its counter again.
        body.push(Stmt::Assign { local: counter, value: next });
        self.conditional_loop(condition, body, leave, stops, span);
    }

    /// What the variable's name stands for in the body.
    fn loop_variable(&mut self, name: &syn::Ident, counter: Handle<ir::Local>, range: &Range) -> Binding {
        let Range { start, end, step, order, narrowed } = *range;
        let (ty, span) = (self.ty(start), self.span(name));
        let now = self.expr(ExprKind::Local(counter), ty, span);
        let operation = |lower: &mut Self, op, a, b| lower.folded(op, a, b, ty, span);
        let one = self.expr(ExprKind::Int(1), ty, span);
        let value = match order {
            Order::Up => now,
            Order::DownFromEnd | Order::DownFromLast => {
                // Inside the loop the start is below the end, so nothing here falls below zero.
                let last = operation(self, BinaryOp::Sub, end, one);
                let last = match order {
                    Order::DownFromLast => {
                        let distance = operation(self, BinaryOp::Sub, last, start);
                        let reached = self.whole_steps(distance, step, ty, span);
                        operation(self, BinaryOp::Add, start, reached)
                    }
                    Order::Up | Order::DownFromEnd => last,
                };
                let distance = operation(self, BinaryOp::Sub, now, start);
                operation(self, BinaryOp::Sub, last, distance)
            }
        };
        let value = match narrowed {
            Some(ty) => self.expr(ExprKind::Cast(value), ty, span),
            None => value,
        };
        match self.kernel.exprs[value].kind {
            ExprKind::Local(local) => Binding::Local(local),
            _ => self.store_away(name, Operand::Value(value)),
        }
    }

    /// The largest multiple of the step up to a distance. Between numbers of a signed type the distance may be one that only the
    /// unsigned type of its width holds.
    fn whole_steps(
        &mut self,
        distance: Handle<ir::Expr>,
        step: Handle<ir::Expr>,
        ty: Ty,
        span: SpanId,
    ) -> Handle<ir::Expr> {
        let unsigned = match self.terms.get(ty.term) {
            Some(Scalar::I8) => Some(Scalar::U8),
            Some(Scalar::I16) => Some(Scalar::U16),
            Some(Scalar::I32) => Some(Scalar::U32),
            Some(Scalar::I64) => Some(Scalar::U64),
            _ => None,
        };
        let is_literal = matches!(self.kernel.exprs[distance].kind, ExprKind::Int(_));
        let own = match unsigned.filter(|_| !is_literal) {
            Some(unsigned) => Ty::scalar(self.terms.known(unsigned)),
            None => ty,
        };
        let (distance, step) = match own.term == ty.term {
            true => (distance, step),
            false => (self.widened(distance, own, span), self.widened(step, own, span)),
        };
        let whole = self.folded(BinaryOp::Div, distance, step, own, span);
        let reached = self.folded(BinaryOp::Mul, whole, step, own, span);
        if own.term == ty.term { reached } else { self.expr(ExprKind::Cast(reached), ty, span) }
    }

    /// Arithmetic of one type, computed here if both sides are literals.
    fn folded(
        &mut self,
        op: BinaryOp,
        a: Handle<ir::Expr>,
        b: Handle<ir::Expr>,
        ty: Ty,
        span: SpanId,
    ) -> Handle<ir::Expr> {
        match (&self.kernel.exprs[a].kind, &self.kernel.exprs[b].kind, op) {
            (ExprKind::Int(0), _, BinaryOp::Add) => b,
            (_, ExprKind::Int(0), BinaryOp::Add | BinaryOp::Sub) => a,
            (_, ExprKind::Int(1), BinaryOp::Mul | BinaryOp::Div) => a,
            (ExprKind::Int(x), ExprKind::Int(y), _) => {
                let value = super::operator::fold(op, *x, *y);
                let kind = value.map_or(ExprKind::Binary(op, a, b), ExprKind::Int);
                self.expr(kind, ty, span)
            }
            _ => self.expr(ExprKind::Binary(op, a, b), ty, span),
        }
    }

    /// `a..b`, `a..=b`, and those with `.step_by(s)` and `.rev()`.
    fn range(&mut self, expr: &Expr) -> Option<Range> {
        match expr {
            Expr::Paren(inner) => self.range(&inner.expr),
            Expr::Group(inner) => self.range(&inner.expr),
            Expr::Range(syn::ExprRange { start: Some(start), end: Some(end), limits, .. }) => {
                let first = self.value(start, None);
                let (hint, place) = (first.map(|first| self.ty(first)), self.here());
                let last = self.value(end, hint);
                let (first, last) = (self.as_at(place, first?), last?);
                let (a, b) = (self.ty(first), self.ty(last));
                let integers = self.terms.unify(a.term, b.term) && self.terms.is_integer(a.term);
                if !integers || a.vector.is_some() || b.vector.is_some() {
                    self.mismatch(expr);
                    return None;
                }
                let span = self.span(expr);
                match limits {
                    syn::RangeLimits::HalfOpen(_) => {
                        let step = self.expr(ExprKind::Int(1), a, span);
                        Some(Range { start: first, end: last, step, order: Order::Up, narrowed: None })
                    }
                    syn::RangeLimits::Closed(_) => self.closed_range(first, last, a, span, expr),
                }
            }
            Expr::MethodCall(call) if call.method == "step_by" && call.args.len() == 1 => {
                let range = self.range(&call.receiver)?;
                self.stepped(range, call)
            }
            Expr::MethodCall(call) if call.method == "rev" && call.args.is_empty() => {
                let range = self.range(&call.receiver)?;
                let by_one = matches!(self.kernel.exprs[range.step].kind, ExprKind::Int(1));
                let order = match (range.order, by_one) {
                    (Order::Up, true) => Order::DownFromEnd,
                    (Order::Up, false) => Order::DownFromLast,
                    (Order::DownFromEnd, true) | (Order::DownFromLast, _) => Order::Up,
                    (Order::DownFromEnd, false) => {
                        self.unsupported(
                            expr,
                            "a range that is reversed, stepped and reversed again",
                            "write the numbers that it runs over",
                        );
                        return None;
                    }
                };
                Some(Range { order, ..range })
            }
            _ => {
                self.no_head(expr);
                None
            }
        }
    }

    /// What a loop runs over is neither a range nor an array.
    pub(super) fn no_head(&mut self, head: &Expr) -> Operand {
        self.unsupported(
            head,
            "a kernel's `for` runs over a range or an array",
            "write `for i in start..end`, with `..=`, `.step_by(step)` and `.rev()` as needed, or `for x in [16, 8, 4]`",
        )
    }

    /// `a..=b`, as a range that ends before the number after `b`. Where that may not fit the type, the counter has a wider
    /// one.
    fn closed_range(
        &mut self,
        start: Handle<ir::Expr>,
        last: Handle<ir::Expr>,
        ty: Ty,
        span: SpanId,
        at: &Expr,
    ) -> Option<Range> {
        let known = self.terms.get(ty.term);
        let literal = match self.kernel.exprs[last].kind {
            ExprKind::Int(value) => Some(value),
            _ => None,
        };
        let fits = match (literal, known.and_then(Scalar::range)) {
            (Some(value), Some((_, most))) => value < most,
            // A literal of a type that is not known yet: this fits all of them.
            (Some(value), None) => value < i128::from(i8::MAX),
            // Of indices, what the end is made of must be proven to fit.
            (None, _) => known.is_some_and(Scalar::is_index),
        };
        let wide = Ty::scalar(self.terms.known(Scalar::I64));
        let (start, last, own) = if fits {
            (start, last, ty)
        } else {
            let literals = matches!(self.kernel.exprs[start].kind, ExprKind::Int(_))
                && literal.is_some_and(|value| value < i128::from(i64::MAX));
            if !(known.is_some_and(|scalar| scalar.bytes() < 8) || literals) {
                self.unsupported(
                    at,
                    "a range that includes its end, which may be the largest number of its type",
                    "write `start..end + 1` if that fits, or give the numbers a type of at most 32 bits, or `usize`",
                );
                return None;
            }
            (self.widened(start, wide, span), self.widened(last, wide, span), wide)
        };
        let one = self.expr(ExprKind::Int(1), own, span);
        let end = self.folded(BinaryOp::Add, last, one, own, span);
        Some(Range { start, end, step: one, order: Order::Up, narrowed: (!fits).then_some(ty) })
    }

    fn widened(&mut self, value: Handle<ir::Expr>, ty: Ty, span: SpanId) -> Handle<ir::Expr> {
        let kind = match self.kernel.exprs[value].kind {
            ExprKind::Int(value) => ExprKind::Int(value),
            _ => ExprKind::Cast(value),
        };
        self.expr(kind, ty, span)
    }

    /// `range.step_by(s)`.
    fn stepped(&mut self, range: Range, call: &syn::ExprMethodCall) -> Option<Range> {
        let Range { start, end, step: before, order, narrowed } = range;
        let place = self.here();
        let step = self.index_value(&call.args[0])?;
        let (before, end) = (self.as_at(place, before), self.as_at(place, end));
        let start = self.as_at(place, start);
        if let ExprKind::Int(value) = self.kernel.exprs[step].kind
            && value <= 0
        {
            let span = self.span(&call.args[0]);
            self.diagnostics.report(
                Diagnostic::new(Code::Constant, span, "a loop with a step of 0 never ends")
                    .help("write a step of at least 1"),
            );
            return None;
        }
        let (mut ty, span) = (self.ty(start), self.span(&call.args[0]));
        let (mut start, mut end, mut narrowed) = (start, end, narrowed);
        // A step that the type does not hold is counted in a wider one.
        let numbers = [step, before].map(|step| match self.kernel.exprs[step].kind {
            ExprKind::Int(value) => Some(value),
            _ => None,
        });
        if let ([Some(step), Some(before)], Some(scalar)) = (numbers, self.terms.get(ty.term))
            && scalar.bytes() < 8
            && scalar.range().is_some_and(|(_, most)| step.saturating_mul(before) > most)
        {
            let wide = Ty::scalar(self.terms.known(Scalar::I64));
            narrowed = narrowed.or(Some(ty));
            (start, end, ty) = (self.widened(start, wide, span), self.widened(end, wide, span), wide);
        }
        let step = match self.kernel.exprs[step].kind {
            ExprKind::Int(value) => self.expr(ExprKind::Int(value), ty, span),
            _ if self.terms.get(ty.term) == Some(Scalar::Usize) => step,
            _ => self.expr(ExprKind::Cast(step), ty, span),
        };
        let step = self.folded(BinaryOp::Mul, step, before, ty, span);
        Some(Range { start, end, step, order, narrowed })
    }
}

/// Where a body is one `if` whose first side does nothing but take one of these exits: the condition, the exit, and the
/// other side.
fn leading_exit(
    kernel: &ir::Kernel,
    body: &mut Block,
    exits: &[Exit],
) -> Option<(Handle<ir::Expr>, Exit, Block)> {
    let [Stmt::If { condition, then, otherwise }] = body.as_mut_slice() else { return None };
    let [Stmt::Assign { local, value }] = then.as_slice() else { return None };
    let leaves = exits.contains(local) && matches!(kernel.exprs[*value].kind, ExprKind::Bool(true));
    leaves.then(|| (*condition, *local, std::mem::take(otherwise)))
}
