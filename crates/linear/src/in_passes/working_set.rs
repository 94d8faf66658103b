//! More columns than there is memory for the products of: those of a working set, and a check of all others.
//!
//! 1. A pass for the products of all columns with the outputs, `c = Xᵀy / n`.
//! 2. The columns with the largest of them are the working set. A pass for their products with each other.
//! 3. The problem of these columns is solved as that of a table. All points that decide on the answer are
//!    kept: the breakpoints of the path, with the one where the next feature would join; the penalties that
//!    were tried for an elastic net; those that are reported.
//! 4. A pass for the products of all columns with those that have a coefficient at one of these points. So
//!    follows `v = Xᵀ(y − Xw) / n` of all columns at each of them. Between breakpoints `v` and the penalty
//!    are linear: a path with `|vⱼ| < λ` for all others at its breakpoints is that of all columns.
//! 5. Columns for which this does not hold join the working set, with those nearest to it, and steps 2 to 4
//!    are repeated.
//!
//! The answer is that of the columns that [decide](super::decided) on it, and its gap is that of all columns.
//!
//! Memory: `24 m²` bytes for the products of `m` columns of the working set, `8` for each pair of those that
//! decide, some numbers a column, and in step 4 24 bytes for each column of a part of the table and each with
//! a coefficient.

use fewest_core::method::Regularization;
use fewest_core::{Error, SampleStream, Selection, order};
use fewest_solver::bisection::Tried;

use super::Run;
use super::decided::{AtEnd, Decided, Ends, together};
use super::products::{bytes_of_square, too_many};
use crate::search::{Problem, REACHED, Seen};

/// Columns of the first working set, at least, and for each feature that is asked for. Products of so few
/// cost little beside a pass over a table of many thousands.
const FIRST: usize = 512;
const FIRST_OF_EACH: usize = 10;

/// Columns that join a working set, at least.
const JOIN: usize = 128;

/// Products with the residual below this share of the largest with the outputs are rounding.
const ROUNDING: f64 = 1e-8;

/// Columns that are checked at a time.
const BLOCK: usize = 64;

/// What a check of all columns found.
struct Checked {
    /// Of each feature the largest share of the penalty that its columns reach, at the points before the
    /// answer.
    reached: Vec<(f64, usize)>,
    /// Features with a coefficient at one of the points.
    support: Vec<usize>,
    /// Of each of the last points and by output, `vⱼ` of all columns.
    last: Vec<Vec<Vec<f64>>>,
}

/// By output, all columns at a point, from their products with the residual there.
fn at_point(products: &[Vec<f64>], point: &Seen, of_residual: Vec<Vec<f64>>) -> Vec<AtEnd> {
    let outputs = of_residual.into_iter().zip(products).enumerate();
    let end = |(output, (correlations, products)): (usize, (Vec<f64>, &Vec<f64>))| {
        let mut w = vec![0.0; products.len()];
        for &(column, weight) in point.coefficients.get(output).into_iter().flatten() {
            if let Some(w) = w.get_mut(column) {
                *w = weight;
            }
        }
        AtEnd { w, products: products.clone(), correlations }
    };
    outputs.map(end).collect()
}

