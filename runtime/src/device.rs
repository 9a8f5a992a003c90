//! The GPU and the software around it.

use crate::architecture::Architecture;
use crate::error::Error;
use crate::nvrtc;
use cudarc::driver::sys::{self, CUdevice_attribute};
use cudarc::driver::{CudaContext, DriverError};
use libloading::Library;
use std::fmt;
use std::sync::{Arc, OnceLock};

/// What the driver's library may be called.
const DRIVER_NAMES: &[&str] = if cfg!(windows) { &["nvcuda.dll"] } else { &["libcuda.so.1", "libcuda.so"] };

/// The driver's library, loaded on first use and then kept.
pub(crate) fn driver_library() -> Result<&'static Library, Error> {
    static DRIVER: OnceLock<Library> = OnceLock::new();
    if let Some(library) = DRIVER.get() {
        return Ok(library);
    }
    // SAFETY: the driver's initialisers have no requirement; a library of its name is taken to be it.
    let found = DRIVER_NAMES.iter().find_map(|name| unsafe { Library::new(*name) }.ok());
    let library = found.ok_or_else(|| Error::DriverMissing { tried: DRIVER_NAMES.join(", ") })?;
    Ok(DRIVER.get_or_init(|| library))
}

/// Whether the CUDA driver's library is here. cudarc panics where it is not, so this comes before its first call.
///
/// # Errors
/// [`Error::DriverMissing`].
pub fn driver() -> Result<(), Error> {
    driver_library().map(|_| ())
}

/// A context on the device with this number, 0 the first: cudarc's `CudaContext::new`, with an error instead of a panic
/// where there is no driver.
///
/// # Errors
/// If there is no driver, or no such device.
pub fn context(ordinal: usize) -> Result<Arc<CudaContext>, Error> {
    driver()?;
    CudaContext::new(ordinal).map_err(|source| Error::Driver { action: "open the device", source })
}

/// A device and the software around it, for the head of a table of measurements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceInfo {
    /// The product's name.
    pub name: String,
    /// Its architecture.
    pub architecture: Architecture,
    /// Its multiprocessors.
    pub multiprocessors: u32,
    /// Its memory, in bytes.
    pub memory_bytes: usize,
    /// Its second-level cache, in bytes.
    pub l2_bytes: usize,
    /// The CUDA version that the driver supports, major and minor.
    pub driver_version: (u32, u32),
    /// NVRTC's version, major and minor; `None` where there is none.
    pub nvrtc_version: Option<(u32, u32)>,
}

impl DeviceInfo {
    /// Asks the driver about a context's device.
    ///
    /// # Errors
    /// If the driver does not answer.
    pub fn of(context: &CudaContext) -> Result<Self, Error> {
        let failed = |source: DriverError| Error::Driver { action: "describe the device", source };
        let attribute = |attribute| context.attribute(attribute).map(i32::unsigned_abs).map_err(failed);
        let mut version = 0;
        // SAFETY: it writes one integer.
        unsafe { sys::cuDriverGetVersion(&mut version) }.result().map_err(failed)?;
        let version = version.unsigned_abs();
        Ok(DeviceInfo {
            name: context.name().map_err(failed)?,
            architecture: Architecture::of(context)?,
            multiprocessors: attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?,
            memory_bytes: context.total_mem().map_err(failed)?,
            l2_bytes: attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE)? as usize,
            driver_version: (version / 1000, version % 1000 / 10),
            nvrtc_version: nvrtc::nvrtc().ok().map(|(_, version)| version),
        })
    }
}

impl fmt::Display for DeviceInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (major, minor) = self.driver_version;
        write!(
            f,
            "{}, {}, {} multiprocessors, {} GiB, driver for CUDA {major}.{minor}",
            self.name,
            self.architecture,
            self.multiprocessors,
            self.memory_bytes >> 30,
        )?;
        match self.nvrtc_version {
            Some((major, minor)) => write!(f, ", NVRTC {major}.{minor}"),
            None => write!(f, ", no NVRTC"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{DeviceInfo, context, driver};
    use crate::architecture::Architecture;
    use crate::error::Error;

    #[test]
    fn a_missing_driver_is_an_error() {
        match driver() {
            Ok(()) => eprintln!("SKIPPED: this machine has a driver"),
            Err(error) => {
                assert!(matches!(error, Error::DriverMissing { .. }));
                let text = error.to_string();
                assert!(
                    text.starts_with("the CUDA driver library is missing: none of libcuda.so.1"),
                    "{text}"
                );
                assert!(matches!(context(0), Err(Error::DriverMissing { .. })));
            }
        }
    }

    #[test]
    fn one_line_about_a_device() {
        let info = DeviceInfo {
            name: "NVIDIA H200".to_owned(),
            architecture: Architecture::new(9, 0),
            multiprocessors: 132,
            memory_bytes: 150_000_000_000,
            l2_bytes: 62_914_560,
            driver_version: (13, 0),
            nvrtc_version: Some((13, 0)),
        };
        let expected = "NVIDIA H200, sm_90, 132 multiprocessors, 139 GiB, driver for CUDA 13.0, NVRTC 13.0";
        assert_eq!(info.to_string(), expected);
        let without = DeviceInfo { nvrtc_version: None, ..info };
        assert!(without.to_string().ends_with("driver for CUDA 13.0, no NVRTC"));
    }
}
