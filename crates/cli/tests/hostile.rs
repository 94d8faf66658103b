//! Calls and data that are wrong, one fault at a time: exit status 2, one line that names the fault and the
//! way out, and no file left behind.

use crate::common::{Place, words};

#[test]
fn wrong_calls() {
    let place = Place::with_table();
    for (call, told) in [
        ("selct table.csv", &["selct", "select"][..]),
        ("select", &["<DATA>"]),
        ("select table.csv --frobnicate", &["--frobnicate"]),
        ("select table.csv -k 0", &["-k", "at least 1"]),
        ("select table.csv -k 6", &["-k is 6", "number of features, 5"]),
        ("select table.csv -k -1", &["'-1'", "whole number"]),
        ("select table.csv -k few", &["few", "whole number"]),
        ("select table.csv -k 18446744073709551616", &["whole number"]),
        ("select table.csv --method hsic-laso", &["hsic-laso", "did you mean `hsic-lasso`?"]),
        ("select table.csv --method zzz", &["zzz", "`fewest methods` lists"]),
        ("methods hsik", &["did you mean `hsic`?"]),
        ("score table.csv --method hsic-lasso", &["fewest select", "nocco"]),
        (
            "score table.csv --task classification --method f-score -p alpha=0.1",
            &["selects with these parameters", "fewest select", "leave out --param alpha=0.1"],
        ),
        ("select table.csv outcome", &["'outcome'", "--target outcome"]),
        ("select table.csv -t -1", &["there is no column `-1`", "0 to 5"]),
        ("info table.csv table.csv", &["named by their folder, or by a pattern in quotes"]),
        ("info table.csv -k 5", &["unexpected argument '-k' found (see fewest info --help)"]),
        ("score table.csv --top 0", &["--top", "at least 1"]),
        ("select table.csv -k auto", &["-k auto", "hsic-lasso", "--param lambda", "-k N"]),
        (
            "select table.csv --task classification -m f-score -k auto",
            &["-k auto: f-score does not decide", "-k N or --param alpha", "`fewest evaluate` without -k"],
        ),
        ("select table.csv -m hsic -k auto", &["-k auto: hsic does not decide", "give -k N;"]),
        ("evaluate table.csv -m variance -k 2,auto", &["-k auto: variance does not decide"]),
        ("select table.csv -p sigma_z=1", &["`sigma_z`", "hsic-lasso", "did you mean `sigma_x`?"]),
        ("select table.csv -p sigma_x=0", &["`sigma_x` is 0", "above 0"]),
        ("select table.csv -p sigma_x=nan", &["`sigma_x` is nan"]),
        ("select table.csv -p sigma_x", &["NAME=VALUE"]),
        ("select table.csv -p sigma_x=", &["`sigma_x` is empty"]),
        ("select table.csv -p sigma_x=1 -p sigma_x=2", &["`sigma_x`", "given once"]),
        ("select table.csv -p normalization=half", &["none|unit"]),
        ("select table.csv -p lambda=-1", &["`lambda` is -1"]),
        (
            "select table.csv -p lambda=1 -p lambda_ratio=0.5",
            &["`lambda_ratio` is 0.5", "left out: `lambda` is given"],
        ),
        ("select table.csv -p block_size=10", &["block_size", "estimator=block"]),
        ("select table.csv -p estimator=block -p block_size=100", &["block_size", "100"]),
        ("select table.csv -p ridge=1", &["ridge", "penalty=elastic-net"]),
        ("select table.csv -p penalty=group", &["penalty=group", "--groups"]),
        ("select table.csv -p output=delta", &["real output"]),
        (
            "select table.csv --method hsic --force-in line",
            &["--force-in", "hsic does not use it", "hsic-lasso"],
        ),
        (
            "select table.csv --method mrmr --covariates line",
            &["--covariates", "mrmr does not use it", "nocco-lasso"],
        ),
        ("select table.csv --method hsic-lasso --offset line", &["--offset", "does not use it", "lasso"]),
        ("select table.csv --method lasso --offset lien", &["--offset", "did you mean `line`?"]),
        (
            "select table.csv --method lasso --covariates line --offset line",
            &["--offset", "--covariates", "once"],
        ),
        (
            "select table.csv --method mrmr --groups g.csv",
            &["--groups", "mrmr does not use it", "hsic-lasso", "nmmkl"],
        ),
        ("select table.csv --groups g.csv", &["--groups", "--param penalty=group"]),
        (
            "select table.csv --method group-lasso",
            &["--param groups=given", "--groups", "or use --param groups=prefix", "groups=correlation"],
        ),
        (
            "select table.csv -m tree-lasso -p groups=given",
            &["--groups", "or use --param groups=correlation"],
        ),
        (
            "select table.csv -m graph-lasso -p graph=given",
            &["--feature-graph", "or use --param graph=correlation"],
        ),
        (
            "select table.csv --method mrmr --feature-graph g.csv",
            &["--feature-graph", "mrmr does not use it", "graph-lasso"],
        ),
        ("select table.csv --method mrmr --views a=*", &["--views", "mrmr does not use it", "gpcov-var"]),
        ("select table.csv --method gpcov-var", &["gpcov-var needs to know", "--views NAME=COLUMNS"]),
        (
            "select table.csv --method gpcov-var --views a=line --views b=copy",
            &["`square` and 3 others in no view"],
        ),
        (
            "select table.csv --method gpcov-var --views a=line --views line",
            &["--views is `line`", "NAME=COLUMNS"],
        ),
        ("select table.csv --method gpcov-var --views none.csv", &["--views", "none.csv"]),
        ("info table.csv --views a=lien", &["--views", "no feature `lien`"]),
        (
            "select table.csv --method gflasso --feature-graph g.csv",
            &["--feature-graph", "--param graph=given"],
        ),
        ("select table.csv --method gflasso -p graph=given", &["graph=given", "--feature-graph"]),
        (
            "select table.csv --task classification --method l1-svm -k auto",
            &["-k auto", "l1-svm", "give -k N or --param c"],
        ),
        (
            "select table.csv --method mik-fs -p lambda_ratio=0.5 -p lambda=3",
            &["`lambda_ratio` is 0.5", "`lambda` is given"],
        ),
        ("select table.csv --x-variable Z", &["--x-variable", ".mat"]),
        ("select table.csv --frobnicate", &["fewest select --help"]),
        ("methods hsic zzz", &["fewest methods --help"]),
        ("select table.csv --force-in lien", &["--force-in", "did you mean `line`?"]),
        ("select table.csv --covariates 17", &["--covariates", "17", "in the file, 0 to 4"]),
        (
            "select table.csv -t 0 --force-in 0",
            &["--force-in", "`0`", "that column of the file is no feature"],
        ),
        ("select table.csv --ignore GENE*", &["`GENE*`", "no column matches"]),
        ("select table.csv --ignore *", &["no column is left to be a feature"]),
        ("select table.csv --force-in line --covariates line", &["covariates"]),
        ("select table.csv -k 1 --force-in line,noise", &["forced"]),
        ("select table.csv -p penalty=group --groups nothing.csv", &["--groups", "nothing.csv"]),
        ("select table.csv -p penalty=group --groups table.csv", &["--groups", "feature"]),
        ("select table.csv --target outcom", &["table.csv", "`outcom`", "did you mean `outcome`?"]),
        ("select table.csv --target 99", &["table.csv", "`99`", "0 to 5"]),
        ("select table.csv --target line --ignore line", &["table.csv", "line"]),
        ("select table.csv --task clustering", &["classification"]),
        ("select table.csv --missing maybe", &["drop-rows"]),
        ("select table.csv --threads 0", &["--threads", "1"]),
        ("select table.csv --seed -1", &["-1"]),
        ("select table.csv --time-limit 0", &["--time-limit", "above 0"]),
        ("select table.csv --delimiter ab", &["single character"]),
    ] {
        place.refuses(&words(call), told);
    }
}

