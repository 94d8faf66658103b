//! The correlations of the features, estimated as those of a few factors and of what these leave.

use fewest_core::{Context, Error, derive_seed};
use fewest_linalg::{Cholesky, add_scaled, dot, gram_unless, transposed};

use super::graph::{Neighbours, completed};
use super::model::{BEFORE, Spectrum, share_of_identity};

/// Numbers of factors that are tried.
const FACTORS: [usize; 5] = [0, 1, 2, 4, 8];

/// One of so many samples is held out.
const HELD_OUT: usize = 3;

/// Each penalty of the graphs is this share of the one before.
const STEP: f64 = 0.8;

/// So many candidates in a row that are no better than one before end a search.
const PATIENCE: usize = 2;

/// A feature of which factors leave no larger share of the standard deviation follows from them.
const NOTHING_LEFT: f64 = 1e-4;

/// Penalties below this would let noise in whatever the number of samples.
const LEAST_PENALTY: f64 = 1e-3;

/// A correlation matrix, `d × d`, and what it is made of.
pub(super) struct Estimate {
    pub values: Vec<f64>,
    /// The number of factors.
    pub factors: usize,
    pub rest: Rest,
}

/// How the correlations that factors leave are estimated.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Rest {
    /// Shrunk: the share of the identity.
    Shrunk(f64),
    /// By a graph: the number of pairs that are correlated given all other features.
    Graph(usize),
}

/// A way to estimate.
#[derive(Debug, Clone, Copy)]
struct Candidate {
    factors: usize,
    /// Of a graph; `None` for correlations that are shrunk.
    penalty: Option<f64>,
}

/// The correlations of the samples, shrunk: what is always there.
const SHRUNK: Candidate = Candidate { factors: 0, penalty: None };

impl Estimate {
    /// The one, of some, under which samples that are held out are most likely: of [`FACTORS`], the
    /// principal components, with the correlations that they leave shrunk by the rule of Ledoit and Wolf,
    /// and, for no factors and for the best number of them, of the graphs at decreasing penalties.
    pub(super) fn chosen(z: &[f64], n: usize, context: &Context<'_>) -> Result<Self, Error> {
        let candidate = choose(z, n, context)?;
        let samples = Samples::new(z, n, context)?;
        match samples.estimate(candidate, context)? {
            Some(estimate) => Ok(estimate),
            // What could be had of the samples that were not held out cannot be had of all.
            None => Ok(samples.estimate(SHRUNK, context)?.unwrap_or_else(|| Self::independent(samples.d))),
        }
    }

    fn independent(d: usize) -> Self {
        let values = (0..d * d).map(|at| f64::from(at % (d + 1) == 0)).collect();
        Self { values, factors: 0, rest: Rest::Shrunk(1.0) }
    }
}

/// The candidate under which samples that are held out are most likely.
fn choose(z: &[f64], n: usize, context: &Context<'_>) -> Result<Candidate, Error> {
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by_key(|&i| derive_seed(0, i as u64));
    let (out, kept) = order.split_at(n / HELD_OUT);
    let held_out = HeldOut::new(z, n, out);
    let kept_values = rows_of(z, n, kept);
    let samples = Samples::new(&kept_values, kept.len(), context)?;
    let (mut best, mut loss, mut misses) = (SHRUNK, f64::INFINITY, 0);
    for factors in FACTORS.into_iter().filter(|factors| 4 * factors < kept.len().min(samples.d)) {
        let candidate = Candidate { factors, penalty: None };
        let Some(estimate) = samples.estimate(candidate, context)? else { break };
        let own = held_out.loss(estimate.values, context)?;
        if own < loss {
            (best, loss, misses) = (candidate, own, 0);
        } else {
            misses += 1;
        }
        if misses == PATIENCE {
            break;
        }
    }
    let mut numbers = vec![0, best.factors];
    numbers.dedup();
    for factors in numbers {
        let Some(parts) = samples.parts(factors) else { continue };
        let mut neighbours = Neighbours::new(&parts.left, samples.d);
        let (mut penalty, mut least, mut misses) = (STEP * parts.largest(), f64::INFINITY, 0);
        while misses < PATIENCE && penalty > LEAST_PENALTY {
            let Some(estimate) = parts.with_graph(&mut neighbours, penalty, kept.len(), context)? else {
                break;
            };
            let own = held_out.loss(estimate.values, context)?;
            if own < least {
                (least, misses) = (own, 0);
            } else {
                misses += 1;
            }
            if own < loss {
                (best, loss) = (Candidate { factors, penalty: Some(penalty) }, own);
            }
            penalty *= STEP;
        }
    }
    Ok(best)
}

