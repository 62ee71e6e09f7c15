//! Streams that JavaScript reads: named pipes, which Node cannot make, and captures of them.

use std::ffi::CString;
use std::fs::File;
use std::io::Error;
use std::os::fd::{FromRawFd, IntoRawFd, OwnedFd};
use std::os::unix::fs::FileTypeExt;

use forkline_engine::{Capture, Limits};
use napi::bindgen_prelude::Array;
use napi::{Env, Result};
use napi_derive::napi;

use crate::event;
use crate::record::JsRecord;

/// Makes a named pipe that only its owner may open, and opens it for reading without waiting for a writer.
/// Returns the descriptor, which the caller has to close, or a negative errno.
///
/// With `stays_open` the descriptor is a writer too, so that the stream has no end.
#[napi]
pub fn make_named_pipe(path: String, stays_open: bool) -> i32 {
    let Ok(path) = CString::new(path) else { return -libc::EINVAL };
    // SAFETY: the path ends with NUL.
    if unsafe { libc::mkfifo(path.as_ptr(), 0o600) } != 0 {
        return -last_errno();
    }
    let side = if stays_open { libc::O_RDWR } else { libc::O_RDONLY };
    // A sandboxed shell could put another file there.
    let flags = side | libc::O_NONBLOCK | libc::O_CLOEXEC | libc::O_NOFOLLOW | libc::O_NOCTTY;
    // SAFETY: as above. A non-blocking open for reading returns at once.
    let fd = unsafe { libc::open(path.as_ptr(), flags) };
    if fd < 0 {
        return -last_errno();
    }
    // SAFETY: the descriptor was just opened, and nothing else owns it.
    let file = File::from(unsafe { OwnedFd::from_raw_fd(fd) });
    match file.metadata() {
        Ok(found) if found.file_type().is_fifo() => file.into_raw_fd(),
        _ => -libc::ENXIO,
    }
}

/// Returns the number of bytes in a pipe, or a negative errno.
#[napi]
pub fn bytes_in_pipe(fd: i32) -> i32 {
    let mut count: libc::c_int = 0;
    // SAFETY: this request writes one int, which is ours.
    match unsafe { libc::ioctl(fd, libc::FIONREAD, &raw mut count) } {
        0 => count,
        _ => -last_errno(),
    }
}

fn last_errno() -> i32 {
    Error::last_os_error().raw_os_error().unwrap_or(libc::EINVAL)
}

/// The capture of a stream that JavaScript reads.
#[napi]
pub struct TextCapture {
    capture: Capture,
}

#[napi]
impl TextCapture {
    /// Makes an empty capture.
    #[napi(constructor)]
    pub fn new(head_bytes: f64, tail_bytes: f64) -> Self {
        let limits = Limits { head: head_bytes as usize, tail: tail_bytes as usize };
        TextCapture { capture: Capture::new(limits) }
    }

    /// Takes the next bytes of the stream.
    #[napi]
    pub fn push(&mut self, bytes: &[u8]) {
        self.capture.push(bytes);
    }

    /// Returns the elements of the capture so far.
    #[napi]
    pub fn snapshot<'env>(&self, env: &'env Env) -> Result<Array<'env>> {
        let mut record = JsRecord::new(env)?;
        event::capture(&mut record, self.capture.snapshot())?;
        Ok(record.finish())
    }
}
