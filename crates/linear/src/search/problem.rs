//! The problem of a lasso with squared errors: atoms, weights, covariates.

use fewest_core::{Budget, Context, Dataset, Error};
use fewest_solver::bisection::Tried;
use fewest_solver::{Control, InnerProducts, Projected, Scaled, Targeted};

use super::{Fit, Model, Problem};
use crate::Lasso;
use crate::columns::LinearColumns;
use crate::terms::{self, Terms};

impl<'a> Problem<'a> {
    pub(crate) fn new(
        model: &'a Model<'a>,
        data: &'a Dataset,
        columns: &'a LinearColumns<'a>,
        control: Control<'a>,
        context: &Context<'_>,
    ) -> Result<Self, Error> {
        let terms = Terms::of(model.lasso, columns)?;
        let mut scales = match model.adaptive {
            // Covariates are projected away.
            None if model.lasso.offset.is_empty() => Vec::new(),
            None => vec![vec![1.0; columns.n_atoms()]; columns.outputs.len()],
            Some(adaptive) => {
                let n = data.n_samples() as f64;
                let mut residuals: Vec<f64> = columns
                    .targets()
                    .iter()
                    .flat_map(|target| &target.values)
                    .map(|value| value / n)
                    .collect();
                residuals.chunks_exact_mut(data.n_samples()).for_each(|output| columns.weigh(output));
                adaptive.sizes(columns, &terms, &residuals, model.method, context)?
            }
        };
        for scales in &mut scales {
            terms.left_out.iter().for_each(|&column| scales[column] = 0.0);
        }
        let mut outputs: Vec<Box<dyn InnerProducts + Send>> = Vec::new();
        let factor = model.lasso.sign.factor();
        for (output, products) in columns.outputs.iter().enumerate() {
            let products = products.iter().map(|product| factor.unwrap_or(1.0) * product).collect();
            let plain = Targeted::new(columns, products, 1.0);
            let free: Box<dyn InnerProducts + Send> = match &terms.basis {
                None => Box::new(plain),
                Some(basis) => Box::new(Projected::new(plain, basis.kept.clone())?),
            };
            terms::check_left(free.target_squared_norm(), 1.0)?;
            outputs.push(match scales.get(output) {
                None => free,
                Some(scales) => Box::new(Scaled::new(free, scales.clone())?),
            });
        }
        let products = outputs.iter().flat_map(|output| output.target_products());
        let useful = |product: &f64| if factor.is_some() { *product } else { product.abs() };
        let largest = products.map(useful).fold(0.0_f64, f64::max);
        if factor == Some(-1.0) {
            if scales.is_empty() {
                scales = vec![vec![1.0; columns.n_atoms()]; outputs.len()];
            }
            scales.iter_mut().flatten().for_each(|scale| *scale = -*scale);
        }
        let (l1_ratio, options) = (model.l1_ratio, model.lasso);
        let largest_lambda = largest / l1_ratio;
        Ok(Self {
            model,
            data,
            columns,
            outputs,
            scales,
            terms,
            l1_ratio,
            options,
            control,
            largest_lambda,
            seen: None,
        })
    }
}

/// The lasso of each output by itself, with a penalty of its own: a share of its own largest one, or that at
/// the end of its own path to as many features as the budget. The answers, in the order of the outputs, share
/// the standardised columns.
pub(crate) fn each_output(
    method: &'static str,
    data: &Dataset,
    columns: &LinearColumns<'_>,
    options: &Lasso,
    budget: Budget,
    control: Control<'_>,
    context: &Context<'_>,
) -> Result<Vec<Fit>, Error> {
    // Outputs are solved side by side, and progress is reported from one thread.
    let context = &Context { progress: None, ..*context };
    let control = Control { progress: None, ..control };
    let model = &Model { method, lasso: options, l1_ratio: 1.0, adaptive: None };
    fewest_parallel::try_map(columns.outputs.len(), |output| {
        let products = &columns.outputs[output];
        let largest_lambda = products.iter().fold(0.0_f64, |most, product| most.max(product.abs()));
        let outputs: Vec<Box<dyn InnerProducts + Send>> =
            vec![Box::new(Targeted::new(columns, products.clone(), 1.0))];
        let (scales, terms) = (Vec::new(), Terms::default());
        Problem {
            model,
            data,
            columns,
            outputs,
            scales,
            terms,
            l1_ratio: 1.0,
            options,
            control,
            largest_lambda,
            seen: None,
        }
        .fit(budget, &mut Tried::none(), context)
    })
}
