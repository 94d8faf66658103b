//! How much an answer depends on the order in which data arrive.

use fewest::core::{Arrives, Budget, Context, Dataset, Selection, Status, derive_seed};
use fewest::eval::stability::{Stability, jaccard, nogueira};

use super::{StreamPlan, within};
use crate::error::Error;

/// Samples that a stream is given at once.
const BATCH: usize = 256;

/// The level of the confidence interval of the stability.
const CONFIDENCE: f64 = 0.95;

/// The answers to one table in several orders.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Orders {
    /// The selection after each order, by features of the table.
    pub selections: Vec<Selection>,
    /// In how many orders each feature was chosen, the most often chosen first.
    pub chosen: Vec<(usize, usize)>,
    /// How much the selections agree, as in evaluations; `None` where all or no features are always chosen.
    pub stability: Option<Stability>,
    /// The mean Jaccard index of two selections.
    pub jaccard: f64,
    /// Converged, or what stopped it: the orders before are then all there is.
    pub status: Status,
}

/// Runs the stream on `n` shuffled orders of the samples or features of `data`. Order `o` is decided by the
/// seed and `o` alone. Features in a row that a method takes as a group stay together.
///
/// # Errors
/// Those of the method; [`Error::NothingFinished`] where a stop came before two orders were done; a plan that
/// forgets.
///
/// ```
/// use fewest::core::{Budget, Context, Dataset, DenseColumns, Target, derive_seed};
/// use fewest::registry::{Parameters, Registry};
/// use fewest_study::{StreamPlan, orders};
///
/// let noise = |j: u64| (0..60).map(|i| derive_seed(j, i) as f64).collect::<Vec<f64>>();
/// let columns: Vec<Vec<f64>> = (0..9).map(noise).collect();
/// let data = Dataset::new(DenseColumns::from_columns(&columns)?, Target::real(noise(4))?)?;
/// let method = Registry::standard().find("alpha-investing")?;
/// let plan = StreamPlan::new(method.clone(), Parameters::defaults(method), Budget::Auto);
/// let found = orders(&plan, &data, 5, &Context::default())?;
/// assert_eq!(found.chosen[0], (4, 5));
/// let forgets = StreamPlan { forgetting: Some(fewest_study::Forgetting::Window(9)), ..plan };
/// assert!(orders(&forgets, &data, 5, &Context::default()).is_err());
/// # Ok::<(), fewest_study::Error>(())
/// ```
pub fn orders(plan: &StreamPlan, data: &Dataset, n: usize, context: &Context<'_>) -> Result<Orders, Error> {
    if plan.forgetting.is_some() {
        return Err(Error::Core(fewest::core::Error::Unsupported {
            method: "shuffled orders",
            what: "forgetting older samples".to_owned(),
            instead: "leave it out: in a shuffled order no sample is older".to_owned(),
        }));
    }
    let mut selections = Vec::new();
    let mut status = Status::Converged;
    for order in 0..n {
        match one(plan, data, order as u64, context)? {
            Some(selection) => selections.push(selection),
            None => {
                status = context.stopped().unwrap_or(Status::Interrupted);
                break;
            }
        }
        context.report("orders", order + 1, n);
    }
    if selections.len() < 2 && status.is_stopped() {
        return Err(Error::NothingFinished(status));
    }
    let d = data.n_features();
    let mut counts = vec![0; d];
    selections.iter().flat_map(|selection| &selection.order).for_each(|&j| counts[j] += 1);
    let mut chosen: Vec<(usize, usize)> =
        counts.into_iter().enumerate().filter(|(_, count)| *count > 0).collect();
    chosen.sort_by_key(|&(j, count)| (std::cmp::Reverse(count), j));
    let sets: Vec<&[usize]> = selections.iter().map(|selection| selection.order.as_slice()).collect();
    let (stability, jaccard) = match sets.len() {
        0 | 1 => (None, 1.0),
        _ => (nogueira(&sets, d, CONFIDENCE).ok(), jaccard(&sets)?),
    };
    Ok(Orders { selections, chosen, stability, jaccard, status })
}

/// The selection after one order; `None` where it was stopped.
fn one(
    plan: &StreamPlan,
    data: &Dataset,
    order: u64,
    context: &Context<'_>,
) -> Result<Option<Selection>, Error> {
    let (n, d) = (data.n_samples(), data.n_features());
    let budget = within(plan.budget, d);
    let mut selector = plan.method.stream(&plan.parameters, budget, context.seed)?;
    // Not the seed of the method, whose draws would be those of the order.
    let seed = derive_seed(derive_seed(context.seed, u64::MAX), order);
    let shuffled = |count: usize| {
        let mut places: Vec<usize> = (0..count).collect();
        places.sort_by_key(|&place| (derive_seed(seed, place as u64), place));
        places
    };
    if plan.method.arrives == Some(Arrives::Features) {
        // Groups stay together. A shorter one at the end stays there: elsewhere it would move the others.
        let width = selector.group_width();
        let groups = shuffled(d / width);
        let mut arrival: Vec<usize> =
            groups.iter().flat_map(|group| group * width..(group + 1) * width).collect();
        arrival.extend(arrival.len()..d);
        for &j in &arrival {
            selector.update(&data.feature_subset(&[j])?, context).map_err(|error| error.in_columns(&[j]))?;
            if context.stopped().is_some() {
                return Ok(None);
            }
        }
        let mut selection = selector.selection(budget)?;
        selection.order.iter_mut().for_each(|j| *j = arrival[*j]);
        selection.related.clear();
        selection.path = None;
        return Ok(Some(selection));
    }
    for rows in shuffled(n).chunks(BATCH) {
        selector.update(&data.subset(rows)?, context)?;
        if context.stopped().is_some() {
            return Ok(None);
        }
    }
    Ok(Some(selector.selection(budget)?))
}

impl StreamPlan {
    /// Of a method with these parameters: one answer at the end, no checkpoint.
    pub fn new(
        method: crate::catalogue::Method,
        parameters: crate::catalogue::Parameters,
        budget: Budget,
    ) -> Self {
        Self {
            method,
            parameters,
            forgetting: None,
            budget,
            is_strict: true,
            every: None,
            every_seconds: None,
            checkpoint: None,
            checkpoint_every: super::CHECKPOINT_EVERY,
            command: Vec::new(),
            path: "-".into(),
        }
    }
}
