//! One warp: its state, and its execution up to the next barrier.

use super::fault::FaultKind;
use super::function::call;
use super::memory::Memory;
use super::program::{Counter, Element, Instruction, Program, Register};
use super::value::{self, Lanes};
use super::{collective, copies, matrix, unaligned};
use crate::ir::{BinaryOp, CollectiveOp, CompareOp, Scalar, Scope, UnaryOp};
use crate::span::SpanId;

/// A warp that can be stopped before any instruction.
#[derive(Debug)]
pub(super) struct Warp {
    /// The linear number of its first thread in the block.
    pub(super) first_thread: u32,
    /// The lanes that hold a thread: not all in the last warp of a block.
    pub(super) exists: u32,
    /// The lanes that execute the next instruction.
    pub(super) active: u32,
    /// The next instruction.
    pub(super) counter: Counter,
    /// Grows by one at each barrier of the warp.
    pub(super) phase: u32,
    masks: Vec<Frame>,
    registers: Vec<Lanes>,
}

/// The masks to return to.
#[derive(Clone, Copy, Debug)]
struct Frame {
    outer: u32,
    /// The lanes that take the other side of a split.
    other: u32,
}

/// Why a warp stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// It waits at the barrier before its counter.
    Barrier,
    /// It has ended.
    End,
}

/// A fault in a lane of the warp that runs.
#[derive(Debug)]
pub(super) struct Trap {
    pub(super) kind: FaultKind,
    pub(super) lane: u32,
    pub(super) span: SpanId,
}

/// What an instruction finds wrong, before it is known where it is from.
pub(super) type Flaw = (FaultKind, u32);

impl Warp {
    /// The warp of a block of these extents that starts at `first_thread`.
    pub(super) fn new(program: &Program, extents: [u32; 3], first_thread: u32) -> Warp {
        let threads: u32 = extents.iter().product();
        let lanes = (threads - first_thread).min(32);
        let mut registers = vec![[0; 32]; program.registers as usize];
        for (register, value) in &program.constants {
            registers[register.0 as usize] = [*value; 32];
        }
        for lane in 0..lanes {
            for (axis, place) in (0..).zip(place(extents, first_thread + lane)) {
                registers[program.thread.plus(axis).0 as usize][lane as usize] = u64::from(place);
            }
        }
        let exists = u32::MAX >> (32 - lanes);
        Warp { first_thread, exists, active: exists, counter: 0, phase: 0, masks: Vec::new(), registers }
    }

    /// Back to the first instruction, for another block.
    pub(super) fn restart(&mut self, program: &Program, block: [u32; 3]) {
        self.active = self.exists;
        self.counter = 0;
        self.phase = 0;
        self.masks.clear();
        for (axis, place) in (0..).zip(block) {
            self.registers[program.block.plus(axis).0 as usize] = [u64::from(place); 32];
        }
    }

    /// The value of a register in each lane.
    pub(super) fn read(&self, register: Register) -> &Lanes {
        &self.registers[register.0 as usize]
    }

    /// A register in each lane, to be changed in active lanes only.
    pub(super) fn write(&mut self, register: Register) -> &mut Lanes {
        &mut self.registers[register.0 as usize]
    }

    fn copy(&mut self, destination: Register, source: Register) {
        let source = *self.read(source);
        if self.active == u32::MAX {
            *self.write(destination) = source;
            return;
        }
        let active = self.active;
        let destination = self.write(destination);
        for lane in lanes(active) {
            destination[lane] = source[lane];
        }
    }

    fn push(&mut self, other: u32) {
        self.masks.push(Frame { outer: self.active, other });
    }

    fn below(&self, scalar: Scalar, a: Register, b: Register) -> u32 {
        value::truth(&value::compare(CompareOp::Less, scalar, self.read(a), self.read(b)))
    }

    /// Executes until the warp waits or ends.
    pub(super) fn run(&mut self, program: &Program, memory: &mut Memory<'_, '_>) -> Result<Stop, Box<Trap>> {
        loop {
            let at = self.counter;
            let result = match program.instructions[at] {
                Instruction::Barrier => return Ok(Stop::Barrier),
                Instruction::Collective { collective }
                    if program.collectives[collective].op.participants() == Scope::Block =>
                {
                    return Ok(Stop::Barrier);
                }
                Instruction::End => return Ok(Stop::End),
                Instruction::Access { access } => memory.access(self, access, &program.accesses[access]),
                Instruction::StartCopy { source, destination, inside } => {
                    copies::start(self, program, memory, [source, destination], inside)
                }
                Instruction::LoadMatrices { access, matrices, destination } => {
                    matrix::load(self, program, memory, access, matrices, destination)
                }
                Instruction::LoadUnaligned { first, last, whole } => {
                    unaligned::load(self, program, memory, [first, last], whole)
                }
                Instruction::CommitCopies => {
                    copies::commit(self, memory);
                    Ok(())
                }
                Instruction::WaitForCopies { pending } => {
                    copies::wait(self, memory, pending);
                    Ok(())
                }
                instruction => self.step(program, instruction),
            };
            result.map_err(|(kind, lane)| Box::new(Trap { kind, lane, span: program.spans[at] }))?;
            if self.counter == at {
                self.counter += 1;
            }
        }
    }

