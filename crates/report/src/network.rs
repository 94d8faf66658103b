//! The network of the samples: coloured by the target, and by each of the best selected features.

use std::borrow::Cow;

use fewest::core::{Dataset, Error, Graph, Selection, Target, order};
use fewest_study::RunInfo;
use maud::{Markup, html};

use super::matrix;
use super::{at, chart, data, figure, layout, sample, samples, section as wrap};
use crate::text;

/// Samples drawn.
const MOST_NODES: usize = 1000;
/// Links drawn; the places follow from all links between the samples drawn.
const MOST_LINKS: usize = 2000;
/// Features drawn.
const MOST_FEATURES: usize = 6;
/// Units of both sides of a drawing, and the room left for the dots at its edges.
const SIDE: f64 = 100.0;
const EDGE: f64 = 2.0;
/// Heights of the drawing by target and of one of a feature.
const HEIGHT: f64 = 420.0;
const SMALL: f64 = 260.0;
/// The name under which the drawings share their links.
const SHAPE: &str = "network-shape";
/// Longest name of a class in characters.
const NAME: usize = 28;

/// The drawings; nothing without links between samples, and without authors of them.
///
/// # Errors
/// When a column cannot be read.
pub(super) fn section(data: &Dataset, selection: &Selection, run: &RunInfo) -> Result<Markup, Error> {
    let Some((graph, line)) = links(data)? else { return Ok(html! {}) };
    let network = Network::new(&graph, line)?;
    let (colours, meaning, legend) = by_target(data, run);
    let mut cards = Vec::new();
    let mut values = vec![0.0; data.n_samples()];
    for (i, &j) in selection.order.iter().enumerate().take(MOST_FEATURES) {
        data.x().copy_column(j, &mut values)?;
        let name = run.data.name(j);
        let nodes = network.nodes_of(&levels(&values));
        let told = format!("{name} over the network of the samples");
        let drawing = network.figure(SMALL, &told, html! { use href={ "#" (SHAPE) } {} (nodes) }, html! {});
        cards.push(html! { div.card { h3 { span.quiet { (i + 1) } " " (name) } (drawing) } });
    }
    let features = match (cards.len(), selection.order.len()) {
        (0, _) => String::new(),
        (drawn, all) => {
            let which =
                if drawn < all { format!(" The {drawn} best features are drawn.") } else { String::new() };
            format!(
                " Below, the colour is the value of a selected feature, in standard deviations from its \
                 mean.{which}"
            )
        }
    };
    let explanation = format!("{}{meaning}{features}", network.explanation());
    let told = format!("Network of {}.{meaning}", network.size());
    let all = html! { g id=(SHAPE) { (network.shape()) } (network.nodes_of(&colours)) };
    let content = html! {
        (network.figure(HEIGHT, &told, all, legend))
        @if !cards.is_empty() {
            div.cards.networks { @for card in cards { (card) } }
            (matrix::legend("d", "−2 or less", "2 or more"))
        }
    };
    Ok(wrap("network", "The network of the samples", &explanation, content))
}

/// The links that are drawn, and what a line means.
fn links(data: &Dataset) -> Result<Option<(Cow<'_, Graph>, &'static str)>, Error> {
    if let Some(graph) = data.sample_graph() {
        return Ok(Some((Cow::Borrowed(graph), "a line a link between two")));
    }
    let Some(authors) = data.authors() else { return Ok(None) };
    let (mut first, mut last) = (vec![None; authors.n_authors()], vec![None; authors.n_authors()]);
    let mut links = Vec::new();
    // Not all pairs of an author's samples, which may be very many: from one to the next holds them together.
    for (i, &author) in authors.of_sample().iter().enumerate() {
        match last[author].replace(i) {
            Some(before) => links.push((before, i, 1.0)),
            None => first[author] = Some(i),
        }
    }
    let between = authors.follows().symmetrised();
    let firsts = between.links().filter_map(|(a, b, _)| Some((first[a]?, first[b]?, 1.0)));
    links.extend(firsts.filter(|(a, b, _)| a != b));
    let line = "a line leads from a sample to the next one of its author, and between the first samples of two \
                authors of whom one follows the other";
    Ok(Some((Cow::Owned(Graph::undirected(data.n_samples(), &links)?), line)))
}

