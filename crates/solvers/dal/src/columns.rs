//! Columns of the operator, fetched once and kept while they are in use.

use std::collections::HashMap;

use fewest_linalg::{add_scaled, dot};
use fewest_solver::LinearOperator;

use crate::newton::is_factorised;

/// Most entries of columns kept at a time: 2²⁶, 512 MiB.
const LARGEST_CACHE: usize = 1 << 26;

/// The columns that recent active sets were made of. Active sets change little from one Newton step to
/// the next, so each column is fetched about once, and products with sparse vectors need no pass over
/// the operator.
#[derive(Debug, Clone, Default)]
pub(crate) struct Columns {
    slots: HashMap<usize, usize>,
    values: Vec<f64>,
    n_rows: usize,
}

impl Columns {
    /// Whether `count` columns of `n_rows` entries can be held.
    pub(crate) fn fit(n_rows: usize, count: usize) -> bool {
        n_rows.saturating_mul(count) <= LARGEST_CACHE
    }

    /// Makes the columns `wanted` available.
    pub(crate) fn load<A: LinearOperator>(&mut self, operator: &A, wanted: &[usize]) {
        if self.n_rows != operator.n_rows() {
            *self = Self { n_rows: operator.n_rows(), ..Self::default() };
        }
        let missing = wanted.iter().filter(|j| !self.slots.contains_key(j)).count();
        if !Self::fit(self.n_rows, self.slots.len() + missing) {
            self.slots.clear();
            self.values.clear();
        }
        for &j in wanted {
            if !self.slots.contains_key(&j) {
                let start = self.values.len();
                self.values.resize(start + self.n_rows, 0.0);
                operator.column(j, &mut self.values[start..]);
                self.slots.insert(j, start);
            }
        }
    }

    /// Column `j`; empty unless loaded.
    pub(crate) fn column(&self, j: usize) -> &[f64] {
        match self.slots.get(&j) {
            Some(&start) => &self.values[start..start + self.n_rows],
            None => &[],
        }
    }

    /// `A w`, by the columns of its non-zeros or, when these are too many to be worth fetching, by one pass.
    pub(crate) fn apply<A: LinearOperator>(&mut self, operator: &A, w: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; operator.n_rows()];
        let support: Vec<usize> = (0..w.len()).filter(|&j| w[j] != 0.0).collect();
        if is_factorised(out.len(), support.len()) {
            self.load(operator, &support);
            for &j in &support {
                add_scaled(&mut out, w[j], self.column(j));
            }
        } else {
            operator.apply(w, &mut out);
        }
        out
    }
}

pub(crate) fn norm(a: &[f64]) -> f64 {
    dot(a, a).sqrt()
}
