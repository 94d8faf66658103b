//! The rows of coefficients of the features that vary.

use fewest_core::{Budget, Selection, Status};
use fewest_solver::InnerProducts;
use nalgebra::DMatrix;

use crate::columns::LinearColumns;

/// Why there are no more features.
pub(crate) const OTHERS_ARE_CONSTANT: &str = "the others are constant";

/// The columns of the features that vary: the levels of a categorical feature have one row of coefficients
/// together.
pub(crate) struct FeatureRows {
    /// Their places among all columns.
    pub(crate) columns: Vec<usize>,
    /// The feature of each.
    features: Vec<usize>,
    n_features: usize,
}

impl FeatureRows {
    /// Of `columns`, those that vary: a constant has no coefficient, since it would be the smoothest feature
    /// of all.
    pub(crate) fn new(columns: &LinearColumns<'_>, n_features: usize) -> Self {
        let squares = &columns.atoms().squared_norms;
        let varying: Vec<usize> = (0..columns.n_atoms()).filter(|&column| squares[column] > 0.0).collect();
        let features = varying.iter().map(|&column| columns.feature(column)).collect();
        Self { columns: varying, features, n_features }
    }

    /// Number of columns that vary.
    pub(crate) fn len(&self) -> usize {
        self.features.len()
    }

    pub(crate) fn n_features(&self) -> usize {
        self.n_features
    }

    /// The feature of each column.
    pub(crate) fn features(&self) -> &[usize] {
        &self.features
    }

    /// Whether a feature has several columns.
    pub(crate) fn has_categories(&self) -> bool {
        self.features.windows(2).any(|pair| pair[0] == pair[1])
    }

    /// An empty selection for each budget, where no feature varies.
    pub(crate) fn nothing(&self, budgets: &[Budget]) -> Option<Vec<Selection>> {
        let none = |&budget: &Budget| {
            let mut selection = Selection::by_weight(Vec::new(), self.n_features, budget, Status::Converged);
            selection.note_missing_features(budget, OTHERS_ARE_CONSTANT);
            selection
        };
        self.features.is_empty().then(|| budgets.iter().map(none).collect())
    }

    /// The columns of one feature after the other.
    fn rows(&self) -> impl Iterator<Item = std::ops::Range<usize>> + '_ {
        let mut start = 0;
        self.features.chunk_by(|a, b| a == b).map(move |columns| {
            let range = start..start + columns.len();
            start = range.end;
            range
        })
    }

    /// The squared length of the row of coefficients of each feature, once for each of its columns.
    pub(crate) fn squared_lengths(&self, w: &DMatrix<f64>) -> Vec<f64> {
        let mut squares = vec![0.0; w.nrows()];
        for column in w.column_iter() {
            for (square, value) in squares.iter_mut().zip(column.iter()) {
                *square += value * value;
            }
        }
        for row in self.rows().filter(|row| row.len() > 1) {
            let square: f64 = squares[row.clone()].iter().sum();
            squares[row].fill(square);
        }
        squares
    }

    /// `Σⱼ √(‖wⱼ‖² + ε)` over the features, from [`FeatureRows::squared_lengths`].
    pub(crate) fn smoothed_sum(&self, squares: &[f64], smoothing: f64) -> f64 {
        self.rows().map(|row| (squares[row.start] + smoothing).sqrt()).sum()
    }

    /// The length of the row of each feature that varies.
    pub(crate) fn scores(&self, w: &DMatrix<f64>) -> Vec<(usize, f64)> {
        let squares = self.squared_lengths(w);
        self.rows().map(|row| (self.features[row.start], squares[row.start].sqrt())).collect()
    }
}