/// The samples and links that are drawn, and where.
struct Network {
    /// What a line means.
    line: &'static str,
    /// Of the data.
    n_samples: usize,
    /// The samples that are drawn, increasing, and their places in a drawing.
    samples: Vec<usize>,
    places: Vec<(String, String)>,
    /// Between these, as positions in `samples`.
    links: Vec<(usize, usize)>,
}

impl Network {
    fn new(graph: &Graph, line: &'static str) -> Result<Self, Error> {
        let graph = graph.symmetrised();
        let n_samples = graph.n_nodes();
        let mut samples: Vec<usize> = (0..n_samples).collect();
        if n_samples > MOST_NODES {
            let mut degrees: Vec<(f64, usize)> =
                (0..n_samples).map(|i| (graph.degree(i) as f64, i)).collect();
            order::largest_first(&mut degrees);
            samples = degrees.into_iter().map(|(_, i)| i).take(MOST_NODES).collect();
            order::sort_indices(&mut samples);
        }
        let links: Vec<(usize, usize)> = graph.subset(&samples)?.links().map(|(a, b, _)| (a, b)).collect();
        let place = |share: f64| at(EDGE + (SIDE - 2.0 * EDGE) * share);
        let places = layout::places(samples.len(), &links).into_iter().map(|[x, y]| (place(x), place(y)));
        Ok(Self { line, n_samples, places: places.collect(), samples, links })
    }

    fn size(&self) -> String {
        let samples = text::counted(self.samples.len(), "sample", "samples");
        format!("{samples} with {}", text::counted(self.links.len(), "link", "links"))
    }

    fn explanation(&self) -> String {
        let mut told = format!(
            "A dot is a sample, {}; linked samples are drawn near each other, and axes mean nothing.",
            self.line
        );
        if self.samples.len() < self.n_samples {
            let (drawn, all) = (text::count(self.samples.len()), text::count(self.n_samples));
            told.push_str(&format!(" Of the {all} samples, the {drawn} with the most links are drawn."));
        }
        if self.links.len() > MOST_LINKS {
            let (drawn, all) = (text::count(MOST_LINKS), text::count(self.links.len()));
            told.push_str(&format!(" Of the {all} links between them, {drawn} evenly spaced are drawn."));
        }
        told
    }

    /// The links, and what stands out below every dot: once on a page, since all drawings share them.
    fn shape(&self) -> Markup {
        let link = |at: usize| {
            let (a, b) = self.links[at];
            let ((x, y), (to_x, to_y)) = (&self.places[a], &self.places[b]);
            format!("M{x} {y}L{to_x} {to_y}")
        };
        let links: String = sample::evenly(self.links.len(), MOST_LINKS).map(link).collect();
        let nodes: String = self.places.iter().map(dot).collect();
        html! {
            @if !links.is_empty() { path.links d=(links) {} }
            path.outline d=(nodes) {}
        }
    }

    /// A path of dots for each colour, from the colours of all samples of the data.
    fn nodes_of(&self, colours: &[String]) -> Markup {
        let colour = |i: usize| colours.get(i).map_or("", String::as_str);
        let mut used: Vec<&str> = self.samples.iter().map(|&i| colour(i)).collect();
        used.sort_unstable();
        used.dedup();
        html! {
            @for name in used {
                @let of_it = self.samples.iter().zip(&self.places).filter(|(i, _)| colour(**i) == name);
                path class={ "nodes " (name) } d=(of_it.map(|(_, place)| dot(place)).collect::<String>()) {}
            }
        }
    }

    /// A drawing that keeps its shape at every width of the page.
    fn figure(&self, height: f64, told: &str, content: Markup, below: Markup) -> Markup {
        let drawing = html! {
            svg.stretched viewBox=(format!("0 0 {SIDE} {SIDE}")) width="100%" height=(at(height))
                preserveAspectRatio="xMinYMid" { (content) }
        };
        figure("network", height, told, drawing, below)
    }
}

fn dot((x, y): &(String, String)) -> String {
    format!("M{x} {y}h0")
}

