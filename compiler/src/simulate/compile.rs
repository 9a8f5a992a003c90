//! From the IR to a [`Program`].

use super::argument::Argument;
use super::constant::literal;
use super::program::{
    Access, Collective, Counter, Element, Instruction, Memory, Program, Register, Swizzle, Update,
};
use super::value::canonical;
use crate::ir::{
    self, Base, BinaryOp, Expr, ExprKind, Handle, Kernel, Layout, Local, Loop, Param, Scalar, Site, Stmt,
    Sync, SyncAction, SyncObject, Type, Unaligned, UnaryOp,
};
use crate::span::SpanId;
use std::collections::HashMap;

/// Compiles a kernel for one launch. The arguments fit the kernel.
pub(super) fn compile(kernel: &Kernel, grid: [u32; 3], arguments: &[Argument<'_>]) -> Program {
    let mut compiler = Compiler {
        kernel,
        arguments,
        tile_offsets: kernel.shared_bytes().0,
        constants: HashMap::new(),
        locals: Vec::new(),
        known: vec![None; kernel.exprs.len()],
        order: Vec::new(),
        fallible: vec![None; kernel.exprs.len()],
        next: 0,
        program: Program {
            instructions: Vec::new(),
            spans: Vec::new(),
            registers: 0,
            constants: Vec::new(),
            thread: Register(0),
            block: Register(0),
            accesses: Vec::new(),
            collectives: Vec::new(),
            elements: Vec::new(),
        },
    };
    for (handle, expr) in kernel.exprs.iter() {
        if let Some(bits) = constant(kernel, expr, grid, arguments) {
            let register = compiler.constant(bits);
            compiler.known[handle.index()] = Some(register);
        }
    }
    compiler.program.thread = compiler.allocate(3);
    compiler.program.block = compiler.allocate(3);
    for (_, local) in kernel.locals.iter() {
        let base = compiler.allocate(local.extents.iter().product::<u32>() * local.ty.width());
        for (place, value) in local.table.iter().flatten().enumerate() {
            let Expr { kind, ty, .. } = &kernel.exprs[*value];
            let bits = literal(ty.scalar(), kind);
            compiler.program.constants.extend(bits.map(|bits| (base.plus(place as u32), bits)));
        }
        compiler.locals.push(base);
    }
    compiler.statements(&kernel.body);
    compiler.emit(Instruction::End, kernel.span);
    compiler.program
}

/// The value of an expression that is the same for the whole launch and needs no computation.
fn constant(kernel: &Kernel, expr: &Expr, grid: [u32; 3], arguments: &[Argument<'_>]) -> Option<u64> {
    let tensor = |param: Handle<Param>| match &arguments[param.index()] {
        Argument::Tensor(tensor) => Some(tensor),
        Argument::Scalar(_) => None,
    };
    let scalar = expr.ty.scalar();
    match expr.kind {
        ExprKind::Int(_) | ExprKind::Float(_) | ExprKind::Bool(_) => literal(scalar, &expr.kind),
        ExprKind::Param(param) => match arguments[param.index()] {
            Argument::Scalar(bits) => Some(canonical(scalar, bits)),
            Argument::Tensor(_) => None,
        },
        ExprKind::Extent(param, dimension) => Some(tensor(param)?.extents[dimension as usize]),
        ExprKind::Stride(param, dimension) => Some(tensor(param)?.strides[dimension as usize]),
        ExprKind::Misalignment(param, of) => {
            Some(tensor(param)?.base / u64::from(kernel.element(Base::Tensor(param)).bytes()) % u64::from(of))
        }
        ExprKind::Grid(axis) => Some(u64::from(grid[axis.index()])),
        ExprKind::Thread(_)
        | ExprKind::Block(_)
        | ExprKind::Local(_)
        | ExprKind::Element(..)
        | ExprKind::Lane(..)
        | ExprKind::Vector(_)
        | ExprKind::Unary(..)
        | ExprKind::Binary(..)
        | ExprKind::Compare(..)
        | ExprKind::Select(..)
        | ExprKind::Cast(_)
        | ExprKind::Call(..) => None,
    }
}

struct Compiler<'k, 'a> {
    kernel: &'k Kernel,
    arguments: &'k [Argument<'a>],
    tile_offsets: Vec<u32>,
    constants: HashMap<u64, Register>,
    /// The first register of each local.
    locals: Vec<Register>,
    /// Where the value of an expression is: constants always, others within the statement that computes them.
    known: Vec<Option<Register>>,
    /// The expressions in `known` that are forgotten after the statement, in order of computation.
    order: Vec<Handle<Expr>>,
    /// What is known of [`Compiler::may_fault`].
    fallible: Vec<Option<bool>>,
    /// The first free register.
    next: u32,
    program: Program,
}

impl Compiler<'_, '_> {
    fn allocate(&mut self, count: u32) -> Register {
        let register = Register(self.next);
        self.next += count;
        self.program.registers = self.program.registers.max(self.next);
        register
    }

    fn constant(&mut self, bits: u64) -> Register {
        if let Some(&register) = self.constants.get(&bits) {
            return register;
        }
        let register = self.allocate(1);
        self.constants.insert(bits, register);
        self.program.constants.push((register, bits));
        register
    }

    fn emit(&mut self, instruction: Instruction, span: SpanId) -> Counter {
        self.program.instructions.push(instruction);
        self.program.spans.push(span);
        self.program.instructions.len() - 1
    }

    /// The number of the next instruction.
    fn here(&self) -> Counter {
        self.program.instructions.len()
    }

    fn span(&self, expr: Handle<Expr>) -> SpanId {
        self.kernel.exprs[expr].span
    }

    /// Forgets the expressions computed since there were `count`: their registers or the locals they read change, or
    /// they were computed for some of the lanes only.
    fn forget(&mut self, count: usize) {
        for expr in self.order.drain(count..) {
            self.known[expr.index()] = None;
        }
    }

    fn statements(&mut self, statements: &[Stmt]) {
        for statement in statements {
            let first_free = self.next;
            self.statement(statement);
            self.forget(0);
            self.next = first_free;
        }
    }

    fn statement(&mut self, statement: &Stmt) {
        match statement {
            Stmt::Assign { local, value } => {
                let width = self.kernel.locals[*local].ty.width();
                self.copy(self.locals[local.index()], *value, width, 1);
            }
            Stmt::Fill { local, value } => {
                let Local { extents, ty, .. } = &self.kernel.locals[*local];
                self.copy(self.locals[local.index()], *value, ty.width(), extents.iter().product());
            }
            Stmt::AssignElement { local, index, value } => {
                let element = self.element(*local, index, None);
                let source = self.expr(*value);
                self.emit(Instruction::WriteElement { element, source }, self.span(*value));
            }
            Stmt::AssignLane { local, index, lane, value } => {
                let element = self.element(*local, index, Some(*lane));
                let source = self.expr(*value);
                self.emit(Instruction::WriteElement { element, source }, self.span(*lane));
            }
            Stmt::Load { local, site } => self.access(*site, None, |compiler| compiler.locals[local.index()]),
            Stmt::LoadMatrices { local, site } => self.load_matrices(*local, *site),
            Stmt::LoadUnaligned(unaligned) => self.load_unaligned(unaligned),
            Stmt::Store { site, value } => self.access(*site, None, |compiler| compiler.expr(*value)),
            Stmt::Atomic(atomic) => self.atomic(atomic),
            Stmt::Copy(copy) => self.start_copy(copy),
            Stmt::Sync(sync, span) => self.sync(*sync, *span),
            Stmt::Collective(collective) => self.collective(collective),
            Stmt::If { condition, then, otherwise } => self.branch(*condition, then, otherwise),
            Stmt::For(handle) => self.repeat(*handle),
            Stmt::While { condition, body, span } => self.repeat_while(*condition, body, *span),
        }
    }

    fn copy(&mut self, destination: Register, value: Handle<Expr>, width: u32, times: u32) {
        let source = self.expr(value);
        self.emit(Instruction::Copy { destination, source, width, times }, self.span(value));
    }

    fn sync(&mut self, sync: Sync, span: SpanId) {
        let Sync { object, action, participants: _, orders: _, proxy: _ } = sync;
        let instruction = match object {
            SyncObject::BlockBarrier => Instruction::Barrier,
            SyncObject::Warp => Instruction::WarpBarrier,
            SyncObject::CopyGroup => match action {
                SyncAction::ArriveAndWait | SyncAction::Arrive => Instruction::CommitCopies,
                SyncAction::Wait { pending } => Instruction::WaitForCopies { pending },
            },
        };
        self.emit(instruction, span);
    }

    fn load_matrices(&mut self, local: Handle<Local>, handle: Handle<Site>) {
        let site = &self.kernel.sites[handle];
        let Some(matrices) = site.matrices else { unreachable!("the site of a load of matrices names them") };
        let rows = self.allocate(site.place.width);
        let access = self.compiled_access(handle, None, |_| rows);
        let destination = self.locals[local.index()];
        self.emit(Instruction::LoadMatrices { access, matrices, destination }, site.span);
    }

    fn load_unaligned(&mut self, unaligned: &Unaligned) {
        let Unaligned { local, whole, first, last } = *unaligned;
        let span = self.kernel.sites[first].span;
        let [first, last] =
            [first, last].map(|site| self.compiled_access(site, None, |it| it.locals[local.index()]));
        let whole = self.locals[whole.index()];
        self.emit(Instruction::LoadUnaligned { first, last, whole }, span);
    }

    fn start_copy(&mut self, copy: &ir::Copy) {
        let ir::Copy { source, destination, inside } = *copy;
        let data = self.allocate(self.kernel.sites[source].place.width);
        let span = self.kernel.sites[source].span;
        let source = self.compiled_access(source, None, |_| data);
        let destination = self.compiled_access(destination, None, |_| data);
        let inside = self.expr(inside);
        self.emit(Instruction::StartCopy { source, destination, inside }, span);
    }

    fn collective(&mut self, collective: &ir::Collective) {
        let ir::Collective { local, op, operands, span } = collective;
        let registers = self.registers(operands);
        let operands = [0, 1, 2].map(|place| registers[if place < registers.len() { place } else { 0 }]);
        let destination = self.locals[local.index()];
        let width = self.kernel.locals[*local].ty.width();
        self.program.collectives.push(Collective { op: *op, destination, operands, width });
        let collective = self.program.collectives.len() - 1;
        self.emit(Instruction::Collective { collective }, *span);
    }

    fn branch(&mut self, condition: Handle<Expr>, then: &[Stmt], otherwise: &[Stmt]) {
        let span = self.span(condition);
        let condition = self.expr(condition);
        let split = self.emit(Instruction::Split { condition, otherwise: 0 }, span);
        self.forget(0);
        self.statements(then);
        let mut target = self.here();
        if !otherwise.is_empty() {
            let other = self.emit(Instruction::Else { end: 0 }, span);
            self.statements(otherwise);
            self.program.instructions[other] = Instruction::Else { end: self.here() };
            target = other;
        }
        self.program.instructions[split] = Instruction::Split { condition, otherwise: target };
        self.emit(Instruction::Join, span);
    }

    fn repeat(&mut self, handle: Handle<Loop>) {
        let Loop { variable, start, end, step, ref body, unroll: _, span } = self.kernel.loops[handle];
        let scalar = self.kernel.locals[variable].ty.scalar();
        let variable = self.locals[variable.index()];
        // The body may assign what `end` and `step` read, so the loop keeps its own copies.
        let (own_end, own_step) = (self.allocate(1), self.allocate(1));
        self.copy(own_end, end, 1, 1);
        self.copy(own_step, step, 1, 1);
        self.copy(variable, start, 1, 1);
        self.forget(0);
        self.emit(Instruction::EnterLoop { scalar, step: own_step }, span);
        let test = self.emit(Instruction::TestLoop { scalar, variable, end: own_end, exit: 0 }, span);
        self.statements(body);
        self.emit(Instruction::Advance { scalar, variable, step: own_step, test }, span);
        self.program.instructions[test] =
            Instruction::TestLoop { scalar, variable, end: own_end, exit: self.here() };
        self.emit(Instruction::Join, span);
    }

    fn repeat_while(&mut self, condition: Handle<Expr>, body: &[Stmt], span: SpanId) {
        self.forget(0);
        self.emit(Instruction::EnterWhile, span);
        let test = self.here();
        let register = self.expr(condition);
        let split = self.emit(Instruction::TestWhile { condition: register, exit: 0 }, span);
        self.forget(0);
        self.statements(body);
        self.emit(Instruction::Jump { to: test }, span);
        let exit = self.here();
        self.program.instructions[split] = Instruction::TestWhile { condition: register, exit };
        self.emit(Instruction::Join, span);
    }

    fn registers(&mut self, exprs: &[Handle<Expr>]) -> Vec<Register> {
        exprs.iter().map(|expr| self.expr(*expr)).collect()
    }

    fn element(&mut self, local: Handle<Local>, index: &[Handle<Expr>], lane: Option<Handle<Expr>>) -> usize {
        let Local { name, ty, extents, .. } = &self.kernel.locals[local];
        let mut index = self.registers(index);
        let (mut extents, mut width) = (extents.clone(), ty.width());
        if let Some(lane) = lane {
            index.push(self.expr(lane));
            extents.push(width);
            width = 1;
        }
        let base = self.locals[local.index()];
        self.program.elements.push(Element { object: name.as_str().into(), base, extents, index, width });
        self.program.elements.len() - 1
    }

    /// Compiles an access whose data are in the registers that `data` yields after the index is computed.
    fn atomic(&mut self, atomic: &ir::Atomic) {
        let ir::Atomic { local, site, op, operands } = atomic;
        let registers = self.registers(operands);
        let (Some(&expected), Some(&value)) = (registers.first(), registers.last()) else {
            unreachable!("an atomic update has an operand");
        };
        self.access(*site, Some(Update { op: *op, value, expected }), |compiler| {
            compiler.locals[local.index()]
        });
    }

    fn access(
        &mut self,
        handle: Handle<Site>,
        update: Option<Update>,
        data: impl FnOnce(&mut Self) -> Register,
    ) {
        let access = self.compiled_access(handle, update, data);
        self.emit(Instruction::Access { access }, self.kernel.sites[handle].span);
    }

    /// The number of an access in the program.
    fn compiled_access(
        &mut self,
        handle: Handle<Site>,
        update: Option<Update>,
        data: impl FnOnce(&mut Self) -> Register,
    ) -> usize {
        let site = &self.kernel.sites[handle];
        let Site { place, role, proxy, .. } = site;
        let element = self.kernel.element(place.base);
        let index = self.registers(&place.index);
        let data = data(self);
        let mut access = Access {
            site: handle.index(),
            role: *role,
            proxy: *proxy,
            operation: site.operation(),
            issuer: site.issuer,
            memory: Memory::Tensor(0),
            object: self.kernel.base_name(place.base).into(),
            element,
            extents: Vec::new(),
            strides: Vec::new(),
            swizzle: None,
            base: 0,
            index,
            width: place.width,
            model_width: self.kernel.model_width(site),
            data,
            update: None,
        };
        match place.base {
            Base::Tensor(param) => {
                access.memory = Memory::Tensor(param.index());
                if let Argument::Tensor(tensor) = &self.arguments[param.index()] {
                    access.extents.clone_from(&tensor.extents);
                    access.strides.clone_from(&tensor.strides);
                    access.strides.push(1);
                    access.base = tensor.base % 256;
                }
            }
            Base::Tile(handle) => {
                let tile = &self.kernel.tiles[handle];
                access.memory = Memory::Tile(handle.index());
                access.extents = tile.extents.iter().map(|extent| u64::from(*extent)).collect();
                access.strides = strides(tile.layout, &tile.extents);
                access.swizzle = match tile.layout {
                    Layout::RowMajor | Layout::Pad(_) => None,
                    Layout::Xor(_) | Layout::Swizzle { .. } => {
                        Some(Swizzle { layout: tile.layout, extents: tile.extents.clone() })
                    }
                };
                access.base = u64::from(self.tile_offsets[handle.index()]);
            }
        }
        access.update = update;
        self.program.accesses.push(access);
        self.program.accesses.len() - 1
    }

    /// Compiles an expression; its value is in the register that is returned and, for a vector, those that follow.
    fn expr(&mut self, handle: Handle<Expr>) -> Register {
        if let Some(register) = self.known[handle.index()] {
            return register;
        }
        let register = self.computed(handle);
        self.known[handle.index()] = Some(register);
        self.order.push(handle);
        register
    }

    fn computed(&mut self, handle: Handle<Expr>) -> Register {
        let Expr { kind, ty, span } = &self.kernel.exprs[handle];
        let width = ty.width();
        match kind {
            ExprKind::Int(_)
            | ExprKind::Float(_)
            | ExprKind::Bool(_)
            | ExprKind::Param(_)
            | ExprKind::Extent(..)
            | ExprKind::Stride(..)
            | ExprKind::Misalignment(..)
            | ExprKind::Grid(_) => unreachable!("constants have their registers from the start"),
            ExprKind::Thread(axis) => self.program.thread.plus(axis.index() as u32),
            ExprKind::Block(axis) => self.program.block.plus(axis.index() as u32),
            ExprKind::Local(local) => self.locals[local.index()],
            ExprKind::Element(local, index) => {
                let element = self.element(*local, index, None);
                let destination = self.allocate(width);
                self.emit(Instruction::ReadElement { element, destination }, *span);
                destination
            }
            ExprKind::Lane(vector, lane) => {
                let values = self.kernel.exprs[*vector].ty.width();
                let (base, index) = (self.expr(*vector), self.expr(*lane));
                let (extents, index) = (vec![values], vec![index]);
                self.program.elements.push(Element { object: "".into(), base, extents, index, width: 1 });
                let destination = self.allocate(1);
                let element = self.program.elements.len() - 1;
                self.emit(Instruction::ReadElement { element, destination }, *span);
                destination
            }
            ExprKind::Vector(values) => {
                let destination = self.allocate(width);
                for (place, value) in (0..).zip(values) {
                    let source = self.expr(*value);
                    let destination = destination.plus(place);
                    self.emit(Instruction::Copy { destination, source, width: 1, times: 1 }, *span);
                }
                destination
            }
            ExprKind::Unary(op, a) => {
                let (op, scalar) = (*op, ty.scalar());
                let a = self.operand(*a);
                self.each(*ty, *span, |destination, i| {
                    let operand = a.at(i);
                    Instruction::Unary { op, scalar, destination, operand }
                })
            }
            ExprKind::Binary(op, a, b) => {
                let (op, scalar) = (*op, ty.scalar());
                let a_value = self.operand(*a);
                let b_value = match (op, scalar) {
                    (BinaryOp::And, Scalar::Bool) => self.narrowed(a_value.register, true, *b),
                    (BinaryOp::Or, Scalar::Bool) => self.narrowed(a_value.register, false, *b),
                    (_, _) => self.operand(*b),
                };
                self.each(*ty, *span, |destination, i| {
                    let (left, right) = (a_value.at(i), b_value.at(i));
                    Instruction::Binary { op, scalar, destination, left, right }
                })
            }
            ExprKind::Compare(op, a, b) => {
                let (op, scalar) = (*op, self.kernel.exprs[*a].ty.scalar());
                let (a, b) = (self.operand(*a), self.operand(*b));
                self.each(*ty, *span, |destination, i| {
                    let (left, right) = (a.at(i), b.at(i));
                    Instruction::Compare { op, scalar, destination, left, right }
                })
            }
            ExprKind::Select(condition, yes, no) => {
                let condition = self.expr(*condition);
                let yes = self.narrowed(condition, true, *yes);
                let no = self.narrowed(condition, false, *no);
                self.each(*ty, *span, |destination, i| {
                    let (yes, no) = (yes.at(i), no.at(i));
                    Instruction::Select { destination, condition, yes, no }
                })
            }
            ExprKind::Cast(a) => {
                let (from, to) = (self.kernel.exprs[*a].ty.scalar(), ty.scalar());
                let a = self.operand(*a);
                self.each(*ty, *span, |destination, i| {
                    let operand = a.at(i);
                    Instruction::Cast { from, to, destination, operand }
                })
            }
            ExprKind::Call(function, operands) => {
                let own = self.kernel.own_type(*function, operands, *ty);
                let function = *function;
                let operands: Vec<Operand> = operands.iter().map(|operand| self.operand(*operand)).collect();
                self.each(*ty, *span, |destination, i| {
                    let operand =
                        |place: usize| operands[if place < operands.len() { place } else { 0 }].at(i);
                    let operands = [operand(0), operand(1), operand(2)];
                    Instruction::Call { function, own, destination, operands }
                })
            }
        }
    }

    fn operand(&mut self, handle: Handle<Expr>) -> Operand {
        let register = self.expr(handle);
        Operand { register, width: self.kernel.exprs[handle].ty.width() }
    }

    /// An operand that counts only where the condition is `when`: it cannot fault elsewhere.
    fn narrowed(&mut self, condition: Register, when: bool, handle: Handle<Expr>) -> Operand {
        if !self.may_fault(handle) {
            return self.operand(handle);
        }
        let (span, before) = (self.span(handle), self.order.len());
        self.emit(Instruction::Narrow { condition, when }, span);
        let operand = self.operand(handle);
        self.emit(Instruction::Join, span);
        self.forget(before);
        operand
    }

    /// Whether the expression can have no value for some operands.
    fn may_fault(&mut self, handle: Handle<Expr>) -> bool {
        if let Some(known) = self.fallible[handle.index()] {
            return known;
        }
        let Expr { kind, ty, .. } = &self.kernel.exprs[handle];
        let fallible = match kind {
            ExprKind::Int(_)
            | ExprKind::Float(_)
            | ExprKind::Bool(_)
            | ExprKind::Param(_)
            | ExprKind::Extent(..)
            | ExprKind::Stride(..)
            | ExprKind::Misalignment(..)
            | ExprKind::Thread(_)
            | ExprKind::Block(_)
            | ExprKind::Grid(_)
            | ExprKind::Local(_) => false,
            ExprKind::Element(..) | ExprKind::Lane(..) => true,
            ExprKind::Call(function, _) if function.is_partial() => true,
            ExprKind::Vector(values) | ExprKind::Call(_, values) => {
                values.iter().any(|value| self.may_fault(*value))
            }
            ExprKind::Unary(UnaryOp::Negate, a) => ty.scalar() == Scalar::Isize || self.may_fault(*a),
            ExprKind::Unary(UnaryOp::Not, a) => self.may_fault(*a),
            ExprKind::Cast(a) => ty.scalar().is_index() || self.may_fault(*a),
            ExprKind::Compare(_, a, b) => self.may_fault(*a) || self.may_fault(*b),
            ExprKind::Select(a, b, c) => self.may_fault(*a) || self.may_fault(*b) || self.may_fault(*c),
            ExprKind::Binary(op, a, b) => {
                let own = match op {
                    BinaryOp::Div | BinaryOp::Rem | BinaryOp::DivCeil => !ty.scalar().is_float(),
                    BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Shl => ty.scalar().is_index(),
                    BinaryOp::And
                    | BinaryOp::Or
                    | BinaryOp::Xor
                    | BinaryOp::Shr
                    | BinaryOp::Min
                    | BinaryOp::Max => false,
                };
                own || self.may_fault(*a) || self.may_fault(*b)
            }
        };
        self.fallible[handle.index()] = Some(fallible);
        fallible
    }

    /// One instruction for each value of a result of this type.
    fn each(
        &mut self,
        ty: Type,
        span: SpanId,
        instruction: impl Fn(Register, u32) -> Instruction,
    ) -> Register {
        let destination = self.allocate(ty.width());
        for i in 0..ty.width() {
            self.emit(instruction(destination.plus(i), i), span);
        }
        destination
    }
}

/// The registers of an operand.
#[derive(Clone, Copy)]
struct Operand {
    register: Register,
    width: u32,
}

impl Operand {
    /// The register of one value; a scalar stands for all values of a vector.
    fn at(self, i: u32) -> Register {
        if self.width == 1 { self.register } else { self.register.plus(i) }
    }
}

/// The strides of a tile in elements, swizzling aside.
fn strides(layout: Layout, extents: &[u32]) -> Vec<u64> {
    let mut strides = vec![1; extents.len()];
    let mut stride = u64::from(layout.pitch(extents.last().copied().unwrap_or(1)));
    for dimension in (0..extents.len().saturating_sub(1)).rev() {
        strides[dimension] = stride;
        stride *= u64::from(extents[dimension]);
    }
    strides
}
