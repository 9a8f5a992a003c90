//! Random kernels that cost what their accesses cost, as source text.

use crate::expr::{Expr, Point};
use crate::tape::Tape;
use std::collections::HashSet;

/// A random kernel: what it is run with, and the parts of its text.
#[derive(Debug)]
pub(crate) struct Kernel {
    pub(crate) block: [i64; 2],
    /// Elements that a block covers: rows, columns.
    pub(crate) span: [i64; 2],
    pub(crate) element: &'static str,
    /// Elements of a vector access.
    pub(crate) width: i64,
    /// Whether its loop runs over the rows of the input.
    pub(crate) streams: bool,
    /// The largest value of its argument `n`.
    pub(crate) most: i64,
    /// Whether `n` chooses the stage of the tile, which a swizzle may make unknown.
    pub(crate) chooses: bool,
    /// Whether its loop runs down from an end that is not known, so that nothing says which stage it is at.
    pub(crate) reversed: bool,
    /// Whether a guard may let other threads pass for each of its parts, of which no single proof covers all.
    pub(crate) doubtful: bool,
    /// How many rows its accesses look ahead of the loop.
    pub(crate) ahead: i64,
    /// Whether the rows of a warp start at whole sectors, so that the best alignment is reached.
    pub(crate) aligned: bool,
    extents: Vec<i64>,
    layout: String,
    requires: Vec<String>,
    before: Vec<String>,
    /// One line each; each may need a budget.
    statements: Vec<String>,
    after: Vec<String>,
}

/// The line of the first statement in the text.
pub(crate) const FIRST_LINE: usize = 2;

impl Kernel {
    pub(crate) fn attribute(&self) -> String {
        let [x, y] = self.block;
        let [rows, columns] = self.span;
        let grid = match self.streams {
            true => format!("[output.cols().div_ceil({columns})]"),
            false => format!("[output.cols().div_ceil({columns}), output.rows().div_ceil({rows})]"),
        };
        format!("block = [{x}, {y}], grid = {grid}, requires({})", self.requires.join(", "))
    }

    /// The function, with a budget for each statement where there is one.
    pub(crate) fn item(&self, budgets: &[String]) -> String {
        let element = self.element;
        let array = self.extents.iter().rev().fold(element.to_string(), |inner, n| format!("[{inner}; {n}]"));
        let head = format!(
            "fn kernel(n: usize, input: &Matrix<{element}>, output: &mut Matrix<{element}>) {{ let mut tile = Shared::<{array}, {}>::new(); {}",
            self.layout,
            self.before.join(" ")
        );
        let fill = self.fill();
        let statements =
            std::iter::once(&fill).chain(&self.statements).enumerate().map(|(place, statement)| {
                let budget = budgets.get(place).cloned().unwrap_or_default();
                format!("{budget} {statement} sync_threads();")
            });
        let lines: Vec<String> =
            std::iter::once(head).chain(statements).chain([self.after.join(" ") + " }"]).collect();
        lines.join("\n")
    }

    /// The statement that initialises the tile.
    fn fill(&self) -> String {
        let mut inside = 1;
        let indices: Vec<String> = self
            .extents
            .iter()
            .rev()
            .map(|extent| {
                let index = format!("[i / {inside} % {extent}]");
                inside *= extent;
                index
            })
            .collect();
        let indices: String = indices.into_iter().rev().collect();
        let [x, y] = self.block;
        format!(
            "for i in (thread_y() * {x} + thread_x()..{inside}).step_by({}) {{ tile{indices} = 0 as {}; }}",
            x * y,
            self.element
        )
    }

    /// How many statements may need a budget.
    pub(crate) fn statements(&self) -> usize {
        1 + self.statements.len()
    }
}

/// A kernel that copies tiles, or one that streams rows through stages.
pub(crate) fn random(tape: &mut Tape<'_>) -> Kernel {
    let element = tape.pick(&["f32", "f32", "u32", "f64", "u16", "u8"]);
    let x = tape.pick(&[32, 8, 16, 4, 64, 12, 7, 33, 48, 1, 2, 31]);
    let y = tape.pick(&[1, 8, 4, 2, 3]);
    match tape.rarely(4) {
        true => streaming(tape, element, [x, y]),
        false => tiled(tape, element, [x, y]),
    }
}

fn bytes_of(element: &str) -> i64 {
    element[1..].parse::<i64>().expect("an element's name ends with its bits") / 8
}

