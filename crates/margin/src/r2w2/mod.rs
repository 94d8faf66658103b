//! Scales of features that minimise a bound on the leave-one-out error.

mod bound;
mod descent;

use fewest_core::method::{KernelWidth, Options};
use fewest_core::{
    Budget, Certificate, Context, Dataset, Error, Selection, Selector, SolverReport, Status, choice, options,
    room,
};
use fewest_kernels::{VectorKernel, gaussian_gamma};
use fewest_solver::LinearOperator;

use self::bound::Scaled;
use self::descent::{Goal, descend};
use super::design::Design;
use super::problems::{Multiclass, NO_OTHERS, binaries, control, select};

/// Duality gap of machines and balls, relative to the larger of the primal and the dual objective.
///
/// Slopes are exact to its root, and the descent carries their errors on; a gap this small costs little,
/// since the last steps of the solver converge fast.
const GAP: f64 = 1e-18;

/// Numbers for each sample of a machine: the coefficients of machine and ball, before a step and after.
const VECTORS: usize = 4;

choice! {
    /// The kernel of [`R2w2`].
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub enum ScaledKernel {
        /// `⟨x, z⟩`.
        Linear = "linear",
        /// `exp(−‖x − z‖²/(2σ²))`.
        Gaussian {
            /// Width σ of exp(−‖x − z‖²/(2σ²)); dimension: 2σ² is the number of features that vary; median:
            /// the median distance of two samples.
            sigma: KernelWidth = KernelWidth::Dimension, PositiveOr(&["median", "dimension"]);
        } = "gaussian",
    }
}

options! {
    /// R²W²: scales of features by gradient descent on the radius–margin bound (Weston, Mukherjee, Chapelle,
    /// Pontil, Poggio and Vapnik 2000; Chapelle, Vapnik, Bousquet and Mukherjee 2002):
    ///
    /// ```text
    /// minimise over σ   R²(σ) ‖w(σ)‖²,      the machine and the smallest enclosing ball on σ ∘ x
    ///
    /// score(k) = σ_k
    /// ```
    ///
    /// on standardised features, with squared losses, that is, a hard margin in `K + 1/(2C)`
    /// ([`RadiusMargin`](fewest_machines::RadiusMargin)). Steps are taken in `ln σ`, so that scales stay
    /// positive, along `Σ σ² = constant`, by limited-memory BFGS; their length is halved until the logarithm
    /// of the bound decreases by a share of what the slope predicts. When a step gains less than 1e-4, or
    /// after 30, half of the features too many are removed, those with the smallest scales, and the descent
    /// goes on with the others. With the `k` wanted it goes on to a stationary point.
    ///
    /// With more classes the bounds of all machines ([`Multiclass`]) are added and share the scales. The
    /// columns of a category of more than two levels share one scale.
    ///
    /// The bound is not convex in `σ`: the answer is a local minimum, the one below equal scales. The
    /// certificate is its stationarity, `max_k |∂ ln T / ∂ ln σ_k|` along the sphere for the bound `T`: by
    /// how much, relatively, the bound would change if a scale did.
    ///
    /// Cost: a step trains a machine and finds a ball, `n² d` each for the kernel; the slope adds `n d`, with
    /// the Gaussian kernel `m² d` for `m` support vectors of either; some 30 `log₂(d/k)` steps, and up to
    /// 1000 at the end. Memory: twice the data, `4 n` numbers a machine, and the rows of the kernel that the
    /// solver keeps (256 MiB at most); for the median distance `n²/2` numbers.
    ///
    /// # Errors
    /// No number of features; [`Error::Numerical`] where there is no such memory; else as
    /// [`SvmWeights`](crate::SvmWeights).
    ///
    /// ```
    /// use fewest_core::{Budget, Context, Dataset, DenseColumns, Selector, Target};
    /// use fewest_margin::R2w2;
    ///
    /// let x = DenseColumns::from_columns(&[vec![0.1, 0.3, 0.2, 0.1], vec![-2.0, -1.0, 1.0, 2.0]])?;
    /// let data = Dataset::new(x, Target::from_labels(&["a", "a", "b", "b"]))?;
    /// let selection = R2w2::default().select(&data, Budget::Count(1), &Context::default())?;
    /// assert_eq!(selection.order, [1]);
    /// # Ok::<(), fewest_margin::Error>(())
    /// ```
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct R2w2 {
        /// Kernel of the machine and of the ball.
        pub kernel: ScaledKernel = ScaledKernel::Linear;
        /// C, cost of errors; features are standardised.
        pub c: f64 = 1.0, Positive;
        /// More than two classes: a machine for each class, or for each pair of classes.
        pub multiclass: Multiclass = Multiclass::OneVsRest;
        /// Stationarity to reach: the largest slope of the logarithm of the bound in that of a scale.
        pub tolerance: f64 = 1e-6, Positive;
    }
}

