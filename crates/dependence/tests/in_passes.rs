//! HSIC, NOCCO and the lassos over them by counts on a grid: those of factors of Gram matrices but for the
//! error that is told, and the same bits for a table in memory and for any batches, threads and memory.

use fewest_core::method::{KernelWidth, Regularization};
use fewest_core::{
    Budget, Certificate, Context, Dataset, DenseColumns, Error, FeatureKind, PassSelector, RowBatches,
    SampleStream, Scorer, Selection, Selector, Status, Target,
};
use fewest_dependence::{
    Dependence, Hsic, HsicLasso, InputKernel, LassoOptions, LassoPenalty, Nocco, NoccoLasso, Normalization,
    OutputKernel,
};
use fewest_kernels::Form;

fn noise(i: usize, j: usize) -> f64 {
    (fewest_core::derive_seed(j as u64, i as u64) >> 11) as f64 / (1_u64 << 53) as f64
}

/// Nearly normal.
fn normal(i: usize, j: usize) -> f64 {
    (0..4).map(|k| noise(i, 4 * j + k)).sum::<f64>() - 2.0
}

const D: usize = 60;

/// Features that say the target by their mean, by their spread, and together; copies, categories, a constant.
fn data(n: usize, is_real: bool) -> Result<Dataset, Error> {
    let class = |i: usize| f64::from(u8::from(noise(i, 1000) > 0.5) + u8::from(noise(i, 1000) > 0.8));
    let value = |i: usize, j: usize| match j {
        2 => 7.5,
        3 => (3.0 * noise(i, 800)).floor().min(class(i)),
        4 => f64::from(u8::from(noise(i, 801) < 0.2 + 0.2 * class(i))),
        _ if j.is_multiple_of(7) => normal(i, j) + class(i) * 2.0 / (1.0 + j as f64 / 14.0),
        _ if j % 7 == 5 => normal(i, j) * (1.0 + class(i) * 2.0 / (1.0 + j as f64 / 14.0)),
        _ if j % 7 == 1 => 0.8 * normal(i, j - 1) + 0.4 * normal(i, j) + 0.5 * class(i),
        _ => normal(i, j),
    };
    let columns: Vec<Vec<f64>> = (0..D).map(|j| (0..n).map(|i| value(i, j)).collect()).collect();
    let target = match is_real {
        true => {
            Target::real((0..n).map(|i| class(i) + columns[5][i].sin() + 0.3 * normal(i, 900)).collect())?
        }
        false => Target::from_labels(&(0..n).map(|i| format!("{}", class(i))).collect::<Vec<_>>()),
    };
    let mut kinds = vec![FeatureKind::Numeric; D];
    kinds[3..5].fill(FeatureKind::Categorical { levels: vec!["a".into(), "b".into(), "c".into()] });
    Dataset::new(DenseColumns::from_columns(&columns)?, target)?.with_feature_kinds(kinds)
}

/// Counts passes.
struct Passes<'a>(RowBatches<'a>, usize);

impl SampleStream for Passes<'_> {
    fn next_batch(&mut self) -> Result<Option<Dataset>, Error> {
        self.0.next_batch()
    }

    fn rewind(&mut self) -> Result<bool, Error> {
        self.1 += 1;
        self.0.rewind()
    }
}

fn low_rank() -> Dependence {
    Dependence { form: Form::LowRank, ..Dependence::default() }
}

fn bits(selection: &Selection) -> (Vec<usize>, Vec<u64>, Vec<Vec<usize>>) {
    let scores = selection.scores.iter().map(|score| score.to_bits()).collect();
    let related = |related: &Vec<fewest_core::Related>| related.iter().map(|one| one.feature).collect();
    (selection.order.clone(), scores, selection.related.iter().map(related).collect())
}

