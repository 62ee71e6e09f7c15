//! Programs that are many (busybox, coreutils): which one is said by their name or their first argument.

use crate::sandbox::warden::exec::program::Program;
use crate::sandbox::warden::exec::program::catalogue::last_name;

/// The options by which a call of coreutils says which program it is.
const CHOOSING: [&[u8]; 2] = [b"--coreutils-prog=", b"--coreutils-prog-shebang="];

/// What a program that is many is called, and the number of the first of its arguments.
#[derive(Debug, PartialEq, Eq)]
pub struct Face<'program> {
    pub name: &'program [u8],
    pub first: usize,
}

impl Face<'_> {
    /// None: the program is one.
    pub fn of(program: &Program) -> Option<Face<'_>> {
        program.facts.is_many.then(|| face(&program.argv))
    }
}

fn face(argv: &[Vec<u8>]) -> Face<'_> {
    let word = |at: usize| argv.get(at).map(|word| &**word).unwrap_or_default();
    let own = last_name(word(0));
    if !matches!(own, b"busybox" | b"busybox.static" | b"toybox" | b"coreutils") {
        return Face { name: own, first: 1 };
    }
    let second = word(1);
    let chosen = CHOOSING.iter().find_map(|option| second.strip_prefix(*option));
    Face { name: last_name(chosen.unwrap_or(second)), first: 2 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_is_many_is_told_apart_by_its_arguments() {
        let of = |line: &str| {
            let argv: Vec<Vec<u8>> = line.split(' ').map(|word| word.into()).collect();
            let face = face(&argv);
            (String::from_utf8_lossy(face.name).into_owned(), face.first)
        };
        assert_eq!(of("rm -r x"), ("rm".to_owned(), 1));
        assert_eq!(of("/bin/busybox rm -r x"), ("rm".to_owned(), 2));
        assert_eq!(of("busybox /bin/rm x"), ("rm".to_owned(), 2));
        assert_eq!(of("coreutils --coreutils-prog=rm x"), ("rm".to_owned(), 2));
        assert_eq!(of("busybox"), (String::new(), 2));
    }
}
