//! The canonical print of tokens: the same text on every host, close to what a person would type.
//!
//! The compiler inside rustc and the one in a test see different token streams for the same source (spans, spacing,
//! invisible groups). This text is what both agree on; it parses back to the same tree.

use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};

/// Prints tokens on one line. Invisible groups, which macro fragments leave behind, become parentheses, but those around a
/// literal, which may stand where an expression may not.
pub fn print(tokens: TokenStream) -> String {
    let mut printer = Printer::default();
    printer.stream(tokens);
    printer.out
}

/// What the last token was, as far as spacing cares.
#[derive(Clone, Copy, PartialEq, Default)]
enum Last {
    #[default]
    Opening,
    /// An identifier, a literal or a closed group: something that `(`, `[`, `.` attach to.
    Operand,
    /// A keyword: `if (…)`, `in (…)`, `return [`.
    Keyword,
    /// A punctuation that the next token attaches to: `.`, `::`, a prefix operator, the first half of a joint pair.
    Glue,
    Operator,
}

#[derive(Default)]
struct Printer {
    out: String,
    last: Last,
    /// Whether the last identifier looks like the name of a type, so that `<` opens generic arguments.
    after_type: bool,
    /// How many generic argument lists are open.
    generics: u32,
}

impl Printer {
    fn stream(&mut self, tokens: TokenStream) {
        for token in tokens {
            match token {
                TokenTree::Group(group)
                    if group.delimiter() == Delimiter::None && is_literal(group.stream()) =>
                {
                    self.stream(group.stream());
                    continue;
                }
                TokenTree::Group(group) => self.group(group.delimiter(), group.stream()),
                TokenTree::Ident(ident) => {
                    let text = ident.to_string();
                    self.space_unless(matches!(self.last, Last::Opening | Last::Glue));
                    self.out.push_str(&text);
                    self.last = if is_keyword(&text) { Last::Keyword } else { Last::Operand };
                    // Names in capitals alone are constants: what follows compares.
                    self.after_type =
                        text.starts_with(char::is_uppercase) && text.contains(char::is_lowercase);
                    continue;
                }
                TokenTree::Literal(literal) => {
                    self.space_unless(matches!(self.last, Last::Opening | Last::Glue));
                    self.out.push_str(&literal.to_string());
                    self.last = Last::Operand;
                }
                TokenTree::Punct(punct) => self.punct(punct.as_char(), punct.spacing()),
            }
            self.after_type = false;
        }
    }

    fn group(&mut self, delimiter: Delimiter, stream: TokenStream) {
        let (open, close) = match delimiter {
            Delimiter::Parenthesis | Delimiter::None => ('(', ')'),
            Delimiter::Bracket => ('[', ']'),
            Delimiter::Brace => ('{', '}'),
        };
        let attached =
            matches!(self.last, Last::Opening | Last::Glue) || (self.last == Last::Operand && open != '{');
        self.space_unless(attached);
        self.out.push(open);
        if stream.is_empty() {
            self.out.push(close);
        } else if open == '{' {
            self.last = Last::Operator;
            self.stream(stream);
            self.out.push_str(" }");
        } else {
            self.last = Last::Opening;
            self.stream(stream);
            self.out.push(close);
        }
        self.last = Last::Operand;
    }

