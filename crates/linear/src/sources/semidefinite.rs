//! Sparse principal components as a semidefinite programme.

use fewest_admm::{Admm, Judgement, Split, Splitting};
use fewest_core::{Certificate, Context, Error, Status};
use fewest_linalg::{symmetric_eigen, symmetric_eigenvalues};
use fewest_solver::Control;
use nalgebra::{DMatrix, DVector};

/// Most iterations: each has a decomposition.
const MOST_ITERATIONS: u64 = 20_000;

/// What a value may be below another of the same point, relative to `λ_max(C)`.
const ROUNDING: f64 = 1e-12;

/// Signs of a component that are tried.
const MOST_SIGNS: usize = 5;

/// `maximise tr(CQ) − ρ Σᵢⱼ |Qᵢⱼ| with tr Q = 1, Q ⪰ 0` (d'Aspremont et al. 2007, Eq. 6), whose dual is the
/// minimum of `λ_max(C − Y)` over `|Yᵢⱼ| ≤ ρ`. `C` is divided by its largest entry.
struct Programme {
    covariance: DMatrix<f64>,
    penalty: f64,
    /// `λ_max(C)`, the optimum without penalty.
    largest: f64,
}

/// The answer: of a relaxation that is tight, exact but for rounding, else to the accuracy of the gap.
pub(super) struct Component {
    /// The leading eigenvector, not negative, one value a column; exactly 0 where `Q` has no row.
    pub(super) loadings: Vec<f64>,
    /// The share of the leading eigenvalue in the trace: 1 where the relaxation is tight.
    pub(super) leading_share: f64,
    /// `tr(CQ) − ρ Σ |Qᵢⱼ|` at a feasible `Q`.
    pub(super) objective: f64,
    /// The dual value less the objective, relative to `λ_max(C)`.
    pub(super) gap: f64,
    pub(super) status: Status,
    pub(super) iterations: usize,
}

fn not_finite() -> Error {
    Error::Numerical {
        what: "an eigendecomposition of the sparse component",
        hint: "a number is not finite or too large".to_owned(),
    }
}

impl Programme {
    fn size(&self) -> usize {
        self.covariance.nrows()
    }

    /// `tr(CQ) − ρ Σ |Qᵢⱼ|`.
    fn value(&self, q: &[f64]) -> f64 {
        self.covariance.iter().zip(q).map(|(c, q)| c * q - self.penalty * q.abs()).sum()
    }

    /// The best `Q = x xᵀ` whose `x` has the support and the signs of `near`, with its value: there `Σ
    /// |Qᵢⱼ| = (sᵀx)²`, so that `x` is the leading eigenvector of `C − ρ s sᵀ`. Where this has other signs,
    /// as small loadings may, the same for those; none where signs go on changing.
    fn exact(&self, support: &[usize], near: &DVector<f64>) -> Result<Option<(DVector<f64>, f64)>, Error> {
        let part = self.covariance.select_rows(support).select_columns(support);
        let mut sign = near.map(f64::signum);
        for _ in 0..MOST_SIGNS {
            let (vector, value, _) = leading_vector(&(&part - &sign * sign.transpose() * self.penalty))?;
            // An eigenvector has a sign of its own.
            let turned = if vector.dot(&sign) < 0.0 { -vector } else { vector };
            let next = turned.map(f64::signum);
            if next == sign {
                return Ok(Some((turned, value)));
            }
            sign = next;
        }
        Ok(None)
    }

    /// The dual value: an upper bound for every `|Yᵢⱼ| ≤ ρ`.
    fn bound(&self, y: &[f64]) -> Result<f64, Error> {
        let y = DMatrix::from_column_slice(self.size(), self.size(), y);
        // By rounding, Y may be outside by a few units in the last place.
        let inside = y.map(|value| value.clamp(-self.penalty, self.penalty));
        Ok(symmetric_eigenvalues(&self.covariance - inside).ok_or_else(not_finite)?.max())
    }
}

impl Splitting for Programme {
    fn n_values(&self) -> usize {
        self.covariance.len()
    }

    /// The nearest matrix to `V + C/ρ` of trace 1 and without negative eigenvalues.
    fn first(&self, v: &[f64], rho: f64, out: &mut [f64]) -> Result<(), Error> {
        let p = self.size();
        let moved = DMatrix::from_column_slice(p, p, v) + &self.covariance / rho;
        let found = symmetric_eigen((&moved + moved.transpose()) * 0.5).ok_or_else(not_finite)?;
        let values = on_simplex(found.eigenvalues.as_slice());
        let kept: Vec<usize> = (0..p).filter(|&at| values[at] > 0.0).collect();
        let vectors = found.eigenvectors.select_columns(&kept);
        let scaled = DMatrix::from_fn(p, kept.len(), |i, at| vectors[(i, at)] * values[kept[at]]);
        out.copy_from_slice((scaled * vectors.transpose()).as_slice());
        Ok(())
    }

