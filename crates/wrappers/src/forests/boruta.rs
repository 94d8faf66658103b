//! Boruta.

use fewest_core::method::Options;
use fewest_core::{Budget, Context, Dataset, Error, Selection, Selector, Status, derive_seed, options};
use fewest_eval::{Importances, RandomForest};
use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;
use rand::seq::SliceRandom;

use super::decisions::{Decision, Record, quantile, ranking};
use super::samples::{Samples, table};
use crate::stop::{ForestOf, UNJUDGED, how_stopped};

/// Of fewer features there are several shadows each (Kursa and Rudnicki 2010, Section 2, step 1).
const FEWEST_SHADOWS: usize = 5;

/// Names in a note.
const NAMES: usize = 10;

options! {
    /// All relevant features (Kursa and Rudnicki 2010, *Feature selection with the Boruta package*, Section
    /// 2): those that are more important to a random forest than the best of their shuffled copies, the
    /// shadows. Features that repeat each other are all found, unlike by methods that look for the fewest.
    ///
    /// In each round a forest is grown on the features that are not rejected, and on as many shadows (at
    /// least five), each a feature whose values are permuted anew. With `Z` the mean of
    /// [importance](RandomForest::importances) over the trees divided by its standard deviation, a feature
    /// gets a hit if its `Z` exceeds the largest of the shadows. After each round, of `r` that an undecided
    /// feature took part in, with `h` hits,
    ///
    /// ```text
    /// confirmed if P(X ≥ h) < α / (2m),   rejected if P(X ≤ h) < α / (2m),   X ~ B(r, ½)
    /// ```
    ///
    /// where `m` counts the features that vary: the two-sided binomial test with Bonferroni's correction, as
    /// in the paper. (boruta_py corrects over features by Benjamini and Hochberg, then over rounds.)
    /// Decisions are final; rejected features leave the forest, and the rounds end when all are decided. What
    /// is undecided then is tentative. Neither the order of rows nor that of columns changes the result.
    ///
    /// The tests are about chance in forests and shadows, given the table, not about chance in the samples:
    /// `α` does not bound the noise that is confirmed. Of `m` features that are noise, one that beats the
    /// median of the best of `m` shadows, which has the probability `1 − 2^(−1/m)`, is confirmed after
    /// enough rounds: up to about `ln 2 ≈ 0.7` features in all, for any `α`. So there are no p-values here;
    /// [`PermutationImportance`](super::PermutationImportance) has them.
    ///
    /// Features are ranked by decision, then hits, then mean `Z`, which is their score; equal ones in the
    /// order of the table. `Budget::Auto` takes those that are confirmed, `Budget::Count` the first of those
    /// confirmed and then tentative: those rejected are never selected.
    ///
    /// Cost: `rounds` forests on twice the features. A run that is stopped gives what was decided by then, in
    /// its first round the order of importance to the trees that were grown. If it ends with tentative
    /// features, its status is [`Status::MaxIterations`].
    ///
    /// # Errors
    /// A target that is neither classes nor real, or is the same in every sample; a NaN or an infinity
    /// (naming the cell); no feature that varies; sample weights; `Budget::Threshold`.
    ///
    /// ```
    /// use fewest_core::{Budget, Context, Dataset, DenseColumns, Selector, Target, derive_seed};
    /// use fewest_wrappers::forests::Boruta;
    ///
    /// let drawn = |j: u64| (0..80).map(|i| (derive_seed(j, i) % 1000) as f64).collect::<Vec<f64>>();
    /// let labels: Vec<bool> = drawn(1).iter().map(|value| *value > 500.0).collect();
    /// // What decides, a copy of it, and two that have nothing to do with it.
    /// let x = DenseColumns::from_columns(&[drawn(1), drawn(1), drawn(2), drawn(3)])?;
    /// let data = Dataset::new(x, Target::from_labels(&labels))?;
    /// let boruta = Boruta { trees: 100, ..Boruta::default() };
    /// let mut found = boruta.select(&data, Budget::Auto, &Context::default())?.order;
    /// found.sort();
    /// assert_eq!(found, [0, 1]);
    /// # Ok::<(), fewest_core::Error>(())
    /// ```
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct Boruta {
        /// Trees of the forest of a round.
        pub trees: usize = 500, Between(2, 1_000_000);
        /// Most rounds.
        pub rounds: usize = 100, Count(1);
        /// Level of the tests, over all features together.
        pub alpha: f64 = 0.01, ProperFraction;
        /// Quantile of the shadows' importances that a hit must exceed: 1 is their largest.
        pub quantile: f64 = 1.0, Fraction;
    }
}

