//! SPEC: features by what a graph's spectrum says of them.

mod affinity;
mod eigen;

use fewest_core::method::{KernelWidth, Options};
use fewest_core::{Context, Dataset, Error, FeatureKind, Scorer, Scores, Target, choice, options, words};
use fewest_neighbours::{DistanceMetric, heat_scale, standardised_distances};
use nalgebra::DMatrix;

use self::affinity::Affinity;
use super::feature::{centre, is_constant, standardise};
use fewest_columns::{map_features, parts};

choice! {
    /// Which function of the spectrum is the score.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum SpecCriterion {
        /// `φ₁ = f̂ᵀ γ(𝓛) f̂`, smaller is better.
        Smoothness = "1",
        /// `φ₂ = φ₁ / (1 − (f̂ᵀξ₁)²)`, smaller is better: the part along the trivial eigenvector is left out.
        NormalisedSmoothness = "2",
        /// `φ₃ = Σ_{j ≤ m} (γ(2) − γ(λ_j)) (f̂ᵀξ_j)²` over the `m` smallest eigenvalues, larger is better.
        LeadingEigenvectors {
            /// Eigenvectors of φ₃; left out, the number of classes, or 2 without classes.
            m: Option<usize> = None, Count(1);
        } = "3",
    }
}

words! {
    /// The function `γ` by which high frequencies count more.
    #[derive(Default)]
    pub enum Gamma {
        /// `γ(λ) = λ`.
        #[default]
        Identity = "identity",
        /// `γ(λ) = λ²`.
        Square = "square",
        /// `γ(λ) = λ³`.
        Cube = "cube",
    }
}

impl Gamma {
    fn of(self, lambda: f64) -> f64 {
        match self {
            Gamma::Identity => lambda,
            Gamma::Square => lambda * lambda,
            Gamma::Cube => lambda * lambda * lambda,
        }
    }
}

options! {
    /// SPEC (Zhao and Liu 2007; survey Eq. 4–6): features compared with the spectrum of a graph of all
    /// samples,
    ///
    /// ```text
    /// S_ij = exp(−d_ij² / 2σ²)     D = diag(S 1)     𝓛 = I − D^−½ S D^−½ = Σ_j λ_j ξ_j ξ_jᵀ     f̂ = D^½ f / ‖D^½ f‖
    /// ```
    ///
    /// with the Euclidean distances of standardised features and the score chosen by [`SpecCriterion`]. A
    /// feature that separates groups of samples has low frequency, near the small eigenvalues. The target is
    /// not used, except for the default of `m`.
    ///
    /// `φ₁, φ₂ ∈ [0, γ(2)]`, and `φ₃ ∈ [0, γ(2)]`. A constant feature has `∞` for `φ₁` and `φ₂`, `−∞` for
    /// `φ₃`. Where the `m`-th and the next eigenvalue coincide, `φ₃` is not well defined.
    ///
    /// Cost: `O(n² d)`, for `φ₃` times a few dozen; memory: two copies of the data, and `n² / 2` distances or
    /// a third copy; the graph where it is not larger than the data (it is computed anew for each product
    /// otherwise).
    ///
    /// # Errors
    /// Fewer than two samples, `sigma` not above 0, `m` of 0 or above the number of samples.
    ///
    /// ```
    /// use fewest_core::{Context, Dataset, DenseColumns, Scorer, Target};
    /// use fewest_filters::similarity::Spec;
    ///
    /// let group: Vec<f64> = (0..12).map(|i| f64::from(i / 6) * 5.0 + f64::from(i % 6) * 0.1).collect();
    /// let noise: Vec<f64> = (0..12).map(|i| f64::from(i * 7 % 12)).collect();
    /// let x = DenseColumns::from_columns(&[noise, group.clone(), group])?;
    /// let data = Dataset::new(x, Target::None)?;
    /// let scores = Spec::default().score(&data, &Context::default())?;
    /// assert_eq!(scores.ranking(), [1, 2, 0]);
    /// # Ok::<(), fewest_filters::Error>(())
    /// ```
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct Spec {
        /// Which of φ₁, φ₂, φ₃.
        pub criterion: SpecCriterion = SpecCriterion::Smoothness;
        /// The function γ of the eigenvalues: λ, λ² or λ³; higher powers count high frequencies more.
        pub gamma: Gamma = Gamma::Identity;
        /// Width of the graph's weights exp(−d²/2σ²); median: the root of the median squared distance.
        pub sigma: KernelWidth = KernelWidth::Median;
    }
}

