//! The smallest ball around all samples in feature space.

use fewest_core::{Error, Status};
use fewest_smo::{DualProblem, KernelRows, Smo, certificate};
use fewest_solver::Control;

/// The smallest ball that encloses all `φ(x_i)`, from its dual (Vapnik 1998; Chapelle, Vapnik, Bousquet and
/// Mukherjee 2002, Section 3, there in `β`):
///
/// ```text
/// R² = max over β   Σ_i β_i K_ii − βᵀKβ   subject to   Σ β = 1,  β ≥ 0
/// ```
///
/// Its centre is `Σ_i β_i φ(x_i)`. The largest squared distance from there is at least `R²`, and the value of
/// the dual is at most `R²`: both are computed from the definition, and their difference bounds the error of
/// both. The result depends only on distances between samples, so centre them for a linear kernel.
///
/// ```
/// use fewest_machines::Ball;
/// use fewest_smo::GramRows;
/// use fewest_solver::Control;
///
/// // 0, 1 and 4 on a line: the ball is around 2.
/// let x = [0.0, 1.0, 4.0];
/// let gram = x.iter().flat_map(|a| x.iter().map(move |b| a * b)).collect();
/// let ball = Ball::enclosing(&GramRows::new(gram, 3)?, 0.0, &[], &Control::default())?;
/// assert!((ball.squared_radius - 4.0).abs() < 1e-9 && ball.gap() < 1e-6);
/// # Ok::<(), fewest_solver::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Ball {
    /// `β`.
    pub coefficients: Vec<f64>,
    /// The value of the dual, at most `R²`.
    pub squared_radius: f64,
    /// The largest squared distance from the centre, at least `R²`.
    pub upper: f64,
    /// How the computation ended.
    pub status: Status,
}

impl Ball {
    /// The ball of the kernel `K + ridge I`, found from the coefficients `start`; empty: all equal.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] unless `ridge` is at least 0 and finite; as [`DualProblem::new`] and
    /// [`Smo::minimise`].
    pub fn enclosing(
        kernel: &dyn KernelRows,
        ridge: f64,
        start: &[f64],
        control: &Control<'_>,
    ) -> Result<Self, Error> {
        if !(ridge.is_finite() && ridge >= 0.0) {
            return Err(Error::parameter("ridge", ridge, "at least 0 and finite"));
        }
        let n = kernel.len();
        let targets = (0..n).map(|i| 0.5 * (kernel.diagonal(i) + ridge)).collect();
        let problem = DualProblem::new(kernel, targets, vec![0.0; n], vec![1.0; n])?
            .with_sum(1.0)?
            .with_ridges(vec![ridge; n])?;
        let dual = Smo::default().minimise(&problem, start, control)?;
        let coefficients = dual.solution.coefficients;
        let errors = certificate::errors(&problem, &coefficients)?;
        // ‖φ(x_i) − c‖² = K_ii − 2 (Kβ)_i + βᵀKβ = 2 e_i + βᵀKβ.
        let form: f64 =
            coefficients.iter().zip(problem.targets()).zip(&errors).map(|((b, t), e)| b * (t - e)).sum();
        let farthest = errors.iter().fold(f64::NEG_INFINITY, |most, error| most.max(*error));
        let squared_radius = (-2.0 * dual.certificate.objective).max(0.0);
        let upper = (2.0 * farthest + form).max(squared_radius);
        Ok(Self { coefficients, squared_radius, upper, status: dual.solution.status })
    }

    /// The largest absolute error of the squared radius.
    pub fn gap(&self) -> f64 {
        self.upper - self.squared_radius
    }
}
