//! Functions of the vocabulary that are written in the kernel language itself.
//!
//! They are text, parsed where a kernel first calls one, and inlined as the user's own helper functions are: nothing
//! in facts, checks, emission or simulation knows of them. Which text serves depends on the block's threads, whether all
//! warps are whole and whether there are several; the results are the same, bit for bit, as the vocabulary's
//! documentation describes them.

use tileproof_model::access::LANES;

/// The functions that a kernel can call.
pub(crate) const NAMES: [&str; 10] = [
    "warp_sum",
    "warp_max",
    "warp_min",
    "warp_scan_inclusive",
    "warp_scan_exclusive",
    "block_sum",
    "block_max",
    "block_min",
    "block_scan_inclusive",
    "block_scan_exclusive",
];

/// The items, for blocks of so many threads. `None` if the text does not parse, which a test excludes.
pub(crate) fn items(threads: u32) -> Option<Vec<syn::Item>> {
    let lanes = LANES as u32;
    let reductions = match threads % lanes {
        0 => include_str!("whole_warps.rs"),
        _ => include_str!("shorter_warp.rs"),
    };
    let of_blocks = match threads > lanes {
        true => include_str!("warps.rs"),
        false => include_str!("one_warp.rs"),
    };
    let scans = include_str!("scans.rs");
    let warps = threads.div_ceil(lanes);
    let text = format!(
        "const THREADS: usize = {threads};\nconst WARPS: usize = {warps};\n{reductions}{scans}{of_blocks}"
    );
    syn::parse_str::<syn::File>(&text).ok().map(|file| file.items)
}

#[cfg(test)]
mod tests {
    use super::{NAMES, items};

    #[test]
    fn the_text_parses_and_holds_every_function() {
        for threads in [1, 20, 32, 33, 64, 1000, 1024] {
            let items = items(threads).expect("the text parses");
            for name in NAMES {
                let has = |item: &syn::Item| matches!(item, syn::Item::Fn(f) if f.sig.ident == name);
                assert_eq!(items.iter().filter(|item| has(item)).count(), 1, "{name} for {threads}");
            }
        }
    }
}
