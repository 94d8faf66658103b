//! Correlation with the target.

use fewest_core::{
    Column, Context, Dataset, Error, FadingScore, FeatureKind, RunningScorer, RunningScores, SampleStream,
    Scorer, Scores, StreamScorer, Target, options, words,
};

use super::levels::ranks;
use super::regression::{Explained, Regression, RegressionTable, running_explained, stream_explained};
use super::{NO_TEST, UNKNOWN, tails, tested};
use crate::unordered::{Unordered, UnorderedScorer};
use fewest_columns::score_features;

words! {
    /// Which correlation.
    #[derive(Default)]
    pub enum Coefficient {
        /// Pearson's: how close to a line.
        #[default]
        Pearson = "pearson",
        /// Spearman's: Pearson's of the ranks, equal values sharing the mean of theirs. How close to
        /// monotone.
        Spearman = "spearman",
    }
}

options! {
    /// Absolute correlation of each feature with a real target or two classes, in `[0, 1]`.
    ///
    /// For a categorical feature it is the correlation ratio η, the square root of the share of the target's
    /// variance that lies between levels; with two levels that is Pearson's. 0 for a constant feature. The
    /// p-value is that of the F test of the regression (for Pearson and one dimension the t test with n − 2
    /// degrees of freedom; for Spearman its usual approximation). Cost: `O(n)` a feature, `O(stored values)`
    /// for sparse ones; Spearman `O(n log n)`.
    ///
    /// # Errors
    /// Another target, one that does not vary, or fewer than three samples; a NaN or an infinity, naming the
    /// cell; sample weights.
    ///
    /// ```
    /// use fewest_core::{Context, Dataset, DenseColumns, Scorer, Target};
    /// use fewest_filters::statistical::{Coefficient, CorrelationScore};
    ///
    /// let x = DenseColumns::from_columns(&[vec![1.0, 2.0, 3.0, 10.0], vec![1.0, -1.0, 1.0, -1.0]])?;
    /// let data = Dataset::new(x, Target::real(vec![-1.0, -2.0, -3.0, -4.0])?)?;
    /// let scores = CorrelationScore { coefficient: Coefficient::Spearman }.score(&data, &Context::default())?;
    /// assert_eq!(scores.values[0], 1.0);
    /// assert!(scores.values[1] < 0.5);
    /// # Ok::<(), fewest_filters::Error>(())
    /// ```
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct CorrelationScore {
        /// Pearson: how close to a line; spearman: how close to monotone.
        pub coefficient: Coefficient = Coefficient::Pearson;
    }
}

impl Scorer for CorrelationScore {
    fn score(&self, data: &Dataset, context: &Context<'_>) -> Result<Scores, Error> {
        data.refuse_sample_weights("correlation")?;
        let n = data.n_samples();
        let by_rank = self.coefficient == Coefficient::Spearman;
        let table = if by_rank {
            let ranked = Target::real(ranks(&REGRESSION.numbers(data.target(), 0..n)?))?;
            RegressionTable::new(REGRESSION, &ranked, n)?
        } else {
            RegressionTable::new(REGRESSION, data.target(), n)?
        };
        let (scored, status) = score_features(data, context, "correlation", UNKNOWN, |j, column| {
            let kind = data.feature_kind(j);
            if by_rank && *kind == FeatureKind::Numeric {
                table.explained(j, Column::Dense(&ranks(&column.to_vec(n))), kind).map(correlation)
            } else {
                table.explained(j, column, kind).map(correlation)
            }
        })?;
        Ok(tested(scored).with_status(status))
    }

    fn in_passes(&self) -> Option<&dyn StreamScorer> {
        Some(self)
    }
}

/// Pearson's only: ranks are no sums over rows.
impl StreamScorer for CorrelationScore {
    fn score_part(&self, stream: &mut dyn SampleStream, context: &Context<'_>) -> Result<Scores, Error> {
        self.check_streamed()?;
        Ok(of_shares(stream_explained(REGRESSION, stream, context)?))
    }

    fn reads_parts(&self) -> bool {
        true
    }
}

impl RunningScorer for CorrelationScore {
    fn running(&self) -> Result<Box<dyn RunningScores>, Error> {
        self.check_streamed()?;
        Ok(running_explained(REGRESSION, of_shares))
    }

    fn fading(&self) -> Result<FadingScore, Error> {
        self.check_streamed()?;
        Ok(FadingScore::Correlation)
    }
}

impl UnorderedScorer for CorrelationScore {
    fn score_unordered(&self, sums: &Unordered) -> Result<Scores, Error> {
        self.check_streamed()?;
        Ok(of_shares(vec![REGRESSION.explained_unordered(sums)?]))
    }
}

impl CorrelationScore {
    /// Refuses ranks, which take all rows.
    fn check_streamed(&self) -> Result<(), Error> {
        if self.coefficient == Coefficient::Spearman {
            return Err(Error::Unsupported {
                method: "correlation on a stream",
                what: "the coefficient spearman".to_owned(),
                instead: "take pearson, or read the rows into one table".to_owned(),
            });
        }
        Ok(())
    }
}

fn of_shares(explained: Vec<Explained>) -> Scores {
    tested(explained.into_iter().map(correlation).collect())
}

const REGRESSION: Regression =
    Regression { method: "correlation", expected: "one real output or two classes" };

/// The score and its p-value.
fn correlation(explained: Explained) -> (f64, f64) {
    let Explained { share, dimensions, n } = explained;
    let freedom = n - 1.0 - dimensions;
    let p = if dimensions == 0.0 {
        NO_TEST
    } else if share == 0.0 {
        1.0
    } else if freedom <= 0.0 {
        f64::NAN
    } else {
        tails::fisher_snedecor(share / dimensions / ((1.0 - share) / freedom), dimensions, freedom)
    };
    (share.sqrt(), p)
}
