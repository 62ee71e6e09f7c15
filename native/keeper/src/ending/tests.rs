use std::io::Read;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;

use super::*;

/// Runs a test of this file in a process of its own, where nobody else has children.
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

/// A child that leads a group of its own, and has begun as this script says.
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

/// Does what is due for so long; whether it was given up.
fn act_for(ending: &mut Ending, leader: Option<i32>, time: Duration) -> bool {
    let (members, end) = (Members::new(2), Instant::now() + time);
    let mut given_up = false;
    while !given_up && Instant::now() < end {
        given_up = ending.act(&members, leader, Instant::now());
        sleep(Duration::from_millis(1));
    }
    given_up
}

/// Longer than all looks take together.
const ALL_LOOKS: Duration = Duration::from_millis(400);
const LONG: Duration = Duration::from_secs(60);

/// The signal that has ended it.
fn ended_by(mut child: Child) -> Option<i32> {
    child.wait().unwrap().signal()
}

#[test]
fn each_is_asked_once() {
    alone("asking_once");
}

#[test]
#[ignore = "run by the test above"]
fn asking_once() {
    if !is_alone() {
        return;
    }
    let mut asked = child("trap 'echo asked' TERM", "while :; do sleep 9 & wait; done");
    let mut ending = Ending::new(LONG, Instant::now());
    act_for(&mut ending, None, ALL_LOOKS);
    kill(-pid(&asked), libc::SIGKILL);
    let mut said = String::new();
    asked.stdout.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!((said.as_str(), ending.is_forced()), ("asked\n", false));
    assert_eq!(ended_by(asked), Some(libc::SIGKILL));
}

// Whoever is started by somebody that tidies up is part of the tidying (Q14).
#[test]
fn who_is_started_after_the_first_looks_is_not_asked() {
    alone("starting_later");
}

#[test]
#[ignore = "run by the test above"]
fn starting_later() {
    if !is_alone() {
        return;
    }
    let before = child("", "exec sleep 60");
    let mut ending = Ending::new(LONG, Instant::now());
    let members = Members::new(2);
    while ending.looks < 2 {
        ending.act(&members, None, Instant::now());
    }
    // Some ticks of the clock by which starts are told.
    sleep(Duration::from_millis(50));
    let mut later = child("", "exec sleep 60");
    act_for(&mut ending, None, ALL_LOOKS);
    assert!(ending.looks > LOOKS);
    assert_eq!(ended_by(before), Some(libc::SIGTERM));
    assert!(later.try_wait().unwrap().is_none());
    kill(pid(&later), libc::SIGKILL);
    assert_eq!(ended_by(later), Some(libc::SIGKILL));
}

#[test]
fn who_is_stopped_goes_on_and_ends() {
    alone("going_on");
}

#[test]
#[ignore = "run by the test above"]
fn going_on() {
    if !is_alone() {
        return;
    }
    // A leader has the signal by its group, and another one by itself.
    for is_leader in [true, false] {
        let stopped = child("", "exec sleep 60");
        kill(pid(&stopped), libc::SIGSTOP);
        let mut ending = Ending::new(LONG, Instant::now());
        act_for(&mut ending, is_leader.then(|| pid(&stopped)), ALL_LOOKS);
        let zombie = proc::stat(pid(&stopped)).unwrap();
        assert!(!zombie.is_alive());
        // It has ended, and only its parent has not asked how.
        assert!(Members::new(2).all().iter().all(|member| member.pid != pid(&stopped)));
        assert_eq!(ended_by(stopped), Some(libc::SIGTERM));
    }
}

#[test]
fn another_grace_goes_before_the_one_under_way() {
    alone("hurrying");
}

#[test]
#[ignore = "run by the test above"]
fn hurrying() {
    if !is_alone() {
        return;
    }
    let stubborn = child("trap '' TERM", "while :; do sleep 60; done");
    let mut ending = Ending::new(LONG, Instant::now());
    assert!(!act_for(&mut ending, None, ALL_LOOKS));
    assert!(!ending.is_forced());
    ending.set_grace(Duration::from_millis(20), Instant::now());
    // Nobody is given up who has only just been killed, and not been reaped.
    assert!(!act_for(&mut ending, None, ALL_LOOKS));
    assert!(ending.is_forced());
    assert_eq!(ended_by(stubborn), Some(libc::SIGKILL));
}
