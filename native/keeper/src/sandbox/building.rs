//! Makes the protections of a sandbox.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::PathBuf;

use crate::sandbox::filter::{self, Rules};
use crate::sandbox::layers::Layers;
use crate::sandbox::plan::{Access, Plan};
use crate::sandbox::report::{self, Enforced, Mechanism, Protection, SetupError};
use crate::sandbox::tree::{self, Made};
use crate::sandbox::{agents, landlock, namespaces, network, privileges};

/// What protections are made from.
pub struct Ground<'before> {
    pub lifeline: BorrowedFd<'before>,
    /// The bounding set of capabilities outside.
    pub rights: u64,
    /// The layers over the user's caches.
    pub layers: Option<&'before Layers>,
}

/// A complete sandbox.
pub struct Built {
    pub enforced: Enforced,
    /// The kernel's questions about sockets, and about what is made, changed or removed by its name.
    pub listener: Option<OwnedFd>,
    /// Git's directories, with the paths at which they are seen.
    pub git: Vec<(PathBuf, OwnedFd)>,
    /// The same directories without their covers, where settings are judged.
    pub beneath: Vec<(PathBuf, OwnedFd)>,
    /// The sockets at which commands call the user's agents.
    pub agents: Vec<OwnedFd>,
    /// The socket to the warden.
    pub warden: Option<OwnedFd>,
}

/// Makes all protections, in namespaces.
pub fn build(plan: &Plan, ground: &Ground, has_users: bool) -> Result<Built, SetupError> {
    tree::refuse_replaced(plan)?;
    let plan = &plan.resolved();
    let (git, judges_settings) = (tree::git_trees(plan)?, plan.judges_settings());
    let public = agents::inside::public_files(&plan.agents);
    let Made { by: [reading, caching], beneath } = tree::make(plan, ground.layers)?;
    let agents = agents::inside::listen(&plan.agents, public)
        .map_err(SetupError::of(Protection::UnixSockets, "making the sockets of agents"))?;
    if !plan.network {
        network::start_loopback()
            .map_err(SetupError::of(Protection::Network, "starting the loopback"))?;
    }
    let network = network::serve(plan, ground.lifeline)?;
    tree::open_proc(!plan.host_processes)
        .map_err(SetupError::of(Protection::Processes, report::MOUNTING_PROC))?;
    // Otherwise the limit would be the host's.
    if has_users {
        namespaces::allow_no_more()
            .map_err(SetupError::of(Protection::Privileges, "forbidding more user namespaces"))?;
    }
    tree::close_proc().map_err(SetupError::of(Protection::Processes, "closing /proc"))?;
    let (_, listener) = confine(plan, ground.rights, true)?;
    if !has_users && namespaces::can_make_more() {
        let error = io::Error::from_raw_os_error(libc::EOPNOTSUPP);
        let action = "user namespaces can be made in it";
        return Err(SetupError::of(Protection::Privileges, action)(error));
    }
    let mut enforced = Enforced::default();
    enforced.set(Protection::Write, Mechanism::Namespace);
    enforced.set(Protection::Read, reading);
    enforced.set(Protection::Tmp, Mechanism::Namespace.when(!plan.shared_tmp));
    enforced.set(Protection::Network, network.when(!plan.network));
    enforced.set(Protection::UnixSockets, Mechanism::Seccomp);
    enforced.set(Protection::Processes, Mechanism::Namespace.when(!plan.host_processes));
    enforced.set(Protection::SocketFamilies, Mechanism::Seccomp);
    enforced.set(Protection::Privileges, Mechanism::Namespace);
    enforced.set(Protection::Settings, Mechanism::of_settings(plan, judges_settings));
    if plan.undo.is_some() {
        enforced.set(Protection::Undo, Mechanism::Journal);
    }
    enforced.set(Protection::Caches, caching);
    Ok(Built { enforced, listener, git, beneath, agents, warden: None })
}

/// Makes the protections that need no namespaces.
pub fn confine_alone(plan: &Plan, rights: u64) -> Result<Built, SetupError> {
    tree::refuse_replaced(plan)?;
    let plan = &plan.resolved();
    let (has_scopes, listener) = confine(plan, rights, false)?;
    let mut enforced = Enforced::default();
    enforced.set(Protection::Write, Mechanism::Landlock);
    enforced.set(Protection::Read, Mechanism::None);
    enforced.set(Protection::Tmp, Mechanism::None);
    enforced.set(Protection::Network, Mechanism::Seccomp.when(!plan.network));
    enforced.set(Protection::UnixSockets, Mechanism::None);
    let is_scoped = has_scopes && !plan.host_processes;
    enforced.set(Protection::Processes, Mechanism::Landlock.when(is_scoped));
    enforced.set(Protection::SocketFamilies, Mechanism::Seccomp);
    enforced.set(Protection::Privileges, Mechanism::None);
    enforced.set(Protection::Caches, Mechanism::None);
    let (git, beneath, agents) = (Vec::new(), Vec::new(), Vec::new());
    Ok(Built { enforced, listener, git, beneath, agents, warden: None })
}

/// Applies Landlock and the filter, and gives up privileges. Returns whether Landlock isolates signals
/// and abstract sockets, and the filter's questions.
fn confine(
    plan: &Plan,
    rights: u64,
    has_namespaces: bool,
) -> Result<(bool, Option<OwnedFd>), SetupError> {
    let ruleset = landlock::ruleset(plan, has_namespaces)?;
    let has_scopes = ruleset.has_scopes();
    privileges::leave_keyring();
    privileges::drop_to_kept(rights)
        .map_err(SetupError::of(Protection::Privileges, "giving up privileges"))?;
    ruleset.enter().map_err(SetupError::of(Protection::Write, "entering Landlock's rules"))?;
    // In a network of its own, all processes may use the loopback.
    let recorded = has_namespaces && plan.undo.is_some();
    let gated = has_namespaces && (plan.paths(Access::Git).next().is_some() || recorded);
    let network = plan.network || has_namespaces;
    let listened = has_namespaces && plan.ports.publishes();
    let executed = has_namespaces && plan.exec.told.is_some();
    let rules = Rules { network, judged: has_namespaces, listened, executed, gated, recorded };
    let listener = filter::enter(rules)
        .map_err(SetupError::of(Protection::SocketFamilies, "filtering system calls"))?;
    Ok((has_scopes, listener))
}
