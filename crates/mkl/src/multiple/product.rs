//! The product of Gaussian kernels, and projected gradient descent on their widths.

use super::Machine;
use super::terms::{Term, Terms, distinct};
use super::working::{largest_penalty, no_weights, worths};
use crate::indefinite::atoms::points;
use fewest_columns::{map_features, parts, seed_of_values};
use fewest_core::{Certificate, Context, Dataset, Error, FeatureKind, Status};
use fewest_linalg::{Cholesky, projected};
use fewest_smo::{Classifier, GramRows};
use fewest_solver::Control;

/// Share of the decrease that the gradient predicts, which a step must bring (Armijo).
const ARMIJO: f64 = 1e-4;

/// Halvings of a step at most.
const HALVINGS: usize = 40;

/// Relative duality gap of the machines.
const MACHINE_TOLERANCE: f64 = 1e-12;

/// Multipliers this close to a bound, relative to the cost, are at it.
const AT_BOUND: f64 = 1e-7;

/// Relative rise of the objective that may be rounding.
const ROUNDING: f64 = 1e-12;

/// The largest penalty is at least this share of that for multipliers alike within each class.
const LEAST_SHARE: f64 = 0.1;

/// Weights of zero whose slope is above this share of `λ` are checked only every `CHECK_INTERVAL` steps.
const FAR: f64 = 0.5;
const CHECK_INTERVAL: usize = 10;

/// Steps without a smaller projected gradient after which only rounding is left.
const PATIENCE: usize = 30;

/// `K = exp(−Σ d_m D_m)`: `D_m` the squared differences of a feature that varies, 1 between different levels
/// of a category; of copies the first.
pub(super) struct Distances {
    /// Linear kernels of the columns whose squared differences add up to `D_m`.
    pub(super) linear: Terms,
}

impl Distances {
    /// # Errors
    /// [`Error::NonFinite`] naming the cell; [`Error::Stopped`].
    pub(super) fn new(data: &Dataset, context: &Context<'_>) -> Result<Self, Error> {
        let made = map_features(data, context, "distances", |j, column| {
            let Some(points) = points(data, j, column) else { return Ok(None) };
            let kind = data.feature_kind(j);
            let mut columns = parts(points, kind).concat();
            if let FeatureKind::Categorical { .. } = kind {
                columns.iter_mut().for_each(|value| *value *= 0.5_f64.sqrt());
            }
            Ok(Some(Term { columns, signs: None, shift: 0.0 }))
        })?;
        let n_constant = made.iter().filter(|made| made.is_none()).count();
        let (terms, features) = distinct(made, |term| &term.columns);
        Ok(Self { linear: Terms { terms, features, n_constant, n_samples: data.n_samples() } })
    }

    pub(super) fn len(&self) -> usize {
        self.linear.len()
    }

    /// The columns of one.
    fn columns(&self, m: usize) -> impl Iterator<Item = &[f64]> {
        self.linear.terms[m].columns.chunks_exact(self.linear.n_samples)
    }

    /// A seed for each, by its values and `seed`, whatever the order of features and samples.
    pub(super) fn seeds(&self, seed: u64) -> Vec<u64> {
        self.linear.terms.iter().map(|term| seed_of_values(seed, term.columns.clone())).collect()
    }

    /// The kernel on the samples `rows`, all entries; it means nothing where it was stopped.
    fn gram(&self, weights: &[f64], rows: &[usize], is_stopped: &(dyn Fn() -> bool + Sync)) -> Vec<f64> {
        let n = rows.len();
        let active: Vec<Vec<f64>> = (0..self.len())
            .filter(|&m| weights[m] > 0.0)
            .flat_map(|m| {
                let scale = weights[m].sqrt();
                self.columns(m).map(move |column| rows.iter().map(|&row| scale * column[row]).collect())
            })
            .collect();
        let mut gram = vec![0.0; n * n];
        fewest_parallel::chunks(&mut gram, n, |i, out| {
            if is_stopped() {
                return;
            }
            for x in &active {
                let own = x[i];
                out.iter_mut().zip(x).for_each(|(out, z)| *out -= (own - z) * (own - z));
            }
            out.iter_mut().for_each(|value| *value = value.exp());
        });
        gram
    }

