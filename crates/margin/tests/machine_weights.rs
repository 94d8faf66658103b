//! Features by the weights of linear support vector machines.

use crate::common::{all, close, read, scores};
use fewest_core::{
    Budget, Column, Columns, Context, Dataset, DenseColumns, Error, FeatureKind, Selector, Status, Target,
};
use fewest_data::Task;
use fewest_margin::{Multiclass, SvmWeights, SvrWeights};
use fewest_testkit::conformance::{check_selector, problem};

/// scikit-learn 1.9.1, X standardised dividing by n:
/// `SVC(kernel="linear", C=1, tol=1e-12).fit(X, y).coef_[0]`.
const WDBC: [f64; 30] = [
    0.321136716,
    0.0970766479,
    0.2960633836,
    0.2700371565,
    -0.0148737055,
    -0.6189076561,
    0.757894769,
    0.9094559783,
    0.0783449172,
    -0.3483447452,
    0.8400563632,
    -0.3050894853,
    0.2352817754,
    0.8915870491,
    0.3545250258,
    -0.3910422681,
    -0.3775266547,
    0.460865194,
    -0.1008364805,
    -0.8852011215,
    0.5900977537,
    0.9709049028,
    0.333898843,
    0.7123860936,
    0.4274613066,
    -0.1727195205,
    1.0373901717,
    0.0936263664,
    0.4468962358,
    0.8554516465,
];

/// The same, y standardised too: `SVR(kernel="linear", C=1, epsilon=0.1, tol=1e-12).fit(X, y).coef_[0]`.
const AUTO_MPG: [f64; 7] =
    [-0.1376894476, 0.1236209681, -0.0499451186, -0.5538653462, -0.0416391172, 0.3044425851, 0.1782047346];

#[test]
fn weights_are_those_of_libsvm() {
    let svm = SvmWeights { tolerance: 1e-12, ..SvmWeights::default() };
    let selection = all(&svm, &read("wdbc.csv", Task::Classification));
    assert_eq!(selection.status, Status::Converged);
    let gap = selection.solver.as_ref().unwrap().certificate.value();
    assert!((-1e-15..=1e-12).contains(&gap), "{gap}");
    // LIBSVM keeps kernel values in single precision.
    close(&scores(&selection), &WDBC, 2e-6);
    assert_eq!(selection.order[..3], [26, 21, 7]);
    let svr = SvrWeights { tolerance: 1e-12, ..SvrWeights::default() };
    let selection = all(&svr, &read("auto_mpg.csv", Task::Regression));
    close(&scores(&selection), &AUTO_MPG, 3e-5);
}

#[test]
fn laws_hold() {
    check_selector(&SvmWeights::default(), &problem(true), 3);
    check_selector(&SvrWeights::default(), &problem(false), 3);
}

/// A table whose column 0 is stored sparse.
struct FirstSparse {
    rows: Vec<usize>,
    values: Vec<f64>,
    others: DenseColumns,
}

impl Columns for FirstSparse {
    fn n_samples(&self) -> usize {
        self.others.n_samples()
    }

    fn n_features(&self) -> usize {
        self.others.n_features()
    }

    fn column<'a>(&'a self, j: usize, scratch: &'a mut Vec<f64>) -> Result<Column<'a>, Error> {
        match j {
            0 => Ok(Column::Sparse { rows: &self.rows, values: &self.values }),
            _ => self.others.column(j, scratch),
        }
    }
}

fn wave(n: usize, step: usize, shift: usize) -> Vec<f64> {
    (0..n).map(|i| ((i * step + shift) % (n + 1)) as f64 / n as f64).collect()
}

/// Three features, the first mostly 0, and whether their weighted sum is large.
fn mostly_zero(n: usize) -> (Vec<Vec<f64>>, Vec<bool>) {
    let first = wave(n, 5, 3).into_iter().map(|value| if value > 0.7 { value } else { 0.0 }).collect();
    let columns: Vec<Vec<f64>> = vec![first, wave(n, 17, 1), wave(n, 29, 2)];
    let labels = (0..n).map(|i| columns[0][i] + 0.5 * columns[1][i] > 0.4).collect();
    (columns, labels)
}

