//! From the call to a design: numbers of features, learner, metrics, folds.

use fewest::core::{Budget, Dataset, Target};
use fewest::data::Missing;
use fewest::eval::{GroupFolds, HoldOut, KFold, Learner, Metric, Repeated, Splitter};
use fewest::evaluation::{LEARNERS, METRICS, find_learner, find_metric, kind_of};
use fewest::registry::TargetKind;

use crate::args::{DataArgs, EvaluationArgs};
use crate::failure::Failure;
use crate::run_info::DataInfo;
use crate::text;

/// Numbers of features to judge when the call names none.
const DEFAULT_KS: [usize; 7] = [1, 2, 5, 10, 20, 50, 100];
/// Folds when the call does not say how many.
const DEFAULT_FOLDS: usize = 10;

/// Rows of samples that all folds may list together: 1 GiB of them.
const MOST_ROWS: usize = 1 << 27;

/// What is done with every method.
pub struct Design {
    /// The numbers of features, increasing.
    pub ks: Vec<usize>,
    /// What predicts.
    pub learner: Box<dyn Learner>,
    /// Its id.
    pub learner_id: &'static str,
    /// What judges.
    pub metrics: Vec<Box<dyn Metric>>,
    /// What divides the samples.
    pub splitter: Box<dyn Splitter>,
    /// The same in words.
    pub splitter_text: String,
    /// What decides whether stored folds are of the same data and the same division.
    pub identity: String,
    /// What is done about gaps, in every fold.
    pub missing: Missing,
    /// What the reader should know about it.
    pub notes: Vec<String>,
}

/// Learner and metrics that the call names, and how the data are to be read: found before anything is read.
pub fn describe(args: &EvaluationArgs, data: &DataArgs) -> Result<DataArgs, Failure> {
    if let Some(id) = &args.learner {
        find_learner(id)?.build_with(&args.learner_param)?;
    }
    for (at, id) in args.metric.iter().enumerate() {
        find_metric(id)?;
        if args.metric[..at].contains(id) {
            return Err(Failure::new(format!("--metric: {id} is listed twice: once is enough")));
        }
    }
    if args.repeats == 0 {
        return Err(Failure::new("--repeats is 0: divide the samples at least once"));
    }
    if args.repeats > 1 && args.group_column.is_some() && args.folds.is_none() {
        return Err(Failure::new(
            "--repeats: to leave out one group at a time gives the same folds each time: add --folds",
        ));
    }
    if let Some(share) = args.test_share
        && !(share > 0.0 && share < 1.0)
    {
        return Err(Failure::new(format!("--test-share is {share}, but must be above 0 and below 1")));
    }
    let mut data = data.clone();
    if let Some(column) = &args.group_column {
        // Names of samples are told nowhere in an evaluation, and the groups are read in their place.
        let ids = data.id_column.replace(column.clone());
        data.ignore.extend(ids.filter(|ids| ids != column));
    }
    Ok(data)
}

impl Design {
    /// The design that the call asks for, checked against the data.
    pub fn new(
        args: &EvaluationArgs,
        missing: Missing,
        data: &Dataset,
        info: &DataInfo,
    ) -> Result<Self, Failure> {
        let kind = kind_of(data.target());
        let (learner_id, learner) = learner(args, kind, info)?;
        let metrics = metrics(args, kind, info)?;
        let ks = ks(args, data.n_features())?;
        let mut notes = Vec::new();
        check_classes(args, data.target(), info, &mut notes)?;
        check_size(args, data.n_samples())?;
        let (splitter, splitter_text) = splitter(args, data, info)?;
        let mut identity = format!("{splitter_text} | data {:016x}", fingerprint(data)?);
        if info.gaps > 0 {
            identity.push_str(&format!(" | gaps filled by the {}", missing.name()));
        }
        if !args.learner_param.is_empty() {
            // Folds with other parameters are other folds.
            let given = args.learner_param.join(", ");
            identity.push_str(&format!(" | {given}"));
            notes.push(format!("{learner_id} with {given}"));
        }
        Ok(Self { ks, learner, learner_id, metrics, splitter, splitter_text, identity, missing, notes })
    }
}

fn learner(
    args: &EvaluationArgs,
    kind: TargetKind,
    info: &DataInfo,
) -> Result<(&'static str, Box<dyn Learner>), Failure> {
    let fitting = || LEARNERS.iter().filter(|entry| entry.targets.contains(&kind));
    let entry = match &args.learner {
        Some(id) => Some(find_learner(id)?),
        None => fitting().next(),
    };
    match entry {
        Some(entry) if entry.targets.contains(&kind) => {
            Ok((entry.id, entry.build_with(&args.learner_param)?))
        }
        other => {
            let id = other.map_or("no learner", |entry| entry.id);
            let ids: Vec<&str> = fitting().map(|entry| entry.id).collect();
            Err(unfit("--learner", id, &ids, kind, info))
        }
    }
}

fn metrics(
    args: &EvaluationArgs,
    kind: TargetKind,
    info: &DataInfo,
) -> Result<Vec<Box<dyn Metric>>, Failure> {
    let fitting = || METRICS.iter().filter(|entry| entry.targets.contains(&kind));
    if args.metric.is_empty() {
        return fitting().take(1).map(|entry| Ok(entry.build()?)).collect();
    }
    args.metric
        .iter()
        .map(|id| {
            let entry = find_metric(id)?;
            if entry.targets.contains(&kind) {
                return Ok(entry.build()?);
            }
            let ids: Vec<&str> = fitting().map(|entry| entry.id).collect();
            Err(unfit("--metric", entry.id, &ids, kind, info))
        })
        .collect()
}

