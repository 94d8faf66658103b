//! Backward elimination.

use fewest_core::method::{KernelWidth, Options};
use fewest_core::{Budget, Context, Dataset, Error, Selection, Selector, Status, options, order};

use super::begin;
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
    /// As [`Fhsic`](crate::Fhsic); a share outside [0, 1). Stopped early, there is no answer.
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

impl Selector for Bahsic {
    fn select(&self, data: &Dataset, budget: Budget, context: &Context<'_>) -> Result<Selection, Error> {
        self.check()?;
        let (most, criterion, mut left) = begin(data, budget, &self.output, self.sigma_x)?;
        let varying = left.len();
        let stopped = |_| Error::Stopped { before: "enough features were eliminated" };
        // Features in the order in which they went, with the criterion of the set they were taken from; and
        // how many features each of those sets had.
        let (mut gone, mut values, mut rounds) = (Vec::new(), Vec::new(), Vec::new());
        while !left.is_empty() {
            let size = left.len();
            let distances = criterion.distances(&left);
            let value = criterion.of(&distances, size);
            rounds.push((size, value));
            let scores = criterion.scores(&distances, -1.0, &left, size - 1, context).map_err(stopped)?;
            let surplus = size.saturating_sub(most.unwrap_or(1));
            let share = (self.fraction * size as f64).floor() as usize;
            // Of equals the one with the higher index goes.
            let mut away = order::ascending(&scores);
            away.reverse();
            away.truncate(share.min(surplus).max(1));
            gone.extend(away.iter().map(|&at| left[at]));
            values.resize(gone.len(), value);
            order::sort_indices(&mut away);
            for &at in away.iter().rev() {
                left.remove(at);
            }
            context.report("backward elimination", varying - left.len(), varying);
        }
        let best = rounds.iter().rev().fold((0, f64::NEG_INFINITY), |best, &(size, value)| {
            if value > best.1 { (size, value) } else { best }
        });
        gone.reverse();
        values.reverse();
        gone.truncate(most.unwrap_or(best.0));
        values.truncate(gone.len());
        let order = gone;
        let mut selection = Selection::new(order, values, data.n_features(), Status::Converged);
        selection.note_constant_features(data.n_features() - varying);
        Ok(selection)
    }
}
