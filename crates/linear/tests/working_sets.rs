//! Lasso and elastic net of more columns than there is memory for the products of: the answers are those of
//! the table, with a gap over all columns.

use fewest_core::method::Regularization;
use fewest_core::{
    AskedPass, BATCH_ROWS, Budget, Certificate, Context, Dataset, DenseColumns, Error, FeatureKind,
    RowBatches, SampleStream, Selection, Selector, Status, SummedElsewhere, Target, sum_part,
};
use fewest_linear::{ElasticNet, Lasso, Sign};

const D: usize = 400;

/// Products of so many columns, and of the output, may be in memory.
fn room(columns: usize) -> Context<'static> {
    let all = columns + 1;
    Context { memory: Some(24 * all * all), ..Context::default() }
}

fn noise(i: usize, j: usize) -> f64 {
    (fewest_core::derive_seed(j as u64, i as u64) >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
}

/// Columns each of which resembles the one before, a category, and constants; a target of some of them.
fn correlated(n: usize) -> Result<Dataset, Error> {
    let mut columns: Vec<Vec<f64>> = Vec::new();
    for j in 0..D {
        let value = |i: usize| match j {
            50 => (4.0 * (noise(i, j) + 0.5)).floor(),
            51 | 300 => -7.25,
            _ => noise(i, j) + columns.last().map_or(0.0, |before| 0.7 * before[i].clamp(-1.0, 1.0)),
        };
        columns.push((0..n).map(value).collect());
    }
    let signal = |i: usize| {
        let of = |j: usize| columns[j][i];
        2.0 * of(3) - of(120) + 0.8 * of(121) + 0.5 * of(200) - 0.4 * of(333) + 0.3 * f64::from(of(50) == 1.0)
    };
    let y = (0..n).map(|i| signal(i) + 0.7 * noise(i, D)).collect();
    let mut kinds = vec![FeatureKind::Numeric; D];
    kinds[50] = FeatureKind::Categorical { levels: Vec::new() };
    Dataset::new(DenseColumns::from_columns(&columns)?, Target::real(y)?)?.with_feature_kinds(kinds)
}

/// `x₀ = s + t`, `x₁ = t` and `y = s`: the second has no correlation with the target, and takes the noise out
/// of the first. The others have some correlation.
fn suppressor(n: usize) -> Result<Dataset, Error> {
    let (s, t) = (|i: usize| noise(i, D + 1), |i: usize| noise(i, D + 2));
    let mean = (0..n).map(|i| s(i) * t(i)).sum::<f64>() / (0..n).map(|i| s(i) * s(i)).sum::<f64>();
    let value = |i: usize, j: usize| match j {
        0 => s(i) + t(i) - mean * s(i),
        1 => t(i) - mean * s(i),
        _ => noise(i, j) + 0.1 * s(i),
    };
    let columns: Vec<Vec<f64>> = (0..D).map(|j| (0..n).map(|i| value(i, j)).collect()).collect();
    Dataset::new(DenseColumns::from_columns(&columns)?, Target::real((0..n).map(s).collect())?)
}

/// A table whose features come in parts, and that counts how often its rows were read.
struct InParts<'a> {
    data: &'a Dataset,
    rows: usize,
    width: usize,
    end: usize,
    taken: Vec<usize>,
    next: usize,
    n_passes: usize,
}

impl<'a> InParts<'a> {
    fn new(data: &'a Dataset, rows: usize, width: usize) -> Self {
        let end = width.min(data.n_features());
        Self { data, rows, width, end, taken: (0..end).collect(), next: 0, n_passes: 0 }
    }
}

