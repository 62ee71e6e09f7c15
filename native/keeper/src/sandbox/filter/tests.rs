use super::*;

const REFUSED: u32 = ERRNO | libc::EAFNOSUPPORT as u32;

/// Returns the answer that the kernel would give.
fn run(rules: Rules, architecture: u32, number: u32, arguments: [u32; 3]) -> u32 {
    let program = program(rules, REFUSED);
    let (mut at, mut loaded) = (0, 0);
    let skip = |is: bool, jt: u8, jf: u8| usize::from(if is { jt } else { jf });
    loop {
        let libc::sock_filter { code, jt, jf, k } = program[at];
        at += 1;
        match code {
            0x20 => {
                loaded = match k {
                    NUMBER => number,
                    ARCHITECTURE => architecture,
                    offset => arguments[(offset as usize - 16) / 8],
                }
            }
            0x54 => loaded &= k,
            0x15 => at += skip(loaded == k, jt, jf),
            0x25 => at += skip(loaded > k, jt, jf),
            0x45 => at += skip(loaded & k != 0, jt, jf),
            _ => return k,
        }
    }
}

#[test]
fn sockets_are_told_by_their_family() {
    let rules = |network, judged| Rules {
        network,
        judged,
        listened: judged,
        executed: false,
        gated: judged,
        recorded: false,
    };
    for numbers in [NATIVE, FOREIGN] {
        let socket = |rules, family, kind| {
            run(rules, numbers.architecture, numbers.socket, [family, kind, 0])
        };
        for family in 0..64 {
            let is_known = [AF_UNIX, AF_INET, AF_INET6, AF_NETLINK].contains(&family);
            let expected = if is_known { ALLOW } else { REFUSED };
            assert_eq!(socket(rules(true, true), family, 1), expected);
            let expected = if family == AF_UNIX { ALLOW } else { REFUSED };
            assert_eq!(socket(rules(false, false), family, 1), expected);
        }
        let call = |number| run(rules(false, true), numbers.architecture, number, [40, 0, 0]);
        assert_eq!(call(1), ALLOW);
        assert_eq!(call(IO_URING_SETUP), ERRNO | libc::EPERM as u32);
        assert_eq!(call(numbers.pair), REFUSED);
        assert_eq!(numbers.keys.map(call), [ERRNO | libc::ENOSYS as u32; 3]);
    }
    assert_eq!(run(rules(true, true), OWN, 0x4000_0029, [2, 1, 0]), ERRNO | libc::ENOSYS as u32);
    assert_eq!(run(rules(true, true), 0x1234, 0, [0; 3]), KILL);
}

#[test]
fn what_may_lead_to_a_path_is_asked_about() {
    for (numbers, judged) in [(NATIVE, true), (FOREIGN, true), (NATIVE, false)] {
        let rules = Rules {
            network: true,
            judged,
            listened: false,
            executed: false,
            gated: false,
            recorded: false,
        };
        let call = |number, arguments| run(rules, numbers.architecture, number, arguments);
        let asked = if judged { NOTIFY } else { ALLOW };
        for length in 3..=110 {
            assert_eq!(call(numbers.connect, [7, 0, length]), asked);
        }
        // No socket with a path has such an address.
        for length in [0, 1, 2, 111, 128, u32::MAX] {
            assert_eq!(call(numbers.connect, [7, 0, length]), ALLOW);
        }
        for kind in [2, 3, 2 | libc::SOCK_CLOEXEC as u32 | libc::SOCK_NONBLOCK as u32] {
            assert_eq!(call(numbers.socket, [AF_UNIX, kind, 0]), asked);
            assert_eq!(call(numbers.socket, [AF_INET, kind, 0]), ALLOW);
            let is_paired = call(numbers.pair, [AF_UNIX, kind, 0]) == ALLOW;
            assert_eq!(is_paired, !judged);
        }
        for kind in [1, 5, 1 | libc::SOCK_CLOEXEC as u32] {
            assert_eq!(call(numbers.socket, [AF_UNIX, kind, 0]), ALLOW);
            assert_eq!(call(numbers.pair, [AF_UNIX, kind, 0]), ALLOW);
        }
    }
}

#[test]
fn who_changes_something_by_its_name_is_asked_about() {
    let rules = |gated| Rules {
        network: true,
        judged: true,
        listened: false,
        executed: false,
        gated,
        recorded: false,
    };
    for (number, naming) in NATIVE.naming {
        let call = |gated, arguments| run(rules(gated), OWN, *number, arguments);
        let (at, changes) = match naming {
            Naming::Open => (1, [libc::O_WRONLY, libc::O_RDWR | libc::O_CLOEXEC]),
            Naming::OpenAt => (2, [libc::O_CREAT, libc::O_TRUNC]),
            Naming::SetTimesAt => (1, [7, 8]),
            _ => (0, [0, 1]),
        };
        for value in changes {
            let mut arguments = [9; 3];
            arguments[at] = value as u32;
            assert_eq!((call(true, arguments), call(false, arguments)), (NOTIFY, ALLOW));
        }
        if at > 0 {
            let mut arguments = [9; 3];
            arguments[at] = if at == 1 && *naming == Naming::SetTimesAt { 0 } else { 0x8_0000 };
            assert_eq!(call(true, arguments), ALLOW);
        }
    }
}

#[test]
fn who_listens_is_asked_about_only_where_ports_are_published() {
    for (numbers, listened) in [(NATIVE, true), (FOREIGN, true), (NATIVE, false)] {
        let rules = Rules {
            network: true,
            judged: true,
            listened,
            executed: false,
            gated: false,
            recorded: false,
        };
        let answer = run(rules, numbers.architecture, numbers.listen, [3, 5, 0]);
        assert_eq!(answer, if listened { NOTIFY } else { ALLOW });
    }
}

#[test]
fn where_changes_are_recorded_all_of_them_are_asked_about() {
    let rules = |recorded| Rules {
        network: true,
        judged: true,
        listened: true,
        executed: true,
        gated: true,
        recorded,
    };
    for numbers in [NATIVE, FOREIGN] {
        let call = |recorded, number, arguments| {
            run(rules(recorded), numbers.architecture, number, arguments)
        };
        for (number, _) in numbers.changing {
            let asked = [true, false].map(|recorded| call(recorded, *number, [9; 3]));
            assert_eq!(asked, [NOTIFY, ALLOW]);
        }
        for (number, naming) in numbers.naming {
            if *naming == Naming::SetTimesAt {
                assert_eq!(call(true, *number, [9, 0, 0]), NOTIFY);
            }
        }
        let unseen = ATTRIBUTES_AT.map(|number| call(true, number, [9; 3]));
        assert_eq!(unseen, [ERRNO | libc::ENOSYS as u32; 3]);
        // Behind all of these.
        assert_eq!(call(true, 1, [9; 3]), ALLOW);
    }
}
