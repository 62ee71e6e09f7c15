//! What the launching thread is to send.

use std::sync::Arc;

use crate::command::Command;
use crate::command::errors::LaunchError;
use crate::command::owner::{Owner, Ticket};
use crate::command::sink::Sink;
use crate::keeper::{Keeper, Turn};
use crate::request::letter::Letter;

/// Of which cradle something is asked again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CradleChoice {
    /// Of whichever waits.
    Any,
    /// Of one that is made for it: others may have been changed.
    New,
}

/// A request.
pub enum LaunchOrder {
    /// A command.
    Start(Box<NewCommand>),
    /// A request that nobody of this keeper has taken, or was fit for.
    SendAgain(u64, Arc<Letter>, Arc<Keeper>, CradleChoice),
}

/// A command on its way to be launched.
pub struct NewCommand {
    /// Its id.
    pub id: u64,
    /// What to run.
    pub command: Command,
    /// Who wants it.
    pub owner: Arc<Owner>,
    /// Whether it is still wanted.
    pub ticket: Arc<Ticket>,
    /// Where its events go.
    pub sink: Arc<dyn Sink>,
    /// Which thread has asked for it.
    pub thread: i32,
    /// Who runs it.
    pub keeper: Result<Turn, LaunchError>,
}
