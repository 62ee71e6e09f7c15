//! The numbers of the system calls that are looked at.

/// The numbers of calls on a kind of processor.
pub struct Numbers {
    pub architecture: u32,
    pub socket: u32,
    pub pair: u32,
    pub connect: u32,
    /// What makes sockets for everybody, whatever they are.
    pub multiplexer: Option<u32>,
    /// Those of keyrings, which are the user's wherever he is.
    pub keys: [u32; 3],
}

/// It has the same number everywhere.
pub const IO_URING_SETUP: u32 = 425;

#[cfg(target_arch = "x86_64")]
pub const OWN: u32 = 0xc000_003e;
#[cfg(target_arch = "aarch64")]
pub const OWN: u32 = 0xc000_00b7;
pub const NATIVE: Numbers = Numbers {
    architecture: OWN,
    socket: libc::SYS_socket as u32,
    pair: libc::SYS_socketpair as u32,
    connect: libc::SYS_connect as u32,
    multiplexer: None,
    keys: [libc::SYS_add_key as u32, libc::SYS_request_key as u32, libc::SYS_keyctl as u32],
};
/// Of the 32-bit programs that the same processor runs.
#[cfg(target_arch = "x86_64")]
pub const FOREIGN: Numbers = Numbers {
    architecture: 0x4000_0003,
    socket: 359,
    pair: 360,
    connect: 362,
    multiplexer: Some(102),
    keys: [286, 287, 288],
};
#[cfg(target_arch = "aarch64")]
pub const FOREIGN: Numbers = Numbers {
    architecture: 0x4000_0028,
    socket: 281,
    pair: 288,
    connect: 283,
    multiplexer: None,
    keys: [309, 310, 311],
};

/// A call that somebody is asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    /// For a socket.
    Socket,
    /// To connect one.
    Connect,
}

impl Asked {
    pub fn of(architecture: u32, number: i32) -> Asked {
        let is = |numbers: &Numbers| {
            numbers.architecture == architecture && numbers.connect == number as u32
        };
        if is(&NATIVE) || is(&FOREIGN) { Asked::Connect } else { Asked::Socket }
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
        }
    }
}
