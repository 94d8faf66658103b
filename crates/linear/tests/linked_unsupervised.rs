//! Methods without a target whose samples are linked: objectives and certificates from their definitions,
//! laws, and hostile links.

use crate::common::{noise, standardised, weights};
use fewest_core::{
    Budget, Context, Dataset, DenseColumns, Error, Graph, Selection, Selector, Status, Target,
};
use fewest_linear::{FsNet, LinkedFs, Lufs, NetFs};
use fewest_testkit::conformance::check_linked;
use nalgebra::DMatrix;

type Tested = Result<(), Error>;

const N: usize = 48;

/// Three communities: features 0 and 1 tell them apart, the others are noise, feature 5 is constant.
fn table() -> Vec<Vec<f64>> {
    let of = |centres: [f64; 3], seed: u64| -> Vec<f64> {
        noise(N, seed).iter().enumerate().map(|(i, e)| 1.5 * centres[i % 3] + e).collect()
    };
    let mut table = vec![of([0.0, 1.0, 2.0], 1), of([2.0, 0.0, 1.0], 2)];
    table.extend((3..6).map(|seed| noise(N, seed)));
    table.push(vec![7.0; N]);
    table
}

/// Links within communities, few between them, and two samples without any.
fn links() -> Vec<(usize, usize, f64)> {
    let pairs = (0..N - 2).flat_map(|i| (0..i).map(move |j| (j, i)));
    pairs
        .filter(|&(j, i)| if i % 3 == j % 3 { (i * j + i) % 5 < 3 } else { (i * j + j) % 17 == 0 })
        .map(|(j, i)| (j, i, 1.0 + ((i + j) % 2) as f64))
        .collect()
}

fn data_of(columns: &[Vec<f64>], links: &[(usize, usize, f64)]) -> Result<Dataset, Error> {
    let n = columns.first().map_or(0, Vec::len);
    Dataset::new(DenseColumns::from_columns(columns)?, Target::None)?
        .with_sample_graph(Graph::undirected(n, links)?)
}

fn netfs() -> NetFs {
    NetFs { clusters: Some(3), tolerance: 1e-8, ..NetFs::default() }
}

fn lufs() -> Lufs {
    Lufs { clusters: Some(2), tolerance: 1e-8, ..Lufs::default() }
}

fn all(selector: &dyn Selector, data: &Dataset) -> Result<Selection, Error> {
    selector.select(data, Budget::Count(data.n_features()), &Context::default())
}

#[test]
fn linked_methods_keep_the_laws() {
    let tolerance = 1e-11;
    check_linked(&NetFs { clusters: Some(4), tolerance, alpha_ratio: 0.01, ..NetFs::default() }, true, 3);
    check_linked(&Lufs { clusters: Some(3), tolerance, ..Lufs::default() }, true, 3);
    check_linked(&FsNet::default(), true, 3);
    check_linked(&LinkedFs { following: 0.5, cofollowed: 0.5, ..LinkedFs::default() }, true, 3);
}

/// The features of the communities come first, and the number of communities is found.
#[test]
fn features_of_communities_are_found() -> Tested {
    let data = data_of(&table(), &links())?;
    let automatic: [&dyn Selector; 2] = [&NetFs::default(), &Lufs::default()];
    for selector in [&netfs() as &dyn Selector, &lufs()].into_iter().chain(automatic) {
        let found = all(selector, &data)?;
        let mut first: Vec<usize> = found.order.iter().copied().take(2).collect();
        first.sort_unstable();
        assert_eq!(first, [0, 1], "{found:?}");
        assert!(!found.order.contains(&5));
        assert_eq!(found.status, Status::Converged);
    }
    let found = all(&NetFs::default(), &data)?;
    assert!(found.notes.iter().any(|note| note.contains("it is 3,")), "{:?}", found.notes);
    let found = all(&Lufs::default(), &data)?;
    assert!(found.notes.iter().any(|note| note.contains("it is 2,")), "{:?}", found.notes);
    Ok(())
}