/// The selection by `selector` of rows in batches of some sizes, with the most passes: that of the table.
fn in_passes(selector: &dyn Selector, data: &Dataset, budget: Budget) -> Result<(Selection, usize), Error> {
    let table = selector.select(data, budget, &Context::default())?;
    let selector = selector.in_passes().expect("sums over rows");
    let mut found: Option<(Selection, usize)> = None;
    // Few rows are read as they are where there is the memory for it.
    let memories = if data.n_samples() > 4096 { [4 << 20, 12 << 20] } else { [1 << 30; 2] };
    for memory in memories {
        let mut stream = RowBatches::new(data, 3000)?;
        let context = Context { memory: Some(memory), ..Context::default() };
        let own = selector.select_stream(&mut stream, budget, &context)?;
        assert!(format!("{own:?}") == format!("{table:?}"), "{memory} bytes: {own:?} {table:?}");
    }
    for (rows, threads) in [(data.n_samples(), 1), (997, 2), (4097, 7)] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        let mut stream = Passes(RowBatches::new(data, rows)?, 1);
        let own = pool.install(|| selector.select_stream(&mut stream, budget, &Context::default()))?;
        let (first, passes) = found.get_or_insert_with(|| (own.clone(), stream.1));
        assert!(bits(first) == bits(&own) && *passes == stream.1, "{rows} {threads}");
        assert!(format!("{own:?}") == format!("{table:?}"), "{rows} {threads}: {own:?} {table:?}");
    }
    Ok(found.expect("three runs"))
}

fn is_near(found: &Selection, table: &Selection, tolerance: f64, case: &str) {
    assert_eq!((found.status, &found.order), (Status::Converged, &table.order), "{case}");
    let largest = table.scores.iter().fold(0.0_f64, |most, score| most.max(*score));
    for (own, other) in found.scores.iter().zip(&table.scores) {
        assert!((own - other).abs() < tolerance * largest, "{case}: {:?} {:?}", found.scores, table.scores);
    }
    match found.solver.as_ref().map(|report| report.certificate) {
        Some(Certificate::Gap { relative }) => assert!(relative <= 1e-9, "{case}: {relative}"),
        other => panic!("{case}: {other:?}"),
    }
}

#[test]
fn answers_are_those_of_the_table() -> Result<(), Error> {
    let context = Context::default();
    for (n, is_real) in [(700, false), (5000, false), (4500, true)] {
        let data = data(n, is_real)?;
        for k in [1, 7] {
            let case = format!("{n} {is_real} {k}");
            let lasso = HsicLasso { dependence: low_rank(), ..HsicLasso::default() };
            let table = lasso.select(&data, Budget::Count(k), &context)?;
            let (found, passes) = in_passes(&HsicLasso::default(), &data, Budget::Count(k))?;
            is_near(&found, &table, 1e-5, &case);
            let related = |of: &Selection| -> Vec<Vec<usize>> {
                of.related.iter().map(|list| list.iter().take(3).map(|one| one.feature).collect()).collect()
            };
            assert_eq!(related(&found), related(&table), "{case}");
            let entered = |of: &Selection| of.path.as_ref().map(|path| path.entered.clone());
            assert_eq!(entered(&found), entered(&table), "{case}");
            // Ranges, counts, products of the likely ones, and of the selected ones with all others.
            assert!(passes <= 4, "{case}: {passes}");
        }
    }
    Ok(())
}

/// The scores alone: of HSIC and NOCCO, as they are and with matrices of norm 1, in any batches.
#[test]
fn scores_are_those_of_the_table() -> Result<(), Error> {
    let context = Context::default();
    for (is_real, normalization) in
        [(false, Normalization::None), (true, Normalization::None), (false, Normalization::Unit)]
    {
        let data = data(4500, is_real)?;
        let of = |dependence: Dependence| -> [Box<dyn Scorer>; 2] {
            let dependence = Dependence { normalization, ..dependence };
            [
                Box::new(Hsic { dependence: dependence.clone() }),
                Box::new(Nocco { dependence, ..Nocco::default() }),
            ]
        };
        let close = Dependence { factor_tolerance: 1e-9, ..low_rank() };
        let scorers = of(Dependence::default()).into_iter().zip(of(close));
        for (which, (scorer, of_table)) in scorers.enumerate() {
            let table = of_table.score(&data, &context)?.values;
            let largest = table.iter().fold(0.0_f64, |most, score| most.max(*score));
            let in_passes = scorer.in_passes().expect("sums over rows");
            assert!(in_passes.reads_parts());
            let in_memory = scorer.score(&data, &context)?;
            let bits = |scores: &[f64]| -> Vec<u64> { scores.iter().map(|score| score.to_bits()).collect() };
            for rows in [4500, 917] {
                let mut stream = RowBatches::new(&data, rows)?;
                let found = in_passes.score_stream(&mut stream, &context)?;
                let (_, stated) = found.notes[0].split_once("off by at most ").expect("an error is told");
                let stated: f64 =
                    stated.split(' ').next().and_then(|number| number.parse().ok()).expect("a number");
                assert!(stated > 0.0 && stated < 1e-3, "{:?}", found.notes);
                if which == 0 && normalization == Normalization::Unit {
                    // The inner product of two matrices of norm 1, each of which may be off by so much, and
                    // by what features of the kernel leave out. The number is told with one digit.
                    for (own, exact) in found.values.iter().zip(&table) {
                        assert!((own - exact).abs() <= 3.0 * (stated + 1e-6), "{own} {exact}, told {stated}");
                    }
                }
                for (own, other) in found.values.iter().zip(&table) {
                    assert!(
                        (own - other).abs() < 1e-4 * largest,
                        "{which} {is_real}: {own} {other} {largest}"
                    );
                }
                assert!(bits(&found.values) == bits(&in_memory.values) && found.notes == in_memory.notes);
            }
        }
    }
    Ok(())
}

