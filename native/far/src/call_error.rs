//! What a call is refused with: an error of the client's side, as plain data.

use serde::Serialize;
use serde_json::{Map, Value};

/// An error, as `src/remote/wire/thrown.ts` describes it.
#[derive(Debug, Serialize)]
pub struct CallError {
    name: &'static str,
    /// For people.
    pub message: String,
    fields: Map<String, Value>,
}

impl CallError {
    /// What the client has sent is not valid; the message names it.
    pub fn input(message: impl Into<String>) -> Self {
        CallError { name: "InputError", message: message.into(), fields: Map::new() }
    }

    /// An option is not what is expected.
    pub fn option(name: &str, expected: &str, got: &Value) -> Self {
        Self::input(format!("{name}: expected {expected}, got {}", show(got)))
    }

    /// There is as much to do as there may be.
    pub fn busy(message: impl Into<String>) -> Self {
        CallError { name: "BusyError", message: message.into(), fields: Map::new() }
    }

    /// The system's error.
    pub fn system(code: &str, errno: i32, text: &str) -> Self {
        let fields = [("code", code.into()), ("errno", errno.into())];
        let fields = fields.map(|(name, value)| (name.to_owned(), value));
        CallError {
            name: "Error",
            message: format!("{code}: {text}"),
            fields: fields.into_iter().collect(),
        }
    }
}

const SHOWN_BYTES: usize = 80;

/// A value as it stands in an error message: JSON, not too long.
fn show(value: &Value) -> String {
    let text = value.to_string();
    let end = (0..=SHOWN_BYTES).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    match text.get(..end) {
        Some(shown) if text.len() > SHOWN_BYTES => format!("{shown}…"),
        _ => text,
    }
}
