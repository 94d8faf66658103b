//! Knockoffs: features that are chosen with a bound on their false-discovery rate.

mod estimate;
mod filter;
mod graph;
mod model;
mod statistic;

use fewest_columns::{finite_values, standardise};
use fewest_core::method::Options;
use fewest_core::{
    Budget, Context, Dataset, DenseColumns, Error, FalseDiscoveries, FeatureKind, RateBound, Selection,
    Selector, Status, Target, derive_seed, options, room, words,
};

use self::estimate::Made;
use self::model::NormalModel;
pub use self::statistic::{
    CoefficientDifference, CrossValidatedDifference, KnockoffStatistic, ScoreDifference,
};

const METHOD: &str = "knockoffs";

/// What the bound of one draw needs.
const ASSUMPTION: &str = "the features are jointly normal with the covariance that was used; what the target \
                          depends on may have any form";

words! {
    /// How knockoffs are made as unlike their features as possible: `sⱼ` is the variance of a feature less
    /// its covariance with its knockoff.
    #[derive(Default)]
    pub enum Construction {
        /// `mvr` up to 1000 features, `equicorrelated` above.
        #[default]
        Auto = "auto",
        /// Least variance-based reconstructability: `minimise tr (2Σ − S)⁻¹ + Σⱼ 1/sⱼ`.
        Mvr = "mvr",
        /// Semidefinite programme: `maximise Σⱼ sⱼ`.
        Sdp = "sdp",
        /// The same `s = min(1, 2 λ_min)` for all features: for any number of features.
        Equicorrelated = "equicorrelated",
    }
}

/// Where the covariance of the features is from.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Covariance {
    /// Up to 1000 features the estimate, of some, under which a third of the samples, held out, is most
    /// likely; `LedoitWolf` above. An estimate is made of 0, 1, 2, 4 or 8 principal components and of the
    /// correlations that they leave. These are shrunk, by at most what `LedoitWolf` does, or those of a
    /// graph: which features are correlated given all others says a lasso for each (Meinshausen and Bühlmann
    /// 2006); the correlations are the most likely ones of that graph (Dempster 1972). Penalties are
    /// decreasing, each 0.8 of the one before. `O(d³)` for each estimate, some twenty.
    #[default]
    Auto,
    /// The correlations of the samples, shrunk towards the identity (Ledoit and Wolf 2004).
    LedoitWolf,
    /// The correlations of the samples.
    Empirical,
    /// The true correlations, `d × d`, one column after the other: the bound then needs no estimate of them
    /// (means and scales are those of the samples).
    Given(Vec<f64>),
}

options! {
    /// How knockoffs are drawn, and which bound is kept.
    #[derive(Debug, Clone, PartialEq)]
    pub struct KnockoffOptions {
        /// Bound on the expected share of irrelevant features among the selected ones.
        pub fdr: f64 = 0.1, ProperFraction;
        /// 1: bounds the false-discovery rate (knockoff+); 0: selects more, with a weaker bound.
        pub offset: usize = 1, Between(0, 1);
        /// Sets of knockoffs; with more than 1 the selection hardly depends on the seed.
        pub draws: usize = 1, Count(1);
        /// How knockoffs are made as unlike their features as possible.
        pub construction: Construction = Construction::Auto;
        /// Where the covariance of the features is from.
        pub covariance: Covariance = Covariance::Auto, hidden;
    }
}

