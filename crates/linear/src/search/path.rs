//! The exact path to a number of features.

use fewest_core::{Certificate, Error, Path, PathPoint, SolverReport, Status, order};
use fewest_solver::certificate::{self, DualityGap};
use fewest_solver::{InnerProducts, Signed};

use super::{Fit, Problem, of_all};
use crate::paths;

impl Problem<'_> {
    /// The last point of the exact path before more than `k` features are active.
    pub(super) fn along_path(&self, k: usize) -> Result<Fit, Error> {
        let signed: Vec<Signed<_>> = self.outputs.iter().map(Signed::new).collect();
        let feature = |atom: usize| self.columns.feature(atom % self.columns.n_atoms());
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
        }
        let mut tied: Vec<usize> = paths.tied.iter().map(|&(_, atom)| feature(atom)).collect();
        order::sort_indices(&mut tied);
        tied.dedup();
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
                Fit { coefficients, report, path: None, notes: Vec::new() }
            }
        };
        Ok(Fit { path: Some(path), notes, ..fit })
    }

    /// The report on a point of the path, certified over all atoms.
    fn certify(
        &self,
        lambda: f64,
        coefficients: &[Vec<(usize, f64)>],
        status: Status,
        iterations: u64,
    ) -> Result<SolverReport, Error> {
        let one = |value: &f64| if self.is_constrained() { value.max(0.0) } else { value.abs() };
        let size = |values: &[f64]| values.iter().map(one).fold(0.0_f64, f64::max);
        let certify = |output: usize| {
            let problem = &self.outputs[output];
            let dense = self.dense(&coefficients[output]);
            let correlations = certificate::correlations(problem, &dense)?;
            let (largest, sizes) = (size(problem.target_products()), correlations.iter().map(one));
            let certified = certificate::certifiable_penalty(lambda, largest, sizes);
            let penalty = self.l1(certified)?;
            Ok(certificate::certify(problem, &penalty, &dense, &correlations))
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
