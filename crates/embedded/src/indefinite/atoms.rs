//! The base kernels: one or more a feature, each as a thin signed factor or as a whole matrix.

use std::fmt;
use std::sync::Arc;

use fewest_core::{Column, Context, Dataset, Error, FeatureKind};
use fewest_counts::map_features;
use fewest_kernels::{
    Factor, Gaussian, Gram, Linear, NormalisedDelta, Polynomial, ScalarKernel, Sigmoid, dot_products,
};
use nalgebra::DMatrix;
use rayon::prelude::*;

use super::matrix::KernelMatrix;
use super::vectors::{add_scaled, centre};
use crate::Form;
use crate::atoms::standardise;

/// Atoms whose columns are gathered and multiplied at a time.
const CHUNK: usize = 256;

/// A kernel of one feature; features are standardised first.
#[derive(Clone)]
#[non_exhaustive]
pub enum BaseKernel {
    /// `tanh(scale x x′ + offset)`, indefinite: the paper's choice.
    Sigmoid {
        /// `scale`, any finite number.
        scale: f64,
        /// `offset`, any finite number; the paper writes `−r`.
        offset: f64,
    },
    /// `exp(−(x − x′)²/(2σ²))`, positive semidefinite.
    Gaussian {
        /// `σ`, above 0.
        sigma: f64,
    },
    /// `(scale x x′ + offset)^degree`, indefinite for a negative offset.
    Polynomial {
        /// From 1 to 64.
        degree: u32,
        /// Any finite number.
        offset: f64,
        /// Above 0.
        scale: f64,
    },
    /// `x x′`.
    Linear,
    /// A kernel of your own.
    Custom(Arc<dyn ScalarKernel>),
}

impl Default for BaseKernel {
    fn default() -> Self {
        Self::Sigmoid { scale: 1.0, offset: 0.0 }
    }
}

impl fmt::Debug for BaseKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sigmoid { scale, offset } => write!(f, "tanh({scale} x x′ + {offset})"),
            Self::Gaussian { sigma } => write!(f, "exp(−(x − x′)²/(2·{sigma}²))"),
            Self::Polynomial { degree, offset, scale } => write!(f, "({scale} x x′ + {offset})^{degree}"),
            Self::Linear => f.write_str("x x′"),
            Self::Custom(_) => f.write_str("custom"),
        }
    }
}

impl BaseKernel {
    /// The kernel to evaluate.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for a parameter out of range.
    pub(crate) fn build(&self) -> Result<Arc<dyn ScalarKernel>, Error> {
        Ok(match self {
            Self::Sigmoid { scale, offset } => Arc::new(Sigmoid::new(*scale, *offset)?),
            Self::Gaussian { sigma } => Arc::new(Gaussian::new(*sigma)?),
            Self::Polynomial { degree, offset, scale } => {
                Arc::new(Polynomial::new(*degree, *offset, *scale)?)
            }
            Self::Linear => Arc::new(Linear),
            Self::Custom(kernel) => Arc::clone(kernel),
        })
    }
}

/// How one base kernel is held.
pub(crate) enum Atom {
    Factor(Factor),
    Gram(Gram),
}

/// All base kernels of a data set.
pub(crate) struct Atoms {
    atoms: Vec<Atom>,
    /// The feature and the kernel, by its place in the list, of each atom.
    owners: Vec<(usize, usize)>,
    n_samples: usize,
}

/// The values of feature `j` as kernels see them: standardised, or codes; `None` for a constant.
pub(crate) fn points(data: &Dataset, j: usize, column: Column<'_>) -> Option<Vec<f64>> {
    let mut points = column.to_vec(data.n_samples());
    if matches!(data.feature_kind(j), FeatureKind::Categorical { .. }) {
        return points.iter().any(|&code| code != points[0]).then_some(points);
    }
    standardise(&mut points).then_some(points)
}

impl Atoms {
    /// The kernels of every feature that is not constant; categories always get the delta kernel `1/n_level`, once.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for no kernel or a kernel's parameter; [`Error::NonFinite`] naming the cell;
    /// [`Error::Numerical`] where a kernel overflows; [`Error::Stopped`].
    pub(crate) fn new(
        data: &Dataset,
        kernels: &[BaseKernel],
        tolerance: f64,
        form: Form,
        context: &Context<'_>,
    ) -> Result<Self, Error> {
        if kernels.is_empty() {
            return Err(Error::parameter("kernel", "empty", "at least one kernel"));
        }
        let built = kernels.iter().map(BaseKernel::build).collect::<Result<Vec<_>, _>>()?;
        let n = data.n_samples();
        let atom = |kernel: &dyn ScalarKernel, points: &[f64]| -> Result<Atom, Error> {
            if form == Form::Exact {
                let gram = Gram::new(kernel, points);
                if gram.as_slice().iter().any(|value| !value.is_finite()) {
                    return Err(overflow());
                }
                return Ok(Atom::Gram(gram));
            }
            let mut factor = Factor::new(kernel, points, tolerance, n)?;
            factor.centre();
            Ok(Atom::Factor(factor))
        };
        let made = map_features(data, context, "kernels", |j, column| {
            let Some(points) = points(data, j, column) else { return Ok(Vec::new()) };
            if matches!(data.feature_kind(j), FeatureKind::Categorical { .. }) {
                return Ok(vec![atom(&NormalisedDelta::from_points(&points), &points)?]);
            }
            built.iter().map(|kernel| atom(&**kernel, &points)).collect()
        })?;
        let mut atoms = Self { atoms: Vec::new(), owners: Vec::new(), n_samples: n };
        for (j, made) in made.into_iter().enumerate() {
            for (which, atom) in made.into_iter().enumerate() {
                atoms.atoms.push(atom);
                atoms.owners.push((j, which));
            }
        }
        Ok(atoms)
    }

