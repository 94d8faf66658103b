//! Quadratic programming feature selection.

use fewest_core::method::{Options, ParameterType, Range, Value};
use fewest_core::{
    Budget, Certificate, Context, Dataset, Error, Selection, Selector, SolverReport, Status, derive_seed,
    options,
};
use fewest_counts::discretisation::Discretisation;
use fewest_lars::{LassoPath, PathOptions};
use fewest_solver::{Atoms, InnerProducts};

use super::similarity::{FeatureSimilarity, Matrix};
use super::{NO_OTHERS, control, ranked};

/// Features over which the mean similarity is taken; of more, so many are drawn.
const FEATURES_OF_MEAN: usize = 500;

/// Active features that the first stretch of the path goes to.
const FIRST_ACTIVE: usize = 64;

/// The constant added to the linear term, in units of the largest entry of the quadratic one.
const ROOM: f64 = 1.001;

/// The weight `γ` of relevance against redundancy in [`Qpfs`]: `auto`, or a number.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum RelevanceWeight {
    /// By the means of both.
    #[default]
    Auto,
    /// This one, from 0 to 1.
    Value(f64),
}

impl ParameterType for RelevanceWeight {
    fn range() -> Range {
        Range::ShareOr(&["auto"])
    }

    fn to_value(&self) -> Option<Value> {
        Some(match self {
            RelevanceWeight::Auto => Value::Word("auto"),
            RelevanceWeight::Value(gamma) => Value::Real(*gamma),
        })
    }

    fn from_value(value: Option<&Value>) -> Option<Self> {
        match value {
            Some(Value::Word("auto")) => Some(RelevanceWeight::Auto),
            Some(Value::Real(gamma)) => Some(RelevanceWeight::Value(*gamma)),
            _ => None,
        }
    }
}

options! {
    /// Quadratic programming feature selection (Section 3.4 of Yamada et al. 2014; Rodriguez-Lujan, Huerta,
    /// Elkan and Santa Cruz 2010):
    ///
    /// ```text
    /// minimise over θ ≥ 0, Σ θ = 1   ½ (1 − γ) θᵀ D θ − γ dᵀ θ,   Dₖₗ = D(uₖ, uₗ), dₖ = D(uₖ, y)
    /// ```
    ///
    /// Features are ranked by `θ`. `γ` weighs relevance against redundancy; left out, it is `q̄ / (q̄ + f̄)`
    /// with the means `q̄` of `D` and `f̄` of `d` (for more than 500 features `q̄` is that of as many drawn
    /// by the seed).
    ///
    /// `D` is a [`FeatureSimilarity`], never formed. Adding a constant `s` to every entry of the linear term
    /// changes nothing on the simplex, and for `s` large enough the solution is a point of the non-negative
    /// lasso's exact path, the one where the coefficients sum to 1; [`fewest_lars`] checks it against all
    /// features. The certificate is the gap `θᵀ∇ − minₖ ∇ₖ` over all features, relative to the largest entry
    /// of `(1 − γ) D`.
    ///
    /// Cost: a product of every feature with every one that has a weight.
    ///
    /// # Errors
    /// Of kernels as [`HsicLasso`](crate::HsicLasso); with mutual information for a target that is neither
    /// classes nor one real output, and for bins out of range; `γ` outside [0, 1].
    ///
    /// ```
    /// use fewest_core::{Budget, Context, Dataset, DenseColumns, Selector, Target};
    /// use fewest_dependence::Qpfs;
    ///
    /// let wave = |step: i32| (0..60).map(|i| f64::from(i * step % 61) / 30.0 - 1.0).collect::<Vec<f64>>();
    /// let (a, b, c) = (wave(1), wave(17), wave(23));
    /// let target = a.iter().zip(&b).map(|(a, b)| 3.0 * a * a + b).collect();
    /// let data = Dataset::new(DenseColumns::from_columns(&[a, b, c])?, Target::real(target)?)?;
    /// let selection = Qpfs::default().select(&data, Budget::Auto, &Context::default())?;
    /// assert_eq!(selection.order[0], 0);
    /// assert!((selection.scores.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    /// # Ok::<(), fewest_dependence::Error>(())
    /// ```
    #[derive(Debug, Clone)]
    pub struct Qpfs {
        /// Weight of relevance; auto: mean of D / (mean of D + mean of d).
        pub gamma: RelevanceWeight = RelevanceWeight::Auto;
        /// D: mutual information over levels, HSIC of Gram matrices of norm 1, or the squared correlation.
        pub similarity: FeatureSimilarity = FeatureSimilarity::MutualInformation(Discretisation::default());
    }
}

