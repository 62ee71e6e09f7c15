//! Whoever is asked something and does not answer has an end: a cradle that somebody traces, or that a
//! frozen group holds, a keeper that hangs. Nobody waits for such a one for ever, and a command is not
//! ended for it that may run as long as it likes.
//!
//! It is counted how often it was looked for an answer, a second apart, and not how late it is: a host that
//! was stopped itself, or had no processor, has heard nothing either.

use std::time::Duration;

use forkline_protocol::Order;

use crate::command::errors::{LaunchError, Step};
use crate::command::outcome::Ended;
use crate::keeper::status::read_state;
use crate::reactor::Reactor;
use crate::reactor::process::{Phase, Process, Rest};
use crate::request::letter::{Delivery, tell};

/// How long a cradle, of which something was asked, has said nothing: in looks for an answer.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silence {
    /// Since it has said something, or was asked.
    looks: u32,
    /// Since it was ordered to end all there is, whatever it has said since.
    ordered: u32,
}

/// A cradle that lives answers at once; one that is stopped, a second after it was told to go on.
const PATIENCE: u32 = 5;
/// From a question that every cradle answers to its end.
const ASKED: u32 = 3;
/// From its end to the end of all waiting.
const KILLED: u32 = 5;
/// A keeper is started, makes a sandbox and a cradle; a program is executed, perhaps from a network.
const START: u32 = 30;
/// With less time than that a machine that is busy could start nothing.
const LEAST_START: u32 = 10;
/// So long a cradle tries to end those who can't be ended, and tells of them, with some to spare.
const ENDING: u32 = 30;

/// What is to be done about a silence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Remedy {
    Wait,
    /// Ask once more, something that every cradle answers.
    Ask,
    /// It ends, and its keeper ends what it has left.
    Kill,
    /// Go on without it.
    GiveUp,
}

impl Silence {
    fn look(&mut self, is_ending: bool) {
        self.looks += 1;
        self.ordered += u32::from(is_ending);
    }

    /// Of one that was ordered to end all there is.
    fn of_ending(self, grace: Duration) -> Remedy {
        let (limit, last) = (looks(grace) + PATIENCE, looks(grace) + ENDING);
        match (self.looks, self.ordered) {
            (_, ordered) if ordered >= last + KILLED => Remedy::GiveUp,
            (looks, _) if looks >= limit + ASKED + KILLED => Remedy::GiveUp,
            (looks, ordered) if looks == limit + ASKED || ordered == last => Remedy::Kill,
            (looks, _) if looks == limit => Remedy::Ask,
            _ => Remedy::Wait,
        }
    }

    /// Of one that has not said what came of a request, for which there is so much patience.
    fn of_start(self, limit: u32) -> Remedy {
        match self.looks {
            looks if looks >= limit + KILLED => Remedy::GiveUp,
            looks if looks == limit => Remedy::Kill,
            _ => Remedy::Wait,
        }
    }
}

/// As many looks as take so long.
fn looks(time: Duration) -> u32 {
    u32::try_from(time.as_millis().div_ceil(1000))
        .map_or(u32::MAX / 4, |looks| looks.min(u32::MAX / 4))
}

impl Reactor {
    /// A cradle has said something.
    pub(super) fn is_heard(&mut self, id: u64) {
        let silence = match (self.processes.get_mut(&id), self.leftovers.get_mut(&id)) {
            (Some(process), _) => &mut process.silence,
            (None, Some(leftover)) => &mut leftover.silence,
            (None, None) => return,
        };
        silence.looks = 0;
    }

    /// There was no answer until now; it is looked for one second after the other.
    pub(super) fn bear_silence(&mut self, id: u64) {
        let Some(process) = self.processes.get_mut(&id) else { return self.bear_leftover(id) };
        process.silence.look(matches!(process.phase, Phase::Ending(..)));
        match process.phase {
            Phase::Starting { cancelled } => self.bear_start(id, cancelled),
            Phase::Running => self.bear_run(id),
            Phase::Ending(..) => match process.silence.of_ending(process.grace) {
                Remedy::Wait => {}
                Remedy::Ask => {
                    // Whoever has not been told to end is told now; a signal of no effect is answered.
                    process.tell(Order::End(0));
                    process.ask_for_a_sign();
                }
                Remedy::Kill => self.kill_cradle(id),
                Remedy::GiveUp => self.give_up(id),
            },
            Phase::Asking(_) if process.silence.looks >= PATIENCE * 2 => {
                // Its cradle goes on to look after them, once it can.
                if process.rest == Rest::Unknown {
                    process.may_be_left();
                }
                self.settle(id);
            }
            Phase::Asking(_) | Phase::Draining(..) | Phase::Closing(_) => {}
        }
    }

