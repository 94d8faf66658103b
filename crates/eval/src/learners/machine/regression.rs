//! Support vector regression.

use fewest_columns::{Standard, range};
use fewest_core::method::Options;
use fewest_core::{Columns, Context, Dataset, Error, Target, options};
use fewest_kernels::VectorKernel;
use fewest_machines::{Encoding, PointRows};
use fewest_smo::{Machine, Regressor};

use super::{
    MachineGrid, MachineKernel, ROUGH, Space, check_stop, check_values, control, gamma_of, sorted,
    train_rows, visit_tests, visit_unseen,
};
use crate::learners::{Model, Predictions};

options! {
    /// ε-support vector regression on standardised features and a standardised target (Smola and Schölkopf
    /// 2004).
    ///
    /// Cost, width and ε are those with the smallest squared error in cross-validation; at a tie the smaller
    /// width, then the smaller cost, then the larger ε. Distances and products are computed once, and each
    /// machine starts from the one of the previous cost; what cannot be the best any more is not trained on
    /// the folds that are left. `O(n² d)`, and a multiple of `O(n²)` for each candidate and fold.
    ///
    /// ```
    /// use fewest_core::{Context, Dataset, DenseColumns, Target};
    /// use fewest_eval::{Learner, Metric, QSquared, SupportVectorRegression};
    ///
    /// let x: Vec<f64> = (0..60).map(|i| f64::from(i) / 10.0).collect();
    /// let target = Target::real(x.iter().map(|x| x.sin()).collect())?;
    /// let data = Dataset::new(DenseColumns::from_columns(&[x])?, target)?;
    /// let model = SupportVectorRegression::default().fit(&data, &Context::default())?;
    /// assert!(QSquared.score(data.target(), &model.predict(data.x())?)? < 1e-2);
    /// # Ok::<(), fewest_core::Error>(())
    /// ```
    #[derive(Debug, Clone, PartialEq)]
    pub struct SupportVectorRegression {
        /// Kernel of standardised features.
        pub kernel: MachineKernel = MachineKernel::Gaussian;
        /// The grid from which cost and width are chosen.
        pub grid: MachineGrid = MachineGrid::default(), hidden;
        /// The half widths `ε` of the tube to choose from, in standard deviations of the target; at least 0.
        pub epsilons: Vec<f64> = vec![0.1], hidden;
        /// Duality gap, relative to the objective.
        pub tolerance: f64 = 1e-6, ProperFraction;
    }
}

/// A fitted [`SupportVectorRegression`].
pub struct SupportVectorRegressionModel {
    encoding: Encoding,
    pub(super) rows: PointRows,
    /// The machine, trained on the standardised target.
    pub machine: Machine,
    mean: f64,
    scale: f64,
    /// The cost `C`.
    pub cost: f64,
    /// `ε`, in standard deviations of the target.
    pub epsilon: f64,
}

/// Mean and standard deviation; 1 instead of 0.
fn scales(values: &[f64]) -> Result<(f64, f64), Error> {
    let Some(standard) = Standard::of(values, range(values)) else {
        return Ok((values.first().copied().unwrap_or(0.0), 1.0));
    };
    let (mean, deviation) = (standard.mean(), standard.deviation());
    if !deviation.is_finite() {
        let hint = "the target is too large: rescale it".to_owned();
        return Err(Error::Numerical { what: "standardisation", hint });
    }
    Ok((mean, deviation))
}

impl SupportVectorRegression {
    /// [`Learner::fit`](crate::Learner::fit), with the model's own type.
    ///
    /// # Errors
    /// For a target that is not one column of numbers, parameters out of range, values that are not finite;
    /// [`Error::Stopped`].
    pub fn train(
        &self,
        data: &Dataset,
        context: &Context<'_>,
    ) -> Result<SupportVectorRegressionModel, Error> {
        self.check()?;
        self.grid.check()?;
        check_values("epsilons", &self.epsilons, |value| value >= 0.0, "at least one value, all at least 0")?;
        let values = match data.target() {
            Target::Real(outputs) if outputs.n_outputs() == 1 => outputs.output(0),
            other => {
                let (method, expected) = ("svr", "one real output");
                return Err(Error::UnsupportedTarget { method, expected, found: other.describe() });
            }
        };
        let (mean, scale) = scales(values)?;
        let targets: Vec<f64> = values.iter().map(|value| (value - mean) / scale).collect();
        let space = Space::new(data, self.kernel, context)?;
        let (kernel, cost, epsilon) = self.choose(data, &targets, &space, context)?;
        let learner = Regressor { cost, epsilon, ..Regressor::default() };
        let control = control(self.tolerance, context);
        let machine = learner.train(&*space.rows(kernel)?, &targets, &[], &control)?;
        check_stop(machine.dual.solution.status)?;
        let rows = PointRows::new(&space.points, kernel)?;
        Ok(SupportVectorRegressionModel {
            encoding: space.encoding,
            rows,
            machine,
            mean,
            scale,
            cost,
            epsilon,
        })
    }

