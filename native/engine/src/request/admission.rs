//! The orders to the launcher. A start is admitted while few other commands are young: the host's share of the
//! processors is no larger than a command's, so a burst of them all at once would keep it from going on.

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::mem::take;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex, MutexGuard};

use crate::os::load::{has_idle_processor, processors};
use crate::request::order::{LaunchOrder, Most};

/// The age from which a command no longer counts: commands that wait for one another must all come to run.
const YOUNG: Duration = Duration::from_millis(30);
/// The time from one look for an idle processor to the next, while starts wait.
const LOOK: Duration = Duration::from_millis(2);
/// The same for a while after one was found: many commands that sleep are started fast.
const LOOK_AGAIN: Duration = Duration::from_micros(300);
const AGAIN: Duration = Duration::from_millis(5);
/// The usual number of young commands for each processor.
const USUAL: usize = 3;

/// The queue of orders.
pub struct Admission {
    orders: Mutex<Orders>,
    changed: Condvar,
}

#[derive(Default)]
struct Orders {
    /// Those that wait for nothing.
    urgent: VecDeque<LaunchOrder>,
    /// Starts with the ids of their commands, oldest first.
    waiting: BTreeMap<Most, VecDeque<(u64, LaunchOrder)>>,
    young: Young,
    /// Whether a start that waits may have been cancelled.
    has_cancelled: bool,
    /// When it was last looked for an idle processor, and when one was last found.
    looked: Option<Instant>,
    found: Option<Instant>,
}

/// The commands that were admitted lately and have not ended.
#[derive(Default)]
struct Young {
    admitted: VecDeque<(Instant, u64)>,
    all: HashSet<u64>,
    /// Those that were not there when a processor was idle.
    busy: HashSet<u64>,
}

impl Admission {
    /// Makes an empty queue.
    pub fn new() -> Admission {
        Admission { orders: Mutex::default(), changed: Condvar::new() }
    }

    /// Adds an order; never waits.
    pub fn put(&self, order: LaunchOrder) {
        let mut orders = self.orders.lock();
        match order.start() {
            Some((id, most)) => {
                let alike = orders.waiting.entry(most).or_default();
                alike.push_back((id, order));
                // The launcher waits for the first of those alike; none comes before it.
                if alike.len() > 1 {
                    return;
                }
            }
            None => orders.urgent.push_back(order),
        }
        drop(orders);
        self.changed.notify_one();
    }

    /// Notes that a command has ended, or was not started.
    pub fn ended(&self, id: u64) {
        let mut orders = self.orders.lock();
        if orders.young.remove(id) && orders.is_admitting() {
            drop(orders);
            self.changed.notify_one();
        }
    }

    /// Lets starts go on that have been cancelled, so that their callers are answered.
    pub fn release_cancelled(&self) {
        let mut orders = self.orders.lock();
        if !orders.waiting.is_empty() {
            orders.has_cancelled = true;
            drop(orders);
            self.changed.notify_one();
        }
    }

    /// Takes the next order. Waits for one that is admitted, until `due` at most.
    pub fn take(&self, due: Option<Instant>) -> Option<LaunchOrder> {
        let mut orders = self.orders.lock();
        loop {
            let now = Instant::now();
            if let Some(order) = orders.next(now) {
                return Some(order);
            }
            if due.is_some_and(|due| due <= now) {
                return None;
            }
            let look = orders.next_look(now);
            if look.is_some_and(|look| look <= now) {
                let is_idle = MutexGuard::unlocked(&mut orders, has_idle_processor);
                orders.looked(now, is_idle);
                continue;
            }
            match due.into_iter().chain(look).chain(orders.next_grown()).min() {
                Some(until) => drop(self.changed.wait_until(&mut orders, until)),
                None => self.changed.wait(&mut orders),
            }
        }
    }
}

impl Orders {
    fn next(&mut self, now: Instant) -> Option<LaunchOrder> {
        if take(&mut self.has_cancelled) {
            self.sort_out_cancelled();
        }
        if let Some(order) = self.urgent.pop_front() {
            return Some(order);
        }
        self.young.forget_grown(now);
        let admitted = self.waiting.iter().filter(|(most, _)| self.young.admits(**most));
        let oldest = admitted.filter_map(|(most, starts)| Some((starts.front()?.0, *most))).min();
        let (id, most) = oldest?;
        let starts = self.waiting.get_mut(&most)?;
        let (_, order) = starts.pop_front()?;
        if starts.is_empty() {
            self.waiting.remove(&most);
        }
        self.young.add(now, id);
        Some(order)
    }

    fn sort_out_cancelled(&mut self) {
        for starts in self.waiting.values_mut() {
            let all = take(starts).into_iter();
            let (cancelled, wanted): (VecDeque<_>, _) =
                all.partition(|(_, order)| order.is_cancelled());
            *starts = wanted;
            self.urgent.extend(cancelled.into_iter().map(|(_, order)| order));
        }
        self.waiting.retain(|_, starts| !starts.is_empty());
    }

    /// Returns whether a start that waits has its turn.
    fn is_admitting(&self) -> bool {
        self.waiting.keys().any(|most| self.young.admits(*most))
    }

    /// Returns when to look for an idle processor. None: no start waits for one.
    fn next_look(&mut self, now: Instant) -> Option<Instant> {
        if !self.waiting.contains_key(&None) {
            self.looked = None;
            return None;
        }
        let is_lively = self.found.is_some_and(|found| now < found + AGAIN);
        let pause = if is_lively { LOOK_AGAIN } else { LOOK };
        Some(*self.looked.get_or_insert(now) + pause)
    }

    fn looked(&mut self, now: Instant, is_idle: bool) {
        self.looked = Some(now);
        if is_idle {
            self.found = Some(now);
            // Whoever is young waits for something else than a processor.
            self.young.busy.clear();
        }
    }

    /// Returns when the oldest of the young no longer counts. None: no start waits for that.
    fn next_grown(&self) -> Option<Instant> {
        let (since, _) = self.young.admitted.front().filter(|_| !self.waiting.is_empty())?;
        Some(*since + YOUNG)
    }
}

impl Young {
    fn admits(&self, most: Most) -> bool {
        match most {
            Some(most) => self.all.len() < usize::try_from(most).unwrap_or(usize::MAX),
            None => self.busy.len() < processors() * USUAL,
        }
    }

    fn add(&mut self, now: Instant, id: u64) {
        self.admitted.push_back((now, id));
        self.all.insert(id);
        self.busy.insert(id);
    }

    /// Returns whether it was young.
    fn remove(&mut self, id: u64) -> bool {
        self.busy.remove(&id);
        self.all.remove(&id)
    }

    fn forget_grown(&mut self, now: Instant) {
        while let Some((since, id)) = self.admitted.front().copied()
            && since + YOUNG <= now
        {
            self.remove(id);
            self.admitted.pop_front();
        }
    }
}

#[cfg(test)]
mod tests;
