//! Features by their share of the principal components of a kernel that may be indefinite.

use fewest_core::method::Options;
use fewest_core::{Context, Dataset, Error, Scorer, Scores, Status, options, order};

use crate::indefinite::BaseKernel;
use crate::indefinite::atoms::Atoms;
use fewest_kernels::Form;

/// Error allowed to factors, relative: scores must not depend on which samples come first.
const FACTOR_TOLERANCE: f64 = 1e-9;

options! {
    /// Principal components with an indefinite kernel (IKPCA: Huang, Maier, Hornegger and Suykens 2017), read
    /// as a score of features.
    ///
    /// The method itself extracts, it does not select: components are the eigenvectors `v` of the centred
    /// kernel matrix `HKH v = λ v`, by the size of `λ`, since a sample's coordinates `HKH v = λ v` vary by
    /// `λ²` whatever its sign. Xue, Song and Xu (2017) use the components themselves, and count them as
    /// selected features. Here the kernel is a sum of one for each feature, `K = Σ Kₘ`, so that every
    /// eigenvalue is a sum over the features, `λ = Σ vᵀHKₘHv`, and a feature has its share of the largest
    /// `C`:
    ///
    /// ```text
    /// score(m) = Σ over c ≤ C of sign(λ_c) v_cᵀ H Kₘ H v_c,        Σₘ score(m) = Σ over c ≤ C of |λ_c|
    /// ```
    ///
    /// That is the covariance of the feature's part of each component with the component, in units of its
    /// deviation. It may be negative. No target is looked at. Features are standardised; categories have the
    /// delta kernel, 1 for two samples of one level. A constant scores 0 or the least of all.
    ///
    /// Cost: `n² r` for each feature's factor of rank `r` and the matrix, `n³` for its eigenvectors, `C n r`
    /// for each score. Memory: `8 n r` bytes a feature and `n²` numbers.
    ///
    /// # Errors
    /// A NaN or an infinity, naming the cell; a kernel's parameter out of range, no components;
    /// [`Error::Numerical`] where a kernel overflows; [`Error::Stopped`].
    ///
    /// ```
    /// use fewest_core::{Context, Dataset, DenseColumns, Scorer, Target};
    /// use fewest_mkl::Ikpca;
    ///
    /// // Two features that say nearly the same are the first component, not the third.
    /// let wave = |step: i32| (0..60).map(|i| f64::from(i * step % 61) / 30.0 - 1.0).collect::<Vec<f64>>();
    /// let (a, noise) = (wave(7), wave(23));
    /// let near: Vec<f64> = a.iter().zip(&noise).map(|(a, b)| a + 0.1 * b).collect();
    /// let data = Dataset::new(DenseColumns::from_columns(&[noise, a, near])?, Target::None)?;
    /// let scores = Ikpca { components: 1, ..Ikpca::default() }.score(&data, &Context::default())?;
    /// assert!(scores.values[1] > 5.0 * scores.values[0] && scores.values[2] > 5.0 * scores.values[0]);
    /// # Ok::<(), fewest_core::Error>(())
    /// ```
    #[derive(Debug, Clone)]
    pub struct Ikpca {
        /// How many components.
        ///
        /// All where there are fewer.
        pub components: usize = 10, Count(1);
        /// Kernel of standardised features.
        pub kernel: BaseKernel = BaseKernel::default();
    }
}

impl Scorer for Ikpca {
    fn score(&self, data: &Dataset, context: &Context<'_>) -> Result<Scores, Error> {
        self.check()?;
        data.refuse_sample_weights("ikpca")?;
        let kernels = [self.kernel.clone()];
        let atoms = Atoms::new(data, &kernels, FACTOR_TOLERANCE, Form::LowRank, context)?;
        let rows: Vec<usize> = (0..data.n_samples()).collect();
        let (vectors, values) = atoms.combine(&vec![1.0; atoms.len()], &rows, context)?.spectrum(context)?;
        let sizes: Vec<f64> = values.iter().map(|value| value.abs()).collect();
        let mut order = order::descending(&sizes);
        order.truncate(self.components);
        let share = |m: usize| -> Result<Option<f64>, Error> {
            if context.stopped().is_some() {
                return Ok(None);
            }
            let mut image = vec![0.0; rows.len()];
            let mut share = 0.0;
            for &c in &order {
                let vector = vectors.column(c);
                atoms.apply(m, vector.as_slice(), &mut image)?;
                let product: f64 = vector.iter().zip(&image).map(|(v, k)| v * k).sum();
                share += values[c].signum() * product;
            }
            Ok(Some(share))
        };
        let shares = fewest_parallel::try_map(atoms.len(), share)?;
        let known = || shares.iter().copied().flatten();
        let mut status = Status::Converged;
        if known().count() < shares.len() {
            if known().next().is_none() {
                return Err(Error::Stopped { before: "a feature had a score" });
            }
            status = context.stopped().unwrap_or(Status::TimeLimit);
        }
        let mut scores = vec![known().fold(0.0, f64::min); data.n_features()];
        for (&(feature, _), share) in atoms.owners().iter().zip(&shares) {
            scores[feature] = share.unwrap_or(f64::NAN);
        }
        Ok(Scores::descending(scores).with_status(status))
    }
}
