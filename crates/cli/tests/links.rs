//! Links between samples and their authors on the command line: with weights, survival times and groups, and
//! what is told where they would have no effect.

use crate::common::{Place, words};

/// Twenty samples with a class, a number, a time, an event, a weight, a patient and an id; who is linked to
/// whom, who wrote what, and who follows whom.
fn place() -> Place {
    let place = Place::new();
    let wave = |i: usize, step: usize| (i * step % 23) as f64 / 11.0 - 1.0;
    let mut table = String::from("id,patient,w,a,b,c,time,event,class\n");
    let mut links = String::from("from,to\n");
    let mut authors = String::from("author\n");
    for i in 0..20 {
        let (a, b, c) = (wave(i, 5), wave(i, 7), wave(i, 3));
        let class = if a + 0.3 * c > 0.0 { "yes" } else { "no" };
        let (w, time, event) = (1 + i % 3, 10.0 - 4.0 * a, usize::from(i % 4 != 1));
        table.push_str(&format!("s{i},p{},{w},{a},{b},{c},{time},{event},{class}\n", i % 5));
        links.push_str(&format!("s{i},s{}\n", (i + 5) % 20));
        authors.push_str(&format!("u{}\n", i % 4));
    }
    place.write("t.csv", &table);
    place.write("links.csv", &links);
    place.write("authors.csv", &authors);
    place.write("follows.csv", "follower,followed\nu0,u1\nu2,u1\nu3,u0\n");
    place
}

const COLUMNS: &str = "t.csv --id-column id --ignore patient,w,time,event -t class -k 2";

#[test]
fn tables_that_a_method_does_not_use_are_refused() {
    let place = place();
    for (options, told) in [
        (
            "-m lasso --links links.csv",
            &["--links: lasso does not use it", "or use one of fsnet, lufs, netfs"][..],
        ),
        ("-m linkedfs --links links.csv", &["--links: linkedfs does not use it"]),
        ("-m lasso --authors authors.csv", &["--authors: lasso does not use it", "or use linkedfs"]),
        ("-m fsnet --authors authors.csv", &["--authors: fsnet does not use it"]),
        ("-m fsnet --links links.csv -p graph=0", &["--links: fsnet gives them no weight", "graph=WEIGHT"]),
        (
            "-m linkedfs --authors authors.csv --follows follows.csv",
            &["--follows: linkedfs gives them no weight", "cofollowing=WEIGHT or cofollowed=WEIGHT"],
        ),
        (
            "-m linkedfs --authors authors.csv -p following=1",
            &["following: there are no links between authors"],
        ),
        ("-m linkedfs --authors authors.csv -p copost=0", &["--authors: linkedfs gives them no weight"]),
        ("-m linkedfs -p copost=1", &["copost: there are no authors of the samples", "--authors"]),
        ("-m fsnet -p graph=2", &["graph: there are no links between samples", "--links"]),
    ] {
        let call = format!("select {COLUMNS} {options}");
        place.refuses(&words(&call), told);
        let call = format!("evaluate {COLUMNS} --folds 4 --learner knn {options}");
        place.refuses(&words(&call), told);
    }
    place.refuses(
        &words(&format!("compare {COLUMNS} --folds 4 --links links.csv --methods lasso,f-score")),
        &["--links: lasso does not use it"],
    );
}

#[test]
fn tables_that_a_method_uses_change_its_answer() {
    let place = place();
    let scores = |options: &str| {
        let call = format!("select {COLUMNS} -p lambda_ratio=0.2 {options}");
        place.json(&words(&call))["features"].clone()
    };
    let plain = scores("-m fsnet");
    assert_ne!(scores("-m fsnet --links links.csv"), plain);
    let authors = "-m linkedfs --authors authors.csv";
    let follows = format!("{authors} --follows follows.csv -p following=1");
    assert_ne!(scores(authors), scores("-m linkedfs"));
    assert_ne!(scores(&follows), scores(authors));
    // Links of authors, but none between two who wrote something: told, not silent.
    place.write("others.csv", "follower,followed\nx,y\n");
    let out = place.done(&words(&format!("select {COLUMNS} {authors} --follows others.csv -p following=1")));
    assert!(out.contains("following has no effect"), "{out}");
    let compared =
        format!("compare {COLUMNS} --folds 4 --links links.csv --methods lasso,fsnet --learner knn");
    assert!(place.done(&words(&compared)).contains("fsnet"));
}

