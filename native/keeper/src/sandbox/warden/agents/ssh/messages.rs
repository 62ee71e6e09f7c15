//! The messages of ssh agents, and the data that ssh and git have signed. What is not exactly one of these
//! is none: nothing may follow, nothing may be missing.

/// A request to an agent.
#[derive(Debug, PartialEq, Eq)]
pub enum AgentRequest<'a> {
    /// Asks for the public keys.
    Identities,
    /// Asks for a signature.
    Sign { key: &'a [u8], data: &'a [u8] },
    /// Says for which session with which server this connection is used.
    Bind { host_key: &'a [u8], session: &'a [u8], is_forwarding: bool },
    /// Any other request, by its number.
    Other(u8),
}

/// What data that is to be signed is for.
#[derive(Debug, PartialEq, Eq)]
pub enum Signable<'a> {
    /// A message of an application, of which there is only a hash.
    Message { namespace: &'a [u8] },
    /// A login at a server.
    Login { session: &'a [u8], user: &'a [u8], key: &'a [u8], host_key: Option<&'a [u8]> },
}

pub const FAILURE: u8 = 5;
pub const SUCCESS: u8 = 6;
pub const IDENTITIES: u8 = 12;
pub const SIGNATURE: u8 = 14;
const REQUEST_IDENTITIES: u8 = 11;
const SIGN_REQUEST: u8 = 13;
const EXTENSION: u8 = 27;
/// The end of a name that OpenSSH has made.
const OPENSSH: &[u8] = b"@openssh.com";
const BIND: &[u8] = b"session-bind@openssh.com";
/// Without one, and with SHA-256 or SHA-512 for RSA.
const FLAGS: [u32; 3] = [0, 2, 4];

