//! Conjugates of the losses, from their definitions.

use fewest_solver::{Datafit, DenseOperator, DualDatafit, Error, LinearOperator, Logistic, SquaredLoss};

fn operator() -> Result<DenseOperator, Error> {
    DenseOperator::new(vec![1.0, 2.0, 0.5, -1.0, 0.0, 3.0], 3, 2)
}

fn losses() -> Result<(SquaredLoss<DenseOperator>, Logistic<DenseOperator>), Error> {
    let squared = SquaredLoss::new(operator()?, vec![0.7, -1.2, 0.4])?;
    let logistic = Logistic::new(operator()?, vec![1.0, -1.0, 1.0])?;
    Ok((squared, logistic))
}

const FITTED: [[f64; 3]; 3] = [[0.0, 0.0, 0.0], [0.3, -2.0, 1.5], [-4.0, 3.0, 6.0]];

fn check<D: DualDatafit>(datafit: &D) {
    for fitted in &FITTED {
        let value = datafit.loss(fitted);
        assert_eq!(datafit.loss_gap(fitted, 1.0), 0.0);
        let mut dual = [0.0; 3];
        datafit.dual_point(fitted, &mut dual);

        // α = −∇ℓ(z), by central differences.
        for i in 0..3 {
            let moved = |by: f64| {
                let mut z = *fitted;
                z[i] += by;
                datafit.loss(&z)
            };
            let slope = (moved(1e-5) - moved(-1e-5)) / 2e-5;
            assert!((slope + dual[i]).abs() < 1e-8, "{slope} {}", dual[i]);
        }

        // Fenchel and Young: equality at α = −∇ℓ(z), for every other point no less.
        let inner: f64 = dual.iter().zip(fitted).map(|(a, z)| a * z).sum();
        assert!((value + datafit.conjugate(&dual) + inner).abs() < 1e-12);
        for scale in [0.0, 1e-9, 0.3, 0.999_999] {
            let scaled = dual.map(|a| scale * a);
            let gap = value + datafit.conjugate(&scaled) + scale * inner;
            assert!(gap >= -1e-12);
            assert!((gap - datafit.loss_gap(fitted, scale)).abs() < 1e-12, "{scale} {gap}");
        }

        // The gradient of α ↦ ℓ*(−α) inverts α = −∇ℓ(z); its curvature is the inverse of the loss's.
        let mut gradient = [0.0; 3];
        datafit.conjugate_gradient(&dual, &mut gradient);
        let mut curvature = [0.0; 3];
        datafit.conjugate_curvature(&dual, &mut curvature);
        for i in 0..3 {
            assert!((gradient[i] + fitted[i]).abs() < 1e-12, "{gradient:?} {fitted:?}");
            let moved = |by: f64| {
                let mut point = dual;
                point[i] += by;
                let mut out = [0.0; 3];
                datafit.conjugate_gradient(&point, &mut out);
                out[i]
            };
            let step = 1e-4 * curvature[i].recip();
            let slope = (moved(step) - moved(-step)) / (2.0 * step);
            assert!((slope / curvature[i] - 1.0).abs() < 1e-6, "{slope} {}", curvature[i]);
            assert!(curvature[i] * datafit.largest_curvature() >= 1.0 - 1e-12);
        }
    }
}

#[test]
fn conjugates_satisfy_fenchel_and_young() -> Result<(), Error> {
    let (squared, logistic) = losses()?;
    check(&squared);
    check(&logistic);
    Ok(())
}

