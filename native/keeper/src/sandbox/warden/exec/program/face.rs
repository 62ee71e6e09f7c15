//! Programs that are many (busybox, coreutils): which one is said by their name or their first argument.

use crate::sandbox::warden::exec::program::Program;
use crate::sandbox::warden::exec::program::catalogue::{is_called_many, last_name};

/// The options by which a call of coreutils says which program it is.
const CHOOSING: [&[u8]; 2] = [b"--coreutils-prog=", b"--coreutils-prog-shebang="];
/// What a program that is many is called, and the number of the first of its arguments.
#[derive(Debug, PartialEq, Eq)]
pub struct Face<'program> {
    pub name: &'program [u8],
    pub first: usize,
}

impl Face<'_> {
    /// Returns which programs it may be, the likeliest first. None: the program is one.
    pub fn all(program: &Program) -> Vec<Face<'_>> {
        if program.facts.is_many { faces(&program.argv) } else { Vec::new() }
    }
}

fn faces(argv: &[Vec<u8>]) -> Vec<Face<'_>> {
    // `busybox busybox rm` is rm as well.
    for at in 0..argv.len() {
        let word = |at: usize| argv.get(at).map(|word| &**word).unwrap_or_default();
        let called = last_name(word(at));
        // As the name of a shell at login.
        let name = called.strip_prefix(b"-").unwrap_or(called);
        let chosen = CHOOSING.iter().find_map(|option| word(at + 1).strip_prefix(*option));
        let chosen = chosen.map(|name| Face { name: last_name(name), first: at + 2 });
        if is_called_many(name) {
            if let Some(chosen) = chosen {
                return vec![chosen];
            }
            continue;
        }
        // coreutils in Rust take `my-rm` for rm.
        let end = name.rsplit(|byte| !byte.is_ascii_alphanumeric()).next().unwrap_or_default();
        let end =
            Some(Face { name: end, first: at + 1 }).filter(|_| !end.is_empty() && end != name);
        let own = Face { name, first: at + 1 };
        return std::iter::once(own).chain(chosen).chain(end).collect();
    }
    vec![Face { name: &[], first: argv.len() }]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_is_many_is_told_apart_by_its_arguments() {
        let of = |line: &str| -> Vec<(String, usize)> {
            let argv: Vec<Vec<u8>> = line.split(' ').map(|word| word.into()).collect();
            let name = |face: &Face| String::from_utf8_lossy(face.name).into_owned();
            faces(&argv).iter().map(|face| (name(face), face.first)).collect()
        };
        let one = |name: &str, first: usize| vec![(name.to_owned(), first)];
        assert_eq!(of("rm -r x"), one("rm", 1));
        assert_eq!(of("-rm -r x"), one("rm", 1));
        assert_eq!(of("/bin/busybox rm -r x"), one("rm", 2));
        assert_eq!(of("busybox.static rm -r x"), one("rm", 2));
        assert_eq!(of("-busyboxes rm -r x"), one("rm", 2));
        assert_eq!(of("busybox busybox rm -r x"), one("rm", 3));
        assert_eq!(of("busybox /bin/rm x"), one("rm", 2));
        assert_eq!(of("coreutils --coreutils-prog=rm x"), one("rm", 2));
        let both = [one("else", 1), one("rm", 2)].concat();
        assert_eq!(of("else --coreutils-prog=rm x"), both);
        assert_eq!(of("my-rm x"), [one("my-rm", 1), one("rm", 1)].concat());
        assert_eq!(of("busybox"), one("", 1));
    }
}