/// Features that come in parts have the notes of the table: one on the grid, of the largest error.
#[test]
fn parts_of_the_features_have_the_notes_of_the_table() -> Result<(), Error> {
    let context = Context::default();
    // The second half has values that are far from the others.
    let far = |i: usize, j: usize| if j > 2 && i == 7 { 60.0 } else { normal(i, j) };
    let columns: Vec<Vec<f64>> = (0..6).map(|j| (0..4200).map(|i| far(i, j)).collect()).collect();
    let y = Target::real((0..4200).map(|i| normal(i, 0) + normal(i, 9)).collect())?;
    let data = Dataset::new(DenseColumns::from_columns(&columns)?, y)?;
    let hsic = Hsic::default();
    let table = hsic.score(&data, &context)?;
    let in_passes = hsic.in_passes().expect("sums over rows");
    let halves = [data.feature_subset(&[0, 1, 2])?, data.feature_subset(&[3, 4, 5])?];
    let near = in_passes.score_part(&mut RowBatches::new(&halves[0], 3000)?, &context)?;
    assert_ne!(near.notes, table.notes);
    let mut in_parts = Halves { now: RowBatches::new(&halves[0], 3000)?, later: Some(&halves[1]) };
    assert_eq!(fewest_core::score_parts(in_passes, &mut in_parts, &context)?.0, table);
    Ok(())
}

/// A table whose features come in two parts.
struct Halves<'a> {
    now: RowBatches<'a>,
    later: Option<&'a Dataset>,
}

impl SampleStream for Halves<'_> {
    fn next_batch(&mut self) -> Result<Option<Dataset>, Error> {
        self.now.next_batch()
    }

    fn rewind(&mut self) -> Result<bool, Error> {
        self.now.rewind()
    }

    fn next_part(&mut self) -> Result<bool, Error> {
        let Some(later) = self.later.take() else { return Ok(false) };
        self.now = RowBatches::new(later, 3000)?;
        Ok(true)
    }
}

/// Of exact copies the first is taken, as of a table.
#[test]
fn a_copy_of_a_feature_changes_nothing() -> Result<(), Error> {
    let data = data(5000, false)?;
    let columns: Vec<usize> = (0..data.n_features()).collect();
    let chosen = HsicLasso::default().select(&data, Budget::Count(2), &Context::default())?.order;
    let copied = data.feature_subset(&[&columns[..], &chosen].concat())?;
    let lasso = HsicLasso { dependence: low_rank(), ..HsicLasso::default() };
    for k in [1, 4] {
        let table = lasso.select(&copied, Budget::Count(k), &Context::default())?;
        let (found, _) = in_passes(&HsicLasso::default(), &copied, Budget::Count(k))?;
        is_near(&found, &table, 1e-5, &format!("copies, {k}"));
    }
    Ok(())
}

