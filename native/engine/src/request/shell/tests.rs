use super::*;

/// Returns the arguments of the one image for a shell, without its name, and the way in which the text
/// reaches it.
fn handed(shell: &str, text: &str, environment: &str, tail_exec: TailExec) -> (Vec<String>, Way) {
    let shells = [CString::new(shell).unwrap()];
    let handover = hand_over(&shells, text.as_bytes(), environment.as_bytes(), tail_exec).unwrap();
    let argv = handover.images[0].argv[1..].iter();
    let argv = argv.map(|argument| argument.to_str().unwrap().to_owned()).collect();
    let way = match (handover.sealed, handover.script) {
        (None, None) => Way::Argument,
        (Some(parts), None) => {
            assert_eq!(parts.concat(), [b"@:", text.as_bytes()].concat());
            Way::Variable
        }
        (None, Some(script)) => {
            assert_eq!(script, text.as_bytes());
            Way::Script
        }
        both => panic!("{both:?}"),
    };
    (argv, way)
}

fn way_of(shell: &str, text: &str, environment: &str) -> Way {
    handed(shell, text, environment, TailExec::Allowed).1
}

#[test]
fn a_single_plain_command_is_an_argument_so_that_bash_execs_it_in_place() {
    for text in ["ls", "git status --short", "FOO=1 make -j8", " true ", "-e"] {
        let (argv, way) = handed("/bin/bash", text, "", TailExec::Allowed);
        assert_eq!(
            (argv, way),
            (vec!["--norc".into(), "-c".into(), "--".into(), text.into()], Way::Argument)
        );
    }
}

#[test]
fn commands_that_make_bash_stay_are_kept_out_of_its_arguments() {
    let staying = ["a; b", "a | b", "a && b", "a &", "echo $X", "echo 'x'", "a\nb", "! a", "(a)"];
    let builtins = ["time make", "command ls", "eval ls", "coproc ls", ". x", "source x"];
    for text in staying.iter().chain(&builtins) {
        let (argv, way) = handed("/bin/bash", text, "", TailExec::Allowed);
        assert_eq!((argv.last().unwrap().as_str(), way), (FROM_VARIABLE, Way::Variable), "{text}");
    }
}

#[test]
fn variables_that_run_code_first_make_the_text_an_argument() {
    let code = ["BASH_ENV=/x", "BASHOPTS=extdebug", "BASH_FUNC_eval%%=() { :; }"];
    let options = ["SHELLOPTS=xtrace", "POSIXLY_CORRECT=", "BASH_COMPAT=4.0"];
    for entry in code.iter().chain(&options) {
        let environment = format!("A=1\0{entry}\0B=2");
        assert_eq!(way_of("/bin/bash", "a; b", &environment), Way::Argument, "{entry}");
        let longest = "x;".repeat(LONGEST_ARGUMENT / 2);
        assert_eq!(way_of("/bin/bash", &longest, &environment), Way::Argument, "{entry}");
    }
    let harmless = ["ENV=/x", "MY_BASH_ENV=/x", "A=BASH_ENV=/x", "BASH_ENVX=1", "PS4=+"];
    for entry in harmless {
        assert_eq!(way_of("/bin/bash", "a; b", entry), Way::Variable, "{entry}");
    }
}

#[test]
fn a_text_too_long_for_an_argument_goes_no_unsafe_way() {
    let text = "x;".repeat(LONGEST_ARGUMENT);
    for entry in ["BASH_ENV=/x", "BASHOPTS=extdebug", "BASH_FUNC_eval%%=() { :; }"] {
        let refused = hand_over(
            &[c"/bin/bash".to_owned()],
            text.as_bytes(),
            entry.as_bytes(),
            TailExec::Allowed,
        );
        let name = entry.split('=').next().unwrap().to_owned();
        assert_eq!(refused, Err(TooLong { beside: name, length: text.len() }));
        assert_eq!(way_of("/bin/sh", &text, entry), Way::Script);
    }
    assert_eq!(way_of("/bin/bash", &text, "SHELLOPTS=pipefail"), Way::Script);
    assert_eq!(way_of("/bin/bash", &text, ""), Way::Script);
}

#[test]
fn a_shell_that_is_not_bash_gets_the_text_in_a_way_it_knows() {
    assert_eq!(handed("/bin/sh", "a; b", "", TailExec::Allowed).0, ["-c", "--", "a; b"]);
    let (long, way) = handed("/bin/sh", &"x;".repeat(100_000), "", TailExec::Allowed);
    assert_eq!((long.last().unwrap().as_str(), way), (FROM_SCRIPT_BY_CAT, Way::Script));
}

