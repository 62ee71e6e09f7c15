//! Lets the owner of a file read it for a moment, whose mode forbids that.

use std::os::fd::{AsRawFd, BorrowedFd};

use rustix::fs::{AtFlags, Mode, chmodat};
use rustix::io::Errno;
use rustix::process::{getegid, geteuid, getgroups};

use crate::node::NodeStatus;

/// Reads something of a file, which may be open with `O_PATH`. `read` is called again if that is not allowed.
pub(crate) fn reading<T>(
    proc: BorrowedFd,
    file: BorrowedFd,
    status: &NodeStatus,
    read: impl Fn() -> Result<T, Errno>,
) -> Result<T, Errno> {
    match read() {
        Err(Errno::ACCESS) if is_forbidden_by_mode(status) => {}
        done => return done,
    }
    let path = format!("self/fd/{}", file.as_raw_fd());
    let change = |mode| chmodat(proc, &*path, Mode::from_raw_mode(mode), AtFlags::empty());
    change(status.permissions() | 0o400)?;
    let done = read();
    change(status.permissions())?;
    done
}

/// Whether nothing but the owner's own mode forbids it, which can be put back: the bit for the group's id would be
/// lost by someone who is not in the group.
fn is_forbidden_by_mode(status: &NodeStatus) -> bool {
    let is_own = status.uid == geteuid().as_raw();
    is_own && status.mode & 0o400 == 0 && (status.mode & 0o2000 == 0 || is_in_group(status.gid))
}

fn is_in_group(group: u32) -> bool {
    let groups = getgroups().unwrap_or_default();
    getegid().as_raw() == group || groups.iter().any(|own| own.as_raw() == group)
}
