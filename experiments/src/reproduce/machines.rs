//! Support vector machines as the papers use them.

use fewest::core::{Context, Dataset, Error, Selector, Target};
use fewest::eval::SupportVectorRegressionModel;
use fewest::eval::{
    Learner, MachineGrid, MachineKernel, Model, SupportVectorClassifier, SupportVectorRegression,
};
use fewest::registry::{Parameters, Registry};
use serde::{Deserialize, Serialize};

use super::experiments::Method;
use crate::Result;

/// Folds that choose parameters.
pub(super) const FOLDS: usize = 5;

/// A linear machine, its cost chosen in five folds.
pub(super) fn linear_classifier(costs: &[f64]) -> SupportVectorClassifier {
    let grid = MachineGrid { costs: costs.to_vec(), folds: FOLDS, ..MachineGrid::default() };
    SupportVectorClassifier { kernel: MachineKernel::Linear, grid, ..SupportVectorClassifier::default() }
}

/// Support vector regression of the target in its own unit, parameters chosen in five folds where there are
/// several.
///
/// The learner of `fewest-eval` standardises the target. The same function is found there with cost and tube
/// divided by the standard deviation: `½‖w‖² + C Σ |y − f|_ε` is its square times `½‖w/s‖² + (C/s) Σ |y/s −
/// f/s|_{ε/s}`.
#[derive(Debug, Clone)]
pub(super) struct RawRegression<'a> {
    /// The width of the Gaussian kernel `exp(−κ ‖x − z‖²)` on standardised features; linear without.
    pub kappa: Option<f64>,
    /// Costs.
    pub costs: &'a [f64],
    /// Half widths of the tube.
    pub epsilons: &'a [f64],
}

impl RawRegression<'_> {
    /// [`Learner::fit`], with the model's own type.
    pub(super) fn train(
        &self,
        data: &Dataset,
        context: &Context<'_>,
    ) -> std::result::Result<SupportVectorRegressionModel, Error> {
        let deviation = match data.target() {
            Target::Real(outputs) => deviation(outputs.output(0)),
            _ => 1.0,
        };
        let rescaled = |values: &[f64]| values.iter().map(|value| value / deviation).collect();
        // The learner's width is in units of one over the number of features that vary.
        let varying = (data.n_features() - data.constant_features()?.len()).max(1) as f64;
        let (kernel, gammas) = match self.kappa {
            Some(kappa) => (MachineKernel::Gaussian, vec![kappa * varying]),
            None => (MachineKernel::Linear, MachineGrid::default().gammas),
        };
        let learner = SupportVectorRegression {
            kernel,
            grid: MachineGrid { costs: rescaled(self.costs), gammas, folds: FOLDS },
            epsilons: rescaled(self.epsilons),
            ..SupportVectorRegression::default()
        };
        learner.train(data, context)
    }
}

impl Learner for RawRegression<'_> {
    fn name(&self) -> &'static str {
        "svr"
    }

    fn fit(&self, data: &Dataset, context: &Context<'_>) -> std::result::Result<Box<dyn Model>, Error> {
        Ok(Box::new(self.train(data, context)?))
    }
}

/// The standard deviation, dividing by n; 1 instead of 0.
pub(super) fn deviation(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let deviation = (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / n).sqrt();
    if deviation > 0.0 { deviation } else { 1.0 }
}

/// Parameters of Gaussian support vector regression, the target in its own unit.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct Regression {
    /// The cost.
    pub c: f64,
    /// `κ` of the kernel `exp(−κ ‖x − z‖²)`.
    pub kappa: f64,
    /// Half the width of the tube.
    pub epsilon: f64,
}

impl Regression {
    /// The learner with these parameters.
    pub(super) fn learner(&self) -> RawRegression<'_> {
        let (costs, epsilons) = (std::slice::from_ref(&self.c), std::slice::from_ref(&self.epsilon));
        RawRegression { kappa: Some(self.kappa), costs, epsilons }
    }

    /// The selector with those of these parameters that the method has.
    pub(super) fn selector(&self, method: &Method) -> Result<Box<dyn Selector>> {
        let registered = Registry::standard().find(method.id)?;
        let machine = [
            format!("c={}", self.c),
            format!("sigma={}", (0.5 / self.kappa).sqrt()),
            format!("epsilon={}", self.epsilon),
            "standardise_target=false".to_owned(),
        ];
        let has = |assignment: &&str| {
            let name = assignment.split('=').next();
            registered.parameters().iter().any(|parameter| Some(parameter.name) == name)
        };
        let parameters: Vec<&str> =
            machine.iter().map(String::as_str).filter(has).chain(method.parameters.iter().copied()).collect();
        Ok(registered.build(&Parameters::parse(registered, &parameters)?)?.into_selector())
    }
}

#[cfg(test)]
mod tests {
    use fewest::core::DenseColumns;
    use fewest::eval::Predictions;

    use super::*;

    #[test]
    fn the_unit_of_the_target_is_its_own() {
        // With all residuals on the tube's edge the slope does not depend on the cost: f = (1 − ε/h) x for y
        // = ±h at x = ±1.
        let x = DenseColumns::from_columns(&[vec![-1.0, 1.0]]).unwrap();
        let data = Dataset::new(x, Target::real(vec![-50.0, 50.0]).unwrap()).unwrap();
        let learner = RawRegression { kappa: None, costs: &[1e4], epsilons: &[10.0] };
        let model = learner.fit(&data, &Context::default()).unwrap();
        let Predictions::Real(values) = model.predict(data.x()).unwrap() else { panic!("numbers") };
        assert!((values[0][1] - 40.0).abs() < 1e-4, "{values:?}");
        // A cost that bounds both duals: f = C x / 1 for two samples at distance 1 from their mean.
        let learner = RawRegression { kappa: None, costs: &[7.0], epsilons: &[10.0] };
        let model = learner.fit(&data, &Context::default()).unwrap();
        let Predictions::Real(values) = model.predict(data.x()).unwrap() else { panic!("numbers") };
        assert!((values[0][1] - 14.0).abs() < 1e-4, "{values:?}");
    }
}
