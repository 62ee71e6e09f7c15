//! Serves the client at standard input and output from its first message to its last one; all that the
//! client has started ends with it.

mod ending;

use std::fs::File;
use std::io::{self, IsTerminal, stdin, stdout};
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use forkline_engine::Engine;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::stdio::dup2_stdout;
use serde::Serialize;
use serde_json::Value;

use crate::call_error::CallError;
use crate::command::{Session, begin};
use crate::wire::frames::{Fault, Parser};
use crate::wire::table::checked;
use crate::wire::{Connection, Taken};

/// The version of the protocol; `src/remote/wire/protocol.ts` has the same number.
const PROTOCOL: u64 = 1;

/// The bytes that precede the first frame. Anything before them, such as a login's greeting, is not
/// forkline's.
const PREAMBLE: &[u8] = b"\0forkline-serve\n";

/// The most bytes of incomplete messages; also the longest message.
const MAX_BYTES: usize = 64 * 1024 * 1024;

/// The most calls of the client at once.
const MAX_CALLS: usize = 256;

const NO_TOOLS: &str =
    "createBashTool: expected a far side with Node, got forkline-far, which has run() and spawn()";

/// The kinds of calls that are served: clients learn from them that there are no tools.
const TAKES: &[&str] = &["command"];

/// The time from SIGTERM to SIGKILL, when the client is gone.
const GRACE: Duration = Duration::from_millis(5000);

/// The answer to a refused call.
#[derive(Serialize)]
struct Refused {
    error: CallError,
}

/// Serves the client until it is gone, or this process receives a signal to end.
pub fn serve() -> ExitCode {
    if stdin().is_terminal() {
        eprintln!("forkline-far: waiting for a client on standard input");
    }
    match start() {
        Ok(code) => code,
        Err(error) => {
            eprintln!("forkline-far: {error}");
            ExitCode::FAILURE
        }
    }
}

fn start() -> io::Result<ExitCode> {
    let ending = ending::prepare()?;
    let engine = Engine::start(own_program(), Box::new(tell_of_keeper), Box::new(|_, _, _| {}));
    let engine = engine.map_err(io::Error::other)?;
    let (connection, owner) = (Connection::new(MAX_BYTES), engine.owner());
    let session = Arc::new(Session { connection, engine, owner });
    greet(&session.connection)?;
    let (writer, reader, gone) = (session.clone(), session.clone(), ending.clone());
    let thread = |name: &str| std::thread::Builder::new().name(name.to_owned());
    thread("forkline-write").spawn(move || writer.connection.run(write))?;
    thread("forkline-read").spawn(move || {
        if let Err(fault) = read(&reader) {
            eprintln!("forkline-far: the client can't be understood: {fault}");
        }
        gone.end(0);
    })?;
    let code = ending.wait();
    end(&session);
    Ok(ExitCode::from(code))
}

fn greet(connection: &Connection) -> io::Result<()> {
    write(PREAMBLE)?;
    connection.hello(&serde_json::json!({
        "protocol": PROTOCOL,
        "version": env!("CARGO_PKG_VERSION"),
        "maxBytes": MAX_BYTES,
        "takes": TAKES,
    }));
    Ok(())
}

/// Ends all that the client has started, and waits until nothing of it is left.
fn end(session: &Session) {
    // The ends that this causes are not told: the client sees that the line is closed.
    session.connection.close();
    if let Ok(null) = File::options().write(true).open("/dev/null") {
        let _ = dup2_stdout(null);
    }
    let (done, over) = mpsc::channel();
    let told = Box::new(move || drop(done));
    session.engine.dispose(&session.owner, GRACE, told);
    // The callback reports by dropping the sender.
    let _: Result<(), _> = over.recv();
}

/// Returns the path of this program, which is also the keeper; another file may have replaced it
/// meanwhile.
fn own_program() -> Option<PathBuf> {
    let own = Path::new("/proc/self/exe");
    let named = std::env::current_exe().ok().filter(|path| path.is_file());
    named.or_else(|| own.exists().then(|| own.to_owned())).or_else(|| {
        // Without /proc: the name that the program was called by.
        let called = PathBuf::from(std::env::args_os().next()?);
        called.is_absolute().then_some(called)
    })
}

fn tell_of_keeper() {
    eprintln!("forkline-far: the keeper was killed; its commands have ended");
}

/// Writes all bytes to the client.
fn write(mut bytes: &[u8]) -> Result<(), Errno> {
    let output = stdout();
    while !bytes.is_empty() {
        match rustix::io::write(&output, bytes) {
            Ok(count) => bytes = bytes.get(count..).unwrap_or_default(),
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => wait(output.as_fd(), PollFlags::OUT),
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Waits for a stream that the parent process has made non-blocking.
fn wait(stream: BorrowedFd, until: PollFlags) {
    let _ = poll(&mut [PollFd::from_borrowed_fd(stream, until)], None);
}

/// Reads the client's messages until the client is gone.
fn read(session: &Arc<Session>) -> Result<(), Fault> {
    let input = stdin();
    let mut buffer = vec![0; 64 * 1024];
    let mut parser = Parser::default();
    loop {
        let count = match rustix::io::read(&input, &mut buffer) {
            Ok(0) => return Ok(()),
            Ok(count) => count,
            Err(Errno::INTR) => continue,
            Err(Errno::AGAIN) => {
                wait(input.as_fd(), PollFlags::IN);
                continue;
            }
            Err(error) => return Err(Fault(error.to_string())),
        };
        parser.push(buffer.get(..count).unwrap_or_default());
        while let Some(frame) = parser.next()? {
            act(session, session.connection.take(frame)?)?;
        }
    }
}

fn act(session: &Arc<Session>, taken: Taken) -> Result<(), Fault> {
    match taken {
        Taken::Nothing => {}
        Taken::Hello(body) => {
            let protocol = body.get("protocol").unwrap_or(&Value::Null);
            if *protocol != PROTOCOL {
                return Err(Fault(format!("it speaks protocol {protocol}, not {PROTOCOL}")));
            }
        }
        Taken::Opened(call, body) => {
            if let Err(error) = open(session, call, body) {
                session.connection.finish(call, &Refused { error });
            }
        }
        Taken::Message(events, body) => events.message(body),
        Taken::Data(events, bytes) => events.data(bytes),
        Taken::Cancelled(events, body) => events.cancelled(body),
    }
    Ok(())
}

fn open(session: &Arc<Session>, call: u32, body: Option<Vec<u8>>) -> Result<(), CallError> {
    let busy = "Too much data is in transit; nothing was started.";
    let body = body.ok_or_else(|| CallError::busy(busy))?;
    if session.connection.load() > MAX_CALLS {
        let busy = format!("{MAX_CALLS} calls are under way; nothing was started.");
        return Err(CallError::busy(busy));
    }
    let wrong = |error: serde_json::Error| {
        // A lone surrogate is the one thing that a client can send and that is not text here.
        let expected = if error.is_syntax() { "text without lone surrogates" } else { "a command" };
        CallError::input(format!("options: expected {expected}, got {error}"))
    };
    let body = serde_json::from_slice(&body).map_err(wrong)?;
    let command = checked("open", "command", body).map_err(|Fault(text)| CallError::input(text))?;
    let open = serde_json::from_value(command.ok_or_else(|| CallError::input(NO_TOOLS))?);
    begin(session, call, &open.map_err(wrong)?)
}
