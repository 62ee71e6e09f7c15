//! The filter of system calls: sockets by their family, and what could go round that.

use std::io;
use std::os::fd::{FromRawFd, OwnedFd};

/// What makes sockets and has a filter's number of its own on every kind of processor.
const IO_URING_SETUP: u32 = 425;

const AF_UNIX: u32 = 1;
const AF_INET: u32 = 2;
const AF_INET6: u32 = 10;
const AF_NETLINK: u32 = 16;

/// Offsets of `struct seccomp_data`.
const NUMBER: u32 = 0;
const ARCHITECTURE: u32 = 4;
/// The lower half of the first argument, on machines that store it first.
const FIRST: u32 = 16;

#[cfg(target_arch = "x86_64")]
const OWN: u32 = 0xc000_003e;
#[cfg(target_arch = "aarch64")]
const OWN: u32 = 0xc000_00b7;
/// The 32-bit programs that the same processor runs, and their numbers of `socket` and `socketcall`.
#[cfg(target_arch = "x86_64")]
const FOREIGN: (u32, u32, Option<u32>) = (0x4000_0003, 359, Some(102));
#[cfg(target_arch = "aarch64")]
const FOREIGN: (u32, u32, Option<u32>) = (0x4000_0028, 281, None);

const ALLOW: u32 = 0x7fff_0000;
const ERRNO: u32 = 0x0005_0000;
const KILL: u32 = 0x8000_0000;
/// Whoever listens answers.
const NOTIFY: u32 = 0x7fc0_0000;
const NEW_LISTENER: libc::c_ulong = 1 << 3;

/// Instructions with labels; jumps go to what is appended later.
struct Program {
    instructions: Vec<libc::sock_filter>,
    /// What becomes of a socket of another family.
    refusal: u32,
}

impl Program {
    fn load(&mut self, offset: u32) {
        self.push(0x20, 0, 0, offset);
    }

    /// Goes on here if equal, else passes over so many.
    fn unless_equal_skip(&mut self, value: u32, skipped: u8) {
        self.push(0x15, 0, skipped, value);
    }

    /// Passes over so many if equal.
    fn if_equal_skip(&mut self, value: u32, skipped: u8) {
        self.push(0x15, skipped, 0, value);
    }

    fn answer(&mut self, action: u32) {
        self.push(0x06, 0, 0, action);
    }

    /// Of the loaded call: this family or else this errno.
    fn only_families(&mut self, families: &[u32]) {
        self.load(FIRST);
        for (index, family) in families.iter().enumerate() {
            // To the answer after the refusal.
            self.if_equal_skip(*family, (families.len() - index) as u8);
        }
        self.answer(self.refusal);
        self.answer(ALLOW);
    }

    fn push(&mut self, code: u16, jt: u8, jf: u8, k: u32) {
        self.instructions.push(libc::sock_filter { code, jt, jf, k });
    }
}

/// `network`: whether sockets of the internet can be made at all.
fn program(network: bool, refusal: u32) -> Vec<libc::sock_filter> {
    let families: &[u32] =
        if network { &[AF_UNIX, AF_INET, AF_INET6, AF_NETLINK] } else { &[AF_UNIX] };
    // A load, a jump for each, a refusal and an answer.
    let checks = families.len() as u8 + 3;
    let mut program = Program { instructions: Vec::new(), refusal };
    program.load(ARCHITECTURE);
    // The own one: three instructions for io_uring and x32, then the families.
    program.unless_equal_skip(OWN, 7 + checks);
    program.load(NUMBER);
    program.unless_equal_skip(IO_URING_SETUP, 1);
    program.answer(ERRNO | libc::EPERM as u32);
    // x32 programs have numbers from here on, and a table of their own.
    program.push(0x35, 0, 1, 0x4000_0000);
    program.answer(ERRNO | libc::ENOSYS as u32);
    program.if_equal_skip(libc::SYS_socket as u32, 1);
    program.answer(ALLOW);
    program.only_families(families);
    let (foreign, socket, call) = FOREIGN;
    program.if_equal_skip(foreign, 1);
    program.answer(KILL);
    program.load(NUMBER);
    for number in [Some(IO_URING_SETUP), call].into_iter().flatten() {
        program.unless_equal_skip(number, 1);
        program.answer(ERRNO | libc::EPERM as u32);
    }
    program.if_equal_skip(socket, 1);
    program.answer(ALLOW);
    program.only_families(families);
    program.instructions
}

/// Puts the filter on the calling thread, and whatever it starts. Who listens at the result is told of
/// each socket that is denied; None: somebody listens already, and there can be one only.
pub fn enter(network: bool) -> io::Result<Option<OwnedFd>> {
    match install(&mut program(network, NOTIFY), NEW_LISTENER) {
        // SAFETY: just made, and nobody else's.
        Ok(listener) => Ok(Some(unsafe { OwnedFd::from_raw_fd(listener) })),
        Err(_) => {
            let refusal = ERRNO | libc::EAFNOSUPPORT as u32;
            install(&mut program(network, refusal), 0).map(|_| None)
        }
    }
}

fn install(program: &mut [libc::sock_filter], flags: libc::c_ulong) -> io::Result<i32> {
    let fprog = libc::sock_fprog { len: program.len() as u16, filter: program.as_mut_ptr() };
    const SET_MODE_FILTER: libc::c_uint = 1;
    // SAFETY: reads the program, which outlives the call.
    let result =
        unsafe { libc::syscall(libc::SYS_seccomp, SET_MODE_FILTER, flags, &raw const fprog) };
    if result >= 0 { Ok(result as i32) } else { Err(io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the kernel would answer.
    fn run(architecture: u32, number: u32, family: u32, network: bool) -> u32 {
        let program = program(network, ERRNO | libc::EAFNOSUPPORT as u32);
        let (mut at, mut loaded) = (0, 0);
        loop {
            let libc::sock_filter { code, jt, jf, k } = program[at];
            at += 1;
            match code {
                0x20 if k == NUMBER => loaded = number,
                0x20 if k == ARCHITECTURE => loaded = architecture,
                0x20 => loaded = family,
                0x15 => at += usize::from(if loaded == k { jt } else { jf }),
                0x35 => at += usize::from(if loaded >= k { jt } else { jf }),
                _ => return k,
            }
        }
    }

    #[test]
    fn sockets_are_told_by_their_family() {
        let socket = libc::SYS_socket as u32;
        let refused = ERRNO | libc::EAFNOSUPPORT as u32;
        for (own, socket) in [(OWN, socket), (FOREIGN.0, FOREIGN.1)] {
            for family in 0..64 {
                let is_known = [AF_UNIX, AF_INET, AF_INET6, AF_NETLINK].contains(&family);
                let expected = if is_known { ALLOW } else { refused };
                assert_eq!(run(own, socket, family, true), expected);
                let expected = if family == AF_UNIX { ALLOW } else { refused };
                assert_eq!(run(own, socket, family, false), expected);
            }
            assert_eq!(run(own, 1, 40, false), ALLOW);
            assert_eq!(run(own, IO_URING_SETUP, 0, true), ERRNO | libc::EPERM as u32);
        }
        assert_eq!(run(OWN, 0x4000_0029, 2, true), ERRNO | libc::ENOSYS as u32);
        assert_eq!(run(0x1234, 0, 0, true), KILL);
    }
}
