//! Features that arrive.

use std::borrow::Cow;
use std::io::Read;
use std::path::{Path, PathBuf};

use csv::ByteRecord;
use fewest_core::{Dataset, DenseColumns, FeatureKind, Target};

use super::Lines;
use super::samples::too_short;
use crate::assembly::ReadColumn;
use crate::error::{ColumnLabel, RowLabel, quoted};
use crate::imputation::substitute;
use crate::levels::levels_of_numbers;
use crate::options::Task;
use crate::readers::cells::{Builder, Classifier};
use crate::readers::delimited::{has_header, header_names};
use crate::roles::{Role, TARGET_NAMES, find_column, matches_pattern};
use crate::target::{self, TargetValues, unnamed_target};
use crate::{Error, Header, Missing, Place, ReadOptions, TargetChoice};

/// A feature that arrived.
#[derive(Debug, Clone, PartialEq)]
pub struct ArrivedFeature {
    /// Its first line in the file, from 1.
    pub line: u64,
    /// A hash of all lines up to this one.
    pub hash: u64,
    /// Its name.
    pub name: String,
    kind: FeatureKind,
    values: Vec<f64>,
    /// Whether it is one of those to ignore.
    pub left_out: bool,
}

/// The features of a text table with a feature a line, read once.
///
/// The first cell of a line is the name of the feature. The first line has the names of the samples, unless
/// [`Header::No`] says that it has values. The target is the next line, or that of
/// [`read_target`](Self::read_target). A feature of text is a category, and a mixture an error. Missing
/// values are an error, or filled in by the mean or median of the feature; samples cannot be left out, since
/// the features before had them.
///
/// ```
/// use fewest_data::{ArrivingFeatures, Missing, ReadOptions};
/// let text = b"id,s1,s2,s3\ny,no,yes,no\na,1,2,3\nb,red,blue,red\n".as_slice();
/// let mut features = ArrivingFeatures::open("stdin", text, &ReadOptions::default(), Missing::Error, None)?;
/// let first = features.next_feature()?.ok_or("there is one")?;
/// assert_eq!((first.name.as_str(), features.dataset(&first)?.n_samples()), ("a", 3));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ArrivingFeatures {
    path: PathBuf,
    lines: Lines,
    sample_names: Option<Vec<String>>,
    target: Target,
    target_name: String,
    classifier: Classifier,
    categorical: Vec<Vec<char>>,
    ignore: Vec<Vec<char>>,
    missing: Missing,
}

/// A target from a file of its own, and the names of its samples, where it has any.
#[derive(Debug, Clone, PartialEq)]
pub struct FeatureTarget {
    target: Target,
    name: String,
    ids: Option<Vec<String>>,
}

impl ArrivingFeatures {
    /// Reads the names of the samples and, unless it is given or there is none ([`TargetChoice::None`]), the
    /// target.
    ///
    /// # Errors
    /// As [`Table::read`](crate::Table::read) for these lines; [`Error::Malformed`] for a given target of
    /// other samples; [`fewest_core::Error::InvalidParameter`] for a policy that leaves samples out.
    pub fn open(
        path: impl AsRef<Path>,
        content: impl Read + 'static,
        options: &ReadOptions,
        missing: Missing,
        target: Option<FeatureTarget>,
    ) -> Result<Self, Error> {
        if missing == Missing::DropRows {
            let expected = "error, mean or median: samples cannot be left out of features that came before";
            return Err(fewest_core::Error::parameter("missing", missing.name(), expected).into());
        }
        let path = path.as_ref().to_owned();
        let (mut lines, delimiter) = Lines::open(&path, content, options)?;
        let classifier = Classifier::new(&options.missing_tokens, delimiter != b',');
        let nothing = || {
            let advice = "check how the file was made";
            Error::malformed(&path, Place::File, "there is no line of values", advice)
        };
        let mut sample_names = None;
        if options.header != Header::No {
            let line = lines.next()?.ok_or_else(nothing)?;
            let names = cells(&path, line, &lines.record)?;
            let names: Vec<String> = names.into_iter().skip(1).collect();
            if options.header == Header::Auto {
                check_names(&path, line, &names)?;
            }
            sample_names = Some(names);
        }
        let (target, target_name) = match target {
            Some(given) => {
                check_samples(&path, &given, sample_names.as_deref())?;
                (given.target, given.name)
            }
            None if options.target == TargetChoice::None => (Target::None, String::new()),
            None => {
                let line = lines.next()?.ok_or_else(nothing)?;
                let names = cells(&path, line, &lines.record)?;
                let name = names.first().cloned().unwrap_or_default();
                if let TargetChoice::Columns(wanted) = &options.target
                    && *wanted != [name.clone()]
                {
                    let problem = format!(
                        "the first line of values is {}, not the target {}",
                        quoted(&name),
                        quoted(&wanted.join(","))
                    );
                    let advice = "put the target first, or in a file of its own (on the command line: \
                                  --target-file)";
                    return Err(Error::malformed(&path, Place::Line(line), problem, advice));
                }
                let place = |at| cell_of(line, at, sample_names.as_deref());
                let builder = Builder::new(Role::Target(0), options.task);
                let read = read_cells(&path, place, lines.record.iter().skip(1), &classifier, builder)?;
                (target_of(&path, &name, read, options.task, place)?, name)
            }
        };
        let patterns = |names: &[String]| names.iter().map(|name| name.chars().collect()).collect();
        let (categorical, ignore) = (patterns(&options.categorical), patterns(&options.ignore));
        Ok(Self { path, lines, sample_names, target, target_name, classifier, categorical, ignore, missing })
    }

