use std::sync::atomic::{AtomicUsize, Ordering};

use fewest_core::{Columns, DenseColumns, OnDemand, Target};

use super::products::{FEW, PANEL, SAMPLES};
use super::*;

/// A sparse table: of each column the rows and their values, and the number of samples.
pub(crate) struct Sparse(pub(crate) Vec<(Vec<usize>, Vec<f64>)>, pub(crate) usize);

impl Columns for Sparse {
    fn n_samples(&self) -> usize {
        self.1
    }

    fn n_features(&self) -> usize {
        self.0.len()
    }

    fn column<'a>(&'a self, j: usize, _: &'a mut Vec<f64>) -> Result<Column<'a>, Error> {
        let (rows, values) = &self.0[j];
        Ok(Column::Sparse { rows, values })
    }
}

/// Products with few columns, which are taken without a copy of the rows, are those with many.
#[test]
fn products_with_few_columns_are_those_with_many() -> Result<(), Error> {
    let (n, d) = (60, PANEL + 9);
    let value = |i: usize, j: usize| ((i * (j + 3) + j * j) % 13) as f64;
    let table: Vec<Vec<f64>> = (0..d).map(|j| (0..n).map(|i| value(i, j)).collect()).collect();
    let data = Dataset::new(DenseColumns::from_columns(&table)?, Target::None)?;
    let columns = LinearColumns::with_outputs(&data, "lasso", Vec::new(), &Context::default())?;
    let rows: Vec<usize> = (0..d).rev().step_by(2).collect();
    let many: Vec<usize> = (1..d).step_by(3).take(3 * FEW).collect();
    let mut of_many = vec![0.0; rows.len() * many.len()];
    columns.products(&rows, &many, &mut of_many)?;
    for (few, expected) in many.chunks(FEW - 1).zip(of_many.chunks((FEW - 1) * rows.len())) {
        let mut of_few = vec![0.0; expected.len()];
        columns.products(&rows, few, &mut of_few)?;
        assert!(of_few.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12));
    }
    assert!(of_many.iter().any(|product| *product > 0.1));
    Ok(())
}

/// Sums of many columns with several weights, dense and sparse, over several stretches of samples, are
/// those of one column after the other.
#[test]
fn columns_are_combined_as_one_by_one() -> Result<(), Error> {
    let (n, d, k) = (2 * SAMPLES + 7, PANEL + 9, 3);
    let value = |i: usize, j: usize| if (i * 7 + j) % 11 < 8 { 0.0 } else { ((i * (j + 3)) % 13) as f64 };
    let table: Vec<Vec<f64>> = (0..d).map(|j| (0..n).map(|i| value(i, j)).collect()).collect();
    let stored = |column: &Vec<f64>| {
        let rows: Vec<usize> = (0..n).filter(|&i| column[i] != 0.0).collect();
        let values = rows.iter().map(|&i| column[i]).collect();
        (rows, values)
    };
    let dense = Dataset::new(DenseColumns::from_columns(&table)?, Target::None)?;
    let sparse = Dataset::new(Sparse(table.iter().map(stored).collect(), n), Target::None)?;
    let chosen: Vec<usize> = (0..d).filter(|j| j % 5 != 2).collect();
    let weights: Vec<f64> = (0..chosen.len() * k).map(|at| ((at * 29) % 17) as f64 - 8.0).collect();
    for data in [dense, sparse] {
        let columns = LinearColumns::with_outputs(&data, "lufs", Vec::new(), &Context::default())?;
        let combined = columns.combined(&chosen, &weights)?;
        let outputs: Vec<Vec<(usize, f64)>> = (0..k)
            .map(|at| chosen.iter().enumerate().map(|(place, &j)| (j, weights[place * k + at])).collect())
            .collect();
        let fitted = columns.fitted(&outputs)?;
        assert!(combined.iter().zip(&fitted).all(|(a, b)| (a - b).abs() < 1e-9));
        assert_eq!(combined.len(), n * k);
    }
    Ok(())
}

