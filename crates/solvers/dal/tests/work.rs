//! How much work it takes, counted, and operators that are never written down.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::common::{Case, Data, LossKind, PenaltyKind};
use fewest_dal::DualAugmentedLagrangian;
use fewest_solver::{
    BlockPenalty, Control, Datafit, DenseOperator, DualDatafit, ElasticNetPenalty, Error, L1, LinearOperator,
    Logistic, Penalty, Solution, SquaredLoss, Status,
};

/// Counts what is asked of an operator.
struct Counting {
    operator: DenseOperator,
    passes: AtomicUsize,
    columns: AtomicUsize,
}

impl LinearOperator for Counting {
    fn n_rows(&self) -> usize {
        self.operator.n_rows()
    }

    fn n_columns(&self) -> usize {
        self.operator.n_columns()
    }

    fn apply(&self, w: &[f64], out: &mut [f64]) {
        self.passes.fetch_add(1, Ordering::Relaxed);
        self.operator.apply(w, out);
    }

    fn apply_transpose(&self, r: &[f64], out: &mut [f64]) {
        self.passes.fetch_add(1, Ordering::Relaxed);
        self.operator.apply_transpose(r, out);
    }

    fn column(&self, j: usize, out: &mut [f64]) {
        self.columns.fetch_add(1, Ordering::Relaxed);
        self.operator.column(j, out);
    }
}

fn solve<D: DualDatafit<Operator = Counting>>(datafit: &D, penalty: &dyn Penalty) -> Result<Solution, Error> {
    let start = vec![0.0; datafit.n_coefficients()];
    DualAugmentedLagrangian::default().solve(datafit, penalty, &start, &Control::default())
}

#[test]
fn few_passes_over_many_columns() -> Result<(), Error> {
    for (loss, most_passes) in [(LossKind::Squared, 20), (LossKind::Logistic, 50)] {
        let case = Case::new(Data::random(1, 100, 5000), loss, PenaltyKind::L1, false, 0.2);
        let operator = Counting {
            operator: DenseOperator::new(case.data.matrix.clone(), 100, 5000)?,
            passes: AtomicUsize::new(0),
            columns: AtomicUsize::new(0),
        };
        let penalty = case.library_penalty()?;
        let b = case.data.observations.clone();
        let (solution, passes, columns) = match loss {
            LossKind::Squared => {
                let datafit = SquaredLoss::new(operator, b)?;
                (solve(&datafit, &*penalty)?, datafit.operator().passes.load(Ordering::Relaxed), {
                    datafit.operator().columns.load(Ordering::Relaxed)
                })
            }
            LossKind::Logistic => {
                let datafit = Logistic::new(operator, b)?;
                (solve(&datafit, &*penalty)?, datafit.operator().passes.load(Ordering::Relaxed), {
                    datafit.operator().columns.load(Ordering::Relaxed)
                })
            }
        };
        assert_eq!(solution.status, Status::Converged);
        assert!(solution.iterations <= 6, "{loss:?}: {} outer iterations", solution.iterations);
        assert!(passes <= most_passes, "{loss:?}: {passes} passes");
        assert!(columns <= 300, "{loss:?}: {columns} columns fetched");
    }
    Ok(())
}

/// `(Aw)ᵢ = wᵢ + ½ wᵢ₊₁`, wrapping around: never written down, and without columns of its own.
struct Bidiagonal(usize);

impl LinearOperator for Bidiagonal {
    fn n_rows(&self) -> usize {
        self.0
    }

    fn n_columns(&self) -> usize {
        self.0
    }

    fn apply(&self, w: &[f64], out: &mut [f64]) {
        for (i, out) in out.iter_mut().enumerate() {
            *out = w[i] + 0.5 * w[(i + 1) % self.0];
        }
    }

    fn apply_transpose(&self, r: &[f64], out: &mut [f64]) {
        for (i, out) in out.iter_mut().enumerate() {
            *out = r[i] + 0.5 * r[(i + self.0 - 1) % self.0];
        }
    }
}

fn wave(n: usize) -> Vec<f64> {
    (0..n).map(|i| (0.37 * i as f64).sin() + 0.5 * (1.7 * i as f64).cos()).collect()
}

#[test]
fn conjugate_gradients_when_neither_side_is_small() -> Result<(), Error> {
    // Most of 4500 coefficients are active: too many to factorise.
    let n = 4500;
    let start = vec![0.0; n];
    let control = Control { tolerance: 1e-9, ..Control::default() };
    let solver = DualAugmentedLagrangian::default();
    let l1 = || L1::new(0.01, n);
    let penalty = ElasticNetPenalty::new(l1()?, 0.1)?;
    let datafit = SquaredLoss::new(Bidiagonal(n), wave(n))?;
    let solution = solver.solve(&datafit, &penalty, &start, &control)?;
    let active = solution.coefficients.iter().filter(|w| **w != 0.0).count();
    assert!(active > 2000, "{active}: the case does not need conjugate gradients");
    assert_eq!(solution.status, Status::Converged, "{:e}", solution.certificate.value());
    // Recomputed: P(w) − D(tα).
    let mut v = vec![0.0; n];
    datafit.gradient(&solution.coefficients, &mut v);
    v.iter_mut().for_each(|v| *v = -*v);
    let t = penalty.dual_scale(&v);
    v.iter_mut().for_each(|v| *v *= t);
    let primal = datafit.value(&solution.coefficients) + penalty.value(&solution.coefficients);
    let dual = datafit.dual_value(&solution.coefficients, t) - penalty.conjugate(&v);
    let gap = (primal - dual) / datafit.value(&start);
    assert!(gap.abs() <= 1e-9 + 1e-13, "{gap:e}");
    let labels = wave(n).iter().map(|b| if *b > 0.0 { 1.0 } else { -1.0 }).collect();
    let datafit = Logistic::new(Bidiagonal(n), labels)?;
    let solution = solver.solve(&datafit, &l1()?, &start, &control)?;
    assert_eq!(solution.status, Status::Converged, "{:e}", solution.certificate.value());
    Ok(())
}
