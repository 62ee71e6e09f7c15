//! A sandbox: a keeper, its cradles and all that they launch, in namespaces, under Landlock and a filter
//! of system calls. It is made once; commands start in it as they do anywhere else.
//!
//! Up to six processes: one outside, which only waits; the keeper, which is the first of the PID
//! namespace, so that no process outlives it; the warden beside the sandbox, which connects sockets and
//! writes to git's directories; and one each to refresh overlays, to cover names, and to relay ports.

pub mod agents;
mod beside;
mod building;
pub mod denied;
mod exec;
mod filter;
pub mod kept;
mod landlock;
mod layers;
mod mounts;
mod namespaces;
mod network;
mod notices;
mod pending;
mod place;
mod plan;
mod ports;
mod privileges;
mod probe;
mod report;
mod tree;
mod warden;
mod watchers;

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, FromRawFd, OwnedFd};
use std::process::ExitCode;

use forkline_protocol::{News, pair, send};

use crate::cradle::roster;
use crate::{host, keeper, outside, signals};
use beside::Beside;
use building::{Built, Ground, build, confine_alone};
use denied::Denied;
use exec::reentry::{self, Carried, Resumed};
use kept::SandboxHandle;
use layers::Layers;
use namespaces::{Inside, Outside, Side};
use pending::HeldLayers;
use plan::{Plan, Require};
use report::{Mechanism, Protection, SetupError};
use warden::GuardedSandbox;

/// What is found out before anything changes.
struct Before {
    /// The plan's file, for another image of this process.
    order: File,
    /// The roster's file, likewise.
    roster: Option<OwnedFd>,
    lifeline: OwnedFd,
    host: Option<OwnedFd>,
    rights: u64,
    /// The layers over the user's caches.
    layers: Option<Layers>,
    /// The layers for changes that are held, as long as this process lives.
    held: Option<HeldLayers>,
}

impl Before {
    fn ground(&self) -> Ground<'_> {
        let Before { lifeline, rights, layers, .. } = self;
        Ground { lifeline: lifeline.as_fd(), rights: *rights, layers: layers.as_ref() }
    }
}

/// Makes the sandbox that `order` describes, and does the keeper's work in it.
pub fn keep(order: File) -> ExitCode {
    // Before the first fork: signals are blocked in all processes of the sandbox.
    signals::prepare();
    host::continue_at_parent_death();
    // SAFETY: the engine puts it there, and nothing else here uses it.
    let lifeline = unsafe { OwnedFd::from_raw_fd(0) };
    let Some(plan) = Plan::read(&order) else { return ExitCode::FAILURE };
    let mut before = Before {
        order,
        roster: None,
        host: host::parent_pidfd(),
        rights: namespaces::rights_outside(),
        layers: layers::prepare(&plan),
        held: None,
        lifeline,
    };
    outside::open_proc();
    match pending::prepare(&plan) {
        Ok(held) => before.held = held,
        Err(refusal) => return refuse(&before, &refusal),
    }
    if plan.require == Require::Landlock {
        return landlocked(&plan, before);
    }
    match roster::open() {
        Ok(roster) => before.roster = Some(roster),
        Err(error) => {
            let failed = SetupError::of(Protection::UnixSockets, "sharing memory with its keeper");
            return refuse(&before, &failed(error));
        }
    }
    if let Err(refusal) = exec::check(&plan.exec) {
        return refuse(&before, &refusal);
    }
    match namespaces::split(&plan) {
        Ok(Side::Outside(outside)) => beside(&plan, before, &outside),
        Ok(Side::Inside(inside)) => in_namespaces(&plan, before, inside),
        Err(_) if plan.may_be_landlocked() => landlocked(&plan, before),
        Err(error) => {
            let action = match error.kind() {
                io::ErrorKind::NotFound => "mapping users in a user namespace, by '/proc'",
                _ => "making a user namespace and those below it",
            };
            refuse(&before, &SetupError::of(Protection::Write, action)(error))
        }
    }
}

/// Waits for the process inside, and starts the processes beside the sandbox.
fn beside(plan: &Plan, before: Before, outside: &Outside) -> ExitCode {
    let guarded = GuardedSandbox {
        plan,
        keeper: outside.pid,
        has_user_namespace: outside.has_user_namespace,
        rights: before.rights,
        lifeline: before.lifeline.as_fd(),
    };
    let mut all = Beside::start(&guarded);
    let mut unrelayed = None;
    let is_made = outside.wait_until_made(|given| {
        all.guard(&guarded, given).unwrap_or_else(|error| {
            unrelayed = Some(error);
            outside.end();
            false
        })
    });
    if let Some(error) = unrelayed {
        all.end(plan);
        let refused = SetupError::of(Protection::Network, "relaying its ports");
        return refuse(&before, &refused(error));
    }
    if !is_made && plan.may_be_landlocked() {
        all.end(plan);
        return landlocked(plan, before);
    }
    // The lifeline is the other process's now; its end must show to the host.
    drop((before.lifeline, before.host, before.order, before.roster));
    let status = outside.wait();
    all.end(plan);
    if let Some(layers) = &before.layers {
        layers::sweep(layers, plan);
    }
    before.held.into_iter().for_each(HeldLayers::end);
    ExitCode::from(status as u8)
}

