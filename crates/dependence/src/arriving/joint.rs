//! How often values of two variables come together.

use fewest_core::{Error, state};
use fewest_kernels::{Factor, Gaussian};
use fewest_linalg::{dot_products, lanes};

use super::axis::{Axis, Place, entry_error};

/// What may be left of the trace of a kernel on nodes.
const FACTOR_TOLERANCE: f64 = 1e-13;

/// Counts of a feature's nodes with those of the target.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Joint {
    pub(crate) axis: Axis,
    /// Number of nodes of the target.
    width: usize,
    /// Node of the feature after node, each with all of the target.
    counts: Vec<f64>,
}

state!(Joint { axis, width, counts });

impl Joint {
    /// Of no samples.
    pub(crate) fn new(axis: Axis, width: usize) -> Self {
        let counts = vec![0.0; axis.len() * width];
        Self { axis, width, counts }
    }

    /// Whether a state is one.
    pub(crate) fn is_whole(&self, width: usize) -> bool {
        self.width == width && self.axis.len().checked_mul(width) == Some(self.counts.len())
    }

    /// Node of the feature after node, how often each comes with each of the target.
    pub(crate) fn counts(&self) -> &[f64] {
        &self.counts
    }

    /// Numbers that it holds.
    pub(crate) fn size(&self) -> usize {
        self.counts.len()
    }

    /// Adds a sample of this value, whose target counts there.
    pub(crate) fn add(&mut self, value: f64, target: &Place) {
        if !self.axis.has_seen(value) {
            self.widen(self.axis.with(value));
        }
        self.add_at(&self.axis.place(value), target.first, target.shares());
    }

    /// Adds counts of the target from its node `first` on, shared among the nodes of a feature.
    pub(super) fn add_at(&mut self, place: &Place, first: usize, counts: &[f64]) {
        for (i, share) in place.shares().iter().enumerate() {
            let start = (place.first + i) * self.width + first;
            let row = &mut self.counts[start..start + counts.len()];
            row.iter_mut().zip(counts).for_each(|(own, count)| *own += share * count);
        }
    }

    /// Takes wider nodes of the feature.
    pub(super) fn widen(&mut self, wider: Axis) {
        if !wider.has_nodes_of(&self.axis) {
            let places = self.axis.moves(&wider);
            let before = std::mem::replace(self, Self::new(wider, self.width));
            for (place, row) in places.iter().zip(before.counts.chunks_exact(before.width.max(1))) {
                self.add_at(place, 0, row);
            }
        } else {
            self.axis = wider;
        }
    }

    /// Takes wider nodes of the target: as many, and where those before are among them.
    pub(crate) fn widen_target(&mut self, width: usize, places: &[Place]) {
        let mut counts = vec![0.0; self.axis.len() * width];
        for (to, from) in
            counts.chunks_exact_mut(width.max(1)).zip(self.counts.chunks_exact(self.width.max(1)))
        {
            for (place, count) in places.iter().zip(from) {
                let own = to[place.first..].iter_mut();
                own.zip(place.shares()).for_each(|(own, share)| *own += share * count);
            }
        }
        (self.width, self.counts) = (width, counts);
    }

    /// Adds the counts of another one with the same nodes of the target.
    ///
    /// # Errors
    /// As [`Axis::joined`].
    pub(crate) fn merge(&mut self, mut other: Self) -> Result<(), Error> {
        let joined = self.axis.joined(&other.axis)?;
        self.widen(joined.clone());
        other.widen(joined);
        self.counts.iter_mut().zip(&other.counts).for_each(|(own, other)| *own += other);
        Ok(())
    }

    /// How often each node of the feature counts.
    pub(crate) fn marginal(&self) -> Vec<f64> {
        self.counts.chunks_exact(self.width.max(1)).map(lanes::sum).collect()
    }

    /// How often each node of the target counts.
    fn target_marginal(&self) -> Vec<f64> {
        let mut sums = vec![0.0; self.width];
        for row in self.counts.chunks_exact(self.width.max(1)) {
            sums.iter_mut().zip(row).for_each(|(sum, count)| *sum += count);
        }
        sums
    }

