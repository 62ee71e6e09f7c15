//! The sandboxes that are gone: what is known of them, without their plans, which have some kilobytes each.

use std::collections::VecDeque;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The most plans for which it is known that their sandbox has been set up. A sandbox of a forgotten plan is
/// not reported as renewed.
const MOST: usize = 1024;

/// Plans of sandboxes that are gone, the oldest first: a digest of each, and whether a sandbox with that plan
/// has ever been set up.
#[derive(Default)]
pub struct FormerPlans {
    digests: RandomState,
    plans: VecDeque<(u64, Arc<AtomicBool>)>,
}

impl FormerPlans {
    /// Notes a plan whose sandbox is gone. `stood`: see [`Self::take`].
    pub fn note(&mut self, plan: &[u8], stood: Arc<AtomicBool>) {
        self.plans.push_back((self.digests.hash_one(plan), stood));
        if self.plans.len() > MOST {
            self.plans.pop_front();
        }
    }

    /// Forgets a plan that is in use again. Returns whether a sandbox with it has ever been set up; a sandbox of
    /// an earlier keeper may still change that.
    pub fn take(&mut self, plan: &[u8]) -> Option<Arc<AtomicBool>> {
        let digest = self.digests.hash_one(plan);
        let place = self.plans.iter().rposition(|(known, _)| *known == digest)?;
        self.plans.remove(place).map(|(_, stood)| stood)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;

    use super::*;

    #[test]
    fn of_a_plan_that_is_gone_is_known_whether_it_stood_and_the_oldest_are_forgotten() {
        let mut former = FormerPlans::default();
        let plan = |count: usize| format!("write\0/there/{count}\0").into_bytes();
        for count in 0..=MOST {
            former.note(&plan(count), Arc::new(AtomicBool::new(count % 2 == 1)));
        }
        let mut stood = |count| former.take(&plan(count)).map(|stood| stood.load(Ordering::SeqCst));
        assert_eq!(stood(0), None);
        assert_eq!(stood(1), Some(true));
        assert_eq!(stood(1), None);
        assert_eq!(stood(MOST), Some(false));
    }
}
