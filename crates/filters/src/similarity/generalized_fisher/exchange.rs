//! Better sets of features by exchanges, since the largest indicators of the relaxation need not be the best
//! set.

use fewest_columns::map_features;
use fewest_core::{Context, Dataset, Error, Status, order};
use nalgebra::DMatrix;

use super::{prepared, standardised_parts};

/// An exchange must lower the objective by this share of that of no features.
const LEAST_GAIN: f64 = 1e-10;

/// A set of features with its objective `J(S) = ½ (‖H‖² − tr Bᵀ (γ I + G)⁻¹ B)`, where `G = XᵀX` and
/// `B = XᵀH` over its columns: `J` of the formula at the `p` of the set.
pub(super) struct Set {
    /// The features, increasing.
    pub(super) features: Vec<usize>,
    pub(super) objective: f64,
    /// How much `J` would rise without each of them.
    pub(super) losses: Vec<f64>,
    /// Features exchanged for better ones.
    pub(super) n_swaps: usize,
    /// Converged where no exchange of one feature for another lowers `J`.
    pub(super) status: Status,
}

/// The columns of a set and what follows from them.
struct Solved {
    columns: DMatrix<f64>,
    /// The columns of each feature of the set.
    blocks: Vec<std::ops::Range<usize>>,
    /// `(γ I + G)⁻¹`.
    inverse: DMatrix<f64>,
    /// `(γ I + G)⁻¹ B`.
    weights: DMatrix<f64>,
    objective: f64,
    losses: Vec<f64>,
}

/// What is exchanged for what, and how much lower `J` is then.
#[derive(Clone, Copy)]
struct Exchange {
    gain: f64,
    out: usize,
    feature: usize,
}

/// Exchanges features of `set` for better ones of `candidates`, the best exchange first, until none lowers
/// `J` or the run is to stop.
///
/// Each exchange costs a pass over all features, `O(n r)` each for the `r` columns of the set.
pub(super) fn improve(
    data: &Dataset,
    labels: &DMatrix<f64>,
    gamma: f64,
    mut set: Vec<usize>,
    candidates: &[usize],
    context: &Context<'_>,
) -> Result<Set, Error> {
    let least = LEAST_GAIN * 0.5 * labels.norm_squared();
    let mut n_swaps = 0;
    loop {
        order::sort_indices(&mut set);
        let solved = Solved::new(data, labels, gamma, &set)?;
        let may_join = |j: &usize| set.binary_search(j).is_err() && candidates.binary_search(j).is_ok();
        let found = map_features(data, context, "exchanging features", |j, column| {
            if !may_join(&j) {
                return Ok(None);
            }
            let parts = standardised_parts(column.to_vec(data.n_samples()), data.feature_kind(j));
            Ok(solved.best_exchange(j, &parts, labels, gamma))
        });
        let (status, best) = match found {
            Err(Error::Stopped { .. }) => (context.stopped().unwrap_or(Status::TimeLimit), None),
            Err(error) => return Err(error),
            Ok(found) => {
                let better = |best: Option<Exchange>, next: Exchange| {
                    if best.is_none_or(|best| next.gain > best.gain) { Some(next) } else { best }
                };
                (Status::Converged, found.into_iter().flatten().fold(None, better))
            }
        };
        match best.filter(|best| best.gain > least) {
            Some(best) => {
                set[best.out] = best.feature;
                n_swaps += 1;
            }
            None => {
                let Solved { objective, losses, .. } = solved;
                return Ok(Set { features: set, objective, losses, n_swaps, status });
            }
        }
    }
}