    fn bear_start(&mut self, id: u64, cancelled: bool) {
        let Some(keeper) = self.processes.get(&id).map(|process| process.keeper.clone()) else {
            return;
        };
        self.hear_keeper(keeper.id);
        let Some(process) = self.processes.get_mut(&id) else { return };
        let has_greeted = keeper.fault().is_none();
        let grace = looks(process.grace);
        let limit = match process.timeout {
            _ if cancelled => grace + PATIENCE,
            Some(timeout) if has_greeted => {
                (looks(timeout).saturating_add(grace) + PATIENCE).clamp(LEAST_START, START)
            }
            _ => START,
        };
        let remedy = process.silence.of_start(limit);
        let letter = process.letter.clone();
        let is_sent = letter.as_ref().is_some_and(|letter| letter.is_sent());
        match remedy {
            Remedy::Wait | Remedy::Ask => {}
            Remedy::Kill if !is_sent => {
                // The socket has never taken it, and will not.
                if letter.is_some_and(|letter| letter.withdraw() == Delivery::Withdrawn) {
                    let subject = "the command, whose request could not be sent".to_owned();
                    let error = LaunchError { step: Step::Keeper, errno: libc::EAGAIN, subject };
                    let ended = if cancelled { Ended::NeverStarted } else { Ended::Failed(error) };
                    self.not_started(id, ended);
                }
            }
            // It reads nothing before it has greeted. Whoever is made by it then reads of the end first.
            Remedy::Kill if cancelled && !has_greeted => {
                if let Some(cradle) = process.cradle.take() {
                    self.forget(&cradle);
                }
                self.not_started(id, Ended::NeverStarted);
            }
            Remedy::Kill if process.parent == 0 => keeper.kill(),
            Remedy::Kill => self.kill_cradle(id),
            Remedy::GiveUp => self.give_up(id),
        }
    }

    fn bear_run(&mut self, id: u64) {
        let is_asked_for_members = self.is_asked_for_members(id);
        let Some(process) = self.processes.get_mut(&id) else { return };
        let looks = process.silence.looks;
        // It has most likely ended, and its cradle may not be able to say so.
        let seems_ended = process.outputs_ended() && process.cradle.is_some();
        if seems_ended && process.signals.is_empty() {
            process.ask_for_a_sign();
        }
        if looks < START {
            return;
        }
        for sent in &mut process.signals {
            // In the place of each is one that is answered to nobody, if it ever is.
            std::mem::replace(sent, Box::new(|_| {}))(false);
        }
        let has_ended = process.pid > 0 && !read_state(process.pid).is_some_and(is_alive);
        if is_asked_for_members {
            self.members_unknown(id);
        }
        if seems_ended && has_ended && looks == START {
            self.kill_cradle(id);
        } else if seems_ended && has_ended && looks >= START + KILLED {
            self.give_up(id);
        }
    }

    fn bear_leftover(&mut self, id: u64) {
        let is_asked_for_members = self.is_asked_for_members(id);
        let Some(leftover) = self.leftovers.get_mut(&id) else { return };
        leftover.silence.look(leftover.ends);
        if is_asked_for_members && leftover.silence.looks >= START {
            self.members_unknown(id);
        }
        let Some(leftover) = self.leftovers.get_mut(&id).filter(|leftover| leftover.ends) else {
            return;
        };
        match leftover.silence.of_ending(leftover.grace) {
            Remedy::Wait => {}
            Remedy::Ask => {
                tell(&leftover.cradle.channel, Order::End(0));
                tell(&leftover.cradle.channel, Order::Signal(0));
            }
            Remedy::Kill => self.kill_cradle(id),
            Remedy::GiveUp => {
                leftover.given_up = true;
                self.advance_disposals();
            }
        }
    }

    /// Nobody will say more of this command; what is known of it is told. Its cradle, if it ever goes on,
    /// finds its channel closed, and ends what there is.
    fn give_up(&mut self, id: u64) {
        self.may_have_started(id);
        let Some(process) = self.processes.get_mut(&id) else { return };
        process.may_be_left();
        if let Some(cradle) = process.cradle.take() {
            self.forget(&cradle);
        }
        self.lost(id);
    }
}

impl Process {
    /// Has the cradle say something: whoever can, answers that.
    fn ask_for_a_sign(&mut self) {
        self.signals.push_back(Box::new(|_| {}));
        self.tell(Order::Signal(0));
    }
}

fn is_alive(state: u8) -> bool {
    !matches!(state, b'Z' | b'X')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(looks: u32, ordered: u32) -> Remedy {
        Silence { looks, ordered }.of_ending(Duration::from_millis(1500))
    }

    #[test]
    fn n8_who_was_ordered_to_end_all_and_says_nothing_is_asked_killed_and_given_up() {
        let remedies = [(1, Remedy::Wait), (7, Remedy::Ask), (9, Remedy::Wait), (10, Remedy::Kill)];
        for (looks, remedy) in remedies {
            assert_eq!(after(looks, looks), remedy, "{looks}");
        }
        assert_eq!((after(14, 14), after(15, 15)), (Remedy::Wait, Remedy::GiveUp));
    }

    #[test]
    fn n8_who_answers_and_never_comes_to_an_end_is_killed_as_well() {
        assert_eq!(
            (after(1, 31), after(1, 32), after(1, 33)),
            (Remedy::Wait, Remedy::Kill, Remedy::Wait)
        );
        assert_eq!(after(1, 37), Remedy::GiveUp);
    }

    #[test]
    fn a_grace_without_end_is_one() {
        let silence = Silence { looks: 1_000_000, ordered: 1_000_000 };
        assert_eq!(silence.of_ending(Duration::MAX), Remedy::Wait);
    }

    #[test]
    fn who_does_not_say_what_came_of_a_request_is_killed_and_given_up() {
        let after = |looks| Silence { looks, ordered: 0 }.of_start(10);
        assert_eq!([after(9), after(10), after(14)], [Remedy::Wait, Remedy::Kill, Remedy::Wait]);
        assert_eq!(after(15), Remedy::GiveUp);
    }
}
