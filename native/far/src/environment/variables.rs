//! An ordered list of variables.

/// Names and values; each name occurs once.
#[derive(Default)]
pub struct Variables(Vec<(Vec<u8>, Vec<u8>)>);

impl Variables {
    /// Returns the value of a variable.
    pub fn get(&self, name: &[u8]) -> Option<&[u8]> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_slice())
    }

    /// Sets a variable, which keeps its position.
    pub fn set(&mut self, name: &[u8], value: &[u8]) {
        match self.0.iter_mut().find(|(known, _)| known == name) {
            Some((_, old)) => *old = value.to_vec(),
            None => self.0.push((name.to_vec(), value.to_vec())),
        }
    }

    /// Sets a variable, and moves it to the end.
    pub fn put(&mut self, name: &[u8], value: &[u8]) {
        self.remove(name);
        self.set(name, value);
    }

    /// Removes a variable.
    pub fn remove(&mut self, name: &[u8]) {
        self.0.retain(|(known, _)| known != name);
    }

    /// Keeps the variables whose names satisfy `stays`.
    pub fn retain(&mut self, stays: impl Fn(&[u8]) -> bool) {
        self.0.retain(|(name, _)| stays(name));
    }

    /// Changes values; a variable that becomes empty is removed.
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

    /// Returns the entries separated by NUL.
    pub fn block(&self) -> Vec<u8> {
        let entries = self.0.iter().map(|(name, value)| [name, value.as_slice()].join(&b'='));
        entries.collect::<Vec<_>>().join(&0)
    }
}
