//! The settings of git's that start no program and lead nowhere, whatever their values are made of.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::sandbox::warden::gate::settings::reading::Setting;

/// Returns whether a value names a working tree.
type IsWorktree<'a> = &'a dyn Fn(&[u8]) -> bool;

/// Where a setting stands.
#[derive(Clone, Copy)]
pub struct SettingContext<'a> {
    /// Whether there was no configuration: a repository is being made.
    pub is_new: bool,
    /// All settings of the configuration as it would be.
    pub all: &'a [Setting],
    /// Returns whether no command can make a repository at a path: a push to it would run its hooks.
    pub is_elsewhere: &'a dyn Fn(&Path) -> bool,
    /// Returns whether a submodule's working tree may be this. None: the configuration is no submodule's.
    pub may_be_worktree: Option<IsWorktree<'a>>,
}

/// A key's parts: `remote`, `origin`, `url`.
struct Key<'a> {
    section: &'a [u8],
    name: Option<&'a [u8]>,
    variable: &'a [u8],
}

/// What a setting can have for an effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Only the harmless one that it is for.
    Harmless,
    /// A harmless one with another value.
    Value,
    /// Any: it starts a program, or leads elsewhere.
    Any,
}

impl Effect {
    fn harmless_if(is_harmless: bool) -> Effect {
        if is_harmless { Effect::Harmless } else { Effect::Value }
    }
}

/// Returns the effect of a setting.
pub fn effect(Setting { key, value }: &Setting, place: &SettingContext) -> Effect {
    let Some(key) = split(key) else { return Effect::Any };
    let value = value.as_deref().unwrap_or(b"true");
    let of_value = Effect::harmless_if;
    let of_key = |is_harmless| if is_harmless { Effect::Harmless } else { Effect::Any };
    // Names of remotes are arguments, and those of submodules are parts of paths.
    if key.name.is_some_and(|name| name.first() == Some(&b'-') || is_odd(name)) {
        return Effect::Any;
    }
    match (key.section, key.name, key.variable) {
        (b"branch", Some(_), b"remote" | b"pushremote") => of_value(is_remote(value, place)),
        (b"branch", _, variable) => of_key(variable != b"mergeoptions"),
        (b"user", None, b"signingkey") => Effect::Any,
        (b"user", None, _) => of_value(!is_odd(value)),
        (b"remote", Some(name), _) if has_helper(name) => Effect::Any,
        (b"remote", Some(_), b"url" | b"pushurl") => {
            of_value(is_address(value, place.is_elsewhere))
        }
        (b"remote", Some(_), b"fetch") => of_value(is_plain(value)),
        (b"submodule", Some(_), b"url") => {
            // Its own configuration has the address too, as that of a remote.
            of_value(is_address(value, &|_| true))
        }
        (b"submodule", Some(_), b"active") => Effect::Harmless,
        (b"submodule", Some(_), b"update") => {
            of_value(matches!(value, b"checkout" | b"rebase" | b"merge" | b"none"))
        }
        (b"core", None, b"sparsecheckout" | b"sparsecheckoutcone") => Effect::Harmless,
        (b"core", None, b"repositoryformatversion") => of_value(matches!(value, b"0" | b"1")),
        (b"core", None, b"bare") => of_key(place.is_new && value == b"false"),
        (b"core", None, b"worktree") => {
            place.may_be_worktree.map_or(Effect::Any, |may| of_value(may(value)))
        }
        (b"core", None, variable) => of_key(place.is_new && FORMAT.contains(&variable)),
        (b"index", None, b"sparse") | (b"extensions", None, b"worktreeconfig") => Effect::Harmless,
        (b"extensions", None, b"objectformat" | b"refstorage") => of_key(place.is_new),
        // git-lfs writes them at its first use, and at the first of a server.
        (b"lfs", None, b"repositoryformatversion") => of_value(value == b"0"),
        (b"lfs", Some(_), b"access") => of_value(matches!(value, b"none" | b"basic")),
        _ => Effect::Any,
    }
}

/// What git finds out about the file system of a new repository.
const FORMAT: [&[u8]; 5] =
    [b"filemode", b"logallrefupdates", b"symlinks", b"ignorecase", b"precomposeunicode"];

fn split(key: &[u8]) -> Option<Key<'_>> {
    let first = key.iter().position(|byte| *byte == b'.')?;
    let last = key.iter().rposition(|byte| *byte == b'.')?;
    Some(Key {
        section: key.get(..first)?,
        name: if first == last { None } else { key.get(first + 1..last) },
        variable: key.get(last + 1..)?,
    })
}

/// Returns whether a value names a remote of this configuration, this repository, or an address.
fn is_remote(value: &[u8], place: &SettingContext) -> bool {
    let is_known = || {
        let key = [b"remote.", value, b".url"].concat();
        place.all.iter().any(|setting| setting.key == key)
    };
    // By a name without a slash git also looks for a file in `remotes` or `branches`.
    let is_address = || value.contains(&b'/') && is_address(value, place.is_elsewhere);
    value == b"." || is_plain(value) && (is_known() || is_address())
}

