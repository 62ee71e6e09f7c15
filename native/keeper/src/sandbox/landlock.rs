//! Landlock: a second protection of files against writing. It alone keeps processes inside from tracing
//! or signalling processes outside, and forbids further mounts.

use std::io;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access as _, AccessFs, BitFlags, Errno, LandlockStatus, PathBeneath, PathFd, RestrictSelf,
    RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetStatus, Scope, make_bitflags,
};

use crate::sandbox::plan::{Access, OWN, Plan};
use crate::sandbox::report::{LANDLOCK, Protection, SetupError};

/// Directories and devices of the host that any user may write to.
const SHARED: [&str; 3] = ["/tmp", "/var/tmp", "/dev/shm"];
const HOST_DEVICES: [&str; 8] = [
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    "/dev/tty",
    "/dev/ptmx",
    "/dev/pts",
];

/// A ruleset under construction.
pub struct Ruleset {
    created: RulesetCreated,
    /// The version of Landlock that both this kernel and the library know.
    version: ABI,
}

const FILES: BitFlags<AccessFs> = make_bitflags!(AccessFs::{WriteFile | Truncate | IoctlDev});
const DEVICES: BitFlags<AccessFs> = make_bitflags!(AccessFs::{MakeChar | MakeBlock});

impl Ruleset {
    /// Makes a ruleset without rules. Denies as much of writing, and of signals to processes outside, as
    /// this kernel's Landlock can.
    pub fn new() -> io::Result<Ruleset> {
        let version = version()?;
        let created = landlock::Ruleset::default()
            .handle_access(writing())
            .and_then(|ruleset| ruleset.scope(Scope::from_all(ABI::V6)))
            .and_then(|ruleset| ruleset.create())
            .map_err(system_error)?;
        Ok(Ruleset { created, version })
    }

    /// Returns whether signals and connections to abstract sockets stay inside (Linux 6.12).
    pub fn has_scopes(&self) -> bool {
        self.version >= ABI::V6
    }

    /// Returns whether truncating a file needs the right to write to it, and files can be moved from one
    /// directory to another (Linux 6.2).
    pub fn is_complete(&self) -> bool {
        self.version >= ABI::V3
    }

    /// Allows every change below this path, except making devices.
    pub fn allow(&mut self, path: &Path) -> io::Result<()> {
        self.add(path, if path.is_dir() { writing() & !DEVICES } else { FILES })
    }

    /// Allows writing to the files below this path, but not making or removing any.
    pub fn allow_files(&mut self, path: &Path) -> io::Result<()> {
        self.add(path, FILES)
    }

    fn add(&mut self, path: &Path, allowed: BitFlags<AccessFs>) -> io::Result<()> {
        let parent = PathFd::new(path).map_err(system_error)?;
        let rule = PathBeneath::new(parent, allowed);
        (&mut self.created).add_rule(rule).map(|_| ()).map_err(system_error)
    }

    /// Binds the calling thread, and whatever it starts. There is no way back.
    pub fn enter(self) -> io::Result<()> {
        let status = self.created.restrict_self().map_err(system_error)?;
        match status.ruleset {
            RulesetStatus::NotEnforced => Err(io::Error::from_raw_os_error(libc::EOPNOTSUPP)),
            RulesetStatus::FullyEnforced | RulesetStatus::PartiallyEnforced => Ok(()),
        }
    }
}

/// Makes the rules of a resolved plan. Without namespaces, directories that others share are the host's.
pub fn ruleset(plan: &Plan, has_namespaces: bool) -> Result<Ruleset, SetupError> {
    let mut ruleset = Ruleset::new()
        .map_err(SetupError::of(Protection::Write, format!("{LANDLOCK} (Linux 5.13)")))?;
    if !ruleset.is_complete() && !has_namespaces {
        let error = io::Error::from_raw_os_error(libc::EOPNOTSUPP);
        return Err(SetupError::of(Protection::Write, "Landlock of Linux 6.2 or newer")(error));
    }
    let allowing = |path: &Path| format!("allowing '{}'", path.display());
    let all: Vec<PathBuf> = if has_namespaces {
        places(plan).collect()
    } else {
        // Without a warden, commands write to git's directories themselves; others share the host's.
        let shared = SHARED.iter().map(Path::new).filter(|path| path.is_dir());
        let paths = plan.paths(Access::Write).chain(plan.paths(Access::Git)).chain(shared);
        paths.map(Path::to_owned).collect()
    };
    for path in &all {
        ruleset.allow(path).map_err(SetupError::of(Protection::Write, allowing(path)))?;
    }
    let files: &[&str] = if has_namespaces { &["/dev", "/proc"] } else { &HOST_DEVICES };
    for path in files.iter().map(Path::new).filter(|path| path.exists()) {
        ruleset.allow_files(path).map_err(SetupError::of(Protection::Write, allowing(path)))?;
    }
    Ok(ruleset)
}

/// Returns where commands can make files, in a sandbox with namespaces.
pub fn places(plan: &Plan) -> impl Iterator<Item = PathBuf> {
    let own = OWN.iter().map(Path::new).filter(|path| path.is_dir());
    let voids = plan.caches.voids.iter().map(|(_, path)| &**path).filter(|path| path.exists());
    let caches = plan.paths(Access::Cache).chain(voids);
    plan.paths(Access::Write).chain(caches).chain(own).map(Path::to_owned)
}

/// The rights to change files and directories, as of Linux 6.10. A newer library adds none to them.
fn writing() -> BitFlags<AccessFs> {
    AccessFs::from_write(ABI::V5)
}

/// Asks the kernel for its version of Landlock. Restricting nothing is how the library is asked for it.
fn version() -> io::Result<ABI> {
    let asked = RestrictSelf::default().no_new_privs(false).apply().map_err(system_error)?;
    match asked.landlock {
        LandlockStatus::Available { effective_abi, .. } => Ok(effective_abi),
        LandlockStatus::NotEnabled => Err(io::Error::from_raw_os_error(libc::EOPNOTSUPP)),
        LandlockStatus::NotImplemented => Err(io::Error::from_raw_os_error(libc::ENOSYS)),
    }
}

fn system_error<E: std::error::Error>(error: E) -> io::Error {
    io::Error::from_raw_os_error(*Errno::from(error))
}
