//! Laws and hostile input of the similarity scores.

use crate::common::{Sparse, noise, standardised};
use fewest_core::method::KernelWidth;
use fewest_core::{
    Budget, Context, Dataset, DenseColumns, Error, FeatureKind, Scorer, Selector, Status, Target,
};
use fewest_filters::similarity::{
    EdgeWeights, FisherScore, GeneralizedFisher, GraphOptions, LaplacianScore, MultiSurf, RRelieff, Relief,
    Relieff, Spec, SpecCriterion, Surf, TraceRatio, TraceRatioStyle,
};

fn labels(n: usize, classes: u32) -> Vec<u32> {
    (0..n as u32).map(|i| (i * i + i / 3) % classes).collect()
}

fn columns(n: usize) -> Vec<Vec<f64>> {
    let mut columns: Vec<Vec<f64>> = (1..6).map(|step| noise(n, step)).collect();
    // Categories of three levels.
    columns.push((0..n).map(|i| ((i * 5 + i / 4) % 3) as f64).collect());
    columns
}

fn kinds() -> Vec<FeatureKind> {
    let levels = ["a", "b", "c"].map(str::to_owned).to_vec();
    let mut kinds = vec![FeatureKind::Numeric; 5];
    kinds.push(FeatureKind::Categorical { levels });
    kinds
}

fn mixed(n: usize, target: Target) -> Result<Dataset, Error> {
    Dataset::new(DenseColumns::from_columns(&columns(n))?, target)?.with_feature_kinds(kinds())
}

/// `diff(j; a, b)` by its definition.
fn diff(columns: &[Vec<f64>], j: usize, a: usize, b: usize) -> f64 {
    let column = &columns[j];
    if j == 5 {
        return f64::from(u8::from(column[a] != column[b]));
    }
    let smallest = column.iter().copied().fold(f64::INFINITY, f64::min);
    let largest = column.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    (column[a] - column[b]).abs() / (largest - smallest)
}

/// The score of ReliefF's formula for the neighbours that `pick(i, class)` gives, differences to this power.
fn by_definition(n: usize, y: &[u32], power: i32, pick: impl Fn(usize, u32) -> Vec<usize>) -> Vec<f64> {
    let columns = columns(n);
    let classes = y.iter().max().map_or(0, |y| y + 1);
    let share = |class: u32| y.iter().filter(|y| **y == class).count() as f64 / n as f64;
    (0..columns.len())
        .map(|j| {
            let of_sample = |i: usize| -> f64 {
                (0..classes)
                    .map(|class| {
                        let near = pick(i, class);
                        let sum: f64 = near.iter().map(|&r| diff(&columns, j, i, r).powi(power)).sum();
                        let mean = if near.is_empty() { 0.0 } else { sum / near.len() as f64 };
                        if class == y[i] { -mean } else { share(class) / (1.0 - share(y[i])) * mean }
                    })
                    .sum()
            };
            (0..n).map(of_sample).sum::<f64>() / n as f64
        })
        .collect()
}

fn distance(n: usize, power: i32) -> impl Fn(usize, usize) -> f64 {
    let columns = columns(n);
    move |a, b| (0..columns.len()).map(|j| diff(&columns, j, a, b).powi(power)).sum()
}

fn nearest(candidates: Vec<usize>, k: usize, distance: impl Fn(usize) -> f64) -> Vec<usize> {
    let mut candidates = candidates;
    candidates.sort_by(|&a, &b| {
        let (da, db) = (distance(a), distance(b));
        if (da - db).abs() <= 1e-12 * da { a.cmp(&b) } else { da.total_cmp(&db) }
    });
    candidates.truncate(k);
    candidates
}

fn close(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    for (a, b) in found.iter().zip(expected) {
        assert!((a - b).abs() < 1e-12, "{found:?}\n{expected:?}");
    }
}

