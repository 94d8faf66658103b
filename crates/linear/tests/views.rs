//! Methods for features of several views: laws, certificates and hostile input.

use crate::common::{self, noise};
use fewest_core::method::Regularization;
use fewest_core::{
    Budget, Context, Dataset, DenseColumns, Error, Selection, Selector, Status, Target, Views,
};
use fewest_linear::{
    Aumfs, Clusters, GroupL1L21, GroupL1L21Clusters, L21, Lasso, Mvfs, Ndfs, SharedIndicators, ViewLoss,
};
use fewest_neighbours::GraphOptions;
use fewest_testkit::conformance::{check_selector, problem};

type Tested = Result<(), Error>;

const N: usize = 60;

/// Stationarity, smaller than by default: answers are compared.
const TOLERANCE: f64 = 1e-6;

/// Three groups of samples. Features 0, 1 and 4 tell them apart, feature 7 is constant.
fn table() -> Vec<Vec<f64>> {
    let of = |centres: [f64; 3], seed: u64| -> Vec<f64> {
        noise(N, seed).iter().enumerate().map(|(i, e)| 1.5 * centres[i % 3] + e).collect()
    };
    vec![
        of([0.0, 1.0, 2.0], 1),
        of([2.0, 0.0, 1.0], 2),
        noise(N, 3),
        noise(N, 4),
        of([0.0, 2.0, 0.0], 5),
        noise(N, 6),
        noise(N, 7),
        vec![7.0; N],
    ]
}

fn labels() -> Target {
    Target::from_labels(&(0..N).map(|i| i % 3).collect::<Vec<_>>())
}

fn views(sets: &[&[usize]]) -> Result<Views, Error> {
    let n_features = sets.iter().map(|set| set.len()).sum();
    let named = sets.iter().enumerate().map(|(v, set)| (format!("v{v}"), set.to_vec()));
    Views::new(n_features, named.collect())
}

fn data_of(columns: &[Vec<f64>], target: Target, sets: &[&[usize]]) -> Result<Dataset, Error> {
    Dataset::new(DenseColumns::from_columns(columns)?, target)?.with_views(views(sets)?)
}

fn data(target: Target) -> Result<Dataset, Error> {
    data_of(&table(), target, &[&[0, 1, 2, 3], &[4, 5], &[6, 7]])
}

fn clusters() -> Clusters {
    Clusters { clusters: Some(3), ..Clusters::default() }
}

fn shared() -> SharedIndicators {
    SharedIndicators { clusters: clusters(), tolerance: TOLERANCE, ..SharedIndicators::default() }
}

fn group(lambda: f64) -> GroupL1L21 {
    GroupL1L21 { regularization: Regularization::Value(lambda), tolerance: 1e-11, ..GroupL1L21::default() }
}

fn free(tolerance: f64) -> GroupL1L21Clusters {
    GroupL1L21Clusters { clusters: clusters(), tolerance, ..GroupL1L21Clusters::default() }
}

/// With errors by their length.
fn lengths() -> SharedIndicators {
    SharedIndicators { loss: ViewLoss::Lengths, beta: 0.01, ..shared() }
}

/// The methods without a target.
fn unsupervised() -> common::Selectors {
    vec![
        ("aumfs", Box::new(Aumfs { shared: shared() })),
        ("aumfs l21", Box::new(Aumfs { shared: lengths() })),
        ("mvfs", Box::new(Mvfs { shared: shared() })),
        ("mvfs l21", Box::new(Mvfs { shared: lengths() })),
        ("clusters", Box::new(free(TOLERANCE))),
    ]
}

fn select(selector: &dyn Selector, data: &Dataset) -> Result<Selection, Error> {
    selector.select(data, Budget::Auto, &Context::default())
}

/// The score of every feature.
fn scores(selection: &Selection, n_features: usize) -> Vec<f64> {
    let mut scores = vec![0.0; n_features];
    selection.order.iter().zip(&selection.scores).for_each(|(&j, score)| scores[j] = *score);
    scores
}

fn assert_close(a: &[f64], b: &[f64], tolerance: f64, what: &str) {
    assert_eq!(a.len(), b.len(), "{what}");
    let largest = a.iter().chain(b).fold(0.0_f64, |most, value| most.max(value.abs()));
    for (a, b) in a.iter().zip(b) {
        assert!((a - b).abs() <= tolerance * largest, "{what}: {a} for {b}");
    }
}

