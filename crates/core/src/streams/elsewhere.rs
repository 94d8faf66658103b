//! Sums over rows that are not here: each part of the rows is summed where it is, and the parts are put
//! together.

use super::{Returned, SampleStream};
use crate::{Dataset, Error};

/// The sums of one pass over the rows, of any part of them, as bytes.
///
/// What sums over rows makes one, and hands it to [`SampleStream::sum_elsewhere`]. The sums of parts have the
/// bits of those of all rows in one stream.
pub trait RowSums {
    /// Of the rows of `part`, read from its start, the first of which is row
    /// [`BATCH_ROWS`](crate::BATCH_ROWS) · `first_batch` of all rows.
    ///
    /// # Errors
    /// Those of the stream, and of what is summed; rows in them count from the first of all.
    fn of_part(&self, part: &mut dyn SampleStream, first_batch: usize) -> Result<Vec<u8>, Error>;

    /// Of all rows, from what [`of_part`](Self::of_part) gave of each part, in the order of the rows.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for bytes that are no sums, and for parts that do not follow each other;
    /// those of what is summed.
    fn of_all(&self, parts: &[Vec<u8>]) -> Result<Vec<u8>, Error>;
}

/// A pass over rows that are elsewhere: what [`sum_part`] needs to sum a part of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AskedPass {
    /// The number of the [part of the features](SampleStream::next_part).
    pub part: usize,
    /// The sums over all rows of the passes before, of this part of the features. They may be 512 MiB.
    pub earlier: Vec<Vec<u8>>,
    /// What the method [said](SampleStream::instruct) of this pass. Then there are no earlier sums.
    pub instructions: Option<Vec<u8>>,
}

crate::state!(AskedPass { part, earlier, instructions });

/// Rows whose sums are taken elsewhere: `ask` has each part summed, and returns the sums of the parts in the
/// order of the rows.
///
/// Nothing but the first rows of `rows` is read here, which tell what kind of target it is; a method that
/// reads more of them fails with [`Error::Unsupported`].
///
/// ```
/// use fewest_core::{
///     AskedPass, BATCH_ROWS, Dataset, DenseColumns, Error, RowBatches, RowSums, SampleStream, State,
///     SummedElsewhere, Target, sum_part,
/// };
///
/// struct CountRows;
///
/// impl RowSums for CountRows {
///     fn of_part(&self, part: &mut dyn SampleStream, _: usize) -> Result<Vec<u8>, Error> {
///         let (mut n, mut bytes) = (0_usize, Vec::new());
///         while let Some(batch) = part.next_batch()? {
///             n += batch.n_samples();
///         }
///         n.save(&mut bytes);
///         Ok(bytes)
///     }
///     fn of_all(&self, parts: &[Vec<u8>]) -> Result<Vec<u8>, Error> {
///         let (mut n, mut bytes) = (0, Vec::new());
///         for part in parts {
///             n += usize::load(&mut part.as_slice())?;
///         }
///         n.save(&mut bytes);
///         Ok(bytes)
///     }
/// }
///
/// fn count(stream: &mut dyn SampleStream) -> Result<usize, Error> {
///     let sums = match stream.sum_elsewhere(&CountRows)? {
///         Some(sums) => sums,
///         None => CountRows.of_part(stream, 0)?,
///     };
///     usize::load(&mut sums.as_slice())
/// }
///
/// let data = Dataset::new(DenseColumns::new(vec![0.5; 5000], 5000, 1)?, Target::None)?;
/// let rows = |rows: std::ops::Range<usize>| data.subset(&rows.collect::<Vec<_>>());
/// let (first, second) = (rows(0..BATCH_ROWS)?, rows(BATCH_ROWS..5000)?);
/// let mut rows = RowBatches::new(&data, 100)?;
/// let mut stream = SummedElsewhere::new(&mut rows, |pass: AskedPass| {
///     let parts = [(&first, 0), (&second, 1)];
///     let sums = parts.map(|(part, batch)| sum_part(&mut RowBatches::new(part, 100)?, batch, &pass, count));
///     sums.into_iter().collect()
/// });
/// assert_eq!(count(&mut stream)?, 5000);
/// # Ok::<(), Error>(())
/// ```
pub struct SummedElsewhere<'a, F> {
    first: First<'a>,
    ask: F,
    /// The number of the part of the features.
    part: usize,
    /// Sums that an executor needs to repeat the passes before.
    earlier: Earlier,
    instructions: Option<Vec<u8>>,
}

