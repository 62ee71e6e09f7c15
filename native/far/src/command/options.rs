//! The client's options, converted to a command of the engine. An option that this far side lacks is
//! refused by name.

use std::ffi::CString;
use std::os::unix::ffi::OsStringExt;
use std::time::Duration;

use forkline_engine::{
    Command, Directory, Form, HostDirectory, Limits, Listen, Opening, Overflow, Priority, Size,
    SpillTarget, Stdin, Streams,
};
use parking_lot::Mutex;
use serde_json::{Map, Value};

use crate::call_error::CallError;
use crate::command::open::{self, CommandLine, Open};
use crate::command::paths::absolute;
use crate::environment::{self, Policy};

type Options = Map<String, Value>;

/// The names of all options of a command.
const NAMES: [&str; 19] = [
    "cwd",
    "timeoutMs",
    "graceMs",
    "streams",
    "headBytes",
    "tailBytes",
    "spill",
    "encoding",
    "pty",
    "shell",
    "followDirectory",
    "priority",
    "startsAtOnce",
    "umask",
    "sandbox",
    "undo",
    "limits",
    "env",
    "inheritEnv",
];

const KEPT_BYTES: u64 = 128 * 1024;
/// The most bytes that a string can hold on the client's side.
const MOST_KEPT_BYTES: u64 = 256 * 1024 * 1024;
/// The largest number of starts at once, which none waits for.
const MOST_STARTS: u64 = 1_000_000;
const GRACE: Duration = Duration::from_millis(5000);

/// Makes the command from the client's message.
pub fn prepare(open: &Open) -> Result<Command, CallError> {
    let options = known(&open.options)?;
    refuse(&options)?;
    let terminal = terminal(&options)?;
    let directory = options.get("cwd").map(|given| absolute("cwd", given)).transpose()?;
    let policy = Policy {
        inherit: options.get("inheritEnv"),
        overrides: options.get("env"),
        directory: directory.as_deref(),
        is_on_terminal: terminal.is_some(),
    };
    let is_low = one_of(&options, "priority", ["normal", "low"])?;
    let is_separate = one_of(&options, "streams", ["merged", "separate"])?;
    Ok(Command {
        text: text(&open.line)?,
        shells: shells(&options)?,
        environment: environment::resolve(&policy)?,
        directory: match directory {
            Some(path) => CString::new(path.into_os_string().into_vec()).ok().map(Directory::Path),
            None => own_directory()?,
        },
        follow: switch(&options, "followDirectory")?,
        announce: true,
        priority: if is_low { Priority::Low } else { Priority::Normal },
        starts_at_once: whole(&options, "startsAtOnce", 1, MOST_STARTS)?.map(|most| most as u32),
        umask: whole(&options, "umask", 0, 0o777)?.map(|mask| mask as u32),
        sandbox: None,
        groups: Vec::new(),
        oom_victim: false,
        cpu: processor_time(&options)?,
        stdin: if open.has_input { Stdin::Pipe } else { Stdin::Null },
        streams: match terminal {
            Some(size) => Streams::Terminal(size),
            None if is_separate => Streams::Separate,
            None => Streams::Merged,
        },
        limits: Limits {
            head: whole(&options, "headBytes", 0, MOST_KEPT_BYTES)?.unwrap_or(KEPT_BYTES) as usize,
            tail: whole(&options, "tailBytes", 0, MOST_KEPT_BYTES)?.unwrap_or(KEPT_BYTES) as usize,
        },
        listen: open.listen.map(|form| Listen {
            overflow: if open.pause { Overflow::Pause } else { Overflow::DropMiddle },
            form: match form {
                open::DeliveryForm::Text => Form::Text,
                open::DeliveryForm::Bytes => Form::Bytes,
            },
        }),
        spill: options.get("spill").map(spill).transpose()?,
        timeout: time(&options, "timeoutMs", f64::MIN_POSITIVE)?,
        grace: time(&options, "graceMs", 0.0)?.unwrap_or(GRACE),
    })
}

