//! What commands see of the user's agents: sockets at which the broker is called, and a copy of gpg's
//! public files.

use std::fs::{self, DirBuilder, File, Permissions};
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::os::unix::net::UnixListener;
use std::path::Path;

use crate::sandbox::agents::{Agents, GpgAgent};
use crate::sandbox::mounts::{make_read_only_alone, mount_new};
use crate::sandbox::place;

/// The directory of the sockets, which commands can't change.
const PLACE: &str = "/run/forkline";
/// The socket of the ssh agent, as commands see it.
pub const SSH: &str = "/run/forkline/ssh-agent";
/// The socket of the gpg agent, as commands see it.
pub const GPG: &str = "/run/forkline/gpg-agent";
/// The home directory of gpg, where it makes its locks.
const GPG_HOME: &str = "/run/forkline-gnupg";

/// The files that contain no secret: public keys, whom the user trusts, and settings.
const PUBLIC: [&str; 6] =
    ["pubring.kbx", "pubring.gpg", "trustdb.gpg", "gpg.conf", "common.conf", "tofu.db"];
/// The most bytes of one such file.
const MOST_BYTES: u64 = 64 * 1024 * 1024;

/// The public files of gpg: names and contents.
pub type PublicFiles = Vec<(&'static str, Vec<u8>)>;

/// Reads gpg's public files, before they are hidden. Links are not followed: a command may have made them.
pub fn public_files(agents: &Agents) -> PublicFiles {
    let home = agents.gpg.as_ref().and_then(|GpgAgent { home, .. }| home.as_deref());
    let read = |name| Some((name, read(&home?.join(name)).ok()?));
    PUBLIC.into_iter().filter_map(read).collect()
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    let found = place::open(path)?;
    if place::status(&found)?.st_mode & libc::S_IFMT != libc::S_IFREG {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let mut bytes = Vec::new();
    let file = File::open(format!("/proc/self/fd/{}", found.as_raw_fd()))?;
    file.take(MOST_BYTES).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Makes the sockets in the file tree of the sandbox. Returns those of the ssh and the gpg agent, as far as
/// the plan has them.
pub fn listen(agents: &Agents, public: PublicFiles) -> io::Result<Vec<OwnedFd>> {
    if agents.count() == 0 {
        return Ok(Vec::new());
    }
    let place = Path::new(PLACE);
    fs::create_dir(place)?;
    mount_new(c"tmpfs", place, libc::MS_NODEV, c"mode=755,size=64k")?;
    let mut all = Vec::new();
    for path in [agents.ssh.as_ref().map(|_| SSH), agents.gpg.as_ref().map(|_| GPG)] {
        let Some(path) = path else { continue };
        let listener = UnixListener::bind(path)?;
        listener.set_nonblocking(true)?;
        fs::set_permissions(path, Permissions::from_mode(0o600))?;
        all.push(listener.into());
    }
    make_read_only_alone(place)?;
    if agents.gpg.is_some() {
        make_home(Path::new(GPG_HOME), public)?;
    }
    Ok(all)
}

/// Makes gpg's home directory. The file in the place of its agent's socket says where that is.
fn make_home(home: &Path, public: PublicFiles) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(home)?;
    let socket = ("S.gpg-agent", format!("%Assuan%\nsocket={GPG}\n").into_bytes());
    for (name, bytes) in public.into_iter().chain([socket]) {
        let path = home.join(name);
        File::create(&path)?.write_all(&bytes)?;
        fs::set_permissions(&path, Permissions::from_mode(0o600))?;
    }
    Ok(())
}