/// The colours of values: standard deviations from their mean.
fn levels(values: &[f64]) -> Vec<String> {
    let (mean, deviation) = samples::moments(values);
    values.iter().map(|&value| format!("d{}", samples::level(value, mean, deviation))).collect()
}

/// The colour of every sample, a sentence that tells what it means, and the names of the colours.
fn by_target(data: &Dataset, run: &RunInfo) -> (Vec<String>, String, Markup) {
    let values = |values: &[f64], more: &str| {
        let name = data::target_name(run);
        let meaning = format!(
            " The colour is the value of {name}, in standard deviations from its mean, from blue to \
             red.{more}"
        );
        (levels(values), meaning, matrix::legend("d", "−2 or less", "2 or more"))
    };
    match data.target() {
        Target::Class(classes) => {
            let rows = data::rows(classes);
            let row =
                |code: u32| rows.iter().position(|row| usize::try_from(code).is_ok_and(|c| c == row.code));
            let colour = |code: &u32| row(*code).map_or("rest".to_owned(), chart::colour);
            let mut names: Vec<(String, &str)> =
                rows.iter().enumerate().map(|(i, row)| (chart::colour(i), row.name)).collect();
            if rows.len() < classes.n_classes() {
                names.push(("rest".to_owned(), "all other classes"));
            }
            let told: Vec<String> = names.iter().map(|(_, name)| text::shortened(name, NAME)).collect();
            let legend = html! {
                ul.legend.of-nodes {
                    @for ((colour, _), name) in names.iter().zip(&told) {
                        li {
                            svg width="12" height="12" aria-hidden="true" {
                                path class={ "nodes " (colour) } d="M6 6h0" {}
                            }
                            " " (name)
                        }
                    }
                }
            };
            (classes.codes().iter().map(colour).collect(), " The colour is the class.".to_owned(), legend)
        }
        Target::Real(outputs) if outputs.n_outputs() > 1 => {
            let more = format!(" The first of {} outputs is drawn.", outputs.n_outputs());
            values(outputs.output(0), &more)
        }
        Target::Real(outputs) => values(outputs.output(0), ""),
        Target::Survival(survival) => values(survival.times(), ""),
        _ => (vec![chart::colour(0); data.n_samples()], String::new(), html! {}),
    }
}

#[cfg(test)]
mod tests {
    use fewest::core::{Authors, DenseColumns, Status};

    use super::super::tests;
    use super::*;

    /// `n` samples with 7 features and these links.
    fn data(n: usize, target: Target, links: &[(usize, usize)]) -> Dataset {
        let links: Vec<(usize, usize, f64)> = links.iter().map(|&(a, b)| (a, b, 1.0)).collect();
        let columns: Vec<Vec<f64>> =
            (0..7).map(|j| (0..n).map(|i| (i * (j + 2) % 11) as f64).collect()).collect();
        let made = DenseColumns::from_columns(&columns)
            .and_then(|columns| Dataset::new(columns, target))
            .and_then(|data| data.with_sample_graph(Graph::undirected(n, &links)?));
        made.unwrap_or_else(|error| panic!("{error}"))
    }

    /// The section for the first `k` features, as a page of its own.
    fn drawn(data: &Dataset, k: usize) -> String {
        let mut run = tests::run(&[tests::NASTY; 7]);
        run.data.targets = vec![tests::NASTY.to_owned()];
        let selection = Selection::new((0..k).collect(), vec![1.0; k], 7, Status::Converged);
        match section(data, &selection, &run) {
            Ok(markup) => markup.into_string(),
            Err(error) => panic!("{error}"),
        }
    }

    fn ring(n: usize) -> Vec<(usize, usize)> {
        (1..n).map(|i| (i - 1, i)).chain((n > 2).then_some((0, n - 1))).collect()
    }

    fn dots(html: &str) -> usize {
        html.matches("h0").count()
    }

