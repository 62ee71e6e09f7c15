use super::*;

/// What the table of options says of this far side: see src/options/roads.ts.
fn treatments() -> Options {
    serde_json::from_str(include_str!("../../../options.json")).unwrap()
}

#[test]
fn the_options_are_those_of_the_table() {
    let treatments = treatments();
    let mut told: Vec<_> = treatments.keys().map(String::as_str).collect();
    told.sort_unstable();
    let mut known = NAMES;
    known.sort_unstable();
    assert_eq!(told, known);
}

#[test]
fn an_option_that_is_refused_is_refused_by_its_name() {
    for (name, _) in treatments().iter().filter(|(_, treatment)| *treatment == "refused") {
        let given = [(name.clone(), Value::from("x"))].into_iter().collect();
        let refusal = refuse(&given).unwrap_err();
        assert!(format!("{refusal:?}").contains(name.as_str()), "{refusal:?}");
    }
}
