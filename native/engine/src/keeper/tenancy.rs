//! Counts of the commands in a keeper: a sandbox is not given up while a command runs in it or is about to.

use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::keeper::Keeper;

/// A command of a keeper, from its request until no member is left.
pub struct Tenancy(Arc<Keeper>);

impl Tenancy {
    /// Counts one more command.
    pub fn of(keeper: &Arc<Keeper>) -> Tenancy {
        keeper.tenants.fetch_add(1, Ordering::SeqCst);
        Tenancy(keeper.clone())
    }
}

impl Deref for Tenancy {
    type Target = Arc<Keeper>;

    fn deref(&self) -> &Arc<Keeper> {
        &self.0
    }
}

impl Drop for Tenancy {
    fn drop(&mut self) {
        self.0.tenants.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Keeper {
    /// Counts a detached command, whose cradle the host leaves behind: only the keeper tells its end.
    pub fn detached_started(&self) {
        self.tenants.fetch_add(1, Ordering::SeqCst);
    }

    /// Ends that count: the cradle has ended, or could not be made.
    pub fn detached_ended(&self) {
        self.tenants.fetch_sub(1, Ordering::SeqCst);
    }

    /// Returns whether a command runs in the keeper, or has been requested.
    pub fn is_busy(&self) -> bool {
        // The tenancy of a command begins before its turn ends, so this is never false in between.
        self.turns.load(Ordering::SeqCst) > 0 || self.tenants.load(Ordering::SeqCst) > 0
    }
}
