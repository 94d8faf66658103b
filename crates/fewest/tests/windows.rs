//! Methods on windows of a stream: with the same bits as on a table of the same samples.
#![cfg(all(feature = "filters", feature = "streams"))]

use fewest::core::{Budget, Context, Dataset, DenseColumns, Error, StreamSelector, Target, derive_seed};
use fewest::filters::information::Mim;
use fewest::filters::statistical::{ChiSquare, CorrelationScore, FScore, Variance};
use fewest::registry::Built;
use fewest::streams::{Ofs, Window};

fn data(n: u64) -> Result<Dataset, Error> {
    let value = |j: u64, i: u64| derive_seed(j, i) as f64 / u64::MAX as f64;
    let columns: Vec<Vec<f64>> = (0..7).map(|j| (0..n).map(|i| value(j, i)).collect()).collect();
    let codes = (0..n).map(|i| u32::from(value(2, i) + 0.5 * value(9, i) > 0.7)).collect();
    let target = Target::classes(codes, vec!["no".to_owned(), "yes".to_owned()])?;
    Dataset::new(DenseColumns::from_columns(&columns)?, target)
}

/// At every answer the selection is that of the table of the last samples, also after a state was taken.
fn check(new: impl Fn() -> Built) -> Result<(), Error> {
    let (whole, context) = (data(400)?, Context::default());
    let open = || Window::new(new().into_selector(), 60, 3);
    let mut window = open()?;
    let mut first = 0;
    for size in [30, 7, 90, 1, 55, 1, 1, 100] {
        let end = first + size;
        window.update(&whole.subset(&(first..end).collect::<Vec<usize>>())?, &context)?;
        let own = whole.subset(&(end.saturating_sub(60)..end).collect::<Vec<usize>>())?;
        assert_eq!(window.n_samples(), own.n_samples());
        let expected = new().into_selector().select(&own, Budget::Count(3), &Context::seeded(3))?;
        assert_eq!(window.selection(Budget::Count(3))?, expected);
        let mut again = open()?;
        again.restore(&window.save()?)?;
        assert_eq!(again.save()?, window.save()?);
        window = again;
        // The window and its target.
        assert!(window.held().bytes <= 8 * 8 * 60);
        first = end;
    }
    Ok(())
}

#[test]
fn windows_of_methods_are_those_of_tables() -> Result<(), Error> {
    check(|| Built::Scorer(Box::new(FScore)))?;
    check(|| Built::Scorer(Box::new(CorrelationScore::default())))?;
    check(|| Built::Scorer(Box::new(ChiSquare::default())))?;
    check(|| Built::Scorer(Box::new(Variance)))?;
    check(|| Built::Scorer(Box::new(Mim::default())))?;
    check(|| Built::Selector(Box::new(Ofs { kept: Some(3), ..Ofs::default() })))
}
