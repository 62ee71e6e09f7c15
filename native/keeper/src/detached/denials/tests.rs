use forkline_protocol::{pair, send};

use super::*;

#[test]
fn denials_are_told_once_and_those_without_room_are_counted() {
    let (ours, theirs) = pair().unwrap();
    let nowhere = Path::new("/nowhere/output");
    let mut denials = Denials::new("write=namespace".into(), Some(ours), None, nowhere);
    let told = ["socket=40".to_owned(), "connect=/a".into(), format!("connect={:x>3000}", "")];
    for what in ["port=1,2,3,a", "closed-port=1,2,3,a", "closed-port=1,2,3,b"] {
        send(theirs.as_fd(), [what.as_bytes(), b""], &[]).unwrap();
    }
    for what in told.iter().chain(&told) {
        send(theirs.as_fd(), [what.as_bytes(), b""], &[]).unwrap();
    }
    assert_eq!(denials.read(), DenialSource::Open);
    let Report { text, more, is_unheard, is_alone } = denials.report();
    assert_eq!(text, "write=namespace socket=40 connect=/a");
    assert_eq!((more, is_unheard, is_alone), (1, false, true));
    drop(theirs);
    // A process that another test starts has a copy of the socket until its exec.
    let is_over = (0..500).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(2));
        denials.read() == DenialSource::Closed
    });
    assert!(is_over);
}

#[test]
fn signatures_and_what_is_held_have_room_whatever_is_denied() {
    let folder = std::env::temp_dir().join(format!("told-{}", std::process::id()));
    std::fs::create_dir(&folder).unwrap();
    let mut denials = Denials::new("write=namespace".into(), None, None, &folder.join("output"));
    for number in 0..200 {
        denials.note(&format!("connect=192.0.2.1%3A{number}"));
    }
    let words = |word: &str, count| -> Vec<String> {
        (0..count).map(|number| format!("{word}={number},{:x>60}", "")).collect()
    };
    let told =
        [words("signed", 30), words("held", 20), words("undo", 1), words("port", 5)].concat();
    told.iter().for_each(|what| denials.note(what));
    let Report { text, more, .. } = denials.report();
    assert!(text.len() <= ROOM && more > 0 && !text.contains("lost="));
    let file = std::fs::read_to_string(folder.join("output.told")).unwrap();
    let found: Vec<&str> = text.split(' ').chain(file.lines()).collect();
    assert!(told.iter().all(|what| found.contains(&&**what)));
    // What fits nowhere is counted.
    denials.more.length = MOST_BYTES;
    words("signed", 33).iter().skip(30).for_each(|what| denials.note(what));
    words("port", 9).iter().for_each(|what| denials.note(what));
    let text = denials.report().text;
    assert!(text.contains(" lost=signed,3") && text.contains(" lost=port,3"), "{text}");
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn programs_are_told_in_their_order_and_as_often_as_they_were_executed() {
    let folder = std::env::temp_dir().join(format!("told-programs-{}", std::process::id()));
    std::fs::create_dir(&folder).unwrap();
    let mut denials = Denials::new("write=namespace".into(), None, None, &folder.join("output"));
    let word = |number: usize| format!("exec=allow,otherwise,1,{},{:x>60}", number / 2, "");
    let told: Vec<String> = (0..1003).map(word).collect();
    denials.note(&told[0]);
    denials.note("socket=40");
    told[1..].iter().for_each(|what| denials.note(what));
    let text = denials.report().text;
    assert!(text.ends_with(" socket=40") && text.len() < ROOM);
    let file = std::fs::read_to_string(folder.join("output.told")).unwrap();
    let all = text.split(' ').chain(file.lines()).filter(|what| ExecWords::is_one(what));
    let all: Vec<&str> = all.collect();
    assert!(all.iter().zip(&told).all(|(one, other)| one == other));
    assert!(all.len() < told.len());
    assert!(text.contains(&format!(" exec-more={} ", told.len() - all.len())));
    std::fs::remove_dir_all(folder).unwrap();
}
