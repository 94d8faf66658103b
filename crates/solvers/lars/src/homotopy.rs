//! The homotopy from breakpoint to breakpoint, as an argmin solver.

use argmin::core::{Problem, Solver, TerminationReason, TerminationStatus};
use fewest_core::order;
use fewest_solver::{Error, InnerProducts, SolverState, Step};
use serde::{Deserialize, Serialize};

use crate::active_set::ActiveSet;

/// Two penalties closer than this, relatively, are the same breakpoint.
const SAME_LAMBDA: f64 = 1e-12;

/// A penalty below this share of the largest is zero up to rounding: joins and leaves there are noise and
/// might never end.
const NEGLIGIBLE: f64 = 1e-10;

/// What happens at a breakpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    /// The atom joins the active set; its coefficient is still zero.
    Joined(usize),
    /// The atom's coefficient has become zero; it leaves the active set.
    Left(usize),
    /// The requested end of the path.
    End,
}

/// A point where the path changes direction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Breakpoint {
    /// The penalty.
    pub lambda: f64,
    /// What happens here.
    pub event: Event,
    /// The coefficients of the atoms active down to here, by increasing atom; all others are zero.
    pub coefficients: Vec<(usize, f64)>,
}

/// The homotopy over the atoms of an [`InnerProducts`] problem; one argmin iteration is one breakpoint.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Homotopy {
    weights: Vec<f64>,
    smallest_lambda: f64,
    most_active: usize,
    lambda: f64,
    active: ActiveSet,
    is_active: Vec<bool>,
    /// Atoms that have just left: their correlation equals the penalty up to rounding, so at this penalty
    /// they may not join again before another event.
    barred: Vec<usize>,
    /// Atoms that depend linearly on active ones, and do so until one of these leaves.
    dependent: Vec<usize>,
    /// Events since the penalty last decreased.
    ties: usize,
    breakpoints: Vec<Breakpoint>,
    /// Where one more atom than may be active would join, if that is what ended the path.
    one_more: Option<Breakpoint>,
    tied: Vec<(usize, Vec<usize>)>,
    /// Columns of products of atoms that have left, should they come back.
    spare_columns: Vec<(usize, Vec<f64>)>,
    done: bool,
}

/// Checks the ranges of what [`Homotopy::new`] takes.
pub(crate) fn check(weights: &[f64], smallest_lambda: f64, most_active: usize) -> Result<(), Error> {
    if let Some(weight) = weights.iter().find(|weight| !(weight.is_finite() && **weight > 0.0)) {
        return Err(Error::parameter("weight", weight, "above 0: project unpenalised atoms out first"));
    }
    if !(smallest_lambda.is_finite() && smallest_lambda >= 0.0) {
        return Err(Error::parameter("smallest_lambda", smallest_lambda, "finite and at least 0"));
    }
    if most_active == 0 {
        return Err(Error::parameter("most_active", most_active, "at least 1"));
    }
    Ok(())
}

impl Homotopy {
    /// The path with penalty `lambda · weights[j]` on atom `j`, from its start down to `smallest_lambda`
    /// or to the middle of the segment after which more than `most_active` atoms would be active for the
    /// first time, whichever comes first.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for a weight that is not above 0, a `smallest_lambda` below 0 or not
    /// finite, or `most_active` of 0.
    pub fn new(weights: Vec<f64>, smallest_lambda: f64, most_active: usize) -> Result<Self, Error> {
        check(&weights, smallest_lambda, most_active)?;
        let n = weights.len();
        Ok(Self {
            weights,
            smallest_lambda,
            most_active,
            lambda: f64::MAX,
            active: ActiveSet::default(),
            is_active: vec![false; n],
            barred: Vec::new(),
            dependent: Vec::new(),
            ties: 0,
            breakpoints: Vec::new(),
            one_more: None,
            tied: Vec::new(),
            spare_columns: Vec::new(),
            done: false,
        })
    }

    /// The breakpoints so far, by decreasing penalty.
    pub fn breakpoints(&self) -> &[Breakpoint] {
        &self.breakpoints
    }

    /// Where one more atom than may be active would join, if that is what ended the path.
    pub(crate) fn one_more(&self) -> Option<&Breakpoint> {
        self.one_more.as_ref()
    }

