//! Importance by permutation, with p-values.

use fewest_core::method::Options;
use fewest_core::{Context, Dataset, Error, Scorer, Scores, derive_seed, options};
use fewest_eval::{Importances, RandomForest};
use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;
use rand::seq::SliceRandom;

use super::samples::{Samples, table};
use crate::stop::{ForestOf, how_stopped};

options! {
    /// The importance of each feature to a random forest (Breiman 2001, Section 10): how much larger the
    /// error of samples out of bag is when the feature's values are permuted, as the mean over the trees
    /// ([`RandomForest::importances`]). For classes a share of samples, for numbers a share of the variance
    /// of the target. A feature that the forest does not use has 0, noise some value around it.
    ///
    /// p-values are those of permuted targets (PIMP; Altmann, Toloşi, Sander and Lengauer 2010, Section 2),
    /// in their form without a distribution, corrected so that none is 0 (Phipson and Smyth 2010): with
    /// `I₀(j)` the importance and `I_s(j)` that to a forest which is grown on the target in random order,
    ///
    /// ```text
    /// p(j) = (1 + #{s : I_s(j) ≥ I₀(j)}) / (S + 1),    s = 1 … S
    /// ```
    ///
    /// No p-value is below `1/(S + 1)`: to be significant at 0.05 among `d` features, of which `m` are
    /// related, takes about `20 d/m` permutations. Features share what they say of the target: of two copies
    /// each is less important than one alone. Neither the order of rows nor that of columns changes the
    /// result.
    ///
    /// Cost: `S + 1` forests. A run that is stopped gives the p-values of the permutations by then, and
    /// before the first the importance to the trees that were grown.
    ///
    /// # Errors
    /// A target that is neither classes nor real, or is the same in every sample; a NaN or an infinity
    /// (naming the cell); no feature that varies; sample weights; [`Error::Stopped`] before the first tree.
    ///
    /// ```
    /// use fewest_core::{Context, Dataset, DenseColumns, Scorer, Target, derive_seed};
    /// use fewest_wrappers::forests::PermutationImportance;
    ///
    /// let drawn = |j: u64| (0..80).map(|i| (derive_seed(j, i) % 1000) as f64).collect::<Vec<f64>>();
    /// let labels: Vec<bool> = drawn(1).iter().map(|value| *value > 500.0).collect();
    /// let x = DenseColumns::from_columns(&[drawn(2), drawn(1), drawn(3)])?;
    /// let data = Dataset::new(x, Target::from_labels(&labels))?;
    /// let defaults = PermutationImportance::default();
    /// let scorer = PermutationImportance { trees: 50, permutations: 19, ..defaults };
    /// let scores = scorer.score(&data, &Context::default())?;
    /// assert_eq!(scores.ranking()[0], 1);
    /// assert!(scores.p_values.is_some_and(|p| p[1] == 0.05 && p[0] > 0.1 && p[2] > 0.1));
    /// # Ok::<(), fewest_core::Error>(())
    /// ```
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct PermutationImportance {
        /// Trees of a forest.
        pub trees: usize = 500, Between(1, 1_000_000);
        /// Permutations of the target for the p-values; 0: no p-values.
        pub permutations: usize = 100, Between(0, 1_000_000);
        /// Features tried at each split; left out, √d for classes and d/3 for numbers.
        pub features: Option<usize> = None, Count(1);
        /// Smallest number of samples in a leaf; left out, 1 for classes and 5 for numbers.
        pub min_leaf: Option<usize> = None, Count(1);
    }
}

impl Scorer for PermutationImportance {
    fn score(&self, data: &Dataset, context: &Context<'_>) -> Result<Scores, Error> {
        self.check()?;
        let samples = Samples::new(data, "permutation-importance")?;
        let columns: Vec<&[f64]> = samples.columns.iter().map(Vec::as_slice).collect();
        let whole = table(&columns, samples.kinds.clone(), samples.target.clone())?;
        let forest = RandomForest {
            trees: self.trees,
            features: self.features,
            min_leaf: self.min_leaf,
            ..RandomForest::default()
        };
        let n_forests = self.permutations + 1;
        let forecast = ForestOf::forecast("permutation importance", n_forests);
        let grown = |data: &Dataset, before: usize| -> Result<Importances, Error> {
            let progress = ForestOf { forecast: &forecast, before, n_forests, context };
            let seed = derive_seed(context.seed, before as u64);
            forest.importances(data, &Context { seed, progress: Some(&progress), ..*context })
        };
        let found = grown(&whole, 0)?;
        let by_feature = |values: &[f64], constant: f64| {
            let mut all = vec![constant; data.n_features()];
            samples.features.iter().zip(values).for_each(|(&j, &value)| all[j] = value);
            all
        };
        let mut scores = Scores::descending(by_feature(&found.means, 0.0));
        if found.is_stopped {
            scores.status = how_stopped(context);
            scores.notes.push(format!("stopped after {} of {} trees: no p-values", found.trees, self.trees));
            return Ok(scores);
        }
        let mut rows: Vec<usize> = (0..samples.n_samples()).collect();
        let mut reached = vec![0_usize; samples.features.len()];
        let mut done = 0;
        while done < self.permutations {
            rows.shuffle(&mut ChaCha8Rng::seed_from_u64(derive_seed(!context.seed, done as u64)));
            let permuted = whole.clone().with_target(samples.target.subset(&rows))?;
            let chance = match grown(&permuted, done + 1) {
                Ok(chance) if !chance.is_stopped => chance,
                Ok(_) | Err(Error::Stopped { .. }) => {
                    scores.status = how_stopped(context);
                    let note =
                        format!("stopped after {done} of {} permutations of the target", self.permutations);
                    scores.notes.push(note);
                    break;
                }
                Err(error) => return Err(error),
            };
            for (reached, (chance, found)) in reached.iter_mut().zip(chance.means.iter().zip(&found.means)) {
                *reached += usize::from(chance >= found);
            }
            done += 1;
        }
        if done > 0 {
            let p_values: Vec<f64> =
                reached.iter().map(|&reached| (1 + reached) as f64 / (done + 1) as f64).collect();
            scores.p_values = Some(by_feature(&p_values, 1.0));
        }
        Ok(scores)
    }
}
