//! Exits: `break`, `continue` and `return`, in an IR that has none of them.
//!
//! Every target of an exit has a variable that says whether a thread has left for it; an exit sets it. What stands after a
//! statement in which a thread may have exited is for the threads that have not: where one side of an `if` always exits
//! and the other never does, it becomes the end of the other side, so that the condition holds in it like in any branch;
//! elsewhere it goes under a condition on the variables. A loop also ends for the threads that have left it. Variables
//! that nothing reads in the end are taken out again.
//!
//! Lowering pushes statements and need not know: a [`Frame`] holds back, after a statement with exits, what is pushed next,
//! as the *continuation*, and puts it into its place when the block is complete.

use super::{Lower, Scope, Ty};
use crate::ir::{BinaryOp, Block, CompareOp, Expr, ExprKind, Handle, Kernel, Local, Scalar, Stmt, UnaryOp};
use crate::span::SpanId;

/// The variable that says whether a thread has left for a target.
pub(super) type Exit = Handle<Local>;

/// Where statements can be added: which list, and how many it holds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Here {
    depth: usize,
    index: usize,
}

/// A statement list that is being built.
#[derive(Debug, Default)]
pub(super) struct Frame {
    statements: Block,
    /// Whether it goes on with the list below it, for the threads that have not left that.
    continues: bool,
    flow: Flow,
    /// The exits in blocks that belong to the statement that will be pushed next.
    arriving: Vec<Exit>,
    /// The exits of the last statement.
    pending: Vec<Exit>,
}

/// Where threads may go from a statement list.
#[derive(Clone, Debug, Default)]
pub(super) struct Flow {
    /// What they may leave for.
    pub(super) exits: Vec<Exit>,
    /// Whether no thread comes to the end of the list.
    pub(super) diverged: bool,
    /// The sides of the last statement, if that is an `if`, and all exits are in it.
    sides: Option<Box<[Flow; 2]>>,
}

/// What exits can leave.
#[derive(Debug)]
pub(super) struct Target {
    pub(super) kind: TargetKind,
    /// The label, without its apostrophe.
    pub(super) label: Option<String>,
    /// Set by `break` and `return`.
    pub(super) leave: Option<Exit>,
    /// Set by `continue`.
    pub(super) again: Option<Exit>,
    /// The variables for the value that `break` and `return` take with them.
    pub(super) result: Option<super::Operand>,
    /// The type of that value, where it is known from the start.
    pub(super) hint: Option<Ty>,
}

/// The kinds of what exits can leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TargetKind {
    /// `while`, `loop`, `for`.
    Loop,
    /// A block with a label.
    Block,
    /// The kernel or a helper function.
    Function,
}

impl Target {
    pub(super) fn new(kind: TargetKind, label: Option<&syn::Label>) -> Target {
        let label = label.map(|label| label.name.ident.to_string());
        Target { kind, label, leave: None, again: None, result: None, hint: None }
    }
}

impl Here {
    /// Whether nothing has been added to the list yet.
    pub(super) fn is_first(self) -> bool {
        self.index == 0
    }
}

impl Frame {
    /// A list that is complete but for what may be pushed after it.
    fn add(&mut self, stmt: Stmt, sides: Option<[Flow; 2]>) {
        self.statements.push(stmt);
        self.pending = std::mem::take(&mut self.arriving);
        union(&mut self.flow.exits, &self.pending);
        if let Some([first, second]) = sides {
            self.flow.diverged = first.diverged && second.diverged;
            self.flow.sides = Some(Box::new([first, second]));
        } else {
            self.flow.sides = None;
        }
    }
}

fn union(into: &mut Vec<Exit>, more: &[Exit]) {
    for exit in more {
        if !into.contains(exit) {
            into.push(*exit);
        }
    }
}

