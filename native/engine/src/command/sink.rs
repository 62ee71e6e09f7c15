//! The receiver of a command's events.

use forkline_protocol::ExecAsk;

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

/// A question about a program that is about to be executed in a sandbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExecQuestion {
    /// The id of the sandbox's keeper.
    pub keeper: u64,
    /// The question's number there.
    pub number: u64,
    /// The program. None: the question needs no answer any more.
    pub ask: Option<Box<ExecAsk>>,
}

/// Whether somebody is there to answer a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hearing {
    /// The answer follows.
    Heard,
    /// Nobody will answer.
    Unheard,
}

/// Called with the questions about a detached command's programs, and with None once it is over.
pub type OnAsk = Box<dyn Fn(Option<ExecQuestion>) -> Hearing + Send>;

/// Receives the events of one command, on the engine's threads. Calls must return at once.
///
/// The order is: `started` (unless the launch failed), any number of `output`, `ended` once.
pub trait Sink: Send + Sync {
    /// Called when the command runs.
    fn started(&self, pid: i32);
    /// Called with output, after the listener asked for it.
    fn output(&self, label: Label, chunks: Vec<Chunk>);
    /// Called with a question about a program of the command, and again when it needs no answer any more.
    fn asked(&self, _question: ExecQuestion) -> Hearing {
        Hearing::Unheard
    }
    /// Called once the command is over; no event follows.
    fn ended(&self, ended: Ended);
}
