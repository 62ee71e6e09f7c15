//! The cradles of one keeper: the idle ones, and the creation of new ones.

use std::collections::HashMap;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::Duration;

use forkline_protocol::{Call, pair};
use parking_lot::Mutex;
use rustix::event::epoll::EventFlags;

use crate::keeper::lifeline::Lifeline;
use crate::os::watch::{Source, Watch};

/// The host's end of a cradle, which runs one command after another.
#[derive(Debug, Clone)]
pub struct Cradle {
    /// Unique in this host; events of the channel are reported with it.
    pub id: u64,
    /// The socket for requests, orders and answers. Watched from its creation on.
    pub channel: Arc<OwnedFd>,
    pid: Arc<AtomicI32>,
}

impl Cradle {
    /// The process id. 0: its keeper has not reported it yet.
    pub fn pid(&self) -> i32 {
        self.pid.load(Ordering::Relaxed)
    }
}

/// The idle cradles. The last one that came back is used first: its memory is in the caches.
pub struct Cradles {
    watch: Watch,
    /// None: no more cradles are wanted.
    idle: Mutex<Option<Idle>>,
    /// Cradles that have been asked for, until the keeper reports their process ids.
    unmade: Mutex<HashMap<u64, Arc<AtomicI32>>>,
}

/// Tells whether [`Cradles::shed`] is to be called after [`SHEDDING`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shedding {
    /// More cradles are idle than needed.
    Due,
    /// No more cradles are idle than needed, or a call is already due.
    NotDue,
}

#[derive(Default)]
struct Idle {
    cradles: Vec<Cradle>,
    /// The fewest idle cradles at any time since the last shedding.
    fewest: usize,
    /// Whether a shedding is due.
    too_many: bool,
}

/// The number of cradles that should be idle: the next command must not wait for a fork.
const ENOUGH: usize = 2;
/// The most idle cradles: as many as there are commands in most bursts. Many end at about the same time, and the
/// next ones of the burst must not wait for a fork each. One more is not worth its memory and descriptor.
const MOST: usize = 64;
/// The time from one shedding of unneeded cradles to the next.
pub const SHEDDING: Duration = Duration::from_secs(1);

impl Cradles {
    /// Makes an empty set.
    pub fn new(watch: Watch) -> Self {
        Cradles { watch, idle: Mutex::new(Some(Idle::default())), unmade: Mutex::default() }
    }

    /// Takes an idle cradle, or asks for a new one on the keeper's lifeline. None: no more are wanted.
    pub fn take(&self, lifeline: &Lifeline) -> io::Result<Option<Cradle>> {
        {
            let mut idle = self.idle.lock();
            let Some(idle) = idle.as_mut() else { return Ok(None) };
            let waiting = idle.cradles.pop();
            idle.fewest = idle.fewest.min(idle.cradles.len());
            if waiting.is_some() {
                return Ok(waiting);
            }
        }
        self.make(lifeline).map(Some)
    }

    /// Asks for a new cradle, even if some are idle. None: no more are wanted.
    pub fn take_new(&self, lifeline: &Lifeline) -> io::Result<Option<Cradle>> {
        let is_open = self.idle.lock().is_some();
        is_open.then(|| self.make(lifeline)).transpose()
    }

    /// Notes the process id of a new cradle.
    pub fn set_pid(&self, id: u64, pid: i32) {
        if let Some(known) = self.unmade.lock().remove(&id) {
            known.store(pid, Ordering::Relaxed);
        }
    }

    /// Makes as many cradles as should be idle.
    pub fn fill(&self, lifeline: &Lifeline) {
        let waiting = self.idle.lock().as_ref().map_or(ENOUGH, |idle| idle.cradles.len());
        // The number is fixed here: when one fails, the next command tries again.
        for _ in waiting..ENOUGH {
            let Ok(cradle) = self.make(lifeline) else { return };
            // Others may have come back meanwhile; with a higher limit there could be a surplus that is never
            // shed.
            self.add(cradle, ENOUGH);
        }
    }

    /// Takes back a free cradle. Returns [`Shedding::Due`] once there are too many, and then not again until
    /// [`Cradles::shed`].
    pub fn give_back(&self, cradle: Cradle) -> Shedding {
        self.add(cradle, MOST);
        let mut waiting = self.idle.lock();
        let Some(idle) = waiting.as_mut() else { return Shedding::NotDue };
        let is_surplus = idle.cradles.len() > ENOUGH;
        match is_surplus && !std::mem::replace(&mut idle.too_many, true) {
            true => Shedding::Due,
            false => Shedding::NotDue,
        }
    }

