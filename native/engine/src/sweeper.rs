//! The thread that looks through `/proc` and sends signals: work that can take milliseconds.

use std::iter;
use std::sync::mpsc::{Sender, channel};

use rustix::process::Signal;

use crate::family::{Family, describe};
use crate::mailbox::{Mailbox, Message};
use crate::outcome::BackgroundProcess;
use crate::proc::Stat;
use crate::scene::Scene;
use crate::termination::Sweep;
use crate::threads;

/// Work for the sweeper. The answer goes to the reactor under the same id.
#[derive(Debug)]
pub enum Job {
    /// A step of a termination.
    Sweep(u64, Family, Sweep),
    /// Who is still there?
    Describe(u64, Family),
}

/// An answer of the sweeper.
#[derive(Debug)]
pub enum Answer {
    /// How many live, after the sweep.
    Living(Family, usize),
    /// Those who live.
    Described(Family, Vec<BackgroundProcess>),
}

/// Starts the thread; it ends with the last sender.
pub fn start(reactor: Mailbox) -> std::io::Result<Sender<Job>> {
    let (sender, jobs) = channel();
    threads::spawn("forkline-sweep", move || {
        threads::leave_descriptors(reactor.bell());
        while let Ok(first) = jobs.recv() {
            // All that is asked before the look can be answered by it.
            let batch: Vec<Job> = iter::once(first).chain(jobs.try_iter()).collect();
            let mut glance = Glance::default();
            for job in batch {
                let (id, answer) = work(job, &mut glance);
                reactor.send(Message::Swept(id, answer));
            }
        }
    })?;
    Ok(sender)
}

/// A look that is taken when it is first needed.
#[derive(Default)]
struct Glance(Option<Option<Scene>>);

impl Glance {
    /// Its living members, as they were at the look; None when nobody can be seen.
    fn members(&mut self, family: &mut Family) -> Option<Vec<Stat>> {
        let scene = self.0.get_or_insert_with(|| Scene::now().ok());
        scene.as_mut().map(|scene| family.survey(scene))
    }
}

fn work(job: Job, glance: &mut Glance) -> (u64, Answer) {
    match job {
        Job::Sweep(id, family, sweep) => (id, perform(family, sweep, glance)),
        Job::Describe(id, mut family) => {
            let described = describe(&glance.members(&mut family).unwrap_or_default());
            (id, Answer::Described(family, described))
        }
    }
}

/// What counts as alive when nobody can be seen: somebody may be, and must not be given up.
const UNSEEN: usize = 1;

fn perform(mut family: Family, sweep: Sweep, glance: &mut Glance) -> Answer {
    let living = match sweep {
        Sweep::Look | Sweep::Finish if family.any_known_alive() => 1,
        Sweep::Look => survey(&mut family, glance, |_, _| {}),
        Sweep::AskLeavers => survey(&mut family, glance, Family::ask_leavers),
        Sweep::Ask => survey(&mut family, glance, Family::ask),
        Sweep::Kill | Sweep::Finish => survey(&mut family, glance, |family, members| {
            family.signal(members, Signal::KILL);
        }),
    };
    Answer::Living(family, living)
}

/// Finds all and deals with them; returns how many there are.
fn survey(
    family: &mut Family,
    glance: &mut Glance,
    deal: impl FnOnce(&mut Family, &[Stat]),
) -> usize {
    let members = glance.members(family);
    deal(family, members.as_deref().unwrap_or_default());
    members.map_or(UNSEEN, |members| members.len())
}
