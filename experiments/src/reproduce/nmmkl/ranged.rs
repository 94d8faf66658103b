//! Regression on features scaled to [−1, 1], as the paper scales them: the machine that predicts, and the
//! methods here that otherwise standardise.

use fewest::core::{Budget, Columns, Context, Dataset, Error, Selection, Selector, Status, Target};
use fewest::eval::{KFold, Learner, Model, Predictions, Split, Splitter};
use fewest::solver::{Control, Quadratic, Signed};
use fewest::solvers::lars::{PathOptions, path};
use fewest::solvers::smo::{GramRows, Regressor};
use nalgebra::{DMatrix, DVector};

use crate::reproduce::machines::FOLDS;
use crate::reproduce::tuned::Shared;

/// The duality gap of machines that only compare parameters, and of those that are kept, relative to the
/// objective: as `SupportVectorRegression` has them.
const ROUGH: f64 = 1e-3;
const FINE: f64 = 1e-6;

/// Penalties of the lasso, and the smallest as a share of the largest: as `lasso-lw` has them.
const PENALTIES: i32 = 100;
const SMALLEST: f64 = 1e-3;

/// What brings each feature to [−1, 1] over some samples: the middle of its range and half its width.
struct Ranges(Vec<(f64, f64)>);

impl Ranges {
    fn of(x: &dyn Columns) -> Result<Self, Error> {
        let mut values = vec![0.0; x.n_samples()];
        let mut ranges = Vec::with_capacity(x.n_features());
        for j in 0..x.n_features() {
            x.copy_column(j, &mut values)?;
            let (low, high) = fewest::columns::range(&values);
            ranges.push((0.5 * (low + high), 0.5 * (high - low)));
        }
        Ok(Self(ranges))
    }

    /// A row a sample; a feature that is constant is 0.
    fn points(&self, x: &dyn Columns) -> Result<DMatrix<f64>, Error> {
        let mut points = DMatrix::zeros(x.n_samples(), self.0.len());
        for (j, &(middle, half)) in self.0.iter().enumerate() {
            let mut column = vec![0.0; x.n_samples()];
            x.copy_column(j, &mut column)?;
            let scaled = |value: &f64| if half > 0.0 { (value - middle) / half } else { 0.0 };
            points.set_column(j, &DVector::from_iterator(column.len(), column.iter().map(scaled)));
        }
        Ok(points)
    }
}

fn numbers(data: &Dataset) -> Result<&[f64], Error> {
    match data.target() {
        Target::Real(outputs) if outputs.n_outputs() == 1 => Ok(outputs.output(0)),
        other => Err(Error::UnsupportedTarget {
            method: "regression",
            expected: "one real output",
            found: other.describe(),
        }),
    }
}

fn folds(data: &Dataset, context: &Context<'_>) -> Result<Vec<Split>, Error> {
    KFold { folds: FOLDS, stratified: false }.splits(data, context.seed)
}

/// Linear support vector regression of the target in its own unit.
#[derive(Clone)]
pub(super) struct RangedRegression<'a> {
    /// Costs to choose from, increasing.
    pub costs: &'a [f64],
    /// Half widths of the tube to choose from.
    pub epsilons: &'a [f64],
}

/// A linear rule on scaled features.
struct Rule {
    weights: DVector<f64>,
    bias: f64,
}

impl Rule {
    /// At each of `costs`, increasing, from where the one before has ended.
    fn along(
        points: &DMatrix<f64>,
        targets: &[f64],
        costs: &[f64],
        epsilon: f64,
        tolerance: f64,
        context: &Context<'_>,
    ) -> Result<Vec<Self>, Error> {
        let gram = points * points.transpose();
        let gram = 0.5 * (&gram + gram.transpose());
        let rows = GramRows::trusted(gram.as_slice().to_vec(), targets.len())?;
        let control = Control { tolerance, ..Control::from(context) };
        let mut start = Vec::new();
        let mut rules = Vec::with_capacity(costs.len());
        for &cost in costs {
            let learner = Regressor { cost, epsilon, ..Regressor::default() };
            let machine = learner.train_from(&rows, targets, &[], &start, &control)?;
            start.clone_from(&machine.dual.solution.coefficients);
            let weights = points.tr_mul(&DVector::from_column_slice(&start));
            rules.push(Self { weights, bias: machine.bias });
        }
        Ok(rules)
    }

