//! Support vector machines.

use fewest_solver::{Control, Error};

use crate::{DualProblem, DualSolution, KernelRows, Smo};

fewest_core::words! {
    /// The loss of a support vector machine.
    #[derive(Default)]
    pub enum Loss {
        /// `C ξ`.
        #[default]
        Linear = "linear",
        /// `C ξ²`, which puts `1 / (2C)` on the kernel's diagonal and removes the upper bounds.
        Squared = "squared",
    }
}

/// C-support vector classification (Cortes and Vapnik 1995):
///
/// ```text
/// minimise over w, b   ½‖w‖² + Σ_i C_i max(0, 1 − y_i (⟨w, φ(x_i)⟩ + b))
/// dual, β_i = y_i a_i  ½ βᵀKβ − yᵀβ,   Σ β = 0,   0 ≤ y_i β_i ≤ C_i
/// ```
///
/// with `C_i` = cost × weight of the class × weight of the sample.
#[derive(Debug, Clone)]
pub struct Classifier {
    /// `C`. Default 1; range above 0, finite.
    pub cost: f64,
    /// Default [`Loss::Linear`].
    pub loss: Loss,
    /// Factors of the cost of negative and positive samples. Default 1; range above 0, finite.
    pub class_weights: [f64; 2],
    /// The solver.
    pub solver: Smo,
}

impl Default for Classifier {
    fn default() -> Self {
        Self { cost: 1.0, loss: Loss::default(), class_weights: [1.0, 1.0], solver: Smo::default() }
    }
}

/// ε-support vector regression (Smola and Schölkopf 2004):
///
/// ```text
/// minimise over w, b   ½‖w‖² + Σ_i C_i max(0, |y_i − ⟨w, φ(x_i)⟩ − b| − ε)
/// dual                 ½ βᵀKβ − yᵀβ + ε Σ |β_i|,   Σ β = 0,   |β_i| ≤ C_i
/// ```
///
/// in `n` variables, not the `2n` of the textbooks: of the two multipliers of a sample one is always 0.
#[derive(Debug, Clone)]
pub struct Regressor {
    /// `C`. Default 1; range above 0, finite.
    pub cost: f64,
    /// `ε`. Default 0.1; range at least 0, finite.
    pub epsilon: f64,
    /// Default [`Loss::Linear`].
    pub loss: Loss,
    /// The solver.
    pub solver: Smo,
}

impl Default for Regressor {
    fn default() -> Self {
        Self { cost: 1.0, epsilon: 0.1, loss: Loss::default(), solver: Smo::default() }
    }
}

/// A trained machine: `f(x) = Σ_i β_i k(x_i, x) + b`.
#[derive(Debug, Clone, PartialEq)]
pub struct Machine {
    /// The solution `β`, one for each training sample, with its certificate.
    pub dual: DualSolution,
    /// `b`.
    pub bias: f64,
    /// Samples whose `β` is not 0, increasing.
    pub support: Vec<usize>,
    /// How many of them are at their bound.
    pub n_bounded: usize,
}

impl Machine {
    /// `f(x)`, given `k(x_i, x)` for every training sample.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] unless there is one for each.
    pub fn decision(&self, kernel_row: &[f64]) -> Result<f64, Error> {
        let coefficients = &self.dual.solution.coefficients;
        if kernel_row.len() != coefficients.len() {
            let (expected, found) = (coefficients.len(), kernel_row.len());
            return Err(Error::ShapeMismatch { what: "kernel values of a sample", expected, found });
        }
        Ok(self.support.iter().map(|&i| coefficients[i] * kernel_row[i]).sum::<f64>() + self.bias)
    }