#[test]
fn the_relief_family_is_that_of_the_formulas_also_with_categories() -> Result<(), Error> {
    let n = 50;
    let context = Context::default();
    for classes in [2, 3] {
        let y = labels(n, classes);
        let data = mixed(n, Target::from_labels(&y))?;
        let others =
            |i: usize, class: u32| -> Vec<usize> { (0..n).filter(|&r| r != i && y[r] == class).collect() };
        let manhattan = distance(n, 1);
        for k in [1, 4, 70] {
            let expected =
                by_definition(n, &y, 1, |i, class| nearest(others(i, class), k, |r| manhattan(i, r)));
            close(&Relieff { neighbours: k }.score(&data, &context)?.values, &expected);
        }
        let all = |i: usize| (0..n).filter(move |r| *r != i);
        let pairs = (n * (n - 1)) as f64;
        let mean =
            (0..n).flat_map(|i| all(i).map(move |r| (i, r))).map(|(i, r)| manhattan(i, r)).sum::<f64>()
                / pairs;
        let expected = by_definition(n, &y, 1, |i, class| {
            others(i, class).into_iter().filter(|&r| manhattan(i, r) < mean).collect()
        });
        close(&Surf.score(&data, &context)?.values, &expected);
        let expected = by_definition(n, &y, 1, |i, class| {
            let count = (n - 1) as f64;
            let mean = all(i).map(|r| manhattan(i, r)).sum::<f64>() / count;
            let variance = all(i).map(|r| (manhattan(i, r) - mean).powi(2)).sum::<f64>() / count;
            let threshold = mean - 0.5 * variance.sqrt();
            others(i, class).into_iter().filter(|&r| manhattan(i, r) < threshold).collect()
        });
        close(&MultiSurf.score(&data, &context)?.values, &expected);
        if classes == 2 {
            let euclidean = distance(n, 2);
            let expected =
                by_definition(n, &y, 2, |i, class| nearest(others(i, class), 1, |r| euclidean(i, r)));
            close(&Relief.score(&data, &context)?.values, &expected);
        } else {
            assert!(matches!(Relief.score(&data, &context), Err(Error::Unsupported { .. })));
        }
    }
    Ok(())
}

#[test]
fn rrelieff_is_that_of_the_formulas() -> Result<(), Error> {
    let n = 50;
    let y: Vec<f64> = noise(n, 11).iter().zip(noise(n, 1)).map(|(a, b)| 0.3 * a + b * b).collect();
    let data = mixed(n, Target::real(y.clone())?)?;
    let columns = columns(n);
    let manhattan = distance(n, 1);
    let range = y.iter().copied().fold(f64::MIN, f64::max) - y.iter().copied().fold(f64::MAX, f64::min);
    for (k, sigma) in [(5, None), (10, Some(3.0)), (80, None)] {
        let found = RRelieff { neighbours: k, rank_sigma: sigma }.score(&data, &Context::default())?;
        let (mut dc, mut da, mut both) = (0.0, [0.0; 6], [0.0; 6]);
        for i in 0..n {
            let near = nearest((0..n).filter(|r| *r != i).collect(), k, |r| manhattan(i, r));
            let weight = |rank: usize| match sigma {
                None => 1.0,
                Some(sigma) => (-((rank + 1) as f64 / sigma).powi(2)).exp(),
            };
            let total: f64 = (0..near.len()).map(weight).sum();
            for (rank, &r) in near.iter().enumerate() {
                let d = weight(rank) / total;
                let dy = (y[i] - y[r]).abs() / range;
                dc += dy * d;
                for j in 0..6 {
                    da[j] += diff(&columns, j, i, r) * d;
                    both[j] += dy * diff(&columns, j, i, r) * d;
                }
            }
        }
        let expected: Vec<f64> = (0..6).map(|j| both[j] / dc - (da[j] - both[j]) / (n as f64 - dc)).collect();
        close(&found.values, &expected);
    }
    let constant = mixed(n, Target::real(vec![2.0; n])?)?;
    let scores = RRelieff::default().score(&constant, &Context::default())?;
    assert!(scores.values.iter().all(|score| score.is_finite()));
    Ok(())
}

#[test]
fn two_categories_score_as_their_codes_do() -> Result<(), Error> {
    let n = 60;
    let y = labels(n, 2);
    let mut columns: Vec<Vec<f64>> = (1..5).map(|step| noise(n, step)).collect();
    columns[2].iter_mut().for_each(|value| *value = f64::from(u8::from(*value > 0.6)));
    let numeric = Dataset::new(DenseColumns::from_columns(&columns)?, Target::from_labels(&y))?;
    let mut kinds = vec![FeatureKind::Numeric; 4];
    kinds[2] = FeatureKind::Categorical { levels: vec!["no".to_owned(), "yes".to_owned()] };
    let categorical = numeric.clone().with_feature_kinds(kinds)?;
    let leading = SpecCriterion::LeadingEigenvectors { m: None };
    let scorers: Vec<Box<dyn Scorer>> = vec![
        Box::new(FisherScore),
        Box::new(LaplacianScore::default()),
        Box::new(Spec::default()),
        Box::new(Spec { criterion: SpecCriterion::NormalisedSmoothness, ..Spec::default() }),
        Box::new(Spec { criterion: leading, ..Spec::default() }),
        Box::new(Relieff::default()),
        Box::new(MultiSurf),
    ];
    for scorer in scorers {
        let [a, b] = [&numeric, &categorical].map(|data| scorer.score(data, &Context::default()));
        for (a, b) in a?.values.iter().zip(b?.values) {
            assert!((a - b).abs() < 1e-9 * a.abs().max(1.0), "{a} {b}");
        }
    }
    let generalised = GeneralizedFisher::default();
    let [a, b] =
        [&numeric, &categorical].map(|data| generalised.select(data, Budget::Count(2), &Context::default()));
    assert_eq!(a?.order, b?.order);
    Ok(())
}

