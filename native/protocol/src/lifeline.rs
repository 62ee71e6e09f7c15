//! What a keeper tells its host on the lifeline. The host says nothing there: its end of file is its
//! end.

use crate::fields::{Reader, Writer};

/// From keeper to host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum News {
    /// It is there, and speaks this version.
    Hello(u32),
    /// Of the command of this cradle, which was killed, nobody is left.
    Cleared(i32),
    /// Somebody of the command of this cradle, which was killed, can't be ended.
    GivenUp(i32),
}

impl News {
    /// As a message.
    pub fn encode(self) -> Vec<u8> {
        let (kind, number) = match self {
            News::Hello(version) => (1, version.into()),
            News::Cleared(cradle) => (2, cradle as u64),
            News::GivenUp(cradle) => (3, cradle as u64),
        };
        Writer::default().number(kind).number(number).finish()
    }

    /// None: it is not news.
    pub fn decode(message: &[u8]) -> Option<News> {
        let fields = &mut Reader(message);
        match (fields.number()?, fields.number()?) {
            (1, version) => Some(News::Hello(u32::try_from(version).ok()?)),
            (2, cradle) => Some(News::Cleared(i32::try_from(cradle).ok()?)),
            (3, cradle) => Some(News::GivenUp(i32::try_from(cradle).ok()?)),
            _ => None,
        }
    }
}
