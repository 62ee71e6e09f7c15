//! Whoever is asked something and does not answer has an end: a cradle that somebody traces, or that a
//! frozen group holds, a keeper that hangs. Nobody waits for such a one for ever, and a command is not
//! ended for it that may run as long as it likes.
//!
//! It is counted how often it was looked for an answer, a second apart, and not how late it is: a host that
//! was stopped itself, or had no processor, has heard nothing either.

use forkline_protocol::Order;

use crate::command::errors::{LaunchError, Step};
use crate::command::outcome::Ended;
use crate::keeper::status::read_state;
use crate::reactor::Reactor;
use crate::reactor::state::command::{LiveCommand, Phase, Rest};
use crate::reactor::state::silence::{KILLED, LEAST_START, PATIENCE, Remedy, START, looks};
use crate::request::letter::{Delivery, tell};

impl Reactor {
    /// A cradle has said something.
    pub(super) fn cradle_answered(&mut self, id: u64) {
        let silence = match (self.commands.get_mut(&id), self.leftovers.get_mut(&id)) {
            (Some(command), _) => &mut command.silence,
            (None, Some(leftover)) => &mut leftover.silence,
            (None, None) => return,
        };
        silence.looks = 0;
    }

    /// There was no answer until now; it is looked for one second after the other.
    pub(super) fn handle_silence(&mut self, id: u64) {
        let Some(command) = self.commands.get_mut(&id) else {
            return self.handle_silent_leftover(id);
        };
        command.silence.look(matches!(command.phase, Phase::Ending(..)));
        match command.phase {
            Phase::Starting { cancelled } => self.handle_silent_start(id, cancelled),
            Phase::Running => self.handle_silent_run(id),
            Phase::Ending(..) => match command.silence.of_ending(command.grace) {
                Remedy::Wait => {}
                Remedy::Ask => {
                    // Whoever has not been told to end is told now; a signal of no effect is answered.
                    command.tell(Order::End(0));
                    command.ping();
                }
                Remedy::Kill => self.kill_cradle(id),
                Remedy::GiveUp => self.give_up(id),
            },
            Phase::Asking(_) if command.silence.looks >= PATIENCE * 2 => {
                // Its cradle goes on to look after them, once it can.
                if command.rest == Rest::Unknown {
                    command.assume_leader_left();
                }
                self.settle(id);
            }
            Phase::Asking(_) | Phase::Draining(..) | Phase::Closing(_) => {}
        }
    }

    fn handle_silent_start(&mut self, id: u64, cancelled: bool) {
        let Some(keeper) = self.commands.get(&id).map(|command| command.keeper.clone()) else {
            return;
        };
        self.read_keeper(keeper.id);
        let Some(command) = self.commands.get_mut(&id) else { return };
        let has_greeted = keeper.fault().is_none();
        let grace = looks(command.grace);
        let limit = match command.timeout {
            _ if cancelled => grace + PATIENCE,
            Some(timeout) if has_greeted => {
                (looks(timeout).saturating_add(grace) + PATIENCE).clamp(LEAST_START, START)
            }
            _ => START,
        };
        let remedy = command.silence.of_start(limit);
        let letter = command.letter.clone();
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
                if let Some(cradle) = command.cradle.take() {
                    self.forget(&cradle);
                }
                self.not_started(id, Ended::NeverStarted);
            }
            Remedy::Kill if command.cradle_pid == 0 => keeper.kill(),
            Remedy::Kill => self.kill_cradle(id),
            Remedy::GiveUp => self.give_up(id),
        }
    }

    fn handle_silent_run(&mut self, id: u64) {
        let has_members_request = self.has_members_request(id);
        let Some(command) = self.commands.get_mut(&id) else { return };
        let looks = command.silence.looks;
        // It has most likely ended, and its cradle may not be able to say so.
        let seems_ended = command.outputs_ended() && command.cradle.is_some();
        if seems_ended && command.signals.is_empty() {
            command.ping();
        }
        if looks < START {
            return;
        }
        for sent in &mut command.signals {
            // In the place of each is one that is answered to nobody, if it ever is.
            std::mem::replace(sent, Box::new(|_| {}))(false);
        }
        let has_ended = command.pid > 0 && !read_state(command.pid).is_some_and(is_alive);
        if has_members_request {
            self.members_unknown(id);
        }
        if seems_ended && has_ended && looks == START {
            self.kill_cradle(id);
        } else if seems_ended && has_ended && looks >= START + KILLED {
            self.give_up(id);
        }
    }

    fn handle_silent_leftover(&mut self, id: u64) {
        let has_members_request = self.has_members_request(id);
        let Some(leftover) = self.leftovers.get_mut(&id) else { return };
        leftover.silence.look(leftover.is_ending);
        if has_members_request && leftover.silence.looks >= START {
            self.members_unknown(id);
        }
        let Some(leftover) = self.leftovers.get_mut(&id).filter(|leftover| leftover.is_ending)
        else {
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
        let Some(command) = self.commands.get_mut(&id) else { return };
        command.assume_leader_left();
        if let Some(cradle) = command.cradle.take() {
            self.forget(&cradle);
        }
        self.lost(id);
    }
}

impl LiveCommand {
    /// Has the cradle say something: whoever can, answers that.
    fn ping(&mut self) {
        self.signals.push_back(Box::new(|_| {}));
        self.tell(Order::Signal(0));
    }
}

fn is_alive(state: u8) -> bool {
    !matches!(state, b'Z' | b'X')
}
