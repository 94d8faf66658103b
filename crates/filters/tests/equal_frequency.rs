//! Bins of equally many samples of rows that come in batches: those of the same rows in one table, with the
//! same bits.

use crate::criteria::criteria;
use fewest_core::{
    BATCH_ROWS, Budget, Context, Dataset, DenseColumns, Error, FeatureKind, PassSelector, RowBatches,
    RunningScorer, SampleStream, Scorer, Selector, StreamScorer, Target,
};
use fewest_filters::discretisation::{Discretisation, DiscretisationRule};
use fewest_filters::information::{Estimator, Forward, ForwardCriterion, Mim, MrmrForm};

fn noise(i: usize, j: usize) -> f64 {
    (fewest_core::derive_seed(j as u64, i as u64) >> 11) as f64 / (1_u64 << 53) as f64
}

const D: usize = 11;

/// Sorted, reversed and constant features, ties of many kinds, heavy tails, a category.
fn data(n: usize) -> Result<Dataset, Error> {
    let class = |i: usize| u32::from(noise(i, 100) > 0.4) + u32::from(noise(i, 100) > 0.8);
    let value = |i: usize, j: usize| {
        let (noise, class) = (noise(i, j), f64::from(class(i)));
        match j {
            0 => i as f64 + 0.1 * class,
            1 => -(i as f64) - (n as f64) * 0.2 * class,
            2 => 7.0,
            3 => (5.0 * noise + class).floor(),
            4 if noise < 0.6 => [0.0, -0.0][i % 2],
            4 => noise - 0.8,
            5 => (noise - 0.5 + 0.1 * class).powi(-9) * 1e200,
            6 => (100.0 * noise).floor() + 20.0 * class,
            // Ties of which each is a bit more than the share of a bin.
            7 => (4.5 * noise).floor() * 1e-300,
            8 => (4.0 * noise).floor(),
            9 => noise + 0.3 * class,
            _ => 0.5 * noise + self::noise(i, 9) - 0.3 * class,
        }
    };
    let columns: Vec<Vec<f64>> = (0..D).map(|j| (0..n).map(|i| value(i, j)).collect()).collect();
    let names = ["low", "middle", "high"].map(str::to_owned).to_vec();
    let target = Target::classes((0..n).map(class).collect(), names)?;
    let mut kinds = vec![FeatureKind::Numeric; D];
    kinds[8] = FeatureKind::Categorical { levels: Vec::new() };
    Dataset::new(DenseColumns::from_columns(&columns)?, target)?.with_feature_kinds(kinds)
}

fn in_bins(bins: usize) -> Estimator {
    let discretisation = DiscretisationRule::EqualFrequency;
    Estimator::Discrete(Discretisation { discretisation, bins, ..Discretisation::default() })
}

fn mrmr(bins: usize) -> Forward {
    Forward { criterion: ForwardCriterion::Mrmr { form: MrmrForm::Difference }, estimator: in_bins(bins) }
}

fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|value| value.to_bits()).collect()
}

/// Memory for quantiles with this capacity of every feature.
fn bytes(capacity: usize) -> usize {
    8 * 20 * D * capacity
}

/// Counts how often a stream is read.
struct Counted<'a>(RowBatches<'a>, usize);

impl SampleStream for Counted<'_> {
    fn next_batch(&mut self) -> Result<Option<Dataset>, Error> {
        self.0.next_batch()
    }

    fn rewind(&mut self) -> Result<bool, Error> {
        self.1 += 1;
        self.0.rewind()
    }
}

#[test]
fn streams_and_tables_give_the_same_bits() -> Result<(), Error> {
    let context = Context::default();
    for (n, cuts) in [
        (60, [7, 60]),
        (BATCH_ROWS, [1000, BATCH_ROWS]),
        (BATCH_ROWS + 1, [1000, BATCH_ROWS + 1]),
        (8 * BATCH_ROWS + 100, [3000, 5 * BATCH_ROWS + 5]),
    ] {
        let data = data(n)?;
        for bins in [2, 5, 7, 300] {
            let mim = Mim { estimator: in_bins(bins) };
            let table = mim.score(&data, &context)?;
            let selected = mrmr(bins).select(&data, Budget::Count(5), &context)?;
            for rows in cuts {
                // With less memory, quantiles take more passes. 300 bins need more of it than a few do.
                let least = if bins == 300 { bytes(1 << 13) } else { 0 };
                for memory in [None, Some(bytes(1 << 14)), Some(bytes(1 << 13)), Some(least)] {
                    let told = format!("{n} rows by {rows}, {bins} bins, {memory:?}");
                    let context = Context { memory, ..context };
                    let mut stream = Counted(RowBatches::new(&data, rows)?, 1);
                    let found = mim.score_stream(&mut stream, &context)?;
                    assert_eq!(bits(&found.values), bits(&table.values), "{told}");
                    assert!(found.notes.is_empty(), "{told}");
                    // Quantiles, what is inside of brackets, counts.
                    let passes = match memory {
                        Some(bytes) if bytes > 0 && n > 2 * BATCH_ROWS => 3..=3,
                        Some(0) if n > 256 => 3..=5,
                        _ => 2..=2,
                    };
                    assert!(passes.contains(&stream.1), "{told}: {} passes", stream.1);
                    stream.rewind()?;
                    let found = mrmr(bins).select_stream(&mut stream, Budget::Count(5), &context)?;
                    assert_eq!((&found.order, &found.notes), (&selected.order, &selected.notes), "{told}");
                    assert_eq!(bits(&found.scores), bits(&selected.scores), "{told}");
                }
            }
        }
    }
    Ok(())
}