impl Lower<'_> {
    /// Where statements are added now.
    pub(super) fn here(&self) -> Here {
        let index = self.frames.last().map_or(0, |frame| frame.statements.len());
        Here { depth: self.frames.len(), index }
    }

    /// Whether statements that have been added since assign one of these variables.
    pub(super) fn assigned_since(&self, place: Here, wanted: &[Handle<Local>]) -> bool {
        let lists = self.frames.iter().enumerate().skip(place.depth.saturating_sub(1));
        lists.into_iter().any(|(number, frame)| {
            let first = if number + 1 == place.depth { place.index } else { 0 };
            let since = frame.statements.get(first..).unwrap_or_default();
            wanted.iter().any(|local| super::build::assigns(&self.kernel, since, *local))
        })
    }

    /// Adds a statement at a place.
    pub(super) fn insert(&mut self, place: Here, stmt: Stmt) {
        if let Some(frame) = place.depth.checked_sub(1).and_then(|depth| self.frames.get_mut(depth)) {
            frame.statements.insert(place.index.min(frame.statements.len()), stmt);
        }
    }

    /// Adds a statement.
    pub(super) fn push(&mut self, stmt: Stmt) {
        self.push_with(stmt, None);
    }

    /// Adds an `if` with its sides, each with where threads may go from it.
    pub(super) fn push_if(
        &mut self,
        condition: Handle<Expr>,
        (then, then_flow): (Block, Flow),
        (otherwise, other_flow): (Block, Flow),
    ) {
        self.push_with(Stmt::If { condition, then, otherwise }, Some([then_flow, other_flow]));
    }

    fn push_with(&mut self, stmt: Stmt, sides: Option<[Flow; 2]>) {
        let Some(frame) = self.frames.last_mut() else { return };
        if frame.flow.diverged {
            // No thread gets here.
            frame.arriving.clear();
            return;
        }
        if frame.pending.is_empty() {
            frame.add(stmt, sides);
            return;
        }
        let arriving = std::mem::take(&mut frame.arriving);
        let mut next = Frame { continues: true, arriving, ..Frame::default() };
        next.add(stmt, sides);
        self.frames.push(next);
    }

    /// Runs `fill` with a new statement list and a new scope.
    pub(super) fn in_block(&mut self, fill: impl FnOnce(&mut Self)) -> Block {
        self.in_flow(fill).0
    }

    /// The same, with where threads may go from the list.
    pub(super) fn in_flow(&mut self, fill: impl FnOnce(&mut Self)) -> (Block, Flow) {
        self.frames.push(Frame::default());
        self.scopes.push(Scope::default());
        fill(self);
        self.scopes.pop();
        let (statements, flow) = self.close();
        if let Some(frame) = self.frames.last_mut() {
            union(&mut frame.arriving, &flow.exits);
        }
        (statements, flow)
    }

    /// Takes the statement list that is being built, continuations in their places.
    fn close(&mut self) -> (Block, Flow) {
        let Some(mut frame) = self.frames.pop() else { return Default::default() };
        while frame.continues {
            let Some(outer) = self.frames.pop() else { break };
            let Frame { mut statements, continues, flow, pending, .. } = outer;
            let flow = self.attach(&mut statements, flow, &pending, (frame.statements, frame.flow));
            frame = Frame { statements, continues, flow, ..Frame::default() };
        }
        (frame.statements, frame.flow)
    }

    /// Puts what follows a statement list after it, for the threads that have not left by one of these exits.
    fn attach(&mut self, list: &mut Block, flow: Flow, exits: &[Exit], rest: (Block, Flow)) -> Flow {
        let (rest, rest_flow) = rest;
        let mut all = flow.exits.clone();
        union(&mut all, &rest_flow.exits);
        if flow.diverged {
            return flow;
        }
        if flow.exits.is_empty() {
            list.extend(rest);
            return rest_flow;
        }
        if let (Some(sides), Some(Stmt::If { then, otherwise, .. })) = (&flow.sides, list.last_mut()) {
            let [first, second] = (**sides).clone();
            let sides = match (first.diverged, second.diverged) {
                (true, false) => Some([
                    first,
                    self.attach(otherwise, second.clone(), &second.exits, (rest.clone(), rest_flow.clone())),
                ]),
                (false, true) => Some([
                    self.attach(then, first.clone(), &first.exits, (rest.clone(), rest_flow.clone())),
                    second,
                ]),
                (true, true) | (false, false) => None,
            };
            if let Some(sides) = sides {
                let diverged = sides[0].diverged && sides[1].diverged;
                return Flow { exits: all, diverged, sides: Some(Box::new(sides)) };
            }
        }
        let condition = self.none_of(exits);
        list.push(Stmt::If { condition, then: rest, otherwise: Vec::new() });
        let gone = Flow { exits: exits.to_vec(), diverged: true, sides: None };
        let diverged = rest_flow.diverged;
        Flow { exits: all, diverged, sides: Some(Box::new([rest_flow, gone])) }
    }

    /// The condition that a thread has left by none of these exits.
    pub(super) fn none_of(&mut self, exits: &[Exit]) -> Handle<Expr> {
        let mut all: Option<Handle<Expr>> = None;
        for exit in exits {
            self.exits_read.push(*exit);
            let span = self.kernel.locals[*exit].span;
            let left = self.bool_expr(ExprKind::Local(*exit), span);
            let not = self.bool_expr(ExprKind::Unary(UnaryOp::Not, left), span);
            all = Some(match all {
                Some(all) => self.bool_expr(ExprKind::Binary(BinaryOp::And, all, not), span),
                None => not,
            });
        }
        let span = self.kernel.span;
        all.unwrap_or_else(|| self.bool_expr(ExprKind::Bool(true), span))
    }

    /// A variable for the exits to a target.
    pub(super) fn new_exit(&mut self, name: &str, span: SpanId) -> Exit {
        let ty = Ty::scalar(self.terms.known(Scalar::Bool));
        let exit = self.local(name, ty, Vec::new(), span);
        self.exits.push(exit);
        exit
    }

    /// The statement that says whether threads have left.
    pub(super) fn set_exit(&mut self, exit: Exit, left: bool) -> Stmt {
        let span = self.kernel.locals[exit].span;
        let value = self.bool_expr(ExprKind::Bool(left), span);
        Stmt::Assign { local: exit, value }
    }

    /// All threads that are here leave.
    pub(super) fn exit(&mut self, exit: Exit) {
        let statement = self.set_exit(exit, true);
        self.push(statement);
        if let Some(frame) = self.frames.last_mut() {
            union(&mut frame.flow.exits, &[exit]);
            frame.flow.diverged = true;
        }
    }

    /// Adds a statement list that is complete, at whose end one of its exits arrives.
    pub(super) fn splice(&mut self, statements: Block, flow: Flow, arrives: Option<Exit>) {
        self.arrive(&flow.exits);
        let Some(mut frame) = self.frames.last_mut() else { return };
        if frame.flow.diverged || statements.is_empty() {
            return;
        }
        if !frame.pending.is_empty() {
            self.frames.push(Frame { continues: true, ..Frame::default() });
            let Some(next) = self.frames.last_mut() else { return };
            frame = next;
        }
        let Flow { mut exits, diverged, sides } = flow;
        exits.retain(|exit| Some(*exit) != arrives);
        frame.statements.extend(statements);
        union(&mut frame.flow.exits, &exits);
        frame.pending = exits;
        frame.flow.diverged = diverged && arrives.is_none();
        frame.flow.sides = sides.filter(|_| arrives.is_none());
    }

    /// Sets the exits aside that belong to a statement, while others are pushed before it.
    pub(super) fn hold(&mut self) -> Vec<Exit> {
        self.frames.last_mut().map(|frame| std::mem::take(&mut frame.arriving)).unwrap_or_default()
    }

    /// Takes them up again.
    pub(super) fn release(&mut self, held: Vec<Exit>) {
        if let Some(frame) = self.frames.last_mut() {
            frame.arriving = held;
        }
    }

    /// Whether no thread gets to what is pushed now.
    pub(super) fn is_unreachable(&self) -> bool {
        self.frames.last().is_some_and(|frame| frame.flow.diverged)
    }

    /// The exits of a block arrive here: what is pushed next need not heed them.
    pub(super) fn arrive(&mut self, exits: &[Exit]) {
        if let Some(frame) = self.frames.last_mut() {
            frame.arriving.retain(|exit| !exits.contains(exit));
        }
    }
}

