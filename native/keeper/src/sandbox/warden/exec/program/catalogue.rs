//! What is known of the file of a program: which of the programs it is that rules name, and how it is executed.

use std::collections::HashMap;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::sandbox::exec::plan::ExecPlan;
use crate::sandbox::warden::exec::program::file::{FileStamp, ProgramFile};
use crate::sandbox::warden::exec::program::script::{self, ScriptLine};

/// How long facts about a file hold that commands can't change.
const FRESH: Duration = Duration::from_secs(1);
const MOST_RECENT: usize = 256;

/// The directories of the system's loaders.
const DIRECTORIES: [&str; 4] = ["/lib64", "/lib", "/lib32", "/libx32"];

/// How the names begin of programs that are many, and that take the first argument for the program then.
const MANY: [&[u8]; 3] = [b"busybox", b"toybox", b"coreutils"];

/// The facts about a file.
#[derive(Debug, Default)]
pub struct ProgramFacts {
    /// The first line of a script. None: it is none.
    pub script: Option<ScriptLine>,
    /// Whether it loads and runs other programs in its own process.
    pub is_loader: bool,
    /// Whether it is many programs (busybox, coreutils).
    pub is_many: bool,
    /// For each rule: whether the file is one of its programs, or has the bytes of one.
    is: Vec<bool>,
    /// For each rule: whether the file is one of its programs, unchanged since the sandbox was made.
    is_untouched: Vec<bool>,
}

/// A program by its path: as it was when the sandbox was made, and as it is.
struct KnownProgram {
    path: PathBuf,
    /// None: there was none.
    before: Option<ProgramFile>,
}

pub struct Catalogue {
    loaders: Vec<KnownProgram>,
    many: Vec<KnownProgram>,
    /// The programs of each rule.
    by_rule: Vec<Vec<KnownProgram>>,
    recent: Mutex<HashMap<FileStamp, (Instant, Arc<ProgramFacts>)>>,
}

impl ProgramFacts {
    pub fn is_of(&self, rule: usize) -> bool {
        self.is.get(rule).copied().unwrap_or(false)
    }

    pub fn is_untouched(&self, rule: usize) -> bool {
        self.is_untouched.get(rule).copied().unwrap_or(false)
    }
}

impl Catalogue {
    pub fn new(plan: &ExecPlan) -> Catalogue {
        let known = |paths: &[PathBuf]| paths.iter().map(|path| KnownProgram::at(path)).collect();
        Catalogue {
            loaders: known(&loaders()),
            many: known(&plan.multi),
            by_rule: plan.rules.iter().map(|rule| known(&rule.paths)).collect(),
            recent: Mutex::default(),
        }
    }

    /// Returns the facts about a file.
    pub fn facts(&self, file: &ProgramFile) -> Arc<ProgramFacts> {
        if !file.is_kept() {
            return Arc::new(self.look(file));
        }
        let recent = || self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((at, facts)) = recent().get(&file.stamp)
            && at.elapsed() < FRESH
        {
            return Arc::clone(facts);
        }
        let facts = Arc::new(self.look(file));
        let mut recent = recent();
        if recent.len() >= MOST_RECENT {
            recent.clear();
        }
        recent.insert(file.stamp, (Instant::now(), Arc::clone(&facts)));
        facts
    }

    fn look(&self, file: &ProgramFile) -> ProgramFacts {
        let any = |all: &Vec<KnownProgram>| all.iter().any(|known| known.is(file));
        let untouched = |all: &Vec<KnownProgram>| all.iter().any(|known| known.is_untouched(file));
        let is: Vec<bool> = self.by_rule.iter().map(any).collect();
        // By its name alone only where it is no program that a rule means.
        let is_named_many = is_called_many(file.name()) && !is.contains(&true);
        ProgramFacts {
            script: script::first_line(&file.beginning(script::BEGINNING)),
            is_loader: is_loader(&file.path) || any(&self.loaders),
            is_many: is_named_many || any(&self.many),
            is,
            is_untouched: self.by_rule.iter().map(untouched).collect(),
        }
    }
}

impl KnownProgram {
    fn at(path: &Path) -> KnownProgram {
        KnownProgram { path: path.to_owned(), before: ProgramFile::at(path) }
    }

    /// Returns whether a file is this program, or has the same bytes.
    fn is(&self, file: &ProgramFile) -> bool {
        let equals = |known: &ProgramFile| {
            known.stamp.is_same_file(&file.stamp)
                || known.stamp.size == file.stamp.size && known.has_bytes_of(file)
        };
        if self.before.as_ref().is_some_and(equals) {
            return true;
        }
        let now = fs::metadata(&self.path).map(|status| FileStamp::of_metadata(&status));
        let is_other = now.is_ok_and(|now| self.before.as_ref().is_none_or(|it| it.stamp != now));
        is_other && ProgramFile::at(&self.path).is_some_and(|known| equals(&known))
    }

    fn is_untouched(&self, file: &ProgramFile) -> bool {
        self.before.as_ref().is_some_and(|known| known.stamp == file.stamp)
    }
}

/// Returns the last name of a path.
pub fn last_name(path: &[u8]) -> &[u8] {
    Path::new(std::ffi::OsStr::from_bytes(path)).file_name().unwrap_or_default().as_bytes()
}

/// Returns whether what is called so takes its first argument for the program.
pub fn is_called_many(name: &[u8]) -> bool {
    MANY.iter().any(|many| name.starts_with(many))
}

/// Returns the paths of the system's loaders.
fn loaders() -> Vec<PathBuf> {
    let entries = DIRECTORIES.iter().flat_map(|path| fs::read_dir(path).into_iter().flatten());
    entries.flatten().map(|entry| entry.path()).filter(|path| is_loader(path)).collect()
}

/// Returns whether a file is called as loaders are.
fn is_loader(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().as_bytes();
    [&b"ld-linux"[..], b"ld-musl", b"ld.so"].iter().any(|begin| name.starts_with(begin))
}
