//! Two configurations compared key by key.

use std::collections::BTreeSet;

use crate::sandbox::warden::gate::settings::inert::Effect;
use crate::sandbox::warden::gate::settings::reading::Setting;

/// Returns the keys by which two configurations differ and which are not inert.
pub fn changed_keys(
    before: &[Setting],
    after: &[Setting],
    effect: impl Fn(&Setting) -> Effect,
) -> Vec<String> {
    let all: BTreeSet<&[u8]> = before.iter().chain(after).map(|setting| &*setting.key).collect();
    let changed: BTreeSet<&[u8]> =
        all.into_iter().filter(|key| !of(before, key).eq(of(after, key))).collect();
    // A value that is in both is the user's, even where a command could not set it.
    let is_harmless = |key: &&&[u8]| {
        of(after, key).all(|setting| match effect(setting) {
            Effect::Harmless => true,
            Effect::Value => before.contains(setting),
            Effect::Any => false,
        }) && of(before, key).all(|setting| effect(setting) != Effect::Any)
    };
    let told = changed.iter().filter(|key| !is_harmless(key)).map(|key| text(key));
    let mut told: Vec<String> = told.collect();
    // Of two values the later one is obeyed, and one of them may be in a file that is included.
    let ordered = |all: &[Setting]| -> Vec<Setting> {
        let stays = |setting: &&Setting| {
            effect(setting) != Effect::Harmless && !changed.contains(&*setting.key)
        };
        all.iter().filter(stays).cloned().collect()
    };
    let (before, after) = (ordered(before), ordered(after));
    let moved = before.iter().zip(&after).find(|(before, after)| before != after);
    told.extend(moved.map(|(_, after)| text(&after.key)));
    told
}

fn of<'a>(all: &'a [Setting], key: &'a [u8]) -> impl Iterator<Item = &'a Setting> {
    all.iter().filter(move |setting| setting.key == key)
}

fn text(key: &[u8]) -> String {
    String::from_utf8_lossy(key).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(text: &str) -> Vec<Setting> {
        let parse = |line: &str| {
            let (key, value) = line.split_once('=').unwrap();
            Setting { key: key.into(), value: Some(value.into()) }
        };
        text.split(' ').filter(|line| !line.is_empty()).map(parse).collect()
    }

    fn told(before: &str, after: &str) -> Vec<String> {
        changed_keys(&settings(before), &settings(after), |setting| match &setting.key[..] {
            b"a.a" => Effect::Harmless,
            b"a.b" if setting.value.as_deref() == Some(b"1") => Effect::Harmless,
            b"a.b" => Effect::Value,
            _ => Effect::Any,
        })
    }

    #[test]
    fn only_what_has_changed_is_judged() {
        for (before, after) in [
            ("", "a.a=1"),
            ("x.y=1 a.a=1", "x.y=1 a.a=2 a.a=3"),
            ("a.b=2", ""),
            ("a.b=2", "a.b=2 a.b=1"),
            ("a.a=1 x.y=1 x.z=2", "x.y=1 x.z=2 a.a=1"),
        ] {
            assert_eq!(told(before, after), Vec::<String>::new(), "{before} {after}");
        }
        for (before, after, key) in [
            ("", "x.y=1", "x.y"),
            ("x.y=1", "", "x.y"),
            ("x.y=1 x.y=2", "x.y=2 x.y=1", "x.y"),
            ("", "a.b=2", "a.b"),
            ("x.y=1 x.z=2", "x.z=2 x.y=1", "x.z"),
        ] {
            assert_eq!(told(before, after), [key], "{before} {after}");
        }
    }
}