/// Sums of earlier passes over all rows.
enum Earlier {
    Kept(Vec<Vec<u8>>),
    /// Those of other parts of the features, or of passes with instructions, are not kept.
    Gone,
}

/// Bytes of the sums of earlier passes at most: all of them go to each task.
const EARLIER: usize = 512 << 20;

impl<'a, F> SummedElsewhere<'a, F>
where
    F: FnMut(AskedPass) -> Result<Vec<Vec<u8>>, Error> + Send,
{
    /// Of these rows.
    pub fn new(rows: &'a mut dyn SampleStream, ask: F) -> Self {
        let first = First { rows, is_seen: false, seen: None };
        Self { first, ask, part: 0, earlier: Earlier::Kept(Vec::new()), instructions: None }
    }

    /// What the next pass is asked for with.
    fn asked(&mut self) -> Result<AskedPass, Error> {
        let refuse = |what: String, instead: &str| {
            let instead = instead.to_owned();
            Err(Error::Unsupported { method: "this method", what, instead })
        };
        let instructions = self.instructions.take();
        let earlier = match &self.earlier {
            _ if instructions.is_some() => Vec::new(),
            Earlier::Kept(earlier) => {
                let bytes: usize = earlier.iter().map(Vec::len).sum();
                if bytes > EARLIER {
                    return refuse(
                        format!(
                            "sums of earlier passes that take {} MiB, which each task needs, on several machines",
                            bytes >> 20
                        ),
                        "run it on one machine, leave out features, or select fewer",
                    );
                }
                earlier.clone()
            }
            Earlier::Gone => {
                return refuse(
                    "a pass without instructions behind the parts of the features, or behind a pass with them, on \
                     several machines"
                        .to_owned(),
                    "run it on one machine, or let its author give each of these passes instructions",
                );
            }
        };
        Ok(AskedPass { part: self.part, earlier, instructions })
    }
}

impl<F> SampleStream for SummedElsewhere<'_, F>
where
    F: FnMut(AskedPass) -> Result<Vec<Vec<u8>>, Error> + Send,
{
    fn next_batch(&mut self) -> Result<Option<Dataset>, Error> {
        self.first.next_batch()
    }

    fn rewind(&mut self) -> Result<bool, Error> {
        self.first.rewind()
    }

    fn next_part(&mut self) -> Result<bool, Error> {
        let is_another = self.first.next_part()?;
        if is_another {
            self.part += 1;
            self.earlier = Earlier::Kept(Vec::new());
        }
        Ok(is_another)
    }

    fn take_features(&mut self, features: &[usize]) -> Result<bool, Error> {
        let are_taken = self.first.take_features(features)?;
        if are_taken && self.part > 0 {
            (self.part, self.earlier) = (0, Earlier::Gone);
        }
        Ok(are_taken)
    }

    fn instruct(&mut self, instructions: Vec<u8>) {
        self.instructions = Some(instructions);
    }

    fn sum_elsewhere(&mut self, sums: &dyn RowSums) -> Result<Option<Vec<u8>>, Error> {
        let asked = self.asked()?;
        let is_instructed = asked.instructions.is_some();
        let whole = sums.of_all(&(self.ask)(asked)?)?;
        match &mut self.earlier {
            earlier if is_instructed => *earlier = Earlier::Gone,
            Earlier::Kept(earlier) => earlier.push(whole.clone()),
            Earlier::Gone => {}
        }
        Ok(Some(whole))
    }
}

