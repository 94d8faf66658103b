//! HSIC Lasso and NOCCO Lasso: laws, certificates, options, and the faults other packages have.

use std::sync::Arc;

use fewest_cd::CoordinateDescent;
use fewest_core::method::{KernelWidth, Regularization};
use fewest_core::{
    Approximation, Budget, Context, Dataset, DenseColumns, FeatureKind, Groups, OnDemand, Scorer, Selection,
    Selector, Target,
};
use fewest_dal::DualAugmentedLagrangian;
use fewest_dependence::{
    Dependence, Error, Hsic, HsicEstimator, HsicLasso, InputKernel, LassoOptions, LassoPenalty, Nocco,
    NoccoLasso, Normalization, OutputKernel,
};
use fewest_kernels::{Form, Gram};
use fewest_lars::Lars;
use fewest_pgd::ProximalGradient;
use fewest_solver::{QuadraticSolver, SolverChoice};
use fewest_testkit::conformance::{check_selector, problem};

fn wave(n: usize, step: usize) -> Vec<f64> {
    (0..n).map(|i| ((i * step) % (n + 1)) as f64 / n as f64 * 2.0 - 1.0).collect()
}

fn dataset(columns: &[Vec<f64>], target: Target) -> Dataset {
    Dataset::new(DenseColumns::from_columns(columns).unwrap(), target).unwrap()
}

/// Six features of 60 samples; the target is made of the first three.
fn nonlinear() -> Dataset {
    let columns: Vec<Vec<f64>> = [1, 17, 23, 29, 7, 31].into_iter().map(|step| wave(60, step)).collect();
    let y =
        (0..60).map(|i| 3.0 * columns[0][i].powi(2) + columns[1][i] + (3.0 * columns[2][i]).sin()).collect();
    dataset(&columns, Target::real(y).unwrap())
}

fn select(selector: &dyn Selector, data: &Dataset, k: usize) -> Selection {
    selector.select(data, Budget::Count(k), &Context::default()).unwrap()
}

fn at_ratio(solver: Option<Arc<dyn QuadraticSolver>>, penalty: LassoPenalty, form: Form) -> HsicLasso {
    HsicLasso {
        dependence: Dependence { form, factor_tolerance: 1e-12, ..Dependence::default() },
        lasso: LassoOptions {
            regularization: Regularization::Ratio(0.1),
            penalty,
            solver: solver.map_or(SolverChoice::Auto, SolverChoice::Use),
            tolerance: 1e-10,
            ..LassoOptions::default()
        },
    }
}

fn close(a: &Selection, b: &Selection, tolerance: f64) {
    assert_eq!(a.order, b.order);
    for (x, y) in a.scores.iter().zip(&b.scores) {
        assert!((x - y).abs() <= tolerance * a.scores[0].abs(), "{x} and {y}");
    }
}

#[test]
fn does_what_every_selector_must() {
    for form in [Form::Exact, Form::LowRank] {
        // Tighter than the default, so that the order of the rows shows in no digit that is looked at.
        let dependence = Dependence { form, factor_tolerance: 1e-11, ..Dependence::default() };
        let lasso = LassoOptions::default();
        for classes in [false, true] {
            check_selector(
                &HsicLasso { dependence: dependence.clone(), lasso: lasso.clone() },
                &problem(classes),
                3,
            );
            let nocco =
                NoccoLasso { dependence: dependence.clone(), lasso: lasso.clone(), ..NoccoLasso::default() };
            check_selector(&nocco, &problem(classes), 3);
        }
    }
}

#[test]
fn finds_what_the_target_is_made_of() {
    let mut chosen = select(&HsicLasso::default(), &nonlinear(), 3).order;
    chosen.sort_unstable();
    assert_eq!(chosen, [0, 1, 2]);
}

