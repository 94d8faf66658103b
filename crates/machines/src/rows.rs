//! Kernels of tables as rows for the solver.

use fewest_core::Error;
use fewest_kernels::{SquaredDistances, VectorKernel, VectorRows};
use fewest_smo::KernelRows;

use crate::Points;

/// A [`VectorKernel`] between samples, row by row: for many samples.
///
/// ```
/// use fewest_machines::{PointRows, Points};
/// use fewest_kernels::VectorKernel;
/// use fewest_smo::Classifier;
/// use fewest_solver::Control;
///
/// // The corners of a square, opposite ones in the same class.
/// let points = Points { values: vec![0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 1.0, 1.0], n_samples: 4, width: 2 };
/// let kernel = PointRows::new(&points, VectorKernel::Gaussian { gamma: 1.0 })?;
/// let labels = [true, false, false, true];
/// let machine = Classifier { cost: 10.0, ..Classifier::default() }
///     .train(&kernel, &labels, &[], &Control::default())?;
/// let mut row = [0.0; 4];
/// for (point, label) in points.values.chunks(2).zip(labels) {
///     kernel.0.row_at(point, &mut row)?;
///     assert_eq!(machine.decision(&row)? > 0.0, label);
/// }
/// # Ok::<(), fewest_solver::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct PointRows(pub VectorRows);

impl PointRows {
    /// `kernel` between `points`.
    ///
    /// # Errors
    /// As [`VectorRows::new`].
    pub fn new(points: &Points, kernel: VectorKernel) -> Result<Self, Error> {
        Ok(Self(VectorRows::new(&points.values, points.n_samples, kernel)?))
    }
}

impl KernelRows for PointRows {
    fn len(&self) -> usize {
        self.0.n_samples()
    }

    fn diagonal(&self, i: usize) -> f64 {
        self.0.diagonal(i)
    }

    fn row(&self, i: usize, out: &mut [f64]) {
        self.0.row(i, out);
    }

    fn rows(&self, indices: &[usize], out: &mut [f64]) {
        self.0.rows(indices, out);
    }
}

/// The Gaussian kernel of distances kept in memory: for few samples, and if features are removed or several
/// widths are tried.
#[derive(Debug, Clone, Copy)]
pub struct DistanceRows<'a> {
    distances: &'a [f64],
    n: usize,
    gamma: f64,
}

impl<'a> DistanceRows<'a> {
    /// `exp(−γ D_il)`.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] unless `gamma` is above 0 and finite.
    pub fn new(distances: &'a SquaredDistances, gamma: f64) -> Result<Self, Error> {
        VectorKernel::Gaussian { gamma }.check()?;
        Ok(Self { distances: distances.values(), n: distances.n_samples(), gamma })
    }
}

impl KernelRows for DistanceRows<'_> {
    fn len(&self) -> usize {
        self.n
    }

    fn diagonal(&self, _: usize) -> f64 {
        1.0
    }

    fn row(&self, i: usize, out: &mut [f64]) {
        out.copy_from_slice(&self.distances[i * self.n..(i + 1) * self.n]);
        SquaredDistances::gaussian(self.gamma, out);
    }
}

#[cfg(test)]
mod tests {
    use fewest_core::Context;

    use super::*;

    #[test]
    fn both_forms_of_a_kernel_agree() {
        let (n, width) = (19, 4);
        let values: Vec<f64> = (0..n * width).map(|k| ((k * k) as f64 * 0.3).sin()).collect();
        let points = Points { values, n_samples: n, width };
        let features = (0..width).map(|j| (0..n).map(|i| points.point(i)[j]).collect()).collect();
        let distances = SquaredDistances::new(features, n, &Context::default()).unwrap();
        let mut matrix = distances.values().to_vec();
        SquaredDistances::gaussian(0.7, &mut matrix);
        let by_points = PointRows::new(&points, VectorKernel::Gaussian { gamma: 0.7 }).unwrap();
        let by_distances = DistanceRows::new(&distances, 0.7).unwrap();
        let (mut a, mut b) = (vec![0.0; n], vec![0.0; n]);
        for i in 0..n {
            by_points.row(i, &mut a);
            by_distances.row(i, &mut b);
            assert_eq!(b, matrix[i * n..(i + 1) * n]);
            assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-15));
            assert_eq!([by_points.diagonal(i), by_distances.diagonal(i)], [1.0; 2]);
        }
        let mut two = vec![0.0; 2 * n];
        by_points.rows(&[3, 18], &mut two);
        by_points.row(18, &mut a);
        assert_eq!(two[n..], a);
    }

    #[test]
    fn faults_are_named() {
        let distances = SquaredDistances::new(vec![vec![0.0, 1.0]], 2, &Context::default()).unwrap();
        for gamma in [0.0, f64::NAN] {
            let error = DistanceRows::new(&distances, gamma).err();
            assert!(matches!(error, Some(Error::InvalidParameter { name: "gamma", .. })));
        }
    }
}
