//! A loss with columns that have no penalty, minimised out.

use std::sync::{Arc, Mutex, PoisonError};

use fewest_core::room;
use nalgebra::{Cholesky, DMatrix, DVector, DVectorView, Dyn};

use super::Loss;
use crate::Error;

/// Most Newton steps over the free coefficients, and halvings of one.
const MOST_STEPS: usize = 200;
const MOST_HALVINGS: usize = 60;

/// Share of the predicted decrease that a step must achieve (Armijo).
const SUFFICIENT_DECREASE: f64 = 1e-4;

/// Rounding in the loss, relative to that at the start.
const ROUNDING: f64 = 1e-15;

/// A decrement below this share of the loss at the start is as small as it gets once it falls no more.
const EXACT: f64 = 1e-12;

/// A last step that changes a fitted value by more than this is one of a way without end.
const SETTLED: f64 = 1e-4;

/// The profile of a loss `ℓ` over free coefficients `V`, of columns `U` without a penalty: a convex loss of
/// the other fitted values,
///
/// ```text
/// ℓ̃(Z) = min over V of ℓ(Z + UV)
/// ```
///
/// with `V` of `m` rows and the outputs of `ℓ` as columns. So `min over W, V of ℓ(XW + UV) + Ω(W)` is
/// `min over W of ℓ̃(XW) + Ω(W)`, for every penalty and every solver that takes a [`Loss`]. At the best `V`
/// the dual point `Θ = −∇ℓ(Z + UV)` has `UᵀΘ = 0`, and it is the dual point of `ℓ̃` at `Z`; where `UᵀΘ = 0`,
/// `ℓ̃*(−Θ) = ℓ*(−Θ)`, and else it is infinite, so that the gap is that of `ℓ` at `Z + UV`. With `H` the
/// Hessian of `ℓ` there, that of `ℓ̃` is `H − H U (UᵀHU)⁻¹ UᵀH`.
///
/// `V` is found by Newton steps up to rounding, from the one at `Z = 0`. What a gap adds for the rest is the
/// Newton decrement `ΘᵀU (UᵀHU)⁻¹ UᵀΘ`, twice what another step would gain.
///
/// Cost: of a point, `n (m c)²` a step for `c` outputs; the last point is kept.
///
/// ```
/// use fewest_solver::loss::{Loss, Profiled, Samples, Separable, Squared};
///
/// // Least squares with a constant minimised out: that of the centred values.
/// let loss = Separable::new(Squared, vec![1.0, 2.0, 6.0], Samples::mean(3))?;
/// let profiled = Profiled::new(&loss, vec![], true)?;
/// assert!((profiled.value(&[0.0; 3]) - 14.0 / 6.0).abs() < 1e-15);
/// assert!((profiled.coefficients(&[0.0; 3])[0] - 3.0).abs() < 1e-15);
/// # Ok::<(), fewest_solver::Error>(())
/// ```
pub struct Profiled<'a> {
    inner: &'a dyn Loss,
    /// `U`.
    columns: DMatrix<f64>,
    /// Where Newton steps start.
    start: Vec<f64>,
    /// The fitted values that were seen last.
    last: Mutex<Option<(Vec<f64>, Arc<Point>)>>,
}

/// Free coefficients, output after output, with what follows from them.
struct Point {
    v: Vec<f64>,
    /// `Z + UV`.
    fitted: Vec<f64>,
    loss: f64,
    dual: Vec<f64>,
    curvature: Vec<f64>,
    /// The reductions of the loss for the columns of `U` in every output.
    reduced: Vec<f64>,
    /// Of `UᵀHU`; none where the loss has no curvature left.
    factor: Option<Cholesky<f64, Dyn>>,
    /// `UᵀΘ`, the Newton step, and their product.
    step: Vec<f64>,
    decrement: f64,
}