#[test]
fn all_solvers_and_both_forms_agree_on_the_objective_with_a_certificate() {
    let solvers: [Arc<dyn QuadraticSolver>; 4] = [
        Arc::new(CoordinateDescent::default()),
        Arc::new(DualAugmentedLagrangian::default()),
        Arc::new(Lars),
        Arc::new(ProximalGradient::default()),
    ];
    for penalty in [LassoPenalty::L1, LassoPenalty::ElasticNet { ridge: 0.1 }] {
        let mut objectives = Vec::new();
        for solver in &solvers {
            for form in [Form::Exact, Form::LowRank] {
                let selector = at_ratio(Some(Arc::clone(solver)), penalty, form);
                let found = selector.select(&nonlinear(), Budget::Auto, &Context::default()).unwrap();
                let report = found.solver.unwrap();
                let gap = report.certificate.value();
                assert!((-1e-12..=1e-8).contains(&gap), "{} {form:?}: gap {gap}", report.name);
                objectives.push(report.objective);
            }
        }
        for objective in &objectives {
            assert!((objective / objectives[0] - 1.0).abs() <= 1e-6, "{objectives:?}");
        }
    }
}

/// At one penalty the scores of the low-rank form are as close to those of the exact one as the report says.
#[test]
fn the_error_that_an_approximation_leaves_in_the_scores_is_told() {
    let at = |form: Form, factor_tolerance: f64| {
        let mut selector = at_ratio(None, LassoPenalty::L1, form);
        selector.dependence.factor_tolerance = factor_tolerance;
        selector.select(&nonlinear(), Budget::Auto, &Context::default()).unwrap()
    };
    let exact = at(Form::Exact, 1e-6);
    assert_eq!(exact.solver.as_ref().unwrap().approximation, None);
    for factor_tolerance in [1e-3, 1e-4, 1e-6, 1e-8] {
        let low_rank = at(Form::LowRank, factor_tolerance);
        assert_eq!(low_rank.order, exact.order);
        let found = low_rank.solver.unwrap().approximation.unwrap();
        assert!(matches!(found, Approximation::Estimate { .. }));
        let far =
            low_rank.scores.iter().zip(&exact.scores).fold(0.0_f64, |most, (a, b)| most.max((a - b).abs()));
        let relative = far / exact.scores[0];
        assert!(relative <= found.value(), "{factor_tolerance}: {relative:e} above {:e}", found.value());
        assert!(
            found.value() <= 1e3 * factor_tolerance,
            "{factor_tolerance}: {:e} says nothing",
            found.value()
        );
    }
}

#[test]
fn the_count_is_exact_along_the_path_and_the_path_is_told() {
    for k in 1..=6 {
        let found = select(&HsicLasso::default(), &nonlinear(), k);
        assert!(found.order.len() == k || !found.notes.is_empty(), "{k}: {found:?}");
        let path = found.path.unwrap();
        let end = path.points.last().unwrap();
        assert_eq!(end.coefficients.len(), found.order.len());
        assert!(path.points.windows(2).all(|pair| pair[0].lambda >= pair[1].lambda));
        assert!(found.order.iter().all(|j| path.entered.contains(j)));
    }
}

#[test]
fn a_named_solver_lands_where_the_path_ends() {
    let path = select(&HsicLasso::default(), &nonlinear(), 3);
    let lasso = LassoOptions {
        solver: SolverChoice::Use(Arc::new(CoordinateDescent::default())),
        tolerance: 1e-12,
        ..LassoOptions::default()
    };
    let named = select(&HsicLasso { lasso, ..HsicLasso::default() }, &nonlinear(), 3);
    assert_eq!(named.solver.as_ref().map(|report| report.name), Some("cd"));
    close(&path, &named, 1e-6);
}

#[test]
fn the_papers_rule_takes_the_largest_of_a_few_more() {
    let lasso = LassoOptions { regularization: Regularization::Paper, ..LassoOptions::default() };
    let found = select(&HsicLasso { lasso, ..HsicLasso::default() }, &nonlinear(), 2);
    assert_eq!(found.order.len(), 2);
    assert!(found.path.unwrap().points.last().unwrap().coefficients.len() > 2);
}