/// `(1 − γ) D` and `γ d + s`, where features without variance have neither.
struct Simplex<P> {
    inner: P,
    scale: f64,
    atoms: Atoms,
}

impl<P: InnerProducts> Simplex<P> {
    fn new(inner: P, gamma: f64) -> Self {
        let scale = 1.0 - gamma;
        let squared_norms: Vec<f64> = inner.squared_norms().iter().map(|norm| scale * norm).collect();
        // At the solution the multiplier is at least −max Dₖₖ: so shifted, it is above 0 and the path gets
        // there.
        let shift = ROOM * squared_norms.iter().copied().fold(0.0, f64::max);
        let target_products = inner
            .target_products()
            .iter()
            .zip(&squared_norms)
            .map(|(product, norm)| if *norm > 0.0 { gamma * product + shift } else { 0.0 })
            .collect();
        let atoms =
            Atoms { target_products, squared_norms, lower_bound_errors: Vec::new(), ..inner.atoms().clone() };
        Self { inner, scale, atoms }
    }
}

impl<P: InnerProducts> InnerProducts for Simplex<P> {
    fn atoms(&self) -> &Atoms {
        &self.atoms
    }

    fn products(&self, rows: &[usize], columns: &[usize], out: &mut [f64]) -> Result<(), Error> {
        self.inner.products(rows, columns, out)?;
        out.iter_mut().for_each(|value| *value *= self.scale);
        Ok(())
    }
}

/// `q̄ / (q̄ + f̄)`.
fn mean_rule(matrix: Matrix<'_>, seed: u64) -> Result<f64, Error> {
    let mut features: Vec<usize> = (0..matrix.n_features()).filter(|&j| matrix.diagonal()[j] > 0.0).collect();
    let varying = features.len().max(1) as f64;
    let relevance = features.iter().map(|&j| matrix.relevance()[j]).sum::<f64>() / varying;
    if features.len() > FEATURES_OF_MEAN {
        features.sort_by_cached_key(|&j| derive_seed(seed, j as u64));
        features.truncate(FEATURES_OF_MEAN);
    }
    let mut products = vec![0.0; features.len() * features.len()];
    matrix.entries(&features, &features, &mut products)?;
    let redundancy = products.iter().sum::<f64>() / products.len().max(1) as f64;
    let sum = redundancy + relevance;
    Ok(if sum > 0.0 { (redundancy / sum).clamp(0.0, 1.0) } else { 0.5 })
}

fn sum(weights: &[(usize, f64)]) -> f64 {
    weights.iter().map(|(_, weight)| weight).sum()
}

/// The point of the path where the coefficients sum to 1; `None` where they do not yet.
fn at_sum_one(path: &LassoPath) -> Option<Vec<(usize, f64)>> {
    let after = path.breakpoints.iter().position(|point| sum(&point.coefficients) >= 1.0)?;
    let end = &path.breakpoints[after].coefficients;
    let start = after.checked_sub(1).map_or(&[][..], |before| &path.breakpoints[before].coefficients);
    let share = (1.0 - sum(start)) / (sum(end) - sum(start));
    let mut weights: Vec<(usize, f64)> = end.iter().map(|&(j, weight)| (j, share * weight)).collect();
    for &(j, weight) in start {
        match weights.binary_search_by_key(&j, |&(other, _)| other) {
            Ok(at) => weights[at].1 += (1.0 - share) * weight,
            Err(at) => weights.insert(at, (j, (1.0 - share) * weight)),
        }
    }
    Some(weights)
}

impl Selector for Qpfs {
    fn select(&self, data: &Dataset, budget: Budget, context: &Context<'_>) -> Result<Selection, Error> {
        data.refuse_sample_weights("qpfs")?;
        let d = data.n_features();
        budget.check(d)?;
        self.check()?;
        self.similarity.with_products(data, "qpfs", context, |matrix| {
            let gamma = match self.gamma {
                RelevanceWeight::Auto => mean_rule(matrix, context.seed)?,
                RelevanceWeight::Value(gamma) => gamma,
            };
            if gamma == 1.0 {
                most_relevant(matrix, budget)
            } else {
                self.solve(matrix, gamma, budget, context)
            }
        })
    }
}

