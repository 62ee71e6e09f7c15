use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::capture::scan::scan;

/// Bytes with many broken, split and whole sequences.
fn messy() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        Just("a".as_bytes().to_vec()),
        Just("é".as_bytes().to_vec()),
        Just("中".as_bytes().to_vec()),
        Just("😀".as_bytes().to_vec()),
        vec(any::<u8>(), 0..4),
        vec(0x80u8..0xff, 0..4),
    ];
    vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn characters_are_counted_as_in_the_decoded_text_for_any_cut(
        bytes in messy(),
        cuts in vec(any::<prop::sample::Index>(), 0..8),
    ) {
        let mut places: Vec<_> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
        places.extend([0, bytes.len()]);
        places.sort_unstable();
        let mut count = CharacterCount::default();
        for pair in places.windows(2) {
            let piece = &bytes[pair[0]..pair[1]];
            count.push(piece, scan(piece));
        }
        let decoded = String::from_utf8_lossy(&bytes);
        let invalid = std::str::from_utf8(&bytes).is_err();
        prop_assert_eq!(count.total(), (decoded.chars().count() as u64, invalid));
        prop_assert!(count.pending.len() <= 3);
    }

    #[test]
    fn a_prefix_is_complete_unless_more_bytes_could_change_its_last_character(bytes in messy()) {
        let length = complete_prefix(&bytes);
        prop_assert!(length <= bytes.len() && bytes.len() - length <= 3);
        let (prefix, rest) = bytes.split_at(length);
        // The bytes left out are the start of one character and nothing else.
        prop_assert!(rest.is_empty() || is_incomplete(rest));
        let joined = format!("{}{}", String::from_utf8_lossy(prefix), String::from_utf8_lossy(rest));
        prop_assert_eq!(joined, String::from_utf8_lossy(&bytes).into_owned());
    }

    #[test]
    fn text_is_never_cut_inside_a_character(text in "\\PC{0,20}", cut in any::<prop::sample::Index>()) {
        let (head, tail) = text.as_bytes().split_at(cut.index(text.len() + 1));
        let head = &head[..complete_prefix(head)];
        let tail = &tail[severed_prefix(tail)..];
        prop_assert!(from_utf8(head).is_ok());
        prop_assert!(from_utf8(tail).is_ok());
        prop_assert!(text.len() - head.len() - tail.len() <= 4);
    }
}
