//! Factors that are non-negative, and the regression that predicts them, in turns.

use fewest_cd::CoordinateDescent;
use fewest_core::{Certificate, DescentSummary, Error, SolverReport, Status};
use fewest_newton::{LinearModel, Start};
use fewest_solver::loss::{Samples, Separable, Squared};
use fewest_solver::{Control, GroupLasso, InnerProducts, Penalty};
use nalgebra::DMatrix;

use super::columns::LinearColumns;
use super::rows::rows;
use super::unsupervised::lengths_of_features;

/// Most alternations, and alternations in a row without progress after which it ends.
const MOST_ROUNDS: usize = 2000;
const PATIENCE: usize = 100;

/// Steps along projected gradients, at most.
const MOST_STEPS: usize = 500;

/// Longest step, in units of the inverse of the largest curvature.
const LONGEST: f64 = 1e6;

/// What of a value is rounding: where values are flat, gradients still tell the way.
const ROUNDING: f64 = 1e-15;

/// A decrease of an alternation that is rounding, relative to the objective.
const NO_DECREASE: f64 = 1e-14;

/// Share of what the gradient promises that a step must bring.
const SUFFICIENT: f64 = 1e-4;

/// Gap of the coefficients, as a share of the stationarity to reach.
pub(crate) const SHARE_OF_TOLERANCE: f64 = 1e-3;

/// What an objective has of the factors `G` alone: a quadratic function, and one of the products `Gᵀ G`.
pub(crate) trait Factors {
    /// The gradient of the quadratic function, whose value is half of its product with `G`.
    fn quadratic(&self, g: &DMatrix<f64>) -> DMatrix<f64>;

    /// The value at the products `Gᵀ G`, and the matrix by which `G` is multiplied for the gradient.
    fn of_products(&self, products: DMatrix<f64>) -> (f64, DMatrix<f64>);

    /// About the largest curvature, without the regression's.
    fn curvature(&self) -> f64;

    /// The value at `g`.
    fn value(&self, g: &DMatrix<f64>) -> f64 {
        0.5 * g.dot(&self.quadratic(g)) + self.of_products(g.tr_mul(g)).0
    }
}

/// `min over W of ‖X W − G‖² + α Σⱼ ‖Wⱼ‖`: the convex half of a problem.
pub(crate) struct Regression<'a> {
    pub(crate) columns: &'a LinearColumns<'a>,
    pub(crate) alpha: f64,
    pub(crate) control: Control<'a>,
}

/// Coefficients, one row a column of the table after the other, with the objective of the regression.
pub(crate) struct Fit {
    start: Start,
    pub(crate) value: f64,
    /// The duality gap, relative to the objective at zero.
    pub(crate) gap: f64,
    /// `X W`.
    fitted: DMatrix<f64>,
}

impl Regression<'_> {
    /// The smallest `α` at which no coefficient predicts `g`.
    pub(crate) fn largest(&self, g: &DMatrix<f64>) -> Result<f64, Error> {
        let (n, c) = g.shape();
        let loss = Separable::new(Squared, g.as_slice().to_vec(), Samples::mean(n))?;
        let model = LinearModel { design: self.columns, loss: &loss, intercept: false };
        let null = model.null(&self.control)?;
        let rows = rows(self.columns, self.columns.n_atoms(), c);
        Ok(2.0 * n as f64 * GroupLasso::new(1.0, &rows)?.dual_norm(&null.correlations))
    }

    /// The coefficients for `g`, from others or from zero.
    pub(crate) fn solve(&self, g: &DMatrix<f64>, before: Option<&Fit>) -> Result<Fit, Error> {
        let (n, c) = g.shape();
        let loss = Separable::new(Squared, g.as_slice().to_vec(), Samples::mean(n))?;
        let model = LinearModel { design: self.columns, loss: &loss, intercept: false };
        let null = model.null(&self.control)?;
        let unit = 2.0 * n as f64;
        let rows = rows(self.columns, self.columns.n_atoms(), c);
        let penalty = GroupLasso::new(self.alpha / unit, &rows)?;
        let start = before.map(|fit| &fit.start);
        let found = model.minimise(&null, &penalty, &CoordinateDescent::default(), start, &self.control)?;
        let coefficients = found.solution.coefficients;
        let mut outputs = vec![Vec::new(); c];
        for (at, &value) in coefficients.iter().enumerate().filter(|(_, value)| **value != 0.0) {
            outputs[at % c].push((at / c, value));
        }
        Ok(Fit {
            value: unit * found.solution.objective,
            gap: found.solution.certificate.value(),
            fitted: DMatrix::from_vec(n, c, self.columns.fitted(&outputs)?),
            start: Start { coefficients, intercepts: found.intercepts },
        })
    }

    /// The length of the row of each feature with a coefficient.
    pub(crate) fn scores(&self, fit: &Fit) -> Vec<(usize, f64)> {
        lengths_of_features(self.columns, &fit.start.coefficients, fit.fitted.ncols())
    }
}

