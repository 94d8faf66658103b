//! Mutual information from Parzen windows.

use fewest_core::Error;
use fewest_kernels::exp_in_place;

use super::{Observations, check_bandwidth_factor, check_lengths};

/// Mutual information in nats from Parzen windows (Moon, Rajagopalan & Lall 1995; Peng, Long & Ding 2005):
///
/// ```text
/// I(x;y) = 1/n Σᵢ ln [ n Σₗ w(xᵢ,xₗ) w(yᵢ,yₗ) / (Σₗ w(xᵢ,xₗ) Σₗ w(yᵢ,yₗ)) ]
/// ```
///
/// with Gaussian windows `w` of bandwidth `h = bandwidth_factor · n^(-1/6)` on standardised numbers (Scott's
/// rule for two dimensions), and `w` = 1 or 0 for equal and different categories. For two categories it is
/// the plug-in estimate. Not below 0. Cost: `O(n²)` time, `O(n)` memory.
///
/// # Errors
/// [`Error::ShapeMismatch`] for different lengths, [`Error::InvalidParameter`] for a factor that is not above
/// 0.
///
/// ```
/// use fewest_filters::information::{Observations, parzen};
/// let x: Vec<f64> = (0..200).map(f64::from).collect();
/// let square: Vec<f64> = x.iter().map(|x| (x - 99.5) * (x - 99.5)).collect();
/// assert!(parzen(Observations::Real(&x), Observations::Real(&square), 1.0)? > 0.5);
/// # Ok::<(), fewest_filters::Error>(())
/// ```
pub fn parzen(x: Observations<'_>, y: Observations<'_>, bandwidth_factor: f64) -> Result<f64, Error> {
    check_lengths(&x, &y)?;
    check_bandwidth_factor(bandwidth_factor)?;
    Ok(Windows::new(x, bandwidth_factor).information(&Windows::new(y, bandwidth_factor)))
}

/// A variable with the window sums of its samples.
pub(in super::super) struct Windows {
    kind: Kind,
    /// `Σₗ w(xᵢ,xₗ)`.
    sums: Vec<f64>,
}

enum Kind {
    /// Numbers, scaled so that `w = exp(-(x - x')²)`.
    Real(Vec<f64>),
    Levels(Vec<u32>),
}

impl Windows {
    pub(in super::super) fn new(x: Observations<'_>, bandwidth_factor: f64) -> Self {
        let n = x.len();
        match x {
            Observations::Real(values) => {
                let scale = (n as f64).powf(1.0 / 6.0) / (bandwidth_factor * 2.0_f64.sqrt());
                let mut points = Observations::standardised(values);
                points.iter_mut().for_each(|point| *point *= scale);
                let sums = window_sums(n, |j, out| {
                    for (exponent, point) in out.iter_mut().zip(&points) {
                        let difference = points[j] - point;
                        *exponent = -(difference * difference);
                    }
                });
                Self { kind: Kind::Real(points), sums }
            }
            Observations::Levels(levels) => {
                let mut counts = vec![0.0; levels.n_levels];
                for &code in &levels.codes {
                    counts[code as usize] += 1.0;
                }
                let sums = levels.codes.iter().map(|&code| counts[code as usize]).collect();
                Self { kind: Kind::Levels(levels.codes.to_vec()), sums }
            }
        }
    }

    /// The mutual information with another variable.
    pub(in super::super) fn information(&self, other: &Windows) -> f64 {
        let n = self.sums.len();
        let subtract = |kind: &Kind, j: usize, out: &mut [f64]| match kind {
            Kind::Real(points) => {
                for (exponent, point) in out.iter_mut().zip(points) {
                    let difference = points[j] - point;
                    *exponent -= difference * difference;
                }
            }
            Kind::Levels(codes) => {
                for (exponent, code) in out.iter_mut().zip(codes) {
                    if *code != codes[j] {
                        *exponent = f64::NEG_INFINITY;
                    }
                }
            }
        };
        let joint = window_sums(n, |j, out| {
            out.fill(0.0);
            subtract(&self.kind, j, out);
            subtract(&other.kind, j, out);
        });
        let sums = joint.iter().zip(&self.sums).zip(&other.sums);
        let logs = sums.map(|((joint, x), y)| (n as f64 * joint / (x * y)).ln());
        (logs.sum::<f64>() / n as f64).max(0.0)
    }
}

/// `Σₗ exp(e(i,l))` for every sample, of symmetric exponents that are 0 for `i = l`; `fill(j, out)` writes
/// `e(j,i)` for `i < j`.
fn window_sums(n: usize, fill: impl Fn(usize, &mut [f64])) -> Vec<f64> {
    let mut sums = vec![1.0; n];
    let mut row = vec![0.0; n];
    for j in 1..n {
        let row = &mut row[..j];
        fill(j, row);
        exp_in_place(row);
        let mut sum = 0.0;
        for (other, value) in sums.iter_mut().zip(row.iter()) {
            *other += value;
            sum += value;
        }
        sums[j] += sum;
    }
    sums
}
