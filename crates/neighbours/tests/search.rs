//! The search against a plain one, ties, small data, and that nothing is changed.

use fewest_core::{Context, Error};
use fewest_neighbours::{
    Coordinate, DistanceMetric, Distances, NeighbourGraph, Rule, Weights, median_distance, nearest,
};
use proptest::prelude::*;

const METRICS: [DistanceMetric; 3] =
    [DistanceMetric::Manhattan, DistanceMetric::SquaredEuclidean, DistanceMetric::Cosine];

fn between(metric: DistanceMetric, columns: &[Vec<f64>]) -> Distances {
    let n = columns.first().map_or(0, Vec::len);
    let coordinates = vec![Coordinate::Numeric; columns.len()];
    let fill = |j: usize, out: &mut [f64]| {
        out.copy_from_slice(&columns[j]);
        Ok(())
    };
    Distances::new(metric, n, &coordinates, fill, &Context::default())
        .unwrap_or_else(|error| panic!("{error}"))
}

fn waves(n: usize, d: usize) -> Vec<Vec<f64>> {
    (0..d).map(|j| (0..n).map(|i| ((i * (j + 3) + j * j) as f64 * 0.7).sin()).collect()).collect()
}

fn plain(metric: DistanceMetric, columns: &[Vec<f64>], a: usize, b: usize) -> f64 {
    let pairs = columns.iter().map(|column| (column[a], column[b]));
    match metric {
        DistanceMetric::Manhattan => pairs.map(|(a, b)| (a - b).abs()).sum(),
        DistanceMetric::SquaredEuclidean => pairs.map(|(a, b)| (a - b).powi(2)).sum(),
        DistanceMetric::Cosine => {
            let (mut ab, mut aa, mut bb) = (0.0, 0.0, 0.0);
            for (a, b) in pairs {
                (ab, aa, bb) = (ab + a * b, aa + a * a, bb + b * b);
            }
            if aa == 0.0 || bb == 0.0 { 1.0 } else { 1.0 - ab / (aa * bb).sqrt() }
        }
    }
}

#[test]
fn distances_are_those_of_the_formula_and_the_same_in_both_directions() -> Result<(), Error> {
    for (n, d) in [(1, 1), (7, 3), (8, 1), (9, 5), (70, 40)] {
        // Shifted, so that no sample is a point of zeros without a direction.
        let columns: Vec<Vec<f64>> =
            waves(n, d).iter().map(|column| column.iter().map(|value| value + 2.0).collect()).collect();
        for metric in METRICS {
            let distances = between(metric, &columns);
            let rows = distances.map_rows(0..n, &Context::default(), |_, row| row.to_vec())?;
            for i in 0..n {
                for j in 0..n {
                    assert_eq!(rows[i][j].to_bits(), rows[j][i].to_bits());
                    assert!((rows[i][j] - plain(metric, &columns, i, j)).abs() < 1e-12, "{metric:?} {i} {j}");
                }
                assert_eq!(rows[i][i], 0.0);
            }
        }
    }
    Ok(())
}

#[test]
fn an_offset_costs_no_accuracy() -> Result<(), Error> {
    let columns = waves(40, 6);
    // A power of two: the values themselves lose their last digits only.
    let moved: Vec<Vec<f64>> =
        columns.iter().map(|column| column.iter().map(|value| value + 65536.0).collect()).collect();
    let [here, there] = [&columns, &moved].map(|columns| between(DistanceMetric::SquaredEuclidean, columns));
    let context = Context::default();
    let found = nearest(&there, 3, &context)?;
    let expected = nearest(&here, 3, &context)?;
    for i in 0..40 {
        assert_eq!(found.of(i).indices, expected.of(i).indices);
        for (a, b) in found.of(i).distances.iter().zip(expected.of(i).distances) {
            assert!((a - b).abs() < 1e-9);
        }
    }
    Ok(())
}

#[test]
fn equal_distances_go_to_the_lower_index_and_no_sample_is_its_own_neighbour() -> Result<(), Error> {
    // Twelve samples in three places: every other sample of the place is at distance 0.
    let column: Vec<f64> = (0..12).map(|i| f64::from(i % 3)).collect();
    for k in 1..=12 {
        let distances = between(DistanceMetric::Manhattan, std::slice::from_ref(&column));
        let found = nearest(&distances, k, &Context::default())?;
        for i in 0..12 {
            let mut others: Vec<usize> = (0..12).filter(|j| *j != i).collect();
            others.sort_by(|&a, &b| {
                let distance = |j: usize| (column[i] - column[j]).abs();
                distance(a).total_cmp(&distance(b)).then(a.cmp(&b))
            });
            others.truncate(k);
            assert_eq!(found.of(i).indices, others, "k = {k}, sample {i}");
        }
    }
    Ok(())
}

