//! Which records there are.

use serde::de::DeserializeOwned;
use std::path::Path;

/// The newest record of a measurement in a folder; their names begin with the day. `None` if there is none.
///
/// # Panics
/// If it is not of that form.
pub(crate) fn newest<R: DeserializeOwned>(folder: &Path, measurement: &str) -> Option<R> {
    let names = std::fs::read_dir(folder).expect("the folder of the records").filter_map(|entry| {
        let name = entry.expect("an entry").file_name().into_string().ok()?;
        name.ends_with(&format!("-{measurement}.json")).then_some(name)
    });
    let name = names.max()?;
    let text = std::fs::read_to_string(folder.join(&name)).expect("a record");
    Some(serde_json::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}")))
}
