//! Features as coordinates, and the order of samples that random draws refer to.

use fewest_columns::{Standard, range};
use fewest_core::{Dataset, Error, Target, derive_seed};
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

/// The samples in an order that depends on their values and not on the order of the rows: by a hash of their
/// values and target that does not depend on the order of features either. Random permutations and folds are
/// drawn in this order, so that a result depends on neither order.
pub(crate) fn canonical_order(data: &Dataset) -> Result<Vec<usize>, Error> {
    // Adding zero turns -0.0 into 0.0.
    let digest = |value: f64, stream: u64| derive_seed((value + 0.0).to_bits(), stream);
    let mut digests = vec![0_u64; data.n_samples()];
    let mut add = |column: &[f64], stream: u64| {
        for (sum, &value) in digests.iter_mut().zip(column) {
            *sum = sum.wrapping_add(digest(value, stream));
        }
    };
    match data.target() {
        Target::Real(outputs) => (0..outputs.n_outputs()).for_each(|k| add(outputs.output(k), 1 + k as u64)),
        Target::Class(classes) => {
            let codes: Vec<f64> = classes.codes().iter().map(|&code| f64::from(code)).collect();
            add(&codes, 1);
        }
        _ => {}
    }
    let mut column = vec![0.0; data.n_samples()];
    for j in 0..data.n_features() {
        data.x().copy_column(j, &mut column)?;
        add(&column, 0);
    }
    let mut order: Vec<usize> = (0..digests.len()).collect();
    order.sort_by_key(|&row| digests[row]);
    Ok(order)
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

    #[test]
    fn the_order_of_samples_follows_the_samples() {
        let target = Target::real(vec![1.0, 2.0, 3.0, 4.0]).unwrap();
        let data = Dataset::shared(data().shared_x(), target).unwrap();
        let order = canonical_order(&data).unwrap();
        let rows = [2, 0, 3, 1];
        let other = canonical_order(&data.subset(&rows).unwrap()).unwrap();
        assert_eq!(order, other.iter().map(|&i| rows[i]).collect::<Vec<_>>());
    }
}