impl SampleStream for InParts<'_> {
    fn next_batch(&mut self) -> Result<Option<Dataset>, Error> {
        let last = self.data.n_samples().min(self.next + self.rows);
        if self.next == last {
            return Ok(None);
        }
        self.n_passes += usize::from(self.next == 0);
        let rows: Vec<usize> = (self.next..last).collect();
        self.next = last;
        self.data.subset(&rows)?.feature_subset(&self.taken).map(Some)
    }

    fn rewind(&mut self) -> Result<bool, Error> {
        self.next = 0;
        Ok(true)
    }

    fn next_part(&mut self) -> Result<bool, Error> {
        let next = self.end..self.data.n_features().min(self.end + self.width);
        if next.is_empty() {
            return Ok(false);
        }
        self.end = next.end;
        self.take_features(&next.collect::<Vec<_>>())
    }

    fn take_features(&mut self, features: &[usize]) -> Result<bool, Error> {
        assert!(features.is_sorted());
        self.taken = features.to_vec();
        self.rewind()
    }
}

fn gap(selection: &Selection) -> f64 {
    match selection.solver.as_ref().map(|report| report.certificate) {
        Some(Certificate::Gap { relative, .. }) => relative,
        other => panic!("{other:?}"),
    }
}

fn bits(selection: &Selection) -> (Vec<usize>, Vec<u64>, u64) {
    (
        selection.order.clone(),
        selection.scores.iter().map(|score| score.to_bits()).collect(),
        gap(selection).to_bits(),
    )
}

fn same_answer(found: &Selection, table: &Selection, case: &str) {
    assert_eq!((found.status, &found.order), (Status::Converged, &table.order), "{case}");
    let largest = table.scores.iter().fold(0.0_f64, |most, score| most.max(score.abs()));
    for (own, other) in found.scores.iter().zip(&table.scores) {
        assert!((own - other).abs() < 1e-9 * largest, "{case}: {own} {other}");
    }
    assert!(gap(found) <= 1e-9, "{case}: {}", gap(found));
    let (own, other) = (&found.solver, &table.solver);
    let lambda =
        |report: &Option<fewest_core::SolverReport>| report.as_ref().map_or(f64::NAN, |report| report.lambda);
    assert!((lambda(own) - lambda(other)).abs() <= 1e-9 * lambda(other), "{case}");
    let entered = |of: &Selection| of.path.as_ref().map(|path| path.entered.clone());
    assert_eq!(entered(found), entered(table), "{case}");
}

fn models() -> Vec<(&'static str, Box<dyn Selector>, Budget)> {
    let lasso = |regularization| Lasso { regularization, tolerance: 1e-12, ..Lasso::default() };
    let net = |l1_ratio, lasso| ElasticNet { l1_ratio, lasso };
    vec![
        ("four", Box::new(Lasso::default()), Budget::Count(4)),
        ("eight", Box::new(Lasso::default()), Budget::Count(8)),
        ("value", Box::new(lasso(Regularization::Value(0.2))), Budget::Auto),
        ("path", Box::new(Lasso { lambda_path: 5, ..lasso(Regularization::Ratio(0.3)) }), Budget::Auto),
        ("positive", Box::new(Lasso { sign: Sign::Positive, ..Lasso::default() }), Budget::Count(3)),
        (
            "negative",
            Box::new(Lasso { sign: Sign::Negative, ..lasso(Regularization::Ratio(0.5)) }),
            Budget::Auto,
        ),
        ("net", Box::new(net(0.5, lasso(Regularization::Ratio(0.5)))), Budget::Auto),
        ("net of four", Box::new(net(0.8, lasso(Regularization::Count))), Budget::Count(4)),
    ]
}

