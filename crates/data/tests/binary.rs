//! Files written by NumPy and SciPy.

use crate::support::{assert_says, columns, format, message, sample};
use fewest_core::Target;
use fewest_data::{Missing, ReadOptions, Table, TargetChoice, Task};

const TABLE: [[f64; 2]; 3] = [[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]];

fn read(name: &str) -> Table {
    Table::read(sample(name), &ReadOptions::default()).unwrap_or_else(|error| panic!("{error}"))
}

fn refused(name: &str) -> String {
    message(Table::read(sample(name), &ReadOptions::default()))
}

fn class_codes(table: Table) -> Vec<u32> {
    match table.complete(Missing::Error).unwrap().dataset.target() {
        Target::Class(classes) => classes.codes().to_vec(),
        target => panic!("the target is {}", target.describe()),
    }
}

#[test]
fn npy_of_every_type_order_and_version() {
    let types =
        ["le_f4", "le_f8", "be_f4", "be_f8", "le_i1", "le_i2", "be_i2", "le_i4", "le_i8", "be_i8", "le_u1"];
    let names = types.iter().chain(&["le_u2", "le_u4", "be_u4", "le_u8"]).map(|kind| format!("c_{kind}.npy"));
    let others = ["fortran.npy", "version1.npy", "version2.npy", "version3.npy"].map(str::to_owned);
    for name in names.chain(others) {
        let table = read(&name);
        assert_eq!(table.format(), format("npy"));
        assert_eq!(columns(table.features()), TABLE, "{name}");
    }
    assert_eq!(columns(read("negative_i2.npy").features()), TABLE.map(|column| column.map(|value| -value)));
    assert_eq!(columns(read("bool.npy").features()), [[0.0, 1.0], [0.0, 1.0], [1.0, 1.0]]);
}

#[test]
fn npy_target_from_a_column_or_a_file() {
    let options = ReadOptions { task: Task::Regression, ..ReadOptions::with_target("last") };
    let table = Table::read(sample("c_le_f8.npy"), &options).unwrap();
    assert_eq!(columns(table.features()), TABLE[..2]);
    let options = ReadOptions {
        task: Task::Classification,
        ..ReadOptions::with_target(sample("y.npy").to_str().unwrap())
    };
    let table = Table::read(sample("c_le_f8.npy"), &options).unwrap();
    assert_eq!(columns(table.features()), TABLE);
    assert_eq!(class_codes(table), [0, 1]);
}

#[test]
fn npy_of_other_things_is_refused_by_name() {
    assert_says(&refused("complex.npy"), &["complex.npy", "`<c16`", "astype(float)"]);
    assert_says(&refused("text.npy"), &["`<U1`"]);
    assert_says(&refused("object.npy"), &["`|O`"]);
    assert_says(&refused("record.npy"), &["('a', '<f8')"]);
    assert_says(&refused("cube.npy"), &["3 dimensions"]);
    assert_says(&refused("y.npy"), &["shape (2,)", "samples × features"]);
}

#[test]
fn matlab_of_every_class() {
    for name in ["plain", "compressed", "integers", "single", "int64"] {
        let options = ReadOptions { task: Task::Classification, ..ReadOptions::default() };
        let table = Table::read(sample(&format!("{name}.mat")), &options).unwrap();
        assert_eq!(table.format(), format("mat"));
        assert_eq!(columns(table.features()), TABLE, "{name}");
        assert_eq!(table.target_names(), ["Y"]);
        assert_eq!(class_codes(table), [0, 1], "{name}");
    }
    assert_eq!(columns(read("logical.mat").features()), [[0.0, 1.0], [0.0, 1.0], [1.0, 1.0]]);
    assert_eq!(columns(read("one_value.mat").features()), [[7.0]]);
}

