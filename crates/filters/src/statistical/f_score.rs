//! F-score.

use fewest_core::method::Options;
use fewest_core::{
    Context, Dataset, Error, FadingScore, Returned, RunningScorer, RunningScores, SampleStream, Scorer,
    Scores, State, StreamScorer, Target,
};

use super::classes::{
    ClassOrder, ClassTable, Spread, check_classes, running_spreads, stream_spreads, unordered_sums,
};
use super::regression::{Explained, Regression, RegressionTable, running_explained, stream_explained};
use super::{NO_TEST, UNKNOWN, tails, tested};
use crate::unordered::{Unordered, UnorderedScorer};
use fewest_columns::score_features;

/// F statistic of each feature.
///
/// Classes (Eq. 81 of Li et al. 2016), one-way analysis of variance of the feature over `c` classes:
///
/// ```text
/// F = [Σⱼ nⱼ (mⱼ − m)² / (c − 1)] / [Σⱼ (nⱼ − 1) sⱼ² / (n − c)],   sⱼ² dividing by nⱼ − 1
/// ```
///
/// A real target: the F test of its linear regression on the feature, `F = r² (n − 2) / (1 − r²)`. A
/// categorical feature counts as its level indicators there, which gives the analysis of variance of the
/// target over the levels; with classes, they are divided by √2, and for more than two levels the p-value is
/// that of `(n − 1) (L − 1) B / T ~ χ²((L − 1)(c − 1))` (Light and Margolin 1971).
///
/// 0 for a constant feature; infinite, and so the best, for one that separates the classes perfectly or of
/// which the target is a linear function but for rounding. Cost: `O(n)` a feature, `O(stored values)` for
/// sparse ones.
///
/// # Errors
/// Another target; no more samples than classes, or fewer than three for a real target; a target that does
/// not vary; a NaN or an infinity, naming the cell; sample weights.
///
/// ```
/// use fewest_core::{Context, Dataset, DenseColumns, Scorer, Target};
/// use fewest_filters::statistical::FScore;
///
/// let x = DenseColumns::from_columns(&[vec![0.0, 2.0, 4.0, 6.0], vec![1.0, 1.0, 2.0, 2.0]])?;
/// let data = Dataset::new(x, Target::from_labels(&["a", "a", "b", "b"]))?;
/// let scores = FScore.score(&data, &Context::default())?;
/// assert_eq!(scores.values, [8.0, f64::INFINITY]);
/// # Ok::<(), fewest_filters::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FScore;

impl Options for FScore {}

impl Scorer for FScore {
    fn score(&self, data: &Dataset, context: &Context<'_>) -> Result<Scores, Error> {
        data.refuse_sample_weights("f-score")?;
        let (scored, status) = match data.target() {
            Target::Class(classes) => {
                check_samples(&ClassOrder::new(classes)?.counts)?;
                let table = ClassTable::new(data, "f-score")?;
                score_features(data, context, "F-score", UNKNOWN, |j, column| {
                    Ok(analysis_of_variance(&table.spread(j, column, data.feature_kind(j))?))
                })?
            }
            target => {
                let table = RegressionTable::new(REGRESSION, target, data.n_samples())?;
                score_features(data, context, "F-score", UNKNOWN, |j, column| {
                    table.explained(j, column, data.feature_kind(j)).map(f_of_regression)
                })?
            }
        };
        Ok(tested(scored).with_status(status))
    }

    fn in_passes(&self) -> Option<&dyn StreamScorer> {
        Some(self)
    }
}

impl StreamScorer for FScore {
    fn score_part(&self, stream: &mut dyn SampleStream, context: &Context<'_>) -> Result<Scores, Error> {
        // The first batch says which of the two F statistics it is.
        let first = stream.next_batch()?;
        let by_class = first.as_ref().is_some_and(|batch| matches!(batch.target(), Target::Class(_)));
        let stream = &mut Returned { first, stream };
        if !by_class {
            return Ok(of_shares(stream_explained(REGRESSION, stream, context)?));
        }
        of_spreads(&stream_spreads(stream, "f-score", context)?)
    }

    fn reads_parts(&self) -> bool {
        true
    }
}

impl RunningScorer for FScore {
    fn running(&self) -> Result<Box<dyn RunningScores>, Error> {
        Ok(Box::new(RunningF(None)))
    }

    fn fading(&self) -> Result<FadingScore, Error> {
        Ok(FadingScore::F)
    }
}

impl UnorderedScorer for FScore {
    fn score_unordered(&self, sums: &Unordered) -> Result<Scores, Error> {
        match sums {
            Unordered::Numbers(_) | Unordered::Levels { .. } => {
                of_spreads(&[unordered_sums(sums, REGRESSION.method)?.0.spread()])
            }
            real => Ok(of_shares(vec![REGRESSION.explained_unordered(real)?])),
        }
    }
}

