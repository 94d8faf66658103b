//! Objectives, duality gaps and stationary points from their definitions.

use fewest_core::{Context, Dataset, DenseColumns, Error, Target, Views, derive_seed};
use fewest_neighbours::{GraphOptions, NeighbourGraph, SpectralEmbedding};
use fewest_solver::Control;
use nalgebra::DMatrix;

use super::ViewLoss;
use super::descent::{Descent, Part, Point};
use super::pieces::Pieces;
use super::splitting::ViewModel;
use crate::columns::LinearColumns;
use crate::unsupervised::{Design, from_embedding};

type Tested = Result<(), Error>;

const N: usize = 30;
const D: usize = 7;
const VIEW_OF: [usize; D] = [0, 0, 0, 1, 1, 2, 2];

fn noise(seed: u64, i: usize) -> f64 {
    derive_seed(seed, i as u64) as f64 / u64::MAX as f64 - 0.5
}

/// Features 0, 1 and 3 follow three groups of samples.
fn data() -> Result<Dataset, Error> {
    let centre =
        |j: usize, group: usize| if [0, 1, 3].contains(&j) { [0.0, 1.0, 2.0][(group + j) % 3] } else { 0.0 };
    let column = |j: usize| (0..N).map(|i| centre(j, i % 3) + noise(j as u64 + 1, i)).collect();
    let columns: Vec<Vec<f64>> = (0..D).map(column).collect();
    let sets = (0..3).map(|v| (v.to_string(), (0..D).filter(|&j| VIEW_OF[j] == v).collect()));
    Dataset::new(DenseColumns::from_columns(&columns)?, Target::None)?
        .with_views(Views::new(D, sets.collect())?)
}

fn views(data: &Dataset) -> Result<Views, Error> {
    data.needed_views("a test").cloned()
}

/// The standardised table.
fn table(data: &Dataset) -> Result<DMatrix<f64>, Error> {
    let columns = LinearColumns::with_outputs(data, "a test", Vec::new(), &Context::default())?;
    Ok(DMatrix::from_vec(N, D, columns.gather(&(0..D).collect::<Vec<_>>())?))
}

fn length(values: impl Iterator<Item = f64>) -> f64 {
    values.map(|value| value * value).sum::<f64>().sqrt()
}

/// `Σⱼ ‖Wⱼ‖` and `Σ_v Σ_k ‖W_vk‖`, and the longest of each.
fn norms(w: &DMatrix<f64>) -> ([f64; 2], [f64; 2]) {
    let rows: Vec<f64> = (0..D).map(|j| length(w.row(j).iter().copied())).collect();
    let own = |v: usize, k: usize| length((0..D).filter(move |&j| VIEW_OF[j] == v).map(|j| w[(j, k)]));
    let pieces: Vec<f64> =
        (0..3).flat_map(|v| (0..w.ncols()).map(move |k| (v, k))).map(|(v, k)| own(v, k)).collect();
    let most = |values: &[f64]| values.iter().copied().fold(0.0, f64::max);
    ([rows.iter().sum(), pieces.iter().sum()], [most(&rows), most(&pieces)])
}

