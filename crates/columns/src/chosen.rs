//! Some of the features of a stream.

use fewest_core::{Dataset, Error, RowSums, SampleStream, State, derive_seed, rewind};

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
    pub(crate) features: &'a [usize],
    /// Whether batches have all features, of which these are to be taken.
    pub(crate) has_others: bool,
}

impl<'a> Chosen<'a> {
    /// These of all features, by increasing number. Where the stream can leave others out
    /// ([`SampleStream::take_features`]), they are not read.
    ///
    /// # Errors
    /// Those of the stream; [`Error::Unsupported`] where it cannot be rewound.
    pub fn of(stream: &'a mut dyn SampleStream, features: &'a [usize]) -> Result<Self, Error> {
        let has_others = !stream.take_features(features)?;
        if has_others {
            rewind(stream)?;
        }
        Ok(Self { stream, features, has_others })
    }

    /// Whether the stream itself leaves the others out. Otherwise its batches must have all features.
    pub fn leaves_others_out(&self) -> bool {
        !self.has_others
    }
}

impl SampleStream for Chosen<'_> {
    fn next_batch(&mut self) -> Result<Option<Dataset>, Error> {
        match self.stream.next_batch()? {
            Some(batch) if self.has_others => batch.feature_subset(self.features).map(Some),
            batch => Ok(batch),
        }
    }

    fn instruct(&mut self, instructions: Vec<u8>) {
        self.stream.instruct(instructions);
    }

    fn instructions(&self) -> Option<&[u8]> {
        self.stream.instructions()
    }

    fn sum_elsewhere(&mut self, sums: &dyn RowSums) -> Result<Option<Vec<u8>>, Error> {
        let Self { stream, features, has_others } = self;
        stream.sum_elsewhere(&OfChosen { sums, features, has_others: *has_others })
    }
}

/// Sums over some of the features, which come behind a number that tells these features.
struct OfChosen<'a> {
    sums: &'a dyn RowSums,
    features: &'a [usize],
    has_others: bool,
}

impl OfChosen<'_> {
    /// Other features have another number.
    fn number(&self) -> u64 {
        self.features.iter().fold(0, |number, &feature| derive_seed(number, feature as u64))
    }
}

impl RowSums for OfChosen<'_> {
    fn of_part(&self, part: &mut dyn SampleStream, first_batch: usize) -> Result<Vec<u8>, Error> {
        let mut chosen = Chosen { stream: part, features: self.features, has_others: self.has_others };
        let mut bytes = Vec::new();
        self.number().save(&mut bytes);
        bytes.extend(self.sums.of_part(&mut chosen, first_batch)?);
        Ok(bytes)
    }

    fn of_all(&self, parts: &[Vec<u8>]) -> Result<Vec<u8>, Error> {
        let own = |part: &Vec<u8>| {
            let mut sums = part.as_slice();
            match u64::load(&mut sums)? == self.number() {
                true => Ok(sums.to_vec()),
                false => Err(Error::Unsupported {
                    method: "this method",
                    what: "machines that chose different features, since their processors round differently"
                        .to_owned(),
                    instead: "run it on machines with processors of one kind, or on one machine".to_owned(),
                }),
            }
        };
        self.sums.of_all(&parts.iter().map(own).collect::<Result<Vec<_>, _>>()?)
    }
}