#[test]
fn forced_features_come_first_and_covariates_never() {
    let lasso = LassoOptions { forced: vec![4], covariates: vec![0], ..LassoOptions::default() };
    let found = select(&HsicLasso { lasso, ..HsicLasso::default() }, &nonlinear(), 3);
    assert_eq!(found.order[0], 4);
    assert_eq!(found.order.len(), 3);
    assert!(!found.order.contains(&0));

    // What a covariate explains alone is no reason to choose its copy.
    let columns: Vec<Vec<f64>> = vec![wave(60, 1), wave(60, 1), wave(60, 17)];
    let y = (0..60).map(|i| 5.0 * columns[0][i] + columns[2][i]).collect();
    let lasso = LassoOptions { covariates: vec![0], ..LassoOptions::default() };
    let found =
        select(&HsicLasso { lasso, ..HsicLasso::default() }, &dataset(&columns, Target::real(y).unwrap()), 1);
    assert_eq!(found.order, [2]);
}

#[test]
fn groups_enter_whole() {
    let data = nonlinear().with_feature_groups(Groups::partition(vec![0, 0, 1, 1, 2, 2])).unwrap();
    let selector = at_ratio(None, LassoPenalty::Group, Form::Auto);
    let found = selector.select(&data, Budget::Auto, &Context::default()).unwrap();
    assert!(found.order.contains(&0) && found.order.contains(&1), "{found:?}");
    let gap = found.solver.unwrap().certificate.value();
    assert!((-1e-12..=1e-9).contains(&gap), "{gap}");
    let lasso = LassoOptions { penalty: LassoPenalty::Group, ..LassoOptions::default() };
    assert_eq!(select(&HsicLasso { lasso: lasso.clone(), ..HsicLasso::default() }, &data, 2).order.len(), 2);
    let without = HsicLasso { lasso, ..HsicLasso::default() }.select(
        &nonlinear(),
        Budget::Count(2),
        &Context::default(),
    );
    assert!(matches!(without, Err(Error::InvalidParameter { name: "penalty", .. })));
}

#[test]
fn one_block_of_all_samples_is_the_full_estimator() {
    let with = |estimator| {
        let dependence = Dependence { estimator, form: Form::Exact, ..Dependence::default() };
        select(&HsicLasso { dependence, ..HsicLasso::default() }, &nonlinear(), 3)
    };
    close(&with(HsicEstimator::Full), &with(HsicEstimator::Block { block_size: 60, permutations: 1 }), 1e-9);
    assert_eq!(with(HsicEstimator::Block { block_size: 20, permutations: 3 }).order.len(), 3);
}

#[test]
fn relatedness_is_that_of_the_definition() {
    let data = problem(true);
    let found = select(&HsicLasso::default(), &data, 2);
    let unit = Dependence { normalization: Normalization::Unit, ..Dependence::default() };
    for (&selected, related) in found.order.iter().zip(&found.related) {
        // Normalised HSIC with the selected feature as the target, standardised and under the same kernel.
        let target = Target::real(data.x().column(selected, &mut Vec::new()).unwrap().to_vec(40)).unwrap();
        let alone = Dataset::shared(data.shared_x(), target).unwrap();
        let scores = Hsic { dependence: unit.clone() }.score(&alone, &Context::default()).unwrap();
        let best = scores.ranking().into_iter().find(|&j| j != selected).unwrap();
        assert_eq!(related[0].feature, best);
        assert!((related[0].relatedness - scores.values[best]).abs() < 1e-5);
    }
    let similarity = found.similarity.unwrap();
    assert!((similarity.values[0] - 1.0).abs() < 1e-12);
    assert!((similarity.values[1] - similarity.values[2]).abs() < 1e-12);
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let columns: Vec<Vec<f64>> = (1..200).map(|step| wave(90, step)).collect();
    let y = (0..90).map(|i| columns[3][i] * columns[10][i] + columns[50][i]).collect();
    let data = dataset(&columns, Target::real(y).unwrap());
    for form in [Form::Exact, Form::LowRank] {
        let dependence = Dependence { form, ..Dependence::default() };
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                select(&HsicLasso { dependence: dependence.clone(), ..HsicLasso::default() }, &data, 20)
            })
        };
        let one = run(1);
        assert_eq!(one, run(2));
        assert_eq!(one, run(7));
    }
}