/// Bit for bit, whatever the batches, the parts of the features, the threads, and the memory for working
/// sets.
#[test]
fn answers_are_those_of_the_table() -> Result<(), Error> {
    let n = BATCH_ROWS + 900;
    for (name, data) in [("correlated", correlated(n)?), ("suppressor", suppressor(n)?)] {
        for (model_name, model, budget) in models() {
            let case = format!("{name}: {model_name}");
            let table = model.select(&data, budget, &Context::default())?;
            let in_passes = model.in_passes().expect("a sum over rows");
            for (rows, width, threads, columns) in [
                (n, D, 1, 60),
                (997, 23, 2, 60),
                (BATCH_ROWS + 1, 133, 7, 60),
                (n, D, 2, 150),
                (n, D, 2, 2 * D),
            ] {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
                let mut whole = RowBatches::new(&data, rows)?;
                let mut parts = InParts::new(&data, rows, width);
                for stream in [&mut whole as &mut dyn SampleStream, &mut parts] {
                    let found = pool.install(|| in_passes.select_stream(stream, budget, &room(columns)))?;
                    same_answer(&found, &table, &case);
                    assert!(bits(&table) == bits(&found), "{case} {rows} {width} {threads} {columns}");
                    assert_eq!(found, table, "{case} {rows} {width} {threads} {columns}");
                }
            }
        }
    }
    Ok(())
}

/// A column without a correlation with the target is found once the residual is known.
#[test]
fn a_column_that_the_first_working_set_misses_joins() -> Result<(), Error> {
    let data = suppressor(3000)?;
    let lasso = Lasso::default();
    let table = lasso.select(&data, Budget::Count(2), &Context::default())?;
    assert_eq!(table.order, [0, 1]);
    let mut stream = InParts::new(&data, 1000, D);
    let found = lasso.in_passes().expect("sums").select_stream(&mut stream, Budget::Count(2), &room(60))?;
    same_answer(&found, &table, "suppressor");
    // Deviations, products with the target, and two of each of two rounds.
    assert_eq!(stream.n_passes, 2 + 2 * 2);
    Ok(())
}

/// The gap from its definition, over all columns of the table.
#[test]
fn the_gap_is_that_of_all_columns() -> Result<(), Error> {
    let n = 3000;
    let data = suppressor(n)?;
    for (l1_ratio, regularization, budget) in [
        (1.0, Regularization::Count, Budget::Count(2)),
        (1.0, Regularization::Ratio(0.3), Budget::Auto),
        (0.7, Regularization::Ratio(0.4), Budget::Auto),
    ] {
        let net = ElasticNet { l1_ratio, lasso: Lasso { regularization, ..Lasso::default() } };
        let mut stream = InParts::new(&data, 1234, 77);
        let in_passes = net.in_passes().expect("sums");
        let found = in_passes.select_stream(&mut stream, budget, &room(60))?;
        let standardised = |values: &[f64]| -> Vec<f64> {
            let mean = values.iter().sum::<f64>() / n as f64;
            let deviation =
                (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / n as f64).sqrt();
            values.iter().map(|value| (value - mean) / deviation).collect()
        };
        let column = |j: usize| -> Result<Vec<f64>, Error> {
            let mut values = vec![0.0; n];
            data.x().copy_column(j, &mut values)?;
            Ok(standardised(&values))
        };
        let Target::Real(real) = data.target() else { panic!("a real target") };
        let y = standardised(real.output(0));
        let mut w = vec![0.0; D];
        let mut residual = y.clone();
        for (&j, &weight) in found.order.iter().zip(&found.scores) {
            w[j] = weight;
            residual.iter_mut().zip(column(j)?).for_each(|(r, x)| *r -= weight * x);
        }
        let report = found.solver.as_ref().expect("a report");
        let (l1, ridge) = (report.lambda * l1_ratio, report.lambda * (1.0 - l1_ratio));
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        // With the ridge as D more rows, √(n ridge) times the unit matrix, whose target is 0.
        let mut largest = 0.0_f64;
        for (j, weight) in w.iter().enumerate() {
            largest = largest.max((dot(&column(j)?, &residual) / n as f64 - ridge * weight).abs());
        }
        let squares = dot(&residual, &residual) / n as f64 + ridge * dot(&w, &w);
        let primal = 0.5 * squares + l1 * w.iter().map(|weight| weight.abs()).sum::<f64>();
        let scale = (l1 / largest).min(1.0);
        let dual = scale * dot(&y, &residual) / n as f64 - 0.5 * scale * scale * squares;
        let expected = (primal - dual) / 0.5;
        assert!((report.objective - primal).abs() < 1e-11, "{} {primal}", report.objective);
        assert!(expected < 1e-9 && (gap(&found) - expected).abs() < 1e-12, "{} {expected}", gap(&found));
    }
    Ok(())
}