    /// `−½ βᵀ (D_m ∘ K) β` for every `m` of `watched`, the derivative of `½ βᵀKβ` by `d_m`.
    /// They mean nothing where it was stopped.
    fn slopes(
        &self,
        gram: &[f64],
        beta: &[f64],
        rows: &[usize],
        watched: &[usize],
        is_stopped: &(dyn Fn() -> bool + Sync),
    ) -> Vec<f64> {
        let n = rows.len();
        let support: Vec<usize> = (0..n).filter(|&i| beta[i] != 0.0).collect();
        let size = support.len();
        // With W = ββᵀ ∘ K: −½ Σ Wᵢⱼ (xᵢ − xⱼ)² = Σᵢⱼ Wᵢⱼ xᵢxⱼ − Σᵢ xᵢ² Σⱼ Wᵢⱼ, the matrix of a quadratic
        // form.
        let mut form: Vec<f64> = support
            .iter()
            .flat_map(|&i| support.iter().map(move |&j| beta[i] * beta[j] * gram[i * n + j]))
            .collect();
        for (i, row) in form.chunks_exact_mut(size.max(1)).enumerate() {
            let sum: f64 = row.iter().sum();
            row[i] -= sum;
        }
        let places: Vec<usize> = support.iter().map(|&i| rows[i]).collect();
        let slope = |&m: &usize| -> f64 {
            let mut total = 0.0;
            let mut products = vec![0.0; size];
            for column in self.columns(m).take_while(|_| !is_stopped()) {
                products.fill(0.0);
                for (&place, row) in places.iter().zip(form.chunks_exact(size.max(1))) {
                    let x = column[place];
                    products.iter_mut().zip(row).for_each(|(product, w)| *product += x * w);
                }
                total += places.iter().zip(&products).map(|(&place, p)| column[place] * p).sum::<f64>();
            }
            total
        };
        let mut slopes = vec![0.0; watched.len()];
        fewest_parallel::fill(&mut slopes, 16, |at| slope(&watched[at]));
        slopes
    }
}

/// `minimise over d ≥ 0   Σ_t J_t(d) + λ Σ d`, `J_t` the optimum of a machine's dual with the kernel of `d`.
pub(super) struct Learning<'a> {
    pub(super) distances: &'a Distances,
    pub(super) machines: &'a [Machine],
    pub(super) cost: f64,
    pub(super) lambda: f64,
}

/// A point of the descent.
#[derive(Clone)]
pub(super) struct Point {
    pub(super) weights: Vec<f64>,
    pub(super) value: f64,
    gradient: Vec<f64>,
    /// Whether the gradient is that of all weights.
    is_whole: bool,
    /// Multipliers times labels, for each machine.
    betas: Vec<Vec<f64>>,
}

/// How a descent ended.
pub(super) struct Descended {
    pub(super) point: Point,
    pub(super) status: Status,
    pub(super) iterations: usize,
    /// The largest entry of the projected gradient, relative to `λ`; none where the time was over before all
    /// weights were looked at.
    pub(super) certificate: Certificate,
}

