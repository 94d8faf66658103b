//! Numbers, tables and lists that several test files use.
#![allow(dead_code, reason = "the tests of several crates use it, each its own part")]

use fewest_core::{Column, Columns, Error};

/// Numbers in `[0, 1)` from a seed.
pub(crate) fn uniform(n: usize, seed: u64) -> Vec<f64> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    (0..n)
        .map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1_u64 << 53) as f64
        })
        .collect()
}

/// Numbers in `[0, 1)` without a pattern that matters.
pub(crate) fn noise(n: usize, step: usize) -> Vec<f64> {
    (0..n).map(|i| ((i * i * step + i * (step + 7) + step) % 97) as f64 / 97.0).collect()
}

/// The column with mean 0 and standard deviation 1.
pub(crate) fn standardised(column: &[f64]) -> Vec<f64> {
    let n = column.len() as f64;
    let mean = column.iter().sum::<f64>() / n;
    let deviation = (column.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n).sqrt();
    column.iter().map(|x| (x - mean) / deviation).collect()
}

/// A table whose columns are handed out sparse.
pub(crate) struct Sparse {
    pub n_samples: usize,
    /// Rows with their values.
    pub columns: Vec<(Vec<usize>, Vec<f64>)>,
}

impl Sparse {
    /// A dense table with its zeros left out.
    pub(crate) fn without_zeros(columns: &[Vec<f64>]) -> Self {
        let stored = |column: &Vec<f64>| {
            let rows: Vec<usize> = (0..column.len()).filter(|&i| column[i] != 0.0).collect();
            let values = rows.iter().map(|&i| column[i]).collect();
            (rows, values)
        };
        Self { n_samples: columns[0].len(), columns: columns.iter().map(stored).collect() }
    }
}

impl Columns for Sparse {
    fn n_samples(&self) -> usize {
        self.n_samples
    }

    fn n_features(&self) -> usize {
        self.columns.len()
    }

    fn column<'a>(&'a self, j: usize, _scratch: &'a mut Vec<f64>) -> Result<Column<'a>, Error> {
        let (rows, values) = &self.columns[j];
        Ok(Column::Sparse { rows, values })
    }
}
