//! Penalties that the data choose, and sample weights: against their definitions.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::common::{columns, noise, real, regression, standardised, three_classes, weights};
use fewest_columns::{deal, seeded_order};
use fewest_core::method::{Options, Parameters, Regularization, TargetKind};
use fewest_core::{
    Budget, Context, Dataset, DenseColumns, Error, FeatureKind, OnDemand, Path, PathChoice, Selection,
    Selector, Target,
};
use fewest_linear::{AdaptiveLasso, Dantzig, ElasticNet, Lasso, LinearLoss};
use fewest_solver::loss::{Logistic, Loss, Samples, Separable, Ties};

type Tested = Result<(), Error>;

const LOGISTIC: LinearLoss = LinearLoss::Logistic { intercept: true };

fn lasso(loss: LinearLoss, regularization: Regularization) -> Lasso {
    Lasso { loss, regularization, ..Lasso::default() }
}

fn data(target: Target) -> Result<Dataset, Error> {
    Dataset::new(DenseColumns::from_columns(&columns())?, target)
}

fn two_classes() -> Target {
    Target::from_labels(&real().iter().map(|y| *y > 0.4).collect::<Vec<bool>>())
}

/// A method with data for it.
type Case = (&'static str, Box<dyn Selector>, Dataset);

/// Every method at a regularisation.
fn all(regularization: Regularization) -> Result<Vec<Case>, Error> {
    let numbers = data(Target::real(real())?)?;
    let classes = data(two_classes())?;
    let outputs = data(Target::outputs([real(), columns()[5].clone()].concat(), 50)?)?;
    let counts = real().iter().map(|y| (2.0 * y).exp().floor().min(40.0)).collect();
    let counts = data(Target::real(counts)?)?;
    let times = real().into_iter().map(|y| (10.0 * (-y).exp()).ceil()).collect();
    let survival = data(Target::survival(times, (0..50).map(|i| i % 4 != 1).collect())?)?;
    let squared = || lasso(LinearLoss::Squared, regularization);
    let of = |loss| Box::new(lasso(loss, regularization)) as Box<dyn Selector>;
    Ok(vec![
        ("lasso", Box::new(squared()), numbers.clone()),
        ("lasso of outputs", Box::new(squared()), outputs),
        ("lasso of classes", Box::new(squared()), three_classes()?),
        ("elastic net", Box::new(ElasticNet { lasso: squared(), l1_ratio: 0.7 }), numbers),
        ("logistic", of(LOGISTIC), classes.clone()),
        ("multinomial", of(LinearLoss::Multinomial { intercept: true }), three_classes()?),
        ("poisson", of(LinearLoss::Poisson { intercept: true }), counts),
        ("cox", of(LinearLoss::Cox { ties: Ties::Breslow }), survival.clone()),
        ("cox, efron", of(LinearLoss::Cox { ties: Ties::Efron }), survival),
    ])
}

fn run(selector: &dyn Selector, data: &Dataset) -> Result<Selection, Error> {
    selector.select(data, Budget::Auto, &Context::seeded(3))
}

fn near(name: &str, a: &Selection, b: &Selection, tolerance: f64) {
    for (j, (a, b)) in weights(a).iter().zip(weights(b)).enumerate() {
        assert!((a - b).abs() <= tolerance * (1.0 + a.abs()), "{name}: feature {j}: {a} {b}");
    }
}

fn path(selection: &Selection) -> (&Path, &PathChoice) {
    let Some(path) = &selection.path else { panic!("no path") };
    let Some(choice) = &path.choice else { panic!("no choice") };
    (path, choice)
}

/// A weight is a number of copies, and a sample without weight is not there. Under Efron's rule it is not:
/// copies share a time, a weight has it alone.
#[test]
fn weights_are_numbers_of_copies() -> Tested {
    let mut methods = all(Regularization::Ratio(0.1))?;
    methods.retain(|(name, ..)| *name != "cox, efron");
    let dantzig = Dantzig { regularization: Regularization::Ratio(0.1), ..Dantzig::default() };
    methods.push(("dantzig", Box::new(dantzig), data(Target::real(real())?)?));
    let hinge = lasso(LinearLoss::SquaredHinge { intercept: true }, Regularization::Ratio(0.1));
    methods.push(("squared hinge", Box::new(hinge), data(two_classes())?));
    let huber = lasso(LinearLoss::Huber { intercept: true, delta: 0.8 }, Regularization::Ratio(0.1));
    methods.push(("huber", Box::new(huber), data(Target::real(real())?)?));
    let adaptive =
        |loss| AdaptiveLasso { lasso: lasso(loss, Regularization::Ratio(0.1)), ..AdaptiveLasso::default() };
    methods.push(("adaptive", Box::new(adaptive(LinearLoss::Squared)), data(Target::real(real())?)?));
    let logistic = adaptive(LinearLoss::Logistic { intercept: true });
    methods.push(("adaptive, logistic", Box::new(logistic), data(two_classes())?));
    let numbers: Vec<usize> = (0..50).map(|i| (7 * i + 3) % 4).collect();
    let rows: Vec<usize> = (0..50).flat_map(|i| vec![i; numbers[i]]).collect();
    let mut levels = data(Target::real(real())?)?;
    let mut kinds = vec![FeatureKind::Numeric; 12];
    kinds[3] = FeatureKind::Categorical { levels: ["a", "b", "c"].map(str::to_owned).to_vec() };
    let mut table = columns();
    table[3].iter_mut().for_each(|value| *value = (3.0 * (*value + 0.5)).floor().min(2.0));
    levels = levels.with_x(DenseColumns::from_columns(&table)?)?.with_feature_kinds(kinds)?;
    methods.push(("levels", Box::new(lasso(LinearLoss::Squared, Regularization::Ratio(0.1))), levels));
    for (name, selector, data) in methods {
        let copied = run(&*selector, &data.subset(&rows)?)?;
        for unit in [1.0, 1e-3] {
            let weights = numbers.iter().map(|n| unit * *n as f64).collect();
            let weighted = run(&*selector, &data.clone().with_sample_weights(weights)?)?;
            assert!(!weighted.order.is_empty(), "{name}");
            near(name, &copied, &weighted, 1e-5);
        }
    }
    // Fewer samples than features, which with their copies are more.
    let few: Vec<usize> = (0..10).collect();
    let copies: Vec<usize> = few.iter().flat_map(|&i| vec![i; 1 + i % 3]).collect();
    let weights = few.iter().map(|i| (1 + i % 3) as f64).collect();
    let (one, two) =
        (regression()?.subset(&copies)?, regression()?.subset(&few)?.with_sample_weights(weights)?);
    let method = adaptive(LinearLoss::Squared);
    near("adaptive, few samples", &run(&method, &one)?, &run(&method, &two)?, 1e-5);
    // For a number of features too, on the exact path.
    let path = lasso(LinearLoss::Squared, Regularization::Count);
    let weights = numbers.iter().map(|n| *n as f64).collect();
    let (one, two) = (regression()?.subset(&rows)?, regression()?.with_sample_weights(weights)?);
    let of = |data| path.select(data, Budget::Count(4), &Context::default());
    near("path", &of(&one)?, &of(&two)?, 1e-9);
    Ok(())
}

/// Weights that nobody can use are errors, also where they are on no sample that counts.
#[test]
fn hostile_weights_are_answered_or_refused() -> Tested {
    let lasso = lasso(LinearLoss::Squared, Regularization::Ratio(0.1));
    assert!(run(&lasso, &regression()?.with_sample_weights(vec![0.0; 50])?).is_err());
    let mut one = vec![0.0; 50];
    one[7] = 1.0;
    assert!(run(&lasso, &regression()?.with_sample_weights(one)?).is_err());
    for size in [1e-300, 1e300] {
        let weights = noise(50, 3).into_iter().map(|value| size * (value + 0.6)).collect();
        let found = run(&lasso, &regression()?.with_sample_weights(weights)?)?;
        assert!(!found.order.is_empty() && found.scores.iter().all(|score| score.is_finite()));
    }
    let mut table = columns();
    table[3][7] = f64::NAN;
    let mut weights = vec![1.0; 50];
    weights[7] = 0.0;
    let broken = regression()?.with_x(DenseColumns::from_columns(&table)?)?.with_sample_weights(weights)?;
    assert!(matches!(run(&lasso, &broken), Err(Error::NonFinite { column: 3, row: 7, .. })));
    Ok(())
}

/// What a sample without weight is has no influence, however large, and no size of the weights overflows,
/// where the data choose the penalty, too.
#[test]
fn huge_weights_and_values_that_do_not_count_change_nothing() -> Tested {
    let counts: Vec<f64> = (0..50).map(|i| f64::from(u8::from(i % 10 != 3))).collect();
    let (mut table, mut y) = (columns(), real());
    for i in (0..50).filter(|i| i % 10 == 3) {
        (table[3][i], y[i]) = (1e308, -1e308);
    }
    let plain = regression()?.with_sample_weights(counts.clone())?;
    let far = Dataset::new(DenseColumns::from_columns(&table)?, Target::real(y)?)?;
    let far = far.with_sample_weights(counts.iter().map(|weight| 1e308 * weight).collect())?;
    let huber = LinearLoss::Huber { intercept: true, delta: 1.0 };
    for loss in [LinearLoss::Squared, huber] {
        for given in [
            Regularization::Ratio(0.1),
            Regularization::CrossValidated { folds: 3 },
            Regularization::Information { gamma: 0.0 },
        ] {
            if loss == huber && matches!(given, Regularization::Information { .. }) {
                continue;
            }
            let method = lasso(loss, given);
            let (expected, found) = (run(&method, &plain)?, run(&method, &far)?);
            assert!(!expected.order.is_empty());
            near("values that do not count", &expected, &found, 1e-5);
        }
    }
    Ok(())
}

/// The losses of a cross-validation, from models of the training samples alone; its choice by both rules.
#[test]
fn a_fold_never_sees_its_test_samples() -> Tested {
    const FOLDS: usize = 5;
    let data = regression()?;
    let of = |regularization| run(&lasso(LinearLoss::Squared, regularization), &data);
    let best = of(Regularization::CrossValidated { folds: FOLDS })?;
    let (path_of_all, choice) = path(&best);
    let folds = deal(&seeded_order(&data, 3), FOLDS, "folds")?;
    let y = real();
    let variance = |values: &[f64]| {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let square = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
        (mean, square / values.len() as f64)
    };
    let whole = variance(&y).1;
    for at in [0, 20, choice.chosen, choice.values.len() - 1] {
        let lambda = path_of_all.points[at].lambda;
        let (mut errors, mut sizes) = (Vec::new(), Vec::new());
        for fold in 0..FOLDS {
            let (test, train): (Vec<usize>, Vec<usize>) = (0..50).partition(|&i| folds[i] == fold);
            let model =
                run(&lasso(LinearLoss::Squared, Regularization::Value(lambda)), &data.subset(&train)?)?;
            let (mean, own) = variance(&train.iter().map(|&i| y[i]).collect::<Vec<f64>>());
            let w = weights(&model);
            let predicted = |i: usize| {
                let term = |j: usize| {
                    let column = &columns()[j];
                    let (mean, own) = variance(&train.iter().map(|&i| column[i]).collect::<Vec<f64>>());
                    w[j] * (column[i] - mean) / own.sqrt()
                };
                mean + own.sqrt() * (0..12).filter(|&j| w[j] != 0.0).map(term).sum::<f64>()
            };
            let error = test.iter().map(|&i| (y[i] - predicted(i)).powi(2)).sum::<f64>();
            errors.push(error / test.len() as f64 / whole);
            sizes.push(test.len() as f64 / 50.0);
        }
        let mean: f64 = errors.iter().zip(&sizes).map(|(error, size)| error * size).sum();
        let square: f64 = errors.iter().zip(&sizes).map(|(error, size)| size * (error - mean).powi(2)).sum();
        let (value, error) = (choice.values[at], choice.standard_errors[at]);
        assert!((value - mean).abs() < 1e-3 * mean, "{at}: {value} {mean}");
        let expected = (square / (FOLDS - 1) as f64).sqrt();
        assert!((error - expected).abs() < 1e-2 * expected, "{at}: {error} {expected}");
    }
    let least = choice.values.iter().copied().fold(f64::INFINITY, f64::min);
    assert_eq!(choice.values[choice.chosen], least);
    let allowed = least + choice.standard_errors[choice.chosen];
    let one = of(Regularization::OneStandardError { folds: FOLDS })?;
    let (_, one_choice) = path(&one);
    assert_eq!(one_choice.values, choice.values);
    assert_eq!(one_choice.values.iter().position(|value| *value <= allowed), Some(one_choice.chosen));
    assert!(one_choice.chosen < choice.chosen, "the rules chose the same");
    assert!(one.notes[0].contains("within one standard error"), "{:?}", one.notes);
    Ok(())
}

/// Every method solves at the penalty that it chose, and reports the path to all penalties tried.
#[test]
fn the_answer_is_that_of_the_penalty_chosen() -> Tested {
    for given in [
        Regularization::CrossValidated { folds: 3 },
        Regularization::OneStandardError { folds: 3 },
        Regularization::Information { gamma: 0.5 },
    ] {
        for (name, selector, data) in all(given)? {
            println!("{name} {given:?}");
            let found = run(&*selector, &data)?;
            let (path, choice) = path(&found);
            let lambda = path.points[choice.chosen].lambda;
            assert_eq!(found.solver.as_ref().map(|report| report.lambda), Some(lambda), "{name}");
            assert_eq!(path.points.len(), choice.values.len(), "{name}");
            assert!(path.points.is_sorted_by(|a, b| a.lambda > b.lambda), "{name}");
            assert_eq!(path.points[choice.chosen].coefficients.len(), found.order.len(), "{name}");
            let direct = all(Regularization::Value(lambda))?.into_iter().find(|(other, ..)| *other == name);
            let Some((_, direct, _)) = direct else { panic!("{name}") };
            near(name, &found, &run(&*direct, &data)?, 1e-4);
        }
    }
    Ok(())
}

/// The criterion from its definition: normal errors and labels.
#[test]
fn an_information_criterion_is_its_definition() -> Tested {
    let choose = |k: usize| k as f64 * 12.0_f64.ln();
    let x: Vec<Vec<f64>> = columns().iter().map(|column| standardised(column)).collect();
    let of = |gamma| Regularization::Information { gamma };
    let mut sizes = Vec::new();
    for gamma in [0.0, 1.0] {
        let found = run(&lasso(LinearLoss::Squared, of(gamma)), &regression()?)?;
        let (path_of_all, choice) = path(&found);
        let y = standardised(&real());
        for (point, value) in path_of_all.points.iter().zip(&choice.values) {
            let fitted = |i: usize| point.coefficients.iter().map(|(j, w)| w * x[*j][i]).sum::<f64>();
            let rest = (0..50).map(|i| (y[i] - fitted(i)).powi(2)).sum::<f64>() / 50.0;
            let k = point.coefficients.len();
            let expected = 50.0 * rest.ln() + k as f64 * 50.0_f64.ln() + 2.0 * gamma * choose(k);
            assert!((value - expected).abs() < 1e-6 * (1.0 + expected.abs()), "{value} {expected}");
        }
        let least = choice.values.iter().copied().fold(f64::INFINITY, f64::min);
        assert_eq!(choice.values[choice.chosen], least);
        sizes.push(found.order.len());
        assert_eq!(choice.criterion, if gamma == 0.0 { "BIC" } else { "EBIC with gamma = 1" });
    }
    assert!(sizes[1] <= sizes[0] && sizes[0] > 0, "{sizes:?}");

    let classes = data(two_classes())?;
    let found = run(&lasso(LinearLoss::Logistic { intercept: false }, of(0.5)), &classes)?;
    let (path_of_all, choice) = path(&found);
    let labels = real().iter().map(|y| if *y > 0.4 { 1.0 } else { -1.0 }).collect();
    let loss = Separable::new(Logistic, labels, Samples::sum(50))?;
    for (point, value) in path_of_all.points.iter().zip(&choice.values) {
        let fitted = |i: usize| point.coefficients.iter().map(|(j, w)| w * x[*j][i]).sum::<f64>();
        let k = point.coefficients.len();
        let deviance = 2.0 * loss.value(&(0..50).map(fitted).collect::<Vec<f64>>());
        let expected = deviance + k as f64 * 50.0_f64.ln() + choose(k);
        assert!((value - expected).abs() < 1e-6 * (1.0 + expected.abs()), "{value} {expected}");
    }
    Ok(())
}

/// Wide data, where the likelihood has no bound: no model of more than half as many features as samples.
#[test]
fn wide_data_do_not_choose_a_model_that_fits_noise() -> Tested {
    let table: Vec<Vec<f64>> = (0..300).map(|j| noise(40, 100 + j)).collect();
    let y = (0..40).map(|i| 3.0 * table[2][i] - 2.0 * table[9][i] + 0.3 * noise(40, 7)[i]).collect();
    let data = Dataset::new(DenseColumns::from_columns(&table)?, Target::real(y)?)?;
    let bic = run(&lasso(LinearLoss::Squared, Regularization::Information { gamma: 0.0 }), &data)?;
    assert!(bic.order.len() <= 20 && bic.order.contains(&2) && bic.order.contains(&9), "{:?}", bic.order);
    let ebic = run(&lasso(LinearLoss::Squared, Regularization::Information { gamma: 1.0 }), &data)?;
    assert_eq!(ebic.order[..2], [2, 9]);
    assert!(ebic.order.len() <= bic.order.len());
    let folds = run(&lasso(LinearLoss::Squared, Regularization::OneStandardError { folds: 5 }), &data)?;
    assert_eq!(folds.order[..2], [2, 9]);
    Ok(())
}

#[test]
fn what_cannot_choose_is_an_error() -> Tested {
    let data = regression()?;
    let error = |regularization, loss| match run(&lasso(loss, regularization), &data) {
        Err(error) => error.to_string(),
        Ok(_) => panic!("{regularization:?} chose"),
    };
    let folds = error(Regularization::CrossValidated { folds: 51 }, LinearLoss::Squared);
    assert!(folds.contains("lambda_folds") && folds.contains("50"), "{folds}");
    let huber = LinearLoss::Huber { intercept: true, delta: 1.0 };
    let none = error(Regularization::Information { gamma: 0.0 }, huber);
    assert!(none.contains("lambda_folds"), "{none}");
    // Each fold finds the weights of its penalty anew.
    for regularization in
        [Regularization::CrossValidated { folds: 4 }, Regularization::Information { gamma: 0.0 }]
    {
        let lasso = lasso(LinearLoss::Squared, regularization);
        let found = run(&AdaptiveLasso { lasso, ..AdaptiveLasso::default() }, &data)?;
        assert!(!found.order.is_empty() && path(&found).1.chosen > 0);
    }
    assert!(run(&lasso(huber, Regularization::CrossValidated { folds: 4 }), &data).is_ok());
    // A path of other penalties than those tried would be ignored.
    for given in [Regularization::CrossValidated { folds: 4 }, Regularization::Information { gamma: 0.0 }] {
        for loss in [LinearLoss::Squared, huber] {
            let method = Lasso { lambda_path: 20, ..lasso(loss, given) };
            let found = run(&method, &data);
            assert!(matches!(found, Err(Error::InvalidParameter { name: "lambda_path", .. })), "{found:?}");
        }
    }
    let told = |assignments: &[&str]| {
        let parameters = Parameters::new("lasso", Lasso::default().parameters()).assigned(assignments)?;
        parameters.check()?;
        Lasso::from_parameters(&parameters).map(|lasso| lasso.regularization)
    };
    assert_eq!(told(&["lambda_folds=10"])?, Regularization::CrossValidated { folds: 10 });
    let one = Regularization::OneStandardError { folds: 10 };
    assert_eq!(told(&["lambda_rule=one-se", "lambda_folds=10"])?, one);
    assert_eq!(told(&["lambda_ebic=0.5"])?, Regularization::Information { gamma: 0.5 });
    for wrong in [&["lambda_rule=one-se"][..], &["lambda_ebic=2"], &["lambda_ebic=1", "lambda_folds=5"]] {
        assert!(told(wrong).is_err(), "{wrong:?}");
    }
    Ok(())
}

/// The number of threads changes no bit.
#[test]
fn threads_choose_the_same() -> Tested {
    let (name, selector, data) = all(Regularization::OneStandardError { folds: 4 })?.swap_remove(4);
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.map_err(|error| Error::parameter("threads", threads, error.to_string()))?
            .install(|| run(&*selector, &data))
    };
    let one = with(1)?;
    for threads in [2, 7] {
        let other = with(threads)?;
        assert_eq!(
            (&one.order, &one.scores, &one.path),
            (&other.order, &other.scores, &other.path),
            "{name}"
        );
    }
    Ok(())
}