    fn trained(
        problem: &DualProblem<'_>,
        solver: &Smo,
        start: &[f64],
        control: &Control<'_>,
    ) -> Result<Self, Error> {
        let dual = solver.minimise(problem, start, control)?;
        if dual.certificate.indefinite {
            return Err(Error::Indefinite {
                kernel: problem.kernel.name(),
                solver: "the support vector machine's solver, sequential minimal optimisation,",
                instead: "check how it was computed, remove its negative eigenvalues, or use a machine for indefinite kernels",
            });
        }
        Ok(Self::new(problem, dual))
    }

    /// The machine of a solution of `problem`: as `train`, for callers that solve the problem themselves.
    pub fn new(problem: &DualProblem<'_>, dual: DualSolution) -> Self {
        let coefficients = &dual.solution.coefficients;
        let support: Vec<usize> = (0..coefficients.len()).filter(|&i| coefficients[i] != 0.0).collect();
        let n_bounded = support.iter().filter(|&&i| problem.is_bounded(i, coefficients[i])).count();
        Self { bias: dual.certificate.bias, support, n_bounded, dual }
    }
}

fn check_positive(name: &'static str, value: f64) -> Result<(), Error> {
    if value.is_finite() && value > 0.0 {
        return Ok(());
    }
    Err(Error::parameter(name, value, "above 0 and finite"))
}

/// `cost × weight` of each sample; all weights are 1 if there are none.
fn costs(cost: f64, weights: &[f64], n: usize) -> Result<Vec<f64>, Error> {
    check_positive("cost", cost)?;
    if weights.is_empty() {
        return Ok(vec![cost; n]);
    }
    if weights.len() != n {
        return Err(Error::ShapeMismatch {
            what: "weights of the samples",
            expected: n,
            found: weights.len(),
        });
    }
    if let Some(i) = (0..n).find(|&i| !(weights[i].is_finite() && weights[i] >= 0.0)) {
        let value = format!("{} at {i} (counted from 0)", weights[i]);
        return Err(Error::parameter("weights", value, "at least 0 and finite"));
    }
    Ok(weights.iter().map(|weight| cost * weight).collect())
}

/// Upper bounds and ridges of a loss. A sample of cost 0 keeps the bound 0.
fn bounds(loss: Loss, costs: &[f64]) -> (Vec<f64>, Vec<f64>) {
    match loss {
        Loss::Linear => (costs.to_vec(), vec![0.0; costs.len()]),
        Loss::Squared => {
            costs.iter().map(|&c| if c > 0.0 { (f64::INFINITY, 0.5 / c) } else { (0.0, 0.0) }).unzip()
        }
    }
}

fn same_length(what: &'static str, found: usize, kernel: &dyn KernelRows) -> Result<(), Error> {
    match kernel.len() {
        0 => Err(Error::TooFew { what: "samples", minimum: 1, found: 0 }),
        expected if expected != found => Err(Error::ShapeMismatch { what, expected, found }),
        _ => Ok(()),
    }
}

