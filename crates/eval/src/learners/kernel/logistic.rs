//! Multiclass kernel logistic regression.

use fewest_core::method::Options;
use fewest_core::{Columns, Context, Dataset, Error, Status, options};
use fewest_kernels::exp_in_place;
use nalgebra::{DMatrix, DMatrixView, DVector};

use super::lbfgs::{Ending, Objective, minimise};
use super::race::Race;
use super::{CHOSEN, Decomposition, KernelGrid, Space, submatrix};
use crate::learners::{Learner, Model, Predictions};

/// The tolerance of fits that only compare parameters.
const ROUGH: f64 = 1e-3;

options! {
    /// Multiclass kernel logistic regression with a Gaussian kernel on standardised features, the evaluator
    /// of Yamada et al. 2014, Section 4.3.1: `p(c | x) ∝ exp(f_c(x))` with `f_c(x) = Σ_i v_{ic} K(x, x_i)`,
    /// the minimiser of `F = −Σ_i log p(y_i | x_i) + (λ/2) Σ_c v_cᵀ K v_c`.
    ///
    /// Width and `λ` are those with the most correct predictions in stratified cross-validation; at a tie
    /// those with the larger held-out likelihood, then the smaller width, then the larger `λ`. Classes
    /// without a training sample are never predicted.
    ///
    /// With `K = U S Uᵀ` and `w = S^{1/2} Uᵀ v` the penalty is `(λ/2)‖w‖²`, so that `F` is strongly convex
    /// with modulus `λ` and `F − F* ≤ ‖∇F‖² / (2λ)`. L-BFGS runs until this bound is below
    /// `tolerance · n ln C`, the objective at zero; Böhning's bound `S/2 + λ` on the Hessian, diagonal here,
    /// is its initial Hessian. `O(n³)` for each width and fold, `O(n² C)` per iteration. What cannot be the
    /// best any more, however well it does on the folds that are left, is not fitted to these.
    ///
    /// ```
    /// use fewest_core::{Context, Dataset, DenseColumns, Target};
    /// use fewest_eval::{KernelLogistic, Predictions};
    ///
    /// let x: Vec<f64> = (0..30).map(f64::from).collect();
    /// let labels: Vec<u32> = (0..30).map(|i| i / 10 % 2).collect();
    /// let data = Dataset::new(DenseColumns::from_columns(&[x])?, Target::from_labels(&labels))?;
    /// let model = KernelLogistic::default().train(&data, &Context::default())?;
    /// assert!(model.certificate <= 1e-8);
    /// use fewest_eval::Model;
    /// assert_eq!(model.predict(data.x())?, Predictions::Classes(labels));
    /// # Ok::<(), fewest_core::Error>(())
    /// ```
    #[derive(Debug, Clone, PartialEq)]
    pub struct KernelLogistic {
        /// The grid from which width and regularisation are chosen.
        pub grid: KernelGrid = KernelGrid::default(), hidden;
        /// Bound on the error of the objective, relative to the objective at zero.
        pub tolerance: f64 = 1e-8, ProperFraction;
        /// Iterations allowed.
        pub max_iterations: usize = 1000, hidden;
    }
}

/// A fitted [`KernelLogistic`].
pub struct KernelLogisticModel {
    space: Space,
    /// The codes of the classes that occur, one for each column of `coefficients`.
    codes: Vec<u32>,
    /// Coefficients `v`: one row per training sample, one column for each class that occurs.
    pub coefficients: DMatrix<f64>,
    /// The kernel's width, in units of the standardised features.
    pub width: f64,
    /// The regularisation `λ`.
    pub regularization: f64,
    /// The certificate: a bound on `F − F*`, relative to the objective at zero.
    pub certificate: f64,
    /// How the optimisation ended.
    pub status: Status,
    /// Iterations of the last fit.
    pub iterations: usize,
}

impl KernelLogisticModel {
    /// The probability of each class that occurs (columns, by increasing code) for the samples of `x` (rows).
    ///
    /// # Errors
    /// As [`Model::predict`].
    pub fn probabilities(&self, x: &dyn Columns) -> Result<DMatrix<f64>, Error> {
        let mut values = self.space.cross_gram(x, self.width)? * &self.coefficients;
        soft_max(&mut values);
        Ok(values)
    }
}

