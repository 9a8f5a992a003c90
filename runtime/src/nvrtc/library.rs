//! Finds NVRTC, the CUDA C++ compiler that comes as a library, and loads it.
//!
//! It is loaded here and not through cudarc for three reasons: cudarc panics where it is missing; cudarc searches by name,
//! so that a library on the system wins over the folder that the user has named; and NVRTC searches its own second
//! library, the builtins, by name as well, so that both must be loaded by their paths, the builtins first.

use crate::error::Error;
use libloading::Library;
use std::ffi::{CStr, OsString, c_char, c_int, c_void};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// A program that NVRTC is compiling.
pub(super) type Program = *mut c_void;

/// A status; 0 is success.
pub(super) type Status = c_int;

/// NVRTC's functions, and the libraries that hold them.
pub(super) struct Nvrtc {
    pub(super) path: PathBuf,
    /// Major and minor.
    pub(super) version: (u32, u32),
    /// Ten times the major plus the minor compute capabilities that it compiles for.
    pub(super) architectures: Vec<u32>,
    pub(super) error_string: unsafe extern "C" fn(Status) -> *const c_char,
    pub(super) create_program: unsafe extern "C" fn(
        *mut Program,
        *const c_char,
        *const c_char,
        c_int,
        *const *const c_char,
        *const *const c_char,
    ) -> Status,
    pub(super) destroy_program: unsafe extern "C" fn(*mut Program) -> Status,
    pub(super) compile_program: unsafe extern "C" fn(Program, c_int, *const *const c_char) -> Status,
    pub(super) log_size: unsafe extern "C" fn(Program, *mut usize) -> Status,
    pub(super) log: unsafe extern "C" fn(Program, *mut c_char) -> Status,
    pub(super) cubin_size: unsafe extern "C" fn(Program, *mut usize) -> Status,
    pub(super) cubin: unsafe extern "C" fn(Program, *mut c_char) -> Status,
    /// Never read: they keep the functions valid.
    _libraries: Vec<Library>,
}

/// The process's NVRTC, found on first use. A failure is not remembered: the next call searches again.
pub(super) fn nvrtc() -> Result<&'static Nvrtc, Error> {
    static NVRTC: OnceLock<Nvrtc> = OnceLock::new();
    if let Some(nvrtc) = NVRTC.get() {
        return Ok(nvrtc);
    }
    let found = find(&|name| std::env::var_os(name).filter(|value| !value.is_empty()))?;
    Ok(NVRTC.get_or_init(|| found))
}

/// Looks in the folder that `TILEPROOF_NVRTC_DIR` names, and nowhere else if it is set; else in the toolkit that
/// `CUDA_HOME` or `CUDA_PATH` names, in the wheels of the Python environment that is active, then in the system.
fn find(environment: &dyn Fn(&str) -> Option<OsString>) -> Result<Nvrtc, Error> {
    if let Some(folder) = environment("TILEPROOF_NVRTC_DIR").map(PathBuf::from) {
        return match files_in(&folder) {
            Some(files) => open(&files),
            None => Err(Error::NvrtcMissing {
                searched: vec![format!("{} (TILEPROOF_NVRTC_DIR)", folder.display())],
            }),
        };
    }
    let mut searched = Vec::new();
    for folder in folders(environment) {
        if let Some(files) = files_in(&folder) {
            return open(&files);
        }
        searched.push(folder.display().to_string());
    }
    for name in SYSTEM_NAMES {
        // SAFETY: NVRTC's initialisers have no requirement; a library of its name is taken to be it.
        if let Ok(library) = unsafe { Library::new(*name) } {
            return bind(PathBuf::from(name), vec![library]);
        }
        searched.push((*name).to_owned());
    }
    Err(Error::NvrtcMissing { searched })
}

/// What the system's loader may know NVRTC as, newest first.
const SYSTEM_NAMES: &[&str] = if cfg!(windows) {
    &["nvrtc64_130_0.dll", "nvrtc64_120_0.dll", "nvrtc64_112_0.dll"]
} else {
    &["libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", "libnvrtc.so"]
};

