//! Least squares where features and views are zero together, by alternating directions.
//!
//! ```text
//! minimise over W = U = V   1/(2n) ‖Y − X W‖² + λ [Σⱼ ‖Uⱼ‖ + ratio Σ_v Σ_k ‖V_vk‖]
//! ```
//!
//! The two norms overlap: together their prox has no closed form, each alone has. A step solves for `W` with
//! multipliers `A`, `B` of the two constraints (Boyd, Parikh, Chu, Peleato and Eckstein 2011, Section 7), in
//! the eigenvectors of `XᵀX/n`, so that the weight `ρ` of the constraints may change at no cost, and shortens
//! features and pieces of views by `λ/ρ`. `A` and `B` are what the certificate needs: with residual
//! `Θ = (Y − XW)/n`, `XᵀΘ` is `A` and a rest, or `B` and a rest, and the scale at which the rest is short
//! enough makes `Θ` a dual point.
//!
//! `fewest-admm` is the general method for two blocks. These steps keep `A` and `B` from one penalty to the
//! next, and certify every tenth point only: a certificate costs about as much as a step.

use fewest_core::{Error, Status};
use fewest_linalg::symmetric_eigen_unless;
use fewest_solver::{Control, certificate};
use nalgebra::DMatrix;

use super::pieces::Pieces;

/// Features of less than this share of the longest one count as zero. The gap is measured without them.
const NEGLIGIBLE: f64 = 1e-8;

/// Steps between two certificates, and at most.
const BETWEEN: usize = 10;
const MOST_STEPS: usize = 20_000;

/// How much further than to the solution of a step the next one goes.
const RELAXED: f64 = 1.7;

/// The first weight of the constraints, in units of `λ`.
const FIRST_WEIGHT: f64 = 3.0;

/// The weight changes, by no more than the last of these factors, where one residual is this many times the
/// other; after so many steps only now and then, so that steps converge.
const UNBALANCED: f64 = 2.0;
const MOST_CHANGE: f64 = 5.0;
const FREE_STEPS: usize = 400;
const RARELY: usize = 200;

/// Eigenvalues smaller than this share of the largest are rounding.
const RANK: f64 = 1e-13;

/// The problem of one data set.
pub(super) struct ViewModel {
    x: DMatrix<f64>,
    y: DMatrix<f64>,
    /// Eigenvectors of `XᵀX/n`, and their eigenvalues; in all directions at right angles it is zero.
    basis: DMatrix<f64>,
    spectrum: Vec<f64>,
    /// `XᵀY/n`.
    correlations: DMatrix<f64>,
    pieces: Pieces,
    /// The smallest penalty that selects nothing.
    largest: f64,
    /// Half the mean square of the outputs.
    at_zero: f64,
}

/// Where the steps are.
#[derive(Clone)]
pub(super) struct Point {
    of_features: DMatrix<f64>,
    of_views: DMatrix<f64>,
    /// `A` and `B`.
    multipliers: [DMatrix<f64>; 2],
    weight: f64,
}

impl Point {
    /// `A` and `B`.
    #[cfg(test)]
    pub(super) fn multipliers(&self) -> &[DMatrix<f64>; 2] {
        &self.multipliers
    }
}

/// A solution with its certificate.
pub(super) struct Found {
    pub(super) w: DMatrix<f64>,
    pub(super) objective: f64,
    /// Relative to the objective at zero.
    pub(super) gap: f64,
    pub(super) steps: usize,
    pub(super) status: Status,
}

impl ViewModel {
    /// `x`: a sample a row, a column each; `y`: a column for each output.
    pub(super) fn new(
        x: DMatrix<f64>,
        y: DMatrix<f64>,
        pieces: Pieces,
        control: &Control<'_>,
    ) -> Result<Self, Error> {
        let (n, p) = x.shape();
        let share = (n as f64).recip();
        let small = if p <= n { x.tr_mul(&x) } else { &x * x.transpose() } * share;
        let Some(found) = symmetric_eigen_unless(small, &|| control.stopped().is_some()) else {
            control.go_on("the first penalty was tried")?;
            return Err(Error::Numerical {
                what: "the products of the features",
                hint: "their numbers are too large or too small".to_owned(),
            });
        };
        let largest = found.eigenvalues.iter().copied().fold(0.0, f64::max);
        let kept: Vec<usize> =
            (0..found.eigenvalues.len()).filter(|&at| found.eigenvalues[at] > RANK * largest).collect();
        let spectrum: Vec<f64> = kept.iter().map(|&at| found.eigenvalues[at]).collect();
        let mut basis = found.eigenvectors.select_columns(&kept);
        if p > n {
            basis = x.tr_mul(&basis);
            for (mut column, value) in basis.column_iter_mut().zip(&spectrum) {
                column *= (n as f64 * value).sqrt().recip();
            }
        }
        let correlations = x.tr_mul(&y) * share;
        let at_zero = 0.5 * share * y.norm_squared();
        let largest = pieces.dual_norm(&correlations);
        Ok(Self { x, y, basis, spectrum, correlations, pieces, largest, at_zero })
    }

    /// The smallest penalty that selects nothing.
    pub(super) fn largest(&self) -> f64 {
        self.largest
    }

    pub(super) fn start(&self, lambda: f64) -> Point {
        let zero = DMatrix::zeros(self.x.ncols(), self.y.ncols());
        Point {
            of_features: zero.clone(),
            of_views: zero.clone(),
            multipliers: [zero.clone(), zero],
            weight: FIRST_WEIGHT * lambda,
        }
    }

