//! Best subset selection.

mod bound;
mod search;
mod tableau;

use fewest_core::method::Options;
use fewest_core::{
    Budget, Certificate, Context, Dataset, Error, Path, PathPoint, Selection, Selector, SolverReport, Status,
    options, words,
};
use fewest_linalg::cholesky;
use fewest_solver::InnerProducts;
use nalgebra::DMatrix;

use self::search::{Found, Search};
use super::columns::LinearColumns;

const METHOD: &str = "best-subset";

/// Most columns for which a lower bound is computed: `d³` operations for a set are many then.
const MOST_BOUNDED: usize = 64;

/// With columns of which the others leave less than this share of the variance, objectives are known less
/// well than branch and bound compares them.
const LEAST_LEFT: f64 = 1e-4;

/// A gain of an exchange, as a share of the objective at zero, that is more than rounding.
const MORE_THAN_ROUNDING: f64 = 1e-9;

/// The error of a run that ended before there was a set.
const SELECTED: &str = "a feature was selected";

words! {
    /// What decides the number of features where none is given: with `L` the mean squared error, `s` the
    /// features, `q` the outputs, `n` the samples and `d` all features, the least
    #[derive(Default)]
    pub enum SizeCriterion {
        /// `n q ln L + s q ln d ln ln n` (Fan and Tang 2013; Zhu et al. 2020), with `d` at least 2.
        #[default]
        Gic = "gic",
        /// `n q ln L + s q ln n` (Schwarz 1978).
        Bic = "bic",
        /// `n q ln L + s q ln n + 2 ln (d choose s)` (Chen and Chen 2008).
        Ebic = "ebic",
    }
}

options! {
    /// Best subset selection: the `k` features with the least squared error.
    ///
    /// ```text
    /// minimise over W   1/(2n) ‖Y − X W‖²_F     where W has at most k rows that are not zero
    /// ```
    ///
    /// Features and outputs are standardised as for [`Lasso`](crate::Lasso). The score of a feature is its
    /// coefficient in the least squares fit of the selected ones, with its sign; with several outputs their
    /// Euclidean norm.
    ///
    /// The problem is NP-hard. The search finds a set that no exchange of one feature for another
    /// improves, all coefficients fitted again (a full swap inescapable minimum of order 1, Hazimeh and
    /// Mazumder 2020, Definition 4), for every size up to `k` on the way: the best feature is added, the
    /// best exchange of one feature for another is made until there is none, from 1 feature to `k`, and
    /// back by taking the least important one away, until a pass finds nothing better. At `k` itself,
    /// `exchanges` features are added one by one and as many taken away, where splicing (Zhu et al.
    /// 2020, Algorithm 1) exchanges several at a time. Every exchange is compared exactly: with `H` the
    /// inverse of the products of the selected features, `u` the regression of all features on them, and
    /// `v` and `c` what they leave of the variances and of the correlations with the target,
    ///
    /// ```text
    /// j for i:   gain = ½ (cᵢ + wⱼ uᵢⱼ / Hⱼⱼ)² / (vᵢ + uᵢⱼ² / Hⱼⱼ) − ½ wⱼ² / Hⱼⱼ
    /// ```
    ///
    /// Certificate: where the answer is known to be the best set, since `k` is 1, or all features are
    /// selected, or branch and bound over at most 64 features ends, a gap of 0. Where it ends early, after
    /// `most_sets` sets, the gap between the objective and a lower bound for all sets, as a share of the
    /// objective at zero, and the status says so. Elsewhere a stationarity: the largest gain of an exchange,
    /// as a share of the objective at zero, which is 0 up to rounding; the best set may be another. The
    /// status is `max-iterations` where the passes ended before one found nothing better, and `stalled` where
    /// exchanges that should bring more than rounding could not be made.
    ///
    /// With `Budget::Auto` the number of features is that with the least `criterion`, of those up to
    /// `n / (ln d ln ln n)` (as Zhu et al. 2020) and to `n / 2`: with as many as samples a fit of noise is
    /// exact, and its criterion has no lower bound. With many more features than samples take `ebic`: the
    /// others may select noise up to this limit.
    ///
    /// The penalty `λ` of a point of the path is what a feature may cost before one fewer would be better:
    /// the least decrease of the objective that a feature has brought up to there.
    ///
    /// Cost: `n d` for every feature that enters for the first time, `k d` for every exchange and for
    /// the comparison of all of them. Memory: besides the data `8 d` bytes for each of those features, up to
    /// 256 MiB, and `8 (k + exchanges) d`.
    ///
    /// # Errors
    /// A target without numbers or classes, or that does not vary; a category of more than two levels; a NaN
    /// or an infinity, naming the cell; parameters out of range; sample weights; sets without memory.
    ///
    /// ```
    /// use fewest_core::{Budget, Context, Dataset, DenseColumns, Selector, Target};
    /// use fewest_linear::BestSubset;
    ///
    /// let wave = |step: i32| (0..60).map(|i| f64::from(i * step % 61) / 30.0 - 1.0).collect::<Vec<f64>>();
    /// let (a, b, c) = (wave(1), wave(17), wave(23));
    /// let target = a.iter().zip(&c).map(|(a, c)| 3.0 * a - c).collect();
    /// let data = Dataset::new(DenseColumns::from_columns(&[a, b, c])?, Target::real(target)?)?;
    /// let selection = BestSubset::default().select(&data, Budget::Count(2), &Context::default())?;
    /// assert_eq!(selection.order, [0, 2]);
    /// // The number of features is found, too.
    /// let selection = BestSubset::default().select(&data, Budget::Auto, &Context::default())?;
    /// assert_eq!(selection.order, [0, 2]);
    /// # Ok::<(), fewest_linear::Error>(())
    /// ```
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct BestSubset {
        /// What decides the number of features where none is given.
        pub criterion: SizeCriterion = SizeCriterion::Gic;
        /// Most features where none are given.
        pub max_features: usize = 50, Count(1);
        /// Features that are added and taken away again in search of a better set.
        pub exchanges: usize = 5, Count(1);
        /// Most sets examined for a lower bound, with at most 64 features; 0: no bound.
        pub most_sets: usize = 100_000, Count(0);
    }
}

