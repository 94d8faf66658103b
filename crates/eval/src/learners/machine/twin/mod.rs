//! Twin support vector machines.

use fewest_core::method::{Field, FieldInfo, Options, Parameter, Parameters, Range, Value};
use fewest_core::{Certificate, Columns, Context, Dataset, Error, options, order};
use fewest_kernels::VectorKernel;
use fewest_machines::{Encoding, PointRows, Points};
use fewest_smo::{KernelRows, most_votes};
use fewest_solver::Control;

use super::planes::{TwinMachine, TwinProblem};
use super::{MachineGrid, MachineKernel, ROUGH, Space, check_stop, check_values, control, gamma_of, sorted};
use crate::learners::{ClassScoring, Learner, Model, Predictions};

/// Largest number of passes over the variables of a plane while parameters are chosen, and for the final
/// machines.
const PASSES: [u64; 2] = [300, 20_000];

/// The term added to the squared distances from the samples of the plane: `½ c₃ (‖w‖² + b²)`.
#[derive(Debug, Clone, PartialEq)]
pub enum TwinRegularization {
    /// TWSVM: a ridge that makes matrices invertible, above 0.
    Ridge(f64),
    /// TBSVM: the structural risk, chosen among these `c₃ = c₄`, above 0.
    Bounded(Vec<f64>),
}

impl Field for TwinRegularization {
    fn field_parameters(&self, _field: &FieldInfo) -> Vec<Parameter> {
        vec![match self {
            Self::Ridge(ridge) => {
                Parameter::new(RIDGE, Range::Positive, "Ridge that makes matrices invertible.")
                    .with_default(Some(Value::Real(*ridge)))
            }
            Self::Bounded(values) => {
                Parameter::new(STRUCTURE, Range::Positive, STRUCTURE_DOC).with_default(match values[..] {
                    [value] => Some(Value::Real(value)),
                    _ => None,
                })
            }
        }]
    }

    fn set_field(&mut self, _field: &FieldInfo, parameters: &Parameters) -> Result<(), Error> {
        match self {
            Self::Ridge(ridge) => *ridge = parameters.real(RIDGE)?,
            Self::Bounded(values) => {
                if let Some(Value::Real(value)) = parameters.get(STRUCTURE) {
                    *values = vec![*value];
                }
            }
        }
        Ok(())
    }

    fn check_field(&self, _field: &FieldInfo) -> Result<(), Error> {
        let positive = |value| value > 0.0;
        match self {
            Self::Ridge(ridge) => check_values(RIDGE, &[*ridge], positive, "above 0 and finite"),
            Self::Bounded(values) => check_values(
                "regularizations",
                values,
                positive,
                "at least one value, all above 0 and finite",
            ),
        }
    }
}

const RIDGE: &str = "ridge";
const STRUCTURE: &str = "c3";
const STRUCTURE_DOC: &str = "Weight of the structural risk, c3 = c4; left out, chosen among several.";

