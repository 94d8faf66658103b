//! The dual programs of the two planes.

use fewest_core::Error;
use fewest_smo::{
    DualCoordinateDescent, DualProblem, GramRows, KernelRows, LinearKernel, LinearProblem, SampleRows,
};
use fewest_solver::Control;
use nalgebra::{Cholesky, DMatrix, DVector, Dyn};

use super::{Products, TwinMachine, TwinProblem};

/// The dual programs of a [`TwinProblem`] at one `c₃`: `O(d³ + n d²)` for `n` samples of `d` coordinates or,
/// where there are fewer samples, `O(n³)`.
pub(crate) struct TwinDual<'a> {
    problem: &'a TwinProblem,
    regularization: f64,
    sides: [Side; 2],
}

/// `Q = G (HᵀH + c₃I)⁻¹ Gᵀ` of one plane, `H` being its own class.
enum Side {
    /// `Q = ZᵀZ`, `Z = L⁻¹Gᵀ`, `LLᵀ = HᵀH + c₃I`.
    ByCoordinates { factor: Cholesky<f64, Dyn>, rows: FactorRows },
    /// `Q = (GGᵀ − GHᵀ (HHᵀ + c₃I)⁻¹ HGᵀ) / c₃`; `cross = HGᵀ`.
    BySamples { factor: Cholesky<f64, Dyn>, cross: DMatrix<f64>, rows: GramRows },
}

/// The columns of `Z`.
struct FactorRows {
    columns: DMatrix<f64>,
    squared_norms: Vec<f64>,
}

impl SampleRows for FactorRows {
    fn n_samples(&self) -> usize {
        self.columns.ncols()
    }

    fn n_features(&self) -> usize {
        self.columns.nrows()
    }

    fn squared_norm(&self, i: usize) -> f64 {
        self.squared_norms[i]
    }

    fn product(&self, i: usize, w: &[f64]) -> f64 {
        self.columns.column(i).iter().zip(w).map(|(z, w)| z * w).sum()
    }

    fn add(&self, i: usize, factor: f64, w: &mut [f64]) {
        for (w, z) in w.iter_mut().zip(self.columns.column(i).iter()) {
            *w += factor * z;
        }
    }
}

fn with_ridge(matrix: &DMatrix<f64>, ridge: f64) -> Result<Cholesky<f64, Dyn>, Error> {
    let mut matrix = matrix.clone();
    for i in 0..matrix.nrows() {
        matrix[(i, i)] += ridge;
    }
    fewest_linalg::cholesky(matrix).ok_or_else(|| too_small(ridge))
}

fn too_small(ridge: f64) -> Error {
    let hint = format!("the regularisation {ridge} of its planes is too small: raise it");
    Error::Numerical { what: "the dual of a twin machine", hint }
}

impl Side {
    /// `own` and `other` are the classes' rows as columns.
    fn new(problem: &TwinProblem, own: usize, ridge: f64) -> Result<Self, Error> {
        let other = 1 - own;
        match &problem.products {
            Products::ByCoordinates(squares) => {
                let factor = with_ridge(&squares[own], ridge)?;
                let mut columns = problem.rows[other].clone();
                if !factor.l_dirty().solve_lower_triangular_mut(&mut columns) {
                    return Err(too_small(ridge));
                }
                let squared_norms = columns.column_iter().map(|column| column.norm_squared()).collect();
                Ok(Self::ByCoordinates { factor, rows: FactorRows { columns, squared_norms } })
            }
            Products::BySamples(squares, cross) => {
                let factor = with_ridge(&squares[own], ridge)?;
                let cross = if own == 0 { cross.clone() } else { cross.transpose() };
                let mut inner = cross.clone();
                if !factor.l_dirty().solve_lower_triangular_mut(&mut inner) {
                    return Err(too_small(ridge));
                }
                let explained = inner.transpose() * &inner;
                let n = cross.ncols();
                let mut values = vec![0.0; n * n];
                for i in 0..n {
                    for j in 0..=i {
                        let value = (squares[other][(i, j)] - explained[(i, j)]) / ridge;
                        values[i * n + j] = value;
                        values[j * n + i] = value;
                    }
                    // Every sample has a coordinate 1, so the diagonal of Q is positive unless rounding
                    // cancels it.
                    if values[i * n + i] <= 64.0 * f64::EPSILON * squares[other][(i, i)] / ridge {
                        return Err(too_small(ridge));
                    }
                }
                Ok(Self::BySamples { factor, cross, rows: GramRows::new(values, n)? })
            }
        }
    }

    /// `(HᵀH + c₃I)⁻¹ Gᵀα`.
    fn weights(&self, problem: &TwinProblem, own: usize, ridge: f64, alpha: Vec<f64>) -> DVector<f64> {
        let alpha = DVector::from_vec(alpha);
        match self {
            Self::ByCoordinates { factor, rows } => {
                let mut weights = &rows.columns * alpha;
                factor.l_dirty().tr_solve_lower_triangular_mut(&mut weights);
                weights
            }
            Self::BySamples { factor, cross, .. } => {
                let inner = factor.solve(&(cross * &alpha));
                (&problem.rows[1 - own] * alpha - &problem.rows[own] * inner) / ridge
            }
        }
    }
}

impl<'a> TwinDual<'a> {
    pub(super) fn new(problem: &'a TwinProblem, regularization: f64) -> Result<Self, Error> {
        if !(regularization > 0.0 && regularization.is_finite()) {
            return Err(Error::parameter("regularization", regularization, "above 0 and finite"));
        }
        let side = |own| Side::new(problem, own, regularization);
        Ok(Self { problem, regularization, sides: [side(0)?, side(1)?] })
    }

    /// Trains both planes at `cost`, `c₁` above 0, by successive over-relaxation with the factor
    /// `relaxation`, above 0 and below 2, to the relative duality gap of `control`; an iteration is a pass
    /// over the variables of a plane. `start` is a machine of the same samples.
    ///
    /// A pass is `O(n m)`, with `m` the smaller of the numbers of coordinates and samples. A plane that did
    /// not converge has a status that says so, and its gap.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] for `cost`, `relaxation` or a tolerance out of range;
    /// [`Error::ShapeMismatch`] for a start with another number of samples.
    pub(crate) fn train(
        &self,
        cost: f64,
        relaxation: f64,
        start: Option<&TwinMachine>,
        control: &Control<'_>,
    ) -> Result<TwinMachine, Error> {
        if !(cost > 0.0 && cost.is_finite()) {
            return Err(Error::parameter("cost", cost, "above 0 and finite"));
        }
        let solver = DualCoordinateDescent::default().relaxation(relaxation);
        let plane = |own: usize| {
            let start = start.map_or(&[][..], |start| &start.planes[own].dual.coefficients);
            let solve = |kernel: &dyn KernelRows, rows: &dyn SampleRows| {
                let n = rows.n_samples();
                let dual = DualProblem::new(kernel, vec![1.0; n], vec![0.0; n], vec![cost; n])?;
                solver.minimise(&LinearProblem::new(&dual, rows)?, start, control)
            };
            let found = match &self.sides[own] {
                Side::ByCoordinates { rows, .. } => solve(&LinearKernel(rows), rows)?,
                Side::BySamples { rows, .. } => solve(rows, rows)?,
            };
            let alpha = found.solution.coefficients.clone();
            let mut weights = self.sides[own].weights(self.problem, own, self.regularization, alpha);
            if own == 0 {
                weights.neg_mut();
            }
            Ok(self.problem.plane(weights.as_slice().to_vec(), found.solution))
        };
        Ok(TwinMachine { planes: [plane(0)?, plane(1)?] })
    }
}