impl SizeCriterion {
    /// The value for a set of `s` of `d` features with the objective `objective`.
    fn value(self, found: &Found, n: usize, d: usize) -> f64 {
        let (s, q) = (found.columns.len() as f64, found.coefficients.len() as f64);
        let (n, d) = (n as f64, d as f64);
        let fit = n * q * (2.0 * found.objective / q).max(f64::MIN_POSITIVE).ln();
        fit + match self {
            // Of a single feature `ln d` would be 0, and the feature free.
            Self::Gic => s * q * d.max(2.0).ln() * n.ln().ln().max(0.0),
            Self::Bic => s * q * n.ln(),
            Self::Ebic => {
                let choices: f64 =
                    (0..found.columns.len()).map(|i| ((d - i as f64) / (i + 1) as f64).ln()).sum();
                s * q * n.ln() + 2.0 * choices
            }
        }
    }
}

/// Most features among which a criterion decides, for `n` samples and `d` features that vary:
/// `n / (ln d ln ln n)`, and never more than `n / 2`.
fn most_decided(n: usize, d: usize) -> usize {
    let (count, d) = (n as f64, d.max(2) as f64);
    // Of few samples `ln ln n` is negative, and half of them the limit.
    let scale = d.ln() * count.ln().ln().max(0.0);
    ((count / scale) as usize).min(n / 2).max(1)
}

struct Problem<'a> {
    columns: &'a LinearColumns<'a>,
    options: &'a BestSubset,
    context: &'a Context<'a>,
    /// Columns that vary.
    n_usable: usize,
}

