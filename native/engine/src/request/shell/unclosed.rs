//! Texts whose last command is surely unfinished: a quote, a parenthesis or `[[` stays open to their end.
//!
//! `bash -c` ends such a text with the exit code of the line before, if that has failed; `eval` always gives 2. So
//! the text is an argument then, as with `bash -c`. Of a text that is complete nothing may say so, since `pkill -f`
//! could match its shell: where the scanner is in doubt, it says no.

use memchr::memmem;

/// The nesting that is followed: models and people write far less.
const DEEPEST: usize = 32;

/// Operators of `[[` between two words.
const CONDITIONS: [&[u8]; 10] =
    [b"==", b"=", b"!=", b"=~", b"-eq", b"-ne", b"-lt", b"-le", b"-gt", b"-ge"];

/// The result of reading a part of a text.
enum Part {
    /// The part ends before this index.
    Ends(usize),
    /// The text ends first.
    Open,
    /// The part may mean something that is not read here.
    Unsure,
}

/// Returns whether something stays open to the end of the text. Only a text of several lines has a line before:
/// of another one the code is 2 in either way.
pub fn is_surely_unclosed(text: &[u8]) -> bool {
    // A here-document has rules of its own.
    if memchr::memchr(b'\n', text).is_none() || memmem::find(text, b"<<").is_some() {
        return false;
    }
    let scanner = Scanner {
        text,
        // Its patterns end with parentheses that nothing opens.
        has_case: memmem::find(text, b"case").is_some(),
        last_close: memmem::rfind(text, b"]]"),
    };
    matches!(scanner.commands(0, false, 0), Part::Open)
}

struct Scanner<'text> {
    text: &'text [u8],
    has_case: bool,
    /// The index of the last `]]`.
    last_close: Option<usize>,
}

