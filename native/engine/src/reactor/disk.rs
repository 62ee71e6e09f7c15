//! The disk thread, which drains commands that have a spill file: it reads a pipe and writes the same buffer
//! to the file. A slow disk then slows down only the commands that use it, and never the reactor.

use std::collections::HashMap;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Instant;

use parking_lot::Mutex;
use rustix::buffer::spare_capacity;
use rustix::event::{EventfdFlags, epoll, eventfd};
use rustix::io::Errno;

use crate::command::sink::Sink;
use crate::command::{Form, SpillTarget};
use crate::drain::spill::Spill;
use crate::drain::stream::{Progress, Stream, deliver};
use crate::os::page::PageBuffer;
use crate::os::threads;
use crate::reactor::mailbox::{Mailbox, Message};

/// The handle of the disk thread, which is started when it is first needed.
pub struct Disk {
    reactor: Mailbox,
    inbox: Option<Arc<DiskInbox>>,
}

struct DiskInbox {
    orders: Mutex<Vec<DiskOrder>>,
    bell: OwnedFd,
}

enum DiskOrder {
    Adopt(u64, Job, SpillTarget, Vec<Vec<u8>>),
    Resume(u64),
    Finish(u64),
}

struct Job {
    streams: Vec<Stream>,
    spill: Option<Spill>,
    form: Form,
    sink: Arc<dyn Sink>,
}

impl Disk {
    /// Makes the handle; no thread is started yet.
    pub fn new(reactor: Mailbox) -> Self {
        Disk { reactor, inbox: None }
    }

    /// Drains these streams into a file from now on, beginning with the output so far.
    pub fn adopt(
        &mut self,
        id: u64,
        target: SpillTarget,
        streams: Vec<Stream>,
        form: Form,
        sink: Arc<dyn Sink>,
    ) {
        let reserve: Vec<_> =
            streams.iter().map(|stream| stream.tap.lock().take_reserve()).collect();
        let job = Job { streams, spill: None, form, sink };
        match self.inbox() {
            Ok(inbox) => inbox.send(DiskOrder::Adopt(id, job, target, reserve)),
            // Without a thread there is no file, as with any other reason for which it can't be written.
            Err(error) => {
                let mut report = Spill::default().close();
                report.dropped = reserve.iter().map(|bytes| bytes.len() as u64).sum();
                report.error = Some(error.raw_os_error());
                self.reactor.send(Message::Spilled(id, report, job.streams));
            }
        }
    }

    /// Reads paused streams again: the listener has caught up.
    pub fn resume(&self, id: u64) {
        self.send(DiskOrder::Resume(id));
    }

    /// Reads what is in the pipes now, and closes the file.
    pub fn finish(&self, id: u64) {
        self.send(DiskOrder::Finish(id));
    }

    fn send(&self, order: DiskOrder) {
        if let Some(inbox) = &self.inbox {
            inbox.send(order);
        }
    }

    fn inbox(&mut self) -> Result<&Arc<DiskInbox>, Errno> {
        match &mut self.inbox {
            Some(inbox) => Ok(inbox),
            none => Ok(none.insert(start(self.reactor.clone())?)),
        }
    }
}

impl DiskInbox {
    fn send(&self, order: DiskOrder) {
        self.orders.lock().push(order);
        let _ = rustix::io::write(&self.bell, &1u64.to_ne_bytes());
    }
}

struct Drainer {
    epoll: OwnedFd,
    inbox: Arc<DiskInbox>,
    reactor: Mailbox,
    jobs: HashMap<u64, Job>,
    buffer: PageBuffer,
}

const BELL: u64 = 0;
// Any other token consists of a command's id, and in its lowest bit the index of one of its two streams.
const INDEX_BITS: u32 = 1;
const INDEX_MASK: u64 = (1 << INDEX_BITS) - 1;