    /// The target, one value a line, of the samples in the order in which the features have them: the column
    /// that `options` name, or the only one, or else the one called target, label, class or y, or the last.
    /// A first line of names counts as one by the rules of [`Header`]; a first column that is not the target
    /// has the names of the samples.
    ///
    /// # Errors
    /// As [`Table::read`](crate::Table::read).
    pub fn read_target(
        path: impl AsRef<Path>,
        content: impl Read + 'static,
        options: &ReadOptions,
    ) -> Result<FeatureTarget, Error> {
        let path = path.as_ref();
        let (mut lines, delimiter) = Lines::open(path, content, options)?;
        let classifier = Classifier::new(&options.missing_tokens, delimiter != b',');
        let mut records = Vec::new();
        while let Some(line) = lines.next()? {
            records.push((line, lines.keep()?));
        }
        let first: Vec<Vec<Cow<'_, [u8]>>> = records
            .iter()
            .take(2)
            .map(|(_, record)| record.iter().map(|cell| Cow::Owned(cell.to_vec())).collect())
            .collect();
        let Some(header) = first.first() else {
            return Err(Error::malformed(path, Place::File, "there is no line of values", "check the file"));
        };
        let second = first.get(1).map(Vec::as_slice);
        let names = if has_header(header, second, &classifier, options.header) {
            let (line, record) = records.remove(0);
            Some(cells(path, line, &record)?)
        } else {
            None
        };
        let at = target_column(path, names.as_deref(), lines.n_cells, options)?;
        let name = names.as_ref().and_then(|names| names.get(at)).cloned();
        let name = name.unwrap_or_else(|| unnamed_target(0));
        let column = ColumnLabel { name: names.is_some().then(|| name.clone()), number: Some(at) };
        let place = |row: usize| Place::Cell {
            row: RowLabel::Line(records.get(row).map_or(0, |(line, _)| *line)),
            column: column.clone(),
        };
        let own = records.iter().map(|(_, record)| record.get(at).unwrap_or_default());
        let builder = Builder::new(Role::Target(0), options.task);
        let read = read_cells(path, place, own, &classifier, builder)?;
        let ids = (at > 0).then(|| {
            let id = |(_, record): &(u64, ByteRecord)| {
                String::from_utf8_lossy(record.get(0).unwrap_or_default()).trim().to_owned()
            };
            records.iter().map(id).collect()
        });
        Ok(FeatureTarget { target: target_of(path, &name, read, options.task, place)?, name, ids })
    }

    /// The target.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// Its name.
    pub fn target_name(&self) -> &str {
        &self.target_name
    }

    /// The names of the samples, where the first line has them.
    pub fn sample_names(&self) -> Option<&[String]> {
        self.sample_names.as_deref()
    }