options! {
    /// Twin support vector machines on standardised features: for each pair of classes two planes, each near
    /// the samples of one class and far from those of the other, and a vote. A sample belongs to the plane
    /// that is nearer by perpendicular distance.
    ///
    /// [`twsvm`](Self::twsvm) is that of Jayadeva, Khemchandani and Chandra (2007), [`tbsvm`](Self::tbsvm)
    /// the bounded one of Shao, Zhang, Wang and Deng (2011); the programs are those of
    /// [`TwinProblem`](fewest_machines::TwinProblem). Their duals are solved by successive over-relaxation.
    ///
    /// Width, cost `c₁ = c₂` and `c₃ = c₄` are those with the largest accuracy in stratified
    /// cross-validation; at a tie the smaller width, then the larger `c₃`, then the smaller cost. `O(n³)`
    /// for each width and fold and for each `c₃`, memory a few matrices of all pairs of samples; with the
    /// linear kernel and fewer coordinates `d` than samples `O(n d² + d³)`. It is for thousands of samples.
    ///
    /// ```
    /// use fewest_core::{Context, Dataset, DenseColumns, Target};
    /// use fewest_eval::{Learner, MachineKernel, Predictions, TwinClassifier};
    ///
    /// // Two classes near two lines that cross: one plane cannot separate them.
    /// let a: Vec<f64> = (0..60).map(|i| f64::from(i * 7 % 61) / 30.0 - 0.2).collect();
    /// let second: Vec<bool> = (0..60).map(|i| i % 2 == 1).collect();
    /// let b = a.iter().zip(&second).map(|(a, second)| if *second { -a } else { *a }).collect();
    /// let data = Dataset::new(DenseColumns::from_columns(&[a, b])?, Target::from_labels(&second))?;
    /// let learner = TwinClassifier { kernel: MachineKernel::Linear, ..TwinClassifier::tbsvm() };
    /// let model = learner.fit(&data, &Context::default())?;
    /// let Predictions::Classes(codes) = model.predict(data.x())? else { unreachable!() };
    /// assert!(codes.iter().zip(&second).filter(|(code, second)| (**code == 1) == **second).count() >= 58);
    /// # Ok::<(), fewest_core::Error>(())
    /// ```
    #[derive(Debug, Clone, PartialEq)]
    pub struct TwinClassifier {
        /// Kernel of standardised features.
        pub kernel: MachineKernel = MachineKernel::Gaussian;
        /// Cost of samples too near the other class's plane, c1 = c2; left out, chosen among those of the
        /// grid.
        pub c1: Option<f64> = None, Positive;
        /// The grid of costs and widths to choose from.
        pub grid: MachineGrid = MachineGrid::default(), hidden;
        /// The ridge, or the structural risks to choose from.
        ///
        /// Of `tbsvm` 0.01, 0.1 and 1.
        pub regularization: TwinRegularization = TwinRegularization::Ridge(1e-4);
        /// Factor of successive over-relaxation.
        pub relaxation: f64 = 1.0, PositiveBelow(2);
        /// The duality gap of each plane, relative to its objective; above 0, below 1.
        ///
        /// A plane that does not reach it in 20 000 passes is used as it is; the fact `gap` reports its gap.
        pub tolerance: f64 = 1e-6, ProperFraction;
    }
}

/// A fitted [`TwinClassifier`].
pub struct TwinClassifierModel {
    encoding: Encoding,
    rows: PointRows,
    pairs: Pairs,
    /// The cost `c₁ = c₂`.
    pub cost: f64,
    /// `c₃ = c₄`.
    pub regularization: f64,
}

/// A machine for each pair of classes.
struct Pairs {
    /// The classes, increasing.
    classes: Vec<u32>,
    machines: Vec<TwinPair>,
}

/// The machine of two classes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TwinPair {
    /// The two classes, the smaller code first.
    pub(crate) classes: [u32; 2],
    /// The training samples it was trained on.
    pub(crate) samples: Vec<usize>,
    /// The machine; its first plane is that of the first class.
    pub(crate) machine: TwinMachine,
}

impl TwinClassifierModel {
    /// A machine for each pair of classes; none for a single class.
    pub(crate) fn pairs(&self) -> &[TwinPair] {
        &self.pairs.machines
    }
}

/// The inputs of machines: coordinates, or kernel values with all training samples.
#[derive(Clone, Copy)]
enum Features<'a> {
    Points(&'a Points),
    Rows(&'a dyn KernelRows),
}

impl Features<'_> {
    fn problem(&self, samples: &[usize], first: &[bool]) -> Result<TwinProblem, Error> {
        match self {
            Self::Points(points) => TwinProblem::linear(points, samples, first),
            Self::Rows(rows) => TwinProblem::kernel(*rows, samples, first),
        }
    }

    /// The features of sample `i`.
    fn of(&self, i: usize) -> Vec<f64> {
        match self {
            Self::Points(points) => points.point(i).to_vec(),
            Self::Rows(rows) => {
                let mut row = vec![0.0; rows.len()];
                rows.row(i, &mut row);
                row
            }
        }
    }
}

impl Pairs {
    /// The decision of each pair, above 0 for its first class, from coordinates, or from kernel values with
    /// all training samples.
    fn decisions(&self, features: &[f64], kernel: MachineKernel) -> Result<Vec<f64>, Error> {
        let of_pair = |pair: &TwinPair| match kernel {
            MachineKernel::Linear => pair.machine.decision(features),
            MachineKernel::Gaussian => {
                let own: Vec<f64> = pair.samples.iter().map(|&i| features[i]).collect();
                pair.machine.decision(&own)
            }
        };
        self.machines.iter().map(of_pair).collect()
    }

    /// The class with most votes (at a tie, the smaller code).
    fn predict(&self, features: &[f64], kernel: MachineKernel) -> Result<u32, Error> {
        if self.machines.is_empty() {
            return Ok(self.classes.first().copied().unwrap_or_default());
        }
        let decisions = self.decisions(features, kernel)?;
        let winner = |(pair, decision): (&TwinPair, &f64)| pair.classes[usize::from(*decision <= 0.0)];
        let winners: Vec<u32> = self.machines.iter().zip(&decisions).map(winner).collect();
        Ok(most_votes(&self.classes, &winners))
    }