#[test]
fn without_the_norms_of_views_it_is_least_squares_with_an_l21_norm() -> Tested {
    let data = data(labels())?;
    for lambda in [0.2, 0.05, 0.002] {
        let method = GroupL1L21 { view_ratio: 0.0, ..group(lambda) };
        let l21 = L21 { regularization: Regularization::Value(lambda), tolerance: 1e-11 };
        let (found, known) = (select(&method, &data)?, select(&l21, &data)?);
        assert_close(&scores(&found, 8), &scores(&known, 8), 1e-5, "l21");
        let (found, known) = (found.solver.unwrap(), known.solver.unwrap());
        assert!((found.objective - known.objective).abs() < 1e-10 * known.objective);
    }
    Ok(())
}

/// With one output and a view for each feature both norms are the sum of absolute coefficients.
#[test]
fn with_views_of_one_feature_it_is_the_lasso() -> Tested {
    let target: Vec<f64> = (0..N).map(|i| (i % 3) as f64 + 0.3 * table()[5][i]).collect();
    let alone: Vec<Vec<usize>> = (0..8).map(|j| vec![j]).collect();
    let sets: Vec<&[usize]> = alone.iter().map(Vec::as_slice).collect();
    let data = data_of(&table(), Target::real(target)?, &sets)?;
    let method = GroupL1L21 { view_ratio: 0.7, ..group(0.1) };
    let lasso = Lasso { regularization: Regularization::Value(0.17), tolerance: 1e-11, ..Lasso::default() };
    let known: Vec<f64> = scores(&select(&lasso, &data)?, 8).iter().map(|score| score.abs()).collect();
    assert_close(&scores(&select(&method, &data)?, 8), &known, 1e-5, "lasso");
    Ok(())
}

#[test]
fn the_largest_penalty_is_where_features_begin() -> Tested {
    let data = data(labels())?;
    for view_ratio in [0.0, 0.5, 1.0, 4.0] {
        let at = |ratio: f64| {
            let regularization = Regularization::Ratio(ratio);
            select(&GroupL1L21 { regularization, view_ratio, ..GroupL1L21::default() }, &data)
        };
        assert!(at(1.0)?.order.is_empty(), "{view_ratio}");
        assert!(!at(0.999)?.order.is_empty(), "{view_ratio}");
    }
    Ok(())
}

#[test]
fn a_number_of_features_is_found() -> Tested {
    let data = data(labels())?;
    for k in 1..=5 {
        let selection = GroupL1L21::default().select(&data, Budget::Count(k), &Context::default())?;
        assert_eq!(selection.order.len(), k);
        let report = selection.solver.unwrap();
        assert!(report.certificate.value() <= 1e-9 && selection.status == Status::Converged);
    }
    Ok(())
}

/// The descent ends where it is stationary, below where it started, and says so.
#[test]
fn descents_fall_to_a_stationary_point() -> Tested {
    let data = data(Target::None)?;
    for (name, selector) in unsupervised() {
        let selection = select(&*selector, &data)?;
        assert_eq!(selection.status, Status::Converged, "{name}");
        assert!(selection.solver.unwrap().certificate.value() <= TOLERANCE, "{name}");
        let descent = selection.descent.unwrap();
        assert!(descent.last_objective <= descent.first_objective, "{name}");
        assert!(selection.order.len() == 7 && !selection.order.contains(&7), "{name}");
        let mut best = selection.order[..3].to_vec();
        best.sort_unstable();
        assert_eq!(best, [0, 1, 4], "{name}: {:?}", selection.order);
        assert_eq!(selection.views.len(), 3, "{name}");
    }
    Ok(())
}

/// The weights are `λ_v ∝ trace^(1/(1−r))`: of views with the same features they are equal, and with `r = 1`
/// one view has all.
#[test]
fn weights_are_shared_between_views() -> Tested {
    let table = table();
    let doubled: Vec<Vec<f64>> = [&table[..7], &table[..7]].concat();
    let sets: [Vec<usize>; 2] = [(0..7).collect(), (7..14).collect()];
    let data = data_of(&doubled, Target::None, &[&sets[0], &sets[1]])?;
    for power in [1, 2, 5] {
        let shared = SharedIndicators { power, ..shared() };
        for selector in [&Aumfs { shared } as &dyn Selector, &Mvfs { shared }] {
            let weights: Vec<f64> = select(selector, &data)?.views.iter().map(|view| view.weight).collect();
            let known = if power == 1 { [1.0, 0.0] } else { [0.5, 0.5] };
            assert_close(&weights, &known, 1e-9, "weights");
        }
    }
    Ok(())
}

