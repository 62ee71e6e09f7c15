//! What a host and its keeper say to each other.
//!
//! A message is one datagram of a SEQPACKET socket, so it comes whole or not at all. There are two
//! kinds of sockets: a keeper's lifeline, and a channel to each of its cradles. What the keeper of a
//! detached command says to those who find it is in [`task`].

mod channel;
mod detached;
mod fields;
mod lifeline;
mod memory;
mod request;
mod socket;
pub mod task;

pub use channel::{Answer, Exit, Member, Order, Start, Status, members_in_parts};
pub use detached::{Detached, decode_report, encode_report};
pub use lifeline::{Call, News};
pub use memory::{memory_file, memory_program};
pub use request::{Descriptors, Request};
pub use socket::{Received, pair, receive, receive_now, send, take};

/// Changes with every change of what is said. Both sides say theirs, and neither goes on with another
/// one: the addon and the keeper are two files, of which somebody may have replaced one.
pub const VERSION: u32 = 11;

/// The keeper's roles, as its first argument; the second one is the version.
pub mod role {
    /// Keeps the commands of a host. Its lifeline is descriptor 0.
    pub const KEEP: &str = "keep";
    /// The same in a sandbox, which is told in descriptor 3.
    pub const SANDBOX: &str = "sandbox";
    /// Keeps one command that outlives its host: its order is descriptor 3, its report goes to 1.
    pub const DETACH: &str = "detach";
}
