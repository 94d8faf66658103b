//! From options and data to a design: numbers of features, learner, metrics, folds.

use fewest::core::{Budget, Classes, Dataset, Target};
use fewest::eval::{
    AUTO_K, GroupFolds, HoldOut, KFold, Learner, LearnerEntry, Metric, Network, Repeated, Splitter,
};

use crate::catalogue::{Registry, TargetKind};
use crate::{Candidate, DataInfo, Division, Error, StudyOptions, text};

/// Default numbers of features to evaluate.
const DEFAULT_KS: [usize; 7] = [1, 2, 5, 10, 20, 50, 100];

/// Largest number of rows in the lists of all folds: 1 GiB.
const MOST_ROWS: usize = 1 << 27;

/// The design of the evaluation of every method.
pub(crate) struct Design {
    /// The numbers of features, increasing.
    pub ks: Vec<usize>,
    /// The learner.
    pub learner: Box<dyn Learner>,
    /// Its id.
    pub learner_id: &'static str,
    /// The metrics.
    pub metrics: Vec<Box<dyn Metric>>,
    /// The splitter.
    pub splitter: Box<dyn Splitter>,
    /// The splitter in words, and what is seen of a network.
    pub splitter_text: String,
    /// What is seen of a network, where samples are linked.
    pub network: Option<Network>,
    /// The fingerprint of the data and the division, to compare with stored folds.
    pub identity: String,
    /// Notes for the user.
    pub notes: Vec<String>,
    /// Whether the learner is evaluated without a selection, too.
    pub baselines: bool,
    /// What no method selects.
    pub terms: Terms,
}

/// Features that methods take into account without selecting them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Terms {
    /// Those that the learner has beside the selected ones.
    pub covariates: Vec<usize>,
    /// Those that are added to the fitted values of the method.
    pub offset: Vec<usize>,
}

impl Terms {
    /// Those of all candidates.
    pub(crate) fn of(candidates: &[Candidate]) -> Result<Self, Error> {
        let Some(first) = candidates.first() else { return Ok(Self::default()) };
        for what in ["covariates", "offset"] {
            let is_other = |other: &&Candidate| other.features(what) != first.features(what);
            if let Some(other) = candidates.iter().find(is_other) {
                return Err(Error::OtherTerms { what, first: first.method.id, second: other.method.id });
            }
        }
        Ok(Self { covariates: first.features("covariates"), offset: first.features("offset") })
    }

    /// How many features they are.
    pub(crate) fn len(&self) -> usize {
        let both = self.offset.iter().filter(|j| self.covariates.contains(j)).count();
        self.covariates.len() + self.offset.len() - both
    }

    /// What readers have to know of them.
    fn notes(&self, learner: &str, info: &DataInfo) -> Vec<String> {
        let names = |features: &[usize]| {
            features.iter().map(|&j| format!("`{}`", info.name(j))).collect::<Vec<_>>().join(", ")
        };
        let plural = |features: &[usize]| if features.len() == 1 { "" } else { "s" };
        let mut notes = Vec::new();
        if !self.covariates.is_empty() {
            notes.push(format!(
                "in every fold {learner} has the covariate{} {} beside the selected features",
                plural(&self.covariates),
                names(&self.covariates)
            ));
        }
        if !self.offset.is_empty() {
            notes.push(format!(
                "the offset {} is used to select only: {learner} cannot use an offset, and predicts without it",
                names(&self.offset)
            ));
        }
        notes
    }
}

