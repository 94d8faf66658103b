//! The reference results.

use std::path::Path;

use crate::common::Samples;
use fewest_columns::standardise;
use fewest_smo::{Classifier, DualProblem, Machine, Regressor, Smo, certificate};
use fewest_solver::{Control, Status};
use fewest_testkit::golden::{self, Case};

fn number(case: &Case, name: &str) -> f64 {
    case.params.get(name).or_else(|| case.extra.get(name)).and_then(|value| value.as_f64()).unwrap()
}

fn check(case: &Case, problem: &DualProblem<'_>, machine: &Machine) {
    let name = &case.name;
    let solution = &machine.dual.solution;
    assert_eq!(solution.status, Status::Converged, "{name}");
    let objective = case.objective.unwrap();
    assert!((solution.objective + objective).abs() <= 1e-9 * objective, "{name}: {}", solution.objective);
    let cost = number(case, "C");
    for (i, &value) in solution.coefficients.iter().enumerate() {
        let expected = case.scores.get(&i).copied().unwrap_or(0.0);
        assert!((value - expected).abs() <= 1e-4, "{name}: {value} at {i}, expected {expected}");
    }
    assert!((machine.bias - number(case, "bias")).abs() <= 1e-5, "{name}: bias {}", machine.bias);
    assert_eq!(machine.support.len(), number(case, "n_sv") as usize, "{name}");
    assert_eq!(machine.n_bounded, number(case, "n_bounded_sv") as usize, "{name} with C = {cost}");
    let decisions = case.extra["decision_first_5"].as_array().unwrap();
    let mut row = vec![0.0; problem.n_variables()];
    for (i, expected) in decisions.iter().enumerate() {
        problem.kernel().row(i, &mut row);
        let found = machine.decision(&row).unwrap();
        assert!((found - expected.as_f64().unwrap()).abs() <= 1e-5, "{name}: {found} at {i}");
    }
    let again = certificate::certify(problem, &solution.coefficients).unwrap();
    assert_eq!(again, machine.dual.certificate, "{name}");
    assert_eq!(again.relative_gap(), solution.certificate.value());
}

#[test]
fn reference_machines_are_found() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let cases = golden::load(&folder, "").unwrap();
    assert_eq!(cases.len(), 8);
    // Everything kept in double precision; single precision; room for a few rows.
    let solvers = [Smo::default(), Smo::default().cache_bytes(600_000), Smo::default().cache_bytes(20_000)];
    for case in &cases {
        let classes = case.method == "c_svc";
        let path = fewest_testkit::datasets::path(&case.dataset);
        let (samples, mut target) = Samples::read(&path, classes);
        let gamma = 1.0 / samples.columns.len() as f64;
        let kernel = samples.gaussian(gamma);
        let control = Control { tolerance: 1e-11, ..Control::default() };
        let cost = number(case, "C");
        for solver in &solvers {
            if classes {
                let positive: Vec<bool> = target.iter().map(|&code| code == 1.0).collect();
                let learner = Classifier { cost, solver: solver.clone(), ..Classifier::default() };
                let machine = learner.train(&kernel, &positive, &[], &control).unwrap();
                check(case, &learner.problem(&kernel, &positive, &[]).unwrap(), &machine);
            } else {
                standardise(&mut target);
                let epsilon = number(case, "epsilon");
                let learner = Regressor { cost, epsilon, solver: solver.clone(), ..Regressor::default() };
                let machine = learner.train(&kernel, &target, &[], &control).unwrap();
                check(case, &learner.problem(&kernel, &target, &[]).unwrap(), &machine);
            }
        }
    }
}
