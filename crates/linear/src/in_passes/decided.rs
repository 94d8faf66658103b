//! An answer from the products of the columns that decide on it, and of no others.
//!
//! A fit may be found from the values of a table in memory, from the products of all columns, or from those
//! of one working set or another. What it finds is the same but for rounding. The columns that decide on it
//! are the same, too: those with a coefficient at the answer or on the path to it, the one that would join
//! next, those that depend linearly on others, and the one that gives the largest useful penalty. Columns
//! that reach the penalty at the answer, or where one would join next, join them, such as copies. So the
//! problem of these columns alone, with products whose bits do not depend on what else is multiplied, has one
//! answer, whichever way led to its columns.

use fewest_core::method::Regularization;
use fewest_core::{
    BATCH_ROWS, Budget, Certificate, Context, Dataset, Error, Selection, SolverReport, Status, Target, order,
};
use fewest_solver::{Atoms, Control, InnerProducts, Targeted, certificate};

use crate::columns::LinearColumns;
use crate::search::{EXACT, Fit, Model, Problem, REACHED, gap_on_path, of_all};

/// Columns whose products with the residual are taken as those of the columns that decide are, for each
/// output: the largest, if they are as large as theirs but for rounding.
const MOST_LEADING: usize = 8;
const LEADING: f64 = 1.0 - 1e-9;

/// Most times that columns which reach the penalty join those that decide on the answer, and how many
/// features decide then: of very many copies the first will do.
const MOST_JOINS: usize = 8;
const MOST_DECIDING: usize = 2048;

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
pub(crate) type ProductsOf<'f, 'd> = dyn Fn(&[usize]) -> Result<Option<LinearColumns<'d>>, Error> + 'f;

/// The answer of the columns that decide on it.
pub(crate) struct Decided<'a> {
    /// Increasing.
    pub(super) features: Vec<usize>,
    pub(super) columns: LinearColumns<'a>,
    pub(super) fit: Fit,
}

impl Decided<'_> {
    /// Whether it has converged if another answer has: of columns that depend on each other those that decide
    /// may not be found.
    pub(super) fn is_as_good_as(&self, other: Status) -> bool {
        Status::worst([self.fit.report.status, other]) == other
    }

    pub(crate) fn selection(&self, model: &Model<'_>, asked: Asked<'_>) -> Result<Selection, Error> {
        let problem = Problem::new(model, asked.data, &self.columns, asked.control, asked.context)?;
        problem.selection(&self.fit, asked.budget, asked.n_features)
    }
}

