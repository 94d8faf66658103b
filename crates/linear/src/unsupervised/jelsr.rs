//! Joint embedding learning and sparse regression.

use fewest_core::method::Options;
use fewest_core::{
    Budget, Certificate, Context, Dataset, DescentSummary, Error, Selection, Selector, SolverReport, Status,
    derive_seed, options, room,
};
use fewest_linalg::{Cholesky, Krylov, gram_unless, largest_eigenpairs, lowest, symmetric_eigen_unless};
use nalgebra::DMatrix;

use super::design::{Design, SparseSymmetric};
use super::{Neighbourhoods, WeightedRidge, not_finite, stopped};
use crate::penalised::each_budget;
use crate::projections::{Between, OTHERS_ARE_CONSTANT, symmetric, times};

/// Ridge of the weights of neighbours, as a share of the trace of their products.
const LOCAL_RIDGE: f64 = 1e-3;

/// Samples up to which all eigenvectors of a step are computed.
const DENSE: usize = 512;

/// Vectors beyond those wanted, blocks of the Krylov space and residual otherwise.
const EXTRA: usize = 6;
const BLOCKS: usize = 8;
const RESIDUAL: f64 = 1e-10;

/// Most steps, and steps in a row without progress after which it ends.
const MOST_STEPS: usize = 5000;
const PATIENCE: usize = 20;

/// A decrease that is rounding, relative to the objective.
const ROUNDING: f64 = 1e-15;

options! {
    /// JELSR, joint embedding learning and sparse regression (Hou, Nie, Li, Yi and Wu 2011; Eq. 76–79 of
    /// Li et al. 2016): features that predict an embedding of the samples, which is found with them.
    ///
    /// ```text
    /// minimise over G, W   tr(Gᵀ L G) + β (‖X W − G‖² + α Σⱼ √(‖Wⱼ‖² + ε))   with Gᵀ G = I
    ///
    /// L = (I − S)ᵀ (I − S),   S: each sample by its neighbours with weights that add up to 1
    ///
    /// score(k) = ‖W_k‖
    /// ```
    ///
    /// `L` is that of locally linear embedding (Roweis and Saul 2000), with a ridge of 1e-3 of the trace
    /// of the neighbours' products; `G` has one column for each cluster, and the constant vector is not
    /// left out. Features are standardised; a category of more than two levels enters by its level
    /// indicators, which are one row together.
    ///
    /// The problem is not convex. From `D = I`, steps alternate: `G` is the `c` lowest eigenvectors of
    /// `L + β (I − X (XᵀX + α D)⁻¹ Xᵀ)`, `W = (XᵀX + α D)⁻¹ Xᵀ G`, `D_jj = 1 / (2 √(‖Wⱼ‖² + ε))`; the
    /// objective never rises. The certificate is the stationarity at the answer: the gradient in `G` along
    /// the constraint, relative to the gradient in `G`, or that in `W`, relative to the one at zero,
    /// whichever is larger.
    ///
    /// Cost of a step: `O(n³ + n² d)`, or `O(n³ + d³)` with fewer features than samples; above 512 samples
    /// eigenvectors are found by products instead. Memory: two copies of the table, some matrices of `n²`,
    /// and `6 (neighbours + 1)²` numbers for each sample.
    ///
    /// # Errors
    /// Fewer than two samples; more clusters than samples; no feature that varies; a NaN or an infinity,
    /// naming the cell; parameters out of range; sample weights.
    ///
    /// ```
    /// use fewest_core::{Budget, Context, Dataset, DenseColumns, Selector, Target};
    /// use fewest_linear::Jelsr;
    ///
    /// // Two features place the samples in groups; the third is noise.
    /// let group = |step: i32| (0..40).map(move |i| f64::from(i % 2) * 9.0 + f64::from(i * step % 40) / 20.0);
    /// let noise = (0..40).map(|i| f64::from(i * 11 % 41)).collect();
    /// let x = DenseColumns::from_columns(&[noise, group(7).collect(), group(3).collect()])?;
    /// let data = Dataset::new(x, Target::None)?;
    /// let mut order = Jelsr::default().select(&data, Budget::Count(2), &Context::default())?.order;
    /// order.sort();
    /// assert_eq!(order, [1, 2]);
    /// # Ok::<(), fewest_linear::Error>(())
    /// ```
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct Jelsr {
        /// The neighbourhoods and the number of clusters.
        pub neighbourhoods: Neighbourhoods = Neighbourhoods::default();
        /// Weight α of the penalty.
        pub alpha: f64 = 0.1, Positive;
        /// Weight β of the regression.
        pub beta: f64 = 1.0, Positive;
        /// Smoothing ε of the length of a row.
        pub smoothing: f64 = 1e-8, Positive;
        /// Stationarity to reach: relative gradients.
        pub tolerance: f64 = 1e-6, Positive;
    }
}

