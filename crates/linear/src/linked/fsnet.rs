//! Selection with links between samples.

use fewest_core::method::{Options, Regularization};
use fewest_core::{Budget, Context, Dataset, Error, Selection, Selector, options};

use super::Relation;
use crate::rows::LeastSquares;

/// What is said where nothing is known of the samples.
const NOTE: &str =
    "no links between samples are known (--links): only the ridge makes the answer another than that of l21";

options! {
    /// Feature selection on a network (Gu and Han 2011; Section 4.1.1 of Li et al. 2016, Eq. 98): samples
    /// that are linked get similar predictions.
    ///
    /// ```text
    /// minimise over W   1/(2n) [ ‖Y − X W‖²_F + ridge ‖W‖²_F + graph Σ_links aᵢⱼ ‖xᵢ W − xⱼ W‖² ] + λ Σⱼ ‖Wⱼ‖₂
    ///
    /// score(k) = ‖W_k‖₂
    /// ```
    ///
    /// Every link counts once: the sum is `tr(Wᵀ Xᵀ L X W)` with `L = D − A`. As printed, without the factor
    /// `1/(2n)`, the penalty is `2n λ`. Without links and ridge it is [`L21`](crate::L21). Data and scores
    /// are as there. With [surroundings](fewest_core::Dataset::surroundings) the links are those of all
    /// samples, features are standardised over all, and errors are those of the samples with a target.
    ///
    /// Cost: as of [`L21`](crate::L21) with a further sample for every link.
    ///
    /// # Errors
    /// As of [`L21`](crate::L21); more than `2²²` links, times the number of outputs.
    ///
    /// ```
    /// use fewest_core::method::Regularization;
    /// use fewest_core::{Budget, Context, Dataset, DenseColumns, Graph, Selector, Target};
    /// use fewest_linear::FsNet;
    ///
    /// let wave = |step: i32| (0..60).map(|i| f64::from(i * step % 61) / 30.0 - 1.0).collect::<Vec<f64>>();
    /// let (a, b) = (wave(1), wave(17));
    /// // Feature 2 is the same for linked samples, and as good as feature 0 otherwise.
    /// let of_six = (0..60).map(|i| a[6 * (i / 6) + 3]).collect();
    /// let classes: Vec<u8> = a.iter().map(|a| u8::from(*a > 0.0)).collect();
    /// let links: Vec<_> = (0..59).filter(|i| i % 6 < 5).map(|i| (i, i + 1, 100.0)).collect();
    /// let data = Dataset::new(DenseColumns::from_columns(&[a, b, of_six])?, Target::from_labels(&classes))?
    ///     .with_sample_graph(Graph::undirected(60, &links)?)?;
    /// let fsnet = FsNet { regularization: Regularization::Ratio(0.1), ..FsNet::default() };
    /// assert_eq!(fsnet.select(&data, Budget::Auto, &Context::default())?.order[0], 2);
    /// # Ok::<(), fewest_linear::Error>(())
    /// ```
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct FsNet {
        /// How strong the penalty is.
        pub regularization: Regularization = Regularization::Count, offers(Value, Ratio);
        /// Weight of the links between samples.
        pub graph: f64 = 0.1, NonNegative;
        /// Weight of the squared coefficients.
        pub ridge: f64 = 1.0, NonNegative;
        /// Duality gap to reach, relative to the objective at zero.
        pub tolerance: f64 = 1e-9, Positive;
    }
}

impl Selector for FsNet {
    fn select(&self, data: &Dataset, budget: Budget, context: &Context<'_>) -> Result<Selection, Error> {
        Selection::only(self.select_many(data, &[budget], context)?)
    }

    /// Columns are standardised once for all budgets.
    fn select_many(
        &self,
        data: &Dataset,
        budgets: &[Budget],
        context: &Context<'_>,
    ) -> Result<Vec<Selection>, Error> {
        self.check()?;
        let around = data.surroundings();
        let links = around.map_or(data, |(all, _)| all).sample_graph();
        let relations: Vec<Relation> =
            links.into_iter().map(|links| Relation::links(self.graph, links)).collect();
        let Self { regularization, ridge, tolerance, .. } = *self;
        let mut selections =
            LeastSquares { method: "fsnet", relations: &relations, around, ridge, regularization, tolerance }
                .select_many(data, budgets, context)?;
        if links.is_none_or(|links| links.n_links() == 0) {
            selections.iter_mut().for_each(|selection| selection.notes.push(NOTE.to_owned()));
        }
        Ok(selections)
    }
}
