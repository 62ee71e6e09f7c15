//! One look at a piece of output for all that is asked of each byte.
//!
//! A long output is read as fast as the kernel hands it over, so that each further pass over its bytes shows
//! in the whole time.

/// What a piece of output consists of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ByteContent {
    /// The number of newlines.
    pub newlines: u64,
    /// Whether a byte is NUL.
    pub has_nul: bool,
    /// Whether all bytes are ASCII.
    pub is_ascii: bool,
}

/// Looks at all bytes once.
pub fn scan(bytes: &[u8]) -> ByteContent {
    #[cfg(target_arch = "x86_64")]
    if bytes.len() >= ROW && std::is_x86_feature_detected!("avx2") {
        // SAFETY: this processor has the instructions, which is all that the function asks for.
        return unsafe { scan_wide(bytes) };
    }
    scan_parts(bytes)
}

/// Without wide registers three passes, each by its library, are faster than one by the compiler.
fn scan_parts(bytes: &[u8]) -> ByteContent {
    ByteContent {
        newlines: bytecount::count(bytes, b'\n') as u64,
        has_nul: memchr::memchr(0, bytes).is_some(),
        is_ascii: bytes.is_ascii(),
    }
}

/// The bytes that are looked at side by side; the compiler makes four registers of them.
#[cfg(target_arch = "x86_64")]
const ROW: usize = 128;

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn scan_wide(bytes: &[u8]) -> ByteContent {
    let (mut newlines, mut lowest, mut all_bits) = (0, [u8::MAX; ROW], [0; ROW]);
    let (rows, rest) = bytes.as_chunks::<ROW>();
    // A column's count of newlines is a byte, which must not overflow.
    for rows in rows.chunks(u8::MAX.into()) {
        let mut counts = [0u8; ROW];
        for row in rows {
            let columns = counts.iter_mut().zip(&mut lowest).zip(&mut all_bits);
            for (((count, lowest), bits), byte) in columns.zip(row) {
                *count += u8::from(*byte == b'\n');
                *lowest = (*lowest).min(*byte);
                *bits |= *byte;
            }
        }
        newlines += counts.iter().map(|count| u64::from(*count)).sum::<u64>();
    }
    let rest = scan_parts(rest);
    ByteContent {
        newlines: newlines + rest.newlines,
        has_nul: rest.has_nul || lowest.contains(&0),
        is_ascii: rest.is_ascii && all_bits.is_ascii(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_look_sees_what_three_passes_see() {
        for length in [0, 1, 127, 128, 129, 255 * 128, 255 * 128 + 1, 256 * 128, 70_000] {
            for filler in [b'a', b'\n', 0, 0xc3] {
                for (place, odd) in [(0, b'\n'), (length / 2, 0), (length, 0xff)] {
                    let mut bytes = vec![filler; length];
                    bytes.get_mut(place.min(length.max(1) - 1)).into_iter().for_each(|b| *b = odd);
                    assert_eq!(scan(&bytes), scan_parts(&bytes), "{length} {filler} {place} {odd}");
                }
            }
        }
    }
}
