//! Who is in a sandbox: one in which somebody is, or is about to be, is not given up.

use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::keeper::Keeper;

/// A command of a keeper, from its request until nobody of it is left.
pub struct Tenancy(Arc<Keeper>);

impl Tenancy {
    /// One more.
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
    /// A cradle is asked for that the host may leave behind: its end is told by the keeper alone.
    pub fn detached_started(&self) {
        self.tenants.fetch_add(1, Ordering::SeqCst);
    }

    /// It has ended, or could not be made.
    pub fn detached_ended(&self) {
        self.tenants.fetch_sub(1, Ordering::SeqCst);
    }

    /// Whether somebody runs in it, or has asked for it.
    pub fn is_busy(&self) -> bool {
        // A turn ends after the tenancy of its command has begun.
        self.turns.load(Ordering::SeqCst) > 0 || self.tenants.load(Ordering::SeqCst) > 0
    }
}
