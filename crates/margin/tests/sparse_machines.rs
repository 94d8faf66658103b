//! Support vector machines with few weights.

use crate::common::{all, close, read, scores};
use fewest_core::method::Regularization;
use fewest_core::{Budget, Columns, Context, Dataset, DenseColumns, Error, Selector, Status, Target};
use fewest_data::{Scaling, Task};
use fewest_margin::{ElasticNetSvm, Fsv, HingeLoss, InnerNorm, L0Appr, L1Svm, Multiclass};
use fewest_testkit::conformance::{check_selector, problem};

/// scikit-learn 1.9.1, X standardised dividing by n:
/// `LinearSVC(penalty="l1", dual=False, C=0.01, tol=1e-13, max_iter=20000000,`
/// `intercept_scaling=1e4, random_state=0).fit(X, y).coef_[0]`:
/// the bias is penalised there, with a ten-thousandth of its size. Objective: with that bias.
const SQUARED_HINGE: [(usize, f64); 7] = [
    (7, 0.161434393),
    (20, 0.438151871),
    (21, 0.118931540),
    (24, 0.004202663),
    (27, 0.328170202),
    (28, 0.019838145),
    (0, 0.0),
];
const SQUARED_HINGE_OBJECTIVE: f64 = 2.2058298502128526;

/// SciPy 1.17.1, the same X: `linprog(..., method="highs-ds")` of `minimise ‖w‖₁ + 0.05 Σ ξ` with w and b
/// split into positive parts.
const HINGE: [(usize, f64); 9] = [
    (6, 0.023222587),
    (7, 0.328302568),
    (10, 0.063803638),
    (20, 1.243244739),
    (21, 0.347492130),
    (24, 0.265443055),
    (26, 0.093776374),
    (27, 0.214285879),
    (28, 0.119056147),
];
const HINGE_OBJECTIVE: f64 = 5.79004257445734;

fn dense(entries: &[(usize, f64)]) -> Vec<f64> {
    let mut values = vec![0.0; 30];
    for &(j, value) in entries {
        values[j] = value;
    }
    values
}

#[test]
fn weights_are_those_of_others() {
    let data = read("wdbc.csv", Task::Classification);
    let selection = all(&L1Svm { c: Some(0.01), ..L1Svm::default() }, &data);
    assert_eq!(selection.status, Status::Converged);
    close(&scores(&selection), &dense(&SQUARED_HINGE), 1e-4);
    let objective = selection.solver.as_ref().unwrap().objective;
    assert!(
        (SQUARED_HINGE_OBJECTIVE * (1.0 - 1e-4)..=SQUARED_HINGE_OBJECTIVE).contains(&objective),
        "{objective}"
    );
    let selection = all(&L1Svm { c: Some(0.05), loss: HingeLoss::Plain, ..L1Svm::default() }, &data);
    assert_eq!(selection.status, Status::Converged);
    close(&scores(&selection), &dense(&HINGE), 1e-6);
    let objective = selection.solver.as_ref().unwrap().objective;
    assert!((objective - HINGE_OBJECTIVE).abs() <= 1e-8 * HINGE_OBJECTIVE, "{objective}");
}