#[test]
fn the_logistic_dual_domain_is_a_box() -> Result<(), Error> {
    let (squared, logistic) = losses()?;
    // With labels (1, −1, 1) the domain is α₁, α₃ ∈ [0, 1], α₂ ∈ [−1, 0].
    let dual = [0.25, -0.5, 0.5];
    assert_eq!(logistic.longest_step(&dual, &[1.0, 0.0, 0.0]), 0.75);
    assert_eq!(logistic.longest_step(&dual, &[-1.0, 1.0, 0.0]), 0.25);
    assert_eq!(logistic.longest_step(&dual, &[0.0, -1.0, 2.0]), 0.25);
    assert_eq!(logistic.longest_step(&dual, &[0.0; 3]), f64::INFINITY);
    assert_eq!(squared.longest_step(&dual, &[1.0; 3]), f64::INFINITY);
    assert_eq!(logistic.conjugate(&[1.5, -0.5, 0.5]), f64::INFINITY);
    assert_eq!(logistic.conjugate(&[0.0, -1.0, 0.0]), 0.0);
    // Finite up to the boundary.
    let mut out = [0.0; 3];
    logistic.conjugate_gradient(&[0.0, -1.0, 1.0], &mut out);
    assert!(out.iter().all(|g| g.is_finite()));
    logistic.conjugate_curvature(&[0.0, -1.0, 1.0], &mut out);
    assert!(out.iter().all(|c| c.is_finite() && *c > 0.0));
    Ok(())
}

#[test]
fn extreme_fits_do_not_overflow() -> Result<(), Error> {
    let (_, logistic) = losses()?;
    for size in [40.0, 800.0, 1e6] {
        // With labels (1, −1, 1) the first is right, the other two wrong.
        let fitted = [size, size, -size];
        assert!((logistic.loss(&fitted) - 2.0 * size).abs() <= 1e-9 * size);
        for scale in [0.0, 0.5, 1.0] {
            let gap = logistic.loss_gap(&fitted, scale);
            assert!(gap.is_finite() && gap >= 0.0, "{size} {scale} {gap}");
        }
    }
    Ok(())
}

/// `½ Σ cᵢ (bᵢ − zᵢ)²`, with what is required of it and nothing else.
struct Weighted {
    operator: DenseOperator,
    observations: [f64; 3],
    weights: [f64; 3],
}

impl Datafit for Weighted {
    fn n_coefficients(&self) -> usize {
        self.operator.n_columns()
    }

    fn value(&self, w: &[f64]) -> f64 {
        self.gradient(w, &mut vec![0.0; w.len()])
    }

    fn gradient(&self, w: &[f64], out: &mut [f64]) -> f64 {
        let (mut fitted, mut dual) = ([0.0; 3], [0.0; 3]);
        self.operator.apply(w, &mut fitted);
        self.dual_point(&fitted, &mut dual);
        self.operator.apply_transpose(&dual.map(|a| -a), out);
        self.loss(&fitted)
    }
}

impl DualDatafit for Weighted {
    type Operator = DenseOperator;

    fn operator(&self) -> &DenseOperator {
        &self.operator
    }

    fn loss(&self, fitted: &[f64]) -> f64 {
        (0..3).map(|i| 0.5 * self.weights[i] * (self.observations[i] - fitted[i]).powi(2)).sum()
    }

    fn dual_point(&self, fitted: &[f64], out: &mut [f64]) {
        for i in 0..3 {
            out[i] = self.weights[i] * (self.observations[i] - fitted[i]);
        }
    }

    fn largest_curvature(&self) -> f64 {
        self.weights.iter().copied().fold(0.0, f64::max)
    }

    fn conjugate_gradient(&self, dual: &[f64], out: &mut [f64]) {
        for i in 0..3 {
            out[i] = dual[i] / self.weights[i] - self.observations[i];
        }
    }

    fn conjugate_curvature(&self, _dual: &[f64], out: &mut [f64]) {
        for (out, weight) in out.iter_mut().zip(&self.weights) {
            *out = weight.recip();
        }
    }
}

#[test]
fn what_is_defaulted_follows_from_what_is_required() -> Result<(), Error> {
    let weighted =
        Weighted { operator: operator()?, observations: [0.7, -1.2, 0.4], weights: [0.5, 1.0, 2.0] };
    check(&weighted);
    assert_eq!(weighted.longest_step(&[1.0; 3], &[1.0; 3]), f64::INFINITY);
    // ½ Σ αᵢ²/cᵢ − bᵢαᵢ.
    assert!((weighted.conjugate(&[1.0, 2.0, 4.0]) - (1.0 - 0.7 + 2.0 + 2.4 + 4.0 - 1.6)).abs() < 1e-12);
    Ok(())
}
