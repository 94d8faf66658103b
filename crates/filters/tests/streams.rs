//! Scores of rows that come in batches: those of the same rows in one table, with the same bits.

use fewest_core::{
    BATCH_ROWS, Budget, Column, Columns, Context, Dataset, DenseColumns, Error, FeatureKind, RankedStream,
    RowBatches, SampleStream, Scorer, StreamScorer, StreamSelector, Target,
};
use fewest_filters::information::Mim;
use fewest_filters::similarity::FisherScore;
use fewest_filters::statistical::{
    ChiSquare, ClassVariance, Coefficient, CorrelationScore, FScore, Gini, TScore, Variance,
};

fn scorers() -> Vec<(&'static str, Box<dyn StreamScorer>)> {
    vec![
        ("variance", Box::new(Variance)),
        ("t-score", Box::new(TScore::default())),
        ("t-score of populations", Box::new(TScore { variance: ClassVariance::Population })),
        ("f-score", Box::new(FScore)),
        ("chi2", Box::new(ChiSquare { bins: 7 })),
        ("mim", Box::new(Mim::default())),
        ("gini of bins", Box::new(Gini { bins: Some(6) })),
        ("fisher", Box::new(FisherScore)),
    ]
}

/// Those that know a real target.
fn regressions() -> Vec<(&'static str, Box<dyn StreamScorer>)> {
    vec![
        ("variance", Box::new(Variance)),
        ("f-score", Box::new(FScore)),
        ("correlation", Box::new(CorrelationScore::default())),
    ]
}

/// Numbers of all sizes, categories, a constant, values whose squares overflow or vanish, and two sparse
/// features.
struct Mixed {
    n: usize,
    sparse: Vec<(Vec<usize>, Vec<f64>)>,
}

const DENSE: usize = 7;

impl Mixed {
    fn new(n: usize) -> Self {
        let stored = |step: usize| {
            let rows: Vec<usize> = (0..n).filter(|i| i % step == 1).collect();
            let values = rows.iter().map(|&i| noise(i, step) + (i % 2) as f64).collect();
            (rows, values)
        };
        Self { n, sparse: vec![stored(5), stored(97)] }
    }
}

fn noise(i: usize, j: usize) -> f64 {
    (fewest_core::derive_seed(j as u64, i as u64) >> 11) as f64 / (1_u64 << 53) as f64
}

impl Columns for Mixed {
    fn n_samples(&self) -> usize {
        self.n
    }

    fn n_features(&self) -> usize {
        DENSE + self.sparse.len()
    }

    fn column<'a>(&'a self, j: usize, scratch: &'a mut Vec<f64>) -> Result<Column<'a>, Error> {
        if let Some((rows, values)) = j.checked_sub(DENSE).and_then(|j| self.sparse.get(j)) {
            return Ok(Column::Sparse { rows, values });
        }
        let value = |i: usize| {
            let noise = noise(i, j);
            let class = class(i) as f64;
            match j {
                0 => noise + 0.1 * class,
                1 => 1e9 + noise,
                2 => (noise * 12.0 + class).floor(),
                3 => 2.5,
                4 => (noise + class) * 1e200,
                5 => (noise - 0.2 * class) * 1e-200,
                _ => (noise * 4.0).floor() - 1.5,
            }
        };
        scratch.clear();
        scratch.extend((0..self.n).map(value));
        Ok(Column::Dense(scratch))
    }
}

fn class(i: usize) -> u32 {
    u32::from(noise(i, 1000) > 0.6)
}

fn data(n: usize) -> Result<Dataset, Error> {
    // A class without samples, before the others.
    let names = ["none", "no", "yes"].map(str::to_owned).to_vec();
    with_target(n, Target::classes((0..n).map(|i| class(i) + 1).collect(), names)?)
}

/// A real target that rises from the first row to the last, so that no batch is like another.
fn real_target(n: usize) -> Vec<f64> {
    (0..n)
        .map(|i| noise(i, 0) - 2.0 * noise(i, 500) + f64::from(class(i)) + 3.0 * i as f64 / n as f64)
        .collect()
}

fn with_target(n: usize, target: Target) -> Result<Dataset, Error> {
    let mut kinds = vec![FeatureKind::Numeric; DENSE + 2];
    for categorical in [2, 6] {
        kinds[categorical] = FeatureKind::Categorical { levels: Vec::new() };
    }
    Dataset::new(Mixed::new(n), target)?.with_feature_kinds(kinds)
}

fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|value| value.to_bits()).collect()
}

#[test]
fn streams_and_tables_give_the_same_bits() -> Result<(), Error> {
    for (n, cuts) in [(60, [7, 60]), (3 * BATCH_ROWS + 100, [1000, BATCH_ROWS + 1])] {
        let two_classes = Target::from_labels(&(0..n).map(class).collect::<Vec<_>>());
        for (data, scorers) in [
            (data(n)?, scorers()),
            (with_target(n, Target::real(real_target(n))?)?, regressions()),
            (with_target(n, Target::real(real_target(n))?)?, vec![("mim", Box::new(Mim::default()))]),
            (with_target(n, two_classes)?, regressions()),
        ] {
            for (name, scorer) in scorers {
                for rows in cuts {
                    same_bits(&data, rows, &*scorer, name)?;
                }
            }
        }
    }
    Ok(())
}

/// That batches of so many rows give the scores and p-values of the table.
fn same_bits(data: &Dataset, rows: usize, scorer: &dyn StreamScorer, name: &str) -> Result<(), Error> {
    let context = Context::default();
    let table = scorer.score(data, &context)?;
    let stream = scorer.score_stream(&mut RowBatches::new(data, rows)?, &context)?;
    assert_eq!(bits(&stream.values), bits(&table.values), "{name} {} {rows}", data.n_samples());
    assert_eq!(stream.higher_is_better, table.higher_is_better);
    let p_values = |p_values: &Option<Vec<f64>>| p_values.as_deref().map(bits);
    assert_eq!(p_values(&stream.p_values), p_values(&table.p_values), "{name} {} {rows}", data.n_samples());
    Ok(())
}

/// The definition, with a mean of compensated sums: merges lose no digits, at an offset of 10⁹ either.
#[test]
fn variances_over_many_batches_are_those_of_the_definition() -> Result<(), Error> {
    let n = 5 * BATCH_ROWS + 1;
    let data = data(n)?;
    let scores = Variance.score(&data, &Context::default())?;
    for j in [0, 1, 7, 8] {
        let values = data.x().column(j, &mut Vec::new())?.to_vec(n);
        let scale = values.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
        let origin = values[0];
        let differences: Vec<f64> = values.iter().map(|value| (value - origin) / scale).collect();
        let mean = differences.iter().sum::<f64>() / n as f64;
        let variance = differences.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / n as f64;
        let (found, expected) = (scores.values[j], variance * scale * scale);
        assert!((found - expected).abs() <= 1e-11 * expected, "{j}: {found} and {expected}");
    }
    assert_eq!(scores.values[3], 0.0);
    Ok(())
}

/// Pearson's r by its definition; of categories η.
fn correlation(data: &Dataset, j: usize, y: &[f64]) -> Result<f64, Error> {
    let n = y.len();
    let mean =
        |values: &[f64]| values.iter().map(|value| value - values[0]).sum::<f64>() / n as f64 + values[0];
    let mut x = data.x().column(j, &mut Vec::new())?.to_vec(n);
    if let FeatureKind::Categorical { .. } = data.feature_kind(j) {
        // η is the correlation with the mean of the target over the level.
        let means = |level: f64| {
            let own = || (0..n).filter(|&i| x[i] == level).map(|i| y[i]);
            own().sum::<f64>() / own().count() as f64
        };
        let levels = fewest_core::order::distinct(x.clone());
        let means: Vec<f64> = levels.iter().map(|&level| means(level)).collect();
        x = x.iter().map(|value| means[levels.partition_point(|level| level < value)]).collect();
    }
    // Differences first: those of values near 10⁹ are exact.
    let first = x[0];
    x.iter_mut().for_each(|value| *value -= first);
    let scale = x.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
    x.iter_mut().for_each(|value| *value /= scale);
    let (x_mean, y_mean) = (mean(&x), mean(y));
    let product =
        |a: &dyn Fn(usize) -> f64, b: &dyn Fn(usize) -> f64| (0..n).map(|i| a(i) * b(i)).sum::<f64>();
    let (x, y) = (|i: usize| x[i] - x_mean, |i: usize| y[i] - y_mean);
    Ok(product(&x, &y).abs() / (product(&x, &x) * product(&y, &y)).sqrt())
}