/// Copies in other units, and negated, have the same Gram matrix: one of them is taken.
#[test]
fn linear_copies_of_a_feature_are_one_feature() -> Result<(), Error> {
    let n = 4200;
    let mut columns: Vec<Vec<f64>> = (0..6).map(|j| (0..n).map(|i| normal(i, j)).collect()).collect();
    let y: Vec<f64> =
        (0..n).map(|i| columns[0][i].sin() + columns[1][i] + 0.5 * columns[2][i].powi(2)).collect();
    let copies: [fn(f64) -> f64; 5] =
        [|x| 2.54 * x, |x| 1.8 * x + 32.0, |x| -x, |x| 1e9 - 0.3 * x, |x| (x * 1e6).round() / 1e6];
    let best = columns[1].clone();
    columns.extend(copies.iter().map(|copy| best.iter().map(|x| copy(*x)).collect::<Vec<f64>>()));
    let data = Dataset::new(DenseColumns::from_columns(&columns)?, Target::real(y)?)?;
    let lasso = LassoOptions { related: 0, ..LassoOptions::default() };
    let hsic = HsicLasso { lasso: lasso.clone(), ..HsicLasso::default() };
    let nocco = NoccoLasso { lasso, ..NoccoLasso::default() };
    for (name, method) in [("hsic", &hsic as &dyn Selector), ("nocco", &nocco)] {
        let (found, _) = in_passes(method, &data, Budget::Count(3))?;
        let are_copies = found.order.iter().filter(|feature| **feature == 1 || **feature > 5).count();
        assert!(are_copies == 1 && found.order.len() == 3, "{name}: {:?}", found.order);
    }
    Ok(())
}

/// A table in memory that a grid does not tell is taken by factors, and at once.
#[test]
fn what_nodes_cannot_tell_has_factors_in_memory() -> Result<(), Error> {
    let n = 4200;
    let mut far: Vec<f64> = (0..n).map(|i| normal(i, 3)).collect();
    far[400] = 1e9;
    let columns = [(0..n).map(|i| normal(i, 4)).collect(), far];
    let y = Target::real((0..n).map(|i| normal(i, 4).sin() + 0.1 * normal(i, 5)).collect())?;
    let data = Dataset::new(DenseColumns::from_columns(&columns)?, y)?;
    let narrow = |sigma, form| Dependence {
        kernel: InputKernel::Gaussian { sigma_x: KernelWidth::Value(sigma) },
        form,
        ..Dependence::default()
    };
    for sigma in [0.02, 0.001] {
        let own = Hsic { dependence: narrow(sigma, Form::Auto) }.score(&data, &Context::default())?;
        let factors = Hsic { dependence: narrow(sigma, Form::LowRank) }.score(&data, &Context::default())?;
        assert_eq!(own.values, factors.values);
        assert!(
            own.notes.iter().any(|note| note.starts_with("low-rank factors were taken")),
            "{:?}",
            own.notes
        );
        let lasso = HsicLasso { dependence: narrow(sigma, Form::Auto), ..HsicLasso::default() };
        let selection = lasso.select(&data, Budget::Count(1), &Context::default())?;
        assert!(selection.notes.iter().any(|note| note.contains("feature `f")), "{:?}", selection.notes);
    }
    Ok(())
}

#[test]
fn penalties_norms_and_free_features_are_those_of_the_table() -> Result<(), Error> {
    let context = Context::default();
    let data = data(4200, false)?;
    let options = |lasso: LassoOptions| LassoOptions { related: 0, ..lasso };
    let (unit, plain) = (Normalization::Unit, OutputKernel::PlainDelta);
    let cases: [(&str, LassoOptions, Dependence, Budget); 6] = [
        (
            "ratio",
            LassoOptions { regularization: Regularization::Ratio(0.05), ..LassoOptions::default() },
            Dependence::default(),
            Budget::Auto,
        ),
        (
            "forced",
            LassoOptions { forced: vec![50], ..LassoOptions::default() },
            Dependence::default(),
            Budget::Count(4),
        ),
        (
            "covariate",
            LassoOptions { covariates: vec![0], ..LassoOptions::default() },
            Dependence::default(),
            Budget::Count(3),
        ),
        (
            "net",
            LassoOptions { penalty: LassoPenalty::ElasticNet { ridge: 0.1 }, ..LassoOptions::default() },
            Dependence::default(),
            Budget::Count(6),
        ),
        (
            "unit",
            LassoOptions::default(),
            Dependence { normalization: unit, ..Dependence::default() },
            Budget::Count(5),
        ),
        (
            "plain",
            LassoOptions::default(),
            Dependence { output: plain, ..Dependence::default() },
            Budget::Count(5),
        ),
    ];
    for (name, lasso, dependence, budget) in cases {
        let lasso = options(lasso);
        let table = HsicLasso {
            lasso: lasso.clone(),
            dependence: Dependence { form: Form::LowRank, ..dependence.clone() },
        };
        let table = table.select(&data, budget, &context)?;
        let (found, _) = in_passes(&HsicLasso { lasso, dependence }, &data, budget)?;
        is_near(&found, &table, 2e-5, name);
    }
    Ok(())
}

