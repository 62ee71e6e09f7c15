//! Directories of the sandbox's own. All are in one file system in memory, so that one limit applies to
//! all of them together.

use std::ffi::CString;
use std::fs;
use std::io;
use std::mem::MaybeUninit;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::sandbox::mounts::{Tree, mount_new, unmount};

/// The directories, not mounted yet.
pub struct Own {
    pub tmp: Tree,
    pub var_tmp: Tree,
    pub run: Tree,
    pub shared_memory: Tree,
}

/// Bytes of the file system for each file that it may contain.
const BYTES_OF_FILE: u64 = 8 * 1024;

/// Makes the directories. `place`: a directory where nothing is mounted, before and after.
pub fn make(place: &Path) -> io::Result<Own> {
    let bytes = bound();
    let options = format!("mode=755,size={bytes},nr_inodes={}", bytes / BYTES_OF_FILE);
    mount_new(c"tmpfs", place, libc::MS_NODEV, &CString::new(options)?)?;
    let directory = |name: &str, mode: u32| {
        let path = place.join(name);
        fs::create_dir(&path)?;
        fs::set_permissions(&path, fs::Permissions::from_mode(mode))?;
        Tree::copy(&path)
    };
    let own = Own {
        tmp: directory("tmp", 0o1777)?,
        var_tmp: directory("var-tmp", 0o1777)?,
        run: directory("run", 0o755)?,
        shared_memory: directory("shm", 0o1777)?,
    };
    unmount(place)?;
    Ok(own)
}

/// Returns half of the machine's memory, or of the limit of the host's control group.
fn bound() -> u64 {
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let read = |path: &Path| fs::read_to_string(path).ok();
    limits_in(&groups, read).fold(physical(), u64::min) / 2
}

fn physical() -> u64 {
    // SAFETY: valid as zeros; fills the structure.
    let info = unsafe {
        let mut info = MaybeUninit::<libc::sysinfo>::zeroed();
        libc::sysinfo(info.as_mut_ptr());
        info.assume_init()
    };
    (info.totalram as u64).saturating_mul(info.mem_unit.into())
}

/// Returns the memory limits of these groups (lines of `/proc/self/cgroup`) and of the groups above them,
/// as far as they can be seen; in a container, paths begin at its own group.
fn limits_in(groups: &str, read: impl Fn(&Path) -> Option<String>) -> impl Iterator<Item = u64> {
    groups.lines().flat_map(move |line| {
        let mut fields = line.splitn(3, ':').skip(1);
        let (controllers, path) = (fields.next().unwrap_or(""), fields.next().unwrap_or("/"));
        let (root, file) = match controllers {
            "" => ("/sys/fs/cgroup", "memory.max"),
            _ if controllers.split(',').any(|one| one == "memory") => {
                ("/sys/fs/cgroup/memory", "memory.limit_in_bytes")
            }
            _ => return Vec::new(),
        };
        let above = Path::new(path.trim_start_matches('/')).ancestors();
        above
            .filter_map(|group| {
                read(&Path::new(root).join(group).join(file))?.trim().parse::<u64>().ok()
            })
            .collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s11_the_least_limit_of_all_groups_above_counts() {
        let read = |path: &Path| {
            Some(match path.to_str()? {
                "/sys/fs/cgroup/a/b/memory.max" => "max\n".into(),
                "/sys/fs/cgroup/a/memory.max" => "4096\n".into(),
                "/sys/fs/cgroup/memory/memory.limit_in_bytes" => "8192\n".into(),
                "/sys/fs/cgroup/memory/c/memory.limit_in_bytes" => "9223372036854771712\n".into(),
                _ => return None,
            })
        };
        let of = |groups| limits_in(groups, read).collect::<Vec<_>>();
        assert_eq!(of("0::/a/b\n"), [4096]);
        assert_eq!(of("3:cpu,memory:/c\n1:name=systemd:/a\n"), [9223372036854771712, 8192]);
        assert_eq!(of("0::/../..\n"), Vec::<u64>::new());
        assert_eq!(of(""), Vec::<u64>::new());
    }
}
