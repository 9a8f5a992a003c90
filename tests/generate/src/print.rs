//! A program as the source text of a kernel.
//!
//! Every statement is on a line of its own, so that a budget for a line is one for a statement, and stands before it on that
//! line: the lines of a kernel are the same with and without budgets.

use crate::tree::{
    Access, Base, Blocks, Collective, Expr, Helper, Kernel, Kind, Local, Pattern, Place, Position,
};
use crate::tree::{Range, Stmt, Tensor, Tile, Type};
use crate::value::{Scalar, Value};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Costs that are accepted at a line, in wavefronts and in sectors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Budget {
    /// Excess wavefronts of one warp instruction.
    pub bank_conflict: Option<u32>,
    /// Excess sectors of one warp instruction.
    pub excess_sectors: Option<u32>,
}

/// The budgets of a kernel, by the lines of its function, counted from 1.
pub type Budgets = BTreeMap<usize, Budget>;

/// The arguments of the attribute.
pub fn attribute(kernel: &Kernel) -> String {
    let block: Vec<String> = kernel.block.iter().map(usize::to_string).collect();
    let grid = kernel.grid.iter().map(|blocks| match blocks {
        Blocks::Constant(n) => n.to_string(),
        Blocks::Covering(tensor, dimension, elements) => {
            format!("{}.extent({dimension}).div_ceil({elements})", tensor_name(kernel, *tensor))
        }
        Blocks::CoveringAll(tensor, elements) => {
            let name = tensor_name(kernel, *tensor);
            let extents = (0..kernel.tensors[*tensor].extents.len()).map(|d| format!("{name}.extent({d})"));
            format!("({}).div_ceil({elements})", extents.collect::<Vec<_>>().join(" * "))
        }
        Blocks::Windows(tensor, [rows, columns]) => {
            let name = tensor_name(kernel, *tensor);
            format!("{name}.rows().div_ceil({rows}) * {name}.cols().div_ceil({columns})")
        }
    });
    let grid: Vec<String> = grid.collect();
    format!(
        "block = [{}], grid = [{}], requires({})",
        block.join(", "),
        grid.join(", "),
        kernel.requires.join(", ")
    )
}

/// The function.
pub fn item(kernel: &Kernel, budgets: &Budgets) -> String {
    written(kernel, budgets).0.join("\n")
}

/// The line of the function, counted from 1, on which each statement of the kernel begins.
pub fn lines(kernel: &Kernel) -> Vec<usize> {
    written(kernel, &Budgets::new()).1
}

fn written(kernel: &Kernel, budgets: &Budgets) -> (Vec<String>, Vec<usize>) {
    let mut text = Text { kernel, budgets, lines: Vec::new(), changed: Vec::new(), labels: Vec::new() };
    let tensors = (0..kernel.tensors.len()).map(|place| tensor_parameter(kernel, place));
    let scalars =
        kernel.arguments.iter().enumerate().map(|(place, value)| {
            format!("argument{place}: {}", value.scalar().map_or("bool", Scalar::name))
        });
    let parameters: Vec<String> = tensors.chain(scalars).collect();
    text.line(&format!("fn {}({}) {{", kernel.name, parameters.join(", ")));
    for (place, value) in kernel.constants.iter().enumerate() {
        text.line(&format!(
            "const C{place}: {} = {};",
            value.scalar().map_or("bool", Scalar::name),
            literal(value)
        ));
    }
    for (place, table) in kernel.tables.iter().enumerate() {
        let element = table.first().and_then(Value::scalar).map_or("bool", Scalar::name);
        let values: Vec<String> = table.iter().map(literal).collect();
        text.line(&format!("const T{place}: [{element}; {}] = [{}];", table.len(), values.join(", ")));
    }
    for (place, helper) in kernel.helpers.iter().enumerate() {
        text.helper(place, helper);
    }
    for (place, tile) in kernel.tiles.iter().enumerate() {
        text.line(&format!("let mut tile{place} = Shared::<{}>::new();", tile_type(tile)));
    }
    let mut first = Vec::new();
    for stmt in &kernel.body {
        first.push(text.lines.len() + 1);
        text.statement(stmt);
    }
    text.line("}");
    (text.lines, first)
}

