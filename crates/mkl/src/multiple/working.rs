//! The weights of all kernels: the interior-point method on those that may have one, and a look at all
//! others.

use fewest_core::{Context, Error, Status, order};

use super::Machine;
use super::interior::Interior;
use super::terms::Terms;

/// Kernels in the first set.
const FIRST: usize = 32;

/// Kernels that are added at a time, at least.
const MORE: usize = 16;

/// Machines of which a look at all kernels takes little time.
const FEW_MACHINES: usize = 1000;

/// Relative error of the largest penalty.
const PENALTY_ERROR: f64 = 1e-5;

/// Duality gap, relative to the objective, of what approaches it.
const PENALTY_TOLERANCE: f64 = 1e-9;

/// Problems on the way to it at most: halvings and Newton steps.
const MOST_PENALTIES: usize = 40;

/// By how much the gain of a kernel must exceed its penalty for it to be added.
const LEAST_GAIN: f64 = 1e-12;

/// Kernel weights with `C = 1`: a factor `c` on it divides the weights by `c` where the penalty grows by
/// `c²`.
pub(super) struct Solution {
    /// A weight for each kernel.
    pub(super) weights: Vec<f64>,
    /// `Σ α − ½ (α∘y)ᵀK(α∘y) + λ Σ d` at the optimum over the multipliers, at most `gap` above the smallest
    /// there is.
    pub(super) objective: f64,
    pub(super) gap: f64,
    pub(super) status: Status,
    /// Newton steps.
    pub(super) steps: usize,
}

impl Solution {
    pub(super) fn relative_gap(&self) -> f64 {
        self.gap.max(0.0) / self.objective
    }
}

/// What the kernels are worth where all weights are zero, to multipliers that are alike within a class.
///
/// Half the largest is a penalty at which none has a weight, and the smallest such where the two classes of
/// every machine are equally large: then there are no other multipliers.
///
/// # Errors
/// [`Error::Stopped`]
pub(super) fn worths(terms: &Terms, machines: &[Machine], context: &Context<'_>) -> Result<Vec<f64>, Error> {
    let balanced: Vec<Vec<f64>> = machines.iter().map(Machine::balanced).collect();
    terms.squares(machines, &balanced, context)
}

/// The objective without weights, `Σ α` of multipliers that nothing but the labels restricts.
pub(super) fn no_weights(machines: &[Machine]) -> f64 {
    machines.iter().map(|machine| 2.0 * machine.smaller()).sum()
}

/// The smallest penalty at which no kernel has a weight, with `C = 1`, to a relative error of
/// [`PENALTY_ERROR`]; `worths` are those of [`worths`].
///
/// At no weights the multipliers of the smaller class are 1, those of the larger one any with the same sum;
/// the penalty is the least to which they can make the largest `½ Σ βᵀK_mβ`. It is approached from below: the
/// optimum `V(λ)` is at most `N = Σ α` there, and weights `d` whose primal objective at `λ` is `V` show that
/// the penalty is at least `λ + (N − V)/Σ d`, as `V` is concave with the slope `Σ d`.
///
/// # Errors
/// [`Error::Stopped`] where the time is over before; what [`solve`] returns.
pub(super) fn largest_penalty(
    terms: &Terms,
    machines: &[Machine],
    worths: &[f64],
    context: &Context<'_>,
) -> Result<f64, Error> {
    let bound = 0.5 * worths.iter().copied().fold(0.0, f64::max);
    if bound <= 0.0 || machines.iter().all(Machine::is_even) {
        return Ok(bound);
    }
    let most = no_weights(machines);
    let (mut lambda, mut is_below) = (0.5 * bound, false);
    for _ in 0..MOST_PENALTIES {
        let found = solve(terms, machines, lambda, worths, PENALTY_TOLERANCE, context)?;
        if found.status.is_stopped() {
            return Err(Error::Stopped { before: "the largest penalty was known" });
        }
        let sum: f64 = found.weights.iter().sum();
        let missing = most - found.objective;
        let is_reached = missing <= PENALTY_TOLERANCE * most;
        if is_reached && !is_below {
            // No weight gains here: the penalty is further down.
            lambda *= 0.5;
            continue;
        }
        is_below = true;
        let next = if is_reached { lambda } else { (lambda + missing / sum).min(bound) };
        if next <= lambda * (1.0 + 0.1 * PENALTY_ERROR) {
            lambda = next;
            break;
        }
        lambda = next;
    }
    // Above it, by no more than the error.
    Ok((lambda * (1.0 + PENALTY_ERROR)).min(bound))
}

