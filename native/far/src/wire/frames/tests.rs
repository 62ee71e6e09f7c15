use super::*;

fn frames() -> Vec<Frame> {
    let frame =
        |kind, more, call, size| Frame { kind, more, call, payload: vec![call as u8; size] };
    vec![
        frame(Kind::Hello, false, 0, 40),
        frame(Kind::Open, true, 1, 65_536),
        frame(Kind::Open, false, 1, 0),
        frame(Kind::Data, false, u32::MAX, MOST_PAYLOAD),
    ]
}

#[test]
fn frames_are_parsed_from_pieces_of_any_size() {
    let mut bytes = Vec::new();
    frames().iter().for_each(|frame| encode(frame, &mut bytes));
    for size in [1, 9, 10, 11, 4096, bytes.len()] {
        let mut parser = Parser::default();
        let mut found = Vec::new();
        for piece in bytes.chunks(size) {
            parser.push(piece);
            while let Some(frame) = parser.next().unwrap() {
                found.push(frame);
            }
        }
        assert_eq!(found, frames());
    }
}

#[test]
fn invalid_frames_are_refused() {
    for bytes in [
        *b"\0\0\0\0\x09\0\0\0\0\0",
        *b"\0\0\0\0\0\0\0\0\0\0",
        *b"\0\x04\0\x01\x04\0\0\0\0\x01",
        *b"\0\0\0\0\x04\x02\0\0\0\x01",
        *b"GET / HTTP",
    ] {
        let mut parser = Parser::default();
        parser.push(&bytes);
        assert!(parser.next().is_err());
    }
}
