//! Scripts, which the kernel has an interpreter execute.

/// The bytes of a file in which the kernel looks for an interpreter.
pub const BEGINNING: usize = 256;

/// The first line of a script: `#! PATH ARGUMENT`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptLine {
    pub interpreter: Vec<u8>,
    pub argument: Option<Vec<u8>>,
}

/// Reads `#! PATH ARGUMENT` as the kernel does. None: the file does not begin so.
pub fn first_line(beginning: &[u8]) -> Option<ScriptLine> {
    let rest = beginning.strip_prefix(b"#!")?;
    let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t');
    let end = rest.iter().position(|byte| matches!(byte, b'\n'));
    // Of a line that is longer only a whole path counts.
    let line = rest.get(..end.unwrap_or(rest.len()))?;
    let line = line.split(|byte| *byte == 0).next()?;
    let line = line.get(line.iter().position(|byte| !is_blank(byte))?..)?;
    let (path, rest) = match line.iter().position(is_blank) {
        Some(at) => line.split_at_checked(at)?,
        None => (line, &[][..]),
    };
    let from = rest.iter().position(|byte| !is_blank(byte));
    let to = rest.iter().rposition(|byte| !is_blank(byte));
    let argument = from.zip(to).and_then(|(from, to)| rest.get(from..=to)).map(<[u8]>::to_owned);
    let line = ScriptLine { interpreter: path.to_owned(), argument };
    Some(line).filter(|line| !line.interpreter.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_of_a_script_is_read_as_by_the_kernel() {
        let of = |text: &'static str| {
            first_line(text.as_bytes()).map(|line| {
                let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
                (text(&line.interpreter), line.argument.as_deref().map(text))
            })
        };
        let line = |path: &str, argument: Option<&str>| {
            Some((path.to_owned(), argument.map(ToOwned::to_owned)))
        };
        assert_eq!(of("#!/bin/sh\necho"), line("/bin/sh", None));
        assert_eq!(of("#! /usr/bin/env  node --x \t\n"), line("/usr/bin/env", Some("node --x")));
        assert_eq!(of("#!\t/bin/sh"), line("/bin/sh", None));
        assert_eq!(of("#!/bin/a\0b\n"), line("/bin/a", None));
        for none in ["", "#", "#!", "#! \n/bin/sh", "#!\n", "echo", " #!/bin/sh"] {
            assert_eq!(of(none), None, "{none:?}");
        }
    }
}
