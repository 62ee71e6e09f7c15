//! How a call begins.

use serde::Deserialize;
use serde_json::{Map, Value};

/// What a client may begin.
#[derive(Deserialize)]
#[serde(tag = "op", rename_all = "lowercase")]
pub enum Wanted {
    /// A command: `run()` and `spawn()`.
    Command(Open),
    /// A tool, which is made of TypeScript, or what belongs to one.
    #[serde(other)]
    Tool,
}

/// A command, as it comes.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Open {
    /// What is to run.
    pub line: CommandLine,
    /// What `run()` was given, without what stays at the client's side.
    pub options: Map<String, Value>,
    /// Whoever waits for its start is told at once; else there is time.
    pub tells_start: bool,
    /// Bytes to read come over the line.
    pub has_input: bool,
    /// Whether and how its output is delivered while it runs.
    pub listen: Option<DeliveryForm>,
    /// Whether it waits for a slow listener.
    pub pause: bool,
}

/// Shell text; or a program and its arguments, which run without a shell.
#[derive(Deserialize)]
#[serde(untagged)]
pub enum CommandLine {
    /// For a shell.
    Text(String),
    /// Without one.
    Words(Vec<String>),
}

/// In which form output is delivered.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DeliveryForm {
    /// Whole characters.
    Text,
    /// As it was written.
    Bytes,
}
