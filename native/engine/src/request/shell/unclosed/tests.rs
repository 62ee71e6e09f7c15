use std::process::Command;

use proptest::prelude::{ProptestConfig, prop, proptest};
use proptest::sample::select;

use super::is_surely_unclosed;

const PIECES: [&str; 40] = [
    "a",
    " ",
    "\n",
    "'",
    "\"",
    "`",
    "\\",
    "$",
    "(",
    ")",
    "{",
    "}",
    "[[",
    "]]",
    "#",
    "$(",
    "${",
    "$((",
    "))",
    "((",
    ";",
    "&&",
    "|",
    "x=(",
    "${a#",
    "${#a}",
    "$#",
    "case",
    " in ",
    "esac",
    ";;",
    "if ",
    "then ",
    "fi",
    "$'",
    "\\'",
    "echo ",
    "<(",
    "==",
    "\n# it's\n",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn bash_refuses_each_text_that_is_taken_for_open(pieces in prop::collection::vec(select(&PIECES[..]), 1..14)) {
        let text = format!("true\n{}", pieces.concat());
        if is_surely_unclosed(text.as_bytes()) {
            // The exit code of a text with a mistake may be 0: `true`, and `[[ )` in the next line.
            let checked = Command::new("bash")
                .args(["--norc", "-O", "extglob", "-n", "-c", &text])
                .output();
            assert!(!checked.unwrap().stderr.is_empty(), "{text}");
        }
    }
}

#[test]
fn what_stays_open_is_found() {
    let open = [
        "echo \"x",
        "echo 'x",
        "echo $'x\\'",
        "echo `ls",
        "echo ${a",
        "echo $((1+",
        "((1+",
        "[[ a == b",
        "true && [[ a == $b",
        "echo \"$(date",
        "echo \"a $(echo 'b) \"",
        "a=(1 2",
        "(ls",
        "if true; then\necho \"x",
        "# it's\necho \"x",
        "echo a#'b",
    ];
    for end in open {
        assert!(is_surely_unclosed(format!("false\n{end}").as_bytes()), "{end}");
        assert!(!is_surely_unclosed(end.replace('\n', ";").as_bytes()), "one line: {end}");
    }
}

#[test]
fn complete_texts_are_never_taken_for_open() {
    let complete = [
        "echo it\\'s",
        "# it's",
        "echo a # it's",
        "cat <<E\nit's\nE",
        "cat <<'E'\n\"\nE",
        "echo \"it's\"",
        "echo '\"'",
        "echo \"$(echo \"x\")\"",
        "echo \"${a:-\"b\"}\"",
        "echo ${a#'}'}",
        "echo $#",
        "echo ${#a}",
        "echo $((16#ff))",
        "echo $'it\\'s'",
        "case x in x) echo ;; esac",
        "case x in (x) echo ;; esac",
        "echo $(case x in x) echo y;; esac)",
        "[[ a == b ]]",
        "echo [[ a",
        "[[ a b",
        "[[ a",
        "[[ a == b c",
        "[[ -f x ]] || [[ y ]]",
        "echo \"`echo \\\"x\\\"`\"",
        "( (a); (b) )",
        "((a); b\n)",
        "echo \"${a//\\\"/'}\"",
        "echo \"${a#'\"'}\"",
        "f() { a; }",
        "a=(1 # it's\n2)",
        "[[ a =~ ^(b|c)$ ]]",
        "echo $(echo ')')",
        "echo \"a\\\"b\"",
        "echo \\\n# it's",
    ];
    for text in complete {
        assert!(!is_surely_unclosed(format!("false\n{text}").as_bytes()), "{text}");
        assert!(!is_surely_unclosed(format!("{text}\nfalse").as_bytes()), "{text}");
    }
}

#[test]
fn deep_nesting_is_left_alone() {
    assert!(!is_surely_unclosed(["\n", &"$(".repeat(40_000)].concat().as_bytes()));
    assert!(!is_surely_unclosed(["\n", &"\"${".repeat(30_000)].concat().as_bytes()));
}
