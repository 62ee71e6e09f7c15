use super::*;

#[test]
fn a_message_is_cut_by_what_the_other_side_can_take() {
    let mut lane = Lane::new(Pieces::Split);
    lane.put(vec![1; 2 * WINDOW as usize]);
    let mut sent = 0;
    while let Some((bytes, more)) = lane.next() {
        assert!(bytes.len() <= SENT_PAYLOAD && more);
        sent += bytes.len() as u64;
    }
    assert_eq!(sent, WINDOW);
    lane.credited(1);
    assert_eq!(lane.next(), Some((vec![1], true)));
    lane.credited(WINDOW);
    let rest: Vec<_> = std::iter::from_fn(|| lane.next()).collect();
    assert_eq!(rest.iter().map(|(bytes, _)| bytes.len() as u64).sum::<u64>(), WINDOW - 1);
    assert!(rest.iter().rev().skip(1).all(|(_, more)| *more));
    assert!(!rest.last().unwrap().1);
    assert_eq!(lane.waiting(), 0);
}

#[test]
fn bytes_go_in_one_piece_or_wait() {
    let mut lane = Lane::new(Pieces::Whole);
    (0..17).for_each(|_| lane.put(vec![2; SENT_PAYLOAD]));
    assert_eq!(std::iter::from_fn(|| lane.next()).count(), 16);
    lane.credited(SENT_PAYLOAD as u64 - 1);
    assert_eq!(lane.next(), None);
    lane.credited(1);
    assert!(lane.next().is_some_and(|(bytes, more)| bytes.len() == SENT_PAYLOAD && !more));
}

#[test]
fn bytes_beyond_the_granted_ones_are_noticed() {
    let mut lane = Lane::new(Pieces::Whole);
    assert!(lane.received(WINDOW as usize));
    assert_eq!(lane.consumed(1), None);
    assert_eq!(lane.consumed(GRANTED as usize), Some(GRANTED + 1));
    assert!(lane.received(GRANTED as usize));
    assert!(!lane.received(2));
}