/// What `lufs` reports, from the definition: eigenvectors and affinity by other means, and no smaller
/// objective in any direction that the constraint allows.
#[test]
fn lufs_is_stationary_and_its_objective_that_of_the_definition() -> Tested {
    let columns = table();
    let data = data_of(&columns, &links())?;
    let method = Lufs { alpha: Some(2.0), ridge: 0.5, beta_ratio: 0.2, ..lufs() };
    let found = all(&method, &data)?;
    let Some(report) = &found.solver else { panic!("no report") };
    assert!(report.certificate.value() <= 1e-8);
    let Some(descent) = &found.descent else { panic!("no descent") };
    assert!(descent.last_objective <= descent.first_objective);
    assert!(descent.lower_bound.is_some_and(|bound| bound > 0.0 && bound < descent.last_objective));

    let x: Vec<Vec<f64>> = columns[..5].iter().map(|column| standardised(column)).collect();
    let p = x.len();
    let x = DMatrix::from_fn(N, p, |i, j| x[j][i]);
    let square = |i: usize, j: usize| (x.row(i) - x.row(j)).norm_squared();
    let mut squares: Vec<f64> =
        (0..N).flat_map(|i| (0..i).map(move |j| (i, j))).map(|(i, j)| square(i, j)).collect();
    squares.sort_by(f64::total_cmp);
    let half = squares.len() / 2;
    let t = (squares[half] + squares[half - 1]) / 2.0;
    let s = DMatrix::from_fn(N, N, |i, j| if i == j { 0.0 } else { (-square(i, j) / t).exp() });
    let laplacian = DMatrix::from_diagonal(&s.column_sum()) - &s;
    let mut a = DMatrix::zeros(N, N);
    for (i, j, weight) in links() {
        (a[(i, j)], a[(j, i)]) = (weight, weight);
    }
    let degrees = a.column_sum();
    let modularity = &a - &degrees * degrees.transpose() / degrees.sum();
    let eigen = modularity.symmetric_eigen();
    let mut order: Vec<usize> = (0..N).collect();
    order.sort_by(|&i, &j| eigen.eigenvalues[j].total_cmp(&eigen.eigenvalues[i]));
    let f = eigen.eigenvectors.select_columns(&order[..2]);
    let k = laplacian + (DMatrix::identity(N, N) - &f * f.transpose()) * 2.0;
    let m = x.tr_mul(&(k * &x));
    let b = x.tr_mul(&x) + DMatrix::identity(p, p) * 0.5;
    let beta = 0.2 * m.trace() / b.trace();
    let epsilon = 1e-6 / (N as f64 + 0.5);
    assert!((report.lambda / beta - 1.0).abs() < 1e-9, "{beta} {report:?}");

    // The reported answer by its row lengths alone: an independent descent from the lowest eigenvectors.
    let Some(factor) = b.clone().cholesky() else { panic!("positive definite") };
    let factor = factor.l();
    let lowest = |matrix: &DMatrix<f64>| {
        let half = factor.solve_lower_triangular(matrix).map(|half| half.transpose());
        let Some(both) = half.and_then(|half| factor.solve_lower_triangular(&half)) else {
            panic!("regular")
        };
        let eigen = both.symmetric_eigen();
        let mut order: Vec<usize> = (0..p).collect();
        order.sort_by(|&i, &j| eigen.eigenvalues[i].total_cmp(&eigen.eigenvalues[j]));
        let vectors = eigen.eigenvectors.select_columns(&order[..2]);
        let Some(w) = factor.transpose().solve_upper_triangular(&vectors) else { panic!("regular") };
        w
    };
    let objective = |w: &DMatrix<f64>| {
        let rows: f64 = w.row_iter().map(|row| (row.norm_squared() + epsilon).sqrt()).sum();
        (w.transpose() * &m * w).trace() + beta * rows
    };
    let mut w = lowest(&m);
    assert!((objective(&w) / descent.first_objective - 1.0).abs() < 1e-8);
    for _ in 0..5000 {
        let mut reweighted = m.clone();
        for j in 0..p {
            reweighted[(j, j)] += beta / (2.0 * (w.row(j).norm_squared() + epsilon).sqrt());
        }
        let next = lowest(&reweighted);
        assert!(objective(&next) <= objective(&w) * (1.0 + 1e-12));
        w = next;
    }
    assert!((objective(&w) / report.objective - 1.0).abs() < 1e-8, "{} {}", objective(&w), report.objective);
    let scores = weights(&found);
    for j in 0..p {
        assert!((w.row(j).norm() - scores[j]).abs() < 1e-5 * scores[0].max(scores[1]), "{scores:?}");
    }
    Ok(())
}