/// A class of one sample: the fold that holds it out learns the others, and predicts it by the constant that
/// its share of all samples is. Without a feature that varies, the loss of every fold is known.
#[test]
fn a_class_of_one_sample_is_predicted_by_its_share() -> Tested {
    const FOLDS: usize = 4;
    let labels: Vec<u8> = (0..24).map(|i| if i == 5 { 2 } else { u8::from(i % 3 == 0) }).collect();
    let flat = Dataset::new(DenseColumns::from_columns(&[vec![1.0; 24]])?, Target::from_labels(&labels))?;
    let folds = deal(&seeded_order(&flat, 3), FOLDS, "folds")?;
    let share = |class: u8, rows: &[usize]| {
        rows.iter().filter(|&&i| labels[i] == class).count() as f64 / rows.len() as f64
    };
    let all: Vec<usize> = (0..24).collect();
    let (mut logs, mut squares) = (0.0, 0.0);
    for fold in 0..FOLDS {
        let (test, train): (Vec<usize>, Vec<usize>) = (0..24).partition(|&i| folds[i] == fold);
        for &i in &test {
            let learnt = share(labels[i], &train);
            logs -= (if learnt > 0.0 { learnt } else { share(labels[i], &all) }).ln();
            for class in 0..3 {
                let whole = share(class, &all);
                let error = f64::from(labels[i] == class) - share(class, &train);
                squares += error * error / (whole * (1.0 - whole));
            }
        }
    }
    let rule = Regularization::CrossValidated { folds: FOLDS };
    let multinomial = LinearLoss::Multinomial { intercept: true };
    for (loss, expected) in [(multinomial, logs / 24.0), (LinearLoss::Squared, squares / 24.0)] {
        let found = run(&lasso(loss, rule), &flat)?;
        let (_, choice) = path(&found);
        assert!(
            (choice.values[0] - expected).abs() < 1e-6 * expected,
            "{loss:?} {:?} {expected}",
            choice.values
        );
        // With features, too, there is an answer.
        let table: Vec<Vec<f64>> = (0..6).map(|j| noise(24, j)).collect();
        let varied = Dataset::new(DenseColumns::from_columns(&table)?, flat.target().clone())?;
        assert!(path(&run(&lasso(loss, rule), &varied)?).1.values.iter().all(|value| value.is_finite()));
    }
    // Of two classes one is left: there is nothing to learn, and the error says where.
    let two: Vec<bool> = (0..24).map(|i| i == 5).collect();
    let data = Dataset::new(DenseColumns::from_columns(&[noise(24, 1)])?, Target::from_labels(&two))?;
    for loss in [LOGISTIC, LinearLoss::Squared] {
        let error = run(&lasso(loss, rule), &data).err();
        assert!(
            matches!(&error, Some(Error::InFold { parameter: "lambda_folds", fold: 1..=FOLDS, .. })),
            "{error:?}"
        );
    }
    Ok(())
}

