use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use super::*;
use crate::sandbox::ports::sockets::is_delivered;

/// A relay in a thread of its own, from a port of its own to these addresses.
struct Running {
    port: u16,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Vec<u64>>>,
}

impl Running {
    fn to(targets: Vec<SocketAddr>, most: usize) -> Running {
        let mut relay = Relay::new(most).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        relay.open(7, listener, Arc::new(Mutex::new(targets))).unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = stop.clone();
        let thread = thread::spawn(move || {
            let mut refused = Vec::new();
            while !stopped.load(Ordering::Acquire) {
                let soon = Instant::now() + Duration::from_millis(20);
                refused.extend(relay.turn(Some(soon)).refused);
            }
            refused
        });
        Running { port, stop, thread: Some(thread) }
    }

    fn connect(&self) -> TcpStream {
        TcpStream::connect(("127.0.0.1", self.port)).unwrap()
    }

    fn end(mut self) -> Vec<u64> {
        self.stop.store(true, Ordering::Release);
        self.thread.take().unwrap().join().unwrap()
    }
}

/// Answers each connection with all that it has sent, once it has sent all.
fn echo() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            thread::spawn(move || {
                let mut stream = stream.unwrap();
                let mut all = Vec::new();
                stream.read_to_end(&mut all).unwrap();
                stream.write_all(&all).unwrap();
            });
        }
    });
    address
}

/// An address on which nothing listens.
fn nobody() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}

#[test]
fn data_arrives_whole_after_one_side_has_sent_all() {
    let running = Running::to(vec![nobody(), echo()], 64);
    let sent: Vec<u8> =
        (0..8_000_000_u32).map(|number| (number.wrapping_mul(7919) >> 8) as u8).collect();
    let mut clients: Vec<TcpStream> = (0..3).map(|_| running.connect()).collect();
    for client in &mut clients {
        client.write_all(&sent).unwrap();
        client.shutdown(Shutdown::Write).unwrap();
    }
    for client in &mut clients {
        let mut received = Vec::new();
        client.read_to_end(&mut received).unwrap();
        assert!(received == sent);
    }
    assert_eq!(running.end(), Vec::<u64>::new());
}

#[test]
fn a_client_of_a_missing_server_is_reset_and_that_is_told() {
    let running = Running::to(vec![nobody()], 64);
    let error = running.connect().read(&mut [0]).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::ConnectionReset);
    assert_eq!(running.end(), [7]);
}

#[test]
fn connections_beyond_the_most_are_reset() {
    let running = Running::to(vec![echo()], 1);
    let mut first = running.connect();
    let error = running.connect().read(&mut [0]).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::ConnectionReset);
    first.write_all(b"still here").unwrap();
    first.shutdown(Shutdown::Write).unwrap();
    let mut received = String::new();
    first.read_to_string(&mut received).unwrap();
    assert_eq!(received, "still here");
    running.end();
}

#[test]
fn a_reset_of_one_side_reaches_the_other() {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let running = Running::to(vec![server.local_addr().unwrap()], 64);
    let mut client = running.connect();
    let (theirs, _) = server.accept().unwrap();
    sockopt::set_socket_linger(&theirs, Some(Duration::ZERO)).unwrap();
    drop(theirs);
    assert_eq!(client.read(&mut [0]).unwrap_err().kind(), io::ErrorKind::ConnectionReset);
    running.end();
}

/// Answers each connection after some bytes, and closes it with the rest unread. `ends`: sends an end before.
fn early(answer: &'static [u8], ends: bool) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            stream.read_exact(&mut [0; 100]).unwrap();
            stream.write_all(answer).unwrap();
            if ends {
                stream.shutdown(Shutdown::Write).unwrap();
            }
            let stream = OwnedFd::from(stream);
            while !is_delivered(&stream) {
                thread::sleep(Duration::from_millis(1));
            }
        }
    });
    address
}

/// Sends as much as is taken, and reads the answer then.
fn upload(running: &Running) -> Vec<u8> {
    let mut client = running.connect();
    let _ = client.write_all(&vec![1; 4_000_000]);
    thread::sleep(Duration::from_millis(5));
    let mut received = Vec::new();
    let _ = client.read_to_end(&mut received);
    received
}

#[test]
fn the_answer_of_a_server_that_closes_early_arrives() {
    static LONG: [u8; 300_000] = [7; 300_000];
    for answer in [b"413 too large".as_slice(), &LONG] {
        for ends in [true, false] {
            let running = Running::to(vec![early(answer, ends)], 64);
            for _ in 0..50 {
                assert!(upload(&running) == answer);
            }
            running.end();
        }
    }
}

#[test]
fn a_client_that_reads_late_gets_all_before_the_reset() {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let running = Running::to(vec![server.local_addr().unwrap()], 64);
    let mut client = running.connect();
    let (mut theirs, _) = server.accept().unwrap();
    // More than the client's kernel takes while the client does not read.
    sockopt::set_socket_recv_buffer_size(&client, 4096).unwrap();
    let sent = vec![9; 200_000];
    theirs.write_all(&sent).unwrap();
    let theirs = OwnedFd::from(theirs);
    while !is_delivered(&theirs) {
        thread::sleep(Duration::from_millis(1));
    }
    sockopt::set_socket_linger(&theirs, Some(Duration::ZERO)).unwrap();
    drop(theirs);
    thread::sleep(Duration::from_millis(100));
    let mut received = Vec::new();
    let error = client.read_to_end(&mut received).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::ConnectionReset);
    assert!(received == sent);
    running.end();
}
