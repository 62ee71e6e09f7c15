use super::*;

#[test]
fn names_are_hidden_by_an_overlay_on_the_home_or_on_their_directory() {
    let rule = |access, path: &str| Rule { access, path: path.into(), identity: None };
    let rules = vec![
        rule(Access::Write, "/h/u/w"),
        rule(Access::Hide, "/h/u/.ssh"),
        rule(Access::Show, "/h/u/.ssh/shown"),
        rule(Access::Show, "/tmp/shown"),
    ];
    let plan = Plan { rules, ..Plan::default() };
    let context = Context {
        plan: &plan,
        mounts: vec![Path::new("/h/u/mnt"), Path::new("/h/u/mnt/a/b")],
        home: Some("/h/u".into()),
        own: vec!["/tmp".into()],
    };
    let way = |place| context.way_to_hold(Path::new(place));
    let overlay = |path: &str| Hiding::Overlay(path.into());
    assert_eq!(way("/h/u/.netrc"), overlay("/h/u"));
    assert_eq!(way("/h/u/.config/gh"), overlay("/h/u"));
    assert_eq!(way("/h/u/mnt"), overlay("/h/u"));
    assert_eq!(way("/h/u/mnt/a/x"), overlay("/h/u/mnt"));
    assert_eq!(way("/h/u/mnt/a/b/x"), overlay("/h/u/mnt/a/b"));
    assert_eq!(way("/h/x"), overlay("/h"));
    assert_eq!(way("/tmp/shown/.env"), overlay("/tmp/shown"));
    assert_eq!(way("/tmp/other/.env"), Hiding::Unneeded);
    assert_eq!(way("/h/u/.ssh/id"), Hiding::Unneeded);
    assert_eq!(way("/etc/shadow"), Hiding::Unneeded);
    assert_eq!(way("/h/u/.ssh/shown/id"), Hiding::None);
    assert_eq!(way("/h/u/w/.env"), Hiding::None);
    assert_eq!(way("/x"), Hiding::None);
}
