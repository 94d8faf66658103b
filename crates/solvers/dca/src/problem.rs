//! The functions that a problem must provide.

use fewest_solver::Error;

/// `f(x) = g(x) − h(x)` with `g` and `h` convex.
pub trait DifferenceOfConvex {
    /// Number of coefficients.
    fn n_coefficients(&self) -> usize;

    /// `g(x)`; infinity outside its domain.
    fn g(&self, x: &[f64]) -> f64;

    /// `h(x)`, finite wherever `g` is.
    fn h(&self, x: &[f64]) -> f64;

    /// `f(x)`. Override it if the difference of the two would lose digits.
    fn objective(&self, x: &[f64]) -> f64 {
        self.g(x) - self.h(x)
    }

    /// Writes any subgradient of `h` at `x` into `out`; where `h` is smooth, its gradient.
    fn subgradient_of_h(&self, x: &[f64], out: &mut [f64]);

    /// The minimiser of `g(x) − ⟨slope, x⟩`; `start` is the current point, for solvers that can use it.
    ///
    /// # Errors
    /// When the convex problem has no minimum, or breaks down numerically.
    fn minimise_above(&self, slope: &[f64], start: &[f64]) -> Result<Vec<f64>, Error>;
}
