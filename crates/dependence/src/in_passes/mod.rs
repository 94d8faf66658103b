//! HSIC, NOCCO and the lasso over their kernels from sums over rows: of rows that are read in passes, and of
//! long tables in memory, with the same bits.
//!
//! The first pass looks for the range and the deviation of each variable, from which a grid follows. The
//! second counts the values of each feature at its nodes, with the target ([`Counts`]): from these counts
//! come the features `φ` of the kernel on the nodes, the norms of all centred Gram matrices, and their
//! products with that of the target. The third sums the products of the features that are likely to be
//! selected: `tr(K̄ⱼ K̄ₖ) = ‖Φⱼᵀ Φₖ‖²_F`. The solvers then work as on a table. No product is negative, so
//! that the dependence of a feature on the target bounds its correlation with any residual: features below
//! the penalty are certified to be left out. Products that this does not spare are summed in more passes.

mod counting;
mod known;
mod nodes;

use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use fewest_core::{
    BATCH_ROWS, Budget, Context, Dataset, Error, RowBatches, SampleStream, Scores, Selection, Target,
};

use crate::arriving::{Axis, Counts, Joint};
use crate::atoms::Measure;
use crate::kernel_lasso::{LassoOptions, select_many, select_of_atoms};
use crate::{Dependence, Normalization};
use counting::Extents;
use known::KnownAtoms;
use nodes::{Kernel, Nodes};

/// The largest error of a Gram matrix, as a share of its norm, with which features are selected.
const MOST_ERROR: f64 = 1e-3;

/// Levels of a category, or classes, whose kernel is decomposed.
const MOST_LEVELS: usize = 1000;

/// Features of a table in memory that are counted together, and how many of them between two reports.
const TASK: usize = 8;
const ROUND: usize = 2048;

/// How the note begins that tells the error of the grid.
const OFF_BY: &str = "values are counted on a grid: a Gram matrix is off by at most ";

/// How the note begins that tells why there is no grid.
const NO_GRID: &str = "low-rank factors were taken in place of a grid, which takes longer: ";

/// What messages call this.
const METHOD: &str = "dependence by kernels in passes";

/// Why a table in memory is not counted, where that is no fault that factors of the Gram matrices tell, too.
pub(crate) struct Untold(Option<String>);

impl From<Error> for Untold {
    fn from(error: Error) -> Self {
        Self(if let Error::Unsupported { what, .. } = error { Some(what) } else { None })
    }
}

impl Untold {
    /// Adds the note about it.
    pub(crate) fn tell(&self, notes: &mut Vec<String>) {
        notes.extend(self.0.iter().map(|why| format!("{NO_GRID}{why}")));
    }
}

/// What the first passes say.
struct Known {
    /// The first rows.
    first: Dataset,
    n_samples: usize,
    /// The kernel of each feature.
    nodes: Vec<Nodes>,
    target: Nodes,
    /// `tr(K̄ⱼ L̄)` of each feature.
    products: Vec<f64>,
}

impl Known {
    /// Of rows of which the first pass found the `extents`.
    ///
    /// # Errors
    /// Those of [`Counts::add`]; [`Error::Unsupported`] for values that nodes do not resolve.
    fn of(
        stream: &mut dyn SampleStream,
        extents: Extents,
        measure: Measure,
        dependence: &Dependence,
        context: &Context<'_>,
    ) -> Result<Self, Error> {
        Self::with_target(&OnceLock::new(), stream, extents, measure, dependence, context)
    }