fn of_shares(explained: Vec<Explained>) -> Scores {
    tested(explained.into_iter().map(f_of_regression).collect())
}

fn of_spreads(spreads: &[Spread]) -> Result<Scores, Error> {
    for spread in spreads {
        check_classes(&spread.counts)?;
        check_samples(&spread.counts)?;
    }
    Ok(tested(spreads.iter().map(analysis_of_variance).collect()))
}

/// The sums of one of the two F statistics, and whether it is that of classes: the target of the first batch
/// says.
struct RunningF(Option<(bool, Box<dyn RunningScores>)>);

impl RunningF {
    fn begin(by_class: bool) -> Box<dyn RunningScores> {
        match by_class {
            true => running_spreads("f-score", |spreads| of_spreads(&spreads)),
            false => running_explained(REGRESSION, of_shares),
        }
    }

    fn of(batch: &Dataset) -> (bool, Box<dyn RunningScores>) {
        let by_class = matches!(batch.target(), Target::Class(_));
        (by_class, Self::begin(by_class))
    }
}

impl RunningScores for RunningF {
    fn check(&self, batch: &Dataset) -> Result<(), Error> {
        Self::of(batch).1.check(batch)
    }

    fn add(&mut self, batch: &Dataset) -> Result<(), Error> {
        self.0.get_or_insert_with(|| Self::of(batch)).1.add(batch)
    }

    fn scores(&self, last: Option<&Dataset>) -> Result<Scores, Error> {
        match (&self.0, last) {
            (Some((_, sums)), _) => sums.scores(last),
            (None, Some(last)) => Self::of(last).1.scores(Some(last)),
            (None, None) => Err(Error::TooFew { what: "samples", minimum: 1, found: 0 }),
        }
    }

    fn save(&self, to: &mut Vec<u8>) {
        self.0.as_ref().map(|(by_class, _)| *by_class).save(to);
        if let Some((_, sums)) = &self.0 {
            sums.save(to);
        }
    }

    fn load(&mut self, from: &mut &[u8]) -> Result<(), Error> {
        self.0 = match Option::load(from)? {
            None => None,
            Some(by_class) => {
                let mut sums = Self::begin(by_class);
                sums.load(from)?;
                Some((by_class, sums))
            }
        };
        Ok(())
    }
}

const REGRESSION: Regression = Regression { method: "f-score", expected: "classes or one real output" };

/// F of the regression of the target on the feature, and its p-value.
fn f_of_regression(explained: Explained) -> (f64, f64) {
    let Explained { share, dimensions, n } = explained;
    if dimensions == 0.0 {
        return (0.0, NO_TEST);
    }
    let denominator = n - 1.0 - dimensions;
    if denominator <= 0.0 {
        return (f64::NAN, f64::NAN);
    }
    let f = ratio(share / dimensions, (1.0 - share) / denominator);
    (f, tails::fisher_snedecor(f, dimensions, denominator))
}

/// An error unless there are more samples than classes.
fn check_samples(counts: &[usize]) -> Result<(), Error> {
    let (n, c) = (counts.iter().sum(), counts.len());
    if n <= c {
        return Err(Error::TooFew {
            what: "samples (more than there are classes)",
            minimum: c + 1,
            found: n,
        });
    }
    Ok(())
}

/// F over the classes, and its p-value.
fn analysis_of_variance(spread: &Spread) -> (f64, f64) {
    let (n, c) = (spread.counts.iter().sum::<usize>(), spread.counts.len());
    let (numerator, denominator) = ((c - 1) as f64, (n - c) as f64);
    if spread.is_constant() {
        return (0.0, NO_TEST);
    }
    let f = ratio(spread.between / numerator, spread.within.iter().sum::<f64>() / denominator);
    let p = if spread.dimensions > 1 && f.is_finite() {
        categorical_p_value(spread, n as f64)
    } else {
        tails::fisher_snedecor(f, numerator, denominator)
    };
    (f, p)
}

/// `a / b`, where nothing over nothing is nothing.
fn ratio(a: f64, b: f64) -> f64 {
    if a == 0.0 { 0.0 } else { a / b }
}

/// The p-value of a categorical feature against the classes.
pub(super) fn categorical_p_value(spread: &Spread, n: f64) -> f64 {
    let total = spread.between + spread.within.iter().sum::<f64>();
    let freedom = (spread.dimensions * (spread.within.len() - 1)) as f64;
    tails::chi_squared((n - 1.0) * spread.dimensions as f64 * ratio(spread.between, total), freedom)
}
