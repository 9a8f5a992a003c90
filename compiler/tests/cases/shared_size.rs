//! How much shared memory a block has, and where its tiles lie.

use crate::harness::{accepted, refused};
use expect_test::expect;
use tileproof_compiler::compile;
use tileproof_model::limits::{Architecture, DYNAMIC_SHARED_ALIGNMENT, dynamic_shared_bytes};

/// A kernel for `architecture` with a tile of so many words.
fn words(architecture: Architecture, words: u32) -> Result<tileproof_compiler::Compiled, String> {
    let attribute = format!("block = [32], grid = [1], arch({})", architecture.name());
    let item =
        format!("fn kernel(v: f32) {{ let mut t = Shared::<[f32; {words}]>::new(); t[thread_x()] = v; }}");
    compile(&attribute, &item)
}

/// Case 49: 96 KB fit an A100, an H100 and Ada, once the launch has opted in, for which the whole must be dynamic; on Turing they
/// do not fit.
#[test]
fn beyond_48_kib_with_the_opt_in() {
    for architecture in [Architecture::Sm80, Architecture::Sm89, Architecture::Sm90] {
        let compiled = words(architecture, 24_576).expect("a kernel");
        assert_eq!(compiled.report.shared_bytes, 98_304);
        assert!(compiled.cuda.contains("extern __shared__"), "{}", compiled.cuda);
    }
    assert_eq!(dynamic_shared_bytes(98_304), 98_304);
    assert_eq!(dynamic_shared_bytes(49_152), 0);
    assert!(words(Architecture::Sm75, 24_576).is_err());
}

/// Case 50: the limit to compare with is the one behind the opt-in, to the byte.
#[test]
fn the_limit_is_behind_the_opt_in() {
    for (architecture, kib) in
        [(Architecture::Sm80, 163), (Architecture::Sm89, 99), (Architecture::Sm90, 227)]
    {
        assert!(words(architecture, 256 * kib).is_ok(), "{}", architecture.name());
        let error = words(architecture, 256 * kib + 1).expect_err("too much");
        assert!(error.contains("[TP0701]"), "{error}");
    }
}

/// Case 51: the first byte of dynamic shared memory is aligned to 16 and no more, whatever its declaration says. No vector is wider, and
/// every tile begins at a multiple of 16 from there.
#[test]
fn dynamic_memory_is_aligned_to_16() {
    let compiled = accepted(
        "block = [32], grid = [1], arch(sm_90)",
        "v: f32",
        "let mut first = Shared::<[f32; 13]>::new();
        let mut second = Shared::<[f32; 16384]>::new();
        if thread_x() < 13 {
            first[thread_x()] = v;
        }
        second.write([4 * thread_x()], Vector::new([v, v, v, v]));",
    );
    let (offsets, _) = compiled.kernel.shared_bytes();
    assert_eq!(offsets, [0, 64]);
    assert!(offsets.iter().all(|offset| offset.is_multiple_of(DYNAMIC_SHARED_ALIGNMENT)));
    assert!(compiled.cuda.contains("alignas(16) extern __shared__"), "{}", compiled.cuda);
}

/// Case 53: static and dynamic tiles in one kernel, which must not overlap: either all are static or all dynamic, one behind the other.
#[test]
fn static_and_dynamic_memory_do_not_mix() {
    let kernel = |words: u32| {
        format!(
            "let mut small = Shared::<[f32; 32]>::new();
            let mut large = Shared::<[f32; {words}]>::new();
            small[thread_x()] = v;
            large[thread_x()] = v;"
        )
    };
    for (words, declared) in [(1024, 2), (16_384, 1)] {
        let compiled = accepted("block = [32], grid = [1], arch(sm_90)", "v: f32", &kernel(words));
        assert_eq!(compiled.cuda.matches("__shared__").count(), declared, "{}", compiled.cuda);
        let (offsets, total) = compiled.kernel.shared_bytes();
        assert_eq!((offsets.as_slice(), total), (&[0, 128][..], 128 + 4 * words));
    }
    // Together they are too many for Turing.
    let errors = refused("block = [32], grid = [1], arch(sm_75)", "v: f32", &kernel(16_384));
    expect![[r#"
        too much shared memory: 65,664 bytes a block, and sm_75 has 65,536 [TP0701]
    "#]]
    .assert_eq(&errors);
}
