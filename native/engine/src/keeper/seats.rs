//! The host's keepers: the one for commands without a sandbox, and one for each sandbox.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use parking_lot::Mutex;

use crate::command::errors::{LaunchError, Step};
use crate::keeper::former::FormerPlans;
use crate::keeper::identity::StartsIn;
use crate::keeper::seat::{OnStart, Seat, SeatState};
use crate::keeper::{Keeper, Turn};
use crate::os::beneath::Reach;
use crate::os::watch::Watch;

/// All seats of the host.
pub struct Seats {
    open: Seat,
    program: Option<PathBuf>,
    watch: Watch,
    on_start: OnStart,
    sandboxes: Mutex<Sandboxes>,
}

/// The sandboxes of the host.
#[derive(Default)]
struct Sandboxes {
    /// In the order of their last use; the last one used is last.
    seats: Vec<Sandboxed>,
    former: FormerPlans,
}

/// A plan, and the seat of its sandbox.
type Sandboxed = (Arc<[u8]>, Arc<Seat>);

/// The number of sandboxes up to which none is given up; beyond it, an idle one makes room for a new one.
const FEW: usize = 32;
/// The most sandboxes.
const MOST: usize = 256;

impl Seats {
    /// Makes empty seats: see [`Seat::new`].
    pub fn new(program: Option<PathBuf>, watch: Watch, on_start: OnStart) -> Self {
        let open =
            Seat::new(program.clone(), watch.clone(), on_start.clone(), None, Arc::default());
        Seats { open, program, watch, on_start, sandboxes: Mutex::default() }
    }

    /// Returns the path of the keeper's program.
    pub fn program(&self) -> Option<&Path> {
        self.program.as_deref()
    }

    /// Returns the keeper for the identity of the calling thread: see [`Seat::keeper`].
    pub fn keeper(
        &self,
        sandbox: Option<&Arc<[u8]>>,
        starts_in: StartsIn,
    ) -> Result<Turn, LaunchError> {
        match sandbox {
            None => self.open.keeper(starts_in),
            Some(plan) => self.of_sandbox(plan)?.keeper(StartsIn::NamedDirectory),
        }
    }

    /// Returns a keeper for a request that was not taken by any cradle of `gone`.
    pub fn keeper_in_place_of(&self, gone: &Keeper) -> Result<Turn, LaunchError> {
        let Some(sandbox) = &gone.sandbox else { return self.open.keeper_in_place_of(gone) };
        match sandbox.refusal() {
            Some(refusal) => Err(refusal),
            None => self.of_sandbox(&sandbox.plan)?.keeper_in_place_of(gone),
        }
    }

    /// Makes an empty seat for sandboxes of a plan.
    fn seat_of(&self, plan: &Arc<[u8]>, stood: Arc<AtomicBool>) -> Seat {
        let (program, watch) = (self.program.clone(), self.watch.clone());
        Seat::new(program, watch, self.on_start.clone(), Some(plan.clone()), stood)
    }

    /// Returns the seat of this sandbox, and makes room for it.
    fn of_sandbox(&self, plan: &Arc<[u8]>) -> Result<Arc<Seat>, LaunchError> {
        let mut sandboxes = self.sandboxes.lock();
        let entry = match sandboxes.seats.iter().rposition(|(known, _)| known == plan) {
            Some(place) => sandboxes.seats.remove(place),
            None => {
                Reach::note_plan(plan);
                let stood = sandboxes.former.take(plan).unwrap_or_default();
                (plan.clone(), Arc::new(self.seat_of(plan, stood)))
            }
        };
        let seat = entry.1.clone();
        let left = if seat.state() == SeatState::Empty { sandboxes.make_room() } else { Ok(None) };
        sandboxes.seats.push(entry);
        drop(sandboxes);
        if let Some(keeper) = left? {
            keeper.resign();
        }
        Ok(seat)
    }
}

impl Sandboxes {
    /// Makes room for one more sandbox. Returns the keeper that has lost its seat for that.
    fn make_room(&mut self) -> Result<Option<Arc<Keeper>>, LaunchError> {
        let Sandboxes { seats, former } = self;
        seats.retain(|(plan, seat)| {
            let is_empty = state(seat) == SeatState::Empty;
            if is_empty {
                former.note(plan, seat.stood());
            }
            !is_empty
        });
        let states: Vec<SeatState> = seats.iter().map(|(_, seat)| state(seat)).collect();
        match room(&states) {
            Room::Enough => Ok(None),
            Room::InPlaceOf(place) => Ok(seats.get(place).and_then(|(_, seat)| seat.vacate())),
            Room::None => Err(LaunchError {
                step: Step::Sandbox,
                errno: libc::EAGAIN,
                subject: format!("{MOST} sandboxes exist, and something runs in each"),
                why: None,
            }),
        }
    }
}

/// Returns the state of a seat in the list.
fn state(seat: &Arc<Seat>) -> SeatState {
    // Another thread that holds a reference is asking for the keeper now; references are given out only here.
    if Arc::strong_count(seat) > 1 { SeatState::Busy } else { seat.state() }
}

#[derive(Debug, PartialEq, Eq)]
enum Room {
    Enough,
    InPlaceOf(usize),
    None,
}

/// Decides on room. `states`: in the order of last use.
fn room(states: &[SeatState]) -> Room {
    let standing = states.iter().filter(|state| **state != SeatState::Empty).count();
    let idle = states.iter().position(|state| *state == SeatState::Idle);
    match idle {
        _ if standing < FEW => Room::Enough,
        Some(place) => Room::InPlaceOf(place),
        None if standing < MOST => Room::Enough,
        None => Room::None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s11_only_idle_sandboxes_are_given_up_the_least_recently_used_first() {
        use SeatState::{Busy, Empty, Idle};
        let of = |count: usize, state| vec![state; count];
        assert_eq!(room(&of(FEW - 1, Idle)), Room::Enough);
        assert_eq!(room(&of(FEW, Idle)), Room::InPlaceOf(0));
        assert_eq!(room(&[of(3, Busy), of(FEW, Idle)].concat()), Room::InPlaceOf(3));
        assert_eq!(room(&[of(FEW, Empty), of(FEW - 1, Idle)].concat()), Room::Enough);
        assert_eq!(room(&of(MOST - 1, Busy)), Room::Enough);
        assert_eq!(room(&of(MOST, Busy)), Room::None);
        assert_eq!(room(&[of(MOST, Busy), vec![Idle]].concat()), Room::InPlaceOf(MOST));
    }
}
