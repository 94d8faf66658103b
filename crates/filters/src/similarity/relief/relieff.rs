//! ReliefF.

use fewest_core::method::Options;
use fewest_core::{Context, Dataset, Error, Scorer, Scores, options};
use fewest_neighbours::{DistanceMetric, nearest_among};

use super::classes::ByClass;
use super::instances::Instances;

options! {
    /// ReliefF for any number of classes (Kononenko 1994; Robnik-Šikonja and Kononenko 2003; survey Eq.
    /// 24–25),
    ///
    /// ```text
    /// W_j = 1/n Σ_i [ −mean_{h ∈ H_i} diff(j; i, h) + Σ_{C ≠ y_i} P(C) / (1 − P(y_i)) mean_{m ∈ M_i(C)} diff(j; i, m) ]
    /// ```
    ///
    /// over all samples `i`: `H_i` are its `k` nearest others of its own class, `M_i(C)` the `k` nearest of
    /// class `C`, by the sum of `diff` over all features. `diff` is `|x_ij − x_rj| / (max_j − min_j)`, or 0/1
    /// for a categorical feature, so the units of a feature do not matter. A class with fewer samples gives
    /// all it has; a sample is never its own hit.
    ///
    /// In `[−1, 1]`, larger is better, about 0 or below for a feature that says nothing, 0 for a constant
    /// one. The survey's definitions of hit and miss are exchanged; here they are as in the original.
    ///
    /// Needs two classes with samples. Cost: `O(n² d)` time; memory: `n² / 2` distances where there are at
    /// least half as many features as samples, otherwise a copy of the data.
    ///
    /// ```
    /// use fewest_core::{Context, Dataset, DenseColumns, Scorer, Target};
    /// use fewest_filters::similarity::Relieff;
    ///
    /// // Only both features together tell the classes apart; the third is noise.
    /// let bit = |i: u32, k: u32| f64::from(i >> k & 1);
    /// let columns: Vec<Vec<f64>> = vec![
    ///     (0..32).map(|i| bit(i, 0)).collect(),
    ///     (0..32).map(|i| bit(i, 1)).collect(),
    ///     (0..32).map(|i| f64::from(i * 7 % 32) / 31.0).collect(),
    /// ];
    /// let labels: Vec<u32> = (0..32).map(|i| (i ^ i >> 1) & 1).collect();
    /// let data = Dataset::new(DenseColumns::from_columns(&columns)?, Target::from_labels(&labels))?;
    /// let scores = Relieff { neighbours: 3 }.score(&data, &Context::default())?;
    /// assert_eq!(scores.ranking()[2], 2);
    /// # Ok::<(), fewest_filters::Error>(())
    /// ```
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct Relieff {
        /// Neighbours of each sample, in every class.
        pub neighbours: usize = 10, Count(1);
    }
}

impl Scorer for Relieff {
    fn score(&self, data: &Dataset, context: &Context<'_>) -> Result<Scores, Error> {
        data.refuse_sample_weights("relieff")?;
        self.check()?;
        let classes = ByClass::new(data, "relieff")?;
        let instances = Instances::new(data, DistanceMetric::Manhattan, context)?;
        let summed = instances.weighted_differences(context, |i, row| {
            classes.neighbours(i, |members| {
                let others = members.iter().copied().filter(|r| *r != i);
                nearest_among(row, others, self.neighbours).into_iter().map(|(_, r)| r).collect()
            })
        })?;
        Ok(Scores::descending(summed.features.into_iter().map(|[weight]| weight).collect()))
    }
}