impl Learning<'_> {
    /// What each weight gains where all are zero and the multipliers are alike within a class.
    ///
    /// There the kernel is constant, and `−½ Σ βᵢβⱼ (xᵢ − xⱼ)² = (Σ βᵢxᵢ)²` as `Σ β = 0`: what the linear
    /// kernel of the feature is worth.
    ///
    /// # Errors
    /// [`Error::Stopped`]
    pub(super) fn worths(&self, context: &Context<'_>) -> Result<Vec<f64>, Error> {
        worths(&self.distances.linear, self.machines, context)
    }

    /// The smallest `λ` at which no weight is worth its penalty where all are zero, up to the relative error
    /// of [`largest_penalty`] above it; `worths` are those of [`Learning::worths`].
    ///
    /// It is twice that of the sum of linear kernels, whatever multipliers are the optimal ones, and at least
    /// [`LEAST_SHARE`] of what multipliers alike within a class say: where other multipliers make the
    /// classes' means equal, as where features count jointly only, no weights at all are stationary at any
    /// penalty, and the smallest would be 0.
    ///
    /// # Errors
    /// As [`largest_penalty`].
    pub(super) fn largest_penalty(&self, worths: &[f64], context: &Context<'_>) -> Result<f64, Error> {
        let of_unit_cost = largest_penalty(&self.distances.linear, self.machines, worths, context)?;
        let alike = 0.5 * worths.iter().copied().fold(0.0, f64::max);
        Ok(2.0 * self.cost * self.cost * of_unit_cost.max(LEAST_SHARE * alike))
    }

    /// The end of a descent, or no weights at all where they are stationary and as good: from weights close
    /// to zero the multipliers, and with them the gradient, are known to few digits.
    pub(super) fn unless_empty(&self, found: Descended, largest: f64) -> Descended {
        let without = self.cost * no_weights(self.machines);
        if self.lambda < largest
            || found.point.value < without * (1.0 - ROUNDING)
            || found.status.is_stopped()
        {
            return found;
        }
        let weights = vec![0.0; found.point.weights.len()];
        let point = Point { weights, value: without, ..found.point };
        Descended { point, status: Status::Converged, certificate: Certificate::stationarity(0.0), ..found }
    }

    fn all(&self) -> Vec<usize> {
        (0..self.distances.len()).collect()
    }

    /// Trains the machines at `weights`, from the multipliers `starts` where there are any. The others than
    /// `watched`, whose weights are zero, get the slope `λ` of a weight that gains nothing.
    fn point(
        &self,
        weights: Vec<f64>,
        starts: &[Vec<f64>],
        watched: &[usize],
        control: &Control<'_>,
    ) -> Result<Point, Error> {
        let one = |(t, machine): (usize, &Machine)| -> Result<(f64, Vec<f64>, Vec<f64>), Error> {
            let is_stopped = || control.stopped().is_some();
            let gram = self.distances.gram(&weights, &machine.rows, &is_stopped);
            if is_stopped() {
                // What there is of the kernel need not even be symmetric.
                return Err(Error::Stopped { before: "the first step was taken" });
            }
            let rows = GramRows::new(gram.clone(), machine.rows.len())?;
            let classifier = Classifier { cost: self.cost, ..Classifier::default() };
            let start = starts.get(t).map_or(&[][..], Vec::as_slice);
            let solution =
                classifier.train_from(&rows, &machine.positive, &[], start, control)?.dual.solution;
            let (mut value, mut beta) = (-solution.objective, solution.coefficients);
            if let Some(exact) = polished(&gram, &beta, machine, self.cost, &is_stopped) {
                (value, beta) = exact;
            }
            let slopes = self.distances.slopes(&gram, &beta, &machine.rows, watched, &is_stopped);
            Ok((value, slopes, beta))
        };
        let trained = fewest_parallel::try_map(self.machines.len(), |t| one((t, &self.machines[t])))?;
        let mut value = self.lambda * weights.iter().sum::<f64>();
        let mut gradient = vec![self.lambda; weights.len()];
        let mut betas = Vec::with_capacity(self.machines.len());
        for trained in trained {
            let (optimum, slopes, beta) = trained;
            value += optimum;
            watched.iter().zip(&slopes).for_each(|(&m, slope)| gradient[m] -= slope);
            betas.push(beta);
        }
        // What was stopped means nothing.
        if control.stopped().is_none()
            && !(value.is_finite() && gradient.iter().all(|slope| slope.is_finite()))
        {
            let hint = "lower the cost".to_owned();
            return Err(Error::Numerical { what: "multiple kernel learning", hint });
        }
        let is_whole = watched.len() == weights.len();
        Ok(Point { weights, value, gradient, is_whole, betas })
    }

    fn violation(&self, point: &Point) -> f64 {
        projected(&point.weights, &point.gradient) / self.lambda
    }

    /// Those with a weight, or a gain of a good part of their penalty.
    fn watched(&self, point: &Point) -> Vec<usize> {
        let is_near = |&m: &usize| point.weights[m] > 0.0 || point.gradient[m] < FAR * self.lambda;
        (0..self.distances.len()).filter(is_near).collect()
    }

    /// Descends from `start` until the projected gradient is at most `tolerance λ`. The objective does not
    /// rise, but by rounding.
    pub(super) fn descend(
        &self,
        start: Vec<f64>,
        tolerance: f64,
        iterations: usize,
        context: &Context<'_>,
    ) -> Result<Descended, Error> {
        let control =
            Control { tolerance: MACHINE_TOLERANCE, max_iterations: u64::MAX, ..Control::from(context) };
        let mut watched = self.all();
        let mut since_check = 0;
        let mut point = self.point(start, &[], &watched, &control)?;
        let largest = |values: &[f64]| values.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
        let mut step = largest(&point.weights) / largest(&point.gradient).max(f64::MIN_POSITIVE);
        let mut best = (f64::INFINITY, 0);
        // With all features looked at; as it is where the time for that is over.
        let whole = |point: Point| -> Result<Point, Error> {
            match self.point(point.weights.clone(), &point.betas, &self.all(), &control) {
                Err(Error::Stopped { .. }) => Ok(point),
                Ok(_) if context.stopped().is_some() => Ok(point),
                seen => seen,
            }
        };
        let end = |point: Point, status, iterations| {
            let violation = self.violation(&point);
            let status = match status {
                Status::Stalled => Status::by_certificate(violation, tolerance),
                status => status,
            };
            let certificate =
                if point.is_whole { Certificate::stationarity(violation) } else { Certificate::None };
            Ok(Descended { point, status, iterations, certificate })
        };
        for iteration in 0..iterations {
            if let Some(status) = context.stopped() {
                return end(point, status, iteration);
            }
            let mut violation = self.violation(&point);
            if watched.len() < self.distances.len()
                && (violation <= tolerance || since_check >= CHECK_INTERVAL)
            {
                point = whole(point)?;
                violation = self.violation(&point);
                since_check = CHECK_INTERVAL;
            }
            if since_check >= CHECK_INTERVAL {
                watched = self.watched(&point);
                since_check = 0;
            }
            since_check += 1;
            if violation < best.0 {
                best = (violation, iteration);
            }
            let idle = iteration > best.1 + PATIENCE;
            if violation <= tolerance {
                return end(point, context.stopped().unwrap_or(Status::Converged), iteration);
            }
            let mut next = None;
            for _ in 0..HALVINGS {
                let moved: Vec<f64> =
                    point.weights.iter().zip(&point.gradient).map(|(d, g)| (d - step * g).max(0.0)).collect();
                let squares: f64 =
                    moved.iter().zip(&point.weights).map(|(new, old)| (new - old).powi(2)).sum();
                let trial = self.point(moved, &point.betas, &watched, &control);
                if let Some(status) = context.stopped() {
                    // Its machines need not be trained to the end, and their values are bounds from below
                    // only.
                    return end(point, status, iteration);
                }
                let trial = trial?;
                if trial.value <= point.value - ARMIJO / step * squares + ROUNDING * point.value.abs() {
                    next = Some((trial, squares));
                    break;
                }
                step *= 0.5;
            }
            let Some((next, squares)) = next else {
                return end(whole(point)?, Status::Stalled, iteration);
            };
            // The step of Barzilai and Borwein: the curvature along the way just gone.
            let curvature: f64 = (0..next.weights.len())
                .map(|m| (next.weights[m] - point.weights[m]) * (next.gradient[m] - point.gradient[m]))
                .sum();
            step = if curvature > 0.0 { squares / curvature } else { 2.0 * step };
            let decrease = point.value - next.value;
            point = next;
            context.report("steps", iteration + 1, iterations);
            if idle && decrease <= ROUNDING * point.value.abs() {
                return end(whole(point)?, Status::Stalled, iteration + 1);
            }
        }
        end(whole(point)?, Status::MaxIterations, iterations)
    }
}

