//! The modes of a terminal that forgotten output has set.

use std::collections::BTreeMap;

/// The most private modes that are noted; terminals know some forty.
const MOST_MODES: usize = 64;
/// The longest sequence that is looked at.
const LONGEST: usize = 64;
const ESC: u8 = 0x1b;
const BEL: u8 = 0x07;
const CAN: u8 = 0x18;

/// Reads output byte by byte, and notes what outlasts the text: the alternate screen, whether the cursor is
/// shown, how keys, pastes and the mouse are reported, the rows that scroll, the character set.
#[derive(Default)]
pub struct Modes {
    /// DECSET and DECRST.
    private: BTreeMap<u16, bool>,
    /// DECKPAM.
    is_application_keypad: bool,
    /// DECSTBM, as it was written.
    scrolled_rows: Option<Vec<u8>>,
    /// The designation of G0, as it was written.
    character_set: Option<Vec<u8>>,
    /// The sequence that has begun.
    begun: Vec<u8>,
}

impl Modes {
    /// Reads the next byte.
    pub fn read(&mut self, byte: u8) {
        match (self.begun.get(1), byte) {
            (_, CAN) => self.begun.clear(),
            (None, ESC) => self.begun = vec![ESC],
            (None, _) if self.begun.is_empty() => {}
            (Some(b']' | b'P' | b'X' | b'^' | b'_'), _) => self.read_string(byte),
            // A sequence in a sequence: the first one is not carried out.
            (Some(_), ESC) => self.begun = vec![ESC],
            // Most controls within a sequence do not end it.
            (_, ..0x20) => {}
            _ => self.read_sequence(byte),
        }
    }

    /// Reads a byte of a title or the like, which changes no mode.
    fn read_string(&mut self, byte: u8) {
        let ends = byte == BEL || byte == b'\\' && self.begun.last() == Some(&ESC);
        if ends {
            self.begun.clear();
        } else if self.begun.len() < 3 {
            self.begun.push(byte);
        } else if let Some(last) = self.begun.last_mut() {
            *last = byte;
        }
    }

    fn read_sequence(&mut self, byte: u8) {
        self.begun.push(byte);
        let is_control = self.begun.get(1) == Some(&b'[');
        let ends = match self.begun.len() {
            2 => {
                matches!(byte, 0x30..=0x7e)
                    && !matches!(byte, b'[' | b']' | b'P' | b'X' | b'^' | b'_')
            }
            _ if is_control => matches!(byte, 0x40..=0x7e),
            _ => matches!(byte, 0x30..=0x7e),
        };
        if ends {
            let sequence = std::mem::take(&mut self.begun);
            self.carry_out(&sequence);
        } else if self.begun.len() > LONGEST {
            self.begun.clear();
        }
    }

    fn carry_out(&mut self, sequence: &[u8]) {
        match sequence {
            [ESC, b'c'] => *self = Modes::default(),
            [ESC, b'='] => self.is_application_keypad = true,
            [ESC, b'>'] => self.is_application_keypad = false,
            [ESC, b'(', ..] => self.character_set = Some(sequence.to_vec()),
            // DECSTR resets what is noted here, but for the screen and the reports.
            [ESC, b'[', b'!', b'p'] => {
                self.scrolled_rows = None;
                self.character_set = None;
                self.is_application_keypad = false;
                self.private.retain(|mode, _| ![1, 6, 25].contains(mode));
            }
            [ESC, b'[', b'?', modes @ .., end @ (b'h' | b'l')] => self.set(modes, *end == b'h'),
            [ESC, b'[', rows @ .., b'r']
                if rows.iter().all(|b| b.is_ascii_digit() || *b == b';') =>
            {
                self.scrolled_rows = Some(sequence.to_vec()).filter(|_| !rows.is_empty());
            }
            _ => {}
        }
    }

    fn set(&mut self, modes: &[u8], is_set: bool) {
        for mode in modes.split(|byte| *byte == b';') {
            let mode = std::str::from_utf8(mode).ok().and_then(|mode| mode.parse().ok());
            let Some(mode) = mode else { continue };
            if self.private.len() < MOST_MODES || self.private.contains_key(&mode) {
                self.private.insert(mode, is_set);
            }
        }
    }

    /// Returns sequences that set the same, and then the sequence that has begun.
    pub fn sequences(&self) -> Vec<u8> {
        let mut all = Vec::new();
        for (mode, is_set) in &self.private {
            let end = if *is_set { 'h' } else { 'l' };
            all.extend(format!("\x1b[?{mode}{end}").into_bytes());
        }
        if self.is_application_keypad {
            all.extend(b"\x1b=");
        }
        all.extend(self.character_set.iter().flatten());
        all.extend(self.scrolled_rows.iter().flatten());
        all.extend(&self.begun);
        all
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn after(text: &str) -> String {
        let mut modes = Modes::default();
        text.bytes().for_each(|byte| modes.read(byte));
        String::from_utf8(modes.sequences()).unwrap()
    }

    #[test]
    fn modes_are_told_as_they_were_set_last() {
        assert_eq!(after("plain\r\ntext"), "");
        assert_eq!(after("\x1b[?1049h\x1b[?1;2004hx\x1b[?1l"), "\x1b[?1l\x1b[?1049h\x1b[?2004h");
        assert_eq!(after("\x1b=\x1b(0\x1b[2;9r"), "\x1b=\x1b(0\x1b[2;9r");
        assert_eq!(after("\x1b[2;9r\x1b[r\x1b=\x1b>"), "");
        assert_eq!(after("\x1b[?25l\x1bc"), "");
        assert_eq!(after("\x1b[31m\x1b[2J\x1b[1;1H\x1b[?u\x1b[>1u"), "");
    }

    #[test]
    fn titles_are_no_modes_and_a_sequence_that_has_begun_is_told() {
        assert_eq!(after("\x1b]0;\x1b[?25h a [?25l\x07"), "");
        assert_eq!(after("\x1b]0;title\x1b\\\x1b[?7l"), "\x1b[?7l");
        assert_eq!(after("text\x1b[38;5"), "\x1b[38;5");
        assert_eq!(after("text\x1b[38;5\x18"), "");
    }

    proptest! {
        #[test]
        fn any_output_is_read_within_bounds(bytes: Vec<u8>, prefix in "(\x1b\\[\\??|\x1b\\])?") {
            let mut modes = Modes::default();
            for byte in prefix.bytes().chain(bytes.iter().cycle().take(5000).copied()) {
                modes.read(byte);
            }
            prop_assert!(modes.sequences().len() < 2048);
        }

        #[test]
        fn what_is_told_sets_the_same(text in "(\x1b\\[\\?[0-9]{1,4}[hl]|\x1b[=>c]|\x1b\\([0B]|x)*") {
            let told = after(&text);
            prop_assert_eq!(after(&told), told);
        }
    }
}
