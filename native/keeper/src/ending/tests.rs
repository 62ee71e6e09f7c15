use std::io::Read;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;

use super::*;

/// Runs a test of this file in a process of its own, without other tests' children.
fn alone(name: &str) {
    let status = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", &format!("ending::tests::{name}"), "--include-ignored", "--nocapture"])
        .env("FORKLINE_ALONE", "1")
        .status();
    assert!(status.unwrap().success());
}

fn is_alone() -> bool {
    std::env::var_os("FORKLINE_ALONE").is_some()
}

/// Returns a child that leads a process group of its own, and has run the commands of `begins`.
fn child(begins: &str, script: &str) -> Child {
    let mut command = Command::new("sh");
    command
        .args(["-c", &format!("{begins}\necho; {script}")])
        .process_group(0)
        .stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
    child
}

fn pid(child: &Child) -> i32 {
    child.id() as i32
}

/// Does overdue work, with this leader, until `is_so` or the ending is given up.
fn act_until(
    ending: &mut Ending,
    leader: Option<i32>,
    is_so: impl Fn(&Ending, Instant) -> bool,
) -> Effort {
    let (members, begun) = (Members::new(2), Instant::now());
    while !is_so(ending, begun) {
        if ending.act(&members, leader, Instant::now()) == Effort::GivenUp {
            return Effort::GivenUp;
        }
        sleep(Duration::from_millis(1));
    }
    Effort::Continues
}

fn all_have_been_looked_for(ending: &Ending, _: Instant) -> bool {
    ending.scans > MOST_SCANS
}

const LONG: Duration = Duration::from_secs(60);

/// Returns the signal that has ended the child.
fn ended_by(mut child: Child) -> Option<i32> {
    child.wait().unwrap().signal()
}

#[test]
fn each_member_gets_sigterm_once() {
    alone("sigterm_once_alone");
}

#[test]
#[ignore = "run by the test above"]
fn sigterm_once_alone() {
    if !is_alone() {
        return;
    }
    let mut asked = child("trap 'echo asked' TERM", "while :; do sleep 9 & wait; done");
    let mut ending = Ending::new(LONG, Instant::now());
    act_until(&mut ending, None, all_have_been_looked_for);
    let (mut said, mut more) = ([0; 6], String::new());
    let mut stdout = asked.stdout.take().unwrap();
    stdout.read_exact(&mut said).unwrap();
    kill(-pid(&asked), libc::SIGKILL);
    stdout.read_to_string(&mut more).unwrap();
    assert_eq!((said.as_slice(), more.as_str()), (b"asked\n".as_slice(), ""));
    assert!(!ending.is_forced());
    assert_eq!(ended_by(asked), Some(libc::SIGKILL));
}

// A process that is started by a member's cleanup is part of the cleanup (Q14).
#[test]
fn a_process_started_after_the_first_scans_is_spared() {
    alone("started_later_alone");
}

#[test]
#[ignore = "run by the test above"]
fn started_later_alone() {
    if !is_alone() {
        return;
    }
    let before = child("", "exec sleep 60");
    let mut ending = Ending::new(LONG, Instant::now());
    act_until(&mut ending, None, |ending, _| ending.scans == 2);
    // Some ticks of the clock by which start times are told.
    sleep(Duration::from_millis(50));
    let mut later = child("", "exec sleep 60");
    act_until(&mut ending, None, all_have_been_looked_for);
    assert_eq!(ended_by(before), Some(libc::SIGTERM));
    assert!(later.try_wait().unwrap().is_none());
    kill(pid(&later), libc::SIGKILL);
    assert_eq!(ended_by(later), Some(libc::SIGKILL));
}

#[test]
fn a_stopped_process_continues_and_ends() {
    alone("stopped_alone");
}

#[test]
#[ignore = "run by the test above"]
fn stopped_alone() {
    if !is_alone() {
        return;
    }
    // A leader gets the signal through its group, another process individually.
    for is_leader in [true, false] {
        let stopped = child("", "exec sleep 60");
        kill(pid(&stopped), libc::SIGSTOP);
        // Waits until it is stopped: otherwise a later signal with a lower number would be delivered
        // first and end it.
        let begun = Instant::now();
        while proc::stat(pid(&stopped)).unwrap().state != b'T' {
            assert!(begun.elapsed() < LONG / 2, "it goes on");
            sleep(Duration::from_millis(1));
        }
        let mut ending = Ending::new(LONG, Instant::now());
        act_until(&mut ending, is_leader.then(|| pid(&stopped)), all_have_been_looked_for);
        // Waits until it ends, without reaping it.
        let begun = Instant::now();
        while proc::stat(pid(&stopped)).unwrap().is_alive() {
            assert!(begun.elapsed() < LONG / 2, "it has stayed stopped");
            sleep(Duration::from_millis(1));
        }
        assert!(Members::new(2).all().iter().all(|member| member.pid != pid(&stopped)));
        assert_eq!(ended_by(stopped), Some(libc::SIGTERM));
    }
}

#[test]
fn another_grace_replaces_the_current_one() {
    alone("another_grace_alone");
}

#[test]
#[ignore = "run by the test above"]
fn another_grace_alone() {
    if !is_alone() {
        return;
    }
    let stubborn = child("trap '' TERM", "while :; do sleep 60; done");
    let mut ending = Ending::new(LONG, Instant::now());
    assert_eq!(act_until(&mut ending, None, all_have_been_looked_for), Effort::Continues);
    assert!(!ending.is_forced());
    ending.set_grace(Duration::from_millis(20), Instant::now());
    // A process that has just been killed, and not been reaped, is not given up.
    let leader = pid(&stubborn);
    let is_dead = || !proc::stat(leader).unwrap().is_alive();
    let has_gone_on = |_: &Ending, begun: Instant| {
        begun.elapsed() > LONG / 2 || (is_dead() && begun.elapsed() > Duration::from_millis(400))
    };
    assert_eq!(act_until(&mut ending, None, has_gone_on), Effort::Continues);
    let was_killed = is_dead();
    kill(leader, libc::SIGKILL);
    assert!(ending.is_forced() && was_killed);
    assert_eq!(ended_by(stubborn), Some(libc::SIGKILL));
}
