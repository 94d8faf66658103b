//! Minimum redundancy maximum relevance with linear measures: the F statistic and correlations.

use fewest_core::{
    Budget, Column, Context, Dataset, Error, FeatureKind, PassSelector, Selection, Selector, Target, options,
};
use fewest_counts::discretisation::Levels;

use super::criterion::MrmrForm;
use super::forward::{self, NO_OTHERS, add_notes, few_microseconds, forward};
use crate::statistical::regression::NOTHING_LEFT;
use fewest_columns::map_features;
use fewest_linalg::dot;

/// The F statistic of a feature that leaves nothing unexplained: infinity would say nothing about redundancy.
pub(super) const PERFECT: f64 = 1e30;

/// A correlation below this counts as this, so that a quotient has a divisor.
pub(super) const LEAST_CORRELATION: f64 = 1e-3;

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
        let response = Response::of(data)?;
        let moments = map_features(data, context, "F statistics", |_, column| response.moments(column))?;
        let candidates: Vec<usize> =
            (0..data.n_features()).filter(|&k| moments[k].inverse_norm > 0.0).collect();
        let n_constant = data.n_features() - candidates.len();
        let linear = Linear { data, form: self.form, moments };
        let mut selection = forward(&linear, candidates, data.n_features(), budget, context)?;
        note_categories(&mut selection, data);
        add_notes(&mut selection, budget, n_constant, NO_OTHERS);
        Ok(selection)
    }

    fn in_passes(&self) -> Option<&dyn PassSelector> {
        Some(self)
    }
}

/// Says which features of `data` have an order that they may not have been given for.
pub(super) fn note_categories(selection: &mut Selection, data: &Dataset) {
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
}

/// What is known of a feature beforehand.
struct Moments {
    mean: f64,
    /// 1 over the norm of the centred feature; 0 for a constant.
    inverse_norm: f64,
    f_statistic: f64,
}

/// The target as F statistics need it.
enum Response {
    /// The classes, and how many samples each has.
    Classes { levels: Levels, counts: Vec<f64> },
    /// The centred target, of norm 1.
    Real(Vec<f64>),
}

impl Response {
    fn of(data: &Dataset) -> Result<Self, Error> {
        let n_samples = data.n_samples();
        match data.target() {
            Target::Class(classes) => {
                let levels = Levels::of_classes(classes);
                check_many(levels.n_levels > 1, levels.n_levels)?;
                if n_samples <= levels.n_levels {
                    return Err(Error::TooFew {
                        what: "samples (more than there are classes)",
                        minimum: levels.n_levels + 1,
                        found: n_samples,
                    });
                }
                let mut counts = vec![0.0; levels.n_levels];
                for &code in &levels.codes {
                    counts[code as usize] += 1.0;
                }
                Ok(Response::Classes { levels, counts })
            }
            Target::Real(outputs) if outputs.n_outputs() == 1 => {
                if n_samples < 3 {
                    return Err(Error::TooFew { what: "samples", minimum: 3, found: n_samples });
                }
                let (centred, inverse_norm) = centred(outputs.output(0), "the variance of the target")?;
                check_many(inverse_norm > 0.0, 1)?;
                Ok(Response::Real(centred.iter().map(|value| value * inverse_norm).collect()))
            }
            other => {
                let (method, expected) = ("fcq", "classes or one real output");
                Err(Error::UnsupportedTarget { method, expected, found: other.describe() })
            }
        }
    }

    /// Mean, norm and F statistic of a feature.
    fn moments(&self, column: Column<'_>) -> Result<Moments, Error> {
        match column {
            Column::Dense(values) => {
                self.moments_of(values.iter().copied().enumerate(), values.len(), values.len())
            }
            Column::Sparse { rows, values } => {
                let entries = rows.iter().copied().zip(values.iter().copied());
                let n_samples = match self {
                    Response::Classes { levels, .. } => levels.codes.len(),
                    Response::Real(target) => target.len(),
                };
                self.moments_of(entries, values.len(), n_samples)
            }
        }
    }

