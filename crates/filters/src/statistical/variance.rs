//! Variance.

use std::ops::Range;

use crate::running::Running;
use crate::tables::LevelTable;
use crate::unordered::{Unordered, UnorderedScorer};
use fewest_columns::{ColumnSums, ExactMoments, TableSums, Unit, safe_stream_sums};
use fewest_core::method::Options;
use fewest_core::{
    Column, Context, Dataset, Error, FadingScore, FeatureKind, RunningScorer, RunningScores, SampleStream,
    Scorer, Scores, State, StreamScorer, Target,
};

use fewest_columns::moments::{Moments, is_safe};
use fewest_columns::score_features;

/// Variance of each feature, `1/n Σ (x − mean)²`: unsupervised, in the square of the feature's unit.
///
/// 0 for a constant feature. `½ (1 − Σ p²)` for a categorical one with level shares `p`, which is the
/// variance of its code when it has two levels. Cost: `O(n)` a feature, `O(stored values)` for sparse ones.
///
/// # Errors
/// A NaN or an infinity, naming the cell; sample weights.
///
/// ```
/// use fewest_core::{Context, Dataset, DenseColumns, Scorer, Target};
/// use fewest_filters::statistical::Variance;
///
/// let x = DenseColumns::from_columns(&[vec![1.0, 1.0, 1.0], vec![0.0, 3.0, 6.0]])?;
/// let scores = Variance.score(&Dataset::new(x, Target::None)?, &Context::default())?;
/// assert_eq!(scores.values, [0.0, 6.0]);
/// # Ok::<(), fewest_filters::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Variance;

impl Options for Variance {}

impl Scorer for Variance {
    fn score(&self, data: &Dataset, context: &Context<'_>) -> Result<Scores, Error> {
        data.refuse_sample_weights("variance")?;
        let table = TableSums::new(Deviations, data.target(), data.n_samples())?;
        let (values, status) = score_features(data, context, "variance", f64::NAN, |j, column| {
            let kind = data.feature_kind(j);
            let (sums, divisor) = table.safe_of(j, kind, column, Sums::is_safe)?;
            Ok(sums.variance(divisor))
        })?;
        Ok(Scores::descending(values).with_status(status))
    }

    fn in_passes(&self) -> Option<&dyn StreamScorer> {
        Some(self)
    }
}

impl StreamScorer for Variance {
    fn score_part(&self, stream: &mut dyn SampleStream, context: &Context<'_>) -> Result<Scores, Error> {
        let sums = safe_stream_sums(stream, &Deviations, Sums::is_safe, context)?;
        Ok(Scores::descending(sums.iter().map(|(sums, divisor)| sums.variance(*divisor)).collect()))
    }

    fn reads_parts(&self) -> bool {
        true
    }
}

impl RunningScorer for Variance {
    fn running(&self) -> Result<Box<dyn RunningScores>, Error> {
        let scores =
            |sums: Vec<Sums>| Ok(Scores::descending(sums.iter().map(|sums| sums.variance(1.0)).collect()));
        Ok(Box::new(Running::new(Deviations, Sums::is_safe, scores)))
    }

    fn fading(&self) -> Result<FadingScore, Error> {
        Ok(FadingScore::Variance)
    }
}

impl UnorderedScorer for Variance {
    fn score_unordered(&self, sums: &Unordered) -> Result<Scores, Error> {
        let (sums, divisor) = match sums {
            // Those of all classes, where there are any.
            Unordered::Numbers(classes) => {
                let all = ExactMoments::together(classes);
                let unit = Unit::of([&all]);
                let moments =
                    all.moments(unit).ok_or(Error::TooFew { what: "samples", minimum: 1, found: 0 })?;
                (Sums::Numbers(all.n() as usize, moments), unit.divisor())
            }
            levels => (Sums::Levels(LevelTable::unordered(levels, "variance")?.of_all_classes()), 1.0),
        };
        Ok(Scores::descending(vec![sums.variance(divisor)]))
    }
}

/// Squared deviations of numbers, counts of categories.
struct Deviations;

#[derive(Clone)]
enum Sums {
    Numbers(usize, Moments),
    Levels(LevelTable),
}

impl ColumnSums for Deviations {
    type Batch = usize;
    type Sums = Sums;

    fn batch(&self, _: &Target, rows: Range<usize>) -> Result<usize, Error> {
        Ok(rows.len())
    }

    fn sums(&self, _: usize, kind: &FeatureKind, n: &usize, column: Column<'_>) -> Result<Sums, Error> {
        Ok(match kind {
            FeatureKind::Categorical { .. } => {
                Sums::Levels(LevelTable::new(&column.to_vec(*n), &vec![0; *n], 1))
            }
            _ => Sums::Numbers(*n, Moments::of(column, *n)),
        })
    }

    fn merge(&self, sums: &mut Sums, later: Sums) {
        match (sums, later) {
            (Sums::Numbers(n, moments), Sums::Numbers(n_later, later)) => {
                moments.merge(*n, &later, n_later);
                *n += n_later;
            }
            (Sums::Levels(sums), Sums::Levels(later)) => sums.merge(&later),
            // One feature is of one kind in all batches of a table.
            _ => {}
        }
    }
}

impl State for Sums {
    fn save(&self, to: &mut Vec<u8>) {
        match self {
            Sums::Numbers(n, moments) => {
                true.save(to);
                (*n, *moments).save(to);
            }
            Sums::Levels(table) => {
                false.save(to);
                table.save(to);
            }
        }
    }

    fn load(from: &mut &[u8]) -> Result<Self, Error> {
        Ok(match bool::load(from)? {
            true => Sums::Numbers(State::load(from)?, State::load(from)?),
            false => Sums::Levels(State::load(from)?),
        })
    }
}

impl Sums {
    /// Whether no square has overflowed or vanished.
    fn is_safe(&self) -> bool {
        match self {
            Sums::Numbers(_, moments) => is_safe(moments.deviations),
            Sums::Levels(_) => true,
        }
    }

    /// The variance of values that were divided by `divisor`.
    fn variance(&self, divisor: f64) -> f64 {
        match self {
            Sums::Numbers(n, moments) => moments.deviations / *n as f64 * divisor * divisor,
            Sums::Levels(levels) => {
                let counts = levels.counts();
                let n: f64 = counts.iter().sum();
                let pairs: f64 = counts.iter().map(|count| count * (n - count)).sum();
                0.5 * pairs / (n * n)
            }
        }
    }
}
