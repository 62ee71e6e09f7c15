//! What has a name: which node, and how it is.

use std::ffi::CStr;
use std::os::fd::BorrowedFd;

use rustix::fs::{AtFlags, StatxFlags, makedev, statx};
use rustix::io::Errno;
use rustix::time::{ClockId, clock_gettime};

/// Which node. The birth tells it from a later one that was given the same number; 0 where the file system
/// does not have it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId {
    /// The device.
    pub device: u64,
    /// The number of the inode.
    pub inode: u64,
    /// When it was made, in nanoseconds since 1970.
    pub birth: i64,
}

/// A point in time, as file systems have it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Moment {
    /// Seconds since 1970.
    pub seconds: i64,
    /// The rest, in nanoseconds.
    pub nanoseconds: u32,
}

/// The kinds of nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NodeKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Link,
    /// A FIFO, a socket or a device.
    Other,
}

/// How a node is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NodeStatus {
    /// Which one.
    pub id: NodeId,
    /// The type and the permissions, as `stat` has them.
    pub mode: u32,
    /// The owner.
    pub uid: u32,
    /// The group.
    pub gid: u32,
    /// The names that it has.
    pub links: u32,
    /// The length in bytes.
    pub size: u64,
    /// The bytes that it takes on the disk.
    pub stored: u64,
    /// The number of a device.
    pub special: u64,
    /// When its content was changed last.
    pub modified: Moment,
    /// When anything of it was changed last.
    pub changed: Moment,
}

impl NodeStatus {
    /// Returns the kind.
    pub fn kind(&self) -> NodeKind {
        match self.mode & libc::S_IFMT {
            libc::S_IFREG => NodeKind::File,
            libc::S_IFDIR => NodeKind::Directory,
            libc::S_IFLNK => NodeKind::Link,
            _ => NodeKind::Other,
        }
    }

    /// Returns the permissions.
    pub fn permissions(&self) -> u32 {
        self.mode & 0o7777
    }

    /// Returns whether a node was not touched between two looks, or looks as if it was not. Entries that come
    /// and go change size and time of a directory; they are looked at by themselves.
    pub fn is_still(&self, before: &NodeStatus) -> bool {
        let is_same = self.id == before.id && self.changed == before.changed;
        let is_alike = self.mode == before.mode
            && (self.kind() == NodeKind::Directory
                || self.size == before.size && self.modified == before.modified);
        is_same || is_alike
    }
}

/// Returns how the node of an open descriptor is, which may be of `O_PATH`.
pub(crate) fn look(file: BorrowedFd) -> Result<NodeStatus, Errno> {
    look_at(file, c"")
}

/// Returns how the node is that has the name, and none if nothing has.
pub(crate) fn look_for(directory: BorrowedFd, name: &CStr) -> Result<Option<NodeStatus>, Errno> {
    match look_at(directory, name) {
        Ok(status) => Ok(Some(status)),
        Err(Errno::NOENT) => Ok(None),
        Err(errno) => Err(errno),
    }
}

fn look_at(directory: BorrowedFd, name: &CStr) -> Result<NodeStatus, Errno> {
    let flags = AtFlags::EMPTY_PATH | AtFlags::SYMLINK_NOFOLLOW | AtFlags::NO_AUTOMOUNT;
    let found = statx(directory, name, flags, StatxFlags::BASIC_STATS | StatxFlags::BTIME)?;
    let moment = |time: rustix::fs::StatxTimestamp| Moment {
        seconds: time.tv_sec,
        nanoseconds: time.tv_nsec,
    };
    let birth = match found.stx_mask & StatxFlags::BTIME.bits() {
        0 => 0,
        _ => found
            .stx_btime
            .tv_sec
            .wrapping_mul(1_000_000_000)
            .wrapping_add(i64::from(found.stx_btime.tv_nsec)),
    };
    let device = makedev(found.stx_dev_major, found.stx_dev_minor);
    Ok(NodeStatus {
        id: NodeId { device, inode: found.stx_ino, birth },
        mode: u32::from(found.stx_mode),
        uid: found.stx_uid,
        gid: found.stx_gid,
        links: found.stx_nlink,
        size: found.stx_size,
        stored: found.stx_blocks.saturating_mul(512),
        special: makedev(found.stx_rdev_major, found.stx_rdev_minor),
        modified: moment(found.stx_mtime),
        changed: moment(found.stx_ctime),
    })
}

/// Returns the time.
pub(crate) fn now() -> Moment {
    let now = clock_gettime(ClockId::Realtime);
    Moment { seconds: now.tv_sec, nanoseconds: u32::try_from(now.tv_nsec).unwrap_or(0) }
}
