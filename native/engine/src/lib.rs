//! The engine launches commands, drains and captures their output, signals and contains them.
//!
//! A [`Command`] goes in, events go to a [`Sink`]. All work is done on the engine's own threads: one sends
//! requests to the keeper, one event loop drains output and keeps time for all commands, and one, started
//! when first needed, writes spill files. No call here blocks, except the start of a keeper.

mod capture;
mod command;
mod drain;
mod keeper;
mod os;
mod reactor;
mod request;
mod start;

pub use capture::live::Overflow;
pub use capture::text::{NUL_SYMBOL, Text};
pub use capture::{Capture, Captured, Counts, Limits, Parts};
pub use command::directory::{Directory, HostDirectory};
pub use command::errors::{LaunchError, StartError, Step, errno_text};
pub use command::outcome::{BackgroundProcess, Cause, Ended, Outcome, SpillReport, Status, Usage};
pub use command::owner::{Owner, Ticket};
pub use command::sink::{Chunk, Data, ExecQuestion, Hearing, Label, OnAsk, Sink};
pub use command::{Command, Form, Listen, Opening, Priority, SpillTarget, Stdin, Streams};
pub use forkline_protocol::{ExecAnswer, ExecAsk};
pub use os::beneath::names_own_descriptor;
pub use os::pty::{Size, Typing};
pub use reactor::OnListen;
pub use reactor::mailbox::Snapshot;
pub use reactor::state::followers::MembersGone;
pub use reactor::state::input::OnWritten;
pub use reactor::state::leftover::OnDisposed;
pub use rustix::io::Errno;
pub use rustix::process::Signal;
pub use start::detached::{DetachedCommand, OnDetached};
pub use start::engine::{Engine, Handle};
pub use start::local_pipe::{LocalPipe, Readiness};