    /// For each class its votes, and of equal ones more for the class whose planes are nearer: with `s` the
    /// sum of its decisions against the others, votes `+ s / (3 (|s| + 1))`, which is less than half a vote.
    fn scores(&self, features: &[f64], kernel: MachineKernel) -> Result<Vec<f64>, Error> {
        let decisions = self.decisions(features, kernel)?;
        let score = |class: &u32| {
            let (mut votes, mut sum) = (0.0, 0.0);
            for (pair, decision) in self.machines.iter().zip(&decisions) {
                let Some(second) = pair.classes.iter().position(|other| other == class) else { continue };
                let second = second == 1;
                votes += f64::from(u8::from((*decision <= 0.0) == second));
                sum += if second { -decision } else { *decision };
            }
            votes + sum / (3.0 * (sum.abs() + 1.0))
        };
        Ok(self.classes.iter().map(score).collect())
    }
}

impl TwinClassifier {
    /// The twin bounded support vector machine.
    pub fn tbsvm() -> Self {
        Self { regularization: TwinRegularization::Bounded(vec![0.01, 0.1, 1.0]), ..Self::default() }
    }

    /// [`Learner::fit`], with the model's own type.
    ///
    /// # Errors
    /// For a target without classes, parameters out of range, values that are not finite; [`Error::Stopped`];
    /// [`Error::Numerical`] for a ridge too small to invert.
    pub fn train(&self, data: &Dataset, context: &Context<'_>) -> Result<TwinClassifierModel, Error> {
        self.check()?;
        self.grid.check()?;
        let codes = data.classes(self.name())?.codes();
        let space = Space::new(data, self.kernel, context)?;
        let (kernel, regularization, cost) = self.choose(data, codes, &space, context)?;
        let rows = space.rows(kernel)?;
        let all: Vec<usize> = (0..codes.len()).collect();
        let control = Control { max_iterations: PASSES[1], ..control(self.tolerance, context) };
        let features = self.features(&space, &*rows);
        let trained = self.pairs(features, codes, &all, &[regularization], &[cost], &control)?;
        let Some(pairs) = trained.into_iter().next() else {
            return Err(Error::TooFew { what: "samples", minimum: 1, found: 0 });
        };
        let rows = PointRows::new(&space.points, kernel)?;
        Ok(TwinClassifierModel { encoding: space.encoding, rows, pairs, cost, regularization })
    }

    fn costs(&self) -> Vec<f64> {
        self.c1.map_or_else(|| self.grid.sorted_costs(), |cost| vec![cost])
    }

    /// Decreasing: at a tie the larger is used.
    fn regularizations(&self) -> Vec<f64> {
        match &self.regularization {
            TwinRegularization::Ridge(ridge) => vec![*ridge],
            TwinRegularization::Bounded(values) => {
                let mut values = sorted(values);
                values.reverse();
                values
            }
        }
    }

    fn features<'a>(&self, space: &'a Space, rows: &'a dyn KernelRows) -> Features<'a> {
        match self.kernel {
            MachineKernel::Linear => Features::Points(&space.points),
            MachineKernel::Gaussian => Features::Rows(rows),
        }
    }

    /// The machines of `samples` for all `costs` at the first regularisation, then at the next.
    fn pairs(
        &self,
        features: Features<'_>,
        codes: &[u32],
        samples: &[usize],
        regularizations: &[f64],
        costs: &[f64],
        control: &Control<'_>,
    ) -> Result<Vec<Pairs>, Error> {
        let own_codes: Vec<u32> = samples.iter().map(|&i| codes[i]).collect();
        let classes = order::distinct_codes(own_codes.clone());
        let candidates = regularizations.len() * costs.len();
        let mut trained: Vec<Pairs> =
            (0..candidates).map(|_| Pairs { classes: classes.clone(), machines: Vec::new() }).collect();
        for (classes, rows) in order::code_pairs(&own_codes) {
            let own: Vec<usize> = rows.iter().map(|&row| samples[row]).collect();
            let first: Vec<bool> = own.iter().map(|&i| codes[i] == classes[0]).collect();
            let problem = features.problem(&own, &first)?;
            let mut trained = trained.iter_mut();
            for &regularization in regularizations {
                let dual = problem.regularised(regularization)?;
                let mut last: Option<TwinMachine> = None;
                for (&cost, pairs) in costs.iter().zip(&mut trained) {
                    let machine = dual.train(cost, self.relaxation, last.as_ref(), control)?;
                    for plane in &machine.planes {
                        check_stop(plane.dual.status)?;
                    }
                    pairs.machines.push(TwinPair { classes, samples: own.clone(), machine: machine.clone() });
                    last = Some(machine);
                }
            }
        }
        Ok(trained)
    }

