use std::time::Duration;

use rustix::io::write;
use rustix::pipe::pipe;

use super::*;
use crate::capture::Limits;
use crate::capture::live::{FULL_CHUNK, INTERVAL, Overflow};
use crate::command::outcome::Ended;
use crate::os::pty::{Size, Terminal};

const LONG_AGO: Duration = Duration::from_secs(60);

fn stream(descriptor: OwnedFd, live: Option<Overflow>, reserve: Reserve) -> Stream {
    let tap = Tap {
        capture: Some(Capture::new(Limits { head: 100, tail: 100 })),
        live: live.map(|overflow| Live::new(overflow, false)),
        reserve,
        last_data: Instant::now().checked_sub(LONG_AGO).unwrap(),
        ended: false,
    };
    Stream { descriptor, label: Label::Merged, tap: Arc::new(Mutex::new(tap)), short_read: 4096 }
}

/// Drains the stream into a buffer of `room` bytes.
fn drain(stream: &mut Stream, room: usize) -> Progress {
    stream.drain(&mut vec![0; room], |_| {})
}

#[test]
fn the_time_of_the_last_output_is_updated() {
    let (reader, writer) = pipe().unwrap();
    let mut stream = stream(reader, None, Reserve::No);
    write(&writer, b"text").unwrap();
    assert_eq!(drain(&mut stream, 100), Progress::Dry);
    assert!(stream.tap.lock().last_data.elapsed() < LONG_AGO);
}

#[test]
fn a_stream_with_a_slow_reader_gets_its_file_all_the_same() {
    let (reader, writer) = pipe().unwrap();
    let mut stream = stream(reader, Some(Overflow::Pause), Reserve::InCapture(50));
    stream.tap.lock().live.as_mut().unwrap().push(&[0; FULL_CHUNK * 2]);
    assert!(stream.tap.lock().is_paused());
    write(&writer, &[b'x'; 60]).unwrap();
    assert_eq!(drain(&mut stream, 100), Progress::Overflowing);
    assert_eq!(stream.tap.lock().take_reserve(), [b'x'; 60]);
    write(&writer, b"y").unwrap();
    assert_eq!(drain(&mut stream, 100), Progress::Full);
}

#[test]
fn a_terminal_that_nobody_holds_has_ended() {
    let size = Size { columns: 80, rows: 24 };
    let Terminal { master, slave } = Terminal::open(size, None).unwrap();
    let mut stream = stream(master, None, Reserve::No);
    write(&slave, b"last words").unwrap();
    drop(slave);
    let first = drain(&mut stream, 100);
    assert!(first == Progress::Ended || drain(&mut stream, 100) == Progress::Ended);
    assert!(stream.tap.lock().ended);
    assert_eq!(stream.tap.lock().capture.as_ref().unwrap().bytes(), b"last words");
}

struct Nobody;

impl Sink for Nobody {
    fn started(&self, _: i32) {}
    fn output(&self, _: Label, _: Vec<Chunk>) {}
    fn ended(&self, _: Ended) {}
}

#[test]
fn for_output_that_is_not_due_yet_the_time_of_delivery_is_returned() {
    let (reader, _writer) = pipe().unwrap();
    let stream = stream(reader, Some(Overflow::DropMiddle), Reserve::No);
    let now = Instant::now();
    let deliver = || deliver(&stream.tap, stream.label, Form::Bytes, &Nobody, now);
    let push = |bytes: &[u8]| {
        let mut tap = stream.tap.lock();
        let live = tap.live.as_mut().unwrap();
        live.push(bytes);
        live.want();
    };
    push(b"first");
    assert_eq!(deliver(), None);
    push(b"second");
    assert_eq!(deliver(), Some(now + INTERVAL));
}
