//! Which pairs of features are correlated given all others, and the correlations that follow.

use fewest_core::{Context, Error};
use fewest_linalg::{Cholesky, add_scaled};

use super::model::BEFORE;

/// Sweeps over the coefficients of one feature, at most.
const MOST_SWEEPS: usize = 100;

/// A sweep that changes no coefficient by more than this is the last.
const SETTLED: f64 = 1e-4;

/// Multiplications for the correlations of a graph, at most, in `d³`, and a number that is always allowed.
const MOST_WORK: (f64, f64) = (10.0, 1e8);

/// A graph is refused of which this many rounds over the features would take more than that: correlations
/// that are shrunk then say as much.
const LEAST_ROUNDS: f64 = 20.0;

/// Rounds, at most.
const MOST_ROUNDS: f64 = 1000.0;

/// A round that changes no correlation by more than this is the last.
const COMPLETED: f64 = 1e-6;

/// What is added to the diagonal, so that the correlations of few samples are positive definite.
const RIDGE: f64 = 1e-3;

/// Each feature predicted from all others by a lasso, on correlations `C`:
/// `minimise ½ bᵀ C b − cⱼᵀ b + λ ‖b‖₁` (Meinshausen and Bühlmann 2006, Eq. 3).
pub(super) struct Neighbours<'a> {
    correlations: &'a [f64],
    d: usize,
    /// Of each feature.
    predictions: Vec<Prediction>,
}

/// The prediction of a feature.
#[derive(Clone)]
struct Prediction {
    /// A coefficient for each feature, 0 for itself.
    coefficients: Vec<f64>,
    /// `cⱼ − C b`.
    correlation_left: Vec<f64>,
}

impl<'a> Neighbours<'a> {
    /// Without any.
    pub(super) fn new(correlations: &'a [f64], d: usize) -> Self {
        let prediction = |j: usize| Prediction {
            coefficients: vec![0.0; d],
            correlation_left: correlations[j * d..(j + 1) * d].to_vec(),
        };
        Self { correlations, d, predictions: (0..d).map(prediction).collect() }
    }

    /// Those at a penalty, from those at the penalty before: for each feature the others that predict it or
    /// that it predicts, increasing. `None` where one has more than `most`.
    pub(super) fn at(
        &mut self,
        penalty: f64,
        most: usize,
        context: &Context<'_>,
    ) -> Result<Option<Vec<Vec<usize>>>, Error> {
        let (d, correlations) = (self.d, self.correlations);
        let fits = fewest_parallel::chunks(&mut self.predictions, 1, |j, prediction| {
            context.go_on(BEFORE)?;
            Ok::<_, Error>(prediction.iter_mut().all(|own| own.solve(j, correlations, d, penalty, most)))
        });
        let fits = fits.into_iter().collect::<Result<Vec<bool>, Error>>()?;
        if !fits.into_iter().all(|fits| fits) {
            return Ok(None);
        }
        let mut neighbours = vec![Vec::new(); d];
        for j in 0..d {
            for k in 0..j {
                if self.predictions[j].coefficients[k] != 0.0 || self.predictions[k].coefficients[j] != 0.0 {
                    neighbours[j].push(k);
                    neighbours[k].push(j);
                }
            }
        }
        neighbours.iter_mut().for_each(|own: &mut Vec<usize>| own.sort_unstable());
        Ok(neighbours.iter().all(|own| own.len() <= most).then_some(neighbours))
    }
}

impl Prediction {
    /// By coordinates; whether there are at most `most` others.
    fn solve(&mut self, j: usize, correlations: &[f64], d: usize, penalty: f64, most: usize) -> bool {
        for _ in 0..MOST_SWEEPS {
            let mut largest = 0.0_f64;
            for k in (0..d).filter(|k| *k != j) {
                let before = self.coefficients[k];
                // The diagonal is one.
                let target = before + self.correlation_left[k];
                let after = target.signum() * (target.abs() - penalty).max(0.0);
                if after != before {
                    let change = after - before;
                    self.coefficients[k] = after;
                    add_scaled(&mut self.correlation_left, -change, &correlations[k * d..(k + 1) * d]);
                    largest = largest.max(change.abs());
                }
            }
            // In between there may be more of them than at the end.
            if self.count() > 2 * most {
                return false;
            }
            if largest <= SETTLED {
                break;
            }
        }
        self.count() <= most
    }

