//! The machine with a fixed kernel: primal indefinite-kernel SVM by difference-of-convex programming
//! (Algorithm 2).

use std::cell::{Cell, RefCell};

use fewest_core::{Context, Error};
use fewest_dca::{Dca, DifferenceOfConvex};
use fewest_solver::{Control, run};

use super::loss::Loss;
use super::matrix::{KernelMatrix, Power, System};
use fewest_linalg::{add_scaled, dot};

/// Newton steps of a convex problem at most. It takes as many as the active set changes, a handful.
const NEWTON_STEPS: usize = 200;

/// Supports tried on the way to a stationary point, at most.
const SUPPORTS: usize = 50;

/// How far beyond the norm of a stationary point steps may go, as a factor of its square.
const SLACK: f64 = 2.0;

/// Bisections of the share of a step that is taken where a whole one would leave the bounds.
const SHARES: usize = 40;

/// Halvings of a Newton step at most.
const HALVINGS: usize = 40;

/// Coefficients and bias of one machine: `f = K β + b`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Machine {
    pub(crate) beta: Vec<f64>,
    pub(crate) bias: f64,
}

impl Machine {
    /// The coefficients and the bias in one vector.
    fn joined(&self) -> Vec<f64> {
        self.beta.iter().copied().chain(std::iter::once(self.bias)).collect()
    }
}

/// `minimise over β, b   λ₁ βᵀKβ + Σ loss(yᵢ, (Kβ)ᵢ + b)` as the difference of `g = λ₁ρ‖β‖² + Σ loss` and
/// `h = λ₁ βᵀ(ρI − K)β` (Eq. 10, 11), or, for a semidefinite kernel, as it is, with `h = 0`.
pub(crate) struct FixedKernel<'a> {
    matrix: &'a KernelMatrix,
    y: &'a [f64],
    loss: Loss,
    lambda: f64,
    /// Whether `h = 0`.
    convex: bool,
    /// Largest norm of β, for an indefinite kernel.
    bound: Option<f64>,
    /// The last system solved: while the support stays, so does it.
    system: RefCell<Option<System>>,
    /// The largest relative duality gap of a convex problem so far.
    gap: Cell<f64>,
    context: &'a Context<'a>,
}

/// How a run of [`FixedKernel::minimise`] ended.
pub(crate) struct Fitted {
    pub(crate) machine: Machine,
    pub(crate) iterations: u64,
}

/// A point of the convex problem, `β = p + K u/(λ₁ρ)`, or `β = u/λ₁` where the whole problem is convex.
struct Point {
    u: Vec<f64>,
    bias: f64,
    /// `G u`.
    image: Vec<f64>,
    /// Decision values.
    values: Vec<f64>,
}

impl<'a> FixedKernel<'a> {
    pub(crate) fn new(
        matrix: &'a KernelMatrix,
        y: &'a [f64],
        loss: Loss,
        lambda: f64,
        context: &'a Context<'a>,
    ) -> Self {
        let (system, gap) = (RefCell::default(), Cell::new(0.0));
        Self { matrix, y, loss, lambda, convex: false, bound: None, system, gap, context }
    }

    /// The same without the detour over a difference where the kernel is positive semidefinite, and else kept
    /// where minima of such kernels are, since its objective need not be bounded below: see
    /// [`FixedKernel::held_back`].
    ///
    /// # Errors
    /// [`Error::Numerical`] where the ends of the kernel's spectrum are not found.
    pub(crate) fn adapted(mut self, start: &Machine) -> Result<Self, Error> {
        let is_indefinite = self.matrix.is_indefinite()?;
        // What is negative by rounding only must leave I + K/λ₁ positive definite.
        self.convex = !is_indefinite && self.matrix.smallest() > -0.5 * self.lambda;
        if is_indefinite {
            let radius = (self.objective(&start.joined()).max(0.0)).sqrt() / self.lambda;
            self.bound = Some(radius.max(dot(&start.beta, &start.beta).sqrt()));
        }
        Ok(self)
    }