    /// `(XᵀX/n + 2ρ I)⁻¹` times a matrix.
    fn solved(&self, right: &DMatrix<f64>, weight: f64) -> DMatrix<f64> {
        let ridge = 2.0 * weight;
        let mut along = self.basis.tr_mul(right);
        for mut output in along.column_iter_mut() {
            for (value, eigenvalue) in output.iter_mut().zip(&self.spectrum) {
                // 1/(s + r) - 1/r.
                *value *= -eigenvalue / (ridge * (eigenvalue + ridge));
            }
        }
        let mut solved = right / ridge;
        solved.gemm(1.0, &self.basis, &along, 1.0);
        solved
    }

    /// Steps from `point` until the gap is as small as wanted.
    pub(super) fn minimise(&self, lambda: f64, point: &mut Point, control: &Control<'_>) -> Found {
        if lambda >= self.largest {
            // The outputs themselves are a dual point.
            let w = DMatrix::zeros(self.x.ncols(), self.y.ncols());
            return Found { w, objective: self.at_zero, gap: 0.0, steps: 0, status: Status::Converged };
        }
        let mut steps = 0;
        loop {
            let mut residuals = [0.0; 2];
            for step in 0..BETWEEN {
                residuals = self.step(lambda, point, step + 1 == BETWEEN);
            }
            steps += BETWEEN;
            let (w, objective, gap) = self.certified(lambda, point);
            let by_gap = Status::by_certificate(gap, control.tolerance);
            let ended = match control.stopped() {
                _ if by_gap == Status::Converged => Some(by_gap),
                None if steps >= MOST_STEPS => Some(by_gap),
                stopped => stopped,
            };
            if let Some(status) = ended {
                return Found { w, objective, gap, steps, status };
            }
            let [primal, dual] = residuals;
            let balance = (primal / dual.max(f64::MIN_POSITIVE)).sqrt();
            let apart = balance > UNBALANCED || balance < UNBALANCED.recip();
            if apart && (steps < FREE_STEPS || steps % RARELY == 0) {
                point.weight *= balance.clamp(MOST_CHANGE.recip(), MOST_CHANGE);
            }
        }
    }

    /// One step; where asked, how far `W` is from `U` and `V`, relative to its length, and how far these have
    /// moved, relative to the multipliers.
    fn step(&self, lambda: f64, point: &mut Point, is_measured: bool) -> [f64; 2] {
        let Point { of_features, of_views, multipliers: [of_first, of_second], weight } = point;
        let weight = *weight;
        let mut right = &self.correlations - &*of_first - &*of_second;
        right.zip_zip_apply(&*of_features, &*of_views, |value, u, v| *value += weight * (u + v));
        let w = self.solved(&right, weight);
        let threshold = lambda / weight;
        let (mut apart, mut moved) = (0.0, 0.0);
        let pairs = [(&mut *of_features, &mut *of_first), (&mut *of_views, &mut *of_second)];
        for (at, (copy, multiplier)) in pairs.into_iter().enumerate() {
            let mut next = &w * RELAXED;
            next.zip_zip_apply(&*copy, &*multiplier, |value, old, multiplier| {
                *value += (1.0 - RELAXED) * old + multiplier / weight;
            });
            *multiplier = &next * weight;
            match at {
                0 => self.pieces.shorten_features(&mut next, threshold),
                _ => self.pieces.shorten_views(&mut next, threshold),
            }
            multiplier.zip_apply(&next, |multiplier, value| *multiplier -= weight * value);
            if is_measured {
                apart += (&w - &next).norm_squared();
                moved += weight * weight * (&*copy - &next).norm_squared();
            }
            *copy = next;
        }
        if !is_measured {
            return [0.0; 2];
        }
        let share = |part: f64, whole: f64| if whole > 0.0 { (part / whole).sqrt() } else { part.sqrt() };
        let multipliers = of_first.norm_squared() + of_second.norm_squared();
        [share(apart, 2.0 * w.norm_squared()), share(moved, multipliers)]
    }

    /// The features of `U` in the pieces that `V` has, without those that steps still take to zero; the
    /// objective there, and its gap.
    fn certified(&self, lambda: f64, point: &Point) -> (DMatrix<f64>, f64, f64) {
        let mut w = point.of_features.zip_map(&point.of_views, |u, v| if v == 0.0 { 0.0 } else { u });
        let longest = w.row_iter().map(|row| row.norm()).fold(0.0, f64::max);
        for mut row in w.row_iter_mut() {
            if row.norm() < NEGLIGIBLE * longest {
                row.fill(0.0);
            }
        }
        let (objective, gap) = self.gap(lambda, &w, &point.multipliers);
        (w, objective, gap)
    }

    /// The objective and the duality gap, relative to the objective at zero, from one matrix whose features
    /// are no longer than `λ` and one whose pieces are no longer than `ratio λ`.
    fn gap(&self, lambda: f64, w: &DMatrix<f64>, multipliers: &[DMatrix<f64>; 2]) -> (f64, f64) {
        let n = self.x.nrows() as f64;
        let mut theta = self.y.clone();
        theta.gemm(-n.recip(), &self.x, w, n.recip());
        let square = theta.norm_squared();
        let along = self.x.tr_mul(&theta);
        let objective = 0.5 * n * square + lambda * self.pieces.value(w);
        let within = |longest: f64, bound: f64| if longest > bound { bound / longest } else { 1.0 };
        let by_features = within(self.pieces.longest(&(&along - &multipliers[1])).0, lambda);
        let by_views =
            within(self.pieces.longest(&(&along - &multipliers[0])).1, self.pieces.ratio() * lambda);
        let with_outputs = theta.dot(&self.y);
        let best = if square > 0.0 { with_outputs / (n * square) } else { 1.0 };
        let scale = by_features.max(by_views).min(best.max(0.0));
        let dual = scale * with_outputs - 0.5 * n * scale * scale * square;
        (objective, certificate::relative(objective - dual, self.at_zero))
    }
}
