//! Variables in their order.

/// Names and values; each name once.
#[derive(Default)]
pub struct Variables(Vec<(Vec<u8>, Vec<u8>)>);

impl Variables {
    /// The value of a variable.
    pub fn get(&self, name: &[u8]) -> Option<&[u8]> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_slice())
    }

    /// Gives a variable a value, at the place that it has.
    pub fn set(&mut self, name: &[u8], value: &[u8]) {
        match self.0.iter_mut().find(|(known, _)| known == name) {
            Some((_, old)) => *old = value.to_vec(),
            None => self.0.push((name.to_vec(), value.to_vec())),
        }
    }

    /// The same, after all others.
    pub fn put(&mut self, name: &[u8], value: &[u8]) {
        self.remove(name);
        self.set(name, value);
    }

    /// Takes a variable out.
    pub fn remove(&mut self, name: &[u8]) {
        self.0.retain(|(known, _)| known != name);
    }

    /// Keeps those for whose names this is so.
    pub fn retain(&mut self, stays: impl Fn(&[u8]) -> bool) {
        self.0.retain(|(name, _)| stays(name));
    }

    /// Changes values; what becomes empty by that goes.
    pub fn rewrite(
        &mut self,
        is_meant: impl Fn(&[u8], &[u8]) -> bool,
        change: impl Fn(&[u8]) -> Vec<u8>,
    ) {
        self.0.retain_mut(|(name, value)| {
            let changed = if is_meant(name, value) { change(value) } else { return true };
            let is_same = changed == *value;
            *value = changed;
            is_same || !value.is_empty()
        });
    }

    /// Entries separated by NUL.
    pub fn block(&self) -> Vec<u8> {
        let entries = self.0.iter().map(|(name, value)| [name, value.as_slice()].join(&b'='));
        entries.collect::<Vec<_>>().join(&0)
    }
}