fn tensor_parameter(kernel: &Kernel, place: usize) -> String {
    let Tensor { element, mutable, extents, .. } = &kernel.tensors[place];
    let reference = if *mutable { "&mut " } else { "&" };
    let name = tensor_name(kernel, place);
    match extents.len() {
        2 => format!("{name}: {reference}Matrix<{}>", element.name()),
        rank => format!("{name}: {reference}Tensor<{}, {rank}>", element.name()),
    }
}

/// The name of a tensor among the parameters.
pub fn tensor_name(kernel: &Kernel, tensor: usize) -> String {
    let kind = if kernel.tensors[tensor].mutable { "output" } else { "input" };
    format!("{kind}{tensor}")
}

fn tile_type(tile: &Tile) -> String {
    let array =
        tile.extents.iter().rev().fold(tile.element.name().to_string(), |inner, n| format!("[{inner}; {n}]"));
    if tile.layout.is_empty() { array } else { format!("{array}, {}", tile.layout) }
}

fn type_name(ty: &Type) -> String {
    match ty {
        Type::Scalar(scalar) => scalar.name().into(),
        Type::Vector(scalar, n) => format!("Vector<{}, {n}>", scalar.name()),
        Type::Array(scalar, n) => format!("[{}; {n}]", scalar.name()),
        Type::Tuple(parts) => {
            let parts: Vec<String> = parts.iter().map(type_name).collect();
            format!("({})", parts.join(", "))
        }
    }
}

/// A value as a literal, or as the constant that it is.
pub fn literal(value: &Value) -> String {
    macro_rules! signed {
        ($x:expr, $t:ident) => {
            match *$x {
                $t::MIN => format!("{}::MIN", stringify!($t)),
                x if x < 0 => format!("({x}{})", stringify!($t)),
                x => format!("{x}{}", stringify!($t)),
            }
        };
    }
    macro_rules! float {
        ($x:expr, $t:ident) => {
            match *$x {
                x if x.is_nan() => format!("{}::NAN", stringify!($t)),
                x if x == $t::INFINITY => format!("{}::INFINITY", stringify!($t)),
                x if x == $t::NEG_INFINITY => format!("{}::NEG_INFINITY", stringify!($t)),
                x if x.is_sign_negative() => format!("({x:?}{})", stringify!($t)),
                x => format!("{x:?}{}", stringify!($t)),
            }
        };
    }
    match value {
        Value::Bool(x) => x.to_string(),
        Value::I8(x) => signed!(x, i8),
        Value::I16(x) => signed!(x, i16),
        Value::I32(x) => signed!(x, i32),
        Value::I64(x) => signed!(x, i64),
        Value::Isize(x) => signed!(x, isize),
        Value::U8(x) => format!("{x}u8"),
        Value::U16(x) => format!("{x}u16"),
        Value::U32(x) => format!("{x}u32"),
        Value::U64(x) => format!("{x}u64"),
        Value::Usize(x) => x.to_string(),
        Value::F16(x) => format!("f16::from_bits({})", x.to_bits()),
        Value::Bf16(x) => format!("bf16::from_bits({})", x.to_bits()),
        Value::F32(x) => float!(x, f32),
        Value::F64(x) => float!(x, f64),
        Value::List(list) => format!("[{}]", list.iter().map(literal).collect::<Vec<_>>().join(", ")),
    }
}

struct Text<'a> {
    kernel: &'a Kernel,
    budgets: &'a Budgets,
    lines: Vec<String>,
    /// The `&mut` parameters of the helper function that is being written.
    changed: Vec<Local>,
    /// The labels of the loops around, innermost last.
    labels: Vec<Option<Local>>,
}

