//! Sums over rows: bit for bit the same for data in memory, in files, in streams or on several machines.

use crate::streams::{SampleStream, Whole};
use crate::{Context, Dataset, Error, State};

/// Rows of a batch. Sums are taken batch by batch, and a table of no more rows is one batch.
pub const BATCH_ROWS: usize = 4096;

/// The rows of each part but the last, where a table of `n_rows` rows is cut into `parts` parts or fewer. The
/// number of batches in a part is a power of two: a part is one node of the tree of [`Partial`], and a cut
/// into fewer parts never divides a part of a finer cut.
///
/// ```
/// # use fewest_core::{BATCH_ROWS, part_rows};
/// assert_eq!(part_rows(20_000, 64), BATCH_ROWS as u64);
/// assert_eq!(part_rows(10_000_000, 64), 64 * BATCH_ROWS as u64);
/// ```
pub fn part_rows(n_rows: u64, parts: u64) -> u64 {
    let batch = BATCH_ROWS as u64;
    let batches = n_rows.div_ceil(batch).div_ceil(parts.max(1)).max(1);
    batches.checked_next_power_of_two().map_or(u64::MAX, |batches| batches.saturating_mul(batch))
}

/// Sums over rows.
///
/// A floating point sum depends on the order of its terms, so the order is fixed by the row numbers alone:
/// rows `4096 b .. 4096 (b + 1)` are batch `b`, each batch has its own accumulator, and these are merged two
/// by two, then four by four, and so on ([`Partial`]). The result does not depend on threads, files or
/// machines.
///
/// ```
/// use fewest_core::{Accumulator, Context, Dataset, DenseColumns, Error, RowBatches, Target, accumulate};
///
/// /// Counts rows.
/// #[derive(Default)]
/// struct Count(usize);
///
/// impl Accumulator for Count {
///     type Output = usize;
///     fn update(&mut self, batch: &Dataset) -> Result<(), Error> {
///         self.0 += batch.n_samples();
///         Ok(())
///     }
///     fn merge(&mut self, later: Self) -> Result<(), Error> {
///         self.0 += later.0;
///         Ok(())
///     }
///     fn finish(self) -> Result<usize, Error> {
///         Ok(self.0)
///     }
/// }
///
/// let data = Dataset::new(DenseColumns::new(vec![0.5; 10_000], 10_000, 1)?, Target::None)?;
/// let mut stream = RowBatches::new(&data, 1000)?;
/// assert_eq!(accumulate(&mut stream, Count::default, &Context::default())?, 10_000);
/// # Ok::<(), Error>(())
/// ```
pub trait Accumulator: Send + Sized {
    /// The result computed from the sums.
    type Output;

    /// Adds the rows of `batch`. A new accumulator takes their sums unchanged.
    ///
    /// # Errors
    /// When the batch does not allow it; rows in errors count from the first of the batch.
    fn update(&mut self, batch: &Dataset) -> Result<(), Error>;

    /// Adds the sums of `later`, whose rows follow those of this one.
    ///
    /// # Errors
    /// When the two are not about the same features.
    fn merge(&mut self, later: Self) -> Result<(), Error>;

    /// The result.
    ///
    /// # Errors
    /// When the rows seen do not allow one.
    fn finish(self) -> Result<Self::Output, Error>;
}

/// The sums of some batches in a row, merged as far as the tree of all batches is known.
///
/// A node of that tree holds `2ˡ` batches, of which the first has a number divisible by `2ˡ`; two neighbours
/// of one level make a node of the next. Batches `first ..` are added one by one, and parts computed
/// elsewhere are appended: whatever the parts were, the nodes are the same, and so is the result.
#[derive(Debug, Clone)]
pub struct Partial<A> {
    nodes: Vec<Node<A>>,
    first: usize,
    end: usize,
    /// The rows of the last batch, where it is known to have fewer than [`BATCH_ROWS`]: nothing may follow.
    short: Option<usize>,
}

#[derive(Debug, Clone)]
struct Node<A> {
    first: usize,
    len: usize,
    value: A,
}

impl<A> Partial<A> {
    /// Of the batches from number `first` on, none yet.
    pub fn new(first: usize) -> Self {
        Self { nodes: Vec::new(), first, end: first, short: None }
    }

    /// The numbers of the batches seen.
    pub fn batches(&self) -> std::ops::Range<usize> {
        self.first..self.end
    }