/// An embedding with the regression on it.
struct Point {
    g: DMatrix<f64>,
    w: DMatrix<f64>,
    objective: f64,
    stationarity: f64,
    /// `D`.
    weights: Vec<f64>,
}

struct Problem<'a> {
    options: &'a Jelsr,
    design: &'a Design,
    clusters: usize,
    laplacian: SparseSymmetric,
    /// `XᵀX`, with no more columns than samples.
    gram: Option<Vec<f64>>,
    context: &'a Context<'a>,
}

impl Problem<'_> {
    fn regression(&self, weights: &[f64]) -> Result<WeightedRidge, Error> {
        let diagonal = weights.iter().map(|weight| self.options.alpha * weight).collect();
        WeightedRidge::new(&self.design.x, self.gram.as_deref(), diagonal, self.context)
    }

    /// `(L + β (I − X (XᵀX + α D)⁻¹ Xᵀ)) v`.
    fn product(&self, regression: &WeightedRidge, v: &DMatrix<f64>) -> DMatrix<f64> {
        let left = v - &self.design.x * regression.coefficients(&self.design.x, v);
        self.laplacian.product(v) + left * self.options.beta
    }

    /// The embedding that goes with a regression.
    fn embedding(
        &self,
        regression: &WeightedRidge,
        before: Option<&DMatrix<f64>>,
    ) -> Result<DMatrix<f64>, Error> {
        let n = self.design.x.nrows();
        let is_stopped = || self.context.stopped().is_some();
        if n <= DENSE {
            let matrix = symmetric(self.product(regression, &DMatrix::identity(n, n)));
            let found = symmetric_eigen_unless(matrix, &is_stopped).ok_or_else(|| stopped(self.context))?;
            return Ok(lowest(&found, self.clusters).1);
        }
        let uniform = |at: usize| derive_seed(0, at as u64) as f64 / u64::MAX as f64 - 0.5;
        let width = (self.clusters + EXTRA).min(n);
        let start = DMatrix::from_fn(n, width, |i, j| match before {
            Some(g) if j < g.ncols() => g[(i, j)],
            _ => uniform(i + j * n),
        });
        let product = |v: &DMatrix<f64>| {
            self.context.go_on("the first embedding was found")?;
            Ok::<_, Error>(-self.product(regression, v))
        };
        let found = largest_eigenpairs(start, self.clusters, &[], Krylov::new(BLOCKS, RESIDUAL), product)?;
        Ok(found.ok_or_else(not_finite)?.vectors)
    }

    fn point(&self, g: DMatrix<f64>, w: DMatrix<f64>) -> Point {
        let Jelsr { alpha, beta, smoothing, .. } = *self.options;
        let squares = self.design.rows.squared_lengths(&w);
        let weights: Vec<f64> = squares.iter().map(|square| 0.5 / (square + smoothing).sqrt()).collect();
        let x = &self.design.x;
        let residual = x * &w - &g;
        let image = self.laplacian.product(&g);
        let penalty = self.design.rows.smoothed_sum(&squares, smoothing);
        let objective = g.dot(&image) + beta * (residual.norm_squared() + alpha * penalty);
        let in_g = image - &residual * beta;
        let along = &in_g - &g * symmetric(g.tr_mul(&in_g));
        let in_w = x.tr_mul(&residual) + times(&weights, &w) * alpha;
        let share = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { part };
        let stationarity = share(along.norm(), in_g.norm()).max(share(in_w.norm(), x.tr_mul(&g).norm()));
        Point { g, w, objective, stationarity, weights }
    }

    /// Alternates from `D = I`: where it ends, how, after how many steps, and the first objective.
    fn descend(&self) -> Result<(Point, Status, usize, f64), Error> {
        let step = |weights: &[f64], before: Option<&DMatrix<f64>>| {
            let regression = self.regression(weights)?;
            let g = self.embedding(&regression, before)?;
            let w = regression.coefficients(&self.design.x, &g);
            Ok::<_, Error>(self.point(g, w))
        };
        let mut now = step(&vec![1.0; self.design.x.ncols()], None)?;
        let first = now.objective;
        let (mut steps, mut without_progress) = (1, 0);
        loop {
            let by_certificate = Status::by_certificate(now.stationarity, self.options.tolerance);
            let ended = match self.context.stopped() {
                Some(status) => Some(status),
                None if by_certificate == Status::Converged => Some(Status::Converged),
                None if steps >= MOST_STEPS => Some(Status::MaxIterations),
                None => (without_progress >= PATIENCE).then_some(by_certificate),
            };
            if let Some(status) = ended {
                return Ok((now, status, steps, first));
            }
            let next = match step(&now.weights, Some(&now.g)) {
                // What there is is the answer; the loop sees that it was stopped.
                Err(_) if self.context.stopped().is_some() => continue,
                next => next?,
            };
            steps += 1;
            self.context.report("alternations", steps, MOST_STEPS);
            let decrease = now.objective - next.objective;
            without_progress = if decrease > ROUNDING * now.objective { 0 } else { without_progress + 1 };
            if decrease >= -ROUNDING * now.objective {
                now = next;
            } else {
                without_progress = PATIENCE;
            }
        }
    }
}

