//! The blanks that words are separated by.

/// What JavaScript takes for a blank, of one byte.
pub fn is_blank(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte == 0x0b || byte == 0xa0
}