/// Returns whether git takes a value for an address that it speaks to by itself: neither for an option,
/// nor for a command, nor for the name of a program. `is_elsewhere`: see [`SettingContext`].
fn is_address(value: &[u8], is_elsewhere: &dyn Fn(&Path) -> bool) -> bool {
    if !is_plain(value) || contains(value, b"@-") {
        return false;
    }
    let is_elsewhere = |path: &[u8]| is_elsewhere(Path::new(OsStr::from_bytes(path)));
    let Some(at) = find(value, b"://") else {
        let slash = find(value, b"/").unwrap_or(value.len());
        let is_local = find(value, b":").is_none_or(|colon| slash < colon);
        return !is_local || is_elsewhere(value);
    };
    let (scheme, rest) = value.split_at(at);
    let rest = rest.get(b"://".len()..).unwrap_or_default();
    match &scheme.to_ascii_lowercase()[..] {
        b"http" | b"https" | b"ssh" | b"git" | b"git+ssh" | b"ssh+git" | b"ftp" | b"ftps" => {
            rest.first().is_some_and(|first| *first != b'-')
        }
        b"file" => !rest.contains(&b'%') && is_elsewhere(rest),
        _ => false,
    }
}

/// Returns whether a value is neither an option nor the command of a helper (`ext::`).
fn is_plain(value: &[u8]) -> bool {
    !value.is_empty() && value.first() != Some(&b'-') && !has_helper(value) && !is_odd(value)
}

fn has_helper(value: &[u8]) -> bool {
    contains(value, b"::")
}

fn is_odd(value: &[u8]) -> bool {
    value.iter().any(u8::is_ascii_control)
}

fn contains(value: &[u8], part: &[u8]) -> bool {
    find(value, part).is_some()
}

fn find(value: &[u8], part: &[u8]) -> Option<usize> {
    value.windows(part.len()).position(|window| window == part)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(key: &str, value: &str, is_new: bool) -> bool {
        let setting = |key: &str, value: &str| Setting {
            key: key.into(),
            value: Some(value.as_bytes().to_vec()),
        };
        let place = SettingContext {
            is_new,
            all: &[setting("remote.origin.url", "https://h/r")],
            is_elsewhere: &|path| path.starts_with("/srv"),
            may_be_worktree: Some(&|value| value == b"../../../sub"),
        };
        effect(&setting(key, value), &place) == Effect::Harmless
    }

    #[test]
    fn inert_settings() {
        let all = [
            ("user.email", "a@b"),
            ("branch.main.remote", "origin"),
            ("branch.main.remote", "."),
            ("branch.main.pushremote", "ssh://git@h/r"),
            ("branch.main.merge", "refs/heads/main"),
            ("branch.a.b.rebase", "true"),
            ("remote.origin.url", "git@github.com:o/r.git"),
            ("remote.origin.url", "/srv/r.git"),
            ("remote.origin.url", "file:///srv/r.git"),
            ("remote.origin.pushurl", "https://h/r"),
            ("remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*"),
            ("submodule.a/b.url", "../part"),
            ("submodule.a.active", "true"),
            ("submodule.a.update", "rebase"),
            ("core.sparsecheckout", "true"),
            ("index.sparse", "true"),
            ("extensions.worktreeconfig", "true"),
            ("core.worktree", "../../../sub"),
        ];
        for (key, value) in all {
            assert!(judged(key, value, false), "{key}={value}");
        }
    }

    #[test]
    fn what_a_new_repository_alone_may_have() {
        for (key, value) in [
            ("core.filemode", "true"),
            ("core.bare", "false"),
            ("core.logallrefupdates", "true"),
            ("extensions.objectformat", "sha256"),
        ] {
            assert!(judged(key, value, true), "{key}");
            assert!(!judged(key, value, false), "{key}");
        }
        for (key, value) in [
            ("core.bare", "true"),
            ("core.fsmonitor", "x"),
            ("core.hookspath", "x"),
            ("core.editor", "x"),
        ] {
            assert!(!judged(key, value, true), "{key}");
        }
    }

    #[test]
    fn settings_that_have_effects() {
        let all = [
            ("user.signingkey", "x"),
            ("branch.main.mergeoptions", "-s evil"),
            ("branch.main.remote", "ext::sh -c x"),
            ("branch.main.remote", "evil"),
            ("branch.main.remote", "h:x"),
            ("branch.main.pushremote", "/w/evil"),
            ("remote.origin.url", "ext::sh -c x"),
            ("remote.origin.url", "--upload-pack=x"),
            ("remote.origin.url", "evil://h/r"),
            ("remote.origin.url", "ssh://-oProxyCommand=x/r"),
            ("remote.origin.url", "a@-oProxyCommand=x:r"),
            ("remote.origin.url", "/w/evil"),
            ("remote.origin.url", "../evil"),
            ("remote.origin.url", "file:///w/evil"),
            ("remote.origin.url", "file:///%77/evil"),
            ("remote.origin.url", "https://h/r\n[core]"),
            ("remote.origin.uploadpack", "x"),
            ("remote.origin.receivepack", "x"),
            ("remote.origin.vcs", "x"),
            ("remote.origin.proxy", "x"),
            ("remote.ext::x.fetch", "+a:b"),
            ("remote.--upload-pack=x.url", "https://h/r"),
            ("submodule.a.update", "!x"),
            ("submodule.a.url", "ext::x"),
            ("submodule.a.url", "-x"),
            ("core.worktree", "/"),
            ("core.repositoryformatversion", "2"),
            ("url.x.insteadof", "y"),
            ("include.path", "x"),
            ("alias.st", "!x"),
            ("sparse", "x"),
        ];
        for (key, value) in all {
            assert!(!judged(key, value, false), "{key}={value}");
        }
    }
}
