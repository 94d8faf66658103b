//! The method by its id, with its parameter, as the command finds it.

use example_method::{METHODS, RangeScore};
use fewest::core::{Budget, Context, Dataset, DenseColumns, Error, Scorer, Target};
use fewest::registry::{Parameters, Registry};

#[test]
fn it_is_found_and_ranks_the_feature_with_an_outlier_first() -> Result<(), Error> {
    let registry = Registry::standard().clone().with_method(METHODS[0].clone())?;
    let method = registry.find("range-score")?;
    let even: Vec<f64> = (0..20).map(f64::from).collect();
    let outlier: Vec<f64> = (0..20).map(|i| if i == 7 { 100.0 } else { f64::from(i % 3) }).collect();
    let x = DenseColumns::from_columns(&[even, vec![1.0; 20], outlier])?;
    let data = Dataset::new(x, Target::None)?;
    let selector = method.build(&Parameters::parse(method, &["power=2"])?)?.into_selector();
    let selection = selector.select(&data, Budget::Count(3), &Context::default())?;
    // The constant feature has a score of 0, but is never selected.
    assert_eq!(RangeScore { power: 2.0 }.score(&data, &Context::default())?.values[1], 0.0);
    assert_eq!(selection.order, [2, 0]);
    // Range 100 over a standard deviation of which √19/20 · 100 is the most.
    assert!(selection.scores[0] > 20.0 && selection.scores[1] > 0.0, "{:?}", selection.scores);
    assert!(Parameters::parse(method, &["power=0"]).is_err());
    Ok(())
}
