//! How much more a feature says than its knockoff.

use fewest_columns::{by_class, deal, finite_values, standardised_outputs};
use fewest_core::{
    Budget, Context, Dataset, Error, PathPoint, Scorer, Selection, Selector, Target, derive_seed, order,
};

/// A statistic of features and knockoffs.
///
/// The table has `2 d` columns: a pair of a feature and its knockoff in columns `j` and `d + j`, which of
/// them is first is drawn. The statistic of a pair must change its sign if its two columns change places, and
/// nothing else may change then.
pub trait KnockoffStatistic: Send + Sync {
    /// The statistic of each pair: positive where the column `j` says more than the column `d + j`.
    ///
    /// # Errors
    /// When the data do not allow it; [`Error::Stopped`] where the context says so.
    fn differences(&self, pairs: &Dataset, context: &Context<'_>) -> Result<Vec<f64>, Error>;

    /// Its name, for reports.
    fn name(&self) -> &'static str {
        "other"
    }

    /// Folds of its cross-validation: each has a copy of its samples.
    fn folds(&self) -> Option<usize> {
        None
    }
}

impl<S: KnockoffStatistic + ?Sized> KnockoffStatistic for Box<S> {
    fn name(&self) -> &'static str {
        (**self).name()
    }

    fn folds(&self) -> Option<usize> {
        (**self).folds()
    }

    fn differences(&self, pairs: &Dataset, context: &Context<'_>) -> Result<Vec<f64>, Error> {
        (**self).differences(pairs, context)
    }
}

/// The difference of the scores of a feature and its knockoff, by any [`Scorer`]: positive where the feature
/// has the better one. 0 where one has no score, or both are infinite.
#[derive(Debug, Clone)]
pub struct ScoreDifference<S>(pub S);

/// The difference of the sizes of the coefficients of a feature and its knockoff, by a [`Selector`] whose
/// scores are coefficients and that decides by itself how many are not zero: the lasso at a given penalty
/// (Candès et al. 2018, Eq. 3.7).
#[derive(Debug, Clone)]
pub struct CoefficientDifference<S>(pub S);

/// [`CoefficientDifference`] at the penalty that a cross-validation chooses from the path of the selector:
/// the point of its path with the least squared error. In each fold the point is that of the same rank, so
/// that the penalties are the same shares of the largest useful one.
#[derive(Debug, Clone)]
pub struct CrossValidatedDifference<S> {
    /// A selector with [`Selection::path`] whose coefficients are for standardised features and outputs, such
    /// as the lasso.
    pub selector: S,
    /// Folds, at least 2.
    pub folds: usize,
}

impl<S: Scorer> KnockoffStatistic for ScoreDifference<S> {
    fn name(&self) -> &'static str {
        "score"
    }

    fn differences(&self, pairs: &Dataset, context: &Context<'_>) -> Result<Vec<f64>, Error> {
        let scores = self.0.score(pairs, context)?;
        if scores.status.is_stopped() {
            return Err(Error::Stopped { before: "every feature and knockoff had a score" });
        }
        let sign = if scores.higher_is_better { 1.0 } else { -1.0 };
        let (first, second) = scores.values.split_at(pairs.n_features() / 2);
        let difference = |(a, b): (&f64, &f64)| Some(sign * (a - b)).filter(|w| !w.is_nan()).unwrap_or(0.0);
        Ok(first.iter().zip(second).map(difference).collect())
    }
}

/// The differences of sizes, from the columns with a coefficient.
fn of_sizes<'a>(coefficients: impl Iterator<Item = (&'a usize, &'a f64)>, n_pairs: usize) -> Vec<f64> {
    let mut w = vec![0.0; n_pairs];
    for (&column, value) in coefficients {
        if column < n_pairs {
            w[column] += value.abs();
        } else {
            w[column - n_pairs] -= value.abs();
        }
    }
    w
}

/// What is selected where the selector decides how much that is.
fn selected(selector: &dyn Selector, data: &Dataset, context: &Context<'_>) -> Result<Selection, Error> {
    let selection = selector.select(data, Budget::Auto, context)?;
    if selection.status.is_stopped() {
        return Err(Error::Stopped { before: "features and knockoffs had coefficients" });
    }
    Ok(selection)
}

impl<S: Selector> KnockoffStatistic for CoefficientDifference<S> {
    fn name(&self) -> &'static str {
        "coefficient"
    }

    fn differences(&self, pairs: &Dataset, context: &Context<'_>) -> Result<Vec<f64>, Error> {
        let selection = selected(&self.0, pairs, context)?;
        Ok(of_sizes(selection.order.iter().zip(&selection.scores), pairs.n_features() / 2))
    }
}