    /// Whether the objective need not be bounded below.
    pub(crate) fn is_guarded(&self) -> bool {
        self.bound.is_some()
    }

    /// A critical point, from `start`; the objective there is no larger.
    pub(crate) fn minimise(
        &self,
        start: &Machine,
        accelerated: bool,
        control: &Control<'_>,
    ) -> Result<Fitted, Error> {
        // Momentum would make haste in the directions in which an indefinite kernel's objective falls without
        // end.
        let accelerated = accelerated && !self.is_guarded();
        let mut solver = Dca::default().tolerance(control.tolerance).accelerated(accelerated);
        let solution = run(self, &mut solver, start.joined(), control)?;
        let mut beta = solution.coefficients;
        let bias = beta.pop().unwrap_or(start.bias);
        Ok(Fitted { machine: Machine { beta, bias }, iterations: solution.iterations })
    }

    /// The stationary point, `β = half_gradients/λ₁`, where all eigenvalues of `K` are above `−λ₁`: then it
    /// is the only one, and its half_gradients are the maximum of a concave dual. Supports are tried, from
    /// that at `start`, until one implies itself. `None` where that does not happen, the run is stopped, or
    /// the point fits worse than a constant does. It is the minimum where the kernel is positive
    /// semidefinite. Else it is a saddle, where Algorithm 2 would stay: a fixed point of its steps.
    pub(crate) fn stationary(&self, start: &Machine) -> Option<Machine> {
        if !self.matrix.exceeds(-self.lambda, self.context) {
            return None;
        }
        let problem =
            Self { convex: true, ..Self::new(self.matrix, self.y, self.loss, self.lambda, self.context) };
        let origin = vec![0.0; self.matrix.n()];
        let mut active_targets = problem.active_targets(&problem.values(&start.joined()));
        for _ in 0..SUPPORTS {
            // Each factors a matrix.
            if self.context.stopped().is_some() {
                return None;
            }
            let point = problem.newton(&active_targets, start.bias, &origin).ok()?;
            let now = problem.active_targets(&point.values);
            if now == active_targets {
                let beta = point.u.iter().map(|u| u / self.lambda).collect();
                let machine = Machine { beta, bias: point.bias };
                let constant = vec![self.loss.best_constant(self.y); self.y.len()];
                if self.loss.sum(self.y, &point.values) > self.loss.sum(self.y, &constant) {
                    return None;
                }
                problem.certify(&point, problem.convex_value(&point), &origin);
                self.gap.set(problem.gap.get());
                return Some(machine);
            }
            active_targets = now;
        }
        None
    }

    /// [`FixedKernel::stationary`], where it is no higher than `start`.
    pub(crate) fn stationary_below(&self, start: &Machine) -> Option<Machine> {
        let found = self.stationary(start)?;
        (self.objective(&found.joined()) <= self.objective(&start.joined())).then_some(found)
    }

    /// The largest relative duality gap of the convex problems solved so far.
    pub(crate) fn certificate(&self) -> f64 {
        self.gap.get()
    }

    /// `λ₁ρ`.
    fn curvature(&self) -> f64 {
        self.lambda * self.matrix.rho()
    }

    /// The matrix `G` of the convex problem `uᵀGu + Σ loss(offset + Gu + b)` as a power of `K` and what it is
    /// divided by: `K²/(λ₁ρ)`, or `K/λ₁`.
    fn convex_matrix(&self) -> (Power, f64) {
        if self.convex { (Power::First, self.lambda) } else { (Power::Second, self.curvature()) }
    }

    /// `G u`.
    fn convex_image(&self, u: &[f64]) -> Vec<f64> {
        let (power, scale) = self.convex_matrix();
        let mut image = self.matrix.apply(u);
        if power == Power::Second {
            image = self.matrix.apply(&image);
        }
        image.iter_mut().for_each(|value| *value /= scale);
        image
    }

