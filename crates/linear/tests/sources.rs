//! Methods of several sources.

use fewest_core::method::KernelWidth;
use fewest_core::{
    Budget, Context, Dataset, DenseColumns, Error, FeatureKind, Selection, Selector, Status, Target, Views,
};
use fewest_data::{Missing, ReadOptions, Table};
use fewest_linear::{GpcovSpca, GpcovVar, Sources, SparseSolver};
use fewest_testkit::golden::{self, Observed};

const N: usize = 30;

fn column(j: usize) -> Vec<f64> {
    (0..N).map(|i| ((i * (5 * j + 3) + j * j) % 31) as f64 / 10.0 + (i % 3) as f64 * (j % 2) as f64).collect()
}

fn named(sets: &[&[usize]]) -> Views {
    let views = sets.iter().enumerate().map(|(v, set)| (format!("v{v}"), set.to_vec())).collect();
    Views::new(sets.iter().map(|set| set.len()).sum(), views).unwrap()
}

fn data(columns: &[Vec<f64>], sets: &[&[usize]]) -> Dataset {
    let x = DenseColumns::from_columns(columns).unwrap();
    Dataset::new(x, Target::None).unwrap().with_views(named(sets)).unwrap()
}

fn six() -> Vec<Vec<f64>> {
    (0..6).map(column).collect()
}

/// Features 1, 4 and 5 have much in common: the largest eigenvalue is far from the others.
fn with_a_block() -> Vec<Vec<f64>> {
    let mut columns = six();
    columns[4] = columns[1].iter().zip(&columns[4]).map(|(a, b)| a + 0.3 * b).collect();
    columns[5] = columns[1].iter().zip(&columns[5]).map(|(a, b)| 0.2 * b - a).collect();
    columns
}

fn variance(view: Option<usize>) -> GpcovVar {
    GpcovVar { sources: Sources { view, ..Sources::default() } }
}

fn sparse(solver: SparseSolver) -> GpcovSpca {
    GpcovSpca { solver, ..GpcovSpca::default() }
}

fn select(selector: &dyn Selector, data: &Dataset, k: usize) -> Selection {
    selector.select(data, Budget::Count(k), &Context::default()).unwrap()
}

/// The score of every feature, 0 of those that are not selected.
fn scores(selection: &Selection) -> Vec<f64> {
    let mut scores = vec![0.0; selection.n_features];
    selection.order.iter().zip(&selection.scores).for_each(|(&j, &score)| scores[j] = score);
    scores
}

fn close(a: &[f64], b: &[f64], tolerance: f64) {
    assert_eq!(a.len(), b.len());
    for (j, (a, b)) in a.iter().zip(b).enumerate() {
        assert!((a - b).abs() < tolerance, "{j}: {a} and {b}");
    }
}

fn standardised(x: &[f64]) -> Vec<f64> {
    let mean = x.iter().sum::<f64>() / N as f64;
    let deviation = (x.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / N as f64).sqrt();
    x.iter().map(|v| if deviation > 1e-12 { (v - mean) / deviation } else { 0.0 }).collect()
}

/// The covariance as printed: Eq. 105 with matrices written out, of all features.
fn covariance(columns: &[Vec<f64>], sets: &[&[usize]]) -> Vec<Vec<f64>> {
    let x: Vec<Vec<f64>> = columns.iter().map(|x| standardised(x)).collect();
    let mut s = vec![vec![0.0; N]; N];
    for set in sets {
        let distance = |a: usize, b: usize| set.iter().map(|&j| (x[j][a] - x[j][b]).powi(2)).sum::<f64>();
        let mut all: Vec<f64> =
            (0..N).flat_map(|a| (0..a).map(move |b| (a, b))).map(|(a, b)| distance(a, b)).collect();
        all.sort_by(f64::total_cmp);
        let t = 0.5 * (all[all.len() / 2] + all[(all.len() - 1) / 2]);
        for (a, row) in s.iter_mut().enumerate() {
            row.iter_mut()
                .enumerate()
                .for_each(|(b, s)| *s += (-distance(a, b) / t).exp() / sets.len() as f64);
        }
    }
    let degree: Vec<f64> = s.iter().map(|row| row.iter().sum()).collect();
    let total: f64 = degree.iter().sum();
    let length = |x: &[f64]| x.iter().zip(&degree).map(|(x, d)| d * x * x).sum::<f64>().sqrt();
    let entry = |p: &[f64], q: &[f64]| {
        let mut sum = 0.0;
        for a in 0..N {
            for b in 0..N {
                sum += p[a] * (s[a][b] - degree[a] * degree[b] / total) * q[b];
            }
        }
        sum / (N as f64 - 1.0) / length(p) / length(q)
    };
    x.iter().map(|p| x.iter().map(|q| entry(p, q)).collect()).collect()
}