fn unfit(option: &str, id: &str, fitting: &[&str], kind: TargetKind, info: &DataInfo) -> Failure {
    Failure::new(format!(
        "{option}: {id} is not for the target of {}, {}: take one of {} (or --task says what the target is)",
        info.file,
        kind.name(),
        fitting.join(", ")
    ))
}

fn ks(args: &EvaluationArgs, n_features: usize) -> Result<Vec<usize>, Failure> {
    if args.k.is_empty() {
        let mut ks: Vec<usize> = DEFAULT_KS.into_iter().filter(|k| *k < n_features).collect();
        if DEFAULT_KS.last().is_some_and(|largest| n_features <= *largest) {
            ks.push(n_features);
        }
        return Ok(ks);
    }
    // Checked before it is counted out: the end may be any number.
    for counts in &args.k {
        Budget::Count(counts.to).check(n_features)?;
    }
    let mut ks: Vec<usize> = args.k.iter().flat_map(|counts| counts.from..=counts.to).collect();
    ks.sort_unstable();
    ks.dedup();
    Ok(ks)
}

/// A class of one sample cannot be both learnt and judged; one of few is missing from some test parts.
fn check_classes(
    args: &EvaluationArgs,
    target: &Target,
    info: &DataInfo,
    notes: &mut Vec<String>,
) -> Result<(), Failure> {
    let Target::Class(classes) = target else { return Ok(()) };
    if args.group_column.is_some() {
        return Ok(());
    }
    let few = classes.names().iter().zip(classes.counts()).min_by_key(|(_, count)| *count);
    let Some((name, count)) = few else { return Ok(()) };
    if count < 2 {
        return Err(Failure::new(format!(
            "{}: class `{name}` has 1 sample, which cannot be in training and test samples: leave it out, or put it into \
             another class",
            info.file
        )));
    }
    let folds = args.folds.unwrap_or(DEFAULT_FOLDS);
    if args.test_share.is_none() && count < folds && folds <= info.n_samples {
        let samples = text::counted(count, "sample", "samples");
        notes.push(format!(
            "class `{name}` has {samples}, fewer than the {folds} folds: some test parts are without it"
        ));
    }
    Ok(())
}

/// Divisions without number would fill the memory before the first fold is run.
fn check_size(args: &EvaluationArgs, n_samples: usize) -> Result<(), Failure> {
    let folds = match (args.test_share, args.folds, &args.group_column) {
        (Some(_), ..) => 1,
        (None, None, Some(_)) => n_samples,
        (None, folds, _) => folds.unwrap_or(DEFAULT_FOLDS).min(n_samples),
    };
    let rows = args.repeats.checked_mul(folds).and_then(|folds| folds.checked_mul(n_samples));
    match rows {
        Some(rows) if rows <= MOST_ROWS => Ok(()),
        _ => Err(Failure::new(format!(
            "--repeats is {}: folds of {} samples take more than 1 GiB together: give fewer repeats, or fewer folds",
            args.repeats,
            text::count(n_samples)
        ))),
    }
}

fn splitter(
    args: &EvaluationArgs,
    data: &Dataset,
    info: &DataInfo,
) -> Result<(Box<dyn Splitter>, String), Failure> {
    let stratified = matches!(data.target(), Target::Class(_));
    let suffix = if stratified { ", stratified" } else { "" };
    let repeats = args.repeats;
    if let Some(test_fraction) = args.test_share {
        let times = if repeats == 1 { "once".to_owned() } else { format!("{repeats} times") };
        let text = format!("a share of {test_fraction} held out {times}{suffix}");
        return Ok((Box::new(HoldOut { test_fraction, repeats, stratified }), text));
    }
    let times = if repeats == 1 { String::new() } else { format!("{repeats} times ") };
    if let Some(column) = &args.group_column {
        let splitter = GroupFolds { groups: groups(column, data, info)?, folds: args.folds };
        let text = match args.folds {
            Some(folds) => format!("{times}{folds} folds, groups of `{column}` kept together"),
            None => format!("a fold for each group of `{column}`"),
        };
        return Ok((Box::new(Repeated { splitter, repeats }), text));
    }
    let folds = args.folds.unwrap_or(DEFAULT_FOLDS);
    let splitter = Repeated { splitter: KFold { folds, stratified }, repeats };
    Ok((Box::new(splitter), format!("{times}{folds} folds{suffix}")))
}

/// The group of each sample: its name among the names there are.
fn groups(column: &str, data: &Dataset, info: &DataInfo) -> Result<Vec<usize>, Failure> {
    let names = data.sample_ids().unwrap_or_default();
    if let Some(row) = names.iter().position(String::is_empty) {
        return Err(Failure::new(format!(
            "{}: --group-column {column}: sample {row} (counted from 0) is of no group: name one, or leave the \
             sample out",
            info.file
        )));
    }
    let mut known: Vec<&String> = names.iter().collect();
    known.sort_unstable();
    known.dedup();
    Ok(names.iter().map(|name| known.binary_search(&name).unwrap_or(known.len())).collect())
}

/// FNV-1a over the names and values of all features.
fn fingerprint(data: &Dataset) -> Result<u64, Failure> {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut add = |value: u64| hash = (hash ^ value).wrapping_mul(0x0000_0100_0000_01b3);
    let x = data.x();
    let mut scratch = Vec::new();
    let mut values = vec![0.0; x.n_samples()];
    for j in 0..x.n_features() {
        data.feature_name(j).bytes().for_each(|byte| add(u64::from(byte)));
        x.column(j, &mut scratch)?.copy_to(&mut values);
        values.iter().for_each(|value| add(value.to_bits()));
    }
    Ok(hash)
}
