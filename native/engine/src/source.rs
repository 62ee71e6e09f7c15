//! What the reactor watches, by the tokens of its events.

use rustix::event::epoll::EventData;

/// Which descriptor of a command, a cradle or a keeper an event is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// What a cradle says.
    Cradle,
    /// An output, by its number.
    Output(usize),
    /// What a keeper says.
    Lifeline,
    /// Room in its standard input.
    Input,
}

impl Source {
    /// Ids are never reused, so an event that comes late finds nobody.
    pub fn token(self, id: u64) -> EventData {
        let source = match self {
            Source::Cradle => 0,
            Source::Output(index) => 1 + index as u64,
            Source::Lifeline => 6,
            Source::Input => 7,
        };
        EventData::new_u64(id << 3 | source)
    }

    /// Back from [`Source::token`].
    pub fn from_token(token: u64) -> (u64, Source) {
        let source = match token & 7 {
            0 => Source::Cradle,
            6 => Source::Lifeline,
            7 => Source::Input,
            index => Source::Output(index as usize - 1),
        };
        (token >> 3, source)
    }
}
