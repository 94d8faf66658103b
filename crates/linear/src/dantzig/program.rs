//! The linear program of one output.

use fewest_core::{Error, order};
use fewest_simplex::{Cost, Joining, Program, Simplex};
use fewest_solver::{InnerProducts, certificate};

use crate::columns::LinearColumns;

/// Rows and columns that join at a time, at least.
const LEAST_JOINING: usize = 20;

/// `maximise over μ   cᵀμ − λ ‖μ‖₁` with `|(G μ)_i| ≤ 1` for all `i`: the dual of the Dantzig selector, whose
/// coefficients are the multipliers of the rows. It has the vertex 0.
pub(super) struct OutputProgram<'a> {
    pub(super) columns: &'a LinearColumns<'a>,
    /// `c`, the products with the output.
    pub(super) products: &'a [f64],
    pub(super) lambda: f64,
    /// The smallest `λ` that selects nothing.
    pub(super) largest_lambda: f64,
    pub(super) tolerance: f64,
    pub(super) found: Option<Point>,
}

/// Coefficients, and their certificate.
#[derive(Debug, Clone)]
pub(super) struct Point {
    /// `w`, what is not 0, by increasing column.
    pub(super) coefficients: Vec<(usize, f64)>,
    /// `‖w‖₁`.
    pub(super) norm: f64,
    /// The larger of the gap as a share of the norm, and of the largest violation of `|c − G w| ≤ λ` as a
    /// share of the largest useful `λ`.
    pub(super) gap: f64,
    /// A `λ` at which few more columns would join.
    pub(super) next_lambda: f64,
}

impl OutputProgram<'_> {
    /// Subtracts `G w` from `out`.
    fn subtract(&self, w: &[(usize, f64)], out: &mut [f64]) -> Result<(), Error> {
        let all: Vec<usize> = (0..out.len()).collect();
        let (support, weights): (Vec<usize>, Vec<f64>) = w.iter().copied().unzip();
        self.columns.subtract_fitted(&all, &support, &weights, out)
    }

    /// The `λ` below which more than a quarter of the columns in `vertex`, and more than [`LEAST_JOINING`],
    /// would join where the products with the residual are `residual`.
    pub(super) fn next_lambda(&self, vertex: &Simplex, residual: &[f64]) -> f64 {
        let outside = beyond(vertex.columns(), residual, 0.0);
        let room = (vertex.columns().len() / 4).max(LEAST_JOINING);
        outside.get(room - 1).map_or(0.0, |&j| residual[j].abs())
    }
}

impl Program for OutputProgram<'_> {
    fn column_cost(&self, column: usize) -> Cost {
        Cost::absolute(self.lambda).tilted(-self.products[column])
    }

    fn row_cost(&self, _row: usize) -> Cost {
        Cost::within(-1.0, 1.0)
    }

    fn entries(&self, rows: &[usize], columns: &[usize], out: &mut [f64]) -> Result<(), Error> {
        self.columns.products(rows, columns, out)
    }

    fn price(&mut self, vertex: &Simplex) -> Result<Joining, Error> {
        let mut coefficients: Vec<(usize, f64)> = vertex.duals().collect();
        order::sort_entries(&mut coefficients);
        let multipliers: Vec<(usize, f64)> = vertex.values().collect();
        let mut residual = self.products.to_vec();
        self.subtract(&coefficients, &mut residual)?;
        let mut bounded = vec![0.0; residual.len()];
        self.subtract(&multipliers, &mut bounded)?;
        // Divided by this, the multipliers keep all bounds.
        let most = bounded.iter().fold(1.0_f64, |most, value| most.max(value.abs()));
        let pull = |&(j, mu): &(usize, f64)| self.products[j] * mu - self.lambda * mu.abs();
        let bound = multipliers.iter().map(pull).sum::<f64>() / most;
        let norm = coefficients.iter().map(|(_, w)| w.abs()).sum::<f64>();
        let largest = residual.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
        let excess = certificate::relative((largest - self.lambda).max(0.0), self.largest_lambda);
        let gap = certificate::relative(norm - bound, norm).max(excess);
        let next_lambda = self.next_lambda(vertex, &residual);
        self.found = Some(Point { coefficients, norm, gap, next_lambda });
        if gap <= self.tolerance {
            return Ok(Joining::default());
        }
        let slack = 0.1 * self.tolerance;
        let columns = beyond(vertex.columns(), &residual, self.lambda + slack * self.largest_lambda);
        let mut rows = beyond(vertex.rows(), &bounded, 1.0 + slack);
        // A column has its own row, or nothing might bound it.
        let mut inside = vec![false; residual.len()];
        vertex.rows().chain(rows.iter().copied()).for_each(|i| inside[i] = true);
        rows.extend(columns.iter().filter(|&&j| !inside[j]));
        Ok(Joining { rows, columns })
    }
}

/// The largest of `values` above `most` in size, but for those that are `inside`; at most as many as these,
/// or [`LEAST_JOINING`].
fn beyond(inside: impl ExactSizeIterator<Item = usize>, values: &[f64], most: f64) -> Vec<usize> {
    let room = inside.len().max(LEAST_JOINING);
    let mut known = vec![false; values.len()];
    inside.for_each(|at| known[at] = true);
    let mut found: Vec<(f64, usize)> = (0..values.len())
        .filter(|&at| values[at].abs() > most && !known[at])
        .map(|at| (values[at].abs(), at))
        .collect();
    order::largest_first(&mut found);
    found.truncate(room);
    found.into_iter().map(|(_, at)| at).collect()
}