#[test]
fn correlations_and_f_over_many_batches_are_those_of_the_definition() -> Result<(), Error> {
    let context = Context::default();
    for n in [50, 5 * BATCH_ROWS + 1] {
        let y = real_target(n);
        let data = with_target(n, Target::real(y.clone())?)?;
        let found = CorrelationScore::default().score(&data, &context)?.values;
        let f = FScore.score(&data, &context)?.values;
        for j in (0..DENSE + 2).filter(|&j| j != 3) {
            let r = correlation(&data, j, &y)?;
            assert!((found[j] - r).abs() <= 1e-13 * r, "{j}: {} and {r}", found[j]);
            if let FeatureKind::Numeric = data.feature_kind(j) {
                let expected = r * r / (1.0 - r * r) * (n as f64 - 2.0);
                assert!((f[j] - expected).abs() <= 4e-13 * expected, "{j}: {} and {expected}", f[j]);
            }
        }
        assert_eq!((found[3], f[3]), (0.0, 0.0));
    }
    Ok(())
}

/// The target's unit does not matter, not even where its squares overflow or vanish, nor where whole batches
/// are zero or far smaller than others.
#[test]
fn the_unit_of_a_target_changes_no_bit() -> Result<(), Error> {
    let context = Context::default();
    let n = 3 * BATCH_ROWS + 100;
    let mut y = real_target(n);
    y[..BATCH_ROWS].fill(0.0);
    y[BATCH_ROWS..2 * BATCH_ROWS].iter_mut().for_each(|value| *value *= 1e-30);
    let scores = |unit: f64| -> Result<_, Error> {
        let data = with_target(n, Target::real(y.iter().map(|value| value * unit).collect())?)?;
        let mut found = Vec::new();
        for (name, scorer) in regressions() {
            same_bits(&data, 777, &*scorer, name)?;
            found.push(bits(&scorer.score(&data, &context)?.values));
        }
        let values = CorrelationScore::default().score(&data, &context)?.values;
        Ok((data, values, found))
    };
    let (data, values, found) = scores(1.0)?;
    for j in [0, 2, 4, 5, 6, 7, 8] {
        let r = correlation(&data, j, &y)?;
        assert!((values[j] - r).abs() <= 1e-12 * r, "{j}: {} and {r}", values[j]);
    }
    for exponent in [-800, 900] {
        assert_eq!(scores(2.0_f64.powi(exponent))?.2, found, "{exponent}");
    }
    Ok(())
}

/// A feature of which the target is a linear function explains all of it, however many batches there are.
#[test]
fn what_is_left_by_a_line_is_nothing_over_many_batches_too() -> Result<(), Error> {
    for n in [3, 100, BATCH_ROWS + 1, 20 * BATCH_ROWS] {
        let x: Vec<f64> = (0..n).map(|i| noise(i, 0) + i as f64 / n as f64).collect();
        let y = x.iter().map(|x| 2.0 - 0.3 * x).collect();
        let levels = (0..n).map(|i| f64::from(i % 3 == 0)).collect();
        let data = Dataset::new(DenseColumns::from_columns(&[x, levels])?, Target::real(y)?)?;
        let mut stream = RowBatches::new(&data, 1000)?;
        assert_eq!(
            CorrelationScore::default().score_stream(&mut stream, &Context::default())?.values[0],
            1.0
        );
        stream.rewind()?;
        assert_eq!(FScore.score_stream(&mut stream, &Context::default())?.values[0], f64::INFINITY);
    }
    Ok(())
}

#[test]
fn real_targets_that_tell_nothing_are_errors_from_streams_too() -> Result<(), Error> {
    let context = Context::default();
    let score = |scorer: &dyn StreamScorer, x: Vec<f64>, y: Vec<f64>| {
        let data = Dataset::new(DenseColumns::from_columns(&[x])?, Target::real(y)?)?;
        scorer.score_stream(&mut RowBatches::new(&data, 999)?, &context)
    };
    for (name, scorer) in regressions().into_iter().skip(1) {
        let found = |x: &[f64], y: &[f64]| score(&*scorer, x.to_vec(), y.to_vec());
        assert!(matches!(found(&[1.0], &[1.0]), Err(Error::TooFew { found: 1, .. })), "{name}");
        assert!(matches!(found(&[1.0, 2.0], &[1.0, 2.0]), Err(Error::TooFew { found: 2, .. })), "{name}");
        let constant = found(&[1.0, 2.0, 3.0], &[0.1; 3]);
        assert!(matches!(constant, Err(Error::UnsupportedTarget { .. })), "{name}: {constant:?}");
        let n = BATCH_ROWS + 10;
        let constant = found(&vec![0.3; n], &real_target(n));
        assert_eq!(constant.map(|scores| scores.values), Ok(vec![0.0]), "{name}");
        let mut values = vec![0.3; n];
        values[n - 1] = f64::NAN;
        let nan = found(&values, &real_target(n));
        assert!(matches!(nan, Err(Error::NonFinite { row, .. }) if row == n - 1), "{name}: {nan:?}");
        let affinity = Dataset::new(DenseColumns::new(vec![1.0; 4], 4, 1)?, Target::None)?;
        let found = scorer.score_stream(&mut RowBatches::new(&affinity, 2)?, &context);
        assert!(matches!(found, Err(Error::UnsupportedTarget { .. })), "{name}");
    }
    let spearman = CorrelationScore { coefficient: Coefficient::Spearman };
    assert!(matches!(score(&spearman, vec![1.0; 3], vec![1.0; 3]), Err(Error::Unsupported { .. })));
    Ok(())
}

