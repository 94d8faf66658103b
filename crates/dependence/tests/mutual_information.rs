//! Quadratic programs over mutual information: optimality from the definition, laws, hostile input.

use fewest_core::method::{Parameters, Regularization};
use fewest_core::{
    Budget, Context, Dataset, DenseColumns, Error, FeatureKind, Selection, Selector, Status, Target,
    derive_seed,
};
use fewest_counts::discretisation::Discretisation;
use fewest_dependence::{FeatureSimilarity, Fvm, METHODS, Qpfs, RelevanceWeight};
use fewest_testkit::conformance::{check_selector, problem};

type Tested = Result<(), Error>;

const BINS: usize = 4;

fn similarity() -> FeatureSimilarity {
    FeatureSimilarity::MutualInformation(Discretisation { bins: BINS, ..Discretisation::default() })
}

fn qpfs(gamma: f64) -> Qpfs {
    Qpfs { similarity: similarity(), gamma: RelevanceWeight::Value(gamma) }
}

fn fvm() -> Fvm {
    Fvm { similarity: similarity(), ..Fvm::default() }
}

fn noise(n: usize, seed: u64) -> Vec<f64> {
    (0..n as u64).map(|i| derive_seed(seed, i) as f64 / u64::MAX as f64 - 0.5).collect()
}

/// Ten numeric features of which some depend on each other, a category and a constant.
fn columns(n: usize) -> Vec<Vec<f64>> {
    let mut columns: Vec<Vec<f64>> = (0..12).map(|j| noise(n, j)).collect();
    for i in 0..n {
        columns[4][i] = columns[0][i] + 0.2 * columns[4][i];
        columns[5][i] = columns[1][i] * columns[1][i] + 0.02 * columns[5][i];
        columns[10][i] = (3.0 * (columns[10][i] + 0.5)).floor();
        columns[11][i] = 2.5;
    }
    columns
}

fn outcome(n: usize) -> Vec<f64> {
    let x = columns(n);
    (0..n).map(|i| 2.0 * x[0][i] + 6.0 * x[1][i] * x[1][i] - x[7][i] + 0.3 * x[10][i]).collect()
}

fn data(n: usize, target: Target) -> Result<Dataset, Error> {
    let mut kinds = vec![FeatureKind::Numeric; 12];
    kinds[10] = FeatureKind::Categorical { levels: ["a", "b", "c"].map(str::to_owned).to_vec() };
    Dataset::new(DenseColumns::from_columns(&columns(n))?, target)?.with_feature_kinds(kinds)
}

fn regression(n: usize) -> Result<Dataset, Error> {
    data(n, Target::real(outcome(n))?)
}

fn three_classes(n: usize) -> Result<Dataset, Error> {
    let labels: Vec<u8> = outcome(n).iter().map(|y| u8::from(*y > 0.4) + u8::from(*y > 1.2)).collect();
    data(n, Target::from_labels(&labels))
}

/// Bins of equal width by the definition.
fn bins(values: &[f64]) -> Vec<usize> {
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let bin = |x: &f64| (BINS as f64 * ((x - low) / (high - low))) as usize;
    values.iter().map(|x| if high > low { bin(x).min(BINS - 1) } else { 0 }).collect()
}

/// `Σ p ln(p / (p q))` over all pairs of levels: nothing of the code under test.
fn mutual_information(a: &[usize], b: &[usize]) -> f64 {
    let n = a.len() as f64;
    let share = |found: usize| found as f64 / n;
    let mut sum = 0.0;
    for u in 0..BINS {
        for v in 0..BINS {
            let both = share(a.iter().zip(b).filter(|pair| *pair == (&u, &v)).count());
            let alone =
                share(a.iter().filter(|x| **x == u).count()) * share(b.iter().filter(|x| **x == v).count());
            if both > 0.0 {
                sum += both * (both / alone).ln();
            }
        }
    }
    sum
}