#[test]
fn pitfall_7_as_many_neighbours_as_samples_or_more_is_no_crash() -> Result<(), Error> {
    for n in [0, 1, 2, 5] {
        for metric in METRICS {
            let distances = between(metric, &waves(n, 2));
            for k in [0, 1, 5, 100] {
                let found = nearest(&distances, k, &Context::default())?;
                assert_eq!(found.n_samples(), n);
                assert!((0..n).all(|i| found.of(i).indices.len() == k.min(n - 1)));
                for rule in [Rule::Either, Rule::Mutual] {
                    let graph = NeighbourGraph::new(&found, rule, Weights::Binary)?;
                    assert_eq!(graph.n_samples(), n);
                }
            }
        }
    }
    Ok(())
}

#[test]
fn pitfall_7_the_cosine_changes_no_data_and_whole_numbers_work() -> Result<(), Error> {
    let columns = vec![vec![3.0, 0.0, 6.0, 0.0], vec![4.0, 2.0, 8.0, 0.0]];
    let before = columns.clone();
    let distances = between(DistanceMetric::Cosine, &columns);
    let found = nearest(&distances, 2, &Context::default())?;
    assert_eq!(columns, before);
    // Sample 2 points where sample 0 does; sample 3 points nowhere.
    assert_eq!(found.of(0).indices, [2, 1]);
    assert!(found.of(0).distances[0] < 1e-15 && (found.of(0).distances[1] - 0.2).abs() < 1e-15);
    assert_eq!(found.of(3).distances, [1.0, 1.0]);
    Ok(())
}

#[test]
fn categories_add_their_weight_where_they_differ() -> Result<(), Error> {
    let columns = [[0.0, 1.0, 1.0], [0.0, 0.0, 3.0], [5.0, 5.0, 7.0]];
    let coordinates = [Coordinate::Category(0.5), Coordinate::Numeric, Coordinate::Category(4.0)];
    let context = Context::default();
    let fill = |j: usize, out: &mut [f64]| {
        out.copy_from_slice(&columns[j]);
        Ok(())
    };
    let distances = Distances::new(DistanceMetric::SquaredEuclidean, 3, &coordinates, fill, &context)?;
    let rows = distances.map_rows(0..3, &context, |_, row| row.to_vec())?;
    assert_eq!(rows, [[0.0, 0.5, 13.5], [0.5, 0.0, 13.0], [13.5, 13.0, 0.0]]);
    assert!(Distances::new(DistanceMetric::Cosine, 3, &coordinates, fill, &context).is_err());
    Ok(())
}

#[test]
fn of_several_unreadable_columns_the_lowest_is_told() {
    let failing =
        |j: usize, _: &mut [f64]| if j >= 3 { Err(Error::parameter("j", j, "readable")) } else { Ok(()) };
    let coordinates = [Coordinate::Category(1.0); 9];
    let distances = Distances::new(DistanceMetric::Manhattan, 4, &coordinates, failing, &Context::default());
    assert_eq!(distances.err(), Some(Error::parameter("j", 3, "readable")));
}

#[test]
fn the_median_is_that_of_all_pairs() -> Result<(), Error> {
    let median = |column: Vec<f64>| {
        let distances = between(DistanceMetric::Manhattan, &[column]);
        median_distance(&distances, &Context::default())
    };
    assert_eq!(median(vec![0.0, 1.0, 4.0])?, 3.0);
    // 1, 3, 4, 6, 9, 10.
    assert_eq!(median(vec![0.0, 1.0, 4.0, 10.0])?, 5.0);
    // Six of ten pairs coincide: the median of 7 four times.
    assert_eq!(median(vec![2.0, 2.0, 2.0, 2.0, 9.0])?, 7.0);
    assert_eq!(median(vec![2.0; 5])?, 0.0);
    assert_eq!(median(vec![2.0])?, 0.0);
    // Of 0, 1, …, 4999 the distance is at most m for a share of about 1 − (1 − m / 5000)² of the pairs.
    let many = median((0..5000).map(f64::from).collect())?;
    assert!((many / 5000.0 - (1.0 - 0.5_f64.sqrt())).abs() < 0.01, "{many}");
    Ok(())
}