/// The certificate is a duality gap: `⟨Θ, Y⟩ − n/2 ‖Θ‖²` of a `Θ` whose correlations are a sum of two
/// matrices in the balls of the two norms is below the objective of any coefficients.
#[test]
fn gaps_are_those_of_the_definition() -> Tested {
    let data = data()?;
    let x = table(&data)?;
    let y = DMatrix::from_fn(N, 3, |i, k| f64::from(i % 3 == k) - 1.0 / 3.0);
    let control = Control { tolerance: 1e-10, ..Control::default() };
    for ratio in [0.5, 2.0] {
        let pieces = Pieces::new(&[0, 1, 2, 3, 4, 5, 6], VIEW_OF.to_vec(), ratio);
        let model = ViewModel::new(x.clone(), y.clone(), pieces, &control)?;
        for share in [0.7, 0.2, 0.01] {
            let lambda = share * model.largest();
            let mut point = model.start(lambda);
            let found = model.minimise(lambda, &mut point, &control);
            let n = N as f64;
            let residual = &y - &x * &found.w;
            let ([rows, pieces], _) = norms(&found.w);
            let objective = residual.norm_squared() / (2.0 * n) + lambda * (rows + ratio * pieces);
            assert!((found.objective - objective).abs() < 1e-12 * objective);
            // A matrix whose pieces are short, and what is left of the correlations.
            let second = point.multipliers()[1].clone();
            let theta = &residual / n;
            let first = x.tr_mul(&theta) - &second;
            let scale =
                (norms(&first).1[0] / lambda).max(norms(&second).1[1] / (ratio * lambda)).max(1.0).recip();
            let dual = scale * theta.dot(&y) - 0.5 * n * scale * scale * theta.norm_squared();
            let gap = (objective - dual) / (y.norm_squared() / (2.0 * n));
            assert!(gap > -1e-14 && gap < 1e-8, "{gap} at {share} of the largest");
            assert!(found.gap <= 1e-10, "{}", found.gap);
        }
    }
    Ok(())
}

/// The dual norm is the largest `⟨C, W⟩` over coefficients of norm 1, and the least scale of a sum of two
/// matrices.
#[test]
fn the_dual_norm_is_between_both_sides() -> Tested {
    for (seed, ratio) in [(40, 0.3), (41, 1.0), (42, 3.0)] {
        let pieces = Pieces::new(&[0, 1, 2, 3, 4, 5, 6], VIEW_OF.to_vec(), ratio);
        let c = DMatrix::from_fn(D, 2, |j, k| noise(seed, 2 * j + k));
        let dual = pieces.dual_norm(&c);
        let ([rows, of_views], _) = norms(&c);
        assert!(c.norm_squared() / (rows + ratio * of_views) <= dual * (1.0 + 1e-12));
        let (_, [row, piece]) = norms(&c);
        // All in one of the two balls.
        assert!(dual <= row.min(piece / ratio) * (1.0 + 1e-12));
        for trial in 0..200 {
            let w = DMatrix::from_fn(D, 2, |j, k| noise(seed + 100 + trial, 2 * j + k));
            assert!(c.dot(&w) <= dual * pieces.value(&w) * (1.0 + 1e-12));
        }
    }
    Ok(())
}

fn graphs(data: &Dataset) -> Result<Vec<Option<NeighbourGraph>>, Error> {
    let context = Context::default();
    let graph =
        |set: &Vec<usize>| GraphOptions::default().build(&data.feature_subset(set)?, &context).map(Some);
    views(data)?.sets().iter().map(graph).collect()
}

fn start(data: &Dataset) -> Result<DMatrix<f64>, Error> {
    let context = Context::default();
    let graph = GraphOptions::default().build(data, &context)?;
    Ok(from_embedding(&graph, &SpectralEmbedding::of_clusters(&graph, Some(3), &context)?))
}

/// The objective with plain loops.
fn objective(descent: &Descent<'_>, f: &DMatrix<f64>, w: &[DMatrix<f64>], weights: &[f64]) -> f64 {
    let smoothed = |square: f64| (square + descent.smoothing).sqrt();
    let mut sum = 0.5 * descent.gamma * (f.tr_mul(f) - DMatrix::identity(3, 3)).norm_squared();
    for (graph, weight) in descent.graphs.iter().zip(weights) {
        let Some(graph) = graph else { continue };
        let degree = |i: usize| graph.edges(i).map(|(_, edge)| edge).sum::<f64>();
        for i in 0..N {
            for k in 0..3 {
                let neighbours: f64 =
                    graph.edges(i).map(|(j, edge)| edge * f[(j, k)] / (degree(i) * degree(j)).sqrt()).sum();
                sum += weight.powf(descent.power) * f[(i, k)] * (f[(i, k)] - neighbours);
            }
        }
    }
    for (part, w) in descent.parts.iter().zip(w) {
        let residual = &part.design.x * w - f;
        for row in residual.row_iter() {
            sum += descent.beta
                * match descent.loss {
                    ViewLoss::Squared => row.norm_squared(),
                    ViewLoss::Lengths => smoothed(row.norm_squared()),
                };
        }
        for row in w.row_iter() {
            sum += descent.beta * descent.alpha * smoothed(row.norm_squared());
        }
        if let Some(view_of) = &part.view_of {
            for (v, k) in (0..3).flat_map(|v| (0..3).map(move |k| (v, k))) {
                let own: f64 = (0..D).filter(|&j| view_of[j] == v).map(|j| w[(j, k)].powi(2)).sum();
                sum += descent.beta * descent.alpha * descent.ratio * smoothed(own);
            }
        }
    }
    sum
}

