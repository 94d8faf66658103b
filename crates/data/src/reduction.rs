//! Selected features, made again from the rows of another file.

use fewest_core::{Dataset, DenseColumns, FeatureKind, Target};
use serde::{Deserialize, Serialize};

use crate::error::{listed, quoted};
use crate::imputation::substitute;
use crate::lookup::find_all;
use crate::options::usual_missing_tokens;
use crate::roles::{add_columns, lacks};
use crate::table::{Features, Table};
use crate::{Complete, Error, Missing, Place, ReadOptions, RowLabel};

/// What must be known of a table to make its selected features again from other rows: their columns, the
/// levels they had, and what its missing values were filled in by.
///
/// ```
/// use fewest_data::{Missing, ReadOptions, Reduction, Table, Unknown};
/// let read = |text: &str, options: &ReadOptions| Table::read_bytes("t.csv", text.as_bytes().into(), options);
/// let training = "age,fuel,price\n1,petrol,9\n,diesel,12\n3,petrol,14\n";
/// let complete = read(training, &ReadOptions::with_target("price"))?.complete(Missing::Mean)?;
/// let reduction = Reduction::of(&complete, Missing::Mean, &[1, 0])?;
///
/// let options = ReadOptions { reduction: Some(reduction.clone()), ..ReadOptions::default() };
/// let reduced = reduction.apply(read("fuel,colour,age\ndiesel,red,\n", &options)?, Unknown::Error)?;
/// let value = |j| reduced.dataset.x().column(j, &mut Vec::new()).map(|column| column.to_vec(1));
/// // The level has its code of the training table, and the gap the mean of the training table.
/// assert_eq!((value(0)?, value(1)?, reduced.filled), (vec![0.0], vec![2.0], 1));
/// # Ok::<(), fewest_data::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Reduction {
    /// Whether the columns have names; if not, they are found by their numbers.
    pub named: bool,
    /// The index of the first feature, where the file numbers its features itself (svmlight).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_index: Option<usize>,
    /// The policy for missing values.
    #[serde(with = "missing_by_name")]
    pub missing: Missing,
    /// The cells that mean "missing", see [`ReadOptions::missing_tokens`]; those of its default where a
    /// document does not say.
    #[serde(default = "usual_missing_tokens")]
    pub missing_tokens: Vec<String>,
    /// The columns of a transposed file that are no samples, see [`ReadOptions::ignore`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_samples: Vec<String>,
    /// The column of each feature, in the order of the selection.
    pub columns: Vec<ReducedColumn>,
}

/// The column of a selected feature.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ReducedColumn {
    /// Its name.
    pub name: String,
    /// Its number in the file, from 0.
    pub column: usize,
    /// The levels by their codes; none for numbers.
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
    /// The levels that were taken for missing values, see [`Unknown::Missing`].
    pub unknown: Vec<UnknownLevel>,
    /// The columns of which none of several rows had a value, so that each was filled in.
    pub empty: Vec<String>,
    /// The columns of a transposed file that were left out, since they are no samples.
    pub not_samples: Vec<String>,
}

/// What a level is taken for that the training table does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Unknown {
    /// An error that names the first cell.
    #[default]
    Error,
    /// A missing value. Where nothing fills in missing values and rows with them are not left out, an error.
    Missing,
}

/// A level that the training table does not have.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnknownLevel {
    /// The name of the column.
    pub column: String,
    /// The level.
    pub level: String,
    /// The number of its cells.
    pub cells: usize,
}