/// What an estimate is of.
struct Samples<'a> {
    /// Column after column.
    z: &'a [f64],
    n: usize,
    d: usize,
    /// `ZᵀZ / n`.
    products: Vec<f64>,
    spectrum: Spectrum,
}

impl<'a> Samples<'a> {
    fn new(z: &'a [f64], n: usize, context: &Context<'_>) -> Result<Self, Error> {
        let mut products = gram_unless(z, n, &|| context.stopped().is_some());
        products.iter_mut().for_each(|value| *value /= n as f64);
        let spectrum = Spectrum::of(z, n, context)?;
        context.go_on(BEFORE)?;
        Ok(Self { z, n, d: z.len() / n, products, spectrum })
    }

    /// `None` where it cannot be had.
    fn estimate(&self, candidate: Candidate, context: &Context<'_>) -> Result<Option<Estimate>, Error> {
        let Some(parts) = self.parts(candidate.factors) else { return Ok(None) };
        match candidate.penalty {
            Some(penalty) => {
                parts.with_graph(&mut Neighbours::new(&parts.left, self.d), penalty, self.n, context)
            }
            None => Ok(Some(parts.shrunk(self.shrinkage(&parts, context)?))),
        }
    }

    /// `None` where nothing of a feature is left.
    fn parts(&self, factors: usize) -> Option<Parts> {
        let d = self.d;
        let vectors: Vec<f64> = self.spectrum.vectors.iter().take(factors * d).copied().collect();
        let variances: Vec<f64> =
            self.spectrum.values.iter().take(factors).map(|value| value / self.n as f64).collect();
        let mut left = self.products.clone();
        for (vector, variance) in vectors.chunks_exact(d).zip(&variances) {
            for (column, weight) in left.chunks_exact_mut(d).zip(vector) {
                add_scaled(column, -variance * weight, vector);
            }
        }
        let scales: Vec<f64> = left.iter().step_by(d + 1).map(|value| value.max(0.0).sqrt()).collect();
        if scales.iter().any(|scale| scale.is_nan() || *scale <= NOTHING_LEFT) {
            return None;
        }
        for (j, (column, own)) in left.chunks_exact_mut(d).zip(&scales).enumerate() {
            column.iter_mut().zip(&scales).for_each(|(value, other)| *value /= own * other);
            column[j] = 1.0;
        }
        Some(Parts { vectors, variances, left, scales })
    }

    /// The share of the identity in what is left, by the rule of Ledoit and Wolf.
    fn shrinkage(&self, parts: &Parts, context: &Context<'_>) -> Result<f64, Error> {
        let (n, d) = (self.n, self.d);
        let fourth = fewest_parallel::try_map(n, |i| {
            context.go_on(BEFORE)?;
            let mut row: Vec<f64> = (0..d).map(|j| self.z[j * n + i]).collect();
            for vector in parts.vectors.chunks_exact(d) {
                let along = dot(vector, &row);
                add_scaled(&mut row, -along, vector);
            }
            let squares = row.iter().zip(&parts.scales).map(|(value, scale)| (value / scale).powi(2));
            Ok::<_, Error>(squares.sum::<f64>().powi(2))
        })?;
        let fourth = fourth.iter().sum::<f64>() / n as f64;
        Ok(share_of_identity(dot(&parts.left, &parts.left), fourth, n, d))
    }
}

