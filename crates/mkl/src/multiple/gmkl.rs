//! Multiple kernel learning with a product of kernels.

use fewest_core::method::{Options, Regularization};
use fewest_core::{
    Budget, Context, Dataset, Error, Selection, Selector, SolverReport, Status, derive_seed, options,
};

use super::product::{Descended, Distances, Learning};
use super::{Machine, THRESHOLD, machines};
use crate::decreasing::DecreasingPenalty;
use crate::limits::check_memory;

/// Share by which the objective of another start must be lower, so that rounding does not choose.
const LOWER: f64 = 1e-9;

options! {
    /// Generalised multiple kernel learning (GMKL: Varma and Babu 2009, with their l1 regulariser and the
    /// product of Gaussian kernels):
    ///
    /// ```text
    /// minimise over d ≥ 0   max { Σ α − ½ Σ αᵢαⱼyᵢyⱼ exp(−Σ dₘ (xᵢₘ − xⱼₘ)²) : 0 ≤ α ≤ C, αᵀy = 0 } + λ Σ d
    ///
    /// score(m) = dₘ
    /// ```
    ///
    /// Eq. 2 of Xue, Song and Xu (2017) writes the product with the weights as factors; then only the product
    /// of all weights would count, and a weight of zero would take away every feature. The weights are in the
    /// exponents, as in Section 4 of Varma and Babu.
    ///
    /// Projected gradient descent under Armijo's rule from equal weights `1/M`, with steps of Barzilai and
    /// Borwein; the inner maximum by sequential minimal optimisation ([`fewest_smo`]), whose multipliers give
    /// the gradient `λ + ½ (α∘y)ᵀ(Dₘ∘K)(α∘y)`, `Dₘ` the squared differences. The kernel is positive definite
    /// for any weights, but the problem is not convex: a stationary point below the start is found, and how
    /// far from stationary it is, is reported. With more classes there is a machine for each pair, all with
    /// the same weights. Features are standardised; categories differ by 1 or 0. Of exact copies of a feature
    /// the first has the weight.
    ///
    /// The penalty `λ` is, as a ratio, relative to the smallest at which no weight gains more than its
    /// penalty where all are zero: twice the largest penalty of [`Rfmkl`](crate::Rfmkl) with linear kernels,
    /// times `C²`, and at least a tenth of what it is for multipliers alike within each class.
    /// `Budget::Count(k)` lowers it in steps of 0.7 from warm starts while fewer than `k` features have a
    /// weight, until six steps in a row have brought no more of them.
    ///
    /// Cost: an evaluation takes `n²` for each feature with a weight, trains the machines, and takes `s²` for
    /// each feature, with `s` support vectors; some 50 to 300 evaluations. Memory: `8 n` bytes a feature and
    /// `n²` numbers a machine.
    ///
    /// # Errors
    /// A NaN or an infinity, naming the cell; a target without classes or with one only; parameters out of
    /// range; sample weights; [`Error::Stopped`].
    ///
    /// ```
    /// use fewest_core::{Budget, Context, Dataset, DenseColumns, Selector, Target};
    /// use fewest_mkl::Gmkl;
    ///
    /// // Two features that matter only jointly.
    /// let wave = |step: i32| (0..60).map(|i| f64::from(i * step % 61) / 30.0 - 1.0).collect::<Vec<f64>>();
    /// let (a, b, noise) = (wave(7), wave(17), wave(23));
    /// let target = Target::from_labels(&a.iter().zip(&b).map(|(a, b)| a * b > 0.0).collect::<Vec<_>>());
    /// let data = Dataset::new(DenseColumns::from_columns(&[noise, b, a])?, target)?;
    /// let mut found = Gmkl::default().select(&data, Budget::Count(2), &Context::default())?.order;
    /// found.sort_unstable();
    /// assert_eq!(found, [1, 2]);
    /// # Ok::<(), fewest_core::Error>(())
    /// ```
    #[derive(Debug, Clone)]
    pub struct Gmkl {
        /// C, cost of errors.
        pub c: f64 = 1.0, Positive;
        /// How strong the penalty is; where it decreases, its first value.
        pub regularization: Regularization = Regularization::Ratio(0.1), offers(Value, Ratio);
        /// Stationarity to reach: the projected gradient, relative to the penalty.
        pub tolerance: f64 = 1e-8, Positive;
        /// Starts of the descent at the first penalty: equal weights, and random ones; the lowest objective
        /// counts.
        ///
        /// The random weight of a feature depends on its values and the seed, not on its place.
        pub starts: usize = 1, Count(1);
        /// Most steps at a penalty.
        pub iterations: usize = 1000, Count(1);
    }
}

impl Gmkl {
    /// The descent with the lowest objective of those from several starts, of equally low ones the first;
    /// where it is stopped, of those that have ended.
    fn best_of_starts(
        &self,
        learning: &Learning<'_>,
        equal: &[f64],
        context: &Context<'_>,
    ) -> Result<Descended, Error> {
        let from = |start: Vec<f64>| learning.descend(start, self.tolerance, self.iterations, context);
        let mut best = from(equal.to_vec())?;
        for start in 1..self.starts {
            if best.status.is_stopped() {
                break;
            }
            let seeds = learning.distances.seeds(derive_seed(context.seed, start as u64));
            let found = match from(random(&seeds, equal)) {
                Err(Error::Stopped { .. }) => {
                    best.status = context.stopped().unwrap_or(Status::TimeLimit);
                    break;
                }
                found => found?,
            };
            if found.status.is_stopped() {
                best.status = found.status;
            } else if found.point.value < best.point.value * (1.0 - LOWER) {
                best = found;
            }
        }
        Ok(best)
    }

