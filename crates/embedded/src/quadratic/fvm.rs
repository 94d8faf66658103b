//! Feature vector machine.

use fewest_core::{
    Budget, Context, Dataset, Error, Path, PathPoint, Selection, Selector, SolverReport, Status, Target,
};
use fewest_kernels::Bandwidth;
use fewest_lars::{Event, PathOptions};
use fewest_solver::{InnerProducts, Normalised};

use super::{control, ranked};
use crate::atoms::{self, Measure};
use crate::signed::Signed;
use crate::{Dependence, Normalization, OutputKernel};

/// Feature vector machine (Section 1.4 of Yamada et al. 2014, Eq. 1; Li, Yang and Xing 2006): the lasso in the space of
/// feature vectors,
///
/// ```text
/// minimise over α   ½ ‖φ(y) − Σₖ αₖ φ(uₖ)‖² + λ Σₖ |αₖ|,   φ(u)ᵀ φ(v) = D(u, v)
/// ```
///
/// whose dual is the quadratic program of Eq. (2), `min ½ αᵀ D α` subject to `|αᵀ dₖ − D(uₖ, y)| ≤ λ` (printed there with the
/// `λ/2` of a loss without the factor ½). Unlike HSIC Lasso, coefficients have any sign and the target has the features'
/// kernel: class codes get the Gaussian kernel too. `D` here is HSIC and so positive semidefinite; the mutual
/// information of the original is not, and its program not convex.
///
/// Features are ranked by `|αₖ|`. With `Budget::Count(k)` the answer is the point of the exact path just before more than `k`
/// features would be active for the first time.
///
/// Cost: as HSIC Lasso, but every feature has to be compared with every chosen one.
///
/// # Errors
/// As [`HsicLasso`](crate::HsicLasso).
///
/// ```
/// use fewest_core::{Budget, Context, Dataset, DenseColumns, Selector, Target};
/// use fewest_embedded::Fvm;
///
/// let wave = |step: i32| (0..60).map(|i| f64::from(i * step % 61) / 30.0 - 1.0).collect::<Vec<f64>>();
/// let (a, b, c) = (wave(1), wave(17), wave(23));
/// let target = a.iter().zip(&b).map(|(a, b)| 3.0 * a * a + b).collect();
/// let data = Dataset::new(DenseColumns::from_columns(&[a, b, c])?, Target::real(target)?)?;
/// let mut order = Fvm::default().select(&data, Budget::Count(2), &Context::default())?.order;
/// order.sort();
/// assert_eq!(order, [0, 1]);
/// # Ok::<(), fewest_embedded::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Fvm {
    /// How dependence is measured. [`OutputKernel::Auto`] means the features' kernel.
    pub dependence: Dependence,
    /// The penalty as a share, in (0, 1], of the smallest that selects nothing; `None`: by number of features.
    pub lambda_ratio: Option<f64>,
}

impl Selector for Fvm {
    fn select(&self, data: &Dataset, budget: Budget, context: &Context<'_>) -> Result<Selection, Error> {
        budget.check(data.n_features())?;
        let mut dependence = self.dependence.clone();
        if let (OutputKernel::Auto, Target::Class(_)) = (&dependence.output, data.target()) {
            dependence.output = OutputKernel::Gaussian(Bandwidth::Fixed(1.0));
        }
        let most_active = match (self.lambda_ratio, budget) {
            (Some(ratio), _) if !(ratio > 0.0 && ratio <= 1.0) => {
                return Err(Error::parameter("lambda_ratio", ratio, "above 0 and at most 1"));
            }
            (Some(_), _) => usize::MAX,
            (None, Budget::Count(k)) => k,
            (None, _) => {
                let expected = "a number of features, unless lambda_ratio is given";
                return Err(Error::parameter("k", "not given", expected));
            }
        };
        let atoms = atoms::build(data, Measure::Hsic, &dependence, context)?;
        let scaled: Box<dyn InnerProducts + Send + '_> = match dependence.normalization {
            Normalization::None => Box::new(atoms),
            Normalization::Unit => Box::new(Normalised::new(atoms)),
        };
        let problem = Signed::single(scaled);
        let largest = problem.target_products().iter().copied().fold(0.0, f64::max);
        let smallest_lambda = self.lambda_ratio.map_or(0.0, |ratio| ratio * largest);
        context.report("path", 0, 1);
        let options = PathOptions { most_active, smallest_lambda, ..PathOptions::default() };
        let path = fewest_lars::path(&problem, &options, &control(context))?;
        context.report("path", 1, 1);
        let signed = |coefficients: &[(usize, f64)]| -> Vec<(usize, f64)> {
            problem.merge(coefficients).into_iter().map(|(feature, _, value)| (feature, value)).collect()
        };
        let mut told = Path::default();
        for point in &path.breakpoints {
            if let Event::Joined(atom) = point.event
                && !told.entered.contains(&problem.inner_atom(atom))
            {
                told.entered.push(problem.inner_atom(atom));
            }
            let coefficients = signed(&point.coefficients);
            told.points.push(PathPoint { lambda: point.lambda, coefficients });
        }
        let end = told.points.last();
        let weights = end.map_or(Vec::new(), |point| point.coefficients.clone());
        let report = SolverReport {
            name: "lars",
            status: path.status,
            objective: path.objective,
            duality_gap: path.duality_gap,
            lambda: end.map_or(0.0, |point| point.lambda),
            iterations: path.iterations as usize,
        };
        let stopped = path.status != Status::Converged;
        if stopped && weights.is_empty() {
            return Err(Error::Stopped { before: "a feature was chosen" });
        }
        let mut selection = ranked(weights, data.n_features(), budget, report);
        selection.path = Some(told);
        Ok(selection)
    }
}
