//! What decides on a fit, and the fit from that alone.

use fewest_core::method::Regularization;
use fewest_core::{Budget, Context, Error, SolverReport, order};
use fewest_lars::PathOptions;
use fewest_solver::bisection::Tried;
use fewest_solver::{InnerProducts, Ridged, Signed, certificate};

use super::{Coefficients, Fit, Problem};

/// A column counts as one whose product is the largest, or reaches the penalty, where it does so but for
/// rounding: so do copies of columns with a coefficient.
pub(crate) const REACHED: f64 = 1.0 - 1e-9;

/// A penalty below this share of the largest useful one is zero but for rounding: all columns reach it.
pub(super) const NEGLIGIBLE: f64 = 1e-8;

/// Of at most so many columns the solution at a penalty is followed to along its path, which is exact.
pub(crate) const EXACT: usize = 512;

impl Problem<'_> {
    /// A fit once more, from these columns alone, at the penalty that it has come to, if any was searched
    /// for. Of few columns it does not depend on a tolerance.
    pub(crate) fn again(
        &self,
        budget: Budget,
        before: &SolverReport,
        context: &Context<'_>,
    ) -> Result<Fit, Error> {
        let is_searched = self.options.regularization == Regularization::Count && self.l1_ratio < 1.0;
        let mut fit = match is_searched {
            true => self.at(before.lambda, &[])?,
            false => self.fit(budget, &mut Tried::none(), context)?,
        };
        let is_path = self.options.regularization == Regularization::Count && fit.report.name == "lars";
        if self.columns.n_atoms() <= EXACT && !is_path && !fit.report.status.is_stopped() {
            let (coefficients, report) = self.exactly_at(&fit.report)?;
            let scores = self.scores(&coefficients).into_iter().collect();
            if let Some(end) = fit.path.as_mut().and_then(|path| path.points.last_mut()) {
                end.coefficients = scores;
            }
            fit = Fit { coefficients, report, ..fit };
        }
        Ok(fit)
    }

    /// The solution at the penalty of `found`, the end of the exact path to it.
    fn exactly_at(&self, found: &SolverReport) -> Result<(Coefficients, SolverReport), Error> {
        let l1 = found.lambda * self.l1_ratio;
        let options = PathOptions { smallest_lambda: l1, ..PathOptions::default() };
        let follow = |problem: &dyn InnerProducts| fewest_lars::path(problem, &options, &self.control);
        let (mut coefficients, mut report) = (Vec::new(), found.clone());
        report.iterations = 0;
        for output in &self.outputs {
            let ridged;
            let problem: &dyn InnerProducts = if self.l1_ratio < 1.0 {
                ridged = Ridged::new(output, found.lambda * (1.0 - self.l1_ratio))?;
                &ridged
            } else {
                output
            };
            let signed = Signed::new(problem);
            let path = if self.is_constrained() { follow(problem)? } else { follow(&signed)? };
            let end = path.breakpoints.last().map_or(&[][..], |end| &end.coefficients);
            let own = if self.is_constrained() { end.to_vec() } else { signed.merge(end) };
            coefficients.push(own.into_iter().filter(|(_, value)| *value != 0.0).collect());
            report.iterations += path.iterations as usize;
            if path.status.is_stopped() {
                report.status = path.status;
            }
        }
        Ok((coefficients, report))
    }

    /// The features that decide on a fit, increasing.
    pub(crate) fn decisive(&self, fit: &Fit) -> Vec<usize> {
        let coefficients = fit.coefficients.iter().flatten().map(|(column, _)| self.columns.feature(*column));
        let on_path = fit.path.iter().flat_map(|path| &path.points).flat_map(|point| &point.coefficients);
        let mut features = self.most_useful();
        features.extend(coefficients.chain(on_path.map(|(feature, _)| *feature)));
        features.extend(&fit.beyond);
        order::sort_indices(&mut features);
        features.dedup();
        features
    }

    /// The features that give the largest useful penalty; none where there is no such penalty.
    pub(crate) fn most_useful(&self) -> Vec<usize> {
        let largest = self.largest_lambda * self.l1_ratio;
        let useful = |value: f64| if self.is_constrained() { value } else { value.abs() };
        let is_most = |value: f64| useful(value) >= REACHED * largest && largest > 0.0;
        let mut features = Vec::new();
        for output in &self.outputs {
            let products = output.target_products().iter().enumerate().filter(|(_, value)| is_most(**value));
            features.extend(products.map(|(column, _)| self.columns.feature(column)));
        }
        features
    }

    /// The features with a column that reaches the penalty at a fit, or beside it.
    pub(crate) fn at_penalty(&self, fit: &Fit) -> Result<Vec<usize>, Error> {
        let mut features = self.reaching(fit.report.lambda, &fit.coefficients)?;
        if let Some(beside) = &fit.beside {
            features.extend(self.reaching(beside.lambda, &beside.coefficients)?);
        }
        Ok(features)
    }

    /// The features with a column that reaches this penalty.
    fn reaching(&self, lambda: f64, coefficients: &Coefficients) -> Result<Vec<usize>, Error> {
        if lambda <= NEGLIGIBLE * self.largest_lambda {
            return Ok(Vec::new());
        }
        let least = REACHED * lambda * self.l1_ratio;
        let useful = |value: f64| if self.is_constrained() { value } else { value.abs() };
        let mut features = Vec::new();
        for (output, coefficients) in self.outputs.iter().zip(coefficients) {
            let correlations = certificate::correlations(output, &self.dense(coefficients))?;
            let reach = correlations.iter().enumerate().filter(|(_, value)| useful(**value) >= least);
            features.extend(reach.map(|(column, _)| self.columns.feature(column)));
        }
        Ok(features)
    }
}
