//! Features as coordinates, and the order of samples that random draws refer to.

use fewest_columns::{Standard, range};
use fewest_core::{Dataset, Error, Target, derive_seed, order};
use fewest_machines::Encoding;

/// Features as coordinates.
pub(crate) struct Table {
    /// The features that vary in the training samples, increasing.
    pub(crate) varying: Vec<usize>,
    /// The coordinates of each of them, one after the other.
    pub(crate) coordinates: Vec<Vec<f64>>,
}

impl Table {
    /// The samples `rows`, encoded by what the first `n_train` of them are.
    pub(crate) fn new(data: &Dataset, rows: &[usize], n_train: usize) -> Result<Self, Error> {
        if n_train < 2 {
            return Err(Error::TooFew { what: "samples to learn from", minimum: 2, found: n_train });
        }
        data.refuse_sample_weights("a wrapper")?;
        let encoding = Encoding::fit(&data.subset(&rows[..n_train])?)?;
        let points = encoding.encode(data.subset(rows)?.x())?;
        let (mut varying, mut coordinates) = (Vec::new(), Vec::new());
        for (j, values) in encoding.by_feature(&points).into_iter().enumerate() {
            let mut each = values.chunks_exact(rows.len());
            if each.any(|values| values[..n_train].iter().any(|value| *value != values[0])) {
                varying.push(j);
                coordinates.push(values);
            }
        }
        if varying.is_empty() {
            return Err(Error::TooFew { what: "features that vary", minimum: 1, found: 0 });
        }
        Ok(Self { varying, coordinates })
    }
}

/// Minus the mean of the first `n_train` values, divided by their standard deviation; none if they are all
/// equal.
pub(crate) fn standardised(mut values: Vec<f64>, n_train: usize) -> Option<Vec<f64>> {
    let train = &values[..n_train];
    Standard::of(train, range(train))?.apply(&mut values);
    Some(values)
}

/// Orders of samples and features that depend on what they are: neither on the order of rows or of columns,
/// nor on the units of features and target. Random permutations and folds are drawn in such an order.
pub(crate) struct Canonical {
    /// The samples in their order.
    pub(crate) samples: Vec<usize>,
    /// The features are in the order of these numbers.
    pub(crate) features: Vec<u64>,
}

/// Rounds of [`Canonical::of`]: in the second, features are told apart by the samples of the first.
const ROUNDS: usize = 2;

impl Canonical {
    /// By hashes of the ranks of values among those of their feature: a feature's hash is a sum over the
    /// samples, and a sample's a sum over the features.
    pub(crate) fn of(data: &Dataset) -> Result<Self, Error> {
        let mut samples = vec![0_u64; data.n_samples()];
        let mut add = |ranks: Vec<u64>, stream: u64| {
            for (sum, rank) in samples.iter_mut().zip(ranks) {
                *sum = sum.wrapping_add(derive_seed(stream, rank));
            }
        };
        match data.target() {
            Target::Real(outputs) => {
                (0..outputs.n_outputs()).for_each(|k| add(ranks(outputs.output(k)), k as u64));
            }
            Target::Class(classes) => {
                add(classes.codes().iter().map(|&code| u64::from(code)).collect(), 0);
            }
            _ => {}
        }
        let mut column = vec![0.0; data.n_samples()];
        let mut of_features = Vec::with_capacity(data.n_features());
        for j in 0..data.n_features() {
            data.x().copy_column(j, &mut column)?;
            of_features.push(ranks(&column));
        }
        let mut features = vec![0_u64; data.n_features()];
        for _ in 0..ROUNDS {
            for (feature, ranks) in features.iter_mut().zip(&of_features) {
                let add =
                    |sum: u64, (&sample, &rank): (&u64, &u64)| sum.wrapping_add(derive_seed(sample, rank));
                *feature = samples.iter().zip(ranks).fold(0, add);
            }
            for (&feature, ranks) in features.iter().zip(&of_features) {
                for (sum, &rank) in samples.iter_mut().zip(ranks) {
                    *sum = sum.wrapping_add(derive_seed(feature, rank));
                }
            }
        }
        let mut order: Vec<usize> = (0..samples.len()).collect();
        order.sort_by_key(|&row| samples[row]);
        Ok(Self { samples: order, features })
    }
}

