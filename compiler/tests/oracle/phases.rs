//! Random kernels whose threads write shared memory, meet, and read what others wrote, as source text.
//!
//! Most steps are what a careful author would write, a barrier after each; now and then one is left out, or an access
//! goes where another thread is.

use crate::tape::Tape;
use std::fmt::Write;

/// A kernel with one tile of rows, and what it is run with.
#[derive(Debug)]
pub(crate) struct Phased {
    pub(crate) block: [i64; 2],
    pub(crate) element: &'static str,
    /// Elements of a row of the tile.
    pub(crate) columns: i64,
    /// Whether its indices are sums of multiples, so that everything about them is known.
    pub(crate) affine: bool,
    pub(crate) stages: i64,
    /// What `n` is at least.
    pub(crate) least: u64,
    layout: &'static str,
    fill: Fill,
    body: Vec<String>,
}

/// How a kernel starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fill {
    /// All elements are written, and the block meets.
    Whole,
    /// The block does not meet.
    Open,
    /// Not at all.
    Nothing,
}

impl Phased {
    pub(crate) fn threads(&self) -> i64 {
        self.block.iter().product()
    }

    pub(crate) fn attribute(&self) -> String {
        let [x, y] = self.block;
        let least = self.least;
        format!(
            "block = [{x}, {y}], grid = [output.rows()], requires(input.rows() >= output.rows(), n >= {least})"
        )
    }

    pub(crate) fn item(&self) -> String {
        self.text(&[self.fill])
    }

    /// The same with a tile that is written before all else.
    pub(crate) fn initialised(&self) -> String {
        self.text(&[Fill::Whole, self.fill])
    }

    fn text(&self, fills: &[Fill]) -> String {
        let Phased { element, columns, stages, layout, .. } = self;
        let [x, threads] = [self.block[0], self.threads()];
        let mut text = format!(
            "fn kernel(n: usize, m: usize, flag: bool, input: &Matrix<{element}>, output: &mut Matrix<{element}>) {{\n\
             let mut tile = Shared::<[[{element}; {columns}]; {stages}], {layout}>::new();\n\
             let mut sum = 0 as {element};\n\
             let t = thread_y() * {x} + thread_x(); let first = input.get_or([block_x(), t], 0 as {element});\n"
        );
        let write = format!(
            "for i in (t..{}).step_by({threads}) {{ tile[i / {columns}][i % {columns}] = 0 as {element}; }}",
            columns * stages
        );
        for fill in fills {
            text += &match fill {
                Fill::Whole => format!("{write} sync_threads(); "),
                Fill::Open => write.clone(),
                Fill::Nothing => String::new(),
            };
        }
        text.push('\n');
        for line in &self.body {
            writeln!(text, "{line}").expect("a string takes all");
        }
        text + "if t < output.cols() { output[[block_x(), t]] = sum; }\n}"
    }
}

/// A kernel in the making.
struct Source<'t, 'b> {
    tape: &'t mut Tape<'b>,
    threads: i64,
    columns: i64,
    stages: i64,
    element: &'static str,
    /// Whether rows hold a vector of four for each thread.
    wide: bool,
    /// The loops around: their variables, with what they stay below if that is known.
    loops: Vec<(String, Option<i64>)>,
    affine: bool,
    /// How many steps may follow.
    left: u32,
    named: u32,
    lines: Vec<String>,
}

pub(crate) fn random(tape: &mut Tape<'_>) -> Phased {
    let block = tape.pick(&[[32, 1], [64, 1], [8, 1], [16, 4], [40, 1], [33, 1], [32, 2], [96, 1], [16, 2]]);
    let element = tape.pick(&["u32", "f32", "u32", "f32", "f64", "u16"]);
    let threads: i64 = block.iter().product();
    let wide = element.ends_with("32") && tape.rarely(5);
    let row = (threads as u64).next_power_of_two().max(32) as i64;
    let columns = if wide { 4 * row } else { row * tape.pick(&[1, 1, 2]) };
    let stages = tape.pick(&[1, 2, 3, 2, 4]);
    let layout = tape.pick(&["RowMajor", "Pad<4>", "Xor<4>"]);
    let least = u64::from(tape.rarely(4));
    let fill = match tape.below(8) {
        4 => Fill::Open,
        5..=7 => Fill::Nothing,
        _ => Fill::Whole,
    };
    let mut source = Source {
        tape,
        threads,
        columns,
        stages,
        element,
        wide,
        loops: Vec::new(),
        affine: true,
        left: 9,
        named: 0,
        lines: Vec::new(),
    };
    source.steps(0);
    let Source { affine, lines, .. } = source;
    Phased { block, element, columns, affine, stages, least, layout, fill, body: lines }
}

