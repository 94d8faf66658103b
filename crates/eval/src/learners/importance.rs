//! The importance of features to the trees of a forest.

use std::sync::{Mutex, PoisonError};

use fewest_columns::standardised_outputs;
use fewest_core::method::Options;
use fewest_core::{Context, Dataset, Error, Target, derive_seed};
use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;
use rand::seq::SliceRandom;

use super::RandomForest;
use super::forest::{Growing, Grown};
use super::growth::{GROWN, Leaf, MANY, Response, commonest};

/// How much worse the trees of a forest predict without a feature: [`RandomForest::importances`].
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Importances {
    /// For each feature the mean over the trees.
    pub means: Vec<f64>,
    /// For each feature the standard deviation over the trees.
    pub deviations: Vec<f64>,
    /// The trees with samples out of bag that were grown: fewer than asked for in a run that was stopped, or
    /// of so few samples that a tree may be drawn from all of them.
    pub trees: usize,
    /// Whether the run was stopped before all trees were grown.
    pub is_stopped: bool,
}

impl Importances {
    /// Means divided by standard deviations (the Z-scores of Kursa and Rudnicki 2010, Section 2; R's
    /// `importance(scale = TRUE)` is √trees times as large). 0 for a feature that no tree uses. A deviation
    /// counts as at least a billionth of the mean.
    pub fn z_scores(&self) -> Vec<f64> {
        let of = |(mean, deviation): (&f64, &f64)| match *mean {
            0.0 => 0.0,
            mean => mean / deviation.max(1e-9 * mean.abs()),
        };
        self.means.iter().zip(&self.deviations).map(of).collect()
    }
}

impl RandomForest {
    /// The most reports of progress that [`importances`](Self::importances) makes.
    pub const REPORTS: usize = 20;

    /// The importance of each feature by permutation (Breiman 2001, Section 10). With `B̄ₜ` the samples that
    /// were not drawn for tree `t` (out of bag), and `π` a random permutation of them,
    ///
    /// ```text
    /// Iₜ(j) = 1/|B̄ₜ| Σ_{i ∈ B̄ₜ} ( ℓ(yᵢ, fₜ(xᵢ with xᵢⱼ replaced by x_{π(i)j})) − ℓ(yᵢ, fₜ(xᵢ)) )
    /// ```
    ///
    /// of which mean and standard deviation over the trees are returned. `ℓ` is 1 for a wrong class and 0
    /// else; for numbers it is the squared error divided by the variance of the output, of several outputs
    /// the mean. A feature that a tree does not use has importance 0 to it. Features of a tree share a
    /// permutation: their differences are not those of chance.
    ///
    /// Importance by impurity is not offered: it prefers features of many values, and is above 0 for noise.
    ///
    /// A run that is stopped returns what the trees say that were grown by then. Cost: that of the forest,
    /// and for each tree a prediction for each sample out of bag and each feature on its way.
    ///
    /// # Errors
    /// As [`Learner::fit`](crate::Learner::fit); [`Error::TooFew`] for a target of one value, or if no tree
    /// has samples out of bag; [`Error::InvalidParameter`] for trees without drawing
    /// ([`bootstrap`](Self::bootstrap)); [`Error::Stopped`] before the first tree.
    ///
    /// ```
    /// use fewest_core::{Context, Dataset, DenseColumns, Target};
    /// use fewest_eval::RandomForest;
    ///
    /// let wave = |step: i32| (0..60).map(|i| f64::from(i * step % 61)).collect::<Vec<f64>>();
    /// let labels: Vec<bool> = wave(17).iter().map(|value| *value > 30.0).collect();
    /// let x = DenseColumns::from_columns(&[wave(1), wave(17), vec![2.0; 60]])?;
    /// let data = Dataset::new(x, Target::from_labels(&labels))?;
    /// let found = RandomForest::default().importances(&data, &Context::default())?;
    /// assert!(found.means[1] > 0.3 && found.means[0].abs() < 0.1 && found.means[2] == 0.0);
    /// # Ok::<(), fewest_core::Error>(())
    /// ```
    pub fn importances(&self, data: &Dataset, context: &Context<'_>) -> Result<Importances, Error> {
        self.check()?;
        if !self.bootstrap {
            return Err(Error::parameter(
                "bootstrap",
                false,
                "true: importance is that of samples out of bag",
            ));
        }
        let is_one = |values: &[f64]| values.windows(2).all(|pair| pair[0] == pair[1]);
        let (response, is_one) = match data.target() {
            Target::Class(classes) => (Response::Classes(classes), classes.occurring().len() < 2),
            Target::Real(outputs) if (0..outputs.n_outputs()).all(|k| is_one(outputs.output(k))) => {
                (Response::Real(Vec::new()), true)
            }
            Target::Real(_) => {
                (Response::Real(standardised_outputs(data.target(), "random-forest", context)?), false)
            }
            other => return Err(self.unsupported(other)),
        };
        if is_one {
            return Err(Error::TooFew { what: "different values of the target", minimum: 2, found: 1 });
        }
        let growing = Growing::new(*self, data, response, context)?;
        let done = Mutex::new(0_usize);
        let of_tree = |number: usize| -> Result<Option<Changes>, Error> {
            let grown = growing.tree(number)?;
            let found = changes(&growing, &grown, derive_seed(growing.seed(number), 0), context)?;
            // A poisoned count is valid: no change is left incomplete.
            let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
            *done += 1;
            if done.is_multiple_of(self.trees.div_ceil(Self::REPORTS)) {
                context.report("trees", *done, self.trees);
            }
            Ok(found)
        };
        let mut found = Vec::with_capacity(self.trees);
        let mut stopped = None;
        for changes in fewest_parallel::map(self.trees, of_tree) {
            match changes {
                Ok(changes) => found.extend(changes),
                Err(Error::Stopped { before }) => stopped = Some(Error::Stopped { before }),
                Err(error) => return Err(error),
            }
        }
        match stopped {
            _ if !found.is_empty() => {
                Ok(Importances { is_stopped: stopped.is_some(), ..summary(&found, data.n_features()) })
            }
            Some(error) => Err(error),
            None => Err(Error::TooFew { what: "samples out of bag", minimum: 1, found: 0 }),
        }
    }
}

