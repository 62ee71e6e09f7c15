//! The numbers of the calls that make, change or remove something by its name.

/// A call that makes, changes or removes something by its name. `…At`: relative to an open directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(
    not(target_arch = "x86_64"),
    expect(dead_code, reason = "newer architectures have only the calls relative to a directory")
)]
pub enum Naming {
    Open,
    OpenAt,
    Create,
    MakeDirectory,
    MakeDirectoryAt,
    RemoveDirectory,
    Unlink,
    UnlinkAt,
    Rename,
    RenameAt,
    RenameAt2,
    Link,
    LinkAt,
    Symlink,
    SymlinkAt,
    ChangeMode,
    ChangeModeAt,
    ChangeModeAt2,
    SetTimesAt,
    MakeNode,
    MakeNodeAt,
    Truncate,
    ChangeOwner,
    ChangeOwnerOfLink,
    ChangeOwnerAt,
    ChangeOwnerOfOpen,
    ChangeModeOfOpen,
    /// In whole seconds.
    SetSeconds,
    /// In microseconds.
    SetMicroseconds,
    SetMicrosecondsAt,
    SetAttribute,
    SetAttributeOfLink,
    SetAttributeOfOpen,
    RemoveAttribute,
    RemoveAttributeOfLink,
    RemoveAttributeOfOpen,
    /// A call of a 32-bit program, on which nothing is decided.
    Foreign,
}

impl Naming {
    /// Returns whether the call makes a name, or may.
    pub fn makes_name(self) -> bool {
        use Naming::{Create, Link, LinkAt, MakeDirectory, MakeDirectoryAt, MakeNode, MakeNodeAt};
        use Naming::{Open, OpenAt, Rename, RenameAt, RenameAt2, Symlink, SymlinkAt};
        let opens = matches!(self, Open | OpenAt | Create);
        let renames = matches!(self, Rename | RenameAt | RenameAt2 | Link | LinkAt);
        let makes = matches!(self, MakeDirectory | MakeDirectoryAt | MakeNode | MakeNodeAt);
        opens || renames || makes || matches!(self, Symlink | SymlinkAt)
    }
}

/// The second fchmodat, which the libc crate lacks for some architectures; it has the same number on all.
const FCHMODAT2: u32 = 452;

#[cfg(target_arch = "x86_64")]
pub const NAMING: &[(u32, Naming)] = &[
    (libc::SYS_open as u32, Naming::Open),
    (libc::SYS_openat as u32, Naming::OpenAt),
    (libc::SYS_creat as u32, Naming::Create),
    (libc::SYS_mkdir as u32, Naming::MakeDirectory),
    (libc::SYS_mkdirat as u32, Naming::MakeDirectoryAt),
    (libc::SYS_rmdir as u32, Naming::RemoveDirectory),
    (libc::SYS_unlink as u32, Naming::Unlink),
    (libc::SYS_unlinkat as u32, Naming::UnlinkAt),
    (libc::SYS_rename as u32, Naming::Rename),
    (libc::SYS_renameat as u32, Naming::RenameAt),
    (libc::SYS_renameat2 as u32, Naming::RenameAt2),
    (libc::SYS_link as u32, Naming::Link),
    (libc::SYS_linkat as u32, Naming::LinkAt),
    (libc::SYS_symlink as u32, Naming::Symlink),
    (libc::SYS_symlinkat as u32, Naming::SymlinkAt),
    (libc::SYS_mknod as u32, Naming::MakeNode),
    (libc::SYS_mknodat as u32, Naming::MakeNodeAt),
    (libc::SYS_chmod as u32, Naming::ChangeMode),
    (libc::SYS_fchmodat as u32, Naming::ChangeModeAt),
    (FCHMODAT2, Naming::ChangeModeAt2),
    (libc::SYS_utimensat as u32, Naming::SetTimesAt),
];
#[cfg(target_arch = "aarch64")]
pub const NAMING: &[(u32, Naming)] = &[
    (libc::SYS_openat as u32, Naming::OpenAt),
    (libc::SYS_mkdirat as u32, Naming::MakeDirectoryAt),
    (libc::SYS_unlinkat as u32, Naming::UnlinkAt),
    (libc::SYS_renameat as u32, Naming::RenameAt),
    (libc::SYS_renameat2 as u32, Naming::RenameAt2),
    (libc::SYS_linkat as u32, Naming::LinkAt),
    (libc::SYS_symlinkat as u32, Naming::SymlinkAt),
    (libc::SYS_mknodat as u32, Naming::MakeNodeAt),
    (libc::SYS_fchmodat as u32, Naming::ChangeModeAt),
    (FCHMODAT2, Naming::ChangeModeAt2),
    (libc::SYS_utimensat as u32, Naming::SetTimesAt),
];

