//! One command of the client: what happens to it goes over the line, what is asked of it comes.

mod after;
mod asked;
mod chunks;
mod names;
mod open;
mod options;
mod paths;
mod spilled;
mod told;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use forkline_engine::{
    Chunk, Data, Ended, Engine, Errno, Handle, Label, Opening, Outcome, Owner, Sink, errno_text,
};
use parking_lot::Mutex;

use crate::call_error::CallError;
use crate::command::after::{LimitsReport, SpillFile, Writers};
use crate::command::chunks::pieces;
use crate::command::names::errno_name;
use crate::command::open::Open;
pub use crate::command::open::Wanted;
use crate::command::options::prepare;
use crate::command::told::{CommandEnd, Said};
use crate::wire::Connection;

/// A command that runs for so long is told to have started.
const STARTED: Duration = Duration::from_millis(20);

/// Where commands run, and whose they are.
pub struct Session {
    /// The line to the client.
    pub connection: Connection,
    /// The engine of this process.
    pub engine: Engine,
    /// Of all that the client starts.
    pub owner: Arc<Owner>,
}

/// A command under way.
#[derive(Clone)]
struct ClientCommand(Arc<Running>);

struct Running {
    call: u32,
    session: Arc<Session>,
    tells_start: bool,
    is_listened_to: bool,
    /// The file for the whole output.
    spill: Option<PathBuf>,
    /// The same where it is written from the start on.
    writer: Option<SpillFile>,
    /// By what its limits are kept, if it has some.
    limits: Option<LimitsReport>,
    state: Mutex<CommandState>,
}

#[derive(Default)]
struct CommandState {
    handle: Option<Handle>,
    pid: i32,
    /// Whether it has started, or come to nothing: only then its input can be written.
    is_open: bool,
    /// Input that has come before that; an empty piece is its end.
    early: Vec<Vec<u8>>,
    /// The engine waits until what it has delivered is on its way.
    owes_resume: bool,
    /// Whether there was time to tell that it runs, and how much output it had when that was told.
    is_told: bool,
    told_bytes: u64,
    /// Signals of which is not known yet whether it got them: that is told before its end.
    signals: usize,
    /// How it has ended, until that is told.
    outcome: Option<Box<Outcome>>,
}

/// Starts a command for the client.
pub fn begin(session: &Arc<Session>, call: u32, open: &Open) -> Result<(), CallError> {
    let prepared = prepare(open)?;
    let spill = prepared.spill.as_ref();
    let running = Running {
        call,
        session: session.clone(),
        tells_start: open.tells_start,
        is_listened_to: open.listen.is_some(),
        spill: spill.map(|spill| spill.path.clone()),
        writer: spill
            .filter(|spill| spill.opening == Opening::AtStart)
            .map(|spill| SpillFile::open(spill.path.clone())),
        limits: prepared.cpu.map(|_| LimitsReport::CPU),
        state: Mutex::default(),
    };
    let command = ClientCommand(Arc::new(running));
    session.connection.attend(call, Arc::new(command.clone()));
    // Whoever is told of it waits until it is known by what number.
    let mut state = command.0.state.lock();
    state.handle = Some(session.engine.run(prepared, &session.owner, Arc::new(command.clone())));
    Ok(())
}

impl ClientCommand {
    fn engine(&self) -> &Engine {
        &self.0.session.engine
    }

    fn connection(&self) -> &Connection {
        &self.0.session.connection
    }

    fn id(&self) -> u64 {
        self.0.state.lock().handle.as_ref().map_or(0, |handle| handle.id)
    }

    fn say(&self, said: &Said) {
        self.connection().say(self.0.call, said);
    }

    fn finish(&self, end: &CommandEnd) {
        self.connection().finish(self.0.call, end);
    }

    /// Its input can be written, or never will be.
    fn open_input(&self) {
        let early = {
            let mut state = self.0.state.lock();
            state.is_open = true;
            std::mem::take(&mut state.early)
        };
        early.into_iter().for_each(|bytes| self.write(bytes));
    }

    fn write(&self, bytes: Vec<u8>) {
        if bytes.is_empty() {
            return self.engine().end_input(self.id());
        }
        let (command, size) = (self.clone(), bytes.len());
        let written = move |result: Result<(), Errno>| {
            let error = result.err().map(|errno| {
                let errno = errno.raw_os_error();
                CallError::system(&errno_name(errno), errno, &errno_text(errno))
            });
            command.say(&Said::Wrote { wrote: error.is_none(), error });
            command.connection().consumed(command.0.call, size);
        };
        self.engine().write(self.id(), bytes, Box::new(written));
    }

    /// Tells its end, once that is known and nothing is to be told before; and before that looks at what
    /// only the system can tell of it, which may take its time.
    fn conclude(&self) {
        let outcome = {
            let mut state = self.0.state.lock();
            if state.signals == 0 { state.outcome.take() } else { None }
        };
        let Some(outcome) = outcome else { return };
        let writers = self.0.writer.as_ref().map_or(Writers::One, SpillFile::close);
        let limits = self.0.limits;
        if outcome.spill.is_none() && !after::was_killed(&outcome) {
            return self.finish(&CommandEnd::ran(*outcome, after::unchecked(limits)));
        }
        let command = self.clone();
        let look = move || {
            let checked = after::check(&outcome, command.0.spill.as_deref(), writers, limits);
            command.finish(&CommandEnd::ran(*outcome, checked));
        };
        if let Err(error) = std::thread::Builder::new().spawn(look) {
            self.finish(&CommandEnd::Error(CallError::system(
                "EAGAIN",
                libc::EAGAIN,
                &error.to_string(),
            )));
        }
    }
}

impl Sink for ClientCommand {
    fn started(&self, pid: i32) {
        self.0.state.lock().pid = pid;
        self.open_input();
        if self.0.tells_start {
            self.say(&Said::Started { started: pid });
        }
        // Most commands are over before that is of use to anybody.
        self.connection().wake(self.0.call, STARTED);
    }

    fn output(&self, label: Label, chunks: Vec<Chunk>) {
        self.0.state.lock().owes_resume = true;
        for Chunk { data, dropped } in chunks {
            let (bytes, is_text) = match data {
                Data::Text(text) => (text.to_string().into_bytes(), true),
                Data::Bytes(bytes) => (bytes, false),
            };
            for piece in pieces(label, &bytes, is_text, dropped) {
                self.connection().send(self.0.call, piece);
            }
        }
    }

    fn ended(&self, ended: Ended) {
        self.open_input();
        if !matches!(ended, Ended::Ran(_)) {
            self.0.writer.as_ref().map(SpillFile::close);
        }
        match ended {
            Ended::Ran(outcome) => {
                self.0.state.lock().outcome = Some(outcome);
                self.conclude();
            }
            Ended::NeverStarted => self.finish(&CommandEnd::NeverStarted(true)),
            Ended::Failed(error) => self.finish(&CommandEnd::failed(&error)),
        }
    }
}