/// `(I − S)ᵀ (I − S)` of locally linear embedding.
fn laplacian(shares: &[(Vec<usize>, Vec<f64>)]) -> SparseSymmetric {
    let mut entries = Vec::new();
    for (members, shares) in shares {
        let parts = [1.0].into_iter().chain(shares.iter().map(|share| -share));
        let row: Vec<(usize, f64)> = members.iter().copied().zip(parts).collect();
        for &(a, left) in &row {
            entries.extend(row.iter().map(|&(b, right)| (a, b, left * right)));
        }
    }
    SparseSymmetric::of_sum(shares.len(), entries.into_iter())
}

/// The weights, which add up to 1, that rebuild a sample from its neighbours, from the squared distances of
/// all of them; the same for all where all distances are zero.
fn shares(squares: &DMatrix<f64>) -> Vec<f64> {
    let k = squares.nrows() - 1;
    // The products of the differences from the sample, which comes first.
    let product =
        |a: usize, b: usize| 0.5 * (squares[(0, a + 1)] + squares[(0, b + 1)] - squares[(a + 1, b + 1)]);
    let mut products = DMatrix::from_fn(k, k, product);
    let ridge = LOCAL_RIDGE * products.trace();
    products.iter_mut().step_by(k + 1).for_each(|value| *value += ridge);
    let mut weights = vec![1.0; k];
    if let Some(factor) = Cholesky::of(products.data.into(), k) {
        factor.solve(&mut weights);
    }
    let sum: f64 = weights.iter().sum();
    weights.iter_mut().for_each(|weight| *weight /= sum);
    weights
}

impl Selector for Jelsr {
    fn select(&self, data: &Dataset, budget: Budget, context: &Context<'_>) -> Result<Selection, Error> {
        Selection::only(self.select_many(data, &[budget], context)?)
    }

    /// One descent serves all budgets.
    fn select_many(
        &self,
        data: &Dataset,
        budgets: &[Budget],
        context: &Context<'_>,
    ) -> Result<Vec<Selection>, Error> {
        self.check()?;
        data.refuse_sample_weights("jelsr")?;
        budgets.iter().try_for_each(|budget| budget.check(data.n_features()))?;
        let n = data.n_samples();
        let design = Design::new(data, "jelsr", context)?;
        if let Some(nothing) = design.rows.nothing(budgets) {
            return Ok(nothing);
        }
        let (clusters, mut notes) = self.neighbourhoods.number(data, n, context)?;
        if clusters > n {
            let expected = format!("at most the number of samples, {n}");
            return Err(Error::parameter("clusters", clusters, expected));
        }
        let p = design.x.ncols();
        let side = n.min(p.max(DENSE));
        drop(room("memory for its matrices", &[4, side, side], "jelsr", "use fewer samples")?);
        let k = self.neighbourhoods.neighbours;
        let shares = design.neighbourhoods(data, k, "jelsr", context, |squares| Ok(shares(squares)))?;
        let is_stopped = || context.stopped().is_some();
        let problem = Problem {
            options: self,
            design: &design,
            clusters,
            laplacian: laplacian(&shares),
            gram: (p <= n).then(|| gram_unless(design.x.as_slice(), n, &is_stopped)),
            context,
        };
        let (end, status, steps, first_objective) = problem.descend()?;
        let summary =
            DescentSummary::new("the embedding that goes with D = I", first_objective, end.objective);
        notes.push(summary.to_string());
        let certificate = Certificate::stationarity(end.stationarity);
        let report = SolverReport::new("irls", status, end.objective, certificate)
            .with_lambda(self.alpha)
            .with_iterations(steps);
        each_budget(budgets, context, |budget| {
            let mut selection =
                Selection::by_weight(design.rows.scores(&end.w), design.rows.n_features(), budget, status);
            selection.solver = Some(report.clone());
            selection.descent = Some(summary.clone());
            selection.notes.extend(notes.iter().cloned());
            selection.note_missing_features(budget, OTHERS_ARE_CONSTANT);
            Ok(selection)
        })
    }
}
