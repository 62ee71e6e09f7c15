//! Records as bytes, and back.

use crate::fields::{FieldReader, FieldWriter};
use crate::record::{KeptPlace, LogRecord, MoveRecord, NameRecord, NodeRecord};

impl LogRecord {
    /// Appends the record as bytes.
    pub fn write(&self, to: &mut FieldWriter) {
        match self {
            Self::Begun { version, at, about } => {
                to.byte(1);
                to.short(*version);
                to.moment(*at);
                to.list(about, pair);
            }
            Self::Name(name) => {
                to.byte(2);
                to.id(name.directory);
                to.text(&name.name);
                to.text(&name.above);
                to.option(name.was, FieldWriter::id);
            }
            Self::Node(node) => {
                to.byte(3);
                to.status(&node.status);
                to.text(&node.path);
                to.text(&node.target);
                to.list(&node.attributes, pair);
            }
            Self::Content { node, size, place } => {
                to.byte(4);
                to.id(*node);
                to.long(*size);
                write_place(place, to);
            }
            Self::Lost { node, path, reason } => {
                to.byte(5);
                to.option(*node, FieldWriter::id);
                to.text(path);
                to.text(reason);
            }
            Self::Made(node) => {
                to.byte(6);
                to.id(*node);
            }
            Self::Moved(moved) => {
                to.byte(7);
                to.id(moved.node);
                to.text(&moved.from);
                to.text(&moved.to);
                to.byte(u8::from(moved.is_exchange));
            }
            Self::NotMoved => to.byte(8),
            Self::Unseen(why) => {
                to.byte(9);
                to.text(why);
            }
            _ => self.write_late(to),
        }
    }

    fn write_late(&self, to: &mut FieldWriter) {
        match self {
            Self::NameAfter { directory, name, now } => {
                to.byte(10);
                to.id(*directory);
                to.text(name);
                to.option(now.as_ref(), FieldWriter::status);
            }
            Self::NodeAfter { node, now } => {
                to.byte(11);
                to.id(*node);
                to.option(now.as_ref(), FieldWriter::status);
            }
            Self::Ended(at) => {
                to.byte(12);
                to.moment(*at);
            }
            Self::Staging { device, path } => {
                to.byte(13);
                to.long(*device);
                to.text(path);
            }
            Self::NameBegun { directory, name } => {
                to.byte(14);
                to.id(*directory);
                to.text(name);
            }
            Self::NodeBegun(node) => {
                to.byte(15);
                to.id(*node);
            }
            Self::Remade { old, new } => {
                to.byte(17);
                to.id(*old);
                to.id(*new);
            }
            Self::Reverted { is_whole } => {
                to.byte(16);
                to.byte(u8::from(*is_whole));
            }
            _ => {}
        }
    }

    /// Reads a record, which must be all of the bytes.
    pub fn read(bytes: &[u8]) -> Option<LogRecord> {
        let mut from = FieldReader(bytes);
        let record = Self::read_fields(&mut from)?;
        from.0.is_empty().then_some(record)
    }

    fn read_fields(from: &mut FieldReader) -> Option<LogRecord> {
        Some(match from.byte()? {
            1 => Self::Begun {
                version: from.short()?,
                at: from.moment()?,
                about: from.list(read_pair)?,
            },
            2 => Self::Name(NameRecord {
                directory: from.id()?,
                name: from.text()?,
                above: from.text()?,
                was: from.option(FieldReader::id)?,
            }),
            3 => Self::Node(NodeRecord {
                status: from.status()?,
                path: from.text()?,
                target: from.text()?,
                attributes: from.list(read_pair)?,
            }),
            4 => Self::Content { node: from.id()?, size: from.long()?, place: read_place(from)? },
            5 => Self::Lost {
                node: from.option(FieldReader::id)?,
                path: from.text()?,
                reason: from.text()?,
            },
            6 => Self::Made(from.id()?),
            7 => Self::Moved(MoveRecord {
                node: from.id()?,
                from: from.text()?,
                to: from.text()?,
                is_exchange: from.byte()? != 0,
            }),
            8 => Self::NotMoved,
            9 => Self::Unseen(from.text()?),
            10 => Self::NameAfter {
                directory: from.id()?,
                name: from.text()?,
                now: from.option(FieldReader::status)?,
            },
            11 => Self::NodeAfter { node: from.id()?, now: from.option(FieldReader::status)? },
            12 => Self::Ended(from.moment()?),
            13 => Self::Staging { device: from.long()?, path: from.text()? },
            14 => Self::NameBegun { directory: from.id()?, name: from.text()? },
            15 => Self::NodeBegun(from.id()?),
            16 => Self::Reverted { is_whole: from.byte()? != 0 },
            17 => Self::Remade { old: from.id()?, new: from.id()? },
            _ => return None,
        })
    }
}

fn pair(to: &mut FieldWriter, (name, value): &(Vec<u8>, Vec<u8>)) {
    to.text(name);
    to.text(value);
}

fn read_pair(from: &mut FieldReader) -> Option<(Vec<u8>, Vec<u8>)> {
    Some((from.text()?, from.text()?))
}

fn write_place(place: &KeptPlace, to: &mut FieldWriter) {
    match place {
        KeptPlace::Pack { start, extents } => {
            to.byte(0);
            to.long(*start);
            to.list(extents, |to, (offset, length)| {
                to.long(*offset);
                to.long(*length);
            });
        }
        KeptPlace::Own { number } => {
            to.byte(1);
            to.short(*number);
        }
    }
}

fn read_place(from: &mut FieldReader) -> Option<KeptPlace> {
    match from.byte()? {
        0 => {
            let start = from.long()?;
            let extents = from.list(|from| Some((from.long()?, from.long()?)))?;
            Some(KeptPlace::Pack { start, extents })
        }
        1 => Some(KeptPlace::Own { number: from.short()? }),
        _ => None,
    }
}
