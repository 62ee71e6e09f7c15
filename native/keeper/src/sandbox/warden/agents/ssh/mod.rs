//! A caller of the ssh agent. Keys are listed, and a signature is passed on if it is for a login at a
//! server that the user knows, or for a message of git.

mod known_hosts;
mod messages;

use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;

use crate::sandbox::agents::{LoginServers, SshAgent};
use crate::sandbox::warden::agents::outside::OutsideFile;
use crate::sandbox::warden::agents::signer::Signer;
use known_hosts::{Known, fingerprint, look_up};
use messages::{
    AgentRequest, FAILURE, SUCCESS, Signable, identities, identities_message, is_signature,
};

/// The longest message in bytes, as in OpenSSH's own agent.
const LONGEST: usize = 256 * 1024;
/// The namespace of git's signatures.
const GIT: &[u8] = b"git";

/// The session with a server that a connection is used for, as the caller says.
#[derive(Debug, PartialEq, Eq)]
enum Binding {
    None,
    /// The agent has verified the server's signature.
    Verified {
        host_key: Vec<u8>,
        session: Vec<u8>,
    },
    /// The agent does not verify sessions.
    Unverified,
    /// The connection is another machine's.
    Forwarded,
}

/// Why a signature is refused: a word, and what it is about.
type SignRefusal = (&'static str, String);

/// What a signature is for.
#[derive(Debug, PartialEq, Eq)]
struct Purpose {
    kind: &'static str,
    target: String,
}

struct SshCaller<'a> {
    ssh: &'a SshAgent,
    known_hosts: &'a [OutsideFile],
    signer: &'a Signer<'a>,
    agent: UnixStream,
    binding: Binding,
    /// The comments of keys, as the agent has told them.
    comments: HashMap<Vec<u8>, String>,
}

/// Serves a caller. Returns an error once the connection has ended.
pub fn serve(
    mut caller: UnixStream,
    ssh: &SshAgent,
    socket: &OutsideFile,
    known_hosts: &[OutsideFile],
    signer: &Signer,
) -> io::Result<()> {
    let agent = socket.connect().inspect_err(|_| signer.tell_refused("no-agent", ""))?;
    let (binding, comments) = (Binding::None, HashMap::new());
    let mut connection = SshCaller { ssh, known_hosts, signer, agent, binding, comments };
    loop {
        let message = receive(&mut caller)?;
        let answer = connection.answer(&message)?;
        send(&mut caller, &answer)?;
    }
}