impl<'a> Profiled<'a> {
    /// The loss `inner` with `columns`, one after the other, minimised out, and with a constant if
    /// `intercept`. No column may depend on the others.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] unless columns have an entry for each sample; [`Error::TooFew`] where no
    /// intercept is the best ([`Loss::check_intercept`]); [`Error::Numerical`] where no coefficients are, as
    /// where a column separates classes, and where there is no memory for the curvature.
    pub fn new(inner: &'a dyn Loss, mut columns: Vec<f64>, intercept: bool) -> Result<Self, Error> {
        let (n, c) = (inner.n_samples(), inner.n_outputs());
        if !columns.len().is_multiple_of(n.max(1)) {
            let (expected, found) = (n, columns.len());
            return Err(Error::ShapeMismatch {
                what: "free columns (a multiple of the samples)",
                expected,
                found,
            });
        }
        if intercept {
            inner.check_intercept()?;
            columns.resize(columns.len() + n, 1.0);
        }
        let m = columns.len() / n.max(1);
        let what = "memory for the curvature of all samples";
        drop(room(what, &[2, n, c, c], "a loss with covariates", "use fewer samples or classes")?);
        let columns = DMatrix::from_vec(n, m, columns);
        let mut profiled = Self { inner, columns, start: vec![0.0; m * c], last: Mutex::new(None) };
        let found = profiled.minimise(&vec![0.0; n * c]);
        let moved = profiled.change(&found.step);
        if !(found.loss.is_finite() && moved.iter().all(|change| change.abs() <= SETTLED)) {
            return Err(Error::Numerical {
                what: "the model of the covariates alone",
                hint: "no coefficients of them are the best: they separate samples of one class, or without \
                       an event or count, from the others. Leave out such a covariate, or merge its levels"
                    .to_owned(),
            });
        }
        profiled.start.clone_from(&found.v);
        Ok(profiled)
    }

    /// The best `V`, output after output, the constant last, for the fitted values of the other columns.
    pub fn coefficients(&self, fitted: &[f64]) -> Vec<f64> {
        self.best(fitted).v.clone()
    }

    /// `Z + UV` with the best `V`.
    pub fn whole(&self, fitted: &[f64]) -> Vec<f64> {
        self.best(fitted).fitted.clone()
    }

    /// `UV`.
    fn change(&self, v: &[f64]) -> Vec<f64> {
        let v = DMatrix::from_column_slice(self.columns.ncols(), self.inner.n_outputs(), v);
        (&self.columns * v).as_slice().to_vec()
    }

    /// The best point. It does not depend on what was asked for before: that is kept only for the fitted
    /// values that it belongs to.
    fn best(&self, fitted: &[f64]) -> Arc<Point> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, point)) = last.as_ref().filter(|(of, _)| of == fitted) {
            return Arc::clone(point);
        }
        let point = Arc::new(self.minimise(fitted));
        *last = Some((fitted.to_vec(), Arc::clone(&point)));
        point
    }

    fn minimise(&self, fitted: &[f64]) -> Point {
        let mut point = self.point(fitted, self.start.clone());
        let size = point.loss;
        for _ in 0..MOST_STEPS {
            // Also where there is nothing to minimise over.
            if point.decrement == 0.0 {
                break;
            }
            let Some(next) = self.step(fitted, &point, size) else { break };
            let is_rounding = point.decrement <= EXACT * size && next.decrement >= 0.5 * point.decrement;
            if is_rounding {
                break;
            }
            point = next;
        }
        point
    }

    /// Where a Newton step leads, or as much of it as lets the loss fall enough.
    fn step(&self, fitted: &[f64], point: &Point, size: f64) -> Option<Point> {
        let mut length = 1.0;
        for _ in 0..MOST_HALVINGS {
            let v: Vec<f64> = point.v.iter().zip(&point.step).map(|(v, step)| v + length * step).collect();
            let least = SUFFICIENT_DECREASE * length * point.decrement;
            let next = self.inner.value(&self.moved(fitted, &v));
            if next <= point.loss - least + ROUNDING * size {
                return Some(self.point(fitted, v));
            }
            length *= 0.5;
        }
        None
    }

    fn moved(&self, fitted: &[f64], v: &[f64]) -> Vec<f64> {
        self.change(v).iter().zip(fitted).map(|(change, z)| z + change).collect()
    }

    fn point(&self, fitted: &[f64], v: Vec<f64>) -> Point {
        let (n, c, m) = (self.inner.n_samples(), self.inner.n_outputs(), self.columns.ncols());
        let fitted = self.moved(fitted, &v);
        let (mut dual, mut curvature) = (vec![0.0; n * c], vec![0.0; n * c * c]);
        self.inner.dual_point(&fitted, &mut dual);
        self.inner.curvature(&fitted, &mut curvature);
        let all = self.columns.as_slice().repeat(c);
        let outputs: Vec<usize> = (0..m * c).map(|at| at / m).collect();
        let reduced = self.inner.reductions(&fitted, &all, &outputs);
        let mut point = Point {
            loss: self.inner.value(&fitted),
            v,
            fitted,
            dual,
            curvature,
            reduced,
            factor: None,
            step: vec![0.0; m * c],
            decrement: 0.0,
        };
        let mut matrix = DMatrix::zeros(m * c, m * c);
        for (at, (column, &output)) in all.chunks_exact(n.max(1)).zip(&outputs).enumerate() {
            let own = if point.reduced.is_empty() { &[][..] } else { rows(&point.reduced, m * c, at) };
            matrix.set_column(at, &DVector::from_vec(self.crossed(&point, column, output, own)));
        }
        // A shift of all outputs may change nothing.
        let ridge = 1e-13 * matrix.trace();
        (0..m * c).for_each(|j| matrix[(j, j)] += ridge);
        point.factor = matrix.cholesky();
        let products = self.columns.tr_mul(&DMatrix::from_column_slice(n, c, &point.dual));
        let products = DVector::from_column_slice(products.as_slice());
        if let Some(factor) = &point.factor {
            let step = factor.solve(&products);
            point.decrement = products.dot(&step).max(0.0);
            point.step = step.as_slice().to_vec();
        }
        point
    }

    /// `UᵀHx` for a column in one output, whose reductions are `reduced`.
    fn crossed(&self, point: &Point, column: &[f64], output: usize, reduced: &[f64]) -> Vec<f64> {
        let (n, c, m) = (self.inner.n_samples(), self.inner.n_outputs(), self.columns.ncols());
        let mut out = Vec::with_capacity(m * c);
        for l in 0..c {
            let h = &point.curvature[n * (l + c * output)..][..n];
            let weighted = DVector::from_iterator(n, column.iter().zip(h).map(|(x, h)| x * h));
            out.extend(self.columns.tr_mul(&weighted).iter());
        }
        if !reduced.is_empty() {
            let reduced = DVectorView::from_slice(reduced, reduced.len());
            for (at, out) in out.iter_mut().enumerate() {
                let own = rows(&point.reduced, m * c, at);
                *out -= DVectorView::from_slice(own, own.len()).dot(&reduced);
            }
        }
        out
    }
}