/// Columns of a table in memory, dense or sparse, are not copied, and have the products of copies; those
/// far from zero, or of a size that would overflow, are copied.
#[test]
fn columns_in_memory_have_the_products_of_copies() -> Result<(), Error> {
    let n = 30;
    let value =
        |i: usize, j: usize| if (i + j).is_multiple_of(2) { 0.0 } else { ((i * (j + 3)) % 13) as f64 };
    // The last two: far from zero, and huge.
    let map = |j: usize, value: f64| match j {
        6 => 1e6 + value,
        7 => 1e200 * value,
        _ => value,
    };
    let table: Vec<Vec<f64>> = (0..8).map(|j| (0..n).map(|i| map(j, value(i, j))).collect()).collect();
    let stored = |column: &Vec<f64>| {
        let rows: Vec<usize> = (0..n).filter(|&i| column[i] != 0.0).collect();
        let values = rows.iter().map(|&i| column[i]).collect();
        (rows, values)
    };
    let target = Target::real((0..n).map(|i| ((i * i) % 17) as f64).collect())?;
    let dense = Dataset::new(DenseColumns::from_columns(&table)?, target.clone())?;
    let sparse = Dataset::new(Sparse(table.iter().map(stored).collect(), n), target.clone())?;
    let copy = table.clone();
    let fill = move |j: usize, out: &mut [f64]| {
        out.copy_from_slice(&copy[j]);
        Ok(())
    };
    let copied = Dataset::new(OnDemand::new(n, 8, fill), target)?;
    let context = Context::default();
    let copied = LinearColumns::new(&copied, "lasso", &context)?;
    assert_eq!(copied.copies.len(), 8 * n);
    let close = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-12);
    for (data, is_dense) in [(dense, true), (sparse, false)] {
        let found = LinearColumns::new(&data, "lasso", &context)?;
        assert_eq!(found.copies.len(), 2 * n);
        assert!(close(&found.outputs[0], &copied.outputs[0]));
        let (rows, support, weights) = ([7, 0, 6, 2, 5], [1, 3, 6, 7], [0.5, -2.0, 1.5, 0.25]);
        let (mut products, mut expected) = ([0.0; 20], [0.0; 20]);
        found.products(&rows, &support, &mut products)?;
        copied.products(&rows, &support, &mut expected)?;
        assert!(close(&products, &expected));
        if is_dense {
            // Wherever a column is, the same numbers come of it.
            assert_eq!((&found.outputs, products), (&copied.outputs, expected));
        }
        let mut left = [1.0; 5];
        found.subtract_fitted(&rows, &support, &weights, &mut left)?;
        let taken = |i: usize| (0..4).map(|s| weights[s] * expected[i + 5 * s]).sum::<f64>();
        assert!(close(&left, &(0..5).map(|i| 1.0 - taken(i)).collect::<Vec<f64>>()), "{left:?}");
    }
    Ok(())
}

/// A level is a column of ones where it is, standardised: the same one by the rows that are kept of rare
/// levels, of which no copies are made, as by all values; with and without weights.
#[test]
fn levels_have_the_columns_of_their_indicators() -> Result<(), Error> {
    let n = 200;
    // One in half of the rows, and twenty others.
    let code = |i: usize| if i.is_multiple_of(2) { 0.0 } else { (1 + (i / 2 * 7) % 20) as f64 };
    let number = |i: usize| ((i * 7) % 13) as f64;
    let table = [(0..n).map(number).collect(), (0..n).map(code).collect::<Vec<f64>>()];
    let kinds = vec![
        FeatureKind::Numeric,
        FeatureKind::Categorical { levels: (0..21).map(|level| level.to_string()).collect() },
    ];
    let target = Target::real((0..n).map(|i| ((i * i) % 17) as f64).collect())?;
    let data = Dataset::new(DenseColumns::from_columns(&table)?, target)?.with_feature_kinds(kinds)?;
    let weighted = data.clone().with_sample_weights((0..n).map(|i| ((i % 5) as f64).max(0.5)).collect())?;
    let context = Context::default();
    for data in [data, weighted] {
        let columns = LinearColumns::weighted(&data, "lasso", MOST_BYTES, &context)?;
        let all: Vec<usize> = (0..columns.atoms.squared_norms.len()).collect();
        assert!(all.len() > 10);
        // The frequent one alone.
        assert_eq!(columns.copies.len(), n);
        let mut standardised = vec![0.0; n];
        let mut scratch = Vec::new();
        let close = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-12);
        for &column in &all {
            let (values, varies) = columns.build(column)?;
            assert!(varies);
            columns.stored(column, &mut scratch)?.standardise(&mut standardised);
            assert!(close(&standardised, &values), "{column}");
            let mut target = columns.targets()[0].values.clone();
            columns.weigh(&mut target);
            let product: f64 = values.iter().zip(&target).map(|(x, y)| x * y).sum::<f64>() / n as f64;
            assert!(close(&[columns.outputs[0][column]], &[product]), "{column}");
        }
        let mut products = vec![0.0; all.len() * all.len()];
        columns.products(&all, &all, &mut products)?;
        for &column in &all {
            assert!((products[column * all.len() + column] - 1.0).abs() < 1e-12, "{column}");
        }
    }
    Ok(())
}

/// Where columns are built anew for every product, one that cannot be read any more is not one of zeros.
#[test]
fn products_of_a_column_that_fails_are_an_error() -> Result<(), Error> {
    let reads = AtomicUsize::new(0);
    let wave = move |j: usize, out: &mut [f64]| {
        if j == 3 && reads.fetch_add(1, Ordering::Relaxed) > 0 {
            return Err(Error::unreadable(j, "the disk is gone"));
        }
        out.iter_mut().enumerate().for_each(|(i, value)| *value = ((i * (j + 2)) % 11) as f64);
        Ok(())
    };
    let data = Dataset::new(OnDemand::new(10, 5, wave), Target::real((0..10).map(f64::from).collect())?)?;
    let mut columns = LinearColumns::new(&data, "lasso", &Context::default())?;
    let mut kept = [0.0; 4];
    columns.products(&[1, 2], &[0, 4], &mut kept)?;
    for place in &mut columns.places {
        if let Place::Copy { scale, shift, .. } = *place {
            *place = Place::Read { scale, shift };
        }
    }
    let mut built = [0.0; 4];
    columns.products(&[1, 2], &[0, 4], &mut built)?;
    assert_eq!(built, kept);
    for (rows, others) in [([1, 3], [0, 4]), ([0, 4], [3, 1])] {
        let found = columns.products(&rows, &others, &mut built);
        assert_eq!(found, Err(Error::unreadable(3, "the disk is gone")));
    }
    Ok(())
}
