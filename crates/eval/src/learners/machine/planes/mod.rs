//! Twin support vector machines.

mod dual;

use fewest_core::{Certificate, Error};
use fewest_smo::KernelRows;
use fewest_solver::Solution;
use nalgebra::{DMatrix, DVector};

pub(crate) use dual::TwinDual;

use fewest_machines::Points;

/// Two classes and two planes that need not be parallel, each near the samples of one class and at least 1
/// away from those of the other: the twin support vector machine, TWSVM (Jayadeva, Khemchandani and Chandra
/// 2007), and the twin bounded one, TBSVM (Shao, Zhang, Wang and Deng 2011).
///
/// Let the rows of `H` be the samples of the first class and those of `G` the samples of the second, each
/// with a 1 after its features. The first plane `f(x) = ⟨w, x⟩ + b`, `u = (w, b)`, is the solution of
///
/// ```text
/// minimise over u, ξ   ½ ‖Hu‖² + ½ c₃ ‖u‖² + c₁ Σ ξ   subject to   −Gu + ξ ≥ 1,  ξ ≥ 0
/// ```
///
/// and follows from its dual, a quadratic program with as many variables as the *other* class has samples:
///
/// ```text
/// minimise over α   ½ αᵀ G (HᵀH + c₃ I)⁻¹ Gᵀ α − Σ α   subject to   0 ≤ α ≤ c₁,        u = −(HᵀH + c₃ I)⁻¹ Gᵀ α
/// ```
///
/// The second plane exchanges `H` and `G` (and `−1` for `1`); costs and regularisations of both planes are
/// the same here. `c₃` is the structural risk of TBSVM; in TWSVM, which has none, it is the small ridge that
/// makes `HᵀH` invertible. With a kernel `x` is replaced by the row of `k(x, x_j)` for all training
/// samples `x_j` of both classes.
///
/// Where there are more coordinates than samples, as always with a kernel, only a matrix of the size of a
/// class is inverted, by Sherman, Morrison and Woodbury: `(HᵀH + c₃I)⁻¹ = (I − Hᵀ(c₃I + HHᵀ)⁻¹H) / c₃`.
///
/// A sample belongs to the nearer plane by perpendicular distance, `|f(x)| / ‖w‖`; with a kernel
/// `‖w‖² = uᵀKu`. If a plane has no direction (`‖w‖ = 0`), both are compared by `|f(x)|`.
///
/// This type holds the products that do not depend on `c₃`, [`TwinDual`] those that do not depend on `c₁`.
/// For `n` samples of `d` coordinates: time `O(n d²)` or, if less, `O(n² d)`; memory for the rows and the
/// square of the smaller of `n` and `d`.
pub(crate) struct TwinProblem {
    /// The rows of `H` and of `G` as columns, the 1 last.
    rows: [DMatrix<f64>; 2],
    /// With a kernel, the index of each row among the coordinates.
    places: Option<[Vec<usize>; 2]>,
    products: Products,
}

/// The matrices to be inverted, without their ridge.
enum Products {
    /// `HᵀH` and `GᵀG`.
    ByCoordinates([DMatrix<f64>; 2]),
    /// `HHᵀ` and `GGᵀ`, `HGᵀ`.
    BySamples([DMatrix<f64>; 2], DMatrix<f64>),
}

impl TwinProblem {
    /// Planes in the coordinates of `points`, for `samples` of them; `first` marks those of the first class.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] for a sample that does not exist, or has no class; [`Error::TooFew`] unless
    /// both classes have a sample; [`Error::Numerical`] for products that are not finite.
    pub(crate) fn linear(points: &Points, samples: &[usize], first: &[bool]) -> Result<Self, Error> {
        check(points.n_samples, samples, first)?;
        let width = points.width;
        let rows = |class: bool| {
            let own: Vec<usize> = of_class(samples, first, class).map(|(_, i)| i).collect();
            DMatrix::from_fn(
                width + 1,
                own.len(),
                |j, c| if j < width { points.point(own[c])[j] } else { 1.0 },
            )
        };
        Self::new([rows(true), rows(false)], None)
    }

    /// Surfaces `Σ_j u_j k(x_j, x) + b = 0`, where `rows` has `k` between `samples`.
    ///
    /// # Errors
    /// As [`linear`](Self::linear).
    pub(crate) fn kernel(rows: &dyn KernelRows, samples: &[usize], first: &[bool]) -> Result<Self, Error> {
        check(rows.len(), samples, first)?;
        let mut whole = vec![0.0; rows.len()];
        let mut matrix = |class: bool| {
            let own: Vec<usize> = of_class(samples, first, class).map(|(_, i)| i).collect();
            let mut matrix = DMatrix::from_element(samples.len() + 1, own.len(), 1.0);
            for (mut column, &i) in matrix.column_iter_mut().zip(&own) {
                rows.row(i, &mut whole);
                for (value, &j) in column.iter_mut().zip(samples) {
                    *value = whole[j];
                }
            }
            matrix
        };
        let matrices = [matrix(true), matrix(false)];
        let places = |class| of_class(samples, first, class).map(|(place, _)| place).collect();
        Self::new(matrices, Some([places(true), places(false)]))
    }

