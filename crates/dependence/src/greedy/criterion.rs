//! `tr(M̄ L̄)` of a set of features, and of the sets one feature away from it.

use fewest_columns::{chance_of_one_level, finite_values, standardise};
use fewest_core::method::KernelWidth;
use fewest_core::{Context, Dataset, Error, FeatureKind, Status};
use fewest_kernels::{exp_in_place, median_distance, packed_len};
use fewest_linalg::dot_products;
use fewest_linalg::lanes::sum;

use crate::OutputKernel;
use crate::atoms::CentredTarget;

/// Pairs of samples worked on at a time: they stay in the processor's first cache.
const PAIRS: usize = 1024;

/// Features scored between two checks of the clock.
const ROUND: usize = 256;

/// Pairs of samples of one feature between two checks.
const LOOK: usize = 1 << 22;

/// Columns of distances between two checks.
const COLUMNS: usize = 256;

/// The features, standardised, and the target's centred Gram matrix.
///
/// Pairs of samples `i < j` are listed column after column, `j` by `j`.
pub(super) struct Criterion {
    n: usize,
    /// A column a feature; `None` for a constant one.
    columns: Vec<Option<Distance>>,
    /// `2 L̄ᵢⱼ` of every pair: each stands for its mirror image too.
    target: Vec<f64>,
    /// `Σᵢ L̄ᵢᵢ`; the kernel is 1 on the diagonal.
    diagonal: f64,
    /// `1 / (2 σ²)`.
    scale: f64,
}

/// What makes up the squared distances of one feature.
enum Distance {
    /// `(x − x′)²` of standardised values.
    Numeric(Vec<f64>),
    /// The same number for any two different categories, such that the mean over all pairs is that of a
    /// numeric feature.
    Categorical(Vec<f64>, f64),
}

impl Distance {
    fn new(data: &Dataset, j: usize) -> Result<Option<Self>, Error> {
        let mut values = finite_values(data, j)?;
        if let FeatureKind::Categorical { .. } = data.feature_kind(j) {
            let equal = chance_of_one_level(&values);
            return Ok((equal < 1.0).then(|| Self::Categorical(values, 2.0 / (1.0 - equal))));
        }
        Ok(standardise(&mut values).then_some(Self::Numeric(values)))
    }

    /// `out[i] += sign · distance(i, j)` for the samples `i < j`.
    fn add(&self, j: usize, sign: f64, out: &mut [f64]) {
        match self {
            Self::Numeric(values) => {
                let x = values[j];
                out.iter_mut().zip(values).for_each(|(out, value)| *out += sign * (value - x) * (value - x));
            }
            Self::Categorical(codes, distance) => {
                let (x, step) = (codes[j], sign * distance);
                out.iter_mut().zip(codes).for_each(|(out, code)| *out += if *code == x { 0.0 } else { step });
            }
        }
    }
}

impl Criterion {
    pub(super) fn new(
        data: &Dataset,
        output: &OutputKernel,
        width: KernelWidth,
        method: &'static str,
        context: &Context<'_>,
    ) -> Result<Self, Error> {
        let n = data.n_samples();
        if n < 2 {
            return Err(Error::TooFew { what: "samples", minimum: 2, found: n });
        }
        data.refuse_sample_weights(method)?;
        let columns = fewest_parallel::try_map(data.n_features(), |j| {
            context.go_on("every feature had been read")?;
            Distance::new(data, j)
        })?;
        let (mut target, mut diagonal) = (Vec::with_capacity(packed_len(n) - n), Vec::with_capacity(n));
        CentredTarget::new(data, output, method, context)?.each(context, |j, column| {
            target.extend(column[..j].iter().map(|value| 2.0 * value));
            diagonal.push(column[j]);
        })?;
        let mut criterion = Self { n, columns, target, diagonal: sum(&diagonal), scale: 0.0 };
        let sigma = match width {
            KernelWidth::Value(sigma) => sigma,
            KernelWidth::Median => criterion.median_width(context)?,
            other => {
                let expected = "a number above 0, or median";
                return Err(Error::parameter("sigma_x", format!("{other:?}"), expected));
            }
        };
        criterion.scale = 0.5 / (sigma * sigma);
        Ok(criterion)
    }

