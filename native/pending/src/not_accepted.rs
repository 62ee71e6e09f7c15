//! Why something is left as it is outside.

use rustix::io::Errno;

/// Why something is left as it is.
pub(crate) struct NotAccepted(pub String);

impl From<Errno> for NotAccepted {
    fn from(errno: Errno) -> Self {
        NotAccepted(std::io::Error::from(errno).to_string())
    }
}
