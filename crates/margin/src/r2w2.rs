//! Scales of features that minimise a bound on the leave-one-out error.

use fewest_core::method::{KernelWidth, Options};
use fewest_core::{
    Budget, Certificate, Context, Dataset, Error, Selection, Selector, SolverReport, Status, choice, options,
    order,
};
use fewest_kernels::{VectorKernel, gaussian_gamma};
use fewest_machines::{PointRows, Points, RadiusMargin};
use fewest_smo::{Classifier, Loss};
use fewest_solver::{Control, LinearOperator};

use super::design::Design;
use super::problems::{Binary, Multiclass, binaries, control, select};

/// Most steps between two eliminations.
const MOST_STEPS: usize = 30;

/// Steps end when one lowers the logarithm of the bound by less than this.
const LEAST_DECREASE: f64 = 1e-4;

/// The largest change of the logarithm of a scale in the first step.
const FIRST_CHANGE: f64 = 0.5;

/// Most halvings of a step.
const MOST_HALVINGS: usize = 20;

/// Share of the decrease that the gradient predicts, which a step must bring.
const ARMIJO: f64 = 1e-2;

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
    /// ([`RadiusMargin`]). Steps are taken in `ln σ`, so that scales stay positive, in the direction of
    /// steepest descent along `Σ σ² = constant`; their length is halved until the logarithm of the bound
    /// decreases by a share of what the gradient predicts. When a step gains less than 1e-4, or after 30,
    /// half of the features too many are removed, those with the smallest scales, and the descent goes on
    /// with the others, until the `k` wanted are left and have scales of their own.
    ///
    /// With more classes the bounds of all machines ([`Multiclass`]) are added and share the scales. The
    /// columns of a category of more than two levels share one scale.
    ///
    /// The bound is not convex in `σ`: the answer is a local minimum, the one below equal scales. Cost: a
    /// step trains a machine and finds a ball, `n² d` each for the kernel, and `m² d` for the gradient with
    /// `m` support vectors of either; some 30 `log₂(d/k)` steps. Memory: twice the data, and the rows of the
    /// kernel that the solver keeps (256 MiB at most).
    ///
    /// # Errors
    /// No number of features; else as [`SvmWeights`](crate::SvmWeights).
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
        /// Duality gap to reach by each machine and ball, relative to the larger of the primal and the dual
        /// objective.
        ///
        /// Gradients are exact to its root, and the descent carries their errors on; a gap this small costs
        /// little, since the last steps of the solver converge fast.
        pub tolerance: f64 = 1e-18, Positive;
    }
}

/// Features with scales of their own.
struct Scaled<'a> {
    method: &'a R2w2,
    kernel: VectorKernel,
    problems: &'a [Binary],
    control: Control<'a>,
    /// The columns of the features, feature after feature.
    columns: Vec<Vec<f64>>,
    /// The place of each column's feature.
    owners: Vec<usize>,
    /// The features.
    features: Vec<usize>,
    scales: Vec<f64>,
}

/// The bound and what it was computed from.
struct Bound {
    value: f64,
    /// `∂ value / ∂ ln σ` of each feature.
    gradient: Vec<f64>,
    certificate: Certificate,
    status: Status,
}

