//! Every solution is certified from the definition; laws between losses, weights and penalties.

use crate::common::{Table, certificate, noise};
use fewest_cd::CoordinateDescent;
use fewest_newton::{LinearModel, NewtonSolution, Start};
use fewest_solver::loss::{
    Cox, Huber, Logistic, Loss, Multinomial, Poisson, Samples, Separable, Squared, SquaredHinge, Ties,
};
use fewest_solver::{
    BlockPenalty, Control, ElasticNetPenalty, Error, GroupLasso, L1, Penalty, QuadraticSolver, SortedL1,
    Status,
};

type Tested = Result<(), Error>;

type Losses = Vec<(&'static str, Box<dyn Loss>, bool)>;

type Penalties = Vec<(&'static str, Box<dyn BlockPenalty>)>;

/// Losses, and whether they have an intercept here.
fn losses(table: &Table) -> Result<Losses, Error> {
    let mean = || Samples::mean(table.n);
    let events: Vec<bool> = (0..table.n).map(|i| i % 3 != 0).collect();
    let times: Vec<f64> = table.signal.iter().map(|s| (4.0 * (3.0 - s)).floor()).collect();
    let two = [table.signal.clone(), noise(table.n, 5)].concat();
    Ok(vec![
        ("squared", Box::new(Separable::new(Squared, table.signal.clone(), mean())?), true),
        ("two outputs", Box::new(Separable::new(Squared, two.clone(), mean())?), true),
        ("two outputs without b", Box::new(Separable::new(Squared, two, mean())?), false),
        ("logistic", Box::new(Separable::new(Logistic, table.labels(), mean())?), true),
        ("logistic without b", Box::new(Separable::new(Logistic, table.labels(), mean())?), false),
        ("squared hinge", Box::new(Separable::new(SquaredHinge, table.labels(), mean())?), true),
        ("squared hinge without b", Box::new(Separable::new(SquaredHinge, table.labels(), mean())?), false),
        ("huber", Box::new(Separable::new(Huber::new(0.5)?, table.signal.clone(), mean())?), true),
        ("poisson", Box::new(Separable::new(Poisson, table.counts(), mean())?), true),
        ("multinomial", Box::new(Multinomial::new(table.classes(), 3, mean())?), true),
        ("breslow", Box::new(Cox::new(&times, &events, Ties::Breslow, mean())?), true),
        ("efron", Box::new(Cox::new(&times, &events, Ties::Efron, mean())?), true),
    ])
}

/// Penalties of level 1 over `d` columns and `c` outputs.
fn penalties(d: usize, c: usize, level: f64) -> Result<Penalties, Error> {
    let rows: Vec<usize> = (0..d * c).map(|at| at / c).collect();
    let triples: Vec<usize> = (0..d * c).map(|at| at / c / 3).collect();
    let l1 = || L1::new(level, d * c);
    Ok(vec![
        ("l1", Box::new(l1()?)),
        ("l1 with signs", Box::new(l1()?.nonnegative())),
        ("elastic net", Box::new(ElasticNetPenalty::new(l1()?, 0.3 * level)?)),
        ("rows", Box::new(GroupLasso::new(level, &rows)?)),
        ("groups", Box::new(GroupLasso::new(level, &triples)?.weighted_by_size())),
    ])
}

fn tight() -> Control<'static> {
    Control { tolerance: 1e-11, ..Control::default() }
}

fn solve(
    table: &Table,
    loss: &dyn Loss,
    intercept: bool,
    penalty: &dyn Penalty,
    control: &Control<'_>,
) -> Result<NewtonSolution, Error> {
    let design = table.operator()?;
    let model = LinearModel { design: &design, loss, intercept };
    let null = model.null(control)?;
    model.minimise(&null, penalty, &CoordinateDescent::default(), None, control)
}

#[test]
fn solutions_are_certified_from_the_definition() -> Tested {
    for (n, d) in [(60, 12), (30, 80)] {
        let table = Table::new(n, d, 3);
        for (name, loss, intercept) in losses(&table)? {
            let design = table.operator()?;
            let model = LinearModel { design: &design, loss: &*loss, intercept };
            let null = model.null(&tight())?;
            let zeros = vec![0.0; d * loss.n_outputs()];
            for (kind, unit) in penalties(d, loss.n_outputs(), 1.0)? {
                let largest = unit.dual_norm(&null.correlations);
                for ratio in [0.5, 0.1, 0.02] {
                    let level = ratio * largest;
                    let mut all = penalties(d, loss.n_outputs(), level)?;
                    let Some(at) = all.iter().position(|(other, _)| *other == kind) else { continue };
                    let penalty = all.swap_remove(at).1;
                    let found =
                        model.minimise(&null, &*penalty, &CoordinateDescent::default(), None, &tight())?;
                    let what = format!("{name}, {kind}, {n} x {d} at {ratio}");
                    let solution = &found.solution;
                    assert_eq!(solution.status, Status::Converged, "{what}: {:?}", solution.certificate);
                    let w = &solution.coefficients;
                    let (objective, gap) =
                        certificate(&table, &*loss, &*penalty, w, &found.intercepts, intercept);
                    let (at_zero, _) =
                        certificate(&table, &*loss, &*penalty, &zeros, &null.intercepts, intercept);
                    assert!((null.objective - at_zero).abs() < 1e-14 * at_zero, "{what}");
                    assert!((-1e-14..=1e-10).contains(&(gap / at_zero)), "{what}: {gap}");
                    assert!((objective - solution.objective).abs() < 1e-13, "{what}");
                    assert!(w.iter().any(|w| *w != 0.0) && objective < at_zero, "{what}");
                    println!("{what}: {} steps, {} passes", solution.iterations, found.passes);
                }
            }
        }
    }
    Ok(())
}

/// A penalty of one block of many coefficients, of which few are ever in a working set.
#[test]
fn a_large_block_enters_in_parts() -> Tested {
    let table = Table::new(40, 150, 6);
    let loss = Separable::new(Logistic, table.labels(), Samples::mean(40))?;
    let design = table.operator()?;
    let model = LinearModel { design: &design, loss: &loss, intercept: true };
    let null = model.null(&Control::default())?;
    let largest = SortedL1::oscar(0.5, 0.01, 150)?.dual_norm(&null.correlations);
    for ratio in [0.6, 0.3] {
        let penalty = SortedL1::oscar(0.5 * ratio * largest, 0.01 * ratio * largest, 150)?;
        let control = Control { tolerance: 1e-8, ..Control::default() };
        let found = model.minimise(&null, &penalty, &CoordinateDescent::default(), None, &control)?;
        let w = &found.solution.coefficients;
        let (objective, gap) = certificate(&table, &loss, &penalty, w, &found.intercepts, true);
        assert!((-1e-14..=1e-8).contains(&(gap / null.objective)), "{ratio}: {gap}");
        assert!((objective - found.solution.objective).abs() < 1e-13 && w.iter().any(|w| *w != 0.0));
    }
    Ok(())
}

/// At the dual norm of the correlations nothing is selected, and just below something is.
#[test]
fn the_largest_penalty_is_exact() -> Tested {
    let table = Table::new(40, 30, 4);
    for (name, loss, intercept) in losses(&table)? {
        let design = table.operator()?;
        let model = LinearModel { design: &design, loss: &*loss, intercept };
        let null = model.null(&Control::default())?;
        let d = null.correlations.len();
        let largest = L1::new(1.0, d)?.dual_norm(&null.correlations);
        for (ratio, is_zero) in [(1.0 + 1e-9, true), (0.999, false)] {
            let penalty = L1::new(ratio * largest, d)?;
            let found =
                model.minimise(&null, &penalty, &CoordinateDescent::default(), None, &Control::default())?;
            assert_eq!(found.solution.coefficients.iter().all(|w| *w == 0.0), is_zero, "{name} {ratio}");
            assert_eq!(found.solution.status, Status::Converged, "{name} {ratio}: {:?}", found.solution);
        }
    }
    Ok(())
}

/// With squared errors it is the lasso, by another way.
#[test]
fn squared_errors_are_the_lasso() -> Tested {
    let mut table = Table::new(50, 20, 5);
    let centre = |values: &mut Vec<f64>| {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        values.iter_mut().for_each(|value| *value -= mean);
    };
    let loss = Separable::new(Squared, table.signal.clone(), Samples::mean(50))?;
    let penalty = L1::new(0.05, 20)?;
    let found = solve(&table, &loss, true, &penalty, &tight())?;
    table.columns.iter_mut().for_each(centre);
    centre(&mut table.signal);
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>() / 50.0;
    let x = &table.columns;
    let gram = (0..400).map(|at| dot(&x[at / 20], &x[at % 20])).collect();
    let products = x.iter().map(|x| dot(x, &table.signal)).collect();
    let quadratic = fewest_solver::Quadratic::new(gram, products, dot(&table.signal, &table.signal))?;
    let lasso = CoordinateDescent::default().minimise(&quadratic, &penalty, &[], &tight())?;
    assert!((lasso.objective - found.solution.objective).abs() < 1e-11);
    // Two of the columns are copies: what they explain together is unique.
    let unique = |w: &[f64]| [w[0] + w[19], w[1] - w[18], w[2], w[7]];
    for (a, b) in unique(&lasso.coefficients).into_iter().zip(unique(&found.solution.coefficients)) {
        assert!((a - b).abs() < 1e-5, "{a} {b}");
    }
    Ok(())
}

/// Two classes by the softmax with rows is the logistic loss with the penalty divided by √2.
#[test]
fn two_classes_are_the_logistic_loss() -> Tested {
    let table = Table::new(50, 20, 6);
    let classes = table.labels().iter().map(|y| usize::from(*y > 0.0)).collect();
    let softmax = Multinomial::new(classes, 2, Samples::mean(50))?;
    let logistic = Separable::new(Logistic, table.labels(), Samples::mean(50))?;
    let lambda = 0.02;
    let rows: Vec<usize> = (0..40).map(|at| at / 2).collect();
    let many = solve(&table, &softmax, true, &GroupLasso::new(lambda * 2.0_f64.sqrt(), &rows)?, &tight())?;
    let one = solve(&table, &logistic, true, &L1::new(lambda, 20)?, &tight())?;
    assert!((many.solution.objective - one.solution.objective).abs() < 1e-10);
    for row in many.solution.coefficients.chunks_exact(2) {
        assert!((row[0] + row[1]).abs() < 1e-9, "rows add up to 0: {row:?}");
    }
    Ok(())
}

/// A sample of weight 2 is two samples, whatever their order.
#[test]
fn weights_are_copies_and_order_is_nothing() -> Tested {
    let table = Table::new(30, 20, 7);
    let weights: Vec<f64> = (0..30).map(|i| f64::from(1 + i % 3)).collect();
    let mut rows: Vec<usize> = (0..30).flat_map(|i| vec![i; 1 + i % 3]).collect();
    rows.reverse();
    rows.rotate_left(7);
    let pick = |values: &[f64]| -> Vec<f64> { rows.iter().map(|&i| values[i]).collect() };
    let copied = Table {
        n: rows.len(),
        columns: table.columns.iter().map(|x| pick(x)).collect(),
        signal: pick(&table.signal),
    };
    let weighted = Samples::weighted(&weights)?;
    let mean = || Samples::mean(rows.len());
    let pairs: [(Box<dyn Loss>, Box<dyn Loss>); 3] = [
        (
            Box::new(Separable::new(Logistic, table.labels(), weighted.clone())?),
            Box::new(Separable::new(Logistic, copied.labels(), mean())?),
        ),
        (
            Box::new(Separable::new(Poisson, table.counts(), weighted.clone())?),
            Box::new(Separable::new(Poisson, copied.counts(), mean())?),
        ),
        (
            Box::new(Multinomial::new(table.classes(), 3, weighted)?),
            Box::new(Multinomial::new(copied.classes(), 3, mean())?),
        ),
    ];
    for (weighted, many) in pairs {
        let penalty = ElasticNetPenalty::new(L1::new(0.02, 20 * many.n_outputs())?, 0.01)?;
        let a = solve(&table, &*weighted, true, &penalty, &tight())?;
        let b = solve(&copied, &*many, true, &penalty, &tight())?;
        assert!((a.solution.objective - b.solution.objective).abs() < 1e-10);
        for (a, b) in a.solution.coefficients.iter().zip(&b.solution.coefficients) {
            assert!((a - b).abs() < 1e-4, "{a} {b}");
        }
    }
    Ok(())
}

/// From anywhere the end is the same, and from the solution at a larger penalty it is near.
#[test]
fn where_it_starts_does_not_matter() -> Tested {
    let table = Table::new(40, 60, 8);
    for (name, loss, intercept) in losses(&table)? {
        let design = table.operator()?;
        let model = LinearModel { design: &design, loss: &*loss, intercept };
        let null = model.null(&tight())?;
        let d = null.correlations.len();
        let penalty = L1::new(0.1 * L1::new(1.0, d)?.dual_norm(&null.correlations), d)?;
        let solver = CoordinateDescent::default();
        let cold = model.minimise(&null, &penalty, &solver, None, &tight())?;
        let b = noise(loss.n_outputs(), 3);
        let far =
            Start { coefficients: noise(d, 2), intercepts: if intercept { b } else { vec![0.0; b.len()] } };
        let near =
            Start { coefficients: cold.solution.coefficients.clone(), intercepts: cold.intercepts.clone() };
        let from_far = model.minimise(&null, &penalty, &solver, Some(&far), &tight())?;
        let from_near = model.minimise(&null, &penalty, &solver, Some(&near), &tight())?;
        assert_eq!((from_near.solution.iterations, from_near.passes), (0, 1), "{name}");
        let (a, b) = (cold.solution.objective, from_far.solution.objective);
        assert!((a - b).abs() < 1e-10 * null.objective, "{name}: {a} {b}");
        assert_eq!(from_far.solution.status, Status::Converged, "{name}");
    }
    Ok(())
}
