//! The cradles of one keeper: those that wait for a command, and how new ones are made.

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

/// The way to a cradle, which runs one command after another.
#[derive(Debug, Clone)]
pub struct Cradle {
    /// Unique in this host; events of the channel come under it.
    pub id: u64,
    /// Where requests and orders go, and answers come from. Watched from its making on.
    pub channel: Arc<OwnedFd>,
    pid: Arc<AtomicI32>,
}

impl Cradle {
    /// Its process id; 0: its keeper has not said yet that it has made it.
    pub fn pid(&self) -> i32 {
        self.pid.load(Ordering::Relaxed)
    }
}

/// Those that wait. The last one that came is the next one to go: its memory is in the caches.
pub struct Cradles {
    watch: Watch,
    /// None: no more are wanted.
    idle: Mutex<Option<Idle>>,
    /// Those that have been asked for, until the keeper says which processes they are.
    unmade: Mutex<HashMap<u64, Arc<AtomicI32>>>,
}

/// Whether [`Cradles::shed`] is to be called after [`SHEDDING`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shedding {
    /// More wait than are needed.
    Due,
    /// No more wait than are needed, or a call is due already.
    NotDue,
}

#[derive(Default)]
struct Idle {
    cradles: Vec<Cradle>,
    /// As few have waited at a time since there were last seen to be too many.
    fewest: usize,
    /// Whether it is to be seen again soon.
    too_many: bool,
}

/// So many are to wait: the next command must not wait for a fork.
const ENOUGH: usize = 2;
/// One more than these is not worth its memory and its descriptor.
const MOST: usize = 32;
/// How often those that nobody needs are sent away.
pub const SHEDDING: Duration = Duration::from_secs(1);

impl Cradles {
    /// None yet.
    pub fn new(watch: Watch) -> Self {
        Cradles { watch, idle: Mutex::new(Some(Idle::default())), unmade: Mutex::default() }
    }

    /// One that waits, or else a new one, asked for on the keeper's lifeline. None: no more are wanted.
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

    /// A new one, whoever waits. None: no more are wanted.
    pub fn take_new(&self, lifeline: &Lifeline) -> io::Result<Option<Cradle>> {
        let is_open = self.idle.lock().is_some();
        is_open.then(|| self.make(lifeline)).transpose()
    }

    /// The keeper has made one.
    pub fn made(&self, id: u64, pid: i32) {
        if let Some(known) = self.unmade.lock().remove(&id) {
            known.store(pid, Ordering::Relaxed);
        }
    }

    /// Makes as many as are to wait.
    pub fn fill(&self, lifeline: &Lifeline) {
        let waiting = self.idle.lock().as_ref().map_or(ENOUGH, |idle| idle.cradles.len());
        // No more, whatever becomes of them meanwhile: who can make none is asked again by the next one.
        for _ in waiting..ENOUGH {
            let Ok(cradle) = self.make(lifeline) else { return };
            // Others may have come back meanwhile, and nobody would be told of one too many.
            self.add(cradle, ENOUGH);
        }
    }

    /// A cradle is free. Whether there are more than needed, which is said once until [`Cradles::shed`].
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

    /// It waits, unless so many do already, or there is no use for it.
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

    /// Sends away those that nobody has needed since the last time; whether to come again.
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

    /// One has died; whether it was waiting here.
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

    /// No more are wanted; those that wait end.
    pub fn close(&self) {
        let idle = self.idle.lock().take();
        let waiting = idle.into_iter().flat_map(|idle| idle.cradles);
        waiting.for_each(|cradle| self.dismiss(cradle));
    }

    /// It ends as soon as it reads the end of its channel.
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
    fn one_too_many_is_told_once() {
        let cradles = Cradles::new(Watch::new().unwrap());
        assert!((1..=2).all(|id| cradles.give_back(one(id)) == Shedding::NotDue));
        assert_eq!(cradles.give_back(one(3)), Shedding::Due);
        assert_eq!(cradles.give_back(one(4)), Shedding::NotDue);
        assert_eq!(cradles.shed(), Shedding::Due);
        assert_eq!(cradles.shed(), Shedding::NotDue);
        assert_eq!(cradles.give_back(one(5)), Shedding::Due);
    }

    #[test]
    fn q13_one_that_is_made_ahead_while_others_come_back_does_not_stay_unseen() {
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
