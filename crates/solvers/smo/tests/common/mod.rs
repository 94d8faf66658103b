//! Samples and kernels for the tests.

use std::path::Path;

use fewest_data::{Missing, ReadOptions, Scaling, Table, Task};
use fewest_kernels::exp_in_place;
use fewest_smo::{DualProblem, GramRows, KernelRows};
use rand::rngs::ChaCha8Rng;
use rand::{Rng, RngExt, SeedableRng};

/// Samples by columns.
pub(crate) struct Samples {
    pub columns: Vec<Vec<f64>>,
    pub n: usize,
}

impl Samples {
    /// Standardised features of a file, and its target: codes of classes or numbers.
    pub(crate) fn read(path: &Path, classes: bool) -> (Self, Vec<f64>) {
        let mut options = ReadOptions::with_target("target");
        options.task = if classes { Task::Classification } else { Task::Regression };
        let dataset = Table::read(path, &options).unwrap().complete(Missing::DropRows).unwrap().dataset;
        let target = match dataset.target() {
            fewest_core::Target::Class(classes) => {
                classes.codes().iter().map(|&code| f64::from(code)).collect()
            }
            fewest_core::Target::Real(values) => values.output(0).to_vec(),
            other => panic!("{}", other.describe()),
        };
        let (n, d) = (dataset.n_samples(), dataset.n_features());
        let scaled = Scaling::standardise(dataset.x()).unwrap().apply(dataset.shared_x()).unwrap();
        let columns = (0..d)
            .map(|j| fewest_core::Columns::column(&scaled, j, &mut Vec::new()).unwrap().to_vec(n))
            .collect();
        (Self { columns, n }, target)
    }

    /// Uniform numbers between −1 and 1.
    pub(crate) fn random(n: usize, d: usize, seed: u64) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let columns = (0..d).map(|_| (0..n).map(|_| random.random_range(-1.0..1.0)).collect()).collect();
        Self { columns, n }
    }

    pub(crate) fn gaussian(self, gamma: f64) -> Gaussian {
        Gaussian { samples: self, gamma }
    }
}

/// `exp(−γ ‖x_i − x_j‖²)` by rows.
pub(crate) struct Gaussian {
    pub samples: Samples,
    gamma: f64,
}

impl Gaussian {
    pub(crate) fn gram(&self) -> GramRows {
        let n = self.len();
        let mut values = vec![0.0; n * n];
        for (i, row) in values.chunks_exact_mut(n).enumerate() {
            self.row(i, row);
        }
        GramRows::new(values, n).unwrap()
    }
}

impl KernelRows for Gaussian {
    fn len(&self) -> usize {
        self.samples.n
    }

    fn diagonal(&self, _: usize) -> f64 {
        1.0
    }

    fn row(&self, i: usize, out: &mut [f64]) {
        out.fill(0.0);
        for column in &self.samples.columns {
            let x = column[i];
            for (value, &other) in out.iter_mut().zip(column) {
                *value += (x - other) * (x - other);
            }
        }
        for value in out.iter_mut() {
            *value *= -self.gamma;
        }
        exp_in_place(out);
    }
}

/// A feasible point of a problem with finite bounds, at random.
pub(crate) fn feasible(problem: &DualProblem<'_>, random: &mut impl Rng) -> Vec<f64> {
    let start: Vec<f64> = (0..problem.n_variables()).map(|_| random.random_range(-2.0..2.0)).collect();
    problem.feasible_start(&start).unwrap()
}
