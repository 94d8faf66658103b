//! The width of stationary kernels.

use fewest_core::method::KernelWidth;
use fewest_core::{Error, order};

use crate::stationary::check_bandwidth;

/// The width of a kernel on the values `points` of a feature: the number given, or the
/// median of all differences.
/// Where half of the differences or more are zero, the median of those that are not; 1 for a constant
/// feature, whose Gram matrix is constant under any width.
///
/// ```
/// use fewest_core::method::KernelWidth;
/// use fewest_kernels::kernel_width;
///
/// assert_eq!(kernel_width(KernelWidth::Value(2.0), &[])?, 2.0);
/// assert_eq!(kernel_width(KernelWidth::Median, &[0.0, 1.0, 4.0])?, 3.0);
/// assert_eq!(kernel_width(KernelWidth::Median, &[0.0, 0.0, 0.0, 0.0, 2.0])?, 2.0);
/// # Ok::<(), fewest_core::Error>(())
/// ```
///
/// # Errors
/// [`Error::InvalidParameter`] for a number out of range; for the median [`Error::TooFew`] below two values
/// and [`Error::Numerical`] when one, or a difference, is not finite.
pub fn kernel_width(width: KernelWidth, points: &[f64]) -> Result<f64, Error> {
    match width {
        KernelWidth::Value(sigma) => check_bandwidth(sigma),
        KernelWidth::Dimension => Ok(0.5_f64.sqrt()),
        KernelWidth::Median => {
            let differences = Differences::new(points)?;
            let zeros = differences.count_up_to(0.0);
            if 2 * zeros < differences.count {
                return Ok(differences.median(0));
            }
            Ok(if zeros < differences.count { differences.median(zeros) } else { 1.0 })
        }
        other => Err(unknown_rule(other)),
    }
}

/// `γ = 1/(2σ²)` of a Gaussian kernel `exp(−γ ‖x − z‖²)` of samples with `n_features` features that vary:
/// `1/n_features` by [`KernelWidth::Dimension`]. `squared_distances` gives those of all pairs of samples, of
/// which [`KernelWidth::Median`] takes the median; of those above 0 where half of them are 0.
///
/// ```
/// use fewest_core::method::KernelWidth;
/// use fewest_kernels::gaussian_gamma;
///
/// let distances = || vec![0.0, 4.0, 4.0];
/// assert_eq!(gaussian_gamma(KernelWidth::Value(2.0), 3, distances)?, 0.125);
/// assert_eq!(gaussian_gamma(KernelWidth::Median, 3, distances)?, 0.125);
/// assert_eq!(gaussian_gamma(KernelWidth::Dimension, 4, distances)?, 0.25);
/// # Ok::<(), fewest_core::Error>(())
/// ```
///
/// # Errors
/// [`Error::InvalidParameter`] for a number out of range.
pub fn gaussian_gamma(
    width: KernelWidth,
    n_features: usize,
    squared_distances: impl FnOnce() -> Vec<f64>,
) -> Result<f64, Error> {
    let gamma = |sigma: f64| 0.5 / (sigma * sigma);
    match width {
        KernelWidth::Value(sigma) => check_bandwidth(sigma).map(gamma),
        KernelWidth::Dimension => Ok(1.0 / n_features.max(1) as f64),
        KernelWidth::Median => Ok(gamma(median_distance(squared_distances()).unwrap_or(1.0))),
        other => Err(unknown_rule(other)),
    }
}

fn unknown_rule(width: KernelWidth) -> Error {
    Error::parameter("sigma", format!("{width:?}"), "a number above 0, or a rule that this kernel has")
}

/// The median distance, given the squared ones: of those above 0 where half of them or more are 0, and none
/// where all are.
pub fn median_distance(mut squared: Vec<f64>) -> Option<f64> {
    order::sort(&mut squared);
    let zeros = squared.partition_point(|&distance| distance <= 0.0);
    let kept = if 2 * zeros < squared.len() { &squared[..] } else { &squared[zeros..] };
    let upper = kept.get(kept.len() / 2)?;
    let lower = kept[(kept.len() - 1) / 2];
    Some(0.5 * (lower.sqrt() + upper.sqrt()))
}

/// The differences `|x_i - x_j|` of all pairs `i < j` of some values, for their median: the mean of the
/// middle two where their number is even.
///
/// Not the `n(n-1)/2` differences one by one: the values are sorted, counting the pairs within a distance is
/// then linear, and bisection over the floating-point numbers finds the distance with the right count in at
/// most 64 such steps. `O(n log n)`.
struct Differences {
    sorted: Vec<f64>,
    count: usize,
}

impl Differences {
    fn new(points: &[f64]) -> Result<Self, Error> {
        let n = points.len();
        if n < 2 {
            return Err(Error::TooFew { what: "values for the median bandwidth", minimum: 2, found: n });
        }
        let mut sorted = points.to_vec();
        order::sort(&mut sorted);
        if sorted.iter().any(|value| !value.is_finite()) || !(sorted[n - 1] - sorted[0]).is_finite() {
            return Err(Error::Numerical {
                what: "median bandwidth",
                hint: "values or their differences are not finite: drop or impute them, or scale the feature"
                    .into(),
            });
        }
        Ok(Self { sorted, count: n * (n - 1) / 2 })
    }

    /// Number of pairs at most `distance` apart.
    fn count_up_to(&self, distance: f64) -> usize {
        let mut first = 0;
        let mut count = 0;
        for (j, &x) in self.sorted.iter().enumerate() {
            // Rounding keeps the order of differences, so the pairs of j are those with i >= first.
            while x - self.sorted[first] > distance {
                first += 1;
            }
            count += j - first;
        }
        count
    }

    /// The difference at `position` in increasing order, from 0.
    fn at(&self, position: usize) -> f64 {
        // The bits of non-negative numbers are in the order of the numbers.
        let (mut low, mut high) = (0u64, (self.sorted[self.sorted.len() - 1] - self.sorted[0]).to_bits());
        while low < high {
            let middle = low + (high - low) / 2;
            if self.count_up_to(f64::from_bits(middle)) > position {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        f64::from_bits(low)
    }

    /// The median of all but the `skipped` smallest.
    fn median(&self, skipped: usize) -> f64 {
        let kept = self.count - skipped;
        let upper = self.at(skipped + kept / 2);
        if kept % 2 == 1 { upper } else { 0.5 * self.at(skipped + kept / 2 - 1) + 0.5 * upper }
    }
}
