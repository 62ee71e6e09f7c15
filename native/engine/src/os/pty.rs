//! A pseudo-terminal as a command's standard input, output and error.
//!
//! The command gets the slave. The master is drained like a pipe, with two differences: a read returns 4 KiB
//! at most, and the end of output is reported by EIO, once no process has the slave open.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{Mode, OFlags, fcntl_setfl, openat};
use rustix::pty::{OpenptFlags, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{
    InputModes, LocalModes, OptionalActions, Winsize, tcgetattr, tcsetattr, tcsetwinsize,
};

/// The size of a terminal, in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// Characters in a row.
    pub columns: u16,
    /// Rows.
    pub rows: u16,
}

/// A pseudo-terminal, both ends.
#[derive(Debug)]
pub struct Terminal {
    /// The host's end; non-blocking.
    pub master: OwnedFd,
    /// The command's end.
    pub slave: OwnedFd,
}

impl Terminal {
    /// Opens a pseudo-terminal of this size: in `directory`, a devpts instance whose names programs find
    /// where it is mounted, or else in the host's own.
    pub fn open(size: Size, directory: Option<BorrowedFd>) -> io::Result<Self> {
        // NOCTTY on both: a host that leads a session without a terminal must not get this one as its own.
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let master = match directory {
            Some(directory) => {
                let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
                openat(directory, c"ptmx", flags, Mode::empty())?
            }
            None => openpt(flags)?,
        };
        unlockpt(&master)?;
        // The slave is opened through the master: in another mount namespace, its name could lead to another
        // terminal.
        let slave = ioctl_tiocgptpeer(&master, flags)?;
        resize(&master, size)?;
        let mut modes = tcgetattr(&slave)?;
        // The terminal's own line editing then erases characters and not bytes.
        modes.input_modes |= InputModes::IUTF8;
        tcsetattr(&slave, OptionalActions::Now, &modes)?;
        fcntl_setfl(&master, OFlags::RDWR | OFlags::NONBLOCK)?;
        Ok(Terminal { master, slave })
    }
}

/// Gives a terminal another size; the kernel sends SIGWINCH to its foreground group.
pub fn resize(terminal: impl AsFd, size: Size) -> io::Result<()> {
    let Size { columns, rows } = size;
    let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    Ok(tcsetwinsize(terminal, size)?)
}

/// How a terminal takes what is typed, as its programs have set it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Typing {
    /// Lines, which the terminal shows while they are typed.
    Lines,
    /// Lines that are not shown, as for a password.
    Hidden,
    /// Keys, which programs get one by one.
    Keys,
}

/// Returns how a terminal takes what is typed. The master has the modes of the command's end.
pub fn typing(master: impl AsFd) -> io::Result<Typing> {
    let modes = tcgetattr(master)?.local_modes;
    Ok(match (modes.contains(LocalModes::ICANON), modes.contains(LocalModes::ECHO)) {
        (false, _) => Typing::Keys,
        (true, false) => Typing::Hidden,
        (true, true) => Typing::Lines,
    })
}

#[cfg(test)]
#[path = "pty/tests.rs"]
mod tests;
