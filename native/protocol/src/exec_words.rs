//! Words that tell of programs, which arrive among those that tell of denials: as many as are kept.

/// A word that tells of a program: `exec=DECISION,…`.
const TOLD: &str = "exec=";
/// A word that tells of one that was denied.
const DENIED: &str = "exec=deny,";
/// The most programs of a command that are kept, and the most bytes of their words.
const MOST: usize = 1000;
/// See [`MOST`].
const MOST_BYTES: usize = 64 * 1024;
/// The most programs that were denied: they are kept apart, so that no number of others hides them.
const MOST_DENIED: usize = 256;

/// The programs of one command, in the order in which they were told. Equal ones are several.
#[derive(Debug, Default)]
pub struct ExecWords {
    words: Vec<String>,
    executed: Allotment,
    denied: Allotment,
    more: u64,
}

/// What is kept of one kind.
#[derive(Debug, Default)]
struct Allotment {
    count: usize,
    bytes: usize,
}

impl Allotment {
    /// Takes room for one more. Returns whether there was any.
    fn take(&mut self, most: usize, length: usize) -> bool {
        let has_room = self.count < most && self.bytes + length <= MOST_BYTES;
        if has_room {
            (self.count, self.bytes) = (self.count + 1, self.bytes + length);
        }
        has_room
    }
}

impl ExecWords {
    /// Returns whether a word tells of a program.
    pub fn is_one(word: &str) -> bool {
        word.starts_with(TOLD)
    }

    /// Keeps a word, or counts it if there is no room. Returns whether it is kept.
    pub fn add(&mut self, word: String) -> bool {
        let is_kept = self.admit(&word);
        if is_kept {
            self.words.push(word);
        }
        is_kept
    }

    /// Counts a word among those that are kept, by whoever keeps it. Returns whether there is room for it.
    pub fn admit(&mut self, word: &str) -> bool {
        let is_kept = if word.starts_with(DENIED) {
            self.denied.take(MOST_DENIED, word.len())
        } else {
            self.executed.take(MOST, word.len())
        };
        self.more += u64::from(!is_kept);
        is_kept
    }

    /// Counts a program that is told nowhere.
    pub fn lose(&mut self) {
        self.more += 1;
    }

    /// Returns the word for those that were counted, and for these others. None: there are none.
    pub fn more(&self, others: u64) -> Option<String> {
        let more = self.more + others;
        (more > 0).then(|| format!("exec-more={more}"))
    }

    /// Returns the words, and at last the one for what was counted.
    pub fn finish(self) -> impl Iterator<Item = String> {
        let more = self.more(0);
        self.words.into_iter().chain(more)
    }
}

/// Returns why a program was denied, and what can be done instead. None: the word tells of something else.
pub fn why_denied(word: &str) -> Option<String> {
    let fields: Vec<&str> = word.strip_prefix(DENIED)?.split(',').collect();
    let why = match fields.first().copied() {
        Some("asked") => "it was not allowed when that was asked",
        Some("unanswered") => "nobody has answered in time whether it is allowed",
        Some("unasked") => "nobody was there to be asked whether it is allowed",
        Some("long") => "its arguments are too long for a question whether it is allowed",
        Some("unread") => "its file can't be read, so that its sandbox's rules could not be kept",
        _ => "the rules of its sandbox deny it",
    };
    // Before it: WHY, EXACT, PID, PARENT, AT, PROGRAM, BY.
    let say = fields.get(7).map(|text| decoded(text)).unwrap_or_default();
    Some(if say.is_empty() { why.to_owned() } else { format!("{why}: {say}") })
}

/// Decodes percent-encoded text.
fn decoded(text: &str) -> String {
    let (mut bytes, mut rest) = (Vec::with_capacity(text.len()), text.as_bytes());
    while let Some((first, after)) = rest.split_first() {
        let digits = after.get(..2).and_then(|digits| str::from_utf8(digits).ok());
        let byte = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match byte.filter(|_| *first == b'%') {
            Some(byte) => {
                bytes.push(byte);
                rest = after.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_denied_program_is_said_why_and_what_the_rule_says() {
        let word = |why: &str, say: &str| {
            why_denied(&format!("exec=deny,{why},1,7,6,1,/usr/bin/git,make,{say},2,git,push"))
        };
        let ruled = "the rules of its sandbox deny it";
        assert_eq!(word("rule", "").as_deref(), Some(ruled));
        let said = format!("{ruled}: ask, für 5%");
        assert_eq!(word("rule", "ask%2C%20f%C3%BCr%205%"), Some(said));
        assert!(word("unasked", "").is_some_and(|why| why.starts_with("nobody was there")));
        assert_eq!(why_denied("exec=allow,rule,1"), None);
    }

    fn finished(words: Vec<String>) -> Vec<String> {
        let mut all = ExecWords::default();
        for word in words {
            all.add(word);
        }
        all.finish().collect()
    }

    #[test]
    fn equal_programs_are_several_and_those_beyond_the_most_are_counted() {
        let word = "exec=allow,otherwise,1,7,6,1,/bin/true,,,1,true".to_owned();
        assert!(ExecWords::is_one(&word) && !ExecWords::is_one("exec-more=3"));
        assert_eq!(finished(vec![word.clone(); 2]), [word.clone(), word.clone()]);
        let told = finished(vec![word; MOST + 7]);
        assert_eq!((told.len(), told.last().unwrap().as_str()), (MOST + 1, "exec-more=7"));
    }

    #[test]
    fn no_number_of_programs_hides_those_that_were_denied() {
        let long = format!("exec=allow,{:x>6000}", "");
        let denied = "exec=deny,rule".to_owned();
        let all = [vec![long.clone(); 12], vec![denied.clone(); MOST_DENIED + 1]].concat();
        let told = finished(all);
        assert_eq!(told.iter().filter(|word| **word == long).count(), MOST_BYTES / long.len());
        assert_eq!(told.iter().filter(|word| **word == denied).count(), MOST_DENIED);
        assert_eq!(told.last().unwrap(), "exec-more=3");
    }
}