/// Those of one of `n` columns.
fn rows(reduced: &[f64], n: usize, at: usize) -> &[f64] {
    let length = reduced.len() / n.max(1);
    &reduced[at * length..(at + 1) * length]
}

impl Loss for Profiled<'_> {
    fn n_samples(&self) -> usize {
        self.inner.n_samples()
    }

    fn n_outputs(&self) -> usize {
        self.inner.n_outputs()
    }

    fn value(&self, fitted: &[f64]) -> f64 {
        self.best(fitted).loss
    }

    fn dual_point(&self, fitted: &[f64], out: &mut [f64]) {
        out.copy_from_slice(&self.best(fitted).dual);
    }

    /// That of the loss, which is an upper bound.
    fn curvature(&self, fitted: &[f64], out: &mut [f64]) {
        out.copy_from_slice(&self.best(fitted).curvature);
    }

    /// Those of the loss, and `L⁻¹ UᵀHX` with `LLᵀ = UᵀHU`.
    fn reductions(&self, fitted: &[f64], columns: &[f64], outputs: &[usize]) -> Vec<f64> {
        let point = self.best(fitted);
        let n = self.inner.n_samples();
        let own = self.inner.reductions(&point.fitted, columns, outputs);
        let Some(factor) = &point.factor else { return own };
        let lower = factor.l_dirty();
        let mut all = Vec::new();
        for (at, (column, &output)) in columns.chunks_exact(n.max(1)).zip(outputs).enumerate() {
            let reduced = if own.is_empty() { &[][..] } else { rows(&own, outputs.len(), at) };
            let mut crossed = DVector::from_vec(self.crossed(&point, column, output, reduced));
            // The diagonal of a factor is above 0.
            lower.solve_lower_triangular_mut(&mut crossed);
            all.extend_from_slice(reduced);
            all.extend_from_slice(crossed.as_slice());
        }
        all
    }

    /// Balanced as far as the free columns are: a constant among them, not one beside them.
    fn balance(&self, _: &mut [f64]) {}

    fn loss_gap(&self, fitted: &[f64], dual: &[f64], scale: f64) -> f64 {
        let point = self.best(fitted);
        self.inner.loss_gap(&point.fitted, dual, scale) + point.decrement
    }
}
