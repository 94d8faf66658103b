//! The squared hinge loss: coordinate descent on a sequence of quadratic problems.

use argmin::core::{KV, Problem, Solver, TerminationStatus};
use fewest_core::order;
use fewest_solver::{
    BlockPenalty, Certificate, Composite, Control, Datafit, Error, LinearOperator, Penalty, Quadratic,
    QuadraticSolver, Solution, SolverState, SquaredHinge, Step, certificate, given,
};
use nalgebra::DMatrix;
use serde::{Deserialize, Serialize};

use crate::CoordinateDescent;

/// Iterations without progress after which the solver gives up.
const PATIENCE: u32 = 5;

/// Smallest number of blocks added to the working set in an iteration.
const LEAST_JOINING: usize = 10;

/// Most Newton steps on a working set.
const MOST_NEWTON_STEPS: usize = 100;

/// Most halvings of a step.
const MOST_HALVINGS: usize = 40;

/// Minimises `Σᵢ max(0, 1 − yᵢ ((A w)ᵢ + b))² + Ω(w)` over `w` and `b`, an argmin
/// [`Solver`](argmin::core::Solver) over [`Composite<SquaredHinge>`](Composite).
///
/// On the samples inside the margin the loss is least squares, `Σ (yᵢ − (A w)ᵢ − b)²`, and elsewhere 0. A
/// Newton step (Keerthi and DeCoste 2005, here with a penalty) minimises that quadratic plus `Ω` by
/// [`CoordinateDescent`] and goes towards its minimum as far as the objective decreases enough (Armijo); once
/// the samples inside the margin stay the same, the minimum is reached exactly, so that a few steps suffice.
///
/// An iteration works on the non-zero blocks and as many others, those that violate the optimality conditions
/// most; then it computes the gradient of all coefficients and the duality gap of the whole problem. With `v
/// = Aᵀα`, the gradient's negative,
///
/// ```text
/// gap = ¼ (1 − t)² Σ qᵢ² + Ω(w) + Ω*(tv) − t wᵀv,     qᵢ = yᵢ αᵢ = 2 ξᵢ
/// ```
///
/// in which nothing large cancels. Cost of an iteration: two products with `A`, and with `k` coefficients in
/// the working set `n k²` a Newton step. Memory: `n k + k²`.
///
/// ```
/// use fewest_cd::SquaredHingeDescent;
/// use fewest_solver::{Control, DenseOperator, L1, SquaredHinge, Status};
///
/// // One feature, x = −2, −1, 1, 2, and λ = 4: with w < 1 the samples −1 and 1 are inside the margin,
/// // 2 (1 − w)² + 4 w is least at w = 0; but at w < ½ so are the others: 2 (1 − w)² + 2 (1 − 2 w)² + 4 w at w = 0.4.
/// let operator = DenseOperator::new(vec![-2.0, -1.0, 1.0, 2.0], 4, 1)?;
/// let loss = SquaredHinge::new(operator, vec![-1.0, -1.0, 1.0, 1.0])?;
/// let solution = SquaredHingeDescent::default().minimise(&loss, &L1::new(4.0, 1)?, &[], &Control::default())?;
/// assert_eq!(solution.status, Status::Converged);
/// assert!((solution.coefficients[0] - 0.4).abs() < 1e-12);
/// # Ok::<(), fewest_solver::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SquaredHingeDescent {
    tolerance: f64,
    descent: CoordinateDescent,
    slacks: Vec<f64>,
    /// `v = Aᵀα`.
    correlations: Vec<f64>,
    objective_at_zero: f64,
    best_gap: f64,
    best_objective: f64,
    without_progress: u32,
}

impl SquaredHingeDescent {
    /// The relative duality gap at which the solver stops of itself, at least 0. Default 0: it stops when
    /// nothing improves. [`minimise`](Self::minimise) takes it from its `control`.
    #[must_use]
    pub fn tolerance(mut self, tolerance: f64) -> Self {
        self.tolerance = tolerance;
        self
    }

