//! What the warden asks the relay, and the answers.

use std::net::SocketAddr;
use std::os::fd::OwnedFd;

/// The sockets by which the warden and the relay talk.
pub struct RelayLine {
    /// Takes questions, and gives answers.
    pub asks: OwnedFd,
    /// Has news that nobody has asked for.
    pub news: OwnedFd,
}

/// A question of the warden.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ask {
    /// A process is about to connect to this address, whose port leads to the host. The answer is an errno,
    /// or 0.
    Reach(SocketAddr),
    /// A process listens. The answer is the word that tells of the port; empty: there is nothing to tell.
    Listens(Listening),
}

/// A process that listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listening {
    pub address: SocketAddr,
    /// The process id of the cradle that it descends from.
    pub cradle: i32,
    pub pid: i32,
    /// Its name, without blanks, commas and control characters.
    pub name: String,
}

/// News of the relay for the warden: a word for the command of this cradle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PortNotice {
    pub cradle: i32,
    pub word: String,
}

impl Ask {
    pub fn encode(&self) -> String {
        match self {
            Ask::Reach(address) => format!("reach {address}"),
            Ask::Listens(Listening { address, cradle, pid, name }) => {
                format!("listens {address} {cradle} {pid} {name}")
            }
        }
    }

    pub fn decode(message: &[u8]) -> Option<Ask> {
        let mut words = std::str::from_utf8(message).ok()?.split(' ');
        let (kind, address) = (words.next()?, words.next()?.parse().ok()?);
        if kind == "reach" {
            return Some(Ask::Reach(address));
        }
        let (cradle, pid) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
        let name = words.next()?.to_owned();
        Some(Ask::Listens(Listening { address, cradle, pid, name }))
    }
}

impl PortNotice {
    pub fn encode(&self) -> String {
        format!("{} {}", self.cradle, self.word)
    }

    pub fn decode(message: &[u8]) -> Option<PortNotice> {
        let (cradle, word) = std::str::from_utf8(message).ok()?.split_once(' ')?;
        Some(PortNotice { cradle: cradle.parse().ok()?, word: word.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_and_news_arrive_as_they_were_sent() {
        let address: SocketAddr = "[::1]:5432".parse().unwrap();
        let listening = Listening { address, cradle: 1, pid: 2, name: "node".into() };
        for ask in [Ask::Reach(address), Ask::Listens(listening)] {
            assert_eq!(Ask::decode(ask.encode().as_bytes()), Some(ask));
        }
        let tell = PortNotice { cradle: 3, word: "port=1,2,3,node".into() };
        assert_eq!(PortNotice::decode(tell.encode().as_bytes()), Some(tell));
        assert_eq!((Ask::decode(b"reach"), PortNotice::decode(b"x y")), (None, None));
    }
}