/// What `netfs` reports from given factors, from the definition, against descents of the test's own.
#[test]
fn netfs_is_stationary_and_its_objective_that_of_the_definition() -> Tested {
    let columns = table();
    let data = data_of(&columns, &links())?;
    let u: Vec<Vec<f64>> =
        (0..3).map(|k| (0..N).map(|i| if i % 3 == k { 0.7 } else { 0.1 }).collect()).collect();
    let method = NetFs { alpha_ratio: 0.2, beta: 0.7, ..netfs() };
    let found = method.select_from(&data, &u, Budget::Auto, &Context::default())?;
    let Some(report) = &found.solver else { panic!("no report") };
    assert!(report.certificate.value() <= 1e-8);

    let x: Vec<Vec<f64>> = columns[..5].iter().map(|column| standardised(column)).collect();
    let p = x.len();
    let x = DMatrix::from_fn(N, p, |i, j| x[j][i]);
    let mut a = DMatrix::zeros(N, N);
    for (i, j, weight) in links() {
        (a[(i, j)], a[(j, i)]) = (weight, weight);
    }
    let mut u = DMatrix::from_fn(N, 3, |i, k| u[k][i]);
    let start = x.tr_mul(&u);
    let alpha = 0.2 * 2.0 * start.row_iter().map(|row| row.norm()).fold(0.0, f64::max);
    assert!((report.lambda / alpha - 1.0).abs() < 1e-12);
    let mut w = DMatrix::zeros(p, 3);
    let objective = |u: &DMatrix<f64>, w: &DMatrix<f64>| {
        let rows: f64 = w.row_iter().map(|row| row.norm()).sum();
        (&x * w - u).norm_squared() + alpha * rows + 0.35 * (&a - u * u.transpose()).norm_squared()
    };
    // Proximal and projected gradients in turns, with steps short enough for any curvature met here.
    let curvature = 2.0 * x.tr_mul(&x).symmetric_eigenvalues().max();
    for round in 0..20_000 {
        let gradient = x.tr_mul(&(&x * &w - &u)) * 2.0;
        w -= gradient / curvature;
        for mut row in w.row_iter_mut() {
            let shrunk = (1.0 - alpha / curvature / row.norm().max(1e-300)).max(0.0);
            row *= shrunk;
        }
        if round >= 300 {
            let gradient = (&u - &x * &w) * 2.0 + (&u * u.tr_mul(&u) - &a * &u) * 1.4;
            u = (u - gradient * 2e-3).map(|entry| entry.max(0.0));
        }
    }
    let own = objective(&u, &w);
    assert!((own / report.objective - 1.0).abs() < 1e-7, "{own} {}", report.objective);
    let Some(descent) = &found.descent else { panic!("no descent") };
    assert!(descent.last_objective < descent.first_objective);
    Ok(())
}

/// Samples around are samples like any other where no label is used.
#[test]
fn samples_around_are_part_of_the_data() -> Tested {
    let data = data_of(&table(), &links())?;
    let rows: Vec<usize> = (0..N).step_by(2).collect();
    let part = data.subset(&rows)?.with_surroundings(&data, rows)?;
    for selector in [&netfs() as &dyn Selector, &lufs()] {
        assert_eq!(all(selector, &part)?, all(selector, &data)?);
    }
    Ok(())
}

