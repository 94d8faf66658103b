//! Online feature selection by a sparse linear classifier.

use fewest_columns::Standard;
use fewest_core::method::Options;
use fewest_core::{
    Arrives, BATCH_ROWS, Budget, Classes, Context, Dataset, Error, FadingScore, Held, PassSelector,
    RowBatches, SampleStream, Selection, Selector, Status, StreamMethod, StreamSelector, Target, Whole,
    choice, derive_seed, options, rewind, stream_state,
};

use crate::samples::{Rows, scaling};

const METHOD: &str = "ofs";

/// Samples that a table is read by.
const BATCH: usize = 256;

choice! {
    /// What is seen of a sample before its class is predicted.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub enum OfsInput {
        /// All features.
        Full = "full",
        /// As many features as may have a weight: mostly those that have one, and with probability
        /// `exploration` some drawn at random.
        Partial {
            /// Probability that the features of a sample are drawn at random.
            exploration: f64 = 0.2, Fraction;
        } = "partial",
    }
}

options! {
    /// Online feature selection (Wang, Zhao, Hoi and Jin 2014; Section 5.2.1 of Li et al. 2016): a linear
    /// classifier of two classes `y = ±1` that learns from one sample after the other, and never has more
    /// than `B` weights.
    ///
    /// ```text
    /// full:     w ← (1 − λη) w           and, where  y wᵀx ≤ margin:  w ← w + η y x,
    ///           w ← w · min(1, λ^(−½) / ‖w‖),   then all but the B largest |wⱼ| become 0
    ///
    /// partial:  C: with probability ε drawn, B of the d features; else those with a weight
    ///           where  y w_Cᵀx_C ≤ margin:  w ← w + η y x̂,   x̂ⱼ = xⱼ / (ε B/d + (1 − ε) [wⱼ ≠ 0])  for j in C, else 0,
    ///           then the norm and the B largest as above
    /// ```
    ///
    /// Algorithms 2 and 3 of the paper. As printed in the survey the classifier changes where `y wᵀx < 0`,
    /// and so never from `w = 0`; the programs of the authors have the margin 1. There is no constant. The
    /// class that sorts last is `+1`. The score of a feature is its weight, and with equal weights the lower
    /// index is kept. (The authors' step is 0.2: with it weak features come and go with single samples.)
    ///
    /// A table is standardised, and its rows come in a random order that the seed decides, anew in each pass.
    /// A stream is learnt as it comes: bring features to one scale first. A feature of which one value was
    /// seen so far is not selected in it, and with full input is the last to keep a weight. The answer
    /// depends on the order of the samples, and its status is [`Status::Ended`]: more samples, or passes, may
    /// change it. Only where the last pass over a table changed nothing, it is [`Status::Converged`].
    ///
    /// Cost: `O(d)` a sample. Memory: `2 d` numbers, whatever arrives, and the batch.
    ///
    /// # Errors
    /// A target other than two classes; a NaN or an infinity, naming the cell; sample weights; a category of
    /// more than two levels; batches with other features or other names of classes than the first.
    ///
    /// ```
    /// use fewest_core::{Budget, Context, Dataset, DenseColumns, Selector, Target};
    /// use fewest_streams::Ofs;
    ///
    /// let noise = |j: u64| (0..200).map(|i| fewest_core::derive_seed(j, i) as f64).collect::<Vec<f64>>();
    /// let columns: Vec<Vec<f64>> = (0..9).map(noise).collect();
    /// let y: Vec<bool> = columns[2].iter().zip(&columns[6]).map(|(a, b)| a > b).collect();
    /// let data = Dataset::new(DenseColumns::from_columns(&columns)?, Target::from_labels(&y))?;
    /// let ofs = Ofs { kept: Some(4), margin: 1.0, passes: 5, ..Ofs::default() };
    /// let selection = ofs.select(&data, Budget::Count(2), &Context::default())?;
    /// assert!(selection.order.contains(&2) && selection.order.contains(&6));
    /// # Ok::<(), fewest_core::Error>(())
    /// ```
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct Ofs {
        /// Most features with a weight, B; without it, the number of features decides.
        pub kept: Option<usize> = None, Count(1), decides_count;
        /// What is seen of a sample: all features, or as many as may have a weight.
        pub input: OfsInput = OfsInput::Full;
        /// Length of a step, η.
        pub step: f64 = 0.05, Positive;
        /// Weight λ of the squared coefficients; `λ η` is below 1.
        pub lambda: f64 = 0.01, Positive;
        /// Largest `y wᵀx` that changes the weights.
        pub margin: f64 = 1.0, NonNegative;
        /// Passes over a table.
        pub passes: usize = 1, Count(1);
        /// Whether the rows of a table come in a random order, anew in each pass.
        pub shuffle: bool = true;
    }
}

