//! Files in memory, for contents that are too long for a message.

use std::ffi::CStr;
use std::fs::File;
use std::io::{self, Seek, Write};
use std::os::fd::{FromRawFd, OwnedFd};

/// Seals the file against execution. Linux 6.3; where `vm.memfd_noexec` is 2, no file is made without
/// this flag.
const MFD_NOEXEC_SEAL: u32 = 8;
/// Makes the file executable. Linux 6.3; where `vm.memfd_noexec` is 1, files without this flag are not.
const MFD_EXEC: u32 = 16;

/// Makes a file in memory, positioned at its start; close-on-exec, not executable, and sealable.
pub fn memory_file(name: &CStr, contents: &[u8]) -> io::Result<OwnedFd> {
    make(name, contents, MFD_NOEXEC_SEAL, libc::MFD_ALLOW_SEALING)
}

/// Makes an executable file in memory; close-on-exec.
pub fn memory_program(name: &CStr, contents: &[u8]) -> io::Result<OwnedFd> {
    make(name, contents, MFD_EXEC, 0)
}

/// Makes a file in memory. `older`: flags for a kernel that knows neither `kind`, and makes executable
/// files.
fn make(name: &CStr, contents: &[u8], kind: u32, older: u32) -> io::Result<OwnedFd> {
    let file = match create(name, libc::MFD_CLOEXEC | kind) {
        Err(error) if error.raw_os_error() == Some(libc::EINVAL) => {
            create(name, libc::MFD_CLOEXEC | older)
        }
        made => made,
    };
    let mut file = File::from(file?);
    file.write_all(contents)?;
    file.rewind()?;
    Ok(file.into())
}

fn create(name: &CStr, flags: u32) -> io::Result<OwnedFd> {
    // SAFETY: takes a name that ends with NUL, and a number.
    let file = unsafe { libc::memfd_create(name.as_ptr(), flags) };
    if file < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor was just made; nothing else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(file) })
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_file_is_read_from_its_start_and_a_program_alone_is_executable() {
        for (file, executable) in
            [(memory_file(c"data", b"text"), false), (memory_program(c"program", b"text"), true)]
        {
            let mut file = File::from(file.unwrap());
            let mut text = String::new();
            file.read_to_string(&mut text).unwrap();
            assert_eq!(text, "text");
            let knows_kinds = create(c"probe", MFD_NOEXEC_SEAL).is_ok();
            let mode = file.metadata().unwrap().permissions().mode();
            assert_eq!(mode & 0o111 != 0, executable || !knows_kinds);
        }
    }
}