    fn count(&self) -> usize {
        self.coefficients.iter().filter(|value| **value != 0.0).count()
    }
}

/// The correlations of the most likely normal distribution in which only neighbours are correlated given all
/// others (Dempster 1972): those of neighbours are the given ones, and the inverse has zeros elsewhere. By
/// one feature after the other, as its neighbours predict it (Hastie, Tibshirani and Friedman 2009, Algorithm
/// 17.1). `None` where that fails, or takes too long.
pub(super) fn completed(
    correlations: &[f64],
    neighbours: &[Vec<usize>],
    context: &Context<'_>,
) -> Result<Option<Vec<f64>>, Error> {
    let d = neighbours.len();
    let size = d as f64;
    let degrees = neighbours.iter().map(|own| own.len() as f64);
    let round: f64 = degrees.map(|degree| degree.powi(3) / 3.0 + size * degree).sum();
    let rounds = (MOST_WORK.0 * size.powi(3)).max(MOST_WORK.1) / round.max(1.0);
    if rounds < LEAST_ROUNDS {
        return Ok(None);
    }
    let rounds = rounds.min(MOST_ROUNDS) as usize;
    let given = |j: usize, k: usize| correlations[j * d + k] / (1.0 + RIDGE);
    // Those of the samples, which are positive definite, and stay so; features that no path joins are
    // independent.
    let part = parts(neighbours);
    let mut completed = vec![0.0; d * d];
    for (j, column) in completed.chunks_exact_mut(d).enumerate() {
        for (k, value) in column.iter_mut().enumerate().filter(|(k, _)| part[*k] == part[j]) {
            *value = if j == k { 1.0 } else { given(j, k) };
        }
    }
    let mut column = vec![0.0; d];
    for _ in 0..rounds {
        let mut largest = 0.0_f64;
        for (j, own) in neighbours.iter().enumerate().filter(|(_, own)| !own.is_empty()) {
            context.go_on(BEFORE)?;
            let among = own.iter().flat_map(|&k| own.iter().map(move |&l| (k, l)));
            let among = among.map(|(k, l)| completed[k * d + l]).collect();
            let Some(factor) = Cholesky::of(among, own.len()) else { return Ok(None) };
            let mut weights: Vec<f64> = own.iter().map(|&k| given(j, k)).collect();
            factor.solve(&mut weights);
            column.fill(0.0);
            for (&k, weight) in own.iter().zip(&weights) {
                add_scaled(&mut column, *weight, &completed[k * d..(k + 1) * d]);
            }
            column[j] = 1.0;
            for (k, &value) in column.iter().enumerate() {
                largest = largest.max((completed[j * d + k] - value).abs());
                completed[j * d + k] = value;
                completed[k * d + j] = value;
            }
        }
        if largest <= COMPLETED {
            break;
        }
    }
    Ok(Some(completed))
}

/// For each feature the number of its connected part.
fn parts(neighbours: &[Vec<usize>]) -> Vec<usize> {
    let mut part = vec![usize::MAX; neighbours.len()];
    for start in 0..neighbours.len() {
        let mut ahead = vec![start];
        while let Some(j) = ahead.pop() {
            if part[j] == usize::MAX {
                part[j] = start;
                ahead.extend(&neighbours[j]);
            }
        }
    }
    part
}

#[cfg(test)]
mod tests {
    use nalgebra::DMatrix;

    use super::*;

    /// Of a chain: each feature is correlated by `rho` with the next, and noise of `size` is added to all.
    fn chain(d: usize, rho: f64, size: f64) -> Vec<f64> {
        let noise = crate::knockoffs::model::normal_numbers(3, d * d);
        let entry = |at: usize| {
            let (i, j) = (at % d, at / d);
            let own = if i == j { 0.0 } else { size * noise[i.max(j) * d + i.min(j)] };
            rho.powi(i.abs_diff(j) as i32) + own
        };
        (0..d * d).map(entry).collect()
    }