    fn values(&self, points: &DMatrix<f64>) -> Vec<f64> {
        (points * &self.weights).iter().map(|value| value + self.bias).collect()
    }
}

/// The mean squared error of `values` at the samples `chosen`.
fn error_of(values: &[f64], targets: &[f64], chosen: &[usize]) -> f64 {
    chosen.iter().zip(values).map(|(&i, value)| (targets[i] - value).powi(2)).sum::<f64>()
        / chosen.len() as f64
}

impl RangedRegression<'_> {
    /// The mean squared error in every fold, for each cost and each ε.
    pub(super) fn errors(
        &self,
        data: &Dataset,
        context: &Context<'_>,
    ) -> Result<Vec<(f64, f64, Vec<f64>)>, Error> {
        let targets = numbers(data)?;
        let points = Ranges::of(data.x())?.points(data.x())?;
        let pairs = self.epsilons.iter().flat_map(|&epsilon| self.costs.iter().map(move |&c| (c, epsilon)));
        let mut tried: Vec<(f64, f64, Vec<f64>)> = pairs.map(|(c, e)| (c, e, Vec::new())).collect();
        for split in folds(data, context)? {
            let (own, other) = (points.select_rows(&split.train), points.select_rows(&split.test));
            let inner: Vec<f64> = split.train.iter().map(|&i| targets[i]).collect();
            for (&epsilon, tried) in self.epsilons.iter().zip(tried.chunks_exact_mut(self.costs.len())) {
                let rules = Rule::along(&own, &inner, self.costs, epsilon, ROUGH, context)?;
                for (rule, (.., errors)) in rules.iter().zip(tried) {
                    errors.push(error_of(&rule.values(&other), targets, &split.test));
                }
            }
        }
        Ok(tried)
    }

    /// The rule at these parameters, with the scaling of its features.
    fn rule(data: &Dataset, cost: f64, epsilon: f64, context: &Context<'_>) -> Result<(Ranges, Rule), Error> {
        let ranges = Ranges::of(data.x())?;
        let points = ranges.points(data.x())?;
        let rule = Rule::along(&points, numbers(data)?, &[cost], epsilon, FINE, context)?.pop();
        let none = Error::TooFew { what: "costs", minimum: 1, found: 0 };
        Ok((ranges, rule.ok_or(none)?))
    }
}

/// A machine that predicts.
struct Fitted(Ranges, Rule);

impl Model for Fitted {
    fn predict(&self, x: &dyn Columns) -> Result<Predictions, Error> {
        Ok(Predictions::Real(vec![self.1.values(&self.0.points(x)?)]))
    }
}

impl Learner for RangedRegression<'_> {
    fn name(&self) -> &'static str {
        "svr-range"
    }

    fn fit(&self, data: &Dataset, context: &Context<'_>) -> Result<Box<dyn Model>, Error> {
        let mut best = (f64::INFINITY, 1.0, 0.1);
        for (cost, epsilon, errors) in self.errors(data, context)? {
            let total: f64 = errors.iter().sum();
            if total < best.0 {
                best = (total, cost, epsilon);
            }
        }
        let (ranges, rule) = Self::rule(data, best.1, best.2, context)?;
        Ok(Box::new(Fitted(ranges, rule)))
    }
}

/// SVR-LW: features by the size of their weight in the machine with the shared parameters.
pub(super) struct RangedWeights<'a>(pub &'a Shared<'a>);

impl Selector for RangedWeights<'_> {
    fn select(&self, data: &Dataset, budget: Budget, context: &Context<'_>) -> Result<Selection, Error> {
        let shared = self.0.parameters(data, context)?;
        let value = |name: &str| {
            let found = shared.iter().find_map(|given| given.strip_prefix(name)?.strip_prefix('='));
            let found = found.and_then(|value| value.parse().ok());
            found.ok_or(Error::TooFew { what: "shared parameters", minimum: 2, found: 0 })
        };
        let (_, rule) = RangedRegression::rule(data, value("c")?, value("epsilon")?, context)?;
        Ok(by_size(rule.weights.as_slice(), budget))
    }
}

/// LASSO-LW: features by the size of their weight in the lasso, its penalty that with the least error in five
/// folds.
pub(super) struct RangedLasso;

