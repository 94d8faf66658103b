//! The lasso with a penalty that does not shrink large coefficients.

use fewest_core::{Context, Dataset, Error, choice, options};
use fewest_solver::{BlockPenalty, Concave, ConcavePenalty, InnerProducts, L1, Mcp, Penalty, Root, Scad};

use super::Fitting;
use super::engine::{Structured, structured_selector};
use super::majorised::Majorised;
use super::structure::Structure;
use crate::columns::LinearColumns;

choice! {
    /// A penalty `p(|w|)` of each coefficient that is concave in its size.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub enum FoldedPenalty {
        /// The minimax concave penalty (Zhang 2010): the slope falls from λ to 0 at `gamma` λ.
        Mcp {
            /// Size in units of λ beyond which the penalty is constant; above 1.
            gamma: f64 = 3.0, Positive;
        } = "mcp",
        /// The smoothly clipped absolute deviation (Fan and Li 2001): slope λ up to λ, and 0 from `a` λ on.
        Scad {
            /// Size in units of λ beyond which the penalty is constant; above 2.
            a: f64 = 3.7, Positive;
        } = "scad",
        /// `λ √|w|` (Xu, Chang, Xu and Zhang 2012), infinitely steep at zero.
        Half = "l-half",
    }
}

options! {
    /// The lasso with a penalty that is not convex, so that large coefficients are shrunk less or not at all.
    ///
    /// ```text
    /// minimise over w   1/(2n) ‖y − X w‖² + Σⱼ p(|wⱼ|)
    /// mcp      p'(t) = max(0, λ − t/γ)                                            (Zhang 2010)
    /// scad     p'(t) = λ for t ≤ λ, then max(0, aλ − t) / (a − 1)             (Fan and Li 2001)
    /// l-half   p(t) = λ √t                                       (Xu, Chang, Xu and Zhang 2012)
    /// ```
    ///
    /// The answer is a stationary point, not certainly the minimum. A run starts at the lasso of the same `λ`
    /// and minimises the loss with the weighted l1 norm of levels `p'(|wⱼ|)`, again and again (Zou and Li
    /// 2008): the objective never rises. The certificate is the duality gap of that convex problem at the
    /// point itself, which vanishes exactly at a stationary point. With `l-half` zero is stationary for every
    /// coefficient: those that are zero in the lasso stay so.
    ///
    /// Data, scores, errors and the meaning of a number of features are those of the lasso.
    ///
    /// Cost: some tens of weighted lassos, each from the one before.
    ///
    /// ```
    /// use fewest_core::method::Regularization;
    /// use fewest_core::{Budget, Context, Dataset, DenseColumns, Selector, Target};
    /// use fewest_linear::{Fitting, NonconvexLasso};
    ///
    /// let wave = |step: i32| (0..60).map(|i| f64::from(i * step % 61) / 30.0 - 1.0).collect::<Vec<f64>>();
    /// let target = wave(17);
    /// let data = Dataset::new(DenseColumns::from_columns(&[wave(1), wave(17), wave(23)])?, Target::real(target)?)?;
    /// let fitting = Fitting { regularization: Regularization::Value(0.2), ..Fitting::default() };
    /// let selection = NonconvexLasso { fitting, ..NonconvexLasso::default() }
    ///     .select(&data, Budget::Auto, &Context::default())?;
    /// assert_eq!(selection.order, [1]);
    /// // Not shrunk; the lasso has 0.8.
    /// assert!((selection.scores[0] - 1.0).abs() < 1e-9);
    /// # Ok::<(), fewest_linear::Error>(())
    /// ```
    #[derive(Debug, Clone)]
    pub struct NonconvexLasso {
        /// The penalty of each coefficient.
        pub penalty: FoldedPenalty = FoldedPenalty::default();
        /// The penalty's strength and how the problem is solved.
        pub fitting: Fitting = Fitting::default();
    }
}

impl Structured for NonconvexLasso {
    const ID: &'static str = "nonconvex-lasso";

    fn fitting(&self) -> &Fitting {
        &self.fitting
    }

    fn structure(
        &self,
        _data: &Dataset,
        columns: &LinearColumns<'_>,
        _context: &Context<'_>,
    ) -> Result<Structure, Error> {
        let n = columns.n_atoms();
        Ok(match self.penalty {
            FoldedPenalty::Mcp { gamma } => folded(n, move |lambda| Mcp::new(lambda, gamma)),
            FoldedPenalty::Scad { a } => folded(n, move |lambda| Scad::new(lambda, a)),
            FoldedPenalty::Half => folded(n, Root::new),
        })
    }
}

/// The penalty of `n` coefficients, started at the lasso.
fn folded<C: Concave + 'static>(
    n: usize,
    concave: impl Fn(f64) -> Result<C, Error> + Sync + Copy + 'static,
) -> Structure {
    let lasso = move |lambda: f64| L1::new(lambda, n);
    let start = move |lambda: f64| Ok(Box::new(lasso(lambda)?) as Box<dyn BlockPenalty>);
    Structure::by_blocks(lasso).majorised(Majorised {
        starts: vec![Box::new(start)],
        value: Box::new(move |lambda, w| Ok(ConcavePenalty::new(concave(lambda)?, n).value(w))),
        majorant: Box::new(move |lambda, w, _| {
            Ok(Box::new(ConcavePenalty::new(concave(lambda)?, n).majorant(w)?) as Box<dyn BlockPenalty>)
        }),
    })
}

structured_selector!(NonconvexLasso);
