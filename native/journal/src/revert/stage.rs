//! Makes the directories in which a revert puts things meanwhile, when they are needed.

use std::ffi::CString;
use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{Mode, mkdirat};
use rustix::io::Errno;

use crate::node::look_for;
use crate::open::open_node;
use crate::reader::paths::join;
use crate::record::LogRecord;
use crate::revert::acting::Acting;

/// What the name of such a directory begins with.
const PREFIX: &str = ".forkline-undo-";

/// How many names are tried.
const MOST_NAMES: u32 = 100;

impl Acting<'_> {
    /// Returns the directory for a device, with a name in it that nothing has, and its path.
    pub fn stage(&mut self, device: u64) -> Result<(OwnedFd, CString, Vec<u8>), Errno> {
        if !self.staging.by_device.contains_key(&device) {
            let made = self.make_staging(device)?;
            self.staging.by_device.insert(device, made);
        }
        loop {
            let (file, path) = self.staging.by_device.get(&device).ok_or(Errno::NOENT)?;
            let name = CString::new(self.staging.count.to_string()).map_err(|_| Errno::INVAL)?;
            self.staging.count += 1;
            if look_for(file.as_fd(), &name)?.is_none() {
                let file = file.try_clone().map_err(|_| Errno::MFILE)?;
                let path = join(path, name.to_bytes());
                return Ok((file, name, path));
            }
        }
    }

    fn make_staging(&mut self, device: u64) -> Result<(OwnedFd, Vec<u8>), Errno> {
        let (_, home) = *self.staging.homes.get(&device).ok_or(Errno::NOENT)?;
        let (above, above_path) = self.directory(home)?;
        for number in 0..MOST_NAMES {
            let name = format!("{PREFIX}{number}");
            let path = join(&above_path, name.as_bytes());
            let name = CString::new(name).map_err(|_| Errno::INVAL)?;
            self.marks.add(&LogRecord::Staging { device, path: path.clone() })?;
            match mkdirat(&above, &name, Mode::from_raw_mode(0o700)) {
                Err(Errno::EXIST) => continue,
                made => made?,
            }
            return Ok((open_node(above.as_fd(), &name)?, path));
        }
        Err(Errno::EXIST)
    }
}
