//! Adaptive lasso: the weights of the penalty from a first estimate.

use fewest_core::method::Options;
use fewest_core::{Budget, Context, Dataset, Error, Selection, Selector, choice, options};
use fewest_linalg::{Cholesky, gram, transposed};
use fewest_solver::{Design, InnerProducts};

use super::Lasso;
use super::columns::LinearColumns;
use super::search::Model;
use super::terms::{Basis, Terms};

/// Columns read at a time where there are more of them than samples.
const PANEL: usize = 1024;

/// A pivot of a correlation matrix below this is rounding: its column depends on those before.
const DEPENDENT: f64 = 1e-12;

/// The error of a run that ended before there were weights.
const ESTIMATED: &str = "the first estimate was computed";

choice! {
    /// The first estimate, which decides on the weights of the penalty.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub enum FirstEstimate {
        /// Ridge regression.
        Ridge {
            /// Ridge of the first estimate.
            mu: f64 = 0.1, Positive;
        } = "ridge",
        /// Least squares: for features of which none depends on others, fewer than samples.
        LeastSquares = "ols",
    }
}

options! {
    /// Adaptive lasso (Zou 2006; Eq. 58 of Li et al. 2016): a coefficient that a first estimate finds large
    /// is penalised little, one that it finds small much, so that large ones are shrunk less than by the
    /// [`Lasso`] and fewer small ones are left.
    ///
    /// ```text
    /// minimise over W   1/(2n) ‖Y − X W‖²_F + λ Σ_jk |w_jk| / b_jk,     b_jk = |ŵ_jk|^γ
    ///
    /// Ŵ = (XᵀX/n + μ I)⁻¹ XᵀY/n,     score(k) = w_k
    /// ```
    ///
    /// A coefficient whose first estimate is zero remains zero. `initial=ols` is `μ = 0`. Data, losses,
    /// solvers, scores and the meaning of a number of features are those of [`Lasso`]. With another loss
    /// `Y/n` in the first estimate is the negative gradient of the loss at the model without features: the
    /// centred classes, the count less its mean, the martingale residual.
    ///
    /// The estimate is part of the method: in a cross-validation it is computed from the training samples.
    ///
    /// Cost: as of [`Lasso`], and `n d min(n, d)` for the first estimate; memory for it `min(n, d)²`.
    ///
    /// # Errors
    /// As of [`Lasso`]; least squares where features depend on each other, or are as many as samples.
    ///
    /// ```
    /// use fewest_core::{Budget, Context, Dataset, DenseColumns, Selector, Target};
    /// use fewest_linear::AdaptiveLasso;
    ///
    /// let wave = |step: i32| (0..60).map(|i| f64::from(i * step % 61) / 30.0 - 1.0).collect::<Vec<f64>>();
    /// let (a, b, c) = (wave(1), wave(17), wave(23));
    /// let target = a.iter().zip(&c).map(|(a, c)| 3.0 * a - c).collect();
    /// let data = Dataset::new(DenseColumns::from_columns(&[a, b, c])?, Target::real(target)?)?;
    /// let selection = AdaptiveLasso::default().select(&data, Budget::Count(2), &Context::default())?;
    /// assert_eq!(selection.order, [0, 2]);
    /// assert!(selection.scores[0] > 0.0 && selection.scores[1] < 0.0);
    /// # Ok::<(), fewest_linear::Error>(())
    /// ```
    #[derive(Debug, Clone)]
    pub struct AdaptiveLasso {
        /// First estimate, which decides on the weights of the penalty.
        pub initial: FirstEstimate = FirstEstimate::default();
        /// Power of the first estimate.
        pub gamma: f64 = 1.0, Positive;
        /// What it shares with the lasso.
        pub lasso: Lasso = Lasso::default();
    }
}

impl Selector for AdaptiveLasso {
    fn select(&self, data: &Dataset, budget: Budget, context: &Context<'_>) -> Result<Selection, Error> {
        Selection::only(self.select_many(data, &[budget], context)?)
    }

    /// Columns are standardised, and the weights are found, once for all budgets.
    fn select_many(
        &self,
        data: &Dataset,
        budgets: &[Budget],
        context: &Context<'_>,
    ) -> Result<Vec<Selection>, Error> {
        self.check()?;
        let adaptive = Some(Adaptive { initial: self.initial, gamma: self.gamma });
        let model = Model { method: "adaptive-lasso", lasso: &self.lasso, l1_ratio: 1.0, adaptive };
        model.select_many(data, budgets, context)
    }
}

/// How penalties are weighted.
#[derive(Debug, Clone, Copy)]
pub(super) struct Adaptive {
    initial: FirstEstimate,
    gamma: f64,
}

impl Adaptive {
    /// `b` of every column, output by output: `residuals` are those of the model without features, divided by
    /// the number of samples and times the weight of each, one output after the other.
    pub(super) fn sizes(
        self,
        columns: &LinearColumns<'_>,
        terms: &Terms,
        residuals: &[f64],
        method: &'static str,
        context: &Context<'_>,
    ) -> Result<Vec<Vec<f64>>, Error> {
        let mut estimates = self.initial.of(columns, terms, residuals, method, context)?;
        estimates.iter_mut().flatten().for_each(|value| *value = value.abs().powf(self.gamma));
        Ok(estimates)
    }
}

