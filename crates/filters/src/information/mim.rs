//! Mutual information of each feature with the target.

use crate::running::RunningTables;
use crate::tables::LevelTable;
use crate::unordered::{Unordered, UnorderedScorer};
use fewest_core::method::Options;
use fewest_core::{
    Context, Dataset, Error, RunningScorer, RunningScores, SampleStream, Scorer, Scores, StreamScorer,
    options, rank,
};
use fewest_counts::discretisation::DiscretisationRule;
use fewest_counts::relevances;

use super::continuous::{Estimated, Parzen};
use super::criterion::ForwardCriterion;
use super::estimators::{Estimator, Search};
use super::forward::TIE;
use super::streamed::{check_two_classes, discrete_tables, running_bins};

options! {
    /// Mutual information maximisation, also called information gain: `I(k;Y)` in nats, Eq. (36) of Li et al.
    /// 2016 (Lewis 1992).
    ///
    /// Zero for a constant feature and never below. Scores within 1e-11 of the best of them are set to it, so
    /// that ties are ties. Cost: `O(n)` a feature over levels; `O(n²)` with Parzen windows, `O(n log n)` to
    /// `O(n^1.5)` with neighbours.
    ///
    /// # Errors
    /// For a target that is neither classes nor one real output, or has one value only; estimator parameters
    /// out of range.
    ///
    /// ```
    /// use fewest_core::{Context, Dataset, DenseColumns, Scorer, Target};
    /// use fewest_filters::information::Mim;
    ///
    /// let x = DenseColumns::from_columns(&[vec![1.0, 2.0, 1.0, 2.0], vec![0.1, 0.2, 8.1, 9.0]])?;
    /// let data = Dataset::new(x, Target::from_labels(&["a", "a", "b", "b"]))?;
    /// let scores = Mim::default().score(&data, &Context::default())?;
    /// assert!(scores.values[0].abs() < 1e-12 && (scores.values[1] - 2_f64.ln()).abs() < 1e-12);
    /// # Ok::<(), fewest_filters::Error>(())
    /// ```
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct Mim {
        /// From levels, Gaussian windows, or nearest neighbours (Kraskov, Stögbauer, Grassberger).
        pub estimator: Estimator = Estimator::default();
    }
}

impl Scorer for Mim {
    fn score(&self, data: &Dataset, context: &Context<'_>) -> Result<Scores, Error> {
        data.refuse_sample_weights("mim")?;
        self.check()?;
        self.estimator.check_samples(data.n_samples())?;
        // Of no effect: only relevances are asked for.
        let criterion = ForwardCriterion::Mifs { beta: 0.0 };
        let mut values = match self.estimator {
            Estimator::Discrete(rule) => relevances(data, &rule, "mim", context)?,
            Estimator::Parzen { bandwidth_factor } => {
                Estimated::new(data, criterion, &Parzen(bandwidth_factor), "mim", false, context)?.relevances
            }
            Estimator::Kraskov { neighbours } => {
                let search = Search::new(data.n_samples(), neighbours);
                Estimated::new(data, criterion, &search, "mim", false, context)?.relevances
            }
        };
        join_ties(&mut values);
        Ok(Scores::descending(values))
    }

    fn in_passes(&self) -> Option<&dyn StreamScorer> {
        Some(self)
    }
}

/// With the default estimator's kind, bins of equal width or of equally many samples, of which a real target
/// has as many by the same rule. Two passes for bins of equal width: the ranges of the features and of the
/// target, then the counts. Mostly three for those of equally many samples: two for the bounds of the bins.
impl StreamScorer for Mim {
    fn score_part(&self, stream: &mut dyn SampleStream, context: &Context<'_>) -> Result<Scores, Error> {
        self.check()?;
        let levels = discrete_tables(stream, self.estimator, "mim", context)?;
        let mut scores = Scores::descending(relevances_of(&levels.tables));
        scores.notes.extend(levels.note);
        Ok(scores)
    }

