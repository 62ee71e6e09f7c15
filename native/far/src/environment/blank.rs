//! The white space that separates words.

/// Returns whether JavaScript takes this byte for white space.
pub fn is_blank(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte == 0x0b || byte == 0xa0
}