impl Source<'_, '_> {
    fn say(&mut self, line: impl Into<String>) {
        self.lines.push(line.into());
    }

    fn name(&mut self, of: &str) -> String {
        self.named += 1;
        format!("{of}{}", self.named)
    }

    /// The block meets, as a rule.
    fn meet(&mut self) {
        match self.tape.below(40) {
            7 | 15 | 23 => {}
            31 => self.say("if t < n { sync_threads(); }"),
            8 => self.say("if flag { sync_threads(); }"),
            14 => {
                self.say(
                    "sum = sum + sync_threads_count(t < n) as ELEMENT;".replace("ELEMENT", self.element),
                );
            }
            _ => self.say("sync_threads();"),
        }
    }

    /// A row of the tile.
    fn stage(&mut self) -> String {
        let (s, tape) = (self.stages, &mut *self.tape);
        if s == 1 {
            return "0".into();
        }
        let Some((k, below)) = self.loops.last().cloned() else {
            return match tape.below(10) {
                9 => format!("n % {s}"),
                n => (n as i64 % s).to_string(),
            };
        };
        match tape.below(12) {
            0..=4 => format!("{k} % {s}"),
            5 | 6 => format!("({k} + 1) % {s}"),
            7 => format!("({k} + {}) % {s}", s - 1),
            8 if below.is_some_and(|below| below <= s) => k,
            9 => format!("({} + {k}) % {s}", self.loops[0].0),
            n => (n as i64 % s).to_string(),
        }
    }

    /// A place in a row that is each thread's own.
    fn own(&mut self) -> String {
        let (threads, tape) = (self.threads, &mut *self.tape);
        match tape.below(12) {
            7 => format!("{} - t", threads - 1),
            8 => "t ^ 1".into(),
            9 => format!("(t + {}) % {threads}", 1 + tape.below(4)),
            10 => format!("t + {}", self.columns / if self.wide { 4 } else { 1 } - threads),
            _ => "t".into(),
        }
    }

    /// A place that may be another thread's, too.
    fn any(&mut self) -> String {
        let threads = self.threads;
        match self.tape.below(12) {
            4 => "t / 2".into(),
            5 => "t % 8".into(),
            6 => self.tape.below(8).to_string(),
            7 => format!("(t + {}) % {threads}", threads / 2),
            8 => "t ^ 2".into(),
            9 => match self.loops.last().cloned() {
                Some((k, Some(_))) => format!("(t + {k}) % {threads}"),
                Some((k, None)) => {
                    self.affine = false;
                    format!("t ^ ({k} % 4)")
                }
                None => "t & 15".into(),
            },
            _ => self.own(),
        }
    }

    /// A condition that the threads of a block agree on, and that says nothing of the bounds of loops.
    fn agreed(&mut self) -> String {
        let k = self.loops.last().map(|(k, _)| k.clone());
        let number = self.tape.below(4);
        match (self.tape.below(8), k) {
            (0 | 5, _) => "flag".into(),
            (1, Some(k)) => format!("{k} % 2 == {}", number % 2),
            (2, Some(k)) => format!("{k} > {number}"),
            (3, Some(k)) => format!("{k} + 1 < n"),
            (4, _) => format!("input.cols() > {number}"),
            (6, _) => format!("input.rows() > {}", 1 + number),
            _ => "!flag".into(),
        }
    }

    /// A condition that differs between threads.
    fn differing(&mut self) -> String {
        let tape = &mut *self.tape;
        match tape.below(8) {
            0 | 1 => "t < n".into(),
            2 => format!("t < {}", 1 + tape.below(self.threads as usize)),
            3 => "t % 2 == 0".into(),
            4 => "t / 32 == 0".into(),
            5 => format!("block_x() * {} + t < input.cols()", self.threads),
            6 => "t == 0".into(),
            _ => "thread_x() + 4 > n".into(),
        }
    }

    fn guarded(&mut self, access: String) -> String {
        match self.tape.below(10) {
            6 | 7 => format!("if {} {{ {access} }}", self.differing()),
            8 => format!("if {} {{ {access} }}", self.agreed()),
            _ => access,
        }
    }

