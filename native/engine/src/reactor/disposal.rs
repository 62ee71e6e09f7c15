//! Disposal of owners: ends their running commands, and what outlived earlier ones.

use std::sync::Arc;
use std::time::Duration;

use forkline_protocol::Answer;

use crate::command::owner::Owner;
use crate::reactor::Reactor;
use crate::reactor::state::followers::MembersGone;
use crate::reactor::state::leftover::{Disposal, OnDisposed};

impl Reactor {
    /// Ends the owner's commands, and the processes that earlier ones have left.
    pub(super) fn dispose(&mut self, owner: Arc<Owner>, grace: Duration, done: OnDisposed) {
        let of_owner = self.commands.iter().filter(|(_, command)| command.owner.id == owner.id);
        let running: Vec<u64> = of_owner.map(|(id, _)| *id).collect();
        self.disposals.push(Disposal { owner, grace, told: false, done });
        for id in running {
            self.cancel(id, Some(grace));
        }
        self.advance_disposals();
    }

    pub(super) fn launch_failed(&mut self, owner: &Owner) {
        owner.launch_ended();
        self.advance_disposals();
    }

    /// Handles an answer from the cradle of a command that has ended.
    pub(super) fn leftover_answered(&mut self, id: u64, answer: &Answer) {
        match answer {
            Answer::Empty | Answer::Over { cleared: true, .. } => {
                if let Some(leftover) = self.leftovers.remove(&id) {
                    // Denials of a command that is over are dropped; the next command in this cradle must not
                    // be told of them.
                    self.read_keeper(leftover.keeper.id);
                    leftover.keeper.sandbox.iter().for_each(|sandbox| {
                        sandbox.take_denied(leftover.cradle_pid);
                        sandbox.forget_ports(leftover.cradle_pid);
                    });
                    self.free(&leftover.keeper, leftover.cradle);
                }
                self.members_gone(id, MembersGone::Confirmed);
            }
            Answer::Left { members, more } => {
                let Some(leftover) = self.leftovers.get(&id) else { return };
                let label = leftover.label.clone();
                return self.members_told(id, members, &label, *more);
            }
            Answer::Over { cleared: false, .. } => {
                if let Some(leftover) = self.leftovers.get_mut(&id) {
                    leftover.given_up = true;
                }
            }
            _ => return,
        }
        self.advance_disposals();
    }

    /// Ends the processes that outlived a command. Only its followers still know its id.
    pub(super) fn end_leftover(&mut self, id: u64, grace: Option<Duration>) {
        let Some(leftover) = self.leftovers.get_mut(&id) else { return };
        leftover.end(grace.unwrap_or(leftover.grace));
        self.expect_answer(id);
    }

    /// Continues the disposals whose commands have all ended.
    pub(super) fn advance_disposals(&mut self) {
        let (mut over, mut asked) = (Vec::new(), Vec::new());
        for (index, disposal) in self.disposals.iter_mut().enumerate() {
            let owner = &disposal.owner;
            let busy = owner.is_launching()
                || self.commands.values().any(|command| command.owner.id == owner.id);
            if busy {
                continue;
            }
            let of_owner = self.leftovers.iter_mut().filter(|(_, left)| left.owner == owner.id);
            let mut left = 0;
            for (id, leftover) in of_owner {
                if !disposal.told {
                    leftover.end(disposal.grace);
                    asked.push(*id);
                }
                left += usize::from(!leftover.given_up);
            }
            disposal.told = true;
            if left == 0 {
                over.push(index);
            }
        }
        for id in asked {
            self.expect_answer(id);
        }
        for index in over.into_iter().rev() {
            (self.disposals.remove(index).done)();
        }
    }
}
