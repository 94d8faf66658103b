//! Centred kernel target alignment.

use fewest_core::method::Options;
use fewest_core::{Budget, Certificate, Context, Dataset, Error, Selection, Selector, SolverReport, options};
use fewest_lars::PathOptions;
use fewest_solver::{InnerProducts, Ridged, Scaled};

use super::{NO_OTHERS, control, ranked};
use crate::atoms::{self, Measure};
use crate::{Dependence, Normalization};

/// Where the path ends, as a share of the largest penalty: the limit of no penalty, to nine digits.
const END: f64 = 1e-9;

options! {
    /// Centred kernel target alignment as feature selection (Section 2.7 of Yamada et al. 2014; Cortes, Mohri
    /// and Rostamizadeh 2012): HSIC Lasso without its penalty,
    ///
    /// ```text
    /// minimise over α ≥ 0   ½ Σₖₗ αₖ αₗ HSIC(uₖ, uₗ) − Σₖ αₖ HSIC(uₖ, y) + ½ ridge Σ αₖ²
    /// ```
    ///
    /// Features are ranked by `α`. The small ridge is the paper's: with more features than `n²/2` there is no
    /// unique minimum without it. Not all of a budget need have a weight.
    ///
    /// The minimum is the end of the exact non-negative path ([`fewest_lars`]), checked against all features;
    /// the certificate is that of the penalty at its end, a billionth of the one that selects nothing.
    ///
    /// Cost: that of HSIC Lasso for as many features as have a weight.
    ///
    /// # Errors
    /// As [`HsicLasso`](crate::HsicLasso); a ridge below 0.
    ///
    /// ```
    /// use fewest_core::{Budget, Context, Dataset, DenseColumns, Selector, Target};
    /// use fewest_dependence::Ckta;
    ///
    /// let wave = |step: i32| (0..60).map(|i| f64::from(i * step % 61) / 30.0 - 1.0).collect::<Vec<f64>>();
    /// let (a, b, c) = (wave(1), wave(17), wave(23));
    /// let target = a.iter().zip(&b).map(|(a, b)| 3.0 * a * a + b).collect();
    /// let data = Dataset::new(DenseColumns::from_columns(&[a, b, c])?, Target::real(target)?)?;
    /// let mut order = Ckta::default().select(&data, Budget::Count(2), &Context::default())?.order;
    /// order.sort();
    /// assert_eq!(order, [0, 1]);
    /// # Ok::<(), fewest_dependence::Error>(())
    /// ```
    #[derive(Debug, Clone)]
    pub struct Ckta {
        /// Ridge that makes the minimum unique, as a share of the largest squared norm of a Gram matrix.
        pub ridge: f64 = 1e-3, NonNegative;
        /// How dependence is measured.
        pub dependence: Dependence = Dependence::default();
    }
}

impl Selector for Ckta {
    fn select(&self, data: &Dataset, budget: Budget, context: &Context<'_>) -> Result<Selection, Error> {
        budget.check(data.n_features())?;
        self.check()?;
        let atoms = atoms::build(data, Measure::Hsic, &self.dependence, "ckta", context)?;
        let scaled: Box<dyn InnerProducts + Send + '_> = match self.dependence.normalization {
            Normalization::None => Box::new(atoms),
            Normalization::Unit => Box::new(Scaled::to_norm_one(atoms)),
        };
        let largest_norm = scaled.squared_norms().iter().copied().fold(0.0, f64::max);
        let problem = Ridged::new(scaled, self.ridge * largest_norm)?;
        let largest = problem.target_products().iter().copied().fold(0.0, f64::max);
        let options = PathOptions { smallest_lambda: END * largest, ..PathOptions::default() };
        let path = fewest_lars::path(&problem, &options, &control(context))?;
        let (lambda, weights) = path
            .breakpoints
            .last()
            .map_or((0.0, Vec::new()), |point| (point.lambda, point.coefficients.clone()));
        // The path's is that of the lasso, with its penalty and the constant ½ ‖L̄‖².
        let sum: f64 = weights.iter().map(|(_, weight)| weight).sum();
        let objective = path.objective - 0.5 * problem.target_squared_norm() - lambda * sum;
        let report = SolverReport::new("lars", path.status, objective, Certificate::gap(path.duality_gap))
            .with_lambda(lambda)
            .with_iterations(path.iterations as usize);
        ranked(weights, data.n_features(), budget, report, NO_OTHERS)
    }
}
