//! Reference results for lasso, elastic net and group lasso, computed independently, on `auto_mpg`.
//!
//! The cases minimise `1/(2n) ‖y − Xw‖² + α l1_ratio ‖w‖₁ + α (1 − l1_ratio)/2 ‖w‖²`, or with groups
//! `α Σ_g √|g| ‖w_g‖`, on standardised columns; multiplied by `n` this is the problem of a `Quadratic`.

use std::path::Path;

use fewest_solver::{
    BlockPenalty, Control, ElasticNetPenalty, GroupLasso, L1, Quadratic, QuadraticSolver, Status,
};
use fewest_testkit::{datasets, golden};
use serde_json::Value;

/// Mean 0, standard deviation 1 (dividing by n).
fn standardise(column: &mut [f64]) {
    let n = column.len() as f64;
    let mean = column.iter().sum::<f64>() / n;
    column.iter_mut().for_each(|value| *value -= mean);
    let deviation = (column.iter().map(|value| value * value).sum::<f64>() / n).sqrt();
    column.iter_mut().for_each(|value| *value /= deviation);
}

/// The standardised columns of a table of numbers with a header, the target last.
fn columns(name: &str) -> Vec<Vec<f64>> {
    let text = std::fs::read_to_string(datasets::path(name)).unwrap();
    let rows: Vec<Vec<f64>> = text
        .lines()
        .skip(1)
        .map(|line| line.split(',').map(|cell| cell.trim().parse().unwrap()).collect())
        .collect();
    let mut columns: Vec<Vec<f64>> =
        (0..rows[0].len()).map(|j| rows.iter().map(|row| row[j]).collect()).collect();
    columns.iter_mut().for_each(|column| standardise(column));
    columns
}

/// Every case within its own tolerance.
pub(crate) fn check(solver: &dyn QuadraticSolver) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../solver/tests/golden");
    let cases = golden::load(&folder, "").unwrap();
    assert_eq!(cases.len(), 8);
    for case in &cases {
        let mut atoms = columns(&case.dataset);
        let target = atoms.pop().unwrap();
        let n = target.len() as f64;
        let problem: Quadratic = super::Explicit { atoms, target }.quadratic();
        let number = |name: &str| case.params.get(name).and_then(Value::as_f64);
        let alpha = n * number("alpha").unwrap();
        let n_atoms = problem.n_atoms();
        let penalty: Box<dyn BlockPenalty> = match (case.method.as_str(), number("l1_ratio")) {
            ("lasso", Some(1.0)) => Box::new(L1::new(alpha, n_atoms).unwrap()),
            ("elastic_net", Some(ratio)) => {
                let l1 = L1::new(alpha * ratio, n_atoms).unwrap();
                Box::new(ElasticNetPenalty::new(l1, alpha * (1.0 - ratio)).unwrap())
            }
            ("group_lasso", None) => {
                let groups: Vec<usize> = (0..n_atoms).map(|j| j / 3).collect();
                Box::new(GroupLasso::new(alpha, &groups).unwrap().weighted_by_size())
            }
            other => panic!("{}: unknown form {other:?}", case.name),
        };
        let control = Control { tolerance: 1e-13, ..Control::default() };
        let found = solver.minimise(&problem, &*penalty, &vec![0.0; n_atoms], &control).unwrap();
        assert!(
            matches!(found.status, Status::Converged | Status::AlmostConverged),
            "{}: {:?} {}",
            case.name,
            found.status,
            found.certificate.value()
        );
        let expected = case.objective.unwrap();
        let off = (found.objective / n - expected).abs() / expected;
        assert!(off <= case.tolerance.objective.unwrap(), "{}: objective off by {off}", case.name);
        let largest = case.scores.values().fold(0.0_f64, |most, score| most.max(score.abs()));
        for (j, w) in found.coefficients.iter().enumerate() {
            let off = (w - case.scores.get(&j).copied().unwrap_or(0.0)).abs() / largest;
            assert!(off <= case.tolerance.scores.unwrap(), "{}: coefficient {j} off by {off}", case.name);
            assert_eq!(*w != 0.0, case.scores.contains_key(&j), "{}: coefficient {j} is {w}", case.name);
        }
    }
}
