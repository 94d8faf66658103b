//! The baselines of the HSIC Lasso paper: optimality from the definition, laws, hostile input.

use crate::common::{self, columns, real, regression, standardised, three_classes, weights};
use fewest_core::method::{KernelWidth, Regularization};
use fewest_core::{Budget, Context, Dataset, DenseColumns, Error, Selector, Status, Target};
use fewest_dependence::{
    Bahsic, Ckta, Dependence, FeatureSimilarity, Fhsic, Fvm, Hsfs, Normalization, Qpfs, RelevanceWeight,
};
use fewest_kernels::{Gaussian, Gram, NormalisedDelta};

type Tested = Result<(), Error>;

fn all() -> common::Selectors {
    vec![
        ("fhsic", Box::new(Fhsic::default())),
        ("bahsic", Box::new(Bahsic::default())),
        ("ckta", Box::new(Ckta::default())),
        ("qpfs", Box::new(Qpfs::default())),
        ("qpfs hsic", Box::new(kernel_qpfs(RelevanceWeight::Auto))),
        (
            "qpfs correlation",
            Box::new(Qpfs { similarity: FeatureSimilarity::Correlation, gamma: RelevanceWeight::Value(0.5) }),
        ),
        ("fvm", Box::new(Fvm::default())),
        ("hsfs", Box::new(Hsfs::default())),
    ]
}

/// Centred Gram matrices of all features and of the target, and their inner products: nothing of the code
/// under test.
fn grams(data: &Dataset, normalised: bool) -> Result<(Vec<Vec<f64>>, Vec<f64>), Error> {
    let kernel = Gaussian::new(1.0)?;
    let target = match data.target() {
        Target::Real(outputs) => Gram::new(&kernel, &standardised(outputs.output(0))),
        Target::Class(classes) => {
            let codes: Vec<f64> = classes.codes().iter().map(|&code| f64::from(code)).collect();
            Gram::new(&NormalisedDelta::from_points(&codes), &codes)
        }
        _ => panic!("no such target here"),
    }
    .centre();
    let features: Vec<Gram> =
        columns().iter().map(|column| Gram::new(&kernel, &standardised(column)).centre()).collect();
    let scale = |gram: &Gram| if normalised { gram.frobenius_norm().recip() } else { 1.0 };
    let d = features
        .iter()
        .map(|a| features.iter().map(|b| a.inner(b) * scale(a) * scale(b)).collect())
        .collect();
    let c = features.iter().map(|a| a.inner(&target) * scale(a) * scale(&target)).collect();
    Ok((d, c))
}

fn times(d: &[Vec<f64>], w: &[f64]) -> Vec<f64> {
    d.iter().map(|row| row.iter().zip(w).map(|(a, b)| a * b).sum()).collect()
}

/// QPFS with HSIC of Gram matrices of norm 1.
fn kernel_qpfs(gamma: RelevanceWeight) -> Qpfs {
    let dependence = Dependence { normalization: Normalization::Unit, ..Dependence::default() };
    Qpfs { similarity: FeatureSimilarity::Hsic { dependence }, gamma }
}

fn tight() -> Dependence {
    Dependence { factor_tolerance: 1e-12, ..Dependence::default() }
}

#[test]
fn every_method_keeps_the_laws_with_classes_too() {
    common::every_method_keeps_the_laws_with_classes_too(&all());
}

#[test]
fn ckta_meets_its_optimality_conditions() -> Tested {
    for data in [regression()?, three_classes()?] {
        let (d, c) = grams(&data, false)?;
        let ridge = 1e-3 * (0..12).map(|j| d[j][j]).fold(0.0, f64::max);
        let method = Ckta { dependence: tight(), ridge: 1e-3 };
        let selection = method.select(&data, Budget::Auto, &Context::default())?;
        let w = weights(&selection);
        let fitted = times(&d, &w);
        let largest = c.iter().copied().fold(0.0, f64::max);
        for j in 0..12 {
            let gradient = c[j] - fitted[j] - ridge * w[j];
            assert!(w[j] >= 0.0 && gradient <= 1e-7 * largest, "feature {j}: {gradient}");
            assert!(w[j] == 0.0 || gradient.abs() <= 1e-7 * largest, "feature {j}: {gradient}");
        }
        assert_eq!(selection.status, Status::Converged);
    }
    Ok(())
}

