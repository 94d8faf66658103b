//! The normal model of the features, and knockoffs drawn from it.

use fewest_core::{Context, Error, derive_seed, room};
use fewest_linalg::{
    add_scaled, cholesky, dot, dot_products, gram, gram_of_rows_unless, gram_unless, symmetric_eigen_unless,
};
use nalgebra::{DMatrix, DVector};
use statrs::distribution::{ContinuousCDF, Normal};

use super::estimate::{Estimate, Made};
use super::{Construction, Covariance};

/// More features than this take the equicorrelated construction unless another one is asked for: the others
/// take `d³` operations for each of many sweeps.
const MOST_DENSE: usize = 1000;

/// Sweeps over the features of a construction, at most.
const MOST_SWEEPS: usize = 50;

/// A sweep that changes no entry by more than this is the last.
const SETTLED: f64 = 1e-4;

/// Barriers of the semidefinite construction, each solved from the one before.
const BARRIERS: [f64; 8] = [0.3, 0.1, 0.03, 0.01, 3e-3, 1e-3, 3e-4, 1e-4];

/// The share of the equicorrelated construction in the semidefinite one, whose optimum has zeros: a feature
/// with `s = 0` is its own knockoff, and the covariance of both is singular. Both are feasible, and so is
/// what is between them.
const OF_SAME: f64 = 0.01;

/// What is left of a bound that would make the covariance of features and knockoffs singular.
const INSIDE: f64 = 1.0 - 1e-6;

/// Eigenvalues below this share of the largest are rounding.
const RANK: f64 = 1e-12;

pub(super) const BEFORE: &str = "knockoffs were drawn";
pub(super) const STOPPED: Error = Error::Stopped { before: BEFORE };

/// A covariance of standardised features with its `s`, from which knockoffs are drawn:
/// `X̃ | X ~ N(X − X Σ⁻¹ S, 2S − S Σ⁻¹ S)` (Candès et al. 2018, Eq. 3.2).
pub(super) struct NormalModel<'a> {
    /// Standardised features, column after column.
    z: &'a [f64],
    n: usize,
    d: usize,
    /// How `s` was found.
    pub construction: Construction,
    /// What the covariance is made of.
    pub made: Made,
    parts: Parts,
}

enum Parts {
    /// With one `s` for all: in the basis of the eigenvectors with an eigenvalue above the smallest one.
    Spectral {
        s: f64,
        /// Of length `d`, one after the other.
        vectors: Vec<f64>,
        /// Eigenvalues of `Σ` that belong to them.
        eigenvalues: Vec<f64>,
        /// The eigenvalue of all other directions.
        rest: f64,
    },
    /// With an `s` for each.
    Dense {
        /// `X − X Σ⁻¹ S`, column after column.
        means: Vec<f64>,
        /// The lower factor of `2S − S Σ⁻¹ S`, row after row: entry `(i, j)` at `i d + j`.
        factor: Vec<f64>,
    },
}

impl<'a> NormalModel<'a> {
    /// Of standardised columns `z` of length `n`.
    pub(super) fn new(
        z: &'a [f64],
        n: usize,
        covariance: &Covariance,
        construction: Construction,
        context: &Context<'_>,
    ) -> Result<Self, Error> {
        let d = z.len() / n;
        let is_wide = d > MOST_DENSE;
        let is_given = matches!(covariance, Covariance::Given(_));
        let construction = match construction {
            Construction::Auto if is_wide && !is_given => Construction::Equicorrelated,
            Construction::Auto => Construction::Mvr,
            other => other,
        };
        let is_spectral = construction == Construction::Equicorrelated
            && !is_given
            && (is_wide || *covariance != Covariance::Auto);
        if !is_spectral {
            // Four matrices are needed at a time, twice as many where the best of some estimates is chosen.
            let matrices = if *covariance == Covariance::Auto && !is_wide { 8 } else { 4 };
            let hint = match construction {
                Construction::Equicorrelated => "select among fewer features",
                _ => "take construction=equicorrelated",
            };
            drop(room("knockoffs", &[d, d, matrices], "this construction", hint)?);
        }
        let (made, parts) = match covariance {
            Covariance::Given(values) => {
                let made = Made { name: "given", ..Made::default() };
                (made, dense(z, n, values.clone(), construction, context)?)
            }
            Covariance::Auto if !is_wide => {
                let Estimate { values, made } = Estimate::chosen(z, n, context)?;
                (made, dense(z, n, values, construction, context)?)
            }
            _ => {
                let (name, shrinkage) = match covariance {
                    Covariance::Empirical => ("empirical", 0.0),
                    _ => ("ledoit-wolf", ledoit_wolf(z, n, context)?),
                };
                let parts = match is_spectral {
                    true => spectral(z, n, shrinkage, context)?,
                    false => dense(z, n, shrunk(z, n, shrinkage), construction, context)?,
                };
                (Made { name, shrinkage, ..Made::default() }, parts)
            }
        };
        Ok(Self { z, n, d, construction, made, parts })
    }

