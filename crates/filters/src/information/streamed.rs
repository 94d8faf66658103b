//! Forward selection from a stream that is read a few times.

use std::sync::{Mutex, PoisonError};

use fewest_core::method::{Choice, Options};
use fewest_core::{Budget, Context, Error, PassSelector, SampleStream, Selection};
use fewest_counts::discretisation::{Discretisation, DiscretisationRule, Integers};

use super::criteria::Forward;
use super::criterion::{Alone, ForwardCriterion, Samples};
use super::estimators::Estimator;
use super::forward::{self, NO_OTHERS, add_notes, few_microseconds, forward};
use super::known_terms::{KnownTerms, Singles, UNKNOWN_NUMBER};
use super::known_triples::KnownTriples;
use crate::tables::{LevelTable, StreamTables};

/// The levels of a stream by class, for `method`: bins of equal width or of equally many samples, two classes
/// or more. The classes of a real target are its bins.
///
/// # Errors
/// Another estimator; a target that does not vary; those of [`StreamTables`].
pub(super) fn discrete_tables(
    stream: &mut dyn SampleStream,
    estimator: Estimator,
    method: &'static str,
    context: &Context<'_>,
) -> Result<StreamTables, Error> {
    let levels = match numbers_in_bins(estimator) {
        Some((DiscretisationRule::EqualWidth, bins)) => {
            StreamTables::equal_width(stream, bins, method, context)?
        }
        Some((DiscretisationRule::EqualFrequency, bins)) => {
            StreamTables::equal_frequency(stream, bins, method, context)?
        }
        _ => {
            let what = "an estimator other than bins of equal width or of equally many samples \
                        (estimator=discrete, discretisation=equal-width or equal-frequency, integers=bins)";
            return Err(not_on_a_stream(method, what));
        }
    };
    check_two_classes(&levels.tables)?;
    Ok(levels)
}

/// The number of bins of equal width, of samples that arrive.
///
/// # Errors
/// [`Error::Unsupported`] for another estimator.
pub(super) fn running_bins(estimator: Estimator, method: &'static str) -> Result<usize, Error> {
    match numbers_in_bins(estimator) {
        Some((DiscretisationRule::EqualWidth, bins)) => Ok(bins),
        Some((DiscretisationRule::EqualFrequency, _)) => Err(Error::Unsupported {
            method,
            what: "discretisation=equal-frequency of samples that arrive, which come once,".to_owned(),
            instead: "take discretisation=equal-width, or keep the rows in a file and select from that"
                .to_owned(),
        }),
        _ => Err(not_on_a_stream(
            method,
            "an estimator other than bins of equal width (estimator=discrete, integers=bins)",
        )),
    }
}

/// The rule and the number of bins, where every number comes into bins.
fn numbers_in_bins(estimator: Estimator) -> Option<(DiscretisationRule, usize)> {
    match estimator {
        Estimator::Discrete(Discretisation { discretisation, integers: Integers::Bins, bins }) => {
            Some((discretisation, bins))
        }
        _ => None,
    }
}

/// Refuses a target of one class.
pub(super) fn check_two_classes(tables: &[LevelTable]) -> Result<(), Error> {
    match tables.iter().map(|table| table.class_counts().len()).min() {
        Some(found) if found < 2 => {
            Err(Error::TooFew { what: "different values of the target", minimum: 2, found })
        }
        _ => Ok(()),
    }
}

fn not_on_a_stream(method: &'static str, what: &str) -> Error {
    let instead = "read the rows into one table".to_owned();
    Error::Unsupported { method, what: format!("{what} on a stream"), instead }
}