#[test]
fn each_shell_is_told_to_read_no_start_up_file() {
    for (path, expected) in [
        ("/none/bash", vec!["--norc", "-c", "--", "a; b"]),
        ("/none/bash-5.3", vec!["--norc", "-c", "--", "a; b"]),
        ("/none/rbash", vec!["--norc", "-c", "--", "a; b"]),
        ("/none/zsh", vec!["-f", "-c", "--", "a; b"]),
        ("/none/fish", vec!["--no-config", "-c", "a; b"]),
        ("/none/tcsh", vec!["-f", "-c", "a; b"]),
        ("/none/dash", vec!["-c", "--", "a; b"]),
    ] {
        assert_eq!(
            handed(path, "a; b", "", TailExec::Allowed),
            (owned(&expected), Way::Argument),
            "{path}"
        );
    }
}

fn owned(arguments: &[&str]) -> Vec<String> {
    arguments.iter().map(|&argument| argument.to_owned()).collect()
}

#[test]
fn bash_is_recognised_through_links_but_not_as_sh_or_as_a_script_of_its_name() {
    use std::os::unix::fs::symlink;
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    symlink("/bin/bash", at("bash")).unwrap();
    symlink(at("bash"), at("mine")).unwrap();
    symlink("/bin/bash", at("sh")).unwrap();
    symlink("/bin/busybox", at("bash-5")).unwrap();
    std::fs::create_dir(at("wrapped")).unwrap();
    std::fs::write(at("wrapped/bash"), "#!/bin/sh\nexec /bin/bash \"$@\"\n").unwrap();
    for (name, quiet, way) in [
        ("bash", true, Way::Variable),
        ("mine", true, Way::Variable),
        ("sh", false, Way::Argument),
        ("wrapped/bash", true, Way::Argument),
    ] {
        let (argv, found) = handed(at(name).to_str().unwrap(), "a; b", "", TailExec::Allowed);
        assert_eq!((argv[0] == "--norc", found), (quiet, way), "{name}");
    }
}

#[test]
fn shells_after_the_first_that_exists_get_the_text_as_an_argument() {
    let shells = [c"/none/bash".to_owned(), c"/bin/bash".to_owned(), c"/bin/sh".to_owned()];
    let handover = hand_over(&shells, b"a; b", b"", TailExec::Allowed).unwrap();
    let last = |index: usize| handover.images[index].argv.last().unwrap().to_str().unwrap();
    assert_eq!([last(0), last(1), last(2)], ["a; b", FROM_VARIABLE, "a; b"]);
    assert_eq!(handover.sealed, Some([b"@:".as_slice(), b"a; b"]));
}

#[test]
fn a_shell_is_called_by_its_own_name() {
    for (path, name) in [("/bin/bash", "bash"), ("/bin/sh", "sh"), ("/usr/bin/zsh", "zsh")] {
        let handover =
            hand_over(&[CString::new(path).unwrap()], b"a; b", b"", TailExec::Allowed).unwrap();
        assert_eq!(handover.images[0].argv[0].to_str(), Ok(name));
    }
}

#[test]
fn the_usual_shells_are_bash_wherever_it_is_and_then_sh() {
    let paths = |environment: &[u8]| -> Vec<String> {
        usual(environment).into_iter().map(|path| path.into_string().unwrap()).collect()
    };
    assert_eq!(paths(b"A=b"), ["/bin/bash", "/bin/sh"]);
    let expected = ["/bin/bash", "/opt/x/bash", "/usr/bin/bash", "/bin/sh"];
    assert_eq!(paths(b"XPATH=/no\0PATH=/opt/x::rel:/usr/bin\0B=c"), expected);
}

#[test]
fn without_tail_exec_no_text_ends_with_a_command_that_the_shell_would_exec() {
    let last = |shell: &str, text: &str, environment: &str| {
        handed(shell, text, environment, TailExec::Forbidden).0.last().unwrap().clone()
    };
    assert_eq!(last("/bin/bash", "sudo -k", ""), FROM_VARIABLE);
    let (argv, _) = handed("/bin/sh", "sudo -k", "", TailExec::Forbidden);
    assert_eq!(argv, ["-c", "--", "eval \"shift; $1\"", "sh", "sudo -k"]);
    assert_eq!(last("/bin/bash", "a && sudo -k", "BASH_ENV=/x"), "a && sudo -k\n\n");
    // Empty lines would become part of these.
    for text in ["cat <<E\nx", "echo a\\"] {
        assert_eq!(last("/bin/bash", text, "BASH_ENV=/x"), text);
    }
}
