//! What every selector must do, of the methods for tables.

use fewest_core::method::Parameters;
use fewest_core::{Budget, Context, Dataset, DenseColumns, Error, FeatureKind, Selector, Target};
use fewest_streams::METHODS;
use fewest_testkit::conformance::{check_by_place, check_by_row_order, check_in_order, problem};

fn built(id: &str, parameters: &[&str]) -> Box<dyn Selector> {
    let method = METHODS.iter().find(|method| method.id == id).unwrap();
    method.build(&Parameters::parse(method, parameters).unwrap()).unwrap().into_selector()
}

#[test]
fn methods_to_which_features_arrive_conform() {
    let cases: [(&str, &[&str]); 12] = [
        ("alpha-investing", &[]),
        ("alpha-investing", &["test=lr"]),
        ("alpha-investing", &["test=ll"]),
        ("grafting", &[]),
        ("grafting", &["lambda_ratio=0.2"]),
        ("grafting", &["lambda=0.1"]),
        ("osfs", &[]),
        ("osfs", &["test=g2", "bins=2", "alpha=0.2"]),
        ("fast-osfs", &[]),
        ("fast-osfs", &["outer_analysis=each"]),
        ("saola", &[]),
        ("saola", &["test=g2", "bins=2", "alpha=0.2"]),
    ];
    for (id, parameters) in cases {
        let selector = built(id, parameters);
        for classes in [false, true] {
            check_by_place(&*selector, &problem(classes), 3);
        }
    }
}

#[test]
fn methods_to_which_samples_arrive_conform() {
    for parameters in [&[][..], &["passes=3", "margin=1"], &["shuffle=false"]] {
        check_by_row_order(&*built("ofs", parameters), &problem(true), 3);
    }
    // What is drawn depends on the place of a feature.
    check_in_order(&*built("ofs", &["input=partial", "passes=20"]), &problem(true), 3);
    for classes in [false, true] {
        check_by_row_order(&*built("fsds", &[]), &problem(classes), 3);
        check_by_row_order(&*built("fsds", &["sketch_rows=4", "block_rows=7"]), &problem(classes), 3);
    }
}

/// A categorical feature of three levels that says all about a real target, and a number that says nothing.
fn with_category() -> Dataset {
    let levels: Vec<f64> = (0..60).map(|i| f64::from(i % 3)).collect();
    let noise: Vec<f64> = (0..60).map(|i| f64::from(i * 17 % 61)).collect();
    // Neither increasing nor decreasing with the code.
    let y = levels.iter().zip(&noise).map(|(level, noise)| (level - 1.0).powi(2) + 1e-3 * noise).collect();
    let x = DenseColumns::from_columns(&[levels, noise]).unwrap();
    let names = ["low", "middle", "high"].map(str::to_owned).to_vec();
    let kinds = vec![FeatureKind::Categorical { levels: names }, FeatureKind::Numeric];
    Dataset::new(x, Target::real(y).unwrap()).unwrap().with_feature_kinds(kinds).unwrap()
}

#[test]
fn categories_are_tested_by_their_levels_or_refused() {
    let data = with_category();
    let select = |id: &str, parameters: &[&str], data: &Dataset| {
        built(id, parameters).select(data, Budget::Auto, &Context::default())
    };
    for (id, parameters) in [
        ("alpha-investing", &[][..]),
        ("alpha-investing", &["test=lr"]),
        ("osfs", &["test=g2"]),
        ("saola", &["test=g2"]),
    ] {
        assert_eq!(select(id, parameters, &data).unwrap().order[0], 0, "{id}");
    }
    let classes: Vec<bool> = (0..60).map(|i| i % 3 == 1).collect();
    let classes = data.clone().with_target(Target::from_labels(&classes)).unwrap();
    for (id, parameters) in [
        ("grafting", &["lambda=0.1"][..]),
        ("osfs", &[]),
        ("fast-osfs", &[]),
        ("saola", &[]),
        ("ofs", &["kept=1"]),
        ("fsds", &[]),
    ] {
        match select(id, parameters, &classes) {
            Err(Error::Unsupported { what, .. }) => assert!(what.contains("f0"), "{id}: {what}"),
            other => panic!("{id}: {other:?}"),
        }
    }
}

#[test]
fn other_targets_are_errors() {
    let x = || DenseColumns::from_columns(&[(0..30).map(|i| f64::from(i * 7 % 31)).collect()]).unwrap();
    let three: Vec<i32> = (0..30).map(|i| i % 3).collect();
    let outputs = Target::outputs((0..60).map(f64::from).collect(), 30).unwrap();
    let constant = Target::real(vec![2.0; 30]).unwrap();
    let targets = [Target::None, outputs, constant, Target::from_labels(&three)];
    for id in ["alpha-investing", "grafting", "osfs", "fast-osfs", "saola", "ofs"] {
        for target in &targets {
            let data = Dataset::new(x(), target.clone()).unwrap();
            let found = built(id, &[]).select(&data, Budget::Count(1), &Context::default());
            assert!(matches!(found, Err(Error::UnsupportedTarget { .. })), "{id}: {found:?}");
        }
    }
    // With levels more classes are fine.
    let data = Dataset::new(x(), Target::from_labels(&three)).unwrap();
    for id in ["osfs", "fast-osfs", "saola"] {
        built(id, &["test=g2"]).select(&data, Budget::Auto, &Context::default()).unwrap();
    }
}

#[test]
fn parameters_out_of_range_are_errors() {
    for (id, parameter) in [
        ("alpha-investing", "wealth=0"),
        ("alpha-investing", "test=z"),
        ("grafting", "lambda=0"),
        ("osfs", "alpha=1"),
        ("osfs", "max_conditioning=0"),
        ("saola", "alpha=0"),
        ("ofs", "kept=0"),
        ("ofs", "step=-1"),
        ("ofs", "exploration=0.3"),
        ("fsds", "sketch_rows=1"),
    ] {
        let method = METHODS.iter().find(|method| method.id == id).unwrap();
        let found =
            Parameters::parse(method, &[parameter]).and_then(|found| method.build(&found).map(|_| ()));
        assert!(matches!(found, Err(Error::InvalidParameter { .. })), "{id} {parameter}: {found:?}");
    }
    let turning = built("ofs", &["step=10", "lambda=0.1"]);
    let found = turning.select(&problem(true), Budget::Count(1), &Context::default());
    assert!(matches!(found, Err(Error::InvalidParameter { name: "lambda", .. })), "{found:?}");
}
