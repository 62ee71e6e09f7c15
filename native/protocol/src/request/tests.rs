use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::Order;

fn text() -> impl Strategy<Value = CString> {
    vec(1..=255u8, 0..40).prop_map(|bytes| CString::new(bytes).unwrap_or_default())
}

prop_compose! {
    fn any_request()(
        images in vec((text(), vec(text(), 0..4)), 0..4),
        environment: Vec<u8>,
        directory in proptest::option::of(text()),
        limits in vec((0..16i32, any::<u64>(), any::<u64>()), 0..16),
        mask in proptest::option::of(0..0o777u32),
        nice in proptest::option::of(-20..20i32),
        session_nice in proptest::option::of(-20..20i32),
        affinity in vec(any::<u8>(), 0..16),
        oom_score in proptest::option::of(-1000..=1000i32),
        bounding: Option<u64>,
        terminal: bool,
        follow: bool,
        announce: bool,
    ) -> Request {
        let images = images.into_iter().map(|(path, argv)| Image { path, argv }).collect();
        let limit = |(resource, soft, hard)| Limit { resource, soft, hard };
        let limits = limits.into_iter().map(limit).collect();
        let attributes =
            Attributes { limits, mask, nice, session_nice, affinity, oom_score, bounding };
        let directory = directory.filter(|path| !path.is_empty());
        Request { images, environment, directory, attributes, terminal, follow, announce }
    }
}

proptest! {
    #[test]
    fn a_request_arrives_as_it_was_sent(request in any_request()) {
        prop_assert_eq!(Request::decode(&request.encode()), Some(request));
    }

    #[test]
    fn a_request_that_is_cut_off_is_none(request in any_request(), part in 0.0..1.0) {
        let bytes = request.encode();
        let cut = bytes.split_at((bytes.len() as f64 * part) as usize).0;
        prop_assert_eq!(Request::decode(cut), None);
    }

    #[test]
    fn other_bytes_do_no_harm(bytes: Vec<u8>) {
        let _ = Request::decode(&bytes);
        let _ = Descriptors::decode(&bytes, Vec::new()).is_some();
    }
}

#[test]
fn a_request_is_told_from_an_order_and_from_a_broken_message() {
    let (head, _) = Descriptors {
        stdout: std::io::stdout().as_fd(),
        stdin: None,
        stderr: None,
        directory: None,
        script: None,
        body: None,
        group: None,
        other_group: None,
    }
    .encode();
    assert!(Descriptors::are_in(&head));
    for order in [Order::Signal(15), Order::End(16), Order::Who] {
        assert!(!Descriptors::are_in(&order.encode()));
    }
    assert!(!Descriptors::are_in(b"x"));
    // The descriptors are missing.
    assert!(Descriptors::decode(&head, Vec::new()).is_none());
}