    fn new(rows: [DMatrix<f64>; 2], places: Option<[Vec<usize>; 2]>) -> Result<Self, Error> {
        let [first, second] = &rows;
        let products = if first.nrows() <= first.ncols() + second.ncols() {
            Products::ByCoordinates([first * first.transpose(), second * second.transpose()])
        } else {
            let left = first.transpose();
            Products::BySamples([&left * first, second.transpose() * second], &left * second)
        };
        let finite = match &products {
            Products::ByCoordinates([first, second]) => first.sum().is_finite() && second.sum().is_finite(),
            Products::BySamples([first, second], cross) => {
                first.sum().is_finite() && second.sum().is_finite() && cross.sum().is_finite()
            }
        };
        if !finite {
            let hint = "the samples must be finite, and their squares must not overflow".to_owned();
            return Err(Error::Numerical { what: "the products of a twin machine", hint });
        }
        Ok(Self { rows, places, products })
    }

    /// The dual programs of both planes with the regularisation `c₃`, above 0.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`]; [`Error::Numerical`] if it is too small to invert.
    pub(crate) fn regularised(&self, regularization: f64) -> Result<TwinDual<'_>, Error> {
        TwinDual::new(self, regularization)
    }

    /// The plane of `u = (w, b)`.
    fn plane(&self, mut weights: Vec<f64>, dual: Solution) -> Plane {
        let bias = weights.pop().unwrap_or_default();
        let norm = match &self.places {
            None => weights.iter().map(|weight| weight * weight).sum::<f64>().sqrt(),
            Some(places) => {
                let along =
                    DVector::from_fn(weights.len() + 1, |j, _| weights.get(j).copied().unwrap_or(0.0));
                let mut square = 0.0;
                for (rows, places) in self.rows.iter().zip(places) {
                    for (row, &place) in rows.column_iter().zip(places) {
                        square += weights[place] * row.dot(&along);
                    }
                }
                square.max(0.0).sqrt()
            }
        };
        Plane { weights, bias, norm, dual }
    }
}

/// The samples of one class, each with its index.
fn of_class<'a>(
    samples: &'a [usize],
    first: &'a [bool],
    class: bool,
) -> impl Iterator<Item = (usize, usize)> + 'a {
    let own = move |(_, (_, first)): &(usize, (&usize, &bool))| **first == class;
    samples.iter().zip(first).enumerate().filter(own).map(|(place, (&i, _))| (place, i))
}

fn check(n_samples: usize, samples: &[usize], first: &[bool]) -> Result<(), Error> {
    if let Some(&i) = samples.iter().find(|&&i| i >= n_samples) {
        return Err(Error::ShapeMismatch {
            what: "samples of the machine",
            expected: n_samples,
            found: i + 1,
        });
    }
    if samples.len() != first.len() {
        let (expected, found) = (samples.len(), first.len());
        return Err(Error::ShapeMismatch { what: "classes of the samples", expected, found });
    }
    let both = first.iter().any(|first| *first) && first.iter().any(|first| !*first);
    if both { Ok(()) } else { Err(Error::TooFew { what: "classes", minimum: 2, found: 1 }) }
}

/// One of the two planes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Plane {
    /// `w`, or with a kernel `u_j` of each sample.
    pub(crate) weights: Vec<f64>,
    /// `b`.
    pub(crate) bias: f64,
    /// `‖w‖`, with a kernel `√(uᵀKu)`.
    pub(crate) norm: f64,
    /// `α` of each sample of the other class, in the order of the samples; the gap is relative to the larger
    /// of the primal and the dual objective.
    pub(crate) dual: Solution,
}

impl Plane {
    /// `f(x)`, from coordinates or kernel values.
    fn value(&self, features: &[f64]) -> f64 {
        self.bias + self.weights.iter().zip(features).map(|(weight, value)| weight * value).sum::<f64>()
    }
}

/// A trained twin machine.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TwinMachine {
    /// The plane of the first class and that of the second.
    pub(crate) planes: [Plane; 2],
}

impl TwinMachine {
    /// The distance to the second plane less that to the first, from the coordinates of `x`, or with a kernel
    /// from `k(x_j, x)` of each training sample; above 0 for the first class.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] for another number of them.
    pub(crate) fn decision(&self, features: &[f64]) -> Result<f64, Error> {
        let [first, second] = &self.planes;
        let (expected, found) = (first.weights.len(), features.len());
        if expected != found {
            return Err(Error::ShapeMismatch { what: "features of a sample", expected, found });
        }
        let (near, far) = (first.value(features).abs(), second.value(features).abs());
        if first.norm > 0.0 && second.norm > 0.0 {
            return Ok(far / second.norm - near / first.norm);
        }
        Ok(far - near)
    }

    /// The certificate of both planes.
    pub(crate) fn certificate(&self) -> Certificate {
        let [first, second] = &self.planes;
        first.dual.certificate.worse(second.dual.certificate)
    }
}

#[cfg(test)]
mod tests;