impl SshCaller<'_> {
    fn answer(&mut self, message: &[u8]) -> io::Result<Vec<u8>> {
        let refused = |(reason, detail): SignRefusal| {
            self.signer.tell_refused(reason, &detail);
            Ok(vec![FAILURE])
        };
        match AgentRequest::parse(message) {
            Some(AgentRequest::Identities) => self.list(message),
            Some(AgentRequest::Sign { key, data }) => match self.purpose(key, data) {
                Ok(purpose) => self.sign(message, key, &purpose),
                Err(refusal) => refused(refusal),
            },
            Some(AgentRequest::Bind { host_key, session, is_forwarding }) => {
                if is_forwarding || self.binding != Binding::None {
                    self.binding = Binding::Forwarded;
                    return refused(("forwarded", String::new()));
                }
                self.bind(message, host_key, session)
            }
            // Extensions are asked for without need.
            Some(AgentRequest::Other(27)) => Ok(vec![FAILURE]),
            Some(AgentRequest::Other(number)) => refused(("request", number.to_string())),
            None => refused(("malformed", String::new())),
        }
    }

    /// Lists the keys that may sign.
    fn list(&mut self, message: &[u8]) -> io::Result<Vec<u8>> {
        let answer = self.ask(message)?;
        let Some(all) = identities(&answer) else { return Ok(vec![FAILURE]) };
        let allowed = &self.ssh.keys;
        let is_allowed = |key: &[u8]| allowed.is_empty() || allowed.contains(&fingerprint(key));
        let shown: Vec<_> = all.into_iter().filter(|(key, _)| is_allowed(key)).collect();
        let text = |comment: &[u8]| String::from_utf8_lossy(comment).into_owned();
        self.comments = shown.iter().map(|(key, comment)| (key.to_vec(), text(comment))).collect();
        Ok(identities_message(&shown))
    }

    fn bind(&mut self, message: &[u8], host_key: &[u8], session: &[u8]) -> io::Result<Vec<u8>> {
        let answer = self.ask(message)?;
        let is_verified = answer == [SUCCESS];
        self.binding = if is_verified {
            Binding::Verified { host_key: host_key.to_vec(), session: session.to_vec() }
        } else {
            Binding::Unverified
        };
        Ok(vec![if is_verified { SUCCESS } else { FAILURE }])
    }

    /// Returns what a signature is for, if it may be made.
    fn purpose(&self, key: &[u8], data: &[u8]) -> Result<Purpose, SignRefusal> {
        let (allowed, print) = (&self.ssh.keys, fingerprint(key));
        if !allowed.is_empty() && !allowed.contains(&print) {
            return Err(("key", print));
        }
        if self.binding == Binding::Forwarded {
            return Err(("forwarded", String::new()));
        }
        let lossy = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        match Signable::parse(data) {
            Some(Signable::Message { namespace: GIT }) => {
                Ok(Purpose { kind: "git", target: String::new() })
            }
            Some(Signable::Message { namespace }) => Err(("namespace", lossy(namespace))),
            Some(Signable::Login { session, user, key: theirs, host_key }) if theirs == key => {
                let host = self.host(session, host_key, &self.ssh.servers)?;
                Ok(Purpose { kind: "login", target: format!("{}@{host}", lossy(user)) })
            }
            _ => Err(("data", String::new())),
        }
    }

    /// Returns the server of a session, if logins there are signed.
    fn host(
        &self,
        session: &[u8],
        host_key: Option<&[u8]>,
        hosts: &LoginServers,
    ) -> Result<String, SignRefusal> {
        let Binding::Verified { host_key: bound, session: theirs } = &self.binding else {
            let is_any = *hosts == LoginServers::Any;
            let reason = if self.binding == Binding::None { "unbound" } else { "unverified" };
            return if is_any { Ok("?".to_owned()) } else { Err((reason, String::new())) };
        };
        if session != theirs || host_key.is_some_and(|key| key != bound) {
            return Err(("session", fingerprint(bound)));
        }
        let mut known = Known::Not;
        for file in self.known_hosts {
            match look_up(&file.read().unwrap_or_default(), bound) {
                Known::Revoked => return Err(("revoked-host", fingerprint(bound))),
                Known::As(names) if !matches!(known, Known::As(Some(_))) => {
                    known = Known::As(names)
                }
                _ => {}
            }
        }
        match known {
            Known::As(Some(names)) => Ok(names),
            Known::Not if *hosts != LoginServers::Any => Err(("unknown-host", fingerprint(bound))),
            _ => Ok(fingerprint(bound)),
        }
    }

    fn sign(&mut self, message: &[u8], key: &[u8], purpose: &Purpose) -> io::Result<Vec<u8>> {
        if !self.signer.reserve(self.ssh.most) {
            self.signer.tell_refused("limit", "");
            return Ok(vec![FAILURE]);
        }
        let answer = self.ask(message);
        let answer = match answer {
            Ok(answer) if is_signature(&answer) => answer,
            failed => {
                self.signer.give_back();
                return failed.map(|_| vec![FAILURE]);
            }
        };
        let comment = self.comments.get(key).map(String::as_str).unwrap_or_default();
        let Purpose { kind, target } = purpose;
        let is_told = self.signer.tell_signed(&fingerprint(key), comment, kind, target);
        Ok(if is_told { answer } else { vec![FAILURE] })
    }

    fn ask(&mut self, message: &[u8]) -> io::Result<Vec<u8>> {
        send(&mut self.agent, message)?;
        receive(&mut self.agent)
    }
}

fn receive(stream: &mut UnixStream) -> io::Result<Vec<u8>> {
    let mut length = [0; 4];
    stream.read_exact(&mut length)?;
    let length = u32::from_be_bytes(length) as usize;
    if length == 0 || length > LONGEST {
        return Err(io::ErrorKind::InvalidData.into());
    }
    // Grows as bytes arrive: a caller may announce more than it sends.
    let mut message = Vec::new();
    stream.take(length as u64).read_to_end(&mut message)?;
    if message.len() == length { Ok(message) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

fn send(stream: &mut UnixStream, message: &[u8]) -> io::Result<()> {
    let length = (message.len() as u32).to_be_bytes();
    stream.write_all(&[&length, message].concat())
}
