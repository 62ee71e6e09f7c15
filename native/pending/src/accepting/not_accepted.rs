//! Why something is left as it is outside.

use rustix::io::Errno;

/// Why something is left as it is.
pub(crate) struct NotAccepted {
    pub why: String,
    /// Whether the mode of something forbids it.
    pub is_forbidden: bool,
}

impl NotAccepted {
    pub fn because(why: String) -> Self {
        Self { why, is_forbidden: false }
    }
}

impl From<Errno> for NotAccepted {
    fn from(errno: Errno) -> Self {
        let why = std::io::Error::from(errno).to_string();
        Self { why, is_forbidden: errno == Errno::ACCESS }
    }
}

/// It is not what it was when the layers were mounted.
pub(crate) fn changed() -> NotAccepted {
    NotAccepted::because("it was changed outside".to_owned())
}

/// What is put into effect is noted, and could not be.
pub(crate) fn not_noted(error: std::io::Error) -> NotAccepted {
    NotAccepted::because(format!("it can't be noted: {error}"))
}