/// `own(G) + weight (‖X W − G‖² + α Σⱼ ‖Wⱼ‖)` over `G ≥ 0` and `W`.
pub(crate) struct Alternation<'a, F> {
    pub(crate) own: &'a F,
    pub(crate) weight: f64,
    pub(crate) regression: &'a Regression<'a>,
    /// Stationarity to reach.
    pub(crate) tolerance: f64,
}

/// The end of alternations.
pub(crate) struct Alternated {
    pub(crate) fit: Fit,
    pub(crate) status: Status,
    pub(crate) stationarity: f64,
    pub(crate) rounds: usize,
    pub(crate) first_objective: f64,
    pub(crate) objective: f64,
}

impl Alternated {
    /// What is told of a descent from `start`.
    pub(crate) fn told(&self, start: &'static str, alpha: f64) -> (DescentSummary, SolverReport) {
        let Self { status, stationarity, rounds, first_objective, objective, .. } = *self;
        let certificate = Certificate::stationarity(stationarity);
        let report = SolverReport::new("alternating", status, objective, certificate)
            .with_lambda(alpha)
            .with_iterations(rounds);
        (DescentSummary::new(start, first_objective, objective), report)
    }
}

impl<F: Factors> Alternation<'_, F> {
    /// Alternates from `g`, neither step letting the objective rise: `W` to the optimum, `G` along projected
    /// gradients.
    pub(crate) fn from(&self, mut g: DMatrix<f64>) -> Result<Alternated, Error> {
        let tolerance = self.tolerance;
        let is_stopped = || self.regression.control.stopped().is_some();
        let mut fit = self.regression.solve(&g, None)?;
        let objective = |g: &DMatrix<f64>, fit: &Fit| self.own.value(g) + self.weight * fit.value;
        let first_objective = objective(&g, &fit);
        let (mut last, mut rounds, mut without_progress) = (first_objective, 0, 0);
        loop {
            let regression = Some((self.weight, &fit.fitted));
            let step = FactorDescent { own: self.own, regression, is_stopped: &is_stopped };
            let stationarity = step.stationarity(&g).max(fit.gap);
            let ended = match self.regression.control.stopped() {
                Some(status) => Some(status),
                None if stationarity <= tolerance => Some(Status::Converged),
                None if rounds >= MOST_ROUNDS => Some(Status::MaxIterations),
                None => {
                    (without_progress >= PATIENCE).then(|| Status::by_certificate(stationarity, tolerance))
                }
            };
            if let Some(status) = ended {
                return Ok(Alternated {
                    fit,
                    status,
                    stationarity,
                    rounds,
                    first_objective,
                    objective: last,
                });
            }
            let next_g = step.from(&g, 0.1 * tolerance.min(stationarity));
            let next = self.regression.solve(&next_g, Some(&fit))?;
            let value = objective(&next_g, &next);
            rounds += 1;
            without_progress = if last - value > NO_DECREASE * last.abs() { 0 } else { without_progress + 1 };
            // The same but for rounding is as good: points still come closer where values are flat.
            if value <= last + NO_DECREASE * last.abs() {
                (g, fit, last) = (next_g, next, value);
            } else {
                without_progress = PATIENCE;
            }
        }
    }
}

/// The factors' half of a problem: their own function, and `weight ‖F − G‖²` where `F` is fitted to them.
pub(crate) struct FactorDescent<'a, F> {
    pub(crate) own: &'a F,
    /// `weight` and `F`.
    pub(crate) regression: Option<(f64, &'a DMatrix<f64>)>,
    /// Asked before every step.
    pub(crate) is_stopped: &'a dyn Fn() -> bool,
}

/// What a descent knows of factors.
struct At {
    value: f64,
    gradient: DMatrix<f64>,
    /// Of the parts of the gradient, of the quadratic function and the regression.
    size: f64,
}