    /// Knockoffs of all columns, one after the other, on their scale.
    pub(super) fn draw(&self, seed: u64, context: &Context<'_>) -> Result<Vec<f64>, Error> {
        let (n, d) = (self.n, self.d);
        let go_on = || context.go_on(BEFORE);
        // The noise of a sample is in a column: the products below are over features.
        let noise = fewest_parallel::try_map(n, |i| {
            go_on().map(|()| normal_numbers(derive_seed(seed, i as u64), d))
        })?;
        let noise = noise.concat();
        Ok(match &self.parts {
            Parts::Spectral { s, vectors, eigenvalues, rest } => {
                let by_sample = fewest_linalg::transposed(self.z, n, &vec![1.0; n]);
                let own = |mu: f64| (2.0 * s - s * s / mu).max(0.0).sqrt();
                let beside = if *rest > 0.0 { own(*rest) } else { 0.0 };
                let rows = fewest_parallel::try_map(n, |i| {
                    go_on()?;
                    let (z, g) = (&by_sample[i * d..(i + 1) * d], &noise[i * d..(i + 1) * d]);
                    // In directions of other eigenvectors there is noise only: there `z` has nothing.
                    let mut row: Vec<f64> = z.iter().zip(g).map(|(z, g)| z + beside * g).collect();
                    for (vector, &mu) in vectors.chunks_exact(d).zip(eigenvalues) {
                        let along = (own(mu) - beside) * dot(vector, g) - s / mu * dot(vector, z);
                        add_scaled(&mut row, along, vector);
                    }
                    Ok::<_, Error>(row)
                })?;
                fewest_linalg::transposed(&rows.concat(), d, &vec![1.0; d])
            }
            Parts::Dense { means, factor } => {
                let mut knockoffs = means.clone();
                let by_feature = fewest_linalg::transposed(&noise, d, &vec![1.0; d]);
                let done = fewest_parallel::chunks(&mut knockoffs, n, |j, column| {
                    go_on()?;
                    for (k, weight) in factor[j * d..=j * d + j].iter().enumerate() {
                        add_scaled(column, *weight, &by_feature[k * n..(k + 1) * n]);
                    }
                    Ok::<_, Error>(())
                });
                done.into_iter().collect::<Result<(), Error>>()?;
                knockoffs
            }
        })
    }
}

/// Standard normal numbers.
pub(super) fn normal_numbers(seed: u64, count: usize) -> Vec<f64> {
    let normal = Normal::standard();
    let uniform = |i: usize| ((derive_seed(seed, i as u64) >> 11) as f64 + 0.5) / (1_u64 << 53) as f64;
    (0..count).map(|i| normal.inverse_cdf(uniform(i))).collect()
}

/// The share of the identity in the estimate of Ledoit and Wolf (2004, Theorem 3.2) of the correlation
/// matrix: with the sample correlations `C`, `min(1, b² / ‖C − I‖²)`, `b² = 1/n² Σᵢ ‖zᵢ zᵢᵀ − C‖²`.
pub(super) fn ledoit_wolf(z: &[f64], n: usize, context: &Context<'_>) -> Result<f64, Error> {
    let d = z.len() / n;
    // The squared norm of `ZᵀZ` is that of `ZZᵀ`: the smaller of the two is computed.
    let products = if n < d { gram(&fewest_linalg::transposed(z, n, &vec![1.0; n]), d) } else { gram(z, n) };
    let count = n as f64;
    let squared = dot(&products, &products) / (count * count);
    let mut fourth = 0.0;
    for i in 0..n {
        context.go_on(BEFORE)?;
        let length: f64 = (0..d).map(|j| z[j * n + i].powi(2)).sum();
        fourth += length * length;
    }
    Ok(share_of_identity(squared, fourth / count, n, d))
}

/// The share of the identity for correlations with the sum of squares `squared`; `fourth` is the mean of
/// `‖zᵢ‖⁴`.
pub(super) fn share_of_identity(squared: f64, fourth: f64, n: usize, d: usize) -> f64 {
    // The diagonal is one.
    let apart = squared - d as f64;
    let spread = (fourth - squared).max(0.0) / n as f64;
    if apart > 0.0 { (spread / apart).min(1.0) } else { 1.0 }
}