impl Ofs {
    /// A selector to which samples arrive; `seed` decides what is drawn with partial input.
    ///
    /// # Errors
    /// For options out of range, or without `kept`.
    pub fn stream(&self, seed: u64) -> Result<OfsStream, Error> {
        self.check_all()?;
        let kept = self
            .kept
            .ok_or_else(|| Error::parameter("kept", "not given", "the number of weights to keep"))?;
        Ok(OfsStream {
            options: *self,
            kept,
            seed,
            rows: Rows::new(METHOD, None),
            classes: None,
            weights: Vec::new(),
            support: Vec::new(),
            first: Vec::new(),
            varies: Vec::new(),
            n_seen: 0,
            n_updates: 0,
        })
    }

    fn check_all(&self) -> Result<(), Error> {
        self.check()?;
        if self.lambda * self.step >= 1.0 {
            let expected =
                format!("below 1 / step, {}, so that a step does not turn weights round", 1.0 / self.step);
            return Err(Error::parameter("lambda", self.lambda, expected));
        }
        Ok(())
    }

    /// Learns from the rows of `stream`, again in each pass; `all` are those of all passes, where their
    /// number is known.
    fn learn(
        &self,
        stream: &mut dyn SampleStream,
        all: Option<usize>,
        scaling: &[Option<Standard>],
        budget: Budget,
        context: &Context<'_>,
    ) -> Result<Selection, Error> {
        let options = Self { kept: Some(self.kept.map_or_else(|| budget.count(&["kept"]), Ok)?), ..*self };
        let mut learner = options.stream(context.seed)?;
        learner.rows = Rows::new(METHOD, Some(scaling.to_vec()));
        let mut n_seen = 0;
        let mut before = 0;
        for _ in 0..self.passes {
            before = learner.n_updates;
            rewind(stream)?;
            let mut batches = Whole::new(stream, BATCH);
            while let Some(batch) = batches.next_batch()? {
                if let Some(stopped) = context.stopped().filter(|_| n_seen > 0) {
                    let mut selection = learner.selection(budget)?;
                    selection.status = stopped;
                    let of_all = all.map(|all| format!(" of {all}")).unwrap_or_default();
                    selection.notes.push(format!("{n_seen}{of_all} samples were seen"));
                    return selection.unless_stopped_before("a feature had a weight");
                }
                learner.update(&batch, context)?;
                n_seen += batch.n_samples();
                if let Some(all) = all {
                    context.report("samples", n_seen, all);
                }
            }
        }
        let n = n_seen / self.passes;
        let mut selection = learner.selection(budget)?;
        match learner.n_updates - before {
            // Without a margin only signs count, which shrinking keeps: any further pass is like this one.
            0 if self.margin == 0.0 && self.input == OfsInput::Full => selection.status = Status::Converged,
            changes => selection.notes.push(format!(
                "{changes} of {n} samples changed the weights in the last pass: with more `passes` the answer may be \
                 another"
            )),
        }
        Ok(selection)
    }
}

impl StreamMethod for Ofs {
    const ARRIVES: Arrives = Arrives::Samples;

    fn open(&self, budget: Budget, seed: u64) -> Result<Box<dyn StreamSelector>, Error> {
        let kept = Some(self.kept.map_or_else(|| budget.count(&["kept"]), Ok)?);
        Ok(Box::new(Self { kept, ..*self }.stream(seed)?))
    }

