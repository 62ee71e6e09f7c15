//! The ports that are published now, and the ports of the host that they have.

use std::collections::BTreeMap;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::sandbox::ports::ask::{Listening, PortNotice};
use crate::sandbox::ports::known::{is_controlling, is_trusted};
use crate::sandbox::ports::listening::reachable;
use crate::sandbox::ports::plan::PortPlan;
use crate::sandbox::ports::record::PortRecord;
use crate::sandbox::ports::relay::Targets;
use crate::sandbox::ports::sockets::listen_on;

/// The most ports that are published at once.
const MOST: usize = 64;
/// The most commands that are told about one port, and the most addresses inside that it leads to.
const MOST_TOLD: usize = 16;
/// The most notices of ports that are not published, for each command.
const MOST_REFUSED: usize = 16;
/// The ports of the host that are tried, from the one that is wanted on.
const TRIED: u16 = 32;
/// The lowest port that any user may listen on.
const UNPRIVILEGED: u16 = 1024;

/// A published port.
struct Publication {
    host: u16,
    targets: Targets,
    told: Vec<PortNotice>,
}

/// A notice that a port is not published, by the port inside and what the notice is about.
struct RefusedPort {
    inside: u16,
    start: String,
    tell: PortNotice,
}

/// All ports that are known.
#[derive(Default)]
struct KnownPorts {
    /// The published ones, by the port inside.
    published: BTreeMap<u16, Publication>,
    refused: Vec<RefusedPort>,
}

/// The published ports.
pub struct Published {
    all: Mutex<KnownPorts>,
    /// Makes each word another one: news of a port that is closed may be overtaken by that of the next one.
    serial: AtomicU64,
    /// None: no other process is told.
    record: Option<PortRecord>,
}

/// A port that has been opened on the host.
pub struct Opened {
    pub inside: u16,
    pub sockets: Vec<TcpListener>,
    pub targets: Targets,
}

/// What a process that listens means for the outside.
pub enum Publishing {
    /// The port is not to be published.
    Private,
    Open(PortNotice),
    /// It can't be published.
    Refused(PortNotice),
}

/// Why a port is not published.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WhyUnpublished {
    Dangerous,
    /// There are too many.
    Full,
    /// The host has no port, or no descriptors.
    Failed,
}

impl Published {
    pub fn new(record: Option<PortRecord>) -> Published {
        Published { all: Mutex::default(), serial: AtomicU64::new(0), record }
    }

    /// Publishes the port of a process that listens, if the plan says so. `relay`: takes a new port, before it
    /// can be given up.
    pub fn publish(
        &self,
        plan: &PortPlan,
        listening: &Listening,
        relay: impl FnOnce(Opened),
    ) -> Publishing {
        let inside = listening.address.port();
        let Some(wanted) = wanted(plan, inside) else { return Publishing::Private };
        let target = reachable(listening.address);
        let mut all = self.lock();
        if let Some(known) = all.published.get_mut(&inside) {
            add_target(&known.targets, target);
            let start = start_of_word(listening, Ok(known.host));
            let is_same = |told: &&PortNotice| {
                told.cradle == listening.cradle && told.word.starts_with(&start)
            };
            if let Some(told) = known.told.iter().find(is_same) {
                return Publishing::Open(told.clone());
            }
            if known.told.len() >= MOST_TOLD {
                return Publishing::Private;
            }
            let tell = self.tell(listening, start);
            known.told.push(tell.clone());
            return Publishing::Open(tell);
        }
        if is_controlling(inside) && !plan.dangerous {
            return self.refuse(&mut all, listening, WhyUnpublished::Dangerous);
        }
        if all.published.len() >= MOST {
            return self.refuse(&mut all, listening, WhyUnpublished::Full);
        }
        let Ok((host, sockets)) = open(&wanted) else {
            return self.refuse(&mut all, listening, WhyUnpublished::Failed);
        };
        let targets: Targets = Arc::new(Mutex::new(vec![target]));
        let tell = self.tell(listening, start_of_word(listening, Ok(host)));
        let told = vec![tell.clone()];
        all.published.insert(inside, Publication { host, targets: targets.clone(), told });
        self.write(&all.published);
        relay(Opened { inside, sockets, targets });
        Publishing::Open(tell)
    }

    /// Tells why a port is not published, once for each process. A command that has many such ports hears of the
    /// first ones.
    fn refuse(
        &self,
        all: &mut KnownPorts,
        listening: &Listening,
        why: WhyUnpublished,
    ) -> Publishing {
        let start = start_of_word(listening, Err(why));
        let mut of_command =
            all.refused.iter().filter(|known| known.tell.cradle == listening.cradle);
        if let Some(known) = of_command.clone().find(|known| known.start == start) {
            return Publishing::Refused(known.tell.clone());
        }
        if of_command.nth(MOST_REFUSED - 1).is_some() {
            return Publishing::Private;
        }
        let tell = self.tell(listening, start.clone());
        let inside = listening.address.port();
        all.refused.push(RefusedPort { inside, start, tell: tell.clone() });
        Publishing::Refused(tell)
    }

