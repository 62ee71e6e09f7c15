//! The messages between a host and its keeper.
//!
//! A message is one datagram of a SEQPACKET socket, so it arrives whole or not at all. There are two
//! kinds of sockets: a keeper's lifeline, and a channel to each of its cradles. The messages between the
//! keeper of a detached command and its clients are in [`task`].

mod channel;
mod detached;
mod exec;
mod exec_words;
mod fields;
mod lifeline;
mod member;
mod memory;
mod ports;
mod request;
mod socket;
pub mod task;

pub use channel::{Answer, Exit, Order, Start, Status, members_in_parts};
pub use detached::{Detached, decode_report, encode_report};
pub use exec::{ExecAnswer, ExecAsk, LONGEST_ASK};
pub use exec_words::{ExecWords, why_denied};
pub use lifeline::{Call, News};
pub use member::Member;
pub use memory::{memory_file, memory_program};
pub use ports::PortNews;
pub use request::{Descriptors, Request};
pub use socket::{Received, pair, receive, receive_now, send, stream_pair, take};

/// The version of the protocol, which changes with every change of the messages. Host and keeper exchange
/// their versions, and stop unless they are equal: the addon and the keeper are two files, and one of
/// them may have been replaced.
pub const VERSION: u32 = 13;

/// The roles of a keeper: its first argument. The second argument is the version.
pub mod role {
    /// Keeps the commands of a host. The lifeline is descriptor 0.
    pub const KEEP: &str = "keep";
    /// Keeps the commands of a host in the sandbox that descriptor 3 describes.
    pub const SANDBOX: &str = "sandbox";
    /// Goes on with keeping commands in a sandbox, from its user namespace on. The third argument says with what.
    pub const INSIDE: &str = "inside";
    /// Keeps one command that outlives its host. The order is descriptor 3; the report goes to descriptor
    /// 1.
    pub const DETACH: &str = "detach";
}
