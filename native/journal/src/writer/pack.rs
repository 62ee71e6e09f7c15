//! The contents that are kept: one after another in a pack, large ones in files of their own where the file
//! system shares their blocks.

use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::FileExt;

use rustix::fs::{AtFlags, Mode, OFlags, ioctl_ficlone, openat, unlinkat};
use rustix::io::Errno;

use crate::extents::extents;
use crate::record::KeptPlace;
use crate::store::{PACK, own_name};
use crate::writer::limits::NotKept;

/// From how many bytes on it is tried to share the blocks.
const LARGE: u64 = 1 << 20;

/// The bytes that are copied at once.
const PIECE: usize = 1 << 16;

/// The kept contents of one journal.
#[derive(Debug)]
pub(crate) struct Pack {
    journal: OwnedFd,
    pack: File,
    length: u64,
    clones: u32,
    can_clone: bool,
    buffer: Vec<u8>,
}

impl Pack {
    /// Makes the pack in the directory of a journal.
    pub fn create(journal: OwnedFd) -> Result<Pack, Errno> {
        let pack = File::from(create(&journal, PACK)?);
        Ok(Pack { journal, pack, length: 0, clones: 0, can_clone: true, buffer: Vec::new() })
    }

    /// Keeps the content of a file that is open for reading. `room`: the most bytes that it may take.
    pub fn keep(
        &mut self,
        file: &File,
        size: u64,
        stored: u64,
        room: u64,
    ) -> Result<KeptPlace, NotKept> {
        let full = || NotKept("the journal is full".to_owned());
        if stored.min(size) >= LARGE && self.can_clone {
            if size.min(stored) > room {
                return Err(full());
            }
            if let Some(place) = self.clone_of(file)? {
                return Ok(place);
            }
        }
        let extents = extents(file, size, stored)?;
        if extents.iter().map(|(_, length)| *length).sum::<u64>() > room {
            return Err(full());
        }
        let start = self.length;
        let mut end = start;
        for (offset, length) in &extents {
            if let Err(error) = self.copy(file, *offset, *length, &mut end) {
                self.pack.set_len(start)?;
                return Err(error);
            }
        }
        self.length = end;
        Ok(KeptPlace::Pack { start, extents })
    }

    fn copy(
        &mut self,
        file: &File,
        mut from: u64,
        length: u64,
        to: &mut u64,
    ) -> Result<(), NotKept> {
        let end = from + length;
        self.buffer.resize(PIECE, 0);
        while from < end {
            let wanted = usize::try_from(end - from).unwrap_or(PIECE).min(PIECE);
            let Some(into) = self.buffer.get_mut(..wanted) else { break };
            let got = file.read_at(into, from)?;
            let Some(bytes) = into.get(..got).filter(|bytes| !bytes.is_empty()) else {
                return Err(NotKept("it became shorter while it was read".to_owned()));
            };
            self.pack.write_all_at(bytes, *to)?;
            from += got as u64;
            *to += got as u64;
        }
        Ok(())
    }

    /// Makes a file that shares the blocks; none where the file system can't do that.
    fn clone_of(&mut self, file: &File) -> Result<Option<KeptPlace>, NotKept> {
        let number = self.clones;
        let name = own_name(number);
        let own = create(&self.journal, &name)?;
        if ioctl_ficlone(&own, file.as_fd()).is_ok() {
            self.clones += 1;
            return Ok(Some(KeptPlace::Own { number }));
        }
        self.can_clone = false;
        unlinkat(&self.journal, name, AtFlags::empty())?;
        Ok(None)
    }
}

fn create(journal: &OwnedFd, name: &str) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    openat(journal, name, flags, Mode::from_raw_mode(0o600))
}
