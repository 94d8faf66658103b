//! Feature vector machine.

use fewest_core::method::{Options, Regularization};
use fewest_core::{
    Budget, Certificate, Context, Dataset, Error, Path, PathPoint, Selection, Selector, SolverReport, options,
};
use fewest_lars::{Event, LassoPath, PathOptions};
use fewest_solver::{InnerProducts, Signed};

use super::similarity::FeatureSimilarity;
use super::{NO_OTHERS, control, ranked};
use crate::Dependence;

options! {
    /// Feature vector machine (Section 1.4 of Yamada et al. 2014, Eq. 1; Li, Yang and Xing 2006): the lasso
    /// in the space of feature vectors,
    ///
    /// ```text
    /// minimise over α   ½ ‖φ(y) − Σₖ αₖ φ(uₖ)‖² + λ Σₖ |αₖ|,   φ(u)ᵀ φ(v) = D(u, v)
    /// ```
    ///
    /// whose dual is the quadratic program of Eq. (2), `min ½ αᵀ D α` subject to `|αᵀ dₖ − D(uₖ, y)| ≤ λ`
    /// (printed there with the `λ/2` of a loss without the factor ½). Unlike HSIC Lasso, coefficients have
    /// any sign. `D` is HSIC by default, which is positive semidefinite, with the delta kernel for classes: a
    /// Gaussian kernel of their codes would depend on their names. That of the original, the mutual
    /// information, need not be: see [`FeatureSimilarity::MutualInformation`].
    ///
    /// Features are ranked by `|αₖ|`. The paper's experiments have `λ = 1`; with the `λ/2` of its Eq. (2)
    /// that is 0.5 here. With `Budget::Count(k)` the answer is the point of the exact path just before more
    /// than `k` features would be active for the first time.
    ///
    /// Cost: as HSIC Lasso, but every feature has to be compared with every chosen one.
    ///
    /// # Errors
    /// As [`Qpfs`](crate::Qpfs); a penalty out of range.
    ///
    /// ```
    /// use fewest_core::{Budget, Context, Dataset, DenseColumns, Selector, Target};
    /// use fewest_dependence::Fvm;
    ///
    /// let wave = |step: i32| (0..60).map(|i| f64::from(i * step % 61) / 30.0 - 1.0).collect::<Vec<f64>>();
    /// let (a, b, c) = (wave(1), wave(17), wave(23));
    /// let target = a.iter().zip(&b).map(|(a, b)| 3.0 * a * a + b).collect();
    /// let data = Dataset::new(DenseColumns::from_columns(&[a, b, c])?, Target::real(target)?)?;
    /// let mut order = Fvm::default().select(&data, Budget::Count(2), &Context::default())?.order;
    /// order.sort();
    /// assert_eq!(order, [0, 1]);
    /// # Ok::<(), fewest_dependence::Error>(())
    /// ```
    #[derive(Debug, Clone)]
    pub struct Fvm {
        /// How strong the penalty is.
        pub regularization: Regularization = Regularization::Count, offers(Value, Ratio);
        /// D: mutual information over levels, HSIC, or the squared correlation.
        pub similarity: FeatureSimilarity =
            FeatureSimilarity::Hsic { dependence: Dependence::default() };
    }
}

impl Selector for Fvm {
    fn select(&self, data: &Dataset, budget: Budget, context: &Context<'_>) -> Result<Selection, Error> {
        data.refuse_sample_weights("fvm")?;
        budget.check(data.n_features())?;
        self.check()?;
        let similarity = &self.similarity;
        let most_active = match self.regularization {
            Regularization::Value(_) | Regularization::Ratio(_) => usize::MAX,
            _ => budget.count(&["lambda", "lambda_ratio"])?,
        };
        let (path, by_feature, constant) = similarity.with_products(data, "fvm", context, |matrix| {
            similarity.convexly(matrix, |products| {
                let problem = Signed::new(products);
                let largest = problem.target_products().iter().copied().fold(0.0, f64::max);
                let smallest_lambda = match self.regularization {
                    Regularization::Value(lambda) => lambda,
                    Regularization::Ratio(ratio) => ratio * largest,
                    _ => 0.0,
                };
                let options = PathOptions { most_active, smallest_lambda, ..PathOptions::default() };
                let path = fewest_lars::path(&problem, &options, &control(context))?;
                let by_feature = by_feature(&path, &problem);
                Ok((path, by_feature))
            })
        })?;
        let end = by_feature.points.last();
        let weights = end.map_or(Vec::new(), |point| point.coefficients.clone());
        let report =
            SolverReport::new("lars", path.status, path.objective, Certificate::gap(path.duality_gap))
                .with_lambda(end.map_or(0.0, |point| point.lambda))
                .with_iterations(path.iterations as usize);
        let no_others = match self.regularization {
            Regularization::Value(_) => "a smaller `lambda` gives more features a weight",
            Regularization::Ratio(_) => "a smaller `lambda_ratio` gives more features a weight",
            _ => NO_OTHERS,
        };
        let mut selection = ranked(weights, data.n_features(), budget, report, no_others)?;
        selection.path = Some(by_feature);
        selection.notes.extend(FeatureSimilarity::note(constant));
        Ok(selection)
    }
}

/// The path in terms of features and signed coefficients.
fn by_feature<P: InnerProducts>(path: &LassoPath, problem: &Signed<P>) -> Path {
    let mut found = Path::default();
    for point in &path.breakpoints {
        if let Event::Joined(atom) = point.event
            && !found.entered.contains(&problem.inner_atom(atom))
        {
            found.entered.push(problem.inner_atom(atom));
        }
        let coefficients = problem.merge(&point.coefficients);
        found.points.push(PathPoint { lambda: point.lambda, coefficients });
    }
    found
}
