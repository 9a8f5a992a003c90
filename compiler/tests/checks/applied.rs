//! What a help gives as code, put into the source: a help that does not mend is wrong.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use std::ops::Range;
use std::str::FromStr;

/// The source with this help applied to what is at `place`, if the help is one of those that say what to write where.
pub(crate) fn applied(source: &str, place: Range<usize>, help: &str) -> Option<String> {
    let quoted: Vec<&str> = help.split('`').skip(1).step_by(2).collect();
    let code = *quoted.first()?;
    let edit = |range: Range<usize>, new: &str| {
        let mut edited = source.to_owned();
        edited.replace_range(range, new);
        Some(edited)
    };
    if help.starts_with("guard it: `if ") {
        let head = code.strip_suffix("… }")?;
        let statement = statement(source, &place)?;
        // A declaration is guarded with all that uses it.
        let end = if source[statement.range.clone()].starts_with("let ") {
            statement.block
        } else {
            statement.range.end
        };
        let guarded = format!("{head}{} }}", &source[statement.range.start..end]);
        return edit(statement.range.start..end, &guarded);
    }
    if help.starts_with("give it a name, and guard that: ") {
        let [_, head] = quoted[..] else { return None };
        let name = code.strip_prefix("let index = ")?.strip_suffix(';')?;
        let statement = statement(source, &place)?.range;
        let guarded = source[statement.clone()].replace(name, "index");
        return edit(statement, &format!("{code} {}{guarded} }}", head.strip_suffix("… }")?));
    }
    if help.starts_with("promise it: ") {
        let promises = code.strip_prefix("requires(")?.strip_suffix(')')?;
        if promises.contains('…') {
            return None;
        }
        return match source.find("requires(") {
            Some(at) => edit(at..at + "requires(".len(), &format!("requires({promises}, ")),
            None => {
                Some(source.replacen("tiled_kernel(", &format!("tiled_kernel(requires({promises}), "), 1))
            }
        };
    }
    if code.starts_with("#[budget(") && help.ends_with("on the statement") {
        let start = statement(source, &place)?.range.start;
        return match source[start..].starts_with("#[budget") {
            true => None,
            false => edit(start..start, &format!("{} ", code.replace('…', "a test"))),
        };
    }
    if code.starts_with("Shared<") && !help.contains("budget") {
        let start = source.find("Shared::<")?;
        let end = start + source[start..].find("::new()")?;
        // Which of several tiles is meant the text does not say.
        return match source.matches("Shared::<").count() {
            1 => edit(start..end, &code.replacen('<', "::<", 1)),
            _ => None,
        };
    }
    if ["excess_sectors = ", "bank_conflict = "]
        .iter()
        .any(|key| help.starts_with("write `") && code.starts_with(key))
    {
        let key = code.split(' ').next()?;
        let start = place.start + source[place.clone()].find(key)?;
        let end = start + source[start..].find(',')?;
        return edit(start..end, code);
    }
    if help.starts_with("remove it") && source[place.clone()].starts_with("#[") {
        return edit(place, "");
    }
    None
}

struct Statement {
    range: Range<usize>,
    /// The end of the block it stands in.
    block: usize,
}

/// The innermost statement with a semicolon around a place.
fn statement(source: &str, place: &Range<usize>) -> Option<Statement> {
    let mut found = None;
    let mut tokens = TokenStream::from_str(source).ok()?;
    loop {
        let around = tokens.into_iter().find_map(|token| match token {
            TokenTree::Group(group) if contains(&group.span().byte_range(), place) => Some(group),
            _ => None,
        });
        let Some(group) = around else { return found };
        tokens = group.stream();
        if group.delimiter() == Delimiter::Brace {
            let block = group.span_close().byte_range().start;
            found = range(tokens.clone(), place).map(|range| Statement { range, block });
        }
    }
}

fn contains(outer: &Range<usize>, inner: &Range<usize>) -> bool {
    outer.start <= inner.start && inner.end <= outer.end
}

/// The statement around a place in the tokens of a block.
fn range(tokens: TokenStream, place: &Range<usize>) -> Option<Range<usize>> {
    let mut start = None;
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        let here = token.span().byte_range();
        let first = *start.get_or_insert(here.start);
        let ends = match &token {
            TokenTree::Punct(punct) => punct.as_char() == ';',
            TokenTree::Group(group) => {
                group.delimiter() == Delimiter::Brace
                    && matches!(tokens.peek(), Some(TokenTree::Ident(next)) if next != "else")
            }
            _ => false,
        };
        if ends {
            if contains(&(first..here.end), place) {
                return Some(first..here.end);
            }
            start = None;
        }
    }
    None
}