/// The corpus, on its data: scores of every feature of the view, optimal values, sets of features.
#[test]
fn the_reference_results_are_met() {
    let folder = golden::committed().parent().unwrap().join("data");
    let table =
        Table::read(folder.join("networks/views_a.csv"), &ReadOptions::with_target("target")).unwrap();
    let whole = table.complete(Missing::Error).unwrap().dataset;
    let range = |from: usize, to: usize| (from..to).collect::<Vec<usize>>();
    let whole = whole.with_views(named(&[&range(0, 20), &range(20, 35), &range(35, 45)])).unwrap();
    let cases = golden::load(&golden::committed(), "gpcov").unwrap();
    assert_eq!(cases.len(), 6);
    for case in cases {
        let number = |name: &str| case.params.get(name).and_then(|value| value.as_f64());
        let view = number("target_view").unwrap() as usize;
        let first = [0, 20, 35][view];
        let order: Vec<usize> = (first..first + case.scores.len()).chain(0..45).collect();
        let mut seen = std::collections::HashSet::new();
        let order: Vec<usize> = order.into_iter().filter(|j| seen.insert(*j)).collect();
        // The features of the view come first, as in the case.
        let data = whole.feature_subset(&order).unwrap();
        let sources = Sources { view: Some(view), ..Sources::default() };
        let selection = match number("rho_over_max_abs_C") {
            None => select(&GpcovVar { sources }, &data, case.scores.len()),
            Some(rho_ratio) => {
                let method =
                    GpcovSpca { sources, solver: SparseSolver::Semidefinite { rho_ratio }, tolerance: 1e-11 };
                let selection = method.select(&data, Budget::Auto, &Context::default()).unwrap();
                assert_eq!(selection.order, case.ranking, "{}", case.name);
                selection
            }
        };
        let comparison = golden::compare(&case, &Observed::from(&selection));
        assert!(comparison.passes() && !comparison.deviations.is_empty(), "{}: {comparison:?}", case.name);
    }
}

#[test]
fn the_variance_is_the_diagonal_as_printed() {
    let sets: [&[usize]; 2] = [&[0, 4, 2], &[1, 3, 5]];
    let (data, c) = (data(&six(), &sets), covariance(&six(), &sets));
    let all = select(&variance(None), &data, 6);
    let expected: Vec<f64> = (0..6).map(|j| c[j][j]).collect();
    close(&scores(&all), &expected, 1e-14);
    assert_eq!(all.views.iter().map(|view| view.weight).collect::<Vec<f64>>(), [0.5, 0.5]);
    // A view has the scores of its features, and no others.
    let part = select(&variance(Some(1)), &data, 6);
    let expected: Vec<f64> = (0..6).map(|j| if j % 2 == 1 { c[j][j] } else { 0.0 }).collect();
    close(&scores(&part), &expected, 1e-14);
    assert!(part.notes.iter().any(|note| note.contains("3 of 6 features")), "{:?}", part.notes);
}

/// Without a penalty the component is the leading eigenvector, found here by powers of the printed matrix; so
/// does the truncated power method that may keep everything.
#[test]
fn without_sparsity_the_component_is_the_leading_eigenvector() {
    let sets: [&[usize]; 2] = [&[0, 1, 2], &[3, 4, 5]];
    let (data, c) = (data(&with_a_block(), &sets), covariance(&with_a_block(), &sets));
    let mut vector = vec![1.0; 6];
    let mut value = 0.0;
    for _ in 0..20_000 {
        let image: Vec<f64> = c.iter().map(|row| row.iter().zip(&vector).map(|(c, v)| c * v).sum()).collect();
        value = image.iter().map(|v| v * v).sum::<f64>().sqrt();
        vector = image.iter().map(|v| v / value).collect();
    }
    let expected: Vec<f64> = vector.iter().map(|v| v.abs()).collect();
    let free = select(&sparse(SparseSolver::Semidefinite { rho_ratio: 0.0 }), &data, 6);
    close(&scores(&free), &expected, 1e-9);
    assert!((free.solver.as_ref().unwrap().objective / value - 1.0).abs() < 1e-7);
    let all = select(&sparse(SparseSolver::Truncated), &data, 6);
    close(&scores(&all), &expected, 1e-6);
    assert!((all.solver.as_ref().unwrap().objective / value - 1.0).abs() < 1e-9);
}

