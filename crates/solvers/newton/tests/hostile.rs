//! Separable classes, huge counts, constant columns, wrong sizes, stopped runs.

use std::sync::atomic::AtomicBool;

use crate::common::{Table, noise};
use fewest_cd::CoordinateDescent;
use fewest_newton::{LinearModel, NewtonSolution, Null, Start};
use fewest_solver::loss::{
    Cox, Logistic, Loss, Multinomial, Poisson, Samples, Separable, SquaredHinge, Ties,
};
use fewest_solver::{Control, DenseOperator, Error, L1, Penalty, Status};

type Tested = Result<(), Error>;

fn at_ratio(table: &Table, loss: &dyn Loss, ratio: f64) -> Result<(Null, NewtonSolution), Error> {
    let design = table.operator()?;
    let model = LinearModel { design: &design, loss, intercept: true };
    let control = Control::default();
    let null = model.null(&control)?;
    let d = null.correlations.len();
    let lambda = ratio * L1::new(1.0, d)?.dual_norm(&null.correlations);
    let found = model.minimise(&null, &L1::new(lambda, d)?, &CoordinateDescent::default(), None, &control)?;
    Ok((null, found))
}

/// Without a penalty there would be no minimum: the weights of a small one are large.
#[test]
fn separable_classes_at_tiny_penalties_converge() -> Tested {
    let mut table = Table::new(40, 200, 1);
    table.signal = table.columns[0].iter().map(|x| x + if *x > 0.0 { 0.5 } else { -0.5 }).collect();
    let classes = table.signal.iter().map(|s| usize::from(*s > 0.0) + usize::from(*s > 1.0)).collect();
    let mean = || Samples::mean(40);
    let losses: [(&str, Box<dyn Loss>); 3] = [
        ("logistic", Box::new(Separable::new(Logistic, table.labels(), mean())?)),
        ("squared hinge", Box::new(Separable::new(SquaredHinge, table.labels(), mean())?)),
        ("multinomial", Box::new(Multinomial::new(classes, 3, mean())?)),
    ];
    for (name, loss) in losses {
        for ratio in [1e-2, 1e-4, 1e-6] {
            let (null, found) = at_ratio(&table, &*loss, ratio)?;
            let solution = &found.solution;
            assert_eq!(solution.status, Status::Converged, "{name} {ratio}: {:?}", solution.certificate);
            assert!(solution.objective < 0.5 * null.objective, "{name} {ratio}");
            println!("{name} {ratio}: {} steps, {} passes", solution.iterations, found.passes);
        }
    }
    Ok(())
}

#[test]
fn huge_and_tiny_counts_converge() -> Tested {
    let table = Table::new(50, 30, 2);
    for size in [1e-6, 1.0, 1e12] {
        for outlier in [1.0, 1e6] {
            let mut counts: Vec<f64> = table.counts().iter().map(|count| size * count).collect();
            counts[7] = outlier * size * 3.0;
            let loss = Separable::new(Poisson, counts, Samples::mean(50))?;
            for ratio in [0.5, 0.05] {
                let (_, found) = at_ratio(&table, &loss, ratio)?;
                let solution = &found.solution;
                let what = format!("{size} {outlier} {ratio}: {solution:?}");
                assert_eq!(solution.status, Status::Converged, "{what}");
                println!("{size} {outlier} {ratio}: {} steps", solution.iterations);
            }
        }
    }
    Ok(())
}

/// All columns constant: nothing is selected, at any penalty.
#[test]
fn constant_columns_are_never_chosen() -> Tested {
    let mut table = Table::new(20, 6, 3);
    table.columns = [0.0, 1.0, -3.0].iter().map(|value| vec![*value; 20]).collect();
    let loss = Separable::new(Logistic, table.labels(), Samples::mean(20))?;
    let design = table.operator()?;
    let model = LinearModel { design: &design, loss: &loss, intercept: true };
    let control = Control::default();
    let null = model.null(&control)?;
    let found = model.minimise(&null, &L1::new(1e-6, 3)?, &CoordinateDescent::default(), None, &control)?;
    assert_eq!(found.solution.coefficients, [0.0; 3]);
    assert_eq!(found.solution.status, Status::Converged);
    Ok(())
}

#[test]
fn what_does_not_fit_together_is_an_error() -> Tested {
    let table = Table::new(10, 5, 4);
    let loss = Separable::new(Logistic, table.labels(), Samples::mean(10))?;
    let design = table.operator()?;
    let model = LinearModel { design: &design, loss: &loss, intercept: true };
    let control = Control::default();
    let null = model.null(&control)?;
    let solver = CoordinateDescent::default();
    let minimise = |penalty: &dyn Penalty, start: Option<&Start>| {
        model.minimise(&null, penalty, &solver, start, &control).map(|found| found.solution.status)
    };
    assert_eq!(minimise(&L1::new(0.1, 5)?, None), Ok(Status::Converged));
    assert!(matches!(minimise(&L1::new(0.1, 4)?, None), Err(Error::ShapeMismatch { .. })));
    for (w, b) in [(vec![0.0; 4], vec![0.0]), (vec![0.0; 5], vec![0.0; 2]), (vec![f64::NAN; 5], vec![0.0])] {
        let start = Start { coefficients: w, intercepts: b };
        assert!(minimise(&L1::new(0.1, 5)?, Some(&start)).is_err());
    }
    let short = DenseOperator::new(vec![1.0; 9], 9, 1)?;
    let model = LinearModel { design: &short, loss: &loss, intercept: true };
    assert!(matches!(model.null(&control), Err(Error::ShapeMismatch { .. })));
    let mut values = noise(50, 1);
    values[3] = f64::NAN;
    let broken = DenseOperator::new(values, 10, 5)?;
    let model = LinearModel { design: &broken, loss: &loss, intercept: true };
    assert!(matches!(model.null(&control), Err(Error::Numerical { .. })));
    Ok(())
}

