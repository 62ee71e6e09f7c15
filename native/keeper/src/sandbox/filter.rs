//! The filter of system calls. It decides on sockets by their family, denies keyrings and what would
//! bypass the filter, and may leave connections and changes by name to the warden.

pub mod calls;
pub mod naming;

use std::io;
use std::mem::offset_of;
use std::os::fd::{FromRawFd, OwnedFd};

use crate::sandbox::filter::calls::{
    ATTRIBUTES_AT, FOREIGN, IO_URING_SETUP, NATIVE, Numbers, OPENAT2, OWN,
};

use crate::sandbox::filter::naming::Naming;

type Instructions = Vec<libc::sock_filter>;

const AF_UNIX: u32 = libc::AF_UNIX as u32;
const AF_INET: u32 = libc::AF_INET as u32;
const AF_INET6: u32 = libc::AF_INET6 as u32;
const AF_NETLINK: u32 = libc::AF_NETLINK as u32;

/// Offsets in `struct seccomp_data`; for arguments the lower half, on little-endian machines.
const NUMBER: u32 = offset_of!(libc::seccomp_data, nr) as u32;
const ARCHITECTURE: u32 = offset_of!(libc::seccomp_data, arch) as u32;
const FIRST: u32 = offset_of!(libc::seccomp_data, args) as u32;
const SECOND: u32 = FIRST + 8;
const THIRD: u32 = FIRST + 16;

const ALLOW: u32 = libc::SECCOMP_RET_ALLOW;
const ERRNO: u32 = libc::SECCOMP_RET_ERRNO;
const KILL: u32 = libc::SECCOMP_RET_KILL_PROCESS;
/// The listener answers.
const NOTIFY: u32 = libc::SECCOMP_RET_USER_NOTIF;
/// Only a fatal signal interrupts a process that waits for an answer (Linux 5.19).
const WAIT_KILLABLE: libc::c_ulong = libc::SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;

const LOAD: u16 = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
const ANSWER: u16 = (libc::BPF_RET | libc::BPF_K) as u16;
const MASK: u16 = (libc::BPF_ALU | libc::BPF_AND | libc::BPF_K) as u16;

/// The types of sockets that can send to any address without being connected.
const DATAGRAMS: [u32; 2] = [libc::SOCK_DGRAM as u32, libc::SOCK_RAW as u32];
/// The address of a Unix socket with a path is longer than the first, and at most as long as the second.
const ADDRESS: [u32; 2] = [2, size_of::<libc::sockaddr_un>() as u32];

/// The rules of the filter.
#[derive(Debug, Clone, Copy)]
pub struct Rules {
    /// Whether internet sockets can be made.
    pub network: bool,
    /// Whether the warden is asked about connections.
    pub judged: bool,
    /// Whether the warden is asked about sockets that begin to listen.
    pub listened: bool,
    /// Whether the warden is asked about programs that are executed.
    pub executed: bool,
    /// Whether the warden is asked about calls that make, change or remove something by its name.
    pub gated: bool,
    /// Whether the warden records all changes, so that it is asked about each.
    pub recorded: bool,
}

fn instruction(code: u16, jt: u8, jf: u8, k: u32) -> libc::sock_filter {
    libc::sock_filter { code, jt, jf, k }
}

fn load(offset: u32) -> libc::sock_filter {
    instruction(LOAD, 0, 0, offset)
}

fn answer(action: u32) -> libc::sock_filter {
    instruction(ANSWER, 0, 0, action)
}

/// Runs the block, which ends with an answer, if the loaded value equals `value`.
fn when(value: u32, block: Instructions) -> Instructions {
    after_jump(libc::BPF_JEQ, value, block)
}

/// Runs the block if the loaded value is greater.
fn when_greater(value: u32, block: Instructions) -> Instructions {
    after_jump(libc::BPF_JGT, value, block)
}

/// Runs the block if the loaded value has one of these bits.
fn when_any(bits: u32, block: Instructions) -> Instructions {
    after_jump(libc::BPF_JSET, bits, block)
}

fn after_jump(test: u32, value: u32, block: Instructions) -> Instructions {
    let code = (libc::BPF_JMP | test | libc::BPF_K) as u16;
    let jump = instruction(code, 0, block.len() as u8, value);
    std::iter::once(jump).chain(block).collect()
}