impl Scorer for Spec {
    fn score(&self, data: &Dataset, context: &Context<'_>) -> Result<Scores, Error> {
        data.refuse_sample_weights("spec")?;
        self.check()?;
        let n = data.n_samples();
        let m = match self.criterion {
            SpecCriterion::LeadingEigenvectors { m } => {
                let m = m.unwrap_or_else(|| default_m(data.target()).min(n));
                if m > n {
                    return Err(Error::parameter("m", m, format!("from 1 to the number of samples, {n}")));
                }
                Some(m)
            }
            SpecCriterion::Smoothness | SpecCriterion::NormalisedSmoothness => None,
        };
        let distances = standardised_distances(data, DistanceMetric::SquaredEuclidean, context)?;
        let sigma_squared = match self.sigma {
            KernelWidth::Value(sigma) => KernelWidth::Value(sigma * sigma),
            rule => rule,
        };
        let sigma_squared = heat_scale(sigma_squared, "sigma", &distances, context)?;
        let affinity = Affinity::new(&distances, sigma_squared, context)?;
        let columns = Columns::new(data, &affinity, context)?;
        let values = match m {
            None => self.smoothness(&columns, &affinity, context)?,
            Some(m) => {
                let eigen = eigen::smallest(&affinity, m, context)?;
                let total = self.gamma.of(2.0);
                columns.ratio(f64::NEG_INFINITY, |at| {
                    let y = columns.values.row(at);
                    let weights = eigen.values.iter().map(|&lambda| total - self.gamma.of(lambda));
                    let parts = weights.zip(eigen.vectors.column_iter());
                    parts.map(|(weight, xi)| weight * (y * xi)[0].powi(2)).sum()
                })
            }
        };
        Ok(match m {
            None => Scores::ascending(values),
            Some(_) => Scores::descending(values),
        })
    }
}

/// The number of classes that have samples; 2 without classes.
fn default_m(target: &Target) -> usize {
    match target {
        Target::Class(classes) => classes.occurring().len(),
        _ => 2,
    }
}

impl Spec {
    /// `φ₁` or `φ₂` of every feature.
    fn smoothness(
        &self,
        columns: &Columns,
        affinity: &Affinity<'_>,
        context: &Context<'_>,
    ) -> Result<Vec<f64>, Error> {
        let y = &columns.values;
        let once = y - affinity.normalised_product(y, context)?;
        let numerators: Vec<f64> = match self.gamma {
            Gamma::Identity => (0..y.nrows()).map(|at| y.row(at).dot(&once.row(at))).collect(),
            Gamma::Square => (0..y.nrows()).map(|at| once.row(at).dot(&once.row(at))).collect(),
            Gamma::Cube => {
                let twice = &once - affinity.normalised_product(&once, context)?;
                (0..y.nrows()).map(|at| once.row(at).dot(&twice.row(at))).collect()
            }
        };
        let trivial = affinity.trivial_eigenvector();
        let along: Vec<f64> = match self.criterion {
            SpecCriterion::NormalisedSmoothness => {
                (0..y.nrows()).map(|at| (y.row(at) * &trivial)[0].powi(2)).collect()
            }
            _ => vec![0.0; y.nrows()],
        };
        let mut values = vec![(0.0, 0.0); columns.n_features];
        for (at, &j) in columns.features.iter().enumerate() {
            values[j].0 += numerators[at].max(0.0);
            values[j].1 += columns.squares[at] - along[at];
        }
        Ok(values
            .into_iter()
            .map(|(top, bottom)| if bottom > 0.0 { top / bottom } else { f64::INFINITY })
            .collect())
    }
}

/// The vectors `D^½ f` of all features that vary, a row each.
struct Columns {
    n_features: usize,
    /// The feature of each row.
    features: Vec<usize>,
    values: DMatrix<f64>,
    /// The squared length of each row.
    squares: Vec<f64>,
}

impl Columns {
    fn new(data: &Dataset, affinity: &Affinity<'_>, context: &Context<'_>) -> Result<Self, Error> {
        let n = data.n_samples();
        let roots = affinity.roots_of_degrees();
        let prepared = map_features(data, context, "spec", |j, column| {
            let kind = data.feature_kind(j);
            let mut columns = parts(column.to_vec(n), kind);
            columns.retain(|column| !is_constant(column));
            for column in &mut columns {
                match kind {
                    // The indicators of a feature keep their sizes relative to each other.
                    FeatureKind::Categorical { .. } => {
                        centre(column);
                    }
                    _ => standardise(column),
                }
                column.iter_mut().zip(roots).for_each(|(value, root)| *value *= root);
            }
            Ok(columns)
        })?;
        let features: Vec<usize> =
            prepared.iter().enumerate().flat_map(|(j, columns)| columns.iter().map(move |_| j)).collect();
        let rows: Vec<&Vec<f64>> = prepared.iter().flatten().collect();
        let values = DMatrix::from_fn(rows.len(), n, |at, i| rows[at][i]);
        let squares = rows.iter().map(|row| row.iter().map(|value| value * value).sum()).collect();
        Ok(Self { n_features: data.n_features(), features, values, squares })
    }

    /// For every feature, `numerator` summed over its rows relative to their squared lengths; `worst` where
    /// there are none.
    fn ratio(&self, worst: f64, numerator: impl Fn(usize) -> f64) -> Vec<f64> {
        let mut sums = vec![(0.0, 0.0); self.n_features];
        for (at, &j) in self.features.iter().enumerate() {
            sums[j].0 += numerator(at);
            sums[j].1 += self.squares[at];
        }
        sums.into_iter().map(|(top, bottom)| if bottom > 0.0 { top / bottom } else { worst }).collect()
    }
}