    fn value(&mut self) -> String {
        let element = self.element;
        match self.tape.below(5) {
            0 => format!("t as {element}"),
            1 => format!("n as {element}"),
            2 => "sum".into(),
            3 => "first".into(),
            _ => format!("1 as {element}"),
        }
    }

    fn write(&mut self) -> String {
        let (stage, value) = (self.stage(), self.value());
        let element = self.element;
        if self.wide && self.tape.rarely(2) {
            let own = self.own();
            return format!("tile.write([{stage}, 4 * ({own})], Vector::<{element}, 4>::splat({value}));");
        }
        let at = if self.tape.rarely(12) { self.any() } else { self.own() };
        format!("tile[{stage}][{at}] = {value};")
    }

    fn read(&mut self) -> String {
        let (stage, at) = (self.stage(), self.any());
        if self.wide && self.tape.rarely(2) {
            let v = self.name("v");
            let lane = self.tape.below(4);
            return format!("let {v} = tile.read::<4>([{stage}, 4 * ({at})]); sum = sum + {v}[{lane}];");
        }
        format!("sum = sum + tile[{stage}][{at}];")
    }

    fn update(&mut self) -> String {
        let (stage, at) = (self.stage(), self.any());
        format!("tile.atomic_add([{stage}, {at}], 1 as {});", self.element)
    }

    /// An access of each thread that takes part in a step.
    fn access(&mut self) -> String {
        match self.tape.below(2) {
            0 => self.write(),
            _ => self.read(),
        }
    }

    fn steps(&mut self, depth: u32) {
        let more = if depth == 0 { 3 } else { 1 };
        for _ in 0..more + self.tape.below(2) {
            if self.left > 0 {
                self.left -= 1;
                self.step(depth);
            }
        }
    }

    fn step(&mut self, depth: u32) {
        match self.tape.below(20) {
            3..=5 => self.plain(Source::read),
            6 => {
                let (stage, at, element) = (self.stage(), self.own(), self.element);
                self.plain(|_| format!("tile[{stage}][{at}] = tile[{stage}][{at}] + 1 as {element};"));
            }
            7 | 8 if depth < 2 => self.repeat(depth),
            9 if depth < 2 => self.choice(depth),
            10 => self.warps(),
            11 if self.element != "u16" => self.copies(),
            12 if self.element.ends_with("32") => self.plain(Source::update),
            13 | 14 if depth < 2 => self.pipeline(),
            15 if self.element != "u16" && depth < 2 => self.copied_pipeline(),
            16 => self.whole(),
            17 => {
                let condition = self.tape.pick(&["t < 5", "t % 2 == 0", "t / 32 == 0", "t == 0"]);
                let (then, otherwise) = (self.access(), self.access());
                self.plain(|_| format!("if {condition} {{ {then} }} else {{ {otherwise} }}"));
            }
            18 if depth == 0 => self.exit(),
            19 => {
                let (first, then) = (self.access(), self.access());
                self.plain(|_| format!("{first} {then}"));
            }
            _ => self.plain(Source::write),
        }
    }

    fn plain(&mut self, access: impl FnOnce(&mut Self) -> String) {
        let access = access(self);
        let access = self.guarded(access);
        self.say(access);
        self.meet();
    }

    fn bound(&mut self) -> String {
        match self.tape.below(4) {
            0 | 1 => "n".into(),
            2 => "m".into(),
            _ => "(n + m)".into(),
        }
    }

    /// Opens a loop; what closes it.
    fn open_loop(&mut self) -> String {
        let k = self.name("k");
        let bound = self.bound();
        let (head, below, close) = match self.tape.below(11) {
            1 | 2 => {
                let below = 1 + self.tape.below(4) as i64;
                (format!("for {k} in 0..{below} {{"), Some(below), "}".into())
            }
            3 => (format!("for {k} in (0..{bound}).step_by(2) {{"), None, "}".into()),
            4 => (format!("let mut {k} = 0; while {k} < {bound} {{"), None, format!("{k} += 1; }}")),
            5 => (
                format!("let mut {k} = 0; loop {{ if {k} >= {bound} {{ break; }}"),
                None,
                format!("{k} += 1; }}"),
            ),
            6 => (format!("for {k} in 1..{bound} {{"), None, "}".into()),
            7 => (format!("for {k} in 0..3 {{"), Some(3), "}".into()),
            8 if self.tape.rarely(4) => (format!("for {k} in 0..t % 4 {{"), Some(4), "}".into()),
            _ => (format!("for {k} in 0..{bound} {{"), None, "}".into()),
        };
        self.say(head);
        self.loops.push((k, below));
        close
    }