#[test]
fn the_fisher_score_of_a_sparse_column_and_of_separated_classes() -> Result<(), Error> {
    let dense = vec![
        vec![0.0, 0.0, 3.0, 0.0, 1.0, 0.0, 2.0, 0.0],
        vec![1e9, 1e9, 1e9, 1e9, 1e9 + 1.0, 1e9 + 1.0, 1e9 + 1.0, 1e9 + 1.0],
        vec![1e9 + 0.1; 8],
    ];
    let y = Target::from_labels(&[0, 0, 0, 0, 1, 1, 1, 1]);
    let table = DenseColumns::from_columns(&dense)?;
    let scores = FisherScore.score(&Dataset::new(table, y.clone())?, &Context::default())?;
    // Both class means are ¾ of the values: between 0; perfectly separated: infinite; constant: 0.
    assert_eq!(scores.values[1..], [f64::INFINITY, 0.0]);
    assert!(scores.values[0].abs() < 1e-15);
    let sparse = FisherScore.score(&Dataset::new(Sparse::without_zeros(&dense), y)?, &Context::default())?;
    assert_eq!(sparse.values[1..], scores.values[1..]);
    assert!((sparse.values[0] - scores.values[0]).abs() < 1e-15);
    Ok(())
}

#[test]
fn the_generalised_fisher_score_certifies_its_optimum_and_skips_repetitions() -> Result<(), Error> {
    let n = 80;
    let y = labels(n, 3);
    let mut columns: Vec<Vec<f64>> = (1..9).map(|step| noise(n, step)).collect();
    for (i, &label) in y.iter().enumerate() {
        columns[0][i] += f64::from(u8::from(label == 0));
        columns[4][i] += 0.7 * f64::from(u8::from(label == 1));
        columns[2][i] = columns[0][i] + 0.01 * columns[2][i];
    }
    let data = Dataset::new(DenseColumns::from_columns(&columns)?, Target::from_labels(&y))?;
    // By Fisher score the repetition is second.
    let fisher = FisherScore.score(&data, &Context::default())?.ranking();
    assert!(fisher[..2].contains(&0) && fisher[..2].contains(&2));
    let selection = GeneralizedFisher::default().select(&data, Budget::Count(2), &Context::default())?;
    assert_eq!(selection.status, Status::Converged);
    assert!(selection.order.contains(&4), "{:?}", selection.order);
    let report = selection.solver.ok_or_else(|| Error::parameter("solver", "none", "a report"))?;
    assert!((-1e-12..=1e-6).contains(&report.certificate.value()) && report.lambda == 8.0, "{report:?}");
    // The relaxed optimum is below the objective of every set of two features, computed from the regression
    // itself.
    let standardised: Vec<Vec<f64>> = columns.iter().map(|column| standardised(column)).collect();
    let counts: Vec<f64> = (0..3).map(|c| y.iter().filter(|y| **y == c).count() as f64).collect();
    let n_real = n as f64;
    let label = |i: usize, c: usize| {
        let indicator = if y[i] as usize == c { (n_real / counts[c]).sqrt() } else { 0.0 };
        indicator - (counts[c] / n_real).sqrt()
    };
    let dot = |a: &[f64], b: &dyn Fn(usize) -> f64| (0..n).map(|i| a[i] * b(i)).sum::<f64>();
    let objective = |a: usize, b: usize| {
        // ½ (‖H‖² − Σ_c hᵀX (XᵀX + γI)⁻¹ Xᵀh) for two columns.
        let diagonal = n_real + 8.0;
        let off = dot(&standardised[a], &|i| standardised[b][i]);
        let determinant = diagonal * diagonal - off * off;
        (0..3)
            .map(|c| {
                let (u, v) =
                    (dot(&standardised[a], &|i| label(i, c)), dot(&standardised[b], &|i| label(i, c)));
                let norm: f64 = (0..n).map(|i| label(i, c).powi(2)).sum();
                0.5 * (norm - (diagonal * (u * u + v * v) - 2.0 * off * u * v) / determinant)
            })
            .sum::<f64>()
    };
    let mut best = f64::INFINITY;
    for a in 0..8 {
        for b in 0..a {
            best = best.min(objective(a, b));
        }
    }
    assert!(report.objective <= best * (1.0 + 1e-9), "{} {best}", report.objective);
    // Here the best set is found, and the bound is not far.
    let chosen = objective(selection.order[0], selection.order[1]);
    assert!((chosen - best).abs() < 1e-9 * best && report.objective > 0.9 * best);
    Ok(())
}

