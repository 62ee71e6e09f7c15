//! The plan of a sandbox, as the host has resolved it: pairs of a word and a value, each ended by NUL.
//! Paths are absolute; those that do not exist are ignored.

mod path_rule;
mod pending_plan;
mod undo_plan;

use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::sandbox::agents::Agents;
use crate::sandbox::exec::plan::ExecPlan;
use crate::sandbox::layers::requested::CachePlan;
use crate::sandbox::ports::plan::PortPlan;

pub use path_rule::{Access, Rule};
use path_rule::{absolute, identity_in, resolve, rule};
pub use pending_plan::PendingPlan;
pub use undo_plan::UndoPlan;

/// Directories that are the sandbox's own, unless its plan shares the host's.
pub const OWN: [&str; 4] = ["/tmp", "/var/tmp", "/run", "/dev/shm"];

/// The plan of a sandbox.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Plan {
    pub require: Require,
    /// Whether there is a network beyond a loopback interface of its own.
    pub network: bool,
    /// The port of the loopback interface on which the host's proxy is reached.
    pub proxy: Option<u16>,
    /// The ports between the sandbox and the host.
    pub ports: PortPlan,
    /// Whether commands can see and signal the host's processes.
    pub host_processes: bool,
    /// Whether `/tmp` and similar directories are the host's.
    pub shared_tmp: bool,
    pub rules: Vec<Rule>,
    /// The home directory of the user that commands run for.
    pub home: Option<PathBuf>,
    /// The hidden names, as the policy spells them: links are not resolved, and files may not exist yet.
    pub hidden_names: Vec<PathBuf>,
    /// The directory outside for changes that are held back. None: settings are read-only.
    pub held: Option<PathBuf>,
    /// None: changes are not recorded.
    pub undo: Option<UndoPlan>,
    /// None: changes are made where they are seen.
    pub pending: Option<PendingPlan>,
    /// The program that reads git's configurations.
    pub git_program: Option<PathBuf>,
    /// Whether settings are among what can only be read.
    pub settings_kept: bool,
    /// Whether no change of a setting is judged.
    pub settings_read_only: bool,
    /// Texts that hidden files show, by the path.
    pub texts: Vec<(PathBuf, Vec<u8>)>,
    /// The user's agents that commands may call.
    pub agents: Agents,
    /// The caches of the user's tools.
    pub caches: CachePlan,
    /// The decisions on programs that commands execute.
    pub exec: ExecPlan,
    /// The repositories whose history decides about settings.
    pub repositories: Vec<Repository>,
}

/// A repository that has settings in its working tree.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Repository {
    /// Git's directory.
    pub git: PathBuf,
    /// The top directory of the working tree.
    pub top: PathBuf,
    /// What was in the user's history before any command ran: commits and tags.
    pub tips: Vec<String>,
    /// The settings, whether they exist or not.
    pub settings: Vec<PathBuf>,
    /// What lay at them before, or was accepted since: a path, and its mode and blob as a tree has them.
    pub present: Vec<(PathBuf, String)>,
}

/// The protections that a sandbox must have.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Require {
    /// All of them.
    #[default]
    All,
    /// Those of Landlock and seccomp; no others are tried.
    Landlock,
    /// Those that can be made.
    BestEffort,
}

impl Plan {
    /// Returns whether a sandbox without namespaces will do where none can be had. It relays no ports, decides on
    /// no programs, and neither records nor holds changes.
    pub fn may_be_landlocked(&self) -> bool {
        let is_simple = self.ports.is_empty() && self.exec.told.is_none();
        let is_direct = self.undo.is_none() && self.pending.is_none();
        self.require == Require::BestEffort && is_simple && is_direct
    }

    /// Returns whether commands may write everywhere, except where another rule forbids it.
    pub fn opens_all(&self) -> bool {
        self.paths(Access::Write).any(|path| path == Path::new("/"))
    }

    /// Reads a plan. None: the file has none.
    pub fn read(mut order: &File) -> Option<Plan> {
        let mut bytes = Vec::new();
        order.read_to_end(&mut bytes).ok()?;
        Plan::decode(&bytes)
    }

    /// Returns whether changes of git's settings are judged. To be called while what is held is not hidden.
    pub fn judges_settings(&self) -> bool {
        let has_git = self.paths(Access::Git).next().is_some();
        let can_hold = self.held.as_deref().is_some_and(Path::is_dir) && self.git_program.is_some();
        has_git && can_hold && !self.settings_read_only
    }

