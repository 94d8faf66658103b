//! The content of a file, before missing values are handled.

use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fewest_core::{Column, Columns, FeatureKind, Graph};
use nalgebra_sparse::CscMatrix;

use crate::error::{ColumnLabel, RowLabel};
use crate::hints;
use crate::levels::{Interner, Spellings, levels_of_numbers, number_text, sort_levels};
use crate::roles::{self, Guess, Role};
use crate::source::Source;
use crate::suspicions::{self, Suspicions};
use crate::target::{self, TargetValues};
use crate::{Error, Format, Place, ReadOptions, Task};

/// A table as it was read: features, target and names. Missing values are NaN.
///
/// [`Table::summary`] describes it; [`Table::complete`] applies a policy for missing values and makes a
/// [`Dataset`](fewest_core::Dataset).
#[derive(Debug, Clone)]
pub struct Table {
    pub(crate) path: PathBuf,
    pub(crate) format: Format,
    pub(crate) features: Features,
    /// Names of the features, where the file has names.
    pub(crate) names: Option<Vec<String>>,
    /// Kinds of the features, where they are not all numeric.
    pub(crate) kinds: Option<Vec<FeatureKind>>,
    /// The column of each feature in the file, if it differs from the number of the feature.
    pub(crate) file_columns: Option<Vec<usize>>,
    pub(crate) target: TargetValues,
    pub(crate) target_labels: Vec<ColumnLabel>,
    /// How the target was found, where no option names it.
    pub(crate) guess: Option<Guess>,
    pub(crate) ids: Option<Vec<String>>,
    /// The header of the column of ids.
    pub(crate) id_name: Option<String>,
    pub(crate) sample_graph: Option<Arc<Graph>>,
    /// The first line of each sample, for text.
    pub(crate) lines: Option<Vec<u64>>,
    pub(crate) notes: Vec<String>,
}

/// Features as stored: NaN where missing.
#[derive(Debug, Clone)]
pub(crate) enum Features {
    /// One vector for each feature.
    Dense {
        columns: Vec<Vec<f64>>,
        n_samples: usize,
    },
    Sparse(CscMatrix<f64>),
}

impl Columns for Features {
    fn n_samples(&self) -> usize {
        match self {
            Features::Dense { n_samples, .. } => *n_samples,
            Features::Sparse(matrix) => matrix.nrows(),
        }
    }

    fn n_features(&self) -> usize {
        match self {
            Features::Dense { columns, .. } => columns.len(),
            Features::Sparse(matrix) => matrix.ncols(),
        }
    }

    fn column<'a>(&'a self, j: usize, _scratch: &'a mut Vec<f64>) -> Result<Column<'a>, fewest_core::Error> {
        Ok(self.stored(j))
    }
}

impl Features {
    /// Feature `j`, which is in memory.
    pub(crate) fn stored(&self, j: usize) -> Column<'_> {
        match self {
            Features::Dense { columns, .. } => Column::Dense(&columns[j]),
            Features::Sparse(matrix) => {
                let (offsets, rows, values) = matrix.csc_data();
                let range = offsets[j]..offsets[j + 1];
                Column::Sparse { rows: &rows[range.clone()], values: &values[range] }
            }
        }
    }
}

/// A column of a table, from a reader of another crate.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Cells {
    /// Finite numbers, NaN where missing.
    Numbers(Vec<f64>),
    /// Text, `None` where missing: categories, or the ids of samples.
    Texts(Vec<Option<String>>),
}

impl Cells {
    fn len(&self) -> usize {
        match self {
            Self::Numbers(values) => values.len(),
            Self::Texts(texts) => texts.len(),
        }
    }

    fn read_as(self, role: Role) -> ReadColumn {
        match (self, role) {
            (_, Role::Ignored) => ReadColumn::Ignored,
            (Self::Numbers(values), _) => target::plain(values),
            (Self::Texts(texts), Role::Id) => {
                ReadColumn::Ids(texts.into_iter().map(Option::unwrap_or_default).collect())
            }
            (Self::Texts(texts), _) => {
                let mut levels = Interner::default();
                let code = |text: &Option<String>| {
                    text.as_deref().map_or(f64::NAN, |text| f64::from(levels.code(text)))
                };
                let codes = texts.iter().map(code).collect();
                text_column(codes, levels.into_names())
            }
        }
    }
}