impl Text<'_> {
    fn line(&mut self, text: &str) {
        let mut line = String::new();
        if let Some(budget) = self.budgets.get(&(self.lines.len() + 1)) {
            line.push_str("#[budget(");
            let parts = [("bank_conflict", budget.bank_conflict), ("excess_sectors", budget.excess_sectors)];
            for (key, excess) in parts {
                if let Some(excess) = excess {
                    let _ = write!(line, "{key} = {excess}, ");
                }
            }
            line.push_str("because = \"generated\")] ");
        }
        line.push_str(text);
        self.lines.push(line);
    }

    fn helper(&mut self, place: usize, helper: &Helper) {
        let values = helper.values.iter().map(|(local, ty)| format!("v{local}: {}", type_name(ty)));
        let changed = helper.changed.iter().map(|(local, ty)| format!("v{local}: &mut {}", type_name(ty)));
        let tensors = helper.tensors.iter().map(|tensor| tensor_parameter(self.kernel, *tensor));
        let parameters: Vec<String> = values.chain(changed).chain(tensors).collect();
        let result =
            helper.result.as_ref().map_or(String::new(), |value| format!(" -> {}", type_name(&value.ty)));
        self.line(&format!("fn h{place}({}){result} {{", parameters.join(", ")));
        self.changed = helper.changed.iter().map(|(local, _)| *local).collect();
        self.statements(&helper.body);
        let result = helper.result.as_ref().map_or(String::new(), |value| self.expr(value));
        self.changed.clear();
        self.line(&format!("{result} }}"));
    }

    fn statements(&mut self, list: &[Stmt]) {
        for stmt in list {
            self.statement(stmt);
        }
    }

    fn local(&self, local: Local) -> String {
        if self.changed.contains(&local) { format!("(*v{local})") } else { format!("v{local}") }
    }

    /// A statement without others in it.
    fn simple(&self, stmt: &Stmt) -> Option<String> {
        let assigned = |op: &Option<crate::value::BinaryOp>| op.map_or(String::new(), |op| op.text().into());
        Some(match stmt {
            Stmt::Let { local, mutable, annotated, value } => {
                let mutable = if *mutable { "mut " } else { "" };
                let ty = if *annotated { format!(": {}", type_name(&value.ty)) } else { String::new() };
                format!("let {mutable}v{local}{ty} = {};", self.expr(value))
            }
            Stmt::LetTuple { locals, value } => {
                let names: Vec<String> = locals.iter().map(|local| format!("v{local}")).collect();
                let names = names.join(", ");
                match value.ty {
                    Type::Array(..) => format!("let [{names}] = {};", self.expr(value)),
                    Type::Scalar(_) | Type::Vector(..) | Type::Tuple(_) => {
                        format!("let ({names}) = {};", self.expr(value))
                    }
                }
            }
            Stmt::Assign { place, op, value } => {
                let place = match place {
                    Place::Local(local) => self.local(*local),
                    Place::Element(local, index) => format!("{}[{}]", self.local(*local), self.expr(index)),
                    Place::Field(local, part) => format!("{}.{part}", self.local(*local)),
                };
                format!("{place} {}= {};", assigned(op), self.expr(value))
            }
            Stmt::Store { access, op, value } => {
                format!("{} {}= {};", self.element(access), assigned(op), self.expr(value))
            }
            Stmt::Write { access, value } => {
                format!(
                    "{}.write({}, {});",
                    self.base(access.base),
                    self.list(&access.indices),
                    self.expr(value)
                )
            }
            Stmt::Atomic { op, access, operands } => format!("{};", self.update(op.name(), access, operands)),
            Stmt::Break | Stmt::Continue => {
                let word = if matches!(stmt, Stmt::Break) { "break" } else { "continue" };
                match self.labels.last().copied().flatten() {
                    Some(label) => format!("{word} 'l{label};"),
                    None => format!("{word};"),
                }
            }
            Stmt::Return => "return;".into(),
            Stmt::SyncThreads => "sync_threads();".into(),
            Stmt::SyncWarp => "sync_warp();".into(),
            Stmt::Whole { op, tile, parts, tensor, width, origin } => {
                let parts: String = parts.iter().map(|part| format!("[{}]", self.expr(part))).collect();
                let width = if *width == 1 { String::new() } else { format!("::<{width}>") };
                format!(
                    "tile{tile}{parts}.{}{width}({}, {});",
                    op.name(),
                    tensor_name(self.kernel, *tensor),
                    self.list(origin)
                )
            }
            Stmt::Commit => "commit();".into(),
            Stmt::Wait(n) => format!("wait::<{n}>();"),
            Stmt::Call { helper, values, changed } => {
                let values = values.iter().map(|value| self.expr(value));
                let changed = changed.iter().map(|local| format!("&mut v{local}"));
                let passed = values.chain(changed).chain(self.seen_by(*helper));
                format!("h{helper}({});", passed.collect::<Vec<_>>().join(", "))
            }
            Stmt::If { .. } | Stmt::For { .. } | Stmt::While { .. } | Stmt::Loop { .. } => return None,
        })
    }

    fn statement(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::If { condition, then, otherwise } => {
                self.line(&format!("if {} {{", self.expr(condition)));
                self.statements(then);
                if !otherwise.is_empty() {
                    self.line("} else {");
                    self.statements(otherwise);
                }
                self.line("}");
            }
            Stmt::For { local, range, body, label } => {
                let values = match range {
                    Range::Up { from, to, inclusive, step, reversed } => {
                        let dots = if *inclusive { "..=" } else { ".." };
                        let mut text = format!("({}{dots}{})", self.expr(from), self.expr(to));
                        if *step != 1 {
                            let _ = write!(text, ".step_by({step})");
                        }
                        if *reversed {
                            text.push_str(".rev()");
                        }
                        text
                    }
                    Range::Elements(local) => self.local(*local),
                    Range::List(values) => {
                        format!("[{}]", values.iter().map(literal).collect::<Vec<_>>().join(", "))
                    }
                };
                let name = if *label { format!("'l{local}: ") } else { String::new() };
                self.line(&format!("{name}for v{local} in {values} {{"));
                self.body(label.then_some(*local), body);
            }
            Stmt::While { condition, body } => {
                self.line(&format!("while {} {{", self.expr(condition)));
                self.body(None, body);
            }
            Stmt::Loop { body } => {
                self.line("loop {");
                self.body(None, body);
            }
            other => {
                if let Some(text) = self.simple(other) {
                    self.line(&text);
                }
            }
        }
    }

    fn body(&mut self, label: Option<Local>, body: &[Stmt]) {
        self.labels.push(label);
        self.statements(body);
        self.labels.pop();
        self.line("}");
    }

    fn base(&self, base: Base) -> String {
        match base {
            Base::Tensor(tensor) => tensor_name(self.kernel, tensor),
            Base::Tile(tile) => format!("tile{tile}"),
        }
    }

    fn list(&self, list: &[Expr]) -> String {
        format!("[{}]", self.comma(list))
    }

    fn comma(&self, list: &[Expr]) -> String {
        list.iter().map(|expr| self.expr(expr)).collect::<Vec<_>>().join(", ")
    }

    fn element(&self, access: &Access) -> String {
        match access.base {
            Base::Tensor(_) => format!("{}[{}]", self.base(access.base), self.list(&access.indices)),
            Base::Tile(_) => {
                let indices: String =
                    access.indices.iter().map(|index| format!("[{}]", self.expr(index))).collect();
                format!("{}{indices}", self.base(access.base))
            }
        }
    }

    fn update(&self, name: &str, access: &Access, operands: &[Expr]) -> String {
        format!("{}.{name}({}, {})", self.base(access.base), self.list(&access.indices), self.comma(operands))
    }

    fn cast(&self, from: &Expr, to: &Type) -> String {
        let text = self.expr(from);
        let (own, scalar) = (
            from.scalar(),
            match to {
                Type::Scalar(scalar) | Type::Vector(scalar, _) | Type::Array(scalar, _) => *scalar,
                Type::Tuple(_) => Scalar::Bool,
            },
        );
        if let Type::Vector(..) = to {
            return format!("{text}.cast::<{}>()", scalar.name());
        }
        let name = scalar.name();
        match (own, scalar) {
            (own, Scalar::F32) if own.is_half() => format!("{text}.to_f32()"),
            (own, Scalar::F64) if own.is_half() => format!("{text}.to_f64()"),
            (own, to) if own.is_half() && to.is_half() => format!("{name}::from_f32({text}.to_f32())"),
            (own, _) if own.is_half() => format!("({text}.to_f32() as {name})"),
            (Scalar::F32, to) if to.is_half() => format!("{name}::from_f32({text})"),
            (Scalar::F64, to) if to.is_half() => format!("{name}::from_f64({text})"),
            (_, to) if to.is_half() => format!("{name}::from_f32({text} as f32)"),
            _ => format!("({text} as {name})"),
        }
    }

    fn expr(&self, expr: &Expr) -> String {
        match &expr.kind {
            Kind::Literal(value) => literal(value),
            Kind::Local(local) => self.local(*local),
            Kind::Argument(place) => format!("argument{place}"),
            Kind::Position(position) => {
                let axis = |axis: usize| ["x", "y", "z"][axis];
                match position {
                    Position::Thread(a) => format!("thread_{}()", axis(*a)),
                    Position::Block(a) => format!("block_{}()", axis(*a)),
                    Position::Grid(a) => format!("grid_{}()", axis(*a)),
                    Position::Lane => "lane()".into(),
                    Position::Warp => "warp()".into(),
                    Position::WarpCount => "warp_count()".into(),
                }
            }
            Kind::Extent(tensor, dimension) => {
                let name = tensor_name(self.kernel, *tensor);
                match (self.kernel.tensors[*tensor].extents.len(), dimension) {
                    (1, _) => format!("{name}.len()"),
                    (2, 0) => format!("{name}.rows()"),
                    (2, _) => format!("{name}.cols()"),
                    _ => format!("{name}.extent({dimension})"),
                }
            }
            Kind::Constant(place) => format!("C{place}"),
            Kind::Table(table, index) => format!("T{table}[{}]", self.expr(index)),
            Kind::Negative(a) => format!("(-{})", self.expr(a)),
            Kind::Not(a) => format!("(!{})", self.expr(a)),
            Kind::Binary(op, a, b) => format!("({} {} {})", self.expr(a), op.text(), self.expr(b)),
            Kind::Compare(op, a, b) => format!("({} {} {})", self.expr(a), op.text(), self.expr(b)),
            Kind::And(a, b) => format!("({} && {})", self.expr(a), self.expr(b)),
            Kind::Or(a, b) => format!("({} || {})", self.expr(a), self.expr(b)),
            Kind::Cast(a) => self.cast(a, &expr.ty),
            Kind::Method(method, operands) => {
                let (first, rest) = operands.split_at(1);
                format!("{}.{}({})", self.comma(first), method.name, self.comma(rest))
            }
            Kind::Bits(a) if a.scalar().is_float() => format!("{}.to_bits()", self.expr(a)),
            Kind::Bits(a) => format!("{}::from_bits({})", expr.scalar().name(), self.expr(a)),
            Kind::If(condition, yes, no) => {
                format!("(if {} {{ {} }} else {{ {} }})", self.expr(condition), self.expr(yes), self.expr(no))
            }
            Kind::Match(value, arms) => {
                let arms: Vec<String> = arms
                    .iter()
                    .map(|(pattern, value)| {
                        let pattern = match pattern {
                            Pattern::Is(value) => pattern_literal(value),
                            Pattern::OneOf(values) => {
                                values.iter().map(pattern_literal).collect::<Vec<_>>().join(" | ")
                            }
                            Pattern::Range(low, high) => {
                                format!("{}..={}", pattern_literal(low), pattern_literal(high))
                            }
                            Pattern::Rest => "_".into(),
                        };
                        format!("{pattern} => {}", self.expr(value))
                    })
                    .collect();
                format!("(match {} {{ {} }})", self.expr(value), arms.join(", "))
            }
            Kind::Block(statements, value) => {
                let statements: Vec<String> =
                    statements.iter().filter_map(|stmt| self.simple(stmt)).collect();
                format!("{{ {} {} }}", statements.join(" "), self.expr(value))
            }
            Kind::Tuple(parts) => format!("({})", self.comma(parts)),
            Kind::Field(local, part) => format!("{}.{part}", self.local(*local)),
            Kind::List(parts) => match expr.ty {
                Type::Vector(..) => format!("Vector::new({})", self.list(parts)),
                Type::Array(..) | Type::Scalar(_) | Type::Tuple(_) => self.list(parts),
            },
            Kind::Repeat(value) => match expr.ty {
                Type::Array(_, n) => format!("[{}; {n}]", self.expr(value)),
                Type::Vector(scalar, n) => {
                    format!("Vector::<{}, {n}>::splat({})", scalar.name(), self.expr(value))
                }
                Type::Scalar(_) | Type::Tuple(_) => self.expr(value),
            },
            Kind::Element(local, index) => format!("{}[{}]", self.local(*local), self.expr(index)),
            Kind::VectorSum(vector) => format!("{}.sum()", self.expr(vector)),
            Kind::Map(vector, local, body) => {
                format!("{}.map(|v{local}| {})", self.expr(vector), self.expr(body))
            }
            Kind::Load(access) => self.element(access),
            Kind::Read(access) | Kind::ReadUnaligned(access) => {
                let name = if matches!(expr.kind, Kind::Read(_)) { "read" } else { "read_unaligned" };
                let width = if let Type::Vector(_, n) = expr.ty { n } else { 1 };
                format!("{}.{name}::<{width}>({})", self.base(access.base), self.list(&access.indices))
            }
            Kind::GetOr(access, default) => format!(
                "{}.get_or({}, {})",
                self.base(access.base),
                self.list(&access.indices),
                self.expr(default)
            ),
            Kind::Contains(access) => {
                format!("{}.contains({})", self.base(access.base), self.list(&access.indices))
            }
            Kind::Collective(collective, operands) => self.collective(*collective, operands),
            Kind::Call(helper, values) => {
                let values = values.iter().map(|value| self.expr(value));
                let passed = values.chain(self.seen_by(*helper));
                format!("h{helper}({})", passed.collect::<Vec<_>>().join(", "))
            }
            Kind::Update(op, access, operands) => self.update(op.name(), access, operands),
            Kind::BytePerm(operands) => format!("byte_perm({})", self.comma(operands)),
            Kind::Unflatten(number, extents) => {
                format!("unflatten({}, {})", self.expr(number), self.list(extents))
            }
            Kind::Rasterize(number, extents, group) => {
                format!("rasterize({}, {}, {group})", self.expr(number), self.list(extents))
            }
            Kind::DivCeil(a, by) => format!("{}.div_ceil({by})", self.expr(a)),
            Kind::Flatten(index, extents) => {
                format!("flatten({}, {})", self.list(index), self.list(extents))
            }
        }
    }

    /// The tensors that a helper function is passed.
    fn seen_by(&self, helper: usize) -> Vec<String> {
        let helper = self.kernel.helpers.get(helper);
        let tensors = helper.map_or(&[][..], |helper| &helper.tensors);
        tensors.iter().map(|tensor| tensor_name(self.kernel, *tensor)).collect()
    }

    fn collective(&self, collective: Collective, operands: &[Expr]) -> String {
        format!("{}({})", collective.name(), self.comma(operands))
    }
}

/// A literal without the parentheses that a pattern cannot have.
fn pattern_literal(value: &Value) -> String {
    literal(value).trim_start_matches('(').trim_end_matches(')').into()
}