/// What replaces a missing value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum Fill {
    /// The mean or median.
    Number(f64),
    /// The most frequent level.
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
                    let by = match complete.substitutes.binary_search_by_key(&j, |(feature, _)| *feature) {
                        Ok(at) => complete.substitutes[at].1,
                        Err(_) => substitute(missing, levels.is_some(), values),
                    };
                    Some(match &levels {
                        Some(levels) => Fill::Level(levels.get(by as usize).cloned().unwrap_or_default()),
                        None => Fill::Number(by),
                    })
                }
            };
            Ok(ReducedColumn { name: data.feature_name(j), column, levels, fill })
        };
        let columns = features.iter().map(column).collect::<Result<_, _>>()?;
        Ok(Self {
            named: complete.named,
            first_index: complete.first_index,
            missing,
            missing_tokens: complete.missing_tokens.clone(),
            not_samples: complete.not_samples.clone(),
            columns,
        })
    }

    /// `options` with what must be as in the training table: the first index, where the format has one, and
    /// the cells that mean "missing".
    ///
    /// # Errors
    /// [`fewest_core::Error::InvalidParameter`] for an option that contradicts the training table.
    pub(crate) fn settle(&self, options: &ReadOptions, has_indices: bool) -> Result<ReadOptions, Error> {
        if let (Some(given), Some(known)) = (options.first_index, self.first_index)
            && given != known
        {
            let expected = format!("{known}, as in the training table");
            return Err(fewest_core::Error::parameter("first_index", given, expected).into());
        }
        let usual = usual_missing_tokens();
        let same = |token: &String, other: &String| token.trim().eq_ignore_ascii_case(other.trim());
        let known = |token: &String| self.missing_tokens.iter().chain(&usual).any(|other| same(token, other));
        if let Some(token) = options.missing_tokens.iter().find(|token| !known(token)) {
            let own = self.missing_tokens.iter().filter(|token| !usual.contains(token)).map(String::as_str);
            let own: Vec<&str> = own.collect();
            let expected = match own.is_empty() {
                true => "left out: it is a value like any other in the training table".to_owned(),
                false => format!("{}, as in the training table", listed(own.into_iter())),
            };
            return Err(fewest_core::Error::parameter("missing_tokens", quoted(token), expected).into());
        }
        Ok(ReadOptions {
            first_index: self.first_index.filter(|_| has_indices).or(options.first_index),
            missing_tokens: self.missing_tokens.clone(),
            ..options.clone()
        })
    }

    /// The features in the rows of `table`, which was read with
    /// [`ReadOptions::reduction`](crate::ReadOptions::reduction), with their levels coded as in the
    /// training table, and other levels as `unknown` says. Without a target.
    ///
    /// # Errors
    /// [`Error::Malformed`] for columns that cannot be found, or are empty where nothing fills them in, a
    /// level that the training table does not have, or text where it has numbers;
    /// [`Error::MissingValue`] where nothing fills in a missing value; [`Error::NothingLeft`] where rows with
    /// missing values are dropped and none is left.
    pub fn apply(&self, table: Table, unknown: Unknown) -> Result<Reduced, Error> {
        let n_samples = table.n_samples();
        let mut filled = 0;
        let (mut unknown_levels, mut empty) = (Vec::new(), Vec::new());
        let not_samples = table.not_samples.clone();
        let mut gone = vec![false; n_samples];
        let mut columns = Vec::with_capacity(self.columns.len());
        for (wanted, place) in self.columns.iter().zip(self.places(&table)?) {
            let mut values = match place {
                Some(j) => self.values(wanted, &table, j, unknown, &mut unknown_levels)?,
                // A sparse file ends with the last column that has a value.
                None => vec![0.0; n_samples],
            };
            let by = match (&wanted.fill, &wanted.levels) {
                (Some(Fill::Number(by)), None) => Some(*by),
                (Some(Fill::Level(level)), Some(levels)) => {
                    codes(levels, std::slice::from_ref(level))[0].map(|code| code as f64)
                }
                _ => None,
            };
            if n_samples > 1 && values.iter().all(|value| value.is_nan()) {
                if by.is_none() {
                    let column = table.column_label(place.unwrap_or(wanted.column));
                    return Err(Error::malformed(
                        &table.path,
                        Place::Column(column),
                        "the column of the selection is empty: no row has a value",
                        "write its values, or select again with missing values filled in (on the command line: \
                         `fewest select` with --missing mean|median)",
                    ));
                }
                empty.push(wanted.name.clone());
            }
            for (i, value) in values.iter_mut().enumerate().filter(|(_, value)| value.is_nan()) {
                match by {
                    Some(by) => {
                        *value = by;
                        filled += 1;
                    }
                    None if self.missing == Missing::DropRows => gone[i] = true,
                    None => {
                        let column = table.column_label(place.unwrap_or(wanted.column));
                        let place = Place::Cell { row: table.row_label(i), column };
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
        Ok(Reduced { dataset, filled, dropped, unknown: unknown_levels, empty, not_samples })
    }

    /// The feature of `table` that each column is; `None` behind the last one that a sparse table stores.
    fn places(&self, table: &Table) -> Result<Vec<Option<usize>>, Error> {
        let wanted = self.columns.iter();
        let n_features = table.n_features();
        match &table.features {
            Features::Sparse(_) => {
                self.check_numbers_only(table)?;
                Ok(wanted.map(|wanted| Some(wanted.column).filter(|j| *j < n_features)).collect())
            }
            Features::Dense { .. } => {
                let names: Vec<String> = (0..n_features).map(|j| table.feature_name(j)).collect();
                let places = match self.named {
                    true => {
                        let names = names.iter().map(String::as_str);
                        find_all(names, wanted.clone().map(|wanted| wanted.name.as_str()))
                    }
                    false => {
                        let numbers = (0..n_features).map(|j| table.column_label(j).number);
                        find_all(numbers, wanted.clone().map(|wanted| Some(wanted.column)))
                    }
                };
                let lacking = wanted.zip(&places).filter(|(_, place)| place.is_none());
                let lacking: Vec<&str> = lacking.map(|(wanted, _)| wanted.name.as_str()).collect();
                if lacking.is_empty() {
                    return Ok(places);
                }
                let others = (0..n_features).filter(|j| !places.contains(&Some(*j)));
                let others: Vec<&str> = others.map(|j| names[j].as_str()).collect();
                Err(lacks(&table.path, &lacking, &add_columns(&lacking, &others)))
            }
        }
    }

    /// An error for columns by name, or with levels: a sparse table has neither names nor text.
    fn check_numbers_only(&self, table: &Table) -> Result<(), Error> {
        let categorical = self.columns.iter().find(|column| column.levels.is_some());
        let problem = match categorical {
            _ if self.named => format!(
                "{} files have no names, by which the columns of the selection are found",
                table.format
            ),
            Some(column) => {
                format!("{} is categorical in the training table, but has numbers here", quoted(&column.name))
            }
            None => return Ok(()),
        };
        let advice = "give a table of the same kind as the training table, for example .csv";
        Err(Error::malformed(&table.path, Place::File, problem, advice))
    }

    /// The values of feature `j`, with the codes of the training table; levels that are taken for missing
    /// values are NaN, and added to `found`.
    fn values(
        &self,
        wanted: &ReducedColumn,
        table: &Table,
        j: usize,
        unknown: Unknown,
        found: &mut Vec<UnknownLevel>,
    ) -> Result<Vec<f64>, Error> {
        let values = table.features.stored(j).to_vec(table.n_samples());
        // The first cell with such a code.
        let first = |is_wrong: &dyn Fn(usize) -> bool| {
            let mut cells = values.iter().enumerate().filter(|(_, value)| !value.is_nan());
            cells.find(|(_, value)| is_wrong(**value as usize)).map(|(i, value)| (i, *value as usize))
        };
        let wrong = |i: usize, problem: String, advice: &str| {
            let place = Place::Cell { row: table.row_label(i), column: table.column_label(j) };
            Error::malformed(&table.path, place, problem, advice)
        };
        match (&wanted.levels, table.feature_kind(j)) {
            (None, FeatureKind::Categorical { levels }) if !levels.is_empty() => {
                let (i, code) = first(&|_| true).unwrap_or((0, 0));
                let found = levels.get(code).map_or("", String::as_str);
                let problem =
                    format!("{} is not a number, but the training table has numbers here", quoted(found));
                Err(wrong(i, problem, "correct the cell"))
            }
            (Some(known), FeatureKind::Categorical { levels }) => {
                let codes = codes(known, levels);
                let takes_missing = unknown == Unknown::Missing && self.missing != Missing::Error;
                if !takes_missing
                    && let Some((i, code)) = first(&|code| codes.get(code).is_some_and(Option::is_none))
                {
                    let known = listed(known.iter().map(String::as_str));
                    let problem = format!(
                        "{} is not among the levels of the training table, {known}",
                        quoted(&levels[code])
                    );
                    let advice = match self.missing {
                        Missing::Error => {
                            "correct the cell, or leave the row out; to take it for a missing value, select again with \
                             something that fills those in (on the command line: --missing drop-rows|mean|median)"
                        }
                        _ => {
                            "correct the cell, leave the row out, or take it for a missing value (on the command line: \
                             --unknown missing)"
                        }
                    };
                    return Err(wrong(i, problem, advice));
                }
                // Missing values remain missing.
                let mut cells = vec![0; levels.len()];
                let coded = |value: &f64| match codes.get(*value as usize) {
                    Some(code) if !value.is_nan() => {
                        cells[*value as usize] += usize::from(code.is_none());
                        code.map_or(f64::NAN, |code| code as f64)
                    }
                    _ => f64::NAN,
                };
                let values = values.iter().map(coded).collect();
                let counted = levels.iter().zip(cells).filter(|(_, cells)| *cells > 0);
                found.extend(counted.map(|(level, cells)| UnknownLevel {
                    column: wanted.name.clone(),
                    level: level.clone(),
                    cells,
                }));
                Ok(values)
            }
            _ => Ok(values),
        }
    }
}

/// The code of each level: that of its name, or of the same number written otherwise, as `1` and `1.0`.
fn codes(known: &[String], levels: &[String]) -> Vec<Option<usize>> {
    let by_name = find_all(known.iter(), levels.iter());
    if by_name.iter().all(Option::is_some) {
        return by_name;
    }
    let number = |text: &String| {
        let number = text.parse::<f64>().ok().filter(|number| number.is_finite())?;
        // Zero has one sign.
        Some((number + 0.0).to_bits())
    };
    let by_number = find_all(known.iter().map(number), levels.iter().map(number));
    let by_number = levels.iter().zip(by_number).map(|(level, code)| number(level).and(code));
    by_name.into_iter().zip(by_number).map(|(by_name, by_number)| by_name.or(by_number)).collect()
}
