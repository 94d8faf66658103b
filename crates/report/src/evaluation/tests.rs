use fewest::core::Status;
use fewest::eval::{Evaluation, FoldRecord, KRule, Outcome, Plan, Summary};
use fewest::registry::{Parameters, Registry};
use fewest_study::{Baseline, Chosen, Evaluated, Report};

use crate::tests::{COMMAND, NASTY, has_only_our_script, origin, run, sections, text_of, with_document};

const FOLDS: usize = 4;

/// A method whose scores by fold lie around `level`, for 1 and 3 features.
fn evaluated(id: &str, level: f64) -> Evaluated {
    let Ok(method) = Registry::standard().find(id) else { panic!("{id} is registered") };
    let outcome = |k: usize, fold: usize| Outcome {
        k,
        features: (fold % 2..fold % 2 + k).collect(),
        scores: vec![level + 0.01 * (k + fold) as f64, level],
        redundancy: None,
        selection_seconds: 0.5,
        fit_seconds: 0.25,
        facts: Vec::new(),
    };
    let fold = |fold| FoldRecord {
        fold,
        n_train: 30,
        n_test: 10,
        outcomes: vec![outcome(1, fold), outcome(3, fold)],
    };
    let plan = Plan {
        label: id.to_owned(),
        learner: "linear-svm".to_owned(),
        metrics: vec!["accuracy".to_owned(), "macro-f1".to_owned()],
        greater_is_better: vec![true, true],
        ks: vec![1, 3],
        nested: true,
        seed: 0,
        n_folds: FOLDS,
        n_features: 5,
        fingerprint: 0,
    };
    let chosen = vec![
        Chosen::new(KRule::Best, 3, Some(vec![2, 0, 1])),
        Chosen::new(KRule::OneStandardError, 1, Some(vec![2])),
    ];
    let evaluation = Evaluation { plan, folds: (0..FOLDS).map(fold).collect(), out_of_time: false };
    Evaluated::new(method.clone(), Parameters::defaults(method), evaluation, chosen)
}

fn report(names: &[&str], methods: Vec<Evaluated>) -> Report {
    let run = run(names);
    let splitter = "4 folds, stratified".to_owned();
    let mut report = Report::new(run.seed, run.data, "linear-svm", splitter, FOLDS);
    report.methods = methods;
    report.notes = vec!["a class is rare".to_owned()];
    report.seconds = 1.5;
    report
}

fn render(report: &Report, command: &str) -> String {
    super::render(report, &origin(command))
}

#[test]
fn tells_everything_and_is_well_formed() {
    let methods = vec![evaluated("mrmr", 0.75), evaluated("hsic", 0.5)];
    let html = render(&report(&["radius", "texture", "area", "other", "last"], methods), COMMAND);
    with_document(&html, |document| {
        let expected = ["metric-accuracy", "metric-macro-f1", "stability", "time", "chosen", "notes", "run"];
        assert_eq!(sections(document), expected);
        let text = text_of(document);
        for told in [
            "my data.csv",
            "0.7950",
            "3 features",
            "mrmr",
            "hsic",
            "linear-svm",
            "4 folds, stratified",
            "a class is rare",
        ] {
            assert!(text.contains(told), "`{told}` is not told");
        }
        let count = |tag: &str, class: &str| {
            let with = |node: &roxmltree::Node<'_, '_>| {
                node.has_tag_name(tag)
                    && node.attribute("class").is_some_and(|classes| classes.split(' ').any(|c| c == class))
            };
            document.descendants().filter(with).count()
        };
        assert_eq!(count("path", "line"), 3 * 2, "a line for each method and drawing");
        // Those of the drawings, and those of their legends.
        assert_eq!(count("use", "point"), 3 * 2 * 2 + 3 * 2);
        assert_eq!(count("path", "leader"), 3 * 2);
        let intervals = document.descendants().filter(|node| node.attribute("class") == Some("interval"));
        let intervals = intervals.filter_map(|node| node.attribute("d")).map(|d| d.matches('V').count());
        assert_eq!(intervals.sum::<usize>(), 3 * 2 * 2);
        let best = document.descendants().filter(|node| {
            node.has_tag_name("strong") && node.ancestors().any(|around| around.has_tag_name("tbody"))
        });
        assert_eq!(best.count(), 2 * 2, "the best at each number of features and metric");
    });
}