    /// Adds the next batch; `merge(earlier, later)` adds the later to the earlier.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] after a batch of [`accumulate_part`] with fewer than [`BATCH_ROWS`] rows;
    /// those of `merge`.
    pub fn push(&mut self, batch: A, merge: impl Fn(&mut A, A) -> Result<(), Error>) -> Result<(), Error> {
        self.check_full()?;
        self.push_node(Node { first: self.end, len: 1, value: batch }, &merge)
    }

    /// That batches may follow: a short one before them would shift the rows of all of theirs.
    fn check_full(&self) -> Result<(), Error> {
        match self.short {
            None => Ok(()),
            Some(rows) => {
                let expected = format!(
                    "{BATCH_ROWS}, since rows follow: cut the rows into parts at multiples of {BATCH_ROWS}, \
                     so that only the last part ends in a shorter batch"
                );
                let found = format!("{rows} for batch {} (counted from 0)", self.end.saturating_sub(1));
                Err(Error::parameter("rows of a batch", found, expected))
            }
        }
    }

    fn push_node(
        &mut self,
        mut node: Node<A>,
        merge: &impl Fn(&mut A, A) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.end = node.first + node.len;
        while let Some(mut before) =
            self.nodes.pop_if(|before| before.len == node.len && before.first % (2 * before.len) == 0)
        {
            merge(&mut before.value, node.value)?;
            node = Node { first: before.first, len: 2 * before.len, value: before.value };
        }
        self.nodes.push(node);
        Ok(())
    }

    /// Adds the batches that follow.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] unless those of `later` start where these end, and where a part of
    /// [`accumulate_part`] ended in a batch of fewer than [`BATCH_ROWS`] rows and `later` is not empty; those
    /// of `merge`.
    pub fn append(
        &mut self,
        later: Self,
        merge: impl Fn(&mut A, A) -> Result<(), Error>,
    ) -> Result<(), Error> {
        if later.first != self.end {
            return Err(Error::parameter("first batch of the later part", later.first, self.end.to_string()));
        }
        if later.nodes.is_empty() {
            return Ok(());
        }
        self.check_full()?;
        self.short = later.short;
        later.nodes.into_iter().try_for_each(|node| self.push_node(node, &merge))
    }

    /// Everything merged: the shorter nodes at the end first. `None` without a batch.
    ///
    /// # Errors
    /// Those of `merge`.
    pub fn finish(mut self, merge: impl Fn(&mut A, A) -> Result<(), Error>) -> Result<Option<A>, Error> {
        let Some(last) = self.nodes.pop() else { return Ok(None) };
        let mut value = last.value;
        while let Some(mut before) = self.nodes.pop() {
            merge(&mut before.value, value)?;
            value = before.value;
        }
        Ok(Some(value))
    }
}

impl<A: State> State for Node<A> {
    fn save(&self, to: &mut Vec<u8>) {
        (self.first, self.len).save(to);
        self.value.save(to);
    }

    fn load(from: &mut &[u8]) -> Result<Self, Error> {
        let (first, len) = State::load(from)?;
        Ok(Self { first, len, value: A::load(from)? })
    }
}

impl<A: State> State for Partial<A> {
    fn save(&self, to: &mut Vec<u8>) {
        self.nodes.save(to);
        (self.first, self.end, self.short).save(to);
    }

    fn load(from: &mut &[u8]) -> Result<Self, Error> {
        let nodes = State::load(from)?;
        let (first, end, short) = State::load(from)?;
        Ok(Self { nodes, first, end, short })
    }
}

/// Sums over all rows of `stream`, however it cuts them; `make` gives an accumulator that has seen nothing.
///
/// # Errors
/// [`Error::TooFew`] for a stream without rows, [`Error::Stopped`] when the context says so, those of the
/// stream and of the accumulator; rows in them count from the first of the stream.
pub fn accumulate<A: Accumulator>(
    stream: &mut dyn SampleStream,
    make: impl Fn() -> A,
    context: &Context<'_>,
) -> Result<A::Output, Error> {
    match accumulate_part(stream, 0, make, context)?.finish(A::merge)? {
        Some(sums) => sums.finish(),
        None => Err(Error::TooFew { what: "samples", minimum: 1, found: 0 }),
    }
}

