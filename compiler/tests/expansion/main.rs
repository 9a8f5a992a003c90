//! The expansion itself: what it costs, and that numbers at the edges of their types do not make it panic.

mod cost;
mod numbers;
mod product;
