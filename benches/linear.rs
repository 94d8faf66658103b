//! Best subsets; linear models with structure: groups, trees and graphs of features, found by correlation;
//! and without a target.

use criterion::Criterion;
use fewest::core::{Authors, Budget, Context, Graph, Views};
use fewest::data::synthetic;
use fewest::registry::{Parameters, Registry};

/// Method and parameters.
const CASES: [(&str, &[&str]); 35] = [
    ("adaptive-lasso", &[]),
    ("lasso", &["covariates=100,200", "offset=300"]),
    ("lasso", &["covariates=100,200", "loss=huber"]),
    ("l21", &[]),
    ("fsnet", &[]),
    ("linkedfs", &[]),
    ("lufs", &["clusters=5"]),
    ("netfs", &["clusters=5"]),
    ("group-lasso", &["groups=correlation", "threshold=0.2", "loss=logistic"]),
    ("best-subset", &[]),
    ("group-lasso", &["groups=correlation", "threshold=0.2"]),
    ("sparse-group-lasso", &["groups=correlation", "threshold=0.2"]),
    ("tree-lasso", &["groups=correlation", "threshold=0.2"]),
    ("fused-lasso", &[]),
    ("graph-lasso", &["threshold=0.2"]),
    ("gflasso", &["threshold=0.2"]),
    ("gflasso", &["threshold=0.2", "power=2"]),
    ("goscar", &["threshold=0.2"]),
    ("oscar", &[]),
    ("mcfs", &["clusters=5"]),
    ("udfs", &["clusters=5"]),
    ("ndfs", &["clusters=5"]),
    ("jelsr", &["clusters=5"]),
    ("overlapping-group-lasso", &["groups=correlation", "threshold=0.2"]),
    ("overlapping-group-lasso", &["groups=correlation", "threshold=0.2", "overlap=latent"]),
    ("slope", &[]),
    ("nonconvex-lasso", &[]),
    ("nonconvex-grouping", &["threshold=0.2"]),
    ("gpcov-var", &[]),
    ("group-l1-l21", &[]),
    ("group-l1-l21-clusters", &["clusters=5"]),
    ("mvfs", &["clusters=5"]),
    ("aumfs", &["clusters=5"]),
    ("gpcov-spca", &["view=0", "solver=semidefinite"]),
    ("gpcov-spca", &["solver=truncated"]),
];

/// Samples and features.
const SIZE: (usize, usize) = (200, 500);

pub(crate) fn benches(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("linear");
    group.sample_size(10);
    let context = Context::default();
    let (n, d) = SIZE;
    let data = synthetic::data2(n, d, 0).expect("a problem").dataset;
    // Neighbours in a chain are linked, and ten in a row have the same author.
    let chain: Vec<(usize, usize, f64)> = (1..n).map(|i| (i - 1, i, 1.0)).collect();
    let authors = (0..n).map(|i| i / 10).collect();
    let authors = Authors::new(authors, Graph::directed(n, &[]).expect("a graph")).expect("authors");
    let data = data.with_sample_graph(Graph::undirected(n, &chain).expect("a graph")).expect("links");
    let data = data.with_authors(authors).expect("authors");
    // The first view has as many features as a semidefinite programme takes in a short time.
    let views = vec![("narrow".to_owned(), (0..50).collect()), ("wide".to_owned(), (50..d).collect())];
    let data = data.with_views(Views::new(d, views).expect("views")).expect("views");
    for (id, params) in CASES {
        let method = Registry::standard().find(id).expect("a method");
        let parameters = Parameters::parse(method, params).expect("parameters");
        let selector = method.build(&parameters).expect("a selector").into_selector();
        let name = [&[id], params].concat().join(" ");
        group.bench_function(format!("{name}, n = {n}, d = {d}"), |bencher| {
            bencher.iter(|| selector.select(&data, Budget::Count(10), &context).expect("a selection"));
        });
    }
    group.finish();
}
