//! What the quadratic programs take as `D`.

use std::sync::Arc;

use fewest_core::{Context, Dataset, Error, choice};
use fewest_counts::discretisation::Discretisation;
use fewest_kernels::{Gram, Linear};
use fewest_lars::LassoPath;
use fewest_solver::{InnerProducts, Ridged, Scaled};

use super::information::information;
use crate::atoms::{self, Measure};
use crate::{Dependence, InputKernel, Normalization, OutputKernel};

/// What is first added to the diagonal of a matrix that need not be positive semidefinite, as a share of its
/// largest entry.
const SMALL: f64 = 1e-3;

choice! {
    /// What `D` is.
    #[derive(Debug, Clone)]
    pub enum FeatureSimilarity {
        /// Mutual information in nats over levels, `Dₖₖ` the entropy. A real target is discretised by the
        /// rule of the features.
        ///
        /// This `D` need not be positive semidefinite, so a constant is added to its diagonal (Section 4.1 of
        /// Yamada et al. 2014): a thousandth of the largest entropy, and twice as much as often as the path
        /// meets features over which the matrix is not positive definite even so. The notes name the
        /// constant. Over the features that have a weight the program is then strictly convex; over all
        /// features it need not be, and the certificate is one of stationarity.
        MutualInformation(Discretisation) = "mutual-information",
        /// HSIC.
        Hsic {
            /// How dependence is measured.
            ///
            /// By Gram matrices of norm 1, unless something else is said.
            dependence: Dependence =
                Dependence { normalization: Normalization::Unit, ..Dependence::default() };
        } = "hsic",
        /// The squared correlation: a positive semidefinite matrix, which the absolute correlation need not
        /// be. Of classes, the mean over their standardised indicators.
        Correlation = "correlation",
    }
}

/// `D` and `d` of some data.
#[derive(Clone, Copy)]
pub(super) struct Matrix<'a> {
    products: &'a dyn InnerProducts,
    /// False for mutual information, which need not be.
    is_semidefinite: bool,
}

impl<'a> Matrix<'a> {
    pub(super) fn n_features(self) -> usize {
        self.relevance().len()
    }

    /// `d`.
    pub(super) fn relevance(self) -> &'a [f64] {
        self.products.target_products()
    }

    /// `Dₖₖ`.
    pub(super) fn diagonal(self) -> &'a [f64] {
        self.products.squared_norms()
    }

    /// Writes `out[i + j · rows.len()]`, the entry of `D` at `rows[i]` and `columns[j]`.
    pub(super) fn entries(self, rows: &[usize], columns: &[usize], out: &mut [f64]) -> Result<(), Error> {
        self.products.products(rows, columns, out)
    }

    /// `D + constant · I` over the features that vary, for a solver.
    pub(super) fn with_diagonal(self, constant: f64) -> Result<Ridged<&'a dyn InnerProducts>, Error> {
        Ridged::new(self.products, constant)
    }
}

impl FeatureSimilarity {
    /// Calls `work` with `D` and `d`. They live no longer than that: kernels are borrowed.
    pub(super) fn with_products<T>(
        &self,
        data: &Dataset,
        method: &'static str,
        context: &Context<'_>,
        work: impl FnOnce(Matrix<'_>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let of_correlation;
        let dependence = match self {
            Self::MutualInformation(rule) => {
                let products = &information(data, rule, method, context)?;
                return work(Matrix { products, is_semidefinite: false });
            }
            Self::Hsic { dependence } => dependence,
            Self::Correlation => {
                of_correlation = correlation(data, method, context)?;
                &of_correlation
            }
        };
        let atoms = atoms::build(data, Measure::Hsic, dependence, method, context)?;
        match dependence.normalization {
            Normalization::None => work(Matrix { products: &*atoms, is_semidefinite: true }),
            Normalization::Unit => {
                work(Matrix { products: &Scaled::to_norm_one(atoms), is_semidefinite: true })
            }
        }
    }

    /// Whether a path over this `D` met features over which it is not positive definite.
    ///
    /// A path passes by what depends on its active features, or has a negative square given them. Duplicates
    /// do that to a positive semidefinite `D` too, and harm nothing there.
    pub(super) fn is_indefinite(&self, path: &LassoPath) -> bool {
        matches!(self, Self::MutualInformation(_)) && !path.tied.is_empty()
    }

    /// `solve(D + c I)`, with `c = 0` where `D` is positive semidefinite, and else with the smallest `c`
    /// tried for which the path met no features over which it is not positive definite. Also `c`.
    pub(super) fn convexly<T>(
        &self,
        matrix: Matrix<'_>,
        solve: impl Fn(&dyn InnerProducts) -> Result<(LassoPath, T), Error>,
    ) -> Result<(LassoPath, T, f64), Error> {
        let largest = matrix.diagonal().iter().copied().fold(0.0, f64::max);
        if matrix.is_semidefinite || largest == 0.0 {
            return solve(matrix.products).map(|(path, found)| (path, found, 0.0));
        }
        let mut constant = SMALL * largest;
        loop {
            let (path, found) = solve(&matrix.with_diagonal(constant)?)?;
            // With a diagonal above the sum of each row the path meets no such features, so the rounds end.
            if !self.is_indefinite(&path) || path.status.is_stopped() {
                return Ok((path, found, constant));
            }
            constant *= 2.0;
        }
    }

    /// What the notes say of the constant.
    pub(super) fn note(constant: f64) -> Option<String> {
        (constant > 0.0).then(|| format!("{constant:.3e} was added to the diagonal of D, the similarities of features, to make it positive semidefinite"))
    }
}

/// The squared correlation as HSIC of linear kernels.
fn correlation(data: &Dataset, method: &'static str, context: &Context<'_>) -> Result<Dependence, Error> {
    let outputs = fewest_columns::standardised_outputs(data.target(), method, context)?;
    let gram = Gram::from_fn(data.n_samples(), |i, j| outputs.iter().map(|y| y[i] * y[j]).sum());
    Ok(Dependence {
        kernel: InputKernel::Custom(Arc::new(|_| Arc::new(Linear))),
        output: OutputKernel::Given(gram),
        normalization: Normalization::Unit,
        ..Dependence::default()
    })
}