    fn fading(&self) -> Result<FadingScore, Error> {
        Err(Error::Unsupported {
            method: METHOD,
            what: "a weight of samples".to_owned(),
            instead:
                "its classifier has no samples to weigh, and forgets by its steps: take a larger step or \
                      lambda, or a window of the last samples"
                    .to_owned(),
        })
    }
}

impl Selector for Ofs {
    fn select(&self, data: &Dataset, budget: Budget, context: &Context<'_>) -> Result<Selection, Error> {
        Selection::only(self.select_many(data, &[budget], context)?)
    }

    /// Each budget is a run of its own; scales are found once.
    fn select_many(
        &self,
        data: &Dataset,
        budgets: &[Budget],
        context: &Context<'_>,
    ) -> Result<Vec<Selection>, Error> {
        self.check_all()?;
        data.refuse_sample_weights(METHOD)?;
        budgets.iter().try_for_each(|budget| budget.check(data.n_features()))?;
        // Rows are drawn often: without what else is known of them.
        let numbers = &Dataset::shared(data.shared_x(), two_classes(data.target())?)?;
        let scaling = scaling(&mut RowBatches::new(data, BATCH_ROWS)?, METHOD, context)?;
        let all = Some(data.n_samples().saturating_mul(self.passes));
        let learn = |&budget: &Budget| match self.shuffle {
            true => {
                let mut rows = Shuffled::new(numbers, context.seed);
                self.learn(&mut rows, all, &scaling, budget, context)
            }
            false => {
                let mut rows = RowBatches::new(numbers, BATCH)?;
                self.learn(&mut rows, all, &scaling, budget, context)
            }
        };
        budgets.iter().map(learn).collect()
    }

    fn in_passes(&self) -> Option<&dyn PassSelector> {
        Some(self)
    }
}

/// A pass for the scales of features, then `passes` in the order of the rows: with the bits of the table in
/// memory. Rows cannot be taken in another order.
impl PassSelector for Ofs {
    fn select_stream(
        &self,
        stream: &mut dyn SampleStream,
        budget: Budget,
        context: &Context<'_>,
    ) -> Result<Selection, Error> {
        self.check_all()?;
        if self.shuffle {
            return Err(Error::Unsupported {
                method: METHOD,
                what: "taking rows that are read in passes in a random order".to_owned(),
                instead: "take them as they come with shuffle=false, if they are in no order by class"
                    .to_owned(),
            });
        }
        let mut stream = TwoClasses(stream);
        let scaling = scaling(&mut stream, METHOD, context)?;
        self.learn(&mut stream, None, &scaling, budget, context)
    }

    fn sums_rows(&self) -> bool {
        false
    }
}

/// A stream of samples of two classes.
struct TwoClasses<'a>(&'a mut dyn SampleStream);

impl SampleStream for TwoClasses<'_> {
    fn next_batch(&mut self) -> Result<Option<Dataset>, Error> {
        let Some(batch) = self.0.next_batch()? else { return Ok(None) };
        match batch.target() {
            Target::Class(classes) if classes.n_classes() == 2 => Ok(Some(batch)),
            other => Err(unsupported(other)),
        }
    }

    fn rewind(&mut self) -> Result<bool, Error> {
        self.0.rewind()
    }
}

/// The rows of a table in a random order, in another one in each pass.
struct Shuffled<'a> {
    data: &'a Dataset,
    seed: u64,
    /// Number of passes that were begun.
    n_passes: u64,
    order: std::vec::IntoIter<usize>,
}

impl<'a> Shuffled<'a> {
    /// Before the first pass.
    fn new(data: &'a Dataset, seed: u64) -> Self {
        Self { data, seed, n_passes: 0, order: Vec::new().into_iter() }
    }
}