    fn second(&self, v: &[f64], rho: f64, out: &mut [f64]) -> Result<(), Error> {
        let by = self.penalty / rho;
        out.iter_mut().zip(v).for_each(|(out, v)| *out = (v.abs() - by).max(0.0).copysign(*v));
        Ok(())
    }

    fn judge(&self, point: &Split<'_>) -> Result<Judgement, Error> {
        let value = self.value(point.first);
        let gap = (self.bound(point.dual)? - value) / self.largest;
        Ok(Judgement { objective: -value, certificate: Certificate::gap(gap.max(0.0)) })
    }
}

/// The nearest point with a sum of 1 and no negative value.
fn on_simplex(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(|a, b| b.total_cmp(a));
    let (mut sum, mut shift) = (0.0, 0.0);
    for (at, value) in sorted.iter().enumerate() {
        sum += value;
        let candidate = (sum - 1.0) / (at + 1) as f64;
        if value - candidate > 0.0 {
            shift = candidate;
        }
    }
    values.iter().map(|value| (value - shift).max(0.0)).collect()
}

/// The sparse component of a covariance with a largest entry above 0, with the penalty `ratio` times that
/// entry.
pub(super) fn component(
    covariance: &DMatrix<f64>,
    ratio: f64,
    tolerance: f64,
    context: &Context<'_>,
) -> Result<Component, Error> {
    let p = covariance.nrows();
    let scale = covariance.amax();
    let covariance = covariance / scale;
    let largest = symmetric_eigenvalues(covariance.clone()).ok_or_else(not_finite)?.max();
    let programme = Programme { covariance, penalty: ratio, largest };
    let control = Control { tolerance, max_iterations: MOST_ITERATIONS, ..Control::from(context) };
    let mut solver = Admm::default().tolerance(tolerance);
    // Nothing is known: every feature for itself.
    let start = DMatrix::<f64>::identity(p, p) / p as f64;
    let solution = fewest_solver::run(&programme, &mut solver, start.as_slice().to_vec(), &control)?;
    let sparse = &solution.coefficients;
    let support: Vec<usize> = (0..p).filter(|&i| sparse[i * p + i] > 0.0).collect();
    let (near, leading, sum) = leading_vector(&DMatrix::from_column_slice(p, p, solver.first()))?;
    let mut component = Component {
        loadings: vec![0.0; p],
        leading_share: leading / sum,
        objective: -solution.objective * scale,
        gap: solution.certificate.value(),
        status: solution.status,
        iterations: solution.iterations as usize,
    };
    let mut best = (-solution.objective - ROUNDING * largest, None);
    // All columns: without a penalty the gap is met before the sparse copy of Q has every row.
    for support in [support.clone(), (0..p).collect()] {
        let part = DVector::from_iterator(support.len(), support.iter().map(|&i| near[i]));
        if support.is_empty() {
            continue;
        }
        if let Some((vector, value)) = programme.exact(&support, &part)?
            && value > best.0
        {
            best = (value, Some((support, vector)));
        }
    }
    if let (value, Some((support, vector))) = best {
        support.iter().zip(vector.iter()).for_each(|(&i, loading)| component.loadings[i] = loading.abs());
        component.leading_share = 1.0;
        component.objective = value * scale;
        component.gap = ((programme.bound(&solver.dual())? - value) / largest).max(0.0);
    } else {
        support.iter().for_each(|&i| component.loadings[i] = near[i].abs());
    }
    Ok(component)
}

