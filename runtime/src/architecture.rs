//! Names of GPU architectures.

use crate::error::Error;
use cudarc::driver::CudaContext;
use cudarc::driver::sys::CUdevice_attribute;
use std::fmt;
use std::str::FromStr;

/// A GPU architecture to compile for, such as `sm_90` or, with features of that architecture alone, `sm_90a`.
///
/// ```
/// use tileproof::Architecture;
///
/// let hopper: Architecture = "sm_90".parse()?;
/// assert_eq!(hopper, Architecture::new(9, 0));
/// assert_eq!("sm_120a".parse::<Architecture>()?.to_string(), "sm_120a");
/// # Ok::<(), tileproof::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Architecture {
    capability: u32,
    variant: Option<char>,
}

impl Architecture {
    /// The architecture of compute capability `major.minor`; `minor` is one digit.
    pub const fn new(major: u32, minor: u32) -> Self {
        Architecture { capability: 10 * major + minor, variant: None }
    }

    /// Ten times the major plus the minor compute capability: 90 for `sm_90a`.
    pub const fn capability(self) -> u32 {
        self.capability
    }

    /// The architecture of a context's device.
    ///
    /// # Errors
    /// If the driver does not answer.
    pub fn of(context: &CudaContext) -> Result<Self, Error> {
        let attribute = |attribute| -> Result<u32, Error> {
            let value = context
                .attribute(attribute)
                .map_err(|source| Error::Driver { action: "read the compute capability", source })?;
            Ok(value.unsigned_abs())
        };
        let major = attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?;
        let minor = attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?;
        Ok(Architecture::new(major, minor))
    }
}

impl FromStr for Architecture {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let invalid = || Error::InvalidArchitecture { text: text.to_owned() };
        let name = text.strip_prefix("sm_").ok_or_else(invalid)?;
        let variant = name.chars().last().filter(|c| matches!(c, 'a' | 'f'));
        let digits = &name[..name.len() - variant.map_or(0, char::len_utf8)];
        if !(2..=4).contains(&digits.len()) || !digits.bytes().all(|b| b.is_ascii_digit()) {
            return Err(invalid());
        }
        let capability = digits.parse().map_err(|_| invalid())?;
        Ok(Architecture { capability, variant })
    }
}

impl fmt::Display for Architecture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sm_{}", self.capability)?;
        self.variant.map_or(Ok(()), |variant| write!(f, "{variant}"))
    }
}

#[cfg(test)]
mod tests {
    use super::Architecture;

    #[test]
    fn names() {
        for name in ["sm_75", "sm_90", "sm_90a", "sm_100", "sm_103f", "sm_121"] {
            assert_eq!(name.parse::<Architecture>().unwrap().to_string(), name);
        }
        for name in
            ["", "sm_", "sm_9", "90", "compute_90", "sm_90b", "sm_9a", "sm_é", "sm_+90", "sm_99999", " sm_90"]
        {
            let error = name.parse::<Architecture>().unwrap_err().to_string();
            assert!(error.contains("is not an architecture"), "{name}: {error}");
        }
        assert_eq!("sm_90a".parse::<Architecture>().unwrap().capability(), 90);
    }
}