    fn split<'x>(&self, x: &'x [f64]) -> (&'x [f64], f64) {
        (&x[..self.matrix.n()], x[self.matrix.n()])
    }

    /// `K β + b`.
    fn values(&self, x: &[f64]) -> Vec<f64> {
        let (beta, bias) = self.split(x);
        let mut values = self.matrix.apply(beta);
        values.iter_mut().for_each(|value| *value += bias);
        values
    }

    /// What every sample is pulled towards.
    fn active_targets(&self, values: &[f64]) -> Vec<Option<f64>> {
        self.y.iter().zip(values).map(|(&y, &f)| self.loss.active_target(y, f)).collect()
    }

    fn point(&self, u: Vec<f64>, bias: f64, offset: &[f64]) -> Point {
        let image = self.convex_image(&u);
        let values = offset.iter().zip(&image).map(|(q, g)| q + g + bias).collect();
        Point { u, bias, image, values }
    }

    /// `uᵀGu + Σ loss`: the convex problem but for a constant.
    fn convex_value(&self, point: &Point) -> f64 {
        dot(&point.u, &point.image) + self.loss.sum(self.y, &point.values)
    }

    /// Newton's step: the minimum with the `active_targets` taken as they are, `u = tᵢ − fᵢ` where there is
    /// one and 0 elsewhere.
    fn newton(&self, active_targets: &[Option<f64>], bias: f64, offset: &[f64]) -> Result<Point, Error> {
        let mut u = vec![0.0; self.y.len()];
        let (support, towards): (Vec<usize>, Vec<f64>) = active_targets
            .iter()
            .enumerate()
            .filter_map(|(i, pull)| pull.map(|t| (i, t - offset[i])))
            .unzip();
        if support.is_empty() {
            return Ok(self.point(u, bias, offset));
        }
        let mut cached = self.system.borrow_mut();
        let system = match &mut *cached {
            Some(system) if system.rows() == support => system,
            other => {
                let (power, scale) = self.convex_matrix();
                other.insert(self.matrix.system(support, power, scale, self.context)?)
            }
        };
        // The bordered system with 1ᵀu = 0.
        let (own, ones) = (system.solve(&towards)?, system.solve(&vec![1.0; towards.len()])?);
        let bias = own.iter().sum::<f64>() / ones.iter().sum::<f64>();
        for ((&i, own), one) in system.rows().iter().zip(&own).zip(&ones) {
            u[i] = own - bias * one;
        }
        Ok(self.point(u, bias, offset))
    }

    /// Minimises `uᵀGu + Σ loss(offset + Gu + b)` by Newton's method on the support, from that of `values`.
    fn convex(&self, offset: &[f64], values: &[f64], bias: f64) -> Result<Point, Error> {
        let mut active_targets = self.active_targets(values);
        let mut point = self.newton(&active_targets, bias, offset)?;
        let mut value = self.convex_value(&point);
        for _ in 0..NEWTON_STEPS {
            let now = self.active_targets(&point.values);
            if now == active_targets {
                break;
            }
            active_targets = now;
            let mut trial = self.newton(&active_targets, point.bias, offset)?;
            let mut trial_value = self.convex_value(&trial);
            // The problem is convex and this a direction of descent: some share of the step decreases it.
            for _ in 0..HALVINGS {
                if trial_value < value {
                    break;
                }
                let middle = trial.u.iter().zip(&point.u).map(|(new, old)| 0.5 * (new + old)).collect();
                trial = self.point(middle, 0.5 * (trial.bias + point.bias), offset);
                trial_value = self.convex_value(&trial);
            }
            if trial_value >= value {
                break;
            }
            (point, value) = (trial, trial_value);
        }
        self.certify(&point, value, offset);
        Ok(point)
    }

    /// The share of the way from `start` to `next` that keeps `λ₁²‖β‖²` at or below twice the sum of the
    /// losses there, and `‖β‖` below the bound; where `start` does not, `‖β‖` must not grow.
    ///
    /// At a stationary point `β = half_gradients/λ₁` but for what the kernel maps to zero, where `λ₁²‖β‖²` is
    /// the sum of the losses, so none lies beyond, and twice that leaves room for the way there; and from a
    /// value `F` minima of positive semidefinite kernels have `λ₁²‖β‖² = Σ loss ≤ F`. Along the way the
    /// convex function that a step minimises decreases, so `F` does not rise wherever the step ends.
    fn held_back(&self, start: &[f64], next: Vec<f64>, bound: f64) -> Vec<f64> {
        let n = self.matrix.n();
        let (from, to) = (self.values(start), self.values(&next));
        let least = dot(&start[..n], &start[..n]);
        let at =
            |share: f64| -> Vec<f64> { start.iter().zip(&next).map(|(a, b)| a + share * (b - a)).collect() };
        let allowed = |share: f64| {
            let point = at(share);
            let squares = dot(&point[..n], &point[..n]);
            let values: Vec<f64> = from.iter().zip(&to).map(|(a, b)| a + share * (b - a)).collect();
            let half_gradients = self.loss.sum(self.y, &values) / (self.lambda * self.lambda);
            squares <= least || squares <= (SLACK * half_gradients).min(bound * bound)
        };
        if allowed(1.0) {
            return next;
        }
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..SHARES {
            let middle = 0.5 * (low + high);
            if allowed(middle) {
                low = middle;
            } else {
                high = middle;
            }
        }
        at(low)
    }

    /// Remembers the relative duality gap of `point`: its half_gradients `r` are a dual point once they sum
    /// to zero, which they do to rounding where Newton's method has settled, and else when the larger of
    /// those upwards and downwards are made smaller; it is worth `Σ 2 r (t − q) − r² − rᵀGr`.
    fn certify(&self, point: &Point, value: f64, offset: &[f64]) {
        let mut half_gradients: Vec<f64> =
            self.y.iter().zip(&point.values).map(|(&y, &f)| self.loss.half_gradient(y, f)).collect();
        let sum_of = |sign: f64| half_gradients.iter().map(|r| (sign * r).max(0.0)).sum::<f64>();
        let (up, down) = (sum_of(1.0), sum_of(-1.0));
        let (share_up, share_down) =
            (if up > down { down / up } else { 1.0 }, if down > up { up / down } else { 1.0 });
        half_gradients.iter_mut().for_each(|r| *r *= if *r > 0.0 { share_up } else { share_down });
        let mut dual = -dot(&half_gradients, &self.convex_image(&half_gradients));
        for (i, r) in half_gradients.iter().enumerate() {
            let towards = self.loss.active_target(self.y[i], point.values[i]).unwrap_or(0.0);
            dual += 2.0 * r * (towards - offset[i]) - r * r;
        }
        let gap = (value - dual) / value.abs().max(f64::MIN_POSITIVE);
        self.gap.set(self.gap.get().max(if value == 0.0 { 0.0 } else { gap }));
    }
}

