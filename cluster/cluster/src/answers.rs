//! Selections and scores by a cluster: the method runs here, and its passes over the rows there.

use fewest::core::{Budget, Context, SampleStream, Scores, Selection, score_parts};
use fewest::data::Reduction;
use fewest::registry::{Built, Kind, Method, Parameters, Registry};
use fewest_study::{RunInfo, json};

use crate::function::registry;
use crate::run::{Called, Run};
use crate::{Cluster, Error, Table};

/// What a cluster was asked for an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Asked {
    /// How often the rows were read by the cluster.
    pub passes: usize,
    /// The passes that were over before.
    pub resumed: usize,
    /// Bytes of the requests that tasks were given, and of their replies, without those of passes that were
    /// tried again.
    pub bytes: (u64, u64),
}

/// A selection, with all that its JSON tells.
#[derive(Debug)]
pub struct Answer {
    /// The features, best first.
    pub selection: Selection,
    /// The method and the data.
    pub run: RunInfo,
    /// What the cluster was asked.
    pub asked: Asked,
    reduction: Reduction,
}

impl Answer {
    /// The document that `fewest select --json` writes.
    ///
    /// # Errors
    /// [`Error::Study`].
    pub fn json(&self) -> Result<String, Error> {
        Ok(json::selection(&self.selection, Some(&self.reduction), &self.run)?)
    }
}

/// The scores of all features, with all that their JSON tells.
#[derive(Debug)]
pub struct ScoreAnswer {
    /// The scores, by feature.
    pub scores: Scores,
    /// The method and the data.
    pub run: RunInfo,
    /// What the cluster was asked.
    pub asked: Asked,
}

impl ScoreAnswer {
    /// The document that `fewest score --json` writes: of the `most` best features, or of all.
    ///
    /// # Errors
    /// [`Error::Study`].
    pub fn json(&self, most: Option<usize>) -> Result<String, Error> {
        Ok(json::scores(&self.scores, most, &self.run)?)
    }
}

/// Selects `k` features (none: ten, or as many as there are) of a table by a method that the command knows,
/// with parameters `NAME=VALUE`: those that [`Selector::select`](fewest::core::Selector::select) selects of
/// the same table in memory, with the same bits of their scores.
///
/// # Errors
/// [`Error::NotInParts`] for a method that needs all rows at once; [`Error::NoScheduler`] and others of the
/// cluster; those of the table and of the method, as `fewest select` tells them.
pub fn select(
    cluster: &Cluster,
    table: &Table,
    method: &str,
    parameters: &[String],
    k: Option<usize>,
) -> Result<Answer, Error> {
    let registry = registry()?;
    let called = called(&registry, Kind::Select, method, parameters)?;
    let (method, built) = (called.method, called.method.build(&called.parameters)?);
    let not_in_parts = || not_in_parts(&registry, Kind::Select, method.id);
    if !built.sums_rows() {
        return Err(not_in_parts());
    }
    let mut run = Run::open(cluster, table, &registry, called, &built)?;
    let n_features = run.info.n_features;
    let k = k.unwrap_or_else(|| match fewest_study::usual_budget(run.parameters(), n_features) {
        Budget::Count(k) => k,
        _ => n_features,
    });
    Budget::Count(k).check(n_features)?;
    let selector = built.into_selector();
    let selector = selector.in_passes().ok_or_else(not_in_parts)?;
    let found = |rows: &mut dyn SampleStream, context: &Context<'_>| {
        selector.select_stream(rows, Budget::Count(k), context)
    };
    let summed = run.summed(k, found)?;
    let mut selection = summed.found;
    selection.notes.extend(fewest_study::rounds_note(method, &selection));
    selection.notes.extend(summed.unkept);
    let (first, run) = run.finish(summed.seconds);
    selection.notes.splice(0..0, run.data.notes.iter().cloned());
    let reduction = Reduction::of(&first, table.missing, &selection.order)?;
    Ok(Answer { selection, run, asked: summed.asked, reduction })
}

/// Scores all features of a table by a method that the command knows, with parameters `NAME=VALUE`: as
/// [`Scorer::score`](fewest::core::Scorer::score) of the same table in memory, with the same bits.
///
/// # Errors
/// [`Error::NoScores`] for a method that selects; otherwise as [`select`].
pub fn score(
    cluster: &Cluster,
    table: &Table,
    method: &str,
    parameters: &[String],
) -> Result<ScoreAnswer, Error> {
    let registry = registry()?;
    let called = called(&registry, Kind::Score, method, parameters)?;
    let (method, built) = (called.method, called.method.build(&called.parameters)?);
    let Built::Scorer(scorer) = &built else { return Err(no_scores(&registry, method, parameters, &built)) };
    let not_in_parts = || not_in_parts(&registry, Kind::Score, method.id);
    let scorer = scorer.in_passes().filter(|scorer| scorer.sums_rows()).ok_or_else(not_in_parts)?;
    let mut run = Run::open(cluster, table, &registry, called, &built)?;
    // Executors rank all features by the scores: the sums are the same.
    let k = run.info.n_features;
    let summed = run.summed(k, |rows, context| score_parts(scorer, rows, context))?;
    let (mut scores, _) = summed.found;
    scores.notes.extend(summed.unkept);
    let (_, run) = run.finish(summed.seconds);
    Ok(ScoreAnswer { scores, run, asked: summed.asked })
}

/// The method of this name with these parameters.
fn called<'a>(
    registry: &'a Registry,
    kind: Kind,
    method: &str,
    words: &'a [String],
) -> Result<Called<'a>, Error> {
    let method = registry.find(method).map_err(|_| not_in_parts(registry, kind, method))?;
    Ok(Called { method, words, parameters: Parameters::parse(method, words)? })
}

/// The methods that run on a cluster and do what is asked: any selects, some score.
fn able(registry: &Registry, kind: Kind) -> String {
    let able = |method: &&Method| {
        (kind != Kind::Score || method.kind == Kind::Score)
            && method.build(&Parameters::defaults(method)).is_ok_and(|built| built.sums_rows())
    };
    let able: Vec<&str> = registry.methods().iter().filter(able).map(|method| method.id).collect();
    able.join(", ")
}

fn not_in_parts(registry: &Registry, kind: Kind, method: &str) -> Error {
    Error::NotInParts { method: method.to_owned(), command: kind.name(), able: able(registry, kind) }
}

/// What to do instead of asking a selector for scores.
fn no_scores(registry: &Registry, method: &Method, parameters: &[String], built: &Built) -> Error {
    let command = if built.sums_rows() { "fewest-cluster select" } else { "fewest select" };
    let problem = match method.kind {
        Kind::Score => format!(
            "selects with these parameters, and scores without them: use `{command}`, or leave out --param {}",
            parameters.join(" --param ")
        ),
        _ => format!(
            "selects features together and gives no score for each: use `{command}`, or one of the scores {}",
            able(registry, Kind::Score)
        ),
    };
    Error::NoScores { method: method.id, problem }
}