/// Folders that may hold NVRTC, in order of preference; those that do not exist included.
fn folders(environment: &dyn Fn(&str) -> Option<OsString>) -> Vec<PathBuf> {
    let mut folders = Vec::new();
    for toolkit in ["CUDA_HOME", "CUDA_PATH"].into_iter().filter_map(environment).map(PathBuf::from) {
        for inside in ["lib64", "lib", "bin", "bin/x64"] {
            let folder = toolkit.join(inside);
            if !folders.contains(&folder) {
                folders.push(folder);
            }
        }
    }
    if let Some(venv) = environment("VIRTUAL_ENV").map(PathBuf::from) {
        let mut packages = vec![venv.join("Lib/site-packages")];
        packages.extend(entries(&venv.join("lib")).into_iter().map(|python| python.join("site-packages")));
        for site in packages.into_iter().filter(|site| site.is_dir()) {
            for wheel in ["cu13/lib", "cu13/bin/x86_64", "cuda_nvrtc/lib", "cuda_nvrtc/bin"] {
                folders.push(site.join("nvidia").join(wheel));
            }
        }
    }
    if cfg!(unix) {
        folders.push(PathBuf::from("/usr/local/cuda/lib64"));
    }
    folders
}

/// NVRTC in one folder.
#[derive(Debug, PartialEq)]
struct Files {
    builtins: Vec<PathBuf>,
    nvrtc: PathBuf,
}

/// The newest NVRTC in a folder, and its builtins, if there are any.
fn files_in(folder: &Path) -> Option<Files> {
    let (nvrtc_prefix, builtins_prefix, suffix) = if cfg!(windows) {
        ("nvrtc64_", "nvrtc-builtins64_", ".dll")
    } else {
        ("libnvrtc.so", "libnvrtc-builtins.so", "")
    };
    // `alt` names a second build of the same library, for hosts with little stack
    let named = |prefix: &str| {
        let is = |path: &PathBuf| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with(prefix) && name.ends_with(suffix) && !name.contains("alt")
        };
        entries(folder).into_iter().filter(is).collect::<Vec<_>>()
    };
    let nvrtc = named(nvrtc_prefix).pop()?;
    // one library under several names is loaded once
    let mut builtins: Vec<PathBuf> =
        named(builtins_prefix).into_iter().filter_map(|path| path.canonicalize().ok()).collect();
    builtins.sort();
    builtins.dedup();
    Some(Files { builtins, nvrtc: nvrtc.canonicalize().ok()? })
}

/// What a folder holds, sorted; nothing if it cannot be read.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

fn open(files: &Files) -> Result<Nvrtc, Error> {
    let mut libraries = Vec::new();
    for path in files.builtins.iter().chain([&files.nvrtc]) {
        // SAFETY: NVRTC's initialisers have no requirement; a library of its name, in a folder that the user or the
        // system's owner chose, is taken to be it.
        let library = unsafe { Library::new(path) }
            .map_err(|error| Error::NvrtcUnusable { path: path.clone(), reason: error.to_string() })?;
        libraries.push(library);
    }
    bind(files.nvrtc.clone(), libraries)
}

/// Looks up the functions in the last of `libraries`.
fn bind(path: PathBuf, libraries: Vec<Library>) -> Result<Nvrtc, Error> {
    macro_rules! function {
        ($name:literal) => {{
            let library = libraries.last().expect("NVRTC itself is the last library");
            // SAFETY: the type is that of the field it is assigned to, or given where it is called, as in nvrtc.h; it is
            // used only while `Nvrtc` keeps the library.
            let symbol = unsafe { library.get($name) };
            *symbol.map_err(|error| Error::NvrtcUnusable { path: path.clone(), reason: error.to_string() })?
        }};
    }
    let get_version: unsafe extern "C" fn(*mut c_int, *mut c_int) -> Status = function!(c"nvrtcVersion");
    let get_count: unsafe extern "C" fn(*mut c_int) -> Status = function!(c"nvrtcGetNumSupportedArchs");
    let get_architectures: unsafe extern "C" fn(*mut c_int) -> Status = function!(c"nvrtcGetSupportedArchs");
    let error_string: unsafe extern "C" fn(Status) -> *const c_char = function!(c"nvrtcGetErrorString");
    let check = |status| match status {
        0 => Ok(()),
        _ => {
            // SAFETY: the function is that of the library that is loaded; it takes any status.
            let reason = unsafe { describe(error_string, status) };
            Err(Error::NvrtcUnusable { path: path.clone(), reason })
        }
    };

    let (mut major, mut minor, mut count) = (0, 0, 0);
    // SAFETY: it writes two integers.
    check(unsafe { get_version(&mut major, &mut minor) })?;
    // SAFETY: it writes one integer.
    check(unsafe { get_count(&mut count) })?;
    let mut architectures = vec![0; count.unsigned_abs() as usize];
    // SAFETY: it writes as many integers as it has just said.
    check(unsafe { get_architectures(architectures.as_mut_ptr()) })?;

    Ok(Nvrtc {
        version: (major.unsigned_abs(), minor.unsigned_abs()),
        architectures: architectures.into_iter().map(c_int::unsigned_abs).collect(),
        error_string,
        create_program: function!(c"nvrtcCreateProgram"),
        destroy_program: function!(c"nvrtcDestroyProgram"),
        compile_program: function!(c"nvrtcCompileProgram"),
        log_size: function!(c"nvrtcGetProgramLogSize"),
        log: function!(c"nvrtcGetProgramLog"),
        cubin_size: function!(c"nvrtcGetCUBINSize"),
        cubin: function!(c"nvrtcGetCUBIN"),
        path,
        _libraries: libraries,
    })
}

