//! The small dense problem of a working set.

use crate::{Atoms, Control, Datafit, Error, InnerProducts, Penalty, Solution};

/// `½ wᵀ G w − cᵀ w + ½‖b‖²`: least squares over few atoms, by their inner products.
#[derive(Debug, Clone, PartialEq)]
pub struct Quadratic {
    gram: Vec<f64>,
    atoms: Atoms,
}

impl Quadratic {
    /// From the Gram matrix `G` of the atoms (symmetric, positive semidefinite, `n × n`), their products
    /// `c` with the target, and the target's squared norm `‖b‖²`.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`]; [`Error::Numerical`] for an entry that is not finite.
    pub fn new(gram: Vec<f64>, target_products: Vec<f64>, target_squared_norm: f64) -> Result<Self, Error> {
        let n = target_products.len();
        if gram.len() != n * n {
            return Err(Error::ShapeMismatch {
                what: "entries of the Gram matrix",
                expected: n * n,
                found: gram.len(),
            });
        }
        let finite = |values: &[f64]| values.iter().all(|value| value.is_finite());
        if !(finite(&gram) && finite(&target_products) && target_squared_norm.is_finite()) {
            return Err(Error::Numerical {
                what: "the inner products of the atoms",
                hint: "rescale the features so that squares neither overflow nor vanish".to_owned(),
            });
        }
        let squared_norms = (0..n).map(|j| gram[j + j * n]).collect();
        let atoms = Atoms { target_squared_norm, target_products, squared_norms, ..Atoms::default() };
        Ok(Self { gram, atoms })
    }

    /// The atoms `atoms` of a larger problem.
    ///
    /// # Errors
    /// As [`Quadratic::new`], and what the products of `problem` return.
    pub fn restrict(problem: &dyn InnerProducts, atoms: &[usize]) -> Result<Self, Error> {
        let n = atoms.len();
        let mut gram = vec![0.0; n * n];
        problem.products(atoms, atoms, &mut gram)?;
        let target_products = atoms.iter().map(|&j| problem.target_products()[j]).collect();
        Self::new(gram, target_products, problem.target_squared_norm())
    }

    /// The atoms `atoms` of `problem`, both lists increasing, of which this one has `own`: only the products
    /// of the others are computed.
    ///
    /// # Errors
    /// As [`Quadratic::restrict`].
    pub(crate) fn moved(
        &self,
        problem: &dyn InnerProducts,
        own: &[usize],
        atoms: &[usize],
    ) -> Result<Self, Error> {
        let (n, m) = (atoms.len(), own.len());
        let place = |atom: &usize| own.binary_search(atom);
        let places: Vec<Option<usize>> = atoms.iter().map(|atom| place(atom).ok()).collect();
        let fresh: Vec<usize> = (0..n).filter(|&i| places[i].is_none()).collect();
        let joining: Vec<usize> = fresh.iter().map(|&i| atoms[i]).collect();
        let mut products = vec![0.0; n * joining.len()];
        problem.products(atoms, &joining, &mut products)?;
        let mut gram = vec![0.0; n * n];
        for (column, place) in gram.chunks_exact_mut(n.max(1)).zip(&places) {
            let Some(known) = place.map(|place| &self.gram[place * m..(place + 1) * m]) else { continue };
            for (value, place) in column.iter_mut().zip(&places) {
                if let Some(place) = place {
                    *value = known[*place];
                }
            }
        }
        for (&j, column) in fresh.iter().zip(products.chunks_exact(n.max(1))) {
            for (i, &product) in column.iter().enumerate() {
                // Of two atoms that join, the later one has the product.
                if places[i].is_some() || i <= j {
                    gram[i + j * n] = product;
                    gram[j + i * n] = product;
                }
            }
        }
        let target_products = atoms.iter().map(|&j| problem.target_products()[j]).collect();
        Self::new(gram, target_products, problem.target_squared_norm())
    }

    /// Number of atoms.
    pub fn n_atoms(&self) -> usize {
        self.atoms.target_products.len()
    }

    /// Column `j` of `G`.
    pub fn gram_column(&self, j: usize) -> &[f64] {
        let n = self.n_atoms();
        &self.gram[j * n..(j + 1) * n]
    }

    /// `G`, column after column.
    pub fn gram(&self) -> &[f64] {
        &self.gram
    }

    /// Writes `c − G w`, the products of every atom with the residual.
    pub fn correlations(&self, w: &[f64], out: &mut [f64]) {
        out.copy_from_slice(&self.atoms.target_products);
        for (j, &weight) in w.iter().enumerate() {
            if weight != 0.0 {
                for (value, product) in out.iter_mut().zip(self.gram_column(j)) {
                    *value -= weight * product;
                }
            }
        }
    }
}

impl InnerProducts for Quadratic {
    fn atoms(&self) -> &Atoms {
        &self.atoms
    }

    fn products(&self, rows: &[usize], columns: &[usize], out: &mut [f64]) -> Result<(), Error> {
        for (&column, out) in columns.iter().zip(out.chunks_exact_mut(rows.len().max(1))) {
            let products = self.gram_column(column);
            for (value, &row) in out.iter_mut().zip(rows) {
                *value = products[row];
            }
        }
        Ok(())
    }
}

impl Datafit for Quadratic {
    fn n_coefficients(&self) -> usize {
        self.n_atoms()
    }

    fn value(&self, w: &[f64]) -> f64 {
        self.gradient(w, &mut vec![0.0; self.n_atoms()])
    }

    fn gradient(&self, w: &[f64], out: &mut [f64]) -> f64 {
        self.correlations(w, out);
        let mut value = 0.5 * self.atoms.target_squared_norm;
        for ((gradient, weight), product) in out.iter_mut().zip(w).zip(&self.atoms.target_products) {
            value -= 0.5 * weight * (product + *gradient);
            *gradient = -*gradient;
        }
        value
    }

    fn dual_value(&self, w: &[f64], scale: f64) -> f64 {
        let dot: f64 = w.iter().zip(&self.atoms.target_products).map(|(w, c)| w * c).sum();
        let squared_residual = 2.0 * self.value(w);
        scale * (self.atoms.target_squared_norm - dot) - 0.5 * scale * scale * squared_residual
    }
}

/// Minimises a [`Quadratic`] plus a [`Penalty`]: the only trait a solver crate must implement to
/// support every method that uses [`working_set::solve`](crate::working_set::solve).
pub trait QuadraticSolver: Send + Sync {
    /// The solver's id, such as `cd`.
    fn name(&self) -> &'static str;

    /// Whether the solver follows the exact path of the non-negative lasso down to its penalty. If a method
    /// has computed that path to find the penalty, the solution is already known and such a solver is not
    /// called.
    fn follows_path(&self) -> bool {
        false
    }

    /// Minimises `problem + penalty` from `start`, to a relative duality gap of `control.tolerance`.
    ///
    /// # Errors
    /// If the solver does not support the penalty or the control. Not converging is a status.
    fn minimise(
        &self,
        problem: &Quadratic,
        penalty: &dyn Penalty,
        start: &[f64],
        control: &Control<'_>,
    ) -> Result<Solution, Error>;
}
