use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

fn capture(limits: Limits, pieces: &[Vec<u8>]) -> Captured<Text> {
    let mut capture = Capture::new(limits);
    for piece in pieces {
        capture.push(piece);
    }
    assert_eq!(capture.snapshot(), capture.snapshot(), "looking changes nothing");
    let seen = capture.snapshot();
    let end = capture.finish();
    assert_eq!(seen, end, "a snapshot is what the end would be");
    end
}

fn lines(text: &[u8]) -> u64 {
    String::from_utf8_lossy(text).lines().count() as u64
}

/// Pieces of valid text, cut at any byte.
fn pieces_of_text() -> impl Strategy<Value = Vec<Vec<u8>>> {
    ("[a-zé中😀\n]{0,60}", 1usize..7)
        .prop_map(|(text, size)| text.as_bytes().chunks(size).map(<[u8]>::to_vec).collect())
}

proptest! {
    #[test]
    fn counts_cover_all_output_whatever_is_kept(
        pieces in vec(vec(any::<u8>(), 0..20), 0..20),
        head in 0usize..50,
        tail in 0usize..50,
    ) {
        let all = pieces.concat();
        let captured = capture(Limits { head, tail }, &pieces);
        let newlines = all.iter().filter(|byte| **byte == b'\n').count() as u64;
        let unfinished = all.last().is_some_and(|byte| *byte != b'\n');
        prop_assert_eq!(captured.total, Counts {
            bytes: all.len() as u64,
            characters: String::from_utf8_lossy(&all).chars().count() as u64,
            lines: newlines + u64::from(unfinished),
        });
        let exact = std::str::from_utf8(&all).is_ok() && !all.contains(&0);
        prop_assert_eq!(captured.lossy, !exact);
        if let Parts::Complete(text) = captured.kept {
            prop_assert!(all.len() <= head + tail);
            let visible = String::from_utf8_lossy(&all).replace('\0', "\u{2400}");
            prop_assert_eq!(text.to_string(), visible);
        }
    }

    #[test]
    fn both_ends_and_what_was_dropped_add_up(
        pieces in pieces_of_text(),
        head in 0usize..30,
        tail in 0usize..30,
    ) {
        let all = String::from_utf8(pieces.concat()).unwrap();
        let captured = capture(Limits { head, tail }, &pieces);
        prop_assert_eq!(captured.total.lines, lines(all.as_bytes()));
        prop_assert!(!captured.lossy);
        match captured.kept {
            Parts::Complete(text) => prop_assert_eq!(text.to_string(), all),
            Parts::Cut { head: first, tail: last, dropped } => {
                let (first, last) = (first.to_string(), last.to_string());
                prop_assert!(all.starts_with(&first) && first.len() <= head);
                prop_assert!(all.ends_with(&last) && last.len() <= tail);
                // A limit inside a character costs that character and no more.
                prop_assert!(first.len() + 4 > head && last.len() + 4 > tail);
                let middle = &all[first.len()..all.len() - last.len()];
                prop_assert_eq!(dropped, Counts {
                    bytes: middle.len() as u64,
                    characters: middle.chars().count() as u64,
                    lines: middle.matches('\n').count() as u64,
                });
            }
        }
    }
}

#[test]
fn an_empty_stream_has_no_line_and_a_final_newline_begins_none() {
    let limits = Limits { head: 9, tail: 9 };
    for (text, expected) in [("", 0), ("a", 1), ("a\n", 1), ("a\nb", 2), ("\n\n", 2)] {
        assert_eq!(capture(limits, &[text.into()]).total.lines, expected, "{text:?}");
    }
}

proptest! {
    #[test]
    fn the_last_line_is_measured_however_it_comes(pieces in pieces_of_text()) {
        let all = pieces.concat();
        let captured = capture(Limits { head: 3, tail: 3 }, &pieces);
        let text = all.strip_suffix(b"\n").unwrap_or(&all);
        let last = text.rsplit(|byte| *byte == b'\n').next().unwrap();
        prop_assert_eq!(captured.last_line, last.len() as u64);
    }

    #[test]
    fn holds_tells_when_the_capture_is_about_to_lose_bytes(
        pieces in pieces_of_text(),
        head in 0usize..40,
        tail in 0usize..40,
        limit in 0u64..120,
    ) {
        let mut capture = Capture::new(Limits { head, tail });
        let mut all = Vec::new();
        for piece in pieces {
            let held = capture.holds(piece.len(), limit);
            capture.push(&piece);
            all.extend_from_slice(&piece);
            prop_assert_eq!(held, all.len() <= head + tail && all.len() as u64 <= limit);
            if held {
                prop_assert_eq!(&capture.bytes(), &all);
            }
        }
    }
}

#[test]
fn a_nul_among_ascii_is_shown_as_among_other_text() {
    for text in ["a\0b\n", "\0", "é\0"] {
        let captured = capture(Limits { head: 9, tail: 9 }, &[text.into()]);
        let Parts::Complete(shown) = captured.kept else { panic!("{text:?}") };
        assert_eq!(shown.to_string(), text.replace('\0', "\u{2400}"));
    }
}
