//! Those who follow a command: who of it runs now, and when nobody is left.
//!
//! Few commands have any, so what they wait for is kept beside the commands.

use forkline_protocol::{Member, Order};

use crate::reactor::Reactor;
use crate::reactor::state::command::{Phase, Rest, described};
use crate::reactor::state::followers::{MembersGone, OnGone, OnMembers};
use crate::request::letter::tell;

impl Reactor {
    /// Asks who of a command runs: its leader, and what that has started.
    pub(super) fn members(&mut self, id: u64, asked: OnMembers) {
        let channel = match (self.commands.get(&id), self.leftovers.get(&id)) {
            (Some(command), _) => match (&command.cradle, command.phase) {
                // The cradle hears of the command first.
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

    /// What the sandbox of a command that runs keeps it from, and has denied it since that was asked last:
    /// as in the outcome. None: it is over, or in none.
    pub(super) fn sandbox_report(&mut self, id: u64) -> Option<String> {
        let keeper = self.commands.get(&id)?.keeper.clone();
        let sandbox = keeper.sandbox.as_ref()?;
        // What was denied was told before whoever asked for it went on.
        self.read_keeper(keeper.id);
        sandbox.take_report(self.commands.get(&id)?.cradle_pid)
    }

    /// Tells when nobody of a command is left.
    pub(super) fn when_gone(&mut self, id: u64, gone: OnGone) {
        if self.commands.contains_key(&id) || self.leftovers.contains_key(&id) {
            self.followers.entry(id).or_default().gone.push(gone);
        } else {
            gone(MembersGone::Unknown);
        }
    }

    /// Whether somebody waits to be told who runs.
    pub(super) fn has_members_request(&self, id: u64) -> bool {
        self.followers.get(&id).is_some_and(|followers| !followers.asked.is_empty())
    }

    /// The cradle has named some of them.
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

    /// Nobody can be asked who runs.
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
