//! The span of support vectors, and bounds on the leave-one-out error by it.

use fewest_core::{Error, order};
use fewest_smo::{DualProblem, Machine};
use fewest_solver::Control;
use nalgebra::{DMatrix, DVector};

use super::sensitivity::add_symmetric;
use super::support::{COMPUTED, Support};
use super::{BoundSensitivity, in_order};

/// The span bound (Vapnik and Chapelle 2000; Chapelle et al. 2002; for regression Chang and Lin 2005,
/// Rakotomamonjy 2007).
///
/// With `F` the free support vectors, and for a squared loss `K̃ = K + 1/(2C)`, the span of support vector
/// `p` is the distance of `φ(x_p)` from the affine hull of the other free ones:
///
/// ```text
/// S_p² = min over λ   ‖φ(x_p) − Σ_{i ∈ F, i ≠ p} λ_i φ(x_i)‖²   subject to   Σ λ = 1
///      = 1 / (M⁻¹)_pp                p free,           M = ( K̃_FF  1 ; 1ᵀ  0 )
///      = K̃_pp − vᵀ M⁻¹ v             p at its bound,   v = (K̃_Fp, 1)
/// ```
///
/// If the free vectors stay free and the others at their bounds when sample `p` is left out, the error
/// of the machine without it is exactly given by the span, `f⁰(x_p) − f^p(x_p) = β_p S_p²`, and so
///
/// ```text
/// classification   number of leave-one-out errors                  ≤ Σ_p |β_p| S_p² + Σ_i ξ_i
/// regression       Σ_p |y_p − f^p(x_p)|, the leave-one-out error   ≤ Σ_p |β_p| S_p² + Σ_i ξ_i + n ε
/// ```
///
/// with slacks `ξ` of a linear loss, of all samples: with coefficients that are not optimal for the kernel,
/// those at `β = 0` or between the bounds have slacks too.
///
/// If there is no other free vector than `p`, its span is its largest
/// distance from a support vector. A diagonal of `1e-13 |F|` times the largest entry keeps kernels of
/// equal samples invertible. `O(|F|³ + n m)` for `m` support vectors.
#[derive(Debug, Clone, PartialEq)]
pub struct SpanBound {
    /// The bound.
    pub value: f64,
    /// `S_p²` of each sample in the order of `Machine::support`.
    pub squared_spans: Vec<f64>,
    /// Its sensitivity to the kernel for fixed sets of free and bounded support vectors; none without two
    /// free ones.
    pub sensitivity: Option<BoundSensitivity>,
}

impl SpanBound {
    /// The bound of `machine`, trained on `problem`; with `with_gradient`, also its sensitivity, for another
    /// `O(m³)`.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] unless they belong together; [`Error::Numerical`] for an indefinite kernel;
    /// [`Error::Stopped`] when `control` says stop.
    pub fn new(
        problem: &DualProblem<'_>,
        machine: &Machine,
        control: &Control<'_>,
        with_gradient: bool,
    ) -> Result<Self, Error> {
        let support = Support::new(problem, machine, control)?;
        let (m, n_free) = (support.len(), support.n_free);
        let tube: f64 = problem.absolute_weights().iter().sum();
        let with_gradient = with_gradient && n_free > 1;
        let residuals =
            if n_free > 0 { Some(Residuals::new(&support, with_gradient, control)?) } else { None };
        let spans: Vec<f64> = (0..m)
            .map(|p| match &residuals {
                Some(residuals) if p >= n_free || n_free > 1 => residuals.spans[p],
                _ => farthest(&support.kernel, p),
            })
            .collect();
        let charged: f64 = (0..m).map(|p| support.coefficients[p].abs() * spans[p]).sum();
        let sensitivity = match &residuals {
            Some(residuals) if with_gradient => Some(residuals.sensitivity(&support)?),
            _ => None,
        };
        let mut by_sample: Vec<(usize, f64)> = support.samples.iter().copied().zip(spans).collect();
        order::sort_entries(&mut by_sample);
        let squared_spans = by_sample.into_iter().map(|(_, span)| span).collect();
        Ok(Self { value: charged + support.slack + tube, squared_spans, sensitivity })
    }
}

