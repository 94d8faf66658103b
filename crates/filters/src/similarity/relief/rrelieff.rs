//! RReliefF, for real targets.

use fewest_core::method::Options;
use fewest_core::{Context, Dataset, Error, Scorer, Scores, Target, options};
use fewest_neighbours::{DistanceMetric, nearest_among};

use super::instances::Instances;

options! {
    /// RReliefF for a real target (Robnik-Šikonja and Kononenko 1997 and 2003, Section 2.3),
    ///
    /// ```text
    /// W_j = N_dC&dA[j] / N_dC − (N_dA[j] − N_dC&dA[j]) / (n − N_dC)
    /// N_dC       = Σ_i Σ_r  |y_i − y_r| / (max y − min y) · d(i, r)
    /// N_dA[j]    = Σ_i Σ_r  diff(j; i, r) · d(i, r)
    /// N_dC&dA[j] = Σ_i Σ_r  |y_i − y_r| / (max y − min y) · diff(j; i, r) · d(i, r)
    /// ```
    ///
    /// over all samples `i` and their `k` nearest others `r`, whose influences `d(i, r)` add up to 1: by how
    /// much likelier a feature differs between near samples with different targets than between near samples
    /// with equal ones. `diff` is as in [`Relieff`](super::Relieff).
    ///
    /// In `[−1, 1]`, larger is better, 0 for a constant feature. A quotient `0/0` (a constant target) counts
    /// as 0. Needs one real output. Cost and memory as for ReliefF.
    ///
    /// ```
    /// use fewest_core::{Context, Dataset, DenseColumns, Scorer, Target};
    /// use fewest_filters::similarity::RRelieff;
    ///
    /// let first: Vec<f64> = (0..40).map(f64::from).collect();
    /// let second: Vec<f64> = (0..40).map(|i| f64::from(i * 17 % 40)).collect();
    /// let target = Target::real(first.iter().map(|x| x * x).collect())?;
    /// let data = Dataset::new(DenseColumns::from_columns(&[first, second])?, target)?;
    /// let scores = RRelieff { neighbours: 5, ..RRelieff::default() }.score(&data, &Context::default())?;
    /// assert!(scores.values[0] > 0.0 && scores.values[1] < 0.0);
    /// # Ok::<(), fewest_filters::Error>(())
    /// ```
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct RRelieff {
        /// Neighbours of each sample.
        pub neighbours: usize = 10, Count(1);
        /// Scale σ of the weight exp(−(r/σ)²) of the r-th neighbour; when left out, all have the same.
        ///
        /// Of ranks, not of distances: it is no width of a kernel.
        pub rank_sigma: Option<f64> = None, Positive;
    }
}

impl Scorer for RRelieff {
    fn score(&self, data: &Dataset, context: &Context<'_>) -> Result<Scores, Error> {
        data.refuse_sample_weights("rrelieff")?;
        self.check()?;
        let outputs = match data.target() {
            Target::Real(outputs) if outputs.n_outputs() == 1 => outputs,
            other => {
                let (method, expected) = ("rrelieff", "one real output");
                return Err(Error::UnsupportedTarget { method, expected, found: other.describe() });
            }
        };
        let y = outputs.output(0);
        let smallest = y.iter().copied().fold(f64::INFINITY, f64::min);
        let largest = y.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        // Halved, so that the range of huge targets does not overflow.
        let half_range = 0.5 * largest - 0.5 * smallest;
        let target_difference = |i: usize, r: usize| {
            if half_range > 0.0 { (0.5 * y[i] - 0.5 * y[r]).abs() / half_range } else { 0.0 }
        };
        let neighbours = |i: usize, row: &[f64]| -> Vec<(usize, [f64; 2])> {
            let near = nearest_among(row, (0..row.len()).filter(|r| *r != i), self.neighbours);
            let influences: Vec<f64> = (0..near.len()).map(|rank| self.influence_of(rank)).collect();
            let total: f64 = influences.iter().sum();
            let weighted = near.into_iter().zip(influences);
            weighted
                .map(|((_, r), influence)| {
                    let weight = influence / total;
                    (r, [weight, weight * target_difference(i, r)])
                })
                .collect()
        };
        let instances = Instances::new(data, DistanceMetric::Manhattan, context)?;
        let summed = instances.weighted_differences(context, neighbours)?;
        let different = summed.total[1];
        let equal = data.n_samples() as f64 - different;
        let share = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
        let score =
            |[all, with_target]: [f64; 2]| share(with_target, different) - share(all - with_target, equal);
        Ok(Scores::descending(summed.features.into_iter().map(score).collect()))
    }
}

impl RRelieff {
    /// The influence of the neighbour of this rank, from 0, before all are made to add up to 1.
    fn influence_of(&self, rank: usize) -> f64 {
        match self.rank_sigma {
            None => 1.0,
            // Relative to the nearest one, so that a small σ does not make all of them vanish.
            Some(sigma) => {
                let rank = rank as f64 + 1.0;
                ((1.0 - rank * rank) / sigma / sigma).exp()
            }
        }
    }
}
