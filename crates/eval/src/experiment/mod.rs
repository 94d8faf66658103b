//! Experiments: selection inside every fold, a learner on the selected features, metrics on the test samples.

mod error;
mod fold;
mod records;
mod summary;

pub use error::{ExperimentError, Stage};
pub use records::{AUTO_K, Evaluation, FoldRecord, Outcome, Plan, k_text};
pub use summary::{Comparison, KRule, Summary, compare};

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use fewest_core::{
    Context, Dataset, Error, Forecast, Progress, Selector, Status, Target, derive_seed, order,
};

use crate::{Learner, Metric, Split, Splitter};

/// Called with each finished fold, for instance to store it; from one thread at a time, in any order.
pub(crate) type OnFold<'a> = &'a (dyn Fn(&Plan, &FoldRecord) + Sync);

/// Fits a preparation to the training samples of a fold (first argument) and applies it to all samples
/// (second argument): fills in missing values, scales features.
pub(crate) type Prepare<'a> = &'a (dyn Fn(&Dataset, &Dataset) -> Result<Dataset, Error> + Sync);

/// A selector and a learner, evaluated by metrics on test samples that neither has used.
///
/// Selection happens inside every fold, on its training samples only. Where the selector's order is `nested`,
/// so that its best `k` features are the first `k` of any longer selection (rankings, greedy methods), one
/// selection of the largest `k` serves all. A fold whose selector finds no feature at all is predicted by the
/// most frequent class or the mean of its training samples.
///
/// Folds run in parallel; the result, except for the times, is the same, bit for bit, for any number of
/// threads. At the deadline or when interrupted, the finished folds are returned, and
/// [`Experiment::run_with`] continues from them.
///
/// ```
/// use fewest_core::{Context, Dataset, DenseColumns, Ranked, Scorer, Scores, Target};
/// use fewest_eval::{Accuracy, Experiment, KFold, NearestNeighbours};
///
/// /// Scores features by their variance.
/// struct Variance;
/// impl Scorer for Variance {
///     fn score(&self, data: &Dataset, _: &Context<'_>) -> Result<Scores, fewest_core::Error> {
///         let n = data.n_samples();
///         let mut variances = Vec::new();
///         for j in 0..data.n_features() {
///             let values = data.x().column(j, &mut Vec::new())?.to_vec(n);
///             let mean = values.iter().sum::<f64>() / n as f64;
///             variances.push(values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / n as f64);
///         }
///         Ok(Scores::descending(variances))
///     }
/// }
///
/// let wide: Vec<f64> = (0..20).map(f64::from).collect();
/// let narrow: Vec<f64> = (0..20).map(|i| f64::from(i * 7 % 20) / 10.0).collect();
/// let labels: Vec<bool> = wide.iter().map(|&value| value > 9.0).collect();
/// let data = Dataset::new(DenseColumns::from_columns(&[narrow, wide])?, Target::from_labels(&labels))?;
/// let experiment = Experiment {
///     label: "variance, 1 neighbour".to_owned(),
///     selector: &Ranked::new(Variance),
///     learner: &NearestNeighbours { neighbours: 1 },
///     splitter: &KFold { folds: 4, stratified: true },
///     metrics: &[&Accuracy],
///     ks: vec![1, 2],
///     nested: true,
///     prepare: None,
/// };
/// let evaluation = experiment.run(&data, &Context::seeded(7))?;
/// let summaries = evaluation.summaries();
/// assert_eq!(summaries[0].k, 1);
/// assert!(summaries[0].mean > 0.8);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Experiment<'a> {
    /// A name for selector and learner with their parameters: records under another label are not resumed.
    pub label: String,
    /// The selector of the features.
    pub selector: &'a dyn Selector,
    /// The learner that predicts from them.
    pub learner: &'a dyn Learner,
    /// The splitter that divides the samples.
    pub splitter: &'a dyn Splitter,
    /// The metrics of the predictions; at least one.
    pub metrics: &'a [&'a dyn Metric],
    /// The numbers of features to evaluate, in any order; at least one. [`AUTO_K`] stands for as many as the
    /// selector decides itself in each fold.
    pub ks: Vec<usize>,
    /// Whether one selection of the largest `k` serves all others. Otherwise features are selected for each
    /// `k`.
    pub nested: bool,
    /// The preparation in every fold before selecting and learning; without it, data are used unchanged.
    pub prepare: Option<Prepare<'a>>,
}

/// The start of a run, and the receiver of its records.
#[derive(Clone, Copy, Default)]
pub struct RunOptions<'a> {
    /// Folds that are finished: they are not run again. [`ExperimentError::Setup`] when they are of another
    /// experiment.
    pub finished: Option<&'a Evaluation>,
    /// Another evaluation of the same selector on the same folds, whose features are used instead of
    /// selecting again: for several learners. Its numbers of features must include those of this
    /// experiment.
    pub selections: Option<&'a Evaluation>,
    /// Called with each finished fold, for instance to store it.
    pub on_fold: Option<OnFold<'a>>,
    /// What selectors see of a network.
    pub network: Network,
    /// Features that the learner has beside the selected ones, in every fold: covariates, which a selector
    /// takes into account and does not select. Other covariates make another experiment: name them in its
    /// label.
    pub covariates: &'a [usize],
}

