//! The exact path to a number of features.

use std::collections::BTreeMap;

use fewest_core::{Certificate, Error, Path, PathPoint, SolverReport, Status, order};
use fewest_solver::certificate::{self, DualityGap};
use fewest_solver::{InnerProducts, L1, Signed};

use super::decisive::NEGLIGIBLE;
use super::{Coefficients, Fit, Problem, Seen, of_all};
use crate::paths;

impl Problem<'_> {
    /// The last point of the exact path before more than `k` features are active.
    pub(super) fn along_path(&self, k: usize) -> Result<Fit, Error> {
        let signed: Vec<Signed<_>> = self.outputs.iter().map(Signed::new).collect();
        let inner = signed.first().filter(|_| !self.is_constrained());
        let feature = |atom: usize| self.columns.feature(inner.map_or(atom, |inner| inner.inner_atom(atom)));
        // The path is of coefficients of at least 0: with a constraint they are those of the columns.
        let merge = |point: &[Vec<(usize, f64)>]| -> Vec<Vec<(usize, f64)>> {
            match self.is_constrained() {
                true => point.to_vec(),
                false => signed.iter().zip(point).map(|(signed, own)| signed.merge(own)).collect(),
            }
        };
        let paths = match self.is_constrained() {
            true => paths::follow(&self.outputs, k, &feature, &self.control)?,
            false => paths::follow(&signed, k, &feature, &self.control)?,
        };
        let mut path = Path::default();
        for point in &paths.points {
            if let Some((_, atom)) = point.joined {
                let feature = feature(atom);
                if !path.entered.contains(&feature) {
                    path.entered.push(feature);
                }
            }
            let coefficients = self.scores(&merge(&point.coefficients)).into_iter().collect();
            path.points.push(PathPoint { lambda: point.lambda, coefficients });
            self.see(point.lambda, || merge(&point.coefficients));
        }
        let counts = |lambda: f64| lambda > NEGLIGIBLE * self.largest_lambda;
        let mut beside = None;
        if let [.., before, end] = paths.points.as_slice()
            && end.lambda > 0.0
            && paths.status == Status::Converged
        {
            // The end is halfway to where the next feature joins.
            let lambda = 2.0 * end.lambda - before.lambda;
            let coefficients = extrapolated(&merge(&before.coefficients), &merge(&end.coefficients));
            self.see(lambda, || coefficients.clone());
            beside = Some(Seen { lambda, coefficients }).filter(|next| counts(next.lambda));
        }
        // Where the end is zero, all columns reach it: the breakpoint before tells more.
        let before = paths.points.iter().rev().skip(1).find(|point| counts(point.lambda));
        let before = before
            .filter(|_| beside.is_none())
            .map(|point| Seen { lambda: point.lambda, coefficients: merge(&point.coefficients) });
        let beside = beside.or(before);
        let mut tied: Vec<usize> = paths.tied.iter().map(|&(_, atom)| feature(atom)).collect();
        order::sort_indices(&mut tied);
        tied.dedup();
        let beyond = tied.iter().copied().chain(paths.next.map(|(_, atom)| feature(atom))).collect();
        let note =
            |feature: &usize| format!("feature {feature} depends linearly on chosen ones and was left out");
        let notes = tied.iter().map(note).collect();
        let (lambda, coefficients) = match paths.points.last() {
            Some(end) => (end.lambda, merge(&end.coefficients)),
            None => (0.0, vec![Vec::new(); self.outputs.len()]),
        };
        let fit = match self.options.solver.chosen() {
            Some(solver) if !solver.follows_path() && lambda > 0.0 && paths.status == Status::Converged => {
                self.at(lambda, &[])?
            }
            _ => {
                let report = self.certify(lambda, &coefficients, paths.status, paths.iterations)?;
                Fit { coefficients, report, path: None, notes: Vec::new(), beyond: Vec::new(), beside: None }
            }
        };
        Ok(Fit { path: Some(path), notes, beyond, beside, ..fit })
    }

    /// The report on a point of the path, certified over all atoms.
    fn certify(
        &self,
        lambda: f64,
        coefficients: &[Vec<(usize, f64)>],
        status: Status,
        iterations: u64,
    ) -> Result<SolverReport, Error> {
        let certify = |output: usize| {
            let problem = &self.outputs[output];
            let dense = self.dense(&coefficients[output]);
            let correlations = certificate::correlations(problem, &dense)?;
            gap_on_path(problem, self.is_constrained(), lambda, &dense, &correlations)
        };
        let found: Vec<DualityGap> = fewest_parallel::try_map(self.outputs.len(), certify)?;
        let duality_gap = of_all(&found);
        let by_gap = Status::by_certificate(duality_gap, self.control.tolerance);
        Ok(SolverReport::new(
            "lars",
            Status::worst([status, by_gap]),
            found.iter().map(|certificate| certificate.objective).sum(),
            Certificate::gap(duality_gap),
        )
        .with_lambda(lambda)
        .with_iterations(iterations as usize))
    }
}

/// As far beyond `end` as that is from `before`.
fn extrapolated(before: &[Vec<(usize, f64)>], end: &[Vec<(usize, f64)>]) -> Coefficients {
    let outputs = before.iter().zip(end).map(|(before, end)| {
        let twice = end.iter().map(|&(column, value)| (column, 2.0 * value));
        let mut beyond: BTreeMap<usize, f64> = twice.collect();
        before.iter().for_each(|(column, value)| *beyond.entry(*column).or_insert(0.0) -= value);
        beyond.into_iter().collect()
    });
    outputs.collect()
}

/// The gap of the coefficients `w` at the penalty `lambda`, or at the smallest one that can be certified
/// where that is almost zero. `correlations` are those of all atoms, and `w ≥ 0` where it `is_constrained`.
pub(crate) fn gap_on_path(
    problem: &dyn InnerProducts,
    is_constrained: bool,
    lambda: f64,
    w: &[f64],
    correlations: &[f64],
) -> Result<DualityGap, Error> {
    let one = |value: &f64| if is_constrained { value.max(0.0) } else { value.abs() };
    let largest = problem.target_products().iter().map(one).fold(0.0_f64, f64::max);
    let certified = certificate::certifiable_penalty(lambda, largest, correlations.iter().map(one));
    let l1 = L1::new(certified, w.len())?;
    let penalty = if is_constrained { l1.nonnegative() } else { l1 };
    Ok(certificate::certify(problem, &penalty, w, correlations))
}
