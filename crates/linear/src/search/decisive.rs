//! What decides on a fit, and the fit from that alone.

use fewest_core::method::Regularization;
use fewest_core::{Budget, Context, Error, order};
use fewest_solver::InnerProducts;
use fewest_solver::bisection::Tried;

use super::{Fit, Problem};

/// A product with the target that is the largest but for rounding, as a share of it.
const LARGEST: f64 = 1.0 - 1e-9;

impl Problem<'_> {
    /// The fit once more, from these columns alone, at the penalty that it has come to, if any was searched for.
    pub(crate) fn again(&self, budget: Budget, lambda: f64, context: &Context<'_>) -> Result<Fit, Error> {
        match self.options.regularization {
            Regularization::Count if self.l1_ratio < 1.0 => self.at(lambda, &[]),
            _ => self.fit(budget, &mut Tried::none(), context),
        }
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
        let is_most = |value: f64| useful(value) >= LARGEST * largest && largest > 0.0;
        let mut features = Vec::new();
        for output in &self.outputs {
            let products = output.target_products().iter().enumerate().filter(|(_, value)| is_most(**value));
            features.extend(products.map(|(column, _)| self.columns.feature(column)));
        }
        features
    }
}