/// Primal minus dual objective of `Σ ξ² + λ r ‖w‖₁ + ½ λ (1 − r) ‖w‖²`, relative to that at zero, from
/// nothing but the weights.
fn gap(data: &Dataset, weights: &[f64], lambda: f64, ratio: f64) -> f64 {
    let (n, d) = (data.n_samples(), data.n_features());
    let Target::Class(classes) = data.target() else { panic!("classes") };
    let y: Vec<f64> = classes.codes().iter().map(|&code| 2.0 * f64::from(code) - 1.0).collect();
    let scaled = Scaling::standardise(data.x()).unwrap().apply(data.shared_x()).unwrap();
    let columns: Vec<Vec<f64>> =
        (0..d).map(|j| scaled.column(j, &mut Vec::new()).unwrap().to_vec(n)).collect();
    let fitted: Vec<f64> =
        (0..n).map(|i| columns.iter().zip(weights).map(|(column, w)| w * column[i]).sum()).collect();
    let slack = |b: f64| -> Vec<f64> { (0..n).map(|i| (1.0 - y[i] * (fitted[i] + b)).max(0.0)).collect() };
    let balance = |b: f64| -> f64 { slack(b).iter().zip(&y).map(|(slack, y)| y * slack).sum() };
    let (mut low, mut high) = (-100.0, 100.0);
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if balance(middle) > 0.0 { low = middle } else { high = middle }
    }
    let slacks = slack(0.5 * (low + high));
    let (l1, l2): (f64, f64) = (weights.iter().map(|w| w.abs()).sum(), weights.iter().map(|w| w * w).sum());
    let ridge = lambda * (1.0 - ratio);
    let primal =
        slacks.iter().map(|slack| slack * slack).sum::<f64>() + lambda * ratio * l1 + 0.5 * ridge * l2;
    let pull: Vec<f64> = columns
        .iter()
        .map(|column| (0..n).map(|i| 2.0 * y[i] * slacks[i] * column[i]).sum::<f64>().abs())
        .collect();
    let t = if ridge > 0.0 { 1.0 } else { pull.iter().fold(1.0_f64, |t, v| t.min(lambda / v)) };
    let conjugate: f64 = if ridge > 0.0 {
        pull.iter().map(|v| (v - lambda * ratio).max(0.0).powi(2) / (2.0 * ridge)).sum()
    } else {
        0.0
    };
    let dual: f64 = slacks.iter().map(|slack| t * slack * (2.0 - t * slack)).sum::<f64>() - conjugate;
    let mean = y.iter().sum::<f64>() / n as f64;
    (primal - dual) / (n as f64 * (1.0 - mean * mean))
}

#[test]
fn the_certificate_is_recomputed_from_the_weights() {
    for name in ["wdbc.csv", "sonar.csv", "ionosphere.csv"] {
        let data = read(name, Task::Classification);
        for k in [3, 8] {
            let selection = L1Svm::default().select(&data, Budget::Count(k), &Context::default()).unwrap();
            assert_eq!((selection.order.len(), selection.status), (k, Status::Converged), "{name}");
            let report = selection.solver.clone().unwrap();
            let found = gap(&data, &scores(&selection), report.lambda, 1.0);
            assert!((0.0 - 1e-11..=1e-8).contains(&found), "{name}, {k}: {found}");
            let net = ElasticNetSvm::default();
            let selection = net.select(&data, Budget::Count(k), &Context::default()).unwrap();
            assert_eq!(selection.status, Status::Converged, "{name}");
            assert!(!selection.order.is_empty() && selection.order.len() <= k);
            let found = gap(&data, &scores(&selection), selection.solver.clone().unwrap().lambda, 0.5);
            assert!((0.0 - 1e-11..=1e-8).contains(&found), "{name}, {k}: {found}");
        }
    }
}

#[test]
fn an_elastic_net_of_l1_only_is_the_l1_machine() {
    let data = read("sonar.csv", Task::Classification);
    let net = ElasticNetSvm { c: Some(0.05), l1_ratio: 1.0, ..ElasticNetSvm::default() };
    let plain = L1Svm { c: Some(0.05), ..L1Svm::default() };
    assert_eq!(all(&net, &data), all(&plain, &data));
}

#[test]
fn the_zero_norm_takes_fewer_features_than_the_l1_norm_needs() {
    let data = read("wdbc.csv", Task::Classification);
    for norm in [InnerNorm::L2, InnerNorm::L1] {
        let selector = L0Appr { norm, ..L0Appr::default() };
        let auto = selector.select(&data, Budget::Auto, &Context::default()).unwrap();
        assert_eq!(auto.status, Status::Converged);
        assert!(auto.order.len() < 20 && auto.order.len() >= 2, "{norm:?}: {:?}", auto.order);
        // The l2 norm leaves every feature a weight in the first round, the l1 norm does not.
        let most = all(&selector, &data).order.len();
        assert_eq!(most == 30, norm == InnerNorm::L2, "{norm:?}: {most}");
        for count in [1, 2, 5] {
            let chosen = selector.select(&data, Budget::Count(count), &Context::default()).unwrap();
            assert_eq!(chosen.order.len(), count);
        }
    }
}