/// What a selector sees of samples that are linked ([`Dataset::sample_graph`], [`Dataset::authors`]), apart
/// from the training samples. Labels of test samples are hidden in any case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Network {
    /// Nothing: links between training and test samples are left out. Test samples come later.
    #[default]
    Inductive,
    /// All samples with all links, as [`Dataset::surroundings`]: test samples are known, but for their
    /// labels.
    Transductive,
}

impl Network {
    /// All there are.
    pub const ALL: [Self; 2] = [Self::Inductive, Self::Transductive];

    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Inductive => "inductive",
            Self::Transductive => "transductive",
        }
    }
}

/// What the first fold that is run tells of the time that it will take, said of all folds.
struct FromFirst<'a> {
    progress: &'a dyn Progress,
    /// How many times as long all selections take as one.
    times: f64,
    /// Held while something is told: from one thread at a time.
    alone: &'a Mutex<(usize, Forecast)>,
}

impl Progress for FromFirst<'_> {
    fn update(&self, _stage: &str, _done: u64, _total: u64) {}

    fn announce(&self, stage: &str, expected: Duration) {
        let _alone = self.alone.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let all = Duration::try_from_secs_f64(expected.as_secs_f64() * self.times).unwrap_or(Duration::MAX);
        self.progress.announce(&format!("{stage} in every fold"), all);
    }
}

impl Experiment<'_> {
    /// Runs all folds.
    ///
    /// # Errors
    /// [`ExperimentError::Setup`] when data or parameters do not allow it; [`ExperimentError::Fold`] naming
    /// the first fold that failed.
    pub fn run(&self, data: &Dataset, context: &Context<'_>) -> Result<Evaluation, ExperimentError> {
        self.run_with(data, RunOptions::default(), context)
    }

    /// Runs the folds that are not finished.
    ///
    /// # Errors
    /// As [`Experiment::run`]; [`Error::InvalidParameter`] when `finished` or `selections` do not fit.
    pub fn run_with(
        &self,
        data: &Dataset,
        options: RunOptions<'_>,
        context: &Context<'_>,
    ) -> Result<Evaluation, ExperimentError> {
        let splits = self.splitter.splits(data, derive_seed(context.seed, 0))?;
        check_splits(&splits, data.n_samples())?;
        let plan = self.plan(data, &splits, context.seed)?;
        let mut folds = match options.finished {
            None => Vec::new(),
            Some(evaluation) => checked(evaluation, &plan)?,
        };
        if let Some(selections) = options.selections {
            check_selections(selections, &plan)?;
        }
        let pending: Vec<usize> =
            (0..splits.len()).filter(|fold| folds.iter().all(|record| record.fold != *fold)).collect();
        let in_turn = pending.len().div_ceil(fewest_parallel::n_threads()) as f64;
        let done = Mutex::new((folds.len(), Forecast::start("folds", in_turn)));
        let told = context.progress.map(|progress| {
            // A selection for each number of features, where one does not serve all.
            let selections = if self.nested { 1.0 } else { plan.ks.len() as f64 };
            FromFirst { progress, times: in_turn * selections, alone: &done }
        });
        let failed = AtomicUsize::new(usize::MAX);
        let run_fold = |fold: usize| {
            // Folds after one that failed are not needed; those before it decide which error is reported.
            if failed.load(Ordering::Relaxed) < fold || context.stopped().is_some() {
                return Ok(None);
            }
            let earlier = options.selections.and_then(|selections| selections.folds.get(fold));
            let of_fold = (fold, earlier, options.network, options.covariates);
            // Progress is reported by fold: reports from inside would come from several threads at once.
            let told = told.as_ref().filter(|_| pending.first() == Some(&fold));
            let progress = told.map(|told| told as &dyn Progress);
            let result =
                fold::run(self, &plan, data, &splits[fold], of_fold, &Context { progress, ..*context });
            match &result {
                Ok(None) => {}
                Ok(Some(record)) => {
                    // A poisoned count is valid: no change is left incomplete.
                    let mut done = done.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                    let (n_done, forecast) = &mut *done;
                    *n_done += 1;
                    forecast.report(*n_done, splits.len(), context);
                    if let Some(on_fold) = options.on_fold {
                        on_fold(&plan, record);
                    }
                }
                Err(_) => {
                    failed.fetch_min(fold, Ordering::Relaxed);
                }
            }
            result
        };
        let records = fewest_parallel::try_map(pending.len(), |at| run_fold(pending[at]))?;
        folds.extend(records.into_iter().flatten());
        sort_by_fold(&mut folds);
        let out_of_time = folds.len() < splits.len() && context.stopped() == Some(Status::TimeLimit);
        Ok(Evaluation { plan, folds, out_of_time })
    }

    fn plan(&self, data: &Dataset, splits: &[Split], seed: u64) -> Result<Plan, Error> {
        let mut ks = self.ks.clone();
        order::sort_indices(&mut ks);
        ks.dedup();
        if ks.is_empty() {
            return Err(Error::parameter("ks", "empty", "at least one number of features"));
        }
        for &k in &ks {
            records::budget(k).check(data.n_features())?;
        }
        if self.metrics.is_empty() {
            return Err(Error::parameter("metrics", "empty", "at least one metric"));
        }
        Ok(Plan {
            label: self.label.clone(),
            learner: self.learner.name().to_owned(),
            metrics: self.metrics.iter().map(|metric| metric.name().to_owned()).collect(),
            greater_is_better: self.metrics.iter().map(|metric| metric.greater_is_better()).collect(),
            ks,
            nested: self.nested,
            seed,
            n_folds: splits.len(),
            n_features: data.n_features(),
            fingerprint: fingerprint(splits, data.target()),
        })
    }
}