/// Returns the instructions for calls of one architecture; they end with an answer.
fn calls(numbers: &Numbers, rules: Rules, refusal: u32) -> Instructions {
    let mut all = vec![load(NUMBER)];
    for number in [Some(IO_URING_SETUP), numbers.multiplexer].into_iter().flatten() {
        all.extend(when(number, vec![answer(ERRNO | libc::EPERM as u32)]));
    }
    if numbers.architecture == OWN {
        // The numbers of x32 programs, which have a table of their own.
        all.extend(when_greater(0x3fff_ffff, vec![answer(ERRNO | libc::ENOSYS as u32)]));
    }
    // The answer of a kernel without keyrings, and without a call whose flags no filter sees.
    let unseen = rules.gated.then_some(OPENAT2);
    let unrecorded = ATTRIBUTES_AT.into_iter().filter(|_| rules.recorded);
    for number in numbers.keys.into_iter().chain(unseen).chain(unrecorded) {
        all.extend(when(number, vec![answer(ERRNO | libc::ENOSYS as u32)]));
    }
    let families: &[u32] = if rules.network { &[AF_INET, AF_INET6, AF_NETLINK] } else { &[] };
    // Without a warden, datagram sockets are like all others.
    let muted = if rules.judged { NOTIFY } else { ALLOW };
    let unpaired = if rules.judged { ERRNO | libc::ESOCKTNOSUPPORT as u32 } else { ALLOW };
    all.extend(when(numbers.socket, sockets(families, muted, refusal)));
    all.extend(when(numbers.pair, sockets(&[], unpaired, refusal)));
    if rules.judged {
        let [shortest, longest] = ADDRESS;
        let mut connect = vec![load(THIRD)];
        connect.extend(when_greater(longest, vec![answer(ALLOW)]));
        connect.extend(when_greater(shortest, vec![answer(NOTIFY)]));
        connect.push(answer(ALLOW));
        all.extend(when(numbers.connect, connect));
    }
    if rules.listened {
        all.extend(when(numbers.listen, vec![answer(NOTIFY)]));
    }
    if rules.executed {
        for number in [numbers.execute, numbers.execute_at] {
            all.extend(when(number, vec![answer(NOTIFY)]));
        }
    }
    if rules.gated {
        for (number, naming) in numbers.naming {
            all.extend(when(*number, named(*naming, rules.recorded)));
        }
    }
    if rules.recorded {
        for (number, _) in numbers.changing {
            all.extend(when(*number, vec![answer(NOTIFY)]));
        }
    }
    all.push(answer(ALLOW));
    all
}

/// Returns the instructions for named calls; opening unchanged is allowed, and so is changing an open file where
/// changes are not recorded.
fn named(naming: Naming, recorded: bool) -> Instructions {
    const CHANGES: i32 = libc::O_WRONLY | libc::O_RDWR | libc::O_CREAT | libc::O_TRUNC;
    let flags = match naming {
        Naming::Open => SECOND,
        Naming::OpenAt => THIRD,
        Naming::SetTimesAt if !recorded => {
            let mut all = vec![load(SECOND)];
            all.extend(when(0, vec![answer(ALLOW)]));
            all.push(answer(NOTIFY));
            return all;
        }
        _ => return vec![answer(NOTIFY)],
    };
    let mut all = vec![load(flags)];
    all.extend(when_any(CHANGES as u32, vec![answer(NOTIFY)]));
    all.push(answer(ALLOW));
    all
}

/// Returns the instructions for sockets: allows these families and Unix; `datagrams`: for Unix datagrams.
fn sockets(families: &[u32], datagrams: u32, refusal: u32) -> Instructions {
    const KIND: u32 = 0xf;
    let mut unix = vec![load(SECOND), instruction(MASK, 0, 0, KIND)];
    for kind in DATAGRAMS {
        unix.extend(when(kind, vec![answer(datagrams)]));
    }
    unix.push(answer(ALLOW));
    let mut all = vec![load(FIRST)];
    all.extend(when(AF_UNIX, unix));
    all.extend(families.iter().flat_map(|family| when(*family, vec![answer(ALLOW)])));
    all.push(answer(refusal));
    all
}

fn program(rules: Rules, refusal: u32) -> Instructions {
    let mut all = vec![load(ARCHITECTURE)];
    for numbers in [NATIVE, FOREIGN] {
        all.extend(when(numbers.architecture, calls(&numbers, rules, refusal)));
    }
    all.push(answer(KILL));
    all
}

/// Applies the filter to the calling thread, and to all that it starts. Returns the listener, which is
/// asked about denied sockets and about what the warden decides. None: there is a listener already, and
/// only one is possible; that is an error if the warden is to decide.
pub fn enter(rules: Rules) -> io::Result<Option<OwnedFd>> {
    let listening = libc::SECCOMP_FILTER_FLAG_NEW_LISTENER;
    let listened = [listening | WAIT_KILLABLE, listening];
    let mut tried = listened.iter().map(|flags| install(&mut program(rules, NOTIFY), *flags));
    if let Some(listener) = tried.find_map(Result::ok) {
        // SAFETY: the descriptor was just made; nothing else owns it.
        return Ok(Some(unsafe { OwnedFd::from_raw_fd(listener) }));
    }
    if rules.judged {
        return Err(io::Error::last_os_error());
    }
    let refusal = ERRNO | libc::EAFNOSUPPORT as u32;
    install(&mut program(rules, refusal), 0).map(|_| None)
}

fn install(program: &mut [libc::sock_filter], flags: libc::c_ulong) -> io::Result<i32> {
    let fprog = libc::sock_fprog { len: program.len() as u16, filter: program.as_mut_ptr() };
    // SAFETY: reads the program, which outlives the call.
    let result = unsafe {
        libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, flags, &raw const fprog)
    };
    if result >= 0 { Ok(result as i32) } else { Err(io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests;
