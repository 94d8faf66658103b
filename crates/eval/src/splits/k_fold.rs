//! Folds of equal size.

use fewest_columns::deal;
use fewest_core::{Dataset, Error};

use super::{Split, Splitter, shuffled};

/// `folds` parts of equal size (up to one sample), each the test samples once.
///
/// Stratified, each class is spread over the folds as evenly as possible: the numbers of its samples in two
/// folds differ by at most one. A class with fewer samples than folds is therefore missing from some test
/// parts, and one with a single sample from one training part; learners never predict a class they have not
/// seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KFold {
    /// Number of folds: at least 2, at most the number of samples. Default 5.
    pub folds: usize,
    /// Whether classes keep their proportions, or the events of survival times. Needs one of them. Default
    /// no.
    pub stratified: bool,
}

impl Default for KFold {
    fn default() -> Self {
        Self { folds: 5, stratified: false }
    }
}

impl Splitter for KFold {
    fn splits(&self, data: &Dataset, seed: u64) -> Result<Vec<Split>, Error> {
        let rows = shuffled(data, self.stratified, seed)?;
        Ok(Split::each(&deal(&rows, self.folds, "folds")?, self.folds))
    }
}
