//! Kernels of single features and what their combination is: a sum, or a product.

use fewest_core::{Context, Dataset, Error, FeatureKind};
use fewest_counts::map_features;
use fewest_kernels::{Definiteness, Factor, NormalisedDelta, ScalarKernel};
use nalgebra::DMatrix;
use rayon::prelude::*;

use crate::indefinite::BaseKernel;
use crate::indefinite::atoms::points;
use crate::indefinite::matrix::KernelMatrix;

/// Kernels whose columns are gathered and multiplied at a time.
const CHUNK: usize = 256;

/// Error allowed to factors, relative.
const FACTOR_TOLERANCE: f64 = 1e-6;

/// How the negative eigenvalues of an indefinite kernel matrix are dealt with, each feature's by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Spectrum {
    /// They become zero.
    #[default]
    Clip,
    /// They lose their sign.
    Flip,
    /// The smallest is taken off all.
    Shift,
}

/// Kernels that weights combine into one positive semidefinite matrix.
pub(super) trait Bases: Sync {
    /// How many.
    fn len(&self) -> usize;

    /// The feature of each.
    fn features(&self) -> &[usize];

    /// The matrix of `weights` on the samples `rows`, all entries.
    fn gram(&self, weights: &[f64], rows: &[usize]) -> Vec<f64>;

    /// `½ βᵀ (∂K/∂d_m) β` for every `m`, `gram` being what [`Bases::gram`] returns for `rows`.
    fn worths(&self, gram: &[f64], beta: &[f64], rows: &[usize]) -> Vec<f64>;
}

/// `Φ S Φᵀ + shift I`.
struct Term {
    values: Vec<f64>,
    signs: Option<Vec<f64>>,
    shift: f64,
}

/// `K = Σ d_m K_m` (Eq. 1).
pub(super) struct Sum {
    terms: Vec<Term>,
    features: Vec<usize>,
    n_samples: usize,
}

impl Sum {
    /// The kernels of all features that vary.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for a kernel that is not positive semidefinite without a `spectrum`; what factors return.
    pub(super) fn new(
        data: &Dataset,
        kernel: &BaseKernel,
        spectrum: Option<Spectrum>,
        context: &Context<'_>,
    ) -> Result<Self, Error> {
        let built = kernel.build()?;
        if spectrum.is_none() && built.definiteness() != Definiteness::PositiveSemidefinite {
            return Err(Error::Unsupported {
                method: "rfmkl",
                what: format!(
                    "the kernel {kernel:?}, which is indefinite, while sequential minimal optimisation needs a positive semidefinite one"
                ),
                instead: "change its spectrum (method mkl), or use mik-fs, whose solver takes it as it is"
                    .to_owned(),
            });
        }
        let n_samples = data.n_samples();
        let made = map_features(data, context, "kernels", |j, column| {
            let Some(points) = points(data, j, column) else { return Ok(None) };
            let categorical = matches!(data.feature_kind(j), FeatureKind::Categorical { .. });
            let delta = categorical.then(|| NormalisedDelta::from_points(&points));
            let kernel: &dyn ScalarKernel = match &delta {
                Some(delta) => delta,
                None => &*built,
            };
            let factor = Factor::new(kernel, &points, FACTOR_TOLERANCE, n_samples)?;
            Ok(Some(term(&factor, spectrum)?))
        })?;
        let mut sum = Self { terms: Vec::new(), features: Vec::new(), n_samples };
        for (j, term) in made.into_iter().enumerate() {
            if let Some(term) = term {
                sum.terms.push(term);
                sum.features.push(j);
            }
        }
        Ok(sum)
    }

    /// The columns of some terms on `rows`, times `√d`, and the same with the terms' signs.
    fn columns(&self, chunk: &[usize], weights: &[f64], rows: &[usize]) -> (DMatrix<f64>, DMatrix<f64>) {
        let (mut plain, mut signed) = (Vec::new(), Vec::new());
        for &m in chunk {
            let scale = weights[m].sqrt();
            for (a, column) in self.terms[m].values.chunks_exact(self.n_samples.max(1)).enumerate() {
                let sign = self.terms[m].signs.as_ref().map_or(1.0, |signs| signs[a]);
                plain.extend(rows.iter().map(|&row| scale * column[row]));
                signed.extend(rows.iter().map(|&row| sign * scale * column[row]));
            }
        }
        let n_columns = plain.len() / rows.len().max(1);
        (DMatrix::from_vec(rows.len(), n_columns, plain), DMatrix::from_vec(rows.len(), n_columns, signed))
    }
}

/// A factor with its spectrum changed.
fn term(factor: &Factor, spectrum: Option<Spectrum>) -> Result<Term, Error> {
    let (Some(spectrum), Some(signs)) = (spectrum, factor.signs()) else {
        return Ok(Term { values: factor.values().to_vec(), signs: None, shift: 0.0 });
    };
    let n = factor.values().len() / factor.rank().max(1);
    let columns = DMatrix::from_column_slice(n, factor.rank(), factor.values());
    let matrix = KernelMatrix::thin(columns, signs)?;
    let (vectors, eigenvalues) = matrix.spectrum();
    if spectrum == Spectrum::Shift {
        let shift = eigenvalues.iter().fold(0.0_f64, |least, value| least.min(*value)).abs();
        return Ok(Term { values: factor.values().to_vec(), signs: Some(signs.to_vec()), shift });
    }
    let mut values = Vec::new();
    for (column, &eigenvalue) in vectors.column_iter().zip(eigenvalues) {
        let changed = if spectrum == Spectrum::Clip { eigenvalue.max(0.0) } else { eigenvalue.abs() };
        if changed > 0.0 {
            values.extend(column.iter().map(|value| changed.sqrt() * value));
        }
    }
    Ok(Term { values, signs: None, shift: 0.0 })
}

