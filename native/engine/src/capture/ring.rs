//! A ring that keeps the last bytes written to it.

/// Keeps the last `limit` bytes pushed, in memory that grows only as it is used.
#[derive(Debug, Default)]
pub struct Ring {
    limit: usize,
    bytes: Vec<u8>,
    /// The position of the oldest byte, once `bytes` has reached `limit`.
    start: usize,
}

impl Ring {
    /// Makes an empty ring that holds at most `limit` bytes.
    pub fn new(limit: usize) -> Self {
        Ring { limit, bytes: Vec::new(), start: 0 }
    }

    /// Returns the most bytes that can be held.
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// Returns the number of bytes held.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Appends `chunk`. Returns how many older bytes (or bytes of `chunk` itself) fell out.
    pub fn push(&mut self, chunk: &[u8]) -> usize {
        let before = self.len();
        let kept = last(chunk, self.limit);
        let (fill, wrap) = kept.split_at(kept.len().min(self.limit - before));
        self.append(fill);
        self.overwrite(wrap);
        before + chunk.len() - self.len()
    }

    /// The bytes held, oldest first, as the two runs they are stored in.
    pub fn as_slices(&self) -> (&[u8], &[u8]) {
        let (newer, older) = self.bytes.split_at(self.start);
        (older, newer)
    }

    /// Takes all bytes out, oldest first, and leaves the ring empty.
    pub fn take(&mut self) -> Vec<u8> {
        let mut bytes = std::mem::take(&mut self.bytes);
        bytes.rotate_left(std::mem::take(&mut self.start));
        bytes
    }

    fn append(&mut self, fill: &[u8]) {
        let needed = self.bytes.len() + fill.len();
        if needed > self.bytes.capacity() {
            // The capacity doubles, but never past the limit, which is a promise about memory.
            let wanted = needed.next_power_of_two().min(self.limit);
            self.bytes.reserve_exact(wanted - self.bytes.len());
        }
        self.bytes.extend_from_slice(fill);
    }

    fn overwrite(&mut self, wrap: &[u8]) {
        let until_end = self.bytes.len() - self.start;
        let (first, second) = wrap.split_at(wrap.len().min(until_end));
        copy_at(&mut self.bytes, self.start, first);
        copy_at(&mut self.bytes, 0, second);
        self.start = match self.bytes.len() {
            0 => 0,
            len => (self.start + wrap.len()) % len,
        };
    }
}

/// Returns the last `count` bytes of `bytes`, or all of them.
fn last(bytes: &[u8], count: usize) -> &[u8] {
    bytes.split_at(bytes.len().saturating_sub(count)).1
}

fn copy_at(target: &mut [u8], at: usize, source: &[u8]) {
    if let Some(place) = target.get_mut(at..at + source.len()) {
        place.copy_from_slice(source);
    }
}

#[cfg(test)]
mod tests;