/// A stream that comes once.
struct Once<'a>(RowBatches<'a>);

impl SampleStream for Once<'_> {
    fn next_batch(&mut self) -> Result<Option<Dataset>, Error> {
        self.0.next_batch()
    }
}

#[test]
fn a_second_pass_is_asked_for_only_where_it_is_needed() -> Result<(), Error> {
    let context = Context::default();
    let all = data(50)?;
    let real = with_target(50, Target::real(real_target(50))?)?;
    for (all, scorers) in [(all, scorers()), (real, regressions())] {
        let easy = all.feature_subset(&[0, 1, 2, 3, 6])?;
        for (name, scorer) in scorers {
            let once = |data: &Dataset| scorer.score_stream(&mut Once(RowBatches::new(data, 20)?), &context);
            let bins = ["chi2", "mim", "gini of bins"].contains(&name);
            assert_eq!(once(&easy).is_err(), bins, "{name}");
            assert!(matches!(once(&all), Err(Error::Unsupported { .. })), "{name}");
        }
    }
    Ok(())
}

#[test]
fn hostile_streams_are_errors_that_name_the_cell() -> Result<(), Error> {
    let context = Context::default();
    let n = BATCH_ROWS + 10;
    let dataset = |target: Target, row: usize, value: f64| {
        let mut values: Vec<f64> = (0..n).map(|i| noise(i, 0)).collect();
        values[row] = value;
        let fine = (0..n).map(|i| noise(i, 1)).collect();
        Dataset::new(DenseColumns::from_columns(&[fine, values])?, target)
    };
    let classes = || Target::from_labels(&(0..n).map(class).collect::<Vec<_>>());
    for (name, scorer) in scorers() {
        let score = |data: &Dataset| scorer.score_stream(&mut RowBatches::new(data, 999)?, &context);
        for row in [3, n - 1] {
            let found = score(&dataset(classes(), row, f64::NAN)?);
            let names = matches!(found, Err(Error::NonFinite { column: 1, row: at, .. }) if at == row);
            assert!(names, "{name}: {found:?}");
        }
        let weighted = dataset(classes(), 0, 0.5)?.with_sample_weights(vec![1.0; n])?;
        assert!(matches!(score(&weighted), Err(Error::Unsupported { .. })), "{name}");
        if !["variance", "f-score", "mim"].contains(&name) {
            let real = dataset(Target::real((0..n).map(|i| noise(i, 2)).collect())?, 0, 0.5)?;
            assert!(matches!(score(&real), Err(Error::UnsupportedTarget { .. })), "{name}");
        }
        // Of one class no score differs from 0.
        if !["variance", "fisher"].contains(&name) {
            let one = dataset(Target::from_labels(&vec!["a"; n]), 0, 0.5)?;
            assert!(matches!(score(&one), Err(Error::TooFew { minimum: 2, found: 1, .. })), "{name}");
        }
    }
    Ok(())
}

/// A running score as a stream of samples, with nothing that has arrived.
fn ranked(name: &str) -> Result<RankedStream, Error> {
    match name {
        "variance" => RankedStream::new(&Variance),
        "fisher" => RankedStream::new(&FisherScore),
        "gini of bins" => RankedStream::new(&Gini { bins: Some(6) }),
        "t-score" => RankedStream::new(&TScore::default()),
        "f-score" => RankedStream::new(&FScore),
        "chi2" => RankedStream::new(&ChiSquare { bins: 7 }),
        "mim" => RankedStream::new(&Mim::default()),
        _ => RankedStream::new(&CorrelationScore::default()),
    }
}