/// The weights at the penalty `lambda`; `hints` is large for kernels likely to have one.
pub(super) fn solve(
    terms: &Terms,
    machines: &[Machine],
    lambda: f64,
    hints: &[f64],
    tolerance: f64,
    context: &Context<'_>,
) -> Result<Solution, Error> {
    let mut chosen = order::descending(hints);
    chosen.truncate(FIRST);
    order::sort_indices(&mut chosen);
    let mut steps = 0;
    // What the sets before the last one came to.
    let mut before: Option<Solution> = None;
    loop {
        let interior = Interior::new(terms, &chosen, machines, lambda, context);
        let ended = interior.and_then(|interior| interior.run(machines, 0.5 * tolerance));
        let mut saddle = match (ended, before.take()) {
            (Err(Error::Stopped { .. }), Some(found)) => {
                return Ok(Solution { status: context.stopped().unwrap_or(Status::TimeLimit), ..found });
            }
            (ended, _) => ended?,
        };
        steps += saddle.steps;
        // Where it was stopped the certificate is all that is missing, which takes little of few machines.
        let unlimited = Context::default();
        let is_short = saddle.status.is_stopped() && machines.len() <= FEW_MACHINES;
        let limits = if is_short { &unlimited } else { context };
        let squares: Vec<f64> = match terms.squares(machines, &saddle.betas, limits) {
            Ok(squares) => squares.into_iter().map(|square| square / lambda).collect(),
            Err(_) => {
                saddle.status = context.stopped().unwrap_or(Status::TimeLimit);
                vec![f64::INFINITY; terms.len()]
            }
        };
        let gap = saddle.gap(squares.iter().copied().fold(0.0, f64::max));
        let stopped = saddle.status.is_stopped();
        let mut outside: Vec<(f64, usize)> = (0..terms.len())
            .filter(|m| chosen.binary_search(m).is_err() && 0.5 * squares[*m] > 1.0 + LEAST_GAIN)
            .map(|m| (squares[m], m))
            .collect();
        let reached = gap <= tolerance * saddle.primal;
        let mut weights = vec![0.0; terms.len()];
        for (&m, weight) in chosen.iter().zip(&saddle.weights) {
            weights[m] = weight / lambda;
        }
        if reached || stopped || outside.is_empty() {
            let status = match saddle.status {
                _ if reached => Status::Converged,
                Status::Stalled => Status::by_certificate(gap, tolerance * saddle.primal),
                Status::Converged => Status::AlmostConverged,
                status => status,
            };
            return Ok(Solution { weights, objective: saddle.primal, gap, status, steps });
        }
        before = Some(Solution { weights, objective: saddle.primal, gap, status: saddle.status, steps });
        context.report("kernels", chosen.len(), terms.len());
        order::largest_first(&mut outside);
        outside.truncate(MORE.max(chosen.len() / 2));
        chosen.extend(outside.into_iter().map(|(_, m)| m));
        order::sort_indices(&mut chosen);
    }
}

#[cfg(test)]
mod tests {
    use fewest_core::method::KernelWidth;
    use fewest_core::{Dataset, DenseColumns, Target, derive_seed};
    use fewest_smo::{Classifier, GramRows};
    use fewest_solver::Control;
    use nalgebra::DMatrix;