/// The full `D` and `d`.
fn matrices(data: &Dataset, n: usize) -> (Vec<Vec<f64>>, Vec<f64>) {
    let mut codes: Vec<Vec<usize>> = columns(n).iter().map(|column| bins(column)).collect();
    codes[10] = columns(n)[10].iter().map(|code| *code as usize).collect();
    let target: Vec<usize> = match data.target() {
        Target::Class(classes) => classes.codes().iter().map(|&code| code as usize).collect(),
        _ => bins(&outcome(n)),
    };
    let d = codes.iter().map(|a| codes.iter().map(|b| mutual_information(a, b)).collect()).collect();
    (d, codes.iter().map(|a| mutual_information(a, &target)).collect())
}

/// The constant on the diagonal, from the note that has it.
fn constant(selection: &Selection) -> f64 {
    let note = selection.notes.iter().find(|note| note.contains("diagonal")).expect("a note");
    note.split(' ').next().and_then(|number| number.parse().ok()).expect("a number")
}

fn weights(selection: &Selection) -> Vec<f64> {
    let mut weights = vec![0.0; selection.n_features];
    for (&j, &score) in selection.order.iter().zip(&selection.scores) {
        weights[j] = score;
    }
    weights
}

fn fitted(d: &[Vec<f64>], c: f64, w: &[f64]) -> Vec<f64> {
    d.iter()
        .enumerate()
        .map(|(k, row)| row.iter().zip(w).map(|(a, b)| a * b).sum::<f64>() + c * w[k])
        .collect()
}

#[test]
fn the_methods_keep_the_laws() {
    for of_classes in [false, true] {
        check_selector(&Qpfs::default(), &problem(of_classes), 3);
        check_selector(&qpfs(0.5), &problem(of_classes), 3);
        check_selector(&fvm(), &problem(of_classes), 3);
    }
}

#[test]
fn qpfs_meets_its_optimality_conditions() -> Tested {
    for data in [regression(60)?, three_classes(60)?] {
        let (d, relevance) = matrices(&data, 60);
        for gamma in [0.0, 0.2, 0.5, 0.9] {
            let selection = qpfs(gamma).select(&data, Budget::Auto, &Context::default())?;
            let c = constant(&selection);
            let largest = (0..12).map(|k| d[k][k]).fold(0.0, f64::max);
            assert!((c - 1e-3 * largest).abs() < 1e-3 * c, "{c}: this matrix is positive definite");
            let theta = weights(&selection);
            assert!((theta.iter().sum::<f64>() - 1.0).abs() < 1e-9 && theta.iter().all(|t| *t >= 0.0));
            assert_eq!(theta[11], 0.0, "a constant has no weight");
            let products = fitted(&d, c, &theta);
            let gradient: Vec<f64> =
                (0..12).map(|k| (1.0 - gamma) * products[k] - gamma * relevance[k]).collect();
            // The constant feature has no place in the program: its zeros would take all the weight.
            let least = gradient[..11].iter().copied().fold(f64::INFINITY, f64::min);
            for k in 0..11 {
                assert!(
                    theta[k] == 0.0 || gradient[k] <= least + 1e-6 * largest,
                    "feature {k}: {gradient:?}"
                );
            }
            let objective: f64 =
                (0..12).map(|k| theta[k] * (0.5 * (1.0 - gamma) * products[k] - gamma * relevance[k])).sum();
            let report = selection.solver.as_ref().map_or(f64::NAN, |report| report.objective);
            // The note has the constant to four digits.
            assert!((report - objective).abs() <= 1e-3 * c, "{report} and {objective}");
            assert_eq!(selection.status, Status::Converged);
        }
    }
    Ok(())
}