impl Run<'_> {
    /// The selection by working sets.
    ///
    /// # Errors
    /// [`Error::Unsupported`] where a working set needs more memory than there is for sums; those of the
    /// stream and of the solver; [`Error::Stopped`] where the answer was not checked over all columns.
    pub(super) fn by_working_set(&self, stream: &mut dyn SampleStream) -> Result<Selection, Error> {
        let (table, asked) = (self.table, self.asked);
        let products = self.with_outputs(stream)?;
        let relevance = |feature: usize| {
            let columns = |of: &Vec<f64>| {
                let own = of.get(table.columns(feature)).unwrap_or(&[]);
                own.iter().map(|value| self.model.useful(*value)).fold(0.0, f64::max)
            };
            (products.iter().map(columns).fold(0.0, f64::max), feature)
        };
        let relevant: Vec<(f64, usize)> = (0..table.features.len()).map(relevance).collect();
        let largest = relevant.iter().map(|(value, _)| *value).fold(0.0, f64::max);
        let k = match self.model.lasso.regularization {
            Regularization::Count => asked.budget.count(&["lambda", "lambda_ratio"])?,
            _ => 0,
        };
        let mut needed = Vec::new();
        if let Regularization::Ratio(_) = self.model.lasso.regularization {
            // The penalty is a share of the largest useful one, which this feature decides.
            let first = |a: &&(f64, usize), b: &&(f64, usize)| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1));
            let deciding: Vec<(f64, usize)> = relevant.iter().max_by(first).copied().into_iter().collect();
            self.fill(&mut needed, deciding, 1).map_err(|columns| self.too_many(columns))?;
        }
        let n_first = FIRST.max(FIRST_OF_EACH.saturating_mul(k));
        if bytes_of_square(k, table) > self.most_bytes() {
            return Err(self.too_many(k));
        }
        let mut working = Vec::new();
        self.fill(&mut working, relevant, n_first).map_err(|columns| self.too_many(columns))?;
        // Features that join those which decided on an answer.
        let mut joining: Vec<usize> = Vec::new();
        let mut is_decided = true;
        loop {
            let columns = self.columns(stream, &working)?;
            let problem = Problem::new(self.model, asked.data, &columns, asked.control, asked.context)?;
            let problem = problem.watched();
            let fit = problem.fit(asked.budget, &mut Tried::none(), asked.context)?;
            let seen = self.named(&working, self.deciding_points(&problem, k));
            let here = joining.iter().copied().filter(|feature| working.binary_search(feature).is_ok());
            let features = together(&problem.decisive(&fit), &here.collect::<Vec<_>>());
            drop(problem);
            let status = fit.report.status;
            let decided = match status.is_stopped() || !is_decided {
                true => None,
                false => self
                    .model
                    .decide(features, &fit.report, asked, &|features| columns.restricted(features))?,
            };
            if decided.is_none() && asked.context.stopped().is_some() {
                return Err(Error::Stopped { before: "the answer was checked over all columns" });
            }
            // Where nothing decides, no column has a product with the target.
            let mut answer = decided.unwrap_or(Decided { features: working.clone(), columns, fit });
            let own = Problem::new(self.model, asked.data, &answer.columns, asked.control, asked.context)?;
            let unscaled = |lambda, of: &[_]| Seen { lambda, coefficients: own.unscaled(of) };
            let fit = &answer.fit;
            let beside = fit.beside.iter().map(|beside| unscaled(beside.lambda, &beside.coefficients));
            let last: Vec<Seen> = beside.chain([unscaled(fit.report.lambda, &fit.coefficients)]).collect();
            drop(own);
            let last = self.named(&answer.features, last);
            let Checked { reached, support, last: of_residual } =
                self.check(stream, &seen, &last, (&products, ROUNDING * largest))?;
            let is_violating = |(share, feature): &(f64, usize)| {
                *share >= REACHED && working.binary_search(feature).is_err()
            };
            let (mut violating, others): (Vec<_>, Vec<_>) = reached.into_iter().partition(is_violating);
            let points = last.iter().zip(of_residual);
            let mut points: Vec<Vec<AtEnd>> =
                points.map(|(point, of_residual)| at_point(&products, point, of_residual)).collect();
            let at_answer = points.pop().unwrap_or_default();
            let ends = Ends { answer: at_answer, beside: points.pop().unwrap_or_default() };
            self.model.certify(&mut answer.fit.report, &ends.answer, asked.control)?;
            let found = self.model.joining(&ends, &answer, |column| table.feature(column), asked.control);
            let known = joining.len();
            joining = together(&joining, &found);
            if violating.is_empty() && joining.len() == known {
                if !is_decided || answer.is_as_good_as(status) {
                    return answer.selection(self.model, asked);
                }
                is_decided = false;
            }
            let is_new = |feature: &&usize| {
                let is_violating = violating.iter().any(|(_, other)| other == *feature);
                !is_violating && working.binary_search(feature).is_err()
            };
            let new: Vec<(f64, usize)> =
                joining.iter().filter(is_new).map(|feature| (1.0, *feature)).collect();
            violating.extend(new);
            // What was ever needed stays, so that there is an end.
            needed = together(&needed, &support);
            if violating.is_empty() {
                continue;
            }
            let before = table.n_columns(&working);
            let last = before + violating.len().min(before).max(JOIN);
            self.fill(&mut needed, violating, last).map_err(|columns| self.too_many(columns))?;
            working.clone_from(&needed);
            let is_other = |(_, feature): &(f64, usize)| needed.binary_search(feature).is_err();
            // Where there is no room for others, those that are needed are enough.
            let _ = self.fill(&mut working, others.into_iter().filter(is_other).collect(), last);
        }
    }

    /// The error about a working set of so many columns.
    fn too_many(&self, columns: usize) -> Error {
        let bytes = bytes_of_square(columns, self.table);
        let what = format!("a working set of {columns} columns");
        too_many(self.table.method, &what, bytes, self.most_bytes())
    }

    /// By output, the products of all columns with it.
    fn with_outputs(&self, stream: &mut dyn SampleStream) -> Result<Vec<Vec<f64>>, Error> {
        let mut products = vec![Vec::new(); self.table.outputs.len()];
        for features in self.table.pieces(self.table.outputs.len(), self.most_bytes()) {
            let found = self.table.with_outputs(stream, &features, self.most_bytes(), self.asked.context)?;
            let of_outputs = found.chunks_exact(self.table.n_columns(&features).max(1));
            products.iter_mut().zip(of_outputs).for_each(|(all, own)| all.extend_from_slice(own));
        }
        Ok(products)
    }

    /// Adds features to a working set, those of the largest values first, until it has `last` columns, as far
    /// as there is memory for their products. Where there is none for any, how many columns there would be.
    fn fill(&self, working: &mut Vec<usize>, mut found: Vec<(f64, usize)>, last: usize) -> Result<(), usize> {
        order::largest_first(&mut found);
        let before = working.len();
        let (mut columns, mut refused) = (self.table.n_columns(working), None);
        for (_, feature) in found {
            let wider = columns + self.table.columns(feature).len();
            // One is enough, though a category may have more levels than columns are wanted.
            if wider > last && working.len() > before {
                break;
            }
            // A category of many levels is passed over where others have room.
            if bytes_of_square(wider, self.table) > self.most_bytes() {
                refused.get_or_insert(wider);
                continue;
            }
            columns = wider;
            working.push(feature);
        }
        let has_added = working.len() > before;
        order::sort_indices(working);
        if has_added { Ok(()) } else { Err(refused.unwrap_or(columns)) }
    }

    /// The points that decide on the answer. Of a search for `k` features by bisection
    /// these are all with no more of them, and of the others the one with the largest penalty.
    fn deciding_points(&self, problem: &Problem<'_>, k: usize) -> Vec<Seen> {
        let mut seen = problem.seen();
        if self.model.lasso.regularization == Regularization::Count && self.model.l1_ratio < 1.0 {
            let is_more = |point: &Seen| problem.scores(&point.coefficients).len() > k;
            let more = seen.iter().filter(|point| is_more(point)).map(|point| point.lambda);
            let least = more.fold(0.0, f64::max);
            seen.retain(|point| point.lambda >= least);
        }
        let unscaled = |point: Seen| Seen { coefficients: problem.unscaled(&point.coefficients), ..point };
        seen.into_iter().map(unscaled).collect()
    }

    /// The points with the numbers that columns of the working set have among all.
    fn named(&self, working: &[usize], mut seen: Vec<Seen>) -> Vec<Seen> {
        let numbers: Vec<usize> = working.iter().flat_map(|&feature| self.table.columns(feature)).collect();
        for (column, _) in seen.iter_mut().flat_map(|point| &mut point.coefficients).flatten() {
            *column = numbers.get(*column).copied().unwrap_or(*column);
        }
        seen
    }

    /// Products of all columns with the residual at each point, and at the `last` ones, from their `products`
    /// with the outputs.
    fn check(
        &self,
        stream: &mut dyn SampleStream,
        seen: &[Seen],
        last: &[Seen],
        (products, least): (&[Vec<f64>], f64),
    ) -> Result<Checked, Error> {
        let table = self.table;
        let all = seen.iter().chain(last).flat_map(|point| &point.coefficients).flatten();
        let mut support: Vec<usize> = all.map(|(column, _)| table.feature(*column)).collect();
        order::sort_indices(&mut support);
        support.dedup();
        let others: Vec<usize> = support.iter().flat_map(|&feature| table.columns(feature)).collect();
        let (mut reached_by, mut of_all) = (Vec::new(), vec![vec![Vec::new(); products.len()]; last.len()]);
        for features in table.pieces(others.len(), self.most_bytes()) {
            let height = table.n_columns(&features);
            let own = match others.is_empty() {
                true => Vec::new(),
                false => {
                    table.with_features(stream, &features, &support, self.most_bytes(), self.asked.context)?
                }
            };
            if own.len() != height * others.len() {
                let (expected, found) = (height * others.len(), own.len());
                return Err(Error::ShapeMismatch { what: "products of columns", expected, found });
            }
            let first = features.first().map_or(0, |feature| table.columns(*feature).start);
            // Of a point and an output: the products of some columns with the residual.
            let residual = |point: &Seen, output: usize, from: usize, v: &mut [f64]| {
                let of_output = products.get(output).and_then(|all| all.get(first + from..));
                v.iter_mut().zip(of_output.unwrap_or(&[])).for_each(|(v, product)| *v = *product);
                for (column, weight) in point.coefficients.get(output).into_iter().flatten() {
                    let at = others.binary_search(column).unwrap_or(0) * height + from;
                    let of_column = own.get(at..).unwrap_or(&[]);
                    v.iter_mut().zip(of_column).for_each(|(v, product)| *v -= weight * product);
                }
            };
            let blocks = fewest_parallel::map(height.div_ceil(BLOCK), |block| {
                let from = block * BLOCK;
                let mut v = vec![0.0; BLOCK.min(height - from)];
                let mut largest = vec![0.0_f64; v.len()];
                for point in seen {
                    let limit = (point.lambda * self.model.l1_ratio).max(least);
                    for output in 0..products.len() {
                        residual(point, output, from, &mut v);
                        let each = largest.iter_mut().zip(&v);
                        each.for_each(|(most, v)| *most = most.max(self.model.useful(*v) / limit));
                    }
                }
                let mut of_last = Vec::with_capacity(last.len() * products.len());
                for point in last {
                    for output in 0..products.len() {
                        residual(point, output, from, &mut v);
                        of_last.push(v.clone());
                    }
                }
                (largest, of_last)
            });
            let mut reached = Vec::with_capacity(height);
            for (largest, of_last) in blocks {
                reached.extend(largest);
                of_all.iter_mut().flatten().zip(of_last).for_each(|(all, own)| all.extend(own));
            }
            for feature in features {
                let columns = table.columns(feature);
                let own = reached.get(columns.start - first..columns.end - first).unwrap_or(&[]);
                reached_by.push((own.iter().copied().fold(0.0, f64::max), feature));
            }
        }
        Ok(Checked { reached: reached_by, support, last: of_all })
    }
}
