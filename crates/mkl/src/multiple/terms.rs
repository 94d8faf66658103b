//! One positive semidefinite kernel matrix for each feature, as a thin factor.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use fewest_columns::map_features;
use fewest_core::{Context, Dataset, Error, FeatureKind, words};
use fewest_kernels::{Definiteness, Delta, Factor, ScalarKernel};
use nalgebra::DMatrix;

use super::{Machine, STEPPED};
use crate::indefinite::BaseKernel;
use crate::indefinite::atoms::points;
use crate::indefinite::matrix::KernelMatrix;
use crate::limits::over;

/// Error allowed to factors, relative: weights must not depend on which samples come first.
const FACTOR_TOLERANCE: f64 = 1e-9;

words! {
    /// How the negative eigenvalues of an indefinite kernel matrix are dealt with, each feature's by itself,
    /// on the samples given.
    #[derive(Default)]
    pub enum Spectrum {
        /// They become zero.
        #[default]
        Clip = "clip",
        /// They lose their sign.
        Flip = "flip",
        /// The smallest is taken off all, zeros too: a multiple of the identity is added.
        Shift = "shift",
    }
}

/// `Φ S Φᵀ + shift I`.
#[derive(PartialEq)]
pub(super) struct Term {
    /// `Φ`, column after column.
    pub(super) columns: Vec<f64>,
    /// The diagonal of `S`, where it has a negative entry.
    pub(super) signs: Option<Vec<f64>>,
    pub(super) shift: f64,
}

/// The kernels of all features that vary, of copies the first.
pub(super) struct Terms {
    pub(super) terms: Vec<Term>,
    /// The feature of each.
    pub(super) features: Vec<usize>,
    pub(super) n_constant: usize,
    pub(super) n_samples: usize,
}

impl Terms {
    /// Factors of the kernels.
    ///
    /// # Errors
    /// [`Error::Indefinite`] for a kernel not known to be positive semidefinite, without a `spectrum`;
    /// [`Error::NonFinite`] naming the cell; [`Error::Numerical`] where a kernel overflows;
    /// [`Error::Stopped`].
    pub(super) fn new(
        data: &Dataset,
        kernel: &BaseKernel,
        spectrum: Option<Spectrum>,
        context: &Context<'_>,
    ) -> Result<Self, Error> {
        let built = kernel.shared()?;
        let is_indefinite =
            |built: &Arc<dyn ScalarKernel>| built.definiteness() != Definiteness::PositiveSemidefinite;
        if spectrum.is_none() && built.as_ref().is_some_and(is_indefinite) {
            return Err(Error::Indefinite {
                kernel: format!("the kernel {kernel:?}"),
                solver: "rfmkl, the interior-point method for the dual,",
                instead: "give a spectrum (clip, flip or shift), or use mik-fs, whose solver takes it as it is",
            });
        }
        let n_samples = data.n_samples();
        let made = map_features(data, context, "kernels", |j, column| {
            let Some(points) = points(data, j, column) else { return Ok(None) };
            let categorical = matches!(data.feature_kind(j), FeatureKind::Categorical { .. });
            let own: Arc<dyn ScalarKernel> = match &built {
                _ if categorical => Arc::new(Delta),
                Some(built) => Arc::clone(built),
                None => kernel.build(&points)?,
            };
            let factor = Factor::new_unless(&*own, &points, FACTOR_TOLERANCE, n_samples, &over(context))?;
            Ok(Some(term(&factor, spectrum, context)?))
        })?;
        let n_constant = made.iter().filter(|made| made.is_none()).count();
        let (terms, features) = distinct(made, |term| &term.columns);
        Ok(Self { terms, features, n_constant, n_samples })
    }

    pub(super) fn len(&self) -> usize {
        self.terms.len()
    }

    /// `Σ_t βₜᵀ K_m βₜ` over the machines, for every `m`.
    ///
    /// # Errors
    /// [`Error::Stopped`]
    pub(super) fn squares(
        &self,
        machines: &[Machine],
        betas: &[Vec<f64>],
        context: &Context<'_>,
    ) -> Result<Vec<f64>, Error> {
        let support: Vec<Vec<(usize, f64)>> = machines
            .iter()
            .zip(betas)
            .map(|(machine, beta)| {
                machine.rows.iter().copied().zip(beta.iter().copied()).filter(|(_, b)| *b != 0.0).collect()
            })
            .collect();
        let lengths: f64 = support.iter().flatten().map(|(_, b)| b * b).sum();
        let is_over = over(context);
        let square = |term: &Term| {
            let mut total = term.shift * lengths;
            for (a, column) in term.columns.chunks_exact(self.n_samples.max(1)).enumerate() {
                if is_over() {
                    break;
                }
                let squares = support
                    .iter()
                    .map(|support| support.iter().map(|&(row, b)| column[row] * b).sum::<f64>().powi(2));
                total += term.sign(a) * squares.sum::<f64>();
            }
            total
        };
        let mut squares = vec![0.0; self.terms.len()];
        fewest_parallel::fill(&mut squares, 64, |at| square(&self.terms[at]));
        context.go_on(STEPPED).map(|()| squares)
    }
}

impl Term {
    pub(super) fn sign(&self, a: usize) -> f64 {
        self.signs.as_ref().map_or(1.0, |signs| signs[a])
    }
}

/// What is there with its places, of equal ones (by `values`) the first.
pub(super) fn distinct<T: PartialEq>(
    made: Vec<Option<T>>,
    values: impl Fn(&T) -> &[f64],
) -> (Vec<T>, Vec<usize>) {
    let (mut kept, mut places): (Vec<T>, Vec<usize>) = (Vec::new(), Vec::new());
    let mut known: HashMap<u64, Vec<usize>> = HashMap::new();
    for (j, item) in made.into_iter().enumerate() {
        let Some(item) = item else { continue };
        let digest = values(&item).iter().fold(0_u64, |digest, value| {
            (digest.rotate_left(5) ^ value.to_bits()).wrapping_mul(0x9E37_79B9_7F4A_7C15)
        });
        match known.entry(digest) {
            Entry::Occupied(entry) if entry.get().iter().any(|&k| kept[k] == item) => continue,
            entry => entry.or_default().push(kept.len()),
        }
        kept.push(item);
        places.push(j);
    }
    (kept, places)
}

/// A factor with its spectrum changed.
fn term(factor: &Factor, spectrum: Option<Spectrum>, context: &Context<'_>) -> Result<Term, Error> {
    let (Some(spectrum), Some(signs)) = (spectrum, factor.signs()) else {
        return Ok(Term { columns: factor.values().to_vec(), signs: None, shift: 0.0 });
    };
    let columns = DMatrix::from_column_slice(factor.n_samples(), factor.rank(), factor.values());
    let matrix = KernelMatrix::thin(columns, signs, context)?;
    let (vectors, eigenvalues) = matrix.spectrum(context)?;
    if spectrum == Spectrum::Shift {
        let least = eigenvalues.iter().fold(0.0_f64, |least, value| least.min(*value));
        return Ok(Term { columns: factor.values().to_vec(), signs: Some(signs.to_vec()), shift: -least });
    }
    let mut columns = Vec::new();
    for (column, &eigenvalue) in vectors.column_iter().zip(&eigenvalues) {
        let changed = if spectrum == Spectrum::Clip { eigenvalue.max(0.0) } else { eigenvalue.abs() };
        if changed > 0.0 {
            columns.extend(column.iter().map(|value| changed.sqrt() * value));
        }
    }
    Ok(Term { columns, signs: None, shift: 0.0 })
}