/// The machine's dual objective and its multipliers where those at a bound stay there and the others are
/// solved for: they err by the root of the machine's gap otherwise, and the gradient with them. `None` where
/// that leaves the bounds, the kernel is all but singular, or it is stopped.
fn polished(
    gram: &[f64],
    beta: &[f64],
    machine: &Machine,
    cost: f64,
    is_stopped: &(dyn Fn() -> bool + Sync),
) -> Option<(f64, Vec<f64>)> {
    let n = beta.len();
    let free: Vec<usize> = (0..n)
        .filter(|&i| beta[i].abs() > AT_BOUND * cost && beta[i].abs() < (1.0 - AT_BOUND) * cost)
        .collect();
    let labels: Vec<f64> = machine.labels().collect();
    let mut exact = beta.to_vec();
    for (i, value) in exact.iter_mut().enumerate() {
        *value = labels[i] * if beta[i].abs() < 0.5 * cost { 0.0 } else { cost };
    }
    free.iter().for_each(|&i| exact[i] = 0.0);
    let bound: f64 = exact.iter().sum();
    let fitted = |beta: &[f64], i: usize| -> f64 {
        gram[i * n..(i + 1) * n].iter().zip(beta).map(|(k, b)| k * b).sum()
    };
    let matrix = free.iter().flat_map(|&i| free.iter().map(move |&j| gram[i * n + j])).collect();
    let matrix = Cholesky::of_unless(matrix, free.len(), is_stopped)?;
    let (mut pulled, mut ones) =
        (free.iter().map(|&i| labels[i] - fitted(&exact, i)).collect::<Vec<f64>>(), vec![1.0; free.len()]);
    matrix.solve(&mut pulled);
    matrix.solve(&mut ones);
    if !free.is_empty() {
        let bias = (pulled.iter().sum::<f64>() + bound) / ones.iter().sum::<f64>();
        for (a, &i) in free.iter().enumerate() {
            exact[i] = pulled[a] - bias * ones[a];
            let alpha = labels[i] * exact[i];
            if !(alpha > 0.0 && alpha < cost) {
                return None;
            }
        }
    }
    let value = (0..n).map(|i| exact[i] * (labels[i] - 0.5 * fitted(&exact, i))).sum();
    Some((value, exact))
}

