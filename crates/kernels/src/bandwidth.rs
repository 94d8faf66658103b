//! The width of stationary kernels.

use fewest_core::Error;
use fewest_core::method::KernelWidth;

use crate::stationary::check_bandwidth;

/// The width of a kernel on the values `points` of a feature: the number given, or [`median_bandwidth`].
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
/// [`Error::InvalidParameter`] for a number out of range; [`Error::TooFew`] and [`Error::Numerical`] as in
/// [`median_bandwidth`].
pub fn kernel_width(width: KernelWidth, points: &[f64]) -> Result<f64, Error> {
    match width {
        KernelWidth::Value(sigma) => check_bandwidth(sigma),
        KernelWidth::Median => {
            let differences = Differences::new(points)?;
            let zeros = differences.count_up_to(0.0);
            if 2 * zeros < differences.count {
                return Ok(differences.median(0));
            }
            Ok(if zeros < differences.count { differences.median(zeros) } else { 1.0 })
        }
    }
}

/// The median of `|x_i - x_j|` over all pairs `i < j`, exactly: the mean of the middle two where their
/// number is even. 0 when half of the pairs are equal or more.
///
/// Not by the `n(n-1)/2` differences: the values are sorted, counting the pairs within a distance is then
/// linear, and bisection over the floating-point numbers finds the distance with the right count in at
/// most 64 such steps. `O(n log n)`.
///
/// # Errors
/// [`Error::TooFew`] below two values; [`Error::Numerical`] when one, or a difference, is not finite.
pub fn median_bandwidth(points: &[f64]) -> Result<f64, Error> {
    Ok(Differences::new(points)?.median(0))
}

/// The differences of all pairs of some values.
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
        sorted.sort_unstable_by(f64::total_cmp);
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