fn start(reactor: Mailbox) -> Result<Arc<DiskInbox>, Errno> {
    let bell = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
    let inbox = Arc::new(DiskInbox { orders: Mutex::new(Vec::new()), bell });
    let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
    epoll::add(&epoll, &inbox.bell, epoll::EventData::new_u64(BELL), epoll::EventFlags::IN)?;
    let buffer = PageBuffer::new().map_err(|_| Errno::NOMEM)?;
    let mut drainer =
        Drainer { epoll, inbox: inbox.clone(), reactor, jobs: HashMap::new(), buffer };
    threads::spawn("forkline-disk", move || drainer.run()).map_err(|_| Errno::AGAIN)?;
    Ok(inbox)
}

impl Drainer {
    fn run(&mut self) {
        let mut events = Vec::with_capacity(64);
        loop {
            events.clear();
            match epoll::wait(&self.epoll, spare_capacity(&mut events), None) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(_) => return,
            }
            for event in &events {
                match event.data.u64() {
                    BELL => self.read_orders(),
                    token => self.drain(token >> INDEX_BITS, (token & INDEX_MASK) as usize),
                }
            }
        }
    }

    fn read_orders(&mut self) {
        let mut count = [0; 8];
        let _ = rustix::io::read(&self.inbox.bell, &mut count);
        let orders = std::mem::take(&mut *self.inbox.orders.lock());
        for order in orders {
            match order {
                DiskOrder::Adopt(id, job, target, reserve) => {
                    self.adopt(id, job, &target, &reserve);
                }
                DiskOrder::Resume(id) => self.watch(id),
                DiskOrder::Finish(id) => self.finish(id),
            }
        }
    }

    fn adopt(&mut self, id: u64, mut job: Job, target: &SpillTarget, reserve: &[Vec<u8>]) {
        let mut spill = Spill::open(target);
        reserve.iter().for_each(|bytes| spill.write(bytes));
        job.spill = Some(spill);
        self.jobs.insert(id, job);
        self.watch(id);
    }

    fn watch(&self, id: u64) {
        let streams = self.jobs.get(&id).map(|job| &job.streams);
        for (index, stream) in streams.into_iter().flatten().enumerate() {
            let tap = stream.tap.lock();
            if !tap.ended && !tap.is_paused() {
                let token = epoll::EventData::new_u64(id << INDEX_BITS | index as u64);
                let _ = epoll::add(&self.epoll, &stream.descriptor, token, epoll::EventFlags::IN);
            }
        }
    }

    fn drain(&mut self, id: u64, index: usize) {
        let Some(job) = self.jobs.get_mut(&id) else { return };
        let progress = job.drain(index, self.buffer.bytes());
        if let (Progress::Full | Progress::Ended, Some(stream)) = (progress, job.streams.get(index))
        {
            let _ = epoll::delete(&self.epoll, &stream.descriptor);
        }
        if let Some(at) = job.deliver() {
            self.reactor.send(Message::FlushAt(id, at));
        }
        if job.streams.iter().all(|stream| stream.tap.lock().ended) {
            self.hand_back(id);
        }
    }

    /// Reads what is in the pipes at the command's end, which belongs to its output, and closes the file.
    fn finish(&mut self, id: u64) {
        let Some(job) = self.jobs.get_mut(&id) else { return };
        for index in 0..job.streams.len() {
            job.drain(index, self.buffer.bytes());
        }
        self.hand_back(id);
    }

    fn hand_back(&mut self, id: u64) {
        let Some(mut job) = self.jobs.remove(&id) else { return };
        for stream in &job.streams {
            let _ = epoll::delete(&self.epoll, &stream.descriptor);
        }
        job.streams.retain(|stream| !stream.tap.lock().ended);
        let report = job.spill.unwrap_or_default().close();
        self.reactor.send(Message::Spilled(id, report, job.streams));
    }
}

impl Job {
    fn drain(&mut self, index: usize, buffer: &mut [u8]) -> Progress {
        let Some(stream) = self.streams.get_mut(index) else { return Progress::Dry };
        let spill = &mut self.spill;
        stream.drain(buffer, |chunk| {
            if let Some(spill) = spill {
                spill.write(chunk);
            }
        })
    }

    fn deliver(&self) -> Option<Instant> {
        let now = Instant::now();
        let due = |stream: &Stream| deliver(&stream.tap, stream.label, self.form, &*self.sink, now);
        self.streams.iter().filter_map(due).min()
    }
}
