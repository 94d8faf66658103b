//! The two methods of the paper.

use fewest_core::method::Options;
use fewest_core::{Budget, Context, Dataset, Error, Selection, Selector, Target, options, order};

use super::machines::Machines;
use super::{NonMonotonic, NonMonotonicSolution};
use crate::limits::check_memory;
use fewest_columns::standardise;

options! {
    /// Non-monotonic feature selection by multiple kernel learning, for classes (Algorithm 1).
    ///
    /// The relaxation of the search for the `m` features with the smallest `ω(p)`, the optimum of the support
    /// vector machine's dual (Eq. 3),
    ///
    /// ```text
    /// minimise over 0 ≤ p ≤ 1, Σ p = m   max { 2 αᵀ1 − τ αᵀα − Σᵢ pᵢ τᵢ(α) : 0 ≤ α ≤ C, αᵀy = 0 }
    ///
    /// τᵢ(α) = (Σⱼ xᵢⱼ αⱼ yⱼ)²
    /// ```
    ///
    /// is solved to a duality gap (Eq. 8): the primal value is the optimum for a given `p`, the dual one
    /// `2 αᵀ1 − τ αᵀα` less the `m` largest `τᵢ`. Selected are the features with `τᵢ > λ` and then those of
    /// the many that tie at `λ`, by their weights `p`, then by index; of copies of one feature, of which only
    /// the sum of weights is determined, the first has as much of it as it may. That order is not the
    /// paper's, which ranks ties by the last digits of `τ`. A larger `m` need not select the same features
    /// again.
    ///
    /// For more than two classes there is a machine for each class against all others, and the weights `p`
    /// are shared: `ω` is the sum over the machines, which leaves the problem convex in `p`.
    ///
    /// Scores are `τᵢ`. [`Selection::objective`] is `ω` of the selected features, the solver's objective that
    /// of the relaxation, below every `ω`; the notes give the sizes of `𝒜`, `ℬ`, `𝒞` and the bound of Theorem
    /// 4, and [`Nmmkl::solve`] everything.
    ///
    /// Cost: an interior-point method on a few times `m` features at a time, `O(n q min(n, q))` a Newton step
    /// for `q` of them, and a pass over all features for each of three to six such sets. Memory: those
    /// columns.
    ///
    /// # Errors
    /// Unless there are two classes; for a cost of 0 or below, a negative `τ`; for a budget that is no number
    /// (with costs: that is one).
    ///
    /// ```
    /// use fewest_core::{Budget, Context, Dataset, DenseColumns, Selector, Target};
    /// use fewest_mkl::Nmmkl;
    ///
    /// // The sum of the first two features decides; the third resembles it, but is not as good as both.
    /// let wave = |step: i32| (0..60).map(|i| f64::from(i * step % 61) / 30.0 - 1.0).collect::<Vec<f64>>();
    /// let (a, b, noise) = (wave(7), wave(16), wave(27));
    /// let sum: Vec<f64> = a.iter().zip(&b).map(|(a, b)| a + b).collect();
    /// let near: Vec<f64> = sum.iter().zip(&noise).map(|(sum, noise)| sum + 0.4 * noise).collect();
    /// let labels: Vec<bool> = sum.iter().map(|sum| *sum > 0.0).collect();
    /// let data = Dataset::new(DenseColumns::from_columns(&[a, b, near])?, Target::from_labels(&labels))?;
    /// let select = |m| Nmmkl::default().select(&data, Budget::Count(m), &Context::default());
    /// assert_eq!(select(1)?.order, [2]);
    /// let mut two = select(2)?.order;
    /// two.sort_unstable();
    /// assert_eq!(two, [0, 1]);
    /// # Ok::<(), fewest_mkl::Error>(())
    /// ```
    #[derive(Debug, Clone)]
    pub struct Nmmkl {
        /// C, cost of errors.
        ///
        /// Weights of samples multiply it.
        pub c: f64 = 1.0, Positive;
        /// Ridge τ added to the kernel.
        pub tau: f64 = 0.1, NonNegative;
        /// What is shared with [`Nmmklr`].
        pub options: NonMonotonic = NonMonotonic::default();
    }
}

