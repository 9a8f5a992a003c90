//! Where things are, and the commands that start there.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The root of the repository.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask/ is a folder of the workspace")
}

/// The target folder, wherever the user's configuration puts it.
///
/// # Errors
/// If cargo cannot describe the workspace.
pub(crate) fn target() -> Result<PathBuf, String> {
    let output = cargo(&["metadata", "--format-version=1", "--no-deps"])
        .output()
        .map_err(|error| format!("cannot run cargo metadata: {error}"))?;
    if !output.status.success() {
        return Err(format!("cargo metadata failed: {}", String::from_utf8_lossy(&output.stderr)));
    }
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout)
        .map_err(|error| format!("cargo metadata is not JSON: {error}"))?;
    let target = metadata["target_directory"].as_str().ok_or("cargo metadata names no target_directory")?;
    Ok(PathBuf::from(target))
}

/// A cargo command in the root of the repository, by the toolchain that built this task.
pub(crate) fn cargo(arguments: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root()).args(arguments);
    command
}

/// A path as shown to the user: relative to the root of the repository where it lies inside.
pub(crate) fn shown(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).display().to_string()
}