#[test]
fn one_view_is_the_single_view_method() -> Tested {
    let all: Vec<usize> = (0..8).collect();
    let data = data_of(&table(), Target::None, &[&all])?;
    let (aumfs, mvfs) =
        (select(&Aumfs { shared: shared() }, &data)?, select(&Mvfs { shared: shared() }, &data)?);
    assert_eq!((aumfs.order, aumfs.scores), (mvfs.order, mvfs.scores));
    assert!((aumfs.views[0].weight - 1.0).abs() < 1e-15);
    // NDFS, but for the smoothing of the lengths: of a row of F the mean square is 3/N.
    let smoothing = 1e-9;
    let shared = SharedIndicators { alpha_ratio: 0.01, smoothing, ..shared() };
    let found = select(&Aumfs { shared }, &data)?;
    let report = found.solver.as_ref().unwrap();
    let alpha = report.lambda;
    let ndfs = select(&Ndfs { clusters: clusters(), alpha, ..Ndfs::default() }, &data)?;
    let (own, known) = (report.objective, ndfs.solver.as_ref().unwrap().objective);
    let most = 8.0 * alpha * (smoothing * 3.0 / N as f64).sqrt() + 1e-6 * known;
    assert!((own - known).abs() < most, "{own} for {known}");
    assert_close(&scores(&found, 8), &scores(&ndfs, 8), 1e-3, "scores");
    Ok(())
}

/// The order of features, of views and of samples changes nothing but the order of the answer.
#[test]
fn orders_do_not_matter() -> Tested {
    let table = table();
    let features = [5, 2, 7, 0, 4, 1, 6, 3];
    let rows: Vec<usize> = (0..N).map(|i| (i * 37 + 11) % N).collect();
    let columns: Vec<Vec<f64>> =
        features.iter().map(|&j| rows.iter().map(|&i| table[j][i]).collect()).collect();
    // The places of features 6 and 7, 4 and 5, and 0 to 3.
    let sets: [&[usize]; 3] = [&[6, 2], &[4, 0], &[3, 5, 1, 7]];
    let labels_of: Vec<usize> = rows.iter().map(|&i| i % 3).collect();
    let mut all = unsupervised();
    all.push(("group-l1-l21", Box::new(group(0.03))));
    for (name, selector) in all {
        let targets = [Target::from_labels(&labels_of), labels()];
        let [moved, target] = targets;
        let found = select(&*selector, &data_of(&columns, moved, &sets)?)?;
        let known = select(&*selector, &data(target)?)?;
        let own = scores(&found, 8);
        let back: Vec<f64> =
            (0..8).map(|j| own[features.iter().position(|&place| place == j).unwrap()]).collect();
        assert_close(&back, &scores(&known, 8), 1e-4, name);
        let weights =
            |selection: &Selection| selection.views.iter().map(|view| view.weight).collect::<Vec<_>>();
        let mut reversed = weights(&found);
        reversed.reverse();
        assert_close(&reversed, &weights(&known), 1e-4, name);
    }
    Ok(())
}

/// The convex part is solved to its gap, and no other coefficients are better.
#[test]
fn regressions_on_given_indicators_are_certified() -> Tested {
    let data = data(Target::None)?;
    let size = ((N / 3) as f64).sqrt();
    let f: Vec<Vec<f64>> =
        (0..3).map(|k| (0..N).map(|i| if i % 3 == k { 1.0 / size } else { 0.0 }).collect()).collect();
    for (loss, at_zero) in [(ViewLoss::Lengths, N as f64 / size), (ViewLoss::Squared, 3.0)] {
        let at = |alpha_ratio: f64| {
            let shared = SharedIndicators { loss, alpha_ratio, tolerance: 1e-9, ..shared() };
            let context = Context::default();
            Ok::<_, Error>([
                Aumfs { shared }.regression(&data, &f, &context)?,
                Mvfs { shared }.regression(&data, &f, &context)?,
            ])
        };
        let found = at(0.05)?;
        for found in &found {
            assert!(found.gap <= 1e-9 && found.traces.len() == 3);
            assert_eq!(found.scores[7], 0.0);
        }
        // Three regressions, each no better than all features together.
        let [together, apart] = found.map(|found| found.fit);
        assert!(together < at_zero && apart > 3.0 * together && apart < 3.0 * at_zero);
        // The penalty is a share of the smallest at which no feature predicts them.
        let (none, some) = (at(1.0 + 1e-9)?, at(0.999)?);
        assert!(none.iter().all(|found| found.scores.iter().all(|score| *score == 0.0)));
        assert!(some.iter().all(|found| found.scores.iter().any(|score| *score > 0.0)));
    }
    Ok(())
}