#[cfg(target_arch = "x86_64")]
pub const CHANGING: &[(u32, Naming)] = &[
    (libc::SYS_chown as u32, Naming::ChangeOwner),
    (libc::SYS_lchown as u32, Naming::ChangeOwnerOfLink),
    (libc::SYS_utime as u32, Naming::SetSeconds),
    (libc::SYS_utimes as u32, Naming::SetMicroseconds),
    (libc::SYS_futimesat as u32, Naming::SetMicrosecondsAt),
    (libc::SYS_truncate as u32, Naming::Truncate),
    (libc::SYS_fchownat as u32, Naming::ChangeOwnerAt),
    (libc::SYS_fchown as u32, Naming::ChangeOwnerOfOpen),
    (libc::SYS_fchmod as u32, Naming::ChangeModeOfOpen),
    (libc::SYS_setxattr as u32, Naming::SetAttribute),
    (libc::SYS_lsetxattr as u32, Naming::SetAttributeOfLink),
    (libc::SYS_fsetxattr as u32, Naming::SetAttributeOfOpen),
    (libc::SYS_removexattr as u32, Naming::RemoveAttribute),
    (libc::SYS_lremovexattr as u32, Naming::RemoveAttributeOfLink),
    (libc::SYS_fremovexattr as u32, Naming::RemoveAttributeOfOpen),
];
#[cfg(target_arch = "aarch64")]
pub const CHANGING: &[(u32, Naming)] = &[
    (libc::SYS_truncate as u32, Naming::Truncate),
    (libc::SYS_fchownat as u32, Naming::ChangeOwnerAt),
    (libc::SYS_fchown as u32, Naming::ChangeOwnerOfOpen),
    (libc::SYS_fchmod as u32, Naming::ChangeModeOfOpen),
    (libc::SYS_setxattr as u32, Naming::SetAttribute),
    (libc::SYS_lsetxattr as u32, Naming::SetAttributeOfLink),
    (libc::SYS_fsetxattr as u32, Naming::SetAttributeOfOpen),
    (libc::SYS_removexattr as u32, Naming::RemoveAttribute),
    (libc::SYS_lremovexattr as u32, Naming::RemoveAttributeOfLink),
    (libc::SYS_fremovexattr as u32, Naming::RemoveAttributeOfOpen),
];
/// `brk`, which programs begin with, and removals: `unlink`, `rmdir`, `truncate`, `truncate64`. The same numbers on
/// both architectures.
pub const FOREIGN_CHANGING: &[(u32, Naming)] = &[
    (45, Naming::Foreign),
    (10, Naming::Foreign),
    (40, Naming::Foreign),
    (92, Naming::Foreign),
    (193, Naming::Foreign),
];

/// The calls of 32-bit programs that make a name.
#[cfg(target_arch = "x86_64")]
pub const FOREIGN_NAMING: &[(u32, Naming)] = &[
    (5, Naming::Open),
    (8, Naming::Create),
    (9, Naming::Link),
    (14, Naming::MakeNode),
    (38, Naming::Rename),
    (39, Naming::MakeDirectory),
    (83, Naming::Symlink),
    (295, Naming::OpenAt),
    (296, Naming::MakeDirectoryAt),
    (297, Naming::MakeNodeAt),
    (302, Naming::RenameAt),
    (303, Naming::LinkAt),
    (304, Naming::SymlinkAt),
    (353, Naming::RenameAt2),
];
#[cfg(target_arch = "aarch64")]
pub const FOREIGN_NAMING: &[(u32, Naming)] = &[
    (5, Naming::Open),
    (8, Naming::Create),
    (9, Naming::Link),
    (14, Naming::MakeNode),
    (38, Naming::Rename),
    (39, Naming::MakeDirectory),
    (83, Naming::Symlink),
    (322, Naming::OpenAt),
    (323, Naming::MakeDirectoryAt),
    (324, Naming::MakeNodeAt),
    (329, Naming::RenameAt),
    (330, Naming::LinkAt),
    (331, Naming::SymlinkAt),
    (382, Naming::RenameAt2),
];
