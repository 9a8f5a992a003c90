//! One page: its blocks and tables, and what the compiler puts into them.
//!
//! A page is Markdown. What is computed:
//!
//! - **`rust` blocks.** Every one is compiled. It is a whole kernel (or several, or modules of them); or, behind
//!   `<!-- in: NAME -->`, the statements that go into the gap of a frame; or, behind `<!-- frame: NAME -->`, a frame, with a line
//!   `…` for the gap; or, behind `<!-- host -->`, Rust that calls kernels, which rustc alone checks. The compiler must accept it,
//!   unless a block of errors follows.
//!   In `accepted.rs` it is a module, named after its first `pub fn` if it has one, so that tests there can run that.
//! - **Blocks behind them.** `cpp` is the kernel's statements, or behind `<!-- whole -->` its whole text, behind
//!   `<!-- signature -->` its head, behind `<!-- prelude: a, b -->` functions that the text defines, behind `<!-- lines: a | b -->`
//!   the statements that hold one of these words. `text,sites` is a paragraph an access, `text,report` the report,
//!   `text,error` why the compiler refuses it.
//! - **Tables** behind `<!-- rows: NAME -->`. The first cell of a row is an expression. It goes into the frame as
//!   `let value = …;`, and the second cell is what becomes of it. A column `instructions` is what it adds to the machine code,
//!   compared where the tools are at hand, and a column `ulp` the function's error in f32 and f64.
//! - **The table** behind `<!-- approximated -->`, below its head: the functions that are not exact, by their errors.

use crate::frame::{Frames, directive, fill};
use crate::machine::instructions;
use crate::outcome::{self, Outcome};
use std::fmt::Write;
use std::path::PathBuf;
use tileproof_compiler::Compiled;
use tileproof_compiler::ir::{FUNCTIONS, Function};
use tileproof_tests::needs;

/// A page, computed.
pub(crate) struct Page {
    /// What it must say.
    pub(crate) text: String,
    /// The Rust that rustc must accept, a module a block.
    pub(crate) accepted: String,
    /// The CUDA texts of what the compiler accepts.
    pub(crate) cuda: Vec<Text>,
    /// Examples with another outcome than the page promises, each with its line.
    pub(crate) problems: Vec<String>,
    /// The Rust blocks that are kernels, in order.
    pub(crate) kernels: Vec<Kernels>,
}

/// What one kernel became.
pub(crate) struct Text {
    /// Of the page.
    pub(crate) line: usize,
    pub(crate) cuda: String,
    /// The names of those that the kernel is for.
    pub(crate) architectures: Vec<&'static str>,
}

/// A block of kernels, and what became of it.
pub(crate) struct Kernels {
    /// The title it stands under.
    pub(crate) section: String,
    /// The block, in its frame.
    pub(crate) source: String,
    /// As rustc prints them; none where the compiler accepts the block.
    pub(crate) errors: String,
}

/// What the page holds at this point.
struct Reader<'a> {
    frames: &'a Frames,
    page: Page,
    /// The Rust block that the blocks behind it are about.
    current: Option<Example>,
    blocks: u32,
}

struct Example {
    line: usize,
    section: String,
    /// The block, in its frame.
    source: String,
    outcome: Outcome,
    /// Whether a block has shown its errors.
    refused: bool,
}

impl Page {
    /// Computes the page from its present text.
    ///
    /// # Errors
    /// If it breaks the rules for pages; with the line.
    pub(crate) fn read(text: &str, frames: &Frames) -> Result<Page, String> {
        let page = Page {
            text: String::new(),
            accepted: String::new(),
            cuda: Vec::new(),
            problems: Vec::new(),
            kernels: Vec::new(),
        };
        let mut reader = Reader { frames, page, current: None, blocks: 0 };
        let mut lines = text.lines().enumerate();
        // The comments since the last line of another kind.
        let mut directives: Vec<&str> = Vec::new();
        while let Some((index, line)) = lines.next() {
            reader.put(line);
            if let Some(info) = line.strip_prefix("```") {
                let block: Vec<&str> =
                    lines.by_ref().map(|(_, line)| line).take_while(|line| *line != "```").collect();
                let block = block.iter().map(|line| format!("{line}\n")).collect::<String>();
                let computed = reader
                    .block(info, &directives, &block, index + 1)
                    .map_err(|error| format!("{}: {error}", index + 1))?;
                reader.page.text.push_str(&computed);
                reader.put("```");
                directives.clear();
            } else if line.starts_with("| ") && directives.iter().any(|it| directive(it, "rows").is_some()) {
                let mut table = vec![line];
                let mut rest = lines.clone();
                while let Some((_, line)) = rest.next().filter(|(_, line)| line.starts_with('|')) {
                    table.push(line);
                    lines.next();
                }
                let start = reader.page.text.len() - line.len() - 1;
                reader.page.text.truncate(start);
                reader
                    .table(&directives, &table, index + 1)
                    .map_err(|error| format!("{}: {error}", index + 1))?;
                directives.clear();
            } else if line.starts_with("| ") && directives.contains(&"<!-- approximated -->") {
                // The head and the line below it stay.
                reader.page.text.extend(lines.next().map(|(_, line)| format!("{line}\n")));
                while lines.clone().next().is_some_and(|(_, line)| line.starts_with('|')) {
                    lines.next();
                }
                approximated().iter().for_each(|row| reader.put(row));
                directives.clear();
            } else if line.starts_with("<!--") {
                directives.push(line);
            } else if !line.is_empty() {
                directives.clear();
            }
        }
        reader.close();
        Ok(reader.page)
    }
}

