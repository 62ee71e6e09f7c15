//! The ports of a plan: those of the host that commands reach, and those of commands that are reached from
//! outside.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// The ports between a sandbox and its host.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PortPlan {
    /// The directory of files that say which ports are published.
    pub directory: Option<PathBuf>,
    /// Ports of the host that commands reach.
    pub reach: Vec<Reached>,
    /// Whether all ports on which commands listen are published.
    pub publishes_all: bool,
    /// Ports that are published when commands listen on them.
    pub publish: Vec<Wished>,
    /// Whether ports may be published by which whoever connects controls a program.
    pub dangerous: bool,
}

/// A port of the host, and the port of the sandbox that leads there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reached {
    pub inside: u16,
    pub host: u16,
}

/// A port to be published, and the port of the host that is wanted for it; 0: any.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wished {
    pub inside: u16,
    pub host: u16,
}

impl PortPlan {
    /// Returns whether the sandbox has no ports to relay.
    pub fn is_empty(&self) -> bool {
        self.reach.is_empty() && !self.publishes()
    }

    /// Returns whether ports of commands are published.
    pub fn publishes(&self) -> bool {
        self.publishes_all || !self.publish.is_empty()
    }

    /// Adds what a word of the plan says. None: the word is not about ports, or its value is wrong.
    pub fn add(&mut self, word: &[u8], value: &[u8]) -> Option<()> {
        match (word, value) {
            (b"reach", pair) => {
                let (inside, host) = pair_in(pair)?;
                self.reach.push(Reached { inside, host });
            }
            (b"publish", b"auto") => self.publishes_all = true,
            (b"publish", pair) => {
                let (inside, host) = pair_in(pair)?;
                self.publish.push(Wished { inside, host });
            }
            (b"ports-at", path) => {
                self.directory = Some(PathBuf::from(OsStr::from_bytes(path)));
            }
            (b"ports", b"dangerous") => self.dangerous = true,
            _ => return None,
        }
        Some(())
    }
}

/// Parses `INSIDE:HOST`.
fn pair_in(text: &[u8]) -> Option<(u16, u16)> {
    let (inside, host) = std::str::from_utf8(text).ok()?.split_once(':')?;
    Some((inside.parse().ok().filter(|port| *port > 0)?, host.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_come_in_pairs() {
        let mut plan = PortPlan::default();
        assert!(plan.is_empty());
        for (word, value) in [("reach", "1:2"), ("publish", "3:0"), ("ports", "dangerous")] {
            assert_eq!(plan.add(word.as_bytes(), value.as_bytes()), Some(()));
        }
        assert_eq!(plan.reach, [Reached { inside: 1, host: 2 }]);
        assert_eq!(plan.publish, [Wished { inside: 3, host: 0 }]);
        assert!(plan.dangerous && !plan.publishes_all && !plan.is_empty());
        assert_eq!(plan.add(b"publish", b"auto"), Some(()));
        assert!(plan.publishes_all);
        for (word, value) in
            [("reach", "0:1"), ("reach", "1"), ("publish", "70000:1"), ("ports", "x"), ("x", "1:1")]
        {
            assert_eq!(plan.add(word.as_bytes(), value.as_bytes()), None);
        }
    }
}
