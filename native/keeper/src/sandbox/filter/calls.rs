//! The numbers of the system calls that the filter looks at.

use super::naming::{CHANGING, FOREIGN_CHANGING, FOREIGN_NAMING, NAMING, Naming};

/// The numbers of system calls on one architecture.
pub struct Numbers {
    pub architecture: u32,
    pub socket: u32,
    pub pair: u32,
    pub connect: u32,
    pub listen: u32,
    pub execute: u32,
    pub execute_at: u32,
    /// The call that makes sockets of any kind (`socketcall`).
    pub multiplexer: Option<u32>,
    /// The calls of keyrings, which belong to the user in every namespace.
    pub keys: [u32; 3],
    /// The calls that make, change or remove something by its name. Of 32-bit programs only those that
    /// make something: these can't do what the others have done by the warden.
    pub naming: &'static [(u32, Naming)],
    /// The other calls that change something by its name, or the attributes of an open file: where changes
    /// are recorded. Of 32-bit programs those that nearly every one makes, to know that there was one.
    pub changing: &'static [(u32, Naming)],
}

/// The same number on all architectures.
pub const IO_URING_SETUP: u32 = 425;
/// Opens a file with flags in memory, on which no filter decides. The same number on all architectures.
pub const OPENAT2: u32 = 437;
/// Set or remove attributes with structures in memory (Linux 6.13 and 6.17). The same numbers on all architectures.
pub const ATTRIBUTES_AT: [u32; 3] = [463, 466, 469];

/// Returns whether a call is one of 64-bit programs.
pub fn is_native(architecture: u32) -> bool {
    architecture == OWN
}

#[cfg(target_arch = "x86_64")]
pub const OWN: u32 = 0xc000_003e;
#[cfg(target_arch = "aarch64")]
pub const OWN: u32 = 0xc000_00b7;
pub const NATIVE: Numbers = Numbers {
    architecture: OWN,
    socket: libc::SYS_socket as u32,
    pair: libc::SYS_socketpair as u32,
    connect: libc::SYS_connect as u32,
    listen: libc::SYS_listen as u32,
    execute: libc::SYS_execve as u32,
    execute_at: libc::SYS_execveat as u32,
    multiplexer: None,
    keys: [libc::SYS_add_key as u32, libc::SYS_request_key as u32, libc::SYS_keyctl as u32],
    naming: NAMING,
    changing: CHANGING,
};
/// For the 32-bit programs that the same processor runs.
#[cfg(target_arch = "x86_64")]
pub const FOREIGN: Numbers = Numbers {
    architecture: 0x4000_0003,
    socket: 359,
    pair: 360,
    connect: 362,
    listen: 363,
    execute: 11,
    execute_at: 358,
    multiplexer: Some(102),
    keys: [286, 287, 288],
    naming: FOREIGN_NAMING,
    changing: FOREIGN_CHANGING,
};
#[cfg(target_arch = "aarch64")]
pub const FOREIGN: Numbers = Numbers {
    architecture: 0x4000_0028,
    socket: 281,
    pair: 288,
    connect: 283,
    listen: 284,
    execute: 11,
    execute_at: 387,
    multiplexer: None,
    keys: [309, 310, 311],
    naming: FOREIGN_NAMING,
    changing: FOREIGN_CHANGING,
};

/// A call that the kernel asks the supervisor about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    /// Makes a socket.
    Socket,
    /// Connects a socket.
    Connect,
    /// Listens on a socket.
    Listen,
    /// Executes a program.
    Execute(Executing),
    /// Makes, changes or removes something by its name.
    Name(Naming),
}

/// A call that executes a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Executing {
    Path,
    /// Relative to an open directory, or the open file itself.
    PathAt,
}

impl Asked {
    pub fn of(architecture: u32, number: i32) -> Asked {
        let mut all = [&NATIVE, &FOREIGN].into_iter();
        let numbers = all.find(|numbers| numbers.architecture == architecture);
        let is = |(known, _): &&(u32, Naming)| *known == number as u32;
        match numbers {
            Some(numbers) if numbers.connect == number as u32 => Asked::Connect,
            Some(numbers) if numbers.listen == number as u32 => Asked::Listen,
            Some(numbers) if numbers.execute == number as u32 => Asked::Execute(Executing::Path),
            Some(numbers) if numbers.execute_at == number as u32 => {
                Asked::Execute(Executing::PathAt)
            }
            Some(numbers) => numbers
                .naming
                .iter()
                .chain(numbers.changing)
                .find(is)
                .map_or(Asked::Socket, |(_, naming)| Asked::Name(*naming)),
            None => Asked::Socket,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_known_by_its_number_on_its_processor() {
        for numbers in [NATIVE, FOREIGN] {
            let of = |number: u32| Asked::of(numbers.architecture, number as i32);
            assert_eq!((of(numbers.connect), of(numbers.socket)), (Asked::Connect, Asked::Socket));
            assert_eq!(of(numbers.listen), Asked::Listen);
            assert_eq!(of(numbers.execute), Asked::Execute(Executing::Path));
            assert_eq!(of(numbers.execute_at), Asked::Execute(Executing::PathAt));
            for (number, naming) in numbers.naming.iter().chain(numbers.changing) {
                assert_eq!(of(*number), Asked::Name(*naming));
            }
        }
    }
}