/// How many different values are smaller than each.
fn ranks(values: &[f64]) -> Vec<u64> {
    // Adding zero turns -0.0 into 0.0.
    let values: Vec<f64> = values.iter().map(|value| value + 0.0).collect();
    let distinct = order::distinct(values.clone());
    values.iter().map(|value| distinct.partition_point(|other| other < value) as u64).collect()
}

#[cfg(test)]
mod tests {
    use fewest_core::{DenseColumns, FeatureKind};

    use super::*;

    fn data() -> Dataset {
        let columns = [vec![1.0, 3.0, 5.0, 100.0], vec![2.0, 2.0, 2.0, 3.0], vec![0.0, 1.0, 1.0, 2.0]];
        let levels = ["a", "b", "c"].map(str::to_owned).to_vec();
        let kinds = vec![FeatureKind::Numeric, FeatureKind::Numeric, FeatureKind::Categorical { levels }];
        let x = DenseColumns::from_columns(&columns).unwrap();
        Dataset::new(x, Target::None).unwrap().with_feature_kinds(kinds).unwrap()
    }

    #[test]
    fn test_samples_are_encoded_by_the_training_samples() {
        let table = Table::new(&data(), &[2, 1, 0, 3], 3).unwrap();
        assert_eq!(table.varying, [0, 2]);
        let deviation = (8.0_f64 / 3.0).sqrt();
        let expected = [2.0, 0.0, -2.0, 97.0].map(|value| value / deviation);
        for (value, expected) in table.coordinates[0].iter().zip(expected) {
            assert!((value - expected).abs() < 1e-13);
        }
        // The level of the last sample is not known.
        let height = std::f64::consts::FRAC_1_SQRT_2;
        assert_eq!(table.coordinates[1], [0.0, 0.0, height, 0.0, height, height, 0.0, 0.0]);
        let last = standardised(vec![5.0, 3.0, 1.0, 100.0], 3).unwrap()[3];
        assert!((last - 97.0 / deviation).abs() < 1e-12);
    }

    /// Rows and columns in another order, and columns in other units.
    #[test]
    fn the_order_of_samples_follows_the_samples() {
        let columns =
            [vec![1.0, 3.0, 3.0, 100.0, 7.0], vec![3.0, 1.0, 1.0, 2.0, 2.0], vec![0.0, 1.0, 1.0, 2.0, 0.0]];
        let target = [1.0, 2.0, 3.0, 4.0, 5.0];
        let of = |rows: &[usize], order: &[usize], unit: f64| {
            let column = |&j: &usize| rows.iter().map(|&row| unit * columns[j][row]).collect::<Vec<f64>>();
            let x = DenseColumns::from_columns(&order.iter().map(column).collect::<Vec<_>>()).unwrap();
            let target = Target::real(rows.iter().map(|&row| unit * target[row]).collect()).unwrap();
            let canonical = Canonical::of(&Dataset::new(x, target).unwrap()).unwrap();
            let mut features = vec![0; 3];
            order.iter().zip(&canonical.features).for_each(|(&j, &number)| features[j] = number);
            (canonical.samples.iter().map(|&i| rows[i]).collect::<Vec<_>>(), features)
        };
        let first = of(&[0, 1, 2, 3, 4], &[0, 1, 2], 1.0);
        assert_eq!(first, of(&[2, 0, 4, 3, 1], &[2, 0, 1], 1.0));
        assert_eq!(first, of(&[4, 3, 2, 1, 0], &[1, 2, 0], 0.3));
    }
}
