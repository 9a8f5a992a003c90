//! Pieces of C expressions that know how tightly they bind.

/// How tightly an expression binds, from tight to loose. Shifts and bit operations share a
/// level whose operands always get parentheses, because few readers know how C orders them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    Atom,
    Unary,
    Multiplicative,
    Additive,
    Bits,
    Comparison,
    And,
    Or,
    Conditional,
}

/// An expression of C.
#[derive(Clone)]
pub(super) struct Code {
    pub(super) text: String,
    level: Level,
}

impl Code {
    pub(super) fn new(level: Level, text: impl Into<String>) -> Code {
        Code { text: text.into(), level }
    }

    /// Something that needs no parentheses anywhere.
    pub(super) fn atom(text: impl Into<String>) -> Code {
        Code::new(Level::Atom, text)
    }

    /// The call of a function.
    pub(super) fn call(function: &str, arguments: &[Code]) -> Code {
        let arguments: Vec<&str> = arguments.iter().map(|argument| argument.text.as_str()).collect();
        Code::atom(format!("{function}({})", arguments.join(", ")))
    }

    /// A prefix operator or a cast.
    pub(super) fn prefix(operator: &str, operand: Code) -> Code {
        // `- -1` must not become `--1`.
        let operand = if operand.text.starts_with('-') {
            format!("({})", operand.text)
        } else {
            operand.at(Level::Unary)
        };
        Code::new(Level::Unary, format!("{operator}{operand}"))
    }

    /// An operator between two operands that associates to the left.
    pub(super) fn infix(level: Level, left: Code, operator: &str, right: Code) -> Code {
        let (loosest_left, loosest_right) = match level {
            Level::Multiplicative => (Level::Multiplicative, Level::Unary),
            Level::Additive => (Level::Additive, Level::Multiplicative),
            Level::Comparison => (Level::Additive, Level::Additive),
            Level::And | Level::Or => (level, level),
            Level::Atom | Level::Unary | Level::Bits | Level::Conditional => (Level::Unary, Level::Unary),
        };
        Code::new(level, format!("{} {operator} {}", left.at(loosest_left), right.at(loosest_right)))
    }

    /// `condition ? yes : no`
    pub(super) fn conditional(condition: Code, yes: Code, no: Code) -> Code {
        let [condition, yes, no] = [condition, yes, no].map(|code| code.at(Level::Or));
        Code::new(Level::Conditional, format!("{condition} ? {yes} : {no}"))
    }

    /// The text, in parentheses if it binds less tightly than `loosest`.
    pub(super) fn at(self, loosest: Level) -> String {
        if self.level > loosest { format!("({})", self.text) } else { self.text }
    }
}