    /// The descent at the penalty asked for, or at the first below that gives `wanted` features a weight, and
    /// that penalty; with the status of the run.
    fn path(
        &self,
        learning: &mut Learning<'_>,
        largest: f64,
        wanted: usize,
        context: &Context<'_>,
    ) -> Result<(Descended, f64, Status), Error> {
        let m = learning.distances.len();
        let equal = vec![1.0 / m as f64; m];
        let mut decreasing = DecreasingPenalty::new(learning.lambda, wanted.min(m));
        let mut weights = Vec::new();
        let mut best: Option<(Descended, f64)> = None;
        let mut is_first = true;
        loop {
            learning.lambda = decreasing.penalty();
            let found = if is_first {
                self.best_of_starts(learning, &equal, context)
            } else {
                learning.descend(weights, self.tolerance, self.iterations, context)
            };
            let found = match (found, best.take()) {
                (Err(Error::Stopped { .. }), Some((best, lambda))) => {
                    return Ok((best, lambda, context.stopped().unwrap_or(Status::TimeLimit)));
                }
                (found, before) => {
                    best = before;
                    found?
                }
            };
            is_first = false;
            let found = learning.unless_empty(found, largest);
            let status = found.status;
            let stopped = status.is_stopped();
            if stopped && found.iterations == 0 {
                let before = Error::Stopped { before: "the first step was taken" };
                return best.map(|(best, lambda)| (best, lambda, status)).ok_or(before);
            }
            // From no weights there is no way back: the kernel is constant, and the machine says nothing of
            // the features.
            let is_empty = found.point.weights.iter().all(|weight| *weight == 0.0);
            weights = if is_empty { equal.clone() } else { found.point.weights.clone() };
            if decreasing.is_best(counted(&found.point.weights).len()) {
                best = Some((found, learning.lambda));
            }
            if (stopped || !decreasing.decrease())
                && let Some((best, lambda)) = best
            {
                let status = if stopped { status } else { best.status };
                return Ok((best, lambda, status));
            }
        }
    }
}

/// Random weights above zero, each by its seed, with the sum of `equal` ones.
fn random(seeds: &[u64], equal: &[f64]) -> Vec<f64> {
    // Of an exponential distribution, so that all such weights are as likely.
    let draw = |&seed: &u64| -((seed as f64 + 0.5) / (u64::MAX as f64 + 1.0)).ln();
    let drawn: Vec<f64> = seeds.iter().map(draw).collect();
    let (sum, wanted) = (drawn.iter().sum::<f64>(), equal.iter().sum::<f64>());
    drawn.into_iter().map(|weight| weight * wanted / sum).collect()
}

/// Number and sizes of the matrices that are held at a time: three a machine, of as many machines as there
/// are threads for.
fn matrices(machines: &[Machine], n_threads: usize) -> [usize; 4] {
    let largest = machines.iter().map(|machine| machine.rows.len()).max().unwrap_or(0);
    [machines.len().min(n_threads), 3, largest, largest]
}

/// The places of the weights that count.
fn counted(weights: &[f64]) -> Vec<usize> {
    let least = THRESHOLD * weights.iter().copied().fold(0.0, f64::max);
    (0..weights.len()).filter(|&m| weights[m] > 0.0 && weights[m] >= least).collect()
}

impl Selector for Gmkl {
    fn select(&self, data: &Dataset, budget: Budget, context: &Context<'_>) -> Result<Selection, Error> {
        let d = data.n_features();
        self.check()?;
        budget.check(d)?;
        data.refuse_sample_weights("gmkl")?;
        let machines = machines(data, "gmkl")?;
        check_memory(
            "gmkl",
            &matrices(&machines, fewest_parallel::n_threads()),
            "use fewer samples, or rfmkl",
        )?;
        let distances = Distances::new(data, context)?;
        let mut learning = Learning { distances: &distances, machines: &machines, cost: self.c, lambda: 1.0 };
        let worths = learning.worths(context)?;
        if worths.iter().all(|worth| *worth <= 0.0) {
            return Ok(super::nothing(d));
        }
        let wanted = if let Budget::Count(k) = budget { k } else { 0 };
        let found = learning.largest_penalty(&worths, context).and_then(|largest| {
            learning.lambda = self.regularization.lambda(Some(largest))?;
            self.path(&mut learning, largest, wanted, context)
        });
        let features = &distances.linear.features;
        let (found, lambda, status) = match found {
            Err(Error::Stopped { .. }) => return super::by_worth(&worths, features, d, budget, context),
            found => found?,
        };
        let mut scores = vec![0.0; d];
        for m in counted(&found.point.weights) {
            scores[features[m]] = found.point.weights[m];
        }
        let mut selection = super::selection(&scores, budget, status);
        selection.objective = Some(found.point.value);
        selection.solver = Some(
            SolverReport::new("projected-gradient", found.status, found.point.value, found.certificate)
                .with_lambda(lambda)
                .with_iterations(found.iterations),
        );
        selection.note_constant_features(distances.linear.n_constant);
        Ok(selection)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_asked_for_all_machines_that_are_trained_at_a_time() {
        let machine = |n: usize| Machine { rows: (0..n).collect(), positive: vec![true; n] };
        let machines = [5, 9, 7].map(machine);
        assert_eq!(matrices(&machines, 2), [2, 3, 9, 9]);
        assert_eq!(matrices(&machines, 64), [3, 3, 9, 9]);
    }
}
