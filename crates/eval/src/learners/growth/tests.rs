use fewest_core::{DenseColumns, Target, derive_seed};

use super::*;

/// A number below `below` for each sample.
fn drawn(stream: u64, n: usize, below: u64) -> Vec<u64> {
    (0..n).map(|i| derive_seed(stream, i as u64) % below).collect()
}

/// The purity of the best split by definition: every value of every feature is tried.
fn best_purity(training: &Training<'_>, times: &[u32]) -> f64 {
    let side = |inside: &dyn Fn(usize) -> bool| {
        let samples: Vec<u32> = (0..times.len() as u32).filter(|&i| inside(i as usize)).collect();
        let (sums, count) = training.sums(&samples, times);
        (sums.iter().map(|sum| sum * sum).sum::<f64>() / count as f64, count)
    };
    let mut best = 0.0_f64;
    for (values, categorical) in training.columns.iter().zip(&training.categorical) {
        for &value in values {
            let holds = |i: usize| if *categorical { values[i] == value } else { values[i] <= value };
            let ((inside, n_inside), (outside, n_outside)) = (side(&holds), side(&|i| !holds(i)));
            if n_inside.min(n_outside) >= training.min_leaf {
                best = best.max(inside + outside);
            }
        }
    }
    best
}

/// Few and many samples, with ties and categories, each sample drawn some times or not at all.
#[test]
fn the_best_split_is_that_of_the_definition() -> Result<(), Error> {
    for (n, stream) in [(40, 1), (40, 2), (600, 3)] {
        let columns: Vec<Vec<f64>> = [1000, 7, 4]
            .into_iter()
            .enumerate()
            .map(|(j, below)| drawn(10 * stream + j as u64, n, below).iter().map(|v| *v as f64).collect())
            .collect();
        let levels = (0..4).map(|level| level.to_string()).collect();
        let kinds = vec![FeatureKind::Numeric, FeatureKind::Numeric, FeatureKind::Categorical { levels }];
        let classes = Target::from_labels(&drawn(10 * stream + 4, n, 3));
        let data = Dataset::new(DenseColumns::from_columns(&columns)?, classes)?.with_feature_kinds(kinds)?;
        let outputs = (0..2).map(|k| drawn(10 * stream + 5 + k, n, 100));
        let outputs = outputs.map(|values| values.iter().map(|v| *v as f64 - 50.0).collect()).collect();
        let times: Vec<u32> = drawn(10 * stream + 8, n, 4).iter().map(|v| *v as u32).collect();
        for response in [Response::Classes(data.classes("test")?), Response::Real(outputs)] {
            let training = Training::new(&data, response, 5)?;
            let samples: Vec<u32> = (0..n as u32).filter(|i| times[*i as usize] > 0).collect();
            let (all, count) = training.sums(&samples, &times);
            let members = Members { samples: &samples, times: &times, all: &all, count };
            let (mut sorter, context) = (Sorter::default(), Context::default());
            let found = training.best_split(&members, &[0, 1, 2], &mut sorter, &context)?;
            let Some(Candidate { purity, feature, rule }) = found else { panic!("no split") };
            let best = best_purity(&training, &times);
            assert!((purity - best).abs() < 1e-9 * best, "{n} {stream}: {purity}, best is {best}");
            // The rule divides the samples so.
            let inside: Vec<u32> =
                samples.iter().copied().filter(|&i| rule.holds(columns[feature][i as usize])).collect();
            let (sums, n_inside) = training.sums(&inside, &times);
            let squares = |of: &dyn Fn(usize) -> f64| (0..all.len()).map(|c| of(c) * of(c)).sum::<f64>();
            let again = squares(&|c| sums[c]) / n_inside as f64
                + squares(&|c| all[c] - sums[c]) / (count - n_inside) as f64;
            assert!((purity - again).abs() < 1e-9 * best, "{n} {stream}: {purity} by the rule {again}");
        }
    }
    Ok(())
}
