//! The machines that features are judged by.

use fewest_core::{Context, Dataset, Error, Status, Target};
use fewest_smo::{Classifier, DualProblem, KernelRows, Regressor, Smo, SubsetRows};
use fewest_solver::Control;

use crate::Kernel;
use crate::kernel::dot;

/// Support vector machines: ε-support vector regression for a real target, C-support vector classification for classes, one
/// machine for each pair of them.
#[derive(Debug, Clone)]
pub struct Training {
    /// The kernel, on standardised features. Default Gaussian, `γ` one over the number of features.
    pub kernel: Kernel,
    /// `C`, above 0 and finite. Default 1.
    pub cost: f64,
    /// `ε` of regression, at least 0 and finite, in units of the target as trained on. Default 0.1.
    pub epsilon: f64,
    /// Whether a real target is standardised (mean 0, standard deviation 1, dividing by n). Default true.
    pub standardise_target: bool,
    /// The duality gap that training ends at, relative to the larger of the primal and the dual objective; above 0. Default
    /// 1e-10: scores of features are differences, and rankings should not depend on where a solver stopped.
    pub tolerance: f64,
}

impl Default for Training {
    fn default() -> Self {
        Self {
            kernel: Kernel::default(),
            cost: 1.0,
            epsilon: 0.1,
            standardise_target: true,
            tolerance: 1e-10,
        }
    }
}

/// What is to be predicted, as machines want it.
#[derive(Debug, Clone, PartialEq)]
pub enum Truth {
    /// A number for each sample.
    Real(Vec<f64>),
    /// A class for each sample, as a code.
    Classes(Vec<u32>),
}

impl Truth {
    /// The target of `data` in the samples `rows`; a real one standardised by the first `n_train` of them if asked for.
    pub(crate) fn new(
        data: &Dataset,
        rows: &[usize],
        n_train: usize,
        standardise: bool,
        method: &'static str,
    ) -> Result<Self, Error> {
        match data.target() {
            Target::Real(outputs) if outputs.n_outputs() == 1 => {
                let output = outputs.output(0);
                let values: Vec<f64> = rows.iter().map(|&row| output[row]).collect();
                let train = &values[..n_train];
                if train.iter().all(|value| *value == train[0]) {
                    return Err(Error::TooFew { what: "different target values", minimum: 2, found: 1 });
                }
                if !standardise {
                    return Ok(Self::Real(values));
                }
                crate::table::standardised(values, n_train).map(Self::Real).ok_or_else(|| {
                    let hint = "its values differ by rounding only".to_owned();
                    Error::Numerical { what: "standardising the target", hint }
                })
            }
            Target::Class(classes) => {
                let codes: Vec<u32> = rows.iter().map(|&row| classes.codes()[row]).collect();
                let mut present = codes[..n_train].to_vec();
                present.sort_unstable();
                present.dedup();
                if present.len() < 2 {
                    return Err(Error::TooFew {
                        what: "classes with samples",
                        minimum: 2,
                        found: present.len(),
                    });
                }
                Ok(Self::Classes(codes))
            }
            other => {
                let expected = "classes or one real output";
                Err(Error::UnsupportedTarget { method, expected, found: other.describe() })
            }
        }
    }

    /// One number for each sample: what tells samples apart beside their features.
    pub(crate) fn numbers(&self) -> Vec<f64> {
        match self {
            Self::Real(values) => values.clone(),
            Self::Classes(codes) => codes.iter().map(|&code| f64::from(code)).collect(),
        }
    }

    pub(crate) fn first(&self, n: usize) -> Self {
        match self {
            Self::Real(values) => Self::Real(values[..n].to_vec()),
            Self::Classes(codes) => Self::Classes(codes[..n].to_vec()),
        }
    }
}

