//! Sparse components in the geometry of several sources.

use std::collections::BTreeMap;

use fewest_core::method::Options;
use fewest_core::{
    Budget, Certificate, Context, Dataset, Error, Selection, Selector, SolverReport, Status, choice, options,
};
use fewest_linalg::{combination, dot, transposed_products};
use nalgebra::DMatrix;

use super::geometry::{Geometry, columns_of};
use super::semidefinite::component;
use super::truncated::Truncated;
use super::{Sources, finish, views_of};

/// Up to so many columns the semidefinite programme is solved where nothing else is asked for: it takes a
/// decomposition of as many rows and columns in each step.
const SMALL: usize = 100;

/// A component that has less than this share of the relaxed answer is no longer the whole of it.
const TIGHT: f64 = 0.99;

const METHOD: &str = "gpcov-spca";

choice! {
    /// How the sparse component is found.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub enum SparseSolver {
        /// The semidefinite programme for up to 100 columns, else the truncated power method.
        Auto {
            /// Penalty ρ of the semidefinite programme, as a share of the largest entry of the covariance.
            rho_ratio: f64 = 0.1, NonNegative;
        } = "auto",
        /// The semidefinite programme, with a duality gap.
        Semidefinite {
            /// Penalty ρ of the semidefinite programme, as a share of the largest entry of the covariance.
            rho_ratio: f64 = 0.1, NonNegative;
        } = "semidefinite",
        /// The truncated power method, for a given number of features.
        Truncated = "truncated",
    }
}

options! {
    /// GPCOV-SPCA, a sparse component in the global geometry of several sources (Zhao and Liu 2008; Section
    /// 4.2.1 of Li et al. 2016, Eq. 105, with the sparse components of d'Aspremont et al. 2007, Eq. 6).
    ///
    /// ```text
    /// C = 1/(n − 1) P Xᵀ (S − S11ᵀS / 1ᵀS1) X P,    Pⱼⱼ = 1 / ‖D^½ xⱼ‖,    D = diag(S1)
    ///
    /// semidefinite:  maximise tr(C Q) − ρ Σᵢⱼ |Qᵢⱼ|  with tr Q = 1, Q ⪰ 0;  score(k) = |leading vector of Q|ₖ
    /// truncated:     maximise xᵀ C x  with ‖x‖ = 1 and k values;            score(k) = |xₖ|
    /// ```
    ///
    /// `S` is the mean affinity of the views, as of [`GpcovVar`](crate::GpcovVar), whose scores are the
    /// diagonal of `C`. Features are standardised; a category of more than two levels enters by its level
    /// indicators, and its score is the length of their part.
    ///
    /// The semidefinite programme is convex. It is solved by the alternating direction method of
    /// multipliers ([`fewest_admm`]); the certificate is the duality gap, the dual being `min λ_max(C − Y)`
    /// over `|Yᵢⱼ| ≤ ρ`, relative to `λ_max(C)`. The number of features follows from `ρ`; of more than
    /// wanted, those with the largest scores are taken. The truncated power method (Yuan and Zhang 2013)
    /// never lowers `xᵀCx` and ends at a stationary point, the better of two starts; a note compares it
    /// with `λ_max(C)`, which no set exceeds.
    ///
    /// Cost: the affinities, `O(n² d)`; for `p` columns `O(n² p + n p²)` for `C` and `O(p³)` for a step of
    /// the semidefinite programme, or `O(n² + n p)` for one of the truncated power method, which does not
    /// form `C`.
    ///
    /// # Errors
    /// As of [`GpcovVar`](crate::GpcovVar); no number of features for the truncated power method.
    ///
    /// ```
    /// use fewest_core::{Budget, Context, Dataset, DenseColumns, Selector, Target, Views};
    /// use fewest_linear::GpcovSpca;
    ///
    /// let wave = |step: i32| (0..60).map(|i| f64::from(i * step % 61) / 30.0 - 1.0).collect::<Vec<f64>>();
    /// let group = |noise: &[f64]| (0..60).map(|i| f64::from(i % 2) * 4.0 + noise[i as usize]).collect();
    /// let columns: [Vec<f64>; 4] = [wave(17), group(&wave(23)), group(&wave(7)), wave(11)];
    /// let views = vec![("sound".to_owned(), vec![0, 1]), ("image".to_owned(), vec![2, 3])];
    /// let data = Dataset::new(DenseColumns::from_columns(&columns)?, Target::None)?
    ///     .with_views(Views::new(4, views)?)?;
    /// let selection = GpcovSpca::default().select(&data, Budget::Count(2), &Context::default())?;
    /// assert_eq!(selection.mask(), [false, true, true, false]);
    /// assert!(selection.solver.unwrap().certificate.value() <= 1e-9);
    /// # Ok::<(), fewest_linear::Error>(())
    /// ```
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct GpcovSpca {
        /// The sources.
        pub sources: Sources = Sources::default();
        /// How the component is found.
        pub solver: SparseSolver = SparseSolver::default();
        /// Duality gap to reach, relative to the largest eigenvalue of the covariance; of the truncated power
        /// method the length of a step.
        pub tolerance: f64 = 1e-9, Positive;
    }
}

