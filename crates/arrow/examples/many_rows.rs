//! A folder of Parquet files of a table that is larger than memory, for `fewest select FOLDER --memory SIZE`:
//! `cargo run --release -p fewest-arrow --example many_rows -- FOLDER ROWS COLUMNS [SHARE]`.
//!
//! The target has three classes. Every fifth feature depends on it, the less the higher its number, some of
//! these in their spread only; others repeat a feature in part; the rest is noise. Values have two decimals.
//! With a SHARE below 1 only this share of the values is there, and the others are 0.

use std::env;
use std::error::Error;
use std::fs;
use std::path::Path;

use fewest_arrow::PARQUET;
use fewest_core::{Dataset, DenseColumns, Target, derive_seed};

/// Rows of a file, and values at most.
const ROWS: usize = 500_000;
const VALUES: usize = 250_000_000;

/// The first number of the draws that say which values are there.
const ABSENT: usize = 1 << 40;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let (folder, rows, columns, share) = match arguments.as_slice() {
        [folder, rows, columns] => (folder, rows, columns, "1"),
        [folder, rows, columns, share] => (folder, rows, columns, share.as_str()),
        _ => {
            return Err("give a folder, a number of rows, a number of columns, and a share if need be".into());
        }
    };
    let (folder, rows, columns): (_, usize, usize) = (Path::new(folder), rows.parse()?, columns.parse()?);
    let share: f64 = share.parse()?;
    fs::create_dir_all(folder)?;
    let rows_of_a_file = ROWS.min(VALUES / columns.max(1)).max(1);
    for (part, first) in (0..rows).step_by(rows_of_a_file).enumerate() {
        let rows = first..rows.min(first + rows_of_a_file);
        let classes: Vec<u32> = rows.clone().map(class).collect();
        let cell = |i: usize, j: usize| match draw(i, ABSENT + j) < share {
            true => (value(i, j) * 100.0).round() / 100.0,
            false => 0.0,
        };
        let column = |j: usize| rows.clone().map(|i| cell(i, j)).collect();
        let columns: Vec<Vec<f64>> = (0..columns).map(column).collect();
        let names = ["early", "late", "never"].map(str::to_owned).to_vec();
        let data = Dataset::new(DenseColumns::from_columns(&columns)?, Target::classes(classes, names)?)?;
        let features: Vec<usize> = (0..columns.len()).collect();
        let path = folder.join(format!("part-{part:04}.parquet"));
        PARQUET.write(&path, &data, &features, &["outcome".to_owned()])?;
    }
    Ok(())
}

/// Between 0 and 1.
fn draw(i: usize, j: usize) -> f64 {
    (derive_seed(j as u64, i as u64) >> 11) as f64 / (1_u64 << 53) as f64
}

fn class(i: usize) -> u32 {
    u32::from(draw(i, usize::MAX) > 0.5) + u32::from(draw(i, usize::MAX) > 0.8)
}

/// Nearly normal.
fn noise(i: usize, j: usize) -> f64 {
    (0..3).map(|k| draw(i, 3 * j + k)).sum::<f64>() * 2.0 - 3.0
}

fn value(i: usize, j: usize) -> f64 {
    let strength = 2.0 / (1.0 + j as f64 / 10.0);
    match j % 10 {
        0 => noise(i, j) + strength * f64::from(class(i)),
        5 => noise(i, j) * (1.0 + strength * f64::from(class(i))),
        1 | 6 => 0.7 * value(i, j - 1) + 0.5 * noise(i, j),
        _ => noise(i, j),
    }
}
