//! Kernels of the difference of two values. They difference first, so that a shift of all values
//! changes nothing but the rounding of the values themselves.

use fewest_core::Error;

use crate::{Definiteness, ScalarKernel, fast};

/// Checks a kernel width.
pub(crate) fn check_bandwidth(sigma: f64) -> Result<f64, Error> {
    if sigma.is_finite()
        && sigma > 0.0
        && (0.5 / (sigma * sigma)).is_finite()
        && sigma * sigma < f64::INFINITY
    {
        Ok(sigma)
    } else {
        Err(Error::parameter("sigma", sigma, "positive, finite and with a finite square"))
    }
}

/// The diagonal of a kernel that is 1 at a difference of 0: what is not finite has none from itself.
fn ones(points: &[f64], out: &mut [f64]) {
    for (value, &point) in out.iter_mut().zip(points) {
        *value = if point.is_finite() { 1.0 } else { f64::NAN };
    }
}

/// The Gaussian kernel `k(a, b) = exp(-(a - b)² / (2 sigma²))`, positive semidefinite.
///
/// For HSIC Lasso the features are standardised and `sigma = 1` (Yamada et al. 2014, Section 3.1).
///
/// ```
/// use fewest_kernels::{Gaussian, ScalarKernel};
/// let kernel = Gaussian::new(2.0)?;
/// assert!((kernel.eval(1.0, 3.0) - (-0.5f64).exp()).abs() < 1e-15);
/// assert!(Gaussian::new(0.0).is_err());
/// # Ok::<(), fewest_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gaussian {
    sigma: f64,
    factor: f64,
}

impl Gaussian {
    /// With bandwidth `sigma > 0`, in the unit of the values.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] unless `sigma` is positive and finite, and neither its square nor the
    /// inverse of that overflows.
    pub fn new(sigma: f64) -> Result<Self, Error> {
        check_bandwidth(sigma)?;
        Ok(Self { sigma, factor: 0.5 / (sigma * sigma) })
    }
}

impl ScalarKernel for Gaussian {
    fn eval(&self, a: f64, b: f64) -> f64 {
        (-self.factor * ((a - b) * (a - b))).exp()
    }
    fn definiteness(&self) -> Definiteness {
        Definiteness::PositiveSemidefinite
    }
    fn eval_many(&self, x: f64, points: &[f64], out: &mut [f64]) {
        fast::gaussian_row(x, points, self.factor, out);
    }
    fn diagonal(&self, points: &[f64], out: &mut [f64]) {
        ones(points, out);
    }
    fn upper_triangle(&self, points: &[f64], out: &mut [f64]) {
        fast::gaussian_triangle(points, self.factor, out);
    }
}

/// The Laplace kernel `k(a, b) = exp(-|a - b| / sigma)`, positive semidefinite.
///
/// Its Gram matrices are of full rank in practice: a factor of it needs a rank near the number of
/// distinct values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Laplace {
    sigma: f64,
}

impl Laplace {
    /// With bandwidth `sigma > 0`, in the unit of the values.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] as in [`Gaussian::new`].
    pub fn new(sigma: f64) -> Result<Self, Error> {
        Ok(Self { sigma: check_bandwidth(sigma)? })
    }
}

impl ScalarKernel for Laplace {
    fn eval(&self, a: f64, b: f64) -> f64 {
        (-(a - b).abs() / self.sigma).exp()
    }
    fn definiteness(&self) -> Definiteness {
        Definiteness::PositiveSemidefinite
    }
    fn eval_many(&self, x: f64, points: &[f64], out: &mut [f64]) {
        fast::laplace_row(x, points, 1.0 / self.sigma, out);
    }
    fn diagonal(&self, points: &[f64], out: &mut [f64]) {
        ones(points, out);
    }
}

/// Entries of the lookup table of Yamada et al. (2014), Section 3.3.
const TABLE_ENTRIES: usize = 4096;

/// Differences, in bandwidths, that the table covers; beyond it the kernel is below 1.3e-14 and taken as 0.
const TABLE_RANGE: f64 = 8.0;

/// The Gaussian kernel from a table of 4096 differences (Yamada et al. 2014, Section 3.3).
///
/// The paper discretises `|a - b|` into `B = 4096` values and does not say over which range: here
/// `[0, 8 sigma)` in equal steps, the kernel taken at the middle of each, so that its error is at most
/// `8/4096/2 · max |k'| = 6e-4`. It is offered for fidelity to the paper: the vectorised exponential of
/// [`Gaussian`] is exact to 4e-16 and no slower. Discretised, the kernel is no longer exactly positive
/// semidefinite, so it is declared [`Definiteness::Unknown`].
#[derive(Debug, Clone, PartialEq)]
pub struct TableGaussian {
    sigma: f64,
    entries_per_unit: f64,
    table: Vec<f64>,
}

impl TableGaussian {
    /// With bandwidth `sigma > 0`, in the unit of the values.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] as in [`Gaussian::new`].
    pub fn new(sigma: f64) -> Result<Self, Error> {
        check_bandwidth(sigma)?;
        let step = TABLE_RANGE / TABLE_ENTRIES as f64;
        let mut table: Vec<f64> = (0..TABLE_ENTRIES)
            .map(|i| {
                let difference = (i as f64 + 0.5) * step;
                (-0.5 * difference * difference).exp()
            })
            .collect();
        // The diagonal is exact: equal values are the one difference that is never discretised away.
        table[0] = 1.0;
        table.push(0.0);
        Ok(Self { sigma, entries_per_unit: 1.0 / (step * sigma), table })
    }

    fn look_up(&self, a: f64, b: f64) -> f64 {
        let position = (a - b).abs() * self.entries_per_unit;
        if position.is_nan() {
            return f64::NAN;
        }
        self.table[(position as usize).min(TABLE_ENTRIES)]
    }
}

impl ScalarKernel for TableGaussian {
    fn eval(&self, a: f64, b: f64) -> f64 {
        self.look_up(a, b)
    }
    fn definiteness(&self) -> Definiteness {
        Definiteness::Unknown
    }
    fn eval_many(&self, x: f64, points: &[f64], out: &mut [f64]) {
        for (value, &point) in out.iter_mut().zip(points) {
            *value = self.look_up(x, point);
        }
    }
}
