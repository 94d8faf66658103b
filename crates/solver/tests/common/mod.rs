//! Least-squares problems with explicit atoms, shared by the tests of the solver crates.
#![allow(dead_code, reason = "the tests of several crates use it, each its own part")]

pub(crate) mod argmin;
pub(crate) mod golden;
pub(crate) mod optimality;

use std::sync::{Arc, Mutex};

use ::argmin::core::checkpointing::{Checkpoint, CheckpointingFrequency};
use ::argmin::core::observers::Observe;
use ::argmin::core::{KV, State};
use fewest_solver::{
    BlockPenalty, Certificate, Control, ElasticNetPenalty, Error, GraphFusedLasso, GroupLasso, InnerProducts,
    L1, Penalty, Quadratic, QuadraticSolver, SignedEdge, Solution, SolverState, Status, TreeLasso,
    certificate,
};
use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

/// Atoms as columns, and a target.
pub(crate) struct Explicit {
    pub atoms: Vec<Vec<f64>>,
    pub target: Vec<f64>,
}

pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

pub(crate) fn normals(n: usize, seed: u64) -> Vec<f64> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    (0..n).map(|_| StandardNormal.sample(&mut random)).collect()
}

impl Explicit {
    /// Normal numbers, row `i` scaled by `condition^(−i / (2 (n_rows − 1)))`, so that the Gram matrix of
    /// up to `n_rows` atoms has at least about this condition. Every third atom explains the target.
    pub(crate) fn random(n_rows: usize, n_atoms: usize, condition: f64, seed: u64) -> Self {
        let scale = |row: usize| condition.powf(-0.5 * row as f64 / (n_rows.max(2) - 1) as f64);
        let mut atoms: Vec<Vec<f64>> =
            normals(n_rows * n_atoms, seed).chunks(n_rows).map(<[f64]>::to_vec).collect();
        let mut target: Vec<f64> = normals(n_rows, seed ^ 0xABCD).iter().map(|value| 0.1 * value).collect();
        for (j, atom) in atoms.iter_mut().enumerate() {
            for (row, value) in atom.iter_mut().enumerate() {
                *value *= scale(row);
                if j % 3 == 0 {
                    target[row] += (1.0 + 0.3 * (j % 7) as f64) * *value;
                }
            }
        }
        Self { atoms, target }
    }

    /// Atoms that are hard to tell apart: bumps of width `width` (in atoms) at equal distances, whose Gram
    /// matrix is numerically singular from a width of a few atoms on; the target is a sum of some and noise.
    pub(crate) fn bumps(n_rows: usize, n_atoms: usize, width: f64, seed: u64) -> Self {
        let distance =
            |row: usize, j: usize| (row as f64 / n_rows as f64 * n_atoms as f64 - j as f64) / width;
        let atoms: Vec<Vec<f64>> = (0..n_atoms)
            .map(|j| (0..n_rows).map(|row| (-0.5 * distance(row, j).powi(2)).exp()).collect())
            .collect();
        let mut target: Vec<f64> = normals(n_rows, seed).iter().map(|value| 0.05 * value).collect();
        for atom in atoms.iter().step_by(7) {
            for (value, a) in target.iter_mut().zip(atom) {
                *value += a;
            }
        }
        Self { atoms, target }
    }

    /// With atom 3 equal to atom 0, atom 4 its negative, and atom 5 zero.
    pub(crate) fn with_degenerate_atoms(mut self) -> Self {
        self.atoms[3] = self.atoms[0].clone();
        self.atoms[4] = self.atoms[0].iter().map(|value| -value).collect();
        self.atoms[5].fill(0.0);
        self
    }

    pub(crate) fn quadratic(&self) -> Quadratic {
        let gram = self.atoms.iter().flat_map(|a| self.atoms.iter().map(move |b| dot(a, b))).collect();
        let products = self.atoms.iter().map(|a| dot(a, &self.target)).collect();
        Quadratic::new(gram, products, dot(&self.target, &self.target)).unwrap()
    }

    /// The penalty from which on a lasso is zero.
    pub(crate) fn lambda_max(&self) -> f64 {
        self.atoms.iter().map(|a| dot(a, &self.target).abs()).fold(0.0, f64::max)
    }

    /// `b − Aw`.
    pub(crate) fn residual(&self, w: &[f64]) -> Vec<f64> {
        let mut residual = self.target.clone();
        for (w, atom) in w.iter().zip(&self.atoms) {
            for (r, a) in residual.iter_mut().zip(atom) {
                *r -= w * a;
            }
        }
        residual
    }