impl SampleStream for Shuffled<'_> {
    fn next_batch(&mut self) -> Result<Option<Dataset>, Error> {
        let rows: Vec<usize> = self.order.by_ref().take(BATCH).collect();
        if rows.is_empty() { Ok(None) } else { self.data.subset(&rows).map(Some) }
    }

    fn rewind(&mut self) -> Result<bool, Error> {
        let seed = derive_seed(self.seed, self.n_passes);
        let mut order: Vec<usize> = (0..self.data.n_samples()).collect();
        order.sort_by_key(|&row| derive_seed(seed, row as u64));
        (self.n_passes, self.order) = (self.n_passes + 1, order.into_iter());
        Ok(true)
    }
}

/// The two classes that occur, without the names of others.
fn two_classes(target: &Target) -> Result<Target, Error> {
    if let Target::Class(classes) = target
        && let [low, high] = classes.occurring()[..]
    {
        let codes = classes.codes().iter().map(|&code| u32::from(code == high)).collect();
        let name = |code: u32| classes.names()[code as usize].clone();
        return Target::classes(codes, vec![name(low), name(high)]);
    }
    Err(unsupported(target))
}

fn unsupported(target: &Target) -> Error {
    Error::UnsupportedTarget { method: METHOD, expected: "two classes", found: target.describe() }
}

/// [`Ofs`] on samples that arrive.
pub struct OfsStream {
    options: Ofs,
    kept: usize,
    seed: u64,
    rows: Rows,
    /// The names of the classes.
    classes: Option<Vec<String>>,
    weights: Vec<f64>,
    /// The features with a weight, increasing.
    support: Vec<usize>,
    /// The first value seen of each feature; NaN before.
    first: Vec<f64>,
    /// Which features were seen with another value since; all of rows that are scaled as a table.
    varies: Vec<bool>,
    n_seen: u64,
    n_updates: u64,
}

impl OfsStream {
    /// How many samples changed the weights.
    pub fn n_updates(&self) -> u64 {
        self.n_updates
    }

    /// The weight of every feature.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// Notes whether feature `j` varies.
    fn look(&mut self, j: usize, value: f64) {
        if self.first[j].is_nan() {
            self.first[j] = value;
        }
        self.varies[j] |= value != self.first[j];
    }

    fn learn(&mut self, y: f64, x: &[f64]) {
        if self.first.is_empty() {
            self.first = vec![f64::NAN; x.len()];
            self.varies = vec![self.rows.is_scaled(); x.len()];
        }
        match self.options.input {
            OfsInput::Full => self.learn_all(y, x),
            OfsInput::Partial { exploration } => self.learn_part(y, x, exploration),
        }
        self.n_seen += 1;
    }

    fn learn_all(&mut self, y: f64, x: &[f64]) {
        let Ofs { step, lambda, margin, .. } = self.options;
        x.iter().enumerate().for_each(|(j, value)| self.look(j, *value));
        let is_changed = y * self.predicted(x) <= margin;
        for &j in &self.support {
            self.weights[j] *= 1.0 - lambda * step;
        }
        if is_changed {
            self.weights.iter_mut().zip(x).for_each(|(weight, x)| *weight += step * y * x);
            self.bound();
        }
    }

    fn learn_part(&mut self, y: f64, x: &[f64], exploration: f64) {
        let Ofs { step, margin, .. } = self.options;
        let d = x.len();
        let n_seen = self.kept.min(d);
        let seed = derive_seed(self.seed, self.n_seen);
        let seen = if unit(derive_seed(seed, 0)) < exploration {
            // The smallest of as many draws as there are features.
            let mut draws: Vec<(u64, usize)> = (0..d).map(|j| (derive_seed(seed, j as u64 + 1), j)).collect();
            if n_seen < d {
                draws.select_nth_unstable(n_seen);
            }
            draws.truncate(n_seen);
            draws.into_iter().map(|(_, j)| j).collect()
        } else {
            self.support.clone()
        };
        seen.iter().for_each(|&j| self.look(j, x[j]));
        // What is not seen counts as 0.
        let predicted: f64 = {
            let mut seen = seen.clone();
            fewest_core::order::sort_indices(&mut seen);
            seen.iter().map(|&j| self.weights[j] * x[j]).sum()
        };
        if y * predicted <= margin {
            let drawn = exploration * n_seen as f64 / d as f64;
            for j in seen {
                let chance = drawn + if self.weights[j] != 0.0 { 1.0 - exploration } else { 0.0 };
                self.weights[j] += step * y * x[j] / chance;
            }
            self.bound();
        }
    }

