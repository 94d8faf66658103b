//! The lasso over kernels from rows that are read in passes.
//!
//! The first pass looks for the range of each variable, from which a grid follows. The second counts the
//! values of each feature at its nodes, with the target ([`Counts`]): from these counts come the features
//! `φ` of the kernel on the nodes, the norms of all centred Gram matrices, and their products with that of
//! the target. The third sums the products of the features that are likely to be selected:
//! `tr(K̄ⱼ K̄ₖ) = ‖Φⱼᵀ Φₖ‖²_F`. The solvers then work as on a table. No product is negative, so that the
//! dependence of a feature on the target bounds its correlation with any residual: features below the
//! penalty are certified to be left out. Products that this does not spare are summed in more passes.

mod counting;
mod known;
mod nodes;

use std::sync::atomic::{AtomicUsize, Ordering};

use fewest_core::{Budget, Context, Dataset, Error, SampleStream, Scores, Selection};

use crate::arriving::{Axis, Counts, Joint};
use crate::atoms::Measure;
use crate::kernel_lasso::{LassoOptions, select_of_atoms};
use crate::{Dependence, Normalization};
use known::KnownAtoms;
use nodes::{Kernel, Nodes};

/// The largest error of a Gram matrix, as a share of its norm, with which features are selected.
const MOST_ERROR: f64 = 1e-3;

/// Levels of a category whose kernel is decomposed.
const MOST_LEVELS: usize = 1000;

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
    /// # Errors
    /// Those of [`Counts::add`]; [`Error::Unsupported`] for values that nodes do not resolve.
    fn of(
        stream: &mut dyn SampleStream,
        measure: Measure,
        dependence: &Dependence,
        context: &Context<'_>,
    ) -> Result<Self, Error> {
        let (sigma_x, sigma_y) = dependence.widths()?;
        let (counts, first) = counting::count(stream, dependence, context)?;
        let marginal = counts.features.first().map(Joint::target_marginal).unwrap_or_default();
        let weights;
        let kernel = match &counts.target {
            Axis::Levels(_) => {
                weights = dependence.class_weights(&marginal)?;
                Kernel::Levels(&weights)
            }
            Axis::Numbers(numbers) => Kernel::Gaussian(
                numbers
                    .spacing(&marginal, sigma_y.unwrap_or(1.0))
                    .ok_or_else(|| crate::arriving::varying("one value"))?,
            ),
        };
        let tolerance = dependence.factor_tolerance;
        let target = Nodes::new(&counts.target, &kernel, &marginal, measure, tolerance)?;
        check(target.error, "the target")?;
        let bytes = AtomicUsize::new(bytes_of(&counts));
        let found = fewest_parallel::try_map(counts.features.len(), |j| {
            context.go_on("the kernel of every feature was known")?;
            let nodes = of_feature(&counts.features[j], sigma_x, measure, tolerance)?;
            let Some(nodes) = nodes else { return Err(many_levels(&first, j)) };
            check(nodes.error, &format!("feature `{}`", first.feature_name(j)))?;
            check_memory(bytes.fetch_add(nodes.bytes(), Ordering::Relaxed), counts.features.len(), context)?;
            let product = nodes.dependence(&target, counts.features[j].counts());
            Ok((nodes, product))
        })?;
        let (nodes, products) = found.into_iter().unzip();
        Ok(Self { first, n_samples: counts.n, nodes, target, products })
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
    let known = Known::of(stream, measure, dependence, context)?;
    let mut scores = known.relevance(dependence.normalization);
    if dependence.normalization == Normalization::Unit {
        scores.iter_mut().for_each(|score| *score /= known.target.norm);
    }
    let error = known.nodes.iter().map(|nodes| nodes.error).fold(known.target.error, f64::max);
    let mut scores = Scores::descending(scores);
    scores.notes.push(format!(
        "values are counted on a grid: a Gram matrix is off by at most {error:.0e} of its norm"
    ));
    Ok(scores)
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
    let known = Known::of(stream, measure, dependence, context)?;
    let relevance = known.relevance(dependence.normalization);
    let Known { first, n_samples, nodes, target, products } = known;
    let wanted = if let Budget::Count(k) = budget { k } else { 0 };
    let mut atoms = KnownAtoms::new(nodes, &target, products, &relevance).looking_ahead(wanted);
    loop {
        let selected = select_of_atoms(&first, &atoms, dependence.normalization, options, budget, context);
        if selected.is_ok() || !atoms.lacks_products() {
            return selected;
        }
        atoms.learn(stream, n_samples, context)?;
    }
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
        method: "hsic in passes",
        what: format!(
            "{n_features} features, whose counts and kernels take more than the {} MiB that there are for them,",
            most >> 20
        ),
        instead: "give it more memory, or leave out features, such as those of small f-score".to_owned(),
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

fn many_levels(first: &Dataset, j: usize) -> Error {
    Error::Unsupported {
        method: "hsic in passes",
        what: format!("more than {MOST_LEVELS} levels of feature `{}`", first.feature_name(j)),
        instead: "leave it out, or read the rows into one table".to_owned(),
    }
}

/// Refuses a matrix that nodes do not tell well.
fn check(error: f64, what: &str) -> Result<(), Error> {
    if error <= MOST_ERROR {
        return Ok(());
    }
    Err(Error::Unsupported {
        method: "hsic in passes",
        what: format!(
            "{what}, of which some values are so far from the others that a grid tells no two others apart"
        ),
        instead: "take a transformation, such as the logarithm, or a wider kernel, or leave it out"
            .to_owned(),
    })
}
