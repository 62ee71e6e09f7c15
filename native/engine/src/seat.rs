//! Who is the host's keeper now.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;
use rustix::io::Errno;

use crate::errors::LaunchError;
use crate::identity::Identity;
use crate::keeper::{Keeper, Turn, no_keeper, start};
use crate::mailbox::{Mailbox, Message};
use crate::thread;

/// Where the host's keeper sits.
pub struct Seat {
    program: Option<PathBuf>,
    reactor: Mailbox,
    next_id: Box<dyn Fn() -> u64 + Send + Sync>,
    current: Mutex<Option<Arc<Keeper>>>,
}

impl Seat {
    /// An empty seat, for the program at this path.
    pub fn new(
        program: Option<PathBuf>,
        reactor: Mailbox,
        next_id: impl Fn() -> u64 + Send + Sync + 'static,
    ) -> Self {
        Seat { program, reactor, next_id: Box::new(next_id), current: Mutex::new(None) }
    }

    /// The keeper's program.
    pub fn program(&self) -> Option<&Path> {
        self.program.as_deref()
    }

    /// The keeper for what the calling thread is now; started, if there is none. `stays`: for a command
    /// that is to start in the host's own directory.
    pub fn keeper(&self, stays: bool) -> Result<Turn, LaunchError> {
        self.keeper_for(Identity::now(stays))
    }

    fn keeper_for(&self, mut identity: Identity) -> Result<Turn, LaunchError> {
        let mut current = self.current.lock();
        if let Some(keeper) = current.as_ref().filter(|keeper| !keeper.is_gone()) {
            if keeper.identity.serves(&identity) {
                if keeper.is_seen() {
                    return Ok(Turn::of(keeper.clone()));
                }
                identity = identity.confined();
            }
            // Whoever was asked for is started, and goes on; nobody else is as who the host was.
            keeper.resign();
        }
        *current = None;
        let keeper = Arc::new(start(self.program(), (self.next_id)(), identity)?);
        let turn = Turn::of(keeper.clone());
        if keeper.can_be_told_apart() {
            *current = Some(keeper.clone());
        } else {
            keeper.resign();
        }
        drop(current);
        self.reactor.send(Message::KeeperStarted(keeper));
        Ok(turn)
    }

    /// The keeper for a request that one of this identity did not take.
    pub fn keeper_in_place_of(&self, gone: &Keeper) -> Result<Turn, LaunchError> {
        let identity = Identity::now(gone.identity.has_birthplace());
        // This thread seldom asks.
        thread::close();
        if identity.has_rights_of(&gone.identity) && !identity.hides_something() {
            return self.keeper_for(identity);
        }
        let is_another = |keeper: &&Arc<Keeper>| !keeper.is_gone() && keeper.id != gone.id;
        let current = self.current.lock();
        let same = current.as_ref().filter(is_another);
        let same = same.filter(|keeper| keeper.identity.has_rights_of(&gone.identity));
        same.cloned().map(Turn::of).ok_or_else(|| no_keeper(Errno::PERM.into()))
    }
}
