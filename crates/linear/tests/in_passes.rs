//! Lasso and elastic net from rows that come in batches: with the bits of the table, for any batches and
//! threads.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use fewest_core::method::Regularization;
use fewest_core::{
    BATCH_ROWS, Budget, Certificate, Column, Columns, Context, Dataset, DenseColumns, Error, FeatureKind,
    PassSelector, RowBatches, Selection, Selector, Status, Target,
};
use fewest_linear::{ElasticNet, Lasso, LinearLoss, Sign};

fn noise(i: usize, j: usize) -> f64 {
    (fewest_core::derive_seed(j as u64, i as u64) >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
}

const D: usize = 30;

/// Numbers that are related, far from zero or huge, categories of two levels and of four, a constant.
fn data(n: usize, target: usize) -> Result<Dataset, Error> {
    let value = |i: usize, j: usize| match j {
        3 => 1e7 + noise(i, j),
        4 => 1e200 * (noise(i, j) + noise(i, 0)),
        5 => 2.5,
        6 => 3.0 * f64::from(noise(i, j) > 0.2) - 1.0,
        7 => (4.0 * (noise(i, j) + 0.5)).floor(),
        8 => 1e-180 * noise(i, j),
        _ => noise(i, j) + 0.6 * noise(i, j / 3),
    };
    let columns: Vec<Vec<f64>> = (0..D).map(|j| (0..n).map(|i| value(i, j)).collect()).collect();
    let signal = |i: usize| {
        let level = if columns[7][i] == 2.0 { 0.7 } else { 0.0 };
        2.0 * columns[0][i] - columns[9][i]
            + 1.5 * (columns[3][i] - 1e7)
            + level
            + 0.2 * columns[6][i]
            + 0.8 * columns[20][i] * noise(i, 99)
    };
    let y: Vec<f64> = (0..n).map(|i| signal(i) + 0.5 * noise(i, 100)).collect();
    let target = match target {
        0 => Target::real(y)?,
        1 => Target::outputs(
            [y.clone(), y.iter().zip(&columns[12]).map(|(y, x)| 3.0 + x - y).collect()].concat(),
            n,
        )?,
        classes => {
            let of = |y: &f64| ((y + 1.0) * (classes - 1) as f64).clamp(0.0, (classes - 1) as f64) as u32;
            let names = (0..classes).map(|class| format!("class {class}")).collect();
            Target::classes(y.iter().map(of).collect(), names)?
        }
    };
    let mut kinds = vec![FeatureKind::Numeric; D];
    kinds[6..8].fill(FeatureKind::Categorical { levels: Vec::new() });
    Dataset::new(DenseColumns::from_columns(&columns)?, target)?.with_feature_kinds(kinds)
}

fn gap(selection: &Selection) -> f64 {
    match selection.solver.as_ref().map(|report| report.certificate) {
        Some(Certificate::Gap { relative, .. }) => relative,
        other => panic!("{other:?}"),
    }
}

fn bits(selection: &Selection) -> (Vec<usize>, Vec<u64>, Vec<u64>) {
    let of = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect();
    let path = selection.path.iter().flat_map(|path| &path.points).map(|point| point.lambda);
    (selection.order.clone(), of(&selection.scores), of(&path.collect::<Vec<f64>>()))
}

fn models() -> Vec<(&'static str, Box<dyn Selector>, Budget)> {
    let lasso = |regularization| Lasso { regularization, ..Lasso::default() };
    let net = |l1_ratio, lasso| ElasticNet { l1_ratio, lasso };
    vec![
        ("three", Box::new(Lasso::default()), Budget::Count(3)),
        ("most", Box::new(Lasso::default()), Budget::Count(14)),
        ("value", Box::new(lasso(Regularization::Value(0.05))), Budget::Auto),
        ("path", Box::new(Lasso { lambda_path: 7, ..lasso(Regularization::Ratio(0.1)) }), Budget::Auto),
        ("positive", Box::new(Lasso { sign: Sign::Positive, ..Lasso::default() }), Budget::Count(4)),
        (
            "negative",
            Box::new(Lasso { sign: Sign::Negative, ..lasso(Regularization::Ratio(0.2)) }),
            Budget::Auto,
        ),
        ("net", Box::new(net(0.5, lasso(Regularization::Ratio(0.05)))), Budget::Auto),
        ("net of five", Box::new(net(0.8, Lasso::default())), Budget::Count(5)),
    ]
}

#[test]
fn answers_are_those_of_the_table() -> Result<(), Error> {
    let context = Context::default();
    for (n, target) in [(200, 0), (BATCH_ROWS + 900, 0), (3000, 1), (3000, 2), (2 * BATCH_ROWS + 5, 4)] {
        let data = data(n, target)?;
        for (name, model, budget) in models() {
            let case = format!("{name} {n} {target}");
            let table = model.select(&data, budget, &context)?;
            let in_passes = model.in_passes().expect("a sum over rows");
            for (rows, threads) in [(n, 1), (997, 2), (BATCH_ROWS + 1, 7)] {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
                let mut stream = RowBatches::new(&data, rows)?;
                let found = pool.install(|| in_passes.select_stream(&mut stream, budget, &context))?;
                assert_eq!(found.status, Status::Converged, "{case}");
                assert!(gap(&found) <= 1e-9, "{case}: {}", gap(&found));
                assert!(bits(&found) == bits(&table), "{case} {rows} {threads}");
                assert_eq!(found, table, "{case} {rows} {threads}");
            }
        }
    }
    Ok(())
}

/// Several numbers of features at once, and a target whose squares overflow, which passes refuse.
#[test]
fn long_tables_in_memory_answer_what_passes_do_not() -> Result<(), Error> {
    let data = data(BATCH_ROWS + 10, 0)?;
    let context = Context::default();
    let net = ElasticNet { l1_ratio: 0.8, ..ElasticNet::default() };
    for model in [&Lasso::default() as &dyn Selector, &net] {
        let budgets = [Budget::Count(2), Budget::Count(9)];
        let together = model.select_many(&data, &budgets, &context)?;
        let in_passes = model.in_passes().expect("a sum over rows");
        for (found, budget) in together.iter().zip(budgets) {
            let mut stream = RowBatches::new(&data, 1000)?;
            assert!(bits(found) == bits(&in_passes.select_stream(&mut stream, budget, &context)?));
        }
        let Target::Real(real) = data.target() else { panic!("a real target") };
        let huge: Vec<f64> = real.output(0).iter().map(|value| value * 2.0_f64.powi(600)).collect();
        let huge = data.clone().with_target(Target::real(huge)?)?;
        let refused = in_passes.select_stream(&mut RowBatches::new(&huge, 1000)?, budgets[0], &context);
        assert!(matches!(refused, Err(Error::Numerical { .. })), "{refused:?}");
        assert_eq!(model.select(&huge, budgets[0], &context)?.order, together[0].order);
    }
    Ok(())
}

/// Weights of 1 change nothing but the road: with them no products are taken. (Of copies of a feature either
/// may have the coefficient.)
#[test]
fn products_have_the_answer_of_the_columns() -> Result<(), Error> {
    let n = BATCH_ROWS + 300;
    let context = Context::default();
    for target in [0, 2, 4] {
        let data = data(n, target)?;
        // With a copy of a feature, and one that nearly is.
        let column = |j: usize| -> Result<Vec<f64>, Error> {
            let mut values = vec![0.0; n];
            data.x().copy_column(j, &mut values)?;
            Ok(values)
        };
        let mut columns = (0..D).map(column).collect::<Result<Vec<_>, Error>>()?;
        columns.push(columns[0].clone());
        columns.push(columns[9].iter().enumerate().map(|(i, x)| x + 1e-3 * noise(i, 200)).collect());
        let data = Dataset::new(DenseColumns::from_columns(&columns)?, data.target().clone())?;
        let weighted = data.clone().with_sample_weights(vec![1.0; n])?;
        for (name, model, budget) in models() {
            let (found, expected) =
                (model.select(&data, budget, &context)?, model.select(&weighted, budget, &context)?);
            let fitted = |of: &Selection| of.solver.as_ref().map_or(f64::NAN, |report| report.objective);
            let (own, other) = (fitted(&found), fitted(&expected));
            assert!((own - other).abs() <= 1e-8 * other.abs(), "{name} {target}: {own} {other}");
        }
    }
    Ok(())
}

/// Columns that are made at each read, and how often that was.
struct Made(DenseColumns, AtomicUsize);

impl Columns for Made {
    fn n_samples(&self) -> usize {
        self.0.n_samples()
    }

    fn n_features(&self) -> usize {
        self.0.n_features()
    }

    fn column<'a>(&'a self, j: usize, scratch: &'a mut Vec<f64>) -> Result<Column<'a>, Error> {
        self.1.fetch_add(1, Ordering::Relaxed);
        scratch.resize(self.0.n_samples(), 0.0);
        self.0.copy_column(j, scratch)?;
        Ok(Column::Dense(scratch))
    }
}

/// Neither other numbers of features in the same call nor where columns come from change a bit, and columns
/// are not made again for each batch.
#[test]
fn long_tables_have_the_same_bits_however_they_are_asked() -> Result<(), Error> {
    const WIDE: usize = 150;
    let n = 3 * BATCH_ROWS;
    let columns: Vec<Vec<f64>> =
        (0..WIDE).map(|j| (0..n).map(|i| noise(i, j) + 0.6 * noise(i, j / 3)).collect()).collect();
    let y = (0..n).map(|i| columns[0][i] + columns[70][i] - columns[120][i] + noise(i, 900)).collect();
    let target = Target::real(y)?;
    let x = DenseColumns::from_columns(&columns)?;
    let made = Arc::new(Made(x.clone(), AtomicUsize::new(0)));
    let (data, again) = (Dataset::new(x, target.clone())?, Dataset::new(made.clone(), target)?);
    let context = Context::default();
    // The first is answered by columns, the others by products.
    let budgets = [Budget::Count(2), Budget::Count(8), Budget::Count(20)];
    let net = ElasticNet { l1_ratio: 0.7, ..ElasticNet::default() };
    for model in [&Lasso::default() as &dyn Selector, &net] {
        let together = model.select_many(&data, &budgets, &context)?;
        for (found, budget) in together.iter().zip(budgets) {
            let alone = model.select(&data, budget, &context)?;
            assert_eq!((bits(found), &found.solver), (bits(&alone), &alone.solver));
        }
        made.1.store(0, Ordering::Relaxed);
        let found = model.select(&again, budgets[2], &context)?;
        assert!(bits(&found) == bits(&together[2]));
        let n_reads = made.1.load(Ordering::Relaxed);
        assert!(n_reads <= WIDE + 1, "{n_reads}");
    }
    Ok(())
}

/// The gap from its definition, over the rows themselves.
#[test]
fn the_gap_holds_over_the_rows() -> Result<(), Error> {
    let n = 5000;
    // Without the category of four levels, whose score is a norm.
    let data = data(n, 0)?.feature_subset(&(0..D).filter(|j| *j != 7).collect::<Vec<_>>())?;
    let lasso = Lasso { regularization: Regularization::Value(0.03), ..Lasso::default() };
    let mut stream = RowBatches::new(&data, 1234)?;
    let found = lasso.select_stream(&mut stream, Budget::Auto, &Context::default())?;
    let standardised = |values: &[f64]| -> Vec<f64> {
        let scale = values.iter().fold(0.0_f64, |most, value| most.max(value.abs())).max(f64::MIN_POSITIVE);
        let scaled: Vec<f64> = values.iter().map(|value| value / scale).collect();
        let mean = scaled.iter().sum::<f64>() / n as f64;
        let deviation = (scaled.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / n as f64).sqrt();
        let inverse = if deviation > 1e-14 { deviation.recip() } else { 0.0 };
        scaled.iter().map(|value| (value - mean) * inverse).collect()
    };
    let column = |j: usize| -> Result<Vec<f64>, Error> {
        let mut values = vec![0.0; n];
        data.x().copy_column(j, &mut values)?;
        Ok(values)
    };
    let Target::Real(real) = data.target() else { panic!("a real target") };
    let y = standardised(real.output(0));
    let mut residual = y.clone();
    let mut norm = 0.0;
    for (&j, &weight) in found.order.iter().zip(&found.scores) {
        norm += weight.abs();
        let x = standardised(&column(j)?);
        residual.iter_mut().zip(x).for_each(|(r, x)| *r -= weight * x);
    }
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>() / n as f64;
    let mut largest = 0.0_f64;
    for j in 0..data.n_features() {
        largest = largest.max(dot(&standardised(&column(j)?), &residual).abs());
    }
    let primal = 0.5 * dot(&residual, &residual) + 0.03 * norm;
    let scale = (0.03 / largest).min(1.0);
    let dual = scale * dot(&y, &residual) - 0.5 * scale * scale * dot(&residual, &residual);
    assert!(primal <= dual + 5e-9, "{primal} {dual}");
    Ok(())
}

#[test]
fn what_has_no_such_sums_is_refused() -> Result<(), Error> {
    let real = data(300, 0)?;
    let refused = |lasso: Lasso, data: &Dataset, context: &Context<'_>| {
        let mut stream = RowBatches::new(data, 100).expect("rows");
        match lasso.select_stream(&mut stream, Budget::Count(2), context) {
            Err(error) => error.to_string(),
            Ok(found) => panic!("{found:?}"),
        }
    };
    let context = Context::default();
    let told = refused(
        Lasso { loss: LinearLoss::Huber { intercept: true, delta: 1.0 }, ..Lasso::default() },
        &real,
        &context,
    );
    assert!(told.contains("loss=huber in passes"), "{told}");
    let told = refused(Lasso { covariates: vec![1], ..Lasso::default() }, &real, &context);
    assert!(told.contains("covariates"), "{told}");
    let chosen = Regularization::CrossValidated { folds: 5 };
    let told = refused(Lasso { regularization: chosen, ..Lasso::default() }, &real, &context);
    assert!(told.contains("in passes"), "{told}");
    let little = Context { memory: Some(40), ..Context::default() };
    let told = refused(Lasso::default(), &real, &little);
    assert!(told.contains("columns in passes") && told.contains("more memory"), "{told}");
    let same = real.clone().with_target(Target::real(vec![2.0; 300])?)?;
    assert!(refused(Lasso::default(), &same, &context).contains("the same in every sample"));
    let mut values = vec![0.5; 900];
    values[650] = f64::NAN;
    let x = DenseColumns::new(values, 300, 3)?;
    let hole = Dataset::new(x, Target::real((0..300).map(f64::from).collect())?)?;
    let told = refused(Lasso::default(), &hole, &context);
    assert!(told.contains("sample 50"), "{told}");
    Ok(())
}