impl FirstEstimate {
    fn of(
        self,
        columns: &LinearColumns<'_>,
        terms: &Terms,
        residuals: &[f64],
        method: &'static str,
        context: &Context<'_>,
    ) -> Result<Vec<Vec<f64>>, Error> {
        let (n, d) = (columns.n_samples(), columns.n_atoms());
        let c = residuals.len() / n.max(1);
        let is_candidate =
            |j: &usize| columns.squared_norms()[*j] > 0.0 && terms.left_out.binary_search(j).is_err();
        let varying: Vec<usize> = (0..d).filter(is_candidate).collect();
        // All of it is done with what covariates leave of columns and residuals.
        let basis = terms.basis.as_ref();
        let n_free = basis.map_or(0, Basis::len);
        let mut residuals = residuals.to_vec();
        let project = |residuals: &mut [f64]| {
            if let Some(basis) = basis {
                residuals.chunks_exact_mut(n.max(1)).for_each(|own| basis.project_residuals(own));
            }
        };
        project(&mut residuals);
        let of_column =
            |products: &[f64], k: usize| (0..d).map(|j| products[k + j * c]).collect::<Vec<f64>>();
        let mut products = vec![0.0; d * c];
        let ridge = match self {
            Self::Ridge { mu } => mu,
            // Centred columns span a dimension less than there are samples.
            Self::LeastSquares if varying.len() + n_free < columns.n_counting() => 0.0,
            Self::LeastSquares => {
                let found = format!("{} features and {} samples", varying.len(), columns.n_counting());
                return Err(refused(method, found));
            }
        };
        context.go_on(ESTIMATED)?;
        if varying.len() > n {
            // (XᵀX/n + μ)⁻¹ Xᵀ = Xᵀ (XXᵀ/n + μ)⁻¹, for samples times the roots of their weights.
            let roots: Vec<f64> = match columns.weights() {
                Some(weights) => weights.values().iter().map(|weight| weight.sqrt()).collect(),
                None => vec![1.0; n],
            };
            let outer = outer_products(columns, basis, &varying, &roots, context)?;
            let factor = factor(outer, n, ridge, method, context)?;
            let mut solved = residuals;
            for residuals in solved.chunks_exact_mut(n) {
                // Those of samples that do not count are 0.
                let counting = residuals.iter_mut().zip(&roots).filter(|(_, root)| **root > 0.0);
                counting.for_each(|(residual, root)| *residual /= root);
                factor.solve(residuals);
                residuals.iter_mut().zip(&roots).for_each(|(residual, root)| *residual *= root);
            }
            project(&mut solved);
            columns.correlations(&solved, &mut products)?;
            return Ok((0..c).map(|k| of_column(&products, k)).collect());
        }
        columns.correlations(&residuals, &mut products)?;
        let m = varying.len();
        let mut inner = vec![0.0; m * m];
        columns.products(&varying, &varying, &mut inner)?;
        for vector in basis.iter().flat_map(|basis| basis.vectors()) {
            context.go_on(ESTIMATED)?;
            let mut weighted: Vec<f64> = vector.iter().map(|value| value / n as f64).collect();
            columns.weigh(&mut weighted);
            let explained = columns.products_with(&varying, &weighted)?;
            for (column, &right) in inner.chunks_exact_mut(m.max(1)).zip(&explained) {
                column.iter_mut().zip(&explained).for_each(|(value, left)| *value -= left * right);
            }
        }
        let factor = factor(inner, m, ridge, method, context)?;
        let estimate = |k: usize| {
            let mut values: Vec<f64> = varying.iter().map(|&j| products[k + j * c]).collect();
            factor.solve(&mut values);
            let mut estimate = vec![0.0; d];
            varying.iter().zip(values).for_each(|(&j, value)| estimate[j] = value);
            estimate
        };
        Ok((0..c).map(estimate).collect())
    }
}

fn refused(method: &'static str, found: String) -> Error {
    Error::Unsupported {
        method,
        what: format!("the first estimate with {found}"),
        instead: "use initial=ridge, with a larger `mu`".to_owned(),
    }
}

/// The Cholesky factor of `matrix + ridge I`.
fn factor(
    mut matrix: Vec<f64>,
    n: usize,
    ridge: f64,
    method: &'static str,
    context: &Context<'_>,
) -> Result<Cholesky, Error> {
    (0..n).for_each(|j| matrix[j + j * n] += ridge);
    let factor = Cholesky::of_unless(matrix, n, &|| context.stopped().is_some());
    context.go_on(ESTIMATED)?;
    let is_regular = |factor: &Cholesky| ridge > 0.0 || factor.least_pivot() >= DEPENDENT;
    factor.filter(is_regular).ok_or_else(|| refused(method, "features that depend on each other".to_owned()))
}

/// `X Xᵀ / n` of samples times `roots`, a few columns at a time.
fn outer_products(
    columns: &LinearColumns<'_>,
    basis: Option<&Basis>,
    varying: &[usize],
    roots: &[f64],
    context: &Context<'_>,
) -> Result<Vec<f64>, Error> {
    let n = columns.n_samples();
    let mut sum = vec![0.0; n * n];
    for panel in varying.chunks(PANEL) {
        context.go_on(ESTIMATED)?;
        let mut gathered = columns.gather(panel)?;
        if let Some(basis) = basis {
            gathered.chunks_exact_mut(n.max(1)).for_each(|column| basis.project(column));
        }
        let rows = transposed(&gathered, n, roots);
        for (sum, product) in sum.iter_mut().zip(gram(&rows, panel.len())) {
            *sum += product / n as f64;
        }
    }
    Ok(sum)
}
