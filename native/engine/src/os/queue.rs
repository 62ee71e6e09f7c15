//! A queue that threads wait on.

use std::collections::VecDeque;
use std::time::Instant;

use parking_lot::{Condvar, Mutex};

/// First in, first out; any number of threads take from it.
#[derive(Debug)]
pub struct Queue<Item> {
    items: Mutex<VecDeque<Item>>,
    filled: Condvar,
}

impl<Item> Queue<Item> {
    /// An empty queue.
    pub fn new() -> Self {
        Queue { items: Mutex::new(VecDeque::new()), filled: Condvar::new() }
    }

    /// Adds an item; never waits for a taker.
    pub fn put(&self, item: Item) {
        self.items.lock().push_back(item);
        self.filled.notify_one();
    }

    /// Takes the oldest item; waits for one if there is none.
    pub fn take(&self) -> Item {
        let mut items = self.items.lock();
        loop {
            if let Some(item) = items.pop_front() {
                return item;
            }
            self.filled.wait(&mut items);
        }
    }

    /// Takes the oldest item; waits for one until `due` at most.
    pub fn take_until(&self, due: Instant) -> Option<Item> {
        let mut items = self.items.lock();
        while items.is_empty() && !self.filled.wait_until(&mut items, due).timed_out() {}
        items.pop_front()
    }
}