#[test]
fn wrong_targets_and_parameters_are_errors_that_name_them() -> Result<(), Error> {
    let n = 12;
    let context = Context::default();
    let real = mixed(n, Target::real(noise(n, 3))?)?;
    let one_class = mixed(n, Target::from_labels(&vec![1; n]))?;
    let classes = mixed(n, Target::from_labels(&labels(n, 2)))?;
    let relief: [&dyn Scorer; 4] = [&Relief, &Relieff::default(), &Surf, &MultiSurf];
    for scorer in relief {
        assert!(matches!(scorer.score(&real, &context), Err(Error::UnsupportedTarget { .. })));
        assert!(matches!(
            scorer.score(&one_class, &context),
            Err(Error::TooFew { minimum: 2, found: 1, .. })
        ));
    }
    assert!(matches!(FisherScore.score(&real, &context), Err(Error::UnsupportedTarget { .. })));
    assert!(matches!(RRelieff::default().score(&classes, &context), Err(Error::UnsupportedTarget { .. })));
    let name = |result: Result<fewest_core::Scores, Error>| match result {
        Err(Error::InvalidParameter { name, .. }) => name,
        other => panic!("{other:?}"),
    };
    assert_eq!(name(Relieff { neighbours: 0 }.score(&classes, &context)), "neighbours");
    assert_eq!(name(RRelieff { neighbours: 0, ..RRelieff::default() }.score(&real, &context)), "neighbours");
    assert_eq!(
        name(RRelieff { rank_sigma: Some(f64::NAN), ..RRelieff::default() }.score(&real, &context)),
        "rank_sigma"
    );
    for t in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let graph = GraphOptions {
            weights: EdgeWeights::Heat { t: KernelWidth::Value(t) },
            ..GraphOptions::default()
        };
        assert_eq!(name(LaplacianScore { graph }.score(&real, &context)), "t");
        let spec = Spec { sigma: KernelWidth::Value(t), ..Spec::default() };
        assert_eq!(name(spec.score(&real, &context)), "sigma");
    }
    for m in [0, n + 1] {
        let criterion = SpecCriterion::LeadingEigenvectors { m: Some(m) };
        assert_eq!(name(Spec { criterion, ..Spec::default() }.score(&real, &context)), "m");
    }
    let graph = GraphOptions {
        weights: EdgeWeights::Heat { t: KernelWidth::Value(1e-9) },
        ..GraphOptions::default()
    };
    let vanishing = LaplacianScore { graph }.score(&real, &context);
    assert!(matches!(vanishing, Err(Error::Numerical { .. })), "{vanishing:?}");
    for budget in [Budget::Auto, Budget::Threshold(0.5)] {
        let selectors: [&dyn Selector; 2] = [&TraceRatio::default(), &GeneralizedFisher::default()];
        for selector in selectors {
            let found = selector.select(&classes, budget, &context);
            assert!(matches!(found, Err(Error::Unsupported { .. })), "{found:?}");
        }
    }
    Ok(())
}

