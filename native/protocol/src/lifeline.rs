//! The messages between a keeper and its host on the lifeline. End of file means that the other side has
//! ended.

use crate::exec::{ExecAnswer, ExecAsk};
use crate::fields::{Reader, Writer};

/// A message from host to keeper.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Call {
    /// Make a cradle for the channel that comes along. The host knows it by this number. Answered by
    /// [`News::Made`].
    Make(u64),
    /// Make a cradle for a channel to the keeper of a detached command; the host may leave the cradle
    /// behind, and knows it by this number. Answered by [`News::Made`].
    Keep(u64),
    /// The host makes no further cradles: end after the last cradle.
    Retire,
    /// The answer to the question of this number: see [`News::Asked`].
    Decide(u64, ExecAnswer),
}

impl Call {
    /// Encodes the call as a message.
    pub fn encode(self) -> Vec<u8> {
        let (kind, cradle) = match self {
            Call::Make(cradle) => (1, cradle),
            Call::Retire => (2, 0),
            Call::Keep(cradle) => (3, cradle),
            Call::Decide(number, answer) => {
                let all = &mut Writer::default();
                return all.number(4).number(number).number(answer.number()).finish();
            }
        };
        Writer::default().number(kind).number(cradle).finish()
    }

    /// Decodes a call. None: the message is not a call.
    pub fn decode(message: &[u8]) -> Option<Call> {
        let fields = &mut Reader(message);
        match (fields.number()?, fields.number()?) {
            (1, cradle) => Some(Call::Make(cradle)),
            (2, _) => Some(Call::Retire),
            (3, cradle) => Some(Call::Keep(cradle)),
            (4, number) => Some(Call::Decide(number, ExecAnswer::of(fields.number()?))),
            _ => None,
        }
    }
}

/// A message from keeper to host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum News {
    /// The keeper runs, and speaks this version.
    Hello(u32),
    /// The cradle made for this number has this process id. Tells the host before the cradle's first
    /// answer, which a killed cradle does not give.
    Made(u64, i32),
    /// The cradle of this process id was killed, and no member of its command is left.
    Cleared(i32),
    /// The cradle of this process id was killed, and a member of its command can't be ended.
    GivenUp(i32),
    /// The sandbox is complete: each protection, and the mechanism that enforces it.
    Enforced(String),
    /// The sandbox's proxy port is open: the listening socket comes along, on which the host serves the
    /// network to those inside. The host writes a byte to the pipe that comes along once it serves.
    Listens,
    /// The command of this cradle was denied something: `socket=` and a family, or `connect=` and a path
    /// in which all but letters, digits and `/._-` is percent-encoded.
    Denied(i32, String),
    /// A process of the command of this cradle is to become a program, about which the host is asked. The number is
    /// the question's; answered by [`Call::Decide`].
    Asked(i32, u64, Box<ExecAsk>),
    /// The question of this number needs no answer any more.
    Withdrawn(u64),
    /// The directory of the sandbox's own terminals, in which the host opens those of its commands.
    Terminals,
    /// The cradle of this process id, which the host may leave behind, has ended; 0: one could not be made.
    Left(i32),
    /// The sandbox or the keeper can't be made: the errno, and the action that failed.
    Refused(i32, String),
}

impl News {
    /// Encodes the news as a message.
    pub fn encode(&self) -> Vec<u8> {
        let (kind, number, text) = match self {
            News::Made(cradle, pid) => {
                return Writer::default().number(10).number(*cradle).number(*pid as u64).finish();
            }
            News::Asked(cradle, number, ask) => {
                let mut all = Writer::default();
                all.number(11).number(*cradle as u64).number(*number);
                ask.write(&mut all);
                return all.finish();
            }
            News::Withdrawn(number) => (12, *number, ""),
            News::Hello(version) => (1, u64::from(*version), ""),
            News::Cleared(cradle) => (2, *cradle as u64, ""),
            News::GivenUp(cradle) => (3, *cradle as u64, ""),
            News::Enforced(lines) => (4, 0, &**lines),
            News::Listens => (6, 0, ""),
            News::Left(cradle) => (8, *cradle as u64, ""),
            News::Terminals => (9, 0, ""),
            News::Denied(cradle, what) => (7, *cradle as u64, &**what),
            News::Refused(errno, action) => (5, *errno as u64, &**action),
        };
        Writer::default().number(kind).number(number).bytes(text.as_bytes()).finish()
    }

    /// Decodes news. None: the message is not news.
    pub fn decode(message: &[u8]) -> Option<News> {
        let fields = &mut Reader(message);
        let (kind, number) = (fields.number()?, fields.number()?);
        if kind == 10 {
            return Some(News::Made(number, fields.small()?));
        }
        if kind == 11 {
            let (cradle, number) = (i32::try_from(number).ok()?, fields.number()?);
            return Some(News::Asked(cradle, number, Box::new(ExecAsk::read(fields)?)));
        }
        let mut text = || String::from_utf8_lossy(fields.bytes().unwrap_or_default()).into_owned();
        match kind {
            1 => Some(News::Hello(u32::try_from(number).ok()?)),
            2 => Some(News::Cleared(i32::try_from(number).ok()?)),
            3 => Some(News::GivenUp(i32::try_from(number).ok()?)),
            4 => Some(News::Enforced(text())),
            6 => Some(News::Listens),
            8 => Some(News::Left(i32::try_from(number).ok()?)),
            9 => Some(News::Terminals),
            12 => Some(News::Withdrawn(number)),
            7 => Some(News::Denied(i32::try_from(number).ok()?, text())),
            5 => Some(News::Refused(i32::try_from(number).ok()?, text())),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_and_news_arrive_as_they_were_sent() {
        let answer = Call::Decide(7, ExecAnswer::Allow);
        for call in [Call::Make(u64::MAX), Call::Retire, Call::Keep(7), answer] {
            assert_eq!(Call::decode(&call.encode()), Some(call));
        }
        let told = [News::Enforced("write=namespace".into()), News::Refused(1, "tmp: /tmp".into())];
        let ask = ExecAsk {
            pid: 5,
            parent: 4,
            program: b"/usr/bin/git".into(),
            directory: b"/there".into(),
            say: b"ask first".into(),
            parents: vec![(5, b"/bin/sh".into()), (4, b"/usr/bin/make".into())],
            argv: vec![b"git".into(), b"".into(), b"push\xff".into()],
        };
        let others = [
            News::Asked(10, u64::MAX, Box::new(ask)),
            News::Withdrawn(3),
            News::Hello(7),
            News::Made(u64::MAX, 11),
            News::Cleared(8),
            News::GivenUp(9),
            News::Listens,
            News::Left(12),
            News::Terminals,
            News::Denied(10, "socket=40".into()),
        ];
        for news in others.into_iter().chain(told) {
            assert_eq!(News::decode(&news.encode()), Some(news));
        }
        assert_eq!((Call::decode(b""), News::decode(b"")), (None, None));
    }
}
