//! Barriers that are missing, and barriers that not all threads reach.

use crate::harness::{accepted, refused};
use expect_test::expect;

const PARAMETERS: &str = "input: &Tensor<f32, 1>, output: &mut Tensor<f32, 1>";
const BLOCK_OF_64: &str = "block = [64], grid = [1], requires(input.len() >= 4096, output.len() >= 4096)";

/// Case 55: one barrier an iteration around a tile. What a fast thread stores for the next round a slow one may still read.
#[test]
fn one_barrier_an_iteration() {
    let kernel = |last: &str| {
        format!(
            "let mut t = Shared::<[f32; 64]>::new();
            let x = thread_x();
            let mut sum = 0.0;
            for k in 0..8 {{
                t[x] = input[[64 * k + x]];
                sync_threads();
                sum += t[63 - x];
                {last}
            }}
            output[[x]] = sum;"
        )
    };
    expect![[r#"
        race on `t`: nothing orders this store after the load on line 8 [TP0801]
    "#]]
    .assert_eq(&refused(BLOCK_OF_64, PARAMETERS, &kernel("")));
    accepted(BLOCK_OF_64, PARAMETERS, &kernel("sync_threads();"));
}

/// Case 56: 48 of 64 threads exchange values. Two warps take part, so the barrier is needed, outside the guard and by all 64.
#[test]
fn a_guard_of_more_than_a_warp() {
    let kernel = |inside: &str, between: &str| {
        format!(
            "let mut t = Shared::<[f32; 48]>::new();
            let x = thread_x();
            if x < 48 {{
                t[x] = input[[x]];
                {inside}
            }}
            {between}
            if x < 48 {{
                output[[x]] = t[47 - x];
            }}"
        )
    };
    expect![[r#"
        race on `t`: nothing orders this load after the store on line 5 [TP0801]
    "#]]
    .assert_eq(&refused(BLOCK_OF_64, PARAMETERS, &kernel("", "")));
    expect![[r#"
        `sync_threads` must be reached by all threads of the block together, and nothing here says that it is [TP0602]
    "#]]
    .assert_eq(&refused(BLOCK_OF_64, PARAMETERS, &kernel("sync_threads();", "")));
    accepted(BLOCK_OF_64, PARAMETERS, &kernel("", "sync_threads();"));
}

/// Case 58: a store is a store in every form: by vectors, of a whole tile, asynchronous.
#[test]
fn every_store_counts() {
    let attribute =
        "block = [32], grid = [1], requires(input.rows() >= 8, input.cols() >= 64, output.len() >= 4096)";
    let parameters = "input: &Matrix<f32>, output: &mut Tensor<f32, 1>";
    let kernel = |store: &str| {
        format!(
            "let mut t = Shared::<[[f32; 64]; 8]>::new();
            let x = thread_x();
            {store}
            for r in 0..8 {{
                output[[64 * r + x]] = t[r][63 - x];
            }}"
        )
    };
    let stores = [
        ("for r in 0..8 { t.write([r, 2 * x], input.read::<2>([r, 2 * x])); }", ""),
        ("t.load::<1>(input, [0, 0]);", ""),
        ("t.load_async::<1>(input, [0, 0]); commit();", "wait::<0>();"),
    ];
    let told: String = stores
        .iter()
        .map(|(store, wait)| refused(attribute, parameters, &kernel(&format!("{store} {wait}"))))
        .collect();
    expect![[r#"
        race on `t`: nothing orders this load after the store on line 4 [TP0801]
        race on `t`: nothing orders this load after the store on line 4 [TP0801]
        race on `t`: nothing orders this load after the copy on line 4 [TP0801]
    "#]]
    .assert_eq(&told);
    for (store, wait) in stores {
        accepted(attribute, parameters, &kernel(&format!("{store} {wait} sync_threads();")));
    }
}

/// Case 60: a reduction without its barrier, and with one in the branch of those that still add.
#[test]
fn the_barrier_of_a_reduction() {
    let kernel = |inside: &str, behind: &str| {
        format!(
            "let mut t = Shared::<[f32; 64]>::new();
            let x = thread_x();
            t[x] = input[[x]];
            sync_threads();
            for step in 0..6 {{
                let half = 32 >> step;
                if x < half {{
                    t[x] += t[x + half];
                    {inside}
                }}
                {behind}
            }}
            if x == 0 {{
                output[[0]] = t[0];
            }}"
        )
    };
    expect![[r#"
        race on `t`: nothing orders this load after the store on line 9 [TP0801]
    "#]]
    .assert_eq(&refused(BLOCK_OF_64, PARAMETERS, &kernel("", "")));
    expect![[r#"
        `sync_threads` must be reached by all threads of the block together, and nothing here says that it is [TP0602]
    "#]]
    .assert_eq(&refused(BLOCK_OF_64, PARAMETERS, &kernel("sync_threads();", "")));
    accepted(BLOCK_OF_64, PARAMETERS, &kernel("", "sync_threads();"));
}

/// Case 61: atomic updates before the barrier behind the initialisation: initialise, barrier, update, barrier, read.
#[test]
fn updates_before_the_initialisation_is_done() {
    let attribute = "block = [64], grid = [1], requires(input.len() >= 64, output.len() >= 64)";
    let parameters = "input: &Tensor<u32, 1>, output: &mut Tensor<u32, 1>";
    let kernel = |first: &str, second: &str| {
        format!(
            "let mut bins = Shared::<[u32; 64]>::new();
            let x = thread_x();
            bins[x] = 0;
            {first}
            let bin = input[[x]] as usize;
            if bin < 64 {{
                #[budget(bank_conflict = 31, because = \"the data decides\")]
                bins.atomic_add([bin], 1);
            }}
            {second}
            output[[x]] = bins[63 - x];"
        )
    };
    expect![[r#"
        race on `bins`: nothing orders this atomic update after the store on line 4 [TP0801]
    "#]]
    .assert_eq(&refused(attribute, parameters, &kernel("", "sync_threads();")));
    expect![[r#"
        race on `bins`: nothing orders this load after the atomic update on line 9 [TP0801]
    "#]]
    .assert_eq(&refused(attribute, parameters, &kernel("sync_threads();", "")));
    accepted(attribute, parameters, &kernel("sync_threads();", "sync_threads();"));
}
