//! What a plan says about programs that commands execute.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::time::Duration;

/// The decisions of a plan. The default: nothing is looked at.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExecPlan {
    /// None: the plan has no decisions.
    pub told: Option<ToldPrograms>,
    pub otherwise: ExecDecision,
    /// How long an answer is awaited.
    pub patience: Duration,
    /// Programs that are many: what they do is said by their arguments.
    pub multi: Vec<PathBuf>,
    pub rules: Vec<ExecRule>,
}

/// Which programs the host is told of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToldPrograms {
    All,
    /// Those that were denied or asked about.
    Decided,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum ExecDecision {
    #[default]
    Allow,
    Ask,
    Deny,
}

/// A rule, which holds for programs with these names or at these paths, or all if there are none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExecRule {
    pub decision: ExecDecision,
    pub names: Vec<Vec<u8>>,
    pub paths: Vec<PathBuf>,
    pub arguments: Vec<ArgumentPattern>,
    /// Whether there may be no arguments but these.
    pub is_exact: bool,
    /// What a model is told.
    pub say: String,
}

/// A pattern for one argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ArgumentPattern {
    Text(Vec<u8>),
    /// A regular expression of JavaScript, and its flags.
    Found {
        source: String,
        flags: String,
    },
}

impl ExecPlan {
    /// Returns whether any program may be denied, so that the decision has to be exact.
    pub fn can_refuse(&self) -> bool {
        let refuses = |decision| decision != ExecDecision::Allow;
        refuses(self.otherwise) || self.rules.iter().any(|rule| refuses(rule.decision))
    }

    /// Adds an entry of a plan. None: it is about something else, or is not valid.
    pub fn decode(&mut self, word: &[u8], value: &[u8]) -> Option<()> {
        let path = || Some(PathBuf::from(OsStr::from_bytes(value))).filter(|it| it.is_absolute());
        let text = || std::str::from_utf8(value).ok();
        match word {
            b"exec" if value == b"record" => self.told = Some(ToldPrograms::All),
            b"exec" if value == b"rules" => self.told = Some(ToldPrograms::Decided),
            b"exec-otherwise" => self.otherwise = decision(value)?,
            b"exec-ask-ms" => self.patience = Duration::from_millis(text()?.parse().ok()?),
            b"exec-multi" => self.multi.push(path()?),
            b"exec-rule" => {
                let decision = decision(value)?;
                self.rules.push(ExecRule { decision, ..ExecRule::default() });
            }
            b"exec-name" => self.rules.last_mut()?.names.push(value.to_owned()),
            b"exec-at" => self.rules.last_mut()?.paths.push(path()?),
            b"exec-arg" => self.rules.last_mut()?.arguments.push(pattern(value)?),
            b"exec-args" if value == b"exact" => self.rules.last_mut()?.is_exact = true,
            b"exec-say" => self.rules.last_mut()?.say = text()?.to_owned(),
            _ => return None,
        }
        Some(())
    }
}

fn decision(value: &[u8]) -> Option<ExecDecision> {
    match value {
        b"allow" => Some(ExecDecision::Allow),
        b"deny" => Some(ExecDecision::Deny),
        b"ask" => Some(ExecDecision::Ask),
        _ => None,
    }
}

/// Reads `=TEXT` or `~FLAGS~SOURCE`.
fn pattern(value: &[u8]) -> Option<ArgumentPattern> {
    match value.split_first()? {
        (b'=', text) => Some(ArgumentPattern::Text(text.to_owned())),
        (b'~', rest) => {
            let (flags, source) = std::str::from_utf8(rest).ok()?.split_once('~')?;
            Some(ArgumentPattern::Found { source: source.to_owned(), flags: flags.to_owned() })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_read_in_their_order() {
        let mut plan = ExecPlan::default();
        let entries: [(&str, &str); 10] = [
            ("exec", "record"),
            ("exec-otherwise", "allow"),
            ("exec-ask-ms", "1500"),
            ("exec-multi", "/bin/busybox"),
            ("exec-rule", "deny"),
            ("exec-name", "rm"),
            ("exec-at", "/bin/rm"),
            ("exec-arg", "~i~^-\\w*r"),
            ("exec-args", "exact"),
            ("exec-say", "look first"),
        ];
        for (word, value) in entries {
            assert!(plan.decode(word.as_bytes(), value.as_bytes()).is_some(), "{word}");
        }
        assert!(plan.can_refuse());
        let [rule] = &*plan.rules else { panic!() };
        assert_eq!(
            (rule.decision, rule.is_exact, &*rule.say),
            (ExecDecision::Deny, true, "look first")
        );
        let found = ArgumentPattern::Found { source: "^-\\w*r".into(), flags: "i".into() };
        assert_eq!(rule.arguments, [found]);
        for (word, value) in
            [("exec", "some"), ("exec-at", "bin"), ("exec-arg", "x"), ("hide", "/")]
        {
            assert!(plan.decode(word.as_bytes(), value.as_bytes()).is_none(), "{word} {value}");
        }
    }
}