/// The optimal value is at least that of every sparse vector that is tried, and within the gap of the answer.
#[test]
fn the_semidefinite_value_bounds_every_vector() {
    let sets: [&[usize]; 2] = [&[0, 1, 2], &[3, 4, 5]];
    let (data, c) = (data(&six(), &sets), covariance(&six(), &sets));
    let largest = c.iter().flatten().fold(0.0_f64, |most, c| most.max(c.abs()));
    for rho_ratio in [0.1, 0.3, 0.7] {
        let selection = select(&sparse(SparseSolver::Semidefinite { rho_ratio }), &data, 6);
        let report = selection.solver.as_ref().unwrap();
        assert_eq!(report.status, Status::Converged);
        assert!((report.lambda - rho_ratio * largest).abs() < 1e-12 * largest);
        let value = |x: &[f64]| -> f64 {
            let mut sum = 0.0;
            for a in 0..6 {
                for b in 0..6 {
                    sum += c[a][b] * x[a] * x[b] - rho_ratio * largest * (x[a] * x[b]).abs();
                }
            }
            sum / x.iter().map(|x| x * x).sum::<f64>()
        };
        for seed in 0..2000_usize {
            let x: Vec<f64> = (0..6)
                .map(|j| {
                    let number = ((seed * 7919 + j * 104_729 + seed * j * 31) % 1009) as f64 / 504.0 - 1.0;
                    if (seed >> j) & 1 == 1 { number } else { 0.0 }
                })
                .collect();
            if x.iter().any(|x| *x != 0.0) {
                assert!(value(&x) < report.objective + 1e-8 * largest, "{x:?}");
            }
        }
    }
}

/// Of three features no other three have more variance: the leading eigenvalue of all twenty parts of `C`.
#[test]
fn truncated_powers_find_the_best_set_of_a_small_problem() {
    let sets: [&[usize]; 2] = [&[0, 1, 2], &[3, 4, 5]];
    let found = select(&sparse(SparseSolver::Truncated), &data(&with_a_block(), &sets), 3);
    assert_eq!(found.mask(), [false, true, false, false, true, true]);
    assert!(found.notes.iter().any(|note| note.contains("% of the largest eigenvalue")), "{:?}", found.notes);
    let report = found.solver.unwrap();
    assert_eq!((report.name, report.status), ("truncated-power", Status::Converged));
}

/// Two views of the same features are one view; a constant view says nothing of the geometry.
#[test]
fn views_that_agree_are_one() {
    let columns = six();
    let twice: Vec<Vec<f64>> = [columns.clone(), columns.clone()].concat();
    let one = data(&columns, &[&[0, 1, 2, 3, 4, 5]]);
    let two = data(&twice, &[&[0, 1, 2, 3, 4, 5], &[6, 7, 8, 9, 10, 11]]);
    for (single, double) in [
        (select(&variance(None), &one, 6), select(&variance(Some(1)), &two, 6)),
        (select(&GpcovSpca::default(), &one, 6), {
            let sources = Sources { view: Some(1), ..Sources::default() };
            select(&GpcovSpca { sources, ..GpcovSpca::default() }, &two, 6)
        }),
    ] {
        close(&scores(&single), &scores(&double)[6..], 1e-6);
        assert_eq!(double.views.len(), 2);
    }
    // The affinities of a view of constants are 1 for all pairs, and what is alike everywhere is subtracted.
    let padded: Vec<Vec<f64>> = [columns.clone(), vec![vec![2.5; N]; 2]].concat();
    let with_constants = data(&padded, &[&[0, 1, 2, 3, 4, 5], &[6, 7]]);
    let found = select(&variance(None), &with_constants, 8);
    assert_eq!(found.order.len(), 6);
    assert!(found.notes.iter().any(|note| note.contains("2 features are constant")), "{:?}", found.notes);
    let only = select(&variance(Some(1)), &with_constants, 1);
    assert!(only.order.is_empty() && !only.notes.is_empty());
    for solver in [SparseSolver::default(), SparseSolver::Truncated] {
        let sources = Sources { view: Some(1), ..Sources::default() };
        let only = select(&GpcovSpca { sources, ..sparse(solver) }, &with_constants, 1);
        assert!(only.order.is_empty() && !only.notes.is_empty());
    }
}

#[test]
fn samples_views_and_units_may_be_in_any_order() {
    let columns = six();
    let plain = data(&columns, &[&[0, 1, 2], &[3, 4, 5]]);
    let order: Vec<usize> = (0..N).map(|i| (i * 7) % N).collect();
    let moved = plain.subset(&order).unwrap();
    let swapped = data(&columns, &[&[3, 4, 5], &[0, 1, 2]]);
    let units: Vec<Vec<f64>> = columns
        .iter()
        .enumerate()
        .map(|(j, x)| x.iter().map(|x| 1e3 * (j as f64 - 2.5) * x + 7.0).collect())
        .collect();
    let scaled = data(&units, &[&[0, 1, 2], &[3, 4, 5]]);
    let methods: [&dyn Selector; 3] =
        [&variance(None), &sparse(SparseSolver::default()), &sparse(SparseSolver::Truncated)];
    for method in methods {
        let expected = scores(&select(method, &plain, 4));
        for other in [&moved, &swapped, &scaled] {
            close(&expected, &scores(&select(method, other, 4)), 1e-5);
        }
    }
}

