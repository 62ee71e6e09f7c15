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

#[cfg(test)]
mod tests {
    use super::*;

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
