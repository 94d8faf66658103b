//! Calls of `fewest evaluate` and `fewest compare` that are wrong: exit status 2, one line, and no file left
//! behind.

use crate::common::{Place, words};

#[test]
fn wrong_calls() {
    let place = Place::with_table();
    place.write("gaps.csv", "a,b,class\n1,,u\n2,,v\n1,,u\n,,v\n");
    for (call, told) in [
        ("evaluate", &["<DATA>"][..]),
        ("evaluate table.csv --method mrmrr", &["did you mean `mrmr`?"]),
        ("evaluate table.csv --learner svn", &["`learner` is svn", "did you mean `svm`?"]),
        ("evaluate table.csv --learner zzzzzzzz", &["linear-svm, decision-tree"]),
        (
            "evaluate table.csv --learner knn --learner-param neighbors=3",
            &["it takes neighbours", "did you mean"],
        ),
        (
            "evaluate table.csv --learner knn --learner-param neighbours=0",
            &["`neighbours` is 0", "at least 1"],
        ),
        ("evaluate table.csv --learner kernel-ridge --learner-param c=1", &["`c`", "it takes no parameters"]),
        ("evaluate table.csv --learner svm", &["--learner: linear-svm", "a real output", "kernel-ridge"]),
        ("evaluate table.csv --metric acuracy", &["`metric` is acuracy", "did you mean `accuracy`?"]),
        ("evaluate table.csv --metric accuracy", &["--metric: accuracy", "mse", "--task"]),
        ("evaluate table.csv --metric mse,q2,mse", &["--metric: mse is listed twice"]),
        ("evaluate table.csv -k 0", &["at least 1"]),
        ("evaluate table.csv -k 6", &["-k is 6", "number of features, 5"]),
        ("evaluate table.csv -k 1-18446744073709551615", &["-k is", "number of features, 5"]),
        ("evaluate table.csv -k 4-2", &["1-10"]),
        ("evaluate table.csv --folds 1", &["--folds is 1", "from 2 to the number of samples, 60"]),
        ("evaluate table.csv --folds 61", &["--folds is 61", "number of samples, 60"]),
        ("evaluate table.csv --folds 0", &["--folds is 0"]),
        ("evaluate table.csv --repeats 0", &["--repeats", "at least once"]),
        ("evaluate table.csv --repeats 18446744073709551615", &["--repeats", "1 GiB"]),
        ("evaluate table.csv --test-share 0.5 --repeats 99999999", &["--repeats", "1 GiB"]),
        ("evaluate table.csv --test-share 1", &["--test-share is 1", "below 1"]),
        ("evaluate table.csv --test-share nan", &["--test-share is NaN"]),
        ("evaluate table.csv --test-share 0.5 --folds 3", &["--folds", "--test-share"]),
        ("evaluate table.csv --group-column lien", &["did you mean `line`?"]),
        ("evaluate table.csv --group-column outcome", &["outcome"]),
        ("evaluate table.csv --group-column fixed", &["groups of samples", "at least 2"]),
        ("evaluate table.csv --group-column line --repeats 3", &["--repeats", "--folds"]),
        ("evaluate gaps.csv --missing mean", &["gaps.csv", "`b` (1, counted from 0) has no value"]),
        ("evaluate table.csv --method chi2", &["chi2 needs classes", "a real output", "--task"]),
        ("evaluate table.csv -p sigma_z=1", &["`sigma_z`"]),
        ("evaluate table.csv --resume none/x.json", &["--resume", "none"]),
        ("evaluate table.csv --resume table.csv", &["--resume", "input file"]),
        ("evaluate table.csv --resume x --json x", &["same file"]),
        ("compare table.csv", &["--methods"]),
        ("compare table.csv -m hsic", &["at least two"]),
        ("compare table.csv -m hsic,nocco,hsic", &["hsic is listed twice"]),
        ("compare table.csv -m hsic,nocc", &["did you mean `nocco`?"]),
        ("compare table.csv -m hsic,fisher", &["fisher needs classes"]),
        ("compare table.csv -m hsic,nocco -p sigma_x=1", &["ID.NAME=VALUE", "hsic.sigma_x=1"]),
        ("compare table.csv -m hsic,nocco -p mrmr.bins=1", &["`mrmr` is not compared"]),
    ] {
        place.refuses(&words(call), told);
    }
    // Nothing is wrong, but there is nothing to tell.
    let late = place.run(&words("evaluate table.csv --time-limit 1e-9"));
    assert_eq!((late.status, late.stdout.as_str()), (124, ""));
    assert!(late.stderr.starts_with("fewest: --time-limit: ") && late.stderr.contains("more time"));
}

