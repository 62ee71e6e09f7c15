//! The terminal of a detached command, of which its keeper has the master.

pub mod follower;
mod history;
mod modes;

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};

use forkline_protocol::receive;
use forkline_protocol::task::{TerminalSize, TerminalView};

use super::input::StdinPipe;
use history::ScreenHistory;

pub struct KeptTerminal {
    /// None: no process has the command's end open any more.
    master: Option<File>,
    /// The command's end, until the leader has ended. Otherwise a command that closes its terminal, and
    /// opens `/dev/tty` later, would end its output in between.
    kept: Option<OwnedFd>,
    output: ScreenHistory,
}

impl KeptTerminal {
    /// Receives a terminal from the host. The other values are the keys, to be written to, and the command's
    /// end.
    pub fn receive(host: BorrowedFd) -> io::Result<(KeptTerminal, StdinPipe, File)> {
        let ends = receive(host, &mut [0])?.descriptors;
        let [master, slave] = <[OwnedFd; 2]>::try_from(ends)
            .map_err(|_| io::Error::from_raw_os_error(libc::EBADMSG))?;
        let master = File::from(master);
        let keys = StdinPipe::onto(master.try_clone()?);
        let theirs = File::from(slave.try_clone()?);
        let output = ScreenHistory::new(size_of(&master));
        Ok((KeptTerminal { master: Some(master), kept: Some(slave), output }, keys, theirs))
    }

    /// Reads what the command has printed, but not without end from one that never stops. `put` gets each
    /// piece. Returns whether more can come.
    pub fn drain(&mut self, mut put: impl FnMut(&[u8])) -> bool {
        const PIECES: usize = 256;
        // The kernel gives out no more at once.
        let mut buffer = [0; 4096];
        for _ in 0..PIECES {
            let Some(master) = &mut self.master else { return false };
            match master.read(&mut buffer) {
                Ok(length) if length > 0 => {
                    let piece = buffer.get(..length).unwrap_or_default();
                    self.output.push(piece);
                    put(piece);
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return true,
                // EIO: no process has the other end open, and all is read.
                _ => self.master = None,
            }
        }
        true
    }

    /// Lets go of the command's end, once its leader has ended.
    pub fn leader_ended(&mut self) {
        self.kept = None;
    }

    /// Returns the latest output, from memory.
    pub fn output(&self) -> &ScreenHistory {
        &self.output
    }

    /// Returns the descriptor that is readable when there is output.
    pub fn descriptor(&self) -> Option<i32> {
        self.master.as_ref().map(AsRawFd::as_raw_fd)
    }

    /// Returns the size and the modes, for a client with the oldest window or another one.
    pub fn view(&self, is_first: bool) -> TerminalView {
        let size = self.output.size();
        let mut modes = MaybeUninit::<libc::termios>::zeroed();
        // Of the master the kernel tells the modes of the command's end.
        // SAFETY: fills the structure, which is valid as zeros.
        let flags = unsafe {
            libc::tcgetattr(self.descriptor().unwrap_or(-1), modes.as_mut_ptr());
            modes.assume_init().c_lflag
        };
        let has = |flag| flags & flag != 0;
        TerminalView { size, echoes: has(libc::ECHO), canonical: has(libc::ICANON), is_first }
    }

    /// Sets the size; the kernel tells the foreground programs when that changes something. `redraw`: they
    /// are told in any case.
    pub fn resize(&mut self, size: TerminalSize, redraw: bool) {
        let Some(master) = self.descriptor() else { return };
        if size == self.output.size() {
            if redraw {
                tell_foreground(master);
            }
            return;
        }
        let TerminalSize { columns: ws_col, rows: ws_row } = size;
        let told = libc::winsize { ws_row, ws_col, ws_xpixel: 0, ws_ypixel: 0 };
        // SAFETY: reads the structure, which outlives the call.
        if unsafe { libc::ioctl(master, libc::TIOCSWINSZ, &raw const told) } == 0 {
            self.output.resize(size);
        }
    }
}

/// Sends SIGWINCH to the programs in the foreground, as after another size.
fn tell_foreground(master: i32) {
    let mut group: libc::pid_t = 0;
    // SAFETY: fills the integer. Of the master the kernel tells the group of the command's end.
    let told = unsafe { libc::ioctl(master, libc::TIOCGPGRP, &raw mut group) };
    // 0 and -1 stand for other processes than one group's.
    if told == 0 && group > 1 {
        // SAFETY: takes numbers only. The group is of the terminal's session, all of which is the command's.
        unsafe { libc::kill(-group, libc::SIGWINCH) };
    }
}

fn size_of(terminal: &File) -> TerminalSize {
    let mut size = MaybeUninit::<libc::winsize>::zeroed();
    // SAFETY: fills the structure, which is valid as zeros.
    let size = unsafe {
        libc::ioctl(terminal.as_raw_fd(), libc::TIOCGWINSZ, size.as_mut_ptr());
        size.assume_init()
    };
    TerminalSize { columns: size.ws_col, rows: size.ws_row }
}