/// Replaces the scores of each row by probabilities. Returns the logarithms of the sums `Σ_c exp(f_c)`.
fn soft_max(scores: &mut DMatrix<f64>) -> Vec<f64> {
    let n = scores.nrows();
    let scores = scores.as_mut_slice();
    // Column by column, as they lie in memory.
    let mut largest = vec![f64::NEG_INFINITY; n];
    for column in scores.chunks_exact(n.max(1)) {
        for (largest, score) in largest.iter_mut().zip(column) {
            *largest = largest.max(*score);
        }
    }
    for column in scores.chunks_exact_mut(n.max(1)) {
        for (score, largest) in column.iter_mut().zip(&largest) {
            *score -= largest;
        }
    }
    exp_in_place(scores);
    let mut sums = vec![0.0; n];
    for column in scores.chunks_exact(n.max(1)) {
        for (sum, value) in sums.iter_mut().zip(column) {
            *sum += value;
        }
    }
    for column in scores.chunks_exact_mut(n.max(1)) {
        for (value, sum) in column.iter_mut().zip(&sums) {
            *value /= sum;
        }
    }
    sums.iter().zip(&largest).map(|(sum, largest)| sum.ln() + largest).collect()
}

/// The objective in `w`: one column of `Φ = U S^{1/2}` for each eigenvalue.
pub(super) struct Problem {
    features: DMatrix<f64>,
    transposed: DMatrix<f64>,
    spectrum: DVector<f64>,
    /// The class of each sample, as a column of the scores.
    classes: Vec<usize>,
    n_classes: usize,
    lambda: f64,
    curvature: Vec<f64>,
}

impl Problem {
    pub(super) fn new(decomposition: &Decomposition, classes: Vec<usize>, n_classes: usize) -> Self {
        let mut features = decomposition.vectors.clone();
        for (mut column, value) in features.column_iter_mut().zip(decomposition.values.iter()) {
            column *= value.sqrt();
        }
        let transposed = features.transpose();
        let spectrum = decomposition.values.clone();
        Self { features, transposed, spectrum, classes, n_classes, lambda: 1.0, curvature: Vec::new() }
    }

    fn rank(&self) -> usize {
        self.spectrum.len()
    }

    /// Solves for `lambda` from `w`. Also returns the error bound relative to the objective at zero.
    pub(super) fn solve(
        &mut self,
        w: &mut Vec<f64>,
        lambda: f64,
        tolerance: f64,
        max_iterations: usize,
    ) -> (Ending, f64) {
        self.lambda = lambda;
        let bounds: Vec<f64> = self.spectrum.iter().map(|value| 0.5 * value + lambda).collect();
        self.curvature = bounds.repeat(self.n_classes);
        let at_zero = self.classes.len() as f64 * (self.n_classes as f64).ln();
        let ending = minimise(self, w, 2.0 * lambda * tolerance * at_zero, max_iterations);
        (ending, ending.squared_gradient / (2.0 * lambda * at_zero))
    }
}

impl Objective for Problem {
    fn evaluate(&mut self, at: &[f64], gradient: &mut [f64]) -> f64 {
        let w = DMatrixView::from_slice(at, self.rank(), self.n_classes);
        let mut scores = &self.features * w;
        let own: f64 = self.classes.iter().enumerate().map(|(i, &class)| scores[(i, class)]).sum();
        let log_sums: f64 = soft_max(&mut scores).iter().sum();
        for (i, &class) in self.classes.iter().enumerate() {
            scores[(i, class)] -= 1.0;
        }
        let loss = &self.transposed * scores;
        for ((gradient, loss), w) in gradient.iter_mut().zip(loss.as_slice()).zip(at) {
            *gradient = loss + self.lambda * w;
        }
        log_sums - own + 0.5 * self.lambda * at.iter().map(|w| w * w).sum::<f64>()
    }

    fn curvature(&self) -> &[f64] {
        &self.curvature
    }
}

