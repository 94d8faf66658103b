//! Problems and a slow, independent solver for the tests.

use fewest_dal::DualAugmentedLagrangian;
use fewest_solver::{
    Control, DenseOperator, ElasticNetPenalty, Error, GroupLasso, L1, Logistic, Penalty, Solution,
    SquaredLoss,
};
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

/// A dense matrix in column-major order with observations.
#[derive(Debug, Clone)]
pub(crate) struct Data {
    pub n_rows: usize,
    pub n_columns: usize,
    pub matrix: Vec<f64>,
    pub observations: Vec<f64>,
}

/// Roughly normal numbers.
pub(crate) fn normal(rng: &mut ChaCha8Rng) -> f64 {
    (0..12).map(|_| rng.random::<f64>()).sum::<f64>() - 6.0
}

impl Data {
    /// Independent normal columns; the observations come from the first five and noise.
    pub(crate) fn random(seed: u64, n_rows: usize, n_columns: usize) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let matrix = (0..n_rows * n_columns).map(|_| normal(&mut rng)).collect();
        let mut data = Self { n_rows, n_columns, matrix, observations: Vec::new() };
        data.observe(&mut rng);
        data
    }

    /// `Q₁ diag(s) Q₂ᵀ` with orthonormal `Q`s and `s` falling geometrically from 1 to `1 / condition`.
    pub(crate) fn conditioned(seed: u64, n_rows: usize, n_columns: usize, condition: f64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let rank = n_rows.min(n_columns);
        let left = orthonormal(&mut rng, n_rows, rank);
        let right = orthonormal(&mut rng, n_columns, rank);
        let mut matrix = vec![0.0; n_rows * n_columns];
        for l in 0..rank {
            let s = condition.powf(-(l as f64) / (rank as f64 - 1.0).max(1.0));
            for j in 0..n_columns {
                for i in 0..n_rows {
                    matrix[i + j * n_rows] += s * left[l][i] * right[l][j];
                }
            }
        }
        let mut data = Self { n_rows, n_columns, matrix, observations: Vec::new() };
        data.observe(&mut rng);
        data
    }

    fn observe(&mut self, rng: &mut ChaCha8Rng) {
        let mut b: Vec<f64> = (0..self.n_rows).map(|_| 0.3 * normal(rng)).collect();
        for j in 0..self.n_columns.min(5) {
            for (b, a) in b.iter_mut().zip(self.column(j)) {
                *b += (1.0 + j as f64) * a;
            }
        }
        self.observations = b;
    }

    /// Makes every third column a copy of the one before, and the last column zero.
    pub(crate) fn with_duplicates(mut self) -> Self {
        let n = self.n_rows;
        for j in (1..self.n_columns).step_by(3) {
            self.matrix.copy_within((j - 1) * n..j * n, j * n);
        }
        let last = (self.n_columns - 1) * n;
        self.matrix[last..].fill(0.0);
        self
    }

    /// The signs of the observations.
    pub(crate) fn with_labels(mut self) -> Self {
        self.observations.iter_mut().for_each(|b| *b = if *b > 0.0 { 1.0 } else { -1.0 });
        self
    }

    pub(crate) fn column(&self, j: usize) -> &[f64] {
        &self.matrix[j * self.n_rows..(j + 1) * self.n_rows]
    }

    pub(crate) fn apply(&self, w: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; self.n_rows];
        for (j, w) in w.iter().enumerate() {
            out.iter_mut().zip(self.column(j)).for_each(|(out, a)| *out += w * a);
        }
        out
    }

    pub(crate) fn transpose(&self, r: &[f64]) -> Vec<f64> {
        (0..self.n_columns).map(|j| self.column(j).iter().zip(r).map(|(a, r)| a * r).sum()).collect()
    }

    pub(crate) fn gram(&self) -> Vec<f64> {
        (0..self.n_columns).flat_map(|j| self.transpose(self.column(j))).collect()
    }
}