impl Design {
    /// The design that the options describe, checked against the data.
    pub(crate) fn new(
        registry: &Registry,
        options: &StudyOptions,
        data: &Dataset,
        info: &DataInfo,
        terms: Terms,
    ) -> Result<Self, Error> {
        options.check(registry)?;
        let kind = TargetKind::of(data.target());
        let (learner_id, learner) = learner(registry, options, kind)?;
        let metrics = metrics(registry, options, kind)?;
        check_scores(registry, (learner_id, &*learner), &metrics, kind)?;
        let ks = ks(options, data.n_features(), terms.len())?;
        let mut notes = terms.notes(learner_id, info);
        check_classes(options, data, &mut notes)?;
        check_size(options, data.n_samples())?;
        let (splitter, mut splitter_text) = splitter(options, data)?;
        let is_linked = data.sample_graph().is_some() || data.authors().is_some();
        let network = is_linked.then_some(options.network);
        match network {
            Some(Network::Inductive) => {
                splitter_text.push_str("; inductive: without links between training and test samples");
            }
            Some(Network::Transductive) => {
                splitter_text.push_str("; transductive: all links seen, labels of test samples hidden")
            }
            _ => {}
        }
        let mut identity = format!("{splitter_text} | data {}", fewest::data::digest(data)?);
        if info.gaps > 0 {
            identity.push_str(&format!(" | gaps filled by the {}", info.missing.name()));
        }
        if !terms.covariates.is_empty() {
            let listed: Vec<String> = terms.covariates.iter().map(usize::to_string).collect();
            identity.push_str(&format!(" | learner with covariates {}", listed.join(",")));
        }
        if !options.learner_parameters.is_empty() {
            // Folds with other parameters are other folds.
            let given = options.learner_parameters.join(", ");
            identity.push_str(&format!(" | {given}"));
            notes.push(format!("{learner_id} with {given}"));
        }
        Ok(Self {
            ks,
            learner,
            learner_id,
            metrics,
            splitter,
            splitter_text,
            network,
            identity,
            notes,
            baselines: options.baselines,
            terms,
        })
    }
}

fn learner(
    registry: &Registry,
    options: &StudyOptions,
    kind: TargetKind,
) -> Result<(&'static str, Box<dyn Learner>), Error> {
    let fitting = || registry.learners().iter().filter(|entry| entry.targets.contains(&kind));
    let entry = match &options.learner {
        Some(id) => Some(registry.find_learner(id)?),
        None => fitting().next(),
    };
    match entry {
        Some(entry) if entry.targets.contains(&kind) => {
            Ok((entry.id, entry.build_with(&options.learner_parameters)?))
        }
        other => Err(Error::NotForTarget {
            what: "learner",
            id: other.map_or("no learner", |entry| entry.id),
            target: kind,
            instead: fitting().map(|entry| entry.id).collect(),
        }),
    }
}

fn metrics(
    registry: &Registry,
    options: &StudyOptions,
    kind: TargetKind,
) -> Result<Vec<Box<dyn Metric>>, Error> {
    let fitting = || registry.metrics().iter().filter(|entry| entry.targets.contains(&kind));
    if options.metrics.is_empty() {
        return fitting().take(1).map(|entry| Ok(entry.build())).collect();
    }
    options
        .metrics
        .iter()
        .map(|id| {
            let entry = registry.find_metric(id)?;
            if entry.targets.contains(&kind) {
                return Ok(entry.build());
            }
            let instead = fitting().map(|entry| entry.id).collect();
            Err(Error::NotForTarget { what: "metric", id: entry.id, target: kind, instead })
        })
        .collect()
}

