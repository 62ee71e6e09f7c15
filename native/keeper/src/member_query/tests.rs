use super::*;

fn named_by(arguments: &[u8]) -> String {
    let own = LiveMember {
        pid: std::process::id() as i32,
        parent: 0,
        group: 1,
        started: 1,
        own: true,
        busy: false,
        stopped: false,
        terminal: false,
        has_children: false,
    };
    let seen = Seen { pid: own.pid, group: 1, started: 1, arguments: arguments.to_vec() };
    String::from_utf8(named(&own, &seen).unwrap()).unwrap()
}

// A name has at most 200 characters, of however many bytes (Q14).
#[test]
fn a_name_is_cut_at_characters_and_not_at_bytes() {
    for character in ["a", "é", "€", "😀"] {
        assert_eq!(named_by(character.repeat(200).as_bytes()), character.repeat(200));
        assert_eq!(named_by(character.repeat(900).as_bytes()), character.repeat(200));
    }
    assert_eq!(named_by(b"sleep\0\x003\0"), "sleep 3");
}

#[test]
fn a_process_without_arguments_is_named_in_brackets() {
    let name = named_by(b"");
    assert!(name.starts_with('[') && name.ends_with(']') && name.len() > 2, "{name}");
}
