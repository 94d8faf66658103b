//! How much of a real target each feature explains: sums of products over rows.

use std::ops::Range;

use fewest_columns::{
    ColumnSums, ExactMoments, ExactProducts, TableSums, Unit, inverse_power, range, safe_stream_sums,
};
use fewest_core::{
    Column, Context, Error, FeatureKind, RunningScores, SampleStream, Scores, State, Target, state,
};
use fewest_counts::discretisation::categories;

use crate::running::Running;
use crate::tables::LevelTable;
use crate::unordered::Unordered;

use fewest_columns::moments::{Moments, is_safe, sum};

/// A share of unexplained variance up to this is rounding: the target is a function of the feature.
pub(crate) const NOTHING_LEFT: f64 = 1e-15;

/// What a feature explains of the target.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Explained {
    /// The share of the target's variance; 0 for a constant feature.
    pub(crate) share: f64,
    /// 1, or the number of levels less 1; 0 for a constant feature.
    pub(crate) dimensions: f64,
    /// Number of samples.
    pub(crate) n: f64,
}

/// Sums of products with one real output, or with the codes of two classes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Regression {
    /// The id of the method.
    pub(crate) method: &'static str,
    /// The targets it takes.
    pub(crate) expected: &'static str,
}

impl Regression {
    /// The target as numbers.
    ///
    /// # Errors
    /// [`Error::UnsupportedTarget`].
    pub(crate) fn numbers(&self, target: &Target, rows: Range<usize>) -> Result<Vec<f64>, Error> {
        match target {
            Target::Real(outputs) if outputs.n_outputs() == 1 => Ok(outputs.output(0)[rows].to_vec()),
            Target::Class(classes) if classes.n_classes() == 2 => {
                Ok(classes.codes()[rows].iter().map(|&code| f64::from(code)).collect())
            }
            other => Err(Error::UnsupportedTarget {
                method: self.method,
                expected: self.expected,
                found: other.describe(),
            }),
        }
    }

    /// The share that each feature explains.
    pub(crate) fn explained<'a>(
        &self,
        mut products: impl Iterator<Item = &'a Products> + Clone,
    ) -> Result<Vec<Explained>, Error> {
        if let Some(Products { target, .. }) = products.clone().next() {
            self.check(target.n, target.low >= target.high, target.low)?;
        }
        Ok(products.by_ref().map(Products::explained).collect())
    }

    /// What a feature explains whose sums are told in no order; two classes are the numbers 0 and 1.
    ///
    /// # Errors
    /// [`Error::UnsupportedTarget`], also for a target that does not vary; fewer than three samples.
    pub(crate) fn explained_unordered(&self, sums: &Unordered) -> Result<Explained, Error> {
        let two_needed = || sums.unsupported(self.method, self.expected);
        match sums {
            Unordered::Products(products) => self.explained_by_number(products),
            Unordered::Targets(levels) => self.explained_by_levels(levels),
            Unordered::Numbers(classes) => {
                let occurring: Vec<_> = classes.iter().filter(|class| class.n() > 0).collect();
                let [zeros, ones] = occurring[..] else { return Err(two_needed()) };
                self.explained_by_number(&ExactProducts::of_two(zeros, ones))
            }
            Unordered::Levels { n_levels, counts, .. } => {
                let table = LevelTable::of_counts(*n_levels, counts);
                let occurring: Vec<_> =
                    table.by_class().filter(|counts| counts.iter().any(|count| *count > 0)).collect();
                let [zeros, ones] = occurring[..] else { return Err(two_needed()) };
                let level = |(zeros, ones): (&u64, &u64)| ExactMoments::of_two(*zeros, *ones);
                self.explained_by_levels(&zeros.iter().zip(ones).map(level).collect::<Vec<_>>())
            }
        }
    }

    /// As [`explained_unordered`](Self::explained_unordered), of a number and the target.
    fn explained_by_number(&self, products: &ExactProducts) -> Result<Explained, Error> {
        let (x_unit, y_unit) = (Unit::of([&products.x]), Unit::of([&products.y]));
        let target = self.unordered_target(&products.y, y_unit)?;
        let feature = FeatureSums::Numbers(known(&products.x, x_unit)?, products.product(x_unit, y_unit));
        Ok(feature.explained(target.deviations, products.y.n() as f64))
    }

    /// As [`explained_unordered`](Self::explained_unordered), of the target at each level of a category.
    fn explained_by_levels(&self, levels: &[ExactMoments]) -> Result<Explained, Error> {
        let all = ExactMoments::together(levels);
        let unit = Unit::of([&all]);
        let target = self.unordered_target(&all, unit)?;
        let level = |(value, own): (u32, &ExactMoments)| Level {
            value: f64::from(value),
            count: own.n() as f64,
            sum: own.deviation_from(&all, unit),
        };
        let levels = (0..).zip(levels.iter().filter(|own| own.n() > 0)).map(level).collect();
        Ok(FeatureSums::Levels(levels).explained(target.deviations, all.n() as f64))
    }

    /// The moments of a target that can be explained.
    fn unordered_target(&self, target: &ExactMoments, unit: Unit) -> Result<Moments, Error> {
        let moments = known(target, unit)?;
        self.check(target.n() as usize, !target.varies(), moments.mean() * unit.divisor())?;
        Ok(moments)
    }

    /// An error unless there are three samples whose target varies; `value` is one of its values.
    fn check(&self, n: usize, is_constant: bool, value: f64) -> Result<(), Error> {
        if n < 3 {
            return Err(Error::TooFew { what: "samples", minimum: 3, found: n });
        }
        if is_constant {
            return Err(Error::UnsupportedTarget {
                method: self.method,
                expected: "values that vary",
                found: format!("{value} in every sample"),
            });
        }
        Ok(())
    }
}

