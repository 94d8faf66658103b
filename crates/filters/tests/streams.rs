//! Scores of rows that come in batches: those of the same rows in one table, with the same bits.

use fewest_core::{
    BATCH_ROWS, Column, Columns, Context, Dataset, DenseColumns, Error, FeatureKind, RowBatches,
    SampleStream, Scorer, StreamScorer, Target,
};
use fewest_filters::information::Mim;
use fewest_filters::statistical::{ChiSquare, ClassVariance, FScore, TScore, Variance};

fn scorers() -> Vec<(&'static str, Box<dyn StreamScorer>)> {
    vec![
        ("variance", Box::new(Variance)),
        ("t-score", Box::new(TScore::default())),
        ("t-score of populations", Box::new(TScore { variance: ClassVariance::Population })),
        ("f-score", Box::new(FScore)),
        ("chi2", Box::new(ChiSquare { bins: 7 })),
        ("mim", Box::new(Mim::default())),
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
    let target = Target::classes((0..n).map(|i| class(i) + 1).collect(), names)?;
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
    let context = Context::default();
    for (n, cuts) in [(60, [7, 60]), (3 * BATCH_ROWS + 100, [1000, BATCH_ROWS + 1])] {
        let data = data(n)?;
        for (name, scorer) in scorers() {
            let table = scorer.score(&data, &context)?;
            for rows in cuts {
                let stream = scorer.score_stream(&mut RowBatches::new(&data, rows)?, &context)?;
                assert_eq!(bits(&stream.values), bits(&table.values), "{name} {n} {rows}");
                assert_eq!(stream.higher_is_better, table.higher_is_better);
                let p_values = |p_values: &Option<Vec<f64>>| p_values.as_deref().map(bits);
                assert_eq!(p_values(&stream.p_values), p_values(&table.p_values), "{name} {n} {rows}");
            }
        }
    }
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
    let easy = all.feature_subset(&[0, 1, 2, 3, 6])?;
    for (name, scorer) in scorers() {
        let once = |data: &Dataset| scorer.score_stream(&mut Once(RowBatches::new(data, 20)?), &context);
        let bins = ["chi2", "mim"].contains(&name);
        assert_eq!(once(&easy).is_err(), bins, "{name}");
        assert!(matches!(once(&all), Err(Error::Unsupported { .. })), "{name}");
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
        if name != "variance" {
            let real = dataset(Target::real(vec![1.0; n])?, 0, 0.5)?;
            assert!(matches!(score(&real), Err(Error::UnsupportedTarget { .. })), "{name}");
            let one = dataset(Target::from_labels(&vec!["a"; n]), 0, 0.5)?;
            assert!(matches!(score(&one), Err(Error::TooFew { minimum: 2, found: 1, .. })), "{name}");
        }
    }
    Ok(())
}
