//! What a sandbox is to be, as the host has resolved it: pairs of a word and its value, each ended by
//! NUL. Paths are absolute; those that do not exist are passed over.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// How a sandbox is to be.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Plan {
    pub require: Require,
    /// Whether there is a network but for a loopback of its own.
    pub network: bool,
    /// A port of that loopback at which the host is to be reached.
    pub proxy: Option<u16>,
    /// Whether commands see, and can signal, the processes of the host.
    pub host_processes: bool,
    /// Whether `/tmp` and its like are the host's.
    pub shared_tmp: bool,
    pub rules: Vec<Rule>,
}

/// What is to hold for there to be a sandbox.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Require {
    /// Every line.
    #[default]
    All,
    /// What Landlock and seccomp can do; nothing else is tried.
    Landlock,
    /// What can be had.
    BestEffort,
}

/// What may be done below a path; of several the longest path decides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    pub access: Access,
    pub path: PathBuf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Access {
    /// It can be written to.
    Write,
    /// It can be read, where it would be hidden.
    Show,
    /// It can't be written to, where it could be.
    Keep,
    /// It can't be read.
    Hide,
    /// A socket that can be connected to.
    Socket,
}

impl Plan {
    /// None: it is no plan.
    pub fn decode(bytes: &[u8]) -> Option<Plan> {
        let mut plan = Plan::default();
        let mut fields = bytes.split(|byte| *byte == 0);
        while let Some(word) = fields.next().filter(|word| !word.is_empty()) {
            let value = fields.next()?;
            match (word, value) {
                (b"require", b"all") => plan.require = Require::All,
                (b"require", b"landlock") => plan.require = Require::Landlock,
                (b"require", b"best-effort") => plan.require = Require::BestEffort,
                (b"network", b"full") => plan.network = true,
                (b"proxy", port) => {
                    plan.proxy = Some(std::str::from_utf8(port).ok()?.parse().ok()?);
                }
                // They are the host's to know.
                (b"server" | b"domain" | b"no-domain", _) => {}
                (b"processes", b"host") => plan.host_processes = true,
                (b"tmp", b"shared") => plan.shared_tmp = true,
                _ => plan.rules.push(rule(word, value)?),
            }
        }
        Some(plan)
    }

    /// The paths of a kind.
    pub fn paths(&self, access: Access) -> impl Iterator<Item = &Path> {
        self.rules.iter().filter(move |rule| rule.access == access).map(|rule| &*rule.path)
    }

    /// With the names that the paths really have, without those that do not exist; the shorter first.
    pub fn resolved(&self) -> Plan {
        let mut rules: Vec<Rule> = self.rules.iter().filter_map(resolve).collect();
        rules.sort_by_key(|rule| (rule.path.components().count(), rule.access));
        rules.dedup();
        Plan { rules, ..self.clone() }
    }
}

fn rule(word: &[u8], value: &[u8]) -> Option<Rule> {
    let access = match word {
        b"write" => Access::Write,
        b"show" => Access::Show,
        b"keep" => Access::Keep,
        b"hide" => Access::Hide,
        b"socket" => Access::Socket,
        _ => return None,
    };
    let path = PathBuf::from(OsStr::from_bytes(value));
    path.is_absolute().then_some(Rule { access, path })
}

fn resolve(rule: &Rule) -> Option<Rule> {
    Some(Rule { access: rule.access, path: rule.path.canonicalize().ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_values_come_in_pairs() {
        let plan = Plan::decode(b"network\0full\0write\0/a\0hide\0/b\0").unwrap();
        assert!(plan.network && !plan.host_processes);
        assert_eq!(plan.paths(Access::Write).collect::<Vec<_>>(), [Path::new("/a")]);
        assert_eq!(plan.paths(Access::Hide).collect::<Vec<_>>(), [Path::new("/b")]);
        assert_eq!(Plan::decode(b""), Some(Plan::default()));
    }

    #[test]
    fn what_is_not_known_is_no_plan() {
        for bytes in [&b"write\0a\0"[..], b"other\0/a\0", b"write", b"network\0some\0"] {
            assert_eq!(Plan::decode(bytes), None);
        }
    }
}
