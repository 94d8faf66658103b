//! Record batches as tables; only with the feature of that name.
#![cfg(feature = "batches")]

use std::sync::Arc;

use arrow_array::{ArrayRef, Float32Array, Float64Array, RecordBatch, StringArray, UInt64Array};
use fewest_arrow::Batches;
use fewest_core::{Column, Columns, Dataset, Target};

fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    RecordBatch::try_from_iter(columns).unwrap()
}

#[test]
fn floats_of_one_batch_are_read_where_they_are() {
    let values = Float64Array::from(vec![1.0, 2.5, -3.0]);
    let place = values.values().as_ptr();
    // A slice of an array begins behind its start.
    let batch = batch(vec![("x", Arc::new(values))]);
    let x = Batches::new(std::slice::from_ref(&batch), &["x"]).unwrap();
    let mut scratch = Vec::new();
    let Ok(Column::Dense(found)) = x.column(0, &mut scratch) else { panic!("dense") };
    assert!(std::ptr::eq(found.as_ptr(), place));
    let x = Batches::new(&[batch.slice(1, 2)], &["x"]).unwrap();
    assert_eq!(x.column(0, &mut scratch), Ok(Column::Dense(&[2.5, -3.0])));
    let x = Batches::new(&[batch.slice(2, 1), batch], &["x"]).unwrap();
    assert_eq!(x.column(0, &mut scratch), Ok(Column::Dense(&[-3.0, 1.0, 2.5, -3.0])));
    assert_eq!((x.n_samples(), x.n_features()), (4, 1));
}

#[test]
fn other_numbers_are_converted_and_the_rest_is_refused() {
    let batch = batch(vec![
        ("f32", Arc::new(Float32Array::from(vec![0.1, 2.0]))),
        ("u64", Arc::new(UInt64Array::from(vec![u64::MAX, 1]))),
        ("gap", Arc::new(Float64Array::from(vec![None, Some(1.0)]))),
        ("text", Arc::new(StringArray::from(vec!["a", "b"]))),
    ]);
    let batches = [batch];
    let x = Batches::new(&batches, &["u64", "f32"]).unwrap();
    let mut scratch = Vec::new();
    assert_eq!(x.column(0, &mut scratch), Ok(Column::Dense(&[18_446_744_073_709_551_615.0, 1.0])));
    assert_eq!(x.column(1, &mut scratch), Ok(Column::Dense(&[f64::from(0.1_f32), 2.0])));
    for (name, words) in [("gap", "missing values"), ("text", "numbers"), ("none", "every batch")] {
        let message = Batches::new(&batches, &[name]).unwrap_err().to_string();
        assert!(message.contains(words) && message.contains(name), "{message}");
    }
}

#[test]
fn batches_are_the_features_of_a_data_set() -> Result<(), fewest_core::Error> {
    let batch = batch(vec![
        ("x", Arc::new(Float64Array::from(vec![1.0, 2.5, -3.0]))),
        ("same", Arc::new(Float32Array::from(vec![2.0, 2.0, 2.0]))),
    ]);
    let x = Batches::new(&[batch.slice(0, 1), batch.slice(1, 2)], &["same", "x"])?;
    let data = Dataset::new(x, Target::from_labels(&["a", "b", "a"]))?;
    assert_eq!((data.n_samples(), data.n_features(), data.constant_features()?), (3, 2, vec![0]));
    let mut column = [0.0; 3];
    data.feature_subset(&[1])?.x().copy_column(0, &mut column)?;
    assert_eq!(column, [1.0, 2.5, -3.0]);
    Ok(())
}