impl Solved {
    fn new(data: &Dataset, labels: &DMatrix<f64>, gamma: f64, set: &[usize]) -> Result<Self, Error> {
        let mut values = Vec::new();
        let mut blocks = Vec::with_capacity(set.len());
        let n = labels.nrows();
        for &j in set {
            let start = values.len() / n;
            prepared(data, j)?.iter().for_each(|column| values.extend_from_slice(column));
            blocks.push(start..values.len() / n);
        }
        let r = values.len() / n;
        let columns = DMatrix::from_vec(n, r, values);
        let mut inner = columns.tr_mul(&columns);
        for at in 0..r {
            inner[(at, at)] += gamma;
        }
        let products = columns.tr_mul(labels);
        let inverse = fewest_linalg::cholesky(inner).map(|factor| factor.inverse()).ok_or_else(too_small)?;
        let weights = &inverse * &products;
        let objective = 0.5 * (labels.norm_squared() - products.dot(&weights));
        if !objective.is_finite() {
            return Err(too_small());
        }
        let mut solved = Self { columns, blocks, inverse, weights, objective, losses: Vec::new() };
        solved.losses = (0..set.len()).map(|i| solved.loss(i)).collect();
        Ok(solved)
    }

    /// By how much `J` rises without feature `i` of the set: `½ tr βᵢᵀ Nᵢᵢ⁻¹ βᵢ` for the inverse `N` and the
    /// weights `β`.
    fn loss(&self, i: usize) -> f64 {
        let own = self.blocks[i].clone();
        if own.len() == 1 {
            let at = own.start;
            return 0.5 * self.weights.row(at).norm_squared() / self.inverse[(at, at)];
        }
        let weights = self.weights.rows(own.start, own.len()).into_owned();
        let inner = self.inverse.view((own.start, own.start), (own.len(), own.len())).into_owned();
        match fewest_linalg::cholesky(inner) {
            Some(factor) => 0.5 * weights.dot(&factor.solve(&weights)),
            None => f64::INFINITY,
        }
    }

    /// The exchange of a feature of the set for feature `j` with these columns that lowers `J` most.
    ///
    /// With `Z = N XᵀX_j`, adding the feature to the set without feature `i` lowers `J` by `½ tr Rᵀ D⁻¹ R`,
    ///
    /// ```text
    /// D = γ I + X_jᵀX_j − X_jᵀX Z + Zᵢᵀ Nᵢᵢ⁻¹ Zᵢ,     R = X_jᵀH − X_jᵀX β + Zᵢᵀ Nᵢᵢ⁻¹ βᵢ
    /// ```
    fn best_exchange(
        &self,
        feature: usize,
        parts: &[Vec<f64>],
        labels: &DMatrix<f64>,
        gamma: f64,
    ) -> Option<Exchange> {
        let own = DMatrix::from_vec(labels.nrows(), parts.len(), parts.concat());
        let cross = self.columns.tr_mul(&own);
        let z = &self.inverse * &cross;
        let mut d = own.tr_mul(&own) - cross.tr_mul(&z);
        for at in 0..parts.len() {
            d[(at, at)] += gamma;
        }
        let r = own.tr_mul(labels) - cross.tr_mul(&self.weights);
        let mut best: Option<Exchange> = None;
        for (out, block) in self.blocks.iter().enumerate() {
            let gained = match (parts.len(), block.len()) {
                (1, 1) => {
                    let (at, own) = (block.start, z[(block.start, 0)]);
                    let share = own / self.inverse[(at, at)];
                    let squares: f64 =
                        r.iter().zip(self.weights.row(at).iter()).map(|(r, w)| (r + share * w).powi(2)).sum();
                    0.5 * squares / (d[(0, 0)] + own * share)
                }
                _ => self.gained(&z, &d, &r, block)?,
            };
            let gain = gained - self.losses[out];
            if best.is_none_or(|best| gain > best.gain) {
                best = Some(Exchange { gain, out, feature });
            }
        }
        best
    }

    /// What `j` gains in the place of the columns `block`, where either has several columns.
    fn gained(
        &self,
        z: &DMatrix<f64>,
        d: &DMatrix<f64>,
        r: &DMatrix<f64>,
        block: &std::ops::Range<usize>,
    ) -> Option<f64> {
        let len = block.len();
        let inner = self.inverse.view((block.start, block.start), (len, len)).into_owned();
        let own = z.rows(block.start, len).into_owned();
        let shares = fewest_linalg::cholesky(inner)?.solve(&own);
        let d = d + own.tr_mul(&shares);
        let r = r + shares.tr_mul(&self.weights.rows(block.start, len));
        Some(0.5 * r.dot(&fewest_linalg::cholesky(d)?.solve(&r)))
    }
}