    /// Executes an instruction that concerns the warp alone. The counter is changed by jumps only.
    fn step(&mut self, program: &Program, instruction: Instruction) -> Result<(), Flaw> {
        match instruction {
            Instruction::Unary { op, scalar, destination, operand } => {
                let least = *self.read(operand);
                if (op, scalar) == (UnaryOp::Negate, Scalar::Isize)
                    && let Some(lane) = lanes(self.active).find(|lane| least[*lane] as i64 == i64::MIN)
                {
                    let (left, right) = (0, least[lane]);
                    let op = BinaryOp::Sub;
                    return Err((FaultKind::IndexOverflow { scalar, op, left, right }, lane as u32));
                }
                *self.write(destination) = value::unary(op, scalar, self.read(operand));
            }
            Instruction::Binary { op, scalar, destination, left, right } => {
                let (result, failed) = value::binary(op, scalar, self.read(left), self.read(right));
                if let Some(lane) = lanes(failed & self.active).next() {
                    return Err((
                        without_result(op, scalar, self.read(left)[lane], self.read(right)[lane]),
                        lane as u32,
                    ));
                }
                *self.write(destination) = result;
            }
            Instruction::Compare { op, scalar, destination, left, right } => {
                *self.write(destination) = value::compare(op, scalar, self.read(left), self.read(right));
            }
            Instruction::Select { destination, condition, yes, no } => {
                *self.write(destination) = value::select(self.read(condition), self.read(yes), self.read(no));
            }
            Instruction::Cast { from, to, destination, operand } => {
                let failed = value::without_conversion(from, to, self.read(operand)) & self.active;
                if let Some(lane) = lanes(failed).next() {
                    let value = self.read(operand)[lane];
                    return Err((FaultKind::IndexConversion { from, to, value }, lane as u32));
                }
                *self.write(destination) = value::cast(from, to, self.read(operand));
            }
            Instruction::Call { function, own, destination, operands } => {
                let (result, failed) = call(function, own, operands.map(|operand| self.read(operand)));
                if let Some(lane) = lanes(failed & self.active).next() {
                    return Err((FaultKind::Logarithm, lane as u32));
                }
                *self.write(destination) = result;
            }
            Instruction::Copy { destination, source, width, times } => {
                for i in 0..width * times {
                    self.copy(destination.plus(i), source.plus(i % width));
                }
            }
            Instruction::ReadElement { element, destination } => {
                let element = &program.elements[element];
                for lane in lanes(self.active) {
                    let base = self.element(element, lane)?;
                    for i in 0..element.width {
                        self.write(destination.plus(i))[lane] = self.read(base.plus(i))[lane];
                    }
                }
            }
            Instruction::WriteElement { element, source } => {
                let element = &program.elements[element];
                for lane in lanes(self.active) {
                    let base = self.element(element, lane)?;
                    for i in 0..element.width {
                        self.write(base.plus(i))[lane] = self.read(source.plus(i))[lane];
                    }
                }
            }
            Instruction::Split { condition, otherwise } => {
                let condition = value::truth(self.read(condition));
                self.push(self.active & !condition);
                self.active &= condition;
                if self.active == 0 {
                    self.counter = otherwise;
                }
            }
            Instruction::Else { end } => {
                self.active = self.masks.last().map_or(0, |frame| frame.other);
                if self.active == 0 {
                    self.counter = end;
                }
            }
            Instruction::Join => {
                if let Some(frame) = self.masks.pop() {
                    self.active = frame.outer;
                }
            }
            Instruction::Narrow { condition, when } => {
                let condition = value::truth(self.read(condition));
                self.push(0);
                self.active &= if when { condition } else { !condition };
            }
            Instruction::EnterLoop { scalar, step } => {
                let positive = value::compare(CompareOp::Greater, scalar, self.read(step), &[0; 32]);
                if let Some(lane) = lanes(self.active & !value::truth(&positive)).next() {
                    return Err((FaultKind::Step, lane as u32));
                }
                self.push(0);
            }
            Instruction::TestLoop { scalar, variable, end, exit } => {
                self.active &= self.below(scalar, variable, end);
                if self.active == 0 {
                    self.counter = exit;
                }
            }
            Instruction::Advance { scalar, variable, step, test } => {
                let (next, _) = value::binary(BinaryOp::Add, scalar, self.read(variable), self.read(step));
                // A variable that wraps has passed every end.
                let greater = value::compare(CompareOp::Greater, scalar, &next, self.read(variable));
                self.active &= value::truth(&greater);
                let active = self.active;
                let variable = self.write(variable);
                for lane in lanes(active) {
                    variable[lane] = next[lane];
                }
                self.counter = test;
            }
            Instruction::EnterWhile => self.push(0),
            Instruction::TestWhile { condition, exit } => {
                self.active &= value::truth(self.read(condition));
                if self.active == 0 {
                    self.counter = exit;
                }
            }
            Instruction::Jump { to } => self.counter = to,
            Instruction::WarpBarrier => {
                self.together()?;
                self.phase += 1;
            }
            Instruction::Collective { collective } => {
                let collective = &program.collectives[collective];
                match collective.op {
                    CollectiveOp::MatrixProduct(_) => self.whole()?,
                    CollectiveOp::Shuffle(_)
                    | CollectiveOp::Any
                    | CollectiveOp::All
                    | CollectiveOp::Ballot
                    | CollectiveOp::MatchAny
                    | CollectiveOp::BlockCount
                    | CollectiveOp::BlockAny
                    | CollectiveOp::BlockAll => self.together()?,
                }
                collective::of_warp(self, collective);
            }
            Instruction::Access { .. }
            | Instruction::LoadMatrices { .. }
            | Instruction::LoadUnaligned { .. }
            | Instruction::StartCopy { .. }
            | Instruction::CommitCopies
            | Instruction::WaitForCopies { .. }
            | Instruction::Barrier
            | Instruction::End => {
                unreachable!("they concern more than the warp")
            }
        }
        Ok(())
    }

