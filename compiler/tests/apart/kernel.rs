//! Random kernels of one store, with a meaning of their own.

/// Bytes that decide.
pub(crate) struct Tape<'a> {
    bytes: &'a [u8],
    next: usize,
}

impl<'a> Tape<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Tape<'a> {
        Tape { bytes, next: 0 }
    }

    fn below(&mut self, most: i64) -> i64 {
        let byte = self.bytes.get(self.next).copied().unwrap_or(0);
        self.next += 1;
        i64::from(byte) % most
    }

    fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len() as i64) as usize]
    }
}

/// A non-negative number of a thread.
#[derive(Clone, Debug)]
enum Number {
    Constant(i64),
    ThreadX,
    ThreadY,
    BlockX,
    BlockY,
    GridX,
    N,
    /// The iteration of the loop.
    K,
    Sum(Box<Number>, Box<Number>),
    Product(Box<Number>, Box<Number>),
    Quotient(Box<Number>, Box<Number>),
    Remainder(Box<Number>, Box<Number>),
}

/// A store in a loop, guarded.
pub(crate) struct Kernel {
    block: [i64; 2],
    rounds: Option<i64>,
    guards: Vec<(Number, Number)>,
    index: Vec<Number>,
    pub(crate) width: u32,
}

/// A thread of a launch.
pub(crate) struct Launch {
    pub(crate) grid: [i64; 2],
    pub(crate) n: i64,
    pub(crate) block: [i64; 2],
    pub(crate) thread: usize,
}

impl Number {
    fn text(&self) -> String {
        match self {
            Number::Constant(value) => value.to_string(),
            Number::ThreadX => "thread_x()".into(),
            Number::ThreadY => "thread_y()".into(),
            Number::BlockX => "block_x()".into(),
            Number::BlockY => "block_y()".into(),
            Number::GridX => "grid_x()".into(),
            Number::N => "n".into(),
            Number::K => "k".into(),
            Number::Sum(a, b) => format!("({} + {})", a.text(), b.text()),
            Number::Product(a, b) => format!("({} * {})", a.text(), b.text()),
            Number::Quotient(a, b) => format!("({} / {})", a.text(), b.text()),
            Number::Remainder(a, b) => format!("({} % {})", a.text(), b.text()),
        }
    }

    fn value(&self, kernel: &Kernel, launch: &Launch, k: i64) -> i64 {
        let of = |number: &Number| number.value(kernel, launch, k);
        match self {
            Number::Constant(value) => *value,
            Number::ThreadX => launch.thread as i64 % kernel.block[0],
            Number::ThreadY => launch.thread as i64 / kernel.block[0],
            Number::BlockX => launch.block[0],
            Number::BlockY => launch.block[1],
            Number::GridX => launch.grid[0],
            Number::N => launch.n,
            Number::K => k,
            Number::Sum(a, b) => of(a) + of(b),
            Number::Product(a, b) => of(a) * of(b),
            Number::Quotient(a, b) => of(a) / of(b),
            Number::Remainder(a, b) => of(a) % of(b),
        }
    }
}

impl Kernel {
    pub(crate) fn attribute(&self) -> String {
        format!("block = [{}, {}], grid = [g, h], requires(n >= 1)", self.block[0], self.block[1])
    }

    pub(crate) fn item(&self) -> String {
        let index: Vec<String> = self.index.iter().map(Number::text).collect();
        let conditions: Vec<String> =
            self.guards.iter().map(|(a, b)| format!("{} < {}", a.text(), b.text())).collect();
        let mut body = format!("output[[{}]] = 1.0;", index.join(", "));
        if !conditions.is_empty() {
            body = format!("if {} {{ {body} }}", conditions.join(" && "));
        }
        body = match self.rounds {
            Some(0) => format!("for k in 0..n {{ {body} }}"),
            Some(rounds) => format!("for k in 0..{rounds} {{ {body} }}"),
            None => body,
        };
        let rank = self.index.len();
        format!("fn random(output: &mut Tensor<f32, {rank}>, g: usize, h: usize, n: usize) {{ {body} }}")
    }

    pub(crate) fn text(&self) -> String {
        format!("#[tiled_kernel({})]\n{}\nwidth {}", self.attribute(), self.item(), self.width)
    }

