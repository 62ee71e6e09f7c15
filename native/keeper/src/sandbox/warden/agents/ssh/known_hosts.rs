//! The servers that the user knows, by their keys.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

use crate::sandbox::warden::agents::ssh::messages::key_in_certificate;

/// What the user's files say of a server's key.
#[derive(Debug, PartialEq, Eq)]
pub enum Known {
    /// The server, by the names that stand there. None: these are hashed.
    As(Option<String>),
    Revoked,
    Not,
}

/// Looks for a server's key in the text of a `known_hosts` file.
pub fn look_up(text: &str, key: &[u8]) -> Known {
    let encoded = STANDARD.encode(key);
    let mut found = Known::Not;
    for line in text.lines() {
        let mut words = line.split_ascii_whitespace().peekable();
        let marker = words.next_if(|word| word.starts_with('@'));
        let (Some(names), Some(_), Some(theirs)) = (words.next(), words.next(), words.next())
        else {
            continue;
        };
        if theirs != encoded || names.starts_with('#') {
            continue;
        }
        match marker {
            Some("@revoked") => return Known::Revoked,
            // The key of an authority is no server's.
            Some(_) => {}
            None if names.starts_with('|') => {
                if found == Known::Not {
                    found = Known::As(None);
                }
            }
            None => found = Known::As(Some(names.to_owned())),
        }
    }
    found
}

/// Returns the fingerprint of a key, as `ssh-add -l` shows it: that of a certificate is its key's.
pub fn fingerprint(key: &[u8]) -> String {
    let plain = key_in_certificate(key);
    let key = plain.as_deref().unwrap_or(key);
    let digest = STANDARD.encode(Sha256::digest(key));
    format!("SHA256:{}", digest.trim_end_matches('='))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sandbox::warden::agents::ssh::messages::string;

    #[test]
    fn a_server_is_known_by_its_key() {
        let key = STANDARD.encode(b"key");
        let text = format!("# {key}\nexample.com,10.0.0.1 ssh-ed25519 {key} comment\n");
        assert_eq!(look_up(&text, b"key"), Known::As(Some("example.com,10.0.0.1".into())));
        assert_eq!(look_up(&text, b"other"), Known::Not);
        assert_eq!(look_up(&format!("|1|a|b ssh-rsa {key}"), b"key"), Known::As(None));
        assert_eq!(look_up(&format!("{text}@revoked * ssh-ed25519 {key}"), b"key"), Known::Revoked);
        assert_eq!(look_up(&format!("@cert-authority * ssh-ed25519 {key}"), b"key"), Known::Not);
        assert_eq!(look_up(&format!("#host ssh-ed25519 {key}"), b"key"), Known::Not);
        assert_eq!(look_up("", b"key"), Known::Not);
    }

    #[test]
    fn a_certificate_has_the_fingerprint_of_its_key() {
        let blob = |fields: &[&str]| -> Vec<u8> {
            fields.iter().flat_map(|bytes| string(bytes.as_bytes())).collect()
        };
        for (kind, vendor, key) in [
            ("ssh-ed25519", "", &["point"][..]),
            ("ssh-rsa", "", &["e", "n"]),
            ("ssh-dss", "", &["p", "q", "g", "y"]),
            ("ecdsa-sha2-nistp384", "", &["nistp384", "point"]),
            ("sk-ssh-ed25519", "@openssh.com", &["point", "ssh:"]),
            ("sk-ecdsa-sha2-nistp256", "@openssh.com", &["nistp256", "point", "ssh:"]),
        ] {
            let (plain, certified) =
                (kind.to_owned() + vendor, format!("{kind}-cert-v01@openssh.com"));
            let plain = blob(&[&[&*plain][..], key].concat());
            let certificate = blob(&[&[&*certified, "random"][..], key, &["serial"]].concat());
            assert_eq!(fingerprint(&certificate), fingerprint(&plain), "{kind}");
        }
        // What is no certificate, or of an unknown kind, or cut, is hashed as it is.
        let whole = |bytes: &[u8]| format!("SHA256:{}", STANDARD.encode(Sha256::digest(bytes)));
        for other in [
            &["x-cert-v01@openssh.com", "random", "point"][..],
            &["-cert-v01@openssh.com", "random", "point"],
            &["ssh-ed25519-cert-v01@openssh.com", "random"],
            &["ssh-ed25519-cert-v01@example.com", "random", "point"],
            &["ssh-ed25519", "point"],
        ] {
            assert_eq!(fingerprint(&blob(other)), whole(&blob(other)).trim_end_matches('='));
        }
    }

    #[test]
    fn a_fingerprint_has_no_padding() {
        let expected = "SHA256:LHDhLQIvP1iYv4x9xGgSFgvGmAPbRBuRvtsx0K5mXQI";
        assert_eq!(fingerprint(b"key").len(), expected.len());
        assert!(!fingerprint(b"key").ends_with('='));
    }
}