/// What is known after some rounds; features by their places in the samples.
struct Course {
    records: Vec<Record>,
    rounds: usize,
    /// The trees of the only round, if it was stopped.
    trees: Option<usize>,
    status: Status,
}

impl Boruta {
    fn run(&self, samples: &Samples, context: &Context<'_>) -> Result<Course, Error> {
        let n_tests = samples.features.len();
        let mut course = Course {
            records: vec![Record::new(); n_tests],
            rounds: 0,
            trees: None,
            status: Status::Converged,
        };
        let forecast = ForestOf::forecast("boruta", self.rounds);
        while course.is_undecided() {
            if course.rounds == self.rounds {
                course.status = Status::MaxIterations;
                break;
            }
            let active = course.active();
            let seed = derive_seed(context.seed, course.rounds as u64);
            let progress =
                ForestOf { forecast: &forecast, before: course.rounds, n_forests: self.rounds, context };
            let inner = Context { seed, progress: Some(&progress), ..*context };
            let found = match self.round(samples, &active, &inner) {
                Ok(found) => Some(found),
                Err(Error::Stopped { .. }) => None,
                Err(error) => return Err(error),
            };
            let whole = found.as_ref().is_some_and(|found| !found.is_stopped);
            // Some trees of the first round are better than nothing; later ones wait for all of theirs.
            if let Some(found) = found.filter(|_| whole || course.rounds == 0) {
                course.add(&active, &found, self.quantile);
                course.trees = (!whole).then_some(found.trees);
            }
            if !whole {
                course.status = how_stopped(context);
                break;
            }
            course.records.iter_mut().for_each(|record| record.decide(self.alpha, n_tests));
        }
        Ok(course)
    }

    /// The importances of the `active` features, and of shadows after them.
    fn round(
        &self,
        samples: &Samples,
        active: &[usize],
        context: &Context<'_>,
    ) -> Result<Importances, Error> {
        let n_shadows = active.len().max(FEWEST_SHADOWS);
        let originals: Vec<usize> = active.iter().copied().cycle().take(n_shadows).collect();
        let shadows = fewest_parallel::map(n_shadows, |at| {
            let mut column = samples.columns[originals[at]].clone();
            column.shuffle(&mut ChaCha8Rng::seed_from_u64(derive_seed(context.seed, at as u64 + 1)));
            column
        });
        let both: Vec<usize> = active.iter().chain(&originals).copied().collect();
        let kinds = both.iter().map(|&at| samples.kinds[at].clone()).collect();
        let columns: Vec<&[f64]> = active
            .iter()
            .map(|&at| samples.columns[at].as_slice())
            .chain(shadows.iter().map(Vec::as_slice))
            .collect();
        let data = table(&columns, kinds, samples.target.clone())?;
        let forest = RandomForest { trees: self.trees, ..RandomForest::default() };
        forest.importances(&data, &Context { seed: derive_seed(context.seed, 0), ..*context })
    }
}

impl Course {
    fn is_undecided(&self) -> bool {
        self.records.iter().any(|record| record.decision == Decision::Tentative)
    }

    /// The features that are not rejected.
    fn active(&self) -> Vec<usize> {
        (0..self.records.len()).filter(|&at| self.records[at].decision != Decision::Rejected).collect()
    }

    /// A round with the importances of the `active` features, and of shadows after them.
    fn add(&mut self, active: &[usize], found: &Importances, share: f64) {
        let z_scores = found.z_scores();
        let shadows = quantile(z_scores[active.len()..].to_vec(), share);
        for (&at, &z) in active.iter().zip(&z_scores) {
            self.records[at].add(z, shadows);
        }
        self.rounds += 1;
    }