/// The columns of the candidates, centred and scaled, so that `C = ZᵀSZ`.
struct Columns {
    /// The feature of each.
    features: Vec<usize>,
    z: Vec<f64>,
    n: usize,
    n_constant: usize,
}

impl Columns {
    fn new(data: &Dataset, geometry: &Geometry, candidates: &[usize]) -> Result<Self, Error> {
        let n = geometry.n_samples();
        let mut columns = Self { features: Vec::new(), z: Vec::new(), n, n_constant: 0 };
        for &j in candidates {
            let own = columns_of(data, j, true)?;
            columns.n_constant += usize::from(own.is_empty());
            for column in own {
                let centred = geometry.centred(&column);
                let scale = 1.0 / (centred.squared_length * (n as f64 - 1.0)).sqrt();
                columns.z.extend(centred.values.iter().map(|value| scale * value));
                columns.features.push(j);
            }
        }
        Ok(columns)
    }

    fn len(&self) -> usize {
        self.features.len()
    }

    fn column(&self, at: usize) -> &[f64] {
        &self.z[at * self.n..(at + 1) * self.n]
    }

    /// `C`.
    fn covariance(&self, geometry: &Geometry) -> DMatrix<f64> {
        let products = transposed_products(&self.z, &geometry.product(&self.z), self.n);
        let c = DMatrix::from_vec(self.len(), self.len(), products);
        (&c + c.transpose()) * 0.5
    }

    /// The score of every feature with a loading.
    fn scores(&self, loadings: &[f64]) -> Vec<(usize, f64)> {
        let mut lengths: BTreeMap<usize, f64> = BTreeMap::new();
        for (&feature, &loading) in self.features.iter().zip(loadings).filter(|(_, loading)| **loading > 0.0)
        {
            let length = lengths.entry(feature).or_insert(0.0);
            *length = length.hypot(loading);
        }
        lengths.into_iter().collect()
    }
}

impl Selector for GpcovSpca {
    fn select(&self, data: &Dataset, budget: Budget, context: &Context<'_>) -> Result<Selection, Error> {
        Selection::only(self.select_many(data, &[budget], context)?)
    }