impl Bases for Sum {
    fn len(&self) -> usize {
        self.terms.len()
    }

    fn features(&self) -> &[usize] {
        &self.features
    }

    fn gram(&self, weights: &[f64], rows: &[usize]) -> Vec<f64> {
        let n = rows.len();
        let active: Vec<usize> = (0..self.len()).filter(|&m| weights[m] > 0.0).collect();
        // Chunks of a fixed size, added in order: the same bits for any number of threads.
        let partial: Vec<DMatrix<f64>> = active
            .par_chunks(CHUNK)
            .map(|chunk| {
                let (plain, signed) = self.columns(chunk, weights, rows);
                if plain.ncols() == 0 { DMatrix::zeros(n, n) } else { signed * plain.transpose() }
            })
            .collect();
        let mut sum = DMatrix::zeros(n, n);
        for partial in partial {
            sum += partial;
        }
        let shift: f64 = active.iter().map(|&m| weights[m] * self.terms[m].shift).sum();
        for i in 0..n {
            sum[(i, i)] += shift;
        }
        (0.5 * (&sum + sum.transpose())).data.into()
    }

    fn worths(&self, _gram: &[f64], beta: &[f64], rows: &[usize]) -> Vec<f64> {
        let mut spread = vec![0.0; self.n_samples];
        for (&row, value) in rows.iter().zip(beta) {
            spread[row] = *value;
        }
        let squares: f64 = beta.iter().map(|value| value * value).sum();
        let worth = |term: &Term| {
            let mut total = term.shift * squares;
            for (a, column) in term.values.chunks_exact(self.n_samples.max(1)).enumerate() {
                let sign = term.signs.as_ref().map_or(1.0, |signs| signs[a]);
                let inner: f64 = column.iter().zip(&spread).map(|(x, b)| x * b).sum();
                total += sign * inner * inner;
            }
            0.5 * total
        };
        self.terms.par_iter().with_min_len(64).map(worth).collect()
    }
}

/// `K = exp(−Σ d_m D_m)`, the product of Gaussian kernels with a width for each feature (Eq. 2).
pub(super) struct Product {
    /// Columns whose squared differences add up to `D_m`.
    columns: Vec<Vec<Vec<f64>>>,
    features: Vec<usize>,
}

impl Product {
    /// The distances of all features that vary; 1 between different levels of a category.
    pub(super) fn new(data: &Dataset, context: &Context<'_>) -> Result<Self, Error> {
        let made = map_features(data, context, "distances", |j, column| {
            let Some(points) = points(data, j, column) else { return Ok(None) };
            let FeatureKind::Categorical { levels } = data.feature_kind(j) else {
                return Ok(Some(vec![points]));
            };
            let level = |code: usize| {
                points.iter().map(move |&point| if point == code as f64 { 0.5_f64.sqrt() } else { 0.0 })
            };
            Ok(Some((0..levels.len()).map(|code| level(code).collect()).collect()))
        })?;
        let mut product = Self { columns: Vec::new(), features: Vec::new() };
        for (j, columns) in made.into_iter().enumerate() {
            if let Some(columns) = columns {
                product.columns.push(columns);
                product.features.push(j);
            }
        }
        Ok(product)
    }
}

impl Bases for Product {
    fn len(&self) -> usize {
        self.columns.len()
    }

    fn features(&self) -> &[usize] {
        &self.features
    }

    fn gram(&self, weights: &[f64], rows: &[usize]) -> Vec<f64> {
        let n = rows.len();
        let active: Vec<(f64, Vec<f64>)> = (0..self.len())
            .filter(|&m| weights[m] > 0.0)
            .flat_map(|m| self.columns[m].iter().map(move |column| (m, column)))
            .map(|(m, column)| (weights[m], rows.iter().map(|&row| column[row]).collect()))
            .collect();
        let mut gram = vec![0.0; n * n];
        gram.par_chunks_exact_mut(n.max(1)).enumerate().for_each(|(i, out)| {
            for (weight, x) in &active {
                for (out, z) in out.iter_mut().zip(x) {
                    *out -= weight * (x[i] - z).powi(2);
                }
            }
            out.iter_mut().for_each(|value| *value = value.exp());
        });
        gram
    }

    fn worths(&self, gram: &[f64], beta: &[f64], rows: &[usize]) -> Vec<f64> {
        let n = rows.len();
        let support: Vec<usize> = (0..n).filter(|&i| beta[i] != 0.0).collect();
        // With W = ββᵀ ∘ K: ½ βᵀ(∂K/∂d)β = −½ Σ W (xᵢ − xⱼ)² = xᵀWx − Σ xᵢ² (W1)ᵢ.
        let w: Vec<f64> = support
            .iter()
            .flat_map(|&i| support.iter().map(move |&j| beta[i] * beta[j] * gram[i * n + j]))
            .collect();
        let worth = |columns: &Vec<Vec<f64>>| -> f64 {
            let mut total = 0.0;
            for column in columns {
                let x: Vec<f64> = support.iter().map(|&i| column[rows[i]]).collect();
                for (i, row) in w.chunks_exact(support.len().max(1)).enumerate() {
                    let (mut inner, mut sum) = (0.0, 0.0);
                    for (w, z) in row.iter().zip(&x) {
                        inner += w * z;
                        sum += w;
                    }
                    total += x[i] * inner - x[i] * x[i] * sum;
                }
            }
            total
        };
        self.columns.par_iter().with_min_len(16).map(worth).collect()
    }
}