#[test]
fn a_run_that_is_stopped_keeps_what_it_has() -> Tested {
    let table = Table::new(40, 60, 5);
    let loss = Separable::new(Logistic, table.labels(), Samples::mean(40))?;
    let design = table.operator()?;
    let model = LinearModel { design: &design, loss: &loss, intercept: true };
    let null = model.null(&Control::default())?;
    let penalty = L1::new(0.01, 60)?;
    let flag = AtomicBool::new(true);
    let stopped = Control { interrupt: Some(&flag), ..Control::default() };
    let found = model.minimise(&null, &penalty, &CoordinateDescent::default(), None, &stopped)?;
    assert_eq!(found.solution.status, Status::Interrupted);
    let two_steps = Control { max_iterations: 2, ..Control::default() };
    let found = model.minimise(&null, &penalty, &CoordinateDescent::default(), None, &two_steps)?;
    assert_eq!((found.solution.status, found.solution.iterations), (Status::MaxIterations, 2));
    assert!(found.solution.certificate.value().is_finite() && found.solution.objective < null.objective);
    Ok(())
}

/// Survival with one column, solved at a share of the largest penalty, and the null model.
fn survival(loss: &Cox, column: &[f64], ratio: f64) -> Result<(NewtonSolution, Null), Error> {
    let design = DenseOperator::new(column.to_vec(), column.len(), 1)?;
    let model = LinearModel { design: &design, loss, intercept: true };
    let control = Control::default();
    let null = model.null(&control)?;
    let lambda = ratio * L1::new(1.0, 1)?.dual_norm(&null.correlations);
    let found = model.minimise(&null, &L1::new(lambda, 1)?, &CoordinateDescent::default(), None, &control)?;
    Ok((found, null))
}

/// Their partial likelihood without its constant is negative, and any gap is small relative to that.
#[test]
fn survival_with_light_events_is_solved() -> Tested {
    let samples = Samples::weighted(&[0.1, 0.1, 0.1, 10.0])?;
    let loss = Cox::new(&[1.0, 2.0, 3.0, 0.5], &[true, true, true, false], Ties::Breslow, samples)?;
    let (found, null) = survival(&loss, &[1.0, 0.2, -1.0, 0.0], 0.3)?;
    assert_eq!(found.solution.status, Status::Converged);
    assert!(found.solution.coefficients[0] > 0.1, "{found:?}");
    assert!(0.0 < found.solution.objective && found.solution.objective < 0.95 * null.objective, "{found:?}");
    Ok(())
}

/// An event that no one expected: its probability underflows.
#[test]
fn survival_with_offsets_far_apart_is_solved() -> Tested {
    let samples = Samples::mean(2).with_offsets(vec![0.0, -800.0])?;
    let loss = Cox::new(&[2.0, 1.0], &[false, true], Ties::Breslow, samples)?;
    let (found, null) = survival(&loss, &[-1.0, 1.0], 0.1)?;
    assert_eq!(found.solution.status, Status::Converged);
    assert!((null.objective - 400.0).abs() < 1e-10, "{null:?}");
    // The column makes up for the offsets.
    assert!((found.solution.coefficients[0] - 401.0).abs() < 2.0, "{found:?}");
    Ok(())
}

/// The best intercept would be infinite.
#[test]
fn observations_without_a_best_intercept_are_an_error() -> Tested {
    let table = Table::new(10, 5, 6);
    let design = table.operator()?;
    let weights = [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0];
    let mut labels = vec![-1.0; 10];
    labels[9] = 1.0;
    let losses: [(&str, Box<dyn Loss>); 4] = [
        ("logistic", Box::new(Separable::new(Logistic, vec![1.0; 10], Samples::mean(10))?)),
        ("weights", Box::new(Separable::new(Logistic, labels, Samples::weighted(&weights)?)?)),
        ("squared hinge", Box::new(Separable::new(SquaredHinge, vec![-1.0; 10], Samples::mean(10))?)),
        ("poisson", Box::new(Separable::new(Poisson, vec![0.0; 10], Samples::mean(10))?)),
    ];
    for (name, loss) in losses {
        let mut model = LinearModel { design: &design, loss: &*loss, intercept: true };
        let found = model.null(&Control::default());
        assert!(matches!(found, Err(Error::TooFew { .. })), "{name}: {found:?}");
        model.intercept = false;
        assert!(model.null(&Control::default()).is_ok(), "{name}");
    }
    Ok(())
}

/// The features are not to blame.
#[test]
fn an_overflow_by_offsets_or_the_start_says_so() -> Tested {
    let table = Table::new(10, 5, 7);
    let design = table.operator()?;
    let told = |found: Option<Error>, word: &str| {
        let message = found.map_or(String::new(), |error| error.to_string());
        assert!(message.contains(word), "{word}: {message}");
    };
    let control = Control::default();
    let loss = Separable::new(Poisson, table.counts(), Samples::mean(10))?;
    let model = LinearModel { design: &design, loss: &loss, intercept: true };
    let null = model.null(&control)?;
    let start = Start { coefficients: vec![0.0; 5], intercepts: vec![800.0] };
    let solver = CoordinateDescent::default();
    told(model.minimise(&null, &L1::new(0.1, 5)?, &solver, Some(&start), &control).err(), "the start");
    let far = Samples::mean(10).with_offsets(vec![800.0; 10])?;
    let loss = Separable::new(Poisson, table.counts(), far)?;
    let model = LinearModel { design: &design, loss: &loss, intercept: false };
    told(model.null(&control).err(), "offsets");
    Ok(())
}