    /// The median distance of two samples over all features ([`median_distance`]), divided by the root of
    /// their number; 1 where all distances are 0.
    fn median_width(&self, context: &Context<'_>) -> Result<f64, Error> {
        let features = self.candidates();
        let median = median_distance(self.distances(&features, context)?);
        Ok(median.map_or(1.0, |median| median / (features.len() as f64).sqrt()))
    }

    /// The features that vary.
    pub(super) fn candidates(&self) -> Vec<usize> {
        (0..self.columns.len()).filter(|&j| self.columns[j].is_some()).collect()
    }

    /// Squared distances over no feature.
    pub(super) fn no_distances(&self) -> Vec<f64> {
        vec![0.0; packed_len(self.n) - self.n]
    }

    /// Adds feature `feature` to the squared distances.
    pub(super) fn add(&self, feature: usize, distances: &mut [f64]) {
        let Some(column) = &self.columns[feature] else { return };
        let mut rest = distances;
        for j in 1..self.n {
            let (own, after) = rest.split_at_mut(j);
            column.add(j, 1.0, own);
            rest = after;
        }
    }

    /// The squared distances over `features`: in their order, whatever the number of threads.
    ///
    /// # Errors
    /// [`Error::Stopped`] when the context says so.
    pub(super) fn distances(&self, features: &[usize], context: &Context<'_>) -> Result<Vec<f64>, Error> {
        let mut distances = Vec::with_capacity(packed_len(self.n) - self.n);
        for start in (0..self.n).step_by(COLUMNS) {
            context.go_on("the distances between samples were known")?;
            let columns = fewest_parallel::map(COLUMNS.min(self.n - start), |at| {
                let mut own = vec![0.0; start + at];
                features
                    .iter()
                    .filter_map(|&feature| self.columns[feature].as_ref())
                    .for_each(|column| column.add(start + at, 1.0, &mut own));
                own
            });
            columns.iter().for_each(|own| distances.extend_from_slice(own));
        }
        Ok(distances)
    }

    /// `tr(M̄ L̄)` for `distances` changed by `sign` times those of each of `features`; `size` features are
    /// then in the set.
    ///
    /// # Errors
    /// The status to stop with, when the run is to stop.
    pub(super) fn scores(
        &self,
        distances: &[f64],
        sign: f64,
        features: &[usize],
        size: usize,
        context: &Context<'_>,
    ) -> Result<Vec<f64>, Status> {
        // Distances grow with the number of features: dividing by it keeps the kernel's width where it is.
        let scale = -self.scale / size.max(1) as f64;
        let mut scores = Vec::with_capacity(features.len());
        for round in features.chunks(ROUND) {
            if let Some(status) = context.stopped() {
                return Err(status);
            }
            let found = fewest_parallel::map_with(round.len(), |buffer, at| {
                self.score(distances, sign, round[at], scale, buffer, context)
            });
            for score in found {
                scores.push(score?);
            }
        }
        Ok(scores)
    }

    /// `tr(M̄ L̄)` of the set of `size` features that `distances` belong to.
    ///
    /// # Errors
    /// As [`scores`](Self::scores).
    pub(super) fn of(&self, distances: &[f64], size: usize, context: &Context<'_>) -> Result<f64, Status> {
        self.trace(distances, None, 1.0, -self.scale / size.max(1) as f64, &mut Vec::new(), context)
    }

    fn score(
        &self,
        distances: &[f64],
        sign: f64,
        feature: usize,
        scale: f64,
        buffer: &mut Vec<f64>,
        context: &Context<'_>,
    ) -> Result<f64, Status> {
        match &self.columns[feature] {
            Some(column) => self.trace(distances, Some(column), sign, scale, buffer, context),
            None => Ok(f64::NEG_INFINITY),
        }
    }

    fn trace(
        &self,
        distances: &[f64],
        change: Option<&Distance>,
        sign: f64,
        scale: f64,
        buffer: &mut Vec<f64>,
        context: &Context<'_>,
    ) -> Result<f64, Status> {
        let (mut total, mut first) = (self.diagonal, 0);
        let mut j = 1;
        let mut since_look = LOOK;
        while j < self.n {
            if since_look >= LOOK {
                since_look = 0;
                if let Some(status) = context.stopped() {
                    return Err(status);
                }
            }
            buffer.clear();
            while j < self.n && (buffer.is_empty() || buffer.len() + j <= PAIRS) {
                let start = buffer.len();
                buffer.extend_from_slice(&distances[first + start..first + start + j]);
                if let Some(column) = change {
                    column.add(j, sign, &mut buffer[start..]);
                }
                j += 1;
            }
            // Rounding may leave a distance just below zero when a feature is taken away.
            buffer.iter_mut().for_each(|distance| *distance = scale * distance.max(0.0));
            exp_in_place(buffer);
            let mut product = [0.0];
            dot_products(buffer, &self.target[first..first + buffer.len()], buffer.len(), &mut product);
            total += product[0];
            first += buffer.len();
            since_look += buffer.len();
        }
        Ok(total)
    }
}

