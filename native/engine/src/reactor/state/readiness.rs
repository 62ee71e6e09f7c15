//! Waits for streams that the host reads or writes itself.

/// Called when the stream is ready; with false when it is closed instead.
pub type OnReady = Box<dyn FnOnce(bool) + Send>;