impl Qpfs {
    fn solve(
        &self,
        matrix: Matrix<'_>,
        gamma: f64,
        budget: Budget,
        context: &Context<'_>,
    ) -> Result<Selection, Error> {
        let d = matrix.n_features();
        let (path, weights, constant) = self.similarity.convexly(matrix, |products| {
            let problem = Simplex::new(products, gamma);
            let mut most_active = FIRST_ACTIVE;
            loop {
                let options = PathOptions { most_active, ..PathOptions::default() };
                let path = fewest_lars::path(&problem, &options, &control(context))?;
                let weights = at_sum_one(&path);
                let ended = path.breakpoints.last().is_none_or(|point| point.lambda <= 0.0);
                let fails = path.status != Status::Converged || self.similarity.is_indefinite(&path);
                if weights.is_some() || ended || fails {
                    return Ok((path, weights));
                }
                most_active *= 2;
                context.report("active features", most_active.min(d), d);
            }
        })?;
        let Some(weights) = weights else {
            if path.status.is_stopped() {
                return Err(Error::Stopped { before: "the quadratic program was solved" });
            }
            // Nothing varies.
            let report = SolverReport::new("lars", path.status, 0.0, Certificate::gap(0.0))
                .with_lambda(gamma)
                .with_iterations(path.iterations as usize);
            return ranked(Vec::new(), d, budget, report, NO_OTHERS);
        };
        // Over all features a shifted `D` need not be positive semidefinite.
        let certificate = if constant > 0.0 { Certificate::stationarity } else { Certificate::gap };
        let (objective, gap) = certify(&matrix.with_diagonal(constant)?, gamma, &weights)?;
        let report =
            SolverReport::new("lars", Status::by_certificate(gap, 1e-9), objective, certificate(gap))
                .with_lambda(gamma)
                .with_iterations(path.iterations as usize);
        let mut selection = ranked(weights, d, budget, report, NO_OTHERS)?;
        selection.notes.push(format!("gamma, the weight of relevance, is {gamma:.4}"));
        selection.notes.extend(FeatureSimilarity::note(constant));
        Ok(selection)
    }
}

/// Without a quadratic term all weight is on the most relevant feature.
fn most_relevant(matrix: Matrix<'_>, budget: Budget) -> Result<Selection, Error> {
    let best = fewest_core::rank(matrix.relevance(), true)[0];
    let report =
        SolverReport::new("qpfs", Status::Converged, -matrix.relevance()[best], Certificate::gap(0.0))
            .with_lambda(1.0)
            .with_iterations(0);
    let weights = if matrix.diagonal()[best] > 0.0 { vec![(best, 1.0)] } else { Vec::new() };
    ranked(
        weights,
        matrix.n_features(),
        budget,
        report,
        "without a quadratic term one feature has all the weight",
    )
}

/// The objective and the gap `θᵀ∇ − min ∇` over all features that vary, relative to the largest `(1 − γ)
/// Dₖₖ`.
fn certify(
    similarities: &dyn InnerProducts,
    gamma: f64,
    weights: &[(usize, f64)],
) -> Result<(f64, f64), Error> {
    let (support, theta): (Vec<usize>, Vec<f64>) = weights.iter().copied().unzip();
    let rows: Vec<usize> =
        (0..similarities.n_atoms()).filter(|&j| similarities.squared_norms()[j] > 0.0).collect();
    let mut products = vec![0.0; rows.len() * support.len()];
    similarities.products(&rows, &support, &mut products)?;
    let mut gradient: Vec<f64> = rows.iter().map(|&j| -gamma * similarities.target_products()[j]).collect();
    for (weight, column) in theta.iter().zip(products.chunks_exact(rows.len().max(1))) {
        for (value, product) in gradient.iter_mut().zip(column) {
            *value += (1.0 - gamma) * weight * product;
        }
    }
    let (mut along, mut linear) = (0.0, 0.0);
    for &(j, weight) in weights {
        let at = rows.partition_point(|&row| row < j);
        along += weight * gradient[at];
        linear -= gamma * weight * similarities.target_products()[j];
    }
    let smallest = gradient.iter().copied().fold(f64::INFINITY, f64::min);
    let largest = similarities.squared_norms().iter().copied().fold(0.0, f64::max) * (1.0 - gamma);
    Ok((0.5 * (along + linear), ((along - smallest) / largest).max(0.0)))
}
