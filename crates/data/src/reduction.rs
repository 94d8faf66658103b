//! Selected features, made again from the rows of another file.

use fewest_core::{Dataset, DenseColumns, FeatureKind, Target};
use serde::{Deserialize, Serialize};

use crate::error::{listed, quoted};
use crate::imputation::substitute;
use crate::table::{Features, Table};
use crate::{Complete, Error, Missing, Place, RowLabel};

/// What must be known of a table to make its selected features again from other rows: their columns, the
/// categories they had, and what its missing values were filled in by.
///
/// ```
/// use fewest_data::{Missing, ReadOptions, Reduction, Table};
/// let read = |text: &str, options: &ReadOptions| Table::read_bytes("t.csv", text.as_bytes().into(), options);
/// let training = "age,fuel,price\n1,petrol,9\n,diesel,12\n3,petrol,14\n";
/// let complete = read(training, &ReadOptions::with_target("price"))?.complete(Missing::Mean)?;
/// let reduction = Reduction::of(&complete, Missing::Mean, &[1, 0])?;
///
/// let options = ReadOptions { reduction: Some(reduction.clone()), ..ReadOptions::default() };
/// let reduced = reduction.apply(read("fuel,colour,age\ndiesel,red,\n", &options)?)?;
/// let value = |j| reduced.dataset.x().column(j, &mut Vec::new()).map(|column| column.to_vec(1));
/// // The category has its code of the training table, and the gap the mean of the training table.
/// assert_eq!((value(0)?, value(1)?, reduced.filled), (vec![0.0], vec![2.0], 1));
/// # Ok::<(), fewest_data::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reduction {
    /// Whether the columns have names; if not, they are found by their numbers.
    pub named: bool,
    /// The policy for missing values.
    #[serde(with = "missing_by_name")]
    pub missing: Missing,
    /// The column of each feature, in the order of the selection.
    pub columns: Vec<ReducedColumn>,
}

/// The column of a selected feature.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReducedColumn {
    /// Its name.
    pub name: String,
    /// Its number in the file, from 0.
    pub column: usize,
    /// The categories by their codes; none for numbers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub levels: Option<Vec<String>>,
    /// What a missing value becomes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fill: Option<Fill>,
}

/// The features of a selection in the rows of another table.
#[derive(Clone)]
#[non_exhaustive]
pub struct Reduced {
    /// The features, without a target.
    pub dataset: Dataset,
    /// How many missing values were filled in.
    pub filled: usize,
    /// The rows that were left out for missing values, by increasing number.
    pub dropped: Vec<RowLabel>,
}

/// What replaces a missing value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Fill {
    /// The mean or median.
    Number(f64),
    /// The most frequent category.
    Level(String),
}

mod missing_by_name {
    use serde::de::{Deserialize, Deserializer, Error as _};
    use serde::ser::Serializer;

    use crate::Missing;

