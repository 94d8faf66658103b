//! Selections by a cluster: the method runs here, and its passes over the rows there.

use fewest::core::{Budget, Selection};
use fewest::data::Reduction;
use fewest::registry::{Method, Parameters, Registry};
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

/// Selects `k` features (none: ten, or as many as there are) of a table by a method that the command knows,
/// with parameters `NAME=VALUE`: those that [`Selector::select`](fewest::core::Selector::select) selects of
/// the same table in memory, with the same bits of their scores; of methods that sum products of columns,
/// those of [`PassSelector::select_stream`](fewest::core::PassSelector::select_stream).
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
    let called = called(&registry, method, parameters)?;
    let (method, built) = (called.method, called.method.build(&called.parameters)?);
    if !built.reads_in_passes() {
        return Err(not_in_parts(&registry, method.id));
    }
    let mut run = Run::open(cluster, table, &registry, called, &built)?;
    let n_features = run.info.n_features;
    let k = k.unwrap_or_else(|| match fewest_study::usual_budget(run.parameters(), n_features) {
        Budget::Count(k) => k,
        _ => n_features,
    });
    Budget::Count(k).check(n_features)?;
    let selector = built.into_selector();
    let Some(selector) = selector.in_passes() else { return Err(not_in_parts(&registry, method.id)) };
    let summed = run.summed(k, |rows, context| selector.select_stream(rows, Budget::Count(k), context))?;
    let mut selection = summed.found;
    selection.notes.extend(fewest_study::rounds_note(method, &selection));
    selection.notes.extend(summed.unkept);
    let (first, run) = run.finish(summed.seconds);
    let reduction = Reduction::of(&first, table.missing, &selection.order)?;
    Ok(Answer { selection, run, asked: summed.asked, reduction })
}

/// The method of this name with these parameters.
fn called<'a>(registry: &'a Registry, method: &str, words: &'a [String]) -> Result<Called<'a>, Error> {
    let method = registry.find(method).map_err(|_| not_in_parts(registry, method))?;
    Ok(Called { method, words, parameters: Parameters::parse(method, words)? })
}

fn not_in_parts(registry: &Registry, method: &str) -> Error {
    let able = |method: &&Method| {
        method.build(&Parameters::defaults(method)).is_ok_and(|built| built.reads_in_passes())
    };
    let able: Vec<&str> = registry.methods().iter().filter(able).map(|method| method.id).collect();
    Error::NotInParts { method: method.to_owned(), able: able.join(", ") }
}
