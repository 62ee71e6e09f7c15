//! The error with which a call is refused: an error of the client's side, as plain data.

use serde::Serialize;
use serde_json::{Map, Value};

/// An error, as `src/remote/wire/thrown.ts` describes it.
#[derive(Debug, Serialize)]
pub struct CallError {
    name: &'static str,
    /// A text for people.
    pub message: String,
    fields: Map<String, Value>,
}

impl CallError {
    /// Makes an error about invalid input from the client; the message names the input.
    pub fn input(message: impl Into<String>) -> Self {
        CallError { name: "InputError", message: message.into(), fields: Map::new() }
    }

    /// Makes an error about an option that is not as expected.
    pub fn option(name: &str, expected: &str, got: &Value) -> Self {
        Self::input(format!("{name}: expected {expected}, got {}", show(got)))
    }

    /// Makes an error about too much work at once.
    pub fn busy(message: impl Into<String>) -> Self {
        CallError { name: "BusyError", message: message.into(), fields: Map::new() }
    }

    /// Makes an error from one of the system.
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

/// Returns a value as shown in an error message: JSON, shortened if it is long.
fn show(value: &Value) -> String {
    let text = value.to_string();
    let end = (0..=SHOWN_BYTES).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    match text.get(..end) {
        Some(shown) if text.len() > SHOWN_BYTES => format!("{shown}…"),
        _ => text,
    }
}