    /// Decodes a plan. None: the bytes are no plan.
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
                // For the host alone.
                (b"server" | b"domain" | b"no-domain" | b"pending", _) => {}
                (b"processes", b"host") => plan.host_processes = true,
                (b"tmp", b"shared") => plan.shared_tmp = true,
                (b"is", identity) => plan.rules.last_mut()?.identity = identity_in(identity),
                (b"instead", text) => {
                    let hidden = plan.rules.last().filter(|rule| rule.access == Access::Hide)?;
                    plan.texts.push((hidden.path.clone(), text.to_owned()));
                }
                (b"home", path) => plan.home = Some(absolute(path)?),
                (b"held", path) => plan.held = Some(absolute(path)?),
                (b"undo-at", path) => plan.undo = Some(UndoPlan::new(absolute(path)?)),
                (b"undo-bytes", most) => {
                    plan.undo.as_mut()?.most_bytes =
                        std::str::from_utf8(most).ok()?.parse().ok()?;
                }
                (b"undo-full", b"refuse") => plan.undo.as_mut()?.refuses = true,
                (b"pending-at", path) => plan.pending = Some(PendingPlan::new(absolute(path)?)),
                (b"pending-not", path) => plan.pending.as_mut()?.direct.push(absolute(path)?),
                (b"git-program", path) => plan.git_program = Some(absolute(path)?),
                (b"settings", b"kept") => plan.settings_kept = true,
                (b"settings", b"read-only") => plan.settings_read_only = true,
                (b"layers", path) => plan.caches.directory = Some(absolute(path)?),
                (b"layers-bytes", most) => {
                    plan.caches.most_bytes = std::str::from_utf8(most).ok()?.parse().ok()?;
                }
                (b"layer", name) => plan.add_layer(name)?,
                (b"void", name) => plan.caches.voids.push((name_in(name)?, PathBuf::new())),
                (b"at", path) => plan.caches.voids.last_mut()?.1 = absolute(path)?,
                (b"layers-of", path) => plan.caches.workspace = Some(absolute(path)?),
                (b"absent", path) => plan.hidden_names.push(absolute(path)?),
                (b"reach" | b"publish" | b"ports" | b"ports-at", value) => {
                    plan.ports.add(word, value)?
                }
                (b"repository", path) => {
                    let git = absolute(path)?;
                    plan.repositories.push(Repository { git, ..Repository::default() });
                }
                (b"top", path) => plan.repositories.last_mut()?.top = absolute(path)?,
                (b"tip", id) => {
                    let id = std::str::from_utf8(id).ok()?.to_owned();
                    plan.repositories.last_mut()?.tips.push(id);
                }
                (b"setting", path) => {
                    plan.repositories.last_mut()?.settings.push(absolute(path)?);
                }
                (b"present", path) => {
                    let present = (absolute(path)?, String::new());
                    plan.repositories.last_mut()?.present.push(present);
                }
                (b"blob", text) => {
                    let present = plan.repositories.last_mut()?.present.last_mut()?;
                    present.1 = std::str::from_utf8(text).ok()?.to_owned();
                }
                _ if plan.agents.decode(word, value).is_some() => {}
                _ if plan.exec.decode(word, value).is_some() => {}
                _ => plan.add(rule(word, value)?),
            }
        }
        Some(plan)
    }

    fn add(&mut self, rule: Rule) {
        if rule.access == Access::Hide {
            self.hidden_names.push(rule.path.clone());
        }
        self.rules.push(rule);
    }

    /// Names the layer of the cache that was added last.
    fn add_layer(&mut self, name: &[u8]) -> Option<()> {
        let cache = self.rules.last().filter(|rule| rule.access == Access::Cache)?;
        self.caches.layers.push((cache.path.clone(), name_in(name)?));
        Some(())
    }

    /// Returns the rules for paths whose changes are held.
    pub fn held_rules(&self) -> impl Iterator<Item = &Rule> {
        let direct = self.pending.iter().flat_map(|pending| &pending.direct);
        let direct: Vec<&PathBuf> = direct.collect();
        let is_held =
            move |rule: &&Rule| rule.access == Access::Write && !direct.contains(&&rule.path);
        self.rules.iter().filter(is_held)
    }

    /// Returns the directories that are the sandbox's own.
    pub fn own_directories(&self) -> &'static [&'static str] {
        if self.shared_tmp { &[] } else { &OWN }
    }

    /// Returns the paths with this access.
    pub fn paths(&self, access: Access) -> impl Iterator<Item = &Path> {
        self.rules.iter().filter(move |rule| rule.access == access).map(|rule| &*rule.path)
    }

    /// Returns the plan with real paths, the shorter ones first; without paths that do not exist, or are
    /// no longer what the host has found.
    pub fn resolved(&self) -> Plan {
        let mut rules: Vec<Rule> = self.rules.iter().filter_map(resolve).collect();
        rules.sort_by_key(|rule| (rule.path.components().count(), rule.access));
        rules.dedup();
        let real =
            |(path, text): &(PathBuf, Vec<u8>)| Some((path.canonicalize().ok()?, text.clone()));
        Plan { rules, texts: self.texts.iter().filter_map(real).collect(), ..self.clone() }
    }

    /// Returns a writable path that is no longer what the host has found. None: there is none.
    pub fn replaced(&self) -> Option<&Path> {
        let written = |rule: &&Rule| matches!(rule.access, Access::Write | Access::Git);
        let mut all = self.rules.iter().filter(written);
        all.find(|rule| rule.open().is_err()).map(|rule| &*rule.path)
    }
}

/// Returns a name that is no path.
fn name_in(value: &[u8]) -> Option<PathBuf> {
    let name = Path::new(OsStr::from_bytes(value));
    let is_name = name.components().count() == 1 && name.file_name() == Some(name.as_os_str());
    is_name.then(|| name.to_owned())
}

#[cfg(test)]
mod tests;