impl<'a> AgentRequest<'a> {
    /// Parses a request. None: it is malformed.
    pub fn parse(message: &'a [u8]) -> Option<AgentRequest<'a>> {
        let mut fields = Fields(message);
        let request = match fields.byte()? {
            REQUEST_IDENTITIES => AgentRequest::Identities,
            SIGN_REQUEST => {
                let (key, data) = (fields.string()?, fields.string()?);
                FLAGS.contains(&fields.number()?).then_some(AgentRequest::Sign { key, data })?
            }
            EXTENSION if Fields(fields.0).string() == Some(BIND) => {
                fields.string()?;
                let (host_key, session) = (fields.string()?, fields.string()?);
                // The agent verifies the signature of the server.
                fields.string()?;
                let is_forwarding = fields.byte()? != 0;
                AgentRequest::Bind { host_key, session, is_forwarding }
            }
            number => return Some(AgentRequest::Other(number)),
        };
        fields.0.is_empty().then_some(request)
    }
}

impl<'a> Signable<'a> {
    /// Parses data that is to be signed. None: it is for something else.
    pub fn parse(data: &'a [u8]) -> Option<Signable<'a>> {
        match data.strip_prefix(b"SSHSIG") {
            Some(rest) => Signable::message(Fields(rest)),
            None => Signable::login(Fields(data)),
        }
    }

    fn message(mut fields: Fields<'a>) -> Option<Signable<'a>> {
        let (namespace, reserved) = (fields.string()?, fields.string()?);
        let length = match fields.string()? {
            b"sha256" => 32,
            b"sha512" => 64,
            _ => return None,
        };
        let is_whole = reserved.is_empty() && fields.string()?.len() == length;
        (is_whole && fields.0.is_empty()).then_some(Signable::Message { namespace })
    }

    fn login(mut fields: Fields<'a>) -> Option<Signable<'a>> {
        const USERAUTH_REQUEST: u8 = 50;
        let session = fields.string()?;
        if session.is_empty() || fields.byte()? != USERAUTH_REQUEST {
            return None;
        }
        let (user, service, method) = (fields.string()?, fields.string()?, fields.string()?);
        let is_bound = match method {
            b"publickey" => false,
            b"publickey-hostbound-v00@openssh.com" => true,
            _ => return None,
        };
        let has_signature = fields.byte()? == 1;
        let (_, key) = (fields.string()?, fields.string()?);
        let host_key = if is_bound { Some(fields.string()?) } else { None };
        let is_whole = service == b"ssh-connection" && has_signature && fields.0.is_empty();
        is_whole.then_some(Signable::Login { session, user, key, host_key })
    }
}

/// Parses the list of keys: each key with its comment. None: it is malformed.
pub fn identities(message: &[u8]) -> Option<Vec<(&[u8], &[u8])>> {
    let mut fields = Fields(message);
    if fields.byte()? != IDENTITIES {
        return None;
    }
    let mut all = Vec::new();
    for _ in 0..fields.number()? {
        all.push((fields.string()?, fields.string()?));
    }
    fields.0.is_empty().then_some(all)
}

/// Makes the message of a list of keys.
pub fn identities_message(all: &[(&[u8], &[u8])]) -> Vec<u8> {
    let mut message = vec![IDENTITIES];
    message.extend((all.len() as u32).to_be_bytes());
    all.iter()
        .flat_map(|(key, comment)| [key, comment])
        .for_each(|bytes| message.extend(string(bytes)));
    message
}

/// Returns bytes with their number before them.
pub fn string(bytes: &[u8]) -> Vec<u8> {
    [&(bytes.len() as u32).to_be_bytes(), bytes].concat()
}

/// Returns the key that a certificate is for, without the certificate. None: it is no certificate, or one for a
/// key of an unknown kind.
pub fn key_in_certificate(certificate: &[u8]) -> Option<Vec<u8>> {
    const CERTIFICATE: &[u8] = b"-cert-v01";
    let mut fields = Fields(certificate);
    let kind = fields.string()?;
    let at = kind.len().checked_sub(CERTIFICATE.len() + OPENSSH.len())?;
    let (kind, _) =
        kind.split_at_checked(at).filter(|(_, end)| *end == [CERTIFICATE, OPENSSH].concat())?;
    // Some kinds are OpenSSH's own also without a certificate; a kind has so many fields.
    let (vendor, count) = match kind {
        b"ssh-ed25519" => (&b""[..], 1),
        b"ssh-rsa" | b"ecdsa-sha2-nistp256" | b"ecdsa-sha2-nistp384" | b"ecdsa-sha2-nistp521" => {
            (&b""[..], 2)
        }
        b"ssh-dss" => (&b""[..], 4),
        b"sk-ssh-ed25519" => (OPENSSH, 2),
        b"sk-ecdsa-sha2-nistp256" => (OPENSSH, 3),
        _ => return None,
    };
    // A random number comes first.
    fields.string()?;
    let mut key = string(&[kind, vendor].concat());
    for _ in 0..count {
        key.extend(string(fields.string()?));
    }
    Some(key)
}

/// Returns whether a message is one signature.
pub fn is_signature(message: &[u8]) -> bool {
    let mut fields = Fields(message);
    fields.byte() == Some(SIGNATURE) && fields.string().is_some() && fields.0.is_empty()
}

/// The rest of a message.
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    fn number(&mut self) -> Option<u32> {
        let (first, rest) = self.0.split_first_chunk::<4>()?;
        self.0 = rest;
        Some(u32::from_be_bytes(*first))
    }

    fn string(&mut self) -> Option<&'a [u8]> {
        let length = self.number()? as usize;
        let (string, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(string)
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    pub fn login(method: &[u8], service: &[u8]) -> Vec<u8> {
        let parts = [string(b"session"), vec![50], string(b"git"), string(service), string(method)];
        [parts.concat(), vec![1], string(b"ssh-ed25519"), string(b"key")].concat()
    }

    pub fn message(namespace: &[u8], hash: &[u8]) -> Vec<u8> {
        let parts = [string(namespace), string(b""), string(b"sha512"), string(hash)];
        [b"SSHSIG".to_vec(), parts.concat()].concat()
    }

    #[test]
    fn requests_are_parsed_whole_or_not() {
        let sign = [vec![13], string(b"key"), string(b"data"), vec![0, 0, 0, 2]].concat();
        assert_eq!(
            AgentRequest::parse(&sign),
            Some(AgentRequest::Sign { key: b"key", data: b"data" })
        );
        for length in 0..sign.len() {
            assert_eq!(AgentRequest::parse(&sign[..length]), None);
        }
        assert_eq!(AgentRequest::parse(&[&sign[..], b"x"].concat()), None);
        let flagged = [&sign[..sign.len() - 1], &[1]].concat();
        assert_eq!(AgentRequest::parse(&flagged), None);
        assert_eq!(AgentRequest::parse(&[11]), Some(AgentRequest::Identities));
        assert_eq!(AgentRequest::parse(&[11, 0]), None);
        assert_eq!(AgentRequest::parse(&[17, 1, 2]), Some(AgentRequest::Other(17)));
        let bind = [string(BIND), string(b"host"), string(b"session"), string(b"by"), vec![0]];
        let bind = [vec![27], bind.concat()].concat();
        let bound =
            AgentRequest::Bind { host_key: b"host", session: b"session", is_forwarding: false };
        assert_eq!(AgentRequest::parse(&bind), Some(bound));
        assert_eq!(AgentRequest::parse(&bind[..bind.len() - 1]), None);
        assert_eq!(
            AgentRequest::parse(&[vec![27], string(b"query")].concat()),
            Some(AgentRequest::Other(27))
        );
    }

    #[test]
    fn only_logins_and_messages_are_signable() {
        let plain = login(b"publickey", b"ssh-connection");
        let expected =
            Signable::Login { session: b"session", user: b"git", key: b"key", host_key: None };
        assert_eq!(Signable::parse(&plain), Some(expected));
        for length in 0..plain.len() {
            assert_eq!(Signable::parse(&plain[..length]), None);
        }
        assert_eq!(Signable::parse(&[&plain[..], b"x"].concat()), None);
        let bound = login(b"publickey-hostbound-v00@openssh.com", b"ssh-connection");
        assert_eq!(Signable::parse(&bound), None);
        let bound = [bound, string(b"host")].concat();
        assert!(matches!(
            Signable::parse(&bound),
            Some(Signable::Login { host_key: Some(b"host"), .. })
        ));
        assert_eq!(Signable::parse(&login(b"hostbased", b"ssh-connection")), None);
        assert_eq!(Signable::parse(&login(b"publickey", b"other")), None);
        let whole = message(b"git", &[7; 64]);
        assert_eq!(Signable::parse(&whole), Some(Signable::Message { namespace: b"git" }));
        assert_eq!(Signable::parse(&message(b"git", &[7; 63])), None);
        assert_eq!(Signable::parse(b"tree 0123"), None);
        assert_eq!(Signable::parse(b""), None);
    }

    #[test]
    fn a_list_of_keys_is_the_same_in_and_out() {
        let all: Vec<(&[u8], &[u8])> = vec![(b"one", b"comment"), (b"two", b"")];
        let message = identities_message(&all);
        assert_eq!(identities(&message), Some(all));
        assert_eq!(identities(&message[..message.len() - 1]), None);
        assert!(is_signature(&[vec![14], string(b"x")].concat()));
        assert!(!is_signature(&[vec![14], string(b"x"), vec![0]].concat()));
    }
}