#[test]
fn graphs_are_symmetric_and_the_forms_are_those_of_the_matrices() -> Result<(), Error> {
    let (n, columns) = (30, waves(30, 4));
    let distances = between(DistanceMetric::SquaredEuclidean, &columns);
    let neighbours = nearest(&distances, 3, &Context::default())?;
    let has = |i: usize, j: usize| neighbours.of(i).indices.contains(&j);
    let f: Vec<f64> = (0..n).map(|i| (i as f64).cos()).collect();
    for rule in [Rule::Either, Rule::Mutual] {
        let graph = NeighbourGraph::new(&neighbours, rule, Weights::Heat { t: 1.5 })?;
        let mut matrix = vec![0.0; n * n];
        for i in 0..n {
            for (j, weight) in graph.edges(i) {
                let expected = (-plain(DistanceMetric::SquaredEuclidean, &columns, i, j) / 1.5).exp();
                assert!((weight - expected).abs() < 1e-15);
                matrix[i * n + j] = weight;
            }
            for j in 0..n {
                let joined = match rule {
                    Rule::Either => has(i, j) || has(j, i),
                    Rule::Mutual => has(i, j) && has(j, i),
                };
                assert_eq!(matrix[i * n + j] > 0.0, joined);
            }
        }
        let degree: Vec<f64> = matrix.chunks(n).map(|row| row.iter().sum()).collect();
        let (mut roughness, mut squares, mut along, mut total) = (0.0, 0.0, 0.0, 0.0);
        for i in 0..n {
            squares += degree[i] * f[i] * f[i];
            along += degree[i] * f[i];
            total += degree[i];
            roughness += degree[i] * f[i] * f[i];
            roughness -= (0..n).map(|j| f[i] * matrix[i * n + j] * f[j]).sum::<f64>();
        }
        assert!((graph.roughness(&f) - roughness).abs() < 1e-12);
        assert!((graph.spread(&f) - (squares - along * along / total)).abs() < 1e-12);
    }
    for t in [0.0, -1.0, f64::NAN] {
        assert!(NeighbourGraph::new(&neighbours, Rule::Either, Weights::Heat { t }).is_err());
    }
    assert!(NeighbourGraph::new(&neighbours, Rule::Either, Weights::Cosine).is_err());
    Ok(())
}

#[test]
fn light_edges_count_beside_heavy_ones() -> Result<(), Error> {
    // Two samples 0.1 apart and two others whose edge weighs 1e-20 of theirs; f is constant on the heavy
    // edge, so all there is to f is on the light one, where it changes by 1.
    let columns = vec![vec![0.0, 0.1, 100.0, 106.5]];
    let distances = between(DistanceMetric::SquaredEuclidean, &columns);
    let neighbours = nearest(&distances, 1, &Context::default())?;
    let graph = NeighbourGraph::new(&neighbours, Rule::Either, Weights::Heat { t: 1.0 })?;
    let light = (-6.5_f64 * 6.5).exp();
    let f = [0.7, 0.7, -0.3, 0.7];
    assert!((graph.roughness(&f) / light - 1.0).abs() < 1e-9);
    assert!((graph.spread(&f) / light - 1.0).abs() < 1e-9);
    Ok(())
}

#[test]
fn a_stopped_search_says_so() {
    let interrupt = std::sync::atomic::AtomicBool::new(true);
    let context = Context { interrupt: Some(&interrupt), ..Context::default() };
    let distances = between(DistanceMetric::Manhattan, &waves(20, 2));
    assert!(matches!(nearest(&distances, 3, &context), Err(Error::Stopped { .. })));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_nearest_are_those_of_a_full_sort(
        values in proptest::collection::vec(-3_i8..3, 2..160),
        d in 1_usize..4,
        k in 1_usize..90,
    ) {
        // Few different values: most distances tie.
        let n = values.len() / d;
        let columns: Vec<Vec<f64>> =
            (0..d).map(|j| (0..n).map(|i| f64::from(values[j * n + i]) / 3.0).collect()).collect();
        for metric in [DistanceMetric::Manhattan, DistanceMetric::SquaredEuclidean] {
            let distances = between(metric, &columns);
            let found = nearest(&distances, k, &Context::default()).unwrap();
            for i in 0..n {
                let key = |j: usize| (plain(metric, &columns, i, j) * 1e9).round() as i64;
                let mut others: Vec<usize> = (0..n).filter(|j| *j != i).collect();
                others.sort_by_key(|&j| (key(j), j));
                others.truncate(k);
                prop_assert_eq!(found.of(i).indices, &others[..]);
            }
        }
    }
}