/// Links, authors, weights and survival times at once: every combination is an answer or one line that says
/// which of them the method cannot use.
#[test]
fn links_authors_weights_and_survival_times_together() {
    let place = place();
    let times = "select t.csv --id-column id --ignore patient,class -t time,event --task survival -k 2";
    let out = place.done(&words(&format!("{times} --weights w -m lasso")));
    // The time is a function of `a` alone.
    assert!(out.contains("lasso: 1 feature"), "{out}");
    let all = "--weights w --links links.csv --authors authors.csv";
    place.refuses(&words(&format!("{times} {all} -m lasso")), &["--links: lasso does not use it"]);
    place.refuses(&words(&format!("{times} {all} -m fsnet")), &["--authors: fsnet does not use it"]);
    place.refuses(&words(&format!("{times} --weights w --links links.csv -m fsnet")), &["t.csv", "fsnet"]);
    place.refuses(&words(&format!("{times} --ignore w --links links.csv -m fsnet")), &["survival"]);
    let classes = "select t.csv --id-column id --ignore patient,time,event -t class -k 2";
    for method in ["-m fsnet --links links.csv", "-m linkedfs --authors authors.csv"] {
        place.refuses(&words(&format!("{classes} --weights w {method}")), &["weight"]);
    }
}

/// Groups of samples are no names: links refer to the ids, or to the numbers of the samples.
#[test]
fn links_of_samples_that_are_in_groups() {
    let place = place();
    let call = "evaluate t.csv --ignore w,time,event -t class -k 1 --learner knn --group-column patient";
    let with_ids = format!("{call} --id-column id -m fsnet --links links.csv");
    let json = place.json(&words(&with_ids));
    let told =
        "a fold for each group of `patient`; inductive: without links between training and test samples";
    assert_eq!(json["design"]["splitter"], told);
    assert_eq!(json["folds"].as_array().map(Vec::len), Some(5));
    assert_eq!(json["data"]["n_features"], 3);
    let numbers = place.read("links.csv").replace('s', "");
    place.write("numbers.csv", &numbers);
    let by_number = call.replace("--ignore w", "--ignore id,w");
    let again = place.json(&words(&format!("{by_number} -m fsnet --links numbers.csv")));
    assert_eq!(again["folds"][0]["outcomes"][0]["features"], json["folds"][0]["outcomes"][0]["features"]);
    let authors = format!("{by_number} -m linkedfs --authors authors.csv");
    assert_eq!(place.json(&words(&authors))["folds"].as_array().map(Vec::len), Some(5));
}

/// What the samples come with, the path and how its penalty was chosen are part of the result.
#[test]
fn the_result_says_what_it_was_made_from() {
    let place = place();
    let both = "--weights w --missing error -m lasso -p lambda_folds=4";
    let json = place
        .json(&words(&format!("select t.csv --id-column id --ignore patient,time,event -t class {both}")));
    assert_eq!(json["data"]["weights"], "w");
    assert!(json["data"].get("links").is_none(), "{json}");
    let points = json["path"].as_array().unwrap();
    let (choice, chosen) = (&json["choice"], json["choice"]["point"].as_u64().unwrap() as usize);
    assert_eq!(choice["criterion"], "cross-validated loss");
    assert_eq!(choice["values"].as_array().unwrap().len(), points.len());
    assert_eq!(choice["standard_errors"].as_array().unwrap().len(), points.len());
    assert_eq!(choice["lambda"], json["solver"]["lambda"]);
    assert_eq!(choice["lambda"], points[chosen]["lambda"]);
    let of_path: Vec<u64> =
        points[chosen]["index"].as_array().unwrap().iter().filter_map(|j| j.as_u64()).collect();
    let mut of_features: Vec<u64> =
        json["features"].as_array().unwrap().iter().filter_map(|feature| feature["index"].as_u64()).collect();
    of_features.sort_unstable();
    assert_eq!(of_path, of_features);
    let files = "-m linkedfs --authors authors.csv --follows follows.csv -p following=1";
    let json = place.json(&words(&format!("select {COLUMNS} {files}")));
    assert_eq!(json["data"]["authors"], "authors.csv");
    assert_eq!(json["data"]["follows"], "follows.csv");
    assert!(json.get("path").is_none() && json.get("choice").is_none(), "{json}");
    let json = place.json(&words(&format!("select {COLUMNS} -m fsnet --links links.csv")));
    assert_eq!(json["data"]["links"], "links.csv");
}