    /// Atoms that reached the penalty but depend linearly on the atoms active then, such as duplicates.
    pub(crate) fn tied(&self) -> &[(usize, Vec<usize>)] {
        &self.tied
    }

    /// Whether the path has come to its end.
    pub fn is_done(&self) -> bool {
        self.done
    }

    /// The coefficients on the current segment as `(p, q)`: `w_S(λ) = p − λ q`.
    fn segment(&self, problem: &impl InnerProducts) -> (Vec<f64>, Vec<f64>) {
        let pick =
            |values: &[f64]| -> Vec<f64> { self.active.atoms().iter().map(|&atom| values[atom]).collect() };
        (self.active.solve(&pick(problem.target_products())), self.active.solve(&pick(&self.weights)))
    }

    /// The correlations on the current segment as `(u, v)`: `u + λ v`.
    fn correlations(&self, problem: &impl InnerProducts, p: &[f64], q: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let mut u = problem.target_products().to_vec();
        let mut v = vec![0.0; u.len()];
        for ((column, p), q) in self.active.columns().iter().zip(p).zip(q) {
            for ((u, v), product) in u.iter_mut().zip(&mut v).zip(column) {
                *u -= p * product;
                *v += q * product;
            }
        }
        (u, v)
    }

    /// The largest penalty, at most the current one, at which an atom joins: of several that join there but
    /// for rounding, such as copies, the first.
    fn next_join(&self, u: &[f64], v: &[f64]) -> Option<(f64, usize)> {
        let mut best: Option<(f64, usize)> = None;
        for (j, ((&u, &v), &weight)) in u.iter().zip(v).zip(&self.weights).enumerate() {
            let closing = weight - v;
            if self.is_active[j] || closing <= SAME_LAMBDA * weight || u <= 0.0 || self.dependent.contains(&j)
            {
                continue;
            }
            let lambda = (u / closing).min(self.lambda);
            if lambda >= self.lambda * (1.0 - SAME_LAMBDA) && self.barred.contains(&j) {
                continue;
            }
            if best.is_none_or(|(largest, _)| lambda > largest * (1.0 + SAME_LAMBDA)) {
                best = Some((lambda, j));
            }
        }
        best
    }

    /// The largest penalty below the current one at which a coefficient becomes zero, with its position.
    fn next_leave(&self, p: &[f64], q: &[f64]) -> Option<(f64, usize)> {
        let mut best: Option<(f64, usize)> = None;
        for (position, (&p, &q)) in p.iter().zip(q).enumerate() {
            if q < 0.0 && p < 0.0 {
                let lambda = (p / q).min(self.lambda);
                if best.is_none_or(|(largest, _)| lambda > largest) {
                    best = Some((lambda, position));
                }
            }
        }
        best
    }

    fn coefficients(&self, p: &[f64], q: &[f64], lambda: f64) -> Vec<(usize, f64)> {
        let mut coefficients: Vec<(usize, f64)> = self
            .active
            .atoms()
            .iter()
            .zip(p.iter().zip(q))
            // A coefficient that has just joined is zero up to rounding.
            .map(|(&atom, (p, q))| (atom, (p - lambda * q).max(0.0)))
            .collect();
        order::sort_entries(&mut coefficients);
        coefficients
    }

    fn column(&mut self, problem: &impl InnerProducts, atom: usize) -> Result<Vec<f64>, Error> {
        if let Some(at) = self.spare_columns.iter().position(|(spare, _)| *spare == atom) {
            return Ok(self.spare_columns.swap_remove(at).1);
        }
        let rows: Vec<usize> = (0..problem.n_atoms()).collect();
        let mut column = vec![0.0; rows.len()];
        problem.products(&rows, &[atom], &mut column)?;
        Ok(column)
    }