    /// The next feature, or `None` at the end.
    ///
    /// # Errors
    /// [`Error::Malformed`] with the line for one with another number of cells or without a name, or with a
    /// cell that does not go with those before it; [`Error::MissingInStream`].
    pub fn next_feature(&mut self) -> Result<Option<ArrivedFeature>, Error> {
        let Some(line) = self.lines.next()? else { return Ok(None) };
        let (hash, record) = (self.lines.hash, &self.lines.record);
        let name = String::from_utf8_lossy(record.get(0).unwrap_or_default()).trim().to_owned();
        if name.is_empty() {
            let advice = "write it in the first cell";
            return Err(Error::malformed(&self.path, Place::Line(line), "the feature has no name", advice));
        }
        let matches = |patterns: &[Vec<char>]| patterns.iter().any(|pattern| matches_pattern(pattern, &name));
        if matches(&self.ignore) {
            let (kind, values) = (FeatureKind::Numeric, Vec::new());
            return Ok(Some(ArrivedFeature { line, hash, name, kind, values, left_out: true }));
        }
        let n_samples = record.len().saturating_sub(1);
        if self.target.n_samples().is_some_and(|n| n != n_samples) {
            let problem = format!(
                "{n_samples} values, but the target has {}",
                self.target.n_samples().unwrap_or_default()
            );
            return Err(Error::malformed(
                &self.path,
                Place::Line(line),
                problem,
                "give all the same samples",
            ));
        }
        let role = if matches(&self.categorical) { Role::Category } else { Role::Feature };
        let place = |at| cell_of(line, at, self.sample_names.as_deref());
        let builder = Builder::new(role, Task::Auto);
        let read = read_cells(&self.path, place, record.iter().skip(1), &self.classifier, builder)?;
        let (mut values, kind) = match (read, role) {
            (ReadColumn::Numbers { mut values, spellings, .. }, Role::Category) => {
                let levels = levels_of_numbers(&mut values, &spellings);
                (values, FeatureKind::Categorical { levels })
            }
            (ReadColumn::Numbers { values, .. }, _) => (values, FeatureKind::Numeric),
            (ReadColumn::Levels { codes, names }, _) => (codes, FeatureKind::Categorical { levels: names }),
            (ReadColumn::Ids(_) | ReadColumn::Ignored, _) => (Vec::new(), FeatureKind::Numeric),
        };
        if let Some(at) = values.iter().position(|value| value.is_nan()) {
            let present: Vec<f64> = values.iter().copied().filter(|value| !value.is_nan()).collect();
            if self.missing == Missing::Error {
                return Err(self.missing_at(line, at));
            }
            if present.is_empty() {
                let advice = "leave the feature out (on the command line: --ignore)";
                let problem = format!("{} has no value in any sample", quoted(&name));
                return Err(Error::malformed(&self.path, Place::Line(line), problem, advice));
            }
            let by = substitute(self.missing, kind != FeatureKind::Numeric, present);
            values.iter_mut().filter(|value| value.is_nan()).for_each(|value| *value = by);
        }
        Ok(Some(ArrivedFeature { line, hash, name, kind, values, left_out: false }))
    }

    fn missing_at(&self, line: u64, at: usize) -> Error {
        let place = Box::new(cell_of(line, at, self.sample_names.as_deref()));
        let instead = "mean|median";
        Error::MissingInStream { path: self.path.clone(), place, instead }
    }

    /// Passes over `n` lines that were read before, and returns the hash of all of them.
    ///
    /// # Errors
    /// As [`next_feature`](Self::next_feature); [`Error::Malformed`] where there are fewer.
    pub fn skip(&mut self, n: u64) -> Result<u64, Error> {
        for done in 0..n {
            if self.lines.next()?.is_none() {
                return Err(too_short(&self.path, n, done));
            }
        }
        Ok(self.lines.hash)
    }

    /// The feature with the target.
    ///
    /// # Errors
    /// Those of [`Dataset::new`].
    pub fn dataset(&self, feature: &ArrivedFeature) -> Result<Dataset, fewest_core::Error> {
        feature.dataset(self.target.clone())
    }
}

impl ArrivedFeature {
    /// The feature with a target.
    ///
    /// # Errors
    /// Those of [`Dataset::new`].
    pub fn dataset(&self, target: Target) -> Result<Dataset, fewest_core::Error> {
        let n = self.values.len();
        Dataset::new(DenseColumns::new(self.values.clone(), n, 1)?, target)?
            .with_feature_names(vec![self.name.clone()])?
            .with_feature_kinds(vec![self.kind.clone()])
    }

    /// Several features with a target, in one data set.
    ///
    /// # Errors
    /// Those of [`Dataset::new`].
    pub fn together(features: &[&Self], target: Target) -> Result<Dataset, fewest_core::Error> {
        let columns: Vec<Vec<f64>> = features.iter().map(|own| own.values.clone()).collect();
        Dataset::new(DenseColumns::from_columns(&columns)?, target)?
            .with_feature_names(features.iter().map(|own| own.name.clone()).collect())?
            .with_feature_kinds(features.iter().map(|own| own.kind.clone()).collect())
    }
}

/// The cell of sample `at` in a line.
fn cell_of(line: u64, at: usize, sample_names: Option<&[String]>) -> Place {
    let name = sample_names.and_then(|names| names.get(at)).filter(|name| !name.is_empty());
    let column = ColumnLabel { name: name.cloned(), number: Some(at + 1) };
    Place::Cell { row: RowLabel::Line(line), column }
}