/// Checks, for any splitter: both parts of a fold have samples, which exist, and none is in both.
fn check_splits(splits: &[Split], n_samples: usize) -> Result<(), Error> {
    if splits.is_empty() {
        return Err(Error::TooFew { what: "folds", minimum: 1, found: 0 });
    }
    for split in splits {
        let mut is_train = vec![false; n_samples];
        for (what, part) in
            [("training samples of a fold", &split.train), ("test samples of a fold", &split.test)]
        {
            if part.is_empty() {
                return Err(Error::TooFew { what, minimum: 1, found: 0 });
            }
            if let Some(row) = part.iter().find(|&&row| row >= n_samples) {
                let expected = format!("below the number of samples, {n_samples}");
                return Err(Error::parameter("rows of a fold", row, expected));
            }
        }
        split.train.iter().for_each(|&row| is_train[row] = true);
        if let Some(row) = split.test.iter().find(|&&row| is_train[row]) {
            return Err(Error::parameter(
                "rows of a fold",
                row,
                "in one of training and test part, not in both",
            ));
        }
    }
    Ok(())
}

fn sort_by_fold(folds: &mut [FoldRecord]) {
    folds.sort_by_key(|record| record.fold);
}

/// The finished folds, by increasing index, after a check that they belong to this experiment.
fn checked(evaluation: &Evaluation, plan: &Plan) -> Result<Vec<FoldRecord>, Error> {
    let wrong = |value: String| Error::parameter("finished", value, "records of the same experiment");
    if evaluation.plan != *plan {
        return Err(wrong(format!("of `{}` with another plan, data or seed", evaluation.plan.label)));
    }
    let mut folds = evaluation.folds.clone();
    sort_by_fold(&mut folds);
    folds.dedup_by_key(|record| record.fold);
    for record in &folds {
        let ks = record.outcomes.iter().map(|outcome| outcome.k);
        let whole = record.outcomes.iter().all(|outcome| outcome.scores.len() == plan.metrics.len());
        if record.fold >= plan.n_folds || !ks.eq(plan.ks.iter().copied()) || !whole {
            return Err(wrong(format!("incomplete at fold {}", record.fold)));
        }
    }
    Ok(folds)
}

/// Whether every fold has features for every requested number, chosen from the same samples.
fn check_selections(selections: &Evaluation, plan: &Plan) -> Result<(), Error> {
    let theirs = &selections.plan;
    let same = theirs.fingerprint == plan.fingerprint
        && (theirs.seed, theirs.n_folds, theirs.n_features) == (plan.seed, plan.n_folds, plan.n_features);
    let whole = |(fold, record): (usize, &FoldRecord)| {
        let has = |k: &usize| record.outcomes.iter().any(|outcome| outcome.k == *k);
        record.fold == fold && plan.ks.iter().all(has)
    };
    if same && selections.is_complete() && selections.folds.iter().enumerate().all(whole) {
        return Ok(());
    }
    let value = format!("of `{}`", theirs.label);
    let expected =
        "a complete evaluation with the same data, folds and seed and at least these numbers of features";
    Err(Error::parameter("selections", value, expected))
}

/// The rows of all folds and the target in 64 bits, each of which every bit of them changes: two experiments
/// have the same by chance once in 2⁶⁴. That tells mistakes; where files come from elsewhere, the label says
/// more (studies put the SHA-256 of their data there).
fn fingerprint(splits: &[Split], target: &Target) -> u64 {
    let mut hash = 0;
    let mut add = |value: u64| hash = derive_seed(hash, value);
    for split in splits {
        for part in [&split.train, &split.test] {
            add(part.len() as u64);
            part.iter().for_each(|&row| add(row as u64));
        }
    }
    match target {
        Target::Class(classes) => classes.codes().iter().for_each(|&code| add(u64::from(code))),
        Target::Survival(survival) => {
            survival.times().iter().for_each(|time| add(time.to_bits()));
            survival.events().iter().for_each(|event| add(u64::from(*event)));
        }
        Target::Real(outputs) => {
            for output in 0..outputs.n_outputs() {
                outputs.output(output).iter().for_each(|value| add(value.to_bits()));
            }
        }
        _ => {}
    }
    hash
}

#[cfg(test)]
mod tests;
