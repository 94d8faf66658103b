//! The correlations of the features, estimated as those of a few factors and of what these leave.

use fewest_core::{Context, Error, derive_seed};
use fewest_linalg::{Cholesky, add_scaled, dot, gram_unless, transposed};

use super::graph::{Neighbours, completed};
use super::model::{BEFORE, Spectrum, ledoit_wolf, share_of_identity, shrunk};

/// Numbers of factors that are tried.
const FACTORS: [usize; 5] = [0, 1, 2, 4, 8];

/// One of so many samples is held out.
const HELD_OUT: usize = 3;

/// Each penalty of the graphs is this share of the one before.
const STEP: f64 = 0.8;

/// The shares of the identity are these parts of what the rule of Ledoit and Wolf gives, which keeps entries
/// near the true ones, not eigenvalues that are small.
const SHARES: [f64; 6] = [1.0, 0.25, 0.0625, 0.015625, 0.00390625, 0.0];

/// So many candidates in a row that are no better than one before end a search.
const PATIENCE: usize = 2;

/// A feature of which factors leave no larger share of the standard deviation follows from them.
const NOTHING_LEFT: f64 = 1e-4;

/// Penalties below this would let noise in whatever the number of samples.
const LEAST_PENALTY: f64 = 1e-3;

/// A matrix with a smaller pivot hardly differs from a singular one.
const LEAST_PIVOT: f64 = 1e-6;

const STAGE: &str = "correlations of the features";

/// A correlation matrix, `d × d`, and what it is made of.
pub(super) struct Estimate {
    pub values: Vec<f64>,
    pub made: Made,
}

/// What a correlation matrix is made of.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Made {
    /// How the correlations that factors leave are known.
    pub name: &'static str,
    /// The number of factors.
    pub factors: usize,
    /// The share of the identity in what they leave.
    pub shrinkage: f64,
    /// The pairs of a graph of what they leave.
    pub pairs: usize,
}

/// A way to estimate.
#[derive(Debug, Clone, Copy)]
struct Candidate {
    factors: usize,
    left: Left,
}

/// How the correlations that factors leave are estimated.
#[derive(Debug, Clone, Copy)]
enum Left {
    /// With so much of the identity, as a part of what the rule of Ledoit and Wolf gives.
    Shrunk(f64),
    /// By the graph at this penalty.
    Graph(f64),
}

impl Estimate {
    /// The one, of some, under which samples that are held out are most likely: with [`FACTORS`], the
    /// principal components, and the correlations that they leave shrunk by [`SHARES`]; and, without factors
    /// and with the best number of them, with the graphs at decreasing penalties.
    pub(super) fn chosen(z: &[f64], n: usize, context: &Context<'_>) -> Result<Self, Error> {
        let candidates = choose(z, n, context)?;
        let has_factors = candidates.iter().any(|candidate| candidate.factors > 0);
        let samples = Samples::new(z, n, has_factors, context)?;
        // What could be had of the samples that were not held out need not be had of all.
        for candidate in candidates {
            if let Some(estimate) = samples.estimate(candidate, context)?
                && factor(estimate.values.clone(), samples.d, context)?.is_some()
            {
                return Ok(estimate);
            }
        }
        let share = ledoit_wolf(z, n, context)?;
        let made = Made { name: "ledoit-wolf", shrinkage: share, ..Made::default() };
        Ok(Self { values: shrunk(z, n, share), made })
    }
}

