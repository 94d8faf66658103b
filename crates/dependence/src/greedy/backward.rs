//! Backward elimination.

use fewest_core::method::{KernelWidth, Options};
use fewest_core::{Budget, Context, Dataset, Error, Forecast, Selection, Selector, Status, options, order};

use super::begin;
use super::criterion::Criterion;
use crate::OutputKernel;

options! {
    /// Backward elimination with HSIC (Song, Smola, Gretton, Bedo and Borgwardt 2012, BAHSIC): from all
    /// features, those are taken away again and again whose absence leaves the largest `tr(M̄ L̄)` (Eq. 6 of
    /// Yamada et al. 2014); the kernel is that of [`Fhsic`](crate::Fhsic).
    ///
    /// While more features are left than wanted, a share of them goes at a time; after that one by one, which
    /// orders the answer: the last one left is the best. The score of a feature is the criterion of the set
    /// of it and all better ones. With `Budget::Auto` the answer is the set with the largest criterion on the
    /// way.
    ///
    /// Cost: `n²/2` exponentials for each feature left, every round; with a share of a tenth that is about
    /// ten rounds over all features. Memory the data and `n²`.
    ///
    /// # Errors
    /// As [`Fhsic`](crate::Fhsic); a share outside [0, 1). Stopped early, the answer is made of the features
    /// that are left, by the criterion without them in the last round; before the first round has ended there
    /// is none.
    ///
    /// ```
    /// use fewest_core::{Budget, Context, Dataset, DenseColumns, Selector, Target};
    /// use fewest_dependence::Bahsic;
    ///
    /// // The classes are the exclusive or of two features, which alone say nothing.
    /// let bit = |of: usize| (0..64).map(|i| f64::from(u8::from(i & of > 0))).collect::<Vec<f64>>();
    /// let labels: Vec<bool> = (0..64).map(|i| (i & 1 > 0) != (i & 8 > 0)).collect();
    /// let x = DenseColumns::from_columns(&[bit(1), bit(2), bit(8), bit(16)])?;
    /// let data = Dataset::new(x, Target::from_labels(&labels))?;
    /// let mut order = Bahsic::default().select(&data, Budget::Count(2), &Context::default())?.order;
    /// order.sort();
    /// assert_eq!(order, [0, 2]);
    /// # Ok::<(), fewest_dependence::Error>(())
    /// ```
    #[derive(Debug, Clone)]
    pub struct Bahsic {
        /// Share of the features left that goes at a time; 0: one by one.
        ///
        /// At least one feature goes. The default is that of Song et al.
        pub fraction: f64 = 0.1, BelowOne;
        /// Width of the kernel on standardised features, times the root of their number.
        ///
        /// Median: of the distances between samples over all features, divided by that root.
        pub sigma_x: KernelWidth = KernelWidth::Value(1.0);
        /// Kernel of the target; auto: delta for classes, Gaussian for numbers, an affinity as it is.
        pub output: OutputKernel = OutputKernel::Auto;
    }
}

impl Bahsic {
    /// How many of `n_features` go in a round: one by one once `least` or fewer are left.
    fn n_away(&self, n_features: usize, least: usize) -> usize {
        let share = (self.fraction * n_features as f64).floor() as usize;
        share.min(n_features.saturating_sub(least)).max(1)
    }

    /// How many times as long as the first round all rounds take; each takes as long as it has features.
    fn rounds_as_the_first(&self, n_features: usize, least: usize) -> f64 {
        let (mut left, mut sum) = (n_features, 0);
        while left > 0 {
            sum += left;
            left -= self.n_away(left, least);
        }
        sum as f64 / n_features.max(1) as f64
    }
}

/// The criterion of the features `left`, and without each of them; the status to stop with, when the run is
/// to stop.
fn round(
    criterion: &Criterion,
    left: &[usize],
    context: &Context<'_>,
) -> Result<Result<(f64, Vec<f64>), Status>, Error> {
    let distances = match criterion.distances(left, context) {
        Err(Error::Stopped { .. }) => return Ok(Err(context.stopped().unwrap_or(Status::TimeLimit))),
        found => found?,
    };
    let value = criterion.of(&distances, left.len(), context);
    Ok(value
        .and_then(|value| Ok((value, criterion.scores(&distances, -1.0, left, left.len() - 1, context)?))))
}

impl Selector for Bahsic {
    fn select(&self, data: &Dataset, budget: Budget, context: &Context<'_>) -> Result<Selection, Error> {
        self.check()?;
        let (most, criterion, mut left) = begin(data, budget, &self.output, self.sigma_x, "bahsic", context)?;
        let varying = left.len();
        // Features in the order in which they went, with the criterion of the set they were taken from; and
        // how many features each of those sets had.
        let (mut gone, mut values, mut rounds) = (Vec::new(), Vec::new(), Vec::new());
        let mut status = Status::Converged;
        // The criterion without each feature that is left, of the last round that was finished.
        let mut last: Vec<f64> = Vec::new();
        let least = most.unwrap_or(1);
        let mut progress = Forecast::start("backward elimination", self.rounds_as_the_first(varying, least));
        while !left.is_empty() {
            let size = left.len();
            let (value, scores) = match round(&criterion, &left, context)? {
                Ok(found) => found,
                Err(_) if gone.is_empty() => {
                    return Err(Error::Stopped { before: "a feature was eliminated" });
                }
                Err(stopped) => {
                    status = stopped;
                    break;
                }
            };
            rounds.push((size, value));
            // Of equals the one with the higher index goes.
            let mut away = order::ascending(&scores);
            away.reverse();
            away.truncate(self.n_away(size, least));
            gone.extend(away.iter().map(|&at| left[at]));
            values.resize(gone.len(), value);
            order::sort_indices(&mut away);
            last = scores;
            for &at in away.iter().rev() {
                left.remove(at);
                last.remove(at);
            }
            progress.report(varying - left.len(), varying, context);
        }
        let best = rounds.iter().rev().fold((0, f64::NEG_INFINITY), |best, &(size, value)| {
            if value > best.1 { (size, value) } else { best }
        });
        // Those left when the run was stopped are better than all that went: first what is missed most.
        let missed: Vec<usize> = order::ascending(&last).into_iter().map(|at| left[at]).collect();
        gone.extend(missed.into_iter().rev());
        values.resize(gone.len(), rounds.last().map_or(0.0, |&(_, value)| value));
        gone.reverse();
        values.reverse();
        gone.truncate(most.unwrap_or(best.0));
        values.truncate(gone.len());
        let order = gone;
        let mut selection = Selection::new(order, values, data.n_features(), status);
        if !left.is_empty() {
            let left = left.len();
            selection.notes.push(format!(
                "the run was stopped when {left} of {varying} features were left: their order is that of the last round"
            ));
        }
        selection.note_constant_features(data.n_features() - varying);
        Ok(selection)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_rounds_take_as_long_as_their_features_together() {
        let of = |fraction, least| Bahsic { fraction, ..Bahsic::default() }.rounds_as_the_first(10, least);
        assert_eq!(of(0.0, 3), 5.5);
        // 10, 5, 3, 2 and 1 features.
        assert_eq!(of(0.5, 3), 2.1);
        // One by one where the order of all is asked for.
        assert_eq!(of(0.5, 10), 5.5);
    }
}