pub(super) fn too_small() -> Error {
    Error::Numerical { what: "the ridge regression", hint: "raise `ridge`".to_owned() }
}

#[cfg(test)]
mod tests {
    use fewest_core::{DenseColumns, FeatureKind, Target, derive_seed};

    use super::super::label_matrix;
    use super::*;

    /// Features that repeat each other more or less, the last one a category of three levels.
    fn table(seed: u64) -> Result<Dataset, Error> {
        let noise = |j: u64| -> Vec<f64> {
            (0..40).map(|i| derive_seed(seed * 100 + j, i) as f64 / u64::MAX as f64 - 0.5).collect()
        };
        let base = [noise(50), noise(51), noise(52)];
        let mut columns: Vec<Vec<f64>> = (0..7)
            .map(|j| {
                noise(j)
                    .iter()
                    .enumerate()
                    .map(|(i, e)| base[j as usize % 3][i] + 0.7 * base[(j as usize + 1) % 3][i] + 0.6 * e)
                    .collect()
            })
            .collect();
        columns.push(base[0].iter().map(|x| (3.0 * (x + 0.5)).floor()).collect());
        let labels: Vec<i32> = (0..40)
            .map(|i| ((base[0][i] + base[1][i]) * 2.0).round() as i32 - (base[2][i] > 0.2) as i32)
            .collect();
        let mut kinds = vec![FeatureKind::Numeric; 8];
        kinds[7] = FeatureKind::Categorical { levels: ["a", "b", "c"].map(str::to_owned).to_vec() };
        Dataset::new(DenseColumns::from_columns(&columns)?, Target::from_labels(&labels))?
            .with_feature_kinds(kinds)
    }

    /// The objective from the definition, with the inverse over samples.
    fn objective(data: &Dataset, labels: &DMatrix<f64>, gamma: f64, set: &[usize]) -> Result<f64, Error> {
        let n = labels.nrows();
        let mut inner = DMatrix::identity(n, n);
        for &j in set {
            for column in prepared(data, j)? {
                let x = nalgebra::DVector::from_vec(column);
                inner.ger(1.0 / gamma, &x, &x, 1.0);
            }
        }
        let inverse = inner.try_inverse().unwrap_or_else(|| DMatrix::zeros(n, n));
        Ok(0.5 * labels.dot(&(inverse * labels)))
    }

    fn sets(d: usize, k: usize) -> Vec<Vec<usize>> {
        (0_u32..1 << d)
            .filter(|bits| bits.count_ones() as usize == k)
            .map(|bits| (0..d).filter(|j| bits >> j & 1 == 1).collect())
            .collect()
    }

    #[test]
    fn exchanges_find_the_best_set_of_all() -> Result<(), Error> {
        let context = Context::default();
        let mut swaps = 0;
        for seed in 0..20 {
            let data = table(seed)?;
            let labels = label_matrix(data.classes("test")?, &Context::default())?;
            let gamma = [0.4, 4.0, 40.0][seed as usize % 3];
            for k in [1, 2, 3, 4] {
                // From the first features, which are no guess at all.
                let start = (0..k).collect();
                let every: Vec<usize> = (0..8).collect();
                let found = improve(&data, &labels, gamma, start, &every, &context)?;
                swaps += found.n_swaps;
                let mut best = f64::INFINITY;
                for set in sets(8, k) {
                    best = best.min(objective(&data, &labels, gamma, &set)?);
                }
                let direct = objective(&data, &labels, gamma, &found.features)?;
                assert!((found.objective - direct).abs() <= 1e-9 * direct, "{seed} {k}");
                assert!(direct <= best * (1.0 + 1e-9), "table {seed}, k = {k}: {direct} and {best}");
                for (i, loss) in found.losses.iter().enumerate() {
                    let mut rest = found.features.clone();
                    rest.remove(i);
                    let without = objective(&data, &labels, gamma, &rest)?;
                    assert!((without - direct - loss).abs() <= 1e-8 * without, "{seed} {k} {i}");
                }
            }
        }
        assert!(swaps > 20, "{swaps}");
        Ok(())
    }
}
