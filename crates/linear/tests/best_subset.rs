//! Best subset selection: by enumeration, by exchanges from the definition, laws, hostile input.

use crate::common::{self, columns, noise, real, regression, standardised, three_classes, weights};
use fewest_core::{
    Budget, Certificate, Context, Dataset, DenseColumns, Error, FeatureKind, Selection, Selector, Status,
    Target,
};
use fewest_linear::{BestSubset, SizeCriterion};
use nalgebra::{DMatrix, DVector};

type Tested = Result<(), Error>;

fn best(data: &Dataset, k: usize) -> Result<Selection, Error> {
    BestSubset::default().select(data, Budget::Count(k), &Context::default())
}

fn local(data: &Dataset, k: usize) -> Result<Selection, Error> {
    let options = BestSubset { most_sets: 0, ..BestSubset::default() };
    options.select(data, Budget::Count(k), &Context::default())
}

/// The objective of a set, from the definition: columns and outputs standardised, least squares by QR.
fn objective(table: &[Vec<f64>], outputs: &[Vec<f64>], set: &[usize]) -> f64 {
    let n = outputs[0].len();
    let x: Vec<f64> = set.iter().flat_map(|&j| standardised(&table[j])).collect();
    let x = DMatrix::from_vec(n, set.len(), x);
    let q = x.qr().q();
    let left = |y: &Vec<f64>| {
        let y = DVector::from_vec(standardised(y));
        let fitted = &q * (q.transpose() * &y);
        0.5 * (y - fitted).norm_squared() / n as f64
    };
    outputs.iter().map(left).sum()
}

fn sets(d: usize, k: usize) -> Vec<Vec<usize>> {
    let mut all = Vec::new();
    for mask in 0_u32..1 << d {
        if mask.count_ones() as usize == k {
            all.push((0..d).filter(|j| mask >> j & 1 == 1).collect());
        }
    }
    all
}

fn reported(selection: &Selection) -> (f64, Certificate, Status) {
    let report = selection.solver.as_ref();
    report.map_or((f64::NAN, Certificate::None, Status::Stalled), |report| {
        (report.objective, report.certificate, report.status)
    })
}

fn dataset(table: &[Vec<f64>], y: &[f64]) -> Result<Dataset, Error> {
    Dataset::new(DenseColumns::from_columns(table)?, Target::real(y.to_vec())?)
}

/// Correlated columns, of which the target needs some that no single one shows.
fn hard(n: usize, d: usize, seed: u64) -> (Vec<Vec<f64>>, Vec<f64>) {
    let shared = noise(n, 1000 * seed + 500);
    let table: Vec<Vec<f64>> = (0..d as u64)
        .map(|j| noise(n, 1000 * seed + j).iter().zip(&shared).map(|(own, all)| own + 1.2 * all).collect())
        .collect();
    let noise = noise(n, 1000 * seed + 600);
    let y = (0..n)
        .map(|i| table[0][i] - table[1][i] + 0.8 * table[2][i] - 0.7 * table[3][i] + 0.6 * noise[i])
        .collect();
    (table, y)
}

/// On small tables the answer is the best of all sets, and says so.
#[test]
fn the_answer_is_the_best_of_all_sets() -> Tested {
    for seed in 0..12 {
        let (table, y) = hard(40, 10, seed);
        let data = dataset(&table, &y)?;
        for k in 1..=10 {
            let enumerated = sets(10, k);
            let least = enumerated
                .iter()
                .map(|set| objective(&table, std::slice::from_ref(&y), set))
                .fold(1.0, f64::min);
            let selection = best(&data, k)?;
            assert_eq!(selection.order.len(), k);
            let mut set = selection.order.clone();
            set.sort_unstable();
            let own = objective(&table, std::slice::from_ref(&y), &set);
            let (told, certificate, status) = reported(&selection);
            assert!((own - least).abs() < 1e-12, "seed {seed}, {k}: {own} {least}");
            assert!((told - own).abs() < 1e-12, "seed {seed}, {k}: {told} {own}");
            assert!(matches!(certificate, Certificate::Gap { relative } if relative.abs() < 1e-12));
            assert_eq!(status, Status::Converged);
        }
    }
    Ok(())
}

