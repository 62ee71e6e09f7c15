//! Checks of a new sandbox, before it is used.

use std::ffi::CStr;
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;

use forkline_launch::{Image, Launch, Place, Stack, launch};

use crate::sandbox::report::{Protection, SetupError};

/// Checks that pidfd_open works, which the warden needs: an old container's filter refuses it.
pub fn holding() -> io::Result<()> {
    // SAFETY: takes numbers only; the descriptor is closed at once.
    unsafe {
        let own = libc::syscall(libc::SYS_pidfd_open, libc::getpid(), 0) as i32;
        if own < 0 || libc::close(own) < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }
}

/// Has the warden try to connect a socket to a file that is not a socket. The error shows that it has
/// followed the whole path.
pub fn connecting() -> io::Result<()> {
    match UnixStream::connect("/dev/null") {
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => Ok(()),
        result => Err(result.err().unwrap_or(io::Error::from_raw_os_error(libc::EISCONN))),
    }
}

/// Runs `true` as commands will be run.
pub fn launching() -> Result<(), SetupError> {
    const PROGRAMS: [&CStr; 3] =
        [c"/bin/true", c"/usr/bin/true", c"/run/current-system/sw/bin/true"];
    let refuse = || SetupError::of(Protection::Write, "running `true` in it");
    let null = File::options().read(true).write(true).open("/dev/null").map_err(refuse())?;
    let images = PROGRAMS.map(|path| Image { path: path.into(), argv: vec![c"true".into()] });
    let plain = Launch::plain(&images, [null.as_fd(), null.as_fd(), null.as_fd()]);
    let request = Launch { directory: Some(Place::Path(c"/")), ..plain };
    let mut stack = Stack::new().map_err(refuse())?;
    let pid = match launch(&request, &mut stack) {
        Ok(pid) => pid,
        // A machine may lack that program, and have others.
        Err(failure) if failure.error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(failure) => return Err(refuse()(failure.error)),
    };
    let mut status = 0;
    // SAFETY: fills the integer; it is our child.
    unsafe { libc::waitpid(pid, &mut status, libc::__WALL) };
    if libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0 {
        return Ok(());
    }
    Err(refuse()(io::Error::from_raw_os_error(libc::EACCES)))
}