    /// Minimises `datafit + penalty` from `start` (empty for zeros).
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] when they disagree in size; [`Error::InvalidParameter`] for a start that is
    /// not finite or a tolerance out of range; [`Error::Unsupported`] for a penalty that is not a convex sum
    /// over blocks; [`Error::Numerical`] for an operator whose values are not finite or overflow when
    /// squared.
    pub fn minimise<A: LinearOperator>(
        &self,
        datafit: &SquaredHinge<A>,
        penalty: &dyn Penalty,
        start: &[f64],
        control: &Control<'_>,
    ) -> Result<Solution, Error> {
        let mut solver = self.clone().tolerance(control.tolerance);
        let composite = Composite::new(datafit, penalty)?.within(control);
        fewest_solver::run(composite, &mut solver, start.to_vec(), control)
    }

    /// Computes the gradient and the certificate of `w`.
    fn certify<A: LinearOperator>(
        &mut self,
        datafit: &SquaredHinge<A>,
        penalty: &dyn BlockPenalty,
        w: Vec<f64>,
        mut state: SolverState,
    ) -> Step {
        let mut fitted = vec![0.0; datafit.labels().len()];
        datafit.operator().apply(&w, &mut fitted);
        self.slacks = datafit.slacks(&fitted);
        self.correlations.resize(w.len(), 0.0);
        datafit.operator().apply_transpose(&datafit.dual_point(&self.slacks), &mut self.correlations);
        let squares: f64 = self.slacks.iter().map(|slack| slack * slack).sum();
        let product: f64 = w.iter().zip(&self.correlations).map(|(w, v)| w * v).sum();
        if !(squares.is_finite() && self.correlations.iter().all(|v| v.is_finite())) {
            let hint = "the features must be finite, and their squares must not overflow".to_owned();
            return Err(Error::Numerical { what: "the squared hinge loss", hint }.into());
        }
        let value = penalty.value(&w);
        let t = penalty.dual_scale(&self.correlations);
        let scaled: Vec<f64> = self.correlations.iter().map(|v| t * v).collect();
        let gap = (1.0 - t) * (1.0 - t) * squares + value + penalty.conjugate(&scaled) - t * product;
        let gap = certificate::relative(gap, self.objective_at_zero).min(f64::MAX);
        let objective = squares + value;
        let lower = self.best_objective - objective > 1e-15 * self.objective_at_zero;
        self.without_progress =
            if gap < 0.9 * self.best_gap || lower { 0 } else { self.without_progress + 1 };
        self.best_gap = self.best_gap.min(gap);
        self.best_objective = self.best_objective.min(objective);
        let mut observed = KV::new();
        observed.insert("duality_gap", gap.into());
        observed.insert("non_zeros", (w.iter().filter(|&&w| w != 0.0).count() as u64).into());
        observed.insert("inside", (self.slacks.iter().filter(|&&slack| slack > 0.0).count() as u64).into());
        state.coefficients = w;
        state.objective = objective;
        state.certificate = Certificate::gap(gap);
        state.stalled = self.without_progress >= PATIENCE;
        Ok((state, Some(observed)))
    }

    /// The coefficients of the non-zero blocks and of as many others, those that a step would move furthest;
    /// increasing.
    fn working_set(&self, penalty: &dyn BlockPenalty, w: &[f64]) -> Vec<usize> {
        let blocks = penalty.blocks();
        let (mut chosen, mut others) = (Vec::new(), Vec::new());
        for b in 0..blocks.n_blocks() {
            let block = blocks.block(b);
            if block.iter().any(|&j| w[j] != 0.0) {
                chosen.push(b);
                continue;
            }
            let mut moved: Vec<f64> = block.iter().map(|&j| self.correlations[j]).collect();
            penalty.prox_block(b, &mut moved, 1.0);
            let length: f64 = moved.iter().map(|value| value * value).sum();
            if length > 0.0 {
                others.push((length, b));
            }
        }
        order::largest_first(&mut others);
        others.truncate(chosen.len().max(LEAST_JOINING));
        chosen.extend(others.into_iter().map(|(_, b)| b));
        let mut members: Vec<usize> = chosen.into_iter().flat_map(|b| blocks.block(b)).copied().collect();
        order::sort_indices(&mut members);
        members
    }
}

