//! Windows of any method: by the samples themselves.

use std::collections::VecDeque;

use fewest_core::{
    Budget, Context, Dataset, Error, FeatureKind, Held, SavedRows, Selection, Selector, State,
    StreamSelector, streams_state,
};

/// Parts of a window that are dropped as a whole: as many.
const PARTS: usize = 16;

/// Any [`Selector`] on the last samples only: the answer at any time is that of the table of the last
/// `window` samples, or of all while there are fewer, with the same bits.
///
/// Cost: a few copies of each sample; the method on the whole window for each answer. Memory: the samples of
/// the window, up to `17/16` of them.
///
/// # Errors
/// A NaN or an infinity, naming the cell; sample weights; batches with another number of features, other
/// classes or other levels than the first: nothing has changed then. Those of the method, when an answer is
/// asked for.
///
/// ```
/// use fewest_core::{Budget, Context, Dataset, DenseColumns, Ranked, StreamSelector, Target};
/// use fewest_core::{Error, Scorer, Scores};
/// use fewest_streams::Window;
///
/// /// Scores features by their largest value.
/// struct Largest;
///
/// impl Scorer for Largest {
///     fn score(&self, data: &Dataset, _: &Context<'_>) -> Result<Scores, Error> {
///         let mut values = vec![0.0; data.n_samples()];
///         let largest = (0..data.n_features()).map(|j| {
///             data.x().copy_column(j, &mut values)?;
///             Ok(values.iter().copied().fold(f64::NEG_INFINITY, f64::max))
///         });
///         Ok(Scores::descending(largest.collect::<Result<_, Error>>()?))
///     }
/// }
///
/// let x = DenseColumns::from_columns(&[vec![9.0, 1.0, 2.0, 1.0, 3.0], vec![0.0, 2.0, 1.0, 4.0, 2.0]])?;
/// let mut window = Window::new(Ranked::new(Largest), 3, 0)?;
/// window.update(&Dataset::new(x, Target::None)?, &Context::default())?;
/// let selection = window.selection(Budget::Count(2))?;
/// assert_eq!((selection.order, selection.scores), (vec![1, 0], vec![4.0, 3.0]));
/// # Ok::<(), Error>(())
/// ```
pub struct Window<S> {
    selector: S,
    window: usize,
    seed: u64,
    /// One sample of the first batch, which all must be like.
    first: Option<Dataset>,
    /// Samples in a row, the oldest first: those of the window, and perhaps older ones of the first part.
    parts: VecDeque<Dataset>,
}

impl<S: Selector> Window<S> {
    /// Of no samples, of at most `window`; the method draws with this seed.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for a window of no samples.
    pub fn new(selector: S, window: usize, seed: u64) -> Result<Self, Error> {
        if window == 0 {
            return Err(Error::parameter("window", window, "at least 1 sample"));
        }
        Ok(Self { selector, window, seed, first: None, parts: VecDeque::new() })
    }

    /// Number of samples that count.
    pub fn n_samples(&self) -> usize {
        self.n_held().min(self.window)
    }

    fn n_held(&self) -> usize {
        self.parts.iter().map(Dataset::n_samples).sum()
    }

    /// The samples that count, in one table.
    ///
    /// # Errors
    /// [`Error::TooFew`] before any sample.
    pub fn table(&self) -> Result<Dataset, Error> {
        let parts: Vec<Dataset> = self.parts.iter().cloned().collect();
        if parts.is_empty() {
            return Err(Error::TooFew { what: "samples", minimum: 1, found: 0 });
        }
        let all = Dataset::stacked(&parts)?;
        last_of(&all, self.n_samples())
    }

    fn check(&self, batch: &Dataset) -> Result<(), Error> {
        batch.refuse_sample_weights("a window of a stream")?;
        if let Some(first) = &self.first {
            // Features, and the kind and the classes of the target.
            Dataset::stacked(&[first.clone(), batch.subset(&[0])?])?;
            let kind = |data: &Dataset, j| -> FeatureKind { data.feature_kind(j).clone() };
            if let Some(j) = (0..batch.n_features()).find(|&j| kind(batch, j) != kind(first, j)) {
                let name = format!("another one for `{}` (column {j})", batch.feature_name(j));
                let expected = "that of the first batch: name all levels in every batch, in one order";
                return Err(Error::parameter("kind of a feature", name, expected));
            }
        }
        let mut values = vec![0.0; batch.n_samples()];
        for j in 0..batch.n_features() {
            batch.x().copy_column(j, &mut values)?;
            batch.check_finite(j, &values)?;
        }
        Ok(())
    }
}

/// A copy of the last `count` samples; of all where there are no more.
fn last_of(data: &Dataset, count: usize) -> Result<Dataset, Error> {
    let n = data.n_samples();
    if n <= count {
        return Ok(data.clone());
    }
    Dataset::stacked(&[data.subset(&(n - count..n).collect::<Vec<usize>>())?])
}

impl<S: Selector> StreamSelector for Window<S> {
    fn update(&mut self, arrived: &Dataset, _: &Context<'_>) -> Result<(), Error> {
        self.check(arrived)?;
        // Copied, so that nothing else of a large batch stays in memory.
        let mut last = Dataset::stacked(&[last_of(arrived, self.window)?])?;
        if self.first.is_none() {
            self.first = Some(Dataset::stacked(&[last.subset(&[0])?])?);
        }
        // Small parts are put together, so that a sample is copied as often as parts can be doubled.
        let most = (self.window / PARTS).max(1);
        while let Some(before) = self.parts.back() {
            if before.n_samples() > last.n_samples() || before.n_samples() + last.n_samples() > most {
                break;
            }
            last = Dataset::stacked(&[before.clone(), last])?;
            self.parts.pop_back();
        }
        self.parts.push_back(last);
        let mut held = self.n_held();
        while let Some(oldest) = self.parts.front()
            && held - oldest.n_samples() >= self.window
        {
            held -= oldest.n_samples();
            self.parts.pop_front();
        }
        // Of a large part as well no more than a small one is kept in vain.
        if held > self.window + most
            && let Some(oldest) = self.parts.front_mut()
        {
            *oldest = last_of(oldest, oldest.n_samples() - (held - self.window))?;
        }
        Ok(())
    }

    fn selection(&self, budget: Budget) -> Result<Selection, Error> {
        self.selector.select(&self.table()?, budget, &Context::seeded(self.seed))
    }

    fn held(&self) -> Held {
        let d = self.first.as_ref().map_or(0, Dataset::n_features);
        // Older samples that are still in memory depend on the batches: what is told does not.
        Held::new(d, self.n_samples() * (d + 1))
    }

    fn save(&self) -> Result<Vec<u8>, Error> {
        let mut to = Vec::new();
        streams_state::save_maker::<Self>(&format!("{:?}", (self.window, self.seed)), &mut to);
        let rows = match self.parts.is_empty() {
            true => None,
            false => Some(SavedRows::of(&self.table()?)?),
        };
        rows.save(&mut to);
        Ok(to)
    }

    fn restore(&mut self, state: &[u8]) -> Result<(), Error> {
        let mut from = state;
        streams_state::check_maker::<Self>(&format!("{:?}", (self.window, self.seed)), &mut from)?;
        let rows = Option::<SavedRows>::load(&mut from)?.map(SavedRows::dataset).transpose()?;
        streams_state::check_end(from)?;
        self.first = rows.as_ref().map(|rows| rows.subset(&[0])).transpose()?;
        self.parts = rows.into_iter().collect();
        Ok(())
    }
}