/// Whether there is memory for all machines, asked for before they are made.
///
/// # Errors
/// [`Error::Numerical`]; [`Error::UnsupportedTarget`] without classes.
fn check_memory(data: &Dataset, method: &'static str) -> Result<(), Error> {
    let n_classes = data.classes(method)?.occurring().len();
    let instead = format!(
        "{n_classes} classes have a machine each, in {} samples: is the target a column of names?",
        data.n_samples()
    );
    let n_machines = if n_classes > 2 { n_classes } else { 1 };
    room("memory for all machines", &[VECTORS, n_machines, data.n_samples()], method, &instead).map(|_| ())
}

/// The squared distances of all pairs of samples.
///
/// # Errors
/// [`Error::Numerical`] where there is no memory for them; [`Error::Stopped`].
fn squared_distances(
    columns: &[Vec<f64>],
    method: &'static str,
    context: &Context<'_>,
) -> Result<Vec<f64>, Error> {
    let n = columns.first().map_or(0, Vec::len);
    let n_pairs = n.saturating_mul(n.saturating_sub(1)) / 2;
    let what = "memory for the distances of all pairs of samples";
    let mut distances = room(what, &[n_pairs], method, "use fewer samples, or give sigma a number")?;
    distances.resize(n_pairs, 0.0);
    for column in columns {
        context.go_on(bound::STEPPED)?;
        let pairs = (1..n).flat_map(|i| column[..i].iter().map(move |other| column[i] - other));
        distances.iter_mut().zip(pairs).for_each(|(sum, difference)| *sum += difference * difference);
    }
    Ok(distances)
}

impl Selector for R2w2 {
    fn select(&self, data: &Dataset, budget: Budget, context: &Context<'_>) -> Result<Selection, Error> {
        const METHOD: &str = "r2w2";
        self.check()?;
        budget.check(data.n_features())?;
        let k = budget.count(&[])?;
        let control = control(GAP, context)?;
        check_memory(data, METHOD)?;
        let problems = binaries(data, METHOD, self.multiclass)?;
        let design = Design::new(data, METHOD, context)?;
        let (mut columns, mut owners, mut features): (Vec<Vec<f64>>, Vec<usize>, Vec<usize>) =
            Default::default();
        for j in 0..design.n_columns() {
            if design.squared_norm(j) == 0.0 {
                continue;
            }
            let feature = design.feature(j);
            if features.last() != Some(&feature) {
                features.push(feature);
            }
            owners.push(features.len() - 1);
            let mut column = vec![0.0; design.n_rows()];
            design.column(j, &mut column);
            columns.push(column);
        }
        let mut scores = vec![0.0; data.n_features()];
        let mut report = SolverReport::new("l-bfgs", Status::Converged, 0.0, Certificate::stationarity(0.0))
            .with_lambda(self.c.recip())
            .with_iterations(0);
        if features.is_empty() {
            return select(&scores, budget, report, NO_OTHERS);
        }
        let kernel = match self.kernel {
            ScaledKernel::Linear => VectorKernel::Linear,
            ScaledKernel::Gaussian { sigma } => {
                let distances = match sigma {
                    KernelWidth::Median => squared_distances(&columns, METHOD, context)?,
                    _ => Vec::new(),
                };
                let gamma = gaussian_gamma(sigma, features.len(), || distances)?;
                VectorKernel::Gaussian { gamma }
            }
        };
        let (n_features, scales) = (features.len(), vec![1.0; features.len()]);
        let (cost, problems) = (self.c, &problems);
        let mut scaled = Scaled { cost, kernel, problems, control, columns, owners, features, scales };
        loop {
            let left = scaled.features.len();
            let goal = if left <= k { Goal::Stationary(self.tolerance) } else { Goal::Elimination };
            match descend(&mut scaled, goal) {
                Ok(end) => {
                    report.objective = end.value;
                    report.certificate = Certificate::stationarity(end.stationarity);
                    report.status = end.status;
                    report.iterations += end.steps;
                }
                // The scales are those of a descent with more features, and nothing is known of these alone.
                Err(Error::Stopped { .. }) if report.iterations > 0 => {
                    (report.objective, report.certificate) = (f64::NAN, Certificate::None);
                    report.status = context.stopped().unwrap_or(Status::TimeLimit);
                }
                Err(other) => return Err(other),
            }
            if report.status.is_stopped() && report.iterations == 0 {
                return Err(Error::Stopped { before: bound::STEPPED });
            }
            context.report("eliminating features", n_features - left, n_features.saturating_sub(k).max(1));
            if left <= k || report.status.is_stopped() {
                break;
            }
            scaled.keep(k + (left - k) / 2);
        }
        if scaled.features.len() > k {
            scaled.keep(k);
            (report.objective, report.certificate) = (f64::NAN, Certificate::None);
        }
        for (&feature, &scale) in scaled.features.iter().zip(&scaled.scales) {
            scores[feature] = scale;
        }
        select(&scores, budget, report, NO_OTHERS)
    }
}

#[cfg(test)]
mod tests;