/// A machine of two features that separate the classes only together, beside noise.
#[test]
fn features_that_matter_are_found_among_many() {
    let (n, d) = (80_usize, 300_usize);
    let value = |i: usize, j: usize| -> f64 {
        let mut z = (i as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15)
            ^ (j as u64 + 7).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 30)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z = (z ^ (z >> 27)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
    };
    let columns: Vec<Vec<f64>> = (0..d).map(|j| (0..n).map(|i| value(i, j)).collect()).collect();
    let labels: Vec<bool> =
        (0..n).map(|i| columns[40][i] - columns[41][i] + 0.5 * columns[200][i] > 0.0).collect();
    let data =
        Dataset::new(DenseColumns::from_columns(&columns).unwrap(), Target::from_labels(&labels)).unwrap();
    let selectors: [(&str, Box<dyn Selector>); 5] = [
        ("l0", Box::new(L0Appr::default())),
        ("l0 by l1", Box::new(L0Appr { norm: InnerNorm::L1, ..L0Appr::default() })),
        ("fsv", Box::new(Fsv::default())),
        ("l1", Box::new(L1Svm::default())),
        ("l1 hinge", Box::new(L1Svm { loss: HingeLoss::Plain, ..L1Svm::default() })),
    ];
    for (name, selector) in &selectors {
        let selection = selector.select(&data, Budget::Count(2), &Context::default()).unwrap();
        let mut order = selection.order.clone();
        order.sort_unstable();
        assert_eq!(order, [40, 41], "{name}");
    }
}

#[test]
fn laws_hold() {
    let data = problem(true);
    check_selector(&L1Svm::default(), &data, 3);
    check_selector(&L1Svm { loss: HingeLoss::Plain, ..L1Svm::default() }, &data, 3);
    check_selector(&ElasticNetSvm::default(), &data, 3);
    check_selector(&L0Appr::default(), &data, 3);
    check_selector(&L0Appr { norm: InnerNorm::L1, ..L0Appr::default() }, &data, 3);
    check_selector(&Fsv::default(), &data, 3);
}

#[test]
fn more_classes_share_the_cost() {
    let data = read("wine.csv", Task::Classification);
    for multiclass in [Multiclass::OneVsRest, Multiclass::OneVsOne] {
        let selectors: [Box<dyn Selector>; 4] = [
            Box::new(L1Svm { multiclass, ..L1Svm::default() }),
            Box::new(ElasticNetSvm { multiclass, ..ElasticNetSvm::default() }),
            Box::new(L0Appr { multiclass, ..L0Appr::default() }),
            Box::new(Fsv { multiclass, ..Fsv::default() }),
        ];
        for selector in &selectors {
            let selection = selector.select(&data, Budget::Count(4), &Context::default()).unwrap();
            assert!(!selection.order.is_empty() && selection.order.len() <= 4);
            assert!(selection.scores.iter().all(|score| *score > 0.0), "norms: {:?}", selection.scores);
            assert!(matches!(selection.status, Status::Converged | Status::AlmostConverged));
        }
    }
}

#[test]
fn bad_input_is_an_error_that_names_it() {
    let data = problem(true);
    let message = |selector: &dyn Selector, budget: Budget| {
        selector.select(&data, budget, &Context::default()).unwrap_err().to_string()
    };
    let one = Budget::Count(1);
    for cost in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(message(&L1Svm { c: Some(cost), ..L1Svm::default() }, one).contains("`c`"));
        assert!(message(&ElasticNetSvm { c: Some(cost), ..ElasticNetSvm::default() }, one).contains("`c`"));
        assert!(message(&L0Appr { c: cost, ..L0Appr::default() }, one).contains("`c`"));
        assert!(message(&Fsv { alpha: cost, ..Fsv::default() }, one).contains("`alpha`"));
    }
    for share in [0.0, 1.5, f64::NAN] {
        assert!(
            message(&ElasticNetSvm { l1_ratio: share, ..ElasticNetSvm::default() }, one).contains("l1_ratio")
        );
        assert!(
            message(&Fsv { regularization: Regularization::Value(share), ..Fsv::default() }, one)
                .contains("lambda")
        );
    }
    assert!(message(&L1Svm::default(), Budget::Auto).contains("`k`"));
    assert!(matches!(
        Fsv::default().select(&problem(false), one, &Context::default()),
        Err(Error::UnsupportedTarget { .. })
    ));
}