impl Scanner<'_> {
    /// Reads commands: to the end of the text, or to the parenthesis that ends a substitution.
    fn commands(&self, from: usize, is_nested: bool, depth: usize) -> Part {
        if depth > DEEPEST || (is_nested && self.has_case) {
            return Part::Unsure;
        }
        let mut parentheses = 0_usize;
        let mut at = from;
        while let Some(byte) = self.get(at) {
            let part = match byte {
                b'#' if self.is_at_word_start(at, from) => {
                    let line = self.text.get(at..).unwrap_or_default();
                    Part::Ends(at + memchr::memchr(b'\n', line).unwrap_or(line.len()))
                }
                b'[' if self.is_open_condition(at, from) => Part::Open,
                b'(' if self.get(at + 1) == Some(b'(') => self.arithmetic(at + 2),
                b'(' => {
                    parentheses += 1;
                    Part::Ends(at + 1)
                }
                b')' if parentheses > 0 => {
                    parentheses -= 1;
                    Part::Ends(at + 1)
                }
                b')' if is_nested => return Part::Ends(at + 1),
                b')' if !self.has_case => Part::Unsure,
                b'\'' => self.single_quoted(at + 1),
                b'"' => self.double_quoted(at + 1, depth + 1),
                b'$' if self.get(at + 1) == Some(b'\'') => self.until(at + 2, b'\''),
                _ => self.common(at, byte, false, depth + 1),
            };
            match part {
                Part::Ends(next) => at = next,
                open_or_unsure => return open_or_unsure,
            }
        }
        let is_open = is_nested || (parentheses > 0 && !self.has_case);
        if is_open { Part::Open } else { Part::Ends(at) }
    }

    fn double_quoted(&self, from: usize, depth: usize) -> Part {
        self.enclosed(from, b'"', depth, |at, byte| self.common(at, byte, true, depth))
    }

    /// Reads what is in `${…}`.
    fn braces(&self, from: usize, is_quoted: bool, depth: usize) -> Part {
        self.enclosed(from, b'}', depth, |at, byte| match byte {
            // Within double quotes it depends on the operator whether it is a quote.
            b'\'' if is_quoted => Part::Unsure,
            b'\'' => self.single_quoted(at + 1),
            b'"' => self.double_quoted(at + 1, depth + 1),
            _ => self.common(at, byte, is_quoted, depth),
        })
    }

    fn enclosed(
        &self,
        from: usize,
        end: u8,
        depth: usize,
        read: impl Fn(usize, u8) -> Part,
    ) -> Part {
        if depth > DEEPEST {
            return Part::Unsure;
        }
        let mut at = from;
        while let Some(byte) = self.get(at) {
            if byte == end {
                return Part::Ends(at + 1);
            }
            match read(at, byte) {
                Part::Ends(next) => at = next,
                open_or_unsure => return open_or_unsure,
            }
        }
        Part::Open
    }

    /// Reads what means the same inside of double quotes and outside: escapes and substitutions.
    fn common(&self, at: usize, byte: u8, is_quoted: bool, depth: usize) -> Part {
        match (byte, self.get(at + 1)) {
            // The process id, and not the beginning of what follows.
            (b'\\', _) | (b'$', Some(b'$')) => Part::Ends(at + 2),
            (b'`', _) => self.until(at + 1, b'`'),
            (b'$', Some(b'(')) if self.get(at + 2) == Some(b'(') => self.arithmetic(at + 3),
            (b'$', Some(b'(')) => self.commands(at + 2, true, depth + 1),
            (b'$', Some(b'{')) => self.braces(at + 2, is_quoted, depth + 1),
            _ => Part::Ends(at + 1),
        }
    }

    /// Reads the rest of `$((…))` or `((…))`, unless there is anything but numbers, names and operators in it.
    fn arithmetic(&self, from: usize) -> Part {
        let mut parentheses = 2_usize;
        for (at, byte) in self.text.iter().enumerate().skip(from) {
            match byte {
                b'(' => parentheses += 1,
                b')' if parentheses == 1 => return Part::Ends(at + 1),
                b')' => parentheses -= 1,
                b'\'' | b'"' | b'`' | b'\\' | b'{' | b'#' => return Part::Unsure,
                _ => {}
            }
        }
        Part::Open
    }

    fn single_quoted(&self, from: usize) -> Part {
        let rest = self.text.get(from..).unwrap_or_default();
        memchr::memchr(b'\'', rest).map_or(Part::Open, |found| Part::Ends(from + found + 1))
    }

    /// Reads to the next such character that no backslash escapes.
    fn until(&self, from: usize, end: u8) -> Part {
        let mut at = from;
        while let Some(byte) = self.get(at) {
            match byte {
                b'\\' => at += 2,
                _ if byte == end => return Part::Ends(at + 1),
                _ => at += 1,
            }
        }
        Part::Open
    }

    /// Returns whether `[[` is a command here, and an expression of one operator follows that nothing closes. Of
    /// what is no expression (`[[ a b`), `bash -c` may give 0, which is no help.
    fn is_open_condition(&self, at: usize, from: usize) -> bool {
        if self.last_close.is_some_and(|last| last > at) || self.get(at + 1) != Some(b'[') {
            return false;
        }
        let before = self.text.get(from..at).unwrap_or_default();
        let line = before.rsplit(|byte| b"\n;&|".contains(byte)).next().unwrap_or_default();
        if !line.iter().all(|byte| b" \t".contains(byte)) {
            return false;
        }
        let rest = self.text.get(at + 2..).unwrap_or_default();
        let is_plain =
            |byte: &u8| byte.is_ascii_alphanumeric() || b" _-./=+:,@%^~!$".contains(byte);
        let words: Vec<&[u8]> =
            rest.split(|byte| *byte == b' ').filter(|word| !word.is_empty()).collect();
        rest.first() == Some(&b' ')
            && rest.trim_ascii_end().iter().all(is_plain)
            && match words[..] {
                [[b'-', _], _] => true,
                [_, operator, _] => CONDITIONS.contains(&operator),
                _ => false,
            }
    }

    fn is_at_word_start(&self, at: usize, from: usize) -> bool {
        let before = at.checked_sub(1).filter(|index| *index >= from);
        before.and_then(|index| self.get(index)).is_none_or(|byte| b" \t\n;&|()<>".contains(&byte))
    }

    fn get(&self, at: usize) -> Option<u8> {
        self.text.get(at).copied()
    }
}

#[cfg(test)]
mod tests;
