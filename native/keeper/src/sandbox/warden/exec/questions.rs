//! Questions about programs that wait for the host's answer.

use std::collections::HashMap;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use forkline_protocol::{ExecAnswer, ExecAsk, News, send};

use crate::sandbox::kept::{HOST_GONE, patiently};
use crate::sandbox::notices::{Listener, Notice};
use crate::sandbox::warden::caller::{field, read_status};

/// The most questions at once; the next ones are denials.
const MOST: usize = 1024;
/// How often a look is taken at a caller that waits.
const LOOK: Duration = Duration::from_millis(100);
/// How long a caller may run the handler of a signal before it waits again.
const LONGEST_HANDLER: Duration = Duration::from_secs(2);

/// What a waiting thread is told.
enum Told {
    Answer(ExecAnswer),
    /// The caller has run the handler of a signal, and has made the same call again.
    Again(Notice),
}

/// The answer to a question, and the call that it is for: the caller may have made it again meanwhile.
pub struct Answered {
    pub notice: Notice,
    /// None: the caller is gone, or has given up its call.
    pub answer: Option<ExecAnswer>,
}

/// The calling thread, and the program with its arguments.
type CallKey = (u32, Vec<u8>);

#[derive(Default)]
pub struct ExecQuestions {
    last: AtomicU64,
    count: AtomicUsize,
    open: Mutex<HashMap<u64, SyncSender<Told>>>,
    /// Whether the host is gone.
    is_alone: AtomicBool,
    /// The questions whose caller runs the handler of a signal, by its thread and its program.
    interrupted: Mutex<HashMap<CallKey, SyncSender<Told>>>,
}

impl ExecQuestions {
    /// Passes on an answer. [`HOST_GONE`]: that to all questions, and to later ones.
    pub fn answer(&self, number: u64, answer: ExecAnswer) {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if number == HOST_GONE {
            self.is_alone.store(true, Ordering::Release);
            open.values().for_each(|asked| drop(asked.try_send(Told::Answer(answer))));
        }
        if let Some(asked) = open.get(&number) {
            let _ = asked.try_send(Told::Answer(answer));
        }
    }

    /// Returns whether the host is gone.
    pub fn is_alone(&self) -> bool {
        self.is_alone.load(Ordering::Acquire)
    }

    /// Gives a call to the thread that waits for the answer to the same one. Returns it if there is none.
    pub fn resume(&self, notice: Notice, ask: &ExecAsk) -> Option<Notice> {
        let mut all = self.interrupted.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(asked) = all.remove(&key(&notice, ask)) else { return Some(notice) };
        match asked.try_send(Told::Again(notice)) {
            Err(
                TrySendError::Full(Told::Again(back))
                | TrySendError::Disconnected(Told::Again(back)),
            ) => Some(back),
            _ => None,
        }
    }

    /// Asks the host, and waits for its answer. `cradle`: the command's.
    pub fn ask(
        &self,
        listener: &Listener,
        lifeline: BorrowedFd,
        notice: Notice,
        (cradle, ask, patience): (i32, &ExecAsk, Duration),
    ) -> Answered {
        if self.count.fetch_add(1, Ordering::AcqRel) >= MOST {
            self.count.fetch_sub(1, Ordering::AcqRel);
            return Answered { notice, answer: Some(ExecAnswer::Unasked) };
        }
        let number = self.last.fetch_add(1, Ordering::AcqRel) + 1;
        let (tell, told) = sync_channel(2);
        self.open.lock().unwrap_or_else(PoisonError::into_inner).insert(number, tell.clone());
        // After the question was noted: whoever notes the host's end later answers it.
        let is_heard = !self.is_alone();
        let news = News::Asked(cradle, number, Box::new(ask.clone())).encode();
        let answered = if is_heard && patiently(|| send(lifeline, [&news, b""], &[])) {
            let until = Instant::now() + patience;
            self.wait(listener, notice, ask, (&tell, &told, until))
        } else {
            Answered { notice, answer: Some(ExecAnswer::Unasked) }
        };
        self.open.lock().unwrap_or_else(PoisonError::into_inner).remove(&number);
        self.count.fetch_sub(1, Ordering::AcqRel);
        if matches!(answered.answer, None | Some(ExecAnswer::Unanswered)) {
            let news = News::Withdrawn(number).encode();
            patiently(|| send(lifeline.as_fd(), [&news, b""], &[]));
        }
        answered
    }

    fn wait(
        &self,
        listener: &Listener,
        mut notice: Notice,
        ask: &ExecAsk,
        (tell, told, until): (&SyncSender<Told>, &Receiver<Told>, Instant),
    ) -> Answered {
        loop {
            let rest = until.saturating_duration_since(Instant::now());
            match told.recv_timeout(rest.min(LOOK)) {
                Ok(Told::Answer(answer)) => return Answered { notice, answer: Some(answer) },
                Ok(Told::Again(again)) => notice = again,
                Err(RecvTimeoutError::Disconnected) => {
                    return Answered { notice, answer: Some(ExecAnswer::Unasked) };
                }
                Err(RecvTimeoutError::Timeout) if rest <= LOOK => {
                    return Answered { notice, answer: Some(ExecAnswer::Unanswered) };
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
            if !listener.stands(&notice) {
                return Answered { notice, answer: None };
            }
            if has_caught_signal(notice.pid) {
                let key = key(&notice, ask);
                let all = || self.interrupted.lock().unwrap_or_else(PoisonError::into_inner);
                all().insert(key.clone(), tell.clone());
                listener.restart(&notice);
                let answered = resumed(told, LONGEST_HANDLER);
                all().remove(&key);
                match answered {
                    Some((again, None)) => notice = again,
                    Some((again, answer)) => return Answered { notice: again, answer },
                    None => return Answered { notice, answer: None },
                }
            }
        }
    }
}

/// Waits for the same call, and takes note of an answer that comes meanwhile.
fn resumed(told: &Receiver<Told>, longest: Duration) -> Option<(Notice, Option<ExecAnswer>)> {
    let until = Instant::now() + longest;
    let mut answer = None;
    loop {
        match told.recv_timeout(until.saturating_duration_since(Instant::now())).ok()? {
            Told::Again(notice) => return Some((notice, answer)),
            Told::Answer(given) => answer = Some(given),
        }
    }
}

fn key(notice: &Notice, ask: &ExecAsk) -> CallKey {
    let mut program = ask.program.clone();
    for argument in &ask.argv {
        program.push(0);
        program.extend_from_slice(argument);
    }
    (notice.pid, program)
}

/// Returns whether a signal waits that the thread has a handler for. The working directory is the host's `/proc`.
fn has_caught_signal(thread: u32) -> bool {
    let status = read_status(thread as i32).unwrap_or_default();
    let signals = |name| {
        field(&status, name).and_then(|mask| u64::from_str_radix(mask, 16).ok()).unwrap_or(0)
    };
    let pending = signals("SigPnd:") | signals("ShdPnd:");
    pending & signals("SigCgt:") & !signals("SigBlk:") != 0
}