/// A column as returned by a reader.
#[derive(Debug)]
pub(crate) enum ReadColumn {
    /// NaN where missing.
    Numbers {
        values: Vec<f64>,
        spellings: Spellings,
        /// The first sample whose number was written with a decimal comma, and how.
        decimal_comma: Option<(usize, String)>,
    },
    /// Codes, NaN where missing, in the order of the names.
    Levels {
        codes: Vec<f64>,
        names: Vec<String>,
    },
    Ids(Vec<String>),
    Ignored,
}

/// A dense table as returned by a reader.
pub(crate) struct Parts {
    pub path: PathBuf,
    pub format: Format,
    pub names: Option<Vec<String>>,
    pub roles: Vec<Role>,
    pub(crate) guess: Option<Guess>,
    pub columns: Vec<ReadColumn>,
    pub n_samples: usize,
    pub lines: Option<Vec<u64>>,
    /// A target that is not a column of the table.
    pub separate_target: Vec<(ColumnLabel, ReadColumn)>,
}

impl Table {
    /// Reads a file.
    ///
    /// The format is [`ReadOptions::format`] or, when that is not given, one of [`ReadOptions::formats`]:
    /// what the first bytes say (NumPy, MATLAB), else what the extension says (`.csv`, `.tsv`, `.tab`,
    /// `.mat`, `.npy`, `.svm`, `.svmlight`, `.libsvm`, all but `.mat` also with `.gz` added), else the first
    /// line decides between svmlight and a table of text. Compressed content is recognised by its first
    /// bytes, whatever the name.
    ///
    /// # Columns of text tables
    /// A column is numeric when all its cells that are not missing are numbers, and categorical when none is;
    /// its codes follow the increasing order of its levels. A mixture is an error that names the first cell
    /// that does not fit, because a typing error must not turn a measurement into a category: say which text
    /// means "missing" or that the column is categorical. Infinite numbers are errors too.
    ///
    /// If the delimiter is not a comma, `307,0` is the number 307.0; points and commas in one column are an
    /// error. A target of text that looks like numbers, percentages or dates is an error unless
    /// [`ReadOptions::task`] says that it is classes; for features, [`Table::notes`] has a note.
    ///
    /// # Errors
    /// [`Error`] names the file, the line or row, the column, and says what to do.
    ///
    /// # Memory
    /// The values are stored column by column with 8 bytes each (sparse formats: 16 bytes a stored value);
    /// the text is not stored. A file whose values would take more than half of the memory is refused: before
    /// it is read where its size tells, otherwise as soon as they do.
    ///
    /// ```
    /// use fewest_data::{Missing, ReadOptions, Table};
    /// # let folder = std::env::temp_dir().join(format!("fewest-doc-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder)?;
    /// let path = folder.join("cars.csv");
    /// std::fs::write(&path, "power,fuel,price\n75,petrol,9.5\n,diesel,12.0\n110,petrol,14.5\n")?;
    /// let table = Table::read(&path, &ReadOptions::with_target("price"))?;
    /// assert_eq!((table.n_samples(), table.n_features()), (3, 2));
    /// let complete = table.complete(Missing::Mean)?;
    /// assert_eq!(complete.dataset.x().column(0, &mut Vec::new())?.to_vec(3), [75.0, 92.5, 110.0]);
    /// # std::fs::remove_dir_all(&folder)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn read(path: impl AsRef<Path>, options: &ReadOptions) -> Result<Self, Error> {
        Self::read_source(Source::open(path.as_ref())?, options)
    }

    /// As [`Table::read`], from what can be read only once, such as a pipe. Messages call it `name`, whose
    /// extension counts.
    ///
    /// # Errors
    /// As [`Table::read`].
    pub fn read_stream(
        name: impl AsRef<Path>,
        stream: impl Read + 'static,
        options: &ReadOptions,
    ) -> Result<Self, Error> {
        Self::read_source(Source::of_stream(name.as_ref(), stream, 0)?, options)
    }

    /// As [`Table::read`], from content already in memory. Messages call it `name`; its extension counts as
    /// that of a file.
    ///
    /// # Errors
    /// As [`Table::read`].
    ///
    /// ```
    /// use fewest_data::{ReadOptions, Table};
    /// let table = Table::read_bytes("stdin", b"a,b\n1,2\n3,4\n".as_slice().into(), &ReadOptions::default())?;
    /// assert_eq!((table.n_samples(), table.n_features()), (2, 2));
    /// # Ok::<(), fewest_data::Error>(())
    /// ```
    pub fn read_bytes(
        name: impl AsRef<Path>,
        bytes: Arc<[u8]>,
        options: &ReadOptions,
    ) -> Result<Self, Error> {
        let length = bytes.len() as u64;
        Self::read_source(Source::of_stream(name.as_ref(), Cursor::new(bytes), length)?, options)
    }

    fn read_source(source: Source, options: &ReadOptions) -> Result<Self, Error> {
        let format = match options.format {
            Some(format) => format,
            None => options.formats.recognise(&source)?,
        };
        let mut table = format.read(source, options)?;
        if options.reduction.is_none() {
            let hints = hints::hints(&table, options);
            table.notes.extend(hints);
        }
        Ok(table)
    }

    /// A table of the columns that a reader found in a file. Their names count if all have one.
    ///
    /// The options determine which columns are the target, ids or left out.
    ///
    /// # Errors
    /// [`Error::Malformed`] for columns of different lengths, no samples, or an infinite value; those of
    /// [`Table::read`] for options that do not fit.
    pub fn from_columns(
        path: &Path,
        format: Format,
        columns: Vec<(Option<String>, Cells)>,
        options: &ReadOptions,
    ) -> Result<Self, Error> {
        let (names, cells): (Vec<Option<String>>, Vec<Cells>) = columns.into_iter().unzip();
        let n_samples = cells.first().map_or(0, Cells::len);
        if n_samples == 0 {
            return Err(Error::malformed(
                path,
                Place::File,
                "there is no sample in it",
                "check how it was made",
            ));
        }
        let names: Option<Vec<String>> = names.into_iter().collect();
        for (number, cells) in cells.iter().enumerate() {
            if cells.len() != n_samples {
                let place = Place::Column(roles::label(names.as_deref(), number));
                let problem = format!("{} values, but the first column has {n_samples}", cells.len());
                return Err(Error::malformed(path, place, problem, "give each column one value per sample"));
            }
        }
        from_cells(path, format, names, cells, n_samples, Vec::new(), options)
    }

    /// Adds links between the samples. A sample that is dropped loses its links.
    ///
    /// # Errors
    /// [`fewest_core::Error::ShapeMismatch`] unless there are as many nodes as samples.
    pub fn with_sample_graph(mut self, graph: Graph) -> Result<Self, Error> {
        let (expected, found) = (self.n_samples(), graph.n_nodes());
        if expected != found {
            let what = "nodes of the sample graph";
            return Err(fewest_core::Error::ShapeMismatch { what, expected, found }.into());
        }
        self.sample_graph = Some(Arc::new(graph));
        Ok(self)
    }

    /// The file it was read from.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// How the target was found where [`TargetChoice::Guess`](crate::TargetChoice::Guess) left it open: "the
    /// column of that name", "the last column", or what the format calls its own.
    pub fn guess(&self) -> Option<&'static str> {
        let own = || (!self.target_labels.is_empty()).then(|| self.format.own_target());
        self.guess.map(|guess| guess.how).or_else(own)
    }

    /// The format it was read as.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Columns that may have been intended otherwise, one line for each kind: numbers with a decimal comma,
    /// text that looks like numbers, percentages or dates, categories of which most levels occur once, row
    /// numbers, a target of many whole numbers read as classes, or of nearly as many classes as samples.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Whether rows could be features and columns samples: very many rows, each with a name of its own, and
    /// few columns, all of numbers.
    pub fn looks_transposed(&self) -> bool {
        let (rows, columns) = (self.n_samples(), self.n_features() + self.target_labels.len());
        let levels = |j: usize| match self.feature_kind(j) {
            FeatureKind::Categorical { levels } => levels.len(),
            _ => 0,
        };
        let first = usize::from(self.ids.is_none());
        rows >= 500
            && columns >= 5
            && rows >= 10 * columns
            && (self.ids.is_some() || levels(0) == rows)
            && (first..self.n_features()).all(|j| levels(j) == 0)
    }

    /// Number of samples (rows).
    pub fn n_samples(&self) -> usize {
        self.features.n_samples()
    }

    /// Number of features (columns that are neither target nor ids).
    pub fn n_features(&self) -> usize {
        self.features.n_features()
    }

    /// The features with NaN where a value is missing.
    pub fn features(&self) -> &dyn Columns {
        &self.features
    }

    /// The name of feature `j`: from the file, or `f{j}` where the file has no names.
    pub fn feature_name(&self, j: usize) -> String {
        match self.names.as_ref().and_then(|names| names.get(j)) {
            Some(name) => name.clone(),
            None => format!("f{j}"),
        }
    }

    /// The kind of feature `j`.
    pub fn feature_kind(&self, j: usize) -> &FeatureKind {
        self.kinds.as_ref().and_then(|kinds| kinds.get(j)).unwrap_or(&FeatureKind::Numeric)
    }

    /// The names of the target's columns: from the file, or `target`, `target1`, … where it has none.
    pub fn target_names(&self) -> Vec<String> {
        let name = |(output, label): (usize, &ColumnLabel)| match (&label.name, output) {
            (Some(name), _) => name.clone(),
            (None, 0) => "target".to_owned(),
            (None, output) => format!("target{output}"),
        };
        self.target_labels.iter().enumerate().map(name).collect()
    }

    /// The column of feature `j` in the file.
    pub(crate) fn column_label(&self, j: usize) -> ColumnLabel {
        ColumnLabel {
            name: self.names.as_ref().and_then(|names| names.get(j)).cloned(),
            number: Some(self.file_columns.as_ref().map_or(j, |columns| columns[j])),
        }
    }

    /// The line or row of sample `i` in the file.
    pub(crate) fn row_label(&self, i: usize) -> RowLabel {
        match &self.lines {
            Some(lines) => RowLabel::Line(lines[i]),
            None => RowLabel::Sample(i),
        }
    }

    /// Sorts the columns of a dense table into features, target and ids.
    pub(crate) fn assemble(parts: Parts, options: &ReadOptions) -> Result<Self, Error> {
        let Parts { path, format, names, roles, guess, columns, n_samples, lines, separate_target } = parts;
        let mut kinds = Vec::new();
        let mut features = Vec::new();
        let mut file_columns = Vec::new();
        let mut targets: Vec<(usize, ColumnLabel, ReadColumn)> = Vec::new();
        let mut ids = None;
        let mut id_name = None;
        let mut suspicions = Suspicions::default();
        let row = |i: usize| lines.as_ref().map_or(RowLabel::Sample(i), |lines| RowLabel::Line(lines[i]));
        for (number, (role, column)) in roles.into_iter().zip(columns).enumerate() {
            let label = || roles::label(names.as_deref(), number);
            if let (
                Role::Feature | Role::Target(_),
                ReadColumn::Numbers { decimal_comma: Some((i, text)), .. },
            ) = (role, &column)
            {
                suspicions.decimal_comma(text, row(*i), label());
            }
            match (role, column) {
                (Role::Target(output), column) => {
                    if let (ReadColumn::Levels { codes, names }, Task::Auto) = (&column, options.task) {
                        suspicions::check_target(&path, &label(), codes, names, row)
                            .map_err(|error| roles::explain(guess, error))?;
                    }
                    targets.push((output, label(), column));
                }
                (Role::Id, ReadColumn::Ids(texts)) => (ids, id_name) = (Some(texts), label().name),
                (Role::Id, ReadColumn::Numbers { values, .. }) => {
                    (ids, id_name) = (Some(values.into_iter().map(number_text).collect()), label().name);
                }
                (Role::Category, ReadColumn::Numbers { mut values, spellings, .. }) => {
                    let levels = levels_of_numbers(&mut values, &spellings);
                    suspicions.categories(&values, &levels, label());
                    kinds.push(FeatureKind::Categorical { levels });
                    features.push(values);
                    file_columns.push(number);
                }
                (Role::Feature | Role::Category, ReadColumn::Levels { codes, names }) => {
                    match role {
                        Role::Feature => suspicions.text(&codes, &names, label(), row),
                        _ => suspicions.categories(&codes, &names, label()),
                    }
                    kinds.push(FeatureKind::Categorical { levels: names });
                    features.push(codes);
                    file_columns.push(number);
                }
                (Role::Feature, ReadColumn::Numbers { values, .. }) => {
                    kinds.push(FeatureKind::Numeric);
                    features.push(values);
                    file_columns.push(number);
                }
                _ => {}
            }
        }
        targets.sort_by_key(|(output, ..)| *output);
        let targets: Vec<_> =
            separate_target.into_iter().chain(targets.into_iter().map(|(_, l, c)| (l, c))).collect();
        let target_labels = targets.iter().map(|(label, _)| label.clone()).collect();
        let target =
            target::decide(&path, targets, options.task).map_err(|error| roles::explain(guess, error))?;
        let feature_names =
            names.map(|names| file_columns.iter().filter_map(|&column| names.get(column).cloned()).collect());
        let all_numeric = kinds.iter().all(|kind| *kind == FeatureKind::Numeric);
        let in_place = file_columns.iter().enumerate().all(|(feature, &column)| feature == column);
        Ok(Self {
            path,
            format,
            features: Features::Dense { columns: features, n_samples },
            names: feature_names,
            kinds: (!all_numeric).then_some(kinds),
            file_columns: (!in_place).then_some(file_columns),
            target,
            target_labels,
            guess,
            ids,
            id_name,
            sample_graph: None,
            lines,
            notes: suspicions.into_notes(),
        })
    }

    /// A table of sparse features.
    pub(crate) fn sparse(
        path: PathBuf,
        format: Format,
        matrix: CscMatrix<f64>,
        targets: Vec<(ColumnLabel, ReadColumn)>,
        lines: Option<Vec<u64>>,
        options: &ReadOptions,
    ) -> Result<Self, Error> {
        let target_labels = targets.iter().map(|(label, _)| label.clone()).collect();
        let target = target::decide(&path, targets, options.task)?;
        Ok(Self {
            path,
            format,
            features: Features::Sparse(matrix),
            names: None,
            kinds: None,
            file_columns: None,
            target,
            target_labels,
            guess: None,
            ids: None,
            id_name: None,
            sample_graph: None,
            lines,
            notes: Vec::new(),
        })
    }
}

