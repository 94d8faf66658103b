//! The radius–margin bound as a function of the scales of features, and its slope.

use fewest_core::{Error, Status, order};
use fewest_kernels::VectorKernel;
use fewest_machines::{Ball, PointRows, Points};
use fewest_smo::{Classifier, Loss, Smo};
use fewest_solver::Control;

use crate::problems::Binary;

/// Rows of a kernel between two looks at the clock.
const ROWS: usize = 32;

/// Features with scales of their own.
pub(super) struct Scaled<'a> {
    /// C.
    pub(super) cost: f64,
    pub(super) kernel: VectorKernel,
    pub(super) problems: &'a [Binary],
    /// When machines and balls end.
    pub(super) control: Control<'a>,
    /// The columns of the features, feature after feature.
    pub(super) columns: Vec<Vec<f64>>,
    /// The place of each column's feature.
    pub(super) owners: Vec<usize>,
    /// The features.
    pub(super) features: Vec<usize>,
    pub(super) scales: Vec<f64>,
}

/// A machine and a ball at some scales.
pub(super) struct Part {
    /// `β` of the machine.
    machine: Vec<f64>,
    /// `‖w̃‖²`.
    size: f64,
    ball: Ball,
}

/// The bound, and what it was computed from.
pub(super) struct Bound {
    /// The sum of the bounds of all machines.
    pub(super) value: f64,
    parts: Vec<Part>,
}

