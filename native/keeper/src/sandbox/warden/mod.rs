//! The warden: a process beside the sandbox that connects sockets for the processes inside. The sandbox
//! can't only check addresses: a caller could replace one after the check, before the kernel reads it.
//!
//! The warden is in the sandbox's namespaces, except for the PID namespace, and not restricted by its
//! rules. Connecting a socket may take long, so each caller gets a thread of its own.

mod agents;
mod caller;
mod connecting;
mod deputy;
mod exec;
mod gate;
mod guarded;
mod held;
mod lines;
mod opened;
mod owners;
mod person;
mod ports;
mod process;
mod settings;
mod undo;

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::process::exit;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use crate::sandbox::denied;
use crate::sandbox::filter::calls::Asked;
use crate::sandbox::namespaces::WardenInput;
use crate::sandbox::notices::{Listener, Notice};
use crate::sandbox::plan::Plan;
use crate::sandbox::ports::ask::{PortNotice, RelayLine};
use agents::{AgentCall, Broker};
use connecting::ConnectPolicy;
use exec::{ExecQuestions, Executions};
pub use gate::made_by_gate;
use gate::{Gate, Teller};
pub use guarded::GuardedSandbox;
use lines::{DenialSockets, Telling};
use opened::OpenedOutside;
use ports::RelayedPorts;
pub use process::end;
use process::join;
use settings::Settings;
pub use settings::SettlerLine;
use undo::Recorder;

/// The most threads that wait for the next caller; further ones end.
const MOST_IDLE: usize = 4;
/// The most callers at once.
const MOST: usize = 512;

/// The state shared by all threads.
struct Warden {
    listener: Listener,
    reach: ConnectPolicy,
    gate: Gate,
    /// None: no ports are relayed.
    ports: Option<RelayedPorts>,
    /// None: the plan decides on no programs.
    executions: Option<Executions>,
    broker: Broker,
    telling: Arc<Telling>,
    idle: AtomicUsize,
    all: AtomicUsize,
    /// Whether a thread judges what commands have written in place.
    is_settling: AtomicBool,
}

/// The lines to other processes beside the sandbox.
pub struct OtherLines {
    /// To the one that changes settings. None: mounts decide about them.
    pub settler: Option<SettlerLine>,
    /// To the relay of ports.
    pub relay: Option<RelayLine>,
}

/// Starts the warden as a child of this process, with which it ends.
///
/// `given`: what the sandbox has handed over.
pub fn start(guarded: &GuardedSandbox, given: WardenInput, others: OtherLines) -> io::Result<i32> {
    let lifeline = guarded.lifeline.try_clone_to_owned()?;
    // SAFETY: there is one thread, so the child has everything that its parent had.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => {
            let Ok(outside) = OpenedOutside::open(guarded.plan) else { exit(1) };
            // Inside, overlays lie over some of what the host has found.
            let plan = guarded.plan.resolved();
            // When the listener is closed, callers get an error.
            if join(guarded).is_ok() {
                let warden = Warden::new(guarded, &plan, lifeline, given, others, outside);
                Arc::new(warden).watch();
            }
            exit(1)
        }
        pid => Ok(pid),
    }
}

impl Warden {
    fn new(
        guarded: &GuardedSandbox,
        plan: &Plan,
        lifeline: OwnedFd,
        given: WardenInput,
        others: OtherLines,
        outside: OpenedOutside,
    ) -> Warden {
        let OpenedOutside { judging, agents, journals } = outside;
        let store = judging.as_ref().map(|judging| Arc::clone(&judging.store));
        let questions = Arc::new(ExecQuestions::default());
        let [asked, left] = [(); 2].map(|()| Arc::clone(&questions));
        let lines = DenialSockets::new(given.lines, move |number, told| asked.answer(number, told));
        let is_deaf = AtomicBool::new(false);
        let telling = Arc::new(Telling { keeper: guarded.keeper, lifeline, lines, is_deaf });
        let settings = others.settler.zip(store).and_then(|(settler, store)| {
            Settings::new(plan, settler, store, Arc::clone(&telling)).ok()
        });
        let told = Arc::clone(&telling);
        let tell = Box::new(move |cradle, what| told.tell(cradle, what));
        let is_left = Box::new(move || left.is_alone());
        let recorder =
            journals.map(|store| Recorder::new(store, plan, guarded.keeper, tell, is_left));
        Warden {
            listener: Listener::new(given.listener),
            gate: Gate::new(given.git, plan, judging, settings, recorder),
            ports: others.relay.map(|line| RelayedPorts::new(&guarded.plan.ports, line)),
            broker: Broker::new(agents, given.agents, guarded.keeper),
            reach: ConnectPolicy::of(plan),
            executions: Executions::of(&plan.exec, questions),
            telling,
            idle: AtomicUsize::new(0),
            all: AtomicUsize::new(0),
            is_settling: AtomicBool::new(false),
        }
    }

    /// Starts threads that serve callers, as many as are needed, and ends when no caller is left.
    fn watch(self: Arc<Self>) {
        if self.start_another() {
            self.start_hearing_ports();
            self.telling.lines.watch();
            self.listener.wait_for_end();
            self.gate.finish();
            exit(0);
        }
    }

