//! The report as a whole: well-formed markup, no external request, complete content, escaped names.

use fewest::core::{
    Certificate, Dataset, DenseColumns, Path, PathPoint, Related, Selection, Similarity, SolverReport,
    Status, Target,
};
use fewest::data::Missing;
use fewest::registry::{Parameters, Registry};
use fewest_study::{DataInfo, RunInfo, VERSION};
use roxmltree::Document;

mod colours;

use super::Origin;

pub(super) const NASTY: &str = "<script>alert('x')</script>&amp;\"";

pub(super) const COMMAND: &str = "fewest select 'my data.csv' -k 3";

pub(super) fn origin(command: &str) -> Origin {
    Origin { command: command.to_owned(), date: "2026-11-22".to_owned() }
}

/// The script of every page: the only one there may be.
const SCRIPT: &str = include_str!("script.js");
/// What stands for it in a document that is parsed.
const PROGRAM: &str = "the script";

pub(super) fn has_only_our_script(document: &Document<'_>) -> bool {
    let scripts = document.descendants().filter(|node| node.has_tag_name("script"));
    scripts.map(|node| node.text()).collect::<Vec<_>>() == [Some(PROGRAM)]
}

/// Samples of two classes, with as many features as the run has.
fn data(run: &RunInfo) -> Dataset {
    let value = |i: usize, j: usize| (i * (j + 3) % 17) as f64 - 4.0;
    let columns: Vec<Vec<f64>> =
        (0..run.data.n_features).map(|j| (0..40).map(|i| value(i, j)).collect()).collect();
    let labels: Vec<bool> = (0..40).map(|i| i % 3 == 0).collect();
    let table = DenseColumns::from_columns(&columns)
        .and_then(|columns| Dataset::new(columns, Target::from_labels(&labels)));
    match table {
        Ok(data) => data,
        Err(error) => panic!("{error}"),
    }
}

fn render(selection: &Selection, run: &RunInfo, command: &str) -> String {
    match super::selection("Feature selection", selection, run, &data(run), &origin(command)) {
        Ok(html) => html,
        Err(error) => panic!("{error}"),
    }
}

/// A run over `names`.
pub(super) fn run(names: &[&str]) -> RunInfo {
    let Ok(method) = Registry::standard().find("hsic-lasso") else { panic!("hsic-lasso is registered") };
    RunInfo {
        method: method.clone(),
        parameters: Parameters::defaults(method),
        seed: 7,
        data: DataInfo {
            file: "my data.csv".to_owned(),
            file_digest: Some("ba7816bf8f01cfea".to_owned()),
            n_samples: 1234,
            n_features: names.len(),
            task: "classification",
            classes: vec![("benign".to_owned(), 1000), ("malignant".to_owned(), 234)],
            targets: vec!["diagnosis".to_owned()],
            target_found: None,
            missing: Missing::Mean,
            missing_done: Some("3 missing values filled by the mean".to_owned()),
            gaps: 3,
            notes: Vec::new(),
            names: names.iter().map(|name| (*name).to_owned()).collect(),
            columns: (0..names.len()).collect(),
            samples: fewest_study::SampleInfo::default(),
            passes: None,
        },
        seconds: 0.25,
    }
}

/// A selection with everything a method may tell.
fn full() -> Selection {
    let mut selection = Selection::new(vec![2, 0, 3], vec![0.5, 0.25, 0.125], 5, Status::Converged);
    selection.solver = Some(
        SolverReport::new("lars", Status::Converged, 0.75, Certificate::gap(1.5e-12))
            .with_lambda(0.01)
            .with_iterations(4),
    );
    let point =
        |lambda, coefficients: &[(usize, f64)]| PathPoint { lambda, coefficients: coefficients.to_vec() };
    selection.path = Some(Path {
        points: vec![
            point(1.0, &[]),
            point(0.1, &[(2, 0.3)]),
            point(0.05, &[(1, 0.05), (2, 0.4)]),
            point(0.01, &[(0, 0.25), (2, 0.5), (3, 0.125)]),
        ],
        entered: vec![2, 1, 0, 3],
        ..Path::default()
    });
    let related = |feature, relatedness| Related { feature, relatedness };
    selection.related =
        vec![vec![related(1, 0.875), related(3, 0.25)], vec![related(4, 0.5)], vec![related(2, 0.25)]];
    selection.similarity =
        Some(Similarity { values: vec![1.0, 0.1, 0.9, 0.1, 1.0, 0.2, 0.9, 0.2, 1.0], len: 3 });
    selection.notes = vec!["1 feature is constant and cannot be selected".to_owned()];
    selection
}

