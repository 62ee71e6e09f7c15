//! Where a command's events go.

use crate::capture::text::Text;
use crate::command::outcome::Ended;

/// Which stream.
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
    /// How many bytes were lost just before it.
    pub dropped: u64,
}

/// Output as the listener wants it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Data {
    /// Decoded.
    Text(Text),
    /// As it came.
    Bytes(Vec<u8>),
}

/// Receives the events of one command, on the engine's threads; must return at once.
///
/// The order is: `started` (unless the launch failed), any number of `output`, `ended` once.
pub trait Sink: Send + Sync {
    /// The command runs, and can be talked to.
    fn started(&self, pid: i32);
    /// Output, after the listener asked for it.
    fn output(&self, label: Label, chunks: Vec<Chunk>);
    /// It is over; nothing follows.
    fn ended(&self, ended: Ended);
}
