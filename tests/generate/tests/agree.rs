//! Random kernels: what the simulator computes is what an evaluator computes that shares nothing with it.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use tileproof_generate::generate::generate;
use tileproof_generate::judge::{Outcome, codes, judge};

/// How many kernels a run of the tests judges.
const KERNELS: u64 = 300;

/// The share of them, in percent, that the compiler must accept: what is well formed and refused is a false alarm.
const LEAST_ACCEPTED: u64 = 90;

#[test]
fn random_kernels_agree() {
    let next = AtomicU64::new(0);
    let (wrong, refused) = (Mutex::new(Vec::new()), Mutex::new(BTreeMap::new()));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= KERNELS {
                        return;
                    }
                    match judge(&generate(seed)) {
                        Outcome::Agrees => {}
                        Outcome::Refused(refusal) => {
                            let mut refused = refused.lock().expect("no thread panics");
                            refused.entry(codes(&refusal)).or_insert_with(Vec::new).push(seed);
                        }
                        other => wrong.lock().expect("no thread panics").push((seed, other)),
                    }
                }
            });
        }
    });
    let (wrong, refused) =
        (wrong.into_inner().expect("no thread panics"), refused.into_inner().expect("no thread panics"));
    assert!(wrong.is_empty(), "{wrong:#?}");
    let count: usize = refused.values().map(Vec::len).sum();
    let accepted = 100 * (KERNELS - count as u64) / KERNELS;
    assert!(
        accepted >= LEAST_ACCEPTED,
        "{accepted} % are accepted; refused, by codes and seeds: {refused:#?}"
    );
}
