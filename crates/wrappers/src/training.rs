//! The machines by which features are scored.

use fewest_core::{Context, Dataset, Error, Target, options, order};
use fewest_smo::{
    Classifier, DualProblem, KernelRows, Loss, Machine, Regressor, Smo, SubsetRows, certificate,
};
use fewest_solver::Control;

use crate::Kernel;
use crate::elimination::JUDGED;
use fewest_linalg::dot;

options! {
    /// Support vector machines: ε-support vector regression for a real target, C-support vector
    /// classification for classes, one machine for each pair of them.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Training {
        /// Kernel of the support vector machine, on standardised features.
        pub kernel: Kernel = Kernel::default();
        /// C, cost of errors.
        pub c: f64 = 1.0, Positive;
        /// Errors of regression up to ε are free, in units of the target as trained on.
        pub epsilon: f64 = 0.1, NonNegative;
        /// Whether a real target is standardised: mean 0, standard deviation 1, dividing by n.
        pub standardise_target: bool = true;
        /// Duality gap to reach, relative to the larger of the primal and the dual objective.
        ///
        /// Scores of features are differences, and rankings should not depend on where a solver stopped.
        pub tolerance: f64 = 1e-12, Positive;
    }
}

/// The target in the form that machines need.
#[derive(Debug, Clone, PartialEq)]
pub enum TrainingTarget {
    /// A number for each sample.
    Real(Vec<f64>),
    /// A class for each sample, as a code.
    Classes(Vec<u32>),
}

impl TrainingTarget {
    /// The target of `data` in the samples `rows`; a real one standardised by the first `n_train` of them if
    /// requested.
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
                let present = order::distinct_codes(codes[..n_train].to_vec());
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
    /// The samples it was trained on, increasing: all for regression, those of two classes for
    /// classification.
    pub samples: Vec<usize>,
    /// The target output for each of them: the real target, or ±1.
    pub targets: Vec<f64>,
    /// The two classes, the one of outputs above 0 first; none for regression.
    pub classes: Option<[u32; 2]>,
    /// The trained coefficients and bias.
    pub machine: Machine,
}

impl Trained {
    /// `β`, one for each of the samples.
    pub(crate) fn coefficients(&self) -> &[f64] {
        &self.machine.dual.solution.coefficients
    }

    /// The support vectors among all samples, and their `β`.
    pub(crate) fn support(&self) -> (Vec<usize>, Vec<f64>) {
        let coefficients = self.coefficients();
        self.machine.support.iter().map(|&place| (self.samples[place], coefficients[place])).unzip()
    }

    /// `f`, given `k(x_i, x)` for every training sample of the problem.
    pub(crate) fn output(&self, kernel_row: &[f64]) -> f64 {
        if self.samples.len() == kernel_row.len() {
            return dot(self.coefficients(), kernel_row) + self.machine.bias;
        }
        let row: Vec<f64> = self.samples.iter().map(|&i| kernel_row[i]).collect();
        dot(self.coefficients(), &row) + self.machine.bias
    }
}

/// The share of the largest coefficient below which a coefficient counts as zero.
const SETTLED: f64 = 1e-6;

/// The training problem of one machine.
pub(crate) struct Part<'a> {
    pub(crate) problem: DualProblem<'a>,
    samples: Vec<usize>,
    targets: Vec<f64>,
    classes: Option<[u32; 2]>,
}

impl Training {
    /// The options of the solver.
    pub(crate) fn control<'a>(&self, context: &Context<'a>) -> Control<'a> {
        Control { tolerance: self.tolerance, ..Control::from(context) }
    }

    /// Trains on the samples of `kernel`, whose target is `truth`: one machine for regression, else one for
    /// each pair of classes, with losses `loss`. `start` are the machines of a similar kernel and the same
    /// target to start from, or none.
    ///
    /// # Errors
    /// Parameters out of range; [`Error::Stopped`] when `context` says stop; as [`Smo::minimise`].
    pub fn train(
        &self,
        kernel: &dyn KernelRows,
        truth: &TrainingTarget,
        loss: Loss,
        start: &[Trained],
        context: &Context<'_>,
    ) -> Result<Vec<Trained>, Error> {
        let control = self.control(context);
        let mut machines: Vec<Trained> = Vec::new();
        self.each(kernel, truth, loss, |part| {
            let Part { problem, samples, targets, classes } = part;
            let warm = start.get(machines.len()).map_or(&[] as &[f64], Trained::coefficients);
            let dual = Smo::default().minimise(&problem, warm, &control)?;
            // There are many pairs of many classes, and no use for a machine that was stopped.
            context.go_on(JUDGED)?;
            let mut machine = Machine::new(&problem, dual);
            machine.bias = settled(&problem, &machine, loss, self.c)?.bias;
            machines.push(Trained { samples, targets, classes, machine });
            Ok(())
        })?;
        Ok(machines)
    }

    /// Shows what each machine is to be trained on, one after the other.
    pub(crate) fn each(
        &self,
        kernel: &dyn KernelRows,
        truth: &TrainingTarget,
        loss: Loss,
        mut visit: impl FnMut(Part<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        match truth {
            TrainingTarget::Real(targets) => {
                let (cost, epsilon) = (self.c, self.epsilon);
                let learner = Regressor { cost, epsilon, loss, ..Regressor::default() };
                let problem = learner.problem(kernel, targets, &[])?;
                let samples = (0..targets.len()).collect();
                visit(Part { problem, samples, targets: targets.clone(), classes: None })
            }
            TrainingTarget::Classes(codes) => {
                let learner = Classifier { cost: self.c, loss, ..Classifier::default() };
                for (pair, samples) in order::code_pairs(codes) {
                    let positive: Vec<bool> = samples.iter().map(|&i| codes[i] == pair[0]).collect();
                    let targets = positive.iter().map(|&first| if first { 1.0 } else { -1.0 }).collect();
                    let rows = SubsetRows::new(kernel, samples.clone())?;
                    let whole = samples.len() == kernel.len();
                    let rows: &dyn KernelRows = if whole { kernel } else { &rows };
                    let problem = learner.problem(rows, &positive, &[])?;
                    visit(Part { problem, samples, targets, classes: Some(pair) })?;
                }
                Ok(())
            }
        }
    }
}

/// The machine with every coefficient that is all but at 0 or at its bound taken for one that is.
///
/// Without a free support vector the machine leaves the bias open in an interval, whose middle is taken; and
/// bounds on the leave-one-out error see free and bounded support vectors differently. A solver that ends at
/// a small gap may leave a coefficient a little off its bound, which would then decide, another one for each
/// order of samples.
pub(crate) fn settled(
    problem: &DualProblem<'_>,
    machine: &Machine,
    loss: Loss,
    cost: f64,
) -> Result<Machine, Error> {
    let most = if loss == Loss::Linear { cost } else { f64::INFINITY };
    let mut dual = machine.dual.clone();
    let coefficients = &mut dual.solution.coefficients;
    let largest = coefficients.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
    let close = SETTLED * most.min(largest);
    for value in coefficients.iter_mut() {
        match value.abs() {
            size if size <= close => *value = 0.0,
            size if size >= most - close => *value = value.signum() * most,
            _ => {}
        }
    }
    if *coefficients == machine.dual.solution.coefficients {
        return Ok(machine.clone());
    }
    dual.certificate = certificate::certify(problem, coefficients)?;
    Ok(Machine::new(problem, dual))
}
