//! Errors that other packages made in these methods: one test each, by the number under which the error is
//! known.

use crate::common::{noise, standardised};
use fewest_core::method::KernelWidth;
use fewest_core::{Budget, Context, Dataset, DenseColumns, Error, Ranked, Scorer, Selector, Target};
use fewest_filters::similarity::{
    EdgeWeights, FisherScore, Gamma, GraphOptions, LaplacianScore, Relieff, Spec, SpecCriterion, TraceRatio,
};

fn data(columns: &[Vec<f64>], labels: &[u32]) -> Result<Dataset, Error> {
    Dataset::new(DenseColumns::from_columns(columns)?, Target::from_labels(labels))
}

#[test]
fn pitfall_1_misses_of_a_rare_class_are_not_blown_up() -> Result<(), Error> {
    // Three classes of 40, 40 and 4 samples: dividing by P(C) / (1 − P(y)) would give scores far above 1.
    let labels: Vec<u32> = (0..84).map(|i| if i < 80 { i % 2 } else { 2 }).collect();
    let mut columns: Vec<Vec<f64>> = (1..5).map(|step| noise(84, step)).collect();
    columns.push(labels.iter().map(|&label| f64::from(label) / 2.0).collect());
    let scores = Relieff::default().score(&data(&columns, &labels)?, &Context::default())?;
    assert!(scores.values.iter().all(|score| score.abs() <= 1.0), "{:?}", scores.values);
    // The last feature tells all classes apart: no hit differs, and a miss of class C differs by |y − C| / 2.
    let difference = |y: u32, c: u32| f64::from(y.abs_diff(c)) / 2.0;
    let counts = [40.0, 40.0, 4.0];
    let expected: f64 = (0..3)
        .flat_map(|y| (0..3).map(move |c| (y, c)))
        .filter(|(y, c)| y != c)
        .map(|(y, c)| {
            let share = counts[c as usize] / (84.0 - counts[y as usize]);
            counts[y as usize] / 84.0 * share * difference(y, c)
        })
        .sum();
    assert!((scores.values[4] - expected).abs() < 1e-14);
    Ok(())
}

#[test]
fn pitfall_2_the_unit_of_a_feature_does_not_matter() -> Result<(), Error> {
    let labels: Vec<u32> = (0..60).map(|i| i % 2).collect();
    let signal = labels.iter().zip(noise(60, 5)).map(|(&label, e)| f64::from(label) + e).collect();
    let columns = vec![signal, noise(60, 2), noise(60, 3)];
    let mut scaled = columns.clone();
    scaled[1].iter_mut().for_each(|value| *value *= 1000.0);
    let before = Relieff::default().score(&data(&columns, &labels)?, &Context::default())?;
    let after = Relieff::default().score(&data(&scaled, &labels)?, &Context::default())?;
    assert_eq!(before.ranking()[0], 0);
    for (a, b) in before.values.iter().zip(&after.values) {
        assert!((a - b).abs() < 1e-12);
    }
    Ok(())
}

#[test]
fn pitfall_3_a_sample_is_never_its_own_hit_and_means_are_over_those_found() -> Result<(), Error> {
    // Two classes of three samples, far fewer than ten neighbours: every hit differs by 1 from half of the
    // others.
    let columns = vec![vec![0.0, 0.0, 0.0, 1.0, 1.0, 1.0], vec![0.0, 0.5, 1.0, 0.0, 0.5, 1.0]];
    let labels = [0, 0, 0, 1, 1, 1];
    let scores = Relieff { neighbours: 10 }.score(&data(&columns, &labels)?, &Context::default())?;
    // Hits of the second feature: mean over the two others of |difference|: ¾, ½, ¾; misses: ½, ⅓, ½.
    let expected = (2.0 * (0.5 - 0.75) + (1.0 / 3.0 - 0.5)) / 3.0;
    assert!((scores.values[0] - 1.0).abs() < 1e-15);
    assert!((scores.values[1] - expected).abs() < 1e-15);
    // A class of one sample has no hit at all.
    let scores = Relieff::default().score(&data(&columns, &[0, 1, 1, 1, 1, 1])?, &Context::default())?;
    assert!(scores.values.iter().all(|score| score.is_finite()));
    Ok(())
}

#[test]
fn pitfall_4_spec_ranks_the_feature_of_the_clusters_first_and_a_constant_last() -> Result<(), Error> {
    let n = 40;
    let cluster = |spread: f64, step: usize| -> Vec<f64> {
        (0..n).zip(noise(n, step)).map(|(i, e)| (i % 2) as f64 * 4.0 + spread * e).collect()
    };
    let columns =
        vec![vec![0.0; n], noise(n, 3), cluster(0.1, 4), cluster(1.0, 5), cluster(1.0, 6), noise(n, 8)];
    let data = Dataset::new(DenseColumns::from_columns(&columns)?, Target::None)?;
    let leading = SpecCriterion::LeadingEigenvectors { m: Some(2) };
    for criterion in [SpecCriterion::Smoothness, SpecCriterion::NormalisedSmoothness, leading] {
        for gamma in [Gamma::Identity, Gamma::Square, Gamma::Cube] {
            let spec = Spec { criterion, gamma, ..Spec::default() };
            let scores = spec.score(&data, &Context::default())?;
            let ranking = scores.ranking();
            assert_eq!(scores.higher_is_better, criterion == leading);
            assert_eq!((ranking[0], ranking[5]), (2, 0), "{criterion:?} {gamma:?}: {:?}", scores.values);
            let worst = if scores.higher_is_better { f64::NEG_INFINITY } else { f64::INFINITY };
            assert_eq!(scores.values[0], worst);
            let all = Ranked::new(spec).select(&data, Budget::Count(6), &Context::default())?;
            assert_eq!(all.order, ranking[..5]);
        }
    }
    Ok(())
}

