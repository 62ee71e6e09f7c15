//! What a keeper tells about the terminal of its command.

use crate::fields::{Reader, Writer};

/// The size of a terminal, in characters.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TerminalSize {
    /// Characters in a row.
    pub columns: u16,
    /// Rows.
    pub rows: u16,
}

/// A terminal as it is now.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TerminalView {
    /// The size.
    pub size: TerminalSize,
    /// Whether typed characters are shown.
    pub echoes: bool,
    /// Whether input is read line by line. A program that reads a password asks for lines, and for no echo.
    pub canonical: bool,
    /// Whether the asking client's window is the oldest of all windows. Only that one passes on the answers of
    /// its terminal, which a program asks once.
    pub is_first: bool,
}

/// A stretch of output.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stretch {
    /// The position of the first byte since the start of the output. Larger than the end of the stretch
    /// before when the client was too slow, or asked for bytes that are no longer in memory.
    pub from: u64,
    /// After such a gap: sequences that bring a terminal to the modes that were set before `from`.
    pub modes: Vec<u8>,
    /// The printed bytes.
    pub bytes: Vec<u8>,
}

impl TerminalSize {
    pub(super) fn encode<'a>(&self, fields: &'a mut Writer) -> &'a mut Writer {
        fields.number(self.columns.into()).number(self.rows.into())
    }

    pub(super) fn decode(fields: &mut Reader) -> Option<TerminalSize> {
        Some(TerminalSize { columns: fields.small()?, rows: fields.small()? })
    }
}

impl TerminalView {
    pub(super) fn encode<'a>(&self, fields: &'a mut Writer) -> &'a mut Writer {
        self.size
            .encode(fields)
            .number(self.echoes.into())
            .number(self.canonical.into())
            .number(self.is_first.into())
    }

    pub(super) fn decode(fields: &mut Reader) -> Option<TerminalView> {
        let size = TerminalSize::decode(fields)?;
        let (echoes, canonical) = (fields.number()? != 0, fields.number()? != 0);
        Some(TerminalView { size, echoes, canonical, is_first: fields.number()? != 0 })
    }
}

impl Stretch {
    pub(super) fn encode<'a>(&self, fields: &'a mut Writer) -> &'a mut Writer {
        fields.number(self.from).bytes(&self.modes).bytes(&self.bytes)
    }

    pub(super) fn decode(fields: &mut Reader) -> Option<Stretch> {
        let from = fields.number()?;
        let modes = fields.bytes()?.to_vec();
        Some(Stretch { from, modes, bytes: fields.bytes()?.to_vec() })
    }
}
