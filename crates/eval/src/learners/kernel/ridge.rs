//! Kernel ridge regression.

use fewest_core::method::Options;
use fewest_core::{Columns, Context, Dataset, Error, Outputs, Target};
use nalgebra::{DMatrix, DVector};

use super::{CHOSEN, Decomposition, KernelGrid, Space, submatrix};
use crate::learners::{Model, Predictions};

/// Kernel ridge regression with a Gaussian kernel on standardised features, the evaluator of Yamada et al.
/// 2014, Section 4.3.2: `f(x) = ȳ + Σ_i α_i K(x, x_i)` with `α = (K + λI)⁻¹ (y − ȳ)`, the minimiser of
/// `Σ (y_i − f(x_i))² + λ αᵀKα`.
///
/// Width and `λ` are those with the smallest squared error in cross-validation; at a tie the smaller width,
/// then the larger `λ`. One eigendecomposition serves all `λ`: `O(n³)` for each width and fold, `O(n²)` for
/// each `λ`. Several outputs share both, with their errors divided by their variances.
///
/// ```
/// use fewest_core::{Context, Dataset, DenseColumns, Target};
/// use fewest_eval::{KernelRidge, Learner, Metric, QSquared};
///
/// let x: Vec<f64> = (0..60).map(|i| f64::from(i) / 10.0).collect();
/// let target = Target::real(x.iter().map(|x| x.sin()).collect())?;
/// let data = Dataset::new(DenseColumns::from_columns(&[x])?, target)?;
/// let model = KernelRidge::default().fit(&data, &Context::default())?;
/// assert!(QSquared.score(data.target(), &model.predict(data.x())?)? < 1e-4);
/// # Ok::<(), fewest_core::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct KernelRidge {
    /// The grid from which width and regularisation are chosen.
    pub grid: KernelGrid,
}

impl Options for KernelRidge {}

/// A fitted [`KernelRidge`].
pub struct KernelRidgeModel {
    space: Space,
    /// One column for each output.
    coefficients: DMatrix<f64>,
    means: Vec<f64>,
    /// The kernel's width, in units of the standardised features.
    pub width: f64,
    /// The regularisation `λ`.
    pub regularization: f64,
    /// The certificate: `max |(K + λI) α − (y − ȳ)|`, relative to the largest `|y − ȳ|`.
    pub residual: f64,
}

impl KernelRidge {
    /// [`Learner::fit`](crate::Learner::fit), with the model's own type.
    ///
    /// # Errors
    /// For a target that is not real, a grid out of range, values that are not finite.
    pub fn train(&self, data: &Dataset, context: &Context<'_>) -> Result<KernelRidgeModel, Error> {
        self.grid.check()?;
        let Target::Real(outputs) = data.target() else {
            let (method, expected) = ("kernel-ridge", "a real output");
            return Err(Error::UnsupportedTarget { method, expected, found: data.target().describe() });
        };
        let space = Space::new(data, context)?;
        let (width, regularization) = self.choose(data, outputs, &space, context)?;
        let rows: Vec<usize> = (0..data.n_samples()).collect();
        let (centred, means) = centred(outputs, &rows);
        let gram = space.gram(width);
        let spectrum = Decomposition::new(gram.clone(), context)?;
        let coefficients = solve(&spectrum, &centred, regularization);
        let error = gram * &coefficients + &coefficients * regularization - &centred;
        let scale = centred.amax();
        let residual = if scale > 0.0 { error.amax() / scale } else { 0.0 };
        Ok(KernelRidgeModel { space, coefficients, means, width, regularization, residual })
    }

    fn choose(
        &self,
        data: &Dataset,
        outputs: &Outputs,
        space: &Space,
        context: &Context<'_>,
    ) -> Result<(f64, f64), Error> {
        let splits = self.grid.splits(data, false, context)?;
        let rows: Vec<usize> = (0..data.n_samples()).collect();
        let (all, _) = centred(outputs, &rows);
        let weights: Vec<f64> = all
            .column_iter()
            .map(|column| column.norm_squared())
            .map(|squares| if squares > 0.0 { 1.0 / squares } else { 0.0 })
            .collect();
        let (widths, regularizations) = (self.grid.sorted_widths(), self.grid.sorted_regularizations());
        let mut best = (f64::INFINITY, widths[0], regularizations[0]);
        for &width in &widths {
            let gram = space.gram(width * space.median);
            let mut errors = vec![0.0; regularizations.len()];
            for split in &splits {
                context.go_on(CHOSEN)?;
                let spectrum = Decomposition::new(submatrix(&gram, &split.train, &split.train), context)?;
                let (targets, means) = centred(outputs, &split.train);
                // Predictions are (K_test U) diag(1 / (s + λ)) (Uᵀ y): only the middle depends on λ.
                let left = submatrix(&gram, &split.test, &split.train) * &spectrum.vectors;
                let right = spectrum.vectors.transpose() * &targets;
                for (error, &regularization) in errors.iter_mut().zip(&regularizations) {
                    let predicted = &left * scaled(&right, &spectrum.values, regularization);
                    for (output, (weight, mean)) in weights.iter().zip(&means).enumerate() {
                        let actual = outputs.output(output);
                        for (i, &row) in split.test.iter().enumerate() {
                            *error += weight * (actual[row] - mean - predicted[(i, output)]).powi(2);
                        }
                    }
                }
            }
            for (&error, &regularization) in errors.iter().zip(&regularizations) {
                if error < best.0 {
                    best = (error, width, regularization);
                }
            }
        }
        Ok((best.1 * space.median, best.2))
    }
}

/// The outputs of `rows` less their means, one column per output, and the means.
fn centred(outputs: &Outputs, rows: &[usize]) -> (DMatrix<f64>, Vec<f64>) {
    let mut means = Vec::with_capacity(outputs.n_outputs());
    let mut columns = Vec::with_capacity(outputs.n_outputs());
    for output in 0..outputs.n_outputs() {
        let values: Vec<f64> = rows.iter().map(|&row| outputs.output(output)[row]).collect();
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        columns.push(DVector::from_iterator(values.len(), values.iter().map(|value| value - mean)));
        means.push(mean);
    }
    (DMatrix::from_columns(&columns), means)
}

/// Row `j` of `matrix` divided by `values[j] + regularization`.
fn scaled(matrix: &DMatrix<f64>, values: &DVector<f64>, regularization: f64) -> DMatrix<f64> {
    DMatrix::from_fn(matrix.nrows(), matrix.ncols(), |j, c| matrix[(j, c)] / (values[j] + regularization))
}

/// `(K + λI)⁻¹ y`. Outside the span of the eigenvectors kept, the kernel is zero.
fn solve(spectrum: &Decomposition, targets: &DMatrix<f64>, regularization: f64) -> DMatrix<f64> {
    let inside = spectrum.vectors.transpose() * targets;
    let outside = targets - &spectrum.vectors * &inside;
    &spectrum.vectors * scaled(&inside, &spectrum.values, regularization) + outside / regularization
}

impl Model for KernelRidgeModel {
    fn predict(&self, x: &dyn Columns) -> Result<Predictions, Error> {
        let values = self.space.cross_gram(x, self.width)? * &self.coefficients;
        let output = |(c, mean): (usize, &f64)| values.column(c).iter().map(|value| value + mean).collect();
        Ok(Predictions::Real(self.means.iter().enumerate().map(output).collect()))
    }

    fn facts(&self) -> Vec<(&'static str, f64)> {
        vec![("width", self.width), ("regularization", self.regularization), ("residual", self.residual)]
    }
}
