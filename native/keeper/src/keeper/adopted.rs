//! Members of commands that killed cradles have left to their keeper.

use std::time::{Duration, Instant};

use crate::command::GRACE_WITHOUT_HOST;
use crate::ending::{Effort, Ending};
use crate::members::Members;

/// The adopted members, which are being ended.
pub struct Adopted {
    /// The killed cradles, by the numbers that the host knows them by.
    pub cradles: Vec<i32>,
    members: Members,
    ending: Ending,
}

/// How the end of the adopted members stands.
pub enum Adoption {
    /// Members are left; there is more to do after this time.
    Continues(Duration),
    /// No member is left.
    Cleared,
    /// Members are left that can't be ended.
    GivenUp,
}

impl Adopted {
    /// Begins to end what is adopted. `has_keys`: whether it had the user's agents: then it has no grace, since
    /// what it does is told to nobody.
    pub fn new(has_keys: bool, now: Instant) -> Adopted {
        let grace = if has_keys { Duration::ZERO } else { GRACE_WITHOUT_HOST };
        Adopted { cradles: Vec::new(), members: Members::new(2), ending: Ending::new(grace, now) }
    }

    /// Takes note that a member has ended.
    pub fn member_ended(&mut self, now: Instant) {
        self.ending.member_ended(&self.members, now);
    }

    /// Does overdue work. `cradles`: children of the keeper that are not adopted.
    pub fn act(&mut self, cradles: impl Iterator<Item = i32>, now: Instant) -> Adoption {
        self.members.set_apart(cradles);
        if self.members.children().is_empty() {
            return Adoption::Cleared;
        }
        match self.ending.act(&self.members, None, now) {
            Effort::GivenUp => Adoption::GivenUp,
            Effort::Continues => {
                Adoption::Continues(self.ending.due().saturating_duration_since(Instant::now()))
            }
        }
    }
}
