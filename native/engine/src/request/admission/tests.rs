use std::collections::HashSet;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::{Admission, Orders, YOUNG};
use crate::request::order::{LaunchOrder, Most};

fn start(id: u64, most: Most) -> LaunchOrder {
    LaunchOrder::Detach(id, most, Box::new(|| ()))
}

fn put(orders: &mut Orders, id: u64, most: Most) {
    orders.waiting.entry(most).or_default().push_back((id, start(id, most)));
}

fn next(orders: &mut Orders, now: Instant) -> Option<u64> {
    orders.next(now).and_then(|order| order.start()).map(|(id, _)| id)
}

#[test]
fn starts_wait_for_ends_and_for_age_in_order() {
    let (mut orders, now) = (Orders::default(), Instant::now());
    (1..=5).for_each(|id| put(&mut orders, id, Some(2)));
    assert_eq!(next(&mut orders, now), Some(1));
    assert_eq!(next(&mut orders, now), Some(2));
    assert_eq!(next(&mut orders, now), None);
    orders.young.remove(1);
    assert_eq!(next(&mut orders, now + YOUNG / 2), Some(3));
    assert_eq!(next(&mut orders, now + YOUNG / 2), None);
    // The second is old enough now, the third is not.
    assert_eq!(next(&mut orders, now + YOUNG), Some(4));
    assert_eq!(next(&mut orders, now + YOUNG), None);
    assert_eq!(orders.next_grown(), Some(now + YOUNG / 2 + YOUNG));
    assert_eq!(next(&mut orders, now + 2 * YOUNG), Some(5));
    assert!(orders.waiting.is_empty());
}

#[test]
fn one_that_may_start_passes_those_that_may_not() {
    let (mut orders, now) = (Orders::default(), Instant::now());
    put(&mut orders, 1, Some(1));
    put(&mut orders, 2, Some(1));
    put(&mut orders, 3, Some(3));
    let all: Vec<_> = std::iter::from_fn(|| next(&mut orders, now)).collect();
    assert_eq!(all, [1, 3]);
}

#[test]
fn an_idle_processor_admits_usual_starts_alone() {
    let (mut orders, now) = (Orders::default(), Instant::now());
    let usual = (super::processors() * super::USUAL) as u64;
    (1..=usual + 1).for_each(|id| put(&mut orders, id, None));
    (1..=usual).for_each(|id| assert_eq!(next(&mut orders, now), Some(id)));
    put(&mut orders, 1000, Some(1));
    assert_eq!(next(&mut orders, now), None);
    orders.looked(now, false);
    assert_eq!(next(&mut orders, now), None);
    orders.looked(now, true);
    assert_eq!(next(&mut orders, now), Some(usual + 1));
    assert_eq!(next(&mut orders, now), None);
}

#[test]
fn a_start_comes_when_it_is_due_without_being_told() {
    let admission = Arc::new(Admission::new());
    admission.put(start(1, Some(1)));
    admission.put(start(2, Some(1)));
    let begun = Instant::now();
    assert_eq!(admission.take(None).and_then(|order| order.start()), Some((1, Some(1))));
    assert!(admission.take(Some(begun)).is_none());
    assert_eq!(admission.take(None).and_then(|order| order.start()), Some((2, Some(1))));
    assert!(begun.elapsed() >= YOUNG);

    admission.put(start(3, Some(1)));
    let teller = Arc::clone(&admission);
    let told = thread::spawn(move || {
        thread::sleep(Duration::from_millis(2));
        teller.ended(2);
    });
    assert_eq!(admission.take(None).and_then(|order| order.start()), Some((3, Some(1))));
    told.join().unwrap();
}

proptest! {
    /// Never more young ones than a start allows; all come in order of those alike; none is lost.
    #[test]
    fn no_start_comes_too_early_or_never(
        mosts in proptest::collection::vec(1u32..4, 1..40),
        steps in proptest::collection::vec((0u64..20, any::<prop::sample::Index>()), 0..60),
    ) {
        let (mut orders, mut now) = (Orders::default(), Instant::now());
        for (id, most) in mosts.iter().enumerate() {
            put(&mut orders, id as u64, Some(*most));
        }
        let mut started: Vec<(u64, Instant)> = Vec::new();
        let mut ended: HashSet<u64> = HashSet::new();
        let take_all = |orders: &mut Orders, now: Instant, ended: &HashSet<u64>, started: &mut Vec<(u64, Instant)>| {
            while let Some(id) = next(orders, now) {
                let young = started
                    .iter()
                    .filter(|(id, since)| !ended.contains(id) && *since + YOUNG > now)
                    .count();
                assert!(young < mosts[id as usize] as usize);
                started.push((id, now));
            }
        };
        for (pause, which) in steps {
            take_all(&mut orders, now, &ended, &mut started);
            now += Duration::from_millis(pause);
            if !started.is_empty() {
                let (id, _) = started[which.index(started.len())];
                orders.young.remove(id);
                ended.insert(id);
            }
        }
        for _ in 0..mosts.len() {
            now += YOUNG;
            take_all(&mut orders, now, &ended, &mut started);
        }
        let ids: Vec<u64> = started.iter().map(|(id, _)| *id).collect();
        prop_assert_eq!(ids.iter().collect::<HashSet<_>>().len(), mosts.len());
        for most in 1..4 {
            let alike: Vec<_> = ids.iter().filter(|id| mosts[**id as usize] == most).collect();
            prop_assert!(alike.is_sorted());
        }
    }
}