/// The moments of some values.
fn known(values: &ExactMoments, unit: Unit) -> Result<Moments, Error> {
    values.moments(unit).ok_or(Error::TooFew { what: "samples", minimum: 3, found: 0 })
}

/// The target of a batch.
pub(crate) struct Response {
    /// Times [`TargetSums::scale`], less the mean.
    centred: Vec<f64>,
    sums: TargetSums,
}

/// What is known of the target of some samples.
#[derive(Debug, Clone, Copy)]
struct TargetSums {
    n: usize,
    low: f64,
    high: f64,
    /// Of the target times [`TargetSums::scale`].
    moments: Moments,
}

impl TargetSums {
    /// The largest absolute value.
    fn largest(&self) -> f64 {
        self.low.abs().max(self.high.abs())
    }

    /// A power of two, which changes no digit, that brings the target to at most 2; of zeros infinity.
    fn scale(&self) -> f64 {
        if self.largest() > 0.0 { inverse_power(self.largest()) } else { f64::INFINITY }
    }

    /// What turns sums of a target times [`scale`](Self::scale) to those of one times `scale`, which is no
    /// more.
    fn factor(&self, scale: f64) -> f64 {
        // Of zeros all sums are zero.
        if self.largest() > 0.0 { scale / self.scale() } else { 1.0 }
    }
}

/// Sums of a feature and the target.
#[derive(Clone)]
pub(crate) struct Products {
    target: TargetSums,
    feature: FeatureSums,
}

/// What is summed of a feature, with the target times its scale.
#[derive(Clone)]
enum FeatureSums {
    /// Of a number: its moments, and `Σ (x − mean) (y − mean)`.
    Numbers(Moments, f64),
    /// Of categories, by increasing value.
    Levels(Vec<Level>),
}

/// A level of a categorical feature.
#[derive(Debug, Clone, Copy)]
struct Level {
    value: f64,
    count: f64,
    /// `Σ (y − mean)` over the samples of the level.
    sum: f64,
}

impl ColumnSums for Regression {
    type Batch = Response;
    type Sums = Products;

    fn batch(&self, target: &Target, rows: Range<usize>) -> Result<Response, Error> {
        let mut values = self.numbers(target, rows)?;
        let (low, high) = range(&values);
        let none = Moments::new(&[], 1);
        let mut sums = TargetSums { n: values.len(), low, high, moments: none };
        let scale = sums.scale();
        if scale.is_finite() {
            values.iter_mut().for_each(|value| *value *= scale);
        }
        sums.moments = Moments::new(&values, 0);
        let (origin, offset) = (sums.moments.origin, sums.moments.mean_from(sums.moments.origin));
        values.iter_mut().for_each(|value| *value = (*value - origin) - offset);
        // The deviations of the centred values, which features are multiplied with.
        sums.moments.deviations = sum(&values, |value| value * value);
        Ok(Response { sums, centred: values })
    }