impl DifferenceOfConvex for FixedKernel<'_> {
    fn n_coefficients(&self) -> usize {
        self.matrix.n() + 1
    }

    fn g(&self, x: &[f64]) -> f64 {
        if self.convex {
            return self.objective(x);
        }
        let (beta, _) = self.split(x);
        self.curvature() * dot(beta, beta) + self.loss.sum(self.y, &self.values(x))
    }

    fn h(&self, x: &[f64]) -> f64 {
        if self.convex {
            return 0.0;
        }
        let (beta, _) = self.split(x);
        self.curvature() * dot(beta, beta) - self.lambda * dot(beta, &self.matrix.apply(beta))
    }

    fn objective(&self, x: &[f64]) -> f64 {
        let (beta, bias) = self.split(x);
        let mut values = self.matrix.apply(beta);
        let quadratic = dot(beta, &values);
        values.iter_mut().for_each(|value| *value += bias);
        self.lambda * quadratic + self.loss.sum(self.y, &values)
    }

    /// `2λ₁(ρI − K)β`; the paper's Algorithm 2 lacks the 2.
    fn subgradient_of_h(&self, x: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        if self.convex {
            return;
        }
        let (beta, _) = self.split(x);
        let (image, rho) = (self.matrix.apply(beta), self.matrix.rho());
        for ((out, beta), image) in out.iter_mut().zip(beta).zip(&image) {
            *out = 2.0 * self.lambda * (rho * beta - image);
        }
    }

    fn minimise_above(&self, slope: &[f64], start: &[f64]) -> Result<Vec<f64>, Error> {
        if self.convex {
            // The slope is zero, and the minimiser `β = u/λ₁`.
            let origin = vec![0.0; self.matrix.n()];
            let point = self.convex(&origin, &self.values(start), start[self.matrix.n()])?;
            let mut next: Vec<f64> = point.u.iter().map(|u| u / self.lambda).collect();
            next.push(point.bias);
            return Ok(next);
        }
        // g − ⟨slope, ·⟩ = λ₁ρ‖β − p‖² + Σ loss + constant with p = slope/(2λ₁ρ); the minimiser is p + K
        // u/(λ₁ρ).
        let n = self.matrix.n();
        let scale = 0.5 / self.curvature();
        let mut next: Vec<f64> = slope[..n].iter().map(|s| scale * s).collect();
        let offset = self.matrix.apply(&next);
        let point = self.convex(&offset, &self.values(start), start[n])?;
        add_scaled(&mut next, self.curvature().recip(), &self.matrix.apply(&point.u));
        next.push(point.bias);
        Ok(match self.bound {
            Some(bound) => self.held_back(start, next, bound),
            None => next,
        })
    }
}

