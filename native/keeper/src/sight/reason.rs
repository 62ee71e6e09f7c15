//! What a command was seen to do when its time was over: the one thing that tells best why it had not ended.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use super::calls::{Activity, activities};
use super::listening::{Tables, ports};
use super::waits::{self, Awaited};
use super::{descriptors, endless, locks};
use crate::member_query::described;
use crate::members::LiveMember;
use crate::{outside, proc};

/// The most members that are looked at, parents before their children.
const MOST: usize = 256;
/// The longest time for a look.
const LONGEST: Duration = Duration::from_millis(100);
const MOST_PORTS: usize = 8;
/// A record of a detached command has room for a few of these, each byte written as three.
const LONGEST_PATH: usize = 300;
const LONGEST_COMMAND: usize = 100;

/// The members of a command at one moment.
pub struct Scene<'a> {
    pub all: &'a [LiveMember],
    /// The leader, whose stdin is the command's.
    pub leader: Option<i32>,
    /// The arguments of the shells that were launched, whose forks have no name of their own.
    pub launch_lines: &'a [Vec<u8>],
    /// The members that read what others write.
    pub is_reader: &'a dyn Fn(&LiveMember) -> bool,
}

/// Returns the reason as words such as `lock pid=7 command=npm%20ci path=/tmp/x holder=9`. None: nothing
/// was seen that tells.
pub fn reason(scene: &Scene) -> Option<String> {
    let until = Instant::now() + LONGEST;
    let shown: Vec<&LiveMember> =
        scene.all.iter().filter(|member| member.started != 0).take(MOST).collect();
    let asleep: Vec<(&LiveMember, Vec<Activity>)> = shown
        .iter()
        .filter(|member| !member.busy && !member.stopped)
        .take_while(|_| Instant::now() < until)
        .filter_map(|member| Some((*member, activities(member.pid)?)))
        .collect();
    let ways: [&dyn Fn() -> Option<String>; 6] = [
        &|| asleep.iter().find_map(|(member, does)| waits_for_input(scene, member, does)),
        &|| asleep.iter().find_map(|(member, does)| waits_for_lock(scene, member, does, until)),
        &|| Some(told("stopped", scene, shown.iter().find(|member| member.stopped)?)),
        &|| Some(told("endless", scene, shown.iter().find(|member| is_endless(member))?)),
        &|| shown.iter().find_map(|member| computes(scene, member)),
        &|| listens(scene, &shown, until),
    ];
    ways.iter().find_map(|way| way())
}

fn told(kind: &str, scene: &Scene, member: &LiveMember) -> String {
    let member = described(member, scene.launch_lines);
    let mut words = format!("{kind} pid={}", member.pid);
    // Without a name it is the command's own shell.
    if let Some(command) = &member.command {
        add(&mut words, "command", shortened(command));
    }
    words
}

/// Returns the beginning of a command line, whole characters of it.
fn shortened(line: &[u8]) -> &[u8] {
    let is_inner = |byte: &u8| byte & 0xC0 == 0x80;
    let fits = |end: usize| line.get(end).is_none_or(|byte| !is_inner(byte));
    let end = (0..=LONGEST_COMMAND.min(line.len())).rev().find(|end| fits(*end));
    line.get(..end.unwrap_or(0)).unwrap_or_default()
}

/// Adds a word; bytes that are no letters, digits or signs of a path are written as `%20`.
fn add(words: &mut String, name: &str, value: &[u8]) {
    words.push_str(&format!(" {name}="));
    for byte in value {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'_' | b'-' | b',' => {
                words.push(char::from(*byte));
            }
            _ => words.push_str(&format!("%{byte:02X}")),
        }
    }
}

fn waits_for_input(scene: &Scene, member: &LiveMember, does: &[Activity]) -> Option<String> {
    match waits::awaited(member.pid, does)? {
        // `top` and the like take keys, and wait for none.
        Awaited::Terminal if is_endless(member) => Some(told("endless", scene, member)),
        Awaited::Terminal => Some(told("terminal", scene, member)),
        // A pipe between two members is the work of the one that writes.
        Awaited::Stdin(pipe) => {
            let given = descriptors::target(scene.leader?, 0)?;
            (given == pipe).then(|| told("stdin", scene, member))
        }
    }
}

