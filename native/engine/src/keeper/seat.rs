//! Who is the host's keeper now.

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

/// Told of every keeper that is started.
pub type OnStart = Arc<dyn Fn(Arc<Keeper>) + Send + Sync>;

/// How a seat is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SeatState {
    /// Nobody has it.
    Empty,
    /// Nothing runs there.
    Idle,
    /// Something runs, or is about to.
    Busy,
}

/// Where the host's keeper sits.
pub struct Seat {
    program: Option<PathBuf>,
    watch: Watch,
    on_start: OnStart,
    /// Of the sandbox that its keepers are in.
    plan: Option<Arc<[u8]>>,
    /// Whether that has stood.
    stood: Arc<AtomicBool>,
    current: Mutex<Option<Arc<Keeper>>>,
}

impl Seat {
    /// An empty seat, for the program at this path. `on_start` is told of whoever takes it; what its
    /// cradles have to say comes by `watch`.
    pub fn new(
        program: Option<PathBuf>,
        watch: Watch,
        on_start: OnStart,
        plan: Option<Arc<[u8]>>,
    ) -> Self {
        let stood = Arc::default();
        Seat { program, watch, on_start, plan, stood, current: Mutex::new(None) }
    }

    /// Nobody has it any more; who had, and is to resign.
    pub fn vacate(&self) -> Option<Arc<Keeper>> {
        self.current.lock().take()
    }

    /// Whether somebody has it, and how he is. For one that nobody else asks for now.
    pub fn state(&self) -> SeatState {
        // Somebody is just about to take it.
        let Some(current) = self.current.try_lock() else { return SeatState::Busy };
        match current.as_ref().filter(|keeper| !keeper.is_gone() && !keeper.has_resigned()) {
            None => SeatState::Empty,
            Some(keeper) if keeper.is_busy() => SeatState::Busy,
            Some(_) => SeatState::Idle,
        }
    }

    /// The keeper for what the calling thread is now; started, if there is none. `starts_in`: where
    /// the command is to start.
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
            // Whoever was asked for is started, and goes on; nobody else is as who the host was.
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
        // Its calls lie there until it runs, and the first requests with them.
        keeper.prepare();
        (self.on_start)(keeper);
        Ok(turn)
    }

    /// The keeper for a request that nobody of this one has taken.
    pub fn keeper_in_place_of(&self, gone: &Keeper) -> Result<Turn, LaunchError> {
        let identity = Identity::now(gone.identity.starts_in());
        // This thread seldom asks.
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