    fn count(&self, decision: Decision) -> usize {
        self.records.iter().filter(|record| record.decision == decision).count()
    }

    /// What was decided.
    fn notes(&self, boruta: &Boruta, tentative: &[String]) -> Vec<String> {
        let plural = |n: usize| if n == 1 { "is" } else { "are" };
        let [confirmed, undecided, rejected] = [Decision::Confirmed, Decision::Tentative, Decision::Rejected]
            .map(|decision| self.count(decision));
        let named = match tentative {
            [] => String::new(),
            names if names.len() > NAMES => format!(" ({} and others)", names[..NAMES].join(", ")),
            names => format!(" ({})", names.join(", ")),
        };
        let rounds = match (self.trees, self.rounds) {
            (Some(trees), _) => format!("{trees} of {} trees of the first round", boruta.trees),
            (None, 1) => "1 round".to_owned(),
            (None, rounds) => format!("{rounds} rounds"),
        };
        let mut notes = vec![format!(
            "of {} features {confirmed} {} confirmed, {undecided} tentative{named}, {rejected} rejected, \
             after {rounds}",
            self.records.len(),
            plural(confirmed)
        )];
        if self.status == Status::MaxIterations {
            notes.push("tentative features: more `rounds` may decide".to_owned());
        }
        notes
    }
}

impl Selector for Boruta {
    fn select(&self, data: &Dataset, budget: Budget, context: &Context<'_>) -> Result<Selection, Error> {
        Selection::only(self.select_many(data, &[budget], context)?)
    }

    fn select_many(
        &self,
        data: &Dataset,
        budgets: &[Budget],
        context: &Context<'_>,
    ) -> Result<Vec<Selection>, Error> {
        self.check()?;
        for budget in budgets {
            budget.check(data.n_features())?;
            if let Budget::Threshold(_) = budget {
                let expected = "left out: `alpha` says what is confirmed";
                return Err(Error::parameter("threshold", "given", expected));
            }
        }
        if budgets.is_empty() {
            return Ok(Vec::new());
        }
        let samples = Samples::new(data, "boruta")?;
        let course = self.run(&samples, context)?;
        if course.rounds == 0 && course.status.is_stopped() {
            return Err(UNJUDGED);
        }
        Ok(budgets.iter().map(|&budget| self.selection(data, &samples, &course, budget)).collect())
    }
}

impl Boruta {
    fn selection(&self, data: &Dataset, samples: &Samples, course: &Course, budget: Budget) -> Selection {
        let places = by_table(samples);
        let records: Vec<Record> = places.iter().map(|&at| course.records[at].clone()).collect();
        let feature = |at: usize| samples.features[places[at]];
        let mut ranked = ranking(&records);
        let is_stopped = course.status.is_stopped();
        let tentative = ranked.iter().filter(|&&at| records[at].decision == Decision::Tentative);
        let tentative: Vec<String> = tentative.map(|&at| data.feature_name(feature(at))).collect();
        let n_confirmed = course.count(Decision::Confirmed);
        match budget {
            // The run of a method that found nothing yet gives its order so far.
            Budget::Auto if !is_stopped || n_confirmed > 0 => ranked.truncate(n_confirmed),
            _ => ranked.retain(|&at| records[at].decision != Decision::Rejected),
        }
        if let Budget::Count(k) = budget {
            ranked.truncate(k);
        }
        let order: Vec<usize> = ranked.iter().map(|&at| feature(at)).collect();
        let scores = ranked.iter().map(|&at| records[at].importance()).collect();
        let mut selection = Selection::new(order, scores, data.n_features(), course.status);
        selection.notes = course.notes(self, &tentative);
        selection.note_constant_features(data.n_features() - samples.features.len());
        selection.note_missing_features(budget, "no other feature beats its shadows");
        if matches!(budget, Budget::Count(k) if k < n_confirmed) {
            selection.notes.push(
                "more features are confirmed than were asked for: let it decide (on the command line: -k auto)"
                    .to_owned(),
            );
        }
        selection
    }
}

/// The places in the samples, in the order of the table.
fn by_table(samples: &Samples) -> Vec<usize> {
    fewest_core::order::by_key(&samples.features)
}
