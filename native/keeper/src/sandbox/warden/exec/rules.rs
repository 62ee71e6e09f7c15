//! The rules of a plan, and the decision on what a call would execute.

use std::os::unix::ffi::OsStrExt;

use regress::Regex;

use crate::sandbox::exec::plan::{ArgumentPattern, ExecDecision, ExecPlan, ExecRule};
use crate::sandbox::warden::exec::caller::Executor;
use crate::sandbox::warden::exec::program::Program;
use crate::sandbox::warden::exec::program::catalogue::last_name;
use crate::sandbox::warden::exec::program::chain::Chain;
use crate::sandbox::warden::exec::program::face::Face;

/// The rules, ready to be applied.
pub struct ExecRules {
    rules: Vec<ReadyRule>,
    otherwise: ExecDecision,
}

struct ReadyRule {
    /// Its number, by which the facts about a file tell of it.
    number: usize,
    names: Vec<Vec<u8>>,
    /// The last names of its paths.
    called: Vec<Vec<u8>>,
    patterns: Vec<ReadyPattern>,
    is_exact: bool,
    decision: ExecDecision,
    say: String,
}

enum ReadyPattern {
    Text(Vec<u8>),
    Found(Box<Regex>),
}

/// The decision on a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExecVerdict {
    pub decision: ExecDecision,
    /// Whether a rule holds.
    pub is_by_rule: bool,
    /// What the rule says for a model; may be empty.
    pub say: String,
}

impl ExecRules {
    /// Makes the rules. None: a regular expression is not valid.
    pub fn new(plan: &ExecPlan) -> Option<ExecRules> {
        let rules = plan.rules.iter().enumerate().map(ready).collect::<Option<_>>()?;
        Some(ExecRules { rules, otherwise: plan.otherwise })
    }

    /// Decides on all that a call would execute. What runs a script, or loads a program, is held to rules only.
    pub fn judge(&self, chain: &Chain, by: Executor) -> ExecVerdict {
        let otherwise = match by {
            Executor::Command => self.otherwise,
            Executor::Launcher | Executor::Trial => ExecDecision::Allow,
        };
        let without = ExecVerdict { decision: otherwise, is_by_rule: false, say: String::new() };
        if by == Executor::Trial {
            return without;
        }
        let main = self.verdict(&chain.main).unwrap_or(without);
        let others = chain.others.iter().filter_map(|program| self.verdict(program));
        others.fold(
            main,
            |strictest, other| {
                if other.decision > strictest.decision { other } else { strictest }
            },
        )
    }

    /// Returns the decision of the first rule that holds for a program. None: there is none.
    fn verdict(&self, program: &Program) -> Option<ExecVerdict> {
        let faces = Face::all(program);
        let rule = self.rules.iter().find(|rule| rule.holds(program, &faces))?;
        Some(ExecVerdict { decision: rule.decision, is_by_rule: true, say: rule.say.clone() })
    }
}

fn ready((number, rule): (usize, &ExecRule)) -> Option<ReadyRule> {
    let ExecRule { decision, names, paths, arguments, is_exact, say } = rule.clone();
    let called =
        paths.iter().map(|path| last_name(path.as_os_str().as_bytes()).to_owned()).collect();
    let patterns = arguments.into_iter().map(ready_pattern).collect::<Option<_>>()?;
    Some(ReadyRule { number, names, called, patterns, is_exact, decision, say })
}

fn ready_pattern(pattern: ArgumentPattern) -> Option<ReadyPattern> {
    match pattern {
        ArgumentPattern::Text(text) => Some(ReadyPattern::Text(text)),
        ArgumentPattern::Found { source, flags } => {
            let regex = Regex::with_flags(&source, &*flags).ok()?;
            Some(ReadyPattern::Found(Box::new(regex)))
        }
    }
}

impl ReadyRule {
    /// `faces`: of a program that is many; else there are none.
    fn holds(&self, program: &Program, faces: &[Face]) -> bool {
        let takes = |first| self.takes(program.argv.get(first..).unwrap_or_default());
        let allows = self.decision == ExecDecision::Allow;
        // What it may be as well is not allowed by that.
        let faces = if allows { faces.get(..1).unwrap_or_default() } else { faces };
        if self.names.is_empty() && self.called.is_empty() {
            return faces.is_empty() && takes(1) || faces.iter().any(|face| takes(face.first));
        }
        if faces.is_empty() {
            return self.is_about(program) && takes(1) || !allows && self.is_dashed(program);
        }
        if allows && !program.facts.is_untouched(self.number) {
            return false;
        }
        // Of a program that is many, the file says nothing.
        faces.iter().any(|face| self.is_called(face.name) && takes(face.first))
            || self.is_called(program.file.name()) && takes(1)
    }

    /// Returns whether it is one of its programs with its first argument in the name: `git-push` is `git push`.
    fn is_dashed(&self, Program { facts, argv, .. }: &Program) -> bool {
        let Some((own, rest)) = argv.split_first().filter(|_| facts.is_of(self.number)) else {
            return false;
        };
        let called = self.names.iter().chain(&self.called);
        let mut first =
            called.filter_map(|name| last_name(own).strip_prefix(&**name)?.strip_prefix(b"-"));
        first.next().is_some_and(|first| self.takes(&[&[first.to_owned()], rest].concat()))
    }

    /// Returns whether a program is meant. To allow it, it must be the very file; else its name is enough as well.
    fn is_about(&self, Program { file, facts, called, .. }: &Program) -> bool {
        if self.decision == ExecDecision::Allow {
            return facts.is_untouched(self.number);
        }
        let is_named = |name: &[u8]| self.names.iter().any(|wanted| wanted == name);
        is_named(file.name()) || is_named(last_name(called)) || facts.is_of(self.number)
    }

    /// Returns whether the rule is about programs of this name.
    fn is_called(&self, name: &[u8]) -> bool {
        self.names.iter().chain(&self.called).any(|wanted| wanted == name)
    }

    /// Returns whether each pattern is that of an argument, in their order.
    fn takes(&self, arguments: &[Vec<u8>]) -> bool {
        if self.is_exact {
            let all = self.patterns.iter().zip(arguments);
            return self.patterns.len() == arguments.len()
                && all.into_iter().all(|(one, of)| one.is(of));
        }
        let mut rest = arguments.iter();
        self.patterns.iter().all(|pattern| rest.any(|argument| pattern.is(argument)))
    }
}

impl ReadyPattern {
    fn is(&self, argument: &[u8]) -> bool {
        match self {
            ReadyPattern::Text(text) => text == argument,
            ReadyPattern::Found(regex) => regex.find(&String::from_utf8_lossy(argument)).is_some(),
        }
    }
}