    fn punct(&mut self, c: char, spacing: Spacing) {
        let joint = spacing == Spacing::Joint;
        match c {
            ',' | ';' => {
                self.out.push(c);
                self.last = Last::Operator;
            }
            '.' | ':' | '?' => {
                // `a.b`, `a::b`, `x: T`, `0..n`
                let path = c != ':' || joint || self.last == Last::Glue;
                self.space_unless(
                    matches!(self.last, Last::Operand | Last::Glue | Last::Opening) || c == ':',
                );
                self.out.push(c);
                self.last = if path { Last::Glue } else { Last::Operator };
            }
            '<' if self.last == Last::Glue && self.out.ends_with("::") || self.after_type && !joint => {
                self.out.push(c);
                self.generics += 1;
                self.last = Last::Opening;
            }
            '>' if self.generics > 0 && self.last != Last::Glue => {
                self.out.push(c);
                self.generics -= 1;
                self.last = Last::Operand;
            }
            '\'' | '#' | '$' => {
                self.space_unless(matches!(self.last, Last::Opening | Last::Glue));
                self.out.push(c);
                self.last = Last::Glue;
            }
            _ => {
                let prefix = matches!(c, '&' | '*' | '-' | '!')
                    && self.last != Last::Operand
                    && self.last != Last::Glue;
                self.space_unless(matches!(self.last, Last::Opening | Last::Glue));
                self.out.push(c);
                self.last = if joint || prefix { Last::Glue } else { Last::Operator };
            }
        }
    }

    fn space_unless(&mut self, attached: bool) {
        if !attached && !self.out.is_empty() {
            self.out.push(' ');
        }
    }
}

/// Whether tokens are one literal that can be followed by anything: after `1.` a method's dot would make a range.
fn is_literal(tokens: TokenStream) -> bool {
    let mut tokens = tokens.into_iter();
    match (tokens.next(), tokens.next()) {
        (Some(TokenTree::Literal(literal)), None) => !literal.to_string().ends_with('.'),
        (Some(TokenTree::Group(group)), None) => {
            group.delimiter() == Delimiter::None && is_literal(group.stream())
        }
        _ => false,
    }
}

fn is_keyword(text: &str) -> bool {
    matches!(
        text,
        "as" | "break" | "else" | "for" | "if" | "in" | "let" | "match" | "mut" | "return" | "while" | "move"
    )
}

#[cfg(test)]
mod tests {
    use super::print;
    use std::str::FromStr;

    #[track_caller]
    fn check(source: &str, expected: &str) {
        let tokens = proc_macro2::TokenStream::from_str(source).unwrap();
        let text = print(tokens);
        assert_eq!(text, expected);
        assert_eq!(
            print(proc_macro2::TokenStream::from_str(&text).unwrap()),
            expected,
            "it is a fixed point"
        );
    }

    #[test]
    fn accesses_read_as_written() {
        check("tile[thread_x()][thread_y() + k]", "tile[thread_x()][thread_y() + k]");
        check("output[[row0 + k, col]] = - x * ! y", "output[[row0 + k, col]] = -x * !y");
        check("input.read::<4>([r, c])", "input.read::<4>([r, c])");
        check("fn f(a: &Matrix<f32>, b: &mut T) {}", "fn f(a: &Matrix<f32>, b: &mut T) {}");
        check("for k in (0..32).step_by(8) { a += 1; }", "for k in (0..32).step_by(8) { a += 1; }");
        check("if a && b || c >= d { x <<= 2 }", "if a && b || c >= d { x <<= 2 }");
        check(
            "let t = Shared::<[[f32; 32]; 32], Pad<1>>::new();",
            "let t = Shared::<[[f32; 32]; 32], Pad<1>>::new();",
        );
        check("a << 2 .. 3", "a << 2..3");
        check("row - N < rows && row >= N", "row - N < rows && row >= N");
    }

    #[test]
    fn invisible_groups_become_parentheses_but_around_literals() {
        let invisible = |text: &str| {
            let tokens = proc_macro2::TokenStream::from_str(text).unwrap();
            proc_macro2::TokenTree::Group(proc_macro2::Group::new(proc_macro2::Delimiter::None, tokens))
                .into()
        };
        let text = |inner| {
            print(
                [proc_macro2::TokenStream::from_str("x =").unwrap(), invisible(inner)].into_iter().collect(),
            )
        };
        assert_eq!(text("31"), "x = 31");
        assert_eq!(text("\"why\""), "x = \"why\"");
        assert_eq!(text("1."), "x = (1.)");
        assert_eq!(text("-1"), "x = (-1)");
        assert_eq!(text("a + b"), "x = (a + b)");
    }
}