/// A metric of scores needs a learner that gives them.
fn check_scores(
    registry: &Registry,
    (id, learner): (&'static str, &dyn Learner),
    metrics: &[Box<dyn Metric>],
    kind: TargetKind,
) -> Result<(), Error> {
    let Some(metric) = metrics.iter().find(|metric| metric.needs() > learner.scoring()) else {
        return Ok(());
    };
    let needs = metric.needs();
    let gives = |entry: &&LearnerEntry| entry.build().is_ok_and(|learner| learner.scoring() >= needs);
    let fitting = registry.learners().iter().filter(|entry| entry.targets.contains(&kind));
    let instead = fitting.filter(gives).map(|entry| entry.id).collect();
    Err(Error::NoScores { metric: metric.name(), needs, learner: id, instead })
}

/// The numbers of features, of which `left_out` are not selected.
fn ks(options: &StudyOptions, n_features: usize, left_out: usize) -> Result<Vec<usize>, Error> {
    let selectable = n_features.saturating_sub(left_out);
    if selectable == 0 {
        return Err(Error::NotSelectable { k: 1, selectable, n_features, left_out });
    }
    if options.ks.is_empty() {
        let mut ks: Vec<usize> = DEFAULT_KS.into_iter().filter(|k| *k < selectable).collect();
        if DEFAULT_KS.last().is_some_and(|largest| selectable <= *largest) {
            ks.push(selectable);
        }
        return Ok(ks);
    }
    let mut ks = options.ks.clone();
    ks.sort_unstable();
    ks.dedup();
    for &k in ks.iter().filter(|k| **k != AUTO_K) {
        Budget::Count(k).check(n_features)?;
        if k > selectable {
            return Err(Error::NotSelectable { k, selectable, n_features, left_out });
        }
    }
    Ok(ks)
}

/// A class with one sample cannot be in training and test parts; one with few samples is missing from some
/// test parts.
fn check_classes(options: &StudyOptions, data: &Dataset, notes: &mut Vec<String>) -> Result<(), Error> {
    let Target::Class(classes) = data.target() else { return Ok(()) };
    if matches!(options.division, Division::Groups { .. }) {
        return Ok(());
    }
    let few = classes.names().iter().zip(classes.counts()).min_by_key(|(_, count)| *count);
    let Some((name, count)) = few else { return Ok(()) };
    if count < 2 {
        return Err(Error::SingleSample(name.clone()));
    }
    if let Division::Folds(folds) = options.division
        && count < folds
        && folds <= data.n_samples()
    {
        let samples = text::counted(count, "sample", "samples");
        notes.push(format!(
            "class `{name}` has {samples}, fewer than the {folds} folds: some test parts do not contain it"
        ));
    }
    if options.baselines
        && matches!(options.division, Division::Folds(folds) if folds == data.n_samples())
        && has_no_majority(classes)
    {
        notes.push(
            "each test part is one sample, whose class is the rarer one among the training samples: guessing the most \
             frequent class (none) is then wrong nearly always, and no measure of the data; use fewer folds for it"
                .to_owned(),
        );
    }
    Ok(())
}

/// Whether leaving out one sample of a largest class makes another one as frequent, or more.
fn has_no_majority(classes: &Classes) -> bool {
    let mut counts = classes.counts();
    counts.sort_unstable_by(|a, b| b.cmp(a));
    matches!(counts[..], [first, second, ..] if first - second <= 1)
}

/// Too many divisions would fill the memory before the first fold is run.
fn check_size(options: &StudyOptions, n_samples: usize) -> Result<(), Error> {
    let repeats = options.repeats;
    let folds = match options.division {
        Division::HeldOut(_) => 1,
        Division::Groups { folds: None, .. } => n_samples,
        Division::Folds(folds) | Division::Groups { folds: Some(folds), .. } => folds.min(n_samples),
    };
    let rows = repeats.checked_mul(folds).and_then(|folds| folds.checked_mul(n_samples));
    match rows {
        Some(rows) if rows <= MOST_ROWS => Ok(()),
        _ => Err(Error::TooManyFolds { repeats, n_samples }),
    }
}

fn splitter(options: &StudyOptions, data: &Dataset) -> Result<(Box<dyn Splitter>, String), Error> {
    let stratified = matches!(data.target(), Target::Class(_) | Target::Survival(_));
    let suffix = if stratified { ", stratified" } else { "" };
    let repeats = options.repeats;
    let times = if repeats == 1 { String::new() } else { format!("{repeats} times ") };
    Ok(match &options.division {
        &Division::HeldOut(test_fraction) => {
            let times = if repeats == 1 { "once".to_owned() } else { format!("{repeats} times") };
            let text = format!("a share of {test_fraction} held out {times}{suffix}");
            (Box::new(HoldOut { test_fraction, repeats, stratified }), text)
        }
        Division::Groups { name, folds } => {
            let splitter = GroupFolds { groups: groups(name, data)?, folds: *folds };
            let text = match folds {
                Some(folds) => format!("{times}{folds} folds, groups of `{name}` kept together"),
                None => format!("a fold for each group of `{name}`"),
            };
            (Box::new(Repeated { splitter, repeats }), text)
        }
        &Division::Folds(folds) => {
            let splitter = Repeated { splitter: KFold { folds, stratified }, repeats };
            (Box::new(splitter), format!("{times}{folds} folds{suffix}"))
        }
    })
}

/// The group of each sample: the number of its id among the distinct ids.
fn groups(name: &str, data: &Dataset) -> Result<Vec<usize>, Error> {
    let ids = data.sample_ids().unwrap_or_default();
    if let Some(row) = ids.iter().position(String::is_empty) {
        return Err(Error::NoGroup { name: name.to_owned(), row });
    }
    let mut known: Vec<&String> = ids.iter().collect();
    known.sort_unstable();
    known.dedup();
    Ok(ids.iter().map(|id| known.binary_search(&id).unwrap_or(known.len())).collect())
}

#[cfg(test)]
mod tests;
