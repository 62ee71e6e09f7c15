//! The directories whose changes are held, written down in `DIRECTORY/roots` for whoever accepts them: fields that
//! are ended by NUL. `since`, `SECONDS.NANOSECONDS`; then for each directory `root`, its path, `DEVICE:INODE`.

use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, Timespec, clock_gettime};

use crate::sandbox::place;
use crate::sandbox::plan::Plan;
use crate::sandbox::report::{Protection, SetupError};

const ROOTS: &str = "roots";
/// A name under which nothing is read.
const UNFINISHED: &str = "roots.new";

/// How long the clock of files may stand still: it goes on every few milliseconds.
const PATIENCE: Duration = Duration::from_secs(1);
const PAUSE: Duration = Duration::from_micros(200);

/// A directory that commands may write to.
#[derive(Debug, PartialEq, Eq)]
pub struct HeldRoot {
    pub path: PathBuf,
    /// Device and inode.
    pub identity: (u64, u64),
}

/// Returns the directories of a resolved plan, the shorter paths first.
pub fn of(plan: &Plan) -> Result<Vec<HeldRoot>, SetupError> {
    let roots = plan.held_rules().map(|rule| {
        let refuse = |error| refuse(&rule.path)(error);
        let file = rule.open().map_err(refuse)?;
        if !rule.path.is_dir() {
            return Err(refuse(io::Error::from_raw_os_error(libc::ENOTDIR)));
        }
        // What is mounted below it would not be seen, and nor would the rest of the file system at all.
        if rule.path == Path::new("/") {
            return Err(refuse(io::Error::from_raw_os_error(libc::EINVAL)));
        }
        let identity = place::identity(&file).map_err(refuse)?;
        Ok(HeldRoot { path: rule.path.clone(), identity })
    });
    roots.collect()
}

/// Returns what makes an error of the layers of a directory.
pub fn refuse(path: &Path) -> impl FnOnce(io::Error) -> SetupError + use<> {
    SetupError::of(
        Protection::Changes,
        format!("holding the changes of '{}' by an overlay", path.display()),
    )
}

/// Writes down the directories, and the time before which they were as commands see them. What was written down
/// before has to be of the same ones.
pub fn note(directory: &Path, roots: &[HeldRoot]) -> io::Result<()> {
    let text: Vec<u8> = roots.iter().flat_map(fields).collect();
    match fs::read(directory.join(ROOTS)) {
        Ok(known) if after_since(&known) == Some(&*text) => return Ok(()),
        Ok(_) => return Err(io::Error::from_raw_os_error(libc::ESTALE)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    let Timespec { tv_sec, tv_nsec } = tick()?;
    let mut whole = format!("since\0{tv_sec}.{tv_nsec:09}\0").into_bytes();
    whole.extend_from_slice(&text);
    let unfinished = directory.join(UNFINISHED);
    fs::write(&unfinished, whole)?;
    fs::rename(unfinished, directory.join(ROOTS))
}

/// Returns a time that has passed: what was changed before has none that is later, and what is changed from now on has
/// one. File systems go by a clock that ticks, some of them by a finer one where somebody has just looked.
fn tick() -> io::Result<Timespec> {
    let (begun, until) = (clock_gettime(ClockId::Realtime), Instant::now() + PATIENCE);
    while clock_gettime(ClockId::RealtimeCoarse) <= begun {
        // It has been set back.
        if Instant::now() > until {
            return Err(io::Error::from_raw_os_error(libc::ETIME));
        }
        thread::sleep(PAUSE);
    }
    Ok(begun)
}

fn fields(HeldRoot { path, identity: (device, inode) }: &HeldRoot) -> Vec<u8> {
    let identity = format!("{device}:{inode}");
    let mut text = Vec::new();
    for field in [b"root", path.as_os_str().as_bytes(), identity.as_bytes()] {
        text.extend_from_slice(field);
        text.push(0);
    }
    text
}

/// Returns what follows the time.
fn after_since(text: &[u8]) -> Option<&[u8]> {
    let mut parts = text.splitn(3, |byte| *byte == 0);
    (parts.next()? == b"since").then_some(())?;
    parts.nth(1)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt;

    use super::*;

    fn root(path: &str) -> HeldRoot {
        HeldRoot { path: path.into(), identity: (7, 8) }
    }

    #[test]
    fn roots_are_noted_once_and_have_to_stay_the_same() {
        let folder = tempfile::tempdir().unwrap();
        note(folder.path(), &[root("/a"), root("/a/b")]).unwrap();
        let text = fs::read(folder.path().join(ROOTS)).unwrap();
        assert_eq!(after_since(&text), Some(&b"root\0/a\x007:8\0root\0/a/b\x007:8\0"[..]));
        note(folder.path(), &[root("/a"), root("/a/b")]).unwrap();
        assert_eq!(fs::read(folder.path().join(ROOTS)).unwrap(), text);
        let error = note(folder.path(), &[root("/a")]).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::ESTALE));
    }

    #[test]
    fn a_file_that_is_made_afterwards_has_a_later_time() {
        let folder = tempfile::tempdir().unwrap();
        let Timespec { tv_sec, tv_nsec } = tick().unwrap();
        fs::write(folder.path().join("file"), "").unwrap();
        let made = fs::metadata(folder.path().join("file")).unwrap();
        assert!((made.ctime(), made.ctime_nsec()) > (tv_sec, tv_nsec));
    }
    #[test]
    fn a_file_that_was_made_and_looked_at_before_has_no_later_time() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        for _ in 0..50 {
            fs::write(&file, "one").unwrap();
            fs::metadata(&file).unwrap();
            fs::write(&file, "two").unwrap();
            let Timespec { tv_sec, tv_nsec } = tick().unwrap();
            let made = fs::metadata(&file).unwrap();
            assert!((made.ctime(), made.ctime_nsec()) <= (tv_sec, tv_nsec));
        }
    }
}