#[test]
fn matlab_sparse_variables_are_read() {
    let table = read("sparse.mat");
    assert_eq!(table.summary().n_stored, Some(4));
    let expected = [[0.0, 2.0, 0.0], [1.5, 0.0, 0.0], [0.0; 3], [0.0, -1.0, 4.0]];
    assert_eq!(columns(table.features()), expected);
    assert_eq!(class_codes(table), [0, 0, 1]);
    assert_eq!(class_codes(read("sparse_target.mat")), [0, 1, 1]);
}

#[test]
fn matlab_targets_of_other_shapes() {
    assert_eq!(class_codes(read("row_target.mat")), [0, 1, 1]);
    let complete = read("two_outputs.mat").complete(Missing::Error).unwrap();
    let Target::Real(outputs) = complete.dataset.target() else { panic!() };
    assert_eq!((outputs.output(0), outputs.output(1)), (&[0.0, 0.5, 1.0][..], &[0.25, 0.75, 1.25][..]));
    assert_eq!(complete.target_names, ["Y0", "Y1"]);
    // A column of X.
    let options = ReadOptions { task: Task::Regression, ..ReadOptions::with_target("1") };
    let table = Table::read(sample("plain.mat"), &options).unwrap();
    assert_eq!(columns(table.features()), [TABLE[0], TABLE[2]]);
    let options = ReadOptions { target: TargetChoice::None, ..ReadOptions::default() };
    let complete = Table::read(sample("plain.mat"), &options).unwrap().complete(Missing::Error).unwrap();
    assert!(matches!(complete.dataset.target(), Target::None));
}

#[test]
fn matlab_variables_by_name() {
    let options = ReadOptions {
        x_variable: Some("fea".to_owned()),
        task: Task::Classification,
        ..ReadOptions::with_target("gnd")
    };
    let table = Table::read(sample("other_names.mat"), &options).unwrap();
    assert_eq!(columns(table.features()), TABLE);
    assert_eq!(class_codes(table), [0, 1]);
    assert_eq!(columns(read("lower_case.mat").features()), TABLE);
    let says = refused("other_names.mat");
    assert_says(
        &says,
        &["no variable `X`", "`fea` (2 × 3 numbers)", "`gnd` (2 × 1 numbers)", "--x-variable"],
    );
    let says = message(Table::read(sample("plain.mat"), &ReadOptions::with_target("labels")));
    assert_says(&says, &["no variable `labels`", "`Y` (2 × 1 numbers)", "--target"]);
}

#[test]
fn matlab_of_other_things_is_refused_by_name() {
    assert_says(&refused("cell.mat"), &["cell.mat", "`Y` is a cell array", "save a matrix of numbers"]);
    assert_says(&refused("struct.mat"), &["`X` is a struct"]);
    assert_says(&refused("char.mat"), &["`Y` is text (char)"]);
    assert_says(&refused("complex.mat"), &["`X` is 2 × 3 complex numbers", "real and imaginary"]);
    assert_says(&refused("cube.mat"), &["`X`", "3 dimensions"]);
    assert_says(&refused("empty.mat"), &["`X` is 0 × 3 numbers"]);
    assert_says(&refused("transposed.mat"), &["2 × 1 values for the 3 samples of `X`", "transposed"]);
    assert_says(&refused("infinite.mat"), &["row 1 (counted from 0), column 1 (counted from 0)", "inf"]);
    assert_says(&refused("level4.mat"), &["level 4", "-v7"]);
}

#[test]
fn gaps_are_kept_until_a_policy_is_applied() {
    let table = read("gaps.mat");
    let says = table.clone().complete(Missing::Error).map(|_| ()).unwrap_err().to_string();
    assert_says(&says, &["gaps.mat", "row 1 (counted from 0), column 1 (counted from 0)", "--missing"]);
    let complete = table.clone().complete(Missing::DropRows).unwrap();
    assert_eq!((columns(complete.dataset.x()), complete.dropped), (vec![vec![1.0], vec![2.0]], vec![1, 2]));
    let complete = table.complete(Missing::Mean).unwrap();
    assert_eq!(
        (columns(complete.dataset.x()), complete.dropped),
        (vec![vec![1.0, 3.0], vec![2.0, 2.0]], vec![2])
    );
}
