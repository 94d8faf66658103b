//! Features that repeat no earlier feature.

use std::collections::BTreeMap;

use fewest_core::{
    Budget, Context, Dataset, Error, FeatureKind, Selection, Selector, Status, options, words,
};
use fewest_counts::discretisation::categories;

use super::removed_constants;
use fewest_columns::map_features;
use fewest_columns::moments::{ROUNDING, unit};
use fewest_linalg::dot;

/// How far apart the projections of two copies are at most: `‖u − v‖ ≤ √(2 ROUNDING)` for unit vectors.
const WINDOW: f64 = 1.5e-6;

/// Features kept one after the other before time and interruption are looked at.
const BLOCK: usize = 256;

words! {
    /// When a feature repeats another.
    #[derive(Default)]
    pub enum Copies {
        /// It is a linear function of the other, `xⱼ = a xₖ + b`: the sign, the scale and the offset tell
        /// nothing new. A category has the same levels under any names.
        #[default]
        Linear = "linear",
        /// It has the same values.
        Exact = "exact",
    }
}

options! {
    /// Removes constant features and copies: keeps each feature, in the order of the table, that repeats none
    /// before it. The first of several copies stays, whatever the target.
    ///
    /// ```text
    /// keep k  if  xₖ is not constant and  xₖ ≠ a xⱼ + b  for all j < k
    /// ```
    ///
    /// Linear copies are those whose squared correlation is 1 within 10⁻¹². Every feature kept has the score
    /// 1.
    ///
    /// Cost: `O(n d + d log d)`: a feature, centred and scaled to a unit vector, is compared with those only
    /// whose projections on a fixed direction are close to its own.
    ///
    /// # Errors
    /// A NaN or an infinity, naming the cell; sample weights.
    ///
    /// ```
    /// use fewest_core::{Budget, Context, Dataset, DenseColumns, Selector, Target};
    /// use fewest_filters::statistical::{Copies, Distinct};
    ///
    /// let a = vec![1.0, 2.0, 4.0, 3.0];
    /// let mirrored = a.iter().map(|x| 7.0 - 0.5 * x).collect();
    /// let x = DenseColumns::from_columns(&[vec![5.0; 4], mirrored, a.clone(), vec![0.0, 1.0, 1.0, 0.0], a])?;
    /// let data = Dataset::new(x, Target::None)?;
    /// let order = |copies| Distinct { copies }.select(&data, Budget::Auto, &Context::default()).map(|kept| kept.order);
    /// assert_eq!(order(Copies::Linear)?, [1, 3]);
    /// assert_eq!(order(Copies::Exact)?, [1, 2, 3]);
    /// # Ok::<(), fewest_filters::Error>(())
    /// ```
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct Distinct {
        /// What repeats an earlier feature: a linear function of it, or the same values only.
        pub copies: Copies = Copies::Linear;
    }
}

/// A feature by which copies are recognised.
struct Form {
    is_categorical: bool,
    values: Vec<f64>,
}

impl Distinct {
    fn form(self, data: &Dataset, j: usize) -> Result<Form, Error> {
        let mut values = vec![0.0; data.n_samples()];
        data.x().copy_column(j, &mut values)?;
        let is_categorical = matches!(data.feature_kind(j), FeatureKind::Categorical { .. });
        match self.copies {
            Copies::Exact => {}
            Copies::Linear if is_categorical => values = unit(&renamed(&values)),
            Copies::Linear => values = unit(&values),
        }
        Ok(Form { is_categorical, values })
    }

    fn repeats(self, a: &Form, b: &Form) -> bool {
        a.is_categorical == b.is_categorical
            && match self.copies {
                Copies::Exact => a.values == b.values,
                Copies::Linear => dot(&a.values, &b.values).abs() > 1.0 - ROUNDING,
            }
    }
}

/// Levels numbered in the order in which they occur, so that copies under other names are equal.
fn renamed(values: &[f64]) -> Vec<f64> {
    let levels = categories(values);
    let mut names = vec![None; levels.n_levels];
    let mut next = 0.0;
    let mut name = |&level: &u32| {
        *names[level as usize].get_or_insert_with(|| {
            next += 1.0;
            next
        })
    };
    levels.codes.iter().map(&mut name).collect()
}

/// The fixed direction: numbers in [−1, 1) that no feature is likely to follow.
fn direction(n: usize) -> Vec<f64> {
    (0..n as u64)
        .map(|i| (fewest_core::derive_seed(0, i) >> 11) as f64 / (1_u64 << 52) as f64 - 1.0)
        .map(|value| value / (n as f64).sqrt())
        .collect()
}

impl Selector for Distinct {
    fn select(&self, data: &Dataset, budget: Budget, context: &Context<'_>) -> Result<Selection, Error> {
        let d = data.n_features();
        budget.check(d)?;
        data.refuse_sample_weights("distinct")?;
        let constant = data.constant_features()?;
        let direction = direction(data.n_samples());
        // Whatever copies mean: exact copies are linear ones.
        let linear = Self { copies: Copies::Linear };
        let projections = map_features(data, context, "projections", |j, _| {
            if constant.binary_search(&j).is_ok() {
                return Ok(0.0);
            }
            Ok(dot(&linear.form(data, j)?.values, &direction).abs())
        })?;
        let most = match budget {
            Budget::Count(k) => k,
            Budget::Threshold(least) if least > 1.0 => 0,
            _ => d,
        };
        // By the bits of the projection, which are in the order of the numbers, since none is negative.
        let mut kept: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
        let mut order = Vec::new();
        let mut status = Status::Converged;
        for j in 0..d {
            if order.len() >= most {
                break;
            }
            if j % BLOCK == 0 {
                if let Some(stopped) = context.stopped() {
                    if order.is_empty() {
                        return Err(Error::Stopped { before: "a feature was kept" });
                    }
                    status = stopped;
                    break;
                }
                context.report("copies", j, d);
            }
            if constant.binary_search(&j).is_ok() {
                continue;
            }
            let at = projections[j];
            let near = (at - WINDOW).max(0.0).to_bits()..=(at + WINDOW).to_bits();
            let mut own = None;
            let mut is_copy = false;
            for &other in kept.range(near).flat_map(|(_, features)| features) {
                let form = match own.take() {
                    Some(form) => form,
                    None => self.form(data, j)?,
                };
                is_copy = self.repeats(&form, &self.form(data, other)?);
                if is_copy {
                    break;
                }
                own = Some(form);
            }
            if !is_copy {
                kept.entry(at.to_bits()).or_default().push(j);
                order.push(j);
            }
        }
        let removed = d - constant.len() - order.len();
        let scores = vec![1.0; order.len()];
        let all_looked_at = status == Status::Converged && order.len() < most;
        let mut selection = Selection::new(order, scores, d, status);
        selection.notes.extend(removed_constants(constant.len()));
        if all_looked_at && removed > 0 {
            let what = if removed == 1 {
                "copy of an earlier feature was"
            } else {
                "copies of earlier features were"
            };
            selection.notes.push(format!("{removed} {what} removed"));
        }
        Ok(selection)
    }
}