    use super::super::terms::Spectrum;
    use super::super::{machines, terms::Terms};
    use super::*;
    use crate::BaseKernel;

    fn data(n_classes: u64) -> Result<Dataset, Error> {
        let random = |stream: u64| 2.0 * (derive_seed(4, stream) as f64 / u64::MAX as f64) - 1.0;
        let columns: Vec<Vec<f64>> = (0..60).map(|j| (0..36).map(|i| random(i * 60 + j)).collect()).collect();
        let class = |i: usize| {
            let signal = columns[0][i] + columns[1][i].powi(2);
            u8::from(signal > 0.4) + 2 * u8::from(n_classes > 2 && signal < -0.2)
        };
        let labels: Vec<u8> = (0..36).map(class).collect();
        Dataset::new(DenseColumns::from_columns(&columns)?, Target::from_labels(&labels))
    }

    fn gram(terms: &Terms, weights: &[f64]) -> DMatrix<f64> {
        let n = terms.n_samples;
        let mut sum = DMatrix::zeros(n, n);
        for (term, weight) in terms.terms.iter().zip(weights) {
            let columns = DMatrix::from_column_slice(n, term.columns.len() / n, &term.columns);
            let mut signed = columns.clone();
            for a in 0..columns.ncols() {
                signed.column_mut(a).scale_mut(term.sign(a));
            }
            sum += *weight * (signed * columns.transpose() + term.shift * DMatrix::identity(n, n));
        }
        sum
    }

    /// The objective at some weights, each machine trained by sequential minimal optimisation on the whole
    /// matrix.
    fn objective(terms: &Terms, machines: &[Machine], weights: &[f64], lambda: f64) -> Result<f64, Error> {
        let gram = gram(terms, weights);
        let mut value = lambda * weights.iter().sum::<f64>();
        for machine in machines {
            let part = gram.select_rows(&machine.rows).select_columns(&machine.rows);
            let part = 0.5 * (&part + part.transpose());
            let rows = GramRows::new(part.data.into(), machine.rows.len())?;
            let control = Control { tolerance: 1e-12, ..Control::default() };
            let trained = Classifier::default().train(&rows, &machine.positive, &[], &control)?;
            value -= trained.dual.solution.objective;
        }
        Ok(value)
    }

    #[test]
    fn no_weights_nearby_or_on_an_edge_are_better() -> Result<(), Error> {
        let context = Context::default();
        let sigmoid = BaseKernel::Sigmoid { scale: 2.0, shift: 0.5 };
        for (kernel, spectrum) in [
            (BaseKernel::Gaussian { sigma: KernelWidth::Value(0.7) }, None),
            (BaseKernel::Linear, None),
            (sigmoid.clone(), Some(Spectrum::Clip)),
            (sigmoid.clone(), Some(Spectrum::Flip)),
            (sigmoid, Some(Spectrum::Shift)),
        ] {
            for n_classes in [2, 3] {
                let data = data(n_classes)?;
                let machines = machines(&data, "rfmkl")?;
                assert_eq!(machines.len() as u64, 2 * n_classes - 3);
                let terms = Terms::new(&data, &kernel, spectrum, &context)?;
                let hints = worths(&terms, &machines, &context)?;
                let largest = largest_penalty(&terms, &machines, &hints, &context)?;
                for ratio in [0.3, 0.02] {
                    let lambda = ratio * largest;
                    let found = solve(&terms, &machines, lambda, &hints, 1e-10, &context)?;
                    assert_eq!(
                        found.status,
                        Status::Converged,
                        "{kernel:?} {ratio} {}",
                        found.relative_gap()
                    );
                    let value = objective(&terms, &machines, &found.weights, lambda)?;
                    assert!((value - found.objective).abs() < 1e-8 * value, "{value} {}", found.objective);
                    // More than the first set was needed, or at least looked at.
                    let support = found.weights.iter().filter(|weight| **weight * lambda > 1e-6).count();
                    assert!(support > 0 && support < 60, "{support}");
                    let random = |stream: usize| derive_seed(9, stream as u64) as f64 / u64::MAX as f64;
                    for trial in 0..20 {
                        let size = [1.0, 0.1, 0.01][trial % 3] * found.weights.iter().sum::<f64>();
                        let mut moved = found.weights.clone();
                        for (m, weight) in moved.iter_mut().enumerate() {
                            if trial >= 10 || random(m) < 0.1 {
                                let change = size * (random(1000 * trial + m) - 0.5);
                                *weight = (*weight + change).max(0.0);
                            }
                        }
                        let other = objective(&terms, &machines, &moved, lambda)?;
                        assert!(
                            other >= found.objective - found.gap - 1e-9 * other,
                            "{other} {}",
                            found.objective
                        );
                    }
                }
            }
        }
        Ok(())
    }

