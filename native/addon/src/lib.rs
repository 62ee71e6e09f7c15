//! The N-API interface of the engine: JavaScript objects in, events out. No logic.

mod asked;
mod capture;
mod channel;
mod environ;
mod event;
mod host;
pub mod local_stream;
mod question;
mod record;
mod request;
mod terminal;
pub mod undo;

use std::collections::HashMap;
use std::ffi::CString;
use std::sync::Arc;

use forkline_engine::{
    Directory, Ended, Engine, Errno, Handle, HostDirectory, MembersGone, Owner, Signal, Sink,
};
use napi::bindgen_prelude::{
    Either, Float64Array, FnArgs, Function, Latin1String, Uint8Array, Unknown,
};
use napi::{Env, Error, Result, Status};
use napi_derive::napi;
use parking_lot::Mutex;

use channel::{Batch, CommandSink, EventQueue, asker};
use event::{EngineEvent, EngineReply};
use local_stream::NamedPipe;
use request::{CommandNumbers, Paths, Strings, command, detached, milliseconds};

/// Returns whether the process's environment consists of exactly these `NAME=value` entries, separated by
/// NUL, one character a byte.
#[napi]
pub fn environment_is(block: Latin1String) -> bool {
    environ::is(&block)
}

/// The reason why the engine can't be started.
#[napi(object, object_from_js = false)]
pub struct StartFailure {
    /// The errno.
    pub errno: i32,
    /// The action that failed, and the C library's words for the errno.
    pub message: String,
}

/// Starts the engine, unless it runs. After a failure it can be called again.
#[napi]
pub fn start() -> Option<StartFailure> {
    let failure = host::engine().err()?;
    Some(StartFailure { errno: failure.errno, message: failure.to_string() })
}

/// The connection of one JavaScript environment to the engine.
#[napi]
pub struct Channel {
    engine: &'static Engine,
    events: Arc<EventQueue>,
    owners: Arc<Mutex<HashMap<u64, Arc<Owner>>>>,
    handles: HashMap<u64, Handle>,
    host_directory: HostDirectory,
}

#[napi]
impl Channel {
    /// Opens the connection. `dispatch` is called with arrays of events, whose figures are in `figures`, and
    /// must not throw. `name` stands in the plans of sandboxes whose proxies this environment serves.
    #[napi(constructor)]
    pub fn new(
        env: &Env,
        figures: Float64Array,
        dispatch: Function<FnArgs<(Batch,)>, Unknown<'static>>,
        name: String,
    ) -> Result<Self> {
        let engine = host::engine()
            .map_err(|error| Error::new(Status::GenericFailure, error.to_string()))?;
        let events = host::register_environment(name, EventQueue::new(&dispatch, figures)?);
        let owners = Arc::new(Mutex::new(HashMap::new()));
        let ending = (events.clone(), owners.clone());
        env.add_env_cleanup_hook(ending, move |(events, owners)| {
            events.close(engine);
            host::end_owners(engine, &owners.lock());
        })?;
        let (handles, host_directory) = (HashMap::new(), HostDirectory::default());
        Ok(Channel { engine, events, owners, handles, host_directory })
    }

    /// Makes an owner. Returns its id.
    #[napi]
    pub fn owner(&mut self) -> f64 {
        let owner = self.engine.owner();
        self.owners.lock().insert(owner.id, owner.clone());
        owner.id as f64
    }

    /// Starts a command, whose events have this `id`. `numbers`: see [`CommandNumbers`]. Without a directory,
    /// the host's current one is used.
    #[napi]
    #[allow(clippy::too_many_arguments, reason = "an object would cost a look-up for each field")]
    pub fn run(
        &mut self,
        id: f64,
        numbers: &[f64],
        text: String,
        shells: String,
        environment: Latin1String,
        directory: Option<String>,
        stdin: Either<bool, Uint8Array>,
        spill_path: Option<String>,
        sandbox: Option<String>,
        groups: Option<String>,
    ) -> Result<()> {
        let numbers = CommandNumbers::parse(numbers)?;
        let owner = self.owner_of(numbers.owner)?;
        let events = self.events.clone();
        let sink = Arc::new(CommandSink { id, events, announce: numbers.announce });
        let directory = match directory.and_then(|path| CString::new(path).ok()) {
            Some(path) => Some(Directory::Path(path)),
            None => match self.host_directory.hold() {
                Ok(held) => held,
                Err(error) => {
                    sink.ended(Ended::Failed(error));
                    return Ok(());
                }
            },
        };
        let strings = Strings { text, shells, environment, stdin, spill_path, sandbox, groups };
        let handle = self.engine.run(command(strings, directory, &numbers), &owner, sink);
        self.handles.insert(id as u64, handle);
        Ok(())
    }

    /// Starts a command that outlives the process. The reply is its process id; questions about its programs have
    /// the id of the request.
    #[napi]
    #[allow(clippy::too_many_arguments, reason = "an object would cost a look-up for each field")]
    pub fn start_detached(
        &self,
        request: f64,
        numbers: &[f64],
        text: String,
        shells: String,
        environment: Latin1String,
        directory: String,
        output: String,
        sandbox: Option<String>,
    ) -> Result<()> {
        let paths = Paths { shells: &shells, directory: &directory, output: &output };
        let command = detached(text, environment, &paths, numbers, sandbox)?;
        let reply = self.replier(request);
        let answer = Box::new(move |started| reply(EngineReply::Detached(started)));
        self.engine.start_detached(command, asker(request, self.events.clone()), answer);
        Ok(())
    }

