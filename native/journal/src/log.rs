//! The log: records one after another, each with its length and a sum.

use std::fs::File;
use std::io::{self, BufReader, Read, Write};

use crate::fields::FieldWriter;
use crate::record::LogRecord;

/// The most bytes of one record. The longest has the attributes of a node, 64 KiB each.
const LONGEST: usize = 16 << 20;

/// The most bytes of a log that are read.
const MOST: u64 = 1 << 30;

/// Appends a record with its frame.
pub(crate) fn frame(record: &LogRecord, to: &mut Vec<u8>) {
    let mut fields = FieldWriter::default();
    record.write(&mut fields);
    let length = u32::try_from(fields.0.len()).unwrap_or(u32::MAX);
    to.extend_from_slice(&length.to_le_bytes());
    to.extend_from_slice(&sum(&fields.0).to_le_bytes());
    to.extend_from_slice(&fields.0);
}

/// Appends to the log. What was written in part, since the disk is full, is taken back.
pub(crate) fn append(log: &mut File, length: &mut u64, bytes: &[u8]) -> io::Result<()> {
    if let Err(error) = log.write_all(bytes) {
        log.set_len(*length)?;
        return Err(error);
    }
    *length += bytes.len() as u64;
    Ok(())
}

/// What was read of a log.
#[derive(Debug, Default)]
pub(crate) struct ReadLog {
    /// The records, in order.
    pub records: Vec<LogRecord>,
    /// Where the last whole record ends.
    pub length: u64,
    /// Bytes follow that are no record, and not only the beginning of one.
    pub is_damaged: bool,
}

/// Reads a log up to the first bytes that are no record.
pub(crate) fn read_log(log: impl Read) -> io::Result<ReadLog> {
    let mut from = BufReader::new(log.take(MOST));
    let mut read = ReadLog::default();
    let mut head = [0; 8];
    while fill(&mut from, &mut head)? {
        let [a, b, c, d, e, f, g, h] = head;
        let length = u32::from_le_bytes([a, b, c, d]);
        let Some(wanted) = usize::try_from(length).ok().filter(|length| *length <= LONGEST) else {
            read.is_damaged = true;
            break;
        };
        let mut bytes = Vec::new();
        from.by_ref().take(wanted as u64).read_to_end(&mut bytes)?;
        if bytes.len() < wanted {
            break;
        }
        let is_whole = sum(&bytes) == u32::from_le_bytes([e, f, g, h]);
        let Some(record) = LogRecord::read(&bytes).filter(|_| is_whole) else {
            read.is_damaged = true;
            break;
        };
        read.records.push(record);
        read.length += (head.len() + wanted) as u64;
    }
    Ok(read)
}

/// Fills the array; false if there are not enough bytes.
fn fill(from: &mut impl Read, into: &mut [u8; 8]) -> io::Result<bool> {
    match from.read_exact(into) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

/// FNV-1a: it is to tell bytes that were cut or mixed up, not to withstand anyone.
fn sum(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811c_9dc5, |sum, byte| (sum ^ u32::from(*byte)).wrapping_mul(0x0100_0193))
}