/// A weight that rounding leaves is no feature, and where two features enter at once there is still one to
/// choose.
#[test]
fn chosen_features_have_weights_that_matter() -> Result<(), Error> {
    let wave = |step: i32| (0..40).map(|i| f64::from(i * step % 41) / 20.0 - 1.0).collect::<Vec<f64>>();
    let (a, b) = (wave(7), wave(17));
    let labels: Vec<bool> = a.iter().zip(&b).map(|(a, b)| a + 0.5 * b > 0.0).collect();
    let columns = [a.clone(), b, wave(11), wave(3), a];
    let data = Dataset::new(DenseColumns::from_columns(&columns)?, Target::from_labels(&labels))?;
    for loss in [HingeLoss::Squared, HingeLoss::Plain] {
        for k in 1..=3 {
            let method = L1Svm { loss, ..L1Svm::default() };
            let selection = method.select(&data, Budget::Count(k), &Context::default())?;
            assert_eq!(selection.order.len(), k, "{loss:?} {selection:?}");
            assert!(
                selection.scores.iter().all(|score| score.abs() > 1e-6),
                "{loss:?} {k} {:?}",
                selection.scores
            );
        }
    }
    Ok(())
}

/// The first start stops at a worse point than others reach.
#[test]
fn the_best_of_several_starts_is_taken() {
    let data = read("sonar.csv", Task::Classification);
    let objective = |starts: usize| {
        let method = Fsv { regularization: Regularization::Value(0.02), starts, ..Fsv::default() };
        let selection = method.select(&data, Budget::Count(60), &Context::default()).unwrap();
        let report = selection.solver.unwrap();
        assert_eq!(report.status, Status::Converged);
        assert!(report.certificate.name() == "stationarity" && report.certificate.value() <= 1e-7);
        report.objective
    };
    let (one, ten) = (objective(1), objective(10));
    assert!(ten < 0.9 * one, "{one} and {ten}");
}

/// An empty table says why, and what to do.
#[test]
fn a_penalty_that_leaves_nothing_is_told() {
    let data = read("wdbc.csv", Task::Classification);
    let tiny: [Box<dyn Selector>; 4] = [
        Box::new(L1Svm { c: Some(1e-9), ..L1Svm::default() }),
        Box::new(L1Svm { c: Some(1e-9), loss: HingeLoss::Plain, ..L1Svm::default() }),
        Box::new(ElasticNetSvm { c: Some(1e-9), ..ElasticNetSvm::default() }),
        Box::new(Fsv { regularization: Regularization::Value(0.999), starts: 1, ..Fsv::default() }),
    ];
    for selector in tiny {
        for budget in [Budget::Auto, Budget::Count(5)] {
            let selection = selector.select(&data, budget, &Context::default()).unwrap();
            assert!(selection.order.is_empty());
            let note = &selection.notes[0];
            assert!(note.contains("a larger `c`") || note.contains("a smaller `lambda`"), "{note}");
        }
    }
}

/// With nearly all the weight on the penalty, these rows sent the simplex method round in circles, of which
/// each step looked like progress by rounding.
#[test]
fn programs_of_steps_by_rounding_end() {
    let data = read("ionosphere.csv", Task::Classification);
    for (step, cost) in [(203, 0.01), (255, 0.1)] {
        let rows: Vec<usize> = (0..224).map(|i| i * step % 351).collect();
        let deadline = Some(std::time::Instant::now() + std::time::Duration::from_secs(30));
        let regularization = Regularization::Value(1.0 / (1.0 + cost));
        let selector = Fsv { regularization, ..Fsv::default() };
        let context = Context { deadline, ..Context::default() };
        let selection = selector.select(&data.subset(&rows).unwrap(), Budget::Count(10), &context).unwrap();
        assert_eq!(selection.status, Status::Converged);
        assert!(selection.solver.unwrap().certificate.value() < 1e-12);
    }
}

/// Fewer features than were asked for say why: those that an l1 norm gives no weight cannot be ranked.
#[test]
fn fewer_features_than_asked_for_are_explained() {
    let data = read("wdbc.csv", Task::Classification);
    let machine = |norm| L0Appr { norm, ..L0Appr::default() };
    let select = |norm| machine(norm).select(&data, Budget::Count(25), &Context::default()).unwrap();
    let (l1, l2) = (select(InnerNorm::L1), select(InnerNorm::L2));
    let note = format!("{} of 25 features", l1.order.len());
    assert!(l1.order.len() < 25 && l1.notes.iter().any(|told| told.contains(&note) && told.contains("`c`")));
    assert_eq!(l2.order.len(), 25);
}