/// The problem over the columns of a working set.
struct Restricted<'a, A> {
    datafit: &'a SquaredHinge<A>,
    columns: DMatrix<f64>,
    penalty: Box<dyn BlockPenalty>,
}

/// A point of it.
struct Point {
    w: Vec<f64>,
    fitted: Vec<f64>,
    slacks: Vec<f64>,
    objective: f64,
}

impl<'a, A: LinearOperator> Restricted<'a, A> {
    fn new(datafit: &'a SquaredHinge<A>, penalty: &dyn BlockPenalty, members: &[usize]) -> Self {
        let mut columns = DMatrix::zeros(datafit.labels().len(), members.len());
        for (&j, mut column) in members.iter().zip(columns.column_iter_mut()) {
            datafit.operator().column(j, column.as_mut_slice());
        }
        Self { datafit, columns, penalty: penalty.restrict(members) }
    }

    fn fit(&self, w: &[f64]) -> Vec<f64> {
        let mut fitted = vec![0.0; self.columns.nrows()];
        for (&w, column) in w.iter().zip(self.columns.column_iter()).filter(|(w, _)| **w != 0.0) {
            for (fitted, value) in fitted.iter_mut().zip(column.iter()) {
                *fitted += w * value;
            }
        }
        fitted
    }

    fn point(&self, w: Vec<f64>, fitted: Vec<f64>) -> Point {
        let slacks = self.datafit.slacks(&fitted);
        let objective = slacks.iter().map(|slack| slack * slack).sum::<f64>() + self.penalty.value(&w);
        Point { w, fitted, slacks, objective }
    }

    /// The least squares problem of the samples inside the margin, with its own best bias.
    fn quadratic(&self, inside: &[usize]) -> Result<Quadratic, Error> {
        let k = self.columns.ncols();
        let n = inside.len() as f64;
        let mut rows = DMatrix::from_fn(inside.len(), k, |i, j| self.columns[(inside[i], j)]);
        for mut column in rows.column_iter_mut() {
            let mean = column.sum() / n;
            column.add_scalar_mut(-mean);
        }
        let labels = self.datafit.labels();
        let mean = inside.iter().map(|&i| labels[i]).sum::<f64>() / n;
        let targets: Vec<f64> = inside.iter().map(|&i| labels[i] - mean).collect();
        let mut gram = rows.transpose() * &rows;
        // Products may round differently on both sides of the diagonal.
        for j in 0..k {
            for i in 0..j {
                gram[(i, j)] = gram[(j, i)];
            }
        }
        gram *= 2.0;
        let product = |j: usize| 2.0 * rows.column(j).iter().zip(&targets).map(|(x, y)| x * y).sum::<f64>();
        let squared_norm = 2.0 * targets.iter().map(|y| y * y).sum::<f64>();
        Quadratic::new(gram.as_slice().to_vec(), (0..k).map(product).collect(), squared_norm)
    }