#[test]
fn sparse_columns_give_what_dense_ones_give() {
    // Beyond 2000 samples the machine is trained without a Gram matrix.
    for n in [100, 2100] {
        let (columns, labels) = mostly_zero(n);
        let others = DenseColumns::from_columns(&columns).unwrap();
        let rows: Vec<usize> = (0..n).filter(|&i| columns[0][i] != 0.0).collect();
        let values = rows.iter().map(|&i| columns[0][i]).collect();
        let target = Target::from_labels(&labels);
        let dense = Dataset::new(others.clone(), target.clone()).unwrap();
        let sparse = Dataset::new(FirstSparse { rows, values, others }, target).unwrap();
        let selector = SvmWeights { tolerance: if n > 2000 { 1e-6 } else { 1e-10 }, ..SvmWeights::default() };
        let tolerance = if n > 2000 { 3e-3 } else { 1e-7 };
        close(&scores(&all(&selector, &sparse)), &scores(&all(&selector, &dense)), tolerance);
    }
}

#[test]
fn a_category_scores_the_norm_over_its_levels() {
    let n = 60;
    let codes: Vec<f64> = (0..n).map(|i| (i % 3) as f64).collect();
    let indicator = |level: f64| codes.iter().map(|&code| f64::from(code == level)).collect::<Vec<f64>>();
    let labels: Vec<bool> = (0..n).map(|i| (i % 3 == 0) != (i % 7 == 0)).collect();
    let target = Target::from_labels(&labels);
    let levels = vec!["a".to_owned(), "b".to_owned(), "c".to_owned()];
    let table = DenseColumns::from_columns(&[codes.clone(), wave(n, 17, 0)]).unwrap();
    let kinds = vec![FeatureKind::Categorical { levels }, FeatureKind::Numeric];
    let coded = Dataset::new(table, target.clone()).unwrap().with_feature_kinds(kinds).unwrap();
    let columns = [indicator(0.0), indicator(1.0), indicator(2.0), wave(n, 17, 0)];
    let plain = Dataset::new(DenseColumns::from_columns(&columns).unwrap(), target).unwrap();
    let single = scores(&all(&SvmWeights::default(), &plain));
    let norm = single[..3].iter().map(|w| w * w).sum::<f64>().sqrt();
    close(&scores(&all(&SvmWeights::default(), &coded)), &[norm, single[3]], 1e-6);
}

#[test]
fn more_classes_score_the_norm_over_the_machines() {
    let data = read("wine.csv", Task::Classification);
    let Target::Class(classes) = data.target() else { panic!("classes") };
    let mut squares = vec![0.0; data.n_features()];
    for class in 0..3 {
        let against_rest: Vec<bool> = classes.codes().iter().map(|&code| code == class).collect();
        let two = Dataset::shared(data.shared_x(), Target::from_labels(&against_rest)).unwrap();
        for (sum, score) in squares.iter_mut().zip(scores(&all(&SvmWeights::default(), &two))) {
            *sum += score * score;
        }
    }
    let expected: Vec<f64> = squares.into_iter().map(f64::sqrt).collect();
    close(&scores(&all(&SvmWeights::default(), &data)), &expected, 1e-6);
    let pairs = SvmWeights { multiclass: Multiclass::OneVsOne, ..SvmWeights::default() };
    let found = scores(&all(&pairs, &data));
    assert_ne!(found, expected);
    assert!(found.iter().all(|score| *score > 0.0));
}

#[test]
fn bad_input_is_an_error_that_names_it() {
    let data = problem(true);
    let message = |selector: &dyn Selector, data: &Dataset| {
        selector.select(data, Budget::Count(1), &Context::default()).unwrap_err().to_string()
    };
    for cost in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(message(&SvmWeights { c: cost, ..SvmWeights::default() }, &data).contains("`c`"));
        assert!(message(&SvrWeights { c: cost, ..SvrWeights::default() }, &problem(false)).contains("`c`"));
    }
    let svr = SvrWeights { epsilon: -0.1, ..SvrWeights::default() };
    assert!(message(&svr, &problem(false)).contains("epsilon"));
    let svm = SvmWeights { tolerance: 0.0, ..SvmWeights::default() };
    assert!(message(&svm, &data).contains("tolerance"));
    assert!(message(&SvmWeights::default(), &problem(false)).contains("needs classes"));
    assert!(message(&SvrWeights::default(), &data).contains("real outputs"));
    let weighted = problem(true).with_sample_weights(vec![1.0; 40]).unwrap();
    assert!(matches!(
        SvmWeights::default().select(&weighted, Budget::Count(1), &Context::default()),
        Err(Error::Unsupported { .. })
    ));
}