/// NVRTC's name of a status.
///
/// # Safety
/// `error_string` is `nvrtcGetErrorString` of a library that is loaded.
pub(super) unsafe fn describe(
    error_string: unsafe extern "C" fn(Status) -> *const c_char,
    status: Status,
) -> String {
    // SAFETY: it takes any status, and returns a string that lives as long as the library.
    unsafe { CStr::from_ptr(error_string(status)) }.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::{Files, files_in, find, folders};
    use crate::error::Error;
    use std::ffi::OsString;
    use std::path::{Path, PathBuf};

    /// A folder for one test, removed at its end.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str, files: &[&str]) -> Folder {
            let root = std::env::temp_dir().join(format!("tileproof-{name}-{}", std::process::id()));
            for file in files {
                let path = root.join(file);
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(path, "not a library").unwrap();
            }
            Folder(root.canonicalize().unwrap())
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            _ = std::fs::remove_dir_all(&self.0);
        }
    }

    fn only<'a>(name: &'a str, value: &'a Path) -> impl Fn(&str) -> Option<OsString> + 'a {
        move |asked| (asked == name).then(|| value.as_os_str().to_owned())
    }

    #[test]
    #[cfg(unix)]
    fn the_newest_library_and_its_builtins() {
        let folder = Folder::new(
            "newest",
            &[
                "libnvrtc.so.12",
                "libnvrtc.so.13",
                "libnvrtc.alt.so.13",
                "libnvrtc-builtins.so.13.0",
                "libcudart.so.13",
            ],
        );
        let files = files_in(&folder.0).unwrap();
        let expected = Files {
            builtins: vec![folder.0.join("libnvrtc-builtins.so.13.0")],
            nvrtc: folder.0.join("libnvrtc.so.13"),
        };
        assert_eq!(files, expected);
        assert_eq!(files_in(&folder.0.join("absent")), None);
    }

    #[test]
    #[cfg(unix)]
    fn wheels_of_the_active_environment() {
        let folder = Folder::new("venv", &["lib/python3.11/site-packages/nvidia/cu13/lib/libnvrtc.so.13"]);
        let folders = folders(&only("VIRTUAL_ENV", &folder.0));
        let wheel = folder.0.join("lib/python3.11/site-packages/nvidia/cu13/lib");
        assert_eq!(folders.iter().find_map(|f| files_in(f)).unwrap().nvrtc, wheel.join("libnvrtc.so.13"));
        assert_eq!(folders.iter().position(|f| *f == wheel), Some(0));
    }

    #[test]
    fn the_folder_that_the_user_names_is_the_only_one() {
        let absent = Path::new("/nowhere/at/all");
        let Err(Error::NvrtcMissing { searched }) = find(&only("TILEPROOF_NVRTC_DIR", absent)) else {
            panic!("found NVRTC nowhere");
        };
        assert_eq!(searched, ["/nowhere/at/all (TILEPROOF_NVRTC_DIR)"]);
        let text = Error::NvrtcMissing { searched }.to_string();
        assert!(text.contains("looked in /nowhere/at/all (TILEPROOF_NVRTC_DIR); install"), "{text}");
    }

    #[test]
    #[cfg(unix)]
    fn a_library_that_is_none() {
        let folder = Folder::new("broken", &["libnvrtc.so.13"]);
        let Err(error) = find(&only("TILEPROOF_NVRTC_DIR", &folder.0)) else { panic!("loaded a text file") };
        assert!(matches!(error, Error::NvrtcUnusable { .. }));
        assert!(error.to_string().contains("libnvrtc.so.13 cannot be used as NVRTC: "), "{error}");
    }
}
