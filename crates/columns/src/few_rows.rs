//! A table of at most a batch of rows: nothing is saved by sums over them, so they are read as they are.

use fewest_core::{
    BATCH_ROWS, Dataset, DenseColumns, Error, FeatureKind, RowSums, SampleStream, State, Target, Whole,
    rewind,
};

/// The table of `stream`, which has `n` rows, at most [`BATCH_ROWS`], and features as in its `first` rows;
/// here or [elsewhere](SampleStream::sum_elsewhere): its values, target, and the kinds and names of features.
///
/// ```
/// use fewest_core::{Dataset, DenseColumns, RowBatches, Target};
///
/// let x = DenseColumns::from_columns(&[vec![1.0, 2.0, 3.0]])?;
/// let data = Dataset::new(x, Target::real(vec![0.5, 1.5, 2.5])?)?;
/// let mut stream = RowBatches::new(&data, 2)?;
/// let whole = fewest_columns::few_rows(&mut stream, &data.subset(&[0])?, 3)?;
/// assert_eq!((whole.n_samples(), whole.target()), (3, data.target()));
/// # Ok::<(), fewest_core::Error>(())
/// ```
///
/// # Errors
/// Those of the stream; [`Error::Unreadable`] for other rows or features; [`Error::TooFew`] for none;
/// [`Error::Unsupported`] for a stream that cannot be rewound.
pub fn few_rows(stream: &mut dyn SampleStream, first: &Dataset, n: usize) -> Result<Dataset, Error> {
    rewind(stream)?;
    let bytes = match stream.sum_elsewhere(&Rows)? {
        Some(bytes) => bytes,
        None => Rows.of_part(stream, 0)?,
    };
    let (columns, target): (Vec<Vec<f64>>, Target) = State::load(&mut bytes.as_slice())?;
    let (d, is_whole) = (first.n_features(), columns.iter().all(|column| column.len() == n));
    if columns.len() != d || !is_whole {
        return Err(Error::unreadable(0, "the stream has other rows or features than in an earlier pass"));
    }
    let kinds: Vec<FeatureKind> = (0..d).map(|j| first.feature_kind(j).clone()).collect();
    let names = (0..d).map(|j| first.feature_name(j)).collect();
    Dataset::new(DenseColumns::from_columns(&columns)?, target)?
        .with_feature_kinds(kinds)?
        .with_feature_names(names)
}

/// The rows themselves in place of their sums: the values of each feature, and the target.
struct Rows;

impl RowSums for Rows {
    fn of_part(&self, part: &mut dyn SampleStream, _: usize) -> Result<Vec<u8>, Error> {
        let Some(rows) = Whole::new(part, BATCH_ROWS).next_batch()? else {
            return Err(Error::TooFew { what: "samples", minimum: 1, found: 0 });
        };
        let column = |j: usize| -> Result<Vec<f64>, Error> {
            let mut values = vec![0.0; rows.n_samples()];
            rows.x().copy_column(j, &mut values)?;
            Ok(values)
        };
        let columns = (0..rows.n_features()).map(column).collect::<Result<Vec<_>, _>>()?;
        let mut bytes = Vec::new();
        (columns, rows.target().clone()).save(&mut bytes);
        Ok(bytes)
    }

    /// A part has whole batches, so that there is one.
    fn of_all(&self, parts: &[Vec<u8>]) -> Result<Vec<u8>, Error> {
        match parts {
            [rows] => Ok(rows.clone()),
            _ => Err(Error::ShapeMismatch { what: "parts of a batch", expected: 1, found: parts.len() }),
        }
    }
}