/// The sums of one pass over a part of the rows, for [`SummedElsewhere`].
///
/// `method` does here what was done there, and gets the sums of all rows in the passes that are over; or it
/// has [instructions](SampleStream::instructions) in their place. In the next pass these rows, the first of
/// which is row [`BATCH_ROWS`](crate::BATCH_ROWS) · `first_batch` of all, are summed, and `method` is ended.
///
/// # Errors
/// Those of `method`, of the rows and of what is summed; [`Error::InvalidParameter`] where `method` has fewer
/// passes.
pub fn sum_part<T>(
    rows: &mut dyn SampleStream,
    first_batch: usize,
    pass: &AskedPass,
    method: impl FnOnce(&mut dyn SampleStream) -> Result<T, Error>,
) -> Result<Vec<u8>, Error> {
    let AskedPass { earlier, instructions, .. } = pass;
    let first = First { rows, is_seen: false, seen: None };
    let instructions = instructions.as_deref();
    let mut part = OwnPart { first, first_batch, earlier: earlier.iter(), instructions, found: None };
    let ended = method(&mut part);
    match (part.found, ended) {
        (Some(found), _) => Ok(found),
        (None, Err(error)) => Err(error),
        (None, Ok(_)) => {
            let expected = "below the number of passes of the method, with the same options as elsewhere";
            Err(Error::parameter("pass", earlier.len(), expected))
        }
    }
}

struct OwnPart<'a> {
    first: First<'a>,
    first_batch: usize,
    earlier: std::slice::Iter<'a, Vec<u8>>,
    instructions: Option<&'a [u8]>,
    found: Option<Vec<u8>>,
}

impl SampleStream for OwnPart<'_> {
    fn next_batch(&mut self) -> Result<Option<Dataset>, Error> {
        self.first.seen = self.first.next_batch()?;
        Ok(self.first.seen.clone())
    }

    fn rewind(&mut self) -> Result<bool, Error> {
        self.first.rewind()
    }

    fn next_part(&mut self) -> Result<bool, Error> {
        self.first.next_part()
    }

    fn take_features(&mut self, features: &[usize]) -> Result<bool, Error> {
        self.first.take_features(features)
    }

    fn instructions(&self) -> Option<&[u8]> {
        self.instructions
    }

    fn sum_elsewhere(&mut self, sums: &dyn RowSums) -> Result<Option<Vec<u8>>, Error> {
        if let Some(whole) = self.earlier.next() {
            return Ok(Some(whole.clone()));
        }
        let First { rows, seen, .. } = &mut self.first;
        let mut rows = Returned { first: seen.take(), stream: &mut **rows };
        self.found = Some(sums.of_part(&mut rows, self.first_batch)?);
        // Nobody sees this error.
        Err(Error::Stopped { before: "the sums of the other parts were known" })
    }
}

/// The first rows of a stream, and no others.
struct First<'a> {
    rows: &'a mut dyn SampleStream,
    is_seen: bool,
    /// The rows that were seen, which come again where the others are read, too.
    seen: Option<Dataset>,
}

impl First<'_> {
    fn next_batch(&mut self) -> Result<Option<Dataset>, Error> {
        if self.is_seen {
            return Err(Error::Unsupported {
                method: "this method",
                what: "to sum rows that are on several machines".to_owned(),
                instead: "run it on one machine, or take a method whose passes are sums over the rows of \
                          parts: f-score, chi2, mrmr and others"
                    .to_owned(),
            });
        }
        self.is_seen = true;
        self.rows.next_batch()
    }

    fn next_part(&mut self) -> Result<bool, Error> {
        let is_another = self.rows.next_part()?;
        if is_another {
            (self.is_seen, self.seen) = (false, None);
        }
        Ok(is_another)
    }

    fn take_features(&mut self, features: &[usize]) -> Result<bool, Error> {
        let are_taken = self.rows.take_features(features)?;
        if are_taken {
            (self.is_seen, self.seen) = (false, None);
        }
        Ok(are_taken)
    }

    fn rewind(&mut self) -> Result<bool, Error> {
        self.seen = None;
        // What was not read begins at its start.
        if std::mem::take(&mut self.is_seen) { self.rows.rewind() } else { Ok(true) }
    }
}