    #[test]
    fn every_sample_is_a_dot_in_its_colour() {
        let labels: Vec<usize> = (0..30).map(|i| i % 3).collect();
        let html = drawn(&data(30, Target::from_labels(&labels), &ring(30)), 7);
        // Outlines once, then the classes and each of six features; and the dots of the legend.
        assert_eq!(dots(&html), 30 + 7 * 30 + 3);
        assert_eq!(html.matches("role=\"img\"").count(), 7);
        assert_eq!(html.matches("aria-label=\"").count(), 7);
        assert_eq!(html.matches("href=\"#network-shape\"").count(), 6, "links are written once");
        assert_eq!(html.matches('L').count(), 30);
        for told in
            ["Network of 30 samples with 30 links.", "The colour is the class.", "The 6 best features"]
        {
            assert!(html.contains(told), "`{told}`: {html}");
        }
        for i in 0..3 {
            assert_eq!(html.matches(&format!("class=\"nodes c{i}\"")).count(), 2);
        }
        assert!(!html.contains("<script"), "names never become markup");
    }

    #[test]
    fn the_colour_follows_the_target() {
        let real = |values: Vec<f64>| Target::real(values).unwrap_or_else(|error| panic!("{error}"));
        let html = drawn(&data(4, real(vec![-1.0, -1.0, 1.0, 1.0]), &ring(4)), 0);
        assert!(html.contains("nodes d2") && html.contains("nodes d6"), "{html}");
        let html = drawn(&data(4, Target::None, &ring(4)), 0);
        assert!(html.contains("nodes c0") && !html.contains("colour"), "{html}");
        let labels: Vec<usize> = (0..40).map(|i| i.min(31) % 10).collect();
        let html = drawn(&data(40, Target::from_labels(&labels), &[]), 0);
        assert!(html.contains("nodes rest") && html.contains("all other classes"), "{html}");
        assert!(html.contains("Network of 40 samples with 0 links.") && !html.contains("class=\"links\""));
    }

    /// Samples 0, 2 and 4 are of one author, 1 and 3 of another, who follows him, and 5 of a third; a fourth
    /// has no sample.
    #[test]
    fn samples_of_an_author_are_joined() {
        let made = Graph::directed(4, &[(1, 0, 1.0), (0, 1, 1.0), (3, 0, 1.0)])
            .and_then(|follows| Authors::new(vec![0, 1, 0, 1, 0, 2], follows))
            .and_then(|authors| {
                let columns = DenseColumns::from_columns(&vec![vec![1.0, 2.0, 0.0, 3.0, 1.0, 5.0]; 7])?;
                Dataset::new(columns, Target::None)?.with_authors(authors)
            });
        let data = made.unwrap_or_else(|error| panic!("{error}"));
        let Ok(Some((graph, _))) = links(&data) else { panic!("links") };
        assert_eq!(graph.links().collect::<Vec<_>>(), [(0, 1, 1.0), (0, 2, 1.0), (1, 3, 1.0), (2, 4, 1.0)]);
        let html = drawn(&data, 2);
        assert!(html.contains("Network of 6 samples with 4 links."), "{html}");
        assert!(html.contains("to the next one of its author"), "{html}");
    }

    #[test]
    fn without_links_there_is_no_drawing() {
        let columns = DenseColumns::from_columns(&vec![vec![1.0, 2.0]; 7]);
        let Ok(data) = columns.and_then(|columns| Dataset::new(columns, Target::None)) else {
            panic!("a table")
        };
        assert_eq!(drawn(&data, 3), "");
    }

    #[test]
    fn strange_tables_draw_no_strange_places() {
        for (n, links) in [(1, vec![]), (2, vec![]), (2, vec![(0, 1)]), (5, vec![(3, 4)])] {
            let html = drawn(&data(n, Target::None, &links), 3);
            assert!(!html.contains("NaN") && !html.contains("inf"), "{html}");
        }
    }

    #[test]
    fn large_networks_stay_small() {
        // The last samples have no links.
        let n = 1500;
        let links: Vec<(usize, usize)> =
            (0..1100).flat_map(|i| (1..5).map(move |step| (i, i + step))).collect();
        let html = drawn(&data(n, Target::None, &links), 6);
        assert!(html.contains("Of the 1,500 samples, the 1,000 with the most links are drawn."));
        assert!(html.contains("links between them, 2,000 evenly spaced are drawn."));
        assert_eq!((dots(&html), html.matches('L').count()), (8 * 1000, 2000));
        assert!(html.len() < 150_000, "{} bytes", html.len());
    }
}
