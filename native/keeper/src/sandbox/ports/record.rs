//! A file that says which ports are published, for processes of the same user that see one inside listen:
//! they are given the way to it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::proc;

/// The file of this relay, whose name is its process id.
pub struct PortRecord {
    path: PathBuf,
    /// The first line: the network namespace of the sandbox, and when this process was started.
    head: String,
}

impl PortRecord {
    /// Called in the network of the sandbox, with the directory of all such files.
    pub fn new(directory: &Path) -> io::Result<PortRecord> {
        sweep(directory);
        let own = std::process::id() as i32;
        let network = fs::read_link("/proc/thread-self/ns/net")?;
        let network = network.to_string_lossy();
        let inode = network.trim_start_matches("net:[").trim_end_matches(']');
        let started = proc::stat(own).map_or(0, |stat| stat.started);
        Ok(PortRecord { path: path_of(directory, own), head: format!("{inode} {started}\n") })
    }

    /// Writes the words of the published ports. Where that fails, processes find no way to them.
    pub fn write<'a>(&self, words: impl Iterator<Item = &'a str>) {
        let lines: String = words.map(|word| format!("{word}\n")).collect();
        if lines.is_empty() {
            let _ = fs::remove_file(&self.path);
            return;
        }
        let next = self.path.with_extension("next");
        let written = fs::write(&next, format!("{}{lines}", self.head));
        let _ = written.and_then(|()| fs::rename(&next, &self.path));
    }
}

/// Removes the file of a relay that has ended.
pub fn remove(directory: &Path, relay: i32) {
    let path = path_of(directory, relay);
    let _ = fs::remove_file(path.with_extension("next"));
    let _ = fs::remove_file(path);
}

/// Removes the files of relays that were killed together with what would have removed them.
fn sweep(directory: &Path) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        let relay = path.file_stem().and_then(|name| name.to_str()?.parse::<i32>().ok());
        if relay.is_some_and(|relay| proc::stat(relay).is_none()) {
            let _ = fs::remove_file(path);
        }
    }
}

fn path_of(directory: &Path, relay: i32) -> PathBuf {
    directory.join(relay.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_lasts_as_long_as_ports_are_published() {
        let directory = tempfile::tempdir().unwrap();
        let gone = directory.path().join("2147483647");
        fs::write(&gone, "").unwrap();
        let record = PortRecord::new(directory.path()).unwrap();
        assert!(!gone.exists());
        record.write(["port=1,2,3,a", "port=4,5,6,b"].into_iter());
        let text = fs::read_to_string(&record.path).unwrap();
        let (head, words) = text.split_once('\n').unwrap();
        assert!(head.split(' ').all(|number| number.parse::<u64>().is_ok()));
        assert_eq!(words, "port=1,2,3,a\nport=4,5,6,b\n");
        record.write(std::iter::empty());
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
    }
}