/// No feature predicts that all samples are alike.
#[test]
fn one_cluster_selects_nothing() -> Tested {
    let clusters = Clusters { clusters: Some(1), ..Clusters::default() };
    let shared = SharedIndicators { clusters, ..shared() };
    let all: [&dyn Selector; 3] =
        [&Aumfs { shared }, &Mvfs { shared }, &GroupL1L21Clusters { clusters, ..free(TOLERANCE) }];
    for selector in all {
        let selection = selector.select(&data(Target::None)?, Budget::Count(2), &Context::default())?;
        assert!(selection.order.is_empty() && selection.notes.iter().any(|note| note.contains("predicts")));
    }
    Ok(())
}

#[test]
fn hostile_tables_are_refused_or_survived() -> Tested {
    let mut all = unsupervised();
    all.push(("group-l1-l21", Box::new(GroupL1L21::default())));
    for (name, selector) in &all {
        let select = |data: &Dataset| selector.select(data, Budget::Count(2), &Context::default());
        let without = Dataset::new(DenseColumns::from_columns(&table())?, labels())?;
        assert!(select(&without).unwrap_err().to_string().contains("--views"), "{name}");
        let mut broken = table();
        broken[4][9] = f64::NAN;
        let broken = data_of(&broken, labels(), &[&[0, 1, 2, 3], &[4, 5], &[6, 7]])?;
        let told = select(&broken).unwrap_err().to_string();
        assert!(told.contains('4') && told.contains('9'), "{name}: {told}");
        // A view of one feature, and one of a constant.
        let odd = data_of(&table(), labels(), &[&[0, 1, 2, 3, 5, 6], &[4], &[7]])?;
        let selection = select(&odd)?;
        assert!(selection.order.len() == 2 && selection.views[2].weight == 0.0, "{name}");
        // Nothing varies.
        let constant = data_of(&vec![vec![1.0; N]; 2], labels(), &[&[0], &[1]])?;
        assert!(select(&constant)?.order.is_empty(), "{name}");
    }
    // A sample for each class.
    let few: Vec<Vec<f64>> = table().iter().map(|column| column[..4].to_vec()).collect();
    let one_each = data_of(&few, Target::from_labels(&[0, 1, 2, 3]), &[&[0, 1, 2, 3], &[4, 5], &[6, 7]])?;
    let selection = GroupL1L21::default().select(&one_each, Budget::Count(2), &Context::default())?;
    assert_eq!(selection.order.len(), 2);
    for shared in
        [SharedIndicators { alpha_ratio: 0.0, ..shared() }, SharedIndicators { power: 0, ..shared() }]
    {
        assert!(matches!(select(&Aumfs { shared }, &one_each), Err(Error::InvalidParameter { .. })));
    }
    Ok(())
}

/// The laws of all selectors. Every sample is a neighbour of all others: by the features of one view some are
/// equally near, and which of them are neighbours depends on their order. Smoother lengths take fewer steps.
#[test]
fn they_are_selectors_like_all_others() -> Tested {
    let tolerance = 1e-9;
    let graph = GraphOptions { neighbours: 39, ..GraphOptions::default() };
    let clusters = Clusters { graph, ..clusters() };
    let lengths = SharedIndicators { clusters, smoothing: 0.1, tolerance, ..lengths() };
    let shared = SharedIndicators { clusters, smoothing: 0.1, tolerance, ..shared() };
    let free = free(tolerance);
    let all: [&dyn Selector; 4] =
        [&Aumfs { shared: lengths }, &Mvfs { shared }, &free, &GroupL1L21::default()];
    for selector in all {
        check_selector(selector, &problem(false), 3);
    }
    Ok(())
}
