//! Environments in the kernel's form: `NAME=value` entries, separated or ended by NUL.

/// Iterates over the entries.
pub fn entries(environment: &[u8]) -> impl Iterator<Item = &[u8]> {
    let ends = memchr::memchr_iter(0, environment).chain([environment.len()]);
    let mut start = 0;
    ends.map(move |end| {
        let entry = environment.get(start..end).unwrap_or_default();
        start = end + 1;
        entry
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn entries_are_what_stands_between_nuls(environment: Vec<u8>) {
            let split: Vec<&[u8]> = environment.split(|byte| *byte == 0).collect();
            prop_assert_eq!(entries(&environment).collect::<Vec<_>>(), split);
        }
    }
}