/// Takes the variables of exits out that nothing reads.
pub(super) fn remove_unread(kernel: &mut Kernel, exits: &[Exit], read: &[Exit]) {
    let unread: Vec<Exit> = exits.iter().copied().filter(|exit| !read.contains(exit)).collect();
    if unread.is_empty() {
        return;
    }
    let mut body = std::mem::take(&mut kernel.body);
    remove_from(kernel, &mut body, &unread);
    kernel.body = body;
    for handle in kernel.loops.handles() {
        let mut body = std::mem::take(&mut kernel.loops[handle].body);
        remove_from(kernel, &mut body, &unread);
        kernel.loops[handle].body = body;
    }
}

fn remove_from(kernel: &mut Kernel, block: &mut Block, unread: &[Exit]) {
    for stmt in block.iter_mut() {
        match stmt {
            Stmt::If { condition, then, otherwise } => {
                let had = !then.is_empty();
                remove_from(kernel, then, unread);
                remove_from(kernel, otherwise, unread);
                if had && then.is_empty() && !otherwise.is_empty() {
                    *condition = negated(kernel, *condition);
                    std::mem::swap(then, otherwise);
                }
            }
            Stmt::While { body, .. } => remove_from(kernel, body, unread),
            // The bodies of loops are in their arena.
            Stmt::For(_)
            | Stmt::Assign { .. }
            | Stmt::Fill { .. }
            | Stmt::AssignElement { .. }
            | Stmt::AssignLane { .. }
            | Stmt::Load { .. }
            | Stmt::LoadMatrices { .. }
            | Stmt::LoadUnaligned(_)
            | Stmt::Store { .. }
            | Stmt::Copy(_)
            | Stmt::Sync(..)
            | Stmt::Atomic(_)
            | Stmt::Collective(_) => {}
        }
    }
    block.retain(|stmt| {
        let is_unread = matches!(stmt, Stmt::Assign { local, .. } if unread.contains(local));
        let is_empty =
            matches!(stmt, Stmt::If { then, otherwise, .. } if then.is_empty() && otherwise.is_empty());
        !is_unread && !is_empty
    });
}