    /// At the minimum `cⱼ − C b` is at most the penalty, and the penalty with the sign of `b` where that is
    /// not 0.
    #[test]
    fn predictions_are_minima() {
        let (d, penalty) = (30, 0.2);
        let correlations = chain(d, 0.6, 0.05);
        let mut neighbours = Neighbours::new(&correlations, d);
        // From another penalty, too.
        neighbours.at(0.4, d, &Context::default()).unwrap();
        let graph = neighbours.at(penalty, d, &Context::default()).unwrap().unwrap();
        for (j, own) in neighbours.predictions.iter().enumerate() {
            for k in (0..d).filter(|k| *k != j) {
                let fit: f64 = (0..d).map(|l| correlations[k * d + l] * own.coefficients[l]).sum();
                let gradient = correlations[j * d + k] - fit;
                let value = own.coefficients[k];
                assert!(gradient.abs() <= penalty + 1e-3, "{j} {k} {gradient}");
                assert!(value == 0.0 || (gradient - penalty * value.signum()).abs() < 1e-3, "{j} {k}");
                let joined = value != 0.0 || neighbours.predictions[k].coefficients[j] != 0.0;
                assert_eq!(joined, graph[j].contains(&k));
            }
            assert_eq!(own.coefficients[j], 0.0);
        }
        // The neighbours in the chain, and few others.
        assert!((0..d - 1).all(|j| graph[j].contains(&(j + 1))));
        assert!(graph.iter().map(Vec::len).sum::<usize>() < 4 * d);
        assert!(neighbours.at(0.01, 2, &Context::default()).unwrap().is_none());
    }

    /// Neighbours have the correlations that are given, others the inverse of zero.
    #[test]
    fn a_completion_has_the_entries_and_the_zeros_of_its_graph() {
        let d = 12;
        let correlations = chain(d, 0.5, 0.05);
        // A chain, a chord that makes a cycle of four, and a feature by itself.
        let mut graph: Vec<Vec<usize>> = vec![Vec::new(); d];
        let pairs: Vec<(usize, usize)> = (0..d - 2).map(|j| (j, j + 1)).chain([(2, 5)]).collect();
        for (j, k) in pairs {
            graph[j].push(k);
            graph[k].push(j);
        }
        let found = completed(&correlations, &graph, &Context::default()).unwrap().unwrap();
        let inverse = DMatrix::from_vec(d, d, found.clone()).cholesky().unwrap().inverse();
        for j in 0..d {
            for k in 0..d {
                let value = found[j * d + k];
                if j == k {
                    assert_eq!(value, 1.0);
                } else if graph[j].contains(&k) {
                    assert!(
                        (value - correlations[j * d + k] / (1.0 + RIDGE)).abs() < 1e-3,
                        "{j} {k} {value}"
                    );
                } else {
                    assert!(inverse[(j, k)].abs() < 2e-5, "{j} {k} {}", inverse[(j, k)]);
                }
            }
        }
        assert!((0..d - 1).all(|k| found[(d - 1) * d + k] == 0.0));
    }

    /// Of a long chain with strong correlations, and of features that all predict each other, of which few
    /// samples are known.
    #[test]
    fn long_and_dense_graphs_are_completed() {
        let d = 100;
        let chained: Vec<Vec<usize>> =
            (0..d).map(|j: usize| (0..d).filter(|k| k.abs_diff(j) == 1).collect()).collect();
        let found = completed(&chain(d, 0.95, 0.0), &chained, &Context::default()).unwrap().unwrap();
        let step: f64 = 0.95 / (1.0 + RIDGE);
        for (at, value) in found.iter().enumerate() {
            let expected = step.powi((at % d).abs_diff(at / d) as i32);
            assert!((value - expected).abs() < 2e-3, "{at} {value} {expected}");
        }
        let (n, d) = (12, 30);
        let mut z = crate::knockoffs::model::normal_numbers(5, n * d);
        for column in z.chunks_exact_mut(n) {
            assert!(fewest_columns::standardise(column));
        }
        let mut samples = fewest_linalg::gram(&z, n);
        samples.iter_mut().for_each(|value| *value /= n as f64);
        let dense: Vec<Vec<usize>> =
            (0..d).map(|j| (0..d).filter(|k| *k != j && (j + k) % 3 > 0).collect()).collect();
        let found = completed(&samples, &dense, &Context::default()).unwrap().unwrap();
        assert!(Cholesky::of(found, d).is_some());
    }
}