/// What was found, if nothing stopped it.
fn unless_stopped<T>(found: Result<T, Error>) -> Result<Option<T>, Error> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(Error::Stopped { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// The features of both lists, increasing.
pub(super) fn together(some: &[usize], others: &[usize]) -> Vec<usize> {
    let mut all = [some, others].concat();
    order::sort_indices(&mut all);
    all.dedup();
    all
}

/// An output at the answer: of each column its coefficient, its product with the output, and that with the
/// residual.
pub(super) struct AtEnd {
    pub(super) w: Vec<f64>,
    pub(super) products: Vec<f64>,
    pub(super) correlations: Vec<f64>,
}

/// All columns at the answer, and at the other point that decides on it, if there is one; an output after the
/// other.
pub(super) struct Ends {
    pub(super) answer: Vec<AtEnd>,
    pub(super) beside: Vec<AtEnd>,
}

impl AtEnd {
    /// Takes the products of some columns from another, whose columns have these places here.
    fn replace(&mut self, other: &Self, places: &[usize]) {
        for ((&place, product), correlation) in places.iter().zip(&other.products).zip(&other.correlations) {
            (self.products[place], self.correlations[place]) = (*product, *correlation);
        }
    }
}

impl Model<'_> {
    /// Whether the answer from a table in memory is [decided](Self::decided): where it has more than a batch
    /// of rows, and nothing that passes refuse.
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

    /// The answer of the columns that decide on `fit`, whose products `products_of` gives, certified over all
    /// columns of `problem`; `None` where there are no such columns or products, where their answer is worse,
    /// or where a run was stopped.
    pub(crate) fn decided<'d>(
        &self,
        problem: &Problem<'_>,
        fit: &Fit,
        asked: Asked<'_>,
        products_of: &ProductsOf<'_, 'd>,
    ) -> Result<Option<Decided<'d>>, Error> {
        if fit.report.status.is_stopped() {
            return Ok(None);
        }
        let mut features = problem.decisive(fit);
        for joins in 1.. {
            let Some(mut decided) = self.decide(features, &fit.report, asked, products_of)? else { break };
            let Some(ends) = self.ends(problem, &decided, asked, products_of)? else { break };
            self.certify(&mut decided.fit.report, &ends.answer, asked.control)?;
            let joining =
                self.joining(&ends, &decided, |column| problem.columns().feature(column), asked.control);
            if joining.is_empty() || joins == MOST_JOINS {
                return Ok(Some(decided).filter(|decided| decided.is_as_good_as(fit.report.status)));
            }
            features = together(&decided.features, &joining);
        }
        Ok(None)
    }

    /// All columns of `problem` at the answer.
    fn ends(
        &self,
        problem: &Problem<'_>,
        decided: &Decided<'_>,
        asked: Asked<'_>,
        products_of: &ProductsOf<'_, '_>,
    ) -> Result<Option<Ends>, Error> {
        let own = Problem::new(self, asked.data, &decided.columns, asked.control, asked.context)?;
        let (all, some) = (problem.columns(), &decided.columns);
        let n_outputs = some.outputs.len();
        let Some(places) = all.places_of(some).filter(|_| all.outputs.len() == n_outputs) else {
            return Ok(None);
        };
        let coefficients = own.unscaled(&decided.fit.coefficients);
        let at = |coefficients: &[Vec<(usize, f64)>]| -> Result<Vec<AtEnd>, Error> {
            let outputs = coefficients.iter().enumerate();
            outputs.map(|(output, own)| all.with_those_of(some, &places, output, own)).collect()
        };
        let beside = decided.fit.beside.as_ref();
        let beside = beside.map(|beside| at(&own.unscaled(&beside.coefficients))).transpose()?;
        let beside = beside.unwrap_or_default();
        let mut ends = at(&coefficients)?;
        if all.are_products() {
            return Ok(Some(Ends { answer: ends, beside }));
        }
        // The gap depends on the largest product with the residual, to the last bit.
        let leading = self.leading(&ends, &places, decided.fit.report.lambda);
        let leading: Vec<usize> = leading.into_iter().map(|column| all.feature(column)).collect();
        let features = together(&decided.features, &leading);
        if features.len() > decided.features.len() {
            let Some(more) = unless_stopped(products_of(&features))?.flatten() else { return Ok(None) };
            let (Some(all_places), Some(at)) = (all.places_of(&more), more.places_of(some)) else {
                return Ok(None);
            };
            for (output, end) in ends.iter_mut().enumerate() {
                let named: Vec<(usize, f64)> =
                    coefficients[output].iter().map(|&(column, weight)| (at[column], weight)).collect();
                end.replace(&more.at_end(output, &named)?, &all_places);
            }
        }
        Ok(Some(Ends { answer: ends, beside }))
    }

    /// The columns, beside those at these places, of the largest products with the residual, where these are
    /// larger than those of all columns there.
    fn leading(&self, ends: &[AtEnd], places: &[usize], lambda: f64) -> Vec<usize> {
        let mut leading = Vec::new();
        let ridge = lambda * (1.0 - self.l1_ratio);
        for AtEnd { correlations, w, .. } in ends {
            let at = |column: usize| self.useful(correlations[column] - ridge * w[column]);
            let known = places.iter().map(|&column| at(column)).fold(0.0, f64::max);
            let others = correlations.iter().zip(w).enumerate().filter(|(_, (_, w))| **w == 0.0);
            let mut larger: Vec<(f64, usize)> = others
                .map(|(column, (product, _))| (self.useful(*product), column))
                .filter(|(product, column)| *product > LEADING * known && !places.contains(column))
                .collect();
            order::largest_first(&mut larger);
            leading.extend(larger.into_iter().take(MOST_LEADING).map(|(_, column)| column));
        }
        leading
    }

    /// The features that join those which decided on an answer, where all columns are as `ends` says.
    pub(super) fn joining(
        &self,
        ends: &Ends,
        decided: &Decided<'_>,
        feature: impl Fn(usize) -> usize,
        control: Control<'_>,
    ) -> Vec<usize> {
        let report = &decided.fit.report;
        let is_loose = report.certificate.value() > control.tolerance
            || (self.lasso.regularization != Regularization::Count && decided.columns.n_atoms() <= EXACT);
        // The columns that reach a penalty at a point, or by so little more that it is rounding.
        let reaching = |point: &[AtEnd], lambda: f64, or_more: bool| -> Vec<usize> {
            let products = point.iter().flat_map(|end| end.correlations.iter().enumerate());
            let reaching = products.filter(|(_, product)| {
                let share = self.useful(**product) / (lambda * self.l1_ratio);
                lambda > 0.0 && share >= REACHED && (share <= REACHED.recip() || or_more)
            });
            reaching.map(|(column, _)| feature(column)).collect()
        };
        let beside = decided.fit.beside.as_ref().map_or(0.0, |beside| beside.lambda);
        let mut joining =
            together(&reaching(&ends.answer, report.lambda, is_loose), &reaching(&ends.beside, beside, true));
        joining.retain(|feature| decided.features.binary_search(feature).is_err());
        joining.truncate(MOST_DECIDING.saturating_sub(decided.features.len()));
        joining
    }

    /// The answer of the columns of these features, or of those that decide on it.
    pub(super) fn decide<'d>(
        &self,
        mut features: Vec<usize>,
        before: &SolverReport,
        asked: Asked<'_>,
        products_of: &ProductsOf<'_, 'd>,
    ) -> Result<Option<Decided<'d>>, Error> {
        if features.is_empty() {
            return Ok(None);
        }
        let Asked { data, budget, context, .. } = asked;
        let control = Control { progress: None, ..asked.control };
        let Some(mut columns) = unless_stopped(products_of(&features))?.flatten() else { return Ok(None) };
        loop {
            let problem = Problem::new(self, data, &columns, control, context)?;
            let fit = unless_stopped(problem.again(budget, before, context))?;
            let Some(fit) = fit.filter(|fit| !fit.report.status.is_stopped()) else { return Ok(None) };
            let decisive = together(&problem.decisive(&fit), &problem.at_penalty(&fit)?);
            drop(problem);
            // There are no others than these features.
            if decisive == features {
                return Ok(Some(Decided { features, columns, fit }));
            }
            let Some(fewer) = columns.restricted(&decisive)? else { return Ok(None) };
            (features, columns) = (decisive, fewer);
        }
    }

    /// What a product counts: its size, or that of the sign which coefficients may have.
    pub(super) fn useful(&self, product: f64) -> f64 {
        self.lasso.sign.factor().map_or(product.abs(), |factor| (factor * product).max(0.0))
    }

    /// Gives the report the objective and the gap of the problem of all columns at its answer.
    pub(super) fn certify(
        &self,
        report: &mut SolverReport,
        outputs: &[AtEnd],
        control: Control<'_>,
    ) -> Result<(), Error> {
        let sign = self.lasso.sign.factor();
        let factor = sign.unwrap_or(1.0);
        let ridge = report.lambda * (1.0 - self.l1_ratio);
        let mut gaps = Vec::with_capacity(outputs.len());
        for AtEnd { w, products, correlations } in outputs {
            let w: Vec<f64> = w.iter().map(|w| factor * w).collect();
            let each = correlations.iter().zip(&w);
            let correlations: Vec<f64> = each.map(|(product, w)| factor * product - ridge * w).collect();
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
    /// The columns at coefficients of an output, which are those of `some` with these places here: from
    /// products, of all columns where they are known, or else of those.
    fn with_those_of(
        &self,
        some: &Self,
        places: &[usize],
        output: usize,
        coefficients: &[(usize, f64)],
    ) -> Result<AtEnd, Error> {
        let named: Vec<(usize, f64)> =
            coefficients.iter().map(|&(column, weight)| (places[column], weight)).collect();
        if self.are_products() {
            return self.at_end(output, &named);
        }
        let mut w = vec![0.0; self.n_atoms()];
        named.iter().for_each(|&(column, weight)| w[column] = weight);
        let products = self.outputs[output].clone();
        let correlations = certificate::correlations(&Targeted::new(self, products.clone(), 1.0), &w)?;
        let mut end = AtEnd { w, products, correlations };
        end.replace(&some.at_end(output, coefficients)?, places);
        Ok(end)
    }

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