/// Without branch and bound the answer is no exchange away from a better one, from the definition.
#[test]
fn no_exchange_of_one_feature_for_another_is_better() -> Tested {
    for seed in 0..6 {
        // More features than samples.
        let (table, y) = hard(30, 60, seed);
        let data = dataset(&table, &y)?;
        for k in [2, 4, 7] {
            let selection = local(&data, k)?;
            let (told, certificate, _) = reported(&selection);
            assert!(
                matches!(certificate, Certificate::Stationarity { relative } if relative.abs() < 1e-10),
                "{certificate:?}"
            );
            let own = objective(&table, std::slice::from_ref(&y), &selection.order);
            assert!((told - own).abs() < 1e-12, "{told} {own}");
            for place in 0..k {
                for other in (0..60).filter(|other| !selection.order.contains(other)) {
                    let mut set = selection.order.clone();
                    set[place] = other;
                    assert!(
                        objective(&table, std::slice::from_ref(&y), &set) > own - 1e-10,
                        "{place} for {other}"
                    );
                }
            }
        }
    }
    Ok(())
}

/// Several outputs count together, and the scores are those of least squares.
#[test]
fn several_outputs_have_the_best_rows() -> Tested {
    let table = columns();
    let (first, second) = (real(), noise(50, 99));
    let second: Vec<f64> = second.iter().zip(&table[5]).map(|(e, x)| e + 2.0 * x).collect();
    let target = Target::outputs([first.clone(), second.clone()].concat(), 50)?;
    let data = Dataset::new(DenseColumns::from_columns(&table)?, target)?;
    for k in 1..=4 {
        let outputs = [first.clone(), second.clone()];
        let least = sets(12, k).iter().map(|set| objective(&table, &outputs, set)).fold(2.0, f64::min);
        let selection = best(&data, k)?;
        let (told, ..) = reported(&selection);
        assert!((told - least).abs() < 1e-12, "{told} {least}");
        assert!(selection.scores.iter().all(|score| *score > 0.0));
    }
    // One output: the coefficients solve the normal equations.
    let data = dataset(&table, &first)?;
    let found = weights(&best(&data, 3)?);
    let y = standardised(&first);
    let x: Vec<Vec<f64>> = table.iter().map(|column| standardised(column)).collect();
    let residual: Vec<f64> =
        (0..50).map(|i| y[i] - (0..12).map(|j| found[j] * x[j][i]).sum::<f64>()).collect();
    for j in (0..12).filter(|&j| found[j] != 0.0) {
        let left: f64 = x[j].iter().zip(&residual).map(|(x, r)| x * r).sum();
        assert!((left / 50.0).abs() < 1e-12, "{left}");
    }
    Ok(())
}

/// The path has a set of every size, each the best of its size where that is known.
#[test]
fn the_path_has_a_set_of_every_size() -> Tested {
    let (table, y) = hard(60, 12, 3);
    let data = dataset(&table, &y)?;
    let selection = best(&data, 6)?;
    let Some(path) = selection.path else { panic!("a path") };
    let sizes: Vec<usize> = path.points.iter().map(|point| point.coefficients.len()).collect();
    assert_eq!(sizes, [1, 2, 3, 4, 5, 6]);
    assert!(path.points.is_sorted_by(|a, b| a.lambda >= b.lambda) && path.points[5].lambda > 0.0);
    for point in &path.points {
        let set: Vec<usize> = point.coefficients.iter().map(|(j, _)| *j).collect();
        let own = objective(&table, std::slice::from_ref(&y), &set);
        let of_size = sets(12, set.len());
        let least =
            of_size.iter().map(|set| objective(&table, std::slice::from_ref(&y), set)).fold(1.0, f64::min);
        assert!((own - least).abs() < 1e-10, "{} features: {own} {least}", set.len());
        assert!(set.iter().all(|j| path.entered.contains(j)));
    }
    Ok(())
}

