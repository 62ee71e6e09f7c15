//! Why something is left as it is outside.

use rustix::io::Errno;

/// Why something is left as it is.
pub(crate) struct NotAccepted(pub String);

impl From<Errno> for NotAccepted {
    fn from(errno: Errno) -> Self {
        NotAccepted(std::io::Error::from(errno).to_string())
    }
}

/// It is not what it was when the layers were mounted.
pub(crate) fn changed() -> NotAccepted {
    NotAccepted("it was changed outside".to_owned())
}

/// What is put into effect is noted, and could not be.
pub(crate) fn not_noted(error: std::io::Error) -> NotAccepted {
    NotAccepted(format!("it can't be noted: {error}"))
}