/// Parses the report as XML, which is stricter than any browser.
pub(super) fn with_document<T>(html: &str, look: impl FnOnce(&Document<'_>) -> T) -> T {
    // HTML's own spelling of its head; everything else is XML as it stands.
    let html = html.replace(SCRIPT, PROGRAM);
    let body = html.trim_start_matches("<!DOCTYPE html>");
    let mut xml = String::new();
    for (at, part) in body.split("<meta ").enumerate() {
        if at == 0 {
            xml.push_str(part);
        } else {
            xml.push_str("<meta ");
            xml.push_str(&part.replacen('>', "/>", 1));
        }
    }
    match Document::parse(&xml) {
        Ok(document) => look(&document),
        Err(error) => panic!("not well formed: {error}\n{html}"),
    }
}

pub(super) fn text_of(document: &Document<'_>) -> String {
    document
        .descendants()
        .filter(|node| node.is_text())
        .filter_map(|node| node.text())
        .collect::<Vec<_>>()
        .join(" ")
}

pub(super) fn sections(document: &Document<'_>) -> Vec<String> {
    let sections = document.descendants().filter(|node| node.has_tag_name("section"));
    sections.filter_map(|node| node.attribute("id")).map(str::to_owned).collect()
}

#[test]
fn tells_everything_and_is_well_formed() {
    let html = render(&full(), &run(&["radius", "texture", "area", "smoothness", "other"]), COMMAND);
    with_document(&html, |document| {
        assert_eq!(
            sections(document),
            ["ranking", "data", "samples", "path", "redundancy", "related", "notes", "run"]
        );
        let text = text_of(document);
        for told in [
            "my data.csv",
            "1,234",
            "diagnosis",
            "malignant",
            "234 samples",
            "HSIC Lasso",
            "area",
            "0.5000",
            "1.5e-12",
            "lars",
            "converged",
            "sigma_x",
            "normalization",
            COMMAND,
            "0.88",
            "penalty λ",
            "1 feature is constant and cannot be selected",
            "3 missing values filled by the mean",
            VERSION,
            "ba7816bf8f01cfea",
            "2026-11-22",
            "Climente-González, Azencott, Kaski, Yamada: Block HSIC Lasso. Bioinformatics 35 (2019).",
            "area\nradius",
        ] {
            assert!(text.contains(told), "`{told}` is not told");
        }
        let lines = document
            .descendants()
            .filter(|node| node.attribute("class").is_some_and(|class| class.starts_with("line c")));
        assert_eq!(lines.count(), 3, "a line for each selected feature");
        let dots = document.descendants().filter(|node| node.attribute("class") == Some("dots"));
        let dots: usize = dots.filter_map(|path| path.attribute("d")).map(|d| d.matches("h0").count()).sum();
        assert_eq!(dots, 3 * 40, "a dot for each sample of each selected feature");
    });
}

#[test]
fn names_from_the_data_never_become_markup() {
    let mut selection = full();
    selection.notes.push(NASTY.to_owned());
    let mut run = run(&[NASTY; 5]);
    run.data.file = NASTY.to_owned();
    run.data.targets = vec![NASTY.to_owned()];
    run.data.classes = vec![(NASTY.to_owned(), 1); 2];
    let html = render(&selection, &run, NASTY);
    assert_eq!(html.matches("<script").count(), 1);
    with_document(&html, |document| {
        assert!(has_only_our_script(document));
        assert!(text_of(document).matches(NASTY).count() > 10, "names are shown as they are");
    });
}

#[test]
fn needs_nothing_from_outside() {
    let html = render(&full(), &run(&["a", "b", "c", "d", "e"]), COMMAND);
    let html = html.replace("href=\"#shape", "");
    for outside in
        ["http:", "https:", "src=", "href=", "url(", "@import", "<link", "onload", "fetch", "import"]
    {
        assert!(!html.contains(outside), "`{outside}`");
    }
}

#[test]
fn sections_without_content_are_left_out() {
    let bare = Selection::new(vec![1], vec![f64::INFINITY], 2, Status::Converged);
    let mut run = run(&["a", "b"]);
    run.data.missing_done = None;
    with_document(&render(&bare, &run, COMMAND), |document| {
        assert_eq!(sections(document), ["ranking", "data", "run"])
    });
    let empty = Selection::new(Vec::new(), Vec::new(), 2, Status::TimeLimit);
    with_document(&render(&empty, &run, COMMAND), |document| {
        assert!(text_of(document).contains("No feature was selected"));
        assert!(text_of(document).contains("time limit"));
    });
}

#[test]
fn strange_numbers_draw_no_strange_places() {
    let mut selection = full();
    selection.scores = vec![f64::NAN, f64::INFINITY, 0.0];
    if let Some(similarity) = &mut selection.similarity {
        similarity.values = vec![f64::NAN; 9];
    }
    if let Some(path) = &mut selection.path {
        path.points[1].coefficients[0].1 = f64::NAN;
        path.points.push(PathPoint { lambda: 0.0, coefficients: vec![(2, 0.6)] });
    }
    selection.related[0][0].relatedness = f64::NAN;
    let html = render(&selection, &run(&["a", "b", "c", "d", "e"]), COMMAND);
    with_document(&html, |document| {
        for node in document.descendants().filter(|node| !node.has_tag_name("style")) {
            for attribute in node.attributes() {
                let value = attribute.value();
                assert!(!value.contains("NaN") && !value.contains("inf"), "{}={value}", attribute.name());
            }
        }
    });
}

#[test]
fn many_features_stay_readable() {
    let n = 200;
    let names: Vec<String> =
        (0..n).map(|j| format!("feature number {j} with a rather long name of its own")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut selection = Selection::new((0..n).collect(), vec![1.0; n], n, Status::Converged);
    selection.similarity = Some(Similarity { values: vec![0.5; n * n], len: n });
    let coefficients = |value: f64| (0..n).map(|j| (j, value)).collect();
    selection.path = Some(Path {
        points: vec![
            PathPoint { lambda: 1.0, coefficients: Vec::new() },
            PathPoint { lambda: 0.5, coefficients: coefficients(1.0) },
        ],
        entered: (0..n).collect(),
        ..Path::default()
    });
    let html = render(&selection, &run(&names), COMMAND);
    assert!(html.len() < 400_000, "{} bytes", html.len());
    with_document(&html, |document| {
        assert!(text_of(document).contains("The 60 best features are drawn."));
    });
}
