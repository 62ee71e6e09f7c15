//! The receiver of a command's events.

use crate::capture::text::Text;
use crate::command::outcome::Ended;

/// A stream of output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Label {
    /// stdout and stderr in true order.
    Merged,
    /// stdout alone.
    Stdout,
    /// stderr alone.
    Stderr,
}

/// A stretch of output on its way to a listener.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunk {
    /// The output.
    pub data: Data,
    /// The number of bytes dropped just before it.
    pub dropped: u64,
}

/// Output in the form that the listener asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Data {
    /// Decoded text.
    Text(Text),
    /// The bytes, unchanged.
    Bytes(Vec<u8>),
}

/// Receives the events of one command, on the engine's threads. Calls must return at once.
///
/// The order is: `started` (unless the launch failed), any number of `output`, `ended` once.
pub trait Sink: Send + Sync {
    /// Called when the command runs.
    fn started(&self, pid: i32);
    /// Called with output, after the listener asked for it.
    fn output(&self, label: Label, chunks: Vec<Chunk>);
    /// Called once the command is over; no event follows.
    fn ended(&self, ended: Ended);
}