/// The table of a binary format: numbers only, no names.
pub(crate) fn from_numbers(
    path: &Path,
    format: Format,
    columns: Vec<Vec<f64>>,
    n_samples: usize,
    separate_target: Vec<(ColumnLabel, ReadColumn)>,
    options: &ReadOptions,
) -> Result<Table, Error> {
    let cells = columns.into_iter().map(Cells::Numbers).collect();
    from_cells(path, format, None, cells, n_samples, separate_target, options)
}

/// A table from columns without the spelling of their numbers. The first infinite value is an error.
fn from_cells(
    path: &Path,
    format: Format,
    names: Option<Vec<String>>,
    cells: Vec<Cells>,
    n_samples: usize,
    separate_target: Vec<(ColumnLabel, ReadColumn)>,
    options: &ReadOptions,
) -> Result<Table, Error> {
    let (roles, guess) = roles::assign(path, names.as_deref(), cells.len(), options)?;
    for (number, (cells, role)) in cells.iter().zip(&roles).enumerate() {
        if let (Cells::Numbers(values), false) = (cells, *role == Role::Ignored) {
            check_infinite(path, values, &roles::label(names.as_deref(), number))
                .map_err(|error| roles::explain(guess, error))?;
        }
    }
    let columns = cells.into_iter().zip(&roles).map(|(cells, role)| cells.read_as(*role)).collect();
    let path = path.to_owned();
    let parts = Parts { path, format, names, roles, guess, columns, n_samples, lines: None, separate_target };
    Table::assemble(parts, options)
}

/// An error for the first infinite value of a column of a binary file.
pub(crate) fn check_infinite(path: &Path, values: &[f64], column: &ColumnLabel) -> Result<(), Error> {
    match values.iter().position(|value| value.is_infinite()) {
        None => Ok(()),
        Some(row) => Err(Error::malformed(
            path,
            Place::Cell { row: RowLabel::Sample(row), column: column.clone() },
            format!("the value is {}", values[row]),
            "replace it (by NaN if the value is missing)",
        )),
    }
}

/// Codes and names of a text column in their final order.
pub(crate) fn text_column(mut codes: Vec<f64>, names: Vec<String>) -> ReadColumn {
    let names = sort_levels(&mut codes, names);
    ReadColumn::Levels { codes, names }
}
