use std::fs::{create_dir, create_dir_all, read, read_to_string, remove_file, rename, write};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use proptest::prelude::*;
use tempfile::TempDir;

use super::*;

/// A workspace that commands can write to, and a file outside of it.
struct Scene {
    folder: TempDir,
    work: PathBuf,
    outside: PathBuf,
    reach: Reach,
}

fn scene() -> Scene {
    let folder = tempfile::tempdir().unwrap();
    let (work, outside) = (folder.path().join("work"), folder.path().join("outside"));
    create_dir_all(work.join("logs")).unwrap();
    create_dir(&outside).unwrap();
    write(outside.join("victim"), "before").unwrap();
    let mut reach = Reach::default();
    reach.add_plan(format!("require\0all\0write\0{}\0keep\0/x\0", work.display()).as_bytes());
    Scene { folder, work, outside, reach }
}

fn refusal(path: &Path, reach: &Reach) -> Refusal {
    open_for_writing(path, Existing::Empty, reach).unwrap_err()
}

impl Scene {
    fn victim(&self) -> String {
        read_to_string(self.outside.join("victim")).unwrap()
    }
}

#[test]
fn files_are_created_and_emptied_in_and_outside_the_reach_of_commands() {
    let scene = scene();
    for path in [scene.work.join("logs/out"), scene.outside.join("out")] {
        use std::io::Write;
        for text in ["longer", "short"] {
            let mut file = open_for_writing(&path, Existing::Empty, &scene.reach).unwrap();
            file.write_all(text.as_bytes()).unwrap();
        }
        assert_eq!(read(&path).unwrap(), b"short");
        let there = open_for_writing(&path, Existing::Refuse, &scene.reach).unwrap_err();
        assert_eq!(there, plain(Errno::EXIST));
    }
}

#[test]
fn a_link_at_the_end_is_not_followed_and_the_error_names_it() {
    let scene = scene();
    let victim = scene.outside.join("victim");
    for directory in [&scene.work, &scene.outside] {
        let path = directory.join("out.log");
        symlink(&victim, &path).unwrap();
        let why =
            format!("expected a file, got a link: '{}' -> '{}'", path.display(), victim.display());
        let expected = Refusal { errno: libc::ELOOP, why: Some(why) };
        assert_eq!(refusal(&path, &scene.reach), expected);
        assert_eq!(refusal(&path, &Reach::default()), expected);
    }
    assert_eq!(scene.victim(), "before");
}

#[test]
fn a_link_on_the_way_is_followed_only_above_the_reach_of_commands() {
    let scene = scene();
    let alias = scene.folder.path().join("alias");
    symlink(&scene.work, &alias).unwrap();
    open_for_writing(&alias.join("logs/out"), Existing::Empty, &scene.reach).unwrap();
    assert!(scene.work.join("logs/out").exists());
    // This includes a link that leads into the middle of the writable directory.
    let inner = scene.folder.path().join("inner");
    symlink(scene.work.join("logs"), &inner).unwrap();
    open_for_writing(&inner.join("again"), Existing::Empty, &scene.reach).unwrap();

    rename(scene.work.join("logs"), scene.work.join("moved")).unwrap();
    symlink(&scene.outside, scene.work.join("logs")).unwrap();
    for path in [scene.work.join("logs/victim"), alias.join("logs/victim"), inner.join("victim")] {
        let refused = refusal(&path, &scene.reach);
        assert_eq!(refused.errno, libc::ELOOP);
        assert!(refused.why.unwrap().contains("logs' -> '"), "{}", path.display());
        assert!(open_for_writing(&path, Existing::Refuse, &scene.reach).is_err());
    }
    assert_eq!(scene.victim(), "before");
}

#[test]
fn a_reach_named_by_a_link_holds_wherever_the_link_leads_later() {
    let mut scene = scene();
    let alias = scene.folder.path().join("alias");
    symlink(&scene.work, &alias).unwrap();
    scene.reach.add(&alias);
    let other = scene.folder.path().join("other");
    create_dir(&other).unwrap();
    symlink(&scene.outside, other.join("logs")).unwrap();
    remove_file(&alias).unwrap();
    symlink(&other, &alias).unwrap();
    assert_eq!(refusal(&alias.join("logs/victim"), &scene.reach).errno, libc::ELOOP);
    open_for_writing(&alias.join("out"), Existing::Empty, &scene.reach).unwrap();
    assert!(other.join("out").exists());
}

