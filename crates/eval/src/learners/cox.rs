//! Proportional hazards with a ridge.

use fewest_core::method::Options;
use fewest_core::{Columns, Context, Dataset, Error, Target, options};
use fewest_linalg::{dot, gram, symmetric_eigen_unless};
use fewest_machines::{Encoding, Points};
use fewest_solver::loss::{Cox, Loss, Samples, Ties};
use nalgebra::{DMatrix, DVector};

use super::{Learner, Model, Predictions};

/// Most Newton steps, and most halvings of one.
const MOST_STEPS: usize = 100;

/// The gradient, as a share of the first one, with which the last of these steps is an answer.
const SMALL_GRADIENT: f64 = 1e-6;
const MOST_HALVINGS: usize = 40;

/// Share of the predicted decrease that a step must achieve (Armijo).
const SUFFICIENT_DECREASE: f64 = 1e-4;

/// Directions of less than this share of the largest variance are rounding.
const ROUNDING: f64 = 1e-12;

const FITTED: &str = "the proportional hazards model was fitted";

options! {
    /// The proportional hazards model (Cox 1972) with a ridge on standardised features: the minimiser of
    /// `ℓ(X w) + ½ λ ‖w‖²`, with the mean negative log partial likelihood `ℓ` over samples ([`Cox`], ties by
    /// Efron's rule). It predicts the logarithm of the hazard but for a constant: the larger it is, the
    /// earlier the event.
    ///
    /// Newton steps in as many coordinates as there are samples or features, whichever are fewer: `n k²`
    /// each, and once `n² d` for more features than samples.
    ///
    /// ```
    /// use fewest_core::{Context, Dataset, DenseColumns, Target};
    /// use fewest_eval::{Concordance, CoxRidge, Learner, Metric};
    ///
    /// let x: Vec<f64> = (0..30).map(|i| f64::from(i * 7 % 30)).collect();
    /// let times = x.iter().map(|x| 40.0 - x).collect();
    /// let target = Target::survival(times, (0..30).map(|i| i % 4 != 0).collect())?;
    /// let data = Dataset::new(DenseColumns::from_columns(&[x])?, target)?;
    /// let model = CoxRidge::default().fit(&data, &Context::default())?;
    /// assert_eq!(Concordance.score(data.target(), &model.predict(data.x())?)?, 1.0);
    /// # Ok::<(), fewest_core::Error>(())
    /// ```
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct CoxRidge {
        /// λ, weight of the ridge.
        pub lambda: f64 = 0.1, Positive;
    }
}

/// A fitted [`CoxRidge`].
pub struct CoxRidgeModel {
    encoding: Encoding,
    /// The coefficients of the standardised features.
    pub weights: Vec<f64>,
    /// The length of the gradient at the solution, relative to that at zero.
    pub gradient: f64,
}

/// The samples in coordinates of a space that contains them, column after column, and the way back.
struct Coordinates {
    values: Vec<f64>,
    /// A column for each coordinate, in terms of the samples; `None` where the coordinates are the features.
    back: Option<DMatrix<f64>>,
}

impl Coordinates {
    fn of(points: &Points, context: &Context<'_>) -> Result<Self, Error> {
        let (n, d) = (points.n_samples, points.width);
        if d <= n {
            let values = (0..d).flat_map(|j| (0..n).map(move |i| points.point(i)[j])).collect();
            return Ok(Self { values, back: None });
        }
        let rows: Vec<f64> = (0..n).flat_map(|i| points.point(i)).copied().collect();
        let products = DMatrix::from_vec(n, n, gram(&rows, d));
        let is_stopped = || context.stopped().is_some();
        let eigen = symmetric_eigen_unless(products, &is_stopped).ok_or(Error::Stopped { before: FITTED })?;
        let largest = eigen.eigenvalues.amax();
        let kept: Vec<usize> = (0..n).filter(|&k| eigen.eigenvalues[k] > ROUNDING * largest).collect();
        let scaled = |k: usize, power: f64| eigen.eigenvectors.column(k) * eigen.eigenvalues[k].powf(power);
        let values = kept.iter().flat_map(|&k| scaled(k, 0.5).as_slice().to_vec()).collect();
        let columns: Vec<DVector<f64>> = kept.iter().map(|&k| scaled(k, -0.5)).collect();
        let back = if columns.is_empty() { DMatrix::zeros(n, 0) } else { DMatrix::from_columns(&columns) };
        Ok(Self { values, back: Some(back) })
    }