/// The opposite of a condition.
pub(super) fn negated(kernel: &mut Kernel, condition: Handle<Expr>) -> Handle<Expr> {
    let Expr { kind, ty, span } = kernel.exprs[condition].clone();
    let kind = match kind {
        ExprKind::Unary(UnaryOp::Not, inner) => return inner,
        ExprKind::Bool(value) => ExprKind::Bool(!value),
        // Of floats that do not compare at all, `<` and `>=` are both false.
        ExprKind::Compare(op, a, b) if !kernel.exprs[a].ty.scalar().is_float() => {
            ExprKind::Compare(opposite(op), a, b)
        }
        _ => ExprKind::Unary(UnaryOp::Not, condition),
    };
    kernel.exprs.add(Expr { kind, ty, span })
}

/// The comparison that is true where this one is false; not of floats.
pub(super) fn opposite(op: CompareOp) -> CompareOp {
    match op {
        CompareOp::Less => CompareOp::GreaterEqual,
        CompareOp::LessEqual => CompareOp::Greater,
        CompareOp::Greater => CompareOp::LessEqual,
        CompareOp::GreaterEqual => CompareOp::Less,
        CompareOp::Equal => CompareOp::NotEqual,
        CompareOp::NotEqual => CompareOp::Equal,
    }
}