#[test]
fn outputs_that_would_do_harm_or_cannot_be() {
    let place = Place::with_table();
    std::fs::create_dir(place.path("folder")).unwrap();
    let before = place.read("table.csv");
    for option in ["--json", "--report", "--write-reduced"] {
        place.refuses(&["select", "table.csv", option, "table.csv"], &[option, "input file"]);
        place.refuses(&["select", "table.csv", option, "folder/../table.csv"], &["input file"]);
        place.refuses(&["select", "table.csv", option, "folder"], &[option, "folder"]);
        place.refuses(&["select", "table.csv", option, "none/x.csv"], &[option, "none"]);
        place.refuses(&["select", "table.csv", option, ""], &[option, "value"]);
    }
    for option in ["--report", "--write-reduced"] {
        place.refuses(&["select", "table.csv", option, "-"], &[option, "only --json writes to stdout"]);
    }
    place.refuses(&["select", "table.csv", "--json", "x", "--report", "./x"], &["--json", "same file"]);
    place.refuses(&["select", "table.csv", "--write-reduced", "x.tsv"], &[".csv"]);
    place.refuses(&["score", "table.csv", "--json", "table.csv"], &["input file"]);
    assert_eq!(place.read("table.csv"), before);
}

#[cfg(unix)]
#[test]
fn a_link_to_the_input_is_the_input() {
    let place = Place::with_table();
    std::os::unix::fs::symlink(place.path("table.csv"), place.path("link.csv")).unwrap();
    place.refuses(&["select", "table.csv", "--json", "link.csv"], &["input file"]);
}

