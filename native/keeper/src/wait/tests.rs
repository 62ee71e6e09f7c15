use super::*;

#[test]
fn a_time_is_told_in_microseconds() {
    assert_eq!(microseconds(&libc::timeval { tv_sec: 2, tv_usec: 5 }), 2_000_005);
}