impl Scaled<'_> {
    /// The samples `rows`, or all, with `scales`.
    fn points(&self, rows: Option<&[usize]>, scales: &[f64]) -> Points {
        let n = self.columns.first().map_or(0, Vec::len);
        let every: Vec<usize>;
        let rows = match rows {
            Some(rows) => rows,
            None => {
                every = (0..n).collect();
                &every
            }
        };
        let width = self.columns.len();
        let mut values = vec![0.0; rows.len() * width];
        for (at, (column, &owner)) in self.columns.iter().zip(&self.owners).enumerate() {
            for (place, &i) in rows.iter().enumerate() {
                values[place * width + at] = scales[owner] * column[i];
            }
        }
        Points { values, n_samples: rows.len(), width }
    }

    /// The bound of one machine.
    fn machine(&self, problem: &Binary, scales: &[f64], with_gradient: bool) -> Result<Bound, Error> {
        let points = self.points(problem.rows.as_deref(), scales);
        let rows = PointRows::new(&points, self.kernel)?;
        let classifier = Classifier { cost: self.method.c, loss: Loss::Squared, ..Classifier::default() };
        let machine = classifier.train(&rows, &problem.positive, &[], &self.control)?;
        let dual = classifier.problem(&rows, &problem.positive, &[])?;
        let bound = RadiusMargin::of_classifier(&dual, &machine, &self.control, with_gradient)?;
        let mut gradient = vec![0.0; scales.len()];
        if let Some(sensitivity) = &bound.sensitivity {
            let by_column = sensitivity.scale_gradient(self.kernel, &points)?;
            for (&owner, value) in self.owners.iter().zip(by_column) {
                gradient[owner] += value;
            }
        }
        let status = match machine.dual.solution.status {
            Status::Converged => bound.ball.status,
            other => other,
        };
        Ok(Bound { value: bound.value, gradient, certificate: machine.dual.solution.certificate, status })
    }

    /// The sum of the bounds of all machines.
    fn bound(&self, scales: &[f64], with_gradient: bool) -> Result<Bound, Error> {
        let bounds = fewest_parallel::try_map(self.problems.len(), |at| {
            self.machine(&self.problems[at], scales, with_gradient)
        })?;
        let mut sum = Bound {
            value: 0.0,
            gradient: vec![0.0; scales.len()],
            certificate: Certificate::gap(0.0),
            status: Status::Converged,
        };
        for bound in bounds {
            sum.value += bound.value;
            sum.certificate = sum.certificate.worse(bound.certificate);
            sum.gradient.iter_mut().zip(&bound.gradient).for_each(|(sum, value)| *sum += value);
            if bound.status != Status::Converged {
                sum.status = bound.status;
            }
        }
        if !(sum.value.is_finite() && sum.value > 0.0) {
            let hint = "lower C or rescale the features".to_owned();
            return Err(Error::Numerical { what: "the radius-margin bound", hint });
        }
        Ok(sum)
    }

    /// Steps until they gain little; the bound at the end, and how many there were.
    fn descend(&mut self, context: &Context<'_>) -> Result<(Bound, usize), Error> {
        let mut bound = self.bound(&self.scales, true)?;
        let mut length: Option<f64> = None;
        for step in 0..MOST_STEPS {
            if context.stopped().is_some() {
                return Ok((bound, step));
            }
            let squares: f64 = self.scales.iter().map(|scale| scale * scale).sum();
            let total: f64 = bound.gradient.iter().sum();
            // The gradient of the logarithm along the sphere Σ σ² = constant.
            let slope: Vec<f64> = bound
                .gradient
                .iter()
                .zip(&self.scales)
                .map(|(g, scale)| (g - total * scale * scale / squares) / bound.value)
                .collect();
            let steepest = slope.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
            let promised: f64 = slope.iter().map(|value| value * value).sum();
            if steepest == 0.0 {
                return Ok((bound, step));
            }
            let mut share = length.unwrap_or(FIRST_CHANGE / steepest).min(2.0 / steepest);
            let mut found = None;
            for _ in 0..MOST_HALVINGS {
                let mut moved: Vec<f64> =
                    self.scales.iter().zip(&slope).map(|(scale, h)| scale * (-share * h).exp()).collect();
                let norm: f64 = moved.iter().map(|scale| scale * scale).sum();
                moved.iter_mut().for_each(|scale| *scale *= (squares / norm).sqrt());
                let value = self.bound(&moved, false)?.value;
                if value.ln() <= bound.value.ln() - ARMIJO * share * promised {
                    found = Some(moved);
                    break;
                }
                share *= 0.5;
            }
            let Some(moved) = found else { return Ok((bound, step)) };
            self.scales = moved;
            let next = self.bound(&self.scales, true)?;
            let decrease = bound.value.ln() - next.value.ln();
            bound = next;
            length = Some(2.0 * share);
            if decrease < LEAST_DECREASE {
                return Ok((bound, step + 1));
            }
        }
        Ok((bound, MOST_STEPS))
    }

    /// Keeps the `k` features with the largest scales, of equals those with the lower index.
    fn keep(&mut self, k: usize) {
        let mut order = order::descending(&self.scales);
        order.truncate(k);
        order::sort_indices(&mut order);
        let mut columns = Vec::new();
        let mut owners = Vec::new();
        for (column, owner) in std::mem::take(&mut self.columns).into_iter().zip(&self.owners) {
            if let Ok(place) = order.binary_search(owner) {
                columns.push(column);
                owners.push(place);
            }
        }
        (self.columns, self.owners) = (columns, owners);
        self.features = order.iter().map(|&place| self.features[place]).collect();
        self.scales = order.iter().map(|&place| self.scales[place]).collect();
    }
}

/// The squared distances of all pairs of samples.
fn squared_distances(columns: &[Vec<f64>]) -> Vec<f64> {
    let n = columns.first().map_or(0, Vec::len);
    let mut distances = vec![0.0; n * n.saturating_sub(1) / 2];
    for column in columns {
        let pairs = (1..n).flat_map(|i| column[..i].iter().map(move |other| column[i] - other));
        distances.iter_mut().zip(pairs).for_each(|(sum, difference)| *sum += difference * difference);
    }
    distances
}

