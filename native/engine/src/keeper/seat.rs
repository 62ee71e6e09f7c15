//! A seat: the place of the keeper that is in use now, for one sandbox or for none.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use parking_lot::Mutex;
use rustix::io::Errno;

use crate::command::errors::LaunchError;
use crate::keeper::identity::{Identity, StartsIn};
use crate::keeper::program::no_keeper;
use crate::keeper::sandbox::Sandbox;
use crate::keeper::{Keeper, Turn, start, thread};
use crate::os::watch::Watch;

/// Called with every keeper that is started.
pub type OnStart = Arc<dyn Fn(Arc<Keeper>) + Send + Sync>;

/// The state of a seat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SeatState {
    /// No keeper is in use.
    Empty,
    /// No command runs in the keeper.
    Idle,
    /// A command runs in the keeper, or is about to.
    Busy,
}

/// The place of the keeper in use.
pub struct Seat {
    program: Option<PathBuf>,
    watch: Watch,
    on_start: OnStart,
    /// The plan of the sandbox of its keepers.
    plan: Option<Arc<[u8]>>,
    /// Whether a sandbox with that plan has ever been set up.
    stood: Arc<AtomicBool>,
    current: Mutex<Option<Arc<Keeper>>>,
}

impl Seat {
    /// Makes an empty seat. `program`: the keeper's path. `on_start` is called with each keeper; events of
    /// their cradles are reported by `watch`. `stood`: whether a sandbox with that plan has ever been set up.
    pub fn new(
        program: Option<PathBuf>,
        watch: Watch,
        on_start: OnStart,
        plan: Option<Arc<[u8]>>,
        stood: Arc<AtomicBool>,
    ) -> Self {
        Seat { program, watch, on_start, plan, stood, current: Mutex::new(None) }
    }

    /// Returns whether a sandbox with its plan has ever been set up.
    pub fn stood(&self) -> Arc<AtomicBool> {
        self.stood.clone()
    }

    /// Empties the seat. Returns its keeper, which is to resign.
    pub fn vacate(&self) -> Option<Arc<Keeper>> {
        self.current.lock().take()
    }

    /// Returns the state. Correct only while no other thread asks this seat for its keeper.
    pub fn state(&self) -> SeatState {
        // Another thread is about to take the keeper.
        let Some(current) = self.current.try_lock() else { return SeatState::Busy };
        match current.as_ref().filter(|keeper| !keeper.is_gone() && !keeper.has_resigned()) {
            None => SeatState::Empty,
            Some(keeper) if keeper.is_busy() => SeatState::Busy,
            Some(_) => SeatState::Idle,
        }
    }

    /// Returns the keeper for the identity of the calling thread; starts one if there is none. `starts_in`:
    /// where the command is to start.
    pub fn keeper(&self, starts_in: StartsIn) -> Result<Turn, LaunchError> {
        self.keeper_for(Identity::now(starts_in))
    }

    fn keeper_for(&self, mut identity: Identity) -> Result<Turn, LaunchError> {
        let mut current = self.current.lock();
        let is_there = |keeper: &&Arc<Keeper>| !keeper.is_gone() && !keeper.has_resigned();
        if let Some(keeper) = current.as_ref().filter(is_there) {
            let has_stale_hidden = keeper.sandbox.as_ref().is_some_and(Sandbox::has_stale_hidden);
            if !has_stale_hidden && keeper.identity.serves(&identity) {
                if keeper.is_visible() {
                    return Ok(Turn::of(keeper.clone()));
                }
                identity = identity.confined();
            }
            // Commands requested before still run in the old keeper, since only it has the identity that the
            // host had then.
            keeper.resign();
        }
        *current = None;
        let sandbox = self.plan.clone().map(|plan| Sandbox::new(plan, self.stood.clone()));
        let keeper = start(self.program.as_deref(), &self.watch, identity, sandbox)?;
        let keeper = Arc::new(keeper);
        let turn = Turn::of(keeper.clone());
        if keeper.can_detect_changes() {
            *current = Some(keeper.clone());
        } else {
            keeper.resign();
        }
        drop(current);
        // The calls, and the first requests with them, wait in the socket until the keeper runs.
        keeper.prepare();
        (self.on_start)(keeper);
        Ok(turn)
    }

    /// Returns a keeper for a request that was not taken by any cradle of `gone`.
    pub fn keeper_in_place_of(&self, gone: &Keeper) -> Result<Turn, LaunchError> {
        let identity = Identity::now(gone.identity.starts_in());
        // The files are closed, since this thread seldom asks.
        thread::close();
        if identity.has_rights_of(&gone.identity) && !identity.hides_something() {
            return self.keeper_for(identity);
        }
        let current = self.current.lock();
        let same = current.as_ref().filter(|keeper| !keeper.is_gone());
        let same = same.filter(|keeper| keeper.identity.has_rights_of(&gone.identity));
        same.cloned().map(Turn::of).ok_or_else(|| no_keeper(Errno::PERM.into()))
    }
}