    /// The affinities serve all budgets, and so does the answer of the semidefinite programme.
    fn select_many(
        &self,
        data: &Dataset,
        budgets: &[Budget],
        context: &Context<'_>,
    ) -> Result<Vec<Selection>, Error> {
        self.check()?;
        budgets.iter().try_for_each(|budget| budget.check(data.n_features()))?;
        let views = views_of(data, METHOD)?;
        let candidates = self.sources.candidates(views)?;
        let geometry = Geometry::new(data, views, self.sources.t, context)?;
        let columns = Columns::new(data, &geometry, &candidates)?;
        let mut selections = match self.solver {
            _ if columns.len() == 0 => {
                let none = || Selection::new(Vec::new(), Vec::new(), data.n_features(), Status::Converged);
                budgets.iter().map(|_| none()).collect()
            }
            SparseSolver::Semidefinite { rho_ratio } => {
                self.semidefinite(&columns, &geometry, rho_ratio, data, budgets, context)?
            }
            SparseSolver::Auto { rho_ratio } if columns.len() <= SMALL => {
                self.semidefinite(&columns, &geometry, rho_ratio, data, budgets, context)?
            }
            SparseSolver::Auto { .. } | SparseSolver::Truncated => {
                self.truncated(&columns, &geometry, data, budgets, context)?
            }
        };
        for (selection, budget) in selections.iter_mut().zip(budgets) {
            finish(selection, views, columns.n_constant);
            selection.note_missing_features(*budget, "other features have no loading: lower `rho_ratio`");
        }
        Ok(selections)
    }
}

impl GpcovSpca {
    fn semidefinite(
        &self,
        columns: &Columns,
        geometry: &Geometry,
        rho_ratio: f64,
        data: &Dataset,
        budgets: &[Budget],
        context: &Context<'_>,
    ) -> Result<Vec<Selection>, Error> {
        let covariance = columns.covariance(geometry);
        let found = component(&covariance, rho_ratio, self.tolerance, context)?;
        let report = SolverReport::new("admm", found.status, found.objective, Certificate::gap(found.gap))
            .with_lambda(rho_ratio * covariance.amax())
            .with_iterations(found.iterations);
        let select = |&budget: &Budget| {
            let scores = columns.scores(&found.loadings);
            let mut selection = Selection::by_weight(scores, data.n_features(), budget, found.status);
            selection.solver = Some(report.clone());
            if found.leading_share < TIGHT {
                let share = 100.0 * found.leading_share;
                selection.notes.push(format!(
                    "the relaxed answer is no single component: the leading one has {share:.0}% of it"
                ));
            }
            selection.unless_stopped_before("the component had a feature")
        };
        budgets.iter().map(select).collect()
    }

    fn truncated(
        &self,
        columns: &Columns,
        geometry: &Geometry,
        data: &Dataset,
        budgets: &[Budget],
        context: &Context<'_>,
    ) -> Result<Vec<Selection>, Error> {
        let counts: Vec<usize> =
            budgets.iter().map(|budget| budget.count(&["solver=semidefinite"])).collect::<Result<_, _>>()?;
        let (n, p) = (columns.n, columns.len());
        let diagonal: Vec<f64> =
            (0..p).map(|at| dot(columns.column(at), &geometry.product(columns.column(at)))).collect();
        let product = |right: &[f64]| {
            let images: Vec<f64> =
                right.chunks_exact(p).flat_map(|x| combination(&columns.z, x, n)).collect();
            transposed_products(&columns.z, &geometry.product(&images), n)
        };
        let method = Truncated { product: &product, diagonal: &diagonal, tolerance: self.tolerance, context };
        let (leading, bound) = method.leading()?;
        let mut selections = Vec::with_capacity(budgets.len());
        for (k, &budget) in counts.into_iter().zip(budgets) {
            let point = method.best(k.min(p), &leading);
            let certificate = Certificate::stationarity(point.step);
            let report = SolverReport::new("truncated-power", point.status, point.variance, certificate)
                .with_iterations(point.iterations);
            let scores = columns.scores(&point.loadings);
            let mut selection = Selection::by_weight(scores, data.n_features(), budget, point.status);
            selection.solver = Some(report);
            let share = 100.0 * point.variance / bound;
            selection.notes.push(format!(
                "not convex: the component has {share:.1}% of the largest eigenvalue, which no other exceeds"
            ));
            selections.push(selection.unless_stopped_before("the component had a feature")?);
        }
        Ok(selections)
    }
}
