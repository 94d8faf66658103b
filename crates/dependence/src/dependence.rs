//! Dependence of features on the target: how it is measured, and as a score.

use fewest_core::{Context, Dataset, Error, Scorer, Scores};
use fewest_solver::{InnerProducts, Normalised};

use crate::atoms::{self, Measure};
use fewest_kernels::Form;

use crate::{Estimator, InputKernel, OutputKernel};

/// Whether Gram matrices are divided by their Frobenius norm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Normalization {
    /// As they are (Eq. 3).
    #[default]
    None,
    /// All of norm 1, the target's too, as pyHSICLasso does.
    Unit,
}

/// How dependence between features and target is measured.
#[derive(Debug, Clone)]
pub struct Dependence {
    /// The kernel of each feature. Default: Gaussian of width 1 on standardised features.
    pub input: InputKernel,
    /// The kernel of the target. Default: by the target.
    pub output: OutputKernel,
    /// Whether Gram matrices are divided by their Frobenius norm. Default: no.
    pub normalization: Normalization,
    /// Which pairs of samples enter. Default: all.
    pub estimator: Estimator,
    /// How Gram matrices are held. Default: whichever costs less.
    pub form: Form,
    /// Error allowed to low-rank factors, relative to the Frobenius norm of the centred Gram matrix. Default 1e-6;
    /// range `(0, 1)`.
    pub factor_tolerance: f64,
    /// Bytes that Gram matrices or factors may take while they wait for their next use. Default 512 MiB.
    pub cache_bytes: usize,
}

impl Default for Dependence {
    fn default() -> Self {
        Self {
            input: InputKernel::default(),
            output: OutputKernel::default(),
            normalization: Normalization::default(),
            estimator: Estimator::default(),
            form: Form::default(),
            factor_tolerance: 1e-6,
            cache_bytes: 512 << 20,
        }
    }
}

impl Dependence {
    pub(crate) fn check(&self) -> Result<(), Error> {
        let tolerance = self.factor_tolerance;
        if tolerance > 0.0 && tolerance < 1.0 {
            Ok(())
        } else {
            Err(Error::parameter("factor_tolerance", tolerance, "above 0 and below 1"))
        }
    }

    fn scores(&self, data: &Dataset, measure: Measure, context: &Context<'_>) -> Result<Scores, Error> {
        let atoms = atoms::build(data, measure, self, context)?;
        Ok(Scores::descending(match self.normalization {
            Normalization::None => atoms.target_products().to_vec(),
            Normalization::Unit => Normalised::new(atoms).target_products().to_vec(),
        }))
    }
}

/// Hilbert–Schmidt independence criterion of each feature with the target: `HSIC(uₖ, y) = tr(K̄⁽ᵏ⁾ L̄)`, the
/// relevance term of Eq. (4); no factor of n. With [`Normalization::Unit`] it is the centred kernel
/// alignment, in `[0, 1]`.
///
/// Zero for a constant feature. Cost: `O(n r²)` a feature for many samples, `O(n²)` for few.
///
/// ```
/// use fewest_core::{Context, Dataset, DenseColumns, Scorer, Target};
/// use fewest_dependence::Hsic;
///
/// // The square of the first feature is the target: no correlation, but dependence.
/// let first: Vec<f64> = (0..40).map(|i| f64::from(i) / 20.0 - 0.975).collect();
/// let second: Vec<f64> = (0..40).map(|i| f64::from(i * 17 % 40)).collect();
/// let target = Target::real(first.iter().map(|x| x * x).collect())?;
/// let data = Dataset::new(DenseColumns::from_columns(&[first, second])?, target)?;
/// let scores = Hsic::default().score(&data, &Context::default())?;
/// assert!(scores.values[0] > 5.0 * scores.values[1]);
/// # Ok::<(), fewest_dependence::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Hsic {
    /// How dependence is measured.
    pub dependence: Dependence,
}

impl Scorer for Hsic {
    fn score(&self, data: &Dataset, context: &Context<'_>) -> Result<Scores, Error> {
        self.dependence.scores(data, Measure::Hsic, context)
    }
}

/// Dependence by the normalised cross-covariance operator, `tr(K̃⁽ᵏ⁾ L̃)` with `K̃ = K̄ (K̄ + ε n I)⁻¹` (Section 2.5;
/// Fukumizu et al. 2008): less sensitive to the kernel's width than [`Hsic`].
#[derive(Debug, Clone)]
pub struct Nocco {
    /// The ridge `ε`, above 0. Default 1e-3, as in the paper.
    pub epsilon: f64,
    /// How dependence is measured.
    pub dependence: Dependence,
}

impl Default for Nocco {
    fn default() -> Self {
        Self { epsilon: 1e-3, dependence: Dependence::default() }
    }
}

impl Scorer for Nocco {
    fn score(&self, data: &Dataset, context: &Context<'_>) -> Result<Scores, Error> {
        self.dependence.scores(data, Measure::Nocco { epsilon: self.epsilon }, context)
    }
}