#[test]
fn wrong_data() {
    let place = Place::new();
    let rows = |row: &str| format!("a,b,y\n{}", format!("{row}\n").repeat(4));
    for (name, content, told) in [
        ("empty.csv", String::new(), &["empty.csv", "empty"][..]),
        ("header.csv", "a,b,y\n".to_owned(), &["header.csv"]),
        ("single.csv", "a,b,y\n1,2,0.5\n".to_owned(), &["single.csv", "1 sample", "at least 2"]),
        (
            "one_class.csv",
            "a,b,y\n1,2,no\n3,1,no\n4,4,no\n".to_owned(),
            &["one_class.csv", "`no`", "--target"],
        ),
        ("same.csv", "a,b,y\n1,2,0.5\n3,1,0.5\n4,4,0.5\n".to_owned(), &["same.csv", "same", "--target"]),
        (
            "gap.csv",
            "a,b,y\n1,2,0.5\n3,,1.5\n4,4,2.5\n".to_owned(),
            &["gap.csv", "line 3", "`b`", "--missing"],
        ),
        (
            "target_gap.csv",
            "a,b,y\n1,2,0.5\n3,1,\n4,4,2.5\n".to_owned(),
            &["target_gap.csv", "line 3", "`y`"],
        ),
        ("infinite.csv", "a,b,y\n1,2,0.5\n3,inf,1\n4,4,2.5\n".to_owned(), &["infinite.csv", "line 3", "`b`"]),
        ("typo.csv", "a,b,y\n1,2,0.5\n3,1o,1.5\n4,4,2.5\n".to_owned(), &["typo.csv", "line 3", "`b`", "1o"]),
        ("ragged.csv", "a,b,y\n1,2,0.5\n3,1\n4,4,2.5\n".to_owned(), &["ragged.csv", "line 3"]),
        ("lonely.csv", "y\n1\n2\n".to_owned(), &["lonely.csv", "feature"]),
        ("broken.mat", "MATLAB 5.0 MAT-file, but no more than that".to_owned(), &["broken.mat"]),
        ("table.xlsx", "PK\u{3}\u{4} and so on".to_owned(), &["table.xlsx", ".csv"]),
        ("all_same.csv", rows("1,2,0.5"), &["all_same.csv"]),
    ] {
        place.write(name, &content);
        place.refuses(&["select", name, "-k", "1"], told);
    }
    place.refuses(&["select", "nowhere.csv"], &["nowhere.csv", "read"]);
    place.refuses(&["info", "nowhere.csv"], &["nowhere.csv", "read"]);
    place.refuses(&["select", "."], &["read"]);
}

#[test]
fn a_class_of_one_sample_and_duplicates_are_no_failure() {
    let place = Place::new();
    place.write("t.csv", "a,b,c,y\n1,1,4,no\n2,2,1,no\n3,3,3,no\n9,9,2,yes\n");
    place.done(&["select", "t.csv", "-k", "3"]);
}

#[test]
fn only_constants_select_nothing_and_say_so() {
    let place = Place::new();
    place.write("t.csv", "a,b,y\n1,2,0.5\n1,2,1.5\n1,2,2.5\n");
    let document = place.json(&["select", "t.csv", "-k", "1"]);
    assert_eq!(document["features"].as_array().map(Vec::len), Some(0));
    assert!(document["notes"][0].as_str().unwrap().contains("constant"));
}

#[test]
fn a_message_is_one_line_whatever_is_in_the_data() {
    let place = Place::new();
    place.write("t.csv", "\"a\nb\",c,y\n1,2,0.5\nx,1,1.5\n4,4,2.5\n");
    place.refuses(&["select", "t.csv", "-k", "1"], &["t.csv", "a\\nb"]);
    place.refuses(&["select", "no\nfile.csv"], &["no\\nfile.csv"]);
}
