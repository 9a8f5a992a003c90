//! Numbers at the edges of their types, wherever a kernel can have one: the macro computes with them and never panics.

use proc_macro2::TokenStream;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};
use std::str::FromStr;
use tileproof_compiler::expand;

const NUMBERS: [&str; 22] = [
    "0",
    "1",
    "2",
    "3",
    "31",
    "32",
    "64",
    "127",
    "4096",
    "65536",
    "65537",
    "2147483647",
    "4294967295",
    "4294967296",
    "4611686018427387904",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "-1",
    "-9223372036854775808",
    "170141183460469231731687303715884105727",
    "1e400",
];

const BINARY: [&str; 12] = ["+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>", "<", "=="];
const METHODS: [&str; 4] = ["min", "max", "div_ceil", "is_multiple_of"];
const CASTS: [&str; 6] = ["i64", "u64", "usize", "i8", "u32", "f32"];
const LEAVES: [&str; 8] =
    ["thread_x()", "block_x()", "grid_x()", "input.rows()", "input.pitch()", "n", "s", "k"];

fn number() -> impl Strategy<Value = String> {
    prop::sample::select(&NUMBERS[..]).prop_map(str::to_owned)
}

fn expression() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![number(), prop::sample::select(&LEAVES[..]).prop_map(str::to_owned)];
    leaf.prop_recursive(4, 16, 3, |inner| {
        prop_oneof![
            4 => (inner.clone(), prop::sample::select(&BINARY[..]), inner.clone())
                .prop_map(|(a, op, b)| format!("({a} {op} {b})")),
            1 => (inner.clone(), prop::sample::select(&METHODS[..]), inner.clone())
                .prop_map(|(a, method, b)| format!("({a}).{method}({b})")),
            1 => (inner.clone(), prop::sample::select(&CASTS[..])).prop_map(|(a, ty)| format!("({a} as {ty})")),
            1 => inner.clone().prop_map(|a| format!("(-{a})")),
            1 => inner.clone().prop_map(|a| format!("(!{a})")),
            1 => (inner.clone(), inner.clone(), inner)
                .prop_map(|(a, b, c)| format!("(if {a} < {b} {{ {b} }} else {{ {c} }})")),
        ]
    })
}

fn statement() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => expression().prop_map(|value| format!("let v = {value};")),
        2 => (expression(), expression()).prop_map(|(r, c)| format!("output[[{r}, {c}]] = input[[{c}, {r}]];")),
        1 => (expression(), expression()).prop_map(|(r, c)| format!("tile[{r}][{c}] = 1.0;")),
        1 => (number(), expression(), expression())
            .prop_map(|(v, r, c)| format!("let w = input.read::<{v}>([{r}, {c}]);")),
        1 => number().prop_map(|v| format!("let w = Vector::<f32, {v}>::splat(0.0);")),
        1 => (number(), number()).prop_map(|(n, i)| format!("let mut a = [0.0f32; {n}]; a[{i}] = 1.0;")),
        1 => (number(), number(), number())
            .prop_map(|(r, c, p)| format!("let mut t = Shared::<[[f32; {c}]; {r}], Pad<{p}>>::new();")),
        1 => (number(), number(), number())
            .prop_map(|(b, m, s)| format!("let mut t = Shared::<[[f32; 32]; 32], Swizzle<{b}, {m}, {s}>>::new();")),
        1 => (expression(), expression(), number(), expression()).prop_map(|(from, to, step, value)| {
            format!("for i in (({from})..({to})).step_by({step}) {{ let v = i + {value}; output[[i, v]] = 0.0; }}")
        }),
        1 => (expression(), expression()).prop_map(|(a, b)| format!("if {a} < {b} {{ output[[{a}, {b}]] = 0.0; }}")),
        1 => number().prop_map(|n| {
            format!("#[budget(bank_conflict = {n}, because = \"x\")] tile[thread_x()][0] = 1.0;")
        }),
    ]
}

fn config() -> Config {
    let mut config = Config { failure_persistence: None, ..Config::default() };
    if config.rng_seed == RngSeed::Random {
        config.rng_seed = RngSeed::Fixed(3);
    }
    config.cases = config.cases.max(1_000);
    config
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn numbers_at_the_edges(
        extents in (number(), number()),
        contract in expression(),
        body in prop::collection::vec(statement(), 1..5),
        written in prop::bool::weighted(0.3),
    ) {
        let block = if written { extents.0.as_str() } else { "32" };
        let grid = if written { extents.1.as_str() } else { "1" };
        let attribute = format!("block = [{block}], grid = [{grid}], requires({contract} == {})", extents.1);
        let declared = "let mut tile = Shared::<[[f32; 32]; 32]>::new(); let mut k = 0; k += thread_x();";
        expand_body(&attribute, &format!("{declared} {}", body.join(" ")));
    }
}

/// Each of these was a panic once, or memory without end.
#[test]
fn numbers_that_went_wrong() {
    let bodies = [
        "let v = -(-170141183460469231731687303715884105727 - 1);",
        "let v = 170141183460469231731687303715884105727.div_ceil(2);",
        "let v = block_x() & 9223372036854775807;",
        "let mut tile = Shared::<[[f32; 32]; 32]>::new(); tile[9223372036854775807][0] = 1.0;",
        "let v = input.read::<170141183460469231731687303715884105727>([0, 0]);",
        "let v = Vector::<f32, 4000000000>::splat(0.0);",
        "output[[0, 0]] = input[[9223372036854775807, 9223372036854775807]];",
        "let mut a = [[[0.0f32; 4096]; 4096]; 4096]; a[0][0][0] = 1.0;",
    ];
    for body in bodies {
        expand_body("block = [32], grid = [1]", body);
    }
    expand_body("block = [32], grid = [1], requires(n.div_ceil(-9223372036854775808) == 0)", "");
}

fn expand_body(attribute: &str, body: &str) {
    let item =
        format!("fn edge(input: &Matrix<f32>, output: &mut Matrix<f32>, n: usize, s: i64) {{ {body} }}");
    let parse = |text: &str| TokenStream::from_str(text).expect("brackets match");
    let output = expand(parse(attribute), parse(&item));
    assert!(syn::parse2::<syn::File>(output).is_ok(), "{body}");
}