fn points([x, y]: [i64; 2], iterations: i64) -> impl Iterator<Item = Point> {
    (0..iterations).flat_map(move |k| (0..y).flat_map(move |y| (0..x).map(move |x| Point { x, y, k })))
}

/// A random expression over the thread and, if `iterate` gives one, the iteration.
fn index(tape: &mut Tape<'_>, [x, y]: [i64; 2], iterate: &[Expr], depth: u32) -> Expr {
    let linear = || Expr::ThreadY.times(x).plus(Expr::ThreadX);
    let boxed = Box::new;
    if depth == 0 {
        let mut leaves = vec![Expr::ThreadX, Expr::ThreadX, Expr::ThreadY, linear()];
        leaves.extend_from_slice(iterate);
        leaves.push(Expr::Number(tape.below(3) as i64));
        return tape.pick(&leaves);
    }
    let inner = |tape: &mut Tape<'_>| index(tape, [x, y], iterate, depth - 1);
    match tape.below(12) {
        0..=2 => inner(tape),
        3 => inner(tape).plus(inner(tape)),
        4 => inner(tape).times(tape.pick(&[2, 3, 4, 8])),
        5 => Expr::Divided(boxed(inner(tape)), tape.pick(&[2, 4, 3, 8])),
        6 => Expr::Remainder(boxed(inner(tape)), tape.pick(&[8, 2, 4, 5, 32])),
        7 => Expr::And(boxed(inner(tape)), tape.pick(&[7, 3, 1, 15])),
        8 => Expr::Xor(boxed(inner(tape)), boxed(inner(tape))),
        9 => Expr::Min(boxed(inner(tape)), tape.pick(&[15, 3, 7, 30])),
        10 => Expr::Shifted(boxed(inner(tape)), tape.pick(&[1, 2])),
        _ => {
            let a = inner(tape);
            let most = points([x, y], 16).map(|point| a.at(point)).max().unwrap_or(0);
            Expr::From(most, boxed(a))
        }
    }
}

/// The largest value of each expression.
fn most(exprs: &[Expr], block: [i64; 2], iterations: i64) -> Vec<i64> {
    exprs.iter().map(|e| points(block, iterations).map(|point| e.at(point)).max().unwrap_or(0)).collect()
}

/// Whether no two threads or iterations touch one element.
fn injective(exprs: &[Expr], block: [i64; 2], iterations: i64, width: i64) -> bool {
    let mut seen = HashSet::new();
    points(block, iterations).all(|point| {
        let mut place: Vec<i64> = exprs.iter().map(|e| e.at(point)).collect();
        (0..width).all(|_| {
            let fresh = seen.insert(place.clone());
            *place.last_mut().expect("a tile has an extent") += 1;
            fresh
        })
    })
}

/// A tile that the accesses fit, and a layout of it; rarely one that is a little too small.
fn tile(tape: &mut Tape<'_>, needed: &[i64], element: &str) -> Option<(Vec<i64>, String)> {
    let mut extents: Vec<i64> = needed.to_vec();
    let last = extents.len() - 1;
    let layout = match tape.below(7) {
        0 | 1 => "RowMajor".to_string(),
        2 => format!("Pad<{}>", tape.pick(&[1, 2, 4, 3])),
        3 | 4 => {
            extents[last] = extents[last].max(8);
            let row = extents[last] as u64;
            extents[last] = row.next_power_of_two() as i64;
            format!("Xor<{}>", tape.pick(&[1, 2, 4]))
        }
        _ => {
            for extent in &mut extents {
                *extent = (*extent as u64).next_power_of_two() as i64;
            }
            extents[last] = extents[last].max(64);
            let bits = tape.pick(&[3, 2, 4, 1]);
            let base = tape.pick(&[0, 2, 1]);
            let shift = bits + tape.pick(&[0, 1, 2]);
            format!("Swizzle<{bits}, {base}, {shift}>")
        }
    };
    if tape.rarely(8) && layout.starts_with(['R', 'P']) {
        let place = tape.below(extents.len());
        extents[place] = (extents[place] - 1).max(1);
    }
    let bytes = extents.iter().product::<i64>() * bytes_of(element);
    // Room for the padding.
    (bytes < 32_000).then_some((extents, layout))
}

fn print_index(exprs: &[Expr]) -> String {
    exprs.iter().map(|e| format!("[{e}]")).collect()
}

