//! Multi-cluster feature selection.

use std::collections::BTreeMap;

use fewest_columns::{StandardOutput, standardise};
use fewest_core::method::{Options, Regularization};
use fewest_core::{
    Budget, Certificate, Context, Dataset, Error, Selection, Selector, SolverReport, Status, options,
};
use fewest_neighbours::SpectralEmbedding;

use super::Clusters;
use crate::columns::LinearColumns;
use crate::penalised::{each_budget, opened, others_left_out};
use crate::{Lasso, search};

options! {
    /// MCFS, multi-cluster feature selection (Cai, Zhang and He 2010; Eq. 63–66 of Li et al. 2016): features
    /// that predict the clusters of a graph of the samples.
    ///
    /// ```text
    /// L e = λ D e,   eᵀ D e = 1                              the vectors e₁ … e_K after the constant one
    /// minimise over wᵢ   ‖X wᵢ − eᵢ‖² + αᵢ ‖wᵢ‖₁             a lasso for each
    /// score(k) = max over i of |wᵢₖ|
    /// ```
    ///
    /// Features are standardised; the graph joins nearest neighbours ([`GraphOptions`]). With
    /// `Budget::Count(k)` each lasso follows its exact path until more than `k` features would have a
    /// coefficient, as in the paper; with `lambda_ratio`, `αᵢ` is that share of its largest useful value, `2
    /// maxⱼ |xⱼᵀ eᵢ|`. The score takes absolute values, and does not depend on the sign of the vectors; where
    /// two eigenvalues are equal, it depends on which of their vectors were found, and a note says so. A
    /// categorical feature of more than two levels has the largest score of its level indicators.
    ///
    /// The target is not used.
    ///
    /// Cost: the neighbours, `O(n² d)`; the vectors; `K` lassos on one standardised table. Memory: a copy of
    /// the table for the neighbours.
    ///
    /// # Errors
    /// Fewer than two samples; clusters not below the number of samples; a sample all of whose edges have
    /// weight 0; a NaN or an infinity, naming the cell; no number of features where one is needed; parameters
    /// out of range; sample weights.
    ///
    /// ```
    /// use fewest_core::{Budget, Context, Dataset, DenseColumns, Selector, Target};
    /// use fewest_linear::Mcfs;
    ///
    /// // Two groups of samples, told apart by the first feature alone.
    /// let group: Vec<f64> = (0..40).map(|i| f64::from(i % 2) * 9.0 + f64::from(i * 7 % 40) / 20.0).collect();
    /// let noise = |step: i32| (0..40).map(|i| f64::from(i * step % 41)).collect::<Vec<f64>>();
    /// let x = DenseColumns::from_columns(&[noise(11), group, noise(17)])?;
    /// let data = Dataset::new(x, Target::None)?;
    /// let mcfs = Mcfs { clusters: fewest_linear::Clusters { clusters: Some(1), ..Default::default() }, ..Mcfs::default() };
    /// assert_eq!(mcfs.select(&data, Budget::Count(1), &Context::default())?.order, [1]);
    /// # Ok::<(), fewest_linear::Error>(())
    /// ```
    ///
    /// [`GraphOptions`]: fewest_neighbours::GraphOptions
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct Mcfs {
        /// The graph and its clusters.
        pub clusters: Clusters = Clusters::default();
        /// How strong the penalty is.
        pub regularization: Regularization = Regularization::Count, offers(Ratio);
        /// Duality gap to reach, relative to the objective at zero.
        pub tolerance: f64 = 1e-9, Positive;
    }
}

impl Selector for Mcfs {
    fn select(&self, data: &Dataset, budget: Budget, context: &Context<'_>) -> Result<Selection, Error> {
        Selection::only(self.select_many(data, &[budget], context)?)
    }

    /// The graph, its vectors and the standardised columns serve all budgets.
    fn select_many(
        &self,
        data: &Dataset,
        budgets: &[Budget],
        context: &Context<'_>,
    ) -> Result<Vec<Selection>, Error> {
        self.check()?;
        data.refuse_sample_weights("mcfs")?;
        let control = opened(data, budgets, self.tolerance, context)?;
        let graph = self.clusters.graph.build(data, context)?;
        let embedding = SpectralEmbedding::of_clusters(&graph, self.clusters.clusters, context)?;
        let notes = self.clusters.notes(&embedding);
        let standardised = |(number, mut values): (usize, Vec<f64>)| {
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
            let deviation = (squares / values.len() as f64).sqrt();
            // A vector is orthogonal to the constant one in D, so it is not constant.
            standardise(&mut values);
            StandardOutput { number, values, deviation }
        };
        let outputs = embedding.vectors.into_iter().enumerate().map(standardised).collect();
        let columns = LinearColumns::with_outputs(data, "mcfs", outputs, context)?;
        let lasso =
            Lasso { regularization: self.regularization, tolerance: self.tolerance, ..Lasso::default() };
        each_budget(budgets, context, |budget| {
            let fits = search::each_output("mcfs", data, &columns, &lasso, budget, control, context)?;
            let mut scores: BTreeMap<usize, f64> = BTreeMap::new();
            let (mut objective, mut certificate, mut iterations) = (0.0, Certificate::gap(0.0), 0);
            for (fit, output) in fits.iter().zip(columns.targets()) {
                let deviation = output.deviation;
                for &(column, weight) in fit.coefficients.iter().flatten() {
                    let score = scores.entry(columns.feature(column)).or_insert(0.0);
                    *score = score.max((weight * deviation).abs());
                }
                // Of the survey's objective, which has no mean.
                objective += 2.0 * data.n_samples() as f64 * deviation * deviation * fit.report.objective;
                certificate = certificate.worse(fit.report.certificate);
                iterations += fit.report.iterations;
            }
            let status = Status::worst(fits.iter().map(|fit| fit.report.status));
            let name = fits.first().map_or("cd", |fit| fit.report.name);
            let report = SolverReport::new(name, status, objective, certificate).with_iterations(iterations);
            let weights = scores.into_iter().collect();
            let mut selection = Selection::by_weight(weights, data.n_features(), budget, status);
            selection.solver = Some(report);
            selection.notes.extend(notes.iter().cloned());
            selection.note_missing_features(budget, others_left_out(self.regularization));
            selection.unless_stopped_before("a feature had a coefficient")
        })
    }
}
