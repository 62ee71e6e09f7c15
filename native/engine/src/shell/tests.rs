use super::*;

fn script(shell: &str, text: &str) -> (String, bool) {
    let shells = [CString::new(shell).unwrap()];
    let (images, handover) = hand_over(&shells, text.as_bytes(), false);
    let last = images[0].argv.last().unwrap().to_str().unwrap().to_owned();
    (last, handover == Handover::Argument)
}

#[test]
fn a_single_plain_command_is_an_argument_so_that_bash_execs_it_in_place() {
    for text in ["ls", "git status --short", "FOO=1 make -j8", " true ", "-e"] {
        assert_eq!(script("/bin/bash", text), (text.to_owned(), true));
    }
}

#[test]
fn whatever_makes_bash_stay_is_kept_out_of_its_arguments() {
    let staying = ["a; b", "a | b", "a && b", "a &", "echo $X", "echo 'x'", "a\nb", "! a", "(a)"];
    let builtins = ["time make", "command ls", "eval ls", "coproc ls", ". x", "source x"];
    for text in staying.iter().chain(&builtins) {
        assert_eq!(script("/bin/bash", text), ("eval -- \"$_\"".to_owned(), false), "{text}");
    }
}

#[test]
fn a_shell_that_is_not_bash_gets_the_text_in_a_way_it_knows() {
    assert_eq!(script("/bin/sh", "a; b"), ("a; b".to_owned(), false));
    let (long, _) = script("/bin/sh", &"x;".repeat(100_000));
    assert!(long.contains("cat <&3"));
}

#[test]
fn a_shell_is_called_by_its_own_name() {
    for (path, name) in [("/bin/bash", "bash"), ("/bin/sh", "sh"), ("/usr/bin/zsh", "zsh")] {
        let (images, _) = hand_over(&[CString::new(path).unwrap()], b"a; b", false);
        assert_eq!(images[0].argv[0].to_str(), Ok(name));
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
fn a_shell_that_stays_is_never_given_a_command_to_exec_in_its_own_place() {
    let arguments = |shell: &str| -> Vec<String> {
        let (images, _) = hand_over(&[CString::new(shell).unwrap()], b"sudo -k", true);
        images[0].argv.iter().map(|argument| argument.to_str().unwrap().to_owned()).collect()
    };
    assert_eq!(arguments("/bin/bash"), ["bash", "-c", "--", "eval -- \"$_\""]);
    assert_eq!(arguments("/bin/sh"), ["sh", "-c", "--", "eval \"shift; $1\"", "sh", "sudo -k"]);
}
