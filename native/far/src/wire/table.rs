//! The table of messages, from `src/remote/wire/messages.ts`: messages of the client are checked by it.

use std::sync::LazyLock;

use serde_json::{Map, Value};

use crate::wire::frames::Fault;

/// The table as JSON, as a test of the TypeScript writes it.
static TABLE: LazyLock<Value> = LazyLock::new(|| {
    // The text is part of this program, and a test parses it.
    serde_json::from_str(include_str!("../../messages.json")).unwrap_or_default()
});

/// Checks a message of the client about the line (`line`) or about a `command`.
///
/// Returns the body if it has a row; a message without a row comes from a newer client, and is passed over.
pub fn checked(frame: &str, of: &str, body: Value) -> Result<Option<Value>, Fault> {
    let rows = rows("client").filter(|row| row["frame"] == frame && row["of"] == of);
    let Some(row) = find(rows, &body) else {
        let fault = |got| Fault(format!("{frame} of {of}: expected object, got {got}"));
        return if body.is_object() { Ok(None) } else { Err(fault(body)) };
    };
    let fields = row["fields"].as_object();
    match fields.and_then(|fields| mismatch_of_fields(fields, &body, "")) {
        None => Ok(Some(body)),
        Some(Mismatch { text, .. }) => {
            let name = row["name"].as_str().unwrap_or_default();
            let about = if of == "line" { String::new() } else { format!(" ({frame} of {of})") };
            Err(Fault(format!("{name}{about}: {text}")))
        }
    }
}

/// The messages of one sender.
fn rows(from: &str) -> impl Iterator<Item = &'static Value> {
    let rows = TABLE.get("messages").and_then(Value::as_array);
    let rows = rows.map(Vec::as_slice).unwrap_or_default();
    rows.iter().filter(move |row| row["from"] == from)
}

/// The first row whose key a body has.
fn find(mut rows: impl Iterator<Item = &'static Value>, body: &Value) -> Option<&'static Value> {
    rows.find(|row| {
        let Some(key) = row["key"].as_str() else { return body.is_object() };
        let Some(value) = body.get(key) else { return false };
        let kind = row.get("fields").and_then(|fields| fields.get(key)?.as_str());
        let kind = kind.unwrap_or_default();
        let is_word = kind.starts_with('\'') || kind == "true" || kind == "false";
        !is_word || mismatch(kind, value, "").is_none()
    })
}

/// Where a value is not what it should be, and how that is told.
struct Mismatch {
    path: String,
    text: String,
}

impl Mismatch {
    fn new(path: &str, expected: &str, got: &str) -> Option<Mismatch> {
        let before = if path.is_empty() { String::new() } else { format!("{path}: ") };
        let text = format!("{before}expected {expected}, got {got}");
        Some(Mismatch { path: path.to_owned(), text })
    }
}

/// Compares a value with a type; None: it is of it.
fn mismatch(kind: &str, value: &Value, path: &str) -> Option<Mismatch> {
    let mut inside = None;
    for choice in kind.split(" | ") {
        let found = mismatch_of_one(choice, value, path)?;
        // The mismatch inside of one choice says more.
        inside = inside.or(Some(found).filter(|found| found.path != path));
    }
    inside.or_else(|| Mismatch::new(path, kind, &value.to_string()))
}

fn mismatch_of_one(kind: &str, value: &Value, path: &str) -> Option<Mismatch> {
    if let Some(item_kind) = kind.strip_suffix("[]") {
        let Some(items) = value.as_array() else {
            return Mismatch::new(path, kind, &value.to_string());
        };
        let mut each = items.iter().enumerate();
        return each.find_map(|(at, item)| mismatch(item_kind, item, &format!("{path}[{at}]")));
    }
    match TABLE.get("shapes").and_then(|shapes| shapes.get(kind)) {
        Some(Value::String(other)) => mismatch(other, value, path),
        Some(Value::Object(fields)) => mismatch_of_fields(fields, value, path),
        _ if is_of(kind, value) => None,
        _ => Mismatch::new(path, kind, &value.to_string()),
    }
}

fn mismatch_of_fields(fields: &Map<String, Value>, value: &Value, path: &str) -> Option<Mismatch> {
    let Some(object) = value.as_object() else {
        return Mismatch::new(path, "object", &value.to_string());
    };
    fields.iter().find_map(|(key, kind)| {
        let (name, kind) = (key.trim_end_matches('?'), kind.as_str().unwrap_or_default());
        let path = if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
        let may_miss = name.len() < key.len() || kind.split(" | ").any(|one| one == "null");
        match object.get(name) {
            Some(value) => mismatch(kind, value, &path),
            None if may_miss => None,
            None => Mismatch::new(&path, kind, "nothing"),
        }
    })
}

/// Numbers that the client's language has without loss.
const MOST_WHOLE: f64 = 9_007_199_254_740_991.0;

fn is_of(kind: &str, value: &Value) -> bool {
    let whole = value.as_f64().filter(|one| one.fract() == 0.0 && one.abs() <= MOST_WHOLE);
    let from_zero = |one: f64| one >= 0.0;
    match kind {
        "any" => true,
        "text" => value.is_string(),
        "flag" => value.is_boolean(),
        "number" => value.is_number(),
        "whole" => whole.is_some(),
        "amount" => value.as_f64().is_some_and(from_zero),
        "count" => whole.is_some_and(from_zero),
        "object" => value.is_object(),
        "null" => value.is_null(),
        "true" => *value == true,
        "false" => *value == false,
        _ => match (kind.split_once(".."), kind.strip_prefix('\'')) {
            (_, Some(word)) => word.strip_suffix('\'') == value.as_str(),
            (Some((least, most)), _) => {
                let bound = |text: &str| text.parse().unwrap_or(f64::NAN);
                whole.is_some_and(|one| (bound(least)..=bound(most)).contains(&one))
            }
            _ => false,
        },
    }
}

#[cfg(test)]
pub mod tests;
