//! Kernels on the codes of categories.

use fewest_core::order;

use crate::{Definiteness, Factor, ScalarKernel};

/// The distinct values of `points` in increasing order, with their counts; NaN equals nothing and is left
/// out.
fn levels(points: &[f64]) -> (Vec<f64>, Vec<usize>) {
    order::counted(points.iter().copied().filter(|point| !point.is_nan()).collect()).into_iter().unzip()
}

/// Where `point` lies among increasing `levels`. Both zeros are one level.
fn find(levels: &[f64], point: f64) -> Option<usize> {
    let position = levels.partition_point(|&level| level < point);
    (levels.get(position) == Some(&point)).then_some(position)
}

/// One column a level: `weight(level)` in its samples, 0 elsewhere.
fn indicator_factor(points: &[f64], levels: &[f64], weight: impl Fn(usize) -> f64) -> Factor {
    let n = points.len();
    let mut values = vec![0.0; n * levels.len()];
    for (i, &point) in points.iter().enumerate() {
        if let Some(level) = find(levels, point) {
            values[level * n + i] = weight(level);
        }
    }
    Factor::exact(n, levels.len(), values)
}

/// The delta kernel `k(a, b) = 1` if `a = b`, else 0: positive semidefinite, its rank is the number of
/// levels.
///
/// ```
/// use fewest_kernels::{Delta, Factor};
/// let factor = Factor::new(&Delta, &[0.0, 2.0, 2.0, 1.0], 0.0, 10)?;
/// assert_eq!(factor.rank(), 3);
/// # Ok::<(), fewest_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Delta;

impl ScalarKernel for Delta {
    fn eval(&self, a: f64, b: f64) -> f64 {
        f64::from(u8::from(a == b))
    }
    fn definiteness(&self) -> Definiteness {
        Definiteness::PositiveSemidefinite
    }
    fn exact_factor(&self, points: &[f64]) -> Option<Factor> {
        Some(indicator_factor(points, &levels(points).0, |_| 1.0))
    }
    fn exact_rank(&self, points: &[f64]) -> Option<usize> {
        Some(levels(points).0.len())
    }
}

/// The normalised delta kernel `k(a, b) = 1/n_a` if `a = b`, else 0, with `n_a` the number of samples of
/// level `a` (Yamada et al. 2014, Section 2.1): every class weighs the same.
///
/// The counts come from the points it is made from; values that did not occur there have kernel 0.
///
/// ```
/// use fewest_kernels::{NormalisedDelta, ScalarKernel};
/// let kernel = NormalisedDelta::from_points(&[0.0, 1.0, 1.0, 1.0]);
/// assert_eq!(kernel.eval(1.0, 1.0), 1.0 / 3.0);
/// assert_eq!(kernel.eval(0.0, 1.0), 0.0);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct NormalisedDelta {
    levels: Vec<f64>,
    counts: Vec<usize>,
}

impl NormalisedDelta {
    /// With the counts of `points`. `O(n log n)`.
    pub fn from_points(points: &[f64]) -> Self {
        let (levels, counts) = levels(points);
        Self { levels, counts }
    }

    fn weight(&self, point: f64) -> f64 {
        find(&self.levels, point).map_or(0.0, |level| 1.0 / self.counts[level] as f64)
    }
}

impl ScalarKernel for NormalisedDelta {
    fn eval(&self, a: f64, b: f64) -> f64 {
        if a == b { self.weight(a) } else { 0.0 }
    }
    fn definiteness(&self) -> Definiteness {
        Definiteness::PositiveSemidefinite
    }
    fn eval_many(&self, x: f64, points: &[f64], out: &mut [f64]) {
        let weight = self.weight(x);
        for (value, &point) in out.iter_mut().zip(points) {
            *value = if point == x { weight } else { 0.0 };
        }
    }
    fn exact_factor(&self, points: &[f64]) -> Option<Factor> {
        Some(indicator_factor(points, &self.levels, |level| (1.0 / self.counts[level] as f64).sqrt()))
    }
    fn exact_rank(&self, _points: &[f64]) -> Option<usize> {
        Some(self.levels.len())
    }
}
