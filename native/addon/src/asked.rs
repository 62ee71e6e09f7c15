//! The open questions about programs of detached commands.

use std::collections::HashSet;

use forkline_engine::{Engine, ExecAnswer, ExecQuestion, Hearing};
use parking_lot::Mutex;

/// Those of one environment, by the keeper's id and the number.
#[derive(Default)]
pub struct DetachedQuestions(Mutex<HashSet<(u64, u64)>>);

impl DetachedQuestions {
    /// Passes on an answer, to a question of any command.
    pub fn decide(&self, engine: &Engine, (keeper, number): (f64, f64), answer: u32) {
        let (keeper, number) = (keeper as u64, number as u64);
        self.0.lock().remove(&(keeper, number));
        engine.decide(keeper, number, ExecAnswer::of(answer.into()));
    }

    /// Has a question told, or the news that it needs no answer any more.
    pub fn tell(
        &self,
        question: ExecQuestion,
        tell: impl FnOnce(ExecQuestion) -> Hearing,
    ) -> Hearing {
        let (number, is_asked) = ((question.keeper, question.number), question.ask.is_some());
        // Held meanwhile: whoever ends all once nobody can be told any more ends this one too.
        let mut open = self.0.lock();
        open.remove(&number);
        let hearing = tell(question);
        if is_asked && hearing == Hearing::Heard {
            open.insert(number);
        }
        hearing
    }

    /// Ends all: nobody will answer.
    pub fn end(&self, engine: &Engine) {
        for (keeper, number) in std::mem::take(&mut *self.0.lock()) {
            engine.decide(keeper, number, ExecAnswer::Unasked);
        }
    }
}