#[test]
fn special_files_are_neither_waited_for_nor_written_to() {
    let scene = scene();
    let path = scene.work.join("pipe");
    rustix::fs::mknodat(rustix::fs::CWD, &path, FileType::Fifo, MODE, 0).unwrap();
    let why = format!("expected a file, got a named pipe: '{}'", path.display());
    let expected = Refusal { errno: libc::ENXIO, why: Some(why) };
    assert_eq!(refusal(&path, &scene.reach), expected);
    let reader = open(&path, OFlags::RDONLY | OFlags::NONBLOCK, Mode::empty()).unwrap();
    assert_eq!(refusal(&path, &scene.reach), expected);
    // A FIFO of the user's own is written to, if it has a reader.
    open_for_writing(&path, Existing::Empty, &Reach::default()).unwrap();
    drop(reader);
    assert_eq!(refusal(&scene.work.join("logs"), &scene.reach), plain(Errno::ISDIR));
}

#[test]
fn names_of_own_descriptors_and_devices_are_opened_as_they_are() {
    let scene = scene();
    let file = std::fs::File::create(scene.work.join("mine")).unwrap();
    let number = std::os::fd::AsRawFd::as_raw_fd(&file);
    for path in ["/dev/null", "/dev/stderr"]
        .map(String::from)
        .into_iter()
        .chain(["/dev", "/proc/self"].map(|place| format!("{place}/fd/{number}")))
    {
        let ours = open_for_writing(Path::new(&path), Existing::Empty, &scene.reach);
        // Where standard error is a socket, nobody can open it by its name.
        let plain = std::fs::OpenOptions::new().write(true).open(&path);
        let refused = plain.err().and_then(|error| error.raw_os_error());
        assert_eq!(ours.err().map(|refusal| refusal.errno), refused, "{path}");
    }
}

#[test]
fn part_by_part_is_as_strict_as_at_once() {
    let scene = scene();
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    symlink(&scene.outside, scene.work.join("out")).unwrap();
    symlink(scene.outside.join("victim"), scene.work.join("end")).unwrap();
    symlink("logs", scene.work.join("inside")).unwrap();
    for (rest, opens) in [
        ("logs/new", true),
        ("new", true),
        ("end", false),
        ("out/new", false),
        ("inside/new", false),
        ("missing/new", false),
        ("../outside/victim", false),
        ("logs/../../outside/victim", false),
    ] {
        let held = open(&scene.work, DIRECTORY, Mode::empty()).unwrap();
        let at_once = open_at_once(held.as_fd(), Path::new(rest), flags);
        assert_eq!(at_once.is_ok(), opens, "{rest}");
        assert_eq!(open_by_parts(held, Path::new(rest), flags).is_ok(), opens, "{rest}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// The opened file lies below the directory, whatever links a command makes on the way.
    #[test]
    fn nothing_is_opened_outside(
        links in proptest::collection::vec((0usize..4, 0usize..6), 0..4),
        path in proptest::collection::vec(0usize..4, 1..5),
        fresh: bool,
    ) {
        let scene = scene();
        const NAMES: [&str; 4] = ["a", "b", "logs", ".."];
        create_dir_all(scene.work.join("a/b/logs")).unwrap();
        create_dir_all(scene.work.join("b/a")).unwrap();
        let targets = ["..", "../outside", "logs", "/", "../outside/victim", "a/b"];
        for (name, target) in links {
            let at = scene.work.join(NAMES[name]);
            let _ = rename(&at, scene.work.join("away")).and_then(|()| symlink(targets[target], &at));
        }
        let parts: PathBuf = path.into_iter().map(|part| NAMES[part]).collect();
        let mut reach = Reach::default();
        reach.add(&scene.work);
        for name in ["victim", "new"] {
            let existing = if fresh { Existing::Refuse } else { Existing::Empty };
            let opened = open_for_writing(&scene.work.join(&parts).join(name), existing, &reach);
            if let Ok(file) = opened {
                let number = std::os::fd::AsRawFd::as_raw_fd(&file);
                let real = std::fs::read_link(format!("/proc/self/fd/{number}")).unwrap();
                prop_assert!(real.starts_with(&scene.work), "{}", real.display());
            }
        }
        prop_assert_eq!(scene.victim(), "before");
    }
}

#[test]
fn who_swaps_a_directory_for_a_link_meanwhile_leads_nothing_outside() {
    let scene = scene();
    let (real, link, logs) =
        (scene.work.join("real"), scene.work.join("link"), scene.work.join("logs"));
    rename(&logs, &real).unwrap();
    symlink(&scene.outside, &link).unwrap();
    let over = AtomicBool::new(false);
    let opened = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                for one in [&real, &link] {
                    rename(one, &logs).unwrap();
                    rename(&logs, one).unwrap();
                }
            }
        });
        let tries = (0..3000).map(|number| logs.join(format!("{}", number % 7)));
        let opened = tries
            .filter(|path| open_for_writing(path, Existing::Empty, &scene.reach).is_ok())
            .count();
        over.store(true, Ordering::Relaxed);
        opened
    });
    assert!(opened > 0);
    assert_eq!(std::fs::read_dir(&scene.outside).unwrap().count(), 1);
}