/// Each criterion by its formula, over the best sets of all sizes.
#[test]
fn a_criterion_decides_how_many_features() -> Tested {
    let (table, y) = hard(80, 9, 5);
    let data = dataset(&table, &y)?;
    let (n, d) = (80.0_f64, 9.0_f64);
    let choices = |s: usize| (0..s).map(|i| ((d - i as f64) / (i + 1) as f64).ln()).sum::<f64>();
    for criterion in SizeCriterion::ALL {
        let value = |s: usize| {
            let least = match s {
                0 => 0.5,
                _ => sets(9, s)
                    .iter()
                    .map(|set| objective(&table, std::slice::from_ref(&y), set))
                    .fold(1.0, f64::min),
            };
            let s_real = s as f64;
            n * (2.0 * least).ln()
                + match criterion {
                    SizeCriterion::Gic => s_real * d.ln() * n.ln().ln(),
                    SizeCriterion::Bic => s_real * n.ln(),
                    SizeCriterion::Ebic => s_real * n.ln() + 2.0 * choices(s),
                }
        };
        let expected = (0..=9).min_by(|&a, &b| value(a).total_cmp(&value(b)));
        let options = BestSubset { criterion: *criterion, ..BestSubset::default() };
        let selection = options.select(&data, Budget::Auto, &Context::default())?;
        assert_eq!(Some(selection.order.len()), expected, "{criterion}");
    }
    let few = BestSubset { max_features: 2, ..BestSubset::default() };
    assert_eq!(few.select(&data, Budget::Auto, &Context::default())?.order.len(), 2);
    // Of noise, nothing.
    let nothing = dataset(&(0..9).map(|j| noise(80, j)).collect::<Vec<_>>(), &noise(80, 777))?;
    let selection = BestSubset { criterion: SizeCriterion::Ebic, ..BestSubset::default() };
    let selection = selection.select(&nothing, Budget::Auto, &Context::default())?;
    assert!(selection.order.is_empty() && selection.notes[0].contains("no feature was selected"));
    Ok(())
}

/// With many more features than samples no criterion goes as far as sets that fit noise exactly.
#[test]
fn noise_is_not_fitted_exactly() -> Tested {
    let mut by_ebic = 0;
    for criterion in SizeCriterion::ALL {
        for seed in 0..3 {
            let table: Vec<Vec<f64>> = (0..200).map(|j| noise(40, 1000 * seed + j)).collect();
            let data = dataset(&table, &noise(40, 1000 * seed + 777))?;
            let options = BestSubset { criterion: *criterion, ..BestSubset::default() };
            let found = options.select(&data, Budget::Auto, &Context::default())?.order.len();
            // 40 / (ln 200 ln ln 40) = 5.8.
            assert!(found <= 5, "{criterion}: {found}");
            by_ebic += if *criterion == SizeCriterion::Ebic { found } else { 0 };
        }
    }
    assert!(by_ebic <= 3, "{by_ebic}");
    // Of few features, more than half of the samples are no choice either.
    let few = dataset(&(0..9).map(|j| noise(10, j)).collect::<Vec<_>>(), &noise(10, 777))?;
    for criterion in SizeCriterion::ALL {
        let options = BestSubset { criterion: *criterion, ..BestSubset::default() };
        let found = options.select(&few, Budget::Auto, &Context::default())?.order.len();
        assert!(found <= 5, "{criterion}: {found}");
    }
    Ok(())
}

/// A single feature has to be worth its penalty, too.
#[test]
fn a_single_feature_of_noise_is_not_always_selected() -> Tested {
    let mut selected = 0;
    for seed in 0..30 {
        let data = dataset(&[noise(80, seed)], &noise(80, 1000 + seed))?;
        selected += BestSubset::default().select(&data, Budget::Auto, &Context::default())?.order.len();
    }
    assert!(selected < 18, "{selected}");
    Ok(())
}

/// Where branch and bound ends early, the bound holds all the same.
#[test]
fn a_bound_that_ended_early_is_a_bound() -> Tested {
    let (table, y) = hard(60, 14, 8);
    let data = dataset(&table, &y)?;
    let least =
        sets(14, 5).iter().map(|set| objective(&table, std::slice::from_ref(&y), set)).fold(1.0, f64::min);
    let mut gaps = Vec::new();
    for most_sets in [1, 5, 20, 100_000] {
        let options = BestSubset { most_sets, ..BestSubset::default() };
        let selection = options.select(&data, Budget::Count(5), &Context::default())?;
        let (told, certificate, status) = reported(&selection);
        let Certificate::Gap { relative } = certificate else { panic!("{certificate:?}") };
        // Relative to the objective at zero, ½.
        let lower = told - 0.5 * relative;
        assert!(lower < least + 1e-12, "{most_sets}: {lower} {least}");
        assert_eq!(status == Status::Converged, relative < 1e-12, "{most_sets}");
        gaps.push(relative);
    }
    assert!(gaps[0] > 1e-6 && gaps[3] < 1e-12 && gaps.is_sorted_by(|a, b| a >= b), "{gaps:?}");
    Ok(())
}