#[test]
fn qpfs_meets_its_optimality_conditions() -> Tested {
    for data in [regression()?, three_classes()?] {
        for (normalization, gamma) in
            [(Normalization::Unit, 0.3), (Normalization::None, 0.6), (Normalization::Unit, 0.95)]
        {
            let (d, c) = grams(&data, normalization == Normalization::Unit)?;
            let dependence = Dependence { normalization, ..tight() };
            let method = Qpfs {
                similarity: FeatureSimilarity::Hsic { dependence },
                gamma: RelevanceWeight::Value(gamma),
            };
            let selection = method.select(&data, Budget::Auto, &Context::default())?;
            let theta = weights(&selection);
            assert!((theta.iter().sum::<f64>() - 1.0).abs() < 1e-9 && theta.iter().all(|t| *t >= 0.0));
            let fitted = times(&d, &theta);
            let gradient: Vec<f64> = (0..12).map(|j| (1.0 - gamma) * fitted[j] - gamma * c[j]).collect();
            let least = gradient.iter().copied().fold(f64::INFINITY, f64::min);
            let scale = (0..12).map(|j| d[j][j]).fold(0.0, f64::max);
            for j in 0..12 {
                assert!(theta[j] == 0.0 || gradient[j] <= least + 1e-7 * scale, "feature {j}: {gradient:?}");
            }
            let objective: f64 = theta
                .iter()
                .enumerate()
                .map(|(j, t)| t * (0.5 * (1.0 - gamma) * fitted[j] - gamma * c[j]))
                .sum();
            let report = selection.solver.as_ref().map_or(f64::NAN, |report| report.objective);
            assert!((report - objective).abs() <= 1e-9 * objective.abs(), "{report} and {objective}");
        }
    }
    Ok(())
}

#[test]
fn qpfs_weighs_by_the_means_and_takes_the_best_when_relevance_is_all() -> Tested {
    let data = regression()?;
    let (d, c) = grams(&data, true)?;
    let q = d.iter().flatten().sum::<f64>() / 144.0;
    let f = c.iter().sum::<f64>() / 12.0;
    let automatic = kernel_qpfs(RelevanceWeight::Auto).select(&data, Budget::Auto, &Context::default())?;
    let gamma = automatic.solver.as_ref().map_or(f64::NAN, |report| report.lambda);
    assert!((gamma - q / (q + f)).abs() < 1e-5, "{gamma}");
    let best = kernel_qpfs(RelevanceWeight::Value(1.0)).select(&data, Budget::Auto, &Context::default())?;
    let strongest = (0..12).fold(0, |best, j| if c[j] > c[best] { j } else { best });
    assert_eq!((best.order, best.scores), (vec![strongest], vec![1.0]));
    Ok(())
}

#[test]
fn fvm_meets_its_optimality_conditions() -> Tested {
    // Classes with the delta kernel: their codes, which follow the order of their names, do not count.
    for (data, ratio) in [(regression()?, 0.5), (regression()?, 0.05), (regression()?, 0.001)]
        .into_iter()
        .chain([(three_classes()?, 0.5), (three_classes()?, 0.05)])
    {
        let (d, c) = grams(&data, false)?;
        let largest = c.iter().copied().fold(0.0, f64::max);
        let similarity = FeatureSimilarity::Hsic { dependence: tight() };
        let method = Fvm { similarity, regularization: Regularization::Ratio(ratio) };
        let w = weights(&method.select(&data, Budget::Auto, &Context::default())?);
        let fitted = times(&d, &w);
        for j in 0..12 {
            // |αᵀ dₖ − D(uₖ, y)| ≤ λ, Eq. (2).
            let correlation = c[j] - fitted[j];
            assert!(correlation.abs() <= (ratio + 1e-7) * largest, "feature {j}: {correlation}");
            let expected = ratio * largest * w[j].signum();
            assert!(w[j] == 0.0 || (correlation - expected).abs() <= 1e-7 * largest, "feature {j}");
        }
    }
    Ok(())
}

#[test]
fn fvm_gives_exactly_as_many_as_asked_for() -> Tested {
    for data in [regression()?, three_classes()?] {
        for k in 1..=11 {
            let selection = Fvm::default().select(&data, Budget::Count(k), &Context::default())?;
            assert_eq!(selection.order.len(), k, "{:?}", selection.notes);
            assert_eq!(selection.status, Status::Converged);
        }
    }
    Ok(())
}