/// Converts milliseconds to a duration of at most a year, which an Instant can still hold.
pub fn milliseconds(count: f64) -> Duration {
    const YEAR: u64 = 365 * 24 * 3600 * 1000;
    Duration::from_micros(((count * 1000.0) as u64).min(YEAR * 1000))
}

/// Returns the options without those that are `null`, which means not given; refuses unknown names.
fn known(given: &Options) -> Result<Options, CallError> {
    let given = given.iter().filter(|(_, value)| !value.is_null());
    let each = given.map(|(name, value)| {
        if NAMES.contains(&name.as_str()) {
            return Ok((name.clone(), value.clone()));
        }
        let known = NAMES.join(", ");
        Err(CallError::input(format!("{name}: not known at the far side, expected one of {known}")))
    });
    each.collect()
}

/// Refuses options that need forkline itself.
fn refuse(options: &Options) -> Result<(), CallError> {
    const HERE: &str = "at a far side without Node";
    if let Some(sandbox) = options.get("sandbox").filter(|one| **one != "danger-full-access") {
        let expected = format!("'danger-full-access' or nothing {HERE}, which makes no sandbox");
        return Err(CallError::option("sandbox", &expected, sandbox));
    }
    if let Some(undo) = options.get("undo").filter(|one| **one != false) {
        let expected = format!("false or nothing {HERE}, which makes no sandbox");
        return Err(CallError::option("undo", &expected, undo));
    }
    for name in ["memoryBytes", "processes"] {
        let given = options.get("limits").and_then(|limits| limits.get(name));
        if let Some(given) = given.filter(|given| !given.is_null()) {
            let expected = format!("nothing {HERE}, which makes no control groups");
            return Err(CallError::option(&format!("limits.{name}"), &expected, given));
        }
    }
    let Some(encoding) = options.get("encoding") else { return Ok(()) };
    let label = encoding.as_str().map(|label| label.trim().to_ascii_lowercase());
    match label.as_deref() {
        Some("utf-8" | "utf8") => Ok(()),
        _ => Err(CallError::option("encoding", &format!("'utf-8' {HERE}"), encoding)),
    }
}

/// Returns the command as the engine takes it. Each word ends with NUL, so neither words nor text may
/// contain one.
fn text(line: &CommandLine) -> Result<Vec<u8>, CallError> {
    let check = |name: &str, text: &str, is_blank: bool| match text.find('\0') {
        None if !is_blank => Ok(()),
        None => Err(CallError::option(name, "a command", &text.into())),
        Some(_) => Err(CallError::option(name, "text without NUL", &text.into())),
    };
    match line {
        CommandLine::Text(text) => {
            check("command", text, text.trim().is_empty())?;
            Ok(text.clone().into_bytes())
        }
        CommandLine::Words(words) => {
            for (at, word) in words.iter().enumerate() {
                check(&format!("command[{at}]"), word, at == 0 && word.is_empty())?;
            }
            if words.is_empty() {
                return Err(CallError::input(
                    "command: expected a program and its arguments, got []",
                ));
            }
            Ok(words.iter().flat_map(|word| [word.as_bytes(), b"\0"].concat()).collect())
        }
    }
}

/// Returns the directory of this process, for a command without `cwd`.
fn own_directory() -> Result<Option<Directory>, CallError> {
    static OWN: Mutex<Option<HostDirectory>> = Mutex::new(None);
    let held = OWN.lock().get_or_insert_default().hold();
    held.map_err(|error| CallError::input(error.to_string()))
}

fn shells(options: &Options) -> Result<Vec<CString>, CallError> {
    let Some(given) = options.get("shell") else { return Ok(Vec::new()) };
    let fail = || CallError::option("shell", "an array of at least one absolute path", given);
    let paths = given.as_array().filter(|paths| !paths.is_empty()).ok_or_else(fail)?;
    let paths = paths.iter().map(|path| {
        let path = path.as_str().filter(|path| path.starts_with('/'))?;
        CString::new(path).ok()
    });
    paths.collect::<Option<_>>().ok_or_else(fail)
}