    /// [`of`](Self::of), with what is known of the target, or will be.
    fn with_target(
        known: &OnceLock<Nodes>,
        stream: &mut dyn SampleStream,
        extents: Extents,
        measure: Measure,
        dependence: &Dependence,
        context: &Context<'_>,
    ) -> Result<Self, Error> {
        let (sigma_x, sigma_y) = dependence.widths()?;
        if let Target::Class(classes) = extents.first.target()
            && classes.n_classes() > MOST_LEVELS
            && !dependence.takes_codes()
        {
            return Err(many_levels(format!("{} classes", classes.n_classes()), "join some of them"));
        }
        let counts = counting::count(stream, &extents, measure, dependence, context)?;
        let first = extents.first;
        let marginal = counts.target.counts();
        let weights;
        let kernel = match &counts.target.axis {
            Axis::Levels(_) => {
                weights = dependence.class_weights(marginal)?;
                Kernel::Levels(&weights)
            }
            Axis::Numbers(numbers) => Kernel::Gaussian(
                numbers
                    .spacing(marginal, sigma_y.unwrap_or(1.0))
                    .ok_or_else(|| crate::arriving::varying("one value"))?,
            ),
        };
        let tolerance = dependence.factor_tolerance;
        let target = match known.get() {
            Some(target) => target.clone(),
            None => {
                let target = Nodes::new(&counts.target.axis, &kernel, marginal, measure, tolerance)?;
                known.get_or_init(|| target).clone()
            }
        };
        check(target.error, "the target")?;
        let bytes = AtomicUsize::new(bytes_of(&counts));
        let found = fewest_parallel::try_map(counts.features.len(), |j| {
            context.go_on("the kernel of every feature was known")?;
            let nodes = of_feature(&counts.features[j], sigma_x, measure, tolerance)?;
            let Some(nodes) = nodes else {
                let feature = first.feature_name(j);
                let what = format!("more than {MOST_LEVELS} levels of feature `{feature}`");
                return Err(many_levels(what, "leave it out"));
            };
            check(nodes.error, &format!("feature `{}`", first.feature_name(j)))?;
            let own = nodes.bytes();
            let before = bytes.fetch_add(own, Ordering::Relaxed);
            check_memory(before.saturating_add(own), counts.features.len(), context)?;
            let product = nodes.dependence(&target, counts.features[j].counts());
            Ok((nodes, product))
        })?;
        let (nodes, products) = found.into_iter().unzip();
        Ok(Self { first, n_samples: counts.n, nodes, target, products })
    }

    /// Of a table in memory with more than [`BATCH_ROWS`] rows, as of the same rows in passes, but with the
    /// counts of some features at a time. An error where counts at nodes are not what is asked for, or do not
    /// tell enough: factors of the Gram matrices do.
    fn of_table(
        data: &Dataset,
        measure: Measure,
        dependence: &Dependence,
        context: &Context<'_>,
    ) -> Result<Self, Untold> {
        let (n, d) = (data.n_samples(), data.n_features());
        if n <= BATCH_ROWS || dependence.widths().is_err() || d == 0 {
            return Err(Untold(None));
        }
        let target = OnceLock::new();
        let of_features = |features: Range<usize>| -> Result<Self, Error> {
            let some = data.feature_subset(&features.collect::<Vec<_>>())?;
            let mut stream = RowBatches::new(&some, n)?;
            // What is counted at a time is little.
            let context = &Context { memory: None, ..*context };
            let extents = Extents::of(&mut stream, context)?;
            Self::with_target(&target, &mut stream, extents, measure, dependence, context)
        };
        let mut whole: Option<Self> = None;
        for first in (0..d).step_by(ROUND) {
            let round = first..d.min(first + ROUND);
            let parts = fewest_parallel::try_map(round.len().div_ceil(TASK), |at| {
                let first = round.start + at * TASK;
                of_features(first..round.end.min(first + TASK)).map_err(Untold::from)
            });
            for part in parts? {
                match &mut whole {
                    Some(whole) => {
                        whole.nodes.extend(part.nodes);
                        whole.products.extend(part.products);
                    }
                    None => whole = Some(part),
                }
            }
            context.report("dependence on the target", round.end, d);
        }
        whole.ok_or(Untold(None))
    }

    /// The products, each divided by the norm of its matrix where that is asked for.
    fn relevance(&self, normalization: Normalization) -> Vec<f64> {
        let share = |(product, nodes): (&f64, &Nodes)| match normalization {
            Normalization::None => *product,
            Normalization::Unit if nodes.rank > 0 => product / nodes.norm,
            Normalization::Unit => 0.0,
        };
        self.products.iter().zip(&self.nodes).map(share).collect()
    }

