//! Columns of a kernel matrix that measure the error of a factor.

use super::cubic::NODES;
use fewest_linalg::lanes;

use crate::factor::pivots;

use crate::ScalarKernel;

/// Intervals between nodes at first; each attempt doubles them.
pub(super) const FEWEST_INTERVALS: usize = 256;

/// Number of columns of the kernel matrix on which errors are measured.
const CHECKED: usize = 33;

/// The nodes of a grid of `n_intervals`, and the points halfway between them.
pub(super) fn grid(low: f64, high: f64, n_intervals: usize) -> (Vec<f64>, Vec<f64>) {
    let step = (high - low) / n_intervals as f64;
    let nodes = (0..=n_intervals).map(|k| low + k as f64 * step).collect();
    let between = (0..n_intervals).map(|k| low + (k as f64 + 0.5) * step).collect();
    (nodes, between)
}

/// Columns of a kernel matrix, at points spread over the interval.
pub(super) struct Checks {
    pub(super) places: Vec<f64>,
    /// Their values at the nodes of the coarsest grid and halfway between these.
    at_nodes: Vec<Vec<f64>>,
    between: Vec<Vec<f64>>,
}

impl Checks {
    /// `None` where the kernel takes values that are not finite.
    pub(super) fn new(kernel: &dyn ScalarKernel, low: f64, high: f64) -> Option<Self> {
        // Denser towards the ends, where factors are least exact.
        let angle = std::f64::consts::PI / (CHECKED - 1) as f64;
        let place = |k: usize| low + (high - low) * 0.5 * (1.0 - (k as f64 * angle).cos());
        let places = (0..CHECKED).map(place).collect();
        let mut checks = Self { places, at_nodes: Vec::new(), between: Vec::new() };
        let (nodes, between) = grid(low, high, FEWEST_INTERVALS);
        checks.at_nodes = checks.columns(kernel, &nodes)?;
        checks.between = checks.columns(kernel, &between)?;
        Some(checks)
    }

    /// The columns at other points.
    pub(super) fn columns(&self, kernel: &dyn ScalarKernel, points: &[f64]) -> Option<Vec<Vec<f64>>> {
        let column = |&place: &f64| {
            let mut column = vec![0.0; points.len()];
            kernel.eval_many(place, points, &mut column);
            column.iter().all(|value| value.is_finite()).then_some(column)
        };
        self.places.iter().map(column).collect()
    }

    /// The mean size of a value: the root of the mean square.
    pub(super) fn mean(&self) -> f64 {
        let squares: f64 = self.at_nodes.iter().map(|column| lanes::dot(column, column)).sum();
        (squares / (CHECKED * (FEWEST_INTERVALS + 1)) as f64).sqrt()
    }

    /// The size of the largest value.
    pub(super) fn largest(&self) -> f64 {
        let all = self.at_nodes.iter().chain(&self.between);
        all.map(|column| pivots::largest_size(column)).fold(0.0, f64::max)
    }

    /// The error of cubic interpolation between the nodes.
    pub(super) fn cubic_error(&self) -> f64 {
        let error = |(nodes, exact): (&[f64], &f64)| match nodes {
            [a, b, c, d] => (0.5625 * (b + c) - 0.0625 * (a + d) - exact).abs(),
            _ => 0.0,
        };
        let columns = self.at_nodes.iter().zip(&self.between);
        let errors = columns.flat_map(|(nodes, between)| nodes.windows(NODES).zip(&between[1..]).map(error));
        errors.fold(0.0, f64::max)
    }
}