    pub(crate) fn len(&self) -> usize {
        self.atoms.len()
    }

    pub(crate) fn n_samples(&self) -> usize {
        self.n_samples
    }

    /// The feature of each atom and its kernel's place in the list.
    pub(crate) fn owners(&self) -> &[(usize, usize)] {
        &self.owners
    }

    /// `out = K_m v`, for a `v` that sums to zero.
    pub(crate) fn apply(&self, m: usize, v: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        match &self.atoms[m] {
            Atom::Factor(factor) => {
                let mut weights = vec![0.0; factor.rank()];
                if factor.rank() > 0 {
                    dot_products(factor.values(), v, self.n_samples, &mut weights);
                }
                for (a, &weight) in weights.iter().enumerate() {
                    let sign = factor.signs().map_or(1.0, |signs| signs[a]);
                    add_scaled(out, sign * weight, factor.column(a));
                }
            }
            Atom::Gram(gram) => {
                for (column, &weight) in gram.as_slice().chunks_exact(self.n_samples).zip(v) {
                    if weight != 0.0 {
                        add_scaled(out, weight, column);
                    }
                }
            }
        }
    }

    /// `H (Σ d_m K_m) H` on the samples `rows`.
    ///
    /// # Errors
    /// [`Error::Numerical`] on overflow.
    pub(crate) fn combine(&self, weights: &[f64], rows: &[usize]) -> Result<KernelMatrix, Error> {
        let n = rows.len();
        let active: Vec<usize> = (0..self.len()).filter(|&m| weights[m] > 0.0).collect();
        let rank = |&m: &usize| match &self.atoms[m] {
            Atom::Factor(factor) => factor.rank(),
            Atom::Gram(_) => n,
        };
        if active.iter().map(rank).sum::<usize>() < n {
            let (columns, signs) = self.columns(&active, weights, rows);
            return KernelMatrix::thin(columns, &signs);
        }
        // Chunks of a fixed size, added in order: the same bits for any number of threads.
        let partial: Vec<DMatrix<f64>> =
            active.par_chunks(CHUNK).map(|chunk| self.partial(chunk, weights, rows)).collect();
        let mut sum = DMatrix::zeros(n, n);
        for partial in partial {
            sum += partial;
        }
        centre_both_sides(&mut sum);
        KernelMatrix::dense(sum)
    }

    /// The columns of the factors of `active`, centred on `rows` and times `√d`, and their signs.
    fn columns(&self, active: &[usize], weights: &[f64], rows: &[usize]) -> (DMatrix<f64>, Vec<f64>) {
        let mut values = Vec::new();
        let mut signs = Vec::new();
        for &m in active {
            let Atom::Factor(factor) = &self.atoms[m] else { continue };
            let scale = weights[m].sqrt();
            for a in 0..factor.rank() {
                let column = factor.column(a);
                let start = values.len();
                values.extend(rows.iter().map(|&row| scale * column[row]));
                centre(&mut values[start..]);
                signs.push(factor.signs().map_or(1.0, |signs| signs[a]));
            }
        }
        (DMatrix::from_vec(rows.len(), signs.len(), values), signs)
    }

    /// `Σ d_m K_m` over some atoms.
    fn partial(&self, chunk: &[usize], weights: &[f64], rows: &[usize]) -> DMatrix<f64> {
        let n = rows.len();
        let (columns, signs) = self.columns(chunk, weights, rows);
        let mut signed = columns.clone();
        for (mut column, sign) in signed.column_iter_mut().zip(&signs) {
            column *= *sign;
        }
        let mut sum = if columns.ncols() > 0 { signed * columns.transpose() } else { DMatrix::zeros(n, n) };
        for &m in chunk {
            let Atom::Gram(gram) = &self.atoms[m] else { continue };
            for (mut out, &column) in sum.column_iter_mut().zip(rows) {
                let column = gram.column(column);
                for (out, &row) in out.iter_mut().zip(rows) {
                    *out += weights[m] * column[row];
                }
            }
        }
        sum
    }
}

fn centre_both_sides(matrix: &mut DMatrix<f64>) {
    for mut column in matrix.column_iter_mut() {
        centre(column.as_mut_slice());
    }
    let mut transposed = matrix.transpose();
    for mut column in transposed.column_iter_mut() {
        centre(column.as_mut_slice());
    }
    *matrix = 0.5 * (&transposed + transposed.transpose());
}

fn overflow() -> Error {
    Error::Numerical {
        what: "a base kernel",
        hint: "its values are not finite: use a smaller scale, offset or degree".to_owned(),
    }
}
