use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

proptest! {
    #[test]
    fn the_ring_keeps_the_last_bytes_for_any_split_into_pieces(
        limit in 0usize..40,
        pieces in vec(vec(any::<u8>(), 0..30), 0..20),
    ) {
        let mut ring = Ring::new(limit);
        let all = pieces.concat();
        let fallen: usize = pieces.iter().map(|piece| ring.push(piece)).sum();
        let expected = last(&all, limit);
        let (older, newer) = ring.as_slices();
        prop_assert_eq!([older, newer].concat(), expected);
        prop_assert_eq!(fallen, all.len() - expected.len());
        prop_assert!(ring.bytes.capacity() <= limit);
        prop_assert_eq!(ring.take(), expected);
        prop_assert_eq!(ring.len(), 0);
    }
}

#[test]
fn memory_grows_with_what_is_kept_and_not_at_once() {
    let mut ring = Ring::new(1 << 30);
    ring.push(b"little");
    assert!(ring.bytes.capacity() < 64);
}