/// In the table of one method below its numbers of features, in those of several below the methods; across
/// the drawings, and in words.
#[test]
fn what_is_reached_without_a_selection_is_shown() {
    let summary = |mean: f64| Summary {
        k: 1,
        metric: "accuracy".to_owned(),
        n_folds: FOLDS,
        mean,
        standard_error: Some(0.01),
        standard_deviation: Some(0.02),
        redundancy: None,
        mean_features: 0.0,
    };
    let baseline = |id, n_features, level: f64| {
        Baseline::new(id, n_features, vec![summary(level), summary(level / 2.0)])
    };
    for methods in [vec![evaluated("mrmr", 0.75)], vec![evaluated("mrmr", 0.75), evaluated("hsic", 0.5)]] {
        let n_tables = if methods.len() == 1 { 1 } else { 2 };
        let mut report = report(&["a", "b", "c", "d", "e"], methods);
        let plain = render(&report, COMMAND);
        assert!(!plain.contains("Without a selection") && !plain.contains("class=\"level\""));
        report.baselines = vec![baseline("majority-class", 0, 0.3125), baseline("all-features", 5, 0.8125)];
        let html = render(&report, COMMAND);
        with_document(&html, |document| {
            let text = text_of(document);
            assert!(text.contains("Without a selection: none: the most frequent class; all: 5 features."));
            for (name, mean) in [("none", "0.3125"), ("all", "0.8125"), ("none", "0.1562"), ("all", "0.4062")]
            {
                let rows = document.descendants().filter(|node| node.has_tag_name("tr")).filter(|row| {
                    let written = |cell: roxmltree::Node<'_, '_>| -> String {
                        cell.descendants()
                            .filter(|node| node.is_text())
                            .filter_map(|node| node.text())
                            .collect()
                    };
                    let cells: Vec<String> = row.children().map(written).collect();
                    cells.first().is_some_and(|cell| cell == name)
                        && cells.get(1).is_some_and(|cell| cell.starts_with(mean))
                });
                assert_eq!(rows.count(), n_tables, "{name} {mean}");
            }
            let levels = document.descendants().filter(|node| node.attribute("class") == Some("level"));
            let levels = levels.filter_map(|node| node.attribute("d")).map(|d| d.matches('H').count());
            assert_eq!(levels.collect::<Vec<_>>(), [2, 2], "two levels in the drawing of each metric");
        });
    }
}

#[test]
fn names_from_the_data_never_become_markup() {
    let mut report = report(&[NASTY; 5], vec![evaluated("mrmr", 0.75)]);
    report.data.file = NASTY.to_owned();
    report.splitter = NASTY.to_owned();
    report.notes = vec![NASTY.to_owned()];
    let html = render(&report, NASTY);
    assert_eq!(html.matches("<script").count(), 1);
    with_document(&html, |document| {
        assert!(text_of(document).matches(NASTY).count() > 7);
        assert!(has_only_our_script(document));
    });
}

#[test]
fn strange_scores_and_early_ends_draw_no_strange_places() {
    let mut strange = evaluated("mrmr", 0.75);
    strange.evaluation.folds.truncate(1);
    strange.evaluation.folds[0].outcomes[0].scores[0] = f64::NAN;
    strange.evaluation.folds[0].outcomes[1].scores[1] = f64::INFINITY;
    strange.chosen[0].features = None;
    let mut report = report(&["a", "b", "c", "d", "e"], vec![strange, evaluated("hsic", 0.5)]);
    report.status = Status::Interrupted;
    with_document(&render(&report, COMMAND), |document| {
        assert!(text_of(document).contains("interrupted"));
        for node in document.descendants().filter(|node| !node.has_tag_name("style")) {
            for attribute in node.attributes() {
                let value = attribute.value();
                assert!(!value.contains("NaN") && !value.contains("inf"), "{}={value}", attribute.name());
            }
        }
    });
}
