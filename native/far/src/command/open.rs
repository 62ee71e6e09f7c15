//! The first message of a call.

use serde::Deserialize;
use serde_json::{Map, Value};

/// A call that runs a command.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Open {
    /// The command.
    pub line: CommandLine,
    /// The options of `run()`, without those that stay on the client's side.
    pub options: Map<String, Value>,
    /// Whether the client waits for the start and is told at once; otherwise only if the command runs for
    /// a while.
    pub tells_start: bool,
    /// Whether input comes from the client.
    pub has_input: bool,
    /// The form in which output is delivered while the command runs. None: it is not delivered.
    pub listen: Option<DeliveryForm>,
    /// Whether the command waits for a slow listener.
    pub pause: bool,
}

/// Shell text; or a program and its arguments, which run without a shell.
#[derive(Deserialize)]
#[serde(untagged)]
pub enum CommandLine {
    /// Text for a shell.
    Text(String),
    /// A program and its arguments.
    Words(Vec<String>),
}

/// The form in which output is delivered.
#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DeliveryForm {
    /// Whole characters.
    Text,
    /// Bytes as they were written.
    Bytes,
}