impl PassSelector for Forward {
    /// With the bits of [`Selector::select`] on the same rows in one table.
    ///
    /// For bins of equal width or of equally many samples, of which a real target has as many by the same
    /// rule. The stream is read for the bounds of the bins, those of the target among them (once for equal
    /// width, mostly twice for equally many samples), once for the counts of levels, and then to count the
    /// levels of pairs: of all pairs in one pass where these are at most three times as many as those of the
    /// selected features with all others, and otherwise of the pairs of the best candidates with each other,
    /// and of those that are expected to be selected with all features. What was expected wrongly costs one
    /// more pass, and never the answer: a feature is taken once its pairs with all that were selected before
    /// are known for every feature. Counts take 256 MiB or [`Context::memory`] at most, or are those of one
    /// pair, whatever the number of rows: where those of a selected feature with all others take more, they
    /// are counted in several passes, some of the candidates in each. Where memory is too little for the
    /// exact bounds of many bins of equally many samples, a note tells how far they may be off.
    ///
    /// So it is with the triples of [`ForwardCriterion::Jmi3`]: a pass counts the pairs with the first
    /// feature and the triples of the best candidates, and the next one those of each two features that are
    /// expected to be selected with all others.
    ///
    /// [`Selector::select`]: fewest_core::Selector::select
    ///
    /// # Errors
    /// As [`Selector::select`]; [`Error::Unsupported`] for another estimator, for a stream that cannot be
    /// rewound, and where [`Context::memory`] is below that of the pairs or triples of one candidate with the
    /// selected features; [`Error::InvalidParameter`] for more bins of a real target than it has room for;
    /// [`Error::Unreadable`] for a stream that has another number of rows, or a level not seen before, in a
    /// later pass.
    ///
    /// ```
    /// use fewest_core::{Budget, Context, Dataset, DenseColumns, PassSelector, RowBatches, Target};
    /// use fewest_filters::information::{Forward, ForwardCriterion};
    ///
    /// let bit = |shift: usize| (0..64).map(move |i| (i >> shift & 1) as f64).collect::<Vec<_>>();
    /// let x = DenseColumns::from_columns(&[bit(0), bit(0), bit(1), bit(2)])?;
    /// let labels: Vec<usize> = (0..64).map(|i| (i & 1) * 2 + (i >> 1 & 1)).collect();
    /// let data = Dataset::new(x, Target::from_labels(&labels))?;
    /// let mut stream = RowBatches::new(&data, 10)?;
    /// let jmi = Forward::new(ForwardCriterion::Jmi);
    /// let selection = jmi.select_stream(&mut stream, Budget::Count(2), &Context::default())?;
    /// assert_eq!(selection.order, [0, 2]);
    /// # Ok::<(), fewest_filters::Error>(())
    /// ```
    fn select_stream(
        &self,
        stream: &mut dyn SampleStream,
        budget: Budget,
        context: &Context<'_>,
    ) -> Result<Selection, Error> {
        let (criterion, id) = (self.criterion, self.criterion.word());
        self.check()?;
        let mut levels = discrete_tables(stream, self.estimator, id, context)?;
        let note = levels.note.take();
        let d = levels.tables.len();
        budget.check(d)?;
        let candidates: Vec<usize> = (0..d).filter(|&k| levels.tables[k].n_levels() > 1).collect();
        let n_constant = d - candidates.len();
        let n_wanted = match budget {
            Budget::Count(k) => k.min(candidates.len()),
            _ => candidates.len().min(UNKNOWN_NUMBER),
        };
        let singles = Singles::new(criterion, levels);
        let known = match criterion {
            ForwardCriterion::Jmi3 => {
                Known::Triples(KnownTriples::new(stream, context, candidates.clone(), n_wanted, &singles))
            }
            _ => Known::Pairs(KnownTerms::new(stream, context, candidates.clone(), n_wanted)),
        };
        let streamed = Streamed { singles, known: Mutex::new(known) };
        let mut selection = forward(&streamed, candidates, d, budget, context)?;
        selection.notes.extend(note);
        add_notes(&mut selection, budget, n_constant, NO_OTHERS);
        Ok(selection)
    }
}

/// A criterion over the counts of a stream.
struct Streamed<'a> {
    singles: Singles,
    known: Mutex<Known<'a>>,
}

/// What passes have counted.
enum Known<'a> {
    Pairs(KnownTerms<'a>),
    Triples(KnownTriples<'a>),
}

impl Singles {
    fn new(criterion: ForwardCriterion, levels: StreamTables) -> Self {
        let n = levels.tables.first().map_or(0, LevelTable::n_samples);
        let target = levels.tables.first().map_or(0.0, LevelTable::class_sum);
        let alone = |table: &LevelTable| {
            let (sum, with_target) = table.sums();
            Alone { sum, with_target }
        };
        Self {
            criterion,
            samples: Samples::new(n, target),
            alone: levels.tables.iter().map(alone).collect(),
            relevances: levels.tables.iter().map(LevelTable::relevance).collect(),
            levels,
        }
    }
}

impl forward::Criterion for Streamed<'_> {
    /// The term of every feature with a selected one, or with it and each one before; of no effect for
    /// constants and what is selected.
    type Partner = Vec<f64>;
    type Scratch = ();

    fn relevance(&self, k: usize) -> f64 {
        self.singles.relevances[k]
    }

    fn restarts(&self, n_selected: usize) -> bool {
        self.singles.criterion.restarts(n_selected)
    }

    fn start(&self, k: usize) -> f64 {
        self.singles.criterion.start(self.singles.relevances[k])
    }

    /// A pass over the stream or more, unless one before has counted these terms.
    fn partners(&self, selected: &[usize]) -> Result<Vec<Vec<f64>>, Error> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(vec![match &mut *known {
            Known::Pairs(known) => known.with_last(&self.singles, selected)?,
            Known::Triples(known) => known.with_last(&self.singles, selected)?,
        }])
    }

    fn fold(&self, k: usize, fold: f64, partners: &[Vec<f64>], _scratch: &mut ()) -> Result<f64, Error> {
        Ok(self.singles.criterion.fold(fold, partners.iter().map(|terms| terms[k])))
    }

    fn value(&self, k: usize, fold: f64, n_selected: usize) -> f64 {
        self.singles.criterion.value(self.singles.relevances[k], fold, n_selected)
    }

    fn candidates_per_task(&self) -> usize {
        // The terms are in the partners: a fold is a sum.
        few_microseconds(1)
    }

    fn folds_bound(&self) -> bool {
        self.singles.criterion.folds_bound()
    }
}
