use super::*;

#[test]
fn words_and_values_come_in_pairs() {
    let plan = Plan::decode(b"network\0full\0write\0/a\0hide\0/b\0").unwrap();
    assert!(plan.network && !plan.host_processes);
    assert_eq!(plan.paths(Access::Write).collect::<Vec<_>>(), [Path::new("/a")]);
    assert_eq!(plan.paths(Access::Hide).collect::<Vec<_>>(), [Path::new("/b")]);
    assert_eq!(Plan::decode(b""), Some(Plan::default()));
    let plan = Plan::decode(b"write\0/a\0is\x005:6:7\0git\0/b\0is\0\0").unwrap();
    let identities = plan.rules.iter().map(|rule| rule.identity);
    assert_eq!(identities.collect::<Vec<_>>(), [Some((5, 6)), None]);
    let plan = Plan::decode(b"home\0/h\0hide\0/h/b\0absent\0/h/c\0").unwrap();
    assert_eq!(plan.home.as_deref(), Some(Path::new("/h")));
    assert_eq!(plan.hidden_names, [Path::new("/h/b"), Path::new("/h/c")]);
    let plan = Plan::decode(
        b"repository\0/w/.git\0top\0/w\0tip\0ab\0setting\0/w/.npmrc\0\
          present\0/w/.npmrc\0blob\x00100644 cd\0",
    );
    let repository = Repository {
        git: "/w/.git".into(),
        top: "/w".into(),
        tips: vec!["ab".into()],
        settings: vec!["/w/.npmrc".into()],
        present: vec![("/w/.npmrc".into(), "100644 cd".into())],
    };
    assert_eq!(plan.unwrap().repositories, [repository]);
    let plan = Plan::decode(b"held\0/s/held\0git-program\0/usr/bin/git\0").unwrap();
    assert_eq!(plan.held.as_deref(), Some(Path::new("/s/held")));
    assert_eq!(plan.git_program.as_deref(), Some(Path::new("/usr/bin/git")));
    let plan = Plan::decode(b"settings\0read-only\0settings\0kept\0").unwrap();
    assert!(plan.settings_read_only && plan.settings_kept);
    let plan = Plan::decode(b"hide\0/h/b\0instead\0{}\0").unwrap();
    assert_eq!(plan.texts, [(PathBuf::from("/h/b"), b"{}".to_vec())]);
    assert_eq!(Plan::decode(b"keep\0/h/b\0instead\0{}\0"), None);
}

#[test]
fn an_unknown_word_is_no_plan() {
    for bytes in [&b"write\0a\0"[..], b"other\0/a\0", b"write", b"network\0some\0", b"is\x001:2\0"]
    {
        assert_eq!(Plan::decode(bytes), None);
    }
}
