//! How the bytes that an output may take on the disk are shared: its first part, and pieces of its last.

/// Pieces of the last part. While it is renewed, one of them may be empty, so that four fifths remain.
const PIECES: u64 = 5;

/// The shares of a limit, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shares {
    /// The first part of an output that is longer than the limit.
    pub first: u64,
    /// A piece of its last part; 0: the limit is too small for any.
    pub piece: u64,
    /// What the output's own file may have while the output is not longer. The rest is room for a copy of a
    /// piece, since the limit holds at every moment.
    pub whole: u64,
}

impl Shares {
    /// Divides a limit in bytes.
    pub fn of(limit: u64) -> Shares {
        let piece = limit / (2 * PIECES);
        Shares { first: limit - PIECES * piece, piece, whole: limit - piece }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_shares_of_any_limit_are_within_it(limit: u64) {
            let Shares { first, piece, whole } = Shares::of(limit);
            prop_assert_eq!(first + PIECES * piece, limit);
            prop_assert!(whole + piece == limit && first <= whole && first >= limit / 2);
        }
    }
}