    /// Goes to the next breakpoint.
    fn step(&mut self, problem: &impl InnerProducts) -> Result<(), Error> {
        let (p, q) = self.segment(problem);
        let (u, v) = self.correlations(problem, &p, &q);
        let first = self.breakpoints.first().map_or(0.0, |point| point.lambda);
        let counts = |lambda: f64| lambda > NEGLIGIBLE * first;
        let join = self.next_join(&u, &v).filter(|&(lambda, _)| counts(lambda));
        let leave = self.next_leave(&p, &q).filter(|&(lambda, _)| counts(lambda));
        let joins_at = join.map_or(0.0, |(lambda, _)| lambda);
        let leaves_at = leave.map_or(0.0, |(lambda, _)| lambda);
        let next = joins_at.max(leaves_at);

        // One more joins now than may be active: the path ends before.
        let full = join.filter(|_| self.active.atoms().len() >= self.most_active && joins_at > leaves_at);

        if full.is_some() || next <= self.smallest_lambda {
            // In the middle of a segment exactly its coefficients are above zero, safely away from where the
            // next atom joins or leaves.
            let middle = 0.5 * (self.lambda + next);
            let lambda = if full.is_some() { middle.max(self.smallest_lambda) } else { self.smallest_lambda };
            let coefficients = self.coefficients(&p, &q, lambda);
            self.breakpoints.push(Breakpoint { lambda, event: Event::End, coefficients });
            self.one_more = full.map(|(_, atom)| Breakpoint {
                lambda: next,
                event: Event::Joined(atom),
                coefficients: self.coefficients(&p, &q, next),
            });
            self.lambda = lambda;
            self.done = true;
            return Ok(());
        }

        // At a tie each event lets the atoms that the previous event barred join again. If this repeats in a
        // cycle, they stay barred, which ends the cycle.
        self.ties = if next < self.lambda * (1.0 - SAME_LAMBDA) { 0 } else { self.ties + 1 };
        if self.ties <= 4 * (self.active.atoms().len() + 4) {
            self.barred.clear();
        }
        let mut coefficients = self.coefficients(&p, &q, next);
        self.lambda = next;
        match (leave, join) {
            (Some((_, position)), _) if leaves_at >= joins_at => {
                let atom = self.active.atoms()[position];
                let column = self.active.leave(position);
                self.spare_columns.push((atom, column));
                self.is_active[atom] = false;
                self.barred.push(atom);
                self.dependent.clear();
                coefficients.retain(|&(other, _)| other != atom);
                self.breakpoints.push(Breakpoint { lambda: next, event: Event::Left(atom), coefficients });
            }
            (_, Some((_, atom))) => {
                let column = self.column(problem, atom)?;
                match self.active.join(atom, column) {
                    Ok(()) => {
                        self.is_active[atom] = true;
                        self.breakpoints.push(Breakpoint {
                            lambda: next,
                            event: Event::Joined(atom),
                            coefficients,
                        });
                    }
                    Err(column) => {
                        // From here on its correlation equals the penalty, as those of the active atoms do.
                        self.spare_columns.push((atom, column));
                        self.dependent.push(atom);
                        if self.tied.iter().all(|(other, _)| *other != atom) {
                            self.tied.push((atom, self.active.atoms().to_vec()));
                        }
                    }
                }
            }
            (_, None) => self.done = true,
        }
        Ok(())
    }
}

impl<P: InnerProducts> Solver<P, SolverState> for Homotopy {
    fn name(&self) -> &str {
        "lars"
    }

    fn next_iter(&mut self, problem: &mut Problem<P>, mut state: SolverState) -> Step {
        problem.problem("path_steps", |problem| {
            self.step(problem)?;
            if let Some(point) = self.breakpoints.last() {
                state.coefficients.resize(self.weights.len(), 0.0);
                state.coefficients.fill(0.0);
                for &(atom, value) in &point.coefficients {
                    state.coefficients[atom] = value;
                }
                let fitted: f64 =
                    point.coefficients.iter().map(|&(j, w)| w * problem.target_products()[j]).sum();
                let penalty: f64 = point.coefficients.iter().map(|&(j, w)| w * self.weights[j]).sum();
                // On the path ⟨Aw, ρ⟩ = λ Σ weight w, hence ½‖ρ‖² + λ Σ weight w in these terms.
                let squared_residual = problem.target_squared_norm() - fitted - point.lambda * penalty;
                state.objective = 0.5 * squared_residual + point.lambda * penalty;
            }
            Ok(())
        })?;
        Ok((state, None))
    }

    fn terminate(&mut self, _state: &SolverState) -> TerminationStatus {
        if self.done {
            TerminationStatus::Terminated(TerminationReason::SolverConverged)
        } else {
            TerminationStatus::NotTerminated
        }
    }
}