impl Scaled<'_> {
    /// The samples `rows`, or all, with `scales`.
    fn points(&self, rows: Option<&[usize]>, scales: &[f64]) -> Points {
        let n = self.columns.first().map_or(0, Vec::len);
        let n_samples = rows.map_or(n, <[usize]>::len);
        let width = self.columns.len();
        let mut values = vec![0.0; n_samples * width];
        for (at, (column, &owner)) in self.columns.iter().zip(&self.owners).enumerate() {
            for (place, value) in values.iter_mut().skip(at).step_by(width).enumerate() {
                *value = scales[owner] * column[rows.map_or(place, |rows| rows[place])];
            }
        }
        Points { values, n_samples, width }
    }

    /// The machine and the ball of one problem, each from those `near`.
    fn part(&self, problem: &Binary, scales: &[f64], near: Option<&Part>) -> Result<Part, Error> {
        let points = self.points(problem.rows.as_deref(), scales);
        let rows = PointRows::new(&points, self.kernel)?;
        let classifier = Classifier { cost: self.cost, loss: Loss::Squared, ..Classifier::default() };
        let dual = classifier.problem(&rows, &problem.positive, &[])?;
        let start = near.map_or(&[][..], |near| &near.machine);
        let machine = Smo::default().minimise(&dual, start, &self.control)?.solution;
        let mut centre = near.map_or_else(Vec::new, |near| near.ball.coefficients.clone());
        if centre.is_empty() {
            // A ball that begins at one sample needs the kernel of few.
            centre = vec![0.0; points.n_samples];
            centre[0] = 1.0;
        }
        let ball = Ball::enclosing(&rows, 0.5 / self.cost, &centre, &self.control)?;
        if Status::worst([machine.status, ball.status]).is_stopped() {
            return Err(Error::Stopped { before: STEPPED });
        }
        // The value of the dual is half of ‖w̃‖², with a smaller error than the norm itself.
        Ok(Part { size: -2.0 * machine.objective, machine: machine.coefficients, ball })
    }

    /// The sum of the bounds of all machines at `scales`, found from the one `near`.
    ///
    /// # Errors
    /// [`Error::Stopped`] when there was no time for it.
    pub(super) fn bound(&self, scales: &[f64], near: Option<&Bound>) -> Result<Bound, Error> {
        let parts = fewest_parallel::try_map(self.problems.len(), |at| {
            self.control.go_on(STEPPED)?;
            self.part(&self.problems[at], scales, near.map(|near| &near.parts[at]))
        })?;
        let value: f64 = parts.iter().map(|part| part.ball.squared_radius * part.size).sum();
        if !(value.is_finite() && value > 0.0) {
            let hint = "lower C or rescale the features".to_owned();
            return Err(Error::Numerical { what: "the radius-margin bound", hint });
        }
        Ok(Bound { value, parts })
    }

    /// `∂ ln T / ∂ ln σ_k` along the sphere `Σ σ² = constant`, for the bound `T` at `scales`.
    ///
    /// # Errors
    /// As [`bound`](Self::bound).
    pub(super) fn slope(&self, scales: &[f64], bound: &Bound) -> Result<Vec<f64>, Error> {
        let parts = fewest_parallel::try_map(self.problems.len(), |at| {
            let points = self.points(self.problems[at].rows.as_deref(), scales);
            self.gradient(&points, &bound.parts[at])
        })?;
        let mut gradient = vec![0.0; scales.len()];
        for part in parts {
            for (&owner, value) in self.owners.iter().zip(part) {
                gradient[owner] += value / bound.value;
            }
        }
        let squares: f64 = scales.iter().map(|scale| scale * scale).sum();
        let total: f64 = gradient.iter().sum();
        Ok(gradient.iter().zip(scales).map(|(g, scale)| g - total * scale * scale / squares).collect())
    }

    /// `∂T/∂ ln σ` of each column, from `∂‖w̃‖² = −βᵀ ∂K β` and `∂R² = Σ_i b_i ∂K_ii − bᵀ ∂K b` (Chapelle et
    /// al. 2002, Section 4).
    fn gradient(&self, points: &Points, part: &Part) -> Result<Vec<f64>, Error> {
        let (inside, radius) = (&part.ball.coefficients, part.ball.squared_radius);
        let VectorKernel::Gaussian { gamma } = self.kernel else {
            return Ok(linear_gradient(points, part));
        };
        // ∂K_ab = −2γ (x_a − x_b)² K_ab, which is 0 on the diagonal; each pair counts twice.
        let rows = PointRows::new(points, self.kernel)?;
        let samples: Vec<usize> =
            (0..points.n_samples).filter(|&i| inside[i] != 0.0 || part.machine[i] != 0.0).collect();
        let blocks = fewest_parallel::try_map(samples.len().div_ceil(ROWS), |block| {
            let mut sums = vec![0.0; points.width];
            self.control.go_on(STEPPED)?;
            let mut row = vec![0.0; points.n_samples];
            for at in block * ROWS..samples.len().min((block + 1) * ROWS) {
                let a = samples[at];
                fewest_smo::KernelRows::row(&rows, a, &mut row);
                for &b in &samples[..at] {
                    let pull = part.size * inside[a] * inside[b] + radius * part.machine[a] * part.machine[b];
                    let pull = 4.0 * gamma * pull * row[b];
                    for ((sum, x), z) in sums.iter_mut().zip(points.point(a)).zip(points.point(b)) {
                        *sum += pull * (x - z) * (x - z);
                    }
                }
            }
            Ok(sums)
        })?;
        let mut gradient = vec![0.0; points.width];
        for sums in blocks {
            gradient.iter_mut().zip(sums).for_each(|(all, own)| *all += own);
        }
        Ok(gradient)
    }

    /// Keeps the `k` features with the largest scales, of equals those with the lower index.
    pub(super) fn keep(&mut self, k: usize) {
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

/// The error of a run that ended within a bound.
pub(super) const STEPPED: &str = "the first step was taken";

/// With `∂K_ab = 2 x_a x_b` in a column: sums over samples, and so no matrix of them.
fn linear_gradient(points: &Points, part: &Part) -> Vec<f64> {
    let (inside, width) = (&part.ball.coefficients, points.width);
    let (mut weights, mut centre) = (vec![0.0; width], vec![0.0; width]);
    for (i, (beta, b)) in part.machine.iter().zip(inside).enumerate() {
        for ((weight, centre), x) in weights.iter_mut().zip(&mut centre).zip(points.point(i)) {
            *weight += beta * x;
            *centre += b * x;
        }
    }
    // Σ b x² − (Σ b x)², centred before squaring, since Σ b = 1.
    let mut spread = vec![0.0; width];
    for (i, b) in inside.iter().enumerate().filter(|(_, b)| **b != 0.0) {
        for ((spread, centre), x) in spread.iter_mut().zip(&centre).zip(points.point(i)) {
            *spread += b * (x - centre) * (x - centre);
        }
    }
    let radius = part.ball.squared_radius;
    let slope = |(spread, weight): (&f64, &f64)| 2.0 * (part.size * spread - radius * weight * weight);
    spread.iter().zip(&weights).map(slope).collect()
}
