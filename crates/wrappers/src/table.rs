//! Features as coordinates, and the order of samples that random draws refer to.

use fewest_core::{Dataset, Error, FeatureKind, derive_seed};

/// Features as coordinates of the samples `rows`; the first `n_train` of them are those that machines learn from, and
/// the scaling is theirs.
///
/// A numeric feature is standardised. A categorical one gets a coordinate for each level, `1/√(1 − Σ p²)` for samples of
/// that level with `p` the shares of the levels: then the mean squared distance of two samples in it is 2, that of a
/// numeric feature. Levels that no training sample has are all zeros.
pub(crate) struct Table {
    /// The coordinates of each feature, one after the other; `None` for a feature that is constant in the training samples.
    features: Vec<Option<Vec<f64>>>,
}

impl Table {
    /// The samples `rows`, of which the first `n_train` are to learn from.
    pub(crate) fn split(data: &Dataset, rows: &[usize], n_train: usize) -> Result<Self, Error> {
        if n_train < 2 {
            return Err(Error::TooFew { what: "samples to learn from", minimum: 2, found: n_train });
        }
        if data.sample_weights().is_some() {
            return Err(Error::Unsupported {
                method: "a wrapper",
                what: "weighting samples".to_owned(),
                instead: "leave the weights out, or repeat rows".to_owned(),
            });
        }
        let mut whole = vec![0.0; data.n_samples()];
        let mut features = Vec::with_capacity(data.n_features());
        for j in 0..data.n_features() {
            data.x().copy_column(j, &mut whole);
            data.check_finite(j, &whole)?;
            let values: Vec<f64> = rows.iter().map(|&row| whole[row]).collect();
            features.push(match data.feature_kind(j) {
                FeatureKind::Categorical { .. } => indicators(&values, n_train),
                _ => standardised(values, n_train),
            });
        }
        Ok(Self { features })
    }

    /// The features that vary, increasing.
    pub(crate) fn varying(&self) -> Vec<usize> {
        (0..self.features.len()).filter(|&j| self.features[j].is_some()).collect()
    }

    /// The coordinates of the features that vary.
    pub(crate) fn into_coordinates(self) -> Vec<Vec<f64>> {
        self.features.into_iter().flatten().collect()
    }
}

fn indicators(values: &[f64], n_train: usize) -> Option<Vec<f64>> {
    let mut sorted = values[..n_train].to_vec();
    sorted.sort_by(f64::total_cmp);
    let levels: Vec<&[f64]> = sorted.chunk_by(|a, b| a == b).collect();
    if levels.len() < 2 {
        return None;
    }
    let equal: f64 = levels.iter().map(|level| (level.len() as f64 / n_train as f64).powi(2)).sum();
    let height = 1.0 / (1.0 - equal).sqrt();
    let coordinate = |level: &f64| {
        let level = *level;
        values.iter().map(move |&value| if value == level { height } else { 0.0 })
    };
    Some(levels.iter().filter_map(|level| level.first()).flat_map(coordinate).collect())
}

pub(crate) fn standardised(mut values: Vec<f64>, n_train: usize) -> Option<Vec<f64>> {
    let train = &values[..n_train];
    if train.iter().all(|value| *value == train[0]) {
        return None;
    }
    // Divided by the largest first, so that no square overflows; two rounds of centring keep the digits of a feature
    // with a large offset.
    let largest = train.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
    let n = n_train as f64;
    values.iter_mut().for_each(|value| *value /= largest);
    for _ in 0..2 {
        let mean = values[..n_train].iter().sum::<f64>() / n;
        values.iter_mut().for_each(|value| *value -= mean);
    }
    let deviation = (values[..n_train].iter().map(|value| value * value).sum::<f64>() / n).sqrt();
    if !(deviation > 0.0) {
        return None;
    }
    values.iter_mut().for_each(|value| *value /= deviation);
    Some(values)
}

/// The samples in an order that depends on what they are and not on where they are: by a digest of their values and target
/// that does not see the order of features either. Random permutations and folds are drawn in it, so that an answer
/// depends on neither order.
pub(crate) fn canonical_order(data: &Dataset, target: &[f64]) -> Vec<usize> {
    // Adding zero makes -0.0 and 0.0 one value.
    let digest = |value: f64, stream: u64| derive_seed((value + 0.0).to_bits(), stream);
    let mut digests: Vec<u64> = target.iter().map(|&value| digest(value, 1)).collect();
    let mut column = vec![0.0; data.n_samples()];
    for j in 0..data.n_features() {
        data.x().copy_column(j, &mut column);
        for (sum, &value) in digests.iter_mut().zip(&column) {
            *sum = sum.wrapping_add(digest(value, 0));
        }
    }
    let mut order: Vec<usize> = (0..digests.len()).collect();
    order.sort_by_key(|&row| digests[row]);
    order
}

#[cfg(test)]
mod tests {
    use fewest_core::{DenseColumns, Target};

    use super::*;

    fn data() -> Dataset {
        let columns = [vec![1.0, 3.0, 5.0, 100.0], vec![2.0; 4], vec![0.0, 1.0, 1.0, 2.0]];
        let levels = ["a", "b", "c"].map(str::to_owned).to_vec();
        let kinds = vec![FeatureKind::Numeric, FeatureKind::Numeric, FeatureKind::Categorical { levels }];
        let x = DenseColumns::from_columns(&columns).unwrap();
        Dataset::new(x, Target::None).unwrap().with_feature_kinds(kinds).unwrap()
    }

    #[test]
    fn test_samples_are_scaled_by_the_training_samples() {
        let table = Table::split(&data(), &[2, 1, 0, 3], 3).unwrap();
        assert_eq!(table.varying(), [0, 2]);
        let coordinates = table.into_coordinates();
        let deviation = (8.0_f64 / 3.0).sqrt();
        let expected = [2.0, 0.0, -2.0, 97.0].map(|value| value / deviation);
        for (value, expected) in coordinates[0].iter().zip(expected) {
            assert!((value - expected).abs() < 1e-13);
        }
        // Levels 0 and 1 with shares 1/3 and 2/3; the level of the last sample is not known.
        let height = 1.5;
        let expected = [0.0, 0.0, height, 0.0, height, height, 0.0, 0.0];
        for (value, expected) in coordinates[1].iter().zip(expected) {
            assert!((value - expected).abs() < 1e-13, "{:?}", coordinates[1]);
        }
    }

    #[test]
    fn categories_are_as_far_apart_as_numbers() {
        let coordinates = Table::split(&data(), &[0, 1, 2, 3], 4).unwrap().into_coordinates();
        for values in &coordinates {
            let mut sum = 0.0;
            for i in 0..4 {
                for l in 0..4 {
                    sum += values.chunks_exact(4).map(|c| (c[i] - c[l]).powi(2)).sum::<f64>();
                }
            }
            assert!((sum / 16.0 - 2.0).abs() < 1e-12);
        }
    }

    #[test]
    fn the_order_of_samples_follows_the_samples() {
        let data = data();
        let target = [1.0, 2.0, 3.0, 4.0];
        let order = canonical_order(&data, &target);
        let rows = [2, 0, 3, 1];
        let moved: Vec<f64> = rows.iter().map(|&row| target[row]).collect();
        let other = canonical_order(&data.subset(&rows).unwrap(), &moved);
        assert_eq!(order, other.iter().map(|&i| rows[i]).collect::<Vec<_>>());
    }
}
