//! What the program says beside its numbers: what they mean, what was not done, and what may be meant instead.

#![allow(missing_docs)]

mod common;

use common::{Place, words};

/// Two classes of ten, of which `a` tells; `b` is noise; the target as a number is `y`.
fn small(place: &Place) {
    let mut text = String::from("a,b,y,class\n");
    for i in 0..20 {
        let (class, noise) = (if i < 10 { "no" } else { "yes" }, i * 7 % 11);
        text.push_str(&format!("{}.5,{noise},{}.25,{class}\n", (i / 10) * 5 + noise % 3, i + noise));
    }
    place.write("t.csv", &text);
}

/// Where the value of a single sample would be no comparison of classes: 0 whatever is predicted.
#[test]
fn metrics_of_several_classes_need_them_in_every_test_part() {
    let place = Place::new();
    small(&place);
    for metric in ["matthews", "balanced-accuracy", "macro-f1", "auc"] {
        let call = format!("evaluate t.csv --ignore y -m f-score -k 1 --folds 20 --metric {metric}");
        place.refuses(
            &words(&call),
            &["f-score: fold 0 of 20", metric, "classes in the test part", "fewer folds"],
        );
        let call = format!("evaluate t.csv --ignore y -m f-score -k 1 --folds 5 --metric {metric}");
        place.done(&words(&call));
    }
    let out = place.done(&words("evaluate t.csv --ignore y -m f-score -k 1 --folds 20"));
    assert!(out.contains("each test part is one sample") && out.contains("(none)"), "{out}");
}

#[test]
fn metrics_say_where_smaller_is_better() {
    let place = Place::new();
    small(&place);
    let call =
        "evaluate t.csv --ignore class --target y -m f-score -k 1 --folds 4 --metric r2,q2,rmse,mae,mse";
    let out = place.done(&words(call));
    assert!(out.contains("; q2, rmse, mae, mse: smaller is better;"), "{out}");
    let row =
        |name: &str| out.lines().find(|line| line.trim_start().starts_with(name)).unwrap_or("").to_owned();
    let means: Vec<f64> =
        row("1 ").split(" ± ").map(|cell| cell.split_whitespace().last().unwrap().parse().unwrap()).collect();
    assert!((means[0] + means[1] - 1.0).abs() < 1e-3, "r2 is 1 - q2: {out}");
    assert!(
        place
            .done(&words("evaluate t.csv --ignore y -m f-score -k 1"))
            .contains("the folds; seconds per fold")
    );
}

/// Two folds define no interval, and equal folds no deviation.
#[test]
fn what_folds_do_not_define_is_a_dash() {
    let place = Place::new();
    small(&place);
    let out = place.done(&words("evaluate t.csv --ignore y -m f-score -k 1 --folds 2"));
    assert!(out.contains("1.00 (-)"), "{out}");
    let document = place.json(&words("evaluate t.csv --ignore y -m f-score -k 1 --folds 2"));
    assert!(document["results"][0]["stability"]["lower"].is_null(), "{document}");
    assert!(!out.contains("e-17"), "{out}");
}

/// Constants are no tests: 400 of them change no q-value.
#[test]
fn constants_do_not_count_as_tests() {
    let place = Place::new();
    let line = |i: usize, n: usize| {
        let (a, b) = (i * 3 + i * 7 % 5, i * 7 % 11);
        format!("{a}.5,{b},{}{}\n", "0,".repeat(n), if i < 10 { "no" } else { "yes" })
    };
    let table = |n: usize| {
        let names: String = (0..n).map(|j| format!("c{j},")).collect();
        format!("a,b,{names}class\n") + &(0..20).map(|i| line(i, n)).collect::<String>()
    };
    place.write("few.csv", &table(0));
    place.write("many.csv", &table(40));
    for method in ["anova", "wilcoxon", "t-test", "chi2", "correlation"] {
        let of = |file: &str| {
            let document = place.json(&["score", file, "-m", method]);
            let features = document["features"].as_array().unwrap().clone();
            let q: Vec<_> = features[..2].iter().map(|feature| feature["q_value"].clone()).collect();
            (q, document["notes"].to_string(), features.last().unwrap()["p_value"].clone())
        };
        let (few, many) = (of("few.csv"), of("many.csv"));
        assert_eq!(few.0, many.0, "{method}");
        assert!(
            many.1.contains("40 features have no p-value and do not count as tests"),
            "{method}: {}",
            many.1
        );
        assert!(many.2.is_null() && !few.2.is_null(), "{method}");
    }
    let out = place.done(&words("score many.csv -m anova --top 2"));
    assert!(out.contains("note: 40 features have no p-value"), "{out}");
}

/// Categories without an order are left out of a test of ranks, and that is told.
#[test]
fn categories_that_a_test_leaves_out_are_told() {
    let place = Place::new();
    let row = |i: usize| {
        format!("{},{},{}\n", ["x", "y", "z"][i % 3], i * 7 % 11, if i < 10 { "no" } else { "yes" })
    };
    place.write("t.csv", &("kind,b,class\n".to_owned() + &(0..20).map(row).collect::<String>()));
    for call in ["score t.csv -m wilcoxon", "select t.csv -m wilcoxon -k 1"] {
        let out = place.done(&words(call));
        assert!(out.contains("note: 1 feature has no p-value and does not count as a test"), "{out}");
    }
}

#[test]
fn p_values_of_a_comparison_are_told_to_be_uncorrected() {
    let place = Place::with_wdbc();
    let call = "compare wdbc.csv -m f-score,variance -k 1,2 --folds 3 --report r.html";
    let out = place.done(&words(call));
    assert!(out.contains("p-values are not corrected for many methods and many k"), "{out}");
    assert!(place.read("r.html").contains("P-values are not corrected for many methods and many k"));
}

#[test]
fn row_numbers_among_the_features_are_told() {
    let place = Place::new();
    let row = |i: usize| format!("{},{},{}\n", i + 1, i * 7 % 11, if i * 5 % 9 < 4 { "no" } else { "yes" });
    place.write("t.csv", &("nr,b,class\n".to_owned() + &(0..20).map(row).collect::<String>()));
    for call in ["select t.csv -k 1", "score t.csv", "evaluate t.csv -m f-score -k 1 --folds 3", "info t.csv"]
    {
        let out = place.done(&words(call));
        assert!(out.contains("column `nr` (0, counted from 0) looks like a row number"), "{call}: {out}");
        assert!(out.contains("--id-column nr"), "{call}: {out}");
    }
    assert!(!place.done(&words("select t.csv -k 1 --id-column nr")).contains("row number"));
}