    fn settle(&self, scores: &mut Scores) {
        join_ties(&mut scores.values);
    }

    /// Bins of equally many samples are told once for all features how far they may be off.
    fn reads_parts(&self) -> bool {
        matches!(self.estimator, Estimator::Discrete(bins) if bins.discretisation == DiscretisationRule::EqualWidth)
    }
}

impl RunningScorer for Mim {
    fn running(&self) -> Result<Box<dyn RunningScores>, Error> {
        self.check()?;
        let scores = |tables: Vec<LevelTable>, _: &dyn Fn(usize) -> bool| {
            check_two_classes(&tables)?;
            Ok(of_tables(&tables))
        };
        Ok(Box::new(RunningTables::new(running_bins(self.estimator, "mim")?, "mim", scores)))
    }
}

impl UnorderedScorer for Mim {
    fn score_unordered(&self, sums: &Unordered) -> Result<Scores, Error> {
        let tables = [LevelTable::unordered(sums, "mim")?];
        check_two_classes(&tables)?;
        Ok(of_tables(&tables))
    }
}

fn relevances_of(tables: &[LevelTable]) -> Vec<f64> {
    tables.iter().map(LevelTable::relevance).collect()
}

fn of_tables(tables: &[LevelTable]) -> Scores {
    let mut values = relevances_of(tables);
    join_ties(&mut values);
    Scores::descending(values)
}

/// Gives values that differ by rounding the same value, the largest of them.
pub(super) fn join_ties(values: &mut [f64]) {
    let mut head = f64::NAN;
    for j in rank(values, true) {
        if head - values[j] <= TIE {
            values[j] = head;
        } else {
            head = values[j];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fewest_core::{DenseColumns, Target, score_parts};

    /// Features of the same samples, part after part.
    struct Parts {
        parts: Vec<Dataset>,
        at: usize,
        is_read: bool,
    }

    impl SampleStream for Parts {
        fn next_batch(&mut self) -> Result<Option<Dataset>, Error> {
            let batch = self.parts.get(self.at).filter(|_| !self.is_read).cloned();
            self.is_read = true;
            Ok(batch)
        }

        fn rewind(&mut self) -> Result<bool, Error> {
            self.is_read = false;
            Ok(true)
        }

        fn next_part(&mut self) -> Result<bool, Error> {
            (self.at, self.is_read) = (self.at + 1, false);
            Ok(self.at < self.parts.len())
        }
    }

    /// Features whose bins are those of others in another order have the same information but for rounding:
    /// they tie, in whichever part they come.
    #[test]
    fn ties_are_ties_in_all_parts() -> Result<(), Error> {
        let n = 997;
        let value = |i: usize, j: usize| (((i * (j + 3) * 31 + i * i) % 1009) as f64).sqrt();
        let columns: Vec<Vec<f64>> = (0..6)
            .flat_map(|j| [1.0, -1.0].map(|sign| (0..n).map(|i| sign * value(i, j)).collect()))
            .collect();
        let labels: Vec<usize> = (0..n).map(|i| (value(i, 1) / 12.0) as usize + i % 2).collect();
        let data = Dataset::new(DenseColumns::from_columns(&columns)?, Target::from_labels(&labels))?;
        let context = Context::default();
        let mim = Mim::default();
        let whole = mim.score(&data, &context)?;
        assert!(whole.values.chunks(2).all(|pair| pair[0] == pair[1]), "{:?}", whole.values);
        for each in [1, 5, 12] {
            let all: Vec<usize> = (0..12).collect();
            let parts: Vec<Dataset> =
                all.chunks(each).map(|part| data.feature_subset(part)).collect::<Result<_, _>>()?;
            let mut stream = Parts { parts, at: 0, is_read: false };
            assert_eq!(score_parts(&mim, &mut stream, &context)?.0, whole, "{each}");
        }
        Ok(())
    }
}
