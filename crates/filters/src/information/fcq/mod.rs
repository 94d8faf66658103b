//! Minimum redundancy maximum relevance with linear measures: the F statistic and correlations.

mod feature;
mod in_passes;

use fewest_columns::table_product;
use fewest_core::{
    Budget, Column, Context, Dataset, Error, FeatureKind, PassSelector, Selection, Selector, options,
};

use super::criterion::MrmrForm;
use super::forward::{self, NO_OTHERS, add_notes, few_microseconds, forward};
use feature::Feature;

/// The F statistic of a feature that leaves nothing unexplained: infinity would say nothing about redundancy.
const PERFECT: f64 = 1e30;

/// A correlation below this counts as this, so that a quotient has a divisor.
const LEAST_CORRELATION: f64 = 1e-3;

options! {
    /// F statistic and correlation quotient (Ding & Peng 2005): mRMR for large tables, without bins.
    ///
    /// ```text
    /// quotient:    F(k;Y) / (1/|S| Σ_j |r(k,j)|)        difference:    F(k;Y) - 1/|S| Σ_j |r(k,j)|
    /// ```
    ///
    /// `F` is that of a one-way analysis of variance for classes, `(n - 2) r²/(1 - r²)` for a real target, at
    /// most 1e30; `r` is Pearson's correlation, where `|r|` below 0.001 counts as 0.001. The first feature is
    /// that of the largest F. Scores are the criterion at the moment of the pick. `Budget::Auto` stops when
    /// no candidate is above 0.
    ///
    /// Categories enter by their codes: for two levels that is right, for more a note says so. Sparse columns
    /// stay sparse. Cost: `O(n)` a candidate and step at most; a candidate whose correlations so far rule it
    /// out costs nothing. Memory is that of the selected columns.
    ///
    /// # Errors
    /// For a target that is neither classes nor one real output, or has one value only; for no more samples
    /// than classes.
    ///
    /// ```
    /// use fewest_core::{Budget, Context, Dataset, DenseColumns, Selector, Target, options};
    /// use fewest_filters::information::Fcq;
    ///
    /// let wave = |step: usize| (0..40).map(|i| (i * step % 41) as f64).collect::<Vec<_>>();
    /// let sum: Vec<f64> = wave(1).iter().zip(wave(9)).map(|(a, b)| 2.0 * a + b).collect();
    /// let twice: Vec<f64> = wave(1).iter().zip(wave(17)).map(|(a, b)| a + 0.2 * b).collect();
    /// let data = Dataset::new(DenseColumns::from_columns(&[wave(1), twice, wave(9)])?, Target::real(sum)?)?;
    /// let selection = Fcq::default().select(&data, Budget::Count(2), &Context::default())?;
    /// assert_eq!(selection.order, [0, 2]);
    /// # Ok::<(), fewest_filters::Error>(())
    /// ```
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct Fcq {
        /// Relevance divided by redundancy, or less it.
        pub form: MrmrForm = MrmrForm::Quotient;
    }
}

impl Selector for Fcq {
    fn select(&self, data: &Dataset, budget: Budget, context: &Context<'_>) -> Result<Selection, Error> {
        data.refuse_sample_weights("fcq")?;
        budget.check(data.n_features())?;
        let features = Feature::of_table(data, context)?;
        let d = features.len();
        let candidates: Vec<usize> = (0..d).filter(|&k| !features[k].is_constant()).collect();
        let n_candidates = candidates.len();
        let linear = Linear { data, form: self.form, features };
        let selection = forward(&linear, candidates, d, budget, context)?;
        Ok(finished(selection, data, budget, d - n_candidates))
    }

    fn in_passes(&self) -> Option<&dyn PassSelector> {
        Some(self)
    }
}

/// The selection with its notes, also on features of `data` with an order that they may not have been given
/// for.
fn finished(mut selection: Selection, data: &Dataset, budget: Budget, n_constant: usize) -> Selection {
    let many = |k: &usize| match data.feature_kind(*k) {
        FeatureKind::Categorical { levels } => levels.len() > 2,
        _ => false,
    };
    let n_categories = (0..data.n_features()).filter(many).count();
    if n_categories > 0 {
        let note = format!(
            "{n_categories} categorical with more than two levels entered by the numbers of their codes"
        );
        selection.notes.push(note);
    }
    add_notes(&mut selection, budget, n_constant, NO_OTHERS);
    selection
}

struct Linear<'a> {
    data: &'a Dataset,
    form: MrmrForm,
    features: Vec<Feature>,
}

impl forward::Criterion for Linear<'_> {
    /// The selected feature, centred, of norm 1.
    type Partner = Vec<f64>;
    /// The column, where it is made, and its values, centred, of norm 1.
    type Scratch = (Vec<f64>, Vec<f64>);

    fn relevance(&self, k: usize) -> f64 {
        self.features[k].f_statistic
    }

    fn start(&self, _k: usize) -> f64 {
        0.0
    }

    fn partners(&self, selected: &[usize]) -> Result<Vec<Vec<f64>>, Error> {
        let partner = |&j: &usize| {
            let (n, mut buffer) = (self.data.n_samples(), Vec::new());
            let mut values = vec![0.0; n];
            self.features[j].write(self.data.x().column(j, &mut buffer)?, &(0..n), &mut values);
            Ok(values)
        };
        selected.last().map(partner).into_iter().collect()
    }

    fn fold(
        &self,
        k: usize,
        fold: f64,
        partners: &[Vec<f64>],
        scratch: &mut Self::Scratch,
    ) -> Result<f64, Error> {
        let (buffer, values) = scratch;
        let (n, feature) = (self.data.n_samples(), self.features[k]);
        let column = self.data.x().column(k, buffer)?;
        if let Column::Dense(_) = column {
            values.resize(n, 0.0);
            feature.write(column, &(0..n), values);
        }
        Ok(partners.iter().fold(fold, |sum, partner| {
            let correlation = match column {
                Column::Dense(_) => table_product(values, partner),
                Column::Sparse { rows, values } => feature.sparse_correlation(rows, values, partner),
            };
            sum + correlation.abs().clamp(LEAST_CORRELATION, 1.0)
        }))
    }

    fn value(&self, k: usize, fold: f64, n_selected: usize) -> f64 {
        self.form.combine(self.features[k].f_statistic, fold / n_selected as f64)
    }

    fn candidates_per_task(&self) -> usize {
        few_microseconds(self.data.n_samples())
    }

    fn folds_bound(&self) -> bool {
        true
    }
}