    fn close_loop(&mut self, close: String) {
        self.loops.pop();
        self.say(close);
    }

    fn repeat(&mut self, depth: u32) {
        let close = self.open_loop();
        self.steps(depth + 1);
        if close == "}" && self.tape.rarely(8) {
            // Not on the counter: an exit that is always taken leaves no iteration that could race.
            let condition = self.tape.pick(&["flag", "m == 2", "m == 1"]);
            self.say(format!("if {condition} {{ break; }}"));
        }
        self.close_loop(close);
    }

    fn choice(&mut self, depth: u32) {
        let condition = if self.tape.rarely(4) { self.differing() } else { self.agreed() };
        self.say(format!("if {condition} {{"));
        self.steps(depth + 1);
        if self.tape.rarely(2) {
            self.say("} else {");
            self.steps(depth + 1);
        }
        self.say("}");
    }

    /// Threads of a warp exchange values.
    fn warps(&mut self) {
        let (stage, value) = (self.stage(), self.value());
        let by = self.tape.pick(&[1, 2, 8, 16, 32]);
        self.say(format!("tile[{stage}][t] = {value};"));
        if !self.tape.rarely(8) {
            self.say("sync_warp();");
        }
        // Where the last warp is not full, its last threads have no partner.
        let at =
            if self.threads % 32 == 0 && by < self.columns / 2 { format!("t ^ {by}") } else { "t".into() };
        self.say(format!("sum = sum + tile[{stage}][{at}];"));
        match self.tape.rarely(2) {
            true => self.say("sync_warp();"),
            false => self.meet(),
        }
    }

    /// The block copies a row asynchronously.
    fn copies(&mut self) {
        let stage = self.stage();
        self.say(format!("tile[{stage}].load_async(input, [block_x(), 0]); commit();"));
        if self.tape.rarely(3) {
            let access = self.access();
            self.say(access);
        }
        match self.tape.below(10) {
            8 => {}
            9 => self.say("wait::<1>();"),
            _ => self.say("wait::<0>();"),
        }
        self.meet();
    }

    /// Rows go through the stages of the tile.
    fn pipeline(&mut self) {
        let close = self.open_loop();
        let (stage, own, value, any) = (self.stage(), self.own(), self.value(), self.any());
        self.say(format!("tile[{stage}][{own}] = {value};"));
        self.meet();
        self.say(format!("sum = sum + tile[{stage}][{any}];"));
        if self.tape.rarely(3) || self.stages == 1 {
            self.meet();
        }
        self.close_loop(close);
        if !self.tape.rarely(4) {
            self.meet();
        }
    }

    /// The same with copies that run ahead.
    fn copied_pipeline(&mut self) {
        let (s, bound, k, any) = (self.stages, self.bound(), self.name("k"), self.any());
        let ahead = if self.tape.rarely(6) { 2 } else { 1 };
        let pending = if self.tape.rarely(8) { 0 } else { ahead };
        for i in 0..ahead {
            self.say(format!("tile[{}].load_async(input, [block_x(), 0]); commit();", i % s));
        }
        self.say(format!("for {k} in 0..{bound} {{"));
        let copy = format!("tile[({k} + {ahead}) % {s}].load_async(input, [block_x(), 0]);");
        match self.tape.rarely(2) {
            true => self.say(format!("{copy} commit();")),
            false => self.say(format!("if {k} + {ahead} < {bound} {{ {copy} }} commit();")),
        }
        self.say(format!("wait::<{pending}>();"));
        self.meet();
        self.say(format!("sum = sum + tile[{k} % {s}][{any}];"));
        self.meet();
        self.say("}");
        self.say("wait::<0>(); sync_threads();");
    }

    /// The block moves a whole row.
    fn whole(&mut self) {
        let stage = self.stage();
        match self.tape.below(2) {
            0 => self.say(format!("tile[{stage}].load(input, [block_x(), 0]);")),
            _ => self.say(format!("tile[{stage}].store(output, [block_x(), 0]);")),
        }
        self.meet();
    }

    fn exit(&mut self) {
        // Not on what later conditions are on: nothing is known of what an exit rules out.
        let agreed = self.tape.pick(&["n > 4", "m == 7"]).to_string();
        let condition = if self.tape.rarely(6) { self.differing() } else { agreed };
        self.say(format!("if {condition} {{ return; }}"));
    }
}