fn cells(path: &Path, line: u64, record: &ByteRecord) -> Result<Vec<String>, Error> {
    let cells: Vec<_> = record.iter().map(Cow::Borrowed).collect();
    header_names(path, line, &cells)
}

/// Refuses a first line that may hold values in place of the names of samples, where nobody says which: one
/// with a cell twice, or with numbers that are not whole.
fn check_names(path: &Path, line: u64, names: &[String]) -> Result<(), Error> {
    let mut seen = std::collections::HashSet::new();
    let twice = names.iter().find(|name| !name.is_empty() && !seen.insert(name.as_str()));
    let is_measured = |name: &String| name.parse::<f64>().is_ok_and(|number| number.fract() != 0.0);
    let problem = match twice {
        Some(name) => format!("{} is there twice", quoted(name)),
        None if !names.is_empty() && names.iter().all(is_measured) => "all cells are numbers".to_owned(),
        None => return Ok(()),
    };
    let problem = format!("{problem}, so that the line may hold values, and no names of samples");
    let advice = "say which it is (on the command line: --header no for values, --header yes for names)";
    Err(Error::malformed(path, Place::Line(line), problem, advice))
}

/// A column from its cells.
fn read_cells<'a>(
    path: &Path,
    place: impl Fn(usize) -> Place,
    cells: impl Iterator<Item = &'a [u8]>,
    classifier: &Classifier,
    mut builder: Builder,
) -> Result<ReadColumn, Error> {
    for (at, cell) in cells.enumerate() {
        let found = classifier.classify(cell).map_err(|text| {
            let problem = format!("{} is not UTF-8 text", quoted(&text));
            Error::malformed(
                path,
                place(at),
                problem,
                "save the file as UTF-8, or name its encoding (--encoding)",
            )
        })?;
        builder
            .push(found)
            .map_err(|(problem, advice)| Error::malformed(path, place(at), problem, advice))?;
    }
    Ok(builder.finish())
}

/// The target of all samples; `place` is where that of a sample stands.
fn target_of(
    path: &Path,
    name: &str,
    read: ReadColumn,
    task: Task,
    place: impl Fn(usize) -> Place,
) -> Result<Target, Error> {
    let column = ColumnLabel { name: Some(name.to_owned()), number: None };
    let values = target::decide(path, vec![(column, read)], task)?;
    let missing = values.columns().iter().find_map(|values| values.iter().position(|value| value.is_nan()));
    if let Some(at) = missing {
        let advice = "write it, or leave the sample out of the target and of all features";
        return Err(Error::malformed(path, place(at), "the target is missing", advice));
    }
    Ok(match values {
        TargetValues::Real(outputs) => {
            let n = outputs.first().map_or(0, Vec::len);
            Target::outputs(outputs.concat(), n)?
        }
        TargetValues::Class { codes, names } => {
            Target::classes(codes.iter().map(|&code| code as u32).collect(), names)?
        }
        TargetValues::None | TargetValues::Survival(_) => Target::None,
    })
}

/// The column of the target in a file of its own.
fn target_column(
    path: &Path,
    names: Option<&[String]>,
    n_columns: usize,
    options: &ReadOptions,
) -> Result<usize, Error> {
    if let TargetChoice::Columns(wanted) = &options.target {
        let Some(wanted) = wanted.first() else { return Ok(n_columns - 1) };
        return find_column(path, names, n_columns, wanted);
    }
    let usual = names.and_then(|names| {
        let usual = |wanted: &&str| names.iter().position(|name| name.eq_ignore_ascii_case(wanted));
        TARGET_NAMES.iter().find_map(usual)
    });
    Ok(usual.unwrap_or(n_columns - 1))
}

/// Refuses a target of other samples than the features have.
fn check_samples(path: &Path, given: &FeatureTarget, names: Option<&[String]>) -> Result<(), Error> {
    let Some(names) = names else { return Ok(()) };
    let advice = "give the target a line for each sample, in the order of the columns";
    let wrong = |problem: String| Err(Error::malformed(path, Place::File, problem, advice));
    let n = given.target.n_samples().unwrap_or(0);
    if n != names.len() {
        return wrong(format!("there are {} samples, but the target has {n}", names.len()));
    }
    let ids = given.ids.as_deref().unwrap_or(names);
    match ids.iter().zip(names).find(|(own, its)| own != its) {
        None => Ok(()),
        Some((own, its)) => {
            wrong(format!("the target has sample {} where the features have {}", quoted(own), quoted(its)))
        }
    }
}