/// The importance to a tree of each feature that it uses.
type Changes = Vec<(usize, f64)>;

/// `None` without samples out of bag.
fn changes(
    growing: &Growing<'_>,
    grown: &Grown,
    seed: u64,
    context: &Context<'_>,
) -> Result<Option<Changes>, Error> {
    let columns = &growing.training.columns;
    let response = &growing.training.response;
    let outside: Vec<usize> = (0..grown.times.len()).filter(|&i| grown.times[i] == 0).collect();
    if outside.is_empty() {
        return Ok(None);
    }
    let mut shuffled = outside.clone();
    shuffled.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
    let mut sums: Vec<Option<f64>> = vec![None; columns.len()];
    // For each feature the last sample, counted from 1, that leaves its way with another value of it.
    let mut moved = vec![0_usize; columns.len()];
    let mut elsewhere = Vec::new();
    for (at, (&i, &other)) in outside.iter().zip(&shuffled).enumerate() {
        if at % MANY == 0 {
            context.go_on(GROWN)?;
        }
        elsewhere.clear();
        let leaf = grown.tree.leaf(
            0,
            |feature| columns[feature][i],
            |j, passed| {
                sums[j].get_or_insert(0.0);
                // As long as both values take the same way, so do the samples with them.
                if moved[j] <= at && passed.parts(columns[j][i], columns[j][other]) {
                    moved[j] = at + 1;
                    elsewhere.push((j, passed));
                }
            },
        );
        let before = loss(response, leaf, i);
        for &(j, passed) in &elsewhere {
            let value = |feature: usize| columns[feature][if feature == j { other } else { i }];
            let leaf = grown.tree.leaf(passed.other, value, |_, _| ());
            *sums[j].get_or_insert(0.0) += loss(response, leaf, i) - before;
        }
    }
    let share = 1.0 / outside.len() as f64;
    let used = sums.into_iter().enumerate();
    Ok(Some(used.filter_map(|(j, sum)| Some((j, share * sum?))).collect()))
}