/// The largest squared distance of `p` from another.
fn farthest(kernel: &DMatrix<f64>, p: usize) -> f64 {
    let distance = |q: usize| kernel[(p, p)] + kernel[(q, q)] - 2.0 * kernel[(p, q)];
    (0..kernel.nrows()).filter(|&q| q != p).map(distance).fold(0.0, f64::max)
}

/// For each support vector `p` the combination `z_p = e_p − λ` with `S_p² = z_pᵀ K̃ z_p`.
struct Residuals {
    /// Coefficients on the free vectors, one column each; of a bounded one, without its own 1. Empty unless
    /// the gradient is wanted.
    on_free: DMatrix<f64>,
    spans: Vec<f64>,
    bordered: super::support::Bordered,
}

impl Residuals {
    fn new(support: &Support, with_gradient: bool, control: &Control<'_>) -> Result<Self, Error> {
        let (m, n_free) = (support.len(), support.n_free);
        let bordered = support.bordered(control)?;
        let mut on_free = if with_gradient { DMatrix::zeros(n_free, m) } else { DMatrix::zeros(0, 0) };
        let mut spans = vec![0.0; m];
        for p in 0..n_free {
            control.go_on(COMPUTED)?;
            let pivot = if with_gradient {
                let column = bordered.inverse_column(p);
                let pivot = column[p];
                on_free.set_column(p, &(column / pivot));
                pivot
            } else {
                bordered.inverse_diagonal(p)
            };
            spans[p] = (1.0 / pivot - bordered.jitter).max(0.0);
        }
        for p in n_free..m {
            control.go_on(COMPUTED)?;
            let right = support.kernel.view((0, p), (n_free, 1)).column(0).into_owned();
            let (weights, bias) = bordered.solve(&right, 1.0);
            spans[p] = (support.kernel[(p, p)] - right.dot(&weights) - bias).max(0.0);
            if with_gradient {
                on_free.set_column(p, &-weights);
            }
        }
        Ok(Self { on_free, spans, bordered })
    }

    /// `dS_p² = z_pᵀ dK z_p` by the minimum's own property; and `β` follows the kernel by
    /// `M d(β_F, b) = −((dK β)_F, 0)`, which `h` takes back to the kernel.
    fn sensitivity(&self, support: &Support) -> Result<BoundSensitivity, Error> {
        let (m, n_free) = (support.len(), support.n_free);
        let mut weights = DMatrix::zeros(m, m);
        let mut scaled = self.on_free.clone();
        for (mut column, value) in scaled.column_iter_mut().zip(support.coefficients.iter()) {
            column *= value.abs();
        }
        weights.view_mut((0, 0), (n_free, n_free)).copy_from(&(&scaled * self.on_free.transpose()));
        for p in n_free..m {
            weights[(p, p)] += support.coefficients[p].abs();
            for a in 0..n_free {
                weights[(a, p)] += scaled[(a, p)];
                weights[(p, a)] += scaled[(a, p)];
            }
        }
        let follow = DVector::from_iterator(n_free, (0..n_free).map(|p| support.signs[p] * self.spans[p]));
        let h = adjoint(support, &self.bordered, follow);
        add_symmetric(&mut weights, -1.0, &h, &support.coefficients);
        Ok(in_order(&support.samples, weights))
    }
}

/// `h` with `∂(Σ_F g_p β_p + Σ ξ) = −hᵀ ∂K β`, for given `g`.
pub(super) fn adjoint(
    support: &Support,
    bordered: &super::support::Bordered,
    mut g: DVector<f64>,
) -> DVector<f64> {
    let (m, n_free) = (support.len(), support.n_free);
    // ξ_p = sign(β_p) (t_p − (Kβ)_p − b) − ε of those at a bound.
    let mut last = 0.0;
    for p in n_free..m {
        let sign = if support.has_slack[p] { support.signs[p] } else { 0.0 };
        g -= support.kernel.view((0, p), (n_free, 1)).column(0) * sign;
        last -= sign;
    }
    let (solved, _) = bordered.solve(&g, last);
    let mut h = DVector::zeros(m);
    h.rows_mut(0, n_free).copy_from(&solved);
    for p in n_free..m {
        h[p] = if support.has_slack[p] { support.signs[p] } else { 0.0 };
    }
    h
}
