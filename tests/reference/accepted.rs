//! What the pages of the book's reference chapter hold as accepted, compiled by rustc: `reference/main.rs` writes it.

#![allow(dead_code, unused, missing_docs, unreachable_pub, clippy::all)]

include!("accepted.in");

/// That this file compiles is the test.
#[test]
fn rustc_accepts_the_examples() {}
