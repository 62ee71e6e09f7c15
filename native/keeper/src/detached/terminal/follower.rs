//! A client that follows the output of a terminal. Each reads from the history at its own pace: one that is
//! slow loses output, is told the gap, and delays no other process.

use forkline_protocol::task::{TaskAnswer, TerminalSize};

use super::history::ScreenHistory;

/// The most bytes of one message.
const MOST: usize = 32 * 1024;

pub struct Follower {
    /// The number of its call.
    number: u64,
    cursor: u64,
    /// The end of the output when it called; None: that has been told.
    so_far: Option<u64>,
    is_live: bool,
    /// The size that it knows.
    size: Option<TerminalSize>,
}

impl Follower {
    pub fn new(number: u64, since: u64, is_live: bool, output: &ScreenHistory) -> Follower {
        Follower { number, cursor: since, so_far: Some(output.end()), is_live, size: None }
    }

    /// Returns the next message; None: nothing is due.
    pub fn next(&mut self, output: &ScreenHistory) -> Option<Vec<u8>> {
        if let Some(so_far) = self.so_far.filter(|so_far| self.cursor >= *so_far) {
            self.so_far = None;
            self.cursor = self.cursor.min(so_far);
            // The size is told in any case.
            let size = output.size_at(so_far);
            let told = TaskAnswer::Resized(size).encode(self.number);
            self.size = Some(size);
            return Some([told, TaskAnswer::Done.encode(self.number)].concat());
        }
        if self.so_far.is_none() && !self.is_live {
            return None;
        }
        let stretch = output.stretch(self.cursor, MOST);
        let at = stretch.as_ref().map_or(self.cursor, |stretch| stretch.from);
        let size = output.size_at(at);
        if self.size != Some(size) {
            self.size = Some(size);
            return Some(TaskAnswer::Resized(size).encode(self.number));
        }
        let mut stretch = stretch?;
        if let Some(so_far) = self.so_far {
            // What came since is told after the answer.
            let left = usize::try_from(so_far.saturating_sub(stretch.from)).unwrap_or(usize::MAX);
            stretch.bytes.truncate(left);
        }
        self.cursor = stretch.from + stretch.bytes.len() as u64;
        if stretch.bytes.is_empty() {
            return self.next(output);
        }
        Some(TaskAnswer::Output(stretch).encode(self.number))
    }
}

#[cfg(test)]
mod tests {
    use forkline_protocol::task::Stretch;

    use super::*;

    const SIZE: TerminalSize = TerminalSize { columns: 80, rows: 24 };
    const WIDE: TerminalSize = TerminalSize { columns: 120, rows: 24 };

    fn told(follower: &mut Follower, history: &ScreenHistory) -> Vec<TaskAnswer> {
        let mut answers = Vec::new();
        while let Some(messages) = follower.next(history) {
            let mut rest = &messages[..];
            while let Some((length, after)) = rest.split_first_chunk() {
                let (message, after) = after.split_at(u32::from_le_bytes(*length) as usize);
                answers.push(TaskAnswer::decode(message).unwrap().1);
                rest = after;
            }
        }
        answers
    }

    fn output(from: u64, bytes: &[u8]) -> TaskAnswer {
        TaskAnswer::Output(Stretch { from, modes: Vec::new(), bytes: bytes.to_vec() })
    }

    #[test]
    fn output_so_far_is_told_with_its_sizes_and_then_what_comes() {
        let mut history = ScreenHistory::new(SIZE);
        history.push(b"ab");
        history.resize(WIDE);
        history.push(b"cd");
        let mut live = Follower::new(7, 0, true, &history);
        let mut once = Follower::new(8, 3, false, &history);
        history.push(b"ef");
        assert_eq!(
            told(&mut live, &history),
            [
                TaskAnswer::Resized(SIZE),
                output(0, b"ab"),
                TaskAnswer::Resized(WIDE),
                output(2, b"cd"),
                TaskAnswer::Resized(WIDE),
                TaskAnswer::Done,
                output(4, b"ef"),
            ]
        );
        let resized = TaskAnswer::Resized(WIDE);
        let so_far = [resized.clone(), output(3, b"d"), resized, TaskAnswer::Done];
        assert_eq!(told(&mut once, &history), so_far);
        history.resize(SIZE);
        history.push(b"g");
        assert_eq!(told(&mut live, &history), [TaskAnswer::Resized(SIZE), output(6, b"g")]);
        assert_eq!(told(&mut once, &history), []);
    }

    #[test]
    fn a_slow_client_is_told_a_gap() {
        let mut history = ScreenHistory::new(SIZE);
        let mut live = Follower::new(7, 0, true, &history);
        assert_eq!(told(&mut live, &history).len(), 2);
        history.push(b"\x1b[?25l");
        (0..1000).for_each(|_| history.push(&[b'x'; 1000]));
        let Some(TaskAnswer::Output(first)) = told(&mut live, &history).into_iter().next() else {
            panic!("no output");
        };
        assert!(first.from > 700_000 && first.modes == b"\x1b[?25l");
    }

    #[test]
    fn a_position_beyond_the_end_is_the_end() {
        let mut history = ScreenHistory::new(SIZE);
        history.push(b"ab");
        let mut live = Follower::new(7, u64::MAX, true, &history);
        assert_eq!(told(&mut live, &history), [TaskAnswer::Resized(SIZE), TaskAnswer::Done]);
        history.push(b"cd");
        assert_eq!(told(&mut live, &history), [output(2, b"cd")]);
    }
}