    /// The objective and the relative duality gap of `w`, from the atoms themselves: the largest feasible
    /// multiple `θ = tρ` of the residual is found by bisection on the conjugate, and
    /// `D(θ) = ½‖b‖² − ½‖b − θ‖² − Ω*(Aᵀθ)`.
    pub(crate) fn certificate(&self, penalty: &dyn BlockPenalty, w: &[f64]) -> (f64, f64) {
        let residual = self.residual(w);
        let objective = 0.5 * dot(&residual, &residual) + penalty.value(w);
        let correlations: Vec<f64> = self.atoms.iter().map(|a| dot(a, &residual)).collect();
        let conjugate = |t: f64| penalty.conjugate(&correlations.iter().map(|v| t * v).collect::<Vec<f64>>());
        let (mut feasible, mut infeasible) = (0.0, 1.0);
        if conjugate(1.0).is_finite() {
            feasible = 1.0;
        } else {
            for _ in 0..60 {
                let middle = 0.5 * (feasible + infeasible);
                if conjugate(middle).is_finite() {
                    feasible = middle;
                } else {
                    infeasible = middle;
                }
            }
        }
        let half_square: f64 = 0.5 * dot(&self.target, &self.target);
        let distance: f64 = residual.iter().zip(&self.target).map(|(r, b)| (b - feasible * r).powi(2)).sum();
        let dual = half_square - 0.5 * distance - conjugate(feasible);
        (objective, (objective - dual) / half_square)
    }
}

/// Groups of three, in each the first and the first two, and each coefficient but the first of a group alone.
pub(crate) fn tree(n: usize) -> Vec<Vec<usize>> {
    let triple = |first: usize| (first..n.min(first + 3)).collect::<Vec<usize>>();
    let mut groups: Vec<Vec<usize>> = (0..n).step_by(3).map(triple).collect();
    groups.extend((0..n).step_by(3).map(|first| (first..n.min(first + 2)).collect()));
    groups.extend((0..n).filter(|j| j % 3 > 0).map(|j| vec![j]));
    groups
}

/// Chains of three with a sign, or both signs on all pairs of three.
fn triples(weight: f64, n: usize, pairs: bool) -> Vec<SignedEdge> {
    let edge = |a: usize, b: usize, opposite: bool| SignedEdge { ends: (a, b), weight, opposite };
    let chain = |a: usize| [edge(a, a + 1, false), edge(a + 1, a + 2, true)];
    let all = |a: usize| {
        [(a, a + 1), (a, a + 2), (a + 1, a + 2)].map(|(a, b)| [edge(a, b, false), edge(a, b, true)])
    };
    let edges = (0..n).step_by(3).flat_map(|a| if pairs { all(a).concat() } else { chain(a).to_vec() });
    edges.filter(|edge| edge.ends.0.max(edge.ends.1) < n).collect()
}

/// One of each kind of penalty for `n` coefficients, named; groups are of three.
pub(crate) fn penalties(lambda: f64, n: usize) -> Vec<(&'static str, Box<dyn BlockPenalty>)> {
    let groups: Vec<usize> = (0..n).map(|j| j / 3).collect();
    let weights: Vec<f64> = (0..n).map(|j| 0.5 + (j % 4) as f64).collect();
    let l1 = L1::new(lambda, n).unwrap();
    let group = GroupLasso::new(lambda, &groups).unwrap().weighted_by_size();
    let weighted = L1::weighted(lambda, &weights).unwrap();
    vec![
        ("l1", Box::new(l1.clone())),
        ("l1, non-negative", Box::new(l1.clone().nonnegative())),
        ("l1, weighted", Box::new(weighted)),
        ("elastic net", Box::new(ElasticNetPenalty::new(l1.clone(), 0.1 * lambda + 1e-3).unwrap())),
        (
            "elastic net, non-negative",
            Box::new(ElasticNetPenalty::new(l1.nonnegative(), 0.1 * lambda + 1e-3).unwrap()),
        ),
        ("group lasso", Box::new(group.clone())),
        ("group lasso, non-negative", Box::new(group.nonnegative())),
    ]
}