impl Selector for R2w2 {
    fn select(&self, data: &Dataset, budget: Budget, context: &Context<'_>) -> Result<Selection, Error> {
        const METHOD: &str = "r2w2";
        self.check()?;
        budget.check(data.n_features())?;
        let k = budget.count(&[])?;
        let control = control(self.tolerance, context)?;
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
        let mut report = SolverReport::new("smo", Status::Converged, 0.0, Certificate::gap(0.0))
            .with_lambda(self.c.recip())
            .with_iterations(0);
        if features.is_empty() {
            return Ok(select(&scores, budget, report));
        }
        let kernel = match self.kernel {
            ScaledKernel::Linear => VectorKernel::Linear,
            ScaledKernel::Gaussian { sigma } => {
                let gamma = gaussian_gamma(sigma, features.len(), || squared_distances(&columns))?;
                VectorKernel::Gaussian { gamma }
            }
        };
        let (n_features, scales) = (features.len(), vec![1.0; features.len()]);
        let mut scaled =
            Scaled { method: self, kernel, problems: &problems, control, columns, owners, features, scales };
        loop {
            let (bound, steps) = scaled.descend(context)?;
            report.objective = bound.value;
            report.certificate = bound.certificate;
            report.status = context.stopped().unwrap_or(bound.status);
            report.iterations += steps;
            let left = scaled.features.len();
            context.report("eliminating features", n_features - left, n_features.saturating_sub(k).max(1));
            if left <= k {
                break;
            }
            if context.stopped().is_some() {
                if report.iterations == 0 {
                    return Err(Error::Stopped { before: "the first step was taken" });
                }
                scaled.keep(k);
                break;
            }
            scaled.keep(k + (left - k) / 2);
        }
        for (&feature, &scale) in scaled.features.iter().zip(&scaled.scales) {
            scores[feature] = scale;
        }
        Ok(select(&scores, budget, report))
    }
}

#[cfg(test)]
mod tests {
    use fewest_core::{DenseColumns, Target};

    use super::*;

    fn wave(step: usize) -> Vec<f64> {
        (0..40).map(|i| ((i * step) % 41) as f64 / 20.0 - 1.0).collect()
    }

    #[test]
    fn the_gradient_is_that_of_finite_differences() -> Result<(), Error> {
        let columns = [wave(1), wave(7), wave(12), wave(18)];
        let positive: Vec<bool> = (0..40).map(|i| columns[0][i] - 0.6 * columns[3][i] > 0.1).collect();
        let data = Dataset::new(DenseColumns::from_columns(&columns)?, Target::None)?;
        let context = Context::default();
        let design = Design::new(&data, "r2w2", &context)?;
        let mut standardised = vec![vec![0.0; 40]; 4];
        for (j, column) in standardised.iter_mut().enumerate() {
            design.column(j, column);
        }
        let pair = Binary {
            rows: Some((0..30).collect()),
            positive: positive[..30].iter().map(|positive| !positive).collect(),
        };
        let problems = [Binary { rows: None, positive }, pair];
        for kernel in [VectorKernel::Linear, VectorKernel::Gaussian { gamma: 0.3 }] {
            let method = R2w2 { c: 3.0, ..R2w2::default() };
            // The last two columns belong to one feature.
            let scaled = Scaled {
                method: &method,
                kernel,
                problems: &problems,
                control: control(1e-18, &context)?,
                columns: standardised.clone(),
                owners: vec![0, 1, 2, 2],
                features: vec![0, 1, 2],
                scales: vec![1.0; 3],
            };
            let scales = [1.2, 0.4, 0.8];
            let bound = scaled.bound(&scales, true)?;
            for j in 0..3 {
                let at = |step: f64| -> Result<f64, Error> {
                    let mut moved = scales;
                    moved[j] *= step.exp();
                    Ok(scaled.bound(&moved, false)?.value)
                };
                let difference = (at(1e-4)? - at(-1e-4)?) / 2e-4;
                let size = bound.gradient.iter().fold(0.0_f64, |most, g| most.max(g.abs()));
                assert!(
                    (difference - bound.gradient[j]).abs() <= 1e-4 * size,
                    "{kernel:?}, {j}: {difference} and {}",
                    bound.gradient[j]
                );
            }
        }
        Ok(())
    }

    #[test]
    fn every_descent_lowers_the_bound() -> Result<(), Error> {
        let columns = [wave(1), wave(7), wave(12), wave(18)];
        let labels: Vec<bool> = (0..40).map(|i| columns[0][i] - 0.6 * columns[3][i] > 0.1).collect();
        let context = Context::default();
        let problems = [Binary { rows: None, positive: labels }];
        let method = R2w2::default();
        let mut scaled = Scaled {
            method: &method,
            kernel: VectorKernel::Linear,
            problems: &problems,
            control: control(1e-12, &context)?,
            columns: columns.to_vec(),
            owners: vec![0, 1, 2, 3],
            features: vec![0, 1, 2, 3],
            scales: vec![1.0; 4],
        };
        let before = scaled.bound(&scaled.scales, false)?.value;
        let (after, steps) = scaled.descend(&context)?;
        assert!(steps > 0 && after.value < 0.8 * before, "{before} and {}", after.value);
        let squares: f64 = scaled.scales.iter().map(|scale| scale * scale).sum();
        assert!((squares - 4.0).abs() < 1e-12);
        assert!(scaled.scales[0] > scaled.scales[1] && scaled.scales[3] > scaled.scales[2]);
        scaled.keep(2);
        assert_eq!(
            (scaled.features.clone(), scaled.owners.clone(), scaled.columns.len()),
            (vec![0, 3], vec![0, 1], 2)
        );
        Ok(())
    }
}