fn singular(what: &str) -> Error {
    Error::Numerical {
        what: "the covariance of the features",
        hint: format!("{what}: leave out features that follow from others, or have more samples"),
    }
}

/// Eigenvectors of `ZᵀZ` with an eigenvalue above rounding, the largest first.
#[derive(Default)]
pub(super) struct Spectrum {
    /// Of unit length, `d` each.
    pub vectors: Vec<f64>,
    pub values: Vec<f64>,
}

impl Spectrum {
    /// In `O(n d min(n, d))`: no `d × d` matrix for `d > n`.
    pub(super) fn of(z: &[f64], n: usize, context: &Context<'_>) -> Result<Self, Error> {
        let d = z.len() / n;
        let is_stopped = || context.stopped().is_some();
        if n >= d {
            return Self::of_products(gram_unless(z, n, &is_stopped), d, context);
        }
        let products = gram_of_rows_unless(z, n, &is_stopped);
        let Self { vectors, values } = Self::of_products(products, n, context)?;
        // `Zᵀ` times an eigenvector of `ZZᵀ`, divided by its length, is one of `ZᵀZ`.
        let mut own = Vec::with_capacity(values.len() * d);
        for (vector, value) in vectors.chunks_exact(n).zip(&values) {
            let mut along = vec![0.0; d];
            dot_products(z, vector, n, &mut along);
            own.extend(along.iter().map(|along| along / value.sqrt()));
        }
        Ok(Self { vectors: own, values })
    }

    /// Of the products themselves, `m × m`.
    pub(super) fn of_products(products: Vec<f64>, m: usize, context: &Context<'_>) -> Result<Self, Error> {
        let is_stopped = || context.stopped().is_some();
        let matrix = DMatrix::from_vec(m, m, products);
        let eigen = symmetric_eigen_unless(matrix, &is_stopped).ok_or_else(|| match context.stopped() {
            Some(_) => STOPPED,
            None => singular("its eigenvalues were not found"),
        })?;
        let mut order: Vec<usize> = (0..m).collect();
        order.sort_by(|&a, &b| eigen.eigenvalues[b].total_cmp(&eigen.eigenvalues[a]).then(a.cmp(&b)));
        let largest = order.first().map_or(0.0, |&first| eigen.eigenvalues[first]);
        order.retain(|&at| eigen.eigenvalues[at] > RANK * largest);
        let vectors =
            order.iter().flat_map(|&at| eigen.eigenvectors.column(at).iter().copied().collect::<Vec<_>>());
        Ok(Self {
            vectors: vectors.collect(),
            values: order.iter().map(|&at| eigen.eigenvalues[at]).collect(),
        })
    }
}

/// With one `s = min(1, 2 λ_min)` for all features: no `d × d` matrix for `d > n`.
fn spectral(z: &[f64], n: usize, shrinkage: f64, context: &Context<'_>) -> Result<Parts, Error> {
    let d = z.len() / n;
    let Spectrum { vectors, values } = Spectrum::of(z, n, context)?;
    let eigenvalues: Vec<f64> =
        values.iter().map(|value| shrinkage + (1.0 - shrinkage) * value / n as f64).collect();
    let rest = if eigenvalues.len() < d { shrinkage } else { f64::INFINITY };
    let smallest = eigenvalues.iter().fold(rest, |least, value| least.min(*value));
    if smallest <= 1e-8 {
        return Err(singular("it is singular"));
    }
    let rest = if rest.is_finite() { rest } else { 0.0 };
    Ok(Parts::Spectral { s: INSIDE * (2.0 * smallest).min(1.0), vectors, eigenvalues, rest })
}

/// The correlations of the samples with this share of the identity.
pub(super) fn shrunk(z: &[f64], n: usize, share: f64) -> Vec<f64> {
    let scale = (1.0 - share) / n as f64;
    let mut values = gram(z, n);
    values.iter_mut().for_each(|value| *value *= scale);
    values.iter_mut().step_by(z.len() / n + 1).for_each(|value| *value = 1.0);
    values
}