#[cfg(test)]
mod tests {
    use fewest_core::derive_seed;
    use nalgebra::DMatrix;

    use super::*;

    /// Wherever one looks, the gap is at least what the point is above the minimum.
    #[test]
    fn the_certificate_of_a_point_that_is_not_optimal_bounds_what_is_missing() -> Result<(), Error> {
        let n = 30;
        let random = |stream: usize| 2.0 * (derive_seed(8, stream as u64) as f64 / u64::MAX as f64) - 1.0;
        let factor = DMatrix::from_fn(n, 5, |i, j| random(i * 5 + j));
        let matrix = KernelMatrix::dense(&factor * factor.transpose())?;
        // More of one class, so that half_gradients do not sum to zero by themselves.
        let y: Vec<f64> = (0..n).map(|i| if i % 3 == 0 { -1.0 } else { 1.0 }).collect();
        let origin = vec![0.0; n];
        for loss in [Loss::SquaredHinge, Loss::SquaredInsensitive { epsilon: 0.1 }] {
            let own = Context::default();
            let problem = || FixedKernel { convex: true, ..FixedKernel::new(&matrix, &y, loss, 0.3, &own) };
            let settled = problem();
            let best = settled.convex(&origin, &origin, 0.0)?;
            let least = settled.convex_value(&best);
            assert!(settled.certificate() < 1e-12, "{}", settled.certificate());
            for trial in 0..20 {
                let problem = problem();
                let u = (0..n).map(|i| best.u[i] + 0.1 * random(1000 * (trial + 1) + i)).collect();
                let point = problem.point(u, best.bias + 0.3 * random(trial), &origin);
                let value = problem.convex_value(&point);
                problem.certify(&point, value, &origin);
                let gap = problem.certificate() * value;
                assert!(gap.is_finite() && gap >= value - least - 1e-9 * value, "{gap} {}", value - least);
            }
        }
        Ok(())
    }
}