#[cfg(test)]
mod tests {
    use fewest_core::{DenseColumns, Target};
    use fewest_kernels::Gram;

    use super::*;

    /// Against the definition: whole Gram matrices, centred, their inner product.
    #[test]
    fn scores_are_the_trace_of_centred_gram_matrices() -> Result<(), Error> {
        let n = 67;
        let noise = |seed: u64| -> Vec<f64> {
            (0..n).map(|i| fewest_core::derive_seed(seed, i) as f64 / u64::MAX as f64).collect()
        };
        let codes: Vec<f64> = noise(4).iter().map(|u| (3.0 * u).floor()).collect();
        let columns = vec![noise(1), noise(2), codes.clone(), vec![1.0; n as usize]];
        let levels = vec!["a".to_owned(), "b".to_owned(), "c".to_owned()];
        let mut kinds = vec![FeatureKind::Numeric; 4];
        kinds[2] = FeatureKind::Categorical { levels };
        let data = Dataset::new(DenseColumns::from_columns(&columns)?, Target::real(noise(3))?)?
            .with_feature_kinds(kinds)?;
        let context = Context::default();
        let criterion =
            Criterion::new(&data, &OutputKernel::Auto, KernelWidth::Value(0.7), "fhsic", &context)?;
        assert_eq!(criterion.candidates(), [0, 1, 2]);

        let (mut a, mut b) = (noise(1), noise(2));
        standardise(&mut a);
        standardise(&mut b);
        let share = |code: f64| codes.iter().filter(|&&other| other == code).count() as f64 / n as f64;
        let step = 2.0 / (1.0 - (0..3).map(|code| share(f64::from(code)).powi(2)).sum::<f64>());
        let gram = Gram::from_fn(n as usize, |i, j| {
            let distance =
                (a[i] - a[j]).powi(2) + (b[i] - b[j]).powi(2) + if codes[i] == codes[j] { 0.0 } else { step };
            (-distance / (2.0 * 3.0 * 0.49)).exp()
        });
        let mut target = Vec::new();
        CentredTarget::new(&data, &OutputKernel::Auto, "fhsic", &context)?
            .each(&context, |_, column| target.extend_from_slice(column))?;
        let expected = gram.centre().inner(&Gram::from_values(target, n as usize)?);
        let mut distances = criterion.no_distances();
        criterion.add(0, &mut distances);
        criterion.add(1, &mut distances);
        let found = criterion.scores(&distances, 1.0, &[2, 3], 3, &context).unwrap_or_default();
        assert!((found[0] - expected).abs() < 1e-10 * expected, "{found:?} for {expected}");
        assert_eq!(found[1], f64::NEG_INFINITY);

        // The median width is that of the distances over all features that vary.
        let by_median = Criterion::new(&data, &OutputKernel::Auto, KernelWidth::Median, "fhsic", &context)?;
        let mut lengths: Vec<f64> = criterion
            .distances(&[0, 1, 2], &context)?
            .iter()
            .map(|distance| (distance / 3.0).sqrt())
            .collect();
        lengths.sort_unstable_by(f64::total_cmp);
        let (below, above) = (lengths[(lengths.len() - 1) / 2], lengths[lengths.len() / 2]);
        let sigma = (0.5 / by_median.scale).sqrt();
        assert!((sigma - 0.5 * (below + above)).abs() < 1e-12 && sigma > 0.5, "{sigma}");

        // Taking away feature 1 again leaves features 0 and 2.
        let all = criterion.distances(&[0, 1, 2], &context)?;
        let away = criterion.scores(&all, -1.0, &[1], 2, &context).unwrap_or_default();
        let two = criterion.distances(&[0], &context)?;
        let direct = criterion.scores(&two, 1.0, &[2], 2, &context).unwrap_or_default();
        assert!((away[0] - direct[0]).abs() < 1e-10 * direct[0]);
        Ok(())
    }
}
