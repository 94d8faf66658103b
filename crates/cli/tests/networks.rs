//! Samples with links on the command line: what `info` tells of them, and what `evaluate` lets methods see.

use crate::common::Place;

/// Eight samples in two components and one alone; who wrote them, and who follows whom.
fn small() -> Place {
    let place = Place::new();
    let rows: String =
        (0..8).map(|i| format!("{i},{},{}\n", i * 3 % 7, if i % 2 == 0 { "a" } else { "b" })).collect();
    place.write("table.csv", &format!("x,z,class\n{rows}"));
    place.write("links.csv", "from,to\n0,1\n1,2\n0,2\n3,4\n4,5\n5,6\n6,6\n");
    place.write("authors.csv", "author\nann\nann\nbob\nbob\nbob\ncy\ncy\ncy\n");
    place.write("follows.csv", "from,to\nann,bob\ndan,ann\ndan,bob\n");
    place
}

/// A network in two communities, of which the links know more than the columns.
fn large() -> Place {
    let place = Place::new();
    let community = |i: usize| i % 2;
    let mut rows = String::from("own,noise,other,class\n");
    for i in 0..80 {
        let own = community(i) * 5 + i * 7 % 11;
        rows.push_str(&format!("{own},{},{},{}\n", i * 13 % 29, i * 17 % 31, ["a", "b"][community(i)]));
    }
    let mut links = String::from("from,to\n");
    for i in 0..80 {
        for j in (0..i).filter(|j| community(i) == community(*j) && (i * j + i) % 7 == 0) {
            links.push_str(&format!("{j},{i}\n"));
        }
    }
    place.write("table.csv", &rows);
    place.write("links.csv", &links);
    place
}

#[test]
fn info_tells_links_and_authors() {
    let place = small();
    let out = place.done(&["info", "table.csv", "--links", "links.csv"]);
    let told = "links: 6 between 8 samples; 3 components, of which 1 sample without any; 0 to 2 of a sample, mean 1.5";
    assert!(out.contains(told), "{out}");
    assert!(!out.contains("authors"), "{out}");
    let call = ["info", "table.csv", "--authors", "authors.csv"];
    let out = place.done(&call);
    assert!(out.contains("authors: 3 authors, 2 to 3 samples of an author\n"), "{out}");
    assert!(!out.contains("follows"), "{out}");
    let out = place.done(&[&call[..], &["--follows", "follows.csv"]].concat());
    assert!(out.contains("authors: 3 authors, 2 to 3 samples of an author; 1 without a sample\n"), "{out}");
    let told =
        "follows: 3 between 4 authors; 2 components, of which 1 author without any; 0 to 2 of an author";
    assert!(out.contains(told), "{out}");
    assert!(!place.done(&["info", "table.csv"]).contains("links"));
}

#[test]
fn what_methods_see_of_a_network_is_chosen_and_told() {
    let place = large();
    let call = [
        "evaluate",
        "table.csv",
        "-m",
        "fsnet",
        "--param",
        "graph=5",
        "-k",
        "1",
        "--folds",
        "4",
        "--no-baselines",
    ];
    let with = |more: &[&'static str]| [&call[..], &["--links", "links.csv"], more].concat();
    let out = place.done(&with(&[]));
    assert!(
        out.contains("4 folds, stratified; inductive: without links between training and test samples"),
        "{out}"
    );
    let out = place.done(&with(&["--network", "transductive"]));
    assert!(out.contains("transductive: all links seen, labels of test samples hidden"), "{out}");
    let json = |more: &[&'static str]| place.json(&with(more));
    let (default, inductive) = (json(&[]), json(&["--network", "inductive"]));
    let transductive = json(&["--network", "transductive"]);
    assert_eq!(default["design"]["network"], "inductive");
    assert_eq!(default["folds"], inductive["folds"]);
    assert_eq!(transductive["design"]["network"], "transductive");
    // Nothing is known of a network without links.
    let weightless: Vec<&str> =
        call.iter().filter(|word| !["--param", "graph=5"].contains(word)).copied().collect();
    let unlinked = place.json(&weightless);
    assert!(unlinked["design"].get("network").is_none(), "{unlinked}");
    place.refuses(&[&weightless[..], &["--network", "transductive"]].concat(), &["--network", "--links"]);
    place.refuses(&with(&["--network", "both"]), &["inductive or transductive"]);
}