impl Selector for RangedLasso {
    fn select(&self, data: &Dataset, budget: Budget, context: &Context<'_>) -> Result<Selection, Error> {
        let targets = numbers(data)?;
        let points = Ranges::of(data.x())?.points(data.x())?;
        let all: Vec<usize> = (0..targets.len()).collect();
        let whole = Lasso::new(&points, targets, &all)?;
        let step = SMALLEST.powf(1.0 / f64::from(PENALTIES - 1));
        let penalties: Vec<f64> = (0..PENALTIES).map(|at| whole.largest * step.powi(at)).collect();
        let mut errors = vec![0.0; penalties.len()];
        for split in folds(data, context)? {
            let rules = Lasso::new(&points, targets, &split.train)?.rules(&penalties, context)?;
            let other = points.select_rows(&split.test);
            for (error, rule) in errors.iter_mut().zip(&rules) {
                *error += error_of(&rule.values(&other), targets, &split.test);
            }
        }
        let best = (0..errors.len()).fold(0, |best, at| if errors[at] < errors[best] { at } else { best });
        let rules = whole.rules(&penalties[..=best], context)?;
        let weights = rules.last().map_or(&[][..], |rule| rule.weights.as_slice());
        Ok(by_size(weights, budget))
    }
}

/// `1/(2n) ‖y − b − Uw‖² + λ ‖w‖₁` over some samples.
struct Lasso {
    problem: Signed<Quadratic>,
    means: DVector<f64>,
    target_mean: f64,
    /// The smallest penalty that selects nothing.
    largest: f64,
}

impl Lasso {
    fn new(points: &DMatrix<f64>, targets: &[f64], samples: &[usize]) -> Result<Self, Error> {
        let n = samples.len() as f64;
        let mut own = points.select_rows(samples);
        let means = DVector::from_iterator(own.ncols(), own.column_iter().map(|column| column.mean()));
        for (mut column, mean) in own.column_iter_mut().zip(means.iter()) {
            column.add_scalar_mut(-mean);
        }
        let mut y = DVector::from_iterator(samples.len(), samples.iter().map(|&i| targets[i]));
        let target_mean = y.mean();
        y.add_scalar_mut(-target_mean);
        let gram = own.tr_mul(&own) / n;
        let gram = 0.5 * (&gram + gram.transpose());
        let products = own.tr_mul(&y) / n;
        let largest = products.amax();
        let problem =
            Quadratic::new(gram.as_slice().to_vec(), products.as_slice().to_vec(), y.norm_squared() / n)?;
        Ok(Self { problem: Signed::new(problem), means, target_mean, largest })
    }

    /// The rules at `penalties`, decreasing, on the exact path.
    fn rules(&self, penalties: &[f64], context: &Context<'_>) -> Result<Vec<Rule>, Error> {
        let smallest_lambda = penalties.last().copied().unwrap_or(0.0);
        let options = PathOptions { smallest_lambda, ..PathOptions::default() };
        let breakpoints = path(&self.problem, &options, &Control::from(context))?.breakpoints;
        let dense = |coefficients: &[(usize, f64)]| {
            let mut weights = DVector::zeros(self.means.len());
            for (j, value) in self.problem.merge(coefficients) {
                weights[j] = value;
            }
            weights
        };
        let rule = |&penalty: &f64| {
            // Weights are linear in the penalty between two breakpoints.
            let after = breakpoints.partition_point(|point| point.lambda > penalty);
            let weights = match (after.checked_sub(1).map(|at| &breakpoints[at]), breakpoints.get(after)) {
                (None, _) => DVector::zeros(self.means.len()),
                (Some(last), None) => dense(&last.coefficients),
                (Some(high), Some(low)) => {
                    let share = (high.lambda - penalty) / (high.lambda - low.lambda);
                    (1.0 - share) * dense(&high.coefficients) + share * dense(&low.coefficients)
                }
            };
            Rule { bias: self.target_mean - weights.dot(&self.means), weights }
        };
        Ok(penalties.iter().map(rule).collect())
    }
}

/// The features with the largest weights.
fn by_size(weights: &[f64], budget: Budget) -> Selection {
    let weights: Vec<(usize, f64)> =
        weights.iter().copied().enumerate().filter(|(_, weight)| *weight != 0.0).collect();
    let n_features = weights.len();
    Selection::by_weight(weights, n_features, budget, Status::Converged)
}

#[cfg(test)]
mod tests {
    use fewest::core::DenseColumns;
    use fewest::eval::{MeanSquaredError, Metric};
    use fewest::registry::{Parameters, Registry};