/// A category of two levels is a number; with more levels their order has no meaning.
#[test]
fn categories_enter_by_their_levels() {
    let levels: Vec<f64> = (0..N).map(|i| (i % 3) as f64).collect();
    let with = |code: &[f64; 3], n_levels: usize| {
        let mut columns = six();
        columns[2] = levels.iter().map(|&level| code[level as usize]).collect();
        let mut kinds = vec![FeatureKind::Numeric; 6];
        kinds[2] =
            FeatureKind::Categorical { levels: (0..n_levels).map(|level| level.to_string()).collect() };
        // The geometry is that of the other view alone, as it is the same for numbers and for categories.
        let data = data(&columns, &[&[0, 1, 2], &[3, 4, 5]]);
        (data.clone(), data.with_feature_kinds(kinds).unwrap())
    };
    let (as_number, two) = with(&[0.0, 1.0, 1.0], 2);
    let (_, three) = with(&[0.0, 1.0, 2.0], 3);
    let (_, renamed) = with(&[2.0, 0.0, 1.0], 3);
    for method in [&variance(None) as &dyn Selector, &sparse(SparseSolver::default())] {
        close(&scores(&select(method, &as_number, 6)), &scores(&select(method, &two, 6)), 1e-6);
        close(&scores(&select(method, &three, 6)), &scores(&select(method, &renamed, 6)), 1e-6);
    }
}

#[test]
fn many_columns_are_for_the_truncated_power_method() {
    let columns: Vec<Vec<f64>> =
        (0..101).map(|j| column(j % 17).iter().map(|v| v + (j / 17) as f64).collect()).collect();
    let all: Vec<usize> = (0..101).collect();
    let wide = data(&columns, &[&all[..60], &all[60..]]);
    let name = |data: &Dataset| select(&GpcovSpca::default(), data, 4).solver.unwrap().name;
    assert_eq!(name(&wide), "truncated-power");
    assert_eq!(name(&wide.feature_subset(&all[..100]).unwrap()), "admm");
    // It needs a number of features.
    let error = GpcovSpca::default().select(&wide, Budget::Auto, &Context::default()).unwrap_err();
    assert!(matches!(error, Error::InvalidParameter { name: "k", .. }), "{error}");
}

#[test]
fn what_cannot_be_used_is_an_error() {
    let plain = data(&six(), &[&[0, 1, 2], &[3, 4, 5]]);
    let context = Context::default();
    let methods: [&dyn Selector; 3] =
        [&variance(None), &sparse(SparseSolver::default()), &sparse(SparseSolver::Truncated)];
    for method in methods {
        let refused = |data: &Dataset| method.select(data, Budget::Count(2), &context).unwrap_err();
        let x = DenseColumns::from_columns(&six()).unwrap();
        let error = refused(&Dataset::new(x, Target::None).unwrap());
        assert!(
            matches!(error, Error::Unsupported { .. }) && error.to_string().contains("--views"),
            "{error}"
        );
        let weighted = plain.clone().with_sample_weights(vec![1.0; N]).unwrap();
        assert!(matches!(refused(&weighted), Error::Unsupported { .. }));
        let mut columns = six();
        columns[4][7] = f64::NAN;
        let error = refused(&data(&columns, &[&[0, 1, 2], &[3, 4, 5]]));
        assert!(matches!(error, Error::NonFinite { column: 4, row: 7, .. }), "{error}");
        let one = plain.subset(&[3]).unwrap();
        assert!(matches!(refused(&one), Error::TooFew { .. }));
    }
    let none = variance(Some(2)).select(&plain, Budget::Count(1), &context).unwrap_err();
    assert!(none.to_string().contains("`view` is 2") && none.to_string().contains("v0, v1"), "{none}");
    let narrow = GpcovVar { sources: Sources { t: KernelWidth::Value(-1.0), ..Sources::default() } };
    assert!(matches!(
        narrow.select(&plain, Budget::Count(1), &context),
        Err(Error::InvalidParameter { name: "t", .. })
    ));
    assert!(matches!(
        variance(None).select(&plain, Budget::Auto, &context),
        Err(Error::InvalidParameter { name: "k", .. })
    ));
    // Samples that are all alike have no geometry: every feature is constant.
    let alike = data(&vec![vec![1.0; N]; 2], &[&[0], &[1]]);
    assert!(select(&variance(None), &alike, 1).order.is_empty());
}
