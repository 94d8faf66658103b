//! Standardisation and ranges, by their definitions.

use crate::support::columns;
use fewest_columns::standardise;
use fewest_core::{Columns, DenseColumns, OnDemand};
use fewest_data::Scaling;
use proptest::prelude::*;

fn table(values: &[Vec<f64>]) -> DenseColumns {
    DenseColumns::from_columns(values).unwrap()
}

fn scaled(values: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let table = table(values);
    columns(&Scaling::standardise(&table).unwrap().apply(table).unwrap())
}

fn ranged(values: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let table = table(values);
    columns(&Scaling::min_max(&table).unwrap().apply(table).unwrap())
}

fn largest_difference(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).fold(0.0, |largest: f64, (a, b)| largest.max((a - b).abs()))
}

#[test]
fn by_hand() {
    assert_eq!(scaled(&[vec![1.0, 3.0, 1.0, 3.0]]), [[-1.0, 1.0, -1.0, 1.0]]);
    assert_eq!(ranged(&[vec![2.0, 4.0, 3.0]]), [[-1.0, 1.0, 0.0]]);
}

#[test]
fn constants_become_zero() {
    for constant in [0.0, 0.1, -1e300, 5e-324, 1.0 / 3.0] {
        let column = vec![vec![constant; 7]];
        assert_eq!(scaled(&column), [[0.0; 7]]);
        assert_eq!(ranged(&column), [[0.0; 7]]);
    }
}

#[test]
fn offsets_and_sizes_cost_nothing() {
    // Multiples of 2⁻¹⁰, so that adding the offset is exact and the answer must not change at all.
    let values: Vec<f64> = (0..101).map(|i| f64::from(i * i % 97) / 1024.0).collect();
    let expected = scaled(std::slice::from_ref(&values)).concat();
    for offset in [1e5, -1e9, 1e10] {
        let moved: Vec<f64> = values.iter().map(|value| value + offset).collect();
        assert_eq!(scaled(&[moved]).concat(), expected, "{offset}");
    }
    for size in [2.0_f64.powi(900), 2.0_f64.powi(-900)] {
        let larger: Vec<f64> = values.iter().map(|value| value * size).collect();
        assert_eq!(scaled(&[larger]).concat(), expected, "{size}");
    }
    let extremes = vec![f64::MAX, -f64::MAX, f64::MAX, -f64::MAX];
    assert_eq!(scaled(std::slice::from_ref(&extremes)), [[1.0, -1.0, 1.0, -1.0]]);
    assert_eq!(ranged(&[extremes]), [[1.0, -1.0, 1.0, -1.0]]);
}

#[test]
fn the_first_value_that_is_not_finite_is_named() {
    let table = table(&[vec![1.0, 2.0], vec![1.0, f64::NAN], vec![f64::INFINITY, 0.0]]);
    for scaling in [Scaling::standardise(&table), Scaling::min_max(&table)] {
        let message = scaling.unwrap_err().to_string();
        assert!(message.contains("column 1") && message.contains("sample 1"), "{message}");
    }
}

#[test]
fn what_training_says_is_applied_to_the_test_samples() {
    let train = table(&[vec![0.0, 2.0], vec![5.0, 5.0]]);
    let test = table(&[vec![4.0, -1.0, 1.0], vec![5.0, 6.0, 7.0]]);
    let scaling = Scaling::standardise(&train).unwrap();
    let applied = scaling.clone().apply(test).unwrap();
    assert_eq!(columns(&applied), [[3.0, -2.0, 0.0], [0.0; 3]]);
    assert!(scaling.apply(table(&[vec![1.0]])).is_err());
}

#[test]
fn tables_of_any_kind_are_scaled_alike() {
    let dense = table(&[vec![0.0, 0.0, 3.0], vec![-1.0, 0.0, 0.0]]);
    let on_demand = OnDemand::new(3, 2, |j, out: &mut [f64]| {
        out.copy_from_slice(&[[0.0, 0.0, 3.0], [-1.0, 0.0, 0.0]][j]);
        Ok(())
    });
    let sparse =
        nalgebra_sparse::CscMatrix::try_from_csc_data(3, 2, vec![0, 1, 2], vec![2, 0], vec![3.0, -1.0])
            .unwrap();
    let of = |table: &dyn Columns| Scaling::standardise(table).unwrap();
    assert_eq!(of(&dense), of(&on_demand));
    assert_eq!(of(&dense), of(&sparse));
    assert_eq!(columns(&of(&dense).apply(dense).unwrap()), columns(&of(&sparse).apply(sparse).unwrap()));
}

proptest! {
    #[test]
    fn moments_and_ranges_are_as_defined(values in prop::collection::vec(-1e6_f64..1e6, 2..60)) {
        prop_assume!(values.iter().any(|value| (value - values[0]).abs() > 1e-3));
        let n = values.len() as f64;
        let z = scaled(std::slice::from_ref(&values)).concat();
        let mean = z.iter().sum::<f64>() / n;
        let variance = z.iter().map(|z| z * z).sum::<f64>() / n;
        prop_assert!(mean.abs() < 1e-12, "mean {mean}");
        prop_assert!((variance - 1.0).abs() < 1e-12, "variance {variance}");
        // An increasing linear map: differences keep their ratios.
        let m = values.iter().sum::<f64>() / n;
        let s = (values.iter().map(|x| (x - m).powi(2)).sum::<f64>() / n).sqrt();
        let expected: Vec<f64> = values.iter().map(|x| (x - m) / s).collect();
        let tolerance = 1e-14 * (1.0 + 1e6 / s);
        prop_assert!(largest_difference(&z, &expected) < tolerance * 100.0);
        let mut in_place = values.clone();
        standardise(&mut in_place);
        prop_assert_eq!(&in_place, &z);
        let r = ranged(&[values]).concat();
        prop_assert_eq!(r.iter().copied().fold(f64::INFINITY, f64::min), -1.0);
        prop_assert_eq!(r.iter().copied().fold(f64::NEG_INFINITY, f64::max), 1.0);
    }
}
