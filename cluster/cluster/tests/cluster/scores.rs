//! The scores of a cluster are those of memory, with the same bits.

use std::path::Path;

use crate::processes::{Machines, error, json, score};
use crate::tables::{Rows, comparable, scores_in_memory};

/// Methods with their parameters, and the columns of the target and of what is left out.
type Case = (&'static str, &'static [&'static str], (&'static str, &'static str));

const CLASS: (&str, &str) = ("class", "real");
const REAL: (&str, &str) = ("real", "class");

/// With p-values: F, chi-squared and correlation.
const METHODS: &[Case] = &[
    ("f-score", &[], CLASS),
    ("chi2", &["bins=5"], CLASS),
    ("correlation", &[], REAL),
    ("mim", &["discretisation=equal-frequency"], CLASS),
    ("hsic", &[], CLASS),
];

fn arguments((method, parameters, (target, ignored)): Case) -> Vec<&'static str> {
    let mut arguments = vec!["--method", method, "--target", target, "--ignore", ignored];
    parameters.iter().for_each(|parameter| arguments.extend(["-p", parameter]));
    arguments
}

fn expected(path: &Path, (method, parameters, columns): Case) -> String {
    comparable(scores_in_memory(path, columns, method, parameters))
}

#[test]
fn the_document_is_that_of_memory_for_any_files_tasks_and_executors() {
    let folder = tempfile::tempdir().unwrap();
    let two = folder.path().join("two");
    std::fs::create_dir(&two).unwrap();
    let paths = [1, 3, 17].map(|parts| Rows::new(30_011).write(folder.path(), parts));
    let of_two = [1, 3, 17].map(|parts| Rows::new(30_011).of_two_classes().write(&two, parts));
    let t_score = ("t-score", &[][..], CLASS);
    let mut cases: Vec<_> = METHODS.iter().map(|case| (*case, &paths, expected(&paths[0], *case))).collect();
    cases.push((t_score, &of_two, expected(&of_two[0], t_score)));
    for (case, _, expected) in &cases[..3] {
        assert!(expected.contains("p_value"), "{case:?}");
    }
    let mut machines = Machines::start(1, &[]);
    for tasks in [["3", "1", "64"], ["64", "3", "5"]] {
        for (case, paths, expected) in &cases {
            for (path, tasks) in paths.iter().zip(tasks) {
                let found = machines.scores(path, &[&arguments(*case)[..], &["--tasks", tasks]].concat());
                let executors = machines.executors.len();
                assert_eq!(&comparable(found), expected, "{case:?} {} {executors}", path.display());
            }
        }
        machines.join(&[]);
    }
}

/// A constant has no p-value, squares that overflow are summed again, rows with gaps are left out, and text
/// is read from its start.
#[test]
fn values_of_any_size_gaps_and_text_have_the_same_bits() {
    let folder = tempfile::tempdir().unwrap();
    let mut rows = Rows::new(9500);
    rows.numbers[2].iter_mut().for_each(|value| *value *= 1e200);
    rows.numbers[7].fill(3.25);
    let csv = folder.path().join("table.csv");
    rows.write_csv(&csv);
    let sized = rows.write(folder.path(), 3);
    (0..9500).filter(|i| i % 11 == 4).for_each(|i| rows.numbers[i % 5][i] = f64::NAN);
    let gaps = rows.write(folder.path(), 1);
    let machines = Machines::start(1, &[]);
    for case in [METHODS[0], METHODS[2], ("variance", &[][..], CLASS)] {
        for (path, more) in [(&sized, &[][..]), (&csv, &[]), (&gaps, &["--missing", "drop-rows"])] {
            let expected = expected(path, case);
            let found = machines.scores(path, &[&arguments(case)[..], more].concat());
            assert_eq!(comparable(found), expected, "{case:?} {}", path.display());
        }
    }
}

/// q-values are those of all features, in the document and the table; sums that were kept serve any number.
#[test]
fn the_best_are_the_first_of_all() {
    let folder = tempfile::tempdir().unwrap();
    let path = Rows::new(9500).write(folder.path(), 3);
    let kept = folder.path().join("kept");
    let resume = [&arguments(METHODS[1])[..], &["--resume", kept.to_str().unwrap()]].concat();
    let machines = Machines::start(1, &[]);
    let mut expected = scores_in_memory(&path, CLASS, METHODS[1].0, METHODS[1].1);
    assert_eq!(comparable(machines.scores(&path, &resume)), comparable(expected.clone()));
    expected["features"].as_array_mut().unwrap().truncate(2);
    for option in ["--top", "-k", "--k"] {
        let best = [&resume[..], &[option, "2"]].concat();
        // No scheduler is asked.
        let found = score("127.0.0.1:9", &path, &[&best[..], &["--json", "-"]].concat());
        assert_eq!(comparable(json(&found)), comparable(expected.clone()), "{option}");
    }
    let document = folder.path().join("best.json");
    let best = ["--top", "2", "--json", document.to_str().unwrap()];
    let told = score("127.0.0.1:9", &path, &[&resume[..], &best].concat());
    let told = String::from_utf8(told.stdout).unwrap();
    assert_eq!(told.lines().count(), 4, "{told}");
    assert!(told.contains("chi2: 0 passes after 2 passes of --resume over 9500 rows"), "{told}");
    let written = serde_json::from_slice(&std::fs::read(&document).unwrap()).unwrap();
    assert_eq!(comparable(written), comparable(expected));
}

#[test]
fn what_gives_no_scores_says_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let path = Rows::new(100).write(folder.path(), 1);
    // Nobody is asked.
    let told = |arguments: &[&str]| error(&score("127.0.0.1:9", &path, arguments));
    let of = |method| told(&["--method", method, "--target", "class", "--ignore", "real"]);

    let selector = of("mrmr");
    let expected = "--method: mrmr selects features together and gives no score for each: use `fewest-cluster \
                    select`, or one of the scores ";
    assert!(selector.contains(expected), "{selector}");
    let scores: Vec<&str> = selector.rsplit_once("scores ").unwrap().1.split(", ").collect();
    assert!(scores.contains(&"t-score") && scores.contains(&"hsic"), "{selector}");
    assert!(!["mrmr", "lasso", "fsds"].iter().any(|other| scores.contains(other)), "{selector}");
    let in_memory = of("l21");
    assert!(in_memory.contains("use `fewest select`"), "{in_memory}");

    for unable in ["laplacian", "fsds", "f-skore"] {
        let unable_told = of(unable);
        assert!(unable_told.contains(&format!("{unable} does not run on a cluster")), "{unable_told}");
        assert!(unable_told.contains("`fewest score`") && !unable_told.contains("mrmr"), "{unable_told}");
    }

    let f_score = ["--method", "f-score", "--target", "class", "--ignore", "real"];
    let with = |more: &[&str]| told(&[&f_score[..], more].concat());
    let significant = with(&["-p", "alpha=0.01"]);
    assert!(significant.contains("leave out --param alpha=0.01"), "{significant}");
    let parameter = with(&["-p", "bins=5"]);
    assert!(parameter.contains("f-score") && parameter.contains("bins"), "{parameter}");
    let value = told(&["--method", "chi2", "--target", "class", "-p", "bins=1"]);
    assert!(value.contains("bins"), "{value}");
    for number in ["0", "-1", "x", "1.5", "99999999999999999999"] {
        let top = with(&[&format!("--top={number}")]);
        assert!(top.contains("--top") && top.contains("a whole number of at least 1"), "{top}");
    }
    let target = told(&["--method", "f-score", "--target", "klass"]);
    assert!(target.contains("klass"), "{target}");
}

/// What only executors see: classes that the method does not take, and a value that is not finite.
#[test]
fn what_rows_do_not_allow_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let mut rows = Rows::new(20_000);
    let path = rows.write(folder.path(), 3);
    let machines = Machines::start(1, &[]);
    let told = error(&machines.score(&path, &arguments(("t-score", &[], CLASS))));
    assert!(told.contains("two classes") && told.contains("3 classes"), "{told}");
    rows.numbers[3][17_000] = f64::INFINITY;
    let path = rows.write(folder.path(), 1);
    let told = error(&machines.score(&path, &arguments(METHODS[0])));
    assert!(told.contains("x3") && told.contains("17000"), "{told}");
    let more = [&arguments(METHODS[0])[..], &["--top", "99"]].concat();
    let all = machines.scores(&Rows::new(9000).write(folder.path(), 1), &more);
    assert_eq!(all["features"].as_array().unwrap().len(), crate::tables::FEATURES);
}