    /// Newton steps from `w` until the minimum, or until none lowers the objective.
    fn minimise(
        &self,
        w: Vec<f64>,
        solver: &CoordinateDescent,
        control: &Control<'_>,
    ) -> Result<Vec<f64>, Error> {
        let fitted = self.fit(&w);
        let mut point = self.point(w, fitted);
        for _ in 0..MOST_NEWTON_STEPS {
            // With many samples a step is the work of a good part of a second.
            if control.stopped().is_some() {
                break;
            }
            let inside: Vec<usize> = (0..point.slacks.len()).filter(|&i| point.slacks[i] > 0.0).collect();
            if inside.is_empty() {
                // No loss is left and the penalty alone remains: any step towards zero is taken by halving
                // below.
                let fitted = vec![0.0; point.fitted.len()];
                match self.step(&point, vec![0.0; point.w.len()], fitted) {
                    Some((next, _)) => point = next,
                    None => break,
                }
                continue;
            }
            let quadratic = self.quadratic(&inside)?;
            let target = solver.minimise(&quadratic, &*self.penalty, &point.w, control)?.coefficients;
            let fitted = self.fit(&target);
            let Some((next, whole)) = self.step(&point, target, fitted) else { break };
            let same = next.slacks.iter().zip(&point.slacks).all(|(a, b)| (*a > 0.0) == (*b > 0.0));
            point = next;
            if whole && same {
                break;
            }
        }
        Ok(point.w)
    }

    /// The point on the way from `point` to `target` that decreases the objective enough (Armijo's rule), and
    /// whether it is `target`.
    fn step(&self, point: &Point, target: Vec<f64>, fitted: Vec<f64>) -> Option<(Point, bool)> {
        let dual = self.datafit.dual_point(&point.slacks);
        let slope: f64 =
            dual.iter().zip(&fitted).zip(&point.fitted).map(|((a, new), old)| -a * (new - old)).sum();
        let predicted = slope + self.penalty.value(&target) - self.penalty.value(&point.w);
        if predicted >= 0.0 || predicted.is_nan() {
            return None;
        }
        let mut share = 1.0;
        for _ in 0..MOST_HALVINGS {
            let mix = |old: &[f64], new: &[f64]| -> Vec<f64> {
                old.iter()
                    .zip(new)
                    .map(|(old, new)| if share == 1.0 { *new } else { old + share * (new - old) })
                    .collect()
            };
            let next = self.point(mix(&point.w, &target), mix(&point.fitted, &fitted));
            if next.objective <= point.objective + 1e-4 * share * predicted {
                return Some((next, share == 1.0));
            }
            share *= 0.5;
        }
        None
    }
}

type Hinges<'a, A> = Composite<'a, SquaredHinge<A>>;

impl<A: LinearOperator> Solver<Hinges<'_, A>, SolverState> for SquaredHingeDescent {
    fn name(&self) -> &str {
        "cd"
    }

    fn init(&mut self, problem: &mut Problem<Hinges<'_, A>>, mut state: SolverState) -> Step {
        let composite = given(problem)?;
        let (datafit, penalty) = (composite.datafit(), composite.penalty().convex_blocks("cd")?);
        let w = composite.feasible_start(std::mem::take(&mut state.coefficients))?;
        self.objective_at_zero = datafit.value(&vec![0.0; w.len()]);
        (self.best_gap, self.best_objective, self.without_progress) = (f64::MAX, f64::MAX, 0);
        self.certify(datafit, penalty, w, state)
    }

    fn next_iter(&mut self, problem: &mut Problem<Hinges<'_, A>>, mut state: SolverState) -> Step {
        let composite = given(problem)?;
        let (datafit, penalty) = (composite.datafit(), composite.penalty().convex_blocks("cd")?);
        let mut w = std::mem::take(&mut state.coefficients);
        let members = self.working_set(penalty, &w);
        if !members.is_empty() {
            let restricted = Restricted::new(datafit, penalty, &members);
            let start = members.iter().map(|&j| w[j]).collect();
            // The quadratic problems are solved up to rounding, since their certificate is cheap.
            let Control { deadline, interrupt, .. } = *composite.control();
            let limits = Control { deadline, interrupt, ..Control::default() };
            let control = Control { tolerance: 1e-14, max_iterations: 200, ..limits };
            let found = restricted.minimise(start, &self.descent, &control)?;
            for (&j, value) in members.iter().zip(found) {
                w[j] = value;
            }
        }
        self.certify(datafit, penalty, w, state)
    }

    fn terminate(&mut self, state: &SolverState) -> TerminationStatus {
        state.ended(self.tolerance)
    }
}