    /// Adds an idle cradle, or dismisses it if `most` are idle already or none are wanted.
    fn add(&self, cradle: Cradle, most: usize) {
        let mut waiting = self.idle.lock();
        match waiting.as_mut().filter(|idle| idle.cradles.len() < most) {
            Some(idle) => idle.cradles.push(cradle),
            None => {
                drop(waiting);
                self.dismiss(cradle);
            }
        }
    }

    /// Dismisses the cradles that were not needed since the last call. Returns whether another call is due.
    pub fn shed(&self) -> Shedding {
        let mut waiting = self.idle.lock();
        let Some(idle) = waiting.as_mut() else { return Shedding::NotDue };
        let surplus = idle.fewest.min(idle.cradles.len()).saturating_sub(ENOUGH);
        let dismissed: Vec<Cradle> = idle.cradles.drain(..surplus).collect();
        idle.fewest = idle.cradles.len();
        idle.too_many = idle.cradles.len() > ENOUGH;
        let shedding = if idle.too_many { Shedding::Due } else { Shedding::NotDue };
        drop(waiting);
        dismissed.into_iter().for_each(|cradle| self.dismiss(cradle));
        shedding
    }

    /// Removes a cradle that has died. Returns whether it was one of the idle ones.
    pub fn remove(&self, id: u64) -> bool {
        let mut waiting = self.idle.lock();
        let Some(idle) = waiting.as_mut() else { return false };
        let Some(place) = idle.cradles.iter().position(|cradle| cradle.id == id) else {
            return false;
        };
        let cradle = idle.cradles.remove(place);
        idle.fewest = idle.fewest.min(idle.cradles.len());
        drop(waiting);
        self.dismiss(cradle);
        true
    }

    /// Dismisses the idle cradles. No more are wanted.
    pub fn close(&self) {
        let idle = self.idle.lock().take();
        let waiting = idle.into_iter().flat_map(|idle| idle.cradles);
        waiting.for_each(|cradle| self.dismiss(cradle));
    }

    /// Closes the channel of a cradle, which then ends.
    pub fn dismiss(&self, cradle: Cradle) {
        self.watch.remove(cradle.channel.as_fd());
    }

    fn make(&self, lifeline: &Lifeline) -> io::Result<Cradle> {
        let (ours, theirs) = pair()?;
        let (channel, pid) = (Arc::new(ours), Arc::new(AtomicI32::new(0)));
        let cradle = Cradle { id: self.watch.new_id(), channel, pid: pid.clone() };
        self.watch.add(cradle.channel.as_fd(), cradle.id, Source::Cradle, EventFlags::IN)?;
        self.unmade.lock().insert(cradle.id, pid);
        match lifeline.call(Call::Make(cradle.id), &[theirs.as_fd()]) {
            Ok(()) => Ok(cradle),
            Err(error) => {
                self.unmade.lock().remove(&cradle.id);
                self.dismiss(cradle);
                Err(error)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use forkline_protocol::receive_now;

    use super::*;

    fn one(id: u64) -> Cradle {
        Cradle { id, channel: Arc::new(pair().unwrap().0), pid: Arc::default() }
    }

    #[test]
    fn a_surplus_of_idle_cradles_is_told_once() {
        let cradles = Cradles::new(Watch::new().unwrap());
        assert!((1..=2).all(|id| cradles.give_back(one(id)) == Shedding::NotDue));
        assert_eq!(cradles.give_back(one(3)), Shedding::Due);
        assert_eq!(cradles.give_back(one(4)), Shedding::NotDue);
        assert_eq!(cradles.shed(), Shedding::Due);
        assert_eq!(cradles.shed(), Shedding::NotDue);
        assert_eq!(cradles.give_back(one(5)), Shedding::Due);
    }

    #[test]
    fn q13_cradles_made_ahead_while_others_come_back_are_shed_too() {
        let cradles = Cradles::new(Watch::new().unwrap());
        let (socket, theirs) = pair().unwrap();
        let lifeline = Lifeline { socket, keeper: 0 };
        for _ in 0..5000 {
            cradles.take(&lifeline).unwrap();
            std::thread::scope(|scope| {
                let comes_back = scope.spawn(|| cradles.give_back(one(0)));
                cradles.fill(&lifeline);
                let is_told = comes_back.join().unwrap() == Shedding::Due;
                let waiting = cradles.idle.lock().as_ref().unwrap().cradles.len();
                assert!(waiting <= ENOUGH || is_told, "{waiting} wait, and nobody knows");
            });
            while cradles.shed() == Shedding::Due {}
            while receive_now(theirs.as_fd(), &mut [0; 64]).is_ok() {}
        }
    }
}
