//! Words that tell of a sandbox's published ports, which arrive among those that tell of denials.

/// What such a word says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PortNews<'a> {
    /// A port is published, or can't be; the word stands until the same one is closed.
    Open(&'a str),
    /// The port of this word is no longer published.
    Closed(&'a str),
}

impl<'a> PortNews<'a> {
    /// Reads a word: `port=INSIDE,HOST,PID,NAME,SERIAL`, or `closed-` and such a word. None: it is about something
    /// else.
    pub fn of(word: &'a str) -> Option<PortNews<'a>> {
        match word.strip_prefix("closed-") {
            Some(port) if port.starts_with("port=") => Some(PortNews::Closed(port)),
            _ if word.starts_with("port=") => Some(PortNews::Open(word)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_words_about_ports_are_news_of_ports() {
        let port = "port=3000,3001,7,node,0";
        assert_eq!(PortNews::of(port), Some(PortNews::Open(port)));
        assert_eq!(PortNews::of("closed-port=1,2,3,a"), Some(PortNews::Closed("port=1,2,3,a")));
        assert_eq!((PortNews::of("socket=40"), PortNews::of("closed-socket=40")), (None, None));
    }
}
