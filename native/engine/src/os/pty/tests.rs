use rustix::fs::fcntl_getfl;
use rustix::io::{Errno, FdFlags, fcntl_getfd, read, write};
use rustix::termios::{isatty, tcgetwinsize};

use super::*;

const SIZE: Size = Size { columns: 97, rows: 31 };

#[test]
fn both_ends_close_on_exec_and_only_ours_is_non_blocking() {
    let Terminal { master, slave } = Terminal::open(SIZE, None).unwrap();
    for end in [&master, &slave] {
        assert!(fcntl_getfd(end).unwrap().contains(FdFlags::CLOEXEC));
    }
    assert!(fcntl_getfl(&master).unwrap().contains(OFlags::NONBLOCK));
    assert!(!fcntl_getfl(&slave).unwrap().contains(OFlags::NONBLOCK));
    assert!(isatty(&slave));
}

#[test]
fn the_size_is_set_from_the_start_and_can_be_changed() {
    let Terminal { master, slave } = Terminal::open(SIZE, None).unwrap();
    let size = tcgetwinsize(&slave).unwrap();
    assert_eq!((size.ws_col, size.ws_row), (97, 31));
    resize(&master, Size { columns: 20, rows: 5 }).unwrap();
    let size = tcgetwinsize(&slave).unwrap();
    assert_eq!((size.ws_col, size.ws_row), (20, 5));
}

#[test]
fn written_output_is_read_before_the_end_which_is_eio() {
    let Terminal { master, slave } = Terminal::open(SIZE, None).unwrap();
    let mut buffer = [0; 16];
    assert_eq!(read(&master, &mut buffer), Err(Errno::AGAIN));
    write(&slave, b"last\n").unwrap();
    drop(slave);
    assert_eq!(read(&master, &mut buffer), Ok(6));
    assert!(buffer.starts_with(b"last\r\n"));
    assert_eq!(read(&master, &mut buffer), Err(Errno::IO));
}

#[test]
fn the_terminal_becomes_nobodys_controlling_terminal_by_being_opened() {
    let before = std::fs::read_to_string("/proc/self/stat").unwrap();
    let _terminal = Terminal::open(SIZE, None).unwrap();
    let after = std::fs::read_to_string("/proc/self/stat").unwrap();
    let terminal_of =
        |stat: &str| stat.rsplit(')').next().unwrap().split(' ').nth(5).map(str::to_owned);
    assert_eq!(terminal_of(&before), terminal_of(&after));
}

#[test]
fn the_master_tells_how_the_commands_end_takes_what_is_typed() {
    let Terminal { master, slave } = Terminal::open(SIZE, None).unwrap();
    assert_eq!(typing(&master).unwrap(), Typing::Lines);
    let mut modes = tcgetattr(&slave).unwrap();
    modes.local_modes.remove(LocalModes::ECHO);
    tcsetattr(&slave, OptionalActions::Now, &modes).unwrap();
    assert_eq!(typing(&master).unwrap(), Typing::Hidden);
    modes.local_modes.remove(LocalModes::ICANON);
    tcsetattr(&slave, OptionalActions::Now, &modes).unwrap();
    assert_eq!(typing(&master).unwrap(), Typing::Keys);
}
