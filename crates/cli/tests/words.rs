//! What the program says beside its numbers: what they mean, what was not done, and what may be meant
//! instead.

use crate::common::{Place, words};

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

/// What a beginner types, and what is said where it is not what stands in the help.
#[test]
fn options_are_explained_in_words() {
    let place = Place::with_table();
    for (call, told) in [
        ("select table.csv --seed x", "give a whole number from 0"),
        ("select table.csv --threads 0", "give a whole number from 1 to 1024"),
        ("select table.csv -k 50", "-k is 50, but must be"),
        ("evaluate table.csv -k 50", "-k is 50, but must be"),
        (
            "evaluate table.csv -k 2,auto",
            "-k auto: hsic-lasso does not decide the number of features by itself: give -k N or",
        ),
        ("select table.csv --report a.pdf", "a report is an HTML page"),
        ("select table.csv --ignore GENE*", "no column matches `GENE*`"),
    ] {
        place.refuses(&words(call), &[told]);
    }
    let [short, long, top] = ["-k", "--k", "--top"].map(|option| {
        let of = |call: &str| place.json(&[&words(call)[..], &[option, "2"]].concat())["features"].clone();
        (of("select table.csv"), of("score table.csv"))
    });
    assert!(short == long && short == top);
    assert_eq!(
        place.json(&words("evaluate table.csv --k 2 --folds 3"))["design"]["k"],
        serde_json::json!([2])
    );
}

#[test]
fn small_numbers_are_written_small_and_none_is_zero() {
    let place = Place::with_table();
    let out = place.done(&words("select table.csv -m anova -p alpha=1e-30"));
    assert!(out.contains("significant at 1e-30\n"), "{out}");
    assert!(out.contains("rank  feature  score  p-value  q-value"), "{out}");
    let row = |i: usize| format!("{},{},{}\n", i / 10, i * 7 % 11, if i < 10 { "no" } else { "yes" });
    place.write("t.csv", &("a,b,class\n".to_owned() + &(0..20).map(row).collect::<String>()));
    let out = place.done(&words("score t.csv -m anova"));
    assert!(out.lines().any(|line| line.contains(" a ") && line.matches("< 1e-300").count() == 2), "{out}");
}

/// A level decides how many features there are, also more than ten.
#[test]
fn a_level_selects_all_that_is_significant() {
    let place = Place::with_wdbc();
    let found = |call: &str| place.json(&words(call))["features"].as_array().map(Vec::len);
    assert_eq!(found("select wdbc.csv -m f-score -p alpha=0.001 -p correction=bonferroni"), Some(25));
    assert_eq!(found("select wdbc.csv -m f-score -p alpha=0.001 -p correction=bonferroni -k auto"), Some(25));
    assert_eq!(found("select wdbc.csv -m f-score -p alpha=0.001 -k 3"), Some(3));
}

/// The first lines are for everybody, the certificate for those who look for it.
#[test]
fn the_solver_is_told_last() {
    let place = Place::with_table();
    let out = place.done(&words("select table.csv -k 2"));
    assert!(out.lines().nth(1).is_some_and(|line| line.ends_with(" s")), "{out}");
    assert!(
        out.lines().last().is_some_and(|line| line.starts_with("solver: lars, converged, duality gap ")),
        "{out}"
    );
}

#[test]
fn an_elimination_says_its_kernel_and_what_its_scores_are() {
    let place = Place::with_wdbc();
    let out = place.done(&words("select wdbc.csv -m rfe -k 2 -p step=halving"));
    assert!(out.contains("note: `rfe` is dw-rfe here, with a Gaussian kernel"), "{out}");
    assert!(
        !place
            .done(&words("select wdbc.csv -m rfe -k 2 -p kernel=linear -p step=halving"))
            .contains("Gaussian")
    );
    let out = place.done(&words("select wdbc.csv -m dw-rfe -p kernel=linear -k 5"));
    assert!(
        out.contains("scores of different rounds do not compare") && !out.contains("`dw-rfe` is"),
        "{out}"
    );
}

#[test]
fn a_report_of_scores_is_called_so() {
    let place = Place::with_table();
    place.done(&words("score table.csv --report r.html"));
    assert!(place.read("r.html").contains("Feature scores by"));
    place.done(&words("select table.csv -k 1 --report s.html"));
    assert!(place.read("s.html").contains("Feature selection by"));
}

/// A mean is no category.
#[test]
fn what_fills_gaps_is_told_by_kind() {
    let place = Place::new();
    let row = |i: usize| {
        let (number, kind) =
            (if i == 3 { String::new() } else { i.to_string() }, ["x", "y", ""][usize::min(i % 3, 4)]);
        format!("{number},{kind},{}\n", if i * 5 % 9 < 4 { "no" } else { "yes" })
    };
    place.write("t.csv", &("a,kind,class\n".to_owned() + &(0..20).map(row).collect::<String>()));
    let out = place.done(&words("select t.csv -m f-score -k 1 --missing mean"));
    assert!(out.contains("filled by the mean or, of categorical features, the most frequent level"), "{out}");
    let out = place.done(&words("select t.csv -m f-score -k 1 --missing mean --ignore kind"));
    assert!(out.contains("1 missing value filled by the mean\n"), "{out}");
    assert!(
        place.done(&words("info t.csv --ignore kind")).contains("missing: 1 value; 1 incomplete sample (")
    );
}

#[test]
fn thousands_of_scores_come_with_a_hint() {
    let place = Place::new();
    let header: String = (0..1001).map(|j| format!("g{j},")).collect();
    let row = |i: usize| (0..1001).map(|j| format!("{},", (i * 7 + j * 3) % 13)).collect::<String>();
    let rows: String = (0..6).map(|i| format!("{}{}\n", row(i), i % 2)).collect();
    place.write("wide.csv", &format!("{header}y\n{rows}"));
    let ran = place.run(&words("score wide.csv -m f-score"));
    assert!(
        ran.status == 0 && ran.stderr.contains("1,001 lines") && ran.stderr.contains("--top 20"),
        "{}",
        ran.stderr
    );
    place.done(&words("score wide.csv -m f-score --top 20"));
}

#[test]
fn methods_are_found_by_what_people_type() {
    let place = Place::with_table();
    let told = place.fails(&words("select table.csv -m foo"));
    assert!(told.contains("one that `fewest methods` lists") && told.len() < 120, "{told}");
    place.refuses(&words("select table.csv -m spearman"), &["-m correlation -p coefficient=spearman"]);
    assert!(place.done(&words("methods f-score")).contains("\nalso:   anova, "));
}
