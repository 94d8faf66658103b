//! How a feature separates the classes, and whether a group lacks it.

use statrs::function::beta::checked_beta_reg;

use super::Ogfs;

/// The smallest share of the scatter that counts as within classes: less is rounding.
const LEAST_WITHIN: f64 = 1e-10;

/// The scatter of a standardised feature: between the classes, and within them.
#[derive(Clone, Copy)]
pub(super) struct Scatter {
    between: f64,
    within: f64,
}

impl Scatter {
    pub(super) fn of(values: &[f64], classes: &[usize], n_classes: usize) -> Self {
        let (mut means, mut sizes) = (vec![0.0; n_classes], vec![0.0; n_classes]);
        for (value, &class) in values.iter().zip(classes) {
            means[class] += value;
            sizes[class] += 1.0;
        }
        means.iter_mut().zip(&sizes).for_each(|(mean, size)| *mean /= size);
        let between = means.iter().zip(&sizes).map(|(mean, size)| size * mean * mean).sum();
        let within: f64 =
            values.iter().zip(classes).map(|(value, &class)| (value - means[class]).powi(2)).sum();
        Self { between, within: within.max(LEAST_WITHIN * values.len() as f64) }
    }

    pub(super) fn score(self) -> f64 {
        self.between / self.within
    }
}

/// Those taken of a group.
#[derive(Default)]
pub(super) struct Taken {
    between: f64,
    within: f64,
    scores: Vec<f64>,
}

impl Taken {
    /// Whether a feature of scatter `own` adds to the ratio, or has a score above the others'.
    pub(super) fn lacks(&self, own: Scatter, options: &Ogfs) -> bool {
        let before = if self.scores.is_empty() { 0.0 } else { self.between / self.within };
        let after = (self.between + own.between) / (self.within + own.within);
        after - before > options.gain || self.is_exceeded(own.score(), options.alpha)
    }

    fn is_exceeded(&self, score: f64, alpha: f64) -> bool {
        let size = self.scores.len() as f64;
        if size < 2.0 {
            return false;
        }
        let mean = self.scores.iter().sum::<f64>() / size;
        let variance = self.scores.iter().map(|own| (own - mean).powi(2)).sum::<f64>() / (size - 1.0);
        let (above, freedom) = (score - mean, size - 1.0);
        // P(T ≥ t) = ½ I of freedom / (freedom + t²), with t² = above² size / variance.
        let share = freedom * variance / (freedom * variance + above * above * size);
        let tail = checked_beta_reg(0.5 * freedom, 0.5, share.clamp(0.0, 1.0)).map_or(1.0, |both| 0.5 * both);
        above > 0.0 && tail < alpha
    }

    pub(super) fn add(&mut self, own: Scatter) {
        self.between += own.between;
        self.within += own.within;
        self.scores.push(own.score());
    }
}