    /// Makes a named pipe that only its owner may open, and opens it for reading; with `stays_open` for
    /// writing too, so that the stream has no end. Returns a negative errno if that can't be done.
    #[napi]
    pub fn named_pipe(&self, path: String, stays_open: bool) -> Either<NamedPipe, i32> {
        let made = CString::new(path)
            .map_err(|_| Errno::INVAL)
            .and_then(|path| self.engine.named_pipe(&path, stays_open));
        match made {
            Ok(pipe) => Either::A(NamedPipe::new(pipe, self.events.clone())),
            Err(errno) => Either::B(-errno.raw_os_error()),
        }
    }

    /// Forgets a command whose `ended` event has been handled.
    #[napi]
    pub fn forget(&mut self, id: f64) {
        self.handles.remove(&(id as u64));
    }

    /// Ends a command. `grace_ms`: in place of its own.
    #[napi]
    pub fn cancel(&self, id: f64, grace_ms: Option<f64>) {
        if let Some(handle) = self.handles.get(&(id as u64)) {
            self.engine.cancel(handle, grace_ms.map(milliseconds));
        }
    }

    /// Ends a command that runs as its own time limit does.
    #[napi]
    pub fn expire(&self, id: f64) {
        self.engine.expire(self.engine_id(id));
    }

    /// Notes that the listener can take more output.
    #[napi]
    pub fn resume(&self, id: f64) {
        self.engine.resume(self.engine_id(id));
    }

    /// Notes that the listener has left: it no longer makes the command wait.
    #[napi]
    pub fn detach(&self, id: f64) {
        self.engine.detach(self.engine_id(id));
    }

    /// Writes to the command's stdin. The reply comes once the bytes are in the pipe.
    #[napi]
    pub fn write(&self, id: f64, request: f64, bytes: Uint8Array) {
        let reply = self.replier(request);
        let written = Box::new(move |result| {
            reply(match result {
                Ok(()) => EngineReply::Done(true),
                Err(errno) => EngineReply::Failed(errno),
            });
        });
        self.engine.write(self.engine_id(id), bytes.to_vec(), written);
    }

    /// Closes the command's stdin once all is written.
    #[napi]
    pub fn end_input(&self, id: f64) {
        self.engine.end_input(self.engine_id(id));
    }

    /// Signals the command's process group. The reply tells whether the command still ran.
    #[napi]
    pub fn signal(&self, id: f64, request: f64, signal: i32) -> Result<()> {
        let signal = Signal::from_named_raw(signal).ok_or_else(|| {
            Error::new(Status::InvalidArg, format!("signal: no signal has the number {signal}"))
        })?;
        let reply = self.replier(request);
        let sent = Box::new(move |sent| reply(EngineReply::Done(sent)));
        self.engine.signal(self.engine_id(id), signal, sent);
        Ok(())
    }

    /// Asks for the output so far. The reply is null when the command is over.
    #[napi]
    pub fn snapshot(&self, id: f64, request: f64) {
        let reply = self.replier(request);
        let answer = Box::new(move |captures| reply(EngineReply::Snapshot(captures)));
        self.engine.snapshot(self.engine_id(id), answer);
    }

    /// Asks for the members that run. The reply is null when they can't be found out.
    #[napi]
    pub fn members(&self, id: f64, request: f64) {
        let reply = self.replier(request);
        let asked = Box::new(move |members| reply(EngineReply::Members(members)));
        self.engine.members(self.engine_id(id), asked);
    }

    /// Asks for the sandbox's rules and denials. The reply is null when the command is over, or has none.
    #[napi]
    pub fn sandbox(&self, id: f64, request: f64) {
        let reply = self.replier(request);
        let answer = Box::new(move |report| reply(EngineReply::Sandbox(report)));
        self.engine.sandbox(self.engine_id(id), answer);
    }

    /// Answers a question about a program: 1 allows it, 0 denies it, and 2 says that nobody can answer.
    #[napi]
    pub fn decide(&self, keeper: f64, number: f64, answer: u32) {
        self.events.questions.decide(self.engine, (keeper, number), answer);
    }

    /// Asks to be told when no member is left. The reply is false when that can't be found out any more.
    #[napi]
    pub fn when_gone(&self, id: f64, request: f64) {
        let (reply, gone) = (self.replier(request), MembersGone::Confirmed);
        let told = Box::new(move |certainty| reply(EngineReply::Done(certainty == gone)));
        self.engine.when_gone(self.engine_id(id), told);
    }

    /// Ends all commands of an owner. The reply comes when they are gone.
    #[napi]
    pub fn dispose(&mut self, owner: f64, request: f64, grace_ms: f64) -> Result<()> {
        let owner = self.owner_of(owner as u64)?;
        self.owners.lock().remove(&owner.id);
        let reply = self.replier(request);
        let done = Box::new(move || reply(EngineReply::Done(true)));
        self.engine.dispose(&owner, milliseconds(grace_ms), done);
        Ok(())
    }

    /// Returns a function that sends the reply to a request.
    fn replier(&self, request: f64) -> impl FnOnce(EngineReply) + Send + use<> {
        let events = self.events.clone();
        move |reply| events.push(EngineEvent::Reply { request, reply })
    }

    fn owner_of(&self, id: u64) -> Result<Arc<Owner>> {
        let owner = self.owners.lock().get(&id).cloned();
        owner.ok_or_else(|| Error::new(Status::InvalidArg, "owner: it has been disposed of"))
    }

    /// Returns the engine's id of a command; 0, which no command has, when it is over.
    fn engine_id(&self, id: f64) -> u64 {
        self.handles.get(&(id as u64)).map_or(0, |handle| handle.id)
    }
}
