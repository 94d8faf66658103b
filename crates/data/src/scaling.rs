//! Bringing features to a common scale.

use fewest_columns::Standard;
use fewest_core::{Column, Columns};

use crate::Error;

/// The shift and scale of each feature. Computed from one table, they can be applied to another with the
/// same features: for example, from the training samples to the test samples.
///
/// A constant feature becomes 0. The computation is two-pass, centred on one of the values of the feature and
/// scaled by a power of two before anything is squared: an offset of 10⁵ standard deviations costs no
/// accuracy, and nothing overflows or underflows as long as the values themselves are finite.
#[derive(Debug, Clone, PartialEq)]
pub struct Scaling {
    features: Vec<Feature>,
}

/// The scaling of one feature.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Feature {
    /// All values are the same: 0.
    Constant,
    /// To mean 0 and standard deviation 1.
    Standard(Standard),
    /// `2 (x/2 - pivot) / width - 1`. Halving keeps differences of finite numbers finite.
    Range { pivot: f64, width: f64 },
}

impl Scaling {
    /// Standardisation, `z = (x - m) / s` with the mean `m = Σx/n` and the population standard deviation
    /// `s = √(Σ(x - m)²/n)`.
    ///
    /// # Errors
    /// [`fewest_core::Error::NonFinite`] names the first NaN or infinity; [`fewest_core::Error::Unreadable`].
    ///
    /// # Complexity
    /// Three passes over each column, columns in parallel on rayon's current pool.
    ///
    /// ```
    /// use fewest_core::{Columns, DenseColumns};
    /// use fewest_data::Scaling;
    /// let table = DenseColumns::from_columns(&[vec![1e9, 1e9 + 2.0], vec![5.0, 5.0]])?;
    /// let scaled = Scaling::standardise(&table)?.apply(table)?;
    /// assert_eq!(scaled.column(0, &mut Vec::new())?.to_vec(2), [-1.0, 1.0]);
    /// assert_eq!(scaled.column(1, &mut Vec::new())?.to_vec(2), [0.0, 0.0]);
    /// # Ok::<(), fewest_data::Error>(())
    /// ```
    pub fn standardise(table: &dyn Columns) -> Result<Self, Error> {
        Self::fit(table, standardisation)
    }

    /// The range to `[-1, 1]`: `z = 2 (x - min) / (max - min) - 1`.
    ///
    /// # Errors
    /// [`fewest_core::Error::NonFinite`] names the first NaN or infinity; [`fewest_core::Error::Unreadable`].
    ///
    /// # Complexity
    /// Two passes over each column, columns in parallel on rayon's current pool.
    pub fn min_max(table: &dyn Columns) -> Result<Self, Error> {
        Self::fit(table, range)
    }

    fn fit(table: &dyn Columns, of: fn(&[f64]) -> Feature) -> Result<Self, Error> {
        let n_samples = table.n_samples();
        let features: Vec<Result<Feature, Error>> =
            fewest_parallel::map_with(table.n_features(), |values: &mut Vec<f64>, j| {
                values.resize(n_samples, 0.0);
                table.copy_column(j, values)?;
                match values.iter().position(|value| !value.is_finite()) {
                    None => Ok(of(values)),
                    Some(row) => Err(fewest_core::Error::NonFinite {
                        name: format!("`f{j}`"),
                        column: j,
                        row,
                        value: values[row],
                    }
                    .into()),
                }
            });
        // Collected first, so that the first error is that of the lowest column for any number of threads.
        Ok(Self { features: features.into_iter().collect::<Result<_, _>>()? })
    }

    /// The scaled table, with columns computed on demand. Sparse columns become dense.
    ///
    /// # Errors
    /// [`fewest_core::Error::ShapeMismatch`] unless the table has as many features as the one it was made
    /// from.
    pub fn apply<C: Columns>(self, table: C) -> Result<Scaled<C>, Error> {
        let (expected, found) = (self.features.len(), table.n_features());
        if expected != found {
            return Err(
                fewest_core::Error::ShapeMismatch { what: "features to scale", expected, found }.into()
            );
        }
        Ok(Scaled { table, scaling: self })
    }
}

/// A table whose columns are scaled on demand.
#[derive(Debug, Clone)]
pub struct Scaled<C> {
    table: C,
    scaling: Scaling,
}

impl<C: Columns> Columns for Scaled<C> {
    fn n_samples(&self) -> usize {
        self.table.n_samples()
    }

    fn n_features(&self) -> usize {
        self.table.n_features()
    }

    fn column<'a>(&'a self, j: usize, scratch: &'a mut Vec<f64>) -> Result<Column<'a>, fewest_core::Error> {
        scratch.clear();
        scratch.resize(self.n_samples(), 0.0);
        self.copy_column(j, scratch)?;
        Ok(Column::Dense(scratch))
    }

    fn copy_column(&self, j: usize, out: &mut [f64]) -> Result<(), fewest_core::Error> {
        self.table.copy_column(j, out)?;
        self.scaling.features[j].apply(out);
        Ok(())
    }
}

impl Feature {
    fn apply(&self, values: &mut [f64]) {
        match self {
            Self::Constant => values.fill(0.0),
            Self::Standard(standard) => standard.apply(values),
            Self::Range { pivot, width } => {
                values.iter_mut().for_each(|value| *value = 2.0 * ((*value / 2.0 - pivot) / width) - 1.0);
            }
        }
    }
}

fn standardisation(values: &[f64]) -> Feature {
    Standard::of(values, fewest_columns::range(values)).map_or(Feature::Constant, Feature::Standard)
}

fn range(values: &[f64]) -> Feature {
    let smallest = values.iter().copied().fold(f64::INFINITY, f64::min) / 2.0;
    let largest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max) / 2.0;
    // The difference is not positive for a constant feature or without samples.
    if largest > smallest {
        Feature::Range { pivot: smallest, width: largest - smallest }
    } else {
        Feature::Constant
    }
}
