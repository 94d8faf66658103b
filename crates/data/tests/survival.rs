//! Survival times and sample weights, from columns of a table.

use crate::support::{assert_says, message, read_csv};
use fewest_core::Target;
use fewest_data::{Missing, ReadOptions, Table, TargetChoice, TargetSummary, Task};
use fewest_testkit::datasets;

fn survival(targets: &[&str]) -> ReadOptions {
    let targets = targets.iter().map(|name| (*name).to_owned()).collect();
    ReadOptions { target: TargetChoice::Columns(targets), task: Task::Survival, ..ReadOptions::default() }
}

fn weights(column: &str) -> ReadOptions {
    ReadOptions { weights: Some(column.to_owned()), ..ReadOptions::with_target("y") }
}

fn told(text: &str) -> (Vec<f64>, Vec<bool>) {
    let table = read_csv(text, &survival(&["t", "e"])).unwrap();
    let complete = table.complete(Missing::DropRows).unwrap();
    let Target::Survival(survival) = complete.dataset.target() else { panic!("no survival times") };
    (survival.times().to_vec(), survival.events().to_vec())
}

#[test]
fn a_time_and_an_event_are_survival() {
    let expected = (vec![5.0, 0.0, 2.5], vec![true, false, true]);
    assert_eq!(told("e,x,t\n1,7,5\n0,8,0\n1,9,2.5\n"), expected);
    assert_eq!(told("x,t,e\n7,5,dead\n8,0,alive\n9,2.5,Dead\n"), expected);
    assert_eq!(told("x,t,e\n7,5,TRUE\n8,0,FALSE\n9,2.5,TRUE\n"), expected);
    // A missing time or event is a missing value.
    assert_eq!(told("x,t,e\n7,5,1\n1,,1\n1,4,NA\n8,0,0\n9,2.5,1\n"), expected);
    let table =
        Table::read(datasets::path("heart_failure.csv"), &survival(&["time", "DEATH_EVENT"])).unwrap();
    assert_eq!((table.n_samples(), table.n_features()), (299, 11));
    let TargetSummary::Survival { time, event, n_events } = table.summary().target else { panic!() };
    assert_eq!((time.name.as_str(), event.as_str(), n_events), ("time", "DEATH_EVENT", 96));
}

#[test]
fn what_is_no_survival_says_why() {
    let says = |text: &str, targets: &[&str]| message(read_csv(text, &survival(targets)));
    let good = "x,t,e\n7,5,1\n8,4,0\n";
    assert_says(&says(good, &["t"]), &["one target column", "--target TIME,EVENT"]);
    assert_says(&says("x,t,e,z\n7,5,1,1\n8,4,0,2\n", &["t", "e", "x"]), &["name two target columns"]);
    assert_says(&says("x,t,e\n7,-5,1\n8,4,0\n", &["t", "e"]), &["`t`", "a time is -5", "at least 0"]);
    assert_says(&says("x,t,e\n7,5,2\n8,4,0\n", &["t", "e"]), &["`e`", "an event is 2", "1 for an event"]);
    assert_says(&says("x,t,e\n7,5,0\n8,4,0\n", &["t", "e"]), &["`e`", "no sample has an event"]);
    assert_says(&says("x,t,e\n7,5,maybe\n8,4,no\n", &["t", "e"]), &["`e`", "maybe", "1 for an event"]);
    // The two the wrong way round.
    assert_says(&says(good, &["e", "t"]), &["`t`", "an event is 5"]);
}

#[test]
fn a_column_of_weights_is_no_feature() {
    let text = "x,w,y\n1,2,3\n4,0,6\n,1,5\n7,0.5,9\n";
    let table = read_csv(text, &weights("w")).unwrap();
    let complete = table.complete(Missing::DropRows).unwrap();
    assert_eq!(complete.dataset.n_features(), 1);
    assert_eq!(complete.dataset.sample_weights(), Some([2.0, 0.0, 0.5].as_slice()));
    for (wrong, told) in [
        ("x,w,y\n1,-2,3\n4,1,6\n", ["line 2", "a weight is -2"]),
        ("x,w,y\n1,,3\n4,1,6\n", ["line 2", "the weight is missing"]),
        ("x,w,y\n1,0,3\n4,0,6\n", ["`w`", "every weight is 0"]),
        ("x,w,y\n1,heavy,3\n4,1,6\n", ["`w`", "heavy"]),
    ] {
        assert_says(&message(read_csv(wrong, &weights("w"))), &told);
    }
    assert_says(&message(read_csv(text, &weights("y"))), &["two roles"]);
}