/// The candidate under which samples that are held out are most likely, and the best without a graph.
fn choose(z: &[f64], n: usize, context: &Context<'_>) -> Result<Vec<Candidate>, Error> {
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by_key(|&i| derive_seed(0, i as u64));
    let (out, kept) = order.split_at(n / HELD_OUT);
    let (values, held_out) = divided(z, n, kept, out);
    if held_out.d == 0 {
        return Ok(Vec::new());
    }
    let samples = Samples::new(&values, kept.len(), true, context)?;
    let (mut best, mut loss, mut misses) = (None, f64::INFINITY, 0);
    for (at, factors) in FACTORS.into_iter().enumerate() {
        context.report(STAGE, at, FACTORS.len());
        if misses == PATIENCE || 4 * factors >= kept.len().min(samples.d).max(1) {
            break;
        }
        let Some(parts) = samples.parts(factors) else { break };
        let share = samples.shrinkage(&parts, context)?;
        let (mut least, before) = (f64::INFINITY, loss);
        for part in SHARES {
            let own = held_out.loss(parts.shrunk(part * share).values, context)?;
            // Once a share is too small, smaller ones are, too; with few samples the first one may be.
            if own >= least {
                break;
            }
            least = own;
            if own < loss {
                (best, loss) = (Some(Candidate { factors, left: Left::Shrunk(part) }), own);
            }
        }
        misses = if loss < before { 0 } else { misses + 1 };
    }
    let mut candidates: Vec<Candidate> = best.into_iter().collect();
    let mut numbers = vec![0];
    numbers.extend(best.map(|best| best.factors).filter(|factors| *factors > 0));
    for factors in numbers {
        let Some(parts) = samples.parts(factors) else { continue };
        let mut neighbours = Neighbours::new(&parts.left, samples.d);
        let penalties = penalties(parts.largest(), LEAST_PENALTY);
        let (mut least, mut misses) = (f64::INFINITY, 0);
        for (at, &penalty) in penalties.iter().enumerate() {
            context.report(STAGE, at, penalties.len());
            let Some(estimate) = parts.with_graph(&mut neighbours, penalty, kept.len(), context)? else {
                break;
            };
            let own = held_out.loss(estimate.values, context)?;
            misses = if own < least { 0 } else { misses + 1 };
            least = least.min(own);
            if own < loss {
                loss = own;
                candidates.insert(0, Candidate { factors, left: Left::Graph(penalty) });
            }
            if misses == PATIENCE {
                break;
            }
        }
    }
    Ok(candidates)
}

/// From [`STEP`] of `largest` down, each [`STEP`] of the one before, to `least` or more.
fn penalties(largest: f64, least: f64) -> Vec<f64> {
    std::iter::successors(Some(STEP * largest), |penalty| Some(STEP * penalty))
        .take_while(|penalty| *penalty >= least)
        .collect()
}

/// The `kept` samples, standardised anew, and the others on their scale. Features that the kept ones say
/// nothing of are left out.
fn divided(z: &[f64], n: usize, kept: &[usize], out: &[usize]) -> (Vec<f64>, HeldOut) {
    let (mut values, mut others) = (Vec::new(), Vec::new());
    for column in z.chunks_exact(n) {
        let own: Vec<f64> = kept.iter().map(|&i| column[i]).collect();
        let count = own.len() as f64;
        let mean = own.iter().sum::<f64>() / count;
        let scale = (own.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count).sqrt();
        if scale > NOTHING_LEFT {
            values.extend(own.iter().map(|value| (value - mean) / scale));
            others.extend(out.iter().map(|&i| (column[i] - mean) / scale));
        }
    }
    let d = others.len() / out.len().max(1);
    let rows = transposed(&others, out.len(), &vec![1.0; out.len()]);
    (values, HeldOut { rows, d, n: out.len() })
}

