//! Parquet and Arrow files that pyarrow, polars and pandas wrote (`../files/make.py`), folders of them,
//! damaged ones, and written ones.

mod damage;
mod elsewhere;
mod folders;
mod kinds;
mod pieces;
mod writing;

use std::path::{Path, PathBuf};

use fewest_arrow::{ARROW, PARQUET};
use fewest_core::FeatureKind;
use fewest_data::{Error, Formats, Missing, ReadOptions, Table, TargetChoice};

/// A file of the folder with those of other programs.
fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files").join(name)
}

/// The usual options, with the formats of this crate, and no target.
fn options() -> ReadOptions {
    let formats = Formats::standard().with(PARQUET).with(ARROW);
    ReadOptions { formats, target: TargetChoice::None, ..ReadOptions::default() }
}

/// The options with this target.
fn with_target(target: &str) -> ReadOptions {
    ReadOptions { target: TargetChoice::Columns(vec![target.to_owned()]), ..options() }
}

fn read(name: &str, options: &ReadOptions) -> Result<Table, Error> {
    Table::read(file(name), options)
}

/// The message of a failure.
fn told(name: &str, options: &ReadOptions) -> String {
    read(name, options).expect_err("a failure").to_string()
}

fn column(table: &Table, name: &str) -> Vec<f64> {
    let j = (0..table.n_features()).find(|j| table.feature_name(*j) == name).expect("the column is there");
    table.features().column(j, &mut Vec::new()).expect("it is in memory").to_vec(table.n_samples())
}

/// The level of every cell of a column of categories.
fn levels(table: &Table, name: &str) -> Vec<Option<String>> {
    let j = (0..table.n_features()).find(|j| table.feature_name(*j) == name).expect("the column is there");
    let FeatureKind::Categorical { levels } = table.feature_kind(j) else { panic!("{name} is no category") };
    let level = |code: &f64| levels.get(*code as usize).filter(|_| !code.is_nan()).cloned();
    column(table, name).iter().map(level).collect()
}

/// All that methods see of two tables is the same, bit for bit.
fn same(one: Table, other: Table) {
    assert_eq!((one.n_samples(), one.n_features()), (other.n_samples(), other.n_features()));
    assert_eq!(one.target_names(), other.target_names());
    for j in 0..one.n_features() {
        assert_eq!(one.feature_name(j), other.feature_name(j));
        assert_eq!(one.feature_kind(j), other.feature_kind(j), "{}", one.feature_name(j));
        let bits = |table: &Table| -> Vec<u64> {
            let column = column(table, &one.feature_name(j));
            column
                .iter()
                .map(|value| if value.is_nan() { f64::NAN.to_bits() } else { value.to_bits() })
                .collect()
        };
        assert_eq!(bits(&one), bits(&other), "{}", one.feature_name(j));
    }
    let target = |table: Table| table.complete(Missing::Mean).expect("a data set").dataset.target().clone();
    assert_eq!(target(one), target(other));
}