/// Both searches with whole Gram matrices of every set, on six features of which the last is the first again:
/// of equals the lower index is taken first, and the higher taken away.
#[test]
fn greedy_searches_take_the_best_step_and_the_lower_of_two_twins() -> Tested {
    let x = columns();
    let table: Vec<Vec<f64>> = [0, 1, 3, 4, 7, 0].map(|j| standardised(&x[j])).to_vec();
    let data = Dataset::new(DenseColumns::from_columns(&table)?, Target::real(real())?)?;
    let target = Gram::new(&Gaussian::new(1.0)?, &standardised(&real())).centre();
    let criterion = |set: &[usize]| {
        let distance = |i: usize, j: usize| -> f64 {
            set.iter().map(|&feature| (table[feature][i] - table[feature][j]).powi(2)).sum()
        };
        let gram = Gram::from_fn(50, |i, j| (-distance(i, j) / (2.0 * set.len() as f64)).exp());
        gram.centre().inner(&target)
    };
    // The best of the sets, the first of equals.
    let best = |sets: &[Vec<usize>]| {
        let values: Vec<f64> = sets.iter().map(|set| criterion(set)).collect();
        let largest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        values.iter().position(|value| *value >= largest - 1e-11 * largest)
    };

    let (mut forward, mut left) = (Vec::new(), (0..6).collect::<Vec<usize>>());
    while !left.is_empty() {
        let sets: Vec<Vec<usize>> = left.iter().map(|&j| [&forward[..], &[j]].concat()).collect();
        let Some(at) = best(&sets) else { break };
        forward.push(left.remove(at));
    }
    let (mut backward, mut left) = (Vec::new(), (0..6).collect::<Vec<usize>>());
    while left.len() > 1 {
        // The highest index first: of equals it goes.
        let sets: Vec<Vec<usize>> =
            (0..left.len()).rev().map(|at| [&left[..at], &left[at + 1..]].concat()).collect();
        let Some(at) = best(&sets) else { break };
        backward.insert(0, left.remove(left.len() - 1 - at));
    }
    backward.insert(0, left[0]);

    for (name, selector, expected) in [
        ("fhsic", Box::new(Fhsic::default()) as Box<dyn Selector>, forward),
        ("bahsic", Box::new(Bahsic { fraction: 0.0, ..Bahsic::default() }), backward),
    ] {
        let selection = selector.select(&data, Budget::Count(6), &Context::default())?;
        assert_eq!(selection.order, expected, "{name}");
        for (k, score) in selection.scores.iter().enumerate() {
            let value = criterion(&expected[..=k]);
            assert!((score - value).abs() <= 1e-9 * value, "{name}: {score} and {value}");
        }
    }
    Ok(())
}

#[test]
fn bad_parameters_are_typed_errors() {
    let fails = common::refuses_parameter;
    let k = Budget::Count(2);
    for bad in [f64::NAN, -1.0, f64::INFINITY] {
        fails("sigma_x", &Fhsic { sigma_x: KernelWidth::Value(bad), ..Fhsic::default() }, k);
        fails("fraction", &Bahsic { fraction: bad, ..Bahsic::default() }, k);
        fails("sharpness", &Hsfs { sharpness: bad, ..Hsfs::default() }, k);
        fails("tolerance", &Hsfs { tolerance: bad, ..Hsfs::default() }, k);
        fails("lambda", &Hsfs { regularization: Regularization::Value(bad), ..Hsfs::default() }, k);
        fails("ridge", &Ckta { ridge: bad, ..Ckta::default() }, k);
        fails("gamma", &Qpfs { gamma: RelevanceWeight::Value(bad), ..Qpfs::default() }, k);
        fails("lambda_ratio", &Fvm { regularization: Regularization::Ratio(bad), ..Fvm::default() }, k);
    }
    fails("k", &Fvm::default(), Budget::Auto);
    fails("starts", &Hsfs { starts: 0, ..Hsfs::default() }, k);
    fails("iterations", &Hsfs { iterations: 0, ..Hsfs::default() }, k);
    fails("projections", &Hsfs { projections: 0, ..Hsfs::default() }, k);
    fails("projections", &Hsfs { projections: 13, ..Hsfs::default() }, k);
    fails("threshold", &Fhsic::default(), Budget::Threshold(0.1));
}

#[test]
fn hostile_tables_are_answered_or_refused() -> Tested {
    common::hostile_tables_are_answered_or_refused(&all())
}

#[test]
fn a_run_that_is_stopped_at_once_says_so() -> Tested {
    common::a_run_that_is_stopped_at_once_says_so(&all())
}