#[test]
fn wrong_data() {
    let place = Place::new();
    let rows = |class: fn(usize) -> &'static str| -> String {
        (0..20).map(|i| format!("{i},{},{}\n", i * 7 % 11, class(i))).collect()
    };
    for (name, content, told) in [
        (
            "single.csv",
            rows(|i| {
                if i == 3 {
                    "c"
                } else if i % 2 == 0 {
                    "a"
                } else {
                    "b"
                }
            }),
            &["class `c` has 1 sample"][..],
        ),
        ("one.csv", rows(|_| "a"), &["every sample is of class `a`"]),
        ("same.csv", rows(|_| "0.5"), &["same.csv", "the same in every sample"]),
        ("gap.csv", rows(|i| if i == 3 { "" } else { "0.5" }), &["gap.csv", "line 5", "`y`"]),
        (
            "nan.csv",
            rows(|i| if i % 2 == 0 { "a" } else { "b" }).replace("\n5,", "\nNaN,"),
            &["nan.csv", "line 7", "`a`"],
        ),
    ] {
        place.write(name, &format!("a,b,y\n{content}"));
        place.refuses(&["evaluate", name, "-k", "1", "--method", "variance"], told);
        place.refuses(&["compare", name, "-k", "1", "-m", "variance,f-score"], told);
    }
    place.write("group.csv", &format!("a,b,y\n{}", rows(|i| if i == 4 { "" } else { "a" })));
    place.refuses(
        &["evaluate", "group.csv", "-t", "b", "-m", "variance", "--group-column", "y"],
        &["group.csv", "y"],
    );
}

#[test]
fn a_fold_that_fails_is_named() {
    let place = Place::with_table();
    // One test sample has no variance to measure the error in.
    let call =
        ["evaluate", "table.csv", "-m", "f-score", "-k", "1", "-l", "knn", "--metric", "q2", "--folds", "60"];
    place.refuses(&call, &["table.csv: f-score: fold ", " of 60 ", "q2 with 1 feature", "at least 2"]);
}

#[test]
fn files_that_hold_no_folds_of_this_evaluation() {
    let place = Place::with_table();
    let call = ["evaluate", "table.csv", "-m", "f-score", "-k", "1,2", "--folds", "3", "--learner", "knn"];
    place.done(&[&call[..], &["--resume", "folds.json"]].concat());
    let whole = place.read("folds.json");
    let with = |change: &[&'static str]| -> Vec<&'static str> {
        let mut call = vec!["evaluate", "table.csv", "-m", "f-score", "--resume", "folds.json"];
        for (option, value) in [("-k", "1,2"), ("--folds", "3"), ("--learner", "knn")] {
            if !change.contains(&option) {
                call.extend([option, value]);
            }
        }
        call.extend(change);
        call
    };
    for (change, told) in [
        (&["--seed", "1"][..], "another seed"),
        (&["-k", "1"], "other numbers of features"),
        (&["--learner", "kernel-ridge"], "another learner"),
        (&["--learner-param", "neighbours=3"], "another --learner-param"),
        (&["--metric", "q2"], "other metrics"),
        (&["--folds", "4"], "another division"),
        (&["--ignore", "copy"], "other data"),
    ] {
        place.refuses(&with(change), &["--resume folds.json", "another evaluation", told]);
        assert_eq!(place.read("folds.json"), whole);
    }
    for broken in [
        "{}".to_owned(),
        "[1, 2".to_owned(),
        "\n".to_owned(),
        whole[1..].to_owned(),
        whole.replace("\"sha256\"", "\"sha1\""),
        "[null]".to_owned(),
    ] {
        place.write("broken.json", &broken);
        place.refuses(
            &[&call[..], &["--resume", "broken.json"]].concat(),
            &["--resume broken.json", "line 1: ", "not written by this program", "name a new file"],
        );
        assert_eq!(place.read("broken.json"), broken, "it is left as it was");
    }
    for odd in [
        whole.replacen("\"features\":[", "\"features\":[0,", 1),
        whole.replacen("\"fold\":2", "\"fold\":1", 1),
        whole.replacen("\"scores\":[", "\"scores\":[1", 1),
    ] {
        assert_ne!(odd, whole);
        place.write("odd.json", &odd);
        place.refuses(
            &[&call[..], &["--resume", "odd.json"]].concat(),
            &["--resume", "changed after it was written", "name a new file"],
        );
    }
    // An empty file, as `mktemp` makes one, is as good as none.
    place.write("new.json", "");
    place.done(&[&call[..], &["--resume", "new.json"]].concat());
    assert_eq!(place.read("new.json").lines().count(), 9);
    #[cfg(target_os = "linux")]
    for device in ["/dev/full", "/dev/zero"] {
        place.refuses(&[&call[..], &["--resume", device]].concat(), &["--resume", "not a regular file"]);
    }
    // Kinds of features are data.
    place.write(
        "codes.csv",
        &(0..30).map(|i| format!("{},{},{}\n", i % 3, i * 7 % 11, i % 2)).collect::<String>(),
    );
    let call = ["evaluate", "codes.csv", "-m", "mim", "-k", "1", "--folds", "3", "--resume", "kinds.json"];
    place.done(&call);
    place.refuses(&[&call[..], &["--categorical", "0"]].concat(), &["other data"]);
}
