use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

fn live(whole_characters: bool) -> Live {
    Live::new(Overflow::DropMiddle, whole_characters)
}

#[test]
fn the_first_bytes_are_due_at_once_and_the_next_after_the_interval() {
    let now = Instant::now();
    let mut live = live(true);
    assert_eq!(live.due(now), None);
    live.push(b"a");
    assert_eq!(live.due(now), Some(now));
    assert_eq!(live.take(now), [Piece { bytes: b"a".to_vec(), dropped: 0 }]);
    live.push(b"b");
    assert_eq!(live.due(now), None, "the listener has not asked for more");
    live.want();
    assert_eq!(live.due(now), Some(now + INTERVAL));
    live.push(&[b'c'; FULL_CHUNK]);
    assert_eq!(live.due(now), Some(now), "a full chunk does not wait");
}

#[test]
fn a_slow_listener_loses_the_middle_and_is_told_how_much() {
    let mut live = live(true);
    let text = "中".repeat(LIMIT);
    live.push(text.as_bytes());
    let pieces = live.take(Instant::now());
    let [first, last] = pieces.as_slice() else { panic!("{}", pieces.len()) };
    let kept = first.bytes.len() + last.bytes.len();
    assert_eq!(first.dropped, 0);
    assert_eq!(last.dropped as usize, text.len() - kept);
    assert!(kept <= LIMIT && kept > LIMIT - 8);
    for piece in [first, last] {
        assert!(std::str::from_utf8(&piece.bytes).is_ok());
    }
}

#[test]
fn with_pause_the_command_waits_long_before_output_is_dropped() {
    let mut live = Live::new(Overflow::Pause, false);
    live.push(&[0; FULL_CHUNK]);
    assert!(!live.is_full());
    live.push(&[0; FULL_CHUNK]);
    assert!(live.is_full());
    // There is also room for the read that filled it.
    live.push(&[0; FULL_CHUNK]);
    assert_eq!(live.take(Instant::now()).len(), 1);
}

proptest! {
    #[test]
    fn all_printed_output_is_delivered_and_no_character_is_split(
        text in "[a-zé中😀]{0,60}",
        size in 1usize..7,
        takes in vec(any::<bool>(), 40),
    ) {
        let mut live = live(true);
        let mut delivered = Vec::new();
        for (piece, take) in text.as_bytes().chunks(size).zip(takes.iter().cycle()) {
            live.push(piece);
            if *take {
                delivered.extend(live.take(Instant::now()));
            }
        }
        delivered.extend(live.finish());
        for piece in &delivered {
            prop_assert!(std::str::from_utf8(&piece.bytes).is_ok());
            prop_assert_eq!(piece.dropped, 0);
        }
        let joined: Vec<u8> = delivered.into_iter().flat_map(|piece| piece.bytes).collect();
        prop_assert_eq!(joined, text.into_bytes());
    }
}