/// Selection with a bound on the false-discovery rate by model-X knockoffs (Candès, Fan, Janson and Lv 2018),
/// with any [`KnockoffStatistic`].
///
/// Each feature gets a knockoff, which is drawn from the features alone and is as correlated with the other
/// features as the feature itself. A feature that says no more about the target than its knockoff, given all
/// others, is irrelevant; the signs of the statistics of irrelevant features are coin flips. With the
/// statistics `wⱼ` the features with `wⱼ ≥ T` are selected,
///
/// ```text
/// T = min { t > 0 : (offset + #{j: wⱼ ≤ −t}) / max(1, #{j: wⱼ ≥ t}) ≤ fdr }        (their Eq. 3.9)
/// ```
///
/// and the expected share of irrelevant ones among them is at most `fdr` with `offset` 1 (their Theorem 3.4).
/// With `offset` 0, the expectation of `#irrelevant / (#selected + 1/fdr)` is. Fewer than `1/fdr` features
/// are never selected with offset 1: nothing then.
///
/// Knockoffs are normal with the mean and the covariance of the features (second order), standardised:
/// `X̃ | X ~ N(X − X Σ⁻¹ S, 2S − S Σ⁻¹ S)`. The bound is exact where the features are jointly normal with
/// that covariance. An estimate of it makes it approximate (Barber, Candès and Samworth 2020). For other
/// distributions no bound holds, and the share can be far above it; features that are far from normal are
/// counted in a note.
///
/// With `draws` above 1 the draws vote by e-values (Ren and Barber 2024, Algorithm 1; each with half the
/// target, so that a draw with fewer than `2/fdr` features has no vote), which keeps the same bound and
/// depends less on the seed; the score is then the mean e-value. Of
/// which of a pair is the feature, the order in the table says nothing: it is drawn.
///
/// Cost: the statistic for `2 d` columns in each draw; up to 1000 features, or with `mvr` and `sdp`, `O(d³)`
/// for the covariance and the construction; above, `equicorrelated` takes `O(n d min(n, d))` and needs no
/// `d × d` matrix where `d > n`.
///
/// # Errors
/// No target; categorical features with more than two levels; a NaN or an infinity, naming the cell; sample
/// weights, groups, links or views, which knockoffs do not have; a covariance that is singular, or, given, no
/// correlation matrix; a table without memory; [`Error::Stopped`]; those of the statistic.
///
/// ```
/// use fewest_core::{Budget, Context, Dataset, DenseColumns, FalseDiscoveries, Scorer, Scores, Selector, Target};
/// use fewest_eval::{KnockoffOptions, Knockoffs, ScoreDifference};
///
/// /// The absolute product with the target.
/// struct Product;
/// impl Scorer for Product {
///     fn score(&self, data: &Dataset, _: &Context<'_>) -> Result<Scores, fewest_core::Error> {
///         let Target::Real(y) = data.target() else { unreachable!() };
///         let mut scores = Vec::new();
///         for j in 0..data.n_features() {
///             let x = data.x().column(j, &mut Vec::new())?.to_vec(data.n_samples());
///             scores.push(x.iter().zip(y.output(0)).map(|(x, y)| x * y).sum::<f64>().abs());
///         }
///         Ok(Scores::descending(scores))
///     }
/// }
///
/// let noise = |j: u64| (0..200).map(move |i| fewest_core::derive_seed(j, i) as f64 / u64::MAX as f64 - 0.5);
/// let x: Vec<Vec<f64>> = (0..20).map(|j| noise(j).collect()).collect();
/// let y = (0..200).map(|i| x[..8].iter().map(|x| x[i]).sum()).collect();
/// let data = Dataset::new(DenseColumns::from_columns(&x)?, Target::real(y)?)?;
/// let options = KnockoffOptions { fdr: 0.2, ..KnockoffOptions::default() };
/// let knockoffs = Knockoffs { statistic: ScoreDifference(Product), options };
/// let selection = knockoffs.select(&data, Budget::Auto, &Context::seeded(1))?;
/// assert!((0..8).all(|j| selection.order.contains(&j)));
/// assert!(matches!(selection.false_discoveries, Some(FalseDiscoveries::Rate(bound)) if bound.target == 0.2));
/// # Ok::<(), fewest_core::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Knockoffs<S> {
    /// How much more a feature says than its knockoff.
    pub statistic: S,
    /// How knockoffs are drawn, and which bound is kept.
    pub options: KnockoffOptions,
}

/// Selected features and their scores.
type Scored = (Vec<usize>, Vec<f64>);

