//! How cradles are made, for the host's commands and for detached ones.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use forkline_protocol::News;

use super::{CradleUser, HostKeeper};
use crate::cradle::CradleProcess;
use crate::cradle::roster::{self, CradleSeat};
use crate::host;
use crate::outside;
use crate::proc;
use crate::sandbox::kept::SandboxHandle;
use crate::wait;

impl HostKeeper {
    /// Makes a cradle for each channel, and tells the host, which knows it by this number.
    pub(super) fn make_each(&mut self, number: u64, channels: Vec<OwnedFd>, user: CradleUser) {
        for channel in channels {
            match (self.make(channel, user), user) {
                (Some(cradle), _) => {
                    self.send_news(News::Made(number, self.number_of(cradle)));
                    self.task_cradles.extend((user == CradleUser::TaskKeeper).then_some(cradle));
                }
                (None, CradleUser::TaskKeeper) => self.send_news(News::Left(0)),
                (None, CradleUser::Host) => {}
            }
        }
    }

    /// Returns the host's number for a cradle.
    pub(super) fn number_of(&self, cradle: i32) -> i32 {
        self.cradles.get(&cradle).copied().unwrap_or(cradle)
    }

    /// Makes a cradle whose channel leads to this user. Returns its process id.
    fn make(&mut self, channel: OwnedFd, user: CradleUser) -> Option<i32> {
        let is_kept = user == CradleUser::TaskKeeper;
        let line = if is_kept { SandboxHandle::line() } else { None };
        let seat = roster::give_seat();
        // SAFETY: there is one thread, so the child has everything that its parent had.
        match unsafe { libc::fork() } {
            -1 => {
                seat.into_iter().for_each(CradleSeat::leave);
                host::refuse(&channel, io::Error::last_os_error().raw_os_error().unwrap_or(0));
                None
            }
            0 => {
                // The keeper alone keeps these open.
                (self.lifeline, self.host) = (None, None);
                seat.into_iter().for_each(CradleSeat::take);
                let sandbox = self.sandbox.take();
                if let Some(sandbox) = sandbox.filter(|_| is_kept) {
                    sandbox.introduce(channel.as_fd(), line);
                }
                // Can't fail: the keeper has done the same.
                let _ = wait::adopt_orphans();
                proc::set_own_name(c"forkline-cradle");
                wait::forget_reaped();
                host::continue_at_parent_death();
                host::continue_on_input(channel.as_fd());
                let null = self.null.as_fd();
                let host_gone = (!is_kept).then(|| self.host_gone.descriptor());
                let initial = self.initial.clone();
                CradleProcess { channel, host_gone, null, stack: &mut self.stack, initial }.serve();
                // SAFETY: ends this process, which has nothing to write or to clean up.
                unsafe { libc::_exit(0) }
            }
            pid => {
                self.cradles.insert(pid, outside::pid_and_group(pid, 0).0);
                if let Some(sandbox) = &mut self.sandbox {
                    sandbox.made(pid, line, seat);
                }
                Some(pid)
            }
        }
    }
}
