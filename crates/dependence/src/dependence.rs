//! Dependence of features on the target: how it is measured, and as a score.

use fewest_core::method::Options;
use fewest_core::{
    Context, Dataset, Error, SampleStream, Scorer, Scores, Status, StreamScorer, options, words,
};
use fewest_kernels::Form;
use fewest_solver::{InnerProducts, Scaled};

use crate::atoms::{self, Measure};
use crate::{HsicEstimator, InputKernel, OutputKernel, in_passes};

words! {
    /// Whether Gram matrices are divided by their Frobenius norm.
    #[derive(Default)]
    pub enum Normalization {
        /// As they are (Eq. 3).
        #[default]
        None = "none",
        /// All of norm 1, the target's too, as pyHSICLasso does.
        Unit = "unit",
    }
}

options! {
    /// How dependence between features and target is measured.
    #[derive(Debug, Clone)]
    pub struct Dependence {
        /// Kernel of numeric features; table is the Gaussian from the paper's 4096 values.
        pub kernel: InputKernel = InputKernel::default();
        /// Kernel of the target; auto: delta for classes, Gaussian for numbers, an affinity as it is.
        pub output: OutputKernel = OutputKernel::Auto;
        /// Unit: divide every Gram matrix by its Frobenius norm.
        pub normalization: Normalization = Normalization::None;
        /// All pairs of samples, or pairs within blocks only.
        pub estimator: HsicEstimator = HsicEstimator::Full;
        /// How Gram matrices are held; auto: whichever costs less.
        pub form: Form = Form::Auto;
        /// Error allowed to low-rank factors, relative to the Frobenius norm.
        ///
        /// That of the centred Gram matrix.
        pub factor_tolerance: f64 = 1e-6, ProperFraction;
        /// Bytes that Gram matrices or factors may take while they wait for their next use.
        pub cache_bytes: usize = 512 << 20, hidden;
    }
}

impl Dependence {
    pub(crate) fn scores(
        &self,
        data: &Dataset,
        measure: Measure,
        context: &Context<'_>,
    ) -> Result<Scores, Error> {
        let untold = match in_passes::scores_of_table(data, measure, self, context) {
            Ok(scores) => return Ok(scores),
            Err(untold) => untold,
        };
        let atoms = atoms::build_first(data, measure, self, measure.score(), context)?;
        let is_stopped = atoms.n_atoms() < data.n_features();
        let mut scores = match self.normalization {
            Normalization::None => atoms.target_products().to_vec(),
            Normalization::Unit => Scaled::to_norm_one(atoms).target_products().to_vec(),
        };
        scores.resize(data.n_features(), f64::NAN);
        let status =
            if is_stopped { context.stopped().unwrap_or(Status::TimeLimit) } else { Status::Converged };
        let mut scores = Scores::descending(scores).with_status(status);
        untold.tell(&mut scores.notes);
        Ok(scores)
    }
}

options! {
    /// Hilbert–Schmidt independence criterion of each feature with the target: `HSIC(uₖ, y) = tr(K̄⁽ᵏ⁾ L̄)`,
    /// the relevance term of Eq. (4); no factor of n. With [`Normalization::Unit`] it is the centred kernel
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
    #[derive(Debug, Clone)]
    pub struct Hsic {
        /// How dependence is measured.
        pub dependence: Dependence = Dependence::default();
    }
}

impl Scorer for Hsic {
    fn score(&self, data: &Dataset, context: &Context<'_>) -> Result<Scores, Error> {
        self.check()?;
        self.dependence.scores(data, Measure::Hsic, context)
    }

    fn in_passes(&self) -> Option<&dyn StreamScorer> {
        Some(self)
    }
}

/// For classes or one real output, with Gaussian kernels of a given width. The scores are those of the table,
/// bit for bit; see the module `in_passes`.
impl StreamScorer for Hsic {
    fn score_part(&self, stream: &mut dyn SampleStream, context: &Context<'_>) -> Result<Scores, Error> {
        self.check()?;
        in_passes::scores(stream, Measure::Hsic, &self.dependence, context)
    }

    fn settle(&self, scores: &mut Scores) {
        in_passes::settle(scores);
    }

    fn reads_parts(&self) -> bool {
        true
    }

    fn times_in_memory(&self) -> u64 {
        in_passes::TIMES_IN_MEMORY
    }
}

options! {
    /// Dependence by the normalised cross-covariance operator, `tr(K̃⁽ᵏ⁾ L̃)` with `K̃ = K̄ (K̄ + ε n I)⁻¹`
    /// (Section 2.5; Fukumizu et al. 2008): less sensitive to the kernel's width than [`Hsic`].
    #[derive(Debug, Clone)]
    pub struct Nocco {
        /// Ridge ε that keeps the inverse stable; smaller weighs fine structure more.
        ///
        /// The default is the paper's.
        pub epsilon: f64 = 1e-3, Positive;
        /// How dependence is measured.
        pub dependence: Dependence = Dependence::default();
    }
}

impl Scorer for Nocco {
    fn score(&self, data: &Dataset, context: &Context<'_>) -> Result<Scores, Error> {
        self.check()?;
        self.dependence.scores(data, Measure::Nocco { epsilon: self.epsilon }, context)
    }

    fn in_passes(&self) -> Option<&dyn StreamScorer> {
        Some(self)
    }
}

/// For classes or one real output, with Gaussian kernels of a given width. The scores are those of the table,
/// bit for bit; see the module `in_passes`.
impl StreamScorer for Nocco {
    fn score_part(&self, stream: &mut dyn SampleStream, context: &Context<'_>) -> Result<Scores, Error> {
        self.check()?;
        in_passes::scores(stream, Measure::Nocco { epsilon: self.epsilon }, &self.dependence, context)
    }

    fn settle(&self, scores: &mut Scores) {
        in_passes::settle(scores);
    }

    fn reads_parts(&self) -> bool {
        true
    }

    fn times_in_memory(&self) -> u64 {
        in_passes::TIMES_IN_MEMORY
    }
}
