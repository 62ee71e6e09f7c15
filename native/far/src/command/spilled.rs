//! The file for a command's whole output, as it is told to the client.

use forkline_engine::{SpillReport, errno_text};
use serde::Serialize;

use crate::command::names::errno_name;

/// What became of the file for the whole output.
#[derive(Debug, Clone, Serialize)]
pub struct Spilled {
    /// Where it is; not told by the engine itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Bytes in it.
    pub bytes: u64,
    /// Bytes that are not.
    pub dropped: u64,
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<SpillError>,
}

/// Why a file is not what it should be.
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
    /// The system's error.
    pub fn new(errno: i32, message: String) -> SpillError {
        SpillError { code: errno_name(errno), errno, message }
    }
}