#[test]
fn columns_on_demand_and_categories() {
    let data = nonlinear();
    let columns: Vec<Vec<f64>> =
        (0..6).map(|j| data.x().column(j, &mut Vec::new()).unwrap().to_vec(60)).collect();
    let fill = columns.clone();
    let on_demand = OnDemand::new(60, 6, move |j, out: &mut [f64]| {
        out.copy_from_slice(&fill[j]);
        Ok(())
    });
    let generated = Dataset::new(on_demand, data.target().clone()).unwrap();
    assert_eq!(select(&HsicLasso::default(), &data, 3), select(&HsicLasso::default(), &generated, 3));

    // A category whose codes have no order: only equality can tell.
    let codes: Vec<f64> = (0..60).map(|i| f64::from([3, 0, 4, 1, 2][i % 5])).collect();
    let y: Vec<f64> = (0..60).map(|i| [5.0, -3.0, 0.0, 4.0, -5.0][i % 5] + 0.1 * columns[3][i]).collect();
    let mut with = columns[3..].to_vec();
    with.push(codes);
    let levels = (0..5).map(|level| level.to_string()).collect();
    let mut kinds = vec![FeatureKind::Numeric; 3];
    kinds.push(FeatureKind::Categorical { levels });
    let data = dataset(&with, Target::real(y).unwrap()).with_feature_kinds(kinds).unwrap();
    for form in [Form::Exact, Form::LowRank] {
        let dependence = Dependence { form, ..Dependence::default() };
        assert_eq!(select(&HsicLasso { dependence, ..HsicLasso::default() }, &data, 1).order, [3]);
    }
}

/// Pitfall H1: kernels do not change when a feature is shifted, by however much.
#[test]
fn offsets_and_scales_change_nothing() {
    let data = nonlinear();
    let plain = select(&HsicLasso::default(), &data, 3);
    for (offset, scale) in [(1e5, 1.0), (-1e9, 1.0), (0.0, 1e-200), (0.0, 1e200)] {
        let columns: Vec<Vec<f64>> = (0..6)
            .map(|j| {
                data.x()
                    .column(j, &mut Vec::new())
                    .unwrap()
                    .to_vec(60)
                    .iter()
                    .map(|x| x * scale + offset)
                    .collect()
            })
            .collect();
        close(&plain, &select(&HsicLasso::default(), &dataset(&columns, data.target().clone()), 3), 1e-5);
    }
}

/// Pitfall H2: one constant column does not poison the run, and one NaN is an error (checked above).
#[test]
fn constants_are_told_and_never_chosen() {
    for value in [0.0, 1.0, 100.0, 1e300] {
        let mut columns: Vec<Vec<f64>> = [1, 17, 23].into_iter().map(|step| wave(60, step)).collect();
        let y = columns[0].clone();
        columns.insert(1, vec![value; 60]);
        let data = dataset(&columns, Target::real(y).unwrap());
        let found = select(&HsicLasso::default(), &data, 4);
        assert!(!found.order.contains(&1) && found.order[0] == 0, "{found:?}");
        assert!(found.notes.iter().any(|note| note.contains("constant")), "{:?}", found.notes);
        assert!(found.notes.iter().any(|note| note.contains("of 4 features")), "{:?}", found.notes);
    }
}