/// Too many features for the memory, a NaN in a later part, a stream with parts of which none can be chosen.
#[test]
fn what_cannot_be_is_refused() -> Result<(), Error> {
    let data = correlated(300)?;
    let lasso = Lasso::default();
    let refused = |stream: &mut dyn SampleStream, k: usize, context: &Context<'_>| match lasso
        .in_passes()
        .expect("sums")
        .select_stream(stream, Budget::Count(k), context)
    {
        Err(error) => error.to_string(),
        Ok(found) => panic!("{found:?}"),
    };
    for k in [70, 40] {
        let told = refused(&mut InParts::new(&data, 100, 50), k, &room(60));
        assert!(told.contains("more memory") && told.contains("columns in passes"), "{told}");
    }
    let told = refused(&mut InParts::new(&data, 100, 50), D + 1, &room(60));
    assert!(told.contains("401"), "{told}");
    let mut columns = vec![vec![0.5; 300]; 90];
    columns[77][250] = f64::NAN;
    let y = Target::real((0..300).map(f64::from).collect())?;
    let hole = Dataset::new(DenseColumns::from_columns(&columns)?, y)?;
    let told = refused(&mut InParts::new(&hole, 100, 20), 2, &room(60));
    assert!(told.contains("77") && told.contains("250"), "{told}");

    struct Fixed<'a>(InParts<'a>);
    impl SampleStream for Fixed<'_> {
        fn next_batch(&mut self) -> Result<Option<Dataset>, Error> {
            self.0.next_batch()
        }
        fn rewind(&mut self) -> Result<bool, Error> {
            self.0.rewind()
        }
        fn next_part(&mut self) -> Result<bool, Error> {
            self.0.next_part()
        }
    }
    let told = refused(&mut Fixed(InParts::new(&data, 100, 50)), 2, &room(60));
    assert!(told.contains("cannot leave any out"), "{told}");
    Ok(())
}

/// As on two machines that have a batch each, and the rest: the bits are those of passes here. A pass for
/// products is told what it takes, which does not grow with the passes before.
#[test]
fn parts_of_the_features_are_summed_elsewhere() -> Result<(), Error> {
    let data = correlated(BATCH_ROWS + 900)?;
    let rows = |rows: std::ops::Range<usize>| data.subset(&rows.collect::<Vec<_>>());
    let own = [(rows(0..BATCH_ROWS)?, 0), (rows(BATCH_ROWS..data.n_samples())?, 1)];
    let context = room(60);
    for (name, model, budget) in models() {
        let in_passes = model.in_passes().expect("a sum over rows");
        let expected = in_passes.select_stream(&mut InParts::new(&data, 997, 23), budget, &context)?;
        let mut asked = Vec::new();
        let ask = |pass: AskedPass| {
            asked.push((pass.earlier.len(), pass.instructions.as_ref().map_or(0, Vec::len)));
            let sums = own.iter().map(|(rows, first_batch)| {
                let mut stream = InParts::new(rows, 500, 23);
                for _ in 0..pass.part {
                    stream.next_part()?;
                }
                let select =
                    |stream: &mut dyn SampleStream| in_passes.select_stream(stream, budget, &context);
                sum_part(&mut stream, *first_batch, &pass, select)
            });
            sums.collect()
        };
        let mut stream = InParts::new(&data, 997, 23);
        let mut elsewhere = SummedElsewhere::new(&mut stream, ask);
        let found = in_passes.select_stream(&mut elsewhere, budget, &context)?;
        assert_eq!(bits(&found), bits(&expected), "{name}");
        assert_eq!(found.notes, expected.notes, "{name}");
        // Means and deviations of 18 parts, and then products, each of some features with others.
        let (surveys, products) = asked.split_at(18);
        assert!(surveys.iter().all(|asked| *asked == (0, 0)), "{name} {surveys:?}");
        let most = 1000 + 100 * D;
        assert!(products.iter().all(|asked| asked.0 == 0 && (1..most).contains(&asked.1)), "{name}");
        // Nothing but the first rows is read here.
        assert_eq!(stream.n_passes, 1, "{name}");
    }
    Ok(())
}