    /// Whether all lanes that exist are here.
    fn together(&self) -> Result<(), Flaw> {
        self.here(self.exists)
    }

    /// Whether all lanes of a warp are here.
    pub(super) fn whole(&self) -> Result<(), Flaw> {
        self.here(u32::MAX)
    }

    fn here(&self, expected: u32) -> Result<(), Flaw> {
        match lanes(expected & !self.active).next() {
            Some(missing) => {
                let here = lanes(self.active).next().unwrap_or(0);
                Err((FaultKind::Divergent { missing: missing as u32 }, here as u32))
            }
            None => Ok(()),
        }
    }

    /// The first register of an element of a register array in a lane.
    fn element(&self, element: &Element, lane: usize) -> Result<Register, Flaw> {
        let mut place = 0;
        for (dimension, (extent, register)) in element.extents.iter().zip(&element.index).enumerate() {
            let index = self.read(*register)[lane];
            if index >= u64::from(*extent) {
                let object = element.object.clone();
                return Err((
                    FaultKind::RegisterIndex { object, dimension, index, extent: *extent },
                    lane as u32,
                ));
            }
            place = place * extent + index as u32;
        }
        Ok(element.base.plus(place * element.width))
    }
}

fn without_result(op: BinaryOp, scalar: Scalar, left: u64, right: u64) -> FaultKind {
    match op {
        BinaryOp::Div | BinaryOp::Rem if right != 0 => FaultKind::IndexOverflow { scalar, op, left, right },
        BinaryOp::Div | BinaryOp::Rem | BinaryOp::DivCeil => FaultKind::DivisionByZero,
        BinaryOp::Add
        | BinaryOp::Sub
        | BinaryOp::Mul
        | BinaryOp::And
        | BinaryOp::Or
        | BinaryOp::Xor
        | BinaryOp::Shl
        | BinaryOp::Shr
        | BinaryOp::Min
        | BinaryOp::Max => FaultKind::IndexOverflow { scalar, op, left, right },
    }
}

/// The lanes of a mask, from low to high.
pub(super) fn lanes(mask: u32) -> impl Iterator<Item = usize> {
    let mut rest = mask;
    std::iter::from_fn(move || {
        let lane = (rest != 0).then(|| rest.trailing_zeros() as usize);
        rest &= rest.wrapping_sub(1);
        lane
    })
}

/// The coordinates of the thread with this linear number.
pub(super) fn place(extents: [u32; 3], thread: u32) -> [u32; 3] {
    let [x, y, _] = extents;
    [thread % x, thread / x % y, thread / (x * y)]
}