/// The features that vary, standardised.
struct Standardised {
    /// Their numbers.
    features: Vec<usize>,
    /// Column after column.
    values: Vec<f64>,
    /// Mean and standard deviation of each.
    scales: Vec<(f64, f64)>,
    /// Those that are [far from normal](is_far_from_normal).
    far: Vec<usize>,
}

/// Whether standardised values are far from normal: two values, or a skewness beyond ±1 or a kurtosis above 6
/// by more than three standard errors.
fn is_far_from_normal(values: &[f64]) -> bool {
    let n = values.len() as f64;
    let moment = |power: i32| values.iter().map(|value| value.powi(power)).sum::<f64>() / n;
    let other = values.iter().find(|value| **value != values[0]);
    let has_two = values.iter().all(|value| *value == values[0] || Some(value) == other);
    has_two || moment(3).abs() > 1.0 + 3.0 * (6.0 / n).sqrt() || moment(4) > 6.0 + 3.0 * (24.0 / n).sqrt()
}

impl Standardised {
    /// With room for what a statistic with `n_folds` folds needs.
    fn of(data: &Dataset, n_folds: usize, context: &Context<'_>) -> Result<Self, Error> {
        let (n, d) = (data.n_samples(), data.n_features());
        // Features, their means given the others, knockoffs and their noise; then pairs for the statistic and
        // for each of its folds.
        let copies = 4 + 2 * (1 + n_folds);
        let mut values =
            room("features and knockoffs", &[n, d, copies], METHOD, "select among fewer features")?;
        values.shrink_to(n * d);
        let (mut features, mut scales, mut far) = (Vec::new(), Vec::new(), Vec::new());
        for j in 0..d {
            context.go_on("knockoffs were drawn")?;
            if let FeatureKind::Categorical { levels } = data.feature_kind(j)
                && levels.len() > 2
            {
                return Err(Error::Unsupported {
                    method: METHOD,
                    what: format!("feature {}, a category of more than two levels,", data.feature_name(j)),
                    instead: "leave it out, or make a column of 0 and 1 for each level".to_owned(),
                });
            }
            let raw = finite_values(data, j)?;
            let mut column = raw.clone();
            if standardise(&mut column) {
                let mean = raw.iter().map(|value| value / n as f64).sum::<f64>();
                // Of the place where the standardised values are largest, so that nothing is divided by 0.
                let at = (0..n).max_by(|&a, &b| column[a].abs().total_cmp(&column[b].abs())).unwrap_or(0);
                scales.push((mean, (raw[at] - mean) / column[at]));
                features.push(j);
                if is_far_from_normal(&column) {
                    far.push(j);
                }
                values.extend(column);
            }
        }
        Ok(Self { features, values, scales, far })
    }
}

/// Refuses what is not finite, not symmetric, or has another diagonal than ones.
fn check_correlations(values: &[f64], d: usize) -> Result<(), Error> {
    for (at, &value) in values.iter().enumerate() {
        let (i, j) = (at % d, at / d);
        let told = || format!("{value} in row {} and column {}", i + 1, j + 1);
        let is_near = |expected: f64| (value - expected).abs() <= 1e-9;
        if !value.is_finite() {
            return Err(Error::parameter("covariance", told(), "finite"));
        }
        if i == j && !is_near(1.0) {
            return Err(Error::parameter("covariance", told(), "1 there: it is of standardised features"));
        }
        if !is_near(values[i * d + j]) {
            return Err(Error::parameter("covariance", told(), "symmetric"));
        }
    }
    Ok(())
}

/// Refuses what the table of features and knockoffs does not have, and data without a target, in which no
/// feature is relevant or irrelevant.
fn refuse_what_pairs_lack(data: &Dataset) -> Result<(), Error> {
    if matches!(data.target(), Target::None) {
        return Err(Error::UnsupportedTarget {
            method: METHOD,
            expected: "a target: a feature is irrelevant if the target does not depend on it",
            found: data.target().describe(),
        });
    }
    let lacking = [
        ("groups of features", data.feature_groups().is_some()),
        ("links between features", data.feature_graph().is_some()),
        ("links between samples", data.sample_graph().is_some()),
        ("views", data.views().is_some()),
    ];
    match lacking.iter().find(|(_, is_there)| *is_there) {
        None => Ok(()),
        Some((what, _)) => Err(Error::Unsupported {
            method: METHOD,
            what: (*what).to_owned(),
            instead: "leave them out: knockoffs have none".to_owned(),
        }),
    }
}

