//! The learner by its id, with its parameter.

use example_learner::LEARNERS;
use fewest::core::{Context, Dataset, DenseColumns, Error, Target};
use fewest::eval::Predictions;
use fewest::registry::Registry;

#[test]
fn it_is_found_and_predicts_the_class_with_the_nearest_mean() -> Result<(), Error> {
    let registry = Registry::standard().clone().with_learner(LEARNERS[0].clone())?;
    let entry = registry.find_learner("nearest-centroid")?;
    let x = DenseColumns::from_columns(&[vec![0.0, 2.0, 9.0, 11.0, 5.4, 5.6], vec![1.0; 6]])?;
    let data = Dataset::new(x, Target::from_labels(&["a", "a", "b", "b", "a", "b"]))?;
    // Means 2.47 and 8.53: the border is at 5.5.
    let model = entry.build_with(&["shrinkage=0.5"])?.fit(&data, &Context::default())?;
    assert_eq!(model.predict(data.x())?, Predictions::Classes(vec![0, 0, 1, 1, 0, 1]));
    assert!(entry.build_with(&["shrinkage=1"]).is_err());
    Ok(())
}
