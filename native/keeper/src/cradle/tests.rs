use super::*;
use forkline_launch::limits;
use forkline_protocol::{pair, send};

fn say(channel: &OwnedFd, order: Order) {
    send(channel.as_fd(), [&order.encode(), b""], &[]).unwrap();
}

// A command whose end is ordered before its start is not started (Q14).
#[test]
fn a_command_is_unwanted_once_its_end_is_ordered() {
    let (host, channel) = pair().unwrap();
    assert!(!is_unwanted(channel.as_fd()));
    say(&host, Order::End(5));
    assert!(is_unwanted(channel.as_fd()));
    // The order was taken.
    assert!(!is_unwanted(channel.as_fd()));
    say(&host, Order::Who);
    assert!(!is_unwanted(channel.as_fd()));
}

fn of_processes() -> Limit {
    let number = libc::RLIMIT_NPROC as i32;
    limits().into_iter().find(|limit| limit.resource == number).unwrap()
}

// A limit in force above the highest one is set to the highest one: the system would refuse it (Q14).
#[test]
fn a_limit_of_processes_is_at_most_the_hard_limit() {
    let _limits = condition::tests::limits_to_itself();
    let before = of_processes();
    let hard = before.hard.min(1_000_000);
    let limit = libc::rlimit { rlim_cur: hard - 1, rlim_max: hard };
    // SAFETY: only reads the limits.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_NPROC, &limit) }, 0);
    let (_host, channel) = pair().unwrap();
    let (null, mut stack) = (std::fs::File::open("/dev/null").unwrap(), Stack::new().unwrap());
    let initial = Condition::now();
    let mut cradle =
        CradleProcess { channel, host_gone: None, null: null.as_fd(), stack: &mut stack, initial };
    let wanted = Limit { resource: before.resource, soft: hard + 5, hard: hard + 5 };
    cradle.limit_processes(&[wanted]);
    assert_eq!((of_processes().soft, of_processes().hard), (hard, hard));
    assert!(cradle.initial.own.limits.contains(&of_processes()));
    cradle.limit_processes(&[Limit { soft: hard - 2, ..wanted }]);
    assert_eq!(of_processes().soft, hard - 2);
}

#[test]
fn attributes_that_a_cradle_has_already_are_dropped() {
    let limit = |soft| Limit { resource: 7, soft, hard: 9 };
    let own = Attributes {
        limits: vec![limit(1)],
        mask: Some(0o22),
        nice: Some(0),
        affinity: vec![3],
        bounding: Some(1),
        ..Attributes::default()
    };
    let mut same = own.clone();
    drop_unchanged(&mut same, &own);
    assert_eq!(same, Attributes::default());
    let other = Attributes {
        limits: vec![limit(2)],
        mask: Some(0o77),
        nice: Some(5),
        affinity: vec![1],
        bounding: Some(3),
        ..Attributes::default()
    };
    let mut left = other.clone();
    drop_unchanged(&mut left, &own);
    assert_eq!(left, other);
}
