//! What the expansion of a kernel costs in the profile that a macro is built in.

use super::kernels;
use std::time::{Duration, Instant};
use tileproof_compiler::expand;

/// What a kernel should take at most, unoptimised.
const TARGET: Duration = Duration::from_millis(10);
/// What it may take on a slow and busy machine before something is wrong with the analysis.
const LIMIT: Duration = Duration::from_millis(200);

/// Prints the least of several runs of each kernel beside the target. Only a far excess fails: time is no property of
/// the code alone.
#[test]
fn expansion_time() {
    for kernel in kernels() {
        let least = (0..7)
            .map(|_| {
                let (attribute, item) = (kernel.attribute.clone(), kernel.item.clone());
                let start = Instant::now();
                let output = expand(attribute, item);
                let taken = start.elapsed();
                assert!(!output.is_empty());
                taken
            })
            .min()
            .expect("seven runs");
        let verdict = if least <= TARGET { "within" } else { "above" };
        println!(
            "{:<22} {:>7.2} ms, {verdict} the target of {TARGET:?}",
            kernel.name,
            least.as_secs_f64() * 1e3
        );
        assert!(least < LIMIT, "{} takes {least:?}", kernel.name);
    }
}