    fn choose(
        &self,
        data: &Dataset,
        codes: &[u32],
        space: &Space,
        context: &Context<'_>,
    ) -> Result<(VectorKernel, f64, f64), Error> {
        let (kernels, costs) = (self.grid.kernels(self.kernel, space.unit), self.costs());
        let regularizations = self.regularizations();
        let candidates = kernels.len() * costs.len() * regularizations.len();
        let splits = self.grid.splits(data, candidates, true, context)?;
        let control = Control { max_iterations: PASSES[0], ..control(ROUGH, context) };
        let mut chosen = (kernels[0], regularizations[0], costs[0]);
        let mut most = 0;
        for (done, &kernel) in kernels.iter().enumerate() {
            context.report("choosing width, regularisation and cost", done, kernels.len());
            let rows = space.rows(kernel)?;
            let features = self.features(space, &*rows);
            let mut hits = vec![0_usize; regularizations.len() * costs.len()];
            for split in &splits {
                let trained =
                    self.pairs(features, codes, &split.train, &regularizations, &costs, &control)?;
                for &i in &split.test {
                    let own = features.of(i);
                    for (hits, pairs) in hits.iter_mut().zip(&trained) {
                        *hits += usize::from(pairs.predict(&own, self.kernel)? == codes[i]);
                    }
                }
            }
            for (r, &regularization) in regularizations.iter().enumerate() {
                for (c, &cost) in costs.iter().enumerate() {
                    let hits = hits[r * costs.len() + c];
                    if hits > most {
                        most = hits;
                        chosen = (kernel, regularization, cost);
                    }
                }
            }
        }
        Ok(chosen)
    }
}

impl Learner for TwinClassifier {
    fn name(&self) -> &'static str {
        match self.regularization {
            TwinRegularization::Ridge(_) => "twsvm",
            TwinRegularization::Bounded(_) => "tbsvm",
        }
    }

    fn scoring(&self) -> ClassScoring {
        ClassScoring::DecisionValues
    }

    fn fit(&self, data: &Dataset, context: &Context<'_>) -> Result<Box<dyn Model>, Error> {
        Ok(Box::new(self.train(data, context)?))
    }
}

impl TwinClassifierModel {
    /// Calls `visit` with the coordinates of each sample of `x`, or its kernel values with all training
    /// samples.
    fn visit(
        &self,
        x: &dyn Columns,
        mut visit: impl FnMut(&[f64], MachineKernel) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let points = self.encoding.encode(x)?;
        let mut row = vec![0.0; self.rows.len()];
        for i in 0..points.n_samples {
            if self.rows.0.kernel() == VectorKernel::Linear {
                visit(points.point(i), MachineKernel::Linear)?;
            } else {
                self.rows.0.row_at(points.point(i), &mut row)?;
                visit(&row, MachineKernel::Gaussian)?;
            }
        }
        Ok(())
    }
}

impl Model for TwinClassifierModel {
    fn predict(&self, x: &dyn Columns) -> Result<Predictions, Error> {
        let mut codes = Vec::with_capacity(x.n_samples());
        self.visit(x, |features, kernel| {
            codes.push(self.pairs.predict(features, kernel)?);
            Ok(())
        })?;
        Ok(Predictions::Classes(codes))
    }

    fn score_classes(&self, x: &dyn Columns) -> Result<Vec<(u32, Vec<f64>)>, Error> {
        let with_values = |&code: &u32| (code, Vec::with_capacity(x.n_samples()));
        let mut scores: Vec<(u32, Vec<f64>)> = self.pairs.classes.iter().map(with_values).collect();
        self.visit(x, |features, kernel| {
            let found = self.pairs.scores(features, kernel)?;
            scores.iter_mut().zip(found).for_each(|((_, values), score)| values.push(score));
            Ok(())
        })?;
        Ok(scores)
    }

    fn facts(&self) -> Vec<(&'static str, f64)> {
        let pairs = self.pairs().iter().map(|pair| pair.machine.certificate());
        let certificate = pairs.fold(Certificate::gap(0.0), Certificate::worse);
        vec![
            ("cost", self.cost),
            ("gamma", gamma_of(self.rows.0.kernel())),
            ("regularization", self.regularization),
            ("gap", certificate.value()),
        ]
    }
}

#[cfg(test)]
mod tests;
