//! The reference support vector machines, which are not methods of the registry.

use fewest::columns::standardise;
use fewest::core::{Context, Dataset, Target};
use fewest::kernels::{SquaredDistances, VectorKernel};
use fewest::machines::{DistanceRows, Encoding, PointRows};
use fewest::solver::Control;
use fewest::solvers::smo::{Classifier, KernelRows, Machine, Regressor};
use fewest_testkit::golden::{self, Case, CaseComparison, Deviation, Observed};

use crate::Result;

/// The groups of the corpus that are compared here.
pub(super) const GROUPS: [&str; 2] = ["c_svc", "epsilon_svr"];

/// The tolerance of the first decisions and of the bias.
const DECISIONS: f64 = 1e-5;

/// Trains on kernel rows computed on demand and on stored distances, and compares both.
pub(super) fn compare(case: &Case, data: &Dataset) -> Result<Vec<(String, CaseComparison)>> {
    let encoding = Encoding::fit(data)?;
    let points = encoding.encode(data.x())?;
    let gamma = 1.0 / points.width as f64;
    let n = points.n_samples;
    let distances = SquaredDistances::new(encoding.by_feature(&points), n, &Context::default())?;
    let by_points = PointRows::new(&points, VectorKernel::Gaussian { gamma })?;
    let by_distances = DistanceRows::new(&distances, gamma)?;
    let forms: [(&str, &dyn KernelRows); 2] =
        [("rows=computed", &by_points), ("rows=distances", &by_distances)];
    forms
        .into_iter()
        .map(|(form, kernel)| {
            let machine = train(case, kernel, data)?;
            Ok((form.to_owned(), compare_machine(case, kernel, &machine)?))
        })
        .collect()
}

fn train(case: &Case, kernel: &dyn KernelRows, data: &Dataset) -> Result<Machine> {
    let control = Control { tolerance: 1e-11, ..Control::default() };
    let cost = number(case, "C")?;
    match data.target() {
        Target::Class(classes) => {
            let positive: Vec<bool> = classes.codes().iter().map(|code| *code == 1).collect();
            let learner = Classifier { cost, ..Classifier::default() };
            Ok(learner.train(kernel, &positive, &[], &control)?)
        }
        Target::Real(outputs) => {
            let mut targets = outputs.output(0).to_vec();
            standardise(&mut targets);
            let learner = Regressor { cost, epsilon: number(case, "epsilon")?, ..Regressor::default() };
            Ok(learner.train(kernel, &targets, &[], &control)?)
        }
        other => Err(format!("{} has {} as target", case.name, other.describe()).into()),
    }
}

fn compare_machine(case: &Case, kernel: &dyn KernelRows, machine: &Machine) -> Result<CaseComparison> {
    let solution = &machine.dual.solution;
    let observed = Observed {
        scores: solution.coefficients.clone(),
        objective: Some(-solution.objective),
        gap: Some(solution.certificate.value()),
        ..Observed::default()
    };
    let mut comparison = golden::compare(case, &observed);
    let mut add = |part: &'static str, tolerance: f64, expected: f64, found: f64| {
        let value = (expected - found).abs();
        comparison.deviations.push(Deviation {
            part,
            value,
            tolerance,
            place: format!("{found} for {expected}"),
        });
    };
    let allowed =
        |name: &str| case.tolerance.others.get(name).and_then(|value| value.as_f64()).unwrap_or(f64::NAN);
    add("bias", allowed("bias_absolute"), number(case, "bias")?, machine.bias);
    let counts = [("n_sv", machine.support.len()), ("n_bounded_sv", machine.n_bounded)];
    for (name, found) in counts {
        let part = if name == "n_sv" { "support vectors" } else { "bounded" };
        add(part, allowed("n_sv"), number(case, name)?, found as f64);
    }
    let decisions = case.extra.get("decision_first_5").and_then(|list| list.as_array());
    let mut row = vec![0.0; kernel.len()];
    for (i, expected) in decisions.into_iter().flatten().enumerate() {
        kernel.row(i, &mut row);
        add("decisions", DECISIONS, expected.as_f64().unwrap_or(f64::NAN), machine.decision(&row)?);
    }
    comparison.not_compared.clear();
    Ok(comparison)
}

fn number(case: &Case, name: &str) -> Result<f64> {
    let value = case.params.get(name).or_else(|| case.extra.get(name)).and_then(|value| value.as_f64());
    value.ok_or_else(|| format!("{} has no number `{name}`", case.name).into())
}