/// A class of samples without weight is not there: what is left are two classes, or three of four.
#[test]
fn a_class_without_weight_is_not_there() -> Tested {
    let y = real();
    let labels: Vec<usize> =
        (0..50).map(|i| if i % 7 == 3 { 0 } else { 1 + usize::from(y[i] > 0.4) }).collect();
    let weights: Vec<f64> = labels.iter().map(|label| if *label == 0 { 0.0 } else { 1.0 }).collect();
    let rows: Vec<usize> = (0..50).filter(|&i| labels[i] > 0).collect();
    let data = data(Target::from_labels(&labels))?;
    let given = Regularization::Ratio(0.2);
    let dantzig = Dantzig { regularization: given, ..Dantzig::default() };
    let folds = Regularization::CrossValidated { folds: 3 };
    for (name, method) in [
        ("lasso", &lasso(LinearLoss::Squared, given) as &dyn Selector),
        ("logistic", &lasso(LOGISTIC, given)),
        ("multinomial", &lasso(LinearLoss::Multinomial { intercept: true }, given)),
        ("dantzig", &dantzig),
        ("folds", &lasso(LinearLoss::Multinomial { intercept: true }, folds)),
    ] {
        let found = run(method, &data.clone().with_sample_weights(weights.clone())?)?;
        if name != "folds" {
            let expected = run(method, &data.subset(&rows)?)?;
            near(name, &expected, &found, 1e-6);
            assert_eq!(expected.order, found.order, "{name}");
        }
    }
    Ok(())
}