#[test]
fn all_criteria_take_bins_of_equally_many_samples() -> Result<(), Error> {
    let context = Context::default();
    let data = data(2 * BATCH_ROWS + 100)?;
    for criterion in criteria(0.7, 0.4, 0.6) {
        let forward = Forward { criterion, estimator: in_bins(5) };
        let table = forward.select(&data, Budget::Count(6), &context)?;
        let found = forward.select_stream(&mut RowBatches::new(&data, 999)?, Budget::Count(6), &context)?;
        assert_eq!((&found.order, bits(&found.scores)), (&table.order, bits(&table.scores)), "{criterion:?}");
    }
    Ok(())
}

/// With a number as target: heavy tails, and ties.
fn real_data(n: usize) -> Result<Dataset, Error> {
    let value = |i: usize| match noise(i, 101) {
        tie if tie < 0.3 => (3.0 * noise(i, 9)).floor(),
        tail => 1e3 * (tail + noise(i, 9) - 1.2 + noise(i, 3)).powi(9),
    };
    data(n)?.with_target(Target::real((0..n).map(value).collect())?)
}

/// A real target is one more column of the same passes.
#[test]
fn a_real_target_has_bins_of_equally_many_samples() -> Result<(), Error> {
    for (n, rows) in [(60, 7), (BATCH_ROWS + 1, 1000), (8 * BATCH_ROWS + 100, 3000)] {
        let (classes, real) = (data(n)?, real_data(n)?);
        for bins in [2, 5, 16] {
            let (mim, mrmr) = (Mim { estimator: in_bins(bins) }, mrmr(bins));
            let table = mim.score(&real, &Context::default())?;
            let selected = mrmr.select(&real, Budget::Count(5), &Context::default())?;
            for memory in [None, Some(bytes(1 << 13)), Some(0)] {
                let told = format!("{n} rows, {bins} bins, {memory:?}");
                let context = Context { memory, ..Context::default() };
                let mut stream = Counted(RowBatches::new(&real, rows)?, 1);
                let found = mim.score_stream(&mut stream, &context)?;
                assert_eq!(bits(&found.values), bits(&table.values), "{told}");
                assert!(found.notes.is_empty(), "{told}");
                let mut of_classes = Counted(RowBatches::new(&classes, rows)?, 1);
                mim.score_stream(&mut of_classes, &context)?;
                assert_eq!(stream.1, of_classes.1, "passes of {told}");
                stream.rewind()?;
                let found = mrmr.select_stream(&mut stream, Budget::Count(5), &context)?;
                assert_eq!((&found.order, &found.notes), (&selected.order, &selected.notes), "{told}");
                assert_eq!(bits(&found.scores), bits(&selected.scores), "{told}");
            }
        }
    }
    Ok(())
}

/// With many bins and little memory each pass would look at nearly all values: then the middles of the
/// brackets are taken, and the answer says by how much they may be off.
#[test]
fn what_memory_is_too_small_for_is_told() -> Result<(), Error> {
    let n = 40 * BATCH_ROWS;
    let data = data(n)?;
    let context = Context { memory: Some(0), ..Context::default() };
    let mim = Mim { estimator: in_bins(1000) };
    let mut first: Option<Vec<u64>> = None;
    for rows in [900, n] {
        let mut stream = Counted(RowBatches::new(&data, rows)?, 1);
        let found = mim.score_stream(&mut stream, &context)?;
        let [note] = &found.notes[..] else { panic!("{:?}", found.notes) };
        assert!(note.starts_with("6 features have bins whose bounds are off by up to "), "{note}");
        let percent =
            note.split(' ').find_map(|word| word.parse::<f64>().ok().filter(|number| *number != 6.0));
        // log₂(n/c) / (4c) of capacity c = 256, in a part of the values.
        assert!(percent.is_some_and(|percent| 0.0 < percent && percent < 1.0), "{note}");
        assert!(stream.1 <= 4, "{} passes", stream.1);
        assert_eq!(first.get_or_insert_with(|| bits(&found.values)), &bits(&found.values));
        // Not far from the table: features of few values are exact.
        let table = mim.score(&data, &context)?;
        for (j, (own, exact)) in found.values.iter().zip(&table.values).enumerate() {
            assert!((own - exact).abs() < 0.05, "{j}: {own} and {exact}");
        }
        for j in [2, 3, 6, 7, 8] {
            assert_eq!(found.values[j].to_bits(), table.values[j].to_bits(), "{j}");
        }
        stream.rewind()?;
        let found = mrmr(1000).select_stream(&mut stream, Budget::Count(1), &context);
        assert!(found.is_ok_and(|found| found.notes.contains(note)));
    }
    Ok(())
}