/// With an `s` for each feature, in `O(d³)`.
fn dense(
    z: &[f64],
    n: usize,
    sigma: Vec<f64>,
    construction: Construction,
    context: &Context<'_>,
) -> Result<Parts, Error> {
    let d = z.len() / n;
    let factor =
        cholesky(DMatrix::from_vec(d, d, sigma)).ok_or_else(|| singular("it is not positive definite"))?;
    // Column by column, so that it can be stopped.
    let inverse = fewest_parallel::try_map(d, |j| {
        context.go_on(BEFORE)?;
        let unit = DVector::from_fn(d, |i, _| f64::from(i == j));
        Ok::<_, Error>(factor.solve(&unit).as_slice().to_vec())
    })?;
    let inverse = inverse.concat();
    if inverse.iter().any(|value| !value.is_finite() || value.abs() > 1e12) {
        return Err(singular("it is singular"));
    }
    let mut s = match construction {
        Construction::Equicorrelated => equicorrelated(&inverse, d, context)?,
        Construction::Sdp => {
            let same = equicorrelated(&inverse, d, context)?;
            let best = by_coordinates(&inverse, d, &BARRIERS, context, |s, own, _, barrier| {
                (own.recip() - barrier).clamp(-s, 1.0 - s)
            })?;
            best.iter().zip(same).map(|(best, same)| best + OF_SAME * (same - best)).collect()
        }
        _ => by_coordinates(&inverse, d, &[0.0], context, |s, own, column, _| {
            let norm = dot(column, column).sqrt();
            (1.0 - norm * s) / (norm + own)
        })?,
    };
    for _ in 0..8 {
        if context.stopped().is_some() {
            return Err(STOPPED);
        }
        let entry = |i: usize, j: usize| {
            let own = if i == j { 2.0 * s[j] } else { 0.0 };
            own - s[i] * inverse[i + j * d] * s[j]
        };
        if let Some(factor) = cholesky(DMatrix::from_fn(d, d, entry)) {
            let lower = factor.l();
            let factor = lower.transpose().as_slice().to_vec();
            let scaled = fewest_parallel::map(d, |j| {
                inverse[j * d..(j + 1) * d].iter().map(|value| value * s[j]).collect::<Vec<f64>>()
            });
            let columns = fewest_parallel::try_map(d, |j| {
                context.go_on(BEFORE)?;
                let mut mean = z[j * n..(j + 1) * n].to_vec();
                for (k, weight) in scaled[j].iter().enumerate() {
                    add_scaled(&mut mean, -weight, &z[k * n..(k + 1) * n]);
                }
                Ok::<_, Error>(mean)
            })?;
            return Ok(Parts::Dense { means: columns.concat(), factor });
        }
        s.iter_mut().for_each(|s| *s *= 0.999);
    }
    Err(singular("it is nearly singular"))
}

/// `min(1, 2 λ_min)` for all.
fn equicorrelated(inverse: &[f64], d: usize, context: &Context<'_>) -> Result<Vec<f64>, Error> {
    let is_stopped = || context.stopped().is_some();
    let eigen = symmetric_eigen_unless(DMatrix::from_column_slice(d, d, inverse), &is_stopped);
    let eigen = eigen.ok_or(STOPPED)?;
    let largest = eigen.eigenvalues.iter().fold(0.0_f64, |most, value| most.max(*value));
    Ok(vec![INSIDE * (2.0 / largest).min(1.0); d])
}

/// `s` by coordinates, from 0: `step` gives the best change of one entry from its value, its entry on the
/// diagonal of `(2Σ − S)⁻¹`, its column there, and the barrier.
///
/// For the least variance-based reconstructability (MVR, Spector and Janson 2022, Eq. 3.3),
/// `minimise tr (2Σ − S)⁻¹ + Σⱼ 1/sⱼ`, and for the semidefinite programme `maximise Σⱼ sⱼ` with
/// `sⱼ ≤ 1` and the barrier `log det(2Σ − S)`, the best change is known in closed form (Askari et al. 2021).
fn by_coordinates(
    inverse: &[f64],
    d: usize,
    barriers: &[f64],
    context: &Context<'_>,
    step: impl Fn(f64, f64, &[f64], f64) -> f64,
) -> Result<Vec<f64>, Error> {
    let mut s = vec![0.0; d];
    let mut matrix: Vec<f64> = inverse.iter().map(|value| 0.5 * value).collect();
    for &barrier in barriers {
        for sweep in 0..MOST_SWEEPS {
            context.report("construction of knockoffs", sweep, MOST_SWEEPS);
            let mut largest = 0.0_f64;
            for j in 0..d {
                if context.stopped().is_some() {
                    return Err(STOPPED);
                }
                let column = matrix[j * d..(j + 1) * d].to_vec();
                let change = step(s[j], column[j], &column, barrier);
                let left = 1.0 - change * column[j];
                if left <= 0.0 || !change.is_finite() {
                    continue;
                }
                s[j] += change;
                largest = largest.max(change.abs());
                let weight = change / left;
                for (out, share) in matrix.chunks_exact_mut(d).zip(&column) {
                    add_scaled(out, weight * share, &column);
                }
            }
            if largest < SETTLED {
                break;
            }
        }
    }
    s.iter_mut().for_each(|s| *s *= INSIDE);
    Ok(s)
}

#[cfg(test)]
#[path = "model_tests.rs"]
mod tests;
