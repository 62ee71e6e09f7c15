//! The encoding of messages: fields one after the other. A number has a fixed size; bytes follow their
//! count.

/// Writes fields.
#[derive(Debug, Default)]
pub struct Writer(Vec<u8>);

impl Writer {
    /// Makes a writer with this capacity in bytes.
    pub fn with_room(bytes: usize) -> Writer {
        Writer(Vec::with_capacity(bytes))
    }

    /// Appends a number.
    pub fn number(&mut self, number: u64) -> &mut Self {
        self.0.extend_from_slice(&number.to_le_bytes());
        self
    }

    /// Appends bytes, after their count.
    pub fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        self.number(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
        self
    }

    /// Returns all fields, and empties the writer.
    pub fn finish(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.0)
    }
}

/// Reads fields. None: the message does not have the expected fields.
#[derive(Debug)]
pub struct Reader<'a>(pub &'a [u8]);

impl<'a> Reader<'a> {
    /// Reads a number.
    pub fn number(&mut self) -> Option<u64> {
        let (number, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u64::from_le_bytes(*number))
    }

    /// Reads a number of an integer type that may be smaller or signed.
    pub fn small<Number: TryFrom<i64>>(&mut self) -> Option<Number> {
        Number::try_from(self.number()? as i64).ok()
    }

    /// Reads bytes.
    pub fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = usize::try_from(self.number()?).ok()?;
        let (bytes, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(bytes)
    }

    /// Returns whether no field is left.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