/// A trained machine: `f(x) = Σ_i β_i k(x_i, x) + b` over the samples it was trained on.
#[derive(Debug, Clone, PartialEq)]
pub struct Trained {
    /// The samples it was trained on, increasing: all for regression, those of two classes for classification.
    pub samples: Vec<usize>,
    /// What it was to output for each of them: the target, or ±1.
    pub targets: Vec<f64>,
    /// The two classes, the one of outputs above 0 first; none for regression.
    pub classes: Option<[u32; 2]>,
    /// `β`, one for each of the samples.
    pub coefficients: Vec<f64>,
    /// `b`.
    pub bias: f64,
    /// The minimised dual objective `½ βᵀKβ − yᵀβ + ε Σ |β_i|`.
    pub objective: f64,
    /// How training ended.
    pub status: Status,
}

impl Trained {
    /// Positions in [`samples`](Self::samples) whose coefficient is not 0.
    pub fn support(&self) -> Vec<usize> {
        (0..self.coefficients.len()).filter(|&i| self.coefficients[i] != 0.0).collect()
    }

    /// `f`, given `k(x_i, x)` for every training sample of the problem.
    pub(crate) fn output(&self, kernel_row: &[f64]) -> f64 {
        if self.samples.len() == kernel_row.len() {
            return dot(&self.coefficients, kernel_row) + self.bias;
        }
        let row: Vec<f64> = self.samples.iter().map(|&i| kernel_row[i]).collect();
        dot(&self.coefficients, &row) + self.bias
    }
}

impl Training {
    /// Trains on the samples of `kernel`, whose target is `truth`: one machine for regression, else one for each pair of
    /// classes. `start` are the machines of a similar kernel and the same target to start from, or none.
    ///
    /// # Errors
    /// Parameters out of range; as [`Smo::minimise`].
    pub fn train(
        &self,
        kernel: &dyn KernelRows,
        truth: &Truth,
        start: &[Trained],
        context: &Context<'_>,
    ) -> Result<Vec<Trained>, Error> {
        let control = Control {
            tolerance: self.tolerance,
            deadline: context.deadline,
            interrupt: context.interrupt,
            ..Control::default()
        };
        let warm = |k: usize| start.get(k).map_or(&[] as &[f64], |machine| &machine.coefficients);
        match truth {
            Truth::Real(targets) => {
                let learner = Regressor { cost: self.cost, epsilon: self.epsilon, ..Regressor::default() };
                let problem = learner.problem(kernel, targets, &[])?;
                let samples = (0..targets.len()).collect();
                Ok(vec![minimise(&problem, samples, targets.clone(), None, warm(0), &control)?])
            }
            Truth::Classes(codes) => {
                let learner = Classifier { cost: self.cost, ..Classifier::default() };
                let mut classes = codes.clone();
                classes.sort_unstable();
                classes.dedup();
                let mut machines = Vec::new();
                for (k, &first) in classes.iter().enumerate() {
                    for &second in &classes[k + 1..] {
                        let pair = [first, second];
                        let samples: Vec<usize> =
                            (0..codes.len()).filter(|&i| pair.contains(&codes[i])).collect();
                        let positive: Vec<bool> = samples.iter().map(|&i| codes[i] == first).collect();
                        let targets = positive.iter().map(|&first| if first { 1.0 } else { -1.0 }).collect();
                        let rows = SubsetRows::new(kernel, samples.clone())?;
                        let whole = samples.len() == kernel.len();
                        let rows: &dyn KernelRows = if whole { kernel } else { &rows };
                        let problem = learner.problem(rows, &positive, &[])?;
                        let start = warm(machines.len());
                        machines.push(minimise(&problem, samples, targets, Some(pair), start, &control)?);
                    }
                }
                Ok(machines)
            }
        }
    }
}

fn minimise(
    problem: &DualProblem<'_>,
    samples: Vec<usize>,
    targets: Vec<f64>,
    classes: Option<[u32; 2]>,
    start: &[f64],
    control: &Control<'_>,
) -> Result<Trained, Error> {
    let dual = Smo::default().minimise(problem, start, control)?;
    Ok(Trained {
        samples,
        targets,
        classes,
        bias: dual.certificate.bias,
        objective: dual.solution.objective,
        status: dual.solution.status,
        coefficients: dual.solution.coefficients,
    })
}
