//! The last step of lasso and elastic net, the problem of the columns that decide: a table of more than 4096
//! rows in memory has the answer of passes where columns repeat, depend on each other or are of several
//! classes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use fewest_cd::CoordinateDescent;
use fewest_core::method::Regularization;
use fewest_core::{
    BATCH_ROWS, Budget, Certificate, Context, Dataset, DenseColumns, Error, Progress, RowBatches, Selection,
    Selector, Status, Target,
};
use fewest_linear::{ElasticNet, Lasso, Sign};
use fewest_solver::SolverChoice;

const N: usize = BATCH_ROWS + 400;
const D: usize = 300;

fn noise(i: usize, j: usize) -> f64 {
    (fewest_core::derive_seed(j as u64, i as u64) >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
}

/// Copies, some of them negated or off by 1e-9, sums of others, constants; a target of some columns and
/// noise.
fn repeated() -> Result<(Vec<Vec<f64>>, Vec<f64>), Error> {
    let mut columns: Vec<Vec<f64>> = (0..D).map(|j| (0..N).map(|i| noise(i, j)).collect()).collect();
    for j in 100..140 {
        let (of, factor, more) = (j % 25, if j % 2 == 0 { 1.0 } else { -1.0 }, (j % 4) as f64 * 1e-9);
        columns[j] = (0..N).map(|i| factor * columns[of][i] + more * noise(i, j)).collect();
    }
    for j in 200..220 {
        columns[j] = (0..N).map(|i| columns[j - 200][i] - columns[j - 170][i]).collect();
    }
    columns[250] = vec![3.5; N];
    let signal = |i: usize| 2.0 * columns[3][i] - columns[10][i] + 0.7 * columns[44][i];
    let y = (0..N).map(|i| signal(i) + 0.8 * noise(i, D)).collect();
    Ok((columns, y))
}

fn passes(model: &dyn Selector, data: &Dataset, budget: Budget) -> Result<Selection, Error> {
    passes_of(120, model, data, budget)
}

/// With memory for the products of so many columns.
fn passes_of(
    columns: usize,
    model: &dyn Selector,
    data: &Dataset,
    budget: Budget,
) -> Result<Selection, Error> {
    let columns = columns.min(data.n_features());
    let context = Context { memory: Some(24 * (columns + 5).pow(2)), ..Context::default() };
    let in_passes = model.in_passes().expect("a sum over rows");
    in_passes.select_stream(&mut RowBatches::new(data, 1000)?, budget, &context)
}

fn by_cd() -> SolverChoice {
    SolverChoice::Use(Arc::new(CoordinateDescent::default()))
}

fn models() -> Vec<(&'static str, Box<dyn Selector>, Budget)> {
    let lasso = |regularization| Lasso { regularization, ..Lasso::default() };
    let ratio = |ratio| lasso(Regularization::Ratio(ratio));
    let of = |sign, lasso: Lasso| Lasso { sign, ..lasso };
    let net = |l1_ratio, lasso| Box::new(ElasticNet { l1_ratio, lasso });
    vec![
        ("six", Box::new(Lasso::default()), Budget::Count(6)),
        ("six by cd", Box::new(Lasso { solver: by_cd(), ..Lasso::default() }), Budget::Count(6)),
        ("half", Box::new(ratio(0.5)), Budget::Auto),
        ("a tenth", Box::new(ratio(0.1)), Budget::Count(3)),
        ("positive", Box::new(of(Sign::Positive, ratio(0.2))), Budget::Auto),
        ("negative", Box::new(of(Sign::Negative, Lasso::default())), Budget::Count(4)),
        ("path", Box::new(Lasso { lambda_path: 6, ..ratio(0.2) }), Budget::Auto),
        ("net", net(0.5, ratio(0.2)), Budget::Auto),
        ("net of four", net(0.8, Lasso::default()), Budget::Count(4)),
    ]
}

#[test]
fn copies_have_the_answer_of_passes() -> Result<(), Error> {
    let (columns, y) = repeated()?;
    let class =
        |levels: f64| y.iter().map(move |y| ((y + 1.5) / 3.0 * levels).clamp(0.0, levels - 1.0) as u32);
    let named = |levels: usize| (0..levels).map(|level| format!("class {level}")).collect::<Vec<_>>();
    let targets = [
        Target::real(y.clone())?,
        Target::classes(class(2.0).collect(), named(2))?,
        Target::classes(class(4.0).collect(), named(4))?,
    ];
    for (at, target) in targets.into_iter().enumerate() {
        let data = Dataset::new(DenseColumns::from_columns(&columns)?, target)?;
        for (name, model, budget) in models() {
            let table = model.select(&data, budget, &Context::default())?;
            let report = table.solver.as_ref().expect("a report");
            assert!(report.certificate.value() <= 1e-9, "{name} {at}: {report:?}");
            assert_eq!(passes(&*model, &data, budget)?, table, "{name} {at}");
            // The answer of several budgets is that of each.
            let together = model.select_many(&data, &[Budget::Count(2), budget], &Context::default())?;
            assert_eq!(together[1], table, "{name} {at}");
        }
    }
    Ok(())
}

/// Columns in eight units each, shifted and negated, and columns of -1 and 1: many have the same product with
/// the target, also where one would join next. Of copies the first is taken, for all classes, so that none of
/// the paths to `k` features is cut short by a copy.
#[test]
fn columns_that_tie_have_the_answer_of_passes() -> Result<(), Error> {
    const UNITS: [f64; 8] = [1.0, 3.7, -0.1, 12.0, 1.0 / 3.0, 7e5, -1e-3, 2.0];
    let sign = |value: f64| if value < 0.0 { -1.0 } else { 1.0 };
    for has_signs in [false, true] {
        let of = |i: usize, j: usize| if has_signs { sign(noise(i, j)) } else { noise(i, j) };
        // Copies are far from each other.
        let column = |j: usize| -> Vec<f64> {
            let (base, unit) = (j % 37, UNITS[j / 37]);
            (0..N).map(|i| unit * of(i, base) + if j.is_multiple_of(3) { 5.0 } else { 0.0 }).collect()
        };
        let columns: Vec<Vec<f64>> = (0..296).map(column).collect();
        let signal = |i: usize| (0..5).map(|at| of(i, 7 * at)).sum::<f64>();
        let noisy: Vec<f64> = (0..N).map(|i| signal(i) + 0.5 * noise(i, 900)).collect();
        let exact: Vec<f64> = (0..N).map(signal).collect();
        let level = |y: &f64| (y.abs().min(2.9) as u32) + u32::from(*y < -1.0);
        let named = (0..4).map(|level| format!("class {level}")).collect::<Vec<_>>();
        let classes = Target::classes(noisy.iter().map(level).collect(), named)?;
        for (at, target) in [Target::real(noisy)?, Target::real(exact)?, classes].into_iter().enumerate() {
            let data = Dataset::new(DenseColumns::from_columns(&columns)?, target)?;
            for k in [1, 3, 4, 6, 9] {
                let case = format!("{has_signs} {at} {k}");
                let table = Lasso::default().select(&data, Budget::Count(k), &Context::default())?;
                assert_eq!(passes_of(220, &Lasso::default(), &data, Budget::Count(k))?, table, "{case}");
                assert_eq!(table.status, Status::Converged, "{case}: {table:?}");
                let mut bases: Vec<usize> = table.order.iter().map(|feature| feature % 37).collect();
                bases.sort_unstable();
                bases.dedup();
                assert_eq!(bases.len(), table.order.len(), "{case}: {:?}", table.order);
            }
        }
    }
    Ok(())
}

/// Features that enter together, just below the largest penalty, where no coefficient is within the
/// tolerance.
#[test]
fn copies_of_the_best_feature_are_found_by_an_elastic_net() -> Result<(), Error> {
    let best: Vec<f64> = (0..N).map(|i| noise(i, 1)).collect();
    let others = (2..4).map(|j| (0..N).map(|i| noise(i, j)).collect::<Vec<f64>>());
    let y = Target::real((0..N).map(|i| best[i] + 0.3 * noise(i, 9)).collect())?;
    for copies in [3, 6] {
        let columns: Vec<Vec<f64>> = vec![best.clone(); copies].into_iter().chain(others.clone()).collect();
        let data = Dataset::new(DenseColumns::from_columns(&columns)?, y.clone())?;
        for l1_ratio in [0.5, 0.9] {
            for k in [1, 2] {
                let net = ElasticNet { l1_ratio, ..ElasticNet::default() };
                let found = net.select(&data, Budget::Count(k), &Context::default())?;
                let are_copies = found.order.iter().all(|feature| *feature < copies);
                assert!(found.order.len() == k && are_copies, "{copies} {l1_ratio}: {found:?}");
                let told = format!("{k} of {copies} features that get a coefficient together");
                assert!(found.notes.iter().any(|note| note.contains(&told)), "{:?}", found.notes);
                assert_eq!(passes(&net, &data, Budget::Count(k))?, found, "{copies} {l1_ratio}");
            }
        }
    }
    Ok(())
}

#[test]
fn a_target_of_tiny_values_has_the_answer_of_that_of_others() -> Result<(), Error> {
    let (columns, y) = repeated()?;
    let x = DenseColumns::from_columns(&columns)?;
    let of = |power: i32| {
        let y = y.iter().map(|y| y * 2.0_f64.powi(power)).collect();
        Dataset::new(x.clone(), Target::real(y)?)
    };
    for (name, model, budget) in models() {
        let expected = model.select(&of(0)?, budget, &Context::default())?;
        for power in [-600, -1000] {
            let found = model.select(&of(power)?, budget, &Context::default())?;
            assert_eq!(found.order.len(), expected.order.len(), "{name} {power}");
            for (own, other) in found.scores.iter().zip(&expected.scores) {
                assert!((own.abs() - other.abs()).abs() <= 1e-9, "{name} {power}: {own} {other}");
            }
        }
    }
    Ok(())
}

/// Of a sign that no product has.
#[test]
fn no_column_of_the_sign_is_no_answer_of_both() -> Result<(), Error> {
    let (mut columns, y) = repeated()?;
    let mean = y.iter().sum::<f64>() / N as f64;
    for column in &mut columns {
        let product: f64 = column.iter().zip(&y).map(|(x, y)| x * (y - mean)).sum();
        column.iter_mut().for_each(|x| *x *= -product.signum());
    }
    let data = Dataset::new(DenseColumns::from_columns(&columns)?, Target::real(y)?)?;
    for (regularization, budget) in
        [(Regularization::Count, Budget::Count(3)), (Regularization::Ratio(0.5), Budget::Auto)]
    {
        for l1_ratio in [1.0, 0.5] {
            let lasso = Lasso { regularization, sign: Sign::Positive, ..Lasso::default() };
            let net = ElasticNet { l1_ratio, lasso };
            let found = net.select(&data, budget, &Context::default())?;
            assert!(found.order.is_empty(), "{found:?}");
            assert_eq!(passes(&net, &data, budget)?.order, found.order);
        }
    }
    Ok(())
}

/// Sets a flag at the last step, which multiplies the columns that decide.
struct AtLastStep(AtomicBool);

impl Progress for AtLastStep {
    fn update(&self, stage: &str, _: u64, _: u64) {
        if stage == "products of columns" {
            self.0.store(true, Ordering::Relaxed);
        }
    }
}

#[test]
fn a_stop_at_the_last_step_leaves_the_answer_before_it() -> Result<(), Error> {
    let (columns, y) = repeated()?;
    let data = Dataset::new(DenseColumns::from_columns(&columns)?, Target::real(y)?)?;
    let lasso = Lasso { regularization: Regularization::Ratio(0.3), ..Lasso::default() };
    for (model, budget) in [(&Lasso::default(), Budget::Count(3)), (&lasso, Budget::Auto)] {
        let stop = AtLastStep(AtomicBool::new(false));
        let context = Context { progress: Some(&stop), interrupt: Some(&stop.0), ..Context::default() };
        let found = model.select(&data, budget, &context)?;
        assert!(stop.0.load(Ordering::Relaxed), "there is a last step");
        let expected = model.select(&data, budget, &Context::default())?;
        // Of copies either may have the coefficient.
        assert_eq!((found.status, found.order.len()), (Status::Converged, expected.order.len()));
        let Some(Certificate::Gap { relative, .. }) = found.solver.map(|report| report.certificate) else {
            panic!("a gap");
        };
        assert!(relative <= 1e-9, "{relative}");
    }
    Ok(())
}
