//! Kernels that went wrong once compute what they must.

use std::path::Path;
use tileproof_generate::found::{Found, replay};

#[test]
fn kernels_that_went_wrong_once() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("found");
    let mut count = 0;
    for entry in std::fs::read_dir(&folder).expect("the folder of the kernels") {
        let path = entry.expect("an entry").path();
        let text = std::fs::read_to_string(&path).expect("a readable file");
        let found: Found = serde_json::from_str(&text).expect("a kernel");
        if let Err(wrong) = replay(&found) {
            panic!("{} ({}): {wrong}", path.display(), found.what);
        }
        count += 1;
    }
    assert!(count > 0, "{} is empty", folder.display());
}