#[test]
fn nocco_is_that_of_the_table() -> Result<(), Error> {
    let data = data(4200, false)?;
    let lasso = LassoOptions { related: 0, ..LassoOptions::default() };
    let nocco = |epsilon, dependence| NoccoLasso { lasso: lasso.clone(), epsilon, dependence };
    for (epsilon, tolerance) in [(1e-3, 1e-4), (0.05, 1e-5)] {
        let table = nocco(epsilon, low_rank()).select(&data, Budget::Count(6), &Context::default())?;
        let (found, _) = in_passes(&nocco(epsilon, Dependence::default()), &data, Budget::Count(6))?;
        is_near(&found, &table, tolerance, &format!("{epsilon}"));
    }
    Ok(())
}

/// Many features above the penalty: products outside the likely ones are asked for, and the answer holds.
#[test]
fn features_that_were_not_foreseen_cost_passes_and_not_the_answer() -> Result<(), Error> {
    let (n, d) = (4200, 150);
    let class = |i: usize| f64::from(u8::from(noise(i, 5000) > 0.6));
    // Ninety copies of one signal, and others that are weaker alone.
    let value = |i: usize, j: usize| match j {
        0..90 => normal(i, 600) + 1.2 * class(i) + 0.03 * normal(i, j),
        90..100 => normal(i, j) + 0.9 * class(i),
        _ => normal(i, j),
    };
    let columns: Vec<Vec<f64>> = (0..d).map(|j| (0..n).map(|i| value(i, j)).collect()).collect();
    let labels: Vec<String> = (0..n).map(|i| class(i).to_string()).collect();
    let data = Dataset::new(DenseColumns::from_columns(&columns)?, Target::from_labels(&labels))?;
    let lasso = LassoOptions { related: 0, ..LassoOptions::default() };
    let table = HsicLasso { lasso: lasso.clone(), dependence: low_rank() };
    let table = table.select(&data, Budget::Count(7), &Context::default())?;
    let (found, passes) = in_passes(&HsicLasso { lasso, ..HsicLasso::default() }, &data, Budget::Count(7))?;
    is_near(&found, &table, 1e-5, "copies");
    assert!(found.order.iter().any(|j| (90..100).contains(j)) && passes > 3, "{:?} {passes}", found.order);
    Ok(())
}

#[test]
fn what_nodes_cannot_tell_is_refused() -> Result<(), Error> {
    let data = data(4800, false)?;
    let context = Context::default();
    let told = |lasso: HsicLasso, data: &Dataset| {
        let mut stream = RowBatches::new(data, 3000).expect("rows");
        match lasso.select_stream(&mut stream, Budget::Count(2), &context) {
            Err(error) => error.to_string(),
            Ok(found) => panic!("{found:?}"),
        }
    };
    let with = |dependence| HsicLasso { dependence, ..HsicLasso::default() };
    let laplace = InputKernel::Laplace { sigma_x: KernelWidth::Value(1.0) };
    assert!(told(with(Dependence { kernel: laplace, ..Dependence::default() }), &data).contains("smooth"));
    let median = InputKernel::Gaussian { sigma_x: KernelWidth::Median };
    assert!(told(with(Dependence { kernel: median, ..Dependence::default() }), &data).contains("width"));
    // One value so far away that nodes over all of them are wider than the kernel is.
    let n = 60_000;
    let mut values: Vec<f64> = (0..n).map(|i| normal(i, 3)).collect();
    values[400] = 1e9;
    let fine = (0..n).map(|i| normal(i, 4)).collect();
    let x = DenseColumns::from_columns(&[fine, values])?;
    let far = Dataset::new(x, Target::from_labels(&(0..n).map(|i| i % 3).collect::<Vec<_>>()))?;
    assert!(told(HsicLasso::default(), &far).contains("transformation"));
    let one = data.clone().with_target(Target::from_labels(&vec!["a"; 4800]))?;
    assert!(told(HsicLasso::default(), &one).contains("at least 2 classes"));
    let real = data.clone().with_target(Target::real(vec![1.0; 4800])?)?;
    assert!(told(HsicLasso::default(), &real).contains("vary"));
    Ok(())
}