/// `None` where the matrix is not positive definite, or hardly so.
fn factor(values: Vec<f64>, d: usize, context: &Context<'_>) -> Result<Option<Cholesky>, Error> {
    let factor = Cholesky::of_unless(values, d, &|| context.stopped().is_some());
    context.go_on(BEFORE)?;
    Ok(factor.filter(|factor| factor.least_pivot() > LEAST_PIVOT))
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
    fn new(z: &'a [f64], n: usize, has_factors: bool, context: &Context<'_>) -> Result<Self, Error> {
        let d = z.len() / n;
        let mut products = gram_unless(z, n, &|| context.stopped().is_some());
        context.go_on(BEFORE)?;
        let spectrum = match has_factors {
            true if n < d => Spectrum::of(z, n, context)?,
            true => Spectrum::of_products(products.clone(), d, context)?,
            false => Spectrum::default(),
        };
        products.iter_mut().for_each(|value| *value /= n as f64);
        Ok(Self { z, n, d, products, spectrum })
    }

    /// `None` where it cannot be had.
    fn estimate(&self, candidate: Candidate, context: &Context<'_>) -> Result<Option<Estimate>, Error> {
        let Some(parts) = self.parts(candidate.factors) else { return Ok(None) };
        match candidate.left {
            Left::Graph(penalty) => {
                let mut neighbours = Neighbours::new(&parts.left, self.d);
                // As it was found: from larger penalties.
                for penalty in penalties(parts.largest(), penalty) {
                    if neighbours.at(penalty, most_neighbours(self.n), context)?.is_none() {
                        return Ok(None);
                    }
                }
                parts.with_graph(&mut neighbours, penalty, self.n, context)
            }
            Left::Shrunk(part) => Ok(Some(parts.shrunk(part * self.shrinkage(&parts, context)?))),
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
        self.joined(values, Made { name: "shrunk", shrinkage: share, ..Made::default() })
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
        let Some(graph) = neighbours.at(penalty, most_neighbours(n), context)? else { return Ok(None) };
        let pairs = graph.iter().map(Vec::len).sum::<usize>() / 2;
        let values = completed(&self.left, &graph, context)?;
        Ok(values.map(|values| self.joined(values, Made { name: "graph", pairs, ..Made::default() })))
    }

    /// With correlations of what is left, on the scale of the features, and the factors again.
    fn joined(&self, mut values: Vec<f64>, made: Made) -> Estimate {
        let d = self.scales.len();
        for (column, own) in values.chunks_exact_mut(d).zip(&self.scales) {
            column.iter_mut().zip(&self.scales).for_each(|(value, other)| *value *= own * other);
        }
        for (vector, variance) in self.vectors.chunks_exact(d).zip(&self.variances) {
            for (column, weight) in values.chunks_exact_mut(d).zip(vector) {
                add_scaled(column, variance * weight, vector);
            }
        }
        Estimate { values, made: Made { factors: self.variances.len(), ..made } }
    }

    /// The largest correlation of two features that is left.
    fn largest(&self) -> f64 {
        let d = self.scales.len();
        let between = self.left.iter().enumerate().filter(|(at, _)| at % (d + 1) != 0);
        between.fold(0.0, |most, (_, value)| most.max(value.abs()))
    }
}

/// With more neighbours a feature would not be predicted, but repeated.
fn most_neighbours(n: usize) -> usize {
    n / 4
}

/// Samples that estimates do not know.
struct HeldOut {
    /// One after the other.
    rows: Vec<f64>,
    d: usize,
    n: usize,
}

impl HeldOut {
    /// `log det Σ + 1/n Σᵢ zᵢᵀ Σ⁻¹ zᵢ`: but for a constant, minus twice the mean logarithm of the likelihood.
    /// Infinite where `Σ` is not positive definite, or hardly so: samples that obey the same rule, such as
    /// those of a column that is a copy, would make it as small as rounding lets it become.
    fn loss(&self, sigma: Vec<f64>, context: &Context<'_>) -> Result<f64, Error> {
        let Some(factor) = factor(sigma, self.d, context)? else { return Ok(f64::INFINITY) };
        let squares = factor.inverse_squares_unless(&self.rows, &|| context.stopped().is_some());
        context.go_on(BEFORE)?;
        Ok(factor.log_determinant() + squares.iter().sum::<f64>() / self.n as f64)
    }
}

#[cfg(test)]
#[path = "estimate_tests.rs"]
mod tests;
