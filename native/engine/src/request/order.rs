//! Orders to the launcher thread.

use std::sync::Arc;

use crate::command::Command;
use crate::command::errors::LaunchError;
use crate::command::owner::{Owner, Ticket};
use crate::command::sink::Sink;
use crate::keeper::{Keeper, Turn};
use crate::request::letter::Letter;

/// The cradle to which a request is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CradleChoice {
    /// An idle one, or else a new one.
    Any,
    /// A new one, since idle ones may have been changed.
    New,
}

/// The most young commands beside which a start is admitted. None: the usual ones, or any as long as there is
/// an idle processor.
pub type Most = Option<u32>;

/// An order to the launcher.
pub enum LaunchOrder {
    /// Start a command.
    Start(Box<NewCommand>),
    /// Send a request again, since no cradle of this keeper has taken it or was fit for it.
    SendAgain(u64, Arc<Letter>, Arc<Keeper>, CradleChoice),
    /// Start a command that outlives the host, with this id, by this call.
    Detach(u64, Most, Box<dyn FnOnce() + Send>),
}

impl LaunchOrder {
    /// Returns the id of the command that is to be started, and beside how many it may be. None: it goes on.
    pub fn start(&self) -> Option<(u64, Most)> {
        match self {
            LaunchOrder::Start(start) => Some((start.id, start.command.starts_at_once)),
            LaunchOrder::Detach(id, most, _) => Some((*id, *most)),
            LaunchOrder::SendAgain(..) => None,
        }
    }

    /// Returns whether nobody wants the command any more.
    pub fn is_cancelled(&self) -> bool {
        matches!(self, LaunchOrder::Start(start) if start.is_cancelled())
    }
}

/// A command to be launched.
pub struct NewCommand {
    /// The id of the command.
    pub id: u64,
    /// The description of the command.
    pub command: Command,
    /// The owner that starts it.
    pub owner: Arc<Owner>,
    /// The ticket by which it may be cancelled.
    pub ticket: Arc<Ticket>,
    /// The receiver of its events.
    pub sink: Arc<dyn Sink>,
    /// The thread that has requested it.
    pub thread: i32,
    /// The keeper that runs it.
    pub keeper: Result<Turn, LaunchError>,
}

impl NewCommand {
    /// Returns whether nobody wants it any more.
    pub fn is_cancelled(&self) -> bool {
        self.ticket.is_cancelled() || self.owner.is_disposed()
    }
}
