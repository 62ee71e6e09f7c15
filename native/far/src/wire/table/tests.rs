use std::collections::BTreeSet;

use super::*;

/// The fields of the table that a far side's messages have had, and what is wrong with those messages.
#[derive(Default)]
pub struct Coverage {
    seen: BTreeSet<String>,
    faults: Vec<String>,
}

impl Coverage {
    /// Compares a message about a command with its row: every field has to be in the table.
    pub fn told(&mut self, frame: &str, body: &impl serde::Serialize) {
        let body = serde_json::to_value(body).unwrap();
        let rows = rows("far").filter(|row| row["frame"] == frame && row["of"] == "command");
        let Some(row) = find(rows, &body) else {
            return self.faults.push(format!("no row for {body}"));
        };
        let name = row["name"].as_str().unwrap();
        self.object(name, row["fields"].as_object().unwrap(), &body);
    }

    fn object(&mut self, name: &str, fields: &Map<String, Value>, body: &Value) {
        self.faults.extend(mismatch_of_fields(fields, body, name).map(|found| found.text));
        for (field, value) in body.as_object().unwrap() {
            let optional = format!("{field}?");
            let Some(kind) = fields.get(field).or(fields.get(&optional)) else {
                self.faults.push(format!("{name}.{field} is not in the table"));
                continue;
            };
            self.seen.insert(format!("{name}.{field}"));
            self.value(kind.as_str().unwrap(), value);
        }
    }

    fn value(&mut self, kind: &str, value: &Value) {
        for choice in kind.split(" | ") {
            if let (Some(kind), Some(items)) = (choice.strip_suffix("[]"), value.as_array()) {
                items.iter().for_each(|item| self.value(kind, item));
            } else if mismatch_of_one(choice, value, "").is_none() {
                match &TABLE["shapes"][choice] {
                    Value::String(other) => self.value(other, value),
                    Value::Object(fields) => self.object(choice, fields, value),
                    _ => {}
                }
            }
        }
    }

    /// Every field that the table has for messages about a command has been seen, or is said to be never
    /// there.
    pub fn expect_whole(&self) {
        assert_eq!(self.faults, Vec::<String>::new());
        let mut expected = BTreeSet::new();
        let told = rows("far").filter(|row| row["of"] == "command" && row["static"] != "never");
        for row in told {
            collect(row["name"].as_str().unwrap(), &row["fields"], &mut expected);
        }
        let never: BTreeSet<_> = TABLE["notStatic"].as_object().unwrap().keys().cloned().collect();
        assert_eq!(self.seen.union(&never).cloned().collect::<BTreeSet<_>>(), expected);
        assert_eq!(self.seen.intersection(&never).count(), 0);
    }
}

/// All fields of an object, and of those within.
fn collect(name: &str, fields: &Value, all: &mut BTreeSet<String>) {
    for (field, kind) in fields.as_object().unwrap() {
        if !all.insert(format!("{name}.{}", field.trim_end_matches('?'))) {
            continue;
        }
        collect_kind(kind.as_str().unwrap(), all);
    }
}

fn collect_kind(kind: &str, all: &mut BTreeSet<String>) {
    for choice in kind.split(" | ").map(|choice| choice.trim_end_matches("[]")) {
        match &TABLE["shapes"][choice] {
            Value::String(other) => collect_kind(other, all),
            fields @ Value::Object(_) => collect(choice, fields, all),
            _ => {}
        }
    }
}

/// The rows of the client's messages.
pub fn client_rows() -> impl Iterator<Item = &'static Value> {
    rows("client")
}

/// A value of a type.
fn sample(kind: &str) -> Value {
    let choice = kind.split(" | ").next().unwrap();
    if let Some(word) = choice.strip_prefix('\'') {
        return word.trim_end_matches('\'').into();
    }
    if let Some(fields) = TABLE["shapes"][choice].as_object() {
        return Value::Object(sample_of_fields(fields));
    }
    match choice {
        "text" => "x".into(),
        "flag" | "true" => true.into(),
        "false" => false.into(),
        "object" => Value::Object(Map::new()),
        "null" => Value::Null,
        _ => 1.into(),
    }
}

/// A message that is what its row says.
pub fn sample_of(row: &Value) -> Map<String, Value> {
    sample_of_fields(row["fields"].as_object().unwrap())
}

fn sample_of_fields(fields: &Map<String, Value>) -> Map<String, Value> {
    let fields = fields.iter();
    fields.map(|(name, kind)| (name.replace('?', ""), sample(kind.as_str().unwrap()))).collect()
}

#[test]
fn the_protocol_has_the_number_of_the_table() {
    let own = format!("\nconst PROTOCOL: u64 = {};\n", TABLE["protocol"]);
    assert!(include_str!("../../serve.rs").contains(&own));
}

#[test]
fn what_is_wrong_with_a_message_is_told_by_its_name_and_field() {
    let wrong = [
        ("message", "null", "message of command: expected object, got null"),
        ("message", r#"{"do":"resize","columns":0,"rows":9}"#, "columns: expected 1..65535, got 0"),
        ("message", r#"{"what":"signal","ask":1}"#, "signal: expected text, got nothing"),
        ("message", r#"{"what":"members","ask":-1}"#, "ask: expected count, got -1"),
        ("cancel", r#"{"graceMs":"soon"}"#, "graceMs: expected amount, got \"soon\""),
    ];
    for (frame, body, why) in wrong {
        let body = serde_json::from_str(body).unwrap();
        let Fault(told) = checked(frame, "command", body).unwrap_err();
        assert!(told.ends_with(why), "{told}");
    }
    let unknown = serde_json::json!({ "do": "dance" });
    assert_eq!(checked("message", "command", unknown).unwrap(), None);
}