/// With refit the folds compare the coefficients that are reported, those of least squares.
#[test]
fn dantzig_is_refit_in_its_folds() -> Tested {
    const FOLDS: usize = 3;
    let data = regression()?;
    let of = |regularization| Dantzig { regularization, refit: true, ..Dantzig::default() };
    let found = run(&of(Regularization::CrossValidated { folds: FOLDS }), &data)?;
    let (path_of_all, choice) = path(&found);
    let folds = deal(&seeded_order(&data, 3), FOLDS, "folds")?;
    let (x, y) = (columns(), real());
    let moments = |values: &[f64], rows: &[usize]| {
        let n = rows.len() as f64;
        let mean = rows.iter().map(|&i| values[i]).sum::<f64>() / n;
        (mean, (rows.iter().map(|&i| (values[i] - mean).powi(2)).sum::<f64>() / n).sqrt())
    };
    let all: Vec<usize> = (0..50).collect();
    let unit = moments(&y, &all).1.powi(2);
    for at in [20, choice.chosen] {
        let given = Regularization::Value(path_of_all.points[at].lambda);
        let mut errors = 0.0;
        for fold in 0..FOLDS {
            let (test, train): (Vec<usize>, Vec<usize>) = (0..50).partition(|&i| folds[i] == fold);
            let w = weights(&run(&of(given), &data.subset(&train)?)?);
            let (mean, deviation) = moments(&y, &train);
            for &i in &test {
                let term = |j: usize| {
                    let (mean, deviation) = moments(&x[j], &train);
                    w[j] * (x[j][i] - mean) / deviation
                };
                errors += (y[i] - mean - deviation * (0..12).map(term).sum::<f64>()).powi(2) / unit / 50.0;
            }
        }
        assert!((choice.values[at] - errors).abs() < 1e-3 * errors, "{at}: {} {errors}", choice.values[at]);
    }
    let direct = run(&of(Regularization::Value(path_of_all.points[choice.chosen].lambda)), &data)?;
    near("dantzig", &direct, &found, 1e-6);
    Ok(())
}

