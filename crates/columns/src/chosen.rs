//! Some of the features of a stream.

use fewest_core::{Dataset, Error, RowSums, SampleStream, rewind};

/// Some features of a stream, from its first sample on.
///
/// ```
/// use fewest_columns::Chosen;
/// use fewest_core::{Dataset, DenseColumns, RowBatches, SampleStream, Target};
///
/// let x = DenseColumns::from_columns(&[vec![1.0, 2.0], vec![3.0, 4.0], vec![5.0, 6.0]])?;
/// let data = Dataset::new(x, Target::None)?;
/// let mut stream = RowBatches::new(&data, 2)?;
/// let mut chosen = Chosen::of(&mut stream, &[0, 2])?;
/// let batch = chosen.next_batch()?.expect("two samples");
/// assert_eq!(batch.n_features(), 2);
/// # Ok::<(), fewest_core::Error>(())
/// ```
pub struct Chosen<'a> {
    pub(crate) stream: &'a mut dyn SampleStream,
    /// To be taken of each batch, unless batches have no others.
    pub(crate) features: Option<&'a [usize]>,
}

impl<'a> Chosen<'a> {
    /// These of all features, by increasing number. Where the stream can leave others out
    /// ([`SampleStream::take_features`]), they are not read.
    ///
    /// # Errors
    /// Those of the stream; [`Error::Unsupported`] where it cannot be rewound.
    pub fn of(stream: &'a mut dyn SampleStream, features: &'a [usize]) -> Result<Self, Error> {
        if stream.take_features(features)? {
            return Ok(Self { stream, features: None });
        }
        rewind(stream)?;
        Ok(Self { stream, features: Some(features) })
    }

    /// Whether the stream itself leaves the others out. Otherwise its batches must have all features.
    pub fn leaves_others_out(&self) -> bool {
        self.features.is_none()
    }
}

impl SampleStream for Chosen<'_> {
    fn next_batch(&mut self) -> Result<Option<Dataset>, Error> {
        match (self.stream.next_batch()?, self.features) {
            (Some(batch), Some(features)) => batch.feature_subset(features).map(Some),
            (batch, _) => Ok(batch),
        }
    }

    fn sum_elsewhere(&mut self, sums: &dyn RowSums) -> Result<Option<Vec<u8>>, Error> {
        match self.features {
            Some(features) => self.stream.sum_elsewhere(&OfChosen { sums, features }),
            None => self.stream.sum_elsewhere(sums),
        }
    }
}

/// Sums over some of the features.
struct OfChosen<'a> {
    sums: &'a dyn RowSums,
    features: &'a [usize],
}

impl RowSums for OfChosen<'_> {
    fn of_part(&self, part: &mut dyn SampleStream, first_batch: usize) -> Result<Vec<u8>, Error> {
        self.sums.of_part(&mut Chosen { stream: part, features: Some(self.features) }, first_batch)
    }

    fn of_all(&self, parts: &[Vec<u8>]) -> Result<Vec<u8>, Error> {
        self.sums.of_all(parts)
    }
}