    pub(crate) fn threads(&self) -> usize {
        (self.block[0] * self.block[1]) as usize
    }

    /// The elements that a thread writes.
    pub(crate) fn touched(&self, launch: &Launch) -> Vec<Vec<i64>> {
        let mut touched = Vec::new();
        let rounds = match self.rounds {
            Some(0) => launch.n,
            Some(rounds) => rounds,
            None => 1,
        };
        for k in 0..rounds {
            let of = |number: &Number| number.value(self, launch, k);
            if self.guards.iter().all(|(a, b)| of(a) < of(b)) {
                let index: Vec<i64> = self.index.iter().map(of).collect();
                for further in 0..i64::from(self.width) {
                    let mut index = index.clone();
                    if let Some(last) = index.last_mut() {
                        *last += further;
                    }
                    touched.push(index);
                }
            }
        }
        touched
    }
}

fn boxed(number: Number) -> Box<Number> {
    Box::new(number)
}

fn sum(a: Number, b: Number) -> Number {
    Number::Sum(boxed(a), boxed(b))
}

fn times(a: Number, b: Number) -> Number {
    Number::Product(boxed(a), boxed(b))
}

fn leaf(tape: &mut Tape<'_>, looped: bool) -> Number {
    match tape.below(8) {
        0 => Number::Constant(tape.of(&[0, 1, 2, 3, 5, 8])),
        1 | 2 => Number::ThreadX,
        3 => Number::ThreadY,
        4 => Number::BlockX,
        5 => Number::BlockY,
        6 if looped => Number::K,
        _ => Number::N,
    }
}

/// What divides: never zero.
fn divisor(tape: &mut Tape<'_>) -> Number {
    match tape.below(3) {
        0 => Number::N,
        _ => Number::Constant(tape.of(&[2, 3, 4, 8])),
    }
}

fn number(tape: &mut Tape<'_>, looped: bool, depth: u32) -> Number {
    if depth == 0 {
        return leaf(tape, looped);
    }
    let inner = |tape: &mut Tape<'_>| number(tape, looped, depth - 1);
    match tape.below(7) {
        0 | 1 => sum(inner(tape), inner(tape)),
        2 => times(inner(tape), Number::Constant(tape.of(&[2, 3, 4, 8, 16]))),
        3 => times(inner(tape), Number::N),
        4 => Number::Quotient(boxed(inner(tape)), boxed(divisor(tape))),
        5 => Number::Remainder(boxed(inner(tape)), boxed(divisor(tape))),
        _ => leaf(tape, looped),
    }
}

/// A number that tends to be another one for each thread: coordinates in mixed radix.
fn place(tape: &mut Tape<'_>, block: [i64; 2], looped: bool) -> Number {
    let x = sum(times(Number::BlockX, Number::Constant(block[0])), Number::ThreadX);
    let y = sum(times(Number::BlockY, Number::Constant(block[1])), Number::ThreadY);
    let width = times(Number::GridX, Number::Constant(block[0]));
    let all = sum(times(y.clone(), width.clone()), x.clone());
    match tape.below(7) {
        0 => x,
        1 => y,
        2 => all,
        3 => sum(times(y, Number::N), x),
        4 if looped => sum(times(Number::K, width), x),
        5 => Number::Quotient(boxed(all), boxed(divisor(tape))),
        _ => Number::Remainder(boxed(all), boxed(divisor(tape))),
    }
}

pub(crate) fn random(tape: &mut Tape<'_>) -> Kernel {
    let block = tape.of(&[[4, 1], [8, 1], [4, 2], [3, 5], [2, 4], [12, 1]]);
    let rounds = tape.of(&[None, None, Some(0), Some(2), Some(4)]);
    let looped = rounds.is_some();
    let rank = 1 + tape.below(3);
    let index = (0..rank).map(|_| match tape.below(3) {
        0 => number(tape, looped, 2),
        _ => place(tape, block, looped),
    });
    let index = index.collect();
    let guards = (0..tape.below(3)).map(|_| match tape.below(3) {
        0 => (number(tape, looped, 1), number(tape, looped, 1)),
        1 => (place(tape, block, looped), Number::N),
        _ => (leaf(tape, looped), Number::Constant(1)),
    });
    Kernel { block, rounds, guards: guards.collect(), index, width: tape.of(&[1, 1, 1, 2]) }
}
