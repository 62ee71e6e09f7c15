//! Questions about programs, and their records in JavaScript.

use forkline_engine::ExecQuestion;
use napi::Result;

use crate::record::JsRecord;

// The numbers and the layouts are those in src/engine/addon/native.ts.
const ASKED: u32 = 10;
const WITHDRAWN: u32 = 11;

/// Fills the record of a question of a command, or of the news that it needs no answer any more.
pub fn fill(record: &mut JsRecord, id: f64, question: ExecQuestion) -> Result<()> {
    record.push(if question.ask.is_some() { ASKED } else { WITHDRAWN })?;
    record.push(id)?;
    record.push(question.keeper as f64)?;
    record.push(question.number as f64)?;
    let Some(ask) = question.ask else { return Ok(()) };
    record.push(ask.pid)?;
    record.push(text(&ask.program))?;
    record.push(text(&ask.directory))?;
    record.push(text(&ask.say))?;
    record.push_each(ask.parents, |record, (pid, program)| {
        record.push(pid)?;
        record.push(text(&program))
    })?;
    record.push(ask.argv.iter().map(|argument| text(argument)).collect::<Vec<_>>())
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
