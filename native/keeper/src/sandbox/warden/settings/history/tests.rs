use std::fs;
use std::process::Command;

use super::*;

/// A repository, and its git.
struct Scene {
    folder: tempfile::TempDir,
}

impl Scene {
    fn new(format: &str) -> Scene {
        let scene = Scene { folder: tempfile::tempdir().unwrap() };
        scene.git(&["init", "-q", "-b", "main", "--object-format", format]);
        scene
    }

    fn git(&self, arguments: &[&str]) -> String {
        let mut git = Command::new("git");
        git.current_dir(self.folder.path()).args(["-c", "user.name=a", "-c", "user.email=a@b"]);
        git.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
        let output = git.args(arguments).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn commit(&self) -> Id {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", "one"]);
        self.git(&["rev-parse", "HEAD"])
    }

    fn history(&self, tips: &[Id]) -> History {
        let names = [".npmrc", ".vscode", "part/.npmrc"].map(PathBuf::from).to_vec();
        let program = ["/usr/bin/git", "/bin/git", "/usr/local/bin/git"].map(Path::new);
        let program = program.into_iter().find(|path| path.exists()).unwrap();
        History::new(program, &self.folder.path().join(".git"), names, tips)
    }
}

fn has(history: &mut History, path: &str, content: &str) -> bool {
    history.has(Path::new(path), Mode::File, content.as_bytes())
}

#[test]
fn what_commits_had_is_known_by_path_and_content() {
    for format in ["sha1", "sha256"] {
        let scene = Scene::new(format);
        scene.write("part/.npmrc", "first\n");
        scene.write(".vscode/deep/a.json", "a\n");
        scene.commit();
        scene.write("part/.npmrc", "second\n");
        fs::remove_dir_all(scene.folder.path().join(".vscode")).unwrap();
        let tip = scene.commit();
        scene.write(".npmrc", "later\n");
        scene.commit();
        let mut history = scene.history(&[tip]);
        for content in ["first\n", "second\n", "first\r\n"] {
            assert!(has(&mut history, "part/.npmrc", content), "{format} {content}");
        }
        assert!(has(&mut history, ".vscode/deep/a.json", "a\n"));
        // Another content, at another path, or in a later commit alone.
        let others = [("part/.npmrc", "third\n"), (".vscode/a.json", "a\n"), (".npmrc", "later\n")];
        for (path, content) in others {
            assert!(!has(&mut history, path, content), "{format} {path}");
        }
        assert!(!history.has(Path::new("part/.npmrc"), Mode::Program, b"first\n"));
        let path = Path::new;
        assert!(history.knows(path("part/.npmrc")) && !history.knows(path(".npmrc")));
        assert!(history.has_directory(path(".vscode")) && !history.knows(path(".vscode")));
        assert!(history.has_directory(path(".vscode/deep")));
        assert_eq!(history.lacks_within(path(".vscode/deep/a.json"), LONGEST), Some(true));
        assert_eq!(history.lacks_within(path(".npmrc"), LONGEST), Some(true));
        assert_eq!(history.lacks_within(path("part/.npmrc"), LONGEST), Some(false));
    }
}

#[test]
fn an_object_with_anothers_name_is_none() {
    let scene = Scene::new("sha1");
    scene.write(".npmrc", "mine\n");
    let tip = scene.commit();
    scene.write(".npmrc", "theirs\n");
    let other = scene.commit();
    let file = |id: &str| {
        let (first, rest) = id.split_at(2);
        scene.folder.path().join(".git/objects").join(first).join(rest)
    };
    // The commit of the user's is replaced by another one.
    fs::remove_file(file(&tip)).unwrap();
    fs::copy(file(&other), file(&tip)).unwrap();
    let mut history = scene.history(&[tip]);
    assert!(!has(&mut history, ".npmrc", "theirs\n") && !has(&mut history, ".npmrc", "mine\n"));
}

#[test]
fn replaced_objects_and_grafts_do_not_count() {
    let scene = Scene::new("sha1");
    scene.write(".npmrc", "mine\n");
    let tip = scene.commit();
    scene.write(".npmrc", "theirs\n");
    let other = scene.commit();
    scene.git(&["replace", &tip, &other]);
    scene.write(".git/info/grafts", &format!("{tip} {other}\n"));
    let mut history = scene.history(&[tip]);
    assert!(has(&mut history, ".npmrc", "mine\n") && !has(&mut history, ".npmrc", "theirs\n"));
}

#[test]
fn a_tag_leads_to_its_commit() {
    let scene = Scene::new("sha1");
    scene.write(".npmrc", "mine\n");
    scene.commit();
    scene.git(&["tag", "-a", "-m", "one", "one"]);
    let tag = scene.git(&["rev-parse", "one"]);
    assert!(has(&mut scene.history(&[tag]), ".npmrc", "mine\n"));
    assert!(!has(&mut scene.history(&[]), ".npmrc", "mine\n"));
}

#[test]
fn what_lay_there_counts_as_what_commits_have() {
    for (format, kind) in [("sha1", 40), ("sha256", 64)] {
        let scene = Scene::new(format);
        scene.write(".npmrc", "mine\n");
        let tip = scene.commit();
        let id = id_of(ObjectKind::Blob, b"own\n", kind).unwrap();
        let present = (".npmrc".into(), Entry::parse(&format!("100644 {id}")).unwrap());
        let mut history = scene.history(&[tip]).with([present].into_iter());
        assert!(has(&mut history, ".npmrc", "own\n") && has(&mut history, ".npmrc", "mine\n"));
        assert!(!has(&mut history, "part/.npmrc", "own\n"));
        assert!(!history.has(Path::new(".npmrc"), Mode::Program, b"own\n"));
    }
}
