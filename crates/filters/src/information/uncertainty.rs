//! Symmetric uncertainty, and what the methods over it share.

use fewest_core::method::Options;
use fewest_core::{Budget, Context, Dataset, Error, Selection, Selector, Status, options};
use fewest_counts::discretisation::Discretisation;
use fewest_counts::{Coded, Scratch};

use super::forward::add_notes;
use super::mim::join_ties;

/// Symmetric uncertainty between features, and with the target.
pub(super) struct Uncertainty {
    coded: Coded,
    /// `SU(k;Y)`, 0 for a constant.
    pub(super) with_target: Vec<f64>,
}

/// `SU(a;b) = 2 I(a;b) / (H(a) + H(b))`, Eq. (52); 0 where both are constant.
fn symmetric(information: f64, entropies: f64) -> f64 {
    if entropies > 0.0 { (2.0 * information / entropies).min(1.0) } else { 0.0 }
}

impl Uncertainty {
    pub(super) fn new(
        data: &Dataset,
        rule: &Discretisation,
        method: &'static str,
        context: &Context<'_>,
    ) -> Result<Self, Error> {
        let coded = Coded::new(data, rule, method, context)?;
        let target = coded.rows.target_entropy();
        let value = |k| symmetric(coded.relevance(k), coded.entropy(k) + target);
        let mut with_target: Vec<f64> = (0..data.n_features()).map(value).collect();
        join_ties(&mut with_target);
        Ok(Self { coded, with_target })
    }

    /// `SU(a;b)` of two features.
    pub(super) fn between(&self, a: usize, b: usize, scratch: &mut Scratch) -> f64 {
        let information = self.coded.information(a, b, scratch);
        symmetric(information, self.coded.entropy(a) + self.coded.entropy(b))
    }

    pub(super) fn is_constant(&self, k: usize) -> bool {
        self.coded.features[k].is_constant()
    }

    /// Number of features with one level.
    pub(super) fn n_constant(&self) -> usize {
        self.coded.features.iter().filter(|feature| feature.is_constant()).count()
    }
}

options! {
    /// Fast correlation-based filter (Yu & Liu 2003; Section 2.2.10 of Li et al. 2016) over symmetric
    /// uncertainty, Eq. (52): `SU(a;b) = 2 I(a;b) / (H(a) + H(b))`.
    ///
    /// Features with `SU(k;Y) > δ` are walked down by decreasing `SU(k;Y)`, ties by increasing index. Each
    /// that is still there is kept, and every later `q` with `SU(p;q) >= SU(q;Y)` for a kept `p` goes. Scores
    /// are `SU(k;Y)`. `Budget::Count` stops the walk; `Budget::Threshold` is a `δ` that itself suffices.
    ///
    /// A real target is discretised by the rule of the features. Cost: `O(n d s)` at most for `s` kept
    /// features.
    ///
    /// # Errors
    /// As [`Forward`](super::Forward); for a `δ` outside `[0, 1)`.
    ///
    /// ```
    /// use fewest_core::{Budget, Context, Dataset, DenseColumns, Selector, Target};
    /// use fewest_filters::information::Fcbf;
    ///
    /// let x = DenseColumns::from_columns(&[vec![0.0, 1.0, 1.0, 1.0], vec![0.0, 0.0, 5.0, 5.0], vec![0.0, 0.0, 2.0, 2.0]])?;
    /// let data = Dataset::new(x, Target::from_labels(&["a", "a", "b", "b"]))?;
    /// // Feature 1 tells the classes, 2 repeats it, and 0 says less of the classes than of feature 1.
    /// assert_eq!(Fcbf::default().select(&data, Budget::Auto, &Context::default())?.order, [1]);
    /// # Ok::<(), fewest_filters::Error>(())
    /// ```
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct Fcbf {
        /// Symmetric uncertainty with the target that a feature must be above.
        pub delta: f64 = 0.0, BelowOne;
        /// How numbers become levels.
        pub discretisation: Discretisation = Discretisation::default();
    }
}

impl Selector for Fcbf {
    fn select(&self, data: &Dataset, budget: Budget, context: &Context<'_>) -> Result<Selection, Error> {
        data.refuse_sample_weights("fcbf")?;
        budget.check(data.n_features())?;
        self.check()?;
        let uncertainty = Uncertainty::new(data, &self.discretisation, "fcbf", context)?;
        let with_target = &uncertainty.with_target;
        let enough = |k: &usize| {
            let value = with_target[*k];
            let reaches = match budget {
                Budget::Threshold(threshold) => value >= threshold,
                _ => true,
            };
            value > self.delta && reaches
        };
        let mut rest = fewest_core::rank(with_target, true);
        rest.retain(enough);
        let n_relevant = rest.len();
        let wanted = match budget {
            Budget::Count(k) => k,
            _ => rest.len(),
        };
        let mut kept = Vec::new();
        let mut status = Status::Converged;
        while kept.len() < wanted && !rest.is_empty() {
            if let Some(stopped) = context.stopped() {
                status = stopped;
                break;
            }
            // The feature leaves the list when it is kept, so that the list shrinks whatever rounding says.
            let p = rest.remove(0);
            kept.push(p);
            let stays = fewest_parallel::map_with(rest.len(), |scratch: &mut Scratch, at| {
                uncertainty.between(p, rest[at], scratch) < with_target[rest[at]]
            });
            rest = rest.into_iter().zip(stays).filter_map(|(q, stays)| stays.then_some(q)).collect();
            context.report("fcbf", n_relevant - rest.len(), n_relevant);
        }
        if kept.is_empty() && status != Status::Converged {
            return Err(Error::Stopped { before: "the first feature was kept" });
        }
        let scores = kept.iter().map(|&k| with_target[k]).collect();
        let mut selection = Selection::new(kept, scores, data.n_features(), status);
        let no_others = "the others tell less of the target than of a feature selected before them";
        add_notes(&mut selection, budget, uncertainty.n_constant(), no_others);
        Ok(selection)
    }
}
