//! The file for a command's whole output, as the client is told about it.

use forkline_engine::{SpillReport, errno_text};
use serde::Serialize;

use crate::command::names::errno_name;

/// The state of the file for the whole output.
#[derive(Debug, Clone, Serialize)]
pub struct Spilled {
    /// The path, which the engine itself does not report.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Bytes in the file.
    pub bytes: u64,
    /// Bytes that are missing in the file.
    pub dropped: u64,
    /// The reason for a file that is not as it should be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<SpillError>,
}

/// The reason for a spill file that is not as it should be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SpillError {
    code: String,
    errno: i32,
    message: String,
}

impl From<SpillReport> for Spilled {
    fn from(SpillReport { written, dropped, error, why }: SpillReport) -> Spilled {
        let message = |errno| why.unwrap_or_else(|| errno_text(errno));
        let error = error.map(|errno| SpillError::new(errno, message(errno)));
        Spilled { path: None, bytes: written, dropped, error }
    }
}

impl SpillError {
    /// Makes a reason from an error of the system.
    pub fn new(errno: i32, message: String) -> SpillError {
        SpillError { code: errno_name(errno), errno, message }
    }
}
