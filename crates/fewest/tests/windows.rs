//! The filters on windows of a stream: with the same bits as on a table of the same samples.
#![cfg(all(feature = "filters", feature = "streams"))]

use fewest::core::{
    Context, Dataset, DenseColumns, Error, StreamScorer, StreamSelector, Target, derive_seed,
};
use fewest::filters::information::Mim;
use fewest::filters::statistical::{ChiSquare, CorrelationScore, FScore, Variance};
use fewest::streams::{RowsOf, Sliding};

fn data(n: u64) -> Result<Dataset, Error> {
    let value = |j: u64, i: u64| derive_seed(j, i) as f64 / u64::MAX as f64;
    let columns: Vec<Vec<f64>> = (0..7).map(|j| (0..n).map(|i| value(j, i)).collect()).collect();
    let codes = (0..n).map(|i| u32::from(value(2, i) + 0.5 * value(9, i) > 0.7)).collect();
    let target = Target::classes(codes, vec!["no".to_owned(), "yes".to_owned()])?;
    Dataset::new(DenseColumns::from_columns(&columns)?, target)
}

fn check<S: StreamScorer>(new: impl Fn() -> S) -> Result<(), Error> {
    let (whole, context) = (data(400)?, Context::default());
    let mut sliding = Sliding::new(RowsOf::new(new()), 60, 20)?;
    let mut first = 0;
    for size in [30, 7, 90, 1, 55, 100] {
        let end = first + size;
        sliding.update(&whole.subset(&(first..end).collect::<Vec<usize>>())?, &context)?;
        let own = whole.subset(&(end - sliding.n_samples()..end).collect::<Vec<usize>>())?;
        assert_eq!(sliding.scores()?.values, new().score(&own, &context)?.values);
        // The window, the block that is being filled, and its target.
        assert!(sliding.held().bytes <= 8 * 8 * 80);
        first = end;
    }
    Ok(())
}

#[test]
fn windows_of_filters_are_those_of_tables() -> Result<(), Error> {
    check(FScore::default)?;
    check(CorrelationScore::default)?;
    check(ChiSquare::default)?;
    check(Variance::default)?;
    check(Mim::default)
}