/// Pitfall H3: every output counts on its own scale.
#[test]
fn no_output_drowns_another() {
    let (a, b, c) = (wave(60, 1), wave(60, 17), wave(60, 23));
    let outputs: Vec<f64> = a.iter().copied().chain(b.iter().map(|value| 1000.0 * value)).collect();
    let data = dataset(&[a, b, c], Target::outputs(outputs, 60).unwrap());
    let scores = Hsic::default().score(&data, &Context::default()).unwrap().values;
    assert!((scores[0] / scores[1] - 1.0).abs() < 0.2, "{scores:?}");
    assert!(scores[2] < 0.5 * scores[0], "{scores:?}");
}

/// Pitfall H6, and parameters out of range: errors that name the parameter.
#[test]
fn bad_parameters_are_named() {
    let data = nonlinear();
    let fails =
        |selector: HsicLasso, budget: Budget| match selector.select(&data, budget, &Context::default()) {
            Err(Error::InvalidParameter { name, .. }) => name,
            other => panic!("{other:?}"),
        };
    let dependence =
        |dependence: Dependence| fails(HsicLasso { dependence, ..HsicLasso::default() }, Budget::Count(2));
    let lasso = |lasso: LassoOptions, budget| fails(HsicLasso { lasso, ..HsicLasso::default() }, budget);
    let regularization = |regularization: Regularization| {
        lasso(LassoOptions { regularization, ..LassoOptions::default() }, Budget::Auto)
    };

    for (block_size, permutations, name) in
        [(61, 1, "block_size"), (1, 1, "block_size"), (20, 0, "permutations")]
    {
        let estimator = HsicEstimator::Block { block_size, permutations };
        assert_eq!(dependence(Dependence { estimator, ..Dependence::default() }), name);
    }
    for sigma in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let kernel = InputKernel::Gaussian { sigma_x: KernelWidth::Value(sigma) };
        assert!(dependence(Dependence { kernel, ..Dependence::default() }).contains("sigma"));
    }
    assert_eq!(dependence(Dependence { factor_tolerance: 0.0, ..Dependence::default() }), "factor_tolerance");
    assert_eq!(regularization(Regularization::Value(-1.0)), "lambda");
    assert_eq!(regularization(Regularization::Ratio(0.0)), "lambda_ratio");
    assert_eq!(regularization(Regularization::Count), "k");
    let ridge = LassoPenalty::ElasticNet { ridge: 0.0 };
    assert_eq!(lasso(LassoOptions { penalty: ridge, ..LassoOptions::default() }, Budget::Count(1)), "ridge");
    assert_eq!(
        lasso(LassoOptions { forced: vec![6], ..LassoOptions::default() }, Budget::Count(1)),
        "forced"
    );
    assert_eq!(lasso(LassoOptions { forced: vec![1, 2], ..LassoOptions::default() }, Budget::Count(1)), "k");
    assert_eq!(
        lasso(LassoOptions { tolerance: 0.0, ..LassoOptions::default() }, Budget::Count(1)),
        "tolerance"
    );
    let nocco = NoccoLasso { epsilon: 0.0, ..NoccoLasso::default() };
    let error = nocco.select(&data, Budget::Count(1), &Context::default()).unwrap_err();
    assert!(matches!(error, Error::InvalidParameter { name: "epsilon", .. }));
}

/// Targets without anything to explain, and of the wrong kind.
#[test]
fn bad_targets_are_errors() {
    let columns = [wave(60, 1), wave(60, 17)];
    let fails = |target: Target, output: OutputKernel| {
        let dependence = Dependence { output, ..Dependence::default() };
        let selector = HsicLasso { dependence, ..HsicLasso::default() };
        selector.select(&dataset(&columns, target), Budget::Count(1), &Context::default()).unwrap_err()
    };
    let constant = Target::real(vec![2.0; 60]).unwrap();
    let one_class = Target::from_labels(&["a"; 60]);
    for target in [constant, one_class, Target::None] {
        assert!(matches!(fails(target, OutputKernel::Auto), Error::UnsupportedTarget { .. }));
    }
    let real = Target::real(wave(60, 3)).unwrap();
    assert!(matches!(fails(real.clone(), OutputKernel::Delta), Error::UnsupportedTarget { .. }));
    let small = OutputKernel::Given(Gram::from_values(vec![1.0; 4], 2).unwrap());
    assert!(matches!(fails(real, small), Error::ShapeMismatch { .. }));
    let single = dataset(&[vec![1.0]], Target::real(vec![1.0]).unwrap());
    let error = HsicLasso::default().select(&single, Budget::Count(1), &Context::default()).unwrap_err();
    assert!(matches!(error, Error::TooFew { what: "samples", .. }));
}