impl<S: KnockoffStatistic> Knockoffs<S> {
    /// The statistic of every feature in draw `draw`: 0 for those that are constant.
    fn differences(
        &self,
        data: &Dataset,
        standardised: &Standardised,
        model: &NormalModel<'_>,
        draw: usize,
        context: &Context<'_>,
    ) -> Result<Vec<f64>, Error> {
        let n = data.n_samples();
        let seed = derive_seed(context.seed, draw as u64);
        let mut knockoffs = model.draw(derive_seed(seed, 0), context)?;
        for (column, (mean, scale)) in knockoffs.chunks_exact_mut(n).zip(&standardised.scales) {
            column.iter_mut().for_each(|value| *value = mean + scale * *value);
        }
        let (coins, d) = (derive_seed(seed, 1), standardised.features.len());
        let swapped: Vec<bool> = (0..d).map(|j| derive_seed(coins, j as u64) >> 63 == 1).collect();
        let mut first = Vec::with_capacity(2 * n * d);
        for (at, &j) in standardised.features.iter().enumerate() {
            let mut own = finite_values(data, j)?;
            if swapped[at] {
                own.swap_with_slice(&mut knockoffs[at * n..(at + 1) * n]);
            }
            first.extend(own);
        }
        first.extend(knockoffs);
        let pairs = Dataset::new(DenseColumns::new(first, n, 2 * d)?, data.target().clone())?;
        let inside = Context { seed: derive_seed(seed, 2), ..*context };
        let found = self.statistic.differences(&pairs, &inside)?;
        let mut w = vec![0.0; data.n_features()];
        for ((&j, found), swapped) in standardised.features.iter().zip(found).zip(swapped) {
            w[j] = if swapped { -found } else { found };
        }
        Ok(w)
    }
}

impl<S: KnockoffStatistic> Knockoffs<S> {
    /// One selection for each bound of `rates`, as [`select`](Selector::select) gives it with this bound as
    /// `fdr`: knockoffs and statistics, which take the time, are the same for all.
    ///
    /// # Errors
    /// Those of [`Knockoffs`].
    pub fn select_for(
        &self,
        data: &Dataset,
        rates: &[f64],
        context: &Context<'_>,
    ) -> Result<Vec<Selection>, Error> {
        for &fdr in rates {
            KnockoffOptions { fdr, ..self.options.clone() }.check()?;
        }
        self.check(data)?;
        let d = data.n_features();
        let n_folds = self.statistic.folds().unwrap_or(0);
        let standardised = Standardised::of(data, n_folds, context)?;
        let n_constant = d - standardised.features.len();
        let KnockoffOptions { offset, draws, construction, ref covariance, .. } = self.options;
        if n_constant > 0 && matches!(covariance, Covariance::Given(_)) {
            return Err(Error::Unsupported {
                method: METHOD,
                what: "a covariance of features of which one is constant".to_owned(),
                instead: "leave the feature out".to_owned(),
            });
        }
        let mut bound = RateBound::default();
        (bound.offset, bound.draws) = (offset, draws);
        bound.assumption = ASSUMPTION;
        (bound.statistic, bound.folds) = (self.statistic.name(), n_folds);
        // By bound, the selected features and their scores.
        let mut found = vec![(Vec::new(), Vec::new()); rates.len()];
        if !standardised.features.is_empty() {
            let model =
                NormalModel::new(&standardised.values, data.n_samples(), covariance, construction, context)?;
            bound.construction = model.construction.word();
            let Made { name, factors, shrinkage, pairs } = model.made;
            (bound.covariance, bound.factors) = (name, factors);
            (bound.shrinkage, bound.pairs) = (shrinkage, pairs);
            found = self.by_statistics(data, rates, &standardised, &model, context)?;
        }
        let selection = |(&fdr, (order, scores)): (&f64, Scored)| {
            let mut selection = Selection::new(order, scores, d, Status::Converged);
            selection.note_constant_features(n_constant);
            let mut nothing =
                "the statistics of features and knockoffs do not differ enough for this bound".to_owned();
            if draws > 1 {
                let least = (2.0 / fdr).ceil();
                nothing.push_str(&format!(", and a set with fewer than {least} features does not count"));
            }
            selection.note_missing_features(Budget::Auto, &nothing);
            if let Some(&first) = standardised.far.first() {
                let (count, name) = (standardised.far.len(), data.feature_name(first));
                selection.notes.push(format!(
                    "{count} of {d} features have two values or are far from normal, such as {name}: the bound \
                     need not hold"
                ));
            }
            let mut own = bound;
            own.target = fdr;
            selection.false_discoveries = Some(FalseDiscoveries::Rate(own));
            selection
        };
        Ok(rates.iter().zip(found).map(selection).collect())
    }

