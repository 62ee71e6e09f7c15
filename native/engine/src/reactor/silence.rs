//! Handling of cradles and keepers that do not answer: a cradle that is traced or in a frozen cgroup, a
//! keeper that hangs. The engine does not wait for ever; but a command without a deadline is not ended for
//! it.
//!
//! Time is counted in looks for an answer, a second apart, and not by the clock: a host that was stopped
//! itself, or got no CPU time, has read no answers either.

use forkline_protocol::Order;

use crate::command::errors::{LaunchError, Step};
use crate::command::outcome::Ended;
use crate::keeper::status::read_state;
use crate::reactor::Reactor;
use crate::reactor::state::command::{LiveCommand, Phase, Rest};
use crate::reactor::state::silence::{
    KILLED, LEAST_START, PATIENCE, Remedy, START, Silence, looks,
};
use crate::request::letter::{Delivery, tell};

impl Reactor {
    /// Notes that a cradle has answered.
    pub(super) fn cradle_answered(&mut self, id: u64) {
        let silence = match (self.commands.get_mut(&id), self.leftovers.get_mut(&id)) {
            (Some(command), _) => &mut command.silence,
            (None, Some(leftover)) => &mut leftover.silence,
            (None, None) => return,
        };
        silence.looks = 0;
    }

    /// Handles one more second without an answer.
    pub(super) fn handle_silence(&mut self, id: u64) {
        // A program that waits for an answer may be the command itself, of which the cradle then can't tell.
        let has_question = self.has_question(id);
        let Some(command) = self.commands.get_mut(&id) else {
            return self.handle_silent_leftover(id);
        };
        command.silence.look(matches!(command.phase, Phase::Ending(..)));
        match command.phase {
            Phase::Starting { .. } if has_question => command.silence = Silence::default(),
            Phase::Starting { cancelled } => self.handle_silent_start(id, cancelled),
            Phase::Running => self.handle_silent_run(id),
            Phase::Ending(..) => match command.silence.of_ending(command.grace) {
                Remedy::Wait => {}
                Remedy::Ask => {
                    // The order to end may have been lost; a signal without effect must be answered.
                    command.tell(Order::End(0));
                    command.ping();
                }
                Remedy::Kill => self.kill_cradle(id),
                Remedy::GiveUp => self.give_up(id),
            },
            Phase::Asking(_) if command.silence.looks >= PATIENCE * 2 => {
                // The cradle goes on to look after the processes left, once it can.
                if command.rest == Rest::Unknown {
                    command.assume_leader_left();
                }
                self.make_result(id);
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
                // The socket has never taken the request, and will not.
                if letter.is_some_and(|letter| letter.withdraw() == Delivery::Withdrawn) {
                    let subject = "the command, whose request could not be sent".to_owned();
                    let error =
                        LaunchError { step: Step::Keeper, errno: libc::EAGAIN, subject, why: None };
                    let ended = if cancelled { Ended::NeverStarted } else { Ended::Failed(error) };
                    self.not_started(id, ended);
                }
            }
            // The keeper reads nothing before it has greeted. A cradle that it makes later reads the end of
            // its channel first.
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
        // The command has most likely ended, and its cradle may not be able to say so.
        let seems_ended = command.outputs_ended() && command.cradle.is_some();
        if seems_ended && command.signals.is_empty() {
            command.ping();
        }
        if looks < START {
            return;
        }
        for sent in &mut command.signals {
            // Each callback is replaced by one without effect, for the answer that may still come.
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

    /// Gives up a command: makes its result of what is known. The cradle, if it ever goes on, finds its
    /// channel closed, and ends the processes left.
    fn give_up(&mut self, id: u64) {
        self.may_have_started(id);
        let Some(command) = self.commands.get_mut(&id) else { return };
        command.assume_leader_left();
        if let Some(cradle) = command.cradle.take() {
            self.forget(&cradle);
        }
        self.give_up_waiting(id);
    }
}

impl LiveCommand {
    /// Asks for a sign of life: signal 0, which every cradle answers.
    fn ping(&mut self) {
        self.signals.push_back(Box::new(|_| {}));
        self.tell(Order::Signal(0));
    }
}

fn is_alive(state: u8) -> bool {
    !matches!(state, b'Z' | b'X')
}