/// No small step of any variable, within its bounds, lowers the objective by more than its square.
fn is_a_minimum(descent: &Descent<'_>, end: &Point) {
    let value = |f: &DMatrix<f64>, w: &[DMatrix<f64>]| objective(descent, f, w, &end.weights);
    let known = value(&end.f, &end.w);
    assert!((known - end.objective).abs() < 1e-10 * known, "{known} for {}", end.objective);
    let step = 1e-6;
    for (i, k) in (0..N).flat_map(|i| (0..3).map(move |k| (i, k))) {
        let at = |to: f64| {
            let mut f = end.f.clone();
            f[(i, k)] = to;
            value(&f, &end.w)
        };
        let now = end.f[(i, k)];
        let slope = (at(now + step) - at((now - step).max(0.0))) / (step + now.min(step));
        let pulls = if now > step { slope.abs() } else { (-slope).max(0.0) };
        assert!(pulls < 1e-2, "F[{i}, {k}] = {now} has the slope {slope}");
    }
    for (at, w) in end.w.iter().enumerate() {
        for place in 0..w.len() {
            let moved = |by: f64| {
                let mut all = end.w.clone();
                all[at][place] += by;
                value(&end.f, &all)
            };
            let slope = (moved(step) - moved(-step)) / (2.0 * step);
            assert!(slope.abs() < 1e-3, "W {place} of part {at} has the slope {slope}");
        }
    }
    // No other weights are better.
    for v in 0..end.weights.len() {
        let mut others: Vec<f64> = end.weights.iter().map(|weight| 0.95 * weight).collect();
        others[v] += 0.05;
        assert!(objective(descent, &end.f, &end.w, &others) > known);
    }
}

#[test]
fn descents_end_at_a_minimum_of_the_definition() -> Tested {
    let data = data()?;
    let context = Context::default();
    for loss in [ViewLoss::Lengths, ViewLoss::Squared] {
        for form in ["aumfs", "mvfs", "clusters"] {
            let sets = if form == "mvfs" { views(&data)?.sets() } else { vec![(0..D).collect()] };
            let mut parts = Vec::new();
            for features in sets {
                let design = Design::new(&data.feature_subset(&features)?, "a test", &context)?;
                let view_of = (form == "clusters").then(|| VIEW_OF.to_vec());
                parts.push(Part { design, features, view_of });
            }
            let descent = Descent {
                parts,
                graphs: if form == "clusters" { Vec::new() } else { graphs(&data)? },
                loss,
                alpha: 0.3,
                ratio: if form == "clusters" { 0.7 } else { 0.0 },
                beta: 0.4,
                gamma: 50.0,
                power: 2.0,
                smoothing: 1e-4,
                tolerance: 1e-8,
                context: &context,
            };
            let (end, status, _, first) = descent.minimise(start(&data)?)?;
            assert_eq!(status, fewest_core::Status::Converged, "{form} {loss:?}");
            assert!(end.objective < first, "{form} {loss:?}");
            is_a_minimum(&descent, &end);
        }
    }
    Ok(())
}