    /// The dependence of each feature on the target.
    fn scores(&self, normalization: Normalization) -> Scores {
        let mut scores = self.relevance(normalization);
        if normalization == Normalization::Unit {
            scores.iter_mut().for_each(|score| *score /= self.target.norm);
        }
        let error = self.nodes.iter().map(|nodes| nodes.error).fold(self.target.error, f64::max);
        let mut scores = Scores::descending(scores);
        scores.notes.push(format!("{OFF_BY}{error:.0e} of its norm"));
        scores
    }

    /// The selections by the lasso over kernels, one a budget, of the features of `data`, of which nothing
    /// but names and groups is looked at: the products that are needed are summed over the rows of `stream`.
    fn select_many(
        self,
        data: &Dataset,
        stream: &mut dyn SampleStream,
        dependence: &Dependence,
        options: &LassoOptions,
        budgets: &[Budget],
        context: &Context<'_>,
    ) -> Result<Vec<Selection>, Error> {
        let relevance = self.relevance(dependence.normalization);
        let Self { n_samples, nodes, target, products, .. } = self;
        let count = |budget: &Budget| if let Budget::Count(k) = budget { *k } else { 0 };
        let most = budgets.iter().map(count).max().unwrap_or(0);
        let mut atoms = KnownAtoms::new(nodes, &target, products, &relevance).looking_ahead(most);
        let mut select = |budget: &Budget| {
            atoms.answer(stream, n_samples, context, |atoms| {
                select_of_atoms(data, atoms, dependence.normalization, options, *budget, context)
            })
        };
        budgets.iter().map(&mut select).collect()
    }
}

/// The rows of a stream of at most [`BATCH_ROWS`], read as they are, where the memory is enough for what is
/// made of a table: a grid would save nothing.
fn few_rows(
    stream: &mut dyn SampleStream,
    extents: &Extents,
    dependence: &Dependence,
    context: &Context<'_>,
) -> Result<Option<Dataset>, Error> {
    let Extents { first, n, .. } = extents;
    let table = n.saturating_mul(first.n_features()).saturating_mul(size_of::<f64>());
    let made = table.saturating_mul(TIMES_IN_MEMORY as usize).min(dependence.cache_bytes);
    // Sums may take a quarter of the memory.
    let is_enough = |memory: usize| table.saturating_mul(2).saturating_add(made) <= memory.saturating_mul(3);
    if *n > BATCH_ROWS || !context.memory.is_none_or(is_enough) {
        return Ok(None);
    }
    fewest_columns::few_rows(stream, first, *n).map(Some)
}

/// The dependence of each feature of a table on the target, by sums; see [`Known::of_table`].
pub(crate) fn scores_of_table(
    data: &Dataset,
    measure: Measure,
    dependence: &Dependence,
    context: &Context<'_>,
) -> Result<Scores, Untold> {
    Ok(Known::of_table(data, measure, dependence, context)?.scores(dependence.normalization))
}

/// The dependence of each feature on the target.
///
/// # Errors
/// Those of [`Known::of`].
pub(crate) fn scores(
    stream: &mut dyn SampleStream,
    measure: Measure,
    dependence: &Dependence,
    context: &Context<'_>,
) -> Result<Scores, Error> {
    dependence.widths()?;
    let extents = Extents::of(stream, context)?;
    if let Some(table) = few_rows(stream, &extents, dependence, context)? {
        return dependence.scores(&table, measure, context);
    }
    Ok(Known::of(stream, extents, measure, dependence, context)?.scores(dependence.normalization))
}

/// Of the notes on the grid of several parts of the features the one with the largest error.
pub(crate) fn settle(scores: &mut Scores) {
    let told = |note: &String| -> Option<f64> {
        note.strip_prefix(OFF_BY)?.split_whitespace().next().and_then(|error| error.parse().ok())
    };
    let largest = scores.notes.iter().filter_map(told).fold(0.0, f64::max);
    scores.notes.retain(|note| told(note).is_none_or(|error| error >= largest));
}

