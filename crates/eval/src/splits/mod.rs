//! How samples are divided into training and test samples.

mod groups;
mod hold_out;
mod k_fold;
mod repeated;

pub use groups::GroupFolds;
pub use hold_out::HoldOut;
pub use k_fold::KFold;
pub use repeated::Repeated;

use fewest_columns::by_class;
use fewest_core::{Dataset, Error, Target};
use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;
use rand::seq::SliceRandom;
use serde::{Deserialize, Serialize};

/// Training and test samples of one fold: row indices, increasing, no row in both.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Split {
    /// The rows that methods may see.
    pub train: Vec<usize>,
    /// The rows on which predictions are evaluated.
    pub test: Vec<usize>,
}

impl Split {
    /// The split of `n_samples` whose test samples are those with `is_test`.
    fn new(n_samples: usize, is_test: impl Fn(usize) -> bool) -> Self {
        let (test, train) = (0..n_samples).partition(|&row| is_test(row));
        Self { train, test }
    }

    /// One split for each of `n_folds` folds; `folds` has the fold of each sample.
    fn each(folds: &[usize], n_folds: usize) -> Vec<Self> {
        (0..n_folds).map(|fold| Self::new(folds.len(), |row| folds[row] == fold)).collect()
    }
}

/// A rule that divides samples into training and test samples, one or more times.
///
/// ```
/// use fewest_core::{Dataset, DenseColumns, Target};
/// use fewest_eval::{KFold, Splitter};
///
/// let x = DenseColumns::from_columns(&[vec![0.0, 1.0, 2.0, 3.0, 4.0]])?;
/// let data = Dataset::new(x, Target::None)?;
/// let splits = KFold { folds: 2, ..KFold::default() }.splits(&data, 7)?;
/// assert_eq!(splits.len(), 2);
/// assert_eq!(splits[0].train, splits[1].test);
/// # Ok::<(), fewest_core::Error>(())
/// ```
pub trait Splitter: Send + Sync {
    /// The folds for `data`. The same seed gives the same folds. Every fold has training and test samples.
    ///
    /// # Errors
    /// When the data or the parameters do not allow it.
    fn splits(&self, data: &Dataset, seed: u64) -> Result<Vec<Split>, Error>;
}

impl<S: Splitter + ?Sized> Splitter for Box<S> {
    fn splits(&self, data: &Dataset, seed: u64) -> Result<Vec<Split>, Error> {
        (**self).splits(data, seed)
    }
}

/// All samples in random order; with `stratified`, the samples of a class (with or without an event, of
/// survival times) one after the other, each class in random order. A rule that takes positions at even
/// distances then takes its share of every class.
fn shuffled(data: &Dataset, stratified: bool, seed: u64) -> Result<Vec<usize>, Error> {
    let mut generator = ChaCha8Rng::seed_from_u64(seed);
    let mut rows: Vec<usize> = (0..data.n_samples()).collect();
    rows.shuffle(&mut generator);
    if stratified {
        if !matches!(data.target(), Target::Survival(_)) {
            data.classes("a stratified split")?;
        }
        rows = by_class(rows, data.target());
    }
    Ok(rows)
}

#[cfg(test)]
mod tests;