fn print_list(exprs: &[Expr]) -> String {
    let list: Vec<String> = exprs.iter().map(Expr::to_string).collect();
    format!("[{}]", list.join(", "))
}

/// The index of one access to the tile.
fn place(tape: &mut Tape<'_>, rank: usize, block: [i64; 2], iterate: &[Expr], width: i64) -> Vec<Expr> {
    let mut exprs: Vec<Expr> = (0..rank)
        .map(|_| {
            let depth = 1 + tape.below(2) as u32;
            index(tape, block, iterate, depth)
        })
        .collect();
    if width > 1
        && !tape.rarely(8)
        && let Some(last) = exprs.last_mut()
    {
        *last = last.clone().times(width);
    }
    exprs
}

fn tiled(tape: &mut Tape<'_>, element: &'static str, block: [i64; 2]) -> Kernel {
    let [x, y] = block;
    let widths: Vec<i64> = [1, 1, 2, 4].into_iter().filter(|width| width * bytes_of(element) <= 16).collect();
    let width = tape.pick(&widths);
    let iterations = tape.pick(&[1, 4, 2, 3]);
    let rank = 1 + tape.below(3);
    let (mut statements, mut needed) = (Vec::new(), vec![1; rank]);
    let mut requires =
        vec!["output.rows() == input.rows()".to_string(), "output.cols() == input.cols()".into()];
    if width > 1 {
        requires.push(match tape.below(2) {
            0 => format!("input.cols().is_multiple_of({width})"),
            _ => format!("output.cols() % {width} == 0"),
        });
    }
    let mut doubtful = false;
    let mut aligned = (x * width * bytes_of(element)) % 32 == 0;
    for _ in 0..1 + tape.below(3) {
        let exprs = place(tape, rank, block, &[Expr::Iteration], width);
        let most = most(&exprs, block, iterations);
        let limits: &[i64] = match rank {
            1 => &[2_000],
            2 => &[64, 60],
            _ => &[8, 16, 28],
        };
        let fits = most.iter().zip(limits).all(|(most, limit)| most + width <= *limit);
        let writable = fits && injective(&exprs, block, iterations, width);
        let (to, at) = (print_index(&exprs), print_list(&exprs));
        let kind = tape.below(3);
        let tensor = if kind == 1 { "output" } else { "input" };
        let (row, column, guard) = guarded(tape, tensor, y, width, &mut aligned);
        let body = match (kind, width) {
            (0, 1) if writable => format!("tile{to} = input[[{row}, {column}]];"),
            (0, _) if writable => format!("tile.write({at}, input.read::<{width}>([{row}, {column}]));"),
            (1, 1) if fits => format!("output[[{row}, {column}]] = tile{to};"),
            (1, _) if fits => format!("output.write([{row}, {column}], tile.read::<{width}>({at}));"),
            (_, 1) => match tape.below(4) {
                3 => format!("sum = sum + input.get_or([{row}, {column}], 0 as {element});"),
                2 => format!(
                    "sum = sum + input.get_or([({row}) as isize, ({column}) as isize], 0 as {element});"
                ),
                _ => format!("sum = sum + input[[{row}, {column}]];"),
            },
            _ => format!("let v = input.read::<{width}>([{row}, {column}]); sum = sum + v[{}];", width - 1),
        };
        if (kind == 0 && writable) || (kind == 1 && fits) {
            for (place, most) in most.iter().enumerate() {
                let room = if place + 1 == rank { width } else { 1 };
                needed[place] = needed[place].max(most + room);
            }
        }
        let some = match tape.below(6) {
            0 => format!("thread_x() < {}", 1 + tape.below(x as usize)),
            1 => "(thread_x() + k) % 2 == 0".into(),
            _ => String::new(),
        };
        let guard: Vec<String> = std::iter::once(some).chain(guard).filter(|part| !part.is_empty()).collect();
        let body = match (guard.is_empty(), tape.below(12)) {
            (true, _) => body,
            (false, 10) => {
                let parts: Vec<String> = guard.iter().map(|part| format!("!({part})")).collect();
                format!("if {} {{ }} else {{ {body} }}", parts.join(" || "))
            }
            (false, 11) => {
                doubtful = true;
                let parts: Vec<String> = guard.iter().map(|part| format!("!({part})")).collect();
                format!("if {} {{ }} else {{ {body} }}", parts.join(" && "))
            }
            (false, _) => format!("if {} {{ {body} }}", guard.join(" && ")),
        };
        statements.push(repeated(tape, iterations, y, &body));
    }
    let (extents, layout) = tile(tape, &needed, element).unwrap_or((needed, "RowMajor".into()));
    let [rows, columns] = [y * iterations, x * width];
    Kernel {
        block,
        span: [rows, columns],
        element,
        width,
        streams: false,
        most: 0,
        doubtful,
        chooses: false,
        reversed: false,
        ahead: 0,
        aligned,
        extents,
        layout,
        requires,
        before: vec![
            format!("let mut sum = 0 as {element};"),
            format!("let row = block_y() * {rows} + thread_y();"),
            format!("let column = block_x() * {columns} + {width} * thread_x();"),
        ],
        statements,
        after: vec![
            "if row < output.rows() && column < output.cols() { output[[row, column]] = sum; }".into(),
        ],
    }
    .with_plain_end()
}

