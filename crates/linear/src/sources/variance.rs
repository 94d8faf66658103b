//! Variance in the geometry of several sources.

use fewest_core::method::Options;
use fewest_core::{Budget, Context, Dataset, Error, Selection, Selector, Status, options};
use fewest_linalg::dot;

use super::geometry::{Geometry, columns_of};
use super::{Sources, finish, views_of};

/// Columns that are multiplied by the affinities at a time.
const PANEL: usize = 64;

options! {
    /// GPCOV-Var, variance in the global geometry of several sources (Zhao and Liu 2008; Section 4.2.1 of
    /// Li et al. 2016, the diagonal of Eq. 105).
    ///
    /// ```text
    /// score(k) = 1/(n − 1) xₖᵀ (S − S11ᵀS / 1ᵀS1) xₖ / (xₖᵀ D xₖ),    D = diag(S1)
    ///
    /// S = 1/m Σᵥ Sᵥ over the m views,    (Sᵥ)ᵢⱼ = exp(−‖xᵢ − xⱼ‖² / tᵥ) on the features of view v
    /// ```
    ///
    /// Features are standardised, so that they have mean 0 in `D` too. A category of more than two levels is
    /// scored by its level indicators together: the sums of the numerators over that of the denominators. The
    /// score is at least 0, and larger is better: a feature that is alike for samples that are alike in all
    /// sources. Constant features are not selected. The target is not used.
    ///
    /// Cost: `O(n² d)` for the affinities, and as much for the scores of `d` candidates; `n²` numbers in
    /// memory.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for a table without views or with sample weights; fewer than two samples; a
    /// NaN or an infinity, naming the cell; a view that does not exist; [`Error::Numerical`] for affinities
    /// that do not fit in memory.
    ///
    /// ```
    /// use fewest_core::{Budget, Context, Dataset, DenseColumns, Selector, Target, Views};
    /// use fewest_linear::{GpcovVar, Sources};
    ///
    /// let wave = |step: i32| (0..60).map(|i| f64::from(i * step % 61) / 30.0 - 1.0).collect::<Vec<f64>>();
    /// // Two groups of samples, which one view shows well; feature 1 of the other view follows them.
    /// let group = |noise: &[f64]| (0..60).map(|i| f64::from(i % 2) * 4.0 + noise[i as usize]).collect();
    /// let columns: [Vec<f64>; 4] = [wave(17), group(&wave(23)), group(&wave(7)), group(&wave(11))];
    /// let views = vec![("sound".to_owned(), vec![0, 1]), ("image".to_owned(), vec![2, 3])];
    /// let data = Dataset::new(DenseColumns::from_columns(&columns)?, Target::None)?
    ///     .with_views(Views::new(4, views)?)?;
    /// let method = GpcovVar { sources: Sources { view: Some(0), ..Sources::default() } };
    /// let selection = method.select(&data, Budget::Count(1), &Context::default())?;
    /// assert_eq!(selection.order, [1]);
    /// assert_eq!((selection.views[1].name.as_str(), selection.views[1].weight), ("image", 0.5));
    /// # Ok::<(), fewest_linear::Error>(())
    /// ```
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct GpcovVar {
        /// The sources.
        pub sources: Sources = Sources::default();
    }
}

impl Selector for GpcovVar {
    fn select(&self, data: &Dataset, budget: Budget, context: &Context<'_>) -> Result<Selection, Error> {
        Selection::only(self.select_many(data, &[budget], context)?)
    }

    /// The scores serve all budgets.
    fn select_many(
        &self,
        data: &Dataset,
        budgets: &[Budget],
        context: &Context<'_>,
    ) -> Result<Vec<Selection>, Error> {
        self.check()?;
        for budget in budgets {
            budget.check(data.n_features())?;
            if *budget == Budget::Auto {
                budget.count(&[])?;
            }
        }
        let views = views_of(data, "gpcov-var")?;
        let candidates = self.sources.candidates(views)?;
        let geometry = Geometry::new(data, views, self.sources.t, context)?;
        let mut scores: Vec<(usize, f64)> = Vec::with_capacity(candidates.len());
        let mut done = 0;
        for features in candidates.chunks(PANEL) {
            context.go_on("the features were scored")?;
            scores.extend(scored(data, &geometry, features)?);
            done += features.len();
            context.report("variances", done, candidates.len());
        }
        let n_constant = candidates.len() - scores.len();
        let select = |&budget: &Budget| {
            let mut selection =
                Selection::by_weight(scores.clone(), data.n_features(), budget, Status::Converged);
            finish(&mut selection, views, n_constant);
            selection.note_missing_features(budget, "the view has no other features that vary");
            selection
        };
        Ok(budgets.iter().map(select).collect())
    }
}

/// The scores of the features that vary.
fn scored(data: &Dataset, geometry: &Geometry, features: &[usize]) -> Result<Vec<(usize, f64)>, Error> {
    let n = geometry.n_samples();
    let (mut of_column, mut values, mut lengths) = (Vec::new(), Vec::new(), Vec::new());
    for &j in features {
        for column in columns_of(data, j, false)? {
            let centred = geometry.centred(&column);
            of_column.push(j);
            values.extend(centred.values);
            lengths.push(centred.squared_length);
        }
    }
    let images = geometry.product(&values);
    let mut scores: Vec<(usize, f64, f64)> = Vec::new();
    for (at, &j) in of_column.iter().enumerate() {
        let form = dot(&values[at * n..(at + 1) * n], &images[at * n..(at + 1) * n]);
        match scores.last_mut() {
            Some((last, sum, length)) if *last == j => {
                *sum += form;
                *length += lengths[at];
            }
            _ => scores.push((j, form, lengths[at])),
        }
    }
    // A form of a positive semidefinite matrix: below 0 by rounding only.
    let score = |(j, form, length): (usize, f64, f64)| (j, (form / length / (n as f64 - 1.0)).max(0.0));
    Ok(scores.into_iter().map(score).collect())
}