    /// Serves callers until this thread is not needed.
    fn serve(self: Arc<Self>) {
        loop {
            let Ok(notice) = self.listener.receive() else {
                if self.listener.is_over() {
                    return;
                }
                continue;
            };
            if self.idle.fetch_sub(1, Ordering::AcqRel) == 1 {
                self.start_another();
            }
            self.answer(notice);
            self.start_settling();
            if self.idle.fetch_add(1, Ordering::AcqRel) >= MOST_IDLE {
                self.idle.fetch_sub(1, Ordering::AcqRel);
                self.all.fetch_sub(1, Ordering::AcqRel);
                return;
            }
        }
    }

    /// Starts another thread. Returns whether it runs; otherwise callers wait for a free thread.
    fn start_another(self: &Arc<Self>) -> bool {
        let another = Arc::clone(self);
        if self.all.fetch_add(1, Ordering::AcqRel) < MOST {
            self.idle.fetch_add(1, Ordering::AcqRel);
            let stack = thread::Builder::new().stack_size(128 * 1024);
            if stack.spawn(move || another.serve()).is_ok() {
                return true;
            }
            self.idle.fetch_sub(1, Ordering::AcqRel);
        }
        self.all.fetch_sub(1, Ordering::AcqRel);
        false
    }

    /// Starts a thread that passes on news about ports, if any are relayed.
    fn start_hearing_ports(self: &Arc<Self>) {
        if self.ports.is_none() {
            return;
        }
        let warden = Arc::clone(self);
        let hear = move || {
            let Some(ports) = &warden.ports else { return };
            ports.watch(|PortNotice { cradle, word }| warden.telling.tell(cradle, word));
        };
        // Without it, ports are told to be open that no longer are.
        let _ = thread::Builder::new().stack_size(128 * 1024).spawn(hear);
    }

    /// Starts the thread that judges what commands have written in place, once that has been.
    fn start_settling(self: &Arc<Self>) {
        if self.gate.has_staged() && !self.is_settling.swap(true, Ordering::AcqRel) {
            let another = Arc::clone(self);
            let stack = thread::Builder::new().stack_size(128 * 1024);
            // Without it the next call judges what was closed before.
            let _ = stack.spawn(move || another.gate.settle_all(&*another.telling));
        }
    }

    fn answer(self: &Arc<Self>, notice: Notice) {
        let [first, second, ..] = notice.arguments;
        let asked = Asked::of(notice.architecture, notice.number);
        if let (Asked::Execute(how), Some(executions)) = (asked, &self.executions) {
            let (listener, telling) = (&self.listener, &*self.telling);
            return executions.answer(listener, notice, how, telling, |is_asking| {
                self.count_asking(is_asking);
            });
        }
        let notice = &notice;
        match asked {
            Asked::Connect => {
                let tell_denied = |pid, what| self.telling.tell_of(self.telling.cradle(pid), what);
                let (ports, broker) = (self.ports.as_ref(), &self.broker);
                let called =
                    self.reach.connect(&self.listener, notice, ports, broker, &tell_denied);
                let result = match called {
                    Ok(Some(call)) => self.begin(call),
                    Ok(None) => Ok(()),
                    Err(errno) => Err(errno),
                };
                self.listener.answer(notice, result);
            }
            Asked::Listen => self.listen(notice),
            // Without rules that can be applied, nothing is executed.
            Asked::Execute(_) => self.listener.answer(notice, Err(libc::EACCES)),
            Asked::Name(naming) => {
                self.gate.answer(&self.listener, notice, naming, &*self.telling);
            }
            Asked::Socket if first as i32 == libc::AF_UNIX => {
                self.give_muted(notice, second as i32)
            }
            Asked::Socket => {
                let cradle = self.telling.cradle(notice.pid as i32);
                self.telling.tell_of(cradle, denied::family(first as u32));
                self.listener.answer(notice, Err(libc::EAFNOSUPPORT));
            }
        }
    }

    /// A thread that waits for the host's answer does not count: others are served meanwhile.
    fn count_asking(&self, is_asking: bool) {
        if is_asking {
            self.all.fetch_sub(1, Ordering::AcqRel);
        } else {
            self.all.fetch_add(1, Ordering::AcqRel);
        }
    }

    fn listen(&self, notice: &Notice) {
        let Some(ports) = &self.ports else { return self.listener.go_on(notice) };
        match ports.listen(&self.listener, notice, self.telling.keeper) {
            Ok(news) => {
                news.into_iter()
                    .for_each(|PortNotice { cradle, word }| self.telling.tell(cradle, word));
                self.listener.answer(notice, Ok(()));
            }
            Err(Some(errno)) => self.listener.answer(notice, Err(errno)),
            Err(None) => self.listener.go_on(notice),
        }
    }

    /// Gives the caller a datagram socket that can't send: it could send to any path, by calls with
    /// addresses in memory. Programs that only query network interfaces through the socket can do so.
    fn give_muted(&self, notice: &Notice, kind: i32) {
        match connecting::muted(kind, notice.arguments[2] as i32) {
            Ok(socket) => {
                self.listener.give(notice, socket.as_fd(), kind & libc::SOCK_CLOEXEC != 0)
            }
            Err(errno) => self.listener.answer(notice, Err(errno)),
        }
    }

    /// Starts to serve a caller of the broker.
    fn begin(self: &Arc<Self>, call: AgentCall) -> Result<(), i32> {
        let (warden, number) = (Arc::clone(self), call.number);
        let serve = move || {
            warden.broker.serve(call, &|cradle, what| warden.telling.tell(cradle, what));
        };
        thread::Builder::new().stack_size(256 * 1024).spawn(serve).map(drop).map_err(|_| {
            self.broker.leave(number);
            libc::ECONNREFUSED
        })
    }
}
