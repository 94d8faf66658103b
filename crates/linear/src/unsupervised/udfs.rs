//! Unsupervised discriminative feature selection.

use fewest_core::method::Options;
use fewest_core::{
    Budget, Certificate, Context, Dataset, DescentSummary, Error, Selection, Selector, SolverReport, options,
};

use fewest_linalg::cholesky;
use nalgebra::DMatrix;

use super::design::{Design, SparseSymmetric};
use super::{Neighbourhoods, not_finite};
use crate::penalised::each_budget;
use crate::projections::{Descent, Found, OTHERS_ARE_CONSTANT, Scatter};

options! {
    /// UDFS, unsupervised discriminative feature selection (Yang, Shen, Ma, Huang and Zhou 2011; Eq. 67–71 of
    /// Li et al. 2016): features in few rows of a projection that tells the samples of each neighbourhood
    /// apart.
    ///
    /// ```text
    /// minimise over W   tr(Wᵀ M W) + α Σⱼ √(‖Wⱼ‖² + ε)   with Wᵀ W = I, one column a cluster
    ///
    /// M = Xᵀ [Σᵢ Pᵢ H (H XᵢXᵢᵀ H + λ I)⁻¹ H Pᵢᵀ] X,   Xᵢ: sample i and its nearest,   H centres
    ///
    /// score(k) = ‖W_k‖
    /// ```
    ///
    /// The ridge `λ` of the neighbourhoods and the weight `α` are two parameters (Eq. 70 has a further factor
    /// `λ` in front of `M`, Eq. 71 has not). Features are standardised; constant ones, which every
    /// neighbourhood agrees on, are left out. A category of more than two levels enters by its level
    /// indicators, which are one row together.
    ///
    /// The problem is not convex. The descent starts at the lowest eigenvectors of `M`; where `M` has no
    /// unique ones, with more features than samples, at vectors of its null space near axes; and
    /// once more at the axes of the smallest `M_jj` where these are a better start. Each step minimises
    /// `tr(Wᵀ (M + D) W)`, `D_jj = α / (2 √(‖Wⱼ‖² + ε))`, over all `W` for up to 128 columns, and else
    /// over the span of `W`, the solution of a system with `M + D` and the step before: the objective
    /// never rises. The certificate is the stationarity at the answer, `‖(I − W Wᵀ) (M + D) W‖ / ‖(M + D)
    /// W‖`. Whatever `W`, the objective is at least the sum of the smallest eigenvalues of `M` plus `α`
    /// times the clusters; the notes say so.
    ///
    /// Cost: the neighbours, `O(n² d)`; a step takes `O(d³)`, or `O(n² d + n³)` with more features than
    /// samples. Memory: three copies of the table, the smaller of `n²` and `d²` numbers, and
    /// `6 (neighbours + 1)²` for each sample.
    ///
    /// # Errors
    /// Fewer than two samples; more clusters than features that vary; a NaN or an infinity, naming the cell;
    /// parameters out of range; sample weights.
    ///
    /// ```
    /// use fewest_core::{Budget, Context, Dataset, DenseColumns, Selector, Target};
    /// use fewest_linear::Udfs;
    ///
    /// // Two features place the samples in groups; the third is noise.
    /// let group = |step: i32| (0..40).map(move |i| f64::from(i % 2) * 9.0 + f64::from(i * step % 40) / 20.0);
    /// let noise = (0..40).map(|i| f64::from(i * 11 % 41)).collect();
    /// let x = DenseColumns::from_columns(&[noise, group(7).collect(), group(3).collect()])?;
    /// let data = Dataset::new(x, Target::None)?;
    /// let mut order = Udfs::default().select(&data, Budget::Count(2), &Context::default())?.order;
    /// order.sort();
    /// assert_eq!(order, [1, 2]);
    /// # Ok::<(), fewest_linear::Error>(())
    /// ```
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct Udfs {
        /// The neighbourhoods and the number of clusters.
        pub neighbourhoods: Neighbourhoods = Neighbourhoods::default();
        /// Ridge λ of the scatter in a neighbourhood.
        pub ridge: f64 = 1.0, Positive;
        /// Weight α of the penalty, as a share of the mean eigenvalue of M.
        pub alpha_ratio: f64 = 0.1, Positive;
        /// Smoothing ε of the length of a row.
        pub smoothing: f64 = 1e-8, Positive;
        /// Stationarity to reach: the gradient along the constraint, relative to the gradient.
        pub tolerance: f64 = 1e-6, Positive;
    }
}

