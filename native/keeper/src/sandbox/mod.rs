//! A sandbox: a keeper, and so its cradles and all that they launch, in namespaces, under Landlock and
//! a filter. All of it is made once; a command is started in it as it is anywhere.
//!
//! Two processes: one stays outside and does nothing but wait; the other is the keeper, and the first
//! process of the PID namespace, so that nobody outlives it.

pub mod denied;
mod filter;
mod landlock;
mod mounts;
mod namespaces;
mod network;
mod plan;
mod privileges;
mod report;
mod tree;

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, FromRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use forkline_launch::{Image, Place, Request, Signals, Stack, launch};
use forkline_protocol::{News, send};

use crate::keeper;
use crate::outside;
use denied::Denied;
use landlock::Ruleset;
use namespaces::{Inside, Side};
use plan::{Access, Plan, Require};
use report::{By, Enforced, Line, Refusal};

/// Directories that are the sandbox's own.
const OWN: [&str; 4] = ["/tmp", "/var/tmp", "/run", "/dev/shm"];
/// Those of the host that anybody may write to; and devices.
const SHARED: [&str; 3] = ["/tmp", "/var/tmp", "/dev/shm"];
const DEVICES: [&str; 8] = [
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    "/dev/tty",
    "/dev/ptmx",
    "/dev/pts",
];

/// What is looked at before anything changes.
struct Before {
    lifeline: OwnedFd,
    host: Option<OwnedFd>,
    rights: u64,
    sockets: io::Result<Vec<PathBuf>>,
}

/// A sandbox that stands.
struct Built {
    enforced: Enforced,
    /// Where the kernel tells of sockets that are denied.
    listener: Option<OwnedFd>,
}

/// Makes the sandbox that is told in `order`, and keeps it.
pub fn keep(order: File) -> ExitCode {
    // SAFETY: the engine puts it there, and nothing else here uses it.
    let lifeline = unsafe { OwnedFd::from_raw_fd(0) };
    let Some(plan) = read(order) else { return ExitCode::FAILURE };
    let before = Before {
        host: keeper::host(),
        rights: namespaces::rights_outside(),
        sockets: network::listening_paths(),
        lifeline,
    };
    outside::remember();
    if plan.require == Require::Landlock {
        return landlocked(&plan, before);
    }
    match namespaces::split(&plan) {
        Ok(Side::Outside(mut outside)) => {
            if !outside.is_made() && plan.require == Require::BestEffort {
                return landlocked(&plan, before);
            }
            // Its end is to be seen by the host, and is the other's.
            drop(before);
            ExitCode::from(outside.wait() as u8)
        }
        Ok(Side::Inside(inside)) => in_namespaces(&plan, before, inside),
        Err(_) if plan.require == Require::BestEffort => landlocked(&plan, before),
        Err(error) => {
            let action = match error.kind() {
                io::ErrorKind::NotFound => "settling users in a user namespace, by '/proc'",
                _ => "making a user namespace and those below it",
            };
            refuse(&before, &Refusal::of(Line::Write, action)(error))
        }
    }
}

fn read(mut order: File) -> Option<Plan> {
    let mut bytes = Vec::new();
    order.read_to_end(&mut bytes).ok()?;
    Plan::decode(&bytes)
}

fn in_namespaces(plan: &Plan, before: Before, mut inside: Inside) -> ExitCode {
    if !inside.is_mapped() {
        return ExitCode::FAILURE;
    }
    let built = build(plan, &before, inside.has_user_namespace);
    match built.and_then(|built| probe().map(|()| built)) {
        Ok(built) => {
            inside.tell_made();
            go_on(before, built)
        }
        // The other does what can be done without.
        Err(_) if plan.require == Require::BestEffort => ExitCode::FAILURE,
        Err(refusal) => refuse(&before, &refusal),
    }
}