/// A target that three features explain to the last digit, copies of features, and a feature that follows
/// from others.
#[test]
fn features_that_follow_from_others_are_left_out() -> Tested {
    let mut table = columns();
    table[4] = table[0].clone();
    table[6] = (0..50).map(|i| table[1][i] - table[2][i]).collect();
    let y: Vec<f64> = (0..50).map(|i| 2.0 * table[0][i] + table[1][i] - table[3][i]).collect();
    let data = dataset(&table, &y)?;
    let selection = best(&data, 3)?;
    let mut set = selection.order.clone();
    set.sort_unstable();
    assert_eq!(set, [0, 1, 3]);
    assert!(reported(&selection).0 < 1e-14);
    let more = best(&data, 12)?;
    assert_eq!(more.order.len(), 3);
    assert!(more.notes[0].contains("no other decreases the squared error"), "{:?}", more.notes);
    // With noise all that are independent can be had, and no more.
    let noisy: Vec<f64> = y.iter().zip(noise(50, 55)).map(|(y, e)| y + 0.1 * e).collect();
    assert_eq!(best(&dataset(&table, &noisy)?, 12)?.order.len(), 10);
    Ok(())
}

/// Of columns that nearly follow from others objectives are not known well enough for a bound.
#[test]
fn nearly_dependent_columns_have_no_bound() -> Tested {
    let (mut table, y) = hard(60, 8, 4);
    assert!(matches!(reported(&best(&dataset(&table, &y)?, 3)?).1, Certificate::Gap { .. }));
    table[5] = table[4].iter().zip(noise(60, 99)).map(|(x, e)| x + 2e-3 * e).collect();
    let (_, certificate, status) = reported(&best(&dataset(&table, &y)?, 3)?);
    assert!(matches!(certificate, Certificate::Stationarity { relative } if relative.abs() < 1e-9));
    assert_eq!(status, Status::Converged);
    Ok(())
}

#[test]
fn a_category_of_three_levels_is_refused() -> Tested {
    let mut table = columns();
    table[2] = (0..50).map(|i| f64::from(i % 3)).collect();
    let mut kinds = vec![FeatureKind::Numeric; 12];
    kinds[2] = FeatureKind::Categorical { levels: ["a", "b", "c"].map(str::to_owned).to_vec() };
    let data = dataset(&table, &real())?.with_feature_kinds(kinds)?;
    let refused = best(&data, 2);
    assert!(matches!(&refused, Err(Error::Unsupported { method: "best-subset", .. })), "{refused:?}");
    Ok(())
}

#[test]
fn the_answer_does_not_depend_on_threads() -> Tested {
    // Tasks have 4096 columns.
    let (table, y) = hard(40, 8200, 2);
    let data = dataset(&table, &y)?;
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| best(&data, 4))
    };
    let one = on(1)?;
    assert_eq!(one, on(2)?);
    assert_eq!(one, on(7)?);
    Ok(())
}

fn all() -> common::Selectors {
    vec![("best-subset", Box::new(BestSubset::default()))]
}

#[test]
fn it_keeps_the_laws_with_classes_too() -> Tested {
    common::every_method_keeps_the_laws_with_classes_too(&all());
    assert_eq!(best(&three_classes()?, 4)?.order.len(), 4);
    Ok(())
}

#[test]
fn hostile_tables_are_answered_or_refused() -> Tested {
    common::hostile_tables_are_answered_or_refused(&all())?;
    common::a_run_that_is_stopped_at_once_says_so(&all())?;
    for (name, options, budget) in [
        ("max_features", BestSubset { max_features: 0, ..BestSubset::default() }, Budget::Auto),
        ("exchanges", BestSubset { exchanges: 0, ..BestSubset::default() }, Budget::Count(2)),
        ("k", BestSubset::default(), Budget::Threshold(0.1)),
    ] {
        common::refuses_parameter(name, &options, budget);
    }
    assert!(best(&regression()?, 13).is_err());
    Ok(())
}
