//! HSIC Lasso and NOCCO Lasso.

mod approximation;
mod options;
mod report;
mod solve;

use fewest_core::method::Options;
use fewest_core::{
    Budget, Context, Dataset, Error, PassSelector, SampleStream, Selection, Selector, options,
};
use fewest_solver::InnerProducts;

use crate::atoms::Measure;
use crate::{Dependence, Normalization, in_passes};

pub use options::{LassoOptions, LassoPenalty};
pub(crate) use solve::select_many;

/// The selection from the atoms of the features of `data`, of which nothing but names and groups is looked
/// at.
pub(crate) fn select_of_atoms(
    data: &Dataset,
    atoms: &dyn InnerProducts,
    normalization: Normalization,
    options: &LassoOptions,
    budget: Budget,
    context: &Context<'_>,
) -> Result<Selection, Error> {
    budget.check(data.n_features())?;
    options.check_features(data.n_features())?;
    Selection::only(solve::of_atoms(data, atoms, normalization, options, &[budget], context)?)
}

options! {
    /// HSIC Lasso (Eq. 3): few features that jointly explain the target's similarities, linear or not.
    ///
    /// ```text
    /// minimise over α ≥ 0   ½ ‖L̄ − Σₖ αₖ K̄⁽ᵏ⁾‖²_F + λ Σₖ αₖ
    /// ```
    ///
    /// With `Budget::Count(k)` the answer is the point of the path, from the largest λ down, just before more
    /// than `k` features would be active for the first time; features are ranked by `α`. The path is exact
    /// ([`fewest_lars`]). A fixed λ, the paper's rule, other penalties and solvers are in [`LassoOptions`].
    ///
    /// Cost: one pass of `O(n r²)` a feature (rank r, about 10 to 15), another of `O(n r² k)` for the
    /// features whose dependence on the target does not already rule them out. Memory `O(n r)` times the
    /// features worked on, never `n²` times the features.
    ///
    /// # Errors
    /// No sample or feature, a NaN or an infinity (naming the cell), fewer than 2 classes, a target that does
    /// not vary, parameters out of range.
    ///
    /// ```
    /// use fewest_core::{Budget, Context, Dataset, DenseColumns, Selector, Target};
    /// use fewest_dependence::HsicLasso;
    ///
    /// // Feature 0 matters through its square, feature 1 repeats it, feature 2 matters linearly, 3 is noise.
    /// let wave = |step: i32| (0..60).map(|i| f64::from(i * step % 61) / 30.0 - 1.0).collect::<Vec<f64>>();
    /// let (a, b, c) = (wave(1), wave(17), wave(23));
    /// let target = a.iter().zip(&b).map(|(a, b)| 3.0 * a * a + b).collect();
    /// let x = DenseColumns::from_columns(&[a.clone(), a, b, c])?;
    /// let data = Dataset::new(x, Target::real(target)?)?;
    /// let selection = HsicLasso::default().select(&data, Budget::Count(2), &Context::default())?;
    /// let mut chosen = selection.order.clone();
    /// chosen.sort();
    /// assert_eq!(chosen, [0, 2]);
    /// # Ok::<(), fewest_dependence::Error>(())
    /// ```
    #[derive(Debug, Clone)]
    pub struct HsicLasso {
        /// How the lasso is solved.
        pub lasso: LassoOptions = LassoOptions::default();
        /// How dependence is measured.
        pub dependence: Dependence = Dependence::default();
    }
}

impl Selector for HsicLasso {
    fn select(&self, data: &Dataset, budget: Budget, context: &Context<'_>) -> Result<Selection, Error> {
        Selection::only(self.select_many(data, &[budget], context)?)
    }

    /// Atoms and their products are computed once for all budgets.
    fn select_many(
        &self,
        data: &Dataset,
        budgets: &[Budget],
        context: &Context<'_>,
    ) -> Result<Vec<Selection>, Error> {
        self.check()?;
        solve::select_many(data, Measure::Hsic, &self.dependence, &self.lasso, budgets, context)
    }

    fn in_passes(&self) -> Option<&dyn PassSelector> {
        Some(self)
    }
}

/// For classes or one real output, with Gaussian kernels of a given width. The answer is that of the table,
/// bit for bit; see the module `in_passes`.
impl PassSelector for HsicLasso {
    fn select_stream(
        &self,
        stream: &mut dyn SampleStream,
        budget: Budget,
        context: &Context<'_>,
    ) -> Result<Selection, Error> {
        self.check()?;
        in_passes::select(stream, Measure::Hsic, &self.dependence, &self.lasso, budget, context)
    }

    fn times_in_memory(&self) -> u64 {
        in_passes::TIMES_IN_MEMORY
    }
}

options! {
    /// NOCCO Lasso (Section 2.5): [`HsicLasso`] with `K̃ = K̄ (K̄ + ε n I)⁻¹` in place of `K̄`, and `L̃` of
    /// `L̄`.
    #[derive(Debug, Clone)]
    pub struct NoccoLasso {
        /// How the lasso is solved.
        pub lasso: LassoOptions = LassoOptions::default();
        /// Ridge ε that keeps the inverse stable; smaller weighs fine structure more.
        ///
        /// The default is the paper's.
        pub epsilon: f64 = 1e-3, Positive;
        /// How dependence is measured.
        pub dependence: Dependence = Dependence::default();
    }
}

impl Selector for NoccoLasso {
    fn select(&self, data: &Dataset, budget: Budget, context: &Context<'_>) -> Result<Selection, Error> {
        Selection::only(self.select_many(data, &[budget], context)?)
    }

    /// Atoms and their products are computed once for all budgets.
    fn select_many(
        &self,
        data: &Dataset,
        budgets: &[Budget],
        context: &Context<'_>,
    ) -> Result<Vec<Selection>, Error> {
        self.check()?;
        let measure = Measure::Nocco { epsilon: self.epsilon };
        solve::select_many(data, measure, &self.dependence, &self.lasso, budgets, context)
    }

    fn in_passes(&self) -> Option<&dyn PassSelector> {
        Some(self)
    }
}

/// For classes or one real output, with Gaussian kernels of a given width. The answer is that of the table,
/// bit for bit; see the module `in_passes`.
impl PassSelector for NoccoLasso {
    fn select_stream(
        &self,
        stream: &mut dyn SampleStream,
        budget: Budget,
        context: &Context<'_>,
    ) -> Result<Selection, Error> {
        self.check()?;
        in_passes::select(
            stream,
            Measure::Nocco { epsilon: self.epsilon },
            &self.dependence,
            &self.lasso,
            budget,
            context,
        )
    }

    fn times_in_memory(&self) -> u64 {
        in_passes::TIMES_IN_MEMORY
    }
}