fn loss(response: &Response<'_>, leaf: &Leaf, i: usize) -> f64 {
    match response {
        Response::Classes(classes) => f64::from(u8::from(commonest(leaf) != classes.codes()[i])),
        Response::Real(outputs) => {
            let error = |(values, (_, mean)): (&Vec<f64>, &(u32, f64))| (values[i] - mean).powi(2);
            outputs.iter().zip(leaf).map(error).sum::<f64>() / outputs.len() as f64
        }
    }
}

/// Mean and deviation over the trees; features that a tree does not use have 0.
fn summary(trees: &[Changes], n_features: usize) -> Importances {
    let share = 1.0 / trees.len() as f64;
    let mut means = vec![0.0; n_features];
    for &(j, change) in trees.iter().flatten() {
        means[j] += share * change;
    }
    let (mut squares, mut used) = (vec![0.0; n_features], vec![0_usize; n_features]);
    for &(j, change) in trees.iter().flatten() {
        squares[j] += (change - means[j]).powi(2);
        used[j] += 1;
    }
    let deviation = |j: usize| {
        let unused = (trees.len() - used[j]) as f64;
        (share * (squares[j] + unused * means[j].powi(2))).sqrt()
    };
    Importances {
        deviations: (0..n_features).map(deviation).collect(),
        means,
        trees: trees.len(),
        is_stopped: false,
    }
}

#[cfg(test)]
mod tests {
    use fewest_core::{DenseColumns, FeatureKind};

    use super::*;

    type Tested = Result<(), Error>;