fn landlocked(plan: &Plan, before: Before) -> ExitCode {
    match confine_alone(plan, before.rights).and_then(|built| probe().map(|()| built)) {
        Ok(built) => go_on(before, built),
        Err(refusal) => refuse(&before, &refusal),
    }
}

/// Says what is enforced, and is the keeper.
fn go_on(before: Before, built: Built) -> ExitCode {
    say(&before.lifeline, &News::Enforced(built.enforced.text()));
    keeper::keep_for(before.lifeline, before.host, built.listener.map(Denied::new))
}

fn refuse(before: &Before, refusal: &Refusal) -> ExitCode {
    say(&before.lifeline, &News::Refused(refusal.errno(), refusal.text()));
    ExitCode::FAILURE
}

fn say(lifeline: &OwnedFd, news: &News) {
    let _ = send(lifeline.as_fd(), [&news.encode(), b""], &[]);
}

/// All lines, in namespaces.
fn build(plan: &Plan, before: &Before, has_users: bool) -> Result<Built, Refusal> {
    let plan = &plan.resolved();
    let sockets = before.sockets.as_ref().map_err(|error| {
        let error = io::Error::from_raw_os_error(error.raw_os_error().unwrap_or(libc::EIO));
        Refusal::of(Line::UnixSockets, "finding who listens, by '/proc/net/unix'")(error)
    })?;
    let sockets: Vec<PathBuf> = sockets.iter().filter(|path| path.exists()).cloned().collect();
    tree::make(plan, &sockets)?;
    if !plan.network {
        network::start_loopback().map_err(Refusal::of(Line::Network, "starting the loopback"))?;
    }
    if let Some(port) = plan.proxy {
        let listening = network::listen(port)
            .map_err(Refusal::of(Line::Network, "listening for what is to reach the network"))?;
        let _ = send(before.lifeline.as_fd(), [&News::Listens.encode(), b""], &[listening.as_fd()]);
    }
    tree::open_proc(!plan.host_processes)
        .map_err(Refusal::of(Line::Processes, "mounting /proc"))?;
    // Else they would be the host's.
    if has_users {
        namespaces::allow_no_more()
            .map_err(Refusal::of(Line::Privileges, "forbidding more user namespaces"))?;
    }
    tree::close_proc().map_err(Refusal::of(Line::Processes, "closing /proc"))?;
    let (_, listener) = confine(plan, before.rights, true)?;
    if !has_users && namespaces::can_make_more() {
        let error = io::Error::from_raw_os_error(libc::EOPNOTSUPP);
        let action = "user namespaces can be made in it";
        return Err(Refusal::of(Line::Privileges, action)(error));
    }
    let mut enforced = Enforced::default();
    let when = |is: bool, by: By| if is { by } else { By::None };
    enforced.set(Line::Write, By::Namespace);
    enforced.set(Line::Read, By::Namespace);
    enforced.set(Line::Tmp, when(!plan.shared_tmp, By::Namespace));
    let network = if plan.proxy.is_some() { By::Proxy } else { By::Namespace };
    enforced.set(Line::Network, when(!plan.network, network));
    enforced.set(Line::UnixSockets, By::Namespace);
    enforced.set(Line::Processes, when(!plan.host_processes, By::Namespace));
    enforced.set(Line::SocketFamilies, By::Seccomp);
    enforced.set(Line::Privileges, By::Namespace);
    Ok(Built { enforced, listener })
}

/// What can be had without namespaces.
fn confine_alone(plan: &Plan, rights: u64) -> Result<Built, Refusal> {
    let plan = &plan.resolved();
    let (has_scopes, listener) = confine(plan, rights, false)?;
    let mut enforced = Enforced::default();
    let when = |is: bool, by: By| if is { by } else { By::None };
    enforced.set(Line::Write, By::Landlock);
    enforced.set(Line::Read, By::None);
    enforced.set(Line::Tmp, By::None);
    enforced.set(Line::Network, when(!plan.network, By::Seccomp));
    enforced.set(Line::UnixSockets, By::None);
    enforced.set(Line::Processes, when(has_scopes && !plan.host_processes, By::Landlock));
    enforced.set(Line::SocketFamilies, By::Seccomp);
    enforced.set(Line::Privileges, By::None);
    Ok(Built { enforced, listener })
}