impl Reader<'_> {
    fn put(&mut self, line: &str) {
        self.page.text.push_str(line);
        self.page.text.push('\n');
    }

    fn frame(&self, name: &str) -> Result<&str, String> {
        self.frames.get(name).map(String::as_str).ok_or_else(|| format!("no frame `{name}`"))
    }

    /// What stands in the block.
    fn block(&mut self, info: &str, directives: &[&str], block: &str, line: usize) -> Result<String, String> {
        let of = |key| directives.iter().find_map(|it| directive(it, key));
        let has = |word: &str| directives.iter().any(|it| *it == format!("<!-- {word} -->"));
        if info.starts_with("rust") {
            self.close();
            if of("frame").is_some() {
                return Ok(block.to_owned());
            }
            // Lines that mdBook hides.
            let shown = |line: &str| line.strip_prefix("# ").unwrap_or(line).to_owned() + "\n";
            let source: String = block.lines().map(shown).collect();
            if has("host") {
                self.accept(&source);
                return Ok(block.to_owned());
            }
            let source = match of("in") {
                Some(name) => fill(self.frame(name)?, &source),
                None => source,
            };
            let outcome = outcome::outcome(&source)?;
            let section = self.page.text.lines().rev().find_map(|line| line.strip_prefix("## "));
            let section = section.unwrap_or_default().to_owned();
            self.current = Some(Example { line, section, outcome, refused: false, source });
            return Ok(block.to_owned());
        }
        if info == "text,error" {
            let example = self.current.as_mut().ok_or("no Rust before these errors")?;
            example.refused = true;
            let errors: Vec<&String> = example.outcome.iter().filter_map(|one| one.as_ref().err()).collect();
            if errors.is_empty() {
                self.page.problems.push(format!("{line}: the compiler accepts what this block refuses"));
            }
            return Ok(errors.iter().map(|error| outcome::errors(error)).collect::<Vec<_>>().join("\n"));
        }
        let computed = ["cpp", "text,sites", "text,report"].contains(&info);
        let example = match &self.current {
            Some(example) if computed => example,
            _ => return Ok(block.to_owned()),
        };
        let mut out = Vec::new();
        for compiled in example.outcome.iter().flatten() {
            out.push(match info {
                "cpp" if has("whole") => compiled.cuda.clone(),
                "cpp" if has("signature") => outcome::signature(&compiled.cuda),
                "cpp" => match (of("prelude"), of("lines")) {
                    (Some(names), _) => outcome::prelude(&compiled.cuda, names)?,
                    (None, Some(words)) => {
                        let holds = |line: &&str| words.split('|').any(|word| line.contains(word.trim()));
                        let body = outcome::body(&compiled.cuda);
                        body.lines().filter(holds).map(|line| format!("{}\n", line.trim_start())).collect()
                    }
                    (None, None) => outcome::body(&compiled.cuda),
                },
                "text,sites" => outcome::sites(&compiled.report),
                _ => compiled.report.to_string(),
            });
        }
        Ok(out.join("\n"))
    }

    /// Computes the second cells.
    fn table(&mut self, directives: &[&str], table: &[&str], line: usize) -> Result<(), String> {
        self.close();
        let name = directives.iter().find_map(|it| directive(it, "rows")).ok_or("no frame")?;
        let frame = self.frame(name)?.to_owned();
        let cells_of_head = cells(table[0]);
        let counted = cells_of_head.iter().position(|title| title == "instructions");
        let tool = if counted.is_some() { nvdisasm() } else { None };
        let empty = match (&tool, outcome::outcome(&fill(&frame, "let value = x;"))?.pop()) {
            (Some(tool), Some(Ok(compiled))) => instructions(tool, &compiled.cuda),
            _ => 0,
        };
        let mut statements = String::new();
        for (index, row) in table.iter().enumerate() {
            let mut cells: Vec<String> = cells(row);
            if index >= 2 {
                let code =
                    cells.first().map(|cell| cell.trim_matches('`').replace("\\|", "|")).unwrap_or_default();
                let statement = format!("let value = {code};\n");
                statements.push_str(&statement);
                match outcome::outcome(&fill(&frame, &statement))?.pop() {
                    Some(Ok(compiled)) => {
                        if let Some(cell) = cells.get_mut(1) {
                            *cell = format!("`{}`", value(&compiled.cuda).replace('|', "\\|"));
                        }
                        let ulp = cells_of_head.iter().position(|title| title.starts_with("ulp"));
                        if let Some(cell) = ulp.and_then(|at| cells.get_mut(at)) {
                            *cell = ulps(&code);
                        }
                        if let (Some(cell), Some(tool)) = (counted.and_then(|at| cells.get_mut(at)), &tool) {
                            *cell = (instructions(tool, &compiled.cuda) - empty).to_string();
                        }
                        self.page.cuda.push(text(line + index, compiled));
                    }
                    Some(Err(error)) => {
                        self.page.problems.push(format!("{}: `{code}` is refused: {error}", line + index));
                    }
                    None => {}
                }
            }
            let row = format!("| {} |", cells.join(" | "));
            self.put(if index == 1 { table[1] } else { &row });
        }
        self.accept(&fill(&frame, &statements));
        Ok(())
    }

    /// Settles the block before.
    fn close(&mut self) {
        let Some(example) = self.current.take() else { return };
        let errors: Vec<String> =
            example.outcome.iter().filter_map(|one| one.as_ref().err().cloned()).collect();
        let printed = errors.iter().map(|error| outcome::errors(error)).collect();
        self.page.kernels.push(Kernels {
            section: example.section,
            source: example.source.clone(),
            errors: printed,
        });
        if example.refused {
            return;
        }
        if errors.is_empty() {
            self.accept(&example.source);
            let compiled = example.outcome.into_iter().flatten();
            self.page.cuda.extend(compiled.map(|compiled| text(example.line, compiled)));
        } else {
            self.page.problems.push(format!("{}: refused: {}", example.line, errors.join("\n")));
        }
    }

    fn accept(&mut self, source: &str) {
        self.blocks += 1;
        let public = source.lines().find_map(|line| line.strip_prefix("pub fn ")?.split_once(['(', '<']));
        let name = public.map_or_else(|| format!("block_{}", self.blocks), |(name, _)| name.to_owned());
        let _ = write!(self.page.accepted, "    pub mod {name} {{\n        use tileproof::prelude::*;\n");
        for line in source.lines() {
            let _ = writeln!(self.page.accepted, "        {line}");
        }
        self.page.accepted.push_str("    }\n");
    }
}

