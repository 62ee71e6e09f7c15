//! Names of the system's numbers.

/// Returns the number of a signal by its name. None: no such signal can be sent.
pub fn signal_number(name: &str) -> Option<i32> {
    let place = SIGNALS.iter().position(|known| *known == name).map(|at| at as i32 + 1);
    place.or(match name {
        "SIGIOT" => Some(libc::SIGABRT),
        "SIGPOLL" => Some(libc::SIGIO),
        _ => real_time(name),
    })
}

/// Returns the number of a real-time signal, or of one of the two that the C library reserves, by the
/// client's names for them.
fn real_time(name: &str) -> Option<i32> {
    match name {
        "SIG32" => return Some(32),
        "SIG33" => return Some(33),
        "SIGRTMIN" => return Some(34),
        "SIGRTMAX" => return Some(64),
        _ => {}
    }
    let up = name.strip_prefix("SIGRTMIN+").and_then(|distance| distance.parse().ok());
    let down = name.strip_prefix("SIGRTMAX-").and_then(|distance| distance.parse().ok());
    match (up, down) {
        (Some(distance @ 1..=15), _) => Some(34 + distance),
        (_, Some(distance @ 1..=14)) => Some(64 - distance),
        _ => None,
    }
}

/// The names by number, from 1 on.
const SIGNALS: [&str; 31] = [
    "SIGHUP",
    "SIGINT",
    "SIGQUIT",
    "SIGILL",
    "SIGTRAP",
    "SIGABRT",
    "SIGBUS",
    "SIGFPE",
    "SIGKILL",
    "SIGUSR1",
    "SIGSEGV",
    "SIGUSR2",
    "SIGPIPE",
    "SIGALRM",
    "SIGTERM",
    "SIGSTKFLT",
    "SIGCHLD",
    "SIGCONT",
    "SIGSTOP",
    "SIGTSTP",
    "SIGTTIN",
    "SIGTTOU",
    "SIGURG",
    "SIGXCPU",
    "SIGXFSZ",
    "SIGVTALRM",
    "SIGPROF",
    "SIGWINCH",
    "SIGIO",
    "SIGPWR",
    "SIGSYS",
];

/// Returns the name of an errno of files and pipes, or the number of any other errno.
pub fn errno_name(errno: i32) -> String {
    let known = ERRNOS.iter().find(|(number, _)| *number == errno);
    known.map_or_else(|| format!("E{errno}"), |(_, name)| (*name).to_owned())
}

const ERRNOS: [(i32, &str); 32] = [
    (libc::EPERM, "EPERM"),
    (libc::ENOENT, "ENOENT"),
    (libc::EINTR, "EINTR"),
    (libc::EIO, "EIO"),
    (libc::ENXIO, "ENXIO"),
    (libc::EBADF, "EBADF"),
    (libc::EAGAIN, "EAGAIN"),
    (libc::ENOMEM, "ENOMEM"),
    (libc::EACCES, "EACCES"),
    (libc::EBUSY, "EBUSY"),
    (libc::EEXIST, "EEXIST"),
    (libc::EXDEV, "EXDEV"),
    (libc::ENODEV, "ENODEV"),
    (libc::ENOTDIR, "ENOTDIR"),
    (libc::EISDIR, "EISDIR"),
    (libc::EINVAL, "EINVAL"),
    (libc::ENFILE, "ENFILE"),
    (libc::EMFILE, "EMFILE"),
    (libc::ETXTBSY, "ETXTBSY"),
    (libc::EFBIG, "EFBIG"),
    (libc::ENOSPC, "ENOSPC"),
    (libc::ESPIPE, "ESPIPE"),
    (libc::EROFS, "EROFS"),
    (libc::EMLINK, "EMLINK"),
    (libc::EPIPE, "EPIPE"),
    (libc::ENAMETOOLONG, "ENAMETOOLONG"),
    (libc::ELOOP, "ELOOP"),
    (libc::EOVERFLOW, "EOVERFLOW"),
    (libc::ENOTSUP, "ENOTSUP"),
    (libc::ETIMEDOUT, "ETIMEDOUT"),
    (libc::ESTALE, "ESTALE"),
    (libc::EDQUOT, "EDQUOT"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_real_time_signal_is_known_by_the_name_that_shells_have_for_it() {
        let numbers = ["SIGRTMIN", "SIGRTMIN+3", "SIGRTMIN+15", "SIGRTMAX-14", "SIGRTMAX", "SIG32"];
        assert_eq!(
            numbers.map(signal_number),
            [Some(34), Some(37), Some(49), Some(50), Some(64), Some(32)]
        );
        for unknown in ["SIGRTMIN+0", "SIGRTMIN+16", "SIGRTMAX-15", "SIGRTMIN-1", "SIG31"] {
            assert_eq!(signal_number(unknown), None, "{unknown}");
        }
    }
}
