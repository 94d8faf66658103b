//! A method outside the repository of fewest: a scorer with a parameter, listed for a registry.

use fewest_core::method::{Method, Options, TargetKind};
use fewest_core::{Context, Dataset, Error, Scorer, Scores, options};

options! {
    /// The range of a feature over its standard deviation, to a power: large where few samples are far from
    /// the rest.
    ///
    /// A constant feature has the score 0. `O(n d)`.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct RangeScore {
        /// Power that the ratio is raised to.
        pub power: f64 = 1.0, Positive;
    }
}

impl Scorer for RangeScore {
    fn score(&self, data: &Dataset, context: &Context<'_>) -> Result<Scores, Error> {
        self.check()?;
        data.refuse_sample_weights("range-score")?;
        let n = data.n_samples() as f64;
        let mut column = vec![0.0; data.n_samples()];
        let mut values = Vec::with_capacity(data.n_features());
        for j in 0..data.n_features() {
            data.x().copy_column(j, &mut column)?;
            data.check_finite(j, &column)?;
            let mean = column.iter().sum::<f64>() / n;
            let variance = column.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / n;
            let largest = column.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let smallest = column.iter().copied().fold(f64::INFINITY, f64::min);
            let spread = largest - smallest;
            values.push(if variance > 0.0 { (spread / variance.sqrt()).powf(self.power) } else { 0.0 });
            context.report("ranges", j + 1, data.n_features());
        }
        Ok(Scores::descending(values))
    }
}

/// The methods of this crate.
pub static METHODS: &[Method] = &[Method::scorer::<RangeScore>(
    "range-score",
    "range over standard deviation",
    "score(k) = ((max xₖ − min xₖ) / σₖ)ᵖ",
    TargetKind::ANY,
)];
