//! The calls of clients.

use std::time::Duration;

use forkline_protocol::task::{EndCause, TaskAnswer, TaskCall};

use super::Task;

impl Task {
    /// Serves clients until nothing more can be done for them now.
    pub(super) fn serve(&mut self) {
        while self.carry_out_calls()
            | self.clients.write_input(&mut self.input)
            | self.clients.send_state(self.record.state(), self.terminal.as_ref())
        {}
        self.clients.drop_gone();
        self.fit_windows(false);
    }

    /// Carries out the calls that have arrived. Returns whether there were any.
    fn carry_out_calls(&mut self) -> bool {
        let mut called = false;
        for index in 0..self.clients.connected().len() {
            let next = |task: &mut Task| task.clients.get(index)?.next_call();
            while let Some((number, call)) = next(self) {
                called = true;
                let answer = self.carry_out(index, number, call);
                let Some(client) = self.clients.get(index) else { break };
                if let Some(answer) = answer {
                    client.answer(number, &answer);
                }
            }
        }
        called
    }

    /// Carries out a call of the client with this index. None: the answer follows later.
    fn carry_out(&mut self, index: usize, number: u64, call: TaskCall) -> Option<TaskAnswer> {
        match call {
            TaskCall::Signal(signal) => {
                let runs = self.end.is_none();
                Some(TaskAnswer::Signalled(runs && self.crew.signal(signal)))
            }
            TaskCall::End(grace) => {
                self.begin_end(Duration::from_millis(grace), EndCause::Ended);
                self.clients.get(index)?.note_end_call(number);
                None
            }
            TaskCall::CloseInput => {
                if let Some(input) = &mut self.input {
                    input.close();
                }
                Some(TaskAnswer::Done)
            }
            // Already handled by the client's own queue.
            TaskCall::Who | TaskCall::Write(_) => Some(TaskAnswer::Done),
            TaskCall::Look => Some(self.view(index)),
            TaskCall::Resize { size, redraw } => {
                self.clients.get(index)?.set_window(size);
                self.fit_windows(redraw);
                Some(self.view(index))
            }
            TaskCall::Follow { since, live } => self.follow(index, number, since, live),
        }
    }
}
