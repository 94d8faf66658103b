//! The pieces of coefficients that views make.

use nalgebra::DMatrix;

/// Bounds of a dual norm closer than this, relative to the upper one, are not brought closer.
const CLOSE: f64 = 1e-12;

/// Steps of the dual norm, at most.
const MOST_STEPS: usize = 1000;

/// `Ω(W) = Σⱼ ‖Wⱼ‖ + ratio Σ_v Σ_k ‖W_vk‖`, for `W` with a row for each column of the table: a feature is the
/// rows of its columns, and `W_vk` what view `v` has of output `k`.
pub(super) struct Pieces {
    /// The columns of each feature.
    features: Vec<std::ops::Range<usize>>,
    /// The view of each column.
    view_of: Vec<usize>,
    n_views: usize,
    ratio: f64,
}

impl Pieces {
    /// Of columns, by the feature and the view of each.
    pub(super) fn new(features: &[usize], view_of: Vec<usize>, ratio: f64) -> Self {
        let mut start = 0;
        let ranges = features.chunk_by(|a, b| a == b).map(|own| {
            let range = start..start + own.len();
            start = range.end;
            range
        });
        Self {
            features: ranges.collect(),
            n_views: view_of.iter().max().map_or(0, |last| last + 1),
            view_of,
            ratio,
        }
    }

    pub(super) fn ratio(&self) -> f64 {
        self.ratio
    }

    /// The length of each feature.
    fn lengths(&self, w: &DMatrix<f64>) -> Vec<f64> {
        let square = |j: usize| w.column_iter().map(|output| output[j] * output[j]).sum::<f64>();
        self.features.iter().map(|own| own.clone().map(square).sum::<f64>().sqrt()).collect()
    }

    /// The length of each view in each output, one row a view.
    fn view_lengths(&self, w: &DMatrix<f64>) -> DMatrix<f64> {
        let mut squares = DMatrix::zeros(self.n_views, w.ncols());
        for (mut square, output) in squares.column_iter_mut().zip(w.column_iter()) {
            self.view_of.iter().zip(output.iter()).for_each(|(&view, value)| square[view] += value * value);
        }
        squares.map(f64::sqrt)
    }

    pub(super) fn value(&self, w: &DMatrix<f64>) -> f64 {
        self.lengths(w).iter().sum::<f64>() + self.ratio * self.view_lengths(w).sum()
    }

    /// The longest feature of a matrix, and the longest piece of a view.
    pub(super) fn longest(&self, w: &DMatrix<f64>) -> (f64, f64) {
        let feature = self.lengths(w).into_iter().fold(0.0, f64::max);
        (feature, self.view_lengths(w).iter().copied().fold(0.0, f64::max))
    }

    /// Shortens every feature by `threshold`, to zero where it is no longer than that.
    pub(super) fn shorten_features(&self, w: &mut DMatrix<f64>, threshold: f64) {
        for (own, length) in self.features.iter().zip(self.lengths(w)) {
            let share = if length > threshold { 1.0 - threshold / length } else { 0.0 };
            for mut output in w.column_iter_mut() {
                output.as_mut_slice()[own.clone()].iter_mut().for_each(|value| *value *= share);
            }
        }
    }

    /// Shortens every piece of a view by `ratio · threshold`.
    pub(super) fn shorten_views(&self, w: &mut DMatrix<f64>, threshold: f64) {
        let threshold = self.ratio * threshold;
        let shares = self
            .view_lengths(w)
            .map(|length| if length > threshold { 1.0 - threshold / length } else { 0.0 });
        for (mut output, shares) in w.column_iter_mut().zip(shares.column_iter()) {
            output.iter_mut().zip(&self.view_of).for_each(|(value, &view)| *value *= shares[view]);
        }
    }

    /// The smallest `t` such that `c` is a sum of two matrices, one with no feature longer than `t` and one
    /// with no piece of a view longer than `ratio t`: the dual norm.
    ///
    /// It is the largest `⟨C, W⟩` over `Ω(W) ≤ 1`, approached from below by reweighting: with the lengths
    /// `r` and `s` of the pieces of the `W` before, `W = C / (1/r + ratio/s)`, and `C/r` and `ratio C/s`
    /// times the same are matrices whose lengths bound it from above. The upper bound is returned.
    pub(super) fn dual_norm(&self, c: &DMatrix<f64>) -> f64 {
        let mut upper = f64::INFINITY;
        let mut w = c.clone();
        for _ in 0..MOST_STEPS {
            let (lengths, of_views) = (self.lengths(&w), self.view_lengths(&w));
            let total = lengths.iter().sum::<f64>() + self.ratio * of_views.sum();
            if total == 0.0 {
                return 0.0;
            }
            let (mut next, mut first) = (c.clone(), c.clone());
            for (own, length) in self.features.iter().zip(&lengths) {
                for j in own.clone() {
                    for k in 0..c.ncols() {
                        // The shares of r and s in 1 / (1/r + ratio/s), where neither need be above zero.
                        let (r, s) = (*length, of_views[(self.view_of[j], k)]);
                        let sum = s + self.ratio * r;
                        let share = if sum > 0.0 { s / sum } else { 1.0 };
                        next[(j, k)] *= share * r / total;
                        first[(j, k)] *= share;
                    }
                }
            }
            let second = self.longest(&(c - &first)).1;
            let bound = self.longest(&first).0.max(if second > 0.0 { second / self.ratio } else { 0.0 });
            upper = bound.min(upper);
            let value = self.value(&next);
            if value == 0.0 || c.dot(&next) / value >= (1.0 - CLOSE) * upper {
                break;
            }
            w = next;
        }
        upper
    }
}
