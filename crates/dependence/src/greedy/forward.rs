//! Forward selection.

use fewest_core::method::{KernelWidth, Options};
use fewest_core::{Budget, Context, Dataset, Error, Forecast, Selection, Selector, Status, options};

use super::begin;
use crate::OutputKernel;

/// Criteria closer than this, relatively, tie: the order of summation would decide.
const ROUNDING: f64 = 1e-12;

options! {
    /// Forward selection with HSIC (Section 3.2 of Yamada et al. 2014, Eq. 6; Song, Smola, Gretton, Bedo and
    /// Borgwardt 2012): at every step the feature is taken that with those before has the largest
    ///
    /// ```text
    /// tr(M̄ L̄),   M(v, v′) = exp(−‖v − v′‖² / (2 m σ²)) over the m features in the set
    /// ```
    ///
    /// `M̄` and `L̄` are centred. Features are standardised, and the number of them in the exponent keeps the
    /// width from shrinking as the set grows; categories count as their indicators, scaled alike. Unlike a
    /// sum of kernels, `M` sees features that matter only jointly. Ties go to the lower index.
    ///
    /// The score of a feature is the criterion when it was taken. With `Budget::Auto` the search ends when
    /// the criterion no longer grows.
    ///
    /// Cost: `n²/2` exponentials for each feature and step; memory the data and `n²`.
    ///
    /// # Errors
    /// Fewer than two samples, a NaN or an infinity (naming the cell), a target without a kernel,
    /// `Budget::Threshold`.
    ///
    /// ```
    /// use fewest_core::{Budget, Context, Dataset, DenseColumns, Selector, Target};
    /// use fewest_dependence::Fhsic;
    ///
    /// // Both bits 0 and 2 must be set for the one class.
    /// let bit = |of: usize| (0..64).map(|i| f64::from(u8::from(i & of > 0))).collect::<Vec<f64>>();
    /// let labels: Vec<bool> = (0..64).map(|i| i & 1 > 0 && i & 8 > 0).collect();
    /// let x = DenseColumns::from_columns(&[bit(1), bit(2), bit(8), bit(16)])?;
    /// let data = Dataset::new(x, Target::from_labels(&labels))?;
    /// let selection = Fhsic::default().select(&data, Budget::Count(2), &Context::default())?;
    /// assert_eq!(selection.order, [0, 2]);
    /// # Ok::<(), fewest_dependence::Error>(())
    /// ```
    #[derive(Debug, Clone)]
    pub struct Fhsic {
        /// Width of the kernel on standardised features, times the root of their number.
        ///
        /// Median: of the distances between samples over all features, divided by that root.
        pub sigma_x: KernelWidth = KernelWidth::Value(1.0);
        /// Kernel of the target; auto: delta for classes, Gaussian for numbers, an affinity as it is.
        pub output: OutputKernel = OutputKernel::Auto;
    }
}

impl Selector for Fhsic {
    fn select(&self, data: &Dataset, budget: Budget, context: &Context<'_>) -> Result<Selection, Error> {
        self.check()?;
        let (most, criterion, mut left) = begin(data, budget, &self.output, self.sigma_x, "fhsic", context)?;
        let varying = left.len();
        let (mut order, mut values) = (Vec::new(), Vec::new());
        let mut status = Status::Converged;
        let mut distances = criterion.no_distances();
        let largest = most.unwrap_or(varying);
        // A step takes as long as there are features to choose from. Where the criterion ends the search,
        // nobody knows how many there will be.
        let left_in_steps: usize = (0..most.unwrap_or(0).min(varying)).map(|taken| varying - taken).sum();
        let mut progress = Forecast::start("forward selection", left_in_steps as f64 / varying.max(1) as f64);
        while !left.is_empty() && most.is_none_or(|most| order.len() < most) {
            let scores = match criterion.scores(&distances, 1.0, &left, order.len() + 1, context) {
                Ok(scores) => scores,
                Err(_) if order.is_empty() => {
                    return Err(Error::Stopped { before: "the first feature was chosen" });
                }
                Err(stopped) => {
                    status = stopped;
                    break;
                }
            };
            let mut best = 0;
            for (at, &score) in scores.iter().enumerate() {
                if score > scores[best] + ROUNDING * scores[best].abs() {
                    best = at;
                }
            }
            if most.is_none() && values.last().is_some_and(|&last| scores[best] <= last) {
                break;
            }
            let chosen = left.remove(best);
            criterion.add(chosen, &mut distances);
            order.push(chosen);
            values.push(scores[best]);
            progress.report(order.len(), largest, context);
        }
        let mut selection = Selection::new(order, values, data.n_features(), status);
        selection.note_constant_features(data.n_features() - varying);
        Ok(selection)
    }
}
