//! Questions of sandboxes about programs that are about to be executed: told to those whom they are for, and answered.
//!
//! A question of a command goes to the command's sink; one of a detached command to whoever has started it, as long as
//! that is this host.

use std::sync::Arc;
use std::time::{Duration, Instant};

use forkline_protocol::{Call, ExecAnswer, ExecAsk};

use crate::command::sink::{ExecQuestion, Hearing, OnAsk};
use crate::keeper::Keeper;
use crate::reactor::Reactor;
use crate::reactor::state::command::Phase;
use crate::reactor::state::questions::{
    AskingCommand, DetachedAsker, ToldQuestion, Unplaced, reason_of,
};
use crate::reactor::state::timers::Alarm;

/// The time for which the news of a cradle, or of the command in it, may be later than a question. Only a machine
/// that does nothing else is so slow.
const MOMENT: Duration = Duration::from_secs(1);

impl Reactor {
    /// Takes a question of a process in this cradle.
    pub(super) fn asked(&mut self, keeper: &Keeper, cradle: i32, number: u64, ask: Box<ExecAsk>) {
        match self.asker_in(keeper.id, cradle) {
            Some(asker) => self.tell_question(keeper, asker, number, ask),
            None => {
                let until = Instant::now() + MOMENT;
                let keeper = keeper.id;
                self.questions.unplaced.push(Unplaced { keeper, cradle, number, ask, until });
                self.timers.set(keeper, Alarm::Unplaced, until);
            }
        }
    }

    /// Takes the news that a question needs no answer any more.
    pub(super) fn withdrawn(&mut self, keeper: &Keeper, number: u64) {
        let is_it = |one: &Unplaced| (one.keeper, one.number) == (keeper.id, number);
        self.questions.unplaced.retain(|one| !is_it(one));
        if let Some(told) = self.questions.told.remove(&(keeper.id, number)) {
            self.hear(told.asker, ExecQuestion { keeper: keeper.id, number, ask: None });
        }
    }

    /// Passes on an answer. One that is not awaited any more has no effect.
    pub(super) fn decide(&mut self, keeper: u64, number: u64, answer: ExecAnswer) {
        let Some(told) = self.questions.told.remove(&(keeper, number)) else { return };
        if let AskingCommand::Command(id) = told.asker
            && let Some(command) = self.commands.get_mut(&id)
            && matches!(command.phase, Phase::Starting { .. })
        {
            command.allowed_at = Some(Instant::now());
        }
        if let Some(keeper) = self.keepers.iter().find(|one| one.id == keeper) {
            answer_question(keeper, number, answer);
        }
    }

    /// Notes the process id of a new cradle.
    pub(super) fn cradle_made(&mut self, keeper: &Keeper, cradle: u64, pid: i32) {
        keeper.cradles.set_pid(cradle, pid);
        let command = self.cradles.get(&cradle);
        if let Some(command) = command.and_then(|id| self.commands.get_mut(id)) {
            command.cradle_pid = pid;
        }
        if let Some(detached) = self.questions.detached.get_mut(&cradle) {
            detached.cradle = Some((keeper.id, pid));
        }
        self.place_questions();
    }

    /// Notes that a cradle that the host may leave behind has ended, or could not be made.
    pub(super) fn cradle_left(&mut self, keeper: &Keeper, pid: i32) {
        keeper.detached_ended();
        self.forget_detached(|cradle| cradle == (keeper.id, pid));
    }

    /// Notes that a detached command is about to be started.
    pub(super) fn detached_started(&mut self, id: u64, ask: OnAsk) {
        self.questions.detached.insert(id, DetachedAsker { ask, cradle: None });
    }

    /// Notes that a detached command could not be started.
    pub(super) fn detached_ended(&mut self, id: u64) {
        if let Some(detached) = self.questions.detached.remove(&id) {
            (detached.ask)(None);
        }
    }

    fn forget_detached(&mut self, is_its: impl Fn((u64, i32)) -> bool) {
        let is_over = |_: &u64, it: &mut DetachedAsker| it.cradle.is_some_and(&is_its);
        for (_, detached) in self.questions.detached.extract_if(is_over) {
            (detached.ask)(None);
        }
    }

    /// Tells the questions whose commands are known by now.
    pub(super) fn place_questions(&mut self) {
        for one in std::mem::take(&mut self.questions.unplaced) {
            match self.keeper_of_question(&one).zip(self.asker_in(one.keeper, one.cradle)) {
                Some((keeper, asker)) => self.tell_question(&keeper, asker, one.number, one.ask),
                None => self.questions.unplaced.push(one),
            }
        }
    }