/// Sums over the rows of `stream`, the first of which is row [`BATCH_ROWS`] · `first_batch` of all rows: one
/// machine's part.
///
/// Every part but the last needs a number of rows that [`BATCH_ROWS`] divides. Parts are put together by
/// [`Partial::append`], which refuses to add to a part that has another number of rows.
///
/// # Errors
/// As [`accumulate`], but for a stream without rows.
pub fn accumulate_part<A: Accumulator>(
    stream: &mut dyn SampleStream,
    first_batch: usize,
    make: impl Fn() -> A,
    context: &Context<'_>,
) -> Result<Partial<A>, Error> {
    let mut part = Partial::new(first_batch);
    let mut batches = Whole::new(stream, BATCH_ROWS);
    while let Some(batch) = batches.next_batch()? {
        context.go_on("all rows had been seen")?;
        let mut sums = make();
        let first_row = part.end * BATCH_ROWS;
        sums.update(&batch).map_err(|error| error.in_rows_from(first_row))?;
        part.push(sums, A::merge)?;
        part.short = Some(batch.n_samples()).filter(|rows| *rows < BATCH_ROWS);
    }
    Ok(part)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DenseColumns, RowBatches, Target};

    /// The tree of merges, written down.
    fn tree(part: Partial<String>) -> String {
        part.finish(write).unwrap().unwrap_or_default()
    }

    fn write(earlier: &mut String, later: String) -> Result<(), Error> {
        *earlier = format!("({earlier} {later})");
        Ok(())
    }

    fn part(batches: std::ops::Range<usize>) -> Partial<String> {
        let mut part = Partial::new(batches.start);
        batches.for_each(|batch| part.push(batch.to_string(), write).unwrap());
        part
    }

    /// The definition: the largest power of two below the number of batches goes left.
    fn defined(batches: std::ops::Range<usize>) -> String {
        match batches.len() {
            0 => String::new(),
            1 => batches.start.to_string(),
            len => {
                let middle = batches.start + len.next_power_of_two() / 2;
                format!("({} {})", defined(batches.start..middle), defined(middle..batches.end))
            }
        }
    }

    #[test]
    fn the_tree_depends_on_the_number_of_batches_only() {
        assert_eq!(defined(0..5), "(((0 1) (2 3)) 4)");
        for n in 0..20 {
            assert_eq!(tree(part(0..n)), defined(0..n));
            for first in 0..=n {
                for second in first..=n {
                    let mut whole = part(0..first);
                    // Appended to the left or to the right first.
                    let mut rest = part(first..second);
                    rest.append(part(second..n), write).unwrap();
                    whole.append(rest, write).unwrap();
                    assert_eq!((whole.batches(), tree(whole)), (0..n, defined(0..n)));
                    let mut whole = part(0..first);
                    whole.append(part(first..second), write).unwrap();
                    whole.append(part(second..n), write).unwrap();
                    assert_eq!(tree(whole), defined(0..n));
                }
            }
        }
    }

    #[test]
    fn parts_that_do_not_follow_are_an_error() {
        for (left, right) in [(0..2, 3..4), (0..2, 1..3), (2..4, 0..2)] {
            let result = part(left).append(part(right), write);
            assert!(matches!(result, Err(Error::InvalidParameter { .. })));
        }
    }

    /// A part that ends in a short batch is the last one: rows after it would be in other batches than in one
    /// stream.
    #[test]
    fn nothing_follows_a_short_batch() -> Result<(), Error> {
        let context = Context::default();
        let part = |rows: usize, first: usize| {
            let data = wild(rows);
            accumulate_part(&mut RowBatches::new(&data, 999)?, first, Sums::default, &context)
        };
        let refused = |found: Result<(), Error>| {
            matches!(found, Err(Error::InvalidParameter { name: "rows of a batch", .. }))
        };
        let mut short = part(BATCH_ROWS + 100, 0)?;
        assert!(refused(short.append(part(BATCH_ROWS, 2)?, Sums::merge)));
        assert!(refused(short.push(Sums::default(), Sums::merge)));
        // A part without rows adds none.
        short.append(Partial::new(2), Sums::merge)?;
        assert_eq!(short.batches(), 0..2);
        // A short part that was appended is remembered as well.
        let mut whole = part(2 * BATCH_ROWS, 0)?;
        whole.append(part(17, 2)?, Sums::merge)?;
        assert!(refused(whole.append(part(BATCH_ROWS, 3)?, Sums::merge)));
        assert!(whole.finish(Sums::merge)?.is_some());
        Ok(())
    }

    /// Column sums of values that cancel: other orders give other bits.
    #[derive(Default)]
    struct Sums(Vec<f64>);

    impl Accumulator for Sums {
        type Output = Vec<f64>;

        fn update(&mut self, batch: &Dataset) -> Result<(), Error> {
            self.0.resize(batch.n_features(), 0.0);
            let mut values = vec![0.0; batch.n_samples()];
            for (j, sum) in self.0.iter_mut().enumerate() {
                batch.x().copy_column(j, &mut values)?;
                batch.check_finite(j, &values)?;
                values.iter().for_each(|value| *sum += value);
            }
            Ok(())
        }

        fn merge(&mut self, later: Self) -> Result<(), Error> {
            self.0.iter_mut().zip(later.0).for_each(|(sum, later)| *sum += later);
            Ok(())
        }

        fn finish(self) -> Result<Vec<f64>, Error> {
            Ok(self.0)
        }
    }

    fn wild(n: usize) -> Dataset {
        let value = |i: usize| ((i * 7919 % 104_729) as f64 - 5e4).powi(5) / 3.0;
        let x = DenseColumns::from_columns(&[(0..n).map(value).collect(), (1..=n).map(value).collect()]);
        Dataset::new(x.unwrap(), Target::None).unwrap()
    }

    #[test]
    fn sums_are_the_same_however_a_stream_cuts_its_rows() -> Result<(), Error> {
        let context = Context::default();
        let n = 5 * BATCH_ROWS + 17;
        let data = wild(n);
        let cut = |rows: usize| accumulate(&mut RowBatches::new(&data, rows)?, Sums::default, &context);
        let expected = cut(BATCH_ROWS)?;
        for rows in [n, 1000, BATCH_ROWS - 1, BATCH_ROWS + 1, 3 * BATCH_ROWS, 7] {
            assert_eq!(cut(rows)?, expected, "{rows}");
        }
        // The order shows: row after row is something else.
        let mut one = Sums::default();
        one.update(&data)?;
        assert_ne!(one.0, expected);
        // Up to one batch it is what `update` says.
        let few = wild(BATCH_ROWS);
        let mut one = Sums::default();
        one.update(&few)?;
        assert_eq!(accumulate(&mut RowBatches::new(&few, 100)?, Sums::default, &context)?, one.0);
        Ok(())
    }

    #[test]
    fn parts_of_several_streams_give_the_sums_of_one() -> Result<(), Error> {
        let context = Context::default();
        let n = 6 * BATCH_ROWS + 17;
        let data = wild(n);
        let expected = accumulate(&mut RowBatches::new(&data, 999)?, Sums::default, &context)?;
        for borders in [vec![0, 1, 7], vec![0, 3, 5, 7], vec![0, 2, 3, 4, 6, 7]] {
            let mut whole = Partial::new(0);
            for border in borders.windows(2) {
                let rows = border[0] * BATCH_ROWS..n.min(border[1] * BATCH_ROWS);
                let own = data.copy_rows(rows)?;
                let mut stream = RowBatches::new(&own, 1500)?;
                let part = accumulate_part(&mut stream, border[0], Sums::default, &context)?;
                whole.append(part, Sums::merge)?;
            }
            assert_eq!(whole.finish(Sums::merge)?.unwrap().0, expected);
        }
        Ok(())
    }

    #[test]
    fn errors_name_the_row_of_the_stream() -> Result<(), Error> {
        let mut values = vec![1.0; 3 * BATCH_ROWS];
        values[2 * BATCH_ROWS + 5] = f64::NAN;
        let data = Dataset::new(DenseColumns::from_columns(&[values])?, Target::None)?;
        let found = accumulate(&mut RowBatches::new(&data, 100)?, Sums::default, &Context::default());
        assert!(matches!(found, Err(Error::NonFinite { row, .. }) if row == 2 * BATCH_ROWS + 5));
        Ok(())
    }

    #[test]
    fn a_stopped_run_says_so() -> Result<(), Error> {
        let data = wild(10);
        let stop = std::sync::atomic::AtomicBool::new(true);
        let context = Context { interrupt: Some(&stop), ..Context::default() };
        let found = accumulate(&mut RowBatches::new(&data, 4)?, Sums::default, &context);
        assert!(matches!(found, Err(Error::Stopped { .. })));
        Ok(())
    }
}
