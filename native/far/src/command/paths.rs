//! Paths from the client.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Component, Path, PathBuf};

use serde_json::Value;

use crate::call_error::CallError;

/// Returns an absolute path without `.` and `..`, resolved without looking at the disk, as Node does it.
pub fn absolute(name: &str, given: &Value) -> Result<PathBuf, CallError> {
    let expected = "a path: a string that is not empty and has no NUL";
    let path = given.as_str().filter(|path| !path.is_empty() && !path.contains('\0'));
    let path = Path::new(path.ok_or_else(|| CallError::option(name, expected, given))?);
    if path.is_absolute() {
        return Ok(resolve(path));
    }
    let here = std::env::current_dir().map_err(|_| {
        let expected = "an absolute path, since the far side's own directory was removed";
        CallError::option(name, expected, given)
    })?;
    Ok(resolve(&here.join(path)))
}

fn resolve(path: &Path) -> PathBuf {
    let mut names: Vec<&[u8]> = Vec::new();
    for component in path.components() {
        match component {
            Component::Normal(name) => names.push(name.as_bytes()),
            Component::ParentDir => drop(names.pop()),
            Component::Prefix(_) | Component::RootDir | Component::CurDir => {}
        }
    }
    let mut whole = b"/".to_vec();
    whole.extend_from_slice(&names.join(&b'/'));
    PathBuf::from(OsString::from_vec(whole))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_resolved_as_by_node() {
        for (given, made) in [
            ("/", "/"),
            ("/a/./b//c/", "/a/b/c"),
            ("/a/../../b", "/b"),
            ("/..", "/"),
            ("//x", "/x"),
        ] {
            assert_eq!(absolute("cwd", &given.into()).unwrap(), Path::new(made));
        }
        let here = std::env::current_dir().unwrap();
        assert_eq!(absolute("cwd", &"x/..".into()).unwrap(), here);
    }

    #[test]
    fn an_invalid_path_is_refused_by_its_option() {
        for given in [Value::from(""), "a\0b".into(), 5.into()] {
            let refusal = absolute("cwd", &given).unwrap_err();
            assert!(refusal.message.starts_with("cwd: expected a path"), "{}", refusal.message);
        }
    }
}