/// Products of samples as those of factors and of what these leave.
struct Parts {
    /// The factors' directions, of unit length, `d` each.
    vectors: Vec<f64>,
    /// What each explains.
    variances: Vec<f64>,
    /// The correlations that are left, `d × d`.
    left: Vec<f64>,
    /// The standard deviations that are left.
    scales: Vec<f64>,
}

impl Parts {
    fn shrunk(&self, share: f64) -> Estimate {
        let mut values: Vec<f64> = self.left.iter().map(|value| (1.0 - share) * value).collect();
        values.iter_mut().step_by(self.scales.len() + 1).for_each(|value| *value = 1.0);
        self.joined(values, Rest::Shrunk(share))
    }

    /// The graph at `penalty`, by `n` samples. `None` where a feature has too many neighbours, or numbers
    /// fail.
    fn with_graph(
        &self,
        neighbours: &mut Neighbours<'_>,
        penalty: f64,
        n: usize,
        context: &Context<'_>,
    ) -> Result<Option<Estimate>, Error> {
        // With more neighbours a feature would not be predicted, but repeated.
        let Some(graph) = neighbours.at(penalty, n / 4, context)? else { return Ok(None) };
        let pairs = graph.iter().map(Vec::len).sum::<usize>() / 2;
        let values = completed(&self.left, &graph, context)?;
        Ok(values.map(|values| self.joined(values, Rest::Graph(pairs))))
    }

    /// With correlations of what is left, on the scale of the features, and the factors again.
    fn joined(&self, mut values: Vec<f64>, rest: Rest) -> Estimate {
        let d = self.scales.len();
        for (column, own) in values.chunks_exact_mut(d).zip(&self.scales) {
            column.iter_mut().zip(&self.scales).for_each(|(value, other)| *value *= own * other);
        }
        for (vector, variance) in self.vectors.chunks_exact(d).zip(&self.variances) {
            for (column, weight) in values.chunks_exact_mut(d).zip(vector) {
                add_scaled(column, variance * weight, vector);
            }
        }
        Estimate { values, factors: self.variances.len(), rest }
    }

    /// The largest correlation of two features that is left.
    fn largest(&self) -> f64 {
        let d = self.scales.len();
        let between = self.left.iter().enumerate().filter(|(at, _)| at % (d + 1) != 0);
        between.fold(0.0, |most, (_, value)| most.max(value.abs()))
    }
}

/// Samples that estimates do not know.
struct HeldOut {
    /// One after the other.
    rows: Vec<f64>,
    n: usize,
}

impl HeldOut {
    fn new(z: &[f64], n: usize, rows: &[usize]) -> Self {
        Self { rows: transposed(&rows_of(z, n, rows), rows.len(), &vec![1.0; rows.len()]), n: rows.len() }
    }

    /// `log det Σ + 1/n Σᵢ zᵢᵀ Σ⁻¹ zᵢ`: but for a constant, minus twice the mean logarithm of the likelihood.
    /// Infinite where `Σ` is not positive definite.
    fn loss(&self, sigma: Vec<f64>, context: &Context<'_>) -> Result<f64, Error> {
        let d = self.rows.len() / self.n;
        let is_stopped = || context.stopped().is_some();
        let factor = Cholesky::of_unless(sigma, d, &is_stopped);
        context.go_on(BEFORE)?;
        let Some(factor) = factor else { return Ok(f64::INFINITY) };
        let squares = factor.inverse_squares_unless(&self.rows, &is_stopped);
        context.go_on(BEFORE)?;
        Ok(factor.log_determinant() + squares.iter().sum::<f64>() / self.n as f64)
    }
}

/// Of the columns of `z` the values in `rows`.
fn rows_of(z: &[f64], n: usize, rows: &[usize]) -> Vec<f64> {
    z.chunks_exact(n).flat_map(|column| rows.iter().map(|&i| column[i])).collect()
}

#[cfg(test)]
#[path = "estimate_tests.rs"]
mod tests;