fn in_namespaces(plan: &Plan, before: Before, mut inside: Inside) -> ExitCode {
    if !inside.is_mapped() {
        return ExitCode::FAILURE;
    }
    if plan.exec.told.is_some() && inside.has_user_namespace {
        return reenter(before, inside);
    }
    make(plan, before, inside)
}

/// Goes on as another image of this process.
fn reenter(before: Before, inside: Inside) -> ExitCode {
    let Before { order, roster, lifeline, host, rights, layers, .. } = before;
    let Some(roster) = roster else { return ExitCode::FAILURE };
    let told = lifeline.try_clone();
    let error = reentry::enter(Carried { order, lifeline, host, roster, rights, layers, inside });
    let refusal = SetupError::of(Protection::Exec, "executing the keeper in the sandbox")(error);
    if let Ok(lifeline) = told {
        send_news(&lifeline, &News::Refused(refusal.errno(), refusal.text()));
    }
    ExitCode::FAILURE
}

/// Goes on in the new image.
pub fn resume(state: &str) -> ExitCode {
    let Some(Resumed { plan, carried }) = reentry::resume(state) else {
        return ExitCode::FAILURE;
    };
    let Carried { order, lifeline, host, roster, rights, layers, inside } = carried;
    let roster = Some(roster);
    let before = Before { order, roster, lifeline, host, rights, layers, held: None };
    make(&plan, before, inside)
}

/// Makes the sandbox, and does the keeper's work in it.
fn make(plan: &Plan, before: Before, inside: Inside) -> ExitCode {
    let built = build(plan, &before.ground(), inside.has_user_namespace);
    match built.and_then(|built| hand_out(plan, &inside, built)).and_then(probed) {
        Ok(built) => {
            inside.tell_made();
            go_on(plan, before, built)
        }
        // The process outside makes a sandbox without namespaces instead.
        Err(_) if plan.may_be_landlocked() => ExitCode::FAILURE,
        Err(refusal) => refuse(&before, &refusal),
    }
}

fn landlocked(plan: &Plan, before: Before) -> ExitCode {
    match confine_alone(plan, before.rights).and_then(probed) {
        Ok(built) => go_on(plan, before, built),
        Err(refusal) => refuse(&before, &refusal),
    }
}

/// Hands the filter's questions to the warden, and checks that they are answered.
fn hand_out(plan: &Plan, inside: &Inside, mut built: Built) -> Result<Built, SetupError> {
    let refuse = || SetupError::of(Protection::UnixSockets, "connecting sockets from outside");
    let held = "opening processes (pidfd_open), to connect their sockets from outside";
    probe::holding().map_err(SetupError::of(Protection::UnixSockets, held))?;
    let (warden, lines) = pair().map_err(refuse())?;
    if let Some(listener) = built.listener {
        inside.hand_beneath(&built.beneath).map_err(refuse())?;
        let settles = inside.hand_out(&listener, &lines, &built.agents, &built.git);
        if !settles.map_err(refuse())? && !plan.repositories.is_empty() {
            built.enforced.set(Protection::Settings, Mechanism::Mount);
        }
    }
    probe::connecting().map_err(refuse())?;
    let (git, beneath, agents) = (Vec::new(), Vec::new(), Vec::new());
    Ok(Built { listener: None, git, beneath, agents, warden: Some(warden), ..built })
}

/// Checks the sandbox before any command is in it.
fn probed(built: Built) -> Result<Built, SetupError> {
    privileges::close_to_others()
        .map_err(SetupError::of(Protection::Processes, "closing the keeper to other processes"))?;
    probe::launching().map(|()| built)
}

/// Tells the host what is enforced, and does the keeper's work.
fn go_on(plan: &Plan, before: Before, built: Built) -> ExitCode {
    let enforced = built.enforced.text();
    // The process outside holds the layers.
    drop((before.layers, before.order, before.roster));
    send_news(&before.lifeline, &News::Enforced(enforced.clone()));
    let (denied, has_keys) = (built.listener.map(Denied::new), plan.agents.count() > 0);
    let handle = SandboxHandle::new(enforced, denied, built.warden, has_keys);
    keeper::keep_for(before.lifeline, before.host, Some(handle))
}

fn refuse(before: &Before, refusal: &SetupError) -> ExitCode {
    send_news(&before.lifeline, &News::Refused(refusal.errno(), refusal.text()));
    ExitCode::FAILURE
}

fn send_news(lifeline: &OwnedFd, news: &News) {
    let _ = send(lifeline.as_fd(), [&news.encode(), b""], &[]);
}