#[cfg(test)]
mod tests {
    use fewest_core::{DenseColumns, Target, derive_seed};

    use super::super::machines;
    use super::*;

    fn data() -> Result<Dataset, Error> {
        let random = |stream: u64| 2.0 * (derive_seed(4, stream) as f64 / u64::MAX as f64) - 1.0;
        let mut columns: Vec<Vec<f64>> =
            (0..5).map(|j| (0..40).map(|i| random(i * 5 + j)).collect()).collect();
        columns[4] = (0..40).map(|i| f64::from(i % 3)).collect();
        let labels: Vec<bool> = (0..40).map(|i| columns[0][i] + columns[1][i].powi(2) > 0.4).collect();
        let mut kinds = vec![FeatureKind::Numeric; 5];
        kinds[4] = FeatureKind::Categorical { levels: vec!["a".into(), "b".into(), "c".into()] };
        Dataset::new(DenseColumns::from_columns(&columns)?, Target::from_labels(&labels))?
            .with_feature_kinds(kinds)
    }

    #[test]
    fn gradients_are_slopes_and_descents_stationary() -> Result<(), Error> {
        let (data, context) = (data()?, Context::default());
        let (distances, machines) = (Distances::new(&data, &context)?, machines(&data, "gmkl")?);
        for cost in [1.0, 30.0] {
            let mut learning = Learning { distances: &distances, machines: &machines, cost, lambda: 1.0 };
            let control = Control { tolerance: 1e-13, ..Control::default() };
            let weights = vec![0.3, 0.1, 0.2, 0.05, 0.15];
            let at = learning.point(weights.clone(), &[], &learning.all(), &control)?;
            for m in 0..5 {
                let value = |change: f64| {
                    let mut moved = weights.clone();
                    moved[m] += change;
                    learning.point(moved, &[], &learning.all(), &control).map(|point| point.value)
                };
                let slope = (value(1e-4)? - value(-1e-4)?) / 2e-4;
                let found = at.gradient[m];
                assert!((slope - found).abs() < 1e-5 * (1.0 + slope.abs()), "{m}: {slope} {found}");
            }
            learning.lambda = 0.2 * learning.largest_penalty(&learning.worths(&context)?, &context)?;
            let end = learning.descend(vec![0.2; 5], 1e-8, 500, &context)?;
            let violation = learning.violation(&learning.point(
                end.point.weights.clone(),
                &[],
                &learning.all(),
                &control,
            )?);
            assert!(violation < 1e-5, "{violation} {:?} {}", end.status, end.iterations);
            let close = |told: f64| (told - violation).abs() < 1e-5;
            assert!(matches!(end.certificate, Certificate::Stationarity { relative } if close(relative)));
            assert!(end.point.value <= learning.point(vec![0.2; 5], &[], &learning.all(), &control)?.value);
            // No neighbour on a grid around it is better.
            for m in 0..5 {
                for change in [-0.01, 0.01] {
                    let mut moved = end.point.weights.clone();
                    moved[m] = (moved[m] + change).max(0.0);
                    let value = learning.point(moved, &[], &learning.all(), &control)?.value;
                    assert!(value >= end.point.value * (1.0 - 1e-9), "{m} {value} {}", end.point.value);
                }
            }
        }
        Ok(())
    }
}
