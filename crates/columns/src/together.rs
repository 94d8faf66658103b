//! Several batches of a stream at once, so that threads have work, in bounded memory.

use fewest_core::{BATCH_ROWS, Dataset, Error, Returned, SampleStream, Whole};

/// Most batches at once, and bytes that their rows take, unless a single one takes more: they stay in the
/// cache of a processor.
const MOST: usize = 16;
const BYTES: usize = 2 << 20;

/// Calls `work` with the rows of `stream`, from where it is, a number of whole batches of [`BATCH_ROWS`]
/// rows at a time and in the end those that are left, and with the number of rows before them. Returns the
/// number of all rows.
///
/// # Errors
/// Those of the stream and of `work`; [`Error::TooFew`] for a stream without rows.
pub(crate) fn together(
    stream: &mut dyn SampleStream,
    mut work: impl FnMut(Dataset, usize) -> Result<(), Error> + Send,
) -> Result<usize, Error> {
    let first = stream.next_batch()?;
    let width = first.as_ref().map_or(1, |batch| batch.n_features().max(1));
    let batches = (BYTES / size_of::<f64>() / BATCH_ROWS / width).clamp(1, MOST);
    let mut returned = Returned { first, stream };
    let mut whole = Whole::new(&mut returned, batches * BATCH_ROWS);
    let mut n = 0;
    fewest_parallel::ahead(
        || whole.next_batch(),
        |batch| {
            let len = batch.n_samples();
            work(batch, n)?;
            n += len;
            Ok(())
        },
    )?;
    if n == 0 { Err(Error::TooFew { what: "samples", minimum: 1, found: 0 }) } else { Ok(n) }
}