#[test]
fn degenerate_tables_give_answers_and_not_panics() -> Result<(), Error> {
    let context = Context::default();
    let laplacian = TraceRatio { style: TraceRatioStyle::Laplacian(GraphOptions::default()) };
    let leading = |m| Spec { criterion: SpecCriterion::LeadingEigenvectors { m }, ..Spec::default() };
    let all_equal = vec![vec![2.0; 6]; 3];
    let repeated = vec![vec![0.0, 0.0, 0.0, 0.0, 0.0, 1.0], vec![0.0, 0.0, 0.0, 0.0, 0.0, 1.0]];
    let huge = vec![vec![-1e308, 1e308, 0.0, 5.0, 1e307, -1e307], vec![1e-308, 0.0, 2e-308, 0.0, 0.0, 0.0]];
    let tiny_set = vec![vec![0.0, 1.0], vec![1.0, 1.0]];
    for columns in [all_equal, repeated, huge, tiny_set] {
        let n = columns[0].len();
        let y: Vec<u32> = (0..n as u32).map(|i| i % 2).collect();
        let data = Dataset::new(DenseColumns::from_columns(&columns)?, Target::from_labels(&y))?;
        let varying = columns.len() - data.constant_features()?.len();
        let (spec, all_eigenvectors) = (leading(None), leading(Some(n)));
        let scorers: [&dyn Scorer; 8] = [
            &FisherScore,
            &LaplacianScore::default(),
            &Spec::default(),
            &spec,
            &all_eigenvectors,
            &Relief,
            &Relieff::default(),
            &MultiSurf,
        ];
        for scorer in scorers {
            let scores = match scorer.score(&data, &context) {
                Ok(scores) => scores,
                // Samples that all coincide, or squares beyond the largest number, leave a graph without
                // weight.
                Err(Error::Numerical { .. }) => continue,
                Err(error) => panic!("{error}"),
            };
            assert_eq!(scores.values.len(), columns.len());
            assert!(scores.values.iter().all(|score| !score.is_nan()), "{columns:?}: {:?}", scores.values);
        }
        let selectors: [&dyn Selector; 3] =
            [&TraceRatio::default(), &laplacian, &GeneralizedFisher::default()];
        for selector in selectors {
            let selection = match selector.select(&data, Budget::Count(columns.len()), &context) {
                Ok(selection) => selection,
                Err(Error::Numerical { .. }) => continue,
                Err(error) => panic!("{error}"),
            };
            assert!(selection.order.len() <= varying && selection.scores.iter().all(|s| !s.is_nan()));
        }
    }
    Ok(())
}

/// `γ` that vanishes against rounding has no regression.
#[test]
fn a_ridge_that_is_too_small_is_an_error() -> Result<(), Error> {
    let columns: Vec<Vec<f64>> =
        (1..4).map(|step| (0..12).map(|i| f64::from(i * step % 7)).collect()).collect();
    let twin = columns[0].clone();
    let x = DenseColumns::from_columns(&[columns, vec![twin]].concat())?;
    let data = Dataset::new(x, Target::from_labels(&(0..12).map(|i| i % 3).collect::<Vec<i32>>()))?;
    let select = |ridge: f64| {
        let method = GeneralizedFisher { ridge, ..GeneralizedFisher::default() };
        method.select(&data, Budget::Count(2), &Context::default())
    };
    match select(5e-324) {
        Err(Error::Numerical { hint, .. }) => assert!(hint.contains("ridge")),
        other => panic!("{other:?}"),
    }
    assert!(select(1e-6)?.scores.iter().all(|score| score.is_finite()));
    Ok(())
}

#[test]
fn a_trace_ratio_needs_two_classes() -> Result<(), Error> {
    let x = DenseColumns::from_columns(&[vec![1.0, 2.0, 4.0], vec![1.0, 0.0, 1.0]])?;
    let data = Dataset::new(x, Target::from_labels(&["a", "a", "a"]))?;
    let found = TraceRatio::default().select(&data, Budget::Count(1), &Context::default());
    assert!(matches!(found, Err(Error::TooFew { found: 1, .. })), "{found:?}");
    Ok(())
}

#[test]
fn stopping_is_an_error_without_an_answer() -> Result<(), Error> {
    let interrupt = std::sync::atomic::AtomicBool::new(true);
    let context = Context { interrupt: Some(&interrupt), ..Context::default() };
    let data = mixed(20, Target::from_labels(&labels(20, 2)))?;
    let scorers: [&dyn Scorer; 5] =
        [&FisherScore, &LaplacianScore::default(), &Spec::default(), &Relieff::default(), &MultiSurf];
    for scorer in scorers {
        assert!(matches!(scorer.score(&data, &context), Err(Error::Stopped { .. })));
    }
    let stopped = GeneralizedFisher::default().select(&data, Budget::Count(2), &context);
    assert!(matches!(stopped, Err(Error::Stopped { .. })));
    Ok(())
}

#[test]
fn the_answer_does_not_depend_on_the_number_of_threads() -> Result<(), Error> {
    let data = mixed(300, Target::from_labels(&labels(300, 3)))?;
    let run = |threads: usize| -> Result<Vec<u64>, Error> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let pool = pool.map_err(|error| Error::parameter("threads", threads, error.to_string()))?;
        pool.install(|| {
            let scorers: [&dyn Scorer; 5] = [
                &Relieff::default(),
                &MultiSurf,
                &LaplacianScore::default(),
                &Spec::default(),
                &Spec { criterion: SpecCriterion::LeadingEigenvectors { m: None }, ..Spec::default() },
            ];
            let mut bits = Vec::new();
            for scorer in scorers {
                bits.extend(scorer.score(&data, &Context::default())?.values.iter().map(|v| v.to_bits()));
            }
            Ok(bits)
        })
    };
    assert_eq!(run(1)?, run(3)?);
    Ok(())
}
