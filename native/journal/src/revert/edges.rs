//! What depends on what: marks that spread from one item to others.

use std::collections::HashMap;

/// Directed edges between items, by their numbers.
#[derive(Debug, Default)]
pub(crate) struct Edges(HashMap<usize, Vec<usize>>);

impl Edges {
    /// Adds an edge.
    pub fn add(&mut self, from: usize, to: usize) {
        if from != to {
            self.0.entry(from).or_default().push(to);
        }
    }

    /// Adds an edge in both directions.
    pub fn add_both(&mut self, one: usize, other: usize) {
        self.add(one, other);
        self.add(other, one);
    }

    /// Spreads from some items to all that can be reached: `mark` is told where from and where to, and returns
    /// whether that one was not marked yet.
    pub fn spread(&self, mut from: Vec<usize>, mut mark: impl FnMut(usize, usize) -> bool) {
        while let Some(item) = from.pop() {
            for to in self.0.get(&item).into_iter().flatten() {
                if mark(item, *to) {
                    from.push(*to);
                }
            }
        }
    }
}