#[test]
fn qpfs_weighs_by_the_means_of_mutual_information() -> Tested {
    let data = regression(60)?;
    let (d, relevance) = matrices(&data, 60);
    let q = d.iter().flatten().sum::<f64>() / 121.0;
    let f = relevance.iter().sum::<f64>() / 11.0;
    let method = Qpfs { similarity: similarity(), gamma: RelevanceWeight::Auto };
    let selection = method.select(&data, Budget::Auto, &Context::default())?;
    let gamma = selection.solver.as_ref().map_or(f64::NAN, |report| report.lambda);
    assert!((gamma - q / (q + f)).abs() < 1e-12, "{gamma}");
    let best = qpfs(1.0).select(&data, Budget::Auto, &Context::default())?;
    let strongest = (0..12).fold(0, |best, k| if relevance[k] > relevance[best] { k } else { best });
    assert_eq!((best.order, best.scores), (vec![strongest], vec![1.0]));
    Ok(())
}

#[test]
fn fvm_meets_its_optimality_conditions() -> Tested {
    for data in [regression(60)?, three_classes(60)?] {
        let (d, relevance) = matrices(&data, 60);
        let largest = relevance.iter().copied().fold(0.0, f64::max);
        for lambda in [0.5 * largest, 0.05 * largest, 0.002 * largest] {
            let method = Fvm { regularization: Regularization::Value(lambda), ..fvm() };
            let selection = method.select(&data, Budget::Auto, &Context::default())?;
            let w = weights(&selection);
            let products = fitted(&d, constant(&selection), &w);
            for k in 0..12 {
                let correlation = relevance[k] - products[k];
                assert!(correlation.abs() <= lambda + 1e-6 * largest, "feature {k}: {correlation}");
                let expected = lambda * w[k].signum();
                assert!(w[k] == 0.0 || (correlation - expected).abs() <= 1e-6 * largest, "feature {k}");
            }
            let by_ratio = Fvm { regularization: Regularization::Ratio(lambda / largest), ..fvm() };
            assert_eq!(by_ratio.select(&data, Budget::Auto, &Context::default())?.order, selection.order);
        }
    }
    Ok(())
}

/// A number of six bits and the 63 parities of its parts, which are pairwise independent: I(0;k) = I(k;k) =
/// ln 2, I(k;l) = 0 and I(0;0) = 6 ln 2. Over the number and m parities that is positive definite only for m
/// < 6.
#[test]
fn the_constant_rises_until_the_matrix_met_is_positive_definite() -> Tested {
    let n = 64_u32;
    let mut table = vec![(0..n).map(f64::from).collect::<Vec<f64>>()];
    table.extend((1..n).map(|mask| (0..n).map(|i| f64::from((i & mask).count_ones() % 2)).collect()));
    let labels: Vec<u32> = (0..n).collect();
    let similarity =
        FeatureSimilarity::MutualInformation(Discretisation { bins: 64, ..Discretisation::default() });
    let data = Dataset::new(DenseColumns::from_columns(&table)?, Target::from_labels(&labels))?;
    let ln_2 = 2_f64.ln();
    let start = 1e-3 * 6.0 * ln_2;
    let definite = |others: usize, c: f64| 6.0 * ln_2 + c - others as f64 * ln_2 * ln_2 / (ln_2 + c) > 0.0;
    // The parities join where λ is a fifth of the constant: before, the number alone is active, and nothing
    // rises.
    for (lambda, rises) in [(1e-3, false), (1e-4, true)] {
        let regularization = Regularization::Value(lambda);
        let method = Fvm { similarity: similarity.clone(), regularization };
        let selection = method.select(&data, Budget::Auto, &Context::default())?;
        let c = constant(&selection);
        let w = weights(&selection);
        let others = w[1..].iter().filter(|weight| **weight != 0.0).count();
        assert!(w[0] != 0.0 && definite(others, c), "{c} {w:?}");
        assert_eq!(others > 0, rises);
        if rises {
            assert!(!definite(others, start), "without more on the diagonal it is not: {others}");
            let doublings = (c / start).log2();
            assert!((doublings - doublings.round()).abs() < 1e-2 && doublings >= 1.0, "{c}");
            assert!(!definite(others, 0.5 * c), "the smallest such constant");
        } else {
            assert!((c - start).abs() < 1e-3 * c);
        }
        assert_eq!(selection.status, Status::Converged);
    }
    Ok(())
}

