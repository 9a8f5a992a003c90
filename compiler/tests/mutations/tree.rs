//! Mutations of token trees.

use proc_macro2::{Group, Ident, Literal, Punct, Spacing, Span, TokenStream, TokenTree};

/// A generator of numbers: xorshift64*.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        let mut random = Random((seed + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        random.below(1);
        random
    }

    /// A number below `limit`, which is not 0.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % limit
    }

    pub(crate) fn choice<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len())]
    }
}

/// The tokens of a stream with those of its groups.
pub(crate) fn leaves(tokens: TokenStream) -> Vec<TokenTree> {
    let mut all = Vec::new();
    for token in tokens {
        if let TokenTree::Group(group) = &token {
            all.extend(leaves(group.stream()));
        }
        all.push(token);
    }
    all
}

/// One mutation somewhere. `pool` has tokens to put in.
pub(crate) fn mutate(tokens: TokenStream, pool: &[TokenTree], random: &mut Random) -> TokenStream {
    let count = leaves(tokens.clone()).len();
    if count == 0 {
        return pool.first().cloned().into_iter().collect();
    }
    let mut place = random.below(count);
    at(tokens, &mut place, &mut |list, index| change(list, index, pool, random))
}

/// Applies a change to the list and the index of the token with this number.
fn at(
    tokens: TokenStream,
    place: &mut usize,
    change: &mut dyn FnMut(&mut Vec<TokenTree>, usize),
) -> TokenStream {
    let mut list: Vec<TokenTree> = tokens.into_iter().collect();
    for index in 0..list.len() {
        if *place == 0 {
            *place = usize::MAX;
            change(&mut list, index);
            break;
        }
        *place -= 1;
        if let TokenTree::Group(group) = &list[index] {
            let stream = at(group.stream(), place, change);
            let (delimiter, span) = (group.delimiter(), group.span());
            let mut group = Group::new(delimiter, stream);
            group.set_span(span);
            list[index] = group.into();
            if *place == usize::MAX {
                break;
            }
        }
    }
    list.into_iter().collect()
}

fn change(list: &mut Vec<TokenTree>, index: usize, pool: &[TokenTree], random: &mut Random) {
    let other = random.choice(pool).clone();
    match random.below(10) {
        0 | 1 => {
            list.remove(index);
        }
        2 => list.insert(index, list[index].clone()),
        3 => {
            let with = random.below(list.len());
            list.swap(index, with);
        }
        4 => list[index] = other,
        5 => list.insert(index, other),
        6 => {
            // A group loses its braces.
            if let TokenTree::Group(group) = list[index].clone() {
                list.splice(index..=index, group.stream());
            }
        }
        7 => list[index] = word(random),
        8 => list.truncate(index),
        _ => list[index] = number(&list[index], pool, random),
    }
}

/// Another number for a number, another name for a name.
fn number(token: &TokenTree, pool: &[TokenTree], random: &mut Random) -> TokenTree {
    const NUMBERS: [&str; 14] = [
        "0",
        "1",
        "2",
        "3",
        "31",
        "33",
        "64",
        "1000",
        "65537",
        "4294967296",
        "340282366920938463463374607431768211456",
        "1.5",
        "0usize",
        "7i8",
    ];
    match token {
        TokenTree::Literal(_) => {
            let literal: Literal = random.choice(&NUMBERS).parse().expect("a number");
            literal.into()
        }
        TokenTree::Ident(_) => {
            let names: Vec<&TokenTree> =
                pool.iter().filter(|other| matches!(other, TokenTree::Ident(_))).collect();
            names.get(random.below(names.len().max(1))).map_or_else(|| token.clone(), |name| (*name).clone())
        }
        TokenTree::Group(_) | TokenTree::Punct(_) => token.clone(),
    }
}

/// A word or sign of Rust.
fn word(random: &mut Random) -> TokenTree {
    const WORDS: [&str; 30] = [
        "fn", "let", "mut", "if", "else", "for", "in", "while", "loop", "match", "return", "break", "impl",
        "dyn", "trait", "struct", "mod", "use", "const", "unsafe", "async", "move", "where", "as", "ref",
        "type", "static", "self", "crate", "pub",
    ];
    const SIGNS: &[u8] = b"+-*/%^!&|=<>@.,;:#$?~";
    if random.below(2) == 0 {
        Ident::new(random.choice::<&str>(&WORDS), Span::call_site()).into()
    } else {
        let spacing = if random.below(3) == 0 { Spacing::Joint } else { Spacing::Alone };
        Punct::new(char::from(*random.choice(SIGNS)), spacing).into()
    }
}
