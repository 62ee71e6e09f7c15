//! The files of one journal.

/// What was there, and what is there after the end.
pub(crate) const LOG: &str = "log";

/// What tells of the command: pairs, one field after another with a NUL between them.
pub(crate) const ABOUT: &str = "about";

/// What reverts have begun with and done.
pub(crate) const REVERTS: &str = "reverts";

/// The contents of files, one after another.
pub(crate) const PACK: &str = "pack";

/// Returns the name of the file that has a single content.
pub(crate) fn own_name(number: u32) -> String {
    format!("content-{number}")
}