/// Two twins share their weight: what is added to the diagonal makes them two.
#[test]
fn twins_share_their_weight() -> Tested {
    let mut table = columns(60);
    table[9] = table[0].clone();
    let data = Dataset::new(DenseColumns::from_columns(&table)?, Target::real(outcome(60))?)?;
    let theta = weights(&qpfs(0.5).select(&data, Budget::Auto, &Context::default())?);
    assert!(theta[0] > 0.0 && (theta[0] - theta[9]).abs() < 1e-9, "{theta:?}");
    Ok(())
}

#[test]
fn bad_parameters_and_tables_are_typed_errors() -> Tested {
    let context = Context::default();
    let good = regression(20)?;
    for bins in [0, 1, 65_537] {
        let bad = FeatureSimilarity::MutualInformation(Discretisation { bins, ..Discretisation::default() });
        for selector in [
            &Qpfs { similarity: bad.clone(), gamma: RelevanceWeight::Auto } as &dyn Selector,
            &Fvm { similarity: bad.clone(), ..Fvm::default() },
        ] {
            let found = selector.select(&good, Budget::Count(2), &context);
            assert!(matches!(found, Err(Error::InvalidParameter { name: "bins", .. })), "{found:?}");
        }
    }
    for bad in [f64::NAN, 0.0, -1.0, f64::INFINITY] {
        let found = Fvm { regularization: Regularization::Value(bad), ..fvm() }.select(
            &good,
            Budget::Count(2),
            &context,
        );
        assert!(matches!(found, Err(Error::InvalidParameter { name: "lambda", .. })), "{found:?}");
    }
    let method = METHODS.iter().find(|method| method.id == "fvm").ok_or(Error::TooFew {
        what: "methods",
        minimum: 1,
        found: 0,
    })?;
    let both = Parameters::parse(method, &["lambda=1", "lambda_ratio=0.5"])?;
    assert!(method.build(&both).is_err_and(|error| error.to_string().contains("`lambda_ratio`")));

    let column = noise(8, 1);
    let flat = Dataset::new(
        DenseColumns::from_columns(std::slice::from_ref(&column))?,
        Target::real(vec![1.0; 8])?,
    )?;
    let none = Dataset::new(DenseColumns::from_columns(std::slice::from_ref(&column))?, Target::None)?;
    let single = Dataset::new(DenseColumns::from_columns(&[vec![1.0]])?, Target::real(vec![1.0])?)?;
    let missing = Dataset::new(
        DenseColumns::from_columns(&[column.clone(), [f64::NAN, 1.0].repeat(4)])?,
        Target::real(column.clone())?,
    )?;
    let weighted = regression(20)?.with_sample_weights(vec![1.0; 20])?;
    let outputs = Dataset::new(
        DenseColumns::from_columns(std::slice::from_ref(&column))?,
        Target::outputs([column.clone(), column.clone()].concat(), 8)?,
    )?;
    for selector in [&qpfs(0.5) as &dyn Selector, &fvm()] {
        for refused in [&flat, &none, &single, &missing, &weighted, &outputs] {
            assert!(selector.select(refused, Budget::Count(1), &context).is_err());
        }
    }
    let constant =
        Dataset::new(DenseColumns::from_columns(&vec![vec![3.0; 8]; 3])?, Target::real(column.clone())?)?;
    let huge: Vec<Vec<f64>> = (0..3).map(|j| noise(8, j).iter().map(|x| x * 1e300).collect()).collect();
    let huge = Dataset::new(DenseColumns::from_columns(&huge)?, Target::real(column)?)?;
    for selector in [&qpfs(0.5) as &dyn Selector, &fvm()] {
        assert!(selector.select(&constant, Budget::Count(2), &context)?.order.is_empty());
        let answered = selector.select(&huge, Budget::Count(2), &context)?;
        assert!(!answered.order.is_empty() && answered.scores.iter().all(|score| score.is_finite()));
    }
    Ok(())
}