impl<S: Selector> KnockoffStatistic for CrossValidatedDifference<S> {
    fn name(&self) -> &'static str {
        "cross-validated"
    }

    fn folds(&self) -> Option<usize> {
        Some(self.folds)
    }

    fn differences(&self, pairs: &Dataset, context: &Context<'_>) -> Result<Vec<f64>, Error> {
        if !is_single(pairs.target()) {
            return Err(Error::Unsupported {
                method: "a penalty chosen by cross-validation",
                what: format!("a target that is {}", pairs.target().describe()),
                instead: "give the penalty, such as `lambda_ratio`".to_owned(),
            });
        }
        let n = pairs.n_samples();
        let drawn: Vec<f64> = (0..n).map(|i| derive_seed(context.seed, i as u64) as f64).collect();
        let fold_of = deal(&by_class(order::ascending(&drawn), pairs.target()), self.folds, "folds")?;
        // The last part is all samples.
        let paths = fewest_parallel::try_map(self.folds + 1, |fold| {
            let inside = Context { progress: None, ..*context };
            if fold == self.folds {
                return Ok((path(&self.selector, pairs, &inside)?, Vec::new()));
            }
            let rows = |own: bool| (0..n).filter(|&i| (fold_of[i] == fold) == own).collect::<Vec<usize>>();
            let (train, test) = (pairs.subset(&rows(false))?, rows(true));
            let path = path(&self.selector, &train, &inside)?;
            let errors = errors(&path, pairs, &rows(false), &test, context)?;
            Ok::<_, Error>((path, errors))
        })?;
        let (mut paths, errors): (Vec<_>, Vec<_>) = paths.into_iter().unzip();
        let points = paths.pop().unwrap_or_default();
        let n_points = errors.iter().take(self.folds).map(Vec::len).min().unwrap_or(0).min(points.len());
        let total = |at: usize| errors.iter().take(self.folds).map(|errors| errors[at]).sum::<f64>();
        let best = (0..n_points).min_by(|&a, &b| total(a).total_cmp(&total(b)));
        let coefficients = best.map_or(&[][..], |best| &points[best].coefficients);
        Ok(of_sizes(coefficients.iter().map(|(column, value)| (column, value)), pairs.n_features() / 2))
    }
}

/// Whether a target is one output: a number, or two classes.
fn is_single(target: &Target) -> bool {
    match target {
        Target::Real(outputs) => outputs.n_outputs() == 1,
        Target::Class(classes) => classes.occurring().len() == 2,
        _ => false,
    }
}

fn path(selector: &dyn Selector, data: &Dataset, context: &Context<'_>) -> Result<Vec<PathPoint>, Error> {
    let path = selected(selector, data, context)?.path;
    path.map(|path| path.points).ok_or_else(|| Error::Unsupported {
        method: "a penalty chosen by cross-validation",
        what: "a selector without a path".to_owned(),
        instead: "give the penalty, such as `lambda_ratio`".to_owned(),
    })
}

/// The squared error of every point of the path of `train` on the samples `test`, in units of the standard
/// deviation of the target in `train`.
fn errors(
    path: &[PathPoint],
    data: &Dataset,
    train: &[usize],
    test: &[usize],
    context: &Context<'_>,
) -> Result<Vec<f64>, Error> {
    let outputs = standardised_outputs(data.target(), "a penalty chosen by cross-validation", context)?;
    let output = outputs.first().map_or(&[][..], Vec::as_slice);
    let expected = standard_by(output, train, test);
    let mut used: Vec<usize> = path.iter().flat_map(|point| &point.coefficients).map(|(j, _)| *j).collect();
    order::sort_indices(&mut used);
    used.dedup();
    let column = |at: usize| Ok::<_, Error>(standard_by(&finite_values(data, used[at])?, train, test));
    let columns = (0..used.len()).map(column).collect::<Result<Vec<Vec<f64>>, Error>>()?;
    let error = |point: &PathPoint| {
        let mut left = expected.clone();
        for (j, weight) in &point.coefficients {
            if let Ok(at) = used.binary_search(j) {
                left.iter_mut().zip(&columns[at]).for_each(|(left, x)| *left -= weight * x);
            }
        }
        left.iter().map(|left| left * left).sum()
    };
    Ok(path.iter().map(error).collect())
}

/// The values of the samples `test`, less the mean of `train` and divided by its standard deviation.
fn standard_by(values: &[f64], train: &[usize], test: &[usize]) -> Vec<f64> {
    let n = train.len() as f64;
    let mean = train.iter().map(|&i| values[i]).sum::<f64>() / n;
    let variance = train.iter().map(|&i| (values[i] - mean).powi(2)).sum::<f64>() / n;
    let scale = if variance > 0.0 { variance.sqrt().recip() } else { 0.0 };
    test.iter().map(|&i| scale * (values[i] - mean)).collect()
}