    /// From the stored entries of a column of `n` samples, all others being zero.
    fn moments_of(
        &self,
        entries: impl Iterator<Item = (usize, f64)> + Clone,
        n_stored: usize,
        n_samples: usize,
    ) -> Result<Moments, Error> {
        let n = n_samples as f64;
        let unstored = n - n_stored as f64;
        let mean = entries.clone().map(|(_, value)| value / n).sum::<f64>();
        let squares: f64 = entries.clone().map(|(_, value)| (value - mean).powi(2)).sum();
        let squares = squares + unstored * mean * mean;
        let first =
            if n_stored < n_samples { Some(0.0) } else { entries.clone().next().map(|(_, value)| value) };
        let is_constant = entries.clone().all(|(_, value)| Some(value) == first);
        if is_constant {
            return Ok(Moments { mean, inverse_norm: 0.0, f_statistic: 0.0 });
        }
        check_squares(squares, "the variance of a feature")?;
        let f_statistic = match self {
            Response::Real(target) => {
                // The centred target has sum 0: the mean drops out, and with it the zeros that are not
                // stored. Among values that are all stored it is subtracted to keep digits.
                let shift = if unstored > 0.0 { 0.0 } else { mean };
                let product: f64 = entries.map(|(row, value)| (value - shift) * target[row]).sum();
                let explained = product * product / squares;
                let explained = if explained >= 1.0 - NOTHING_LEFT { 1.0 } else { explained };
                (n - 2.0) * explained / (1.0 - explained)
            }
            Response::Classes { levels, counts } => {
                let mut sums = vec![0.0; counts.len()];
                let mut stored = vec![0.0; counts.len()];
                for (row, value) in entries.clone() {
                    let class = levels.codes[row] as usize;
                    sums[class] += value - mean;
                    stored[class] += 1.0;
                }
                // Class means about the mean of all.
                let centres: Vec<f64> = (0..counts.len())
                    .map(|class| (sums[class] - mean * (counts[class] - stored[class])) / counts[class])
                    .collect();
                let between: f64 =
                    centres.iter().zip(counts).map(|(centre, count)| count * centre * centre).sum();
                let mut within: f64 = entries
                    .map(|(row, value)| (value - mean - centres[levels.codes[row] as usize]).powi(2))
                    .sum();
                for class in 0..counts.len() {
                    within += (counts[class] - stored[class]) * (mean + centres[class]).powi(2);
                }
                let classes = counts.len() as f64;
                between / (classes - 1.0) / (within / (n - classes))
            }
        };
        // 0/0 cannot be: the squares are those between and within classes together.
        Ok(Moments { mean, inverse_norm: 1.0 / squares.sqrt(), f_statistic: f_statistic.min(PERFECT) })
    }
}

fn check_many(many: bool, found: usize) -> Result<(), Error> {
    if many {
        Ok(())
    } else {
        Err(Error::TooFew { what: "different values of the target", minimum: 2, found })
    }
}

/// # Errors
/// [`Error::Numerical`] where squares of numbers that differ overflow or vanish.
fn check_squares(squares: f64, what: &'static str) -> Result<(), Error> {
    if squares > 0.0 && squares.is_finite() {
        return Ok(());
    }
    let hint = "its values are too large or too small to be squared: rescale it".to_owned();
    Err(Error::Numerical { what, hint })
}

/// The values less their mean, and 1 over their norm; 0 for a constant.
///
/// # Errors
/// As [`check_squares`], naming `what`.
fn centred(values: &[f64], what: &'static str) -> Result<(Vec<f64>, f64), Error> {
    let n = values.len() as f64;
    let mean = values.iter().map(|value| value / n).sum::<f64>();
    let centred: Vec<f64> = values.iter().map(|value| value - mean).collect();
    let squares: f64 = centred.iter().map(|value| value * value).sum();
    if values.iter().all(|value| *value == values[0]) {
        return Ok((centred, 0.0));
    }
    check_squares(squares, what)?;
    Ok((centred, 1.0 / squares.sqrt()))
}

struct Linear<'a> {
    data: &'a Dataset,
    form: MrmrForm,
    moments: Vec<Moments>,
}

impl forward::Criterion for Linear<'_> {
    /// The selected feature, centred, of norm 1.
    type Partner = Vec<f64>;
    type Scratch = (Vec<f64>, Vec<f64>);

    fn relevance(&self, k: usize) -> f64 {
        self.moments[k].f_statistic
    }

    fn start(&self, _k: usize) -> f64 {
        0.0
    }

    fn partners(&self, selected: &[usize]) -> Result<Vec<Vec<f64>>, Error> {
        let partner = |&j: &usize| {
            let mut values = vec![0.0; self.data.n_samples()];
            self.data.x().copy_column(j, &mut values)?;
            let Moments { mean, inverse_norm, .. } = self.moments[j];
            values.iter_mut().for_each(|value| *value = (*value - mean) * inverse_norm);
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
        let (buffer, shifted) = scratch;
        let Moments { mean, inverse_norm, .. } = self.moments[k];
        let column = self.data.x().column(k, buffer)?;
        if let Column::Dense(values) = column {
            shifted.clear();
            shifted.extend(values.iter().map(|value| value - mean));
        }
        Ok(partners.iter().fold(fold, |sum, partner| {
            let product = match column {
                Column::Dense(_) => dot(shifted, partner),
                // The partner sums to 0: the mean, and with it the zeros, drop out.
                Column::Sparse { rows, values } => {
                    rows.iter().zip(values).map(|(&row, value)| value * partner[row]).sum()
                }
            };
            sum + (product * inverse_norm).abs().clamp(LEAST_CORRELATION, 1.0)
        }))
    }

    fn value(&self, k: usize, fold: f64, n_selected: usize) -> f64 {
        self.form.combine(self.moments[k].f_statistic, fold / n_selected as f64)
    }

    fn candidates_per_task(&self) -> usize {
        few_microseconds(self.data.n_samples())
    }

    fn folds_bound(&self) -> bool {
        true
    }
}
