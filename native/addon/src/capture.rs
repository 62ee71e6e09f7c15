//! Output in records for JavaScript.

use forkline_engine::{Captured, Chunk, Counts, Data, Parts, Text};
use napi::Result;
use napi::bindgen_prelude::Buffer;

use crate::record::JsRecord;

/// Adds the elements of a chunk.
pub fn chunk(record: &mut JsRecord, chunk: Chunk) -> Result<()> {
    record.push(chunk.dropped as f64)?;
    match chunk.data {
        Data::Text(text) => record.push_text(text),
        Data::Bytes(bytes) => record.push(Buffer::from(bytes)),
    }
}

/// Adds the elements of a capture.
pub fn capture(record: &mut JsRecord, captured: Captured<Text>) -> Result<()> {
    counts(record, captured.total)?;
    record.push(captured.lossy)?;
    match captured.kept {
        Parts::Complete(text) => record.push_text(text),
        Parts::Cut { head, tail, dropped } => {
            record.push_text(head)?;
            record.push_text(tail)?;
            counts(record, dropped)?;
            record.push(captured.last_line as f64)
        }
    }
}

/// Adds the elements of counts.
pub fn counts(record: &mut JsRecord, counts: Counts) -> Result<()> {
    record.push(counts.bytes as f64)?;
    record.push(counts.characters as f64)?;
    record.push(counts.lines as f64)
}