/// Where a penalty is given or chosen, all numbers of features share one solution: the columns are read as
/// often for three of them as for one.
#[test]
fn budgets_share_what_does_not_depend_on_them() -> Tested {
    for given in [Regularization::CrossValidated { folds: 3 }, Regularization::Ratio(0.1)] {
        for (name, selector, data) in all(given)? {
            let reads = |budgets: &[Budget]| -> Result<(usize, Vec<Selection>), Error> {
                let count = Arc::new(AtomicUsize::new(0));
                let (seen, inner) = (Arc::clone(&count), data.clone());
                let fill = move |j: usize, out: &mut [f64]| {
                    seen.fetch_add(1, Ordering::Relaxed);
                    inner.x().copy_column(j, out)
                };
                let table = OnDemand::new(data.n_samples(), data.n_features(), fill);
                let found =
                    selector.select_many(&data.clone().with_x(table)?, budgets, &Context::seeded(3))?;
                Ok((count.load(Ordering::Relaxed), found))
            };
            let (one, _) = reads(&[Budget::Auto])?;
            let (three, found) = reads(&[Budget::Auto, Budget::Count(1), Budget::Count(2)])?;
            assert_eq!(one, three, "{name} {given:?}");
            assert_eq!((found[1].order.len(), found[2].order.len()), (1, 2), "{name}");
            assert_eq!(found[2].order[..], found[0].order[..2], "{name}");
        }
    }
    Ok(())
}