options! {
    /// Non-monotonic feature selection by multiple kernel learning, for real targets (Algorithm 2): as
    /// [`Nmmkl`], with the dual of support vector regression (Eq. 19, 20; with `[xxᵀ, −xxᵀ; −xxᵀ, xxᵀ]` for
    /// the printed `Qᵢ`),
    ///
    /// ```text
    /// ω(p) = max { 2 Σⱼ yⱼ βⱼ − 2 ε Σⱼ |βⱼ| − τ βᵀβ − Σᵢ pᵢ (xᵢᵀβ)² : −C ≤ β ≤ C, Σ β = 0 },     β = α − α*
    /// ```
    ///
    /// Several outputs share the weights: `ω` is their sum.
    ///
    /// # Errors
    /// As [`Nmmkl`], for a target that is not real or does not vary, and a negative `ε`.
    ///
    /// ```
    /// use fewest_core::{Budget, Context, Dataset, DenseColumns, Selector, Target};
    /// use fewest_mkl::Nmmklr;
    ///
    /// let wave = |step: i32| (0..60).map(|i| f64::from(i * step % 61) / 30.0 - 1.0).collect::<Vec<f64>>();
    /// let (a, b, c) = (wave(7), wave(16), wave(23));
    /// let target = a.iter().zip(&c).map(|(a, c)| 2.0 * a - c).collect();
    /// let data = Dataset::new(DenseColumns::from_columns(&[a, b, c])?, Target::real(target)?)?;
    /// let selection = Nmmklr::default().select(&data, Budget::Count(2), &Context::default())?;
    /// assert_eq!(selection.order, [0, 2]);
    /// # Ok::<(), fewest_mkl::Error>(())
    /// ```
    #[derive(Debug, Clone)]
    pub struct Nmmklr {
        /// C, cost of errors.
        ///
        /// Weights of samples multiply it.
        pub c: f64 = 1.0, Positive;
        /// Error ε that costs nothing: half the width of the tube.
        pub epsilon: f64 = 0.1, NonNegative;
        /// Ridge τ added to the kernel.
        pub tau: f64 = 0.0, NonNegative;
        /// Outputs to mean 0 and standard deviation 1 first.
        pub standardise_target: bool = true;
        /// What is shared with [`Nmmkl`].
        pub options: NonMonotonic = NonMonotonic::default();
    }
}

/// Numbers that a solution takes for each machine and sample.
const VECTORS: usize = 40;

/// The cost of each sample.
fn costs(data: &Dataset, c: f64) -> Vec<f64> {
    match data.sample_weights() {
        None => vec![c; data.n_samples()],
        Some(weights) => weights.iter().map(|weight| weight * c).collect(),
    }
}

impl Nmmkl {
    /// Solves the relaxation and makes a set of it.
    ///
    /// # Errors
    /// As [`Nmmkl`].
    pub fn solve(
        &self,
        data: &Dataset,
        budget: Budget,
        context: &Context<'_>,
    ) -> Result<NonMonotonicSolution, Error> {
        self.check()?;
        let classes = data.classes("nmmkl")?;
        let costs = costs(data, self.c);
        let present: Vec<u32> = classes
            .codes()
            .iter()
            .zip(&costs)
            .filter(|(_, cost)| **cost > 0.0)
            .map(|(&code, _)| code)
            .collect();
        let mut present = order::distinct_codes(present);
        match present.len() {
            0 | 1 => {
                let found = present.len();
                return Err(Error::TooFew { what: "classes", minimum: 2, found });
            }
            // The later class is +1.
            2 => drop(present.remove(0)),
            _ => {}
        }
        let instead = format!(
            "{} classes are each told from all others, in {} samples: is the target a column of names?",
            present.len(),
            data.n_samples()
        );
        check_memory("nmmkl", &[VECTORS, present.len(), data.n_samples()], &instead)?;
        let positive: Vec<Vec<bool>> = present
            .iter()
            .map(|&class| classes.codes().iter().map(|&code| code == class).collect())
            .collect();
        let machines = Machines::classification(&positive, &costs, self.tau);
        self.options.solve(data, &machines, budget, context)
    }
}

impl Nmmklr {
    /// Solves the relaxation and makes a set of it.
    ///
    /// # Errors
    /// As [`Nmmklr`].
    pub fn solve(
        &self,
        data: &Dataset,
        budget: Budget,
        context: &Context<'_>,
    ) -> Result<NonMonotonicSolution, Error> {
        self.check()?;
        let unsupported =
            |found| Error::UnsupportedTarget { method: "nmmklr", expected: "real outputs that vary", found };
        let Target::Real(real) = data.target() else {
            return Err(unsupported(data.target().describe()));
        };
        let costs = costs(data, self.c);
        let mut outputs: Vec<Vec<f64>> = (0..real.n_outputs()).map(|o| real.output(o).to_vec()).collect();
        outputs.retain_mut(|output| {
            if self.standardise_target {
                standardise(output)
            } else {
                output.iter().any(|value| *value != output[0])
            }
        });
        if outputs.is_empty() || costs.iter().all(|cost| *cost == 0.0) {
            return Err(unsupported("the same in every sample".to_owned()));
        }
        let machines = Machines::regression(&outputs, &costs, self.epsilon, self.tau);
        self.options.solve(data, &machines, budget, context)
    }
}

impl Selector for Nmmkl {
    fn select(&self, data: &Dataset, budget: Budget, context: &Context<'_>) -> Result<Selection, Error> {
        Ok(self.solve(data, budget, context)?.into_selection(budget))
    }
}

impl Selector for Nmmklr {
    fn select(&self, data: &Dataset, budget: Budget, context: &Context<'_>) -> Result<Selection, Error> {
        Ok(self.solve(data, budget, context)?.into_selection(budget))
    }
}