fn orthonormal(rng: &mut ChaCha8Rng, length: usize, count: usize) -> Vec<Vec<f64>> {
    let mut basis: Vec<Vec<f64>> = Vec::new();
    while basis.len() < count {
        let mut v: Vec<f64> = (0..length).map(|_| normal(rng)).collect();
        for _ in 0..2 {
            for q in &basis {
                let dot: f64 = q.iter().zip(&v).map(|(a, b)| a * b).sum();
                v.iter_mut().zip(q).for_each(|(v, q)| *v -= dot * q);
            }
        }
        let norm = v.iter().map(|v| v * v).sum::<f64>().sqrt();
        v.iter_mut().for_each(|v| *v /= norm);
        basis.push(v);
    }
    basis
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum LossKind {
    Squared,
    Logistic,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum PenaltyKind {
    L1,
    ElasticNet,
    Group,
}

pub(crate) const ALL_LOSSES: [LossKind; 2] = [LossKind::Squared, LossKind::Logistic];
pub(crate) const ALL_PENALTIES: [PenaltyKind; 3] =
    [PenaltyKind::L1, PenaltyKind::ElasticNet, PenaltyKind::Group];
/// Ridge of the elastic net.
pub(crate) const RIDGE: f64 = 0.7;

/// A problem by its definition, independent of the library.
#[derive(Debug, Clone)]
pub(crate) struct Case {
    pub data: Data,
    pub loss: LossKind,
    pub penalty: PenaltyKind,
    pub nonnegative: bool,
    pub lambda: f64,
}

impl Case {
    /// With `lambda` a share of the largest correlation at zero; labels if the loss needs them.
    pub(crate) fn new(
        data: Data,
        loss: LossKind,
        penalty: PenaltyKind,
        nonnegative: bool,
        share: f64,
    ) -> Self {
        let data = if loss == LossKind::Logistic { data.with_labels() } else { data };
        let mut case = Self { data, loss, penalty, nonnegative, lambda: 0.0 };
        let v = case.data.transpose(&case.dual_point(&vec![0.0; case.data.n_columns]));
        case.lambda = share * v.iter().fold(0.0_f64, |most, v| most.max(v.abs()));
        case
    }

    /// What the solver finds from zero.
    pub(crate) fn solve(&self, tolerance: f64) -> Result<Solution, Error> {
        let data = &self.data;
        let operator = DenseOperator::new(data.matrix.clone(), data.n_rows, data.n_columns)?;
        let control = Control { tolerance, ..Control::default() };
        let solver = DualAugmentedLagrangian::default();
        let (penalty, start) = (self.library_penalty()?, vec![0.0; data.n_columns]);
        let b = data.observations.clone();
        match self.loss {
            LossKind::Squared => solver.solve(&SquaredLoss::new(operator, b)?, &*penalty, &start, &control),
            LossKind::Logistic => solver.solve(&Logistic::new(operator, b)?, &*penalty, &start, &control),
        }
    }

    /// Neighbours in threes.
    pub(crate) fn groups(&self) -> Vec<usize> {
        (0..self.data.n_columns).map(|j| j / 3).collect()
    }

    pub(crate) fn library_penalty(&self) -> Result<Box<dyn Penalty>, Error> {
        let n = self.data.n_columns;
        let sign = |l1: L1| if self.nonnegative { l1.nonnegative() } else { l1 };
        Ok(match self.penalty {
            PenaltyKind::L1 => Box::new(sign(L1::new(self.lambda, n)?)),
            PenaltyKind::ElasticNet => {
                Box::new(ElasticNetPenalty::new(sign(L1::new(self.lambda, n)?), RIDGE)?)
            }
            PenaltyKind::Group => {
                let group = GroupLasso::new(self.lambda, &self.groups())?;
                Box::new(if self.nonnegative { group.nonnegative() } else { group })
            }
        })
    }

    pub(crate) fn objective(&self, w: &[f64]) -> f64 {
        if self.nonnegative && w.iter().any(|&w| w < 0.0) {
            return f64::INFINITY;
        }
        self.loss_value(&self.data.apply(w)) + self.penalty_value(w)
    }

    fn loss_value(&self, fitted: &[f64]) -> f64 {
        let pairs = fitted.iter().zip(&self.data.observations);
        match self.loss {
            LossKind::Squared => pairs.map(|(z, b)| 0.5 * (b - z).powi(2)).sum(),
            LossKind::Logistic => {
                pairs.map(|(z, y)| if y * z > -30.0 { (-y * z).exp().ln_1p() } else { -y * z }).sum()
            }
        }
    }

    fn penalty_value(&self, w: &[f64]) -> f64 {
        match self.penalty {
            PenaltyKind::L1 => self.lambda * w.iter().map(|w| w.abs()).sum::<f64>(),
            PenaltyKind::ElasticNet => {
                w.iter().map(|w| self.lambda * w.abs() + 0.5 * RIDGE * w * w).sum::<f64>()
            }
            PenaltyKind::Group => {
                self.lambda * w.chunks(3).map(|g| g.iter().map(|w| w * w).sum::<f64>().sqrt()).sum::<f64>()
            }
        }
    }

    /// `−∇ℓ(Aw)`.
    pub(crate) fn dual_point(&self, w: &[f64]) -> Vec<f64> {
        let fitted = self.data.apply(w);
        let pairs = fitted.iter().zip(&self.data.observations);
        match self.loss {
            LossKind::Squared => pairs.map(|(z, b)| b - z).collect(),
            LossKind::Logistic => pairs.map(|(z, y)| y / (1.0 + (y * z).exp())).collect(),
        }
    }

    /// Primal minus dual objective at `w` and its scaled dual point, as printed in the definition.
    pub(crate) fn gap(&self, w: &[f64]) -> f64 {
        let dual = self.dual_point(w);
        let part = |v: f64| if self.nonnegative { v.max(0.0) } else { v };
        let v = self.data.transpose(&dual);
        let largest = match self.penalty {
            PenaltyKind::L1 => v.iter().fold(0.0_f64, |most, &v| most.max(part(v).abs())),
            PenaltyKind::ElasticNet => 0.0,
            PenaltyKind::Group => v
                .chunks(3)
                .map(|g| g.iter().map(|&v| part(v).powi(2)).sum::<f64>().sqrt())
                .fold(0.0, f64::max),
        };
        let t = if largest <= self.lambda { 1.0 } else { self.lambda / largest };
        let conjugate_of_penalty: f64 = match self.penalty {
            PenaltyKind::ElasticNet => {
                v.iter().map(|&v| (part(v).abs() - self.lambda).max(0.0).powi(2) / (2.0 * RIDGE)).sum()
            }
            _ => 0.0,
        };
        let xlnx = |x: f64| if x > 0.0 { x * x.ln() } else { 0.0 };
        let pairs = dual.iter().zip(&self.data.observations);
        let conjugate_of_loss: f64 = match self.loss {
            LossKind::Squared => pairs.map(|(a, b)| 0.5 * (t * a).powi(2) - t * a * b).sum(),
            LossKind::Logistic => pairs.map(|(a, y)| xlnx(t * a * y) + xlnx(1.0 - t * a * y)).sum(),
        };
        self.objective(w) + conjugate_of_loss + conjugate_of_penalty
    }

    pub(crate) fn relative_gap(&self, w: &[f64]) -> f64 {
        self.gap(w) / self.objective(&vec![0.0; w.len()])
    }

    fn prox(&self, w: &mut [f64], step: f64) {
        if self.nonnegative {
            w.iter_mut().for_each(|w| *w = w.max(0.0));
        }
        let threshold = step * self.lambda;
        match self.penalty {
            PenaltyKind::L1 => w.iter_mut().for_each(|w| *w = w.signum() * (w.abs() - threshold).max(0.0)),
            PenaltyKind::ElasticNet => w
                .iter_mut()
                .for_each(|w| *w = w.signum() * (w.abs() - threshold).max(0.0) / (1.0 + step * RIDGE)),
            PenaltyKind::Group => w.chunks_mut(3).for_each(|g| {
                let norm = g.iter().map(|w| w * w).sum::<f64>().sqrt();
                let scale = if norm > threshold { 1.0 - threshold / norm } else { 0.0 };
                g.iter_mut().for_each(|w| *w *= scale);
            }),
        }
    }

    /// Accelerated proximal gradient with a fixed step and restarts, for many iterations.
    pub(crate) fn slow_solution(&self, iterations: usize) -> Vec<f64> {
        let n = self.data.n_columns;
        let mut direction = vec![1.0; n];
        let mut largest = 0.0;
        for _ in 0..200 {
            let image = self.data.transpose(&self.data.apply(&direction));
            largest = image.iter().map(|v| v * v).sum::<f64>().sqrt();
            direction = image.iter().map(|v| v / largest).collect();
        }
        let step = if self.loss == LossKind::Logistic { 4.0 } else { 1.0 } / (1.01 * largest);
        let mut w = vec![0.0; n];
        let mut ahead = w.clone();
        let mut momentum = 1.0_f64;
        for _ in 0..iterations {
            let v = self.data.transpose(&self.dual_point(&ahead));
            let mut next: Vec<f64> = ahead.iter().zip(&v).map(|(w, v)| w + step * v).collect();
            self.prox(&mut next, step);
            let turned: f64 =
                ahead.iter().zip(&next).zip(&w).map(|((a, next), w)| (a - next) * (next - w)).sum();
            let next_momentum = if turned > 0.0 { 1.0 } else { 0.5 + (0.25 + momentum * momentum).sqrt() };
            let factor = if turned > 0.0 { 0.0 } else { (momentum - 1.0) / next_momentum };
            ahead = next.iter().zip(&w).map(|(next, w)| next + factor * (next - w)).collect();
            (w, momentum) = (next, next_momentum);
        }
        w
    }
}