    fn sums(
        &self,
        _: usize,
        kind: &FeatureKind,
        response: &Response,
        column: Column<'_>,
    ) -> Result<Products, Error> {
        let n = response.centred.len();
        let feature = match kind {
            FeatureKind::Categorical { .. } => {
                FeatureSums::Levels(levels(&column.to_vec(n), &response.centred))
            }
            _ => {
                let moments = Moments::of(column, n);
                FeatureSums::Numbers(moments, response.product(column, moments.mean()))
            }
        };
        Ok(Products { target: response.sums, feature })
    }

    fn merge(&self, sums: &mut Products, later: Products) {
        let (own, other) = (sums.target, later.target);
        let scale = own.scale().min(other.scale());
        let (own_factor, other_factor) = (own.factor(scale), other.factor(scale));
        let target = own.moments.times(own_factor);
        let later_target = other.moments.times(other_factor);
        let difference = target.difference(&later_target);
        let (n, n_later) = (own.n as f64, other.n as f64);
        let all = n + n_later;
        match (&mut sums.feature, later.feature) {
            (FeatureSums::Numbers(moments, product), FeatureSums::Numbers(later, later_product)) => {
                let between = moments.difference(&later) * difference * (n * n_later / all);
                *product = *product * own_factor + later_product * other_factor + between;
                moments.merge(own.n, &later, other.n);
            }
            (FeatureSums::Levels(levels), FeatureSums::Levels(later)) => {
                // From the mean of some samples to that of all.
                let move_by = |level: &mut Level, factor: f64, step: f64| {
                    level.sum = level.sum * factor + level.count * step;
                };
                for level in levels.iter_mut() {
                    move_by(level, own_factor, -difference * (n_later / all));
                }
                for mut level in later {
                    move_by(&mut level, other_factor, difference * (n / all));
                    match levels.binary_search_by(|own| own.value.total_cmp(&level.value)) {
                        Ok(at) => {
                            levels[at].count += level.count;
                            levels[at].sum += level.sum;
                        }
                        Err(at) => levels.insert(at, level),
                    }
                }
            }
            // One feature is of one kind in all batches of a table.
            _ => {}
        }
        let mut moments = target;
        moments.merge(own.n, &later_target, other.n);
        sums.target = TargetSums {
            n: own.n + other.n,
            low: own.low.min(other.low),
            high: own.high.max(other.high),
            moments,
        };
    }
}

impl Response {
    /// `Σ (x − mean) (y − mean)`.
    fn product(&self, column: Column<'_>, mean: f64) -> f64 {
        match column {
            Column::Dense(values) => dot_centred(values, mean, &self.centred),
            // The target is centred: what the unstored zeros add is minus what the stored values miss.
            Column::Sparse { rows, values } => {
                rows.iter().zip(values).map(|(&row, value)| value * self.centred[row]).sum()
            }
        }
    }
}

impl Products {
    /// A value of a number, its mean less that, and its squared deviations; nothing of categories.
    pub(crate) fn moments(&self) -> (f64, f64, f64) {
        match &self.feature {
            FeatureSums::Numbers(moments, _) => {
                (moments.origin, moments.mean_from(moments.origin), moments.deviations)
            }
            FeatureSums::Levels(_) => (0.0, 0.0, 0.0),
        }
    }

    /// Whether no square has overflowed or vanished.
    pub(crate) fn is_safe(&self) -> bool {
        match &self.feature {
            FeatureSums::Numbers(moments, _) => is_safe(moments.deviations),
            FeatureSums::Levels(_) => true,
        }
    }

    fn explained(&self) -> Explained {
        self.feature.explained(self.target.moments.deviations, self.target.n as f64)
    }
}

