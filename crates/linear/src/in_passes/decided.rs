//! An answer from the products of the columns that decide on it, and of no others.
//!
//! A fit may be found from the values of a table in memory, from the products of all columns, or from those of
//! one working set or another. What it finds is the same but for rounding. The columns that decide on it are
//! the same, too: those with a coefficient at the answer or on the path to it, the one that would join next,
//! those that depend linearly on others, and the one that gives the largest useful penalty. So the problem of
//! these columns alone, with products whose bits do not depend on what else is multiplied, has one answer,
//! whichever way led to its columns.

use fewest_core::{
    BATCH_ROWS, Budget, Certificate, Context, Dataset, Error, Selection, SolverReport, Status, Target,
};
use fewest_solver::{Atoms, Control, InnerProducts, Targeted, certificate};

use crate::columns::LinearColumns;
use crate::search::{Fit, Model, Problem, gap_on_path, of_all};

/// Most times that the columns which decide on the answer of some columns are taken in place of those.
const MOST_ROUNDS: usize = 4;

/// A penalty that is as good as zero, as a share of the largest useful one: products with the residual are
/// rounding there, which depends on the way to the answer. The gap is that of this penalty.
const NOISE: f64 = 1e-13;

/// What a fit is asked for.
#[derive(Clone, Copy)]
pub(crate) struct Asked<'a> {
    /// A row at least, for what is to be known of the target.
    pub(crate) data: &'a Dataset,
    pub(crate) n_features: usize,
    pub(crate) budget: Budget,
    pub(crate) control: Control<'a>,
    pub(crate) context: &'a Context<'a>,
}

/// The columns of some features by their products; `None` where they are not known.
pub(super) type ProductsOf<'f, 'd> = dyn Fn(&[usize]) -> Result<Option<LinearColumns<'d>>, Error> + 'f;

/// The answer of the columns that decide on it.
pub(super) struct Decided<'a> {
    /// Increasing.
    pub(super) features: Vec<usize>,
    pub(super) columns: LinearColumns<'a>,
    pub(super) fit: Fit,
}

/// An output at the answer: of each column its coefficient, its product with the output, and that with the
/// residual.
pub(super) struct AtEnd {
    pub(super) w: Vec<f64>,
    pub(super) products: Vec<f64>,
    pub(super) correlations: Vec<f64>,
}