/// Huber's loss with a bound that no residual reaches is half of the square, in the same units in every fold.
#[test]
fn folds_of_huber_are_in_one_unit() -> Tested {
    let rule = Regularization::CrossValidated { folds: 4 };
    // One fold has a far smaller variance than the others.
    let y = real().iter().enumerate().map(|(i, y)| if i == 7 { 40.0 } else { *y }).collect();
    let data = data(Target::real(y)?)?;
    let huber = LinearLoss::Huber { intercept: true, delta: 1e6 };
    let (squared, huber) = (run(&lasso(LinearLoss::Squared, rule), &data)?, run(&lasso(huber, rule), &data)?);
    let ((_, squared), (_, huber)) = (path(&squared), path(&huber));
    assert!(squared.values.len() > 20);
    for (a, b) in squared.values.iter().zip(&huber.values) {
        assert!((0.5 * a - b).abs() < 1e-3 * a, "{a} {b}");
    }
    Ok(())
}

/// Times and events as two outputs are dealt to folds as survival times are: by event.
#[test]
fn two_outputs_of_cox_are_survival_times() -> Tested {
    let times: Vec<f64> = real().into_iter().map(|y| (10.0 * (-y).exp()).ceil()).collect();
    let events: Vec<bool> = (0..50).map(|i| i % 4 == 1).collect();
    let outputs = times.iter().copied().chain(events.iter().map(|event| f64::from(u8::from(*event))));
    let outputs = data(Target::outputs(outputs.collect(), 50)?)?;
    let survival = data(Target::survival(times, events)?)?;
    let cox = LinearLoss::Cox { ties: Ties::Breslow };
    for given in [Regularization::CrossValidated { folds: 4 }, Regularization::Information { gamma: 0.0 }] {
        let (a, b) = (run(&lasso(cox, given), &outputs)?, run(&lasso(cox, given), &survival)?);
        assert_eq!((&a.order, &a.scores, &a.path), (&b.order, &b.scores, &b.path));
    }
    let adaptive =
        AdaptiveLasso { lasso: lasso(cox, Regularization::Ratio(0.2)), ..AdaptiveLasso::default() };
    assert!(!run(&adaptive, &survival)?.order.is_empty());
    let Some(method) = fewest_linear::METHODS.iter().find(|method| method.id == "adaptive-lasso") else {
        panic!("no method")
    };
    assert!(method.targets.contains(&TargetKind::Survival));
    Ok(())
}