impl KernelLogistic {
    /// [`Learner::fit`], with the model's own type.
    ///
    /// # Errors
    /// For a target without classes, parameters out of range, values that are not finite.
    pub fn train(&self, data: &Dataset, context: &Context<'_>) -> Result<KernelLogisticModel, Error> {
        self.check()?;
        self.grid.check()?;
        let target = data.classes(self.name())?;
        let codes = target.occurring();
        let column = |code: &u32| codes.partition_point(|other| other < code);
        let columns: Vec<usize> = target.codes().iter().map(column).collect();
        let space = Space::new(data, context)?;
        let mut model = KernelLogisticModel {
            coefficients: DMatrix::zeros(data.n_samples(), codes.len()),
            width: space.median,
            regularization: self.grid.sorted_regularizations()[0],
            certificate: 0.0,
            status: Status::Converged,
            iterations: 0,
            space,
            codes,
        };
        let n_classes = model.codes.len();
        if n_classes < 2 {
            return Ok(model);
        }
        (model.width, model.regularization) =
            self.choose(data, &columns, n_classes, &model.space, context)?;
        let decomposition = Decomposition::new(model.space.gram(model.width), context)?;
        let mut problem = Problem::new(&decomposition, columns, n_classes);
        let mut w = vec![0.0; problem.rank() * n_classes];
        let (ending, certificate) =
            problem.solve(&mut w, model.regularization, self.tolerance, self.max_iterations);
        let w = DMatrix::from_vec(problem.rank(), n_classes, w);
        model.coefficients = inverse_root(&decomposition) * w;
        (model.certificate, model.status, model.iterations) = (certificate, ending.status, ending.iterations);
        Ok(model)
    }

    fn choose(
        &self,
        data: &Dataset,
        classes: &[usize],
        n_classes: usize,
        space: &Space,
        context: &Context<'_>,
    ) -> Result<(f64, f64), Error> {
        let splits = self.grid.splits(data, true, context)?;
        let (widths, regularizations) = (self.grid.sorted_widths(), self.grid.sorted_regularizations());
        let mut race = Race::new(&widths, regularizations.len(), &splits);
        while let Some((at, split)) = race.next() {
            context.go_on(CHOSEN)?;
            let gram = space.gram(widths[at] * space.median);
            let decomposition = Decomposition::new(submatrix(&gram, &split.train, &split.train), context)?;
            let of = |rows: &[usize]| -> Vec<usize> { rows.iter().map(|&row| classes[row]).collect() };
            let mut problem = Problem::new(&decomposition, of(&split.train), n_classes);
            let unseen = submatrix(&gram, &split.test, &split.train) * inverse_root(&decomposition);
            let actual = of(&split.test);
            let mut w = vec![0.0; problem.rank() * n_classes];
            for (held_out, &regularization) in race.open(at).iter_mut().zip(&regularizations) {
                problem.solve(&mut w, regularization, ROUGH, self.max_iterations);
                let mut scores = &unseen * DMatrixView::from_slice(&w, problem.rank(), n_classes);
                let own: f64 = actual.iter().enumerate().map(|(i, &class)| scores[(i, class)]).sum();
                let hits = actual.iter().enumerate().filter(|&(i, &class)| best_column(&scores, i) == class);
                held_out.hits += hits.count();
                held_out.likelihood += own - soft_max(&mut scores).iter().sum::<f64>();
            }
        }
        let (width, regularization) = race.winner();
        Ok((widths[width] * space.median, regularizations[regularization]))
    }
}

/// `U S^{-1/2}`, which turns kernel values into the coordinates that `w` belongs to, and `w` into `v`.
fn inverse_root(decomposition: &Decomposition) -> DMatrix<f64> {
    let mut vectors = decomposition.vectors.clone();
    for (mut column, value) in vectors.column_iter_mut().zip(decomposition.values.iter()) {
        column /= value.sqrt();
    }
    vectors
}

/// The column of the largest entry of row `i`, the first of several.
fn best_column(scores: &DMatrix<f64>, i: usize) -> usize {
    (0..scores.ncols()).fold(0, |best, c| if scores[(i, c)] > scores[(i, best)] { c } else { best })
}

impl Model for KernelLogisticModel {
    fn predict(&self, x: &dyn Columns) -> Result<Predictions, Error> {
        let scores = self.space.cross_gram(x, self.width)? * &self.coefficients;
        Ok(Predictions::Classes((0..scores.nrows()).map(|i| self.codes[best_column(&scores, i)]).collect()))
    }

    fn score_classes(&self, x: &dyn Columns) -> Result<Vec<(u32, Vec<f64>)>, Error> {
        let probabilities = self.probabilities(x)?;
        let columns = probabilities.column_iter();
        Ok(self
            .codes
            .iter()
            .zip(columns)
            .map(|(&code, column)| (code, column.iter().copied().collect()))
            .collect())
    }

    fn facts(&self) -> Vec<(&'static str, f64)> {
        vec![
            ("width", self.width),
            ("regularization", self.regularization),
            ("certificate", self.certificate),
            ("iterations", self.iterations as f64),
        ]
    }
}
