//! Learners with a Gaussian kernel, whose width and regularisation are chosen by cross-validation.

mod lbfgs;
mod logistic;
mod race;
mod ridge;

pub use logistic::{KernelLogistic, KernelLogisticModel};
pub use ridge::{KernelRidge, KernelRidgeModel};

use fewest_core::{Columns, Context, Dataset, Error, derive_seed, order};
use fewest_kernels::exp_in_place;
use fewest_machines::{Encoding, Points, squared_distance};
use nalgebra::{DMatrix, DVector, SymmetricEigen};

use crate::{KFold, Split, Splitter};

/// The widths and regularisations to choose from, by cross-validation over the training samples.
///
/// Paper 004 Section 4.3 says that both are chosen by 3-fold cross-validation, but not from which values.
/// Learners with a kernel hold a few matrices of all pairs of training samples: they are for thousands of
/// samples, not millions.
#[derive(Debug, Clone, PartialEq)]
pub struct KernelGrid {
    /// Widths `σ` of the kernel `exp(−‖x − x′‖² / (2σ²))` in units of the median distance between training
    /// samples; above 0. Default 1/4, 1/2, 1, 2, 4.
    pub widths: Vec<f64>,
    /// Regularisations `λ`, above 0. Default 10⁻³, 10⁻², …, 10.
    pub regularizations: Vec<f64>,
    /// Number of folds, at least 2; at most as many as there are training samples are used. Default 3.
    pub folds: usize,
}

impl Default for KernelGrid {
    fn default() -> Self {
        Self {
            widths: vec![0.25, 0.5, 1.0, 2.0, 4.0],
            regularizations: vec![1e-3, 1e-2, 1e-1, 1.0, 10.0],
            folds: 3,
        }
    }
}

impl KernelGrid {
    fn check(&self) -> Result<(), Error> {
        for (name, values) in [("widths", &self.widths), ("regularizations", &self.regularizations)] {
            let expected = "at least one value, all above 0 and finite";
            if values.is_empty() {
                return Err(Error::parameter(name, "empty", expected));
            }
            if let Some(value) = values.iter().find(|value| !(value.is_finite() && **value > 0.0)) {
                return Err(Error::parameter(name, value, expected));
            }
        }
        if self.folds < 2 {
            return Err(Error::parameter("folds", self.folds, "at least 2"));
        }
        Ok(())
    }

    /// Widths relative to the median, increasing.
    fn sorted_widths(&self) -> Vec<f64> {
        let mut widths = self.widths.clone();
        order::sort(&mut widths);
        widths
    }

    /// Regularisations, decreasing: each solution is a good start for the next.
    fn sorted_regularizations(&self) -> Vec<f64> {
        let mut values = self.regularizations.clone();
        order::sort(&mut values);
        values.reverse();
        values
    }

    /// The folds of the cross-validation; none if there are fewer than two candidates or samples.
    fn splits(&self, data: &Dataset, stratified: bool, context: &Context<'_>) -> Result<Vec<Split>, Error> {
        let folds = self.folds.min(data.n_samples());
        if folds < 2 || self.widths.len() * self.regularizations.len() < 2 {
            return Ok(Vec::new());
        }
        KFold { folds, stratified }.splits(data, derive_seed(context.seed, 0))
    }
}

/// Training samples as points, with the squared distances between them, computed once for all widths and
/// folds.
///
/// Features are standardised by the statistics of all training samples, also inside the folds that choose the
/// width: this choice never uses a test sample of the caller.
struct Space {
    encoding: Encoding,
    points: Points,
    squared_distances: DMatrix<f64>,
    median: f64,
}

impl Space {
    fn new(data: &Dataset, context: &Context<'_>) -> Result<Self, Error> {
        let encoding = Encoding::fit(data)?;
        let points = encoding.encode(data.x())?;
        let n = points.n_samples;
        let mut squared_distances = DMatrix::zeros(n, n);
        let mut distances = Vec::with_capacity(n * n.saturating_sub(1) / 2);
        for j in 1..n {
            context.go_on(CHOSEN)?;
            for i in 0..j {
                let distance = squared_distance(points.point(i), points.point(j));
                squared_distances[(i, j)] = distance;
                squared_distances[(j, i)] = distance;
                distances.push(distance);
            }
        }
        let middle = distances.len() / 2;
        let median = match distances.get(middle) {
            Some(_) => distances.select_nth_unstable_by(middle, f64::total_cmp).1.sqrt(),
            None => 0.0,
        };
        // If most samples coincide, the median is 0 and any width will do.
        let median = if median > 0.0 { median } else { 1.0 };
        Ok(Self { encoding, points, squared_distances, median })
    }

    /// The kernel of width `width` between all training samples.
    fn gram(&self, width: f64) -> DMatrix<f64> {
        let mut gram = &self.squared_distances * (-0.5 / (width * width));
        exp_in_place(gram.as_mut_slice());
        gram
    }

    /// The kernel of width `width` between the samples of `x` (rows) and the training samples (columns).
    fn cross_gram(&self, x: &dyn Columns, width: f64) -> Result<DMatrix<f64>, Error> {
        let others = self.encoding.encode(x)?;
        let mut gram = DMatrix::from_fn(others.n_samples, self.points.n_samples, |i, j| {
            -0.5 / (width * width) * squared_distance(others.point(i), self.points.point(j))
        });
        exp_in_place(gram.as_mut_slice());
        Ok(gram)
    }
}

fn submatrix(matrix: &DMatrix<f64>, rows: &[usize], columns: &[usize]) -> DMatrix<f64> {
    DMatrix::from_fn(rows.len(), columns.len(), |i, j| matrix[(rows[i], columns[j])])
}

/// `K = U diag(s) Uᵀ`, without the eigenvalues that are only rounding.
struct Decomposition {
    vectors: DMatrix<f64>,
    values: DVector<f64>,
}

impl Decomposition {
    fn new(gram: DMatrix<f64>, context: &Context<'_>) -> Result<Self, Error> {
        let n = gram.nrows();
        let is_stopped = || context.stopped().is_some();
        let Some(SymmetricEigen { eigenvectors, eigenvalues }) =
            fewest_linalg::symmetric_eigen_unless(gram, &is_stopped)
        else {
            context.go_on(CHOSEN)?;
            let hint = "try other widths".to_owned();
            return Err(Error::Numerical { what: "the eigendecomposition of a Gram matrix", hint });
        };
        let largest = eigenvalues.iter().fold(0.0_f64, |largest, value| largest.max(*value));
        let kept: Vec<usize> = (0..n).filter(|&j| eigenvalues[j] > 1e-13 * n as f64 * largest).collect();
        let vectors = eigenvectors.select_columns(&kept);
        let values = DVector::from_iterator(kept.len(), kept.iter().map(|&j| eigenvalues[j]));
        Ok(Self { vectors, values })
    }
}

/// What a stop comes before.
const CHOSEN: &str = "kernel width and regularisation were chosen";

#[cfg(test)]
mod tests;
