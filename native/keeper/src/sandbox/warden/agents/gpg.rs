//! A caller of the gpg agent. Public data is passed on, and so is a signature of a hash. Settings are taken
//! and dropped: they would say where the user is asked for a passphrase.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;

use crate::sandbox::agents::GpgAgent;
use crate::sandbox::warden::agents::outside::OutsideFile;
use crate::sandbox::warden::agents::signer::Signer;

/// The longest line in bytes, as in the protocol.
const LONGEST: u64 = 1000;
/// The most lines of one answer.
const MOST_LINES: usize = 16 * 1024;
/// What the user is asked with.
const DESCRIPTION: &str =
    "SETKEYDESC A+command+in+forkline's+sandbox+asks+for+a+signature+with+this+key.";
const FORBIDDEN: &str = "ERR 67109115 Forbidden <GPG Agent>";
const NO_SECRET_KEY: &str = "ERR 67108881 No secret key <GPG Agent>";

/// A command of the protocol.
#[derive(Debug, PartialEq, Eq)]
enum AssuanCommand<'a> {
    /// Changes nothing that counts here.
    Setting,
    Bye,
    /// Asks for public data, or to begin anew.
    Public,
    Reset,
    /// Asks whether one of these keys is there, by their keygrips.
    Have(&'a str),
    /// Asks where a key is.
    Info(&'a str),
    /// Chooses the key, by its keygrip.
    Key(&'a str),
    Describe,
    /// Gives the hash that is to be signed.
    Hash(&'a str),
    Sign,
    /// Not allowed, and asked for by programs that can do without.
    Unneeded,
    /// Not allowed, by its first word.
    Forbidden(&'a str),
}

impl<'a> AssuanCommand<'a> {
    fn parse(line: &'a str) -> AssuanCommand<'a> {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let rest = rest.trim();
        match word {
            "OPTION" | "NOP" => AssuanCommand::Setting,
            "BYE" => AssuanCommand::Bye,
            "RESET" => AssuanCommand::Reset,
            "GETINFO" if matches!(rest, "version" | "s2k_count" | "s2k_count_cal") => {
                AssuanCommand::Public
            }
            "HAVEKEY" if rest.split(' ').all(is_grip) => AssuanCommand::Have(rest),
            "KEYINFO" if is_grip(rest) => AssuanCommand::Info(rest),
            "READKEY" if is_grip(rest) => AssuanCommand::Public,
            "SIGKEY" | "SETKEY" if is_grip(rest) => AssuanCommand::Key(rest),
            "SETKEYDESC" => AssuanCommand::Describe,
            "SETHASH" => match rest.split_once(' ') {
                Some((kind, hash)) if is_plain(kind) && is_hex(hash) => AssuanCommand::Hash(hash),
                _ => AssuanCommand::Forbidden(word),
            },
            "PKSIGN" => AssuanCommand::Sign,
            "GETINFO" | "SCD" | "HAVEKEY" | "KEYINFO" | "READKEY" | "GETEVENTCOUNTER" => {
                AssuanCommand::Unneeded
            }
            _ => AssuanCommand::Forbidden(word),
        }
    }
}

fn is_hex(text: &str) -> bool {
    !text.is_empty() && text.len() <= 256 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn is_grip(text: &str) -> bool {
    is_hex(text) && text.len() == 40
}

/// Returns whether a text is a number or the name of a hash.
fn is_plain(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-=_".contains(&byte))
}

struct GpgCaller<'a> {
    gpg: &'a GpgAgent,
    signer: &'a Signer<'a>,
    agent: BufReader<UnixStream>,
    key: Option<String>,
    hash: Option<String>,
}

/// Serves a caller. Returns an error once the connection has ended.
pub fn serve(
    caller: UnixStream,
    gpg: &GpgAgent,
    socket: &OutsideFile,
    signer: &Signer,
) -> io::Result<()> {
    let agent = socket.connect().inspect_err(|_| signer.tell_refused("no-agent", ""))?;
    let agent = BufReader::new(agent);
    let mut connection = GpgCaller { gpg, signer, agent, key: None, hash: None };
    // The agent's greeting.
    line_of(&mut connection.agent)?;
    let mut caller = BufReader::new(caller);
    caller.get_mut().write_all(b"OK Pleased to meet you\n")?;
    loop {
        let line = line_of(&mut caller)?;
        let mut answer = connection.answer(&line)?;
        answer.push(b'\n');
        caller.get_mut().write_all(&answer)?;
        if AssuanCommand::parse(&line) == AssuanCommand::Bye {
            return Ok(());
        }
    }
}

impl GpgCaller<'_> {
    /// Returns the lines of the answer.
    fn answer(&mut self, line: &str) -> io::Result<Vec<u8>> {
        match AssuanCommand::parse(line) {
            AssuanCommand::Setting => Ok(b"OK".to_vec()),
            AssuanCommand::Bye => Ok(b"OK closing connection".to_vec()),
            AssuanCommand::Public => self.ask(line),
            AssuanCommand::Reset => {
                (self.key, self.hash) = (None, None);
                self.ask("RESET")
            }
            AssuanCommand::Have(grips) => {
                let allowed: Vec<_> = grips.split(' ').filter(|grip| self.allows(grip)).collect();
                match allowed.is_empty() {
                    true => Ok(NO_SECRET_KEY.into()),
                    false => self.ask(&format!("HAVEKEY {}", allowed.join(" "))),
                }
            }
            // The agent tells other machines nothing but whether there is one.
            AssuanCommand::Info(grip) if self.allows(grip) => {
                let answer = self.ask(&format!("HAVEKEY {grip}"))?;
                match is_ok(&answer) {
                    true => Ok(format!("S KEYINFO {grip} D - - - - - - -\nOK").into()),
                    false => Ok(answer),
                }
            }
            AssuanCommand::Info(_) => Ok(NO_SECRET_KEY.into()),
            AssuanCommand::Key(grip) => {
                let grip = grip.to_ascii_uppercase();
                if !self.allows(&grip) {
                    self.signer.tell_refused("key", &grip);
                    return Ok(NO_SECRET_KEY.into());
                }
                self.key = None;
                let answer = self.ask(&format!("SIGKEY {grip}"))?;
                self.key = is_ok(&answer).then_some(grip);
                Ok(answer)
            }
            AssuanCommand::Describe => self.ask(DESCRIPTION),
            AssuanCommand::Hash(hash) => {
                self.hash = None;
                let answer = self.ask(line)?;
                self.hash = is_ok(&answer).then(|| hash.to_owned());
                Ok(answer)
            }
            AssuanCommand::Sign => self.sign(),
            AssuanCommand::Unneeded => Ok(FORBIDDEN.into()),
            AssuanCommand::Forbidden(word) => {
                self.signer.tell_refused("request", word);
                Ok(FORBIDDEN.into())
            }
        }
    }

    fn allows(&self, grip: &str) -> bool {
        let allowed = &self.gpg.keys;
        allowed.is_empty() || allowed.iter().any(|key| key.eq_ignore_ascii_case(grip))
    }

    fn sign(&mut self) -> io::Result<Vec<u8>> {
        // A hash is signed once.
        let (Some(key), Some(hash)) = (self.key.clone(), self.hash.take()) else {
            self.signer.tell_refused("data", "");
            return Ok(FORBIDDEN.into());
        };
        if !self.signer.reserve(self.gpg.most) {
            self.signer.tell_refused("limit", "");
            return Ok(FORBIDDEN.into());
        }
        match self.ask("PKSIGN") {
            Ok(answer) if is_ok(&answer) => {
                let is_told = self.signer.tell_signed(&key, "", "hash", &hash.to_ascii_lowercase());
                Ok(if is_told { answer } else { FORBIDDEN.into() })
            }
            failed => {
                self.signer.give_back();
                failed
            }
        }
    }

    /// Sends a command to the agent. Returns all lines of its answer, without questions and comments.
    fn ask(&mut self, line: &str) -> io::Result<Vec<u8>> {
        self.agent.get_mut().write_all(format!("{line}\n").as_bytes())?;
        let mut answer = Vec::new();
        for _ in 0..MOST_LINES {
            let line = bytes_of(&mut self.agent)?;
            match line.split(|byte| *byte == b' ').next().unwrap_or_default() {
                b"INQUIRE" => self.agent.get_mut().write_all(b"CAN\n")?,
                b"OK" | b"ERR" => {
                    answer.extend(line);
                    return Ok(answer);
                }
                b"D" | b"S" => answer.extend([&line[..], b"\n"].concat()),
                _ => {}
            }
        }
        Err(io::ErrorKind::InvalidData.into())
    }
}

/// Returns whether the last line of an answer says that a command was done.
fn is_ok(answer: &[u8]) -> bool {
    answer.split(|byte| *byte == b'\n').next_back().is_some_and(|last| last.starts_with(b"OK"))
}

fn line_of(stream: &mut BufReader<UnixStream>) -> io::Result<String> {
    String::from_utf8(bytes_of(stream)?).map_err(|_| io::ErrorKind::InvalidData.into())
}

/// Reads a line, and drops its end.
fn bytes_of(stream: &mut BufReader<UnixStream>) -> io::Result<Vec<u8>> {
    let mut line = Vec::new();
    stream.by_ref().take(LONGEST + 2).read_until(b'\n', &mut line)?;
    match line.pop() {
        Some(b'\n') => {
            line.pop_if(|last| *last == b'\r');
            Ok(line)
        }
        Some(_) => Err(io::ErrorKind::InvalidData.into()),
        None => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_known_or_forbidden() {
        let grip = "0123456789ABCDEF0123456789abcdef01234567";
        for (line, command) in [
            ("OPTION display=:0", AssuanCommand::Setting),
            ("RESET", AssuanCommand::Reset),
            ("BYE", AssuanCommand::Bye),
            ("GETINFO version", AssuanCommand::Public),
            ("GETINFO socket_name", AssuanCommand::Unneeded),
            ("KEYINFO --list", AssuanCommand::Unneeded),
            (&format!("KEYINFO {grip}"), AssuanCommand::Info(grip)),
            (&format!("HAVEKEY {grip} {grip}"), AssuanCommand::Have(&format!("{grip} {grip}"))),
            ("HAVEKEY --list=1000", AssuanCommand::Unneeded),
            ("HAVEKEY /etc", AssuanCommand::Unneeded),
            (&format!("SIGKEY {grip}"), AssuanCommand::Key(grip)),
            ("SIGKEY 00", AssuanCommand::Forbidden("SIGKEY")),
            ("SETHASH --hash=sha512 00ff", AssuanCommand::Hash("00ff")),
            ("SETHASH --inquire", AssuanCommand::Forbidden("SETHASH")),
            ("PKSIGN -- x", AssuanCommand::Sign),
            ("pksign", AssuanCommand::Forbidden("pksign")),
            ("PKDECRYPT", AssuanCommand::Forbidden("PKDECRYPT")),
            ("EXPORT_KEY x", AssuanCommand::Forbidden("EXPORT_KEY")),
            ("SCD SERIALNO", AssuanCommand::Unneeded),
            ("", AssuanCommand::Forbidden("")),
        ] {
            assert_eq!(AssuanCommand::parse(line), command, "{line}");
        }
    }

    #[test]
    fn lines_end_and_are_bounded() {
        let (mut one, other) = UnixStream::pair().unwrap();
        let mut reader = BufReader::new(other);
        one.write_all(b"D \xff%0A\r\nOK\n").unwrap();
        assert_eq!(bytes_of(&mut reader).unwrap(), b"D \xff%0A");
        assert_eq!(line_of(&mut reader).unwrap(), "OK");
        one.write_all(&[b'x'; 2000]).unwrap();
        assert!(bytes_of(&mut reader).is_err());
        assert!(is_ok(b"D x\nOK") && !is_ok(b"OK\nERR 1"));
    }
}