impl Model<'_> {
    /// Whether the answer from a table in memory is [decided](Self::decided): where it has more than a batch of
    /// rows, and nothing that passes refuse.
    pub(crate) fn is_decided(&self, data: &Dataset) -> bool {
        let lasso = self.lasso;
        data.n_samples() > BATCH_ROWS
            && data.sample_weights().is_none()
            && matches!(data.target(), Target::Real(_) | Target::Class(_))
            && lasso.covariates.is_empty()
            && lasso.offset.is_empty()
            && !lasso.regularization.is_chosen_by_data()
            && self.adaptive.is_none()
    }

    /// The selection of the columns that decide on `fit`, whose products `products_of` gives, certified over all
    /// columns of `problem`; `None` where there are no such columns or products, or where a run was stopped.
    pub(crate) fn decided<'d>(
        &self,
        problem: &Problem<'_>,
        fit: &Fit,
        asked: Asked<'_>,
        products_of: &ProductsOf<'_, 'd>,
    ) -> Result<Option<Selection>, Error> {
        let Some(mut decided) = self.decide(problem.decisive(fit), fit.report.lambda, asked, products_of)?
        else {
            return Ok(None);
        };
        let own = Problem::new(self, asked.data, &decided.columns, asked.control, asked.context)?;
        let all = problem.columns();
        let (Some(places), true) =
            (all.places_of(&decided.columns), all.outputs.len() == decided.columns.outputs.len())
        else {
            return Ok(None);
        };
        let is_other = |column: &usize| decided.features.binary_search(&all.feature(*column)).is_err();
        let others: Vec<usize> = (0..all.n_atoms()).filter(is_other).collect();
        let mut at_end = Vec::with_capacity(all.outputs.len());
        for (output, coefficients) in own.unscaled(&decided.fit.coefficients).iter().enumerate() {
            let mut end = decided.columns.at_end(output, coefficients)?;
            let mut dense = vec![0.0; all.n_atoms()];
            coefficients.iter().for_each(|&(column, weight)| dense[places[column]] = weight);
            let targeted = Targeted::new(all, all.outputs[output].clone(), 1.0);
            let correlations = certificate::correlations(&targeted, &dense)?;
            end.w.resize(end.w.len() + others.len(), 0.0);
            end.products.extend(others.iter().map(|&column| all.outputs[output][column]));
            end.correlations.extend(others.iter().map(|&column| correlations[column]));
            at_end.push(end);
        }
        self.certify(&mut decided.fit.report, at_end, asked.control)?;
        own.selection(&decided.fit, asked.budget, asked.n_features).map(Some)
    }

    /// The answer of the columns of these features, or of those that decide on it.
    pub(super) fn decide<'d>(
        &self,
        mut features: Vec<usize>,
        lambda: f64,
        asked: Asked<'_>,
        products_of: &ProductsOf<'_, 'd>,
    ) -> Result<Option<Decided<'d>>, Error> {
        let Asked { data, budget, context, .. } = asked;
        let control = Control { progress: None, ..asked.control };
        for round in 1.. {
            if features.is_empty() {
                return Ok(None);
            }
            let Some(columns) = products_of(&features)? else { return Ok(None) };
            let problem = Problem::new(self, data, &columns, control, context)?;
            let fit = problem.again(budget, lambda, context)?;
            if fit.report.status.is_stopped() {
                return Ok(None);
            }
            let decisive = problem.decisive(&fit);
            drop(problem);
            if decisive == features || round == MOST_ROUNDS {
                return Ok(Some(Decided { features, columns, fit }));
            }
            features = decisive;
        }
        Ok(None)
    }

    /// What a product counts: its size, or that of the sign which coefficients may have.
    pub(super) fn useful(&self, product: f64) -> f64 {
        self.lasso.sign.factor().map_or(product.abs(), |factor| (factor * product).max(0.0))
    }

    /// Gives the report the objective and the gap of the problem of all columns at its answer.
    pub(super) fn certify(
        &self,
        report: &mut SolverReport,
        outputs: Vec<AtEnd>,
        control: Control<'_>,
    ) -> Result<(), Error> {
        let sign = self.lasso.sign.factor();
        let factor = sign.unwrap_or(1.0);
        let ridge = report.lambda * (1.0 - self.l1_ratio);
        let mut gaps = Vec::with_capacity(outputs.len());
        for AtEnd { mut w, products, mut correlations } in outputs {
            w.iter_mut().for_each(|w| *w *= factor);
            let each = correlations.iter_mut().zip(&w);
            each.for_each(|(correlation, w)| *correlation = factor * *correlation - ridge * w);
            let largest = products.iter().map(|product| self.useful(*product)).fold(0.0, f64::max);
            let target_products = products.iter().map(|product| factor * product).collect();
            let problem = Alone(Atoms { target_squared_norm: 1.0, target_products, ..Atoms::default() });
            let lambda = (report.lambda * self.l1_ratio).max(NOISE * largest);
            gaps.push(gap_on_path(&problem, sign.is_some(), lambda, &w, &correlations)?);
        }
        let gap = of_all(&gaps);
        let by_gap = Status::by_certificate(gap, control.tolerance);
        report.status = Status::worst([report.status, by_gap]);
        report.objective = gaps.iter().map(|gap| gap.objective).sum();
        report.certificate = Certificate::gap(gap);
        Ok(())
    }
}

impl LinearColumns<'_> {
    /// The columns at coefficients of an output, from their products.
    fn at_end(&self, output: usize, coefficients: &[(usize, f64)]) -> Result<AtEnd, Error> {
        let n = self.n_atoms();
        let all: Vec<usize> = (0..n).collect();
        let (mut w, products) = (vec![0.0; n], self.outputs[output].clone());
        let (mut correlations, mut with) = (products.clone(), vec![0.0; n]);
        for &(column, weight) in coefficients {
            w[column] = weight;
            self.products(&all, &[column], &mut with)?;
            correlations.iter_mut().zip(&with).for_each(|(v, product)| *v -= weight * product);
        }
        Ok(AtEnd { w, products, correlations })
    }
}

/// Columns of which nothing but the products with an output is known.
struct Alone(Atoms);

impl InnerProducts for Alone {
    fn atoms(&self) -> &Atoms {
        &self.0
    }

    fn products(&self, _: &[usize], _: &[usize], _: &mut [f64]) -> Result<(), Error> {
        Err(Error::Unsupported {
            method: "a linear model in passes",
            what: "products of columns outside of the working set".to_owned(),
            instead: "read the rows into one table".to_owned(),
        })
    }
}