#[test]
fn pitfall_5_the_trace_ratio_is_the_global_maximum_and_not_the_best_single_ratios() -> Result<(), Error> {
    let n = 30;
    let labels: Vec<u32> = (0..n).map(|i| i % 3).collect();
    let mut differs = 0;
    for seed in 1..30 {
        // Features of very different scale, so that a large ratio of small numbers adds little.
        let columns: Vec<Vec<f64>> = (0..8)
            .map(|j| {
                let scale = [1.0, 0.1, 3.0, 0.02][j % 4];
                let strength = 0.15 * ((j * seed) % 7) as f64;
                let noise = noise(n as usize, 1 + j * 5 + seed);
                noise.iter().zip(&labels).map(|(e, &y)| scale * (e + strength * f64::from(y % 2))).collect()
            })
            .collect();
        let data = data(&columns, &labels)?;
        let scatter = |j: usize| {
            let column = &columns[j];
            let mean = column.iter().sum::<f64>() / f64::from(n);
            let (mut between, mut within) = (0.0, 0.0);
            for class in 0..3 {
                let own: Vec<f64> =
                    column.iter().zip(&labels).filter(|(_, y)| **y == class).map(|(x, _)| *x).collect();
                let own_mean = own.iter().sum::<f64>() / own.len() as f64;
                between += own.len() as f64 * (own_mean - mean).powi(2);
                within += own.iter().map(|x| (x - own_mean).powi(2)).sum::<f64>();
            }
            (between, within)
        };
        let scatters: Vec<(f64, f64)> = (0..8).map(scatter).collect();
        let ratio = |set: &[usize]| {
            let sum = set.iter().fold((0.0, 0.0), |s, &j| (s.0 + scatters[j].0, s.1 + scatters[j].1));
            sum.0 / sum.1
        };
        let best = (0_u32..256)
            .filter(|mask| mask.count_ones() == 3)
            .map(|mask| ratio(&(0..8).filter(|j| mask >> j & 1 == 1).collect::<Vec<_>>()))
            .fold(0.0, f64::max);
        let selection = TraceRatio::default().select(&data, Budget::Count(3), &Context::default())?;
        let report = selection.solver.clone();
        assert!((ratio(&selection.order) - best).abs() <= 1e-12 * best, "seed {seed}");
        assert!(
            report
                .is_some_and(|r| (r.objective - best).abs() <= 1e-12 * best && r.certificate.value() < 1e-12)
        );
        let single = FisherScore.score(&data, &Context::default())?.ranking();
        differs += usize::from(ratio(&single[..3]) < 0.999 * best);
    }
    assert!(differs > 5, "the problems must tell the two apart: {differs}");
    Ok(())
}

#[test]
fn pitfall_6_the_laplacian_score_is_the_papers_without_self_edges() -> Result<(), Error> {
    let (n, t, k) = (25, 3.0, 4);
    let columns: Vec<Vec<f64>> = (1..6).map(|step| noise(n, step)).collect();
    let standardised: Vec<Vec<f64>> = columns.iter().map(|column| standardised(column)).collect();
    let squared = |i: usize, j: usize| standardised.iter().map(|c| (c[i] - c[j]).powi(2)).sum::<f64>();
    let near = |i: usize, j: usize| {
        let closer = (0..n).filter(|&r| r != i && squared(i, r) < squared(i, j)).count();
        i != j && closer < k
    };
    let weight = |i: usize, j: usize| if near(i, j) || near(j, i) { (-squared(i, j) / t).exp() } else { 0.0 };
    let degree: Vec<f64> = (0..n).map(|i| (0..n).map(|j| weight(i, j)).sum()).collect();
    let graph = GraphOptions { neighbours: k, weights: EdgeWeights::Heat { t: KernelWidth::Value(t) } };
    let data = Dataset::new(DenseColumns::from_columns(&columns)?, Target::None)?;
    let scores = LaplacianScore { graph }.score(&data, &Context::default())?;
    for (f, score) in columns.iter().zip(&scores.values) {
        let total: f64 = degree.iter().sum();
        let mean = f.iter().zip(&degree).map(|(f, d)| f * d).sum::<f64>() / total;
        let (mut top, mut bottom) = (0.0, 0.0);
        for i in 0..n {
            bottom += degree[i] * (f[i] - mean).powi(2);
            top += degree[i] * (f[i] - mean).powi(2);
            top -= (0..n).map(|j| (f[i] - mean) * weight(i, j) * (f[j] - mean)).sum::<f64>();
        }
        assert!((score - top / bottom).abs() < 1e-12);
    }
    Ok(())
}

#[test]
fn pitfall_7_graphs_change_no_data_and_need_no_more_samples_than_neighbours() -> Result<(), Error> {
    let columns: Vec<Vec<f64>> = (1..4).map(|step| noise(5, step)).collect();
    let data = Dataset::new(DenseColumns::from_columns(&columns)?, Target::None)?;
    for weights in [EdgeWeights::default(), EdgeWeights::Binary, EdgeWeights::Cosine] {
        let graph = GraphOptions { neighbours: 50, weights };
        let first = LaplacianScore { graph }.score(&data, &Context::default())?;
        assert!(first.values.iter().all(|score| score.is_finite()));
        for (j, column) in columns.iter().enumerate() {
            assert_eq!(&data.x().column(j, &mut Vec::new()).unwrap().to_vec(5), column);
        }
    }
    Ok(())
}