/// A stream that gives another table at each pass.
struct Changing<'a> {
    tables: Vec<&'a Dataset>,
    pass: usize,
    done: bool,
}

impl SampleStream for Changing<'_> {
    fn next_batch(&mut self) -> Result<Option<Dataset>, Error> {
        let last = self.tables.len() - 1;
        let done = std::mem::replace(&mut self.done, true);
        Ok((!done).then(|| self.tables[self.pass.min(last)].clone()))
    }

    fn rewind(&mut self) -> Result<bool, Error> {
        self.pass += 1;
        self.done = false;
        Ok(true)
    }
}

#[test]
fn hostile_streams_are_errors() -> Result<(), Error> {
    let context = Context::default();
    let n = 3 * BATCH_ROWS + 10;
    let mim = Mim { estimator: in_bins(5) };
    let values = |shift: f64| -> Vec<f64> { (0..n).map(|i| noise(i, 0) + shift).collect() };
    let labels: Vec<bool> = (0..n).map(|i| noise(i, 1) > 0.5).collect();
    let table = |values: Vec<f64>| {
        Dataset::new(DenseColumns::from_columns(&[values])?, Target::from_labels(&labels[..]))
    };
    for (row, value) in [(3, f64::NAN), (n - 1, f64::INFINITY)] {
        let mut values = values(0.0);
        values[row] = value;
        let found = mim.score_stream(&mut RowBatches::new(&table(values)?, 999)?, &context);
        assert!(matches!(found, Err(Error::NonFinite { row: at, column: 0, .. }) if at == row), "{found:?}");
    }
    // Other rows in the second pass, of which there is one with little memory: fewer, or other values.
    let little = Context { memory: Some(0), ..context };
    let (same, shifted) = (table(values(0.0))?, table(values(9.0))?);
    let fewer = same.subset(&(0..n - 1).collect::<Vec<_>>())?;
    for second in [&fewer, &shifted] {
        let mut stream = Changing { tables: vec![&same, second], pass: 0, done: false };
        let found = mim.score_stream(&mut stream, &little);
        assert!(matches!(found, Err(Error::Unreadable { .. })), "{found:?}");
    }
    let wide = DenseColumns::from_columns(&[values(0.0), values(1.0)])?;
    let wide = Dataset::new(wide, Target::from_labels(&labels))?;
    let mut stream = Changing { tables: vec![&wide, &same], pass: 0, done: false };
    let found = mim.score_stream(&mut stream, &little);
    assert!(matches!(found, Err(Error::Unreadable { .. })), "{found:?}");
    for n in [1, 2] {
        let few = same.subset(&(0..n).collect::<Vec<_>>())?;
        let (found, expected) =
            (mim.score_stream(&mut RowBatches::new(&few, 1)?, &context), mim.score(&few, &context));
        assert_eq!(found, expected);
    }
    // A real target is a number as features are: other values of it alone are seen, too.
    let real = |shift: f64| same.clone().with_target(Target::real(values(shift))?);
    let (first, second) = (real(0.0)?, real(9.0)?);
    let mut stream = Changing { tables: vec![&first, &second], pass: 0, done: false };
    let found = mim.score_stream(&mut stream, &little);
    assert!(matches!(found, Err(Error::Unreadable { .. })), "{found:?}");
    let two = same.clone().with_target(Target::outputs([values(0.0), values(1.0)].concat(), n)?)?;
    let found = mim.score_stream(&mut RowBatches::new(&two, 999)?, &context);
    assert!(matches!(found, Err(Error::UnsupportedTarget { method: "mim", .. })), "{found:?}");
    assert_eq!(found, mim.score(&two, &context));
    Ok(())
}

/// Samples that arrive come once.
#[test]
fn samples_that_arrive_are_refused() {
    let found = Mim { estimator: in_bins(5) }.running().map(drop);
    let Err(error) = found else { panic!("no second pass is possible") };
    let told = error.to_string();
    assert!(told.contains("equal-frequency") && told.contains("take discretisation=equal-width"), "{told}");
}
