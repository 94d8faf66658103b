//! Rows that are read in passes give the answer of the table in memory, bit for bit.

use std::sync::atomic::AtomicBool;

use fewest_core::{
    Budget, Context, Dataset, DenseColumns, Error, FeatureKind, PassSelector, RowBatches, Scorer, Selector,
    Status, Target, derive_seed,
};
use fewest_streams::{Fsds, Ofs, OfsInput};

const N: usize = 10_000;

fn noise(i: usize, j: u64) -> f64 {
    derive_seed(j, i as u64) as f64 / u64::MAX as f64
}

/// Two features that tell the classes, some with an offset, with huge and tiny values, and a constant.
fn data() -> Dataset {
    let class = |i: usize| usize::from(noise(i, 0) + noise(i, 1) > 1.0);
    let of = |value: &dyn Fn(usize) -> f64| (0..N).map(value).collect::<Vec<f64>>();
    let columns = [
        of(&|i| noise(i, 0)),
        of(&|i| 1e9 + noise(i, 2)),
        of(&|i| 1e200 * (noise(i, 1) - 0.4)),
        of(&|_| 3.0),
        of(&|i| 1e-190 * noise(i, 3)),
        of(&|i| f64::from(u8::from(noise(i, 4) > 0.5))),
    ];
    let labels: Vec<bool> = (0..N).map(|i| class(i) == 1).collect();
    let data =
        Dataset::new(DenseColumns::from_columns(&columns).unwrap(), Target::from_labels(&labels)).unwrap();
    let mut kinds = vec![FeatureKind::Numeric; columns.len()];
    kinds[5] = FeatureKind::Categorical { levels: vec!["no".to_owned(), "yes".to_owned()] };
    data.with_feature_kinds(kinds).unwrap()
}

fn in_order() -> Vec<Ofs> {
    let input = OfsInput::Partial { exploration: 0.3 };
    let plain = Ofs { shuffle: false, ..Ofs::default() };
    vec![plain, Ofs { passes: 3, ..plain }, Ofs { input, passes: 2, ..plain }, Ofs { margin: 0.0, ..plain }]
}

#[test]
fn ofs_in_passes_is_that_of_the_table() {
    let (data, context) = (data(), Context::seeded(5));
    for ofs in in_order() {
        let whole = ofs.select(&data, Budget::Count(2), &context).unwrap();
        assert!(whole.order == [0, 2] || whole.order == [2, 0] || ofs.input != OfsInput::Full, "{whole:?}");
        for rows in [100, 4096, 5000, N] {
            let mut stream = RowBatches::new(&data, rows).unwrap();
            let found = ofs.select_stream(&mut stream, Budget::Count(2), &context).unwrap();
            assert_eq!(found, whole, "{ofs:?} {rows}");
        }
    }
}

#[test]
fn fsds_in_passes_is_that_of_the_table() {
    let data = data();
    let whole = Fsds::default().score(&data, &Context::default()).unwrap();
    assert!(whole.values[3] < 1e-12);
    for rows in [100, 4096, 5000, N] {
        let mut stream = RowBatches::new(&data, rows).unwrap();
        let found = Fsds::default().in_passes().unwrap().score_stream(&mut stream, &Context::default());
        assert_eq!(found.unwrap(), whole, "{rows}");
    }
}

#[test]
fn what_passes_cannot_do_is_told_before_they_begin() {
    let data = data();
    let select = |ofs: Ofs, data: &Dataset, context: &Context<'_>| {
        ofs.select_stream(&mut RowBatches::new(data, 700).unwrap(), Budget::Count(2), context)
    };
    let plain = Ofs { shuffle: false, ..Ofs::default() };
    let told = select(Ofs::default(), &data, &Context::default()).unwrap_err();
    assert!(told.to_string().contains("shuffle=false"), "{told}");
    let codes = (0..N).map(|i| (i % 3) as u32).collect();
    let names = ["a", "b", "c"].map(str::to_owned).to_vec();
    let three = data.clone().with_target(Target::classes(codes, names).unwrap()).unwrap();
    let told = select(plain, &three, &Context::default()).unwrap_err();
    assert!(matches!(told, Error::UnsupportedTarget { .. }), "{told}");
    let levels = ["a", "b", "c"].map(str::to_owned).to_vec();
    let mut kinds = vec![FeatureKind::Numeric; 6];
    kinds[5] = FeatureKind::Categorical { levels };
    let told =
        select(plain, &data.clone().with_feature_kinds(kinds).unwrap(), &Context::default()).unwrap_err();
    assert!(told.to_string().contains("more than two levels"), "{told}");
    let interrupt = AtomicBool::new(true);
    let stopped = Context { interrupt: Some(&interrupt), ..Context::default() };
    assert!(matches!(select(plain, &data, &stopped), Err(Error::Stopped { .. })));
    let whole = plain.select(&data, Budget::Count(2), &Context::default()).unwrap();
    assert_eq!(whole.status, Status::Ended);
}

#[test]
fn a_value_that_is_no_number_is_named_by_its_row() {
    let mut values: Vec<f64> = (0..N).map(|i| noise(i, 0)).collect();
    values[8000] = f64::NAN;
    let labels: Vec<bool> = (0..N).map(|i| i % 2 == 0).collect();
    let data =
        Dataset::new(DenseColumns::from_columns(&[values]).unwrap(), Target::from_labels(&labels)).unwrap();
    let ofs = Ofs { shuffle: false, ..Ofs::default() };
    let mut stream = RowBatches::new(&data, 1000).unwrap();
    let told = ofs.select_stream(&mut stream, Budget::Count(1), &Context::default()).unwrap_err();
    assert!(told.to_string().contains("8000"), "{told}");
}