/// The leading eigenvector of a symmetric matrix with its eigenvalue, and the sum of all.
fn leading_vector(matrix: &DMatrix<f64>) -> Result<(DVector<f64>, f64, f64), Error> {
    let found = symmetric_eigen((matrix + matrix.transpose()) * 0.5).ok_or_else(not_finite)?;
    let at = found.eigenvalues.imax();
    Ok((found.eigenvectors.column(at).into_owned(), found.eigenvalues[at], found.eigenvalues.sum()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(covariance: &DMatrix<f64>, ratio: f64) -> Component {
        component(covariance, ratio, 1e-10, &Context::default()).unwrap()
    }

    #[test]
    fn the_nearest_point_of_the_simplex() {
        assert_eq!(on_simplex(&[0.5, 0.5]), [0.5, 0.5]);
        assert_eq!(on_simplex(&[3.0, 1.0, -2.0]), [1.0, 0.0, 0.0]);
        let point = on_simplex(&[0.3, 0.9, 0.5, -0.4]);
        assert!((point.iter().sum::<f64>() - 1.0).abs() < 1e-15);
        // What is kept is shifted by one number.
        assert!(((0.9 - point[1]) - (0.5 - point[2])).abs() < 1e-15, "{point:?}");
    }

    /// The gap from the definition: of a matrix that is feasible, and of a dual point that is, with
    /// eigenvalues by another decomposition.
    #[test]
    fn the_certificate_is_that_of_the_definition() {
        let p = 7;
        let factor = DMatrix::from_fn(9, p, |i, j| ((i * 31 + j * 17 + i * j * 5) % 13) as f64 / 6.0 - 1.0);
        let covariance = factor.tr_mul(&factor);
        let covariance = &covariance / covariance.amax();
        let largest = covariance.clone().symmetric_eigenvalues().max();
        for penalty in [0.05, 0.2, 0.6] {
            let programme = Programme { covariance: covariance.clone(), penalty, largest };
            let control = Control { tolerance: 1e-10, max_iterations: MOST_ITERATIONS, ..Control::default() };
            let mut solver = Admm::default().tolerance(1e-10);
            let solution = fewest_solver::run(&programme, &mut solver, vec![0.0; p * p], &control).unwrap();
            assert_eq!(solution.status, Status::Converged);
            let q = DMatrix::from_column_slice(p, p, solver.first());
            let eigenvalues = q.clone().symmetric_eigenvalues();
            assert!((q.trace() - 1.0).abs() < 1e-12 && eigenvalues.min() > -1e-12, "{eigenvalues}");
            let value = (&covariance * &q).trace() - penalty * q.iter().map(|q| q.abs()).sum::<f64>();
            let y = DMatrix::from_vec(p, p, solver.dual());
            assert!(y.amax() < penalty * (1.0 + 1e-12), "{}", y.amax());
            let bound = (&covariance - (&y + y.transpose()) * 0.5).symmetric_eigenvalues().max();
            let gap = (bound - value) / largest;
            assert!(gap > -1e-12 && gap < 1.1e-10, "{gap}");
            assert!((solution.objective + value).abs() < 1e-12);
        }
    }

    /// Without a penalty the component is the leading eigenvector; with a large one a single feature.
    #[test]
    fn the_ends_of_the_penalty_are_known() {
        let covariance = DMatrix::from_row_slice(3, 3, &[2.0, 1.0, 0.2, 1.0, 1.5, 0.1, 0.2, 0.1, 1.0]);
        let leading = symmetric_eigen(covariance.clone()).unwrap();
        let at = leading.eigenvalues.imax();
        let free = found(&covariance, 0.0);
        assert!((free.objective - leading.eigenvalues[at]).abs() < 1e-8);
        assert!(free.leading_share > 1.0 - 1e-6);
        for (loading, expected) in free.loadings.iter().zip(leading.eigenvectors.column(at).iter()) {
            assert!((loading - expected.abs()).abs() < 1e-4);
        }
        let alone = found(&covariance, 1.5);
        assert!((alone.objective - (2.0 - 3.0)).abs() < 1e-8, "{}", alone.objective);
        assert_eq!(alone.loadings, [1.0, 0.0, 0.0]);
    }

    /// Two features: `Q = ½ (I + cos φ Z + sin φ X)`, the best angle found on a grid.
    #[test]
    fn of_two_features_the_optimum_is_that_of_a_grid() {
        let covariance = DMatrix::from_row_slice(2, 2, &[1.0, 0.6, 0.6, 0.8]);
        let value = |angle: f64| {
            let (off, first) = (0.5 * angle.sin(), 0.5 * (1.0 + angle.cos()));
            first + 0.8 * (1.0 - first) + 2.0 * 0.6 * off - 0.2 * (1.0 + 2.0 * off.abs())
        };
        let best = (0..100_000)
            .map(|at| value(f64::from(at) * 1e-5 * std::f64::consts::PI))
            .fold(f64::MIN, f64::max);
        let found = found(&covariance, 0.2);
        assert_eq!(found.status, Status::Converged);
        assert!((found.objective - best).abs() < 1e-8, "{} {best}", found.objective);
        assert!(found.gap <= 1e-10);
    }
}