    pub(super) fn serialize<S: Serializer>(missing: &Missing, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(missing.name())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Missing, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

impl Reduction {
    /// That of `features` of a table that was completed by `missing`.
    ///
    /// # Errors
    /// [`fewest_core::Error::InvalidParameter`] for a feature out of range,
    /// [`fewest_core::Error::Unreadable`].
    pub fn of(complete: &Complete, missing: Missing, features: &[usize]) -> Result<Self, Error> {
        let data = &complete.dataset;
        let column = |&j: &usize| -> Result<ReducedColumn, Error> {
            let Some(&column) = complete.columns.get(j) else {
                let expected = format!("below the number of features, {}", data.n_features());
                return Err(fewest_core::Error::parameter("feature", j, expected).into());
            };
            let levels = match data.feature_kind(j) {
                FeatureKind::Categorical { levels } => Some(levels.clone()),
                _ => None,
            };
            let fill = match missing {
                Missing::Error | Missing::DropRows => None,
                Missing::Mean | Missing::Median => {
                    let mut values = vec![0.0; data.n_samples()];
                    data.x().copy_column(j, &mut values)?;
                    // Where values were filled in, what by; a mean over them would have another last digit.
                    let known = complete.substitutes.iter().find(|(feature, _)| *feature == j);
                    let by =
                        known.map_or_else(|| substitute(missing, levels.is_some(), values), |(_, by)| *by);
                    Some(match &levels {
                        Some(levels) => Fill::Level(levels.get(by as usize).cloned().unwrap_or_default()),
                        None => Fill::Number(by),
                    })
                }
            };
            Ok(ReducedColumn { name: data.feature_name(j), column, levels, fill })
        };
        let columns = features.iter().map(column).collect::<Result<_, _>>()?;
        Ok(Self { named: complete.named, missing, columns })
    }

    /// The features in the rows of `table`, which was read with
    /// [`ReadOptions::reduction`](crate::ReadOptions::reduction), with their categories coded as in the
    /// training table. Without a target.
    ///
    /// # Errors
    /// [`Error::Malformed`] for a category that the training table does not have, or text where it has
    /// numbers; [`Error::MissingValue`] where nothing fills in a missing value; [`Error::NothingLeft`] where
    /// rows with missing values are dropped and none is left.
    pub fn apply(&self, table: Table) -> Result<Reduced, Error> {
        let n_samples = table.n_samples();
        let mut filled = 0;
        let mut gone = vec![false; n_samples];
        let mut columns = Vec::with_capacity(self.columns.len());
        for wanted in &self.columns {
            let mut values = match self.place(wanted, &table) {
                Some(j) => self.values(wanted, &table, j)?,
                // A sparse file ends with the last column that has a value.
                None => vec![0.0; n_samples],
            };
            for (i, value) in values.iter_mut().enumerate().filter(|(_, value)| value.is_nan()) {
                let by = match (&wanted.fill, &wanted.levels) {
                    (Some(Fill::Number(by)), None) => Some(*by),
                    (Some(Fill::Level(level)), Some(levels)) => {
                        position(levels, level).map(|code| code as f64)
                    }
                    _ => None,
                };
                match by {
                    Some(by) => {
                        *value = by;
                        filled += 1;
                    }
                    None if self.missing == Missing::DropRows => gone[i] = true,
                    None => {
                        let j = self.place(wanted, &table).unwrap_or(wanted.column);
                        let place = Place::Cell { row: table.row_label(i), column: table.column_label(j) };
                        return Err(Error::MissingValue { path: table.path, place: Box::new(place) });
                    }
                }
            }
            columns.push(values);
        }
        let rows: Vec<usize> = (0..n_samples).filter(|&i| !gone[i]).collect();
        if rows.is_empty() {
            return Err(Error::NothingLeft { path: table.path, n_samples });
        }
        let dropped = (0..n_samples).filter(|&i| gone[i]).map(|i| table.row_label(i)).collect();
        let kind = |column: &ReducedColumn| match &column.levels {
            Some(levels) => FeatureKind::Categorical { levels: levels.clone() },
            None => FeatureKind::Numeric,
        };
        let names = self.columns.iter().map(|column| column.name.clone()).collect();
        let mut data = Dataset::new(DenseColumns::from_columns(&columns)?, Target::None)?
            .with_feature_names(names)?
            .with_feature_kinds(self.columns.iter().map(kind).collect())?;
        if let Some(ids) = table.ids {
            data = data.with_sample_ids(ids)?;
        }
        if let Some(name) = table.id_name {
            data = data.with_sample_id_name(name);
        }
        let dataset = if rows.len() < n_samples { data.subset(&rows)? } else { data };
        Ok(Reduced { dataset, filled, dropped })
    }

    /// The feature of `table` that has this column.
    fn place(&self, wanted: &ReducedColumn, table: &Table) -> Option<usize> {
        let is_it = |j: &usize| match self.named {
            true => table.feature_name(*j) == wanted.name,
            false => table.column_label(*j).number == Some(wanted.column),
        };
        match &table.features {
            Features::Sparse(_) => Some(wanted.column).filter(|j| *j < table.n_features()),
            Features::Dense { .. } => (0..table.n_features()).find(is_it),
        }
    }

    /// The values of feature `j`, with the codes of the training table.
    fn values(&self, wanted: &ReducedColumn, table: &Table, j: usize) -> Result<Vec<f64>, Error> {
        let values = table.features.stored(j).to_vec(table.n_samples());
        let wrong = |code: usize, problem: String, advice: &str| {
            let i = values.iter().position(|value| *value == code as f64).unwrap_or(0);
            let place = Place::Cell { row: table.row_label(i), column: table.column_label(j) };
            Error::malformed(&table.path, place, problem, advice)
        };
        match (&wanted.levels, table.feature_kind(j)) {
            (None, FeatureKind::Categorical { levels }) if !levels.is_empty() => {
                let code = values.iter().find(|value| !value.is_nan()).map_or(0, |value| *value as usize);
                let found = levels.get(code).map_or("", String::as_str);
                let problem =
                    format!("{} is not a number, but the training table has numbers here", quoted(found));
                Err(wrong(code, problem, "correct the cell"))
            }
            (Some(known), FeatureKind::Categorical { levels }) => {
                let mut codes = Vec::with_capacity(levels.len());
                for (code, level) in levels.iter().enumerate() {
                    let Some(place) = position(known, level) else {
                        let known = listed(known.iter().map(String::as_str));
                        let problem = format!(
                            "{} is not among the categories of the training table, {known}",
                            quoted(level)
                        );
                        return Err(wrong(code, problem, "correct the cell, or leave the row out"));
                    };
                    codes.push(place as f64);
                }
                let coded = |value: &f64| if value.is_nan() { *value } else { codes[*value as usize] };
                Ok(values.iter().map(coded).collect())
            }
            _ => Ok(values),
        }
    }
}

/// The code of a category: that of its name, or of the same number written otherwise, as `1` and `1.0`.
fn position(levels: &[String], level: &str) -> Option<usize> {
    let number = |text: &str| text.parse::<f64>().ok().filter(|number| number.is_finite());
    levels.iter().position(|known| known == level).or_else(|| {
        let wanted = number(level)?;
        levels.iter().position(|known| number(known) == Some(wanted))
    })
}
