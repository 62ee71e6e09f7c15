//! Requests of the client about a command while it runs.

use std::time::Duration;

use forkline_engine::{Signal, Size, Snapshot};
use serde_json::Value;

use crate::command::ClientCommand;
use crate::command::names::signal_number;
use crate::command::options::milliseconds;
use crate::command::told::{QueryResult, Said};
use crate::wire::call::Events;

/// How often the end of the output is told, for a command that has no listener.
const TAIL: Duration = Duration::from_secs(1);

impl Events for ClientCommand {
    fn message(&self, body: Value) {
        let number = |name: &str| body.get(name).and_then(Value::as_u64).unwrap_or(0);
        if body.get("ask").is_some() {
            return self.question(number("ask"), &body);
        }
        match body.get("do").and_then(Value::as_str) {
            Some("detach") => self.engine().detach(self.id()),
            Some("resize") => {
                let [columns, rows] = ["columns", "rows"].map(|name| number(name) as u16);
                self.engine().resize(self.id(), Size { columns, rows });
            }
            _ => {}
        }
    }

    fn data(&self, bytes: Vec<u8>) {
        {
            let mut state = self.0.state.lock();
            if !state.is_open {
                return state.early.push(bytes);
            }
        }
        self.write(bytes);
    }

    fn room(&self) {
        let owes = std::mem::take(&mut self.0.state.lock().owes_resume);
        if owes {
            self.engine().resume(self.id());
        }
    }

    fn cancelled(&self, body: Value) {
        let grace = body.get("graceMs").and_then(Value::as_f64).map(milliseconds);
        if let Some(handle) = &self.0.state.lock().handle {
            self.engine().cancel(handle, grace);
        }
    }

    fn alarm(&self) {
        let (was_told, pid) = {
            let mut state = self.0.state.lock();
            (std::mem::replace(&mut state.is_told, true), state.pid)
        };
        if was_told {
            return self.tell_tail();
        }
        if !self.0.tells_start {
            self.say(&Said::Started { started: pid });
        }
        if !self.0.is_listened_to {
            self.connection().wake(self.0.call, TAIL);
        }
    }
}

impl ClientCommand {
    fn question(&self, ask: u64, body: &Value) {
        let command = self.clone();
        let answer = move |value| command.say(&Said::Answer { answer: ask, value });
        let (engine, id) = (self.engine(), self.id());
        match body.get("what").and_then(Value::as_str) {
            Some("snapshot") => {
                engine.snapshot(
                    id,
                    Box::new(move |captures| answer(QueryResult::captures(captures))),
                );
            }
            Some("members") => {
                engine.members(id, Box::new(move |members| answer(QueryResult::members(members))));
            }
            Some("signal") => {
                let name = body.get("signal").and_then(Value::as_str).unwrap_or_default();
                match signal_number(name).and_then(Signal::from_named_raw) {
                    Some(signal) => {
                        let signalled = self.clone();
                        self.0.state.lock().signals += 1;
                        let sent = move |sent| {
                            answer(QueryResult::Sent(sent));
                            signalled.0.state.lock().signals -= 1;
                            signalled.conclude();
                        };
                        engine.signal(id, signal, Box::new(sent));
                    }
                    None => answer(QueryResult::Sent(false)),
                }
            }
            _ => answer(QueryResult::Nothing),
        }
    }

    /// Tells the end of the output, for a client that does not listen and may lose the command.
    fn tell_tail(&self) {
        let command = self.clone();
        let tell = move |captures: Snapshot| {
            // The command is over.
            let Some(captures) = captures else { return };
            let total = captures.iter().map(|captured| captured.total.bytes).sum();
            let told = std::mem::replace(&mut command.0.state.lock().told_bytes, total);
            if total > told && !command.connection().has_waiting(command.0.call) {
                command.say(&Said::tail(&captures));
            }
            command.connection().wake(command.0.call, TAIL);
        };
        self.engine().snapshot(self.id(), Box::new(tell));
    }
}