/// The selections by the lasso over kernels of a table, by sums; see [`Known::of_table`].
pub(crate) fn select_of_table(
    data: &Dataset,
    measure: Measure,
    dependence: &Dependence,
    options: &LassoOptions,
    budgets: &[Budget],
    context: &Context<'_>,
) -> Result<Result<Vec<Selection>, Untold>, Error> {
    let known = match Known::of_table(data, measure, dependence, context) {
        Ok(known) => known,
        Err(untold) => return Ok(Err(untold)),
    };
    let mut stream = RowBatches::new(data, data.n_samples())?;
    known.select_many(data, &mut stream, dependence, options, budgets, context).map(Ok)
}

/// The selection by the lasso over kernels.
///
/// # Errors
/// Those of [`Known::of`]; those of the solver.
pub(crate) fn select(
    stream: &mut dyn SampleStream,
    measure: Measure,
    dependence: &Dependence,
    options: &LassoOptions,
    budget: Budget,
    context: &Context<'_>,
) -> Result<Selection, Error> {
    dependence.widths()?;
    let extents = Extents::of(stream, context)?;
    if let Some(table) = few_rows(stream, &extents, dependence, context)? {
        return Selection::only(select_many(&table, measure, dependence, options, &[budget], context)?);
    }
    let known = Known::of(stream, extents, measure, dependence, context)?;
    let first = known.first.clone();
    Selection::only(known.select_many(&first, stream, dependence, options, &[budget], context)?)
}

fn bytes_of(counts: &Counts) -> usize {
    size_of::<f64>() * counts.features.iter().map(Joint::size).sum::<usize>()
}

/// In memory a feature has some 16 features of its kernel for every sample, and copies of them.
pub(crate) const TIMES_IN_MEMORY: u64 = 40;

/// Refuses counts and kernels at nodes that take more than half of the memory for sums: the other half is for
/// products.
fn check_memory(bytes: usize, n_features: usize, context: &Context<'_>) -> Result<(), Error> {
    let Some(most) = context.memory.map(|memory| memory / 2).filter(|most| bytes > *most) else {
        return Ok(());
    };
    Err(Error::Unsupported {
        method: METHOD,
        what: format!(
            "{n_features} features, whose counts and kernels take more than the {} MiB that there are for them,",
            most >> 20
        ),
        instead:
            "give it more memory, leave out features, such as those of small f-score, or take the logarithm \
                  of those with values far from the others"
                .to_owned(),
    })
}

/// The kernel of a feature on its nodes; `None` for too many levels.
fn of_feature(feature: &Joint, sigma: f64, measure: Measure, tolerance: f64) -> Result<Option<Nodes>, Error> {
    let marginal = feature.marginal();
    let ones;
    let kernel = match &feature.axis {
        Axis::Levels(n) => {
            if marginal.iter().filter(|count| **count > 0.0).count() > MOST_LEVELS {
                return Ok(None);
            }
            ones = vec![1.0; *n];
            Kernel::Levels(&ones)
        }
        Axis::Numbers(numbers) => match numbers.spacing(&marginal, sigma) {
            Some(spacing) => Kernel::Gaussian(spacing),
            None => Kernel::Levels(&[]),
        },
    };
    let is_constant = matches!(kernel, Kernel::Levels(weights) if weights.is_empty());
    let counts = if is_constant { &[][..] } else { &marginal };
    Nodes::new(&feature.axis, &kernel, counts, measure, tolerance).map(Some)
}

fn many_levels(what: String, instead: &str) -> Error {
    let instead = format!("{instead}, or read the rows into one table");
    Error::Unsupported { method: METHOD, what, instead }
}

/// Refuses a matrix that nodes do not tell well.
fn check(error: f64, what: &str) -> Result<(), Error> {
    if error <= MOST_ERROR {
        return Ok(());
    }
    Err(Error::Unsupported {
        method: METHOD,
        what: format!(
            "{what}, whose values a grid does not tell apart, since some are far from the others or its kernel is \
             narrow"
        ),
        instead: "take a transformation, such as the logarithm, or a wider kernel, or leave it out"
            .to_owned(),
    })
}
