//! One command's signatures: how many it has had, and telling them.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::sandbox::denied::one_word;
use crate::sandbox::warden::agents::asker::Asker;

/// Which agent is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Which {
    Ssh,
    Gpg,
}

impl Which {
    fn word(self) -> &'static str {
        match self {
            Which::Ssh => "ssh",
            Which::Gpg => "gpg",
        }
    }
}

/// The signatures of all commands.
#[derive(Default)]
pub struct Signatures {
    /// Those of each cradle's present command.
    counts: Mutex<HashMap<(i32, Which), (u64, u32)>>,
    /// The number of signatures that were told.
    told: AtomicU64,
}

/// Tells the host, or the keeper of a command, about the command of a cradle.
pub type Tell<'a> = &'a dyn Fn(i32, String);

/// A caller's part of them: who it is, and whom its signatures are told to.
pub struct Signer<'a> {
    pub signed: &'a Signatures,
    pub which: Which,
    pub asker: Asker,
    pub tell: Tell<'a>,
}

impl Signer<'_> {
    /// Reserves one of the command's signatures. Returns false if it has had all of them, or has ended.
    pub fn reserve(&self, most: u32) -> bool {
        let mut counts = self.signed.counts.lock().unwrap_or_else(PoisonError::into_inner);
        if !self.asker.still_runs() {
            return false;
        }
        let key = (self.asker.cradle, self.which);
        let new = (self.asker.command, 0);
        let entry = counts.entry(key).or_insert(new);
        if entry.0 != self.asker.command {
            *entry = new;
        }
        let may = entry.1 < most;
        entry.1 += u32::from(may);
        may
    }

    /// Gives back what was reserved: the agent has not signed.
    pub fn give_back(&self) {
        let mut counts = self.signed.counts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((command, count)) = counts.get_mut(&(self.asker.cradle, self.which))
            && *command == self.asker.command
        {
            *count = count.saturating_sub(1);
        }
    }

    /// Tells a signature: of which key, with which comment, of what kind, and for whom. Returns false if the
    /// command has ended meanwhile: then nobody gets the signature.
    #[must_use]
    pub fn tell_signed(&self, key: &str, comment: &str, kind: &str, target: &str) -> bool {
        if !self.asker.still_runs() {
            return false;
        }
        let number = self.signed.told.fetch_add(1, Ordering::AcqRel);
        let at = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
        let [key, comment, target] = [key, comment, target].map(|text| one_word(shortened(text)));
        let which = self.which.word();
        self.tell(format!("signed={which},{number},{at},{kind},{key},{comment},{target}"));
        // What is told before the end of the command is in its result.
        self.asker.still_runs()
    }

    /// Tells a request that was refused.
    pub fn tell_refused(&self, reason: &str, detail: &str) {
        self.tell(refusal(self.which, reason, detail));
    }

    fn tell(&self, what: String) {
        (self.tell)(self.asker.cradle, what);
    }
}

/// Returns the text for a request that was refused.
pub fn refusal(which: Which, reason: &str, detail: &str) -> String {
    format!("refused={},{reason},{}", which.word(), one_word(shortened(detail)))
}

/// Returns the beginning of a text that a command may have chosen.
fn shortened(text: &str) -> &str {
    const MOST: usize = 200;
    text.char_indices().nth(MOST).and_then(|(at, _)| text.get(..at)).unwrap_or(text)
}