    fn predicted(&self, x: &[f64]) -> f64 {
        self.support.iter().map(|&j| self.weights[j] * x[j]).sum()
    }

    /// Brings the weights into the ball and leaves the largest only.
    fn bound(&mut self) {
        self.n_updates += 1;
        let norm = self.weights.iter().map(|weight| weight * weight).sum::<f64>().sqrt();
        let shrink = (self.options.lambda.sqrt().recip() / norm).min(1.0);
        self.support.clear();
        self.support.extend((0..self.weights.len()).filter(|&j| self.weights[j] != 0.0));
        if self.support.len() > self.kept {
            let (weights, varies) = (&self.weights, &self.varies);
            // Of partial input most features are not known to vary for long.
            let counts = |j: usize| self.options.input != OfsInput::Full || varies[j];
            let larger = |a: &usize, b: &usize| {
                let by_weight = || weights[*b].abs().total_cmp(&weights[*a].abs());
                counts(*b).cmp(&counts(*a)).then_with(by_weight).then(a.cmp(b))
            };
            self.support.select_nth_unstable_by(self.kept, larger);
            for j in self.support.drain(self.kept..) {
                self.weights[j] = 0.0;
            }
            fewest_core::order::sort_indices(&mut self.support);
        }
        for &j in &self.support {
            self.weights[j] *= shrink;
        }
    }

    /// The classes of a batch, which are those of the first.
    fn classes<'a>(&mut self, batch: &'a Dataset) -> Result<&'a Classes, Error> {
        let Target::Class(classes) = batch.target() else { return Err(unsupported(batch.target())) };
        let listed = |names: &[String]| names.join(", ");
        let advice = "name both classes in every batch, in one order, also where one has no samples";
        match &self.classes {
            None if classes.n_classes() != 2 => {
                let found = format!("{} ({})", classes.n_classes(), listed(classes.names()));
                Err(Error::parameter("number of classes", found, format!("2: {advice}")))
            }
            None => {
                self.classes = Some(classes.names().to_vec());
                Ok(classes)
            }
            Some(first) if first != classes.names() => {
                let expected = format!("{} as in the first batch: {advice}", listed(first));
                Err(Error::parameter("classes of a batch", listed(classes.names()), expected))
            }
            Some(_) => Ok(classes),
        }
    }
}

/// A number from 0 to below 1.
fn unit(bits: u64) -> f64 {
    (bits >> 11) as f64 / (1_u64 << 53) as f64
}

impl StreamSelector for OfsStream {
    fn update(&mut self, arrived: &Dataset, _: &Context<'_>) -> Result<(), Error> {
        let values = self.rows.read(arrived)?;
        let classes = self.classes(arrived)?;
        self.weights.resize(arrived.n_features(), 0.0);
        for (x, &code) in values.chunks_exact(arrived.n_features()).zip(classes.codes()) {
            self.learn(if code == 1 { 1.0 } else { -1.0 }, x);
        }
        Ok(())
    }

    fn selection(&self, budget: Budget) -> Result<Selection, Error> {
        let d = self.weights.len();
        budget.check(d)?;
        // Of one sample nothing varies.
        let counts = |j: usize| self.n_seen < 2 || self.varies[j];
        let weights = self.support.iter().map(|&j| (j, self.weights[j])).filter(|(_, weight)| *weight != 0.0);
        let weights = weights.filter(|(j, _)| counts(*j)).collect();
        let mut selection = Selection::by_weight(weights, d, budget, Status::Ended);
        selection.note_missing_features(budget, "no other feature that varies has a weight");
        Ok(selection)
    }

    fn held(&self) -> Held {
        Held::new(self.support.len(), self.weights.len() + self.first.len() + self.support.len())
    }

    stream_state!(
        options, kept, seed; rows.n_features, classes, weights, support, first, varies, n_seen, n_updates
    );
}
