//! The terminal of the command, and the clients that show it.

use forkline_protocol::task::TaskAnswer;

use super::Task;
use crate::detached::terminal::follower::Follower;

impl Task {
    /// Takes what the command has printed on its terminal.
    pub(super) fn drain_terminal(&mut self) {
        let Some(terminal) = &mut self.terminal else { return };
        if self.end.is_some() {
            terminal.leader_ended();
        }
        let (output, input) = (&mut self.output, &mut self.input);
        if !terminal.drain(|piece| output.put(piece)) {
            // No process reads keys any more.
            *input = None;
        }
    }

    /// Tells the leader's group that its terminal goes, as when a window is closed: an interactive shell
    /// takes no notice of SIGTERM.
    pub(super) fn hang_up(&mut self) {
        if self.terminal.is_some() {
            self.crew.signal(libc::SIGHUP);
        }
    }

    /// Gives the terminal the smallest size of all windows. With none, it keeps its size.
    pub(super) fn fit_windows(&mut self, redraw: bool) {
        let (Some(terminal), Some(window)) = (&mut self.terminal, self.clients.smallest_window())
        else {
            return;
        };
        terminal.resize(window, redraw);
    }

    /// Returns the answer that tells the client with this index of the terminal.
    pub(super) fn view(&self, index: usize) -> TaskAnswer {
        let is_first = self.clients.is_first(index);
        let view = self.terminal.as_ref().map(|terminal| terminal.view(is_first));
        view.map_or(TaskAnswer::Done, TaskAnswer::Terminal)
    }

    /// Has a client follow the terminal. None: the answer follows the output so far.
    pub(super) fn follow(
        &mut self,
        index: usize,
        number: u64,
        since: u64,
        is_live: bool,
    ) -> Option<TaskAnswer> {
        let Some(terminal) = &self.terminal else { return Some(TaskAnswer::Done) };
        let follower = Follower::new(number, since, is_live, terminal.output());
        self.clients.get(index)?.follow(follower);
        None
    }
}