    fn noise(j: u64, i: usize) -> f64 {
        (derive_seed(j, i as u64) >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
    }

    /// Five features: 1 and 3 decide, 4 is a category that helps; a class and two numbers.
    fn data(n: usize) -> Result<[Dataset; 2], Error> {
        let mut columns: Vec<Vec<f64>> = (0..5).map(|j| (0..n).map(|i| noise(j, i)).collect()).collect();
        columns[4].iter_mut().for_each(|value| *value = ((*value + 0.5) * 3.0).floor());
        let signal: Vec<f64> =
            (0..n).map(|i| columns[1][i] + 2.0 * columns[3][i] + 0.4 * columns[4][i]).collect();
        let levels = ["a", "b", "c"].map(str::to_owned).to_vec();
        let mut kinds = vec![FeatureKind::Numeric; 5];
        kinds[4] = FeatureKind::Categorical { levels };
        let labels: Vec<bool> = signal.iter().map(|value| *value > 0.4).collect();
        let other = columns[1].iter().map(|value| 1e200 * value);
        let numbers = Target::outputs(signal.iter().copied().chain(other).collect(), n)?;
        let of = |target| {
            Dataset::new(DenseColumns::from_columns(&columns)?, target)?.with_feature_kinds(kinds.clone())
        };
        Ok([of(Target::from_labels(&labels))?, of(numbers)?])
    }

    /// By the definition: all samples out of bag are predicted with a whole column permuted.
    #[test]
    fn importances_are_those_of_the_definition() -> Tested {
        let context = Context::seeded(4);
        for data in data(80)? {
            let forest = RandomForest { trees: 9, ..RandomForest::default() };
            let response = match data.target() {
                Target::Class(classes) => Response::Classes(classes),
                target => Response::Real(standardised_outputs(target, "test", &context)?),
            };
            let growing = Growing::new(forest, &data, response, &context)?;
            let columns = &growing.training.columns;
            let mut by_tree = vec![Vec::new(); 5];
            for number in 0..9 {
                let grown = growing.tree(number)?;
                let outside: Vec<usize> = (0..80).filter(|&i| grown.times[i] == 0).collect();
                let mut shuffled = outside.clone();
                let seed = derive_seed(growing.seed(number), 0);
                shuffled.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
                let error = |columns: &[Vec<f64>]| -> f64 {
                    let of = |&i: &usize| loss(&growing.training.response, grown.tree.predict(columns, i), i);
                    outside.iter().map(of).sum::<f64>() / outside.len() as f64
                };
                for (j, changes) in by_tree.iter_mut().enumerate() {
                    let mut permuted = columns.clone();
                    outside.iter().zip(&shuffled).for_each(|(&i, &other)| permuted[j][i] = columns[j][other]);
                    changes.push(error(&permuted) - error(columns));
                }
            }
            let found = forest.importances(&data, &context)?;
            assert_eq!(found.trees, 9);
            for (j, changes) in by_tree.iter().enumerate() {
                let mean = changes.iter().sum::<f64>() / 9.0;
                let variance = changes.iter().map(|change| (change - mean).powi(2)).sum::<f64>() / 9.0;
                assert!((found.means[j] - mean).abs() < 1e-12);
                assert!((found.deviations[j] - variance.sqrt()).abs() < 1e-12);
                assert!((found.z_scores()[j] - mean / variance.sqrt()).abs() < 1e-9 || mean == 0.0);
            }
        }
        Ok(())
    }

    #[test]
    fn what_decides_is_important_and_noise_is_not() -> Tested {
        for data in data(300)? {
            let found = RandomForest::default().importances(&data, &Context::default())?;
            let z = found.z_scores();
            assert!(z[3].min(z[1]) > 0.5 && z[4] > z[0].max(z[2]), "{z:?}");
            assert!(found.means[0].abs() < 0.01 && found.means[2].abs() < 0.01, "{:?}", found.means);
        }
        Ok(())
    }

    /// Importance by impurity prefers noise of many values to that of two; importance by permutation is zero
    /// for both, within three standard errors of the mean over tables.
    #[test]
    fn many_values_are_no_importance() -> Tested {
        let (n, n_tables) = (100, 40);
        let forest = RandomForest { trees: 50, ..RandomForest::default() };
        let mut found = vec![Vec::new(); 2];
        for table in 0..n_tables {
            let drawn = |j: u64| (0..n).map(move |i| noise(3 * table + j, i));
            let columns =
                [drawn(0).collect::<Vec<f64>>(), drawn(1).map(|v| f64::from(u8::from(v > 0.0))).collect()];
            let labels: Vec<bool> = drawn(2).map(|value| value > 0.0).collect();
            let data = Dataset::new(DenseColumns::from_columns(&columns)?, Target::from_labels(&labels))?;
            let means = forest.importances(&data, &Context::seeded(table))?.means;
            found.iter_mut().zip(means).for_each(|(found, mean)| found.push(mean));
        }
        for means in found {
            let n = means.len() as f64;
            let mean = means.iter().sum::<f64>() / n;
            let variance = means.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / n;
            assert!(mean.abs() < 3.0 * (variance / n).sqrt(), "{mean}, {variance}");
        }
        Ok(())
    }

    #[test]
    fn the_seed_decides_and_not_the_threads() -> Tested {
        let forest = RandomForest { trees: 30, ..RandomForest::default() };
        for data in data(60)? {
            let found = |threads: usize, seed: u64| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
                let Ok(pool) = pool else { panic!("threads") };
                pool.install(|| forest.importances(&data, &Context::seeded(seed)))
            };
            assert_eq!(found(1, 2)?, found(7, 2)?);
            assert_ne!(found(1, 2)?, found(1, 3)?);
        }
        Ok(())
    }

    #[test]
    fn what_has_no_importance_is_refused() -> Tested {
        let [data, _] = data(20)?;
        let forest = RandomForest { bootstrap: false, ..RandomForest::default() };
        let error = forest.importances(&data, &Context::default());
        assert!(matches!(error, Err(Error::InvalidParameter { name: "bootstrap", .. })));
        for target in [Target::from_labels(&["a"; 20]), Target::real(vec![1e9; 20])?] {
            let error =
                RandomForest::default().importances(&data.clone().with_target(target)?, &Context::default());
            assert!(matches!(error, Err(Error::TooFew { minimum: 2, found: 1, .. })), "{error:?}");
        }
        let stopped = std::sync::atomic::AtomicBool::new(true);
        let context = Context { interrupt: Some(&stopped), ..Context::default() };
        let error = RandomForest::default().importances(&data, &context);
        assert!(matches!(error, Err(Error::Stopped { .. })));
        Ok(())
    }
}
