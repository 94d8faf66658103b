//! The content of a file, before missing values are handled.

use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fewest_core::{Column, Columns, FeatureKind, Graph};
use nalgebra_sparse::CscMatrix;

use crate::error::{ColumnLabel, RowLabel};
use crate::hints;
use crate::roles::Guess;
use crate::source::Source;
use crate::target::{TargetValues, unnamed_target};
use crate::{Error, Folder, Format, ReadOptions, TargetFound};

/// A table as it was read: features, target and names. Missing values are NaN.
///
/// [`Table::summary`] describes it; [`Table::complete`] applies a policy for missing values and makes a
/// [`Dataset`](fewest_core::Dataset).
#[derive(Debug, Clone)]
pub struct Table {
    pub(crate) path: PathBuf,
    pub(crate) format: Format,
    pub(crate) features: Features,
    /// Whether it is known that no value of a feature is missing.
    pub(crate) is_complete: bool,
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
    /// The weight of each sample.
    pub(crate) weights: Option<Vec<f64>>,
    /// The group of each sample, and the header of their column.
    pub(crate) groups: Option<(Vec<String>, Option<String>)>,
    pub(crate) sample_graph: Option<Arc<Graph>>,
    /// The first line of each sample, for text.
    pub(crate) lines: Option<Vec<u64>>,
    /// Rows of the file before the first sample, of a piece of a file.
    pub(crate) first_row: usize,
    /// The index of the first feature, where the file numbers its features.
    pub(crate) first_index: Option<usize>,
    /// The cells that mean "missing".
    pub(crate) missing_tokens: Vec<String>,
    /// Columns of a transposed file that were left out.
    pub(crate) not_samples: Vec<String>,
    pub(crate) file_digest: Option<String>,
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

impl Table {
    /// Reads a file.
    ///
    /// The format is [`ReadOptions::format`] or, when that is not given, one of [`ReadOptions::formats`]:
    /// what the first bytes say (NumPy, MATLAB), else what the extension says (`.csv`, `.tsv`, `.tab`,
    /// `.mat`, `.npy`, `.svm`, `.svmlight`, `.libsvm`, all also with `.gz` added), else the first line
    /// decides between svmlight and a table of text. Compressed content is recognised by its first bytes,
    /// whatever the name.
    ///
    /// A folder, or a path whose last part has `*` or `?`, is a table in several files, where the format has
    /// a reader of such: see [`Folder`].
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
        let mut path = path.as_ref();
        let found = Folder::find(path)?;
        if let Some(folder) = &found {
            let format = match options.format {
                Some(format) => format,
                None => options.formats.recognise(&Source::open_part(&folder.parts()[0])?)?,
            };
            match folder.parts() {
                [only] if folder.keys().is_empty() && !format.reads_folders() => path = only.path(),
                _ => {
                    let table = format.read_folder(folder.clone(), options)?;
                    return Ok(table.with_hints(options));
                }
            }
        }
        let source = if options.file_digest { Source::open_hashed(path) } else { Source::open(path) };
        Self::read_source(source?, options)
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

    fn read_source(mut source: Source, options: &ReadOptions) -> Result<Self, Error> {
        let digest = source.digest.take();
        let format = match options.format {
            Some(format) => format,
            None => options.formats.recognise(&source)?,
        };
        let table = format.read(source, options)?.with_hints(options);
        // A format may read what it holds by another one.
        Ok(Self { file_digest: digest, format, ..table })
    }

    /// With notes on what the whole table tells.
    fn with_hints(mut self, options: &ReadOptions) -> Self {
        if options.reduction.is_none() {
            let mut hints = hints::hints(&self, options);
            hints.retain(|hint| !self.notes.contains(hint));
            self.notes.extend(hints);
        }
        self
    }

    /// With one more of its [`notes`](Self::notes), for formats of other crates.
    #[must_use]
    pub fn with_note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
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

    /// How the target was found where [`TargetChoice::Guess`](crate::TargetChoice::Guess) left it open.
    pub fn guess(&self) -> Option<TargetFound> {
        let own = || (!self.target_labels.is_empty()).then(|| TargetFound::Own(self.format.own_target()));
        self.guess.map(|guess| guess.how).or_else(own)
    }

    /// SHA-256 of the file as it lies on disk, in hexadecimal digits as `sha256sum` prints it, where
    /// [`ReadOptions::file_digest`] asked for it; `None` for anything but a regular file.
    pub fn file_digest(&self) -> Option<&str> {
        self.file_digest.as_deref()
    }

    /// The format it was read as.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Columns that may have been intended otherwise, one line for each kind: numbers with a decimal comma,
    /// text that looks like numbers, percentages or dates, categories of which most levels occur once, row
    /// numbers, a target of many whole numbers read as classes, or of nearly as many classes as samples;
    /// and what a format of another crate says of the file.
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
            (None, output) => unnamed_target(output),
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
            None => RowLabel::Sample(self.first_row + i),
        }
    }
}