impl Problem<'_> {
    fn select(&self, budget: Budget, n_features: usize) -> Result<Selection, Error> {
        let most = match budget {
            Budget::Auto => {
                let most = most_decided(self.columns.n_samples(), self.n_usable);
                self.options.max_features.min(most).min(n_features)
            }
            other => other.count(&[])?,
        };
        let mut search = Search::new(self.columns, self.context);
        search.run(most, self.options.exchanges, search::MOST_PASSES)?;
        let n = self.columns.n_samples();
        let size = match budget {
            Budget::Auto => {
                // The search itself goes beyond.
                let values: Vec<f64> = search
                    .best
                    .iter()
                    .take(most + 1)
                    .map(|found| self.options.criterion.value(found, n, self.n_usable))
                    .collect();
                (0..values.len()).min_by(|&a, &b| values[a].total_cmp(&values[b])).unwrap_or(0)
            }
            _ => most.min(search.best.len() - 1),
        };
        let (found, report) = self.certified(&mut search, size)?;
        let mut path = Path::default();
        for best in search.best[1..].iter().take(most) {
            self.describe(if best.columns.len() == size { &found } else { best }, &search, &mut path);
        }
        let weights = self.scores(&found);
        let mut selection = Selection::by_weight(weights, n_features, budget, report.status);
        selection.path = Some(path);
        selection.solver = Some(report);
        selection.note_missing_features(budget, "no other decreases the squared error");
        selection.unless_stopped_before(SELECTED)
    }

    /// The best set of `size` columns, from pivots of its own, and what is known of it.
    fn certified(&self, search: &mut Search<'_>, size: usize) -> Result<(Found, SolverReport), Error> {
        let at_zero = 0.5 * self.columns.outputs.len() as f64;
        search.rebuild(&search.best[size].columns.clone())?;
        search.exchange()?;
        let is_exact = size <= 1 || size == self.n_usable;
        let report = |search: &Search<'_>, found: Found, status: Status, certificate: Certificate| {
            let status = search.stopped.unwrap_or(status);
            let report = SolverReport::new("exchanges", status, found.objective, certificate)
                .with_iterations(search.n_steps);
            Ok((found, report))
        };
        let here = search.here();
        if here.columns.len() < size {
            // Stopped on the way there.
            return report(search, search.best[size].clone(), Status::Stalled, Certificate::None);
        }
        if is_exact && search.stopped.is_none() {
            return report(search, here, Status::Converged, Certificate::gap(0.0));
        }
        let bounded = if search.stopped.is_some() { None } else { self.bounded(search, size)? };
        let Some(bounded) = bounded else {
            let gain = search.largest_gain() / at_zero;
            let status = match search.is_settled {
                _ if gain > MORE_THAN_ROUNDING => Status::Stalled,
                true => Status::Converged,
                false => Status::MaxIterations,
            };
            return report(search, here, status, Certificate::stationarity(gain));
        };
        let mut found = here;
        if let Some((columns, _)) = &bounded.better {
            search.rebuild(columns)?;
            let better = search.here();
            if better.columns.len() == size && better.objective < found.objective {
                found = better;
            }
        }
        let gap = ((found.objective - bounded.lower) / at_zero).max(0.0);
        search.n_steps += bounded.n_sets;
        let status = if bounded.is_complete { Status::Converged } else { Status::MaxIterations };
        search.stopped = if bounded.is_complete { None } else { self.context.stopped() };
        report(search, found, status, Certificate::gap(gap))
    }

    /// Branch and bound where there are few columns, none of which depends on the others.
    fn bounded(&self, search: &mut Search<'_>, size: usize) -> Result<Option<bound::Bounded>, Error> {
        let norms = &self.columns.atoms().squared_norms;
        let usable: Vec<usize> = (0..norms.len()).filter(|&column| norms[column] > 0.0).collect();
        let d = usable.len();
        if d > MOST_BOUNDED || d >= self.columns.n_samples() || self.options.most_sets == 0 {
            return Ok(None);
        }
        let mut gram = vec![0.0; d * d];
        self.columns.products(&usable, &usable, &mut gram)?;
        let Some(factor) = cholesky(DMatrix::from_vec(d, d, gram)) else { return Ok(None) };
        let inverse = factor.inverse();
        // What the others leave of a column, of variance 1, is the inverse of its entry.
        if inverse.diagonal().iter().any(|entry| entry.is_nan() || *entry > LEAST_LEFT.recip()) {
            return Ok(None);
        }
        let of = |products: &Vec<f64>| usable.iter().map(|&column| products[column]).collect();
        let products: Vec<Vec<f64>> = self.columns.outputs.iter().map(of).collect();
        let known = search.here().objective;
        let is_stopped = || self.context.stopped().is_some();
        let mut bounded =
            bound::search(inverse.as_slice(), &products, size, known, self.options.most_sets, &is_stopped);
        if let Some((columns, _)) = &mut bounded.better {
            columns.iter_mut().for_each(|column| *column = usable[*column]);
        }
        Ok(Some(bounded))
    }

    fn scores(&self, found: &Found) -> Vec<(usize, f64)> {
        let of = |w: &Vec<f64>| found.columns.iter().copied().zip(w.iter().copied()).collect();
        let outputs: Vec<Vec<(usize, f64)>> = found.coefficients.iter().map(of).collect();
        self.columns.feature_scores(&outputs).into_iter().collect()
    }

    /// Adds a set to the path.
    fn describe(&self, found: &Found, search: &Search<'_>, path: &mut Path) {
        let coefficients = self.scores(found);
        for &column in &found.columns {
            let feature = self.columns.feature(column);
            if !path.entered.contains(&feature) {
                path.entered.push(feature);
            }
        }
        let before = search.best[found.columns.len() - 1].objective;
        let cost = before - found.objective;
        let lambda = path.points.last().map_or(cost, |point| point.lambda.min(cost)).max(0.0);
        path.points.push(PathPoint { lambda, coefficients });
    }
}

impl Selector for BestSubset {
    fn select(&self, data: &Dataset, budget: Budget, context: &Context<'_>) -> Result<Selection, Error> {
        Selection::only(self.select_many(data, &[budget], context)?)
    }

    /// Columns are standardised once for all budgets.
    fn select_many(
        &self,
        data: &Dataset,
        budgets: &[Budget],
        context: &Context<'_>,
    ) -> Result<Vec<Selection>, Error> {
        self.check()?;
        budgets.iter().try_for_each(|budget| budget.check(data.n_features()))?;
        let columns = LinearColumns::new(data, METHOD, context)?;
        if let Some(column) = (0..columns.n_atoms()).find(|&column| columns.is_level(column)) {
            return Err(Error::Unsupported {
                method: METHOD,
                what: format!(
                    "a category of more than two levels, as feature {} is",
                    data.feature_name(columns.feature(column))
                ),
                instead: "leave it out, or make a column of 0 and 1 for each level".to_owned(),
            });
        }
        let n_usable = columns.atoms().squared_norms.iter().filter(|norm| **norm > 0.0).count();
        let problem = Problem { columns: &columns, options: self, context, n_usable };
        let mut selections = Vec::with_capacity(budgets.len());
        for &budget in budgets {
            if !selections.is_empty() && context.stopped().is_some() {
                return Err(Error::Stopped { before: "features were selected for every budget" });
            }
            selections.push(problem.select(budget, data.n_features())?);
        }
        Ok(selections)
    }
}
