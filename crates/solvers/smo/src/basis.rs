//! The linear system of the free variables, updated when one joins or leaves.

use crate::passes;

/// The inverse of the bordered matrix of some variables,
///
/// ```text
/// [ 0   1ᵀ        ]⁻¹
/// [ 1   K_FF + r_F ]
/// ```
///
/// kept up to date in `O(m²)` as one joins or leaves.
#[derive(Debug, Default)]
pub(crate) struct Basis {
    /// The position of each variable, in the order of the rows after the first.
    pub(crate) places: Vec<usize>,
    /// Rows of the inverse, each as long as the number of them.
    rows: Vec<Vec<f64>>,
}

impl Basis {
    /// The inverse times `(first, rest)`.
    pub(crate) fn solve(&self, first: f64, rest: &[f64]) -> Vec<f64> {
        let mut product = vec![0.0; self.rows.len()];
        for (row, value) in self.rows.iter().zip([first].iter().chain(rest)) {
            passes::subtract(&mut product, row, -value);
        }
        product
    }

    /// Adds the variable at `place`, given [`solve`](Self::solve) of 1 and its kernel values with the others,
    /// and `rest`, the part of its diagonal entry that these do not explain: above 0, or anything for the
    /// first variable.
    pub(crate) fn join(&mut self, place: usize, solved: &[f64], rest: f64) {
        self.places.push(place);
        if self.rows.is_empty() {
            self.rows = vec![vec![-rest, 1.0], vec![1.0, 0.0]];
            return;
        }
        for (row, value) in self.rows.iter_mut().zip(solved) {
            passes::subtract(row, solved, -value / rest);
            row.push(-value / rest);
        }
        self.rows.push(solved.iter().map(|value| -value / rest).chain([1.0 / rest]).collect());
    }

    /// Removes the variable at row `at` (the border not counted); returns whether the rest is accurate.
    pub(crate) fn leave(&mut self, at: usize) -> bool {
        self.places.swap_remove(at);
        let gone = self.rows.swap_remove(at + 1);
        let pivot = gone[at + 1];
        let shorten = |row: &mut Vec<f64>| row.swap_remove(at + 1);
        let mut left = gone;
        shorten(&mut left);
        for row in &mut self.rows {
            let value = shorten(row);
            passes::subtract(row, &left, value / pivot);
        }
        pivot > 0.0 && pivot.is_finite()
    }
}

#[cfg(test)]
mod tests {
    use nalgebra::DMatrix;

    use super::*;

    #[test]
    fn the_inverse_follows_joins_and_leaves() {
        let kernel =
            DMatrix::from_fn(5, 5, |i, j| (-0.3 * (i as f64 - j as f64).powi(2)).exp() + (i * j) as f64);
        let mut basis = Basis::default();
        let join = |basis: &mut Basis, place: usize| {
            let values: Vec<f64> = basis.places.iter().map(|&other| kernel[(place, other)]).collect();
            let solved = basis.solve(1.0, &values);
            let explained: f64 = solved.iter().zip([1.0].iter().chain(&values)).map(|(a, b)| a * b).sum();
            basis.join(place, &solved, kernel[(place, place)] - explained);
        };
        let check = |basis: &Basis| {
            let m = basis.places.len();
            let bordered = DMatrix::from_fn(m + 1, m + 1, |i, j| match (i, j) {
                (0, 0) => 0.0,
                (0, _) | (_, 0) => 1.0,
                _ => kernel[(basis.places[i - 1], basis.places[j - 1])],
            });
            let inverse = DMatrix::from_fn(m + 1, m + 1, |i, j| basis.rows[i][j]);
            assert!((bordered * inverse - DMatrix::identity(m + 1, m + 1)).amax() < 1e-10);
        };
        for place in 0..5 {
            join(&mut basis, place);
            check(&basis);
        }
        assert!(basis.leave(1));
        assert_eq!(basis.places, [0, 4, 2, 3]);
        check(&basis);
        assert!(basis.leave(3));
        check(&basis);
        join(&mut basis, 3);
        check(&basis);
        assert!(basis.leave(0) && basis.leave(0) && basis.leave(0));
        check(&basis);
        // With a single variable, the sum constraint leaves no freedom.
        assert!(!basis.leave(0));
    }
}