    /// The coefficients of the features.
    fn weights(&self, v: &DVector<f64>, points: &Points) -> Vec<f64> {
        let Some(back) = &self.back else { return v.as_slice().to_vec() };
        let of_samples = back * v;
        let mut weights = vec![0.0; points.width];
        for (i, share) in of_samples.iter().enumerate() {
            weights.iter_mut().zip(points.point(i)).for_each(|(weight, value)| *weight += share * value);
        }
        weights
    }
}

impl CoxRidge {
    /// [`Learner::fit`], with the model's own type.
    ///
    /// # Errors
    /// For a target without survival times, or without an event at which another sample was at risk;
    /// parameters out of range; values that are not finite; [`Error::Numerical`] where `lambda` is too small
    /// for features that depend on each other.
    pub fn train(&self, data: &Dataset, context: &Context<'_>) -> Result<CoxRidgeModel, Error> {
        self.check()?;
        let Target::Survival(survival) = data.target() else {
            let (method, expected) = ("cox-ridge", "survival times");
            return Err(Error::UnsupportedTarget { method, expected, found: data.target().describe() });
        };
        let n = data.n_samples();
        let loss = Cox::new(survival.times(), survival.events(), Ties::Efron, Samples::mean(n))?;
        let encoding = Encoding::fit(data)?;
        let points = encoding.encode(data.x())?;
        let coordinates = Coordinates::of(&points, context)?;
        let z = DMatrix::from_column_slice(n, coordinates.values.len() / n, &coordinates.values);
        let (v, gradient) = self.minimise(&loss, &z, context)?;
        Ok(CoxRidgeModel { encoding, weights: coordinates.weights(&v, &points), gradient })
    }

    fn minimise(
        &self,
        loss: &Cox,
        z: &DMatrix<f64>,
        context: &Context<'_>,
    ) -> Result<(DVector<f64>, f64), Error> {
        let (n, m) = z.shape();
        let mut v = DVector::zeros(m);
        let objective =
            |v: &DVector<f64>| loss.value((z * v).as_slice()) + 0.5 * self.lambda * v.norm_squared();
        let mut value = objective(&v);
        let (mut first, mut relative) = (None, 0.0);
        let failed = |hint: &str| Error::Numerical { what: "the fit of cox-ridge", hint: hint.to_owned() };
        for _ in 0..MOST_STEPS {
            context.go_on(FITTED)?;
            let fitted = z * &v;
            let (mut dual, mut curvature) = (vec![0.0; n], vec![0.0; n]);
            loss.dual_point(fitted.as_slice(), &mut dual);
            loss.curvature(fitted.as_slice(), &mut curvature);
            let gradient = self.lambda * &v - z.tr_mul(&DVector::from_vec(dual));
            relative = match *first.get_or_insert(gradient.norm()) {
                0.0 => 0.0,
                first => gradient.norm() / first,
            };
            let mut weighted = z.clone();
            for mut column in weighted.column_iter_mut() {
                column.iter_mut().zip(&curvature).for_each(|(value, curvature)| *value *= curvature);
            }
            let mut hessian = z.tr_mul(&weighted);
            let reductions = loss.reductions(fitted.as_slice(), z.as_slice(), &vec![0; m]);
            if m > 0 && !reductions.is_empty() {
                let reductions = DMatrix::from_vec(reductions.len() / m, m, reductions);
                hessian -= reductions.tr_mul(&reductions);
            }
            (0..m).for_each(|j| hessian[(j, j)] += self.lambda);
            let Some(factor) = fewest_linalg::cholesky(hessian) else {
                return Err(failed("features depend on each other: give it a larger `lambda`"));
            };
            let step = factor.solve(&gradient);
            let decrease = gradient.dot(&step);
            // No smaller value can be told from this one.
            if decrease <= f64::EPSILON * value.abs() {
                return Ok((v, relative));
            }
            let mut length = 1.0;
            let mut next = None;
            for _ in 0..MOST_HALVINGS {
                let there = &v - length * &step;
                let found = objective(&there);
                if found <= value - SUFFICIENT_DECREASE * length * decrease {
                    next = Some((there, found));
                    break;
                }
                length *= 0.5;
            }
            match next {
                Some((there, found)) => (v, value) = (there, found),
                // Rounding hides what is left.
                None if decrease <= f64::EPSILON.sqrt() * value.abs() => return Ok((v, relative)),
                None => return Err(failed("no step is small enough: give it a larger `lambda`")),
            }
        }
        match relative <= SMALL_GRADIENT {
            true => Ok((v, relative)),
            false => Err(failed("the steps did not end: give it a larger `lambda`")),
        }
    }
}

