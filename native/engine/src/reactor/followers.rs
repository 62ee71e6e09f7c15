//! Requests about the members of a command: which run now, and when none is left.
//!
//! Few commands have such requests, so they are kept apart from the commands.

use forkline_protocol::{Member, Order};

use crate::reactor::Reactor;
use crate::reactor::state::command::{Phase, Rest, described};
use crate::reactor::state::followers::{MembersGone, OnGone, OnMembers};
use crate::request::letter::tell;

impl Reactor {
    /// Asks for the members of a command that run now: its leader, and processes started by it.
    pub(super) fn members(&mut self, id: u64, asked: OnMembers) {
        let channel = match (self.commands.get(&id), self.leftovers.get(&id)) {
            (Some(command), _) => match (&command.cradle, command.phase) {
                // The request for the members would reach the cradle before the command does.
                (_, Phase::Starting { .. }) => return asked(None),
                (Some(cradle), _) => &cradle.channel,
                (None, _) => return asked((command.rest == Rest::Gone).then(Vec::new)),
            },
            (None, Some(leftover)) => &leftover.cradle.channel,
            (None, None) => return asked(None),
        };
        tell(channel, Order::Who);
        self.followers.entry(id).or_default().asked.push(asked);
        self.expect_answer(id);
    }

    /// Returns the rules of a running command's sandbox, and the accesses denied since the last call, as in
    /// the outcome. None: the command is over, or has no sandbox.
    pub(super) fn sandbox_report(&mut self, id: u64) -> Option<String> {
        let keeper = self.commands.get(&id)?.keeper.clone();
        let sandbox = keeper.sandbox.as_ref()?;
        // The keeper reports a denial before the denied process goes on.
        self.read_keeper(keeper.id);
        sandbox.take_report(self.commands.get(&id)?.cradle_pid)
    }

    /// Calls `gone` when no member of a command is left.
    pub(super) fn when_gone(&mut self, id: u64, gone: OnGone) {
        if self.commands.contains_key(&id) || self.leftovers.contains_key(&id) {
            self.followers.entry(id).or_default().gone.push(gone);
        } else {
            gone(MembersGone::Unknown);
        }
    }

    /// Returns whether a request for the members waits for its answer.
    pub(super) fn has_members_request(&self, id: u64) -> bool {
        self.followers.get(&id).is_some_and(|followers| !followers.asked.is_empty())
    }

    /// Adds members that the cradle has named.
    pub(super) fn members_told(&mut self, id: u64, told: &[Member], label: &str, more: bool) {
        let Some(followers) = self.followers.get_mut(&id) else { return };
        let told = told.iter().map(|member| described(member.clone(), label));
        followers.members.extend(told);
        if more {
            return;
        }
        let members = std::mem::take(&mut followers.members);
        for asked in std::mem::take(&mut followers.asked) {
            asked(Some(members.clone()));
        }
    }

    /// Answers the requests for members when no cradle can be asked.
    pub(super) fn members_unknown(&mut self, id: u64) {
        let Some(followers) = self.followers.get_mut(&id) else { return };
        followers.members.clear();
        for asked in std::mem::take(&mut followers.asked) {
            asked(None);
        }
    }

    /// Tells all followers of a command that no member of it is left.
    pub(super) fn members_gone(&mut self, id: u64, certainty: MembersGone) {
        let Some(followers) = self.followers.remove(&id) else { return };
        for asked in followers.asked {
            asked((certainty == MembersGone::Confirmed).then(Vec::new));
        }
        for gone in followers.gone {
            gone(certainty);
        }
    }
}