/// A class with one sample, two samples in all, more features than samples: legal, and answered.
#[test]
fn small_and_lopsided_problems_are_answered() {
    let mut labels = vec!["a"; 60];
    labels[7] = "b";
    let found = select(
        &HsicLasso::default(),
        &dataset(&[wave(60, 1), wave(60, 17)], Target::from_labels(&labels)),
        1,
    );
    assert_eq!(found.order.len(), 1);
    let two = dataset(&[vec![0.0, 1.0], vec![1.0, 0.0], vec![5.0, 5.0]], Target::from_labels(&["a", "b"]));
    assert_eq!(select(&HsicLasso::default(), &two, 2).order, [0]);
}

/// A given Gram matrix and an affinity between samples, also one that is not positive semidefinite.
#[test]
fn the_target_may_be_a_gram_matrix() {
    let data = nonlinear();
    let y = data.x().column(0, &mut Vec::new()).unwrap().to_vec(60);
    let values: Vec<f64> = y.iter().flat_map(|a| y.iter().map(move |b| (-(a - b).powi(2)).exp())).collect();
    let links: Vec<f64> = y
        .iter()
        .flat_map(|a| y.iter().map(move |b| f64::from(u8::from(a != b && (a - b).abs() < 0.2))))
        .collect();
    for form in [Form::Exact, Form::LowRank] {
        let output = OutputKernel::Given(Gram::from_values(values.clone(), 60).unwrap());
        let dependence = Dependence { output, form, ..Dependence::default() };
        assert_eq!(select(&HsicLasso { dependence, ..HsicLasso::default() }, &data, 1).order, [0]);
        let linked = Dataset::shared(data.shared_x(), Target::affinity(links.clone(), 60).unwrap()).unwrap();
        let dependence = Dependence { form, ..Dependence::default() };
        assert_eq!(select(&HsicLasso { dependence, ..HsicLasso::default() }, &linked, 1).order, [0]);
    }
}

#[test]
fn a_run_can_be_stopped_and_reports_progress() {
    struct Stages(std::sync::Mutex<Vec<String>>);
    impl fewest_core::Progress for Stages {
        fn update(&self, stage: &str, done: u64, total: u64) {
            assert!(done <= total);
            self.0.lock().unwrap().push(stage.to_owned());
        }
    }
    let stages = Stages(std::sync::Mutex::default());
    let context = Context { progress: Some(&stages), ..Context::default() };
    HsicLasso::default().select(&nonlinear(), Budget::Count(2), &context).unwrap();
    assert!(stages.0.lock().unwrap().iter().any(|stage| stage.contains("path")));

    let raised = std::sync::atomic::AtomicBool::new(true);
    let context = Context { interrupt: Some(&raised), ..Context::default() };
    assert!(HsicLasso::default().select(&nonlinear(), Budget::Count(2), &context).is_err());
}

