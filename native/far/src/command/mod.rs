//! A command of the client: its events are sent to the client, whose requests are carried out.

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
use crate::command::open::{DeliveryForm, Open};
use crate::command::options::prepare;
use crate::command::told::{CommandEnd, Said};
use crate::wire::Connection;

/// A command that runs for this long is told to have started.
const STARTED: Duration = Duration::from_millis(20);

/// The client's session.
pub struct Session {
    /// The connection to the client.
    pub connection: Connection,
    /// The engine of this process.
    pub engine: Engine,
    /// The owner of all that the client starts.
    pub owner: Arc<Owner>,
}

/// A command while it runs.
#[derive(Clone)]
struct ClientCommand(Arc<Running>);

struct Running {
    call: u32,
    session: Arc<Session>,
    tells_start: bool,
    is_listened_to: bool,
    /// The file for the whole output.
    spill: Option<PathBuf>,
    /// The same file, registered if it is written from the start on.
    writer: Option<SpillFile>,
    /// The mechanisms that enforce the limits, if the command has any.
    limits: Option<LimitsReport>,
    state: Mutex<CommandState>,
}

#[derive(Default)]
struct CommandState {
    handle: Option<Handle>,
    pid: i32,
    /// Whether the command has started, or never will: its input can be written only then.
    is_open: bool,
    /// Input that arrived before; an empty piece is end of file.
    early: Vec<Vec<u8>>,
    /// Whether the engine waits until the delivered output is sent.
    owes_resume: bool,
    /// Whether the start has been told after [`STARTED`], and how many bytes of output there were when
    /// the tail was last told.
    is_told: bool,
    told_bytes: u64,
    /// Signals whose result is not known yet; the results are told before the end.
    signals: usize,
    /// The outcome, until it is told.
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
    // Events wait for this lock until the command's handle is known.
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

    /// Allows input to be written, once the command has started or never will.
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

    /// Tells the end, once the outcome is known and no result of a signal is awaited. Runs the checks
    /// before that, which may take some time.
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
        // Most commands end before their start is of interest.
        self.connection().wake(self.0.call, STARTED);
    }

    fn output(&self, label: Label, chunks: Vec<Chunk>) {
        self.0.state.lock().owes_resume = true;
        for Chunk { data, dropped } in chunks {
            let (bytes, form) = match data {
                Data::Text(text) => (text.to_string().into_bytes(), DeliveryForm::Text),
                Data::Bytes(bytes) => (bytes, DeliveryForm::Bytes),
            };
            for piece in pieces(label, &bytes, form, dropped) {
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