impl FeatureSums {
    /// What the feature explains of a target of `n` samples with these squared deviations.
    fn explained(&self, target_deviations: f64, n: f64) -> Explained {
        let (explained, dimensions) = match self {
            FeatureSums::Numbers(moments, _) if moments.deviations == 0.0 => (f64::NAN, 1.0),
            FeatureSums::Numbers(moments, product) => (product * product / moments.deviations, 1.0),
            FeatureSums::Levels(levels) => (
                levels.iter().map(|level| level.sum * level.sum / level.count).sum(),
                levels.len().saturating_sub(1) as f64,
            ),
        };
        let share: f64 = explained / target_deviations;
        if dimensions == 0.0 || share.is_nan() {
            Explained { share: 0.0, dimensions: 0.0, n }
        } else if share >= 1.0 - NOTHING_LEFT {
            Explained { share: 1.0, dimensions, n }
        } else {
            Explained { share, dimensions, n }
        }
    }
}

/// A table of which features are to explain the target.
pub(crate) struct RegressionTable(TableSums<Regression>);

impl RegressionTable {
    /// For a target of `n` samples.
    pub(crate) fn new(regression: Regression, target: &Target, n: usize) -> Result<Self, Error> {
        let (low, high) = range(&regression.numbers(target, 0..n)?);
        regression.check(n, low >= high, low)?;
        TableSums::new(regression, target, n).map(Self)
    }

    /// What feature `j` explains.
    pub(crate) fn explained(
        &self,
        j: usize,
        column: Column<'_>,
        kind: &FeatureKind,
    ) -> Result<Explained, Error> {
        Ok(self.0.safe_of(j, kind, column, Products::is_safe)?.0.explained())
    }
}

/// What every feature of a stream explains of the target.
pub(crate) fn stream_explained(
    regression: Regression,
    stream: &mut dyn SampleStream,
    context: &Context<'_>,
) -> Result<Vec<Explained>, Error> {
    let products = safe_stream_sums(stream, &regression, Products::is_safe, context)?;
    regression.explained(products.iter().map(|(products, _)| products))
}

/// What `scores` makes of the explained shares of rows that arrive.
pub(crate) fn running_explained(
    regression: Regression,
    scores: impl Fn(Vec<Explained>) -> Scores + Send + 'static,
) -> Box<dyn RunningScores> {
    let explained = move |products: Vec<Products>| Ok(scores(regression.explained(products.iter())?));
    Box::new(Running::new(regression, Products::is_safe, explained))
}

state!(TargetSums { n, low, high, moments });
state!(Products { target, feature });
state!(Level { value, count, sum });

impl State for FeatureSums {
    fn save(&self, to: &mut Vec<u8>) {
        match self {
            FeatureSums::Numbers(moments, product) => {
                true.save(to);
                (*moments, *product).save(to);
            }
            FeatureSums::Levels(levels) => {
                false.save(to);
                levels.save(to);
            }
        }
    }

    fn load(from: &mut &[u8]) -> Result<Self, Error> {
        Ok(match bool::load(from)? {
            true => FeatureSums::Numbers(State::load(from)?, State::load(from)?),
            false => FeatureSums::Levels(State::load(from)?),
        })
    }
}

/// The levels of `values`, and what `y` sums to over each.
fn levels(values: &[f64], y: &[f64]) -> Vec<Level> {
    let coded = categories(values);
    let mut levels = vec![Level { value: 0.0, count: 0.0, sum: 0.0 }; coded.n_levels];
    for ((&code, value), y) in coded.codes.iter().zip(values).zip(y) {
        let level = &mut levels[code as usize];
        // Both zeros are one level.
        level.value = value + 0.0;
        level.count += 1.0;
        level.sum += y;
    }
    levels
}

/// `Σ (x − mean) y`.
fn dot_centred(values: &[f64], mean: f64, y: &[f64]) -> f64 {
    let mut lanes = [0.0; 8];
    let (chunks, others) = (values.chunks_exact(8), y.chunks_exact(8));
    let rest: f64 = chunks.remainder().iter().zip(others.remainder()).map(|(x, y)| (x - mean) * y).sum();
    for (x, y) in chunks.zip(others) {
        for ((lane, x), y) in lanes.iter_mut().zip(x).zip(y) {
            *lane += (x - mean) * y;
        }
    }
    lanes.iter().sum::<f64>() + rest
}