fn terminal(options: &Options) -> Result<Option<Size>, CallError> {
    let mut size = Size { columns: 120, rows: 40 };
    match options.get("pty") {
        None | Some(Value::Bool(false)) => return Ok(None),
        Some(Value::Bool(true)) => {}
        Some(Value::Object(given)) => {
            let extent = |name, least, most| {
                whole(given, name, least, most).map(|extent| extent.map(|extent| extent as u16))
            };
            size.columns = extent("columns", 20, 400)?.unwrap_or(size.columns);
            size.rows = extent("rows", 5, 200)?.unwrap_or(size.rows);
        }
        Some(given) => return Err(CallError::option("pty", "a boolean or a size", given)),
    }
    match options.get("streams") {
        Some(streams) if streams == "separate" => {
            let expected = "'merged' beside pty, since a terminal is one stream";
            Err(CallError::option("streams", expected, streams))
        }
        _ => Ok(Some(size)),
    }
}

fn processor_time(options: &Options) -> Result<Option<u64>, CallError> {
    match options.get("limits") {
        None => Ok(None),
        Some(Value::Object(limits)) => whole(limits, "cpuSeconds", 1, u64::MAX),
        Some(given) => Err(CallError::option("limits", "an object", given)),
    }
}

fn spill(given: &Value) -> Result<SpillTarget, CallError> {
    let Value::Object(options) = given else {
        let path = absolute("spill", given)?;
        return Ok(SpillTarget { path, max_bytes: u64::MAX, opening: Opening::AtStart });
    };
    if let Some(name) = options.keys().find(|name| !SPILL_NAMES.contains(&name.as_str())) {
        let known = SPILL_NAMES.join(", ");
        return Err(CallError::input(format!(
            "spill.{name}: not known here, expected one of {known}"
        )));
    }
    let after = whole(options, "afterBytes", 0, u64::MAX)?;
    Ok(SpillTarget {
        path: absolute("spill.path", options.get("path").unwrap_or(&Value::Null))?,
        max_bytes: whole(options, "maxBytes", 0, u64::MAX)?.unwrap_or(u64::MAX),
        opening: after.map_or(Opening::AtStart, Opening::After),
    })
}

const SPILL_NAMES: [&str; 3] = ["path", "maxBytes", "afterBytes"];

/// Returns whether the option is the second of two words; the first one is the default.
fn one_of(options: &Options, name: &str, words: [&str; 2]) -> Result<bool, CallError> {
    let [first, second] = words;
    match options.get(name) {
        None => Ok(false),
        Some(given) if given == first => Ok(false),
        Some(given) if given == second => Ok(true),
        Some(given) => Err(CallError::option(name, &format!("'{first}' or '{second}'"), given)),
    }
}

fn switch(options: &Options, name: &str) -> Result<bool, CallError> {
    match options.get(name) {
        None => Ok(false),
        Some(Value::Bool(value)) => Ok(*value),
        Some(given) => Err(CallError::option(name, "true or false", given)),
    }
}

fn whole(options: &Options, name: &str, least: u64, most: u64) -> Result<Option<u64>, CallError> {
    let given = options.get(name).filter(|given| !given.is_null());
    given.map_or(Ok(None), |given| match given.as_u64() {
        Some(number) if (least..=most).contains(&number) => Ok(Some(number)),
        _ => Err(CallError::option(name, &format!("a whole number from {least} to {most}"), given)),
    })
}

fn time(options: &Options, name: &str, least: f64) -> Result<Option<Duration>, CallError> {
    options.get(name).map_or(Ok(None), |given| match given.as_f64() {
        Some(count) if count >= least => Ok(Some(milliseconds(count))),
        _ => {
            let range = if least == 0.0 { "of 0 or more" } else { "above 0" };
            Err(CallError::option(name, &format!("a number of milliseconds {range}"), given))
        }
    })
}

#[cfg(test)]
mod tests;
