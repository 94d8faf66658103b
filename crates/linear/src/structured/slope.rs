//! The sorted l1 penalty.

use fewest_core::{Context, Dataset, Error, choice, options};
use fewest_solver::{InnerProducts, SortedL1};
use statrs::distribution::{ContinuousCDF, Normal};

use super::Fitting;
use super::engine::{Structured, structured_selector};
use super::structure::Structure;
use crate::columns::LinearColumns;

choice! {
    /// The weights of the sorted l1 penalty, for the coefficient of each rank.
    #[derive(Debug, Clone, PartialEq)]
    pub enum SlopeWeights {
        /// Normal quantiles as in the step-up test of Benjamini and Hochberg, for uncorrelated features.
        Bh {
            /// Target of the false discovery rate.
            q: f64 = 0.1, ProperFraction;
        } = "bh",
        /// The same, larger where features selected before add noise, for independent Gaussian features.
        Gaussian {
            /// Target of the false discovery rate.
            q: f64 = 0.1, ProperFraction;
        } = "gaussian";
        /// These, one for each column after encoding, not increasing.
        Given(Vec<f64>),
    }
}

options! {
    /// SLOPE, sorted l1 penalised estimation (Bogdan, van den Berg, Sabatti, Su and Candès 2015, Eq. 1.10):
    /// the larger a coefficient, the larger its penalty.
    ///
    /// ```text
    /// minimise over w   1/(2n) ‖y − X w‖² + λ Σ_k θ_k |w|₍ₖ₎      |w|₍₁₎ ≥ |w|₍₂₎ ≥ …
    /// bh         θ_k = Φ⁻¹(1 − q k / 2d)
    /// gaussian   θ_k = Φ⁻¹(1 − q k / 2d) √(1 + Σ_{l<k} θ_l² / (n − k)), while it falls
    /// ```
    ///
    /// With uncorrelated features and Gaussian noise of standard deviation `σ` (of a target of standard
    /// deviation 1), `λ = σ / √n` keeps the false discovery rate of the features with a coefficient at `q`.
    /// The certificate is a duality gap over all features. Data, scores, errors and the meaning of a number
    /// of features are those of [`GroupLasso`](crate::GroupLasso).
    ///
    /// Cost: as of [`Oscar`](crate::Oscar), which has weights that fall by the same amount.
    ///
    /// ```
    /// use fewest_core::{Budget, Context, Dataset, DenseColumns, Selector, Target};
    /// use fewest_linear::Slope;
    ///
    /// let wave = |step: i32| (0..60).map(|i| f64::from(i * step % 61) / 30.0 - 1.0).collect::<Vec<f64>>();
    /// let target = wave(1).iter().zip(wave(17)).map(|(a, b)| 2.0 * a - b).collect();
    /// let data = Dataset::new(DenseColumns::from_columns(&[wave(1), wave(17), wave(23)])?, Target::real(target)?)?;
    /// let selection = Slope::default().select(&data, Budget::Count(2), &Context::default())?;
    /// assert_eq!(selection.order, [0, 1]);
    /// # Ok::<(), fewest_linear::Error>(())
    /// ```
    #[derive(Debug, Clone)]
    pub struct Slope {
        /// The penalty of each rank.
        pub weights: SlopeWeights = SlopeWeights::default();
        /// The penalty's strength and how the problem is solved.
        pub fitting: Fitting = Fitting::default();
    }
}

impl SlopeWeights {
    /// One for each of `d` columns, not increasing.
    fn of(&self, n: usize, d: usize) -> Result<Vec<f64>, Error> {
        let normal = Normal::standard();
        let quantiles = |q: f64| {
            (1..=d)
                .map(move |k| normal.inverse_cdf(1.0 - q * k as f64 / (2 * d) as f64))
                .collect::<Vec<f64>>()
        };
        match self {
            Self::Bh { q } => Ok(quantiles(*q)),
            Self::Gaussian { q } => {
                let mut weights = quantiles(*q);
                let mut squares = 0.0;
                for k in 1..d {
                    squares += weights[k - 1] * weights[k - 1];
                    let next = weights[k] * (1.0 + squares / n.saturating_sub(k + 1) as f64).sqrt();
                    if next >= weights[k - 1] {
                        let least = weights[k - 1];
                        weights[k..].fill(least);
                        break;
                    }
                    weights[k] = next;
                }
                Ok(weights)
            }
            Self::Given(weights) if weights.len() == d => Ok(weights.clone()),
            Self::Given(weights) => {
                Err(Error::ShapeMismatch { what: "weights of ranks", expected: d, found: weights.len() })
            }
        }
    }
}

impl Structured for Slope {
    const ID: &'static str = "slope";

    fn fitting(&self) -> &Fitting {
        &self.fitting
    }

    fn structure(
        &self,
        _data: &Dataset,
        columns: &LinearColumns<'_>,
        _context: &Context<'_>,
    ) -> Result<Structure, Error> {
        let weights = self.weights.of(columns.n_samples(), columns.n_atoms())?;
        Ok(Structure::coupled(move |lambda| {
            SortedL1::new(weights.iter().map(|weight| lambda * weight).collect())
        }))
    }
}

structured_selector!(Slope);