    /// Gives up the ports on which nothing listens any more. `addresses`: reads those on which something
    /// does. `close`: closes these ports outside, before one of them is opened anew. Returns what is to be told.
    pub fn give_up(
        &self,
        addresses: impl FnOnce() -> io::Result<Vec<SocketAddr>>,
        close: impl FnOnce(&[u16]),
    ) -> Vec<PortNotice> {
        // A process that begins to listen meanwhile waits for the lock.
        let mut all = self.lock();
        let Ok(addresses) = addresses() else { return Vec::new() };
        let (mut gone, mut told) = (Vec::new(), Vec::new());
        let is_open = |port: u16| addresses.iter().any(|address| address.port() == port);
        let refused = all.refused.extract_if(.., |known| !is_open(known.inside));
        told.extend(refused.map(|known| known.tell));
        all.published.retain(|inside, publication| {
            let open = addresses.iter().filter(|address| address.port() == *inside);
            let open: Vec<SocketAddr> = open.map(|address| reachable(*address)).collect();
            if open.is_empty() {
                gone.push(*inside);
                told.append(&mut publication.told);
                return false;
            }
            let mut targets = publication.targets.lock().unwrap_or_else(PoisonError::into_inner);
            *targets = open;
            true
        });
        if !gone.is_empty() {
            close(&gone);
            self.write(&all.published);
        }
        let closed =
            |PortNotice { cradle, word }| PortNotice { cradle, word: format!("closed-{word}") };
        told.into_iter().map(closed).collect()
    }

    /// Returns whether commands have been told of this port.
    pub fn contains(&self, inside: u16) -> bool {
        let all = self.lock();
        let is_it = |known: &RefusedPort| known.inside == inside;
        all.published.contains_key(&inside) || all.refused.iter().any(is_it)
    }

    /// Returns whether commands have been told of no port.
    pub fn is_empty(&self) -> bool {
        let all = self.lock();
        all.published.is_empty() && all.refused.is_empty()
    }

    fn tell(&self, listening: &Listening, start: String) -> PortNotice {
        let serial = self.serial.fetch_add(1, Ordering::Relaxed);
        PortNotice { cradle: listening.cradle, word: format!("{start}{serial}") }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, KnownPorts> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self, all: &BTreeMap<u16, Publication>) {
        let words = all.values().filter_map(|publication| publication.told.first());
        if let Some(record) = &self.record {
            record.write(words.map(|tell| tell.word.as_str()));
        }
    }
}

/// Returns the ports of the host to try for a port inside, in this order; 0: any. None: it is not published.
fn wanted(plan: &PortPlan, inside: u16) -> Option<Vec<u16>> {
    let wish = plan.publish.iter().find(|wish| wish.inside == inside).map(|wish| wish.host);
    // Programs outside send passwords to the ports of well-known services, whoever listens there.
    let by_itself = (inside >= UNPRIVILEGED && !is_trusted(inside)).then_some(inside);
    let first = match wish {
        Some(host) => host,
        None if plan.publishes_all => by_itself.unwrap_or(0),
        None => return None,
    };
    if first == 0 {
        return Some(vec![0]);
    }
    let next = (1..TRIED)
        .filter_map(|more| first.checked_add(more))
        .filter(|next| *next >= UNPRIVILEGED && !is_trusted(*next) && !is_controlling(*next));
    Some(std::iter::once(first).chain(next).chain([0]).collect())
}

/// Listens on the first port that is free.
fn open(wanted: &[u16]) -> io::Result<(u16, Vec<TcpListener>)> {
    // Any port that is free for one address may be taken for the other.
    let tried = wanted.iter().copied().chain([0; 4]);
    let mut opened = tried.filter_map(|port| {
        let sockets = listen_on(port).ok()?;
        let port = sockets.first()?.local_addr().ok()?.port();
        Some((port, sockets))
    });
    opened.next().ok_or_else(|| io::ErrorKind::AddrInUse.into())
}

fn add_target(targets: &Targets, target: SocketAddr) {
    let mut targets = targets.lock().unwrap_or_else(PoisonError::into_inner);
    targets.retain(|known| *known != target);
    targets.insert(0, target);
    targets.truncate(MOST_TOLD);
}

/// Makes a word without its number at the end: the port inside, that of the host or why there is none, the
/// process.
fn start_of_word(
    Listening { address, pid, name, .. }: &Listening,
    host: Result<u16, WhyUnpublished>,
) -> String {
    let host = match host {
        Ok(host) => host.to_string(),
        Err(WhyUnpublished::Dangerous) => "dangerous".into(),
        Err(WhyUnpublished::Full) => "full".into(),
        Err(WhyUnpublished::Failed) => "failed".into(),
    };
    format!("port={},{host},{pid},{name},", address.port())
}

#[cfg(test)]
mod tests;