/// As from who sends bytes to an executor that are no instructions, or those of other features.
#[test]
fn instructions_that_are_none_are_an_error() -> Result<(), Error> {
    let data = correlated(300)?;
    let (name, model, budget) = models().into_iter().next().expect("a model");
    let in_passes = model.in_passes().expect("a sum over rows");
    let mut good = Vec::new();
    let mut stream = InParts::new(&data, 100, 50);
    let ask = |pass: AskedPass| {
        good.extend(pass.instructions.clone());
        let select =
            |stream: &mut dyn SampleStream| in_passes.select_stream(stream, budget, &Context::default());
        let mut stream = InParts::new(&data, 100, 50);
        for _ in 0..pass.part {
            stream.next_part()?;
        }
        Ok(vec![sum_part(&mut stream, 0, &pass, select)?])
    };
    in_passes.select_stream(&mut SummedElsewhere::new(&mut stream, ask), budget, &room(60))?;
    assert!(!good.is_empty(), "{name}");
    let sums = |instructions: Vec<u8>, memory: usize| {
        let pass = AskedPass { instructions: Some(instructions), ..AskedPass::default() };
        let context = Context { memory: Some(memory), ..Context::default() };
        let select = |stream: &mut dyn SampleStream| in_passes.select_stream(stream, budget, &context);
        sum_part(&mut InParts::new(&data, 100, 50), 0, &pass, select)
    };
    assert!(sums(good[0].clone(), 1 << 30).is_ok());
    assert!(matches!(sums(good[0].clone(), 100), Err(Error::Unsupported { .. })));
    for length in 0..good[0].len() {
        assert!(sums(good[0][..length].to_vec(), 1 << 30).is_err(), "{length}");
    }
    // Any byte may be another one: an answer or an error, and no panic.
    for at in 0..good[0].len() {
        let mut other = good[0].clone();
        other[at] ^= 0xff;
        let _ = sums(other, 1 << 20);
    }
    Ok(())
}

/// All columns constant but a few; classes as outputs; more features than have a coefficient.
#[test]
fn constant_columns_and_classes() -> Result<(), Error> {
    let n = 2000;
    let value = |i: usize, j: usize| if j.is_multiple_of(40) { noise(i, j) } else { 3.0 };
    let columns: Vec<Vec<f64>> = (0..D).map(|j| (0..n).map(|i| value(i, j)).collect()).collect();
    let level = |i: usize| {
        let sum = columns[40][i] - 0.5 * columns[80][i] + 0.2 * noise(i, D);
        u32::from(sum > -0.2) + u32::from(sum > 0.2)
    };
    let names = ["low", "middle", "high"].map(str::to_owned).to_vec();
    let classes = Target::classes((0..n).map(level).collect(), names)?;
    let data = Dataset::new(DenseColumns::from_columns(&columns)?, classes)?;
    for k in [2, 5, 20] {
        let lasso = Lasso::default();
        let table = lasso.select(&data, Budget::Count(k), &Context::default())?;
        let mut stream = InParts::new(&data, 700, 90);
        let found =
            lasso.in_passes().expect("sums").select_stream(&mut stream, Budget::Count(k), &room(100))?;
        same_answer(&found, &table, &k.to_string());
    }
    Ok(())
}