    #[test]
    fn weights_of_two_kernels_are_those_of_a_search() -> Result<(), Error> {
        let all = data(2)?;
        let two: Vec<Vec<f64>> = (0..2)
            .map(|j| {
                let mut column = vec![0.0; 36];
                all.x().copy_column(j, &mut column)?;
                Ok(column)
            })
            .collect::<Result<_, Error>>()?;
        let data = Dataset::new(DenseColumns::from_columns(&two)?, all.target().clone())?;
        let context = Context::default();
        let machines = machines(&data, "rfmkl")?;
        let terms =
            Terms::new(&data, &BaseKernel::Gaussian { sigma: KernelWidth::Value(1.0) }, None, &context)?;
        let hints = worths(&terms, &machines, &context)?;
        let largest = largest_penalty(&terms, &machines, &hints, &context)?;
        let lambda = 0.05 * largest;
        let found = solve(&terms, &machines, lambda, &hints, 1e-10, &context)?;
        // Nested search by thirds: the objective is convex, and so is its minimum over one weight.
        let value = |d: [f64; 2]| objective(&terms, &machines, &d, lambda);
        let least = |value: &dyn Fn(f64) -> Result<f64, Error>| -> Result<(f64, f64), Error> {
            let (mut low, mut high) = (0.0, 20.0);
            for _ in 0..50 {
                let (left, right) = (low + (high - low) / 3.0, high - (high - low) / 3.0);
                if value(left)? <= value(right)? { high = right } else { low = left }
            }
            let at = 0.5 * (low + high);
            Ok((at, value(at)?))
        };
        let (first, best) = least(&|a| Ok(least(&|b| value([a, b]))?.1))?;
        let (second, _) = least(&|b| value([first, b]))?;
        assert!((found.objective - best).abs() < 1e-8 * best, "{} {best}", found.objective);
        for (found, searched) in found.weights.iter().zip([first, second]) {
            assert!((found - searched).abs() < 1e-3 * (1.0 + searched), "{found} {searched}");
        }
        Ok(())
    }

    #[test]
    fn changed_spectra_have_no_negative_eigenvalue() -> Result<(), Error> {
        let data = data(2)?;
        let kernel = BaseKernel::Sigmoid { scale: 2.0, shift: 1.0 };
        for spectrum in [Spectrum::Clip, Spectrum::Flip, Spectrum::Shift] {
            let terms = Terms::new(&data, &kernel, Some(spectrum), &Context::default())?;
            for m in 0..5 {
                let mut weights = vec![0.0; 5];
                weights[m] = 1.0;
                let eigenvalues = gram(&terms, &weights).symmetric_eigenvalues();
                assert!(eigenvalues.min() > -1e-6 * eigenvalues.amax(), "{spectrum:?} {}", eigenvalues.min());
                assert!(eigenvalues.max() > 0.1);
            }
        }
        Ok(())
    }
}
