//! All processes at one moment: one look through `/proc`, for everybody who has to look just then.
//! With hundreds of commands to end at once, a look for each would take longer than their grace.

use std::collections::HashMap;
use std::io;

use crate::mark;
use crate::proc::{self, Outlet, Stat};

/// Who was there.
#[derive(Debug)]
pub struct Scene {
    /// Everybody.
    pub processes: Vec<Stat>,
    /// What else is known of them.
    pub evidence: Evidence,
}

/// What is costly to find out, found out at most once for each process.
#[derive(Debug, Default)]
pub struct Evidence(HashMap<i32, Signs>);

/// What gives away a process that has left its command's group, session and parents.
#[derive(Debug)]
pub struct Signs {
    /// The marks in its environment, as they stand there.
    pub marks: Vec<u8>,
    /// What it has as stdout and stderr.
    pub outlets: Vec<Outlet>,
}

impl Scene {
    /// Looks. An error means that nobody can be seen, not that nobody is there.
    pub fn now() -> io::Result<Scene> {
        Ok(Scene { processes: proc::all()?, evidence: Evidence::default() })
    }
}

impl Evidence {
    /// Of one process.
    pub fn of(&mut self, pid: i32) -> &Signs {
        self.0.entry(pid).or_insert_with(|| Signs {
            marks: proc::environment(pid).map_or(Vec::new(), |entries| mark::all_in(&entries)),
            outlets: proc::outlets(pid).collect(),
        })
    }
}
