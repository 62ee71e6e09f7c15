//! Programs that are known never to end by themselves.

/// Returns whether a program with these arguments, each ended by NUL, goes on until it is ended.
pub fn is_endless(arguments: &[u8]) -> bool {
    let words: Vec<&str> = arguments
        .split(|byte| *byte == 0)
        .filter_map(|word| std::str::from_utf8(word).ok())
        .filter(|word| !word.is_empty())
        .collect();
    let Some((program, options)) = words.split_first() else { return false };
    let has = |short: char, long: &[&str]| options.iter().any(|word| has_option(word, short, long));
    match program.rsplit('/').next().unwrap_or_default() {
        "watch" | "htop" | "btop" => true,
        "top" => !has('n', &["iterations"]),
        "tail" => has('f', &["follow"]) || has('F', &[]),
        "journalctl" => has('f', &["follow"]),
        "dmesg" => has('w', &["follow"]) || has('W', &["follow-new"]),
        "ping" => !has('c', &["count"]) && !has('w', &["deadline"]),
        "inotifywait" => has('m', &["monitor"]),
        "sleep" => options.contains(&"infinity"),
        _ => false,
    }
}

/// Returns whether a word is an option, by its letter, also among others (`-nf`), or by its long name.
fn has_option(word: &str, short: char, long: &[&str]) -> bool {
    if let Some(name) = word.strip_prefix("--") {
        return long.contains(&name.split('=').next().unwrap_or_default());
    }
    word.strip_prefix('-').is_some_and(|letters| letters.contains(short))
}

#[cfg(test)]
mod tests {
    use super::is_endless;

    #[test]
    fn programs_are_known_with_their_options() {
        let is = |line: &str| is_endless(line.replace(' ', "\0").as_bytes());
        for line in ["watch -n 1 date", "/usr/bin/top", "top -b", "tail -f x", "tail -n5 -F x"] {
            assert!(is(line), "{line}");
        }
        for line in ["tail -nf x", "tail --follow=name x", "journalctl -fu x", "ping localhost"] {
            assert!(is(line), "{line}");
        }
        for line in ["", "tail -5 x", "top -bn1", "ping -c 3 x", "sleep 60", "stopwatch", "cat -f"]
        {
            assert!(!is(line), "{line}");
        }
    }
}