impl Selector for Udfs {
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
        data.refuse_sample_weights("udfs")?;
        budgets.iter().try_for_each(|budget| budget.check(data.n_features()))?;
        let design = Design::new(data, "udfs", context)?;
        if let Some(nothing) = design.rows.nothing(budgets) {
            return Ok(nothing);
        }
        let p = design.x.ncols();
        // With as many clusters as columns every W is a rotation, and all rows have the length 1.
        let (clusters, mut notes) = self.neighbourhoods.number(data, (p - 1).max(1), context)?;
        if clusters > p {
            let expected = format!("at most the number of columns that vary, {p}");
            return Err(Error::parameter("clusters", clusters, expected));
        }
        let between = of_neighbourhoods(&design, data, self.neighbourhoods.neighbours, self.ridge, context)?;
        let scatter = Scatter::new(&design.x, &between, clusters, "udfs", context)?;
        let alpha = self.alpha_ratio * scatter.trace() / p as f64;
        let descent = Descent {
            rows: &design.rows,
            scatter: &scatter,
            alpha,
            smoothing: self.smoothing,
            tolerance: self.tolerance,
            context,
        };
        let start = descent.start(clusters)?;
        let axes = scatter.axes(clusters);
        let axes_objective = descent.objective(&axes)?;
        let mut found = descent.from(start.w)?;
        let mut from = start.name;
        if axes_objective < found.first_objective && !found.status.is_stopped() {
            let other = descent.from(axes)?;
            if other.objective < found.objective {
                (found, from) = (other, "the axes of the smallest entries on the diagonal of M");
            }
        }
        let Found { w, objective, first_objective, stationarity, status, iterations } = found;
        let bound = start.lowest + alpha * clusters as f64;
        let summary = DescentSummary::new(from, first_objective, objective).with_lower_bound(bound);
        notes.push(summary.to_string());
        let report = SolverReport::new("irls", status, objective, Certificate::stationarity(stationarity))
            .with_lambda(alpha)
            .with_iterations(iterations);
        each_budget(budgets, context, |budget| {
            let mut selection =
                Selection::by_weight(design.rows.scores(&w), design.rows.n_features(), budget, report.status);
            selection.solver = Some(report.clone());
            selection.descent = Some(summary.clone());
            selection.notes.extend(notes.iter().cloned());
            selection.note_missing_features(budget, OTHERS_ARE_CONSTANT);
            Ok(selection)
        })
    }
}

/// The sum over all neighbourhoods of `P H (H XᵢXᵢᵀ H + λ I)⁻¹ H Pᵀ`: what is between `Xᵀ` and `X` in `M`.
fn of_neighbourhoods(
    design: &Design,
    data: &Dataset,
    k: usize,
    ridge: f64,
    context: &Context<'_>,
) -> Result<SparseSymmetric, Error> {
    let local = |squares: &DMatrix<f64>| of_neighbourhood(squares, ridge).ok_or_else(not_finite);
    let mut entries = Vec::new();
    for (members, local) in design.neighbourhoods(data, k, "udfs", context, local)? {
        for (a, &row) in members.iter().enumerate() {
            entries.extend(members.iter().enumerate().map(|(b, &column)| (row, column, local[(a, b)])));
        }
    }
    Ok(SparseSymmetric::of_sum(design.x.nrows(), entries.into_iter()))
}

/// `H (H XᵢXᵢᵀ H + λ I)⁻¹ H` from the squared distances `D` of the samples: `H XᵢXᵢᵀ H = −½ H D H`.
fn of_neighbourhood(squares: &DMatrix<f64>, ridge: f64) -> Option<DMatrix<f64>> {
    let m = squares.nrows();
    let centred = |matrix: DMatrix<f64>| {
        let rows = matrix.column_mean();
        let columns = matrix.row_mean();
        let mean = rows.mean();
        DMatrix::from_fn(m, m, |a, b| matrix[(a, b)] - rows[a] - columns[b] + mean)
    };
    let mut matrix = centred(squares * -0.5);
    matrix.iter_mut().step_by(m + 1).for_each(|value| *value += ridge);
    Some(centred(cholesky(matrix)?.inverse()))
}

#[cfg(test)]
mod tests {
    use fewest_core::{DenseColumns, Target, derive_seed};

    use super::*;
    use crate::projections::Between;

    /// Two groups of samples whose neighbourhoods do not meet: `K` has no product with what is constant on
    /// each, and the descent starts where `M` has none, though the table may have some.
    #[test]
    fn the_null_space_has_vectors_that_tell_groups_apart() -> Result<(), Error> {
        let (n, p, c) = (40, 150, 3);
        let noise = |at: usize| derive_seed(1, at as u64) as f64 / u64::MAX as f64;
        let column = |j: usize| (0..n).map(|i| noise(i + n * j) + 100.0 * (i % 2 * (j % 3)) as f64).collect();
        let table: Vec<Vec<f64>> = (0..p).map(column).collect();
        let data = Dataset::new(DenseColumns::from_columns(&table)?, Target::None)?;
        let context = Context::default();
        let design = Design::new(&data, "udfs", &context)?;
        let between = of_neighbourhoods(&design, &data, 5, 1.0, &context)?;
        let sets = between.null_sets();
        assert_eq!(sets.len(), 2);
        for set in &sets {
            let indicator = DMatrix::from_fn(n, 1, |i, _| f64::from(u8::from(set.contains(&i))));
            assert!(between.product(&indicator).amax() < 1e-9);
        }
        let scatter = Scatter::new(&design.x, &between, c, "udfs", &context)?;
        let Some(start) = scatter.spectral_start(c, &context)? else { panic!("known at once") };
        assert!(scatter.images(&start.w)?.0.amax() < 1e-8);
        // In the null space of the table no vector tells the groups apart.
        assert!((&design.x * &start.w).amax() > 1e-3);
        Ok(())
    }
}