/// The eigenvalues of `K̃` and `L̃` lie in [0, 1), so the trace of their product is below the smaller rank:
/// with five classes and categories of two or three levels, centred, 1 or 2. A category that tells all of its
/// classes comes near.
#[test]
fn nocco_is_bounded_by_the_rank() {
    let codes = |levels: usize| (0..60).map(|i| (i % 5 % levels) as f64).collect::<Vec<f64>>();
    let level_counts = [2, 3, 5];
    let columns = level_counts.map(codes);
    let kinds = level_counts
        .map(|n| FeatureKind::Categorical { levels: (0..n).map(|level| level.to_string()).collect() })
        .to_vec();
    let labels: Vec<usize> = (0..60).map(|i| i % 5).collect();
    let data = dataset(&columns, Target::from_labels(&labels)).with_feature_kinds(kinds).unwrap();
    let scores = |epsilon: f64| {
        Nocco { epsilon, ..Nocco::default() }.score(&data, &Context::default()).unwrap().values
    };
    for epsilon in [1e-6, 1e-3, 1.0] {
        for (score, levels) in scores(epsilon).into_iter().zip(level_counts) {
            let rank = (levels - 1) as f64;
            assert!((0.0..rank).contains(&score), "{levels} levels: {score}");
            // Without a ridge to speak of the bound is reached: the classes decide the category.
            assert!(epsilon > 1e-6 || score > 0.999 * rank, "{levels} levels: {score}");
        }
    }
}

/// Doubling the width changes the scores by a smaller share than those of HSIC, and leaves the best three
/// where they were.
#[test]
fn nocco_is_less_sensitive_to_the_width_than_hsic() {
    let data = nonlinear();
    let dependence = |sigma: f64| Dependence {
        kernel: InputKernel::Gaussian { sigma_x: KernelWidth::Value(sigma) },
        normalization: Normalization::None,
        ..Dependence::default()
    };
    let change = |score: &dyn Fn(Dependence) -> Vec<f64>| {
        let (narrow, wide) = (score(dependence(0.7)), score(dependence(1.4)));
        let best = |values: &[f64]| {
            let mut best = fewest_core::rank(values, true)[..3].to_vec();
            best.sort_unstable();
            best
        };
        let change = narrow.iter().zip(&wide).map(|(a, b)| (a / b).ln().abs()).fold(0.0, f64::max);
        (change, best(&narrow) == best(&wide))
    };
    let context = Context::default();
    let (nocco, same_features) =
        change(&|dependence| Nocco { dependence, ..Nocco::default() }.score(&data, &context).unwrap().values);
    let (hsic, _) = change(&|dependence| Hsic { dependence }.score(&data, &context).unwrap().values);
    assert!(same_features && nocco < hsic, "{nocco} and {hsic}");
}

/// The features closest to each chosen one are found by bounds; here by all products.
#[test]
fn related_features_are_the_closest_of_all() {
    let columns: Vec<Vec<f64>> = (0..90)
        .map(|j| {
            let (a, b) = (wave(130, 1 + j % 11), wave(130, 3 + j / 9));
            a.iter().zip(&b).map(|(a, b)| a + 0.05 * (j % 7) as f64 * b).collect()
        })
        .collect();
    let y = (0..130).map(|i| columns[4][i].powi(2) + columns[40][i]).collect();
    let data = dataset(&columns, Target::real(y).unwrap());
    let with =
        |form| HsicLasso { dependence: Dependence { form, ..Dependence::default() }, ..HsicLasso::default() };
    let (low_rank, exact) = (select(&with(Form::LowRank), &data, 8), select(&with(Form::Exact), &data, 8));
    assert_eq!(low_rank.order, exact.order);
    for (chosen, (found, all)) in exact.order.iter().zip(low_rank.related.iter().zip(&exact.related)) {
        assert_eq!(found.len(), all.len());
        for (found, all) in found.iter().zip(all) {
            assert!((found.relatedness - all.relatedness).abs() < 1e-5, "of {chosen}: {found:?} {all:?}");
        }
    }
}