/// Landlock, the filter, and no new rights; whether signals and abstract sockets are kept in, and where
/// the filter tells of sockets.
fn confine(
    plan: &Plan,
    rights: u64,
    has_namespaces: bool,
) -> Result<(bool, Option<OwnedFd>), Refusal> {
    let ruleset = ruleset(plan, has_namespaces)?;
    let has_scopes = ruleset.has_scopes();
    privileges::leave_keyring();
    privileges::drop_to_kept(rights)
        .map_err(Refusal::of(Line::Privileges, "giving up privileges"))?;
    ruleset.enter().map_err(Refusal::of(Line::Write, "entering Landlock's rules"))?;
    // Where there is a network of its own, its loopback is for everybody in it.
    let listener = filter::enter(plan.network || has_namespaces)
        .map_err(Refusal::of(Line::SocketFamilies, "filtering system calls"))?;
    privileges::close_to_others()
        .map_err(Refusal::of(Line::Processes, "closing the keeper to others"))?;
    Ok((has_scopes, listener))
}

fn ruleset(plan: &Plan, has_namespaces: bool) -> Result<Ruleset, Refusal> {
    let ruleset = Ruleset::new()
        .map_err(Refusal::of(Line::Write, "making rules of Landlock (Linux 5.13)"))?;
    if !ruleset.is_complete() && !has_namespaces {
        let error = io::Error::from_raw_os_error(libc::EOPNOTSUPP);
        return Err(Refusal::of(Line::Write, "Landlock of Linux 6.2 or newer")(error));
    }
    let refuse = |path: &Path| Refusal::of(Line::Write, format!("allowing '{}'", path.display()));
    // What is the host's own else.
    let own: &[&str] = if has_namespaces { &OWN } else { &SHARED };
    let own = own.iter().map(Path::new).filter(|path| path.is_dir());
    for path in plan.paths(Access::Write).chain(own) {
        ruleset.allow(path).map_err(refuse(path))?;
    }
    let files: &[&str] = if has_namespaces { &["/dev", "/proc"] } else { &DEVICES };
    for path in files.iter().map(Path::new).filter(|path| path.exists()) {
        ruleset.allow_files(path).map_err(refuse(path))?;
    }
    Ok(ruleset)
}

/// Runs `true`, as commands will be run.
fn probe() -> Result<(), Refusal> {
    const PROGRAMS: [&std::ffi::CStr; 3] =
        [c"/bin/true", c"/usr/bin/true", c"/run/current-system/sw/bin/true"];
    let refuse = || Refusal::of(Line::Write, "running `true` in it");
    let null = File::options().read(true).write(true).open("/dev/null").map_err(refuse())?;
    let images = PROGRAMS.map(|path| Image { path: path.into(), argv: vec![c"true".into()] });
    let request = Request {
        images: &images,
        environment: b"",
        directory: Some(Place::Path(c"/")),
        stdio: [null.as_fd(), null.as_fd(), null.as_fd()],
        script: None,
        groups: [None, None],
        parent_death: None,
        terminal: false,
        share_directory: false,
        outside: None,
        attributes: None,
        reset: Signals::ALL,
    };
    let mut stack = Stack::new().map_err(refuse())?;
    let pid = match launch(&request, &mut stack) {
        Ok(pid) => pid,
        // A machine without that program has others.
        Err(failure) if failure.error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(failure) => return Err(refuse()(failure.error)),
    };
    let mut status = 0;
    // SAFETY: fills the integer; it is our child.
    unsafe { libc::waitpid(pid, &mut status, libc::__WALL) };
    if libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0 {
        return Ok(());
    }
    Err(refuse()(io::Error::from_raw_os_error(libc::EACCES)))
}