    /// By bound, the selected features and their scores.
    fn by_statistics(
        &self,
        data: &Dataset,
        rates: &[f64],
        standardised: &Standardised,
        model: &NormalModel<'_>,
        context: &Context<'_>,
    ) -> Result<Vec<Scored>, Error> {
        let KnockoffOptions { offset, draws, .. } = self.options;
        let scored = |order: Vec<usize>, scores: &[f64]| {
            let scores = order.iter().map(|&j| scores[j]).collect();
            (order, scores)
        };
        if draws == 1 {
            let w = self.differences(data, standardised, model, 0, context)?;
            return Ok(rates.iter().map(|&fdr| scored(filter::filter(&w, fdr, offset), &w)).collect());
        }
        let mut values = vec![vec![0.0; data.n_features()]; rates.len()];
        for draw in 0..draws {
            context.go_on("all sets of knockoffs were drawn")?;
            context.report("draw of knockoffs", draw, draws);
            let w = self.differences(data, standardised, model, draw, context)?;
            for (&fdr, e) in rates.iter().zip(&mut values) {
                filter::add_e_values(&w, 0.5 * fdr, e);
            }
        }
        values.iter_mut().flatten().for_each(|e| *e /= draws as f64);
        Ok(rates.iter().zip(&values).map(|(&fdr, e)| scored(filter::by_e_values(e, fdr), e)).collect())
    }

    /// Refuses what knockoffs cannot be drawn for.
    fn check(&self, data: &Dataset) -> Result<(), Error> {
        data.refuse_sample_weights(METHOD)?;
        refuse_what_pairs_lack(data)?;
        let KnockoffOptions { offset, draws, ref covariance, .. } = self.options;
        if draws > 1 && offset == 0 {
            return Err(Error::parameter("offset", 0, "1 with more than one draw: e-values have no other"));
        }
        let (n, d) = (data.n_samples(), data.n_features());
        if let Covariance::Given(values) = covariance {
            if values.len() != d * d {
                let (what, expected) = ("entries of the covariance", d * d);
                return Err(Error::ShapeMismatch { what, expected, found: values.len() });
            }
            check_correlations(values, d)?;
        }
        let minimum = self.statistic.folds().unwrap_or(0).max(3);
        if n < minimum {
            return Err(Error::TooFew { what: "samples", minimum, found: n });
        }
        Ok(())
    }
}

impl<S: KnockoffStatistic> Selector for Knockoffs<S> {
    /// The bound decides how many features are selected: a budget other than [`Budget::Auto`] is an error.
    fn select(&self, data: &Dataset, budget: Budget, context: &Context<'_>) -> Result<Selection, Error> {
        if budget != Budget::Auto {
            return Err(Error::parameter(
                "k",
                "given",
                "auto: the bound decides how many features there are",
            ));
        }
        let mut selections = self.select_for(data, &[self.options.fdr], context)?;
        Ok(selections.swap_remove(0))
    }
}

#[cfg(test)]
mod tests;
