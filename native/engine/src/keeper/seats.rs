//! The host's keepers: the one for commands without a sandbox, and one for each sandbox.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;

use crate::command::errors::{LaunchError, Step};
use crate::keeper::identity::StartsIn;
use crate::keeper::seat::{OnStart, Seat, SeatState};
use crate::keeper::{Keeper, Turn};
use crate::os::beneath::Reach;
use crate::os::watch::Watch;

/// All seats.
pub struct Seats {
    open: Seat,
    program: Option<PathBuf>,
    watch: Watch,
    on_start: OnStart,
    /// The one that was asked for last comes last.
    sandboxes: Mutex<Vec<Sandboxed>>,
}

/// A plan, and who has the seat of that sandbox.
type Sandboxed = (Arc<[u8]>, Arc<Seat>);

/// So many sandboxes stand at once; beyond these, one in which nothing runs makes room for another.
const FEW: usize = 32;
/// More there never are.
const MOST: usize = 256;
/// Of so many plans is known that a sandbox has stood: the next one is told to be another.
const MOST_KNOWN: usize = 1024;

impl Seats {
    /// Without anybody yet: see [`Seat::new`].
    pub fn new(program: Option<PathBuf>, watch: Watch, on_start: OnStart) -> Self {
        let open = Seat::new(program.clone(), watch.clone(), on_start.clone(), None);
        Seats { open, program, watch, on_start, sandboxes: Mutex::default() }
    }

    /// The keeper's program.
    pub fn program(&self) -> Option<&Path> {
        self.program.as_deref()
    }

    /// The keeper for what the calling thread is now: see [`Seat::keeper`].
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

    /// The keeper for a request that nobody of this one has taken.
    pub fn keeper_in_place_of(&self, gone: &Keeper) -> Result<Turn, LaunchError> {
        let Some(sandbox) = &gone.sandbox else { return self.open.keeper_in_place_of(gone) };
        match sandbox.refusal() {
            Some(refusal) => Err(refusal),
            None => self.of_sandbox(&sandbox.plan)?.keeper_in_place_of(gone),
        }
    }

    /// The seat of this sandbox, and room for it.
    fn of_sandbox(&self, plan: &Arc<[u8]>) -> Result<Arc<Seat>, LaunchError> {
        let mut sandboxes = self.sandboxes.lock();
        let entry = match sandboxes.iter().rposition(|(known, _)| known == plan) {
            Some(place) => sandboxes.remove(place),
            None => {
                Reach::note_plan(plan);
                let (program, watch) = (self.program.clone(), self.watch.clone());
                let plan = plan.clone();
                let seat = Seat::new(program, watch, self.on_start.clone(), Some(plan.clone()));
                (plan, Arc::new(seat))
            }
        };
        let seat = entry.1.clone();
        let left =
            if seat.state() == SeatState::Empty { make_room(&mut sandboxes) } else { Ok(None) };
        sandboxes.push(entry);
        drop(sandboxes);
        if let Some(keeper) = left? {
            keeper.resign();
        }
        Ok(seat)
    }
}

/// Room for one more among these; who has left his seat for that.
fn make_room(sandboxes: &mut Vec<Sandboxed>) -> Result<Option<Arc<Keeper>>, LaunchError> {
    let states: Vec<SeatState> = sandboxes.iter().map(|(_, seat)| state(seat)).collect();
    if sandboxes.len() >= MOST_KNOWN
        && let Some(place) = states.iter().position(|state| *state == SeatState::Empty)
    {
        sandboxes.remove(place);
        return make_room(sandboxes);
    }
    match room(&states) {
        Room::Enough => Ok(None),
        Room::InPlaceOf(place) => Ok(sandboxes.get(place).and_then(|(_, seat)| seat.vacate())),
        Room::None => Err(LaunchError {
            step: Step::Sandbox,
            errno: libc::EAGAIN,
            subject: format!("{MOST} stand, and in each something runs"),
        }),
    }
}

/// Of a seat in the list.
fn state(seat: &Arc<Seat>) -> SeatState {
    // Whoever else has it asks for its keeper just now: only here is it given out.
    if Arc::strong_count(seat) > 1 { SeatState::Busy } else { seat.state() }
}

#[derive(Debug, PartialEq, Eq)]
enum Room {
    Enough,
    InPlaceOf(usize),
    None,
}

/// `states`: the one that was asked for last comes last.
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
    fn s11_only_what_is_idle_is_given_up_the_least_recently_used_first() {
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