impl Kernel {
    /// The last store writes one element a thread, which is uncoalesced behind vectors; then it is left out.
    fn with_plain_end(mut self) -> Kernel {
        if self.width > 1 || !self.aligned {
            self.after.clear();
            self.before.push("let _ = sum;".into());
        }
        self
    }
}

/// A body that runs for `k` from 0 to the number of iterations, as one statement.
fn repeated(tape: &mut Tape<'_>, iterations: i64, y: i64, body: &str) -> String {
    let (last, idle) = (iterations - 1, iterations + 3);
    let skips =
        body.strip_prefix("if ").and_then(|rest| rest.split_once(" { ")).filter(|_| !body.contains("else"));
    match tape.below(14) {
        0 | 4 => format!("for k in (0..{}).step_by({y}) {{ let k = k / {y}; {body} }}", iterations * y),
        5 => format!("for k in (0..{iterations}).rev() {{ {body} }}"),
        6 => format!("for k in 0..={last} {{ {body} }}"),
        7 => format!("{{ let mut k = 0; while k < {iterations} {{ {body} k += 1; }} }}"),
        8 => format!("{{ let mut k = 0; loop {{ if k >= {iterations} {{ break; }} {body} k += 1; }} }}"),
        9 => format!("for k in 0..{idle} {{ if k >= {iterations} {{ break; }} {body} }}"),
        10 => format!("{{ let mut k = {iterations}; while k > 0 {{ k -= 1; {body} }} }}"),
        11 => format!("for j in (-{last}..=0isize).rev() {{ let k = (-j) as usize; {body} }}"),
        12 => match skips {
            Some((guard, rest)) => {
                format!("for k in 0..{iterations} {{ if !({guard}) {{ continue; }} {}", rest)
            }
            None => format!("for k in 0..{iterations} {{ {body} }}"),
        },
        13 => format!(
            "for k in 0..{iterations} {{ match k {{ 0 => {{ let k = 0; {body} }} _ => {{ {body} }} }} }}"
        ),
        _ => format!("for k in 0..{iterations} {{ {body} }}"),
    }
}

/// The row and the column of an access to a tensor, and a guard for each, which is rarely wrong.
fn guarded(
    tape: &mut Tape<'_>,
    tensor: &str,
    y: i64,
    width: i64,
    aligned: &mut bool,
) -> (String, String, [String; 2]) {
    let other = if tensor == "input" { "output" } else { "input" };
    let mut row = format!("row + k * {y}");
    let mut column = "column".to_string();
    let mut row_guard = match tape.below(4) {
        0 => format!("{row} < {other}.rows()"),
        1 => format!("{row} + 1 <= {tensor}.rows()"),
        _ => format!("{row} < {tensor}.rows()"),
    };
    if tape.rarely(6) {
        row_guard.clear();
        row = match tape.below(2) {
            0 => format!("({row}).min({tensor}.rows() - 1)"),
            _ => format!("({row}) % {tensor}.rows()"),
        };
    }
    let mut column_guard = match (width, tape.below(3)) {
        (1, 0) => format!("!(column >= {tensor}.cols())"),
        (1, _) => format!("column < {tensor}.cols()"),
        (_, 0) => format!("column + {} < {tensor}.cols()", width - 1),
        (_, _) => format!("column < {other}.cols()"),
    };
    if width == 1 {
        match tape.below(10) {
            8 => {
                column_guard = format!("column + 1 < {tensor}.cols()");
                column = "column + 1".into();
                *aligned = false;
            }
            9 => {
                column_guard.clear();
                column = format!("column.min({tensor}.cols() - 1)");
            }
            _ => {}
        }
    }
    match tape.below(24) {
        21 => row_guard.clear(),
        22 => column_guard.clear(),
        23 => column_guard = column_guard.replace(" < ", " <= "),
        _ => {}
    }
    (row, column, [row_guard, column_guard])
}