impl Classifier {
    /// The dual problem of samples with labels `positive` and `weights` (empty: all 1).
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`]; [`Error::InvalidParameter`] for a cost or weight out of range;
    /// [`Error::TooFew`] unless both classes have a sample of positive weight.
    pub fn problem<'a>(
        &self,
        kernel: &'a dyn KernelRows,
        positive: &[bool],
        weights: &[f64],
    ) -> Result<DualProblem<'a>, Error> {
        same_length("labels", positive.len(), kernel)?;
        let mut costs = costs(self.cost, weights, positive.len())?;
        for weight in self.class_weights {
            check_positive("class_weights", weight)?;
        }
        for (cost, &positive) in costs.iter_mut().zip(positive) {
            *cost *= self.class_weights[usize::from(positive)];
        }
        let has =
            |class: bool| costs.iter().zip(positive).any(|(&cost, &label)| label == class && cost > 0.0);
        let n_classes = usize::from(has(true)) + usize::from(has(false));
        if n_classes < 2 {
            return Err(Error::TooFew {
                what: "classes with a weight above 0",
                minimum: 2,
                found: n_classes,
            });
        }
        let (most, ridges) = bounds(self.loss, &costs);
        let side = |label: bool, sign: f64| {
            let bound = |(&most, &positive): (&f64, &bool)| if positive == label { sign * most } else { 0.0 };
            most.iter().zip(positive).map(bound).collect::<Vec<f64>>()
        };
        let targets = positive.iter().map(|&positive| if positive { 1.0 } else { -1.0 }).collect();
        DualProblem::new(kernel, targets, side(false, -1.0), side(true, 1.0))?.with_ridges(ridges)
    }

    /// Trains on samples with labels `positive` and `weights` (empty: all 1).
    ///
    /// # Errors
    /// As [`problem`](Self::problem) and [`Smo::minimise`]; [`Error::Indefinite`] if the kernel is found
    /// not to be positive semidefinite.
    pub fn train(
        &self,
        kernel: &dyn KernelRows,
        positive: &[bool],
        weights: &[f64],
        control: &Control<'_>,
    ) -> Result<Machine, Error> {
        self.train_from(kernel, positive, weights, &[], control)
    }

    /// As [`train`](Self::train), from the coefficients `start` (empty: zeros): those of a machine of smaller
    /// cost or of a kernel that is nearly the same save most of the steps.
    ///
    /// # Errors
    /// As [`train`](Self::train).
    pub fn train_from(
        &self,
        kernel: &dyn KernelRows,
        positive: &[bool],
        weights: &[f64],
        start: &[f64],
        control: &Control<'_>,
    ) -> Result<Machine, Error> {
        Machine::trained(&self.problem(kernel, positive, weights)?, &self.solver, start, control)
    }
}

impl Regressor {
    /// The dual problem of samples with `targets` and `weights` (empty: all 1).
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`]; [`Error::InvalidParameter`] for a cost, ε or weight out of range;
    /// [`Error::NonFiniteTarget`].
    pub fn problem<'a>(
        &self,
        kernel: &'a dyn KernelRows,
        targets: &[f64],
        weights: &[f64],
    ) -> Result<DualProblem<'a>, Error> {
        same_length("targets", targets.len(), kernel)?;
        if let Some(row) = targets.iter().position(|value| !value.is_finite()) {
            return Err(Error::NonFiniteTarget { row, value: targets[row] });
        }
        if !(self.epsilon.is_finite() && self.epsilon >= 0.0) {
            return Err(Error::parameter("epsilon", self.epsilon, "at least 0 and finite"));
        }
        let (upper, ridges) = bounds(self.loss, &costs(self.cost, weights, targets.len())?);
        let lower = upper.iter().map(|bound| -bound).collect();
        DualProblem::new(kernel, targets.to_vec(), lower, upper)?
            .with_absolute_weights(vec![self.epsilon; targets.len()])?
            .with_ridges(ridges)
    }

    /// Trains on samples with `targets` and `weights` (empty: all 1).
    ///
    /// # Errors
    /// As [`problem`](Self::problem) and [`Smo::minimise`]; [`Error::Indefinite`] if the kernel is found
    /// not to be positive semidefinite.
    pub fn train(
        &self,
        kernel: &dyn KernelRows,
        targets: &[f64],
        weights: &[f64],
        control: &Control<'_>,
    ) -> Result<Machine, Error> {
        self.train_from(kernel, targets, weights, &[], control)
    }

    /// As [`train`](Self::train), from the coefficients `start` (empty: zeros): those of a machine of smaller
    /// cost or of a kernel that is nearly the same save most of the steps.
    ///
    /// # Errors
    /// As [`train`](Self::train).
    pub fn train_from(
        &self,
        kernel: &dyn KernelRows,
        targets: &[f64],
        weights: &[f64],
        start: &[f64],
        control: &Control<'_>,
    ) -> Result<Machine, Error> {
        Machine::trained(&self.problem(kernel, targets, weights)?, &self.solver, start, control)
    }
}