    fn choose(
        &self,
        data: &Dataset,
        targets: &[f64],
        space: &Space,
        context: &Context<'_>,
    ) -> Result<(VectorKernel, f64, f64), Error> {
        let (kernels, costs) = (self.grid.kernels(self.kernel, space.unit), self.grid.sorted_costs());
        let mut epsilons = sorted(&self.epsilons);
        epsilons.reverse();
        let candidates = kernels.len() * costs.len() * epsilons.len();
        let splits = self.grid.splits(data, candidates, false, context)?;
        let mut chosen = (kernels[0], costs[0], epsilons[0]);
        if splits.is_empty() {
            return Ok(chosen);
        }
        let mut least = f64::INFINITY;
        for (done, &kernel) in kernels.iter().enumerate() {
            context.report("choosing cost, width and tube", done, kernels.len());
            let rows = space.shared_rows(kernel, context)?;
            // The costs of each tube.
            let mut errors = vec![vec![0.0; costs.len()]; epsilons.len()];
            for split in &splits {
                // Each cost starts from the one before: those whose error is too large already are given up
                // with all behind them.
                for errors in &mut errors {
                    let may_win = |error: &f64| *error < least;
                    errors.truncate(errors.iter().rposition(may_win).map_or(0, |last| last + 1));
                }
                if errors.iter().all(Vec::is_empty) {
                    break;
                }
                let own: Vec<f64> = split.train.iter().map(|&i| targets[i]).collect();
                let train = train_rows(&*rows, split)?;
                let mut machines: Vec<Machine> = Vec::new();
                for (&epsilon, errors) in epsilons.iter().zip(&errors) {
                    let mut start: Vec<f64> = Vec::new();
                    for &cost in &costs[..errors.len()] {
                        let learner = Regressor { cost, epsilon, ..Regressor::default() };
                        let control = control(ROUGH, context);
                        let machine = learner.train_from(&train, &own, &[], &start, &control)?;
                        check_stop(machine.dual.solution.status)?;
                        start.clone_from(&machine.dual.solution.coefficients);
                        machines.push(machine);
                    }
                }
                visit_tests(&*rows, split, |i, row| {
                    for (error, machine) in errors.iter_mut().flatten().zip(&machines) {
                        *error += (machine.decision(row)? - targets[i]).powi(2);
                    }
                    Ok(())
                })?;
            }
            for (c, &cost) in costs.iter().enumerate() {
                for (&epsilon, errors) in epsilons.iter().zip(&errors) {
                    if let Some(&error) = errors.get(c).filter(|error| **error < least) {
                        least = error;
                        chosen = (kernel, cost, epsilon);
                    }
                }
            }
        }
        Ok(chosen)
    }
}

impl Model for SupportVectorRegressionModel {
    fn predict(&self, x: &dyn Columns) -> Result<Predictions, Error> {
        let mut values = Vec::with_capacity(x.n_samples());
        visit_unseen(&self.encoding, &self.rows, x, |row| {
            values.push(self.mean + self.scale * self.machine.decision(row)?);
            Ok(())
        })?;
        Ok(Predictions::Real(vec![values]))
    }

    fn facts(&self) -> Vec<(&'static str, f64)> {
        vec![
            ("cost", self.cost),
            ("gamma", gamma_of(self.rows.0.kernel())),
            ("epsilon", self.epsilon),
            ("support vectors", self.machine.support.len() as f64),
            ("gap", self.machine.dual.solution.certificate.value()),
        ]
    }
}