    /// Answers the questions of a keeper whose cradles have not become known in time.
    pub(super) fn place_late_questions(&mut self, id: u64) {
        self.place_questions();
        let now = Instant::now();
        let is_late = |one: &mut Unplaced| one.keeper == id && one.until <= now;
        let late: Vec<Unplaced> = self.questions.unplaced.extract_if(.., is_late).collect();
        for one in late {
            if let Some(keeper) = self.keeper_of_question(&one) {
                answer_question(&keeper, one.number, ExecAnswer::Unasked);
            }
        }
        let next = self.questions.unplaced.iter().filter(|one| one.keeper == id);
        if let Some(next) = next.map(|one| one.until).min() {
            self.timers.set(id, Alarm::Unplaced, next);
        }
    }

    /// Answers the questions of a command that is over, or is to be: nobody will.
    pub(super) fn end_questions(&mut self, command: u64) {
        let of_command =
            |_: &(u64, u64), it: &mut ToldQuestion| it.asker == AskingCommand::Command(command);
        let ended: Vec<_> = self.questions.told.extract_if(of_command).collect();
        for ((keeper, number), ToldQuestion { asker, .. }) in ended {
            let found = self.keepers.iter().find(|one| one.id == keeper).cloned();
            let Some(found) = found else { continue };
            answer_question(&found, number, ExecAnswer::Unasked);
            self.hear(asker, ExecQuestion { keeper, number, ask: None });
        }
    }

    /// Forgets the questions of a keeper that has died; those who were asked are told.
    pub(super) fn forget_questions(&mut self, keeper: &Keeper) {
        self.questions.unplaced.retain(|one| one.keeper != keeper.id);
        let of_keeper = |(id, _): &(u64, u64), _: &mut ToldQuestion| *id == keeper.id;
        let ended: Vec<_> = self.questions.told.extract_if(of_keeper).collect();
        for ((id, number), ToldQuestion { asker, .. }) in ended {
            self.hear(asker, ExecQuestion { keeper: id, number, ask: None });
        }
        self.forget_detached(|(id, _)| id == keeper.id);
    }

    /// Returns whether a program of this command waits for an answer.
    pub(super) fn has_question(&self, command: u64) -> bool {
        self.questions.told.values().any(|it| it.asker == AskingCommand::Command(command))
    }

    /// Notes that a command's time is over while a program of it waits for an answer.
    pub(super) fn note_asked(&mut self, command: u64) {
        let told = self.questions.told.iter();
        let its = told.filter(|(_, it)| it.asker == AskingCommand::Command(command));
        let first = its.min_by_key(|(number, _)| **number).map(|(_, it)| it.reason.clone());
        if let Some(command) = self.commands.get_mut(&command) {
            command.reason = first;
        }
    }

    fn keeper_of_question(&self, one: &Unplaced) -> Option<Arc<Keeper>> {
        self.keepers.iter().find(|keeper| keeper.id == one.keeper).cloned()
    }

    /// Returns whose cradle it is. None: that is not known yet.
    fn asker_in(&self, keeper: u64, cradle: i32) -> Option<AskingCommand> {
        let mut commands = self.commands.values();
        let command = commands.find(|it| it.keeper.id == keeper && it.cradle_pid == cradle);
        let mut leftovers = self.leftovers.values();
        if let Some(command) = command {
            Some(AskingCommand::Command(command.id))
        } else if leftovers.any(|it| it.keeper.id == keeper && it.cradle_pid == cradle) {
            Some(AskingCommand::Over)
        } else {
            let mut detached = self.questions.detached.iter();
            let found = detached.find(|(_, it)| it.cradle == Some((keeper, cradle)));
            found.map(|(id, _)| AskingCommand::Detached(*id))
        }
    }

    fn tell_question(
        &mut self,
        keeper: &Keeper,
        asker: AskingCommand,
        number: u64,
        ask: Box<ExecAsk>,
    ) {
        let reason = reason_of(&ask);
        let question = ExecQuestion { keeper: keeper.id, number, ask: Some(ask) };
        // This comes first, since the answer may come at once.
        self.questions.told.insert((keeper.id, number), ToldQuestion { asker, reason });
        if self.hear(asker, question) == Hearing::Unheard {
            self.questions.told.remove(&(keeper.id, number));
            answer_question(keeper, number, ExecAnswer::Unasked);
        }
    }

    fn hear(&self, asker: AskingCommand, question: ExecQuestion) -> Hearing {
        let heard = match asker {
            AskingCommand::Command(id) => self.commands.get(&id).map(|it| it.sink.asked(question)),
            AskingCommand::Detached(id) => {
                self.questions.detached.get(&id).map(|it| (it.ask)(Some(question)))
            }
            AskingCommand::Over => None,
        };
        heard.unwrap_or(Hearing::Unheard)
    }
}

fn answer_question(keeper: &Keeper, number: u64, answer: ExecAnswer) {
    // A keeper that is gone has taken the question with it.
    let _ = keeper.lifeline.call(Call::Decide(number, answer), &[]);
}