fn text(line: usize, compiled: Compiled) -> Text {
    let architectures =
        compiled.report.occupancy.iter().map(|(architecture, _)| architecture.name()).collect();
    Text { line, cuda: compiled.cuda, architectures }
}

/// The disassembler, where the compiler for its input is too.
fn nvdisasm() -> Option<PathBuf> {
    needs::nvrtc_dir().and_then(|_| needs::nvdisasm())
}

/// The cells of a row; `\|` is not an end.
fn cells(row: &str) -> Vec<String> {
    let hidden = row.trim().trim_matches('|').replace("\\|", "\u{0}");
    hidden.split('|').map(|cell| cell.trim().replace('\u{0}', "\\|")).collect()
}

/// How exact the method at the end of an expression is.
fn ulps(code: &str) -> String {
    let name = code.rsplit_once('.').and_then(|(_, call)| call.split_once('(')).map_or("", |(name, _)| name);
    match Function::named(name).map(|function| function.row().ulps) {
        None | Some((0, 0)) => "0".into(),
        Some((single, double)) => format!("{single}, {double}"),
    }
}

/// The rows of a table of functions that are not exact, with how far they may be from the correctly rounded result in f32 and f64.
pub(crate) fn approximated() -> Vec<String> {
    let mut bounds: Vec<(u32, u32)> =
        FUNCTIONS.iter().map(|row| row.ulps).filter(|ulps| *ulps != (0, 0)).collect();
    bounds.sort_unstable();
    bounds.dedup();
    let row = |bound: &(u32, u32)| {
        let names = FUNCTIONS.iter().filter(|row| row.ulps == *bound).map(|row| format!("`{}`", row.name));
        format!("| {} | {} | {} |", names.collect::<Vec<_>>().join(", "), bound.0, bound.1)
    };
    bounds.iter().map(row).collect()
}

/// What `value` is in the CUDA text.
fn value(cuda: &str) -> String {
    let body = outcome::body(cuda);
    let given = body.lines().rev().find_map(|line| {
        let (declared, value) = line.split_once(" = ")?;
        let name = declared.rsplit(' ').next()?;
        (name.trim_end_matches(|c: char| c == '_' || c.is_ascii_digit()) == "value").then_some(value)
    });
    given.unwrap_or(&body).trim().trim_end_matches(';').replace('\n', " ")
}
