//! The user's ssh and gpg agents, as a plan offers them to commands. Private keys stay where they are: a
//! broker beside the sandbox asks an agent for the signatures that the plan allows, and tells each one.

pub mod inside;

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// The agents of a plan.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Agents {
    pub ssh: Option<SshAgent>,
    pub gpg: Option<GpgAgent>,
}

/// The user's ssh agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SshAgent {
    /// The agent's socket outside, without links.
    pub socket: PathBuf,
    /// Fingerprints of the keys that may sign; empty: all.
    pub keys: Vec<String>,
    /// The servers for which a login is signed.
    pub servers: LoginServers,
    /// The most signatures of one command.
    pub most: u32,
}

/// The servers for which a login is signed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LoginServers {
    /// Those whose keys are in these files.
    Known(Vec<PathBuf>),
    Any,
}

/// The user's gpg agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GpgAgent {
    /// The agent's socket outside, without links.
    pub socket: PathBuf,
    /// The directory with the public keys.
    pub home: Option<PathBuf>,
    /// Keygrips of the keys that may sign; empty: all.
    pub keys: Vec<String>,
    /// The most signatures of one command.
    pub most: u32,
}

impl Agents {
    /// Returns the number of agents.
    pub fn count(&self) -> usize {
        usize::from(self.ssh.is_some()) + usize::from(self.gpg.is_some())
    }

    /// Takes an entry of a plan. None: the entry is not about agents, or is malformed.
    pub fn decode(&mut self, word: &[u8], value: &[u8]) -> Option<()> {
        let path = || Some(PathBuf::from(OsStr::from_bytes(value))).filter(|it| it.is_absolute());
        let text = || std::str::from_utf8(value).ok().map(str::to_owned);
        match word {
            b"ssh-agent" => {
                let servers = LoginServers::Known(Vec::new());
                self.ssh = Some(SshAgent { socket: path()?, keys: Vec::new(), servers, most: 0 });
            }
            b"ssh-key" => self.ssh.as_mut()?.keys.push(text()?),
            b"ssh-signatures" => self.ssh.as_mut()?.most = text()?.parse().ok()?,
            b"ssh-hosts" if value == b"any" => self.ssh.as_mut()?.servers = LoginServers::Any,
            b"known-hosts" => match &mut self.ssh.as_mut()?.servers {
                LoginServers::Known(files) => files.push(path()?),
                LoginServers::Any => return None,
            },
            b"gpg-agent" => {
                self.gpg =
                    Some(GpgAgent { socket: path()?, home: None, keys: Vec::new(), most: 0 });
            }
            b"gpg-home" => self.gpg.as_mut()?.home = Some(path()?),
            b"gpg-key" => self.gpg.as_mut()?.keys.push(text()?),
            b"gpg-signatures" => self.gpg.as_mut()?.most = text()?.parse().ok()?,
            _ => return None,
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agents_are_decoded_from_a_plan() {
        let mut agents = Agents::default();
        let mut take = |word: &str, value: &str| agents.decode(word.as_bytes(), value.as_bytes());
        assert_eq!(take("ssh-key", "SHA256:x"), None);
        assert_eq!(take("ssh-agent", "relative"), None);
        for (word, value) in [
            ("ssh-agent", "/a"),
            ("ssh-key", "SHA256:x"),
            ("known-hosts", "/k"),
            ("ssh-signatures", "2"),
            ("gpg-agent", "/g"),
            ("gpg-home", "/h"),
            ("gpg-signatures", "1"),
        ] {
            assert_eq!(take(word, value), Some(()), "{word}");
        }
        assert_eq!(take("ssh-hosts", "some"), None);
        assert_eq!(take("other", "/a"), None);
        let ssh = SshAgent {
            socket: "/a".into(),
            keys: vec!["SHA256:x".into()],
            servers: LoginServers::Known(vec!["/k".into()]),
            most: 2,
        };
        let gpg = GpgAgent { socket: "/g".into(), home: Some("/h".into()), keys: vec![], most: 1 };
        assert_eq!(agents, Agents { ssh: Some(ssh), gpg: Some(gpg) });
    }
}
