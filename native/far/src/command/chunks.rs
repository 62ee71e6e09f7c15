//! Output in the form in which it is sent.

use forkline_engine::Label;

use crate::command::open::DeliveryForm;
use crate::wire::lane::SENT_PAYLOAD;

/// The length of a piece's header in bytes: the number of the stream, and the count of bytes lost before
/// the piece.
const HEADER: usize = 9;

/// Splits output into pieces that fit into a frame each; text is not split within a character.
pub fn pieces(label: Label, bytes: &[u8], form: DeliveryForm, dropped: u64) -> Vec<Vec<u8>> {
    let stream = match label {
        Label::Merged => 0,
        Label::Stdout => 1,
        Label::Stderr => 2,
    };
    let (mut pieces, mut rest, mut dropped) = (Vec::new(), bytes, dropped);
    loop {
        let mut size = rest.len().min(SENT_PAYLOAD - HEADER);
        while form == DeliveryForm::Text && rest.get(size).is_some_and(|byte| byte & 0xc0 == 0x80) {
            size -= 1;
        }
        let (part, others) = rest.split_at(size);
        let mut piece = Vec::with_capacity(HEADER + size);
        piece.push(stream);
        piece.extend_from_slice(&(dropped as f64).to_be_bytes());
        piece.extend_from_slice(part);
        pieces.push(piece);
        (rest, dropped) = (others, 0);
        if rest.is_empty() {
            return pieces;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_fit_into_a_frame_and_text_is_not_cut_within_a_character() {
        let text = "aé".repeat(70_000);
        let cases = [
            (DeliveryForm::Text, text.as_bytes()),
            (DeliveryForm::Bytes, text.as_bytes()),
            (DeliveryForm::Text, b""),
        ];
        for (form, bytes) in cases {
            let pieces = pieces(Label::Stderr, bytes, form, 7);
            let mut whole = Vec::new();
            for (at, piece) in pieces.iter().enumerate() {
                let dropped: f64 = if at == 0 { 7.0 } else { 0.0 };
                assert!(piece.len() <= SENT_PAYLOAD);
                assert_eq!(piece[0], 2);
                assert_eq!(piece[1..HEADER], dropped.to_be_bytes());
                let is_text = form == DeliveryForm::Text;
                assert!(!is_text || std::str::from_utf8(&piece[HEADER..]).is_ok());
                whole.extend_from_slice(&piece[HEADER..]);
            }
            assert_eq!(whole, bytes);
        }
    }
}