    use super::*;
    use crate::reproduce::machines::RawRegression;

    /// Columns in units that differ a thousandfold, of which the first and the last count.
    fn data(units: [f64; 3]) -> Dataset {
        let wave = |step: usize| (0..60).map(move |i| (i * step % 61) as f64 / 30.0 - 1.0);
        let columns: Vec<Vec<f64>> = [1, 17, 23]
            .into_iter()
            .zip(units)
            .map(|(step, unit)| wave(step).map(|value| 5.0 + unit * value).collect())
            .collect();
        let target = wave(1).zip(wave(23)).map(|(a, c)| 30.0 * a - 10.0 * c).collect();
        Dataset::new(DenseColumns::from_columns(&columns).unwrap(), Target::real(target).unwrap()).unwrap()
    }

    #[test]
    fn units_of_features_do_not_count_and_both_methods_find_the_two() {
        let shared = |_: &Dataset, _: &Context<'_>| Ok(vec!["c=10".to_owned(), "epsilon=0.1".to_owned()]);
        let context = Context::default();
        let found = [[1.0, 1.0, 1.0], [1e3, 1.0, 1e-3]].map(|units| {
            let data = data(units);
            let shared = Shared::new(&shared);
            let select =
                |selector: &dyn Selector| selector.select(&data, Budget::Count(2), &context).unwrap();
            let (machine, lasso) = (select(&RangedWeights(&shared)), select(&RangedLasso));
            assert_eq!((&machine.order[..], &lasso.order[..]), (&[0, 2][..], &[0, 2][..]));
            // The weight of a feature that goes from −1 to 1 is what the target changes by on half its way.
            assert!((machine.scores[0] - 30.0 * 29.5 / 30.0).abs() < 1.5, "{:?}", machine.scores);
            (machine.scores, lasso.scores)
        });
        for (a, b) in found[0].0.iter().chain(&found[0].1).zip(found[1].0.iter().chain(&found[1].1)) {
            assert!((a - b).abs() < 1e-3 * a.abs(), "{found:?}");
        }
    }

    /// Where every feature already goes from −1 to 1, standardising multiplies all by one number, and a
    /// machine whose penalty is multiplied by its square is the same.
    #[test]
    fn the_machine_is_that_of_standardised_features_but_for_their_unit() {
        let data = data([1.0, 1.0, 1.0]);
        let mut column = vec![0.0; 60];
        data.x().copy_column(0, &mut column).unwrap();
        let deviation = crate::reproduce::machines::deviation(&column);
        let half = 0.5 * (fewest::columns::range(&column).1 - fewest::columns::range(&column).0);
        let cost = 0.02;
        let (costs, epsilons) = ([cost], [0.5]);
        let other = [cost * (deviation / half).powi(2)];
        let context = Context::default();
        let ranged = RangedRegression { costs: &costs, epsilons: &epsilons }.fit(&data, &context).unwrap();
        let standard = RawRegression { kappa: None, costs: &other, epsilons: &epsilons };
        let standard = standard.fit(&data, &context).unwrap();
        let of = |model: &dyn Model| match model.predict(data.x()).unwrap() {
            Predictions::Real(values) => values[0].clone(),
            other => panic!("{other:?}"),
        };
        let (a, b) = (of(&*ranged), of(&*standard));
        let most = a.iter().zip(&b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(most < 0.05, "{most}");
        let error = MeanSquaredError.score(data.target(), &ranged.predict(data.x()).unwrap()).unwrap();
        assert!(error > 1.0, "a cost at which it matters: {error}");
    }

    /// On features of one range the lasso here is the method of the registry.
    #[test]
    fn the_lasso_selects_as_that_of_the_registry_where_units_are_alike() {
        let data = data([1.0, 1.0, 1.0]);
        let method = Registry::standard().find("lasso-lw").unwrap();
        let selector = method.build(&Parameters::defaults(method)).unwrap().into_selector();
        let context = Context::default();
        let theirs = selector.select(&data, Budget::Count(2), &context).unwrap();
        let ours = RangedLasso.select(&data, Budget::Count(2), &context).unwrap();
        assert_eq!(ours.order, theirs.order);
        let ratio = |selection: &Selection| selection.scores[1] / selection.scores[0];
        assert!((ratio(&ours) - ratio(&theirs)).abs() < 0.01, "{:?} {:?}", ours.scores, theirs.scores);
    }
}
