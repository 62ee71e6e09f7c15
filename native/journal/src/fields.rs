//! Values as bytes, and back. Any bytes can be read: what makes no sense is `None`.

use crate::node::{Moment, NodeId, NodeStatus};

/// Writes values one after another.
#[derive(Debug, Default)]
pub(crate) struct FieldWriter(pub Vec<u8>);

impl FieldWriter {
    pub fn byte(&mut self, value: u8) {
        self.0.push(value);
    }

    pub fn short(&mut self, value: u32) {
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    pub fn long(&mut self, value: u64) {
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    pub fn text(&mut self, value: &[u8]) {
        self.short(u32::try_from(value.len()).unwrap_or(u32::MAX));
        self.0.extend_from_slice(value);
    }

    pub fn moment(&mut self, value: Moment) {
        self.long(value.seconds.cast_unsigned());
        self.short(value.nanoseconds);
    }

    pub fn id(&mut self, id: NodeId) {
        self.long(id.device);
        self.long(id.inode);
        self.long(id.birth.cast_unsigned());
    }

    pub fn status(&mut self, status: &NodeStatus) {
        self.id(status.id);
        for value in [status.mode, status.uid, status.gid, status.links] {
            self.short(value);
        }
        for value in [status.size, status.stored, status.special] {
            self.long(value);
        }
        self.moment(status.modified);
        self.moment(status.changed);
    }

    pub fn option<T>(&mut self, value: Option<T>, write: impl FnOnce(&mut Self, T)) {
        self.byte(u8::from(value.is_some()));
        if let Some(value) = value {
            write(self, value);
        }
    }

    pub fn list<T>(&mut self, values: &[T], write: impl Fn(&mut Self, &T)) {
        self.short(u32::try_from(values.len()).unwrap_or(u32::MAX));
        for value in values {
            write(self, value);
        }
    }
}

/// Reads what a [`FieldWriter`] has written.
#[derive(Debug)]
pub(crate) struct FieldReader<'a>(pub &'a [u8]);

impl FieldReader<'_> {
    fn take(&mut self, length: usize) -> Option<&[u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    pub fn byte(&mut self) -> Option<u8> {
        self.take(1)?.first().copied()
    }

    pub fn short(&mut self) -> Option<u32> {
        Some(u32::from_le_bytes(self.take(4)?.try_into().ok()?))
    }

    pub fn long(&mut self) -> Option<u64> {
        Some(u64::from_le_bytes(self.take(8)?.try_into().ok()?))
    }

    pub fn text(&mut self) -> Option<Vec<u8>> {
        let length = usize::try_from(self.short()?).ok()?;
        Some(self.take(length)?.to_vec())
    }

    pub fn moment(&mut self) -> Option<Moment> {
        Some(Moment { seconds: self.long()?.cast_signed(), nanoseconds: self.short()? })
    }

    pub fn id(&mut self) -> Option<NodeId> {
        let (device, inode) = (self.long()?, self.long()?);
        Some(NodeId { device, inode, birth: self.long()?.cast_signed() })
    }

    pub fn status(&mut self) -> Option<NodeStatus> {
        Some(NodeStatus {
            id: self.id()?,
            mode: self.short()?,
            uid: self.short()?,
            gid: self.short()?,
            links: self.short()?,
            size: self.long()?,
            stored: self.long()?,
            special: self.long()?,
            modified: self.moment()?,
            changed: self.moment()?,
        })
    }

    pub fn option<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<Option<T>> {
        match self.byte()? {
            0 => Some(None),
            1 => Some(Some(read(self)?)),
            _ => None,
        }
    }

    /// Reads a list. Nothing is reserved for a length that is only claimed.
    pub fn list<T>(&mut self, mut read: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let mut values = Vec::new();
        for _ in 0..self.short()? {
            values.push(read(self)?);
        }
        Some(values)
    }
}