/// Dense features whose squares are numbers.
fn easy(data: &Dataset) -> Result<Dataset, Error> {
    data.feature_subset(&[0, 1, 2, 3, 6])
}

/// Scores that arrive are those of the table, at any time; a stream that takes the state of another goes on
/// with the same bits.
#[test]
fn running_scores_are_those_of_the_rows_so_far() -> Result<(), Error> {
    let context = Context::default();
    let n = 2 * BATCH_ROWS + 300;
    let (classes, real) = (data(n)?, with_target(n, Target::real(real_target(n))?)?);
    for (all, scorers) in [(classes, scorers()), (real, regressions())] {
        let all = easy(&all)?;
        for (name, scorer) in scorers {
            if name == "t-score of populations" {
                continue;
            }
            let (mut whole, mut parts) = (ranked(name)?, ranked(name)?);
            let mut n_seen = 0;
            let mut batches = RowBatches::new(&all, 700)?;
            while let Some(batch) = batches.next_batch()? {
                let state = parts.save()?;
                parts = ranked(name)?;
                parts.restore(&state)?;
                whole.update(&batch, &context)?;
                parts.update(&batch, &context)?;
                n_seen += batch.n_samples();
                assert_eq!(whole.save()?, parts.save()?, "{name} after {n_seen}");
                let (found, again) = (whole.scores()?, parts.scores()?);
                assert_eq!(bits(&found.values), bits(&again.values), "{name} after {n_seen}");
                // Bins stay as the first batch has them.
                let bins = ["chi2", "mim", "gini of bins"].contains(&name);
                if !bins || n_seen <= BATCH_ROWS {
                    let rows: Vec<usize> = (0..n_seen).collect();
                    let table = scorer.score(&all.subset(&rows)?, &context)?;
                    assert_eq!(bits(&found.values), bits(&table.values), "{name} after {n_seen}");
                    assert_eq!(found.p_values.map(|p| bits(&p)), table.p_values.map(|p| bits(&p)));
                    assert!(found.notes.is_empty());
                } else {
                    assert!(found.notes[0].contains("the first 4096 samples"), "{:?}", found.notes);
                }
                // A constant is never chosen.
                assert!(!whole.selection(Budget::Auto)?.order.contains(&3), "{name}");
                // The rows that wait, and a few sums of each feature and class.
                let waiting = 8 * 6 * (n_seen % BATCH_ROWS + 1);
                assert!(whole.held().bytes <= waiting + 5 * 4000, "{name}: {:?}", whole.held());
            }
        }
    }
    Ok(())
}

#[test]
fn hostile_rows_that_arrive_are_errors_that_change_nothing() -> Result<(), Error> {
    let context = Context::default();
    for name in ["variance", "t-score", "f-score", "chi2", "mim", "correlation"] {
        let mut stream = ranked(name)?;
        assert!(matches!(stream.scores(), Err(Error::TooFew { .. })));
        let good = match name {
            "correlation" => with_target(500, Target::real(real_target(500))?)?,
            _ => data(500)?,
        };
        let good = easy(&good)?;
        stream.update(&good, &context)?;
        let before = (stream.save()?, bits(&stream.scores()?.values));
        let broken = fewest_core::OnDemand::new(500, 5, |j, out: &mut [f64]| {
            out[7] = if j == 4 { f64::NAN } else { 1.0 };
            Ok(())
        });
        let hostile = [
            good.feature_subset(&[0, 1])?,
            good.clone().with_sample_weights(vec![1.0; 500])?,
            good.clone().with_x(broken)?,
            good.clone().with_target(Target::from_labels(&(0..500).map(|i| i % 3).collect::<Vec<_>>()))?,
        ];
        for hostile in hostile {
            assert!(stream.update(&hostile, &context).is_err(), "{name}");
            assert_eq!((stream.save()?, bits(&stream.scores()?.values)), before, "{name}");
        }
        for len in [0, 1, before.0.len() / 2, before.0.len() - 1] {
            assert!(stream.restore(&before.0[..len]).is_err(), "{name} {len}");
            assert_eq!((stream.save()?, bits(&stream.scores()?.values)), before, "{name}");
        }
        let mut other = ranked(if name == "variance" { "mim" } else { "variance" })?;
        assert!(other.restore(&before.0).is_err());
    }
    // Squares that overflow would need a second pass.
    let mut stream = ranked("f-score")?;
    stream.update(&data(500)?, &context)?;
    assert!(matches!(stream.scores(), Err(Error::Unsupported { .. })));
    Ok(())
}
