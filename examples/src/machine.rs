//! The machine that something was measured on, and the name under which the measurement is kept.

use serde::{Deserialize, Serialize};
use std::process::Command;
use std::time::SystemTime;
use tileproof::Error;
use tileproof::cudarc::driver::CudaContext;
use tileproof::device::DeviceInfo;

/// What was measured on, and when.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// The day in UTC, as `2026-11-30`.
    pub date: String,
    /// The GPU, as its driver names it.
    pub gpu: String,
    /// Its architecture, as `sm_90`.
    pub architecture: String,
    /// The driver's version as its own tool prints it; the driver's library knows only its CUDA version.
    pub driver: Option<String>,
    /// The CUDA version of the driver, as `13.0`.
    pub driver_cuda: String,
    /// The version of NVRTC, as `13.0`.
    pub nvrtc: Option<String>,
}

impl Machine {
    /// The machine of a context, today.
    ///
    /// # Errors
    /// If the driver does not answer.
    pub fn of(context: &CudaContext) -> Result<Machine, Error> {
        let info = DeviceInfo::of(context)?;
        let version = |(major, minor): (u32, u32)| format!("{major}.{minor}");
        Ok(Machine {
            date: date(SystemTime::now()),
            gpu: info.name,
            architecture: info.architecture.to_string(),
            driver: driver(),
            driver_cuda: version(info.driver_version),
            nvrtc: info.nvrtc_version.map(version),
        })
    }

    /// `2026-11-30-h200-transpose.json`: the name under which a measurement is kept.
    pub fn file_name(&self, measurement: &str) -> String {
        let gpu = self.gpu.to_lowercase().replace("nvidia", "");
        let gpu: Vec<&str> =
            gpu.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect();
        format!("{}-{}-{measurement}.json", self.date, gpu.join("-"))
    }
}

/// The driver's version as its own tool prints it; the driver's library knows only its CUDA version.
fn driver() -> Option<String> {
    let query = ["--query-gpu=driver_version", "--format=csv,noheader", "--id=0"];
    let output =
        Command::new("nvidia-smi").args(query).output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// The day in UTC, as `2026-11-30`.
fn date(time: SystemTime) -> String {
    let seconds = time.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let mut days = seconds / 86_400;
    let mut year = 1970;
    let is_leap =
        |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let length = |year| if is_leap(year) { 366 } else { 365 };
    while days >= length(year) {
        days -= length(year);
        year += 1;
    }
    let february = if is_leap(year) { 29 } else { 28 };
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30] {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    format!("{year}-{month:02}-{:02}", days + 1)
}

#[cfg(test)]
mod tests {
    use super::{Machine, date};
    use std::time::{Duration, SystemTime};

    #[test]
    fn the_name_of_a_measurement() {
        let machine = |gpu: &str| Machine {
            date: "2026-11-30".into(),
            gpu: gpu.into(),
            architecture: "sm_90".into(),
            driver: None,
            driver_cuda: "13.0".into(),
            nvrtc: None,
        };
        assert_eq!(machine("NVIDIA H200").file_name("parity"), "2026-11-30-h200-parity.json");
        assert_eq!(machine("NVIDIA RTX A6000-8Q").file_name("x"), "2026-11-30-rtx-a6000-8q-x.json");
    }

    #[test]
    fn dates() {
        let at = |seconds| date(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds));
        assert_eq!(at(0), "1970-01-01");
        assert_eq!(at(951_782_400), "2000-02-29");
        assert_eq!(at(1_735_689_599), "2024-12-31");
        assert_eq!(at(1_796_083_200), "2026-12-01");
    }
}
