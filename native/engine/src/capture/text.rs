//! Decoding of bytes to text, off the main thread, in the form that crosses to JavaScript fastest.

use crate::capture::scan::scan;

/// Decoded text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Text {
    /// Only ASCII: crosses as a one-byte string.
    Ascii(Vec<u8>),
    /// Text that is not only ASCII.
    Utf16(Vec<u16>),
}

/// The character shown in place of NUL, `␀`: JSON escapes NUL, but many databases and terminals refuse or
/// drop it.
pub const NUL_SYMBOL: char = '\u{2400}';

impl Text {
    /// Decodes UTF-8: invalid sequences become U+FFFD, NUL becomes [`NUL_SYMBOL`].
    pub fn decode(bytes: Vec<u8>) -> Text {
        let content = scan(&bytes);
        let visible = |unit: u16| if unit == 0 { NUL_SYMBOL as u16 } else { unit };
        match (content.is_ascii, content.has_nul) {
            (true, false) => return Text::Ascii(bytes),
            // Each byte is a unit, with no sequences to look for.
            (true, true) => {
                return Text::Utf16(bytes.iter().map(|byte| visible((*byte).into())).collect());
            }
            (false, _) => {}
        }
        let text = String::from_utf8_lossy(&bytes);
        Text::Utf16(text.encode_utf16().map(visible).collect())
    }

    /// Returns the number of characters (code points).
    pub fn characters(&self) -> u64 {
        let is_second_half = |unit: &&u16| (0xDC00..=0xDFFF).contains(*unit);
        match self {
            Text::Ascii(bytes) => bytes.len() as u64,
            // The text is valid by construction, so every second half belongs to a pair.
            Text::Utf16(units) => {
                (units.len() - units.iter().filter(is_second_half).count()) as u64
            }
        }
    }
}

impl std::fmt::Display for Text {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Text::Ascii(bytes) => formatter.write_str(&String::from_utf8_lossy(bytes)),
            Text::Utf16(units) => formatter.write_str(&String::from_utf16_lossy(units)),
        }
    }
}
