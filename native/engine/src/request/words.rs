//! A program with its arguments, run without a shell. The program is looked up on the command's own PATH, as
//! `execvp` does: a file that may not be executed is skipped, and reported if no other is found.

use std::ffi::{CString, OsStr};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use forkline_launch::Image;
use rustix::fs::{Access, access};
use rustix::io::Errno;

use crate::request::variables::entries;

/// The C library's PATH for an environment without one.
const USUAL_PATH: &[u8] = b"/bin:/usr/bin";

/// Returns the words of a command, each ended by NUL. None: the command is shell text, which contains no NUL.
pub fn words_of(text: &[u8]) -> Option<Vec<CString>> {
    let words = text.strip_suffix(b"\0")?.split(|byte| *byte == 0);
    Some(words.map(|word| CString::new(word).unwrap_or_default()).collect())
}

/// Returns the programs to try: one, unless the PATH has directories that are relative to the command's own.
pub fn programs(words: &[CString], environment: &[u8]) -> Vec<Image> {
    let name = words.first().map(|name| name.as_bytes()).unwrap_or_default();
    let places = places(name, environment).into_iter();
    places.map(|path| Image { path, argv: words.to_vec() }).collect()
}

fn places(name: &[u8], environment: &[u8]) -> Vec<CString> {
    let joined = |bytes: &[u8]| CString::new(bytes).unwrap_or_default();
    if name.contains(&b'/') {
        return vec![joined(name)];
    }
    let path = entries(environment).find_map(|entry| entry.strip_prefix(b"PATH="));
    let (mut tried, mut denied, mut missing) = (Vec::new(), None, None);
    for directory in path.unwrap_or(USUAL_PATH).split(|byte| *byte == b':') {
        if !directory.starts_with(b"/") {
            // Only exec, in the command's directory, can tell whether there is such a file.
            let directory = if directory.is_empty() { b"." } else { directory };
            tried.push(joined(&[directory, b"/", name].concat()));
            continue;
        }
        let place = joined(&[directory, b"/", name].concat());
        match look(&place) {
            Ok(()) => {
                tried.push(place);
                return tried;
            }
            Err(Errno::ACCESS) => denied = denied.or(Some(place)),
            Err(_) => missing = missing.or(Some(place)),
        }
    }
    // Exec of this file returns the right error.
    tried.extend(denied.or(missing));
    tried
}

/// Checks that a path is a file that may be executed.
fn look(place: &CString) -> Result<(), Errno> {
    access(place, Access::EXEC_OK)?;
    let is_directory = Path::new(OsStr::from_bytes(place.as_bytes())).is_dir();
    if is_directory { Err(Errno::ACCESS) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tried(name: &str, path: &str) -> Vec<String> {
        let words = [CString::new(name).unwrap(), c"-x".to_owned()];
        let images = programs(&words, format!("A=b\0PATH={path}").as_bytes());
        assert!(images.iter().all(|image| image.argv == words));
        images.into_iter().map(|image| image.path.into_string().unwrap()).collect()
    }

    #[test]
    fn words_are_ended_by_nul_and_shell_text_has_none() {
        assert_eq!(words_of(b"ls -l"), None);
        assert_eq!(words_of(b"ls\0"), Some(vec![c"ls".to_owned()]));
        assert_eq!(words_of(b"a\0\0b c\0"), Some(vec![c"a".into(), c"".into(), c"b c".into()]));
    }

    #[test]
    fn a_program_is_the_first_on_the_path_that_may_be_executed() {
        assert_eq!(tried("sh", "/none:/bin:/usr/bin"), ["/bin/sh"]);
        // The former is a file without the mode bits, the latter a directory.
        assert_eq!(tried("passwd", "/etc:/usr/bin"), ["/usr/bin/passwd"]);
        assert_eq!(tried("bin", "/usr:/none"), ["/usr/bin"]);
    }

    #[test]
    fn a_program_that_is_nowhere_on_the_path_is_tried_at_one_missing_path() {
        assert_eq!(tried("no-such-program", "/bin:/usr/bin"), ["/bin/no-such-program"]);
        assert_eq!(tried("passwd", "/none:/etc"), ["/etc/passwd"]);
    }

    #[test]
    fn a_name_with_a_slash_is_not_looked_for() {
        assert_eq!(tried("./sh", "/bin"), ["./sh"]);
        assert_eq!(tried("/bin/sh", "/none"), ["/bin/sh"]);
    }

    #[test]
    fn directories_that_are_relative_to_the_command_are_left_to_its_exec() {
        assert_eq!(tried("sh", ":bin:/bin"), ["./sh", "bin/sh", "/bin/sh"]);
    }

    #[test]
    fn without_a_path_the_systems_path_is_used() {
        let images = programs(&[c"sh".to_owned()], b"A=b");
        assert_eq!(images.len(), 1);
        assert_eq!(images[0].path.as_c_str(), c"/bin/sh");
    }
}