/// Enough features for a working set, and enough of them chosen for several stages of the path.
#[test]
fn budgets_that_share_their_products_are_answered_as_alone() {
    let columns: Vec<Vec<f64>> = (1..=600).map(|step| wave(70, step * step + 2)).collect();
    let target = |classes: bool| {
        let y: Vec<f64> = (0..70).map(|i| columns[3][i] * columns[8][i] + columns[40][i]).collect();
        let labels: Vec<bool> = y.iter().map(|value| *value > 0.0).collect();
        if classes { Target::from_labels(&labels) } else { Target::real(y).unwrap() }
    };
    let budgets = [5, 10, 20, 35, 1].map(Budget::Count);
    for (classes, form) in [(true, Form::Exact), (true, Form::LowRank), (false, Form::Auto)] {
        let data = dataset(&columns, target(classes));
        let dependence = Dependence { form, ..Dependence::default() };
        let lasso = LassoOptions { related: 3, ..LassoOptions::default() };
        let hsic = HsicLasso { dependence: dependence.clone(), lasso: lasso.clone() };
        let nocco = NoccoLasso { dependence, lasso, ..NoccoLasso::default() };
        for selector in [&hsic as &dyn Selector, &nocco] {
            let many = selector.select_many(&data, &budgets, &Context::default()).unwrap();
            for (budget, found) in budgets.into_iter().zip(many) {
                let alone = selector.select(&data, budget, &Context::default()).unwrap();
                assert_eq!(found, alone, "{form:?} {budget:?}");
            }
        }
    }
}

/// Without a penalty the problem is nonnegative least squares, and solved: the certificate says so.
#[test]
fn without_a_penalty_the_gap_is_that_of_nonnegative_least_squares() {
    let data = nonlinear().with_feature_groups(Groups::partition(vec![0, 0, 1, 1, 2, 2])).unwrap();
    for solver in [
        SolverChoice::Auto,
        SolverChoice::Use(Arc::new(DualAugmentedLagrangian::default())),
        SolverChoice::Use(Arc::new(Lars)),
        SolverChoice::Use(Arc::new(ProximalGradient::default())),
    ] {
        for penalty in [LassoPenalty::L1, LassoPenalty::ElasticNet { ridge: 0.1 }, LassoPenalty::Group] {
            let is_lars = matches!(&solver, SolverChoice::Use(solver) if solver.follows_path());
            if is_lars && penalty == LassoPenalty::Group {
                continue;
            }
            let mut method = at_ratio(None, penalty, Form::Exact);
            method.lasso.solver = solver.clone();
            method.lasso.regularization = Regularization::Value(0.0);
            let found = method.select(&data, Budget::Auto, &Context::default()).unwrap();
            let report = found.solver.unwrap();
            assert_eq!(found.status, fewest_core::Status::Converged, "{penalty:?} {report:?}");
            assert!((-1e-12..=1e-9).contains(&report.certificate.value()), "{penalty:?} {report:?}");
            assert!(found.order.len() >= 3, "{:?}", found.order);
        }
    }
}

/// A kernel divided by the number of samples of a level would be so small that noise is selected first.
#[test]
fn a_category_that_is_the_class_comes_before_numbers_that_are_noise() {
    let n = 60;
    let classes: Vec<usize> = (0..n).map(|i| i * 7 % 3 % 2).collect();
    let mut columns: Vec<Vec<f64>> =
        [1, 17, 23, 29, 7, 31, 13, 43].into_iter().map(|step| wave(n, step)).collect();
    let sex: Vec<f64> =
        classes.iter().enumerate().map(|(i, &class)| (class ^ usize::from(i % 20 == 0)) as f64).collect();
    columns.push(sex);
    let mut kinds = vec![FeatureKind::Numeric; 8];
    kinds.push(FeatureKind::Categorical { levels: vec!["m".to_owned(), "f".to_owned()] });
    let data = dataset(&columns, Target::from_labels(&classes)).with_feature_kinds(kinds).unwrap();
    for selector in [&HsicLasso::default() as &dyn Selector, &NoccoLasso::default()] {
        assert_eq!(select(selector, &data, 3).order[0], 8);
    }
    for scorer in [&Hsic::default() as &dyn Scorer, &Nocco::default()] {
        let scores = scorer.score(&data, &Context::default()).unwrap().values;
        assert!(scores[..8].iter().all(|&score| score < scores[8]), "{scores:?}");
    }
}