impl Learner for CoxRidge {
    fn name(&self) -> &'static str {
        "cox-ridge"
    }

    fn fit(&self, data: &Dataset, context: &Context<'_>) -> Result<Box<dyn Model>, Error> {
        Ok(Box::new(self.train(data, context)?))
    }
}

impl Model for CoxRidgeModel {
    fn predict(&self, x: &dyn Columns) -> Result<Predictions, Error> {
        let points = self.encoding.encode(x)?;
        let risk = |i: usize| dot(&self.weights, points.point(i));
        Ok(Predictions::Real(vec![(0..points.n_samples).map(risk).collect()]))
    }

    fn facts(&self) -> Vec<(&'static str, f64)> {
        vec![("gradient", self.gradient)]
    }
}

#[cfg(test)]
mod tests {
    use fewest_core::{DenseColumns, derive_seed};

    use super::*;

    fn table(n: usize, d: usize) -> Vec<Vec<f64>> {
        let value = |i: usize, j: usize| derive_seed(j as u64, i as u64) as f64 / u64::MAX as f64 - 0.5;
        (0..d).map(|j| (0..n).map(|i| value(i, j)).collect()).collect()
    }

    /// Wide and tall: the gradient of the definition, by differences of its value, is zero.
    #[test]
    fn the_gradient_is_zero_at_the_solution() -> Result<(), Error> {
        for (n, d) in [(30, 4), (30, 50)] {
            let columns = table(n, d);
            let times: Vec<f64> = (0..n).map(|i| (3.0 - 2.0 * columns[1][i]).powi(2).round()).collect();
            let events: Vec<bool> = (0..n).map(|i| i % 3 != 0).collect();
            let target = Target::survival(times.clone(), events.clone())?;
            let data = Dataset::new(DenseColumns::from_columns(&columns)?, target)?;
            let learner = CoxRidge { lambda: 0.05 };
            let model = learner.train(&data, &Context::default())?;
            assert!(model.gradient < 1e-6, "{}", model.gradient);
            let loss = Cox::new(&times, &events, Ties::Efron, Samples::mean(n))?;
            let points = model.encoding.encode(data.x())?;
            let objective = |w: &[f64]| {
                let fitted: Vec<f64> = (0..n).map(|i| dot(w, points.point(i))).collect();
                loss.value(&fitted) + 0.5 * learner.lambda * dot(w, w)
            };
            for j in 0..d {
                let at = |shift: f64| {
                    let mut w = model.weights.clone();
                    w[j] += shift;
                    objective(&w)
                };
                let slope = (at(1e-4) - at(-1e-4)) / 2e-4;
                assert!(slope.abs() < 1e-6, "{n} {d} {j}: {slope}");
            }
        }
        Ok(())
    }

    /// Two copies of a feature and next to no ridge: what was an answer of zeros is an error.
    #[test]
    fn a_fit_that_fails_is_no_answer() -> Result<(), Error> {
        let column = table(12, 1).swap_remove(0);
        let times = column.iter().map(|value| 2.0 - value).collect();
        let target = Target::survival(times, (0..12).map(|i| i % 3 != 0).collect())?;
        let data = Dataset::new(DenseColumns::from_columns(&[column.clone(), column])?, target)?;
        let found = CoxRidge { lambda: 1e-300 }.train(&data, &Context::default());
        assert!(matches!(found, Err(Error::Numerical { .. })));
        assert!(CoxRidge::default().train(&data, &Context::default())?.gradient < 1e-6);
        Ok(())
    }

    #[test]
    fn what_is_no_survival_is_an_error() -> Result<(), Error> {
        let data = Dataset::new(DenseColumns::from_columns(&table(5, 2))?, Target::real(vec![1.0; 5])?)?;
        assert!(CoxRidge::default().train(&data, &Context::default()).is_err());
        // The only event is last: nobody else was at risk.
        let target = Target::survival(vec![1.0, 2.0, 3.0, 4.0, 5.0], vec![false, false, false, false, true])?;
        assert!(CoxRidge::default().train(&data.with_target(target)?, &Context::default()).is_err());
        Ok(())
    }
}