/// Without links `netfs` has nothing to go by, and says so; `lufs` goes by attributes, and says so.
#[test]
fn without_links_methods_say_so() -> Tested {
    let plain = Dataset::new(DenseColumns::from_columns(&table())?, Target::None)?;
    let error = all(&netfs(), &plain).err().map(|error| error.to_string());
    assert!(error.is_some_and(|error| error.contains("--links")));
    let empty = data_of(&table(), &[])?;
    let found = all(&netfs(), &empty)?;
    assert!(found.order.is_empty() && found.notes.iter().any(|note| note.contains("without links")));
    // The social dimensions that links without any have: none, as of a table without links.
    let (a, b) = (all(&lufs(), &plain)?, all(&lufs(), &empty)?);
    assert_eq!((&a.order, &a.scores), (&b.order, &b.scores));
    assert!(a.notes.iter().any(|note| note.contains("--links")));
    // Nor do they matter without a weight.
    let unweighted = Lufs { alpha: Some(0.0), ..lufs() };
    let (a, b) = (all(&unweighted, &plain)?, all(&unweighted, &data_of(&table(), &links())?)?);
    assert_eq!((&a.order, &a.scores), (&b.order, &b.scores));
    Ok(())
}

/// More columns than steps look at as a whole, and than there are samples: the objective is no larger than
/// that of the start, and the certificate holds.
#[test]
fn wide_tables_descend_within_a_span() -> Tested {
    for (n, d) in [(160, 140), (40, 150)] {
        let column = |j: usize| -> Vec<f64> {
            let own = |i: usize| if j < 4 { 2.0 * f64::from(u8::from(i % 4 == j)) } else { 0.0 };
            noise(n, 50 + j as u64).iter().enumerate().map(|(i, e)| own(i) + 0.5 * e).collect()
        };
        let columns: Vec<Vec<f64>> = (0..d).map(column).collect();
        let pairs = (0..n).flat_map(|i| (0..i).map(move |j| (j, i, 1.0)));
        let links: Vec<_> = pairs.filter(|&(j, i, _)| i % 4 == j % 4 && (i + j) % 3 > 0).collect();
        let data = data_of(&columns, &links)?;
        let method = Lufs { clusters: Some(3), tolerance: 1e-6, ..Lufs::default() };
        let found = method.select(&data, Budget::Count(4), &Context::default())?;
        assert_eq!(found.status, Status::Converged, "{n}, {d}: {:?}", found.solver);
        let mut first = found.order.clone();
        first.sort_unstable();
        assert_eq!(first, [0, 1, 2, 3], "{n}, {d}");
    }
    Ok(())
}

#[test]
fn faults_are_named() -> Tested {
    let data = data_of(&table(), &links())?;
    let message = |selector: &dyn Selector| match all(selector, &data) {
        Err(error) => error.to_string(),
        Ok(found) => panic!("{found:?}"),
    };
    assert!(message(&NetFs { clusters: Some(N + 1), ..netfs() }).contains("clusters"));
    assert!(message(&Lufs { clusters: Some(6), ..lufs() }).contains("columns that vary, 5"));
    assert!(message(&NetFs { alpha_ratio: 0.0, ..netfs() }).contains("alpha_ratio"));
    assert!(message(&Lufs { ridge: f64::NAN, ..lufs() }).contains("ridge"));
    let negative = netfs().select_from(&data, &[vec![-1.0; N]], Budget::Auto, &Context::default());
    assert!(negative.is_err_and(|error| error.to_string().contains("at least 0")));
    let short = netfs().regression(&data, &[vec![1.0; 3]], &Context::default());
    assert!(short.is_err_and(|error| error.to_string().contains("48 finite numbers")));
    Ok(())
}