fn waits_for_lock(
    scene: &Scene,
    member: &LiveMember,
    does: &[Activity],
    until: Instant,
) -> Option<String> {
    let wait = locks::awaited(member.pid, does, until)?;
    let mut words = told("lock", scene, member);
    if wait.path.starts_with(b"/") && wait.path.len() <= LONGEST_PATH {
        add(&mut words, "path", &wait.path);
    }
    if let Some(holder) = wait.holder {
        let (pid, _) = outside::pid_and_group(holder, 0);
        words.push_str(&format!(" holder={pid}"));
        let line = proc::arguments(holder);
        let is_own_shell = scene.launch_lines.contains(&line);
        if let Some(by) = crate::member_query::line_of(holder, &line).filter(|_| !is_own_shell) {
            add(&mut words, "by", shortened(&by));
        }
    }
    Some(words)
}

fn is_endless(member: &LiveMember) -> bool {
    !member.busy && endless::is_endless(&proc::arguments(member.pid))
}

/// A member that runs, and has used a processor, or waited for one, for at least half of its time.
fn computes(scene: &Scene, member: &LiveMember) -> Option<String> {
    if !member.busy {
        return None;
    }
    let (used, state) = proc::used_ticks(member.pid)?;
    let age = proc::ticks().checked_sub(member.started)?;
    let a_second = proc::ticks_a_second();
    let wanted = used + proc::queued(member.pid).as_millis() as u64 * a_second / 1000;
    // Less than a fifth of a second tells nothing.
    let computes = state == b'R' && wanted * 2 >= age && used * 5 >= a_second;
    computes.then(|| {
        let mut words = told("cpu", scene, member);
        words.push_str(&format!(" ms={}", used * 1000 / a_second.max(1)));
        words
    })
}

/// A member that listens, if all else is below it, above it, or reads what it prints: otherwise the command
/// may wait for something else.
fn listens(scene: &Scene, shown: &[&LiveMember], until: Instant) -> Option<String> {
    let within = shown.iter().copied().take_while(|_| Instant::now() < until);
    let mut tables = Tables::default();
    let found: Vec<(&LiveMember, Vec<u16>)> = within
        .map(|member| (member, ports(member.pid, &mut tables)))
        .filter(|(_, ports)| !ports.is_empty())
        .collect();
    let (first, _) = found.first()?;
    let mut below: HashSet<i32> = found.iter().map(|(member, _)| member.pid).collect();
    for member in scene.all {
        if below.contains(&member.parent) {
            below.insert(member.pid);
        }
    }
    let is_apart = |member: &&LiveMember| {
        !member.has_children && !below.contains(&member.pid) && !(scene.is_reader)(member)
    };
    if scene.all.iter().any(|member| is_apart(&member)) {
        return None;
    }
    let mut ports: Vec<u16> = found.iter().flat_map(|(_, ports)| ports.clone()).collect();
    ports.dedup();
    ports.truncate(MOST_PORTS);
    let ports: Vec<String> = ports.iter().map(u16::to_string).collect();
    let mut words = told("listening", scene, first);
    add(&mut words, "ports", ports.join(",").as_bytes());
    Some(words)
}

#[cfg(test)]
mod tests {
    use super::{add, shortened};

    #[test]
    fn a_long_command_is_cut_between_characters() {
        let line = "é".repeat(200);
        assert_eq!(shortened(line.as_bytes()), "é".repeat(50).as_bytes());
        let odd = format!("x{line}");
        assert_eq!(shortened(odd.as_bytes()), format!("x{}", "é".repeat(49)).as_bytes());
        assert_eq!(shortened(b"short"), b"short");
    }

    #[test]
    fn a_value_is_one_word_of_plain_characters() {
        let mut words = "lock".to_owned();
        add(&mut words, "path", "/a b=%\n\u{e9}\u{ff}".as_bytes());
        assert_eq!(words, "lock path=/a%20b%3D%25%0A%C3%A9%C3%BF");
    }
}