    /// `tr(K̄ L̄)`: what counts together beyond what would by chance, through the factors of both kernels.
    pub(crate) fn dependence(&self, own: &NodeKernel, target: &NodeKernel) -> f64 {
        let (rows, columns) = (self.marginal(), self.target_marginal());
        let n = lanes::sum(&rows);
        let mut beyond = self.counts.clone();
        for (row, count) in beyond.chunks_exact_mut(self.width.max(1)).zip(&rows) {
            row.iter_mut().zip(&columns).for_each(|(value, column)| *value -= count * column / n);
        }
        let by_target = target.products(&beyond);
        let rank = by_target.len() / rows.len().max(1);
        // For each column of the target's factor all nodes of the feature.
        let turned: Vec<f64> = (0..rank)
            .flat_map(|column| by_target.iter().skip(column).step_by(rank.max(1)).copied())
            .collect();
        let products = own.products(&turned);
        lanes::dot(&products, &products)
    }
}

/// The kernel between the nodes of a variable.
#[derive(Debug, Clone)]
pub(crate) enum NodeKernel {
    /// One of these numbers for two samples at one node, else 0.
    Levels(Vec<f64>),
    /// The Gaussian, of neighbours so many widths from each other.
    Gaussian {
        /// Widths between two nodes.
        spacing: f64,
        /// Its factor on the nodes.
        factor: Factor,
    },
}

impl NodeKernel {
    /// The Gaussian on `n` nodes so many widths from each other.
    ///
    /// # Errors
    /// Those of the factor.
    pub(crate) fn gaussian(spacing: f64, n: usize) -> Result<Self, Error> {
        let nodes: Vec<f64> = (0..n).map(|node| node as f64 * spacing).collect();
        let factor = Factor::new(&Gaussian::new(1.0)?, &nodes, FACTOR_TOLERANCE, n)?;
        Ok(Self::Gaussian { spacing, factor })
    }

    /// Columns of numbers for each node, multiplied by the factor.
    fn products(&self, columns: &[f64]) -> Vec<f64> {
        match self {
            Self::Levels(weights) => columns
                .iter()
                .zip(weights.iter().cycle())
                .map(|(value, weight)| value * weight.sqrt())
                .collect(),
            Self::Gaussian { factor, .. } => {
                let n = factor.n_samples();
                let mut products = vec![0.0; factor.rank() * (columns.len() / n)];
                dot_products(factor.values(), columns, n, &mut products);
                products
            }
        }
    }

    /// `‖K̄‖_F`, where samples count at the nodes as `marginal` says.
    pub(crate) fn norm(&self, marginal: &[f64]) -> f64 {
        let n = lanes::sum(marginal);
        let squared = match self {
            Self::Levels(weights) => {
                let (mut own, mut all) = (0.0, 0.0);
                for (weight, count) in weights.iter().zip(marginal) {
                    own += (weight * count).powi(2) * (1.0 - 2.0 * count / n);
                    all += weight * count * count;
                }
                own + (all / n).powi(2)
            }
            Self::Gaussian { spacing, .. } => {
                // Of the mean over all samples, a smooth function as the kernel is, and of the kernel's
                // square.
                let kernel = |scale: f64| -> Vec<f64> {
                    (0..marginal.len()).map(|i| (-scale * (i as f64 * spacing).powi(2)).exp()).collect()
                };
                let means = sums(&kernel(0.5), marginal);
                let squares: Vec<f64> = means.iter().map(|sum| sum * sum).collect();
                let all = lanes::dot(marginal, &means);
                lanes::dot(marginal, &sums(&kernel(1.0), marginal)) - 2.0 / n * lanes::dot(marginal, &squares)
                    + (all / n).powi(2)
            }
        };
        squared.max(0.0).sqrt()
    }

    /// How far an entry may be from the kernel between two samples.
    pub(crate) fn error(&self) -> f64 {
        match self {
            Self::Levels(_) => 0.0,
            Self::Gaussian { spacing, .. } => entry_error(*spacing),
        }
    }
}

/// `Σⱼ k(|i − j|) countsⱼ` for every node `i`.
fn sums(kernel: &[f64], counts: &[f64]) -> Vec<f64> {
    let n = counts.len();
    let sum = |i: usize| (0..n).map(|j| kernel[i.abs_diff(j)] * counts[j]).sum();
    (0..n).map(sum).collect()
}
