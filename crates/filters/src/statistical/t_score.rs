//! t-score.

use fewest_core::{
    Context, Dataset, Error, RunningScorer, RunningScores, SampleStream, Scorer, Scores, StreamScorer,
    options, words,
};

use super::classes::{
    ClassOrder, ClassTable, Spread, check_classes, running_spreads, stream_spreads, unordered_sums,
};
use super::{NO_TEST, UNKNOWN, tails};
use crate::unordered::{Unordered, UnorderedScorer};
use fewest_columns::score_features;

words! {
    /// What the variance of a class divides by.
    #[derive(Default)]
    pub enum ClassVariance {
        /// Its samples less 1: Welch's t.
        #[default]
        Sample = "sample",
        /// Its samples.
        Population = "population",
    }
}

options! {
    /// t-score of each feature for two classes (Eq. 80 of Li et al. 2016): `|m₁ − m₂| / √(v₁/n₁ + v₂/n₂)`.
    ///
    /// 0 for a constant feature, infinite when the means differ and neither class varies. With
    /// [`ClassVariance::Sample`] it is the absolute t of Welch (1947) and has p-values, with the degrees of
    /// freedom of Welch and Satterthwaite. A categorical feature counts as its level indicators divided by
    /// √2; with more than two levels its p-value is that of `(n − 1) (L − 1) B / T ~ χ²((L − 1)(c − 1))`
    /// (Light and Margolin 1971), where `B / T` is the share of variation between classes. Cost: `O(n)` a
    /// feature, `O(stored values)` for sparse ones.
    ///
    /// # Errors
    /// A target that is not two classes; fewer than two samples in a class for [`ClassVariance::Sample`]; a
    /// NaN or an infinity, naming the cell; sample weights.
    ///
    /// ```
    /// use fewest_core::{Context, Dataset, DenseColumns, Scorer, Target};
    /// use fewest_filters::statistical::TScore;
    ///
    /// let x = DenseColumns::from_columns(&[vec![0.0, 2.0, 4.0, 6.0], vec![0.0, 6.0, 4.0, 2.0]])?;
    /// let data = Dataset::new(x, Target::from_labels(&["a", "a", "b", "b"]))?;
    /// let scores = TScore::default().score(&data, &Context::default())?;
    /// assert!((scores.values[0] - 8.0_f64.sqrt()).abs() < 1e-12);
    /// assert_eq!(scores.values[1], 0.0);
    /// # Ok::<(), fewest_filters::Error>(())
    /// ```
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct TScore {
        /// The variance of a class divides by its samples less 1 (Welch's t), or by its samples.
        pub variance: ClassVariance = ClassVariance::Sample;
    }
}

impl Scorer for TScore {
    fn score(&self, data: &Dataset, context: &Context<'_>) -> Result<Scores, Error> {
        data.refuse_sample_weights("t-score")?;
        self.check(&ClassOrder::new(data.classes("t-score")?)?.counts)?;
        let table = ClassTable::new(data, "t-score")?;
        let (scored, status) = score_features(data, context, "t-score", UNKNOWN, |j, column| {
            Ok(self.t(&table.spread(j, column, data.feature_kind(j))?))
        })?;
        Ok(self.scores(scored).with_status(status))
    }

    fn in_passes(&self) -> Option<&dyn StreamScorer> {
        Some(self)
    }
}

impl StreamScorer for TScore {
    fn score_part(&self, stream: &mut dyn SampleStream, context: &Context<'_>) -> Result<Scores, Error> {
        self.of_spreads(&stream_spreads(stream, "t-score", context)?)
    }

    fn reads_parts(&self) -> bool {
        true
    }
}

impl RunningScorer for TScore {
    fn running(&self) -> Result<Box<dyn RunningScores>, Error> {
        let score = *self;
        Ok(running_spreads("t-score", move |spreads| score.of_spreads(&spreads)))
    }
}

impl UnorderedScorer for TScore {
    fn score_unordered(&self, sums: &Unordered) -> Result<Scores, Error> {
        self.of_spreads(&[unordered_sums(sums, "t-score")?.0.spread()])
    }
}

impl TScore {
    fn of_spreads(&self, spreads: &[Spread]) -> Result<Scores, Error> {
        spreads
            .iter()
            .try_for_each(|spread| check_classes(&spread.counts).and(self.check(&spread.counts)))?;
        Ok(self.scores(spreads.iter().map(|spread| self.t(spread)).collect()))
    }

    /// An error unless there are two classes with enough samples.
    fn check(&self, counts: &[usize]) -> Result<(), Error> {
        let &[first, second] = counts else {
            let found = format!("{} classes", counts.len());
            return Err(Error::UnsupportedTarget { method: "t-score", expected: "two classes", found });
        };
        let smallest = first.min(second);
        if self.variance == ClassVariance::Sample && smallest < 2 {
            return Err(Error::TooFew { what: "samples of each class", minimum: 2, found: smallest });
        }
        Ok(())
    }

    /// The score and its p-value.
    fn t(&self, spread: &Spread) -> (f64, f64) {
        let &[first, second] = spread.counts.as_slice() else { return (f64::NAN, f64::NAN) };
        let (n1, n2) = (first as f64, second as f64);
        // Σ nⱼ (mⱼ − m)² = n₁ n₂ / (n₁ + n₂) (m₁ − m₂)²
        let difference = spread.between * (n1 + n2) / (n1 * n2);
        let shares: Vec<f64> = spread
            .within
            .iter()
            .zip([n1, n2])
            .map(|(within, n)| match self.variance {
                ClassVariance::Sample => within / (n - 1.0) / n,
                ClassVariance::Population => within / n / n,
            })
            .collect();
        let squared_error = shares[0] + shares[1];
        let t = if difference == 0.0 { 0.0 } else { (difference / squared_error).sqrt() };
        let p = if spread.is_constant() {
            NO_TEST
        } else if t == 0.0 {
            1.0
        } else if t.is_infinite() {
            0.0
        } else if spread.dimensions > 1 {
            super::f_score::categorical_p_value(spread, n1 + n2)
        } else {
            let (a, b) = (shares[0] / squared_error, shares[1] / squared_error);
            tails::student(t, (a * a / (n1 - 1.0) + b * b / (n2 - 1.0)).recip())
        };
        (t, p)
    }

    fn scores(&self, scored: Vec<(f64, f64)>) -> Scores {
        let (values, p_values): (Vec<f64>, Vec<f64>) = scored.into_iter().unzip();
        let mut scores = Scores::descending(values);
        scores.p_values = (self.variance == ClassVariance::Sample).then_some(p_values);
        scores
    }
}

/// Two classes are all a t-score knows.
#[cfg(test)]
mod tests {
    use fewest_core::{DenseColumns, Target};

    use super::*;

    #[test]
    fn other_targets_are_errors() {
        let score = |target: Target| {
            let x = DenseColumns::new(vec![1.0, 2.0, 3.0, 4.0], 4, 1)?;
            TScore::default().score(&Dataset::new(x, target)?, &Context::default())
        };
        for target in [Target::from_labels(&[1, 2, 3, 3]), Target::None] {
            assert!(matches!(score(target), Err(Error::UnsupportedTarget { method: "t-score", .. })));
        }
        assert!(matches!(score(Target::from_labels(&[1, 1, 1, 1])), Err(Error::TooFew { found: 1, .. })));
        assert!(matches!(score(Target::from_labels(&[1, 1, 1, 2])), Err(Error::TooFew { found: 1, .. })));
    }
}