/// Rows of the input go through stages of a tile; how many there are is not known.
fn streaming(tape: &mut Tape<'_>, element: &'static str, block: [i64; 2]) -> Kernel {
    let [x, y] = block;
    let stages = tape.pick(&[2, 3, 4, 1]);
    let k = || Box::new(Expr::Iteration);
    let stage = tape.pick(&[
        Expr::Remainder(k(), stages),
        Expr::Remainder(Box::new(Expr::Iteration.plus(Expr::Number(1))), stages),
        Expr::Remainder(Box::new(Expr::Divided(k(), 2)), stages),
    ]);
    let swizzle = tape.pick(&[
        Expr::ThreadX,
        Expr::Xor(Box::new(Expr::ThreadX), Box::new(Expr::And(k(), 3))),
        Expr::Xor(Box::new(Expr::ThreadX), Box::new(Expr::Remainder(k(), 2))),
        Expr::ThreadX.plus(Expr::And(k(), 1)),
    ]);
    let write = vec![stage.clone(), Expr::ThreadY, swizzle];
    let rows = index(tape, [x, y], &[], 1);
    let columns = index(tape, [x, y], &[Expr::And(k(), 3)], 1);
    let read = vec![stage, Expr::Min(Box::new(rows), 3), Expr::Min(Box::new(columns), 63)];
    let needed: Vec<i64> =
        most(&write, block, 24).iter().zip(most(&read, block, 24)).map(|(a, b)| a.max(&b) + 1).collect();
    let (extents, layout) = tile(tape, &needed, element).unwrap_or((needed, "RowMajor".into()));
    let bytes = bytes_of(element);
    let guard = match tape.below(8) {
        7 => "column <= input.cols()",
        _ => "column < input.cols()",
    };
    let chooses = tape.rarely(5);
    let print_stage = |index: &[Expr]| match chooses {
        true => format!("[n]{}", print_index(&index[1..])),
        false => print_index(index),
    };
    let (head, row, ahead) = match tape.below(10) {
        5 => ("(0..input.rows()).step_by(2)", "k", false),
        7 | 8 => ("0..input.rows().max(1) - 1", "k + 1", true),
        9 => ("0..input.rows()", "k + 1", true),
        _ => ("0..input.rows()", "k", false),
    };
    let body = format!(
        "if {guard} {{ tile{} = input[[{row}, column]]; }} sync_threads(); sum = sum + tile{}; sync_threads();",
        print_stage(&write),
        print_stage(&read)
    );
    let mut reversed = false;
    let plain = head.strip_prefix("0..").filter(|_| tape.below(2) == 1);
    let statement = match (plain, tape.below(4)) {
        (Some(end), 0) => format!("{{ let mut k = 0; while k < {end} {{ {body} k += 1; }} }}"),
        (Some(end), 1) => {
            format!("{{ let mut k = 0; loop {{ if k >= {end} {{ break; }} {body} k += 1; }} }}")
        }
        (Some(end), 2) => {
            format!("for k in 0..{end} {{ if k + 1 > {end} {{ break; }} {body} }}")
        }
        (Some(end), _) => {
            reversed = true;
            format!("for k in (0..{end}).rev() {{ {body} }}")
        }
        (None, _) => format!("for k in {head} {{ {body} }}"),
    };
    Kernel {
        block,
        span: [1, x],
        element,
        width: 1,
        streams: true,
        most: stages - 1,
        doubtful: false,
        chooses,
        reversed,
        ahead: i64::from(ahead),
        aligned: x * bytes % 32 == 0,
        extents,
        layout,
        requires: vec![
            "output.cols() == input.cols()".into(),
            format!("output.rows() >= {y}"),
            format!("n < {stages}"),
        ],
        before: vec![
            format!("let mut sum = 0 as {element};"),
            format!("let column = block_x() * {x} + thread_x();"),
        ],
        statements: vec![statement],
        after: vec!["if column < output.cols() { output[[thread_y(), column]] = sum; }".into()],
    }
    .with_plain_end()
}