/// [`penalties`], and those on groups within groups and on graphs, whose blocks may be large.
pub(crate) fn all_penalties(lambda: f64, n: usize) -> Vec<(&'static str, Box<dyn BlockPenalty>)> {
    let groups: Vec<usize> = (0..n).map(|j| j / 3).collect();
    let group = GroupLasso::new(lambda, &groups).unwrap().weighted_by_size();
    let mut all = penalties(lambda, n);
    all.extend::<Vec<(&'static str, Box<dyn BlockPenalty>)>>(vec![
        ("sparse group lasso", Box::new(group.clone().with_l1(0.6 * lambda).unwrap())),
        (
            "sparse group lasso, non-negative",
            Box::new(group.clone().nonnegative().with_l1(0.6 * lambda).unwrap()),
        ),
        ("fused lasso", Box::new(GraphFusedLasso::new(lambda, n, &triples(0.5 * lambda, n, false)).unwrap())),
        ("pairs", Box::new(GraphFusedLasso::new(0.3 * lambda, n, &triples(0.5 * lambda, n, true)).unwrap())),
        ("tree lasso", Box::new(TreeLasso::new(0.5 * lambda, n, &tree(n)).unwrap())),
    ]);
    all
}

/// Keeps the latest checkpoint in memory, as text: what a file would hold.
#[derive(Clone, Default)]
pub(crate) struct InMemory(pub Arc<Mutex<Option<String>>>);

impl<S: serde::Serialize + serde::de::DeserializeOwned> Checkpoint<S, SolverState> for InMemory {
    fn save(&self, solver: &S, state: &SolverState) -> Result<(), ::argmin::core::Error> {
        *self.0.lock().unwrap() = Some(serde_json::to_string(&(solver, state))?);
        Ok(())
    }

    fn load(&self) -> Result<Option<(S, SolverState)>, ::argmin::core::Error> {
        Ok(self.0.lock().unwrap().as_deref().map(serde_json::from_str).transpose()?)
    }

    fn frequency(&self) -> CheckpointingFrequency {
        CheckpointingFrequency::Always
    }
}

/// Notes the objective after each iteration and, on request, breaks the run off with an error.
#[derive(Clone, Default)]
pub(crate) struct Notes {
    pub objectives: Arc<Mutex<Vec<f64>>>,
    pub break_at: Option<u64>,
}

impl Observe<SolverState> for Notes {
    fn observe_iter(&mut self, state: &SolverState, kv: &KV) -> Result<(), ::argmin::core::Error> {
        assert!(kv.get("duality_gap").is_some());
        self.objectives.lock().unwrap().push(state.objective);
        if self.break_at == Some(state.get_iter()) {
            return Err(fewest_solver::Error::parameter("power", "off", "on").into());
        }
        Ok(())
    }
}

/// Sweeps over the blocks and nothing else: slow, and short enough to be believed.
pub(crate) struct Sweeps;

impl QuadraticSolver for Sweeps {
    fn name(&self) -> &'static str {
        "sweeps"
    }

    fn minimise(
        &self,
        problem: &Quadratic,
        penalty: &dyn Penalty,
        start: &[f64],
        control: &Control<'_>,
    ) -> Result<Solution, Error> {
        let penalty = penalty.convex_blocks("sweeps")?;
        let mut w = start.to_vec();
        let mut correlations = vec![0.0; w.len()];
        let mut iterations = 0;
        loop {
            problem.correlations(&w, &mut correlations);
            let found = certificate::certify(problem, penalty, &w, &correlations);
            let gap = found.relative_gap();
            let certificate = Certificate::gap(gap);
            let converged = gap <= control.tolerance;
            if converged || iterations >= control.max_iterations {
                let status = if converged { Status::Converged } else { Status::MaxIterations };
                let objective = found.objective;
                return Ok(Solution { coefficients: w, objective, certificate, iterations, status });
            }
            for (b, block) in penalty.blocks().iter().enumerate() {
                let curvature: f64 = block.iter().map(|&j| problem.squared_norms()[j]).sum();
                if curvature > 0.0 {
                    let mut entries: Vec<f64> =
                        block.iter().map(|&j| w[j] + correlations[j] / curvature).collect();
                    penalty.prox_block(b, &mut entries, curvature.recip());
                    for (&j, &value) in block.iter().zip(&entries) {
                        for (q, g) in correlations.iter_mut().zip(problem.gram_column(j)) {
                            *q -= (value - w[j]) * g;
                        }
                        w[j] = value;
                    }
                }
            }
            iterations += 1;
        }
    }
}
