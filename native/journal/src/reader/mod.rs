//! Reads journals, and looks at how things are now.

pub(crate) mod compare;
pub(crate) mod error;
pub(crate) mod journals;
pub(crate) mod past;
pub(crate) mod paths;
pub(crate) mod present;
pub(crate) mod reach;
pub(crate) mod replay;
pub(crate) mod walk;