impl<F: Factors> FactorDescent<'_, F> {
    fn at(&self, g: &DMatrix<f64>) -> At {
        let mut gradient = self.own.quadratic(g);
        let (mut value, mut size) = (0.5 * g.dot(&gradient), gradient.norm());
        if let Some((weight, fitted)) = self.regression {
            let residual = g - fitted;
            value += weight * residual.norm_squared();
            let of_regression = residual * (2.0 * weight);
            size += of_regression.norm();
            gradient += of_regression;
        }
        let (of_products, factor) = self.own.of_products(g.tr_mul(g));
        gradient += g * factor;
        At { value: value + of_products, gradient, size }
    }

    /// The projected gradient, relative to the parts of the gradient.
    pub(crate) fn stationarity(&self, g: &DMatrix<f64>) -> f64 {
        let At { gradient, size, .. } = self.at(g);
        let projected = projected(g, &gradient).norm();
        if size > 0.0 { projected / size } else { projected }
    }

    /// Steps along projected gradients of the length of Barzilai and Borwein, none of which lets the value
    /// rise (Birgin, Martínez and Raydan 2000), until the stationarity is at most `tolerance`.
    pub(crate) fn from(&self, start: &DMatrix<f64>, tolerance: f64) -> DMatrix<f64> {
        let mut g = start.clone();
        let At { mut value, mut gradient, size } = self.at(&g);
        let size = size.max(f64::MIN_POSITIVE);
        let of_regression = self.regression.map_or(0.0, |(weight, _)| 2.0 * weight);
        let shortest = 1.0 / (self.own.curvature() + of_regression);
        let mut length = shortest;
        for _ in 0..MOST_STEPS {
            if projected(&g, &gradient).norm() <= tolerance * size || (self.is_stopped)() {
                break;
            }
            let next = (&g - &gradient * length).map(|entry| entry.max(0.0));
            let direction = next - &g;
            let slope = gradient.dot(&direction);
            let mut share = 1.0;
            let found = loop {
                let candidate = &g + &direction * share;
                let at = self.at(&candidate);
                if at.value <= value + SUFFICIENT * share * slope + ROUNDING * value.abs() {
                    break Some((candidate, at));
                }
                share *= 0.5;
                if share < 1e-12 {
                    break None;
                }
            };
            // Rounding allows no further step.
            let Some((candidate, at)) = found else { break };
            let moved = &candidate - &g;
            let bent = moved.dot(&(&at.gradient - &gradient));
            length = if bent > 0.0 { moved.norm_squared() / bent } else { LONGEST * shortest };
            length = length.clamp(1e-3 * shortest, LONGEST * shortest);
            (g, value, gradient) = (candidate, at.value, at.gradient);
        }
        g
    }
}

/// The gradient where an entry is above zero, and else what of it leads up.
pub(crate) fn projected(g: &DMatrix<f64>, gradient: &DMatrix<f64>) -> DMatrix<f64> {
    g.zip_map(gradient, |entry, slope| if entry > 0.0 { slope } else { slope.min(0.0) })
}

/// The rotation that takes the columns of `rows` nearest to axes (Damle, Minden and Ying 2019): the
/// orthogonal factor of as many columns, each the farthest from the span of those before; the identity where
/// these are dependent.
pub(crate) fn rotation_to_axes(rows: &DMatrix<f64>) -> DMatrix<f64> {
    nearest_rotation(&rows.select_columns(&pivots(rows.clone())))
}

/// As many columns as there are rows, each the farthest from the span of those before.
fn pivots(mut rest: DMatrix<f64>) -> Vec<usize> {
    let mut chosen = Vec::with_capacity(rest.nrows());
    for _ in 0..rest.nrows() {
        let length = |j: usize| rest.column(j).norm_squared();
        let best = (0..rest.ncols()).fold(0, |best, j| if length(j) > length(best) { j } else { best });
        chosen.push(best);
        let direction = rest.column(best).into_owned();
        let square = direction.norm_squared();
        if square > 0.0 {
            for mut column in rest.column_iter_mut() {
                let along = direction.dot(&column) / square;
                column.axpy(-along, &direction, 1.0);
            }
        }
    }
    chosen
}

/// The orthogonal factor of the polar decomposition; the identity where there is none.
fn nearest_rotation(matrix: &DMatrix<f64>) -> DMatrix<f64> {
    let c = matrix.nrows();
    match fewest_linalg::symmetric_eigen(matrix.tr_mul(matrix)) {
        Some(found) if found.eigenvalues.iter().all(|value| *value > 0.0) => {
            let inverse = found.eigenvalues.map(|value| value.sqrt().recip());
            matrix * &found.eigenvectors * DMatrix::from_diagonal(&inverse) * found.eigenvectors.transpose()
        }
        _ => DMatrix::identity(c, c),
    }
}
