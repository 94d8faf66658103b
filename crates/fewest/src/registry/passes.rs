//! Methods that read the rows of a table in passes, so that it need not be in memory.

use fewest_columns as columns;
use fewest_core::method::{Choice, Method, Options, Parameters};
use fewest_core::{
    Budget, Column, Context, Dataset, DenseColumns, Error, Ranked, SampleStream, Scorer, Scores, Selection,
    Selector, StreamScorer, Target,
};
use fewest_filters::information::{Forward, ForwardCriterion, Mim};
use fewest_filters::statistical::{ChiSquare, CorrelationScore, FScore, TScore, Variance};

use super::Registry;

type Score = fn(&Parameters, &mut dyn SampleStream, &Context<'_>) -> Result<Scores, Error>;

/// A method on rows that come in batches, and again as often as they are asked for: a
/// [`SampleStream`] that can be rewound, such as [`fewest_data::Rows`]. The answer is that of the method on
/// the same rows in one table, with the same bits.
#[derive(Debug, Clone, Copy)]
pub struct InPasses {
    id: &'static str,
    how: How,
}

#[derive(Debug, Clone, Copy)]
enum How {
    Score(Score),
    /// Greedily, by sums for pairs of features.
    Forward(ForwardCriterion),
}

/// The methods that are sums over rows.
static SCORES: &[(&str, Score)] = &[
    ("variance", score::<Variance>),
    ("t-score", score::<TScore>),
    ("f-score", score::<FScore>),
    ("chi2", score::<ChiSquare>),
    ("correlation", score::<CorrelationScore>),
    ("mim", score::<Mim>),
];

fn score<T: Options + StreamScorer + Default>(
    parameters: &Parameters,
    rows: &mut dyn SampleStream,
    context: &Context<'_>,
) -> Result<Scores, Error> {
    T::from_parameters(parameters)?.score_stream(rows, context)
}

/// A criterion of pairs of features, by the id of the method.
fn criterion(id: &str) -> Option<ForwardCriterion> {
    let criteria = ForwardCriterion::alternatives().into_iter();
    criteria.filter(|criterion| *criterion != ForwardCriterion::Jmi3).find(|criterion| criterion.word() == id)
}

impl Registry {
    /// The method on rows that are read in passes; `None` where it needs the whole table.
    ///
    /// ```
    /// use fewest::core::{Budget, Context, Dataset, DenseColumns, RowBatches, Target};
    /// use fewest::registry::{Parameters, Registry};
    ///
    /// let x = DenseColumns::from_columns(&[vec![0.0, 1.0, 0.0, 1.0], vec![0.1, 0.2, 0.9, 0.8]])?;
    /// let data = Dataset::new(x, Target::from_labels(&["a", "a", "b", "b"]))?;
    /// let registry = Registry::standard();
    /// let method = registry.find("mrmr")?;
    /// let passes = registry.in_passes(method).expect("a sum over rows");
    /// let mut rows = RowBatches::new(&data, 3)?;
    /// let selection =
    ///     passes.select(&Parameters::defaults(method), &mut rows, Budget::Count(1), &Context::default())?;
    /// assert_eq!(selection.order, [1]);
    /// assert!(registry.in_passes(registry.find("relieff")?).is_none());
    /// # Ok::<(), fewest::core::Error>(())
    /// ```
    pub fn in_passes(&self, method: &Method) -> Option<InPasses> {
        let id = method.id;
        let score = SCORES.iter().find(|(other, _)| *other == id).map(|(_, score)| How::Score(*score));
        let how = score.or_else(|| criterion(id).map(How::Forward))?;
        Some(InPasses { id, how })
    }
}

impl InPasses {
    /// The score of every feature; `None` for a method that selects features together.
    ///
    /// # Errors
    /// As [`Scorer::score`], and those of reading.
    pub fn score(
        &self,
        parameters: &Parameters,
        rows: &mut dyn SampleStream,
        context: &Context<'_>,
    ) -> Option<Result<Scores, Error>> {
        match self.how {
            How::Score(score) => Some(score(parameters, rows, context)),
            How::Forward(_) => None,
        }
    }

    /// The selection.
    ///
    /// # Errors
    /// As [`Selector::select`], and those of reading.
    pub fn select(
        &self,
        parameters: &Parameters,
        rows: &mut dyn SampleStream,
        budget: Budget,
        context: &Context<'_>,
    ) -> Result<Selection, Error> {
        match self.how {
            How::Forward(criterion) => {
                let mut forward = Forward::new(criterion);
                forward.set(parameters)?;
                forward.select_stream(rows, budget, context)
            }
            How::Score(score) => {
                let mut watched = Watched { rows, values: Vec::new() };
                let scores = score(parameters, &mut watched, context)?;
                watched.ranked(scores, budget, context)
            }
        }
    }

    /// The id of the method.
    pub fn id(&self) -> &'static str {
        self.id
    }
}

/// Rows that pass by, of which it is seen whether features vary.
struct Watched<'a> {
    rows: &'a mut dyn SampleStream,
    /// A value of each feature, and another one where it has one.
    values: Vec<[f64; 2]>,
}

impl Watched<'_> {
    /// The selection by these scores, without features that do not vary: as from a table in which they have
    /// the values seen.
    fn ranked(&self, scores: Scores, budget: Budget, context: &Context<'_>) -> Result<Selection, Error> {
        let columns: Vec<Vec<f64>> = self.values.iter().map(|values| values.to_vec()).collect();
        let seen = Dataset::new(DenseColumns::from_columns(&columns)?, Target::None)?;
        Ranked::new(Known(scores)).select(&seen, budget, context)
    }
}

impl SampleStream for Watched<'_> {
    fn next_batch(&mut self) -> Result<Option<Dataset>, Error> {
        let Some(batch) = self.rows.next_batch()? else { return Ok(None) };
        let n = batch.n_samples();
        let constant = |j: usize| self.values.get(j).is_none_or(|[first, other]| first == other);
        let found = columns::map_features(&batch, &Context::default(), "values", |j, column| {
            if !constant(j) {
                return Ok(self.values[j]);
            }
            let values = match column {
                Column::Dense(values) => values.to_vec(),
                sparse => sparse.to_vec(n),
            };
            let first = self.values.get(j).map_or(values[0], |[first, _]| *first);
            let other = values.iter().copied().find(|value| *value != first);
            Ok([first, other.unwrap_or(first)])
        })?;
        self.values = found;
        Ok(Some(batch))
    }

    fn rewind(&mut self) -> Result<bool, Error> {
        self.rows.rewind()
    }
}

/// Scores that were computed before.
struct Known(Scores);

impl Scorer for Known {
    fn score(&self, _: &Dataset, _: &Context<'_>) -> Result<Scores, Error> {
        Ok(self.0.clone())
    }
}
