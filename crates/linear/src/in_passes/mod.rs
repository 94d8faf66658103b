//! Lasso and elastic net from sums over rows: the products of all columns, or of a working set of them. Tables
//! in memory with many rows and few columns take the same sums.

mod products;
mod survey;
mod working_set;

use std::ops::Range;

use fewest_columns::{Returned, safe_stream_sums};
use fewest_core::method::Choice as _;
use fewest_core::{BATCH_ROWS, Budget, Column, Context, Dataset, Error, RowBatches, SampleStream, Selection};
use fewest_solver::Control;
use fewest_solver::bisection::Tried;

use super::columns::LinearColumns;
use super::loss::LinearLoss;
use super::penalised::opened;
use super::search::{Model, Problem};
use products::{Surveyed, bytes_of_square};
use survey::{Sums, Survey, columns_of, outputs_of};

/// Bytes that products may take where the context gives no number.
const MOST_BYTES: usize = 1 << 30;

/// A table in memory takes products where it has at most so many columns, or so many for each feature that
/// is asked for: then they are no more work than to pass over its rows for each step of a path.
const FEW_COLUMNS: usize = 128;
const FEW_OF_EACH: usize = 20;

impl Model<'_> {
    /// The columns of a table in memory by their products with each other, with the bits of
    /// [`select_stream`](Self::select_stream), if it has more than a batch of rows, few columns whose products
    /// take no more memory than they do, and nothing that passes refuse.
    pub(super) fn few_columns<'d>(
        &self,
        data: &'d Dataset,
        budgets: &[Budget],
        context: &Context<'_>,
    ) -> Result<Option<LinearColumns<'d>>, Error> {
        let lasso = self.lasso;
        let wanted = budgets.iter().map(|budget| if let Budget::Count(k) = budget { *k } else { 0 }).max();
        let most = FEW_OF_EACH.saturating_mul(wanted.unwrap_or(0)).max(FEW_COLUMNS);
        let has_more = !lasso.covariates.is_empty() || !lasso.offset.is_empty() || self.adaptive.is_some();
        if data.n_samples() <= BATCH_ROWS
            || data.n_features() > most
            || data.sample_weights().is_some()
            || lasso.regularization.is_chosen_by_data()
            || has_more
            || !is_dense(data)?
        {
            return Ok(None);
        }
        let mut stream = RowBatches::new(data, BATCH_ROWS)?;
        let Some(first) = stream.next_batch()? else { return Ok(None) };
        let table = match self.surveyed(&mut stream, first, context) {
            // The squares of the target overflow; in memory it is scaled before.
            Err(Error::Numerical { .. }) => return Ok(None),
            table => table?,
        };
        let all: Vec<usize> = (0..data.n_features()).collect();
        let (n_columns, bytes) = (table.n_columns(&all), bytes_of_table(data));
        if n_columns > most || bytes_of_square(n_columns, &table) > bytes {
            return Ok(None);
        }
        let (gram, of_outputs) = table.square(&mut stream, &all, bytes, context)?;
        LinearColumns::of_products(data, table.sources(&all), gram, of_outputs).map(Some)
    }

    /// The selection from rows that are read in passes: one for means and deviations, and one for the
    /// products of all columns, from which the problem is solved and its gap certified as from a table. Where
    /// there is no memory for the products of all columns, they are those of a [working
    /// set](working_set), and the answer is checked over all columns.
    pub(super) fn select_stream(
        &self,
        stream: &mut dyn SampleStream,
        budget: Budget,
        context: &Context<'_>,
    ) -> Result<Selection, Error> {
        let refuse = |what: String| {
            let instead = "leave it out, or read the rows into one table".to_owned();
            Err(Error::Unsupported { method: self.method, what: format!("{what} in passes"), instead })
        };
        let lasso = self.lasso;
        if !lasso.covariates.is_empty() || !lasso.offset.is_empty() {
            return refuse("covariates and an offset".to_owned());
        }
        if lasso.regularization.is_chosen_by_data() {
            return refuse(format!("regularization={}", lasso.regularization));
        }
        let is_other = |loss: LinearLoss| !matches!(loss, LinearLoss::Auto | LinearLoss::Squared);
        if is_other(lasso.loss) {
            return refuse(format!("loss={}", lasso.loss.word()));
        }
        let Some(first) = stream.next_batch()? else {
            return Err(Error::TooFew { what: "samples", minimum: 1, found: 0 });
        };
        let loss = lasso.loss.resolved(first.target());
        if is_other(loss) {
            return refuse(format!("loss={}", loss.word()));
        }
        let data = first.subset(&[0])?;
        let control = opened(&data, &[], lasso.tolerance, context)?;
        let table = self.surveyed(stream, first, context)?;
        budget.check(table.features.len())?;
        let run = Run { model: self, table: &table, data: &data, budget, control, context };
        let all: Vec<usize> = (0..table.features.len()).collect();
        let n_columns = table.n_columns(&all);
        if table.parts.len() > 1 || bytes_of_square(n_columns, &table) > run.most_bytes() {
            return run.by_working_set(stream);
        }
        let columns = run.columns(stream, &all)?;
        let problem = Problem::new(self, &data, &columns, control, context)?;
        let fit = problem.fit(budget, &mut Tried::none(), context)?;
        problem.selection(&fit, budget, table.features.len())
    }

    /// The pass for means and deviations, and one more where squares overflow, of one part of the features
    /// after the other.
    fn surveyed(
        &self,
        stream: &mut dyn SampleStream,
        first: Dataset,
        context: &Context<'_>,
    ) -> Result<Surveyed, Error> {
        let survey = Survey { method: self.method };
        let (mut features, mut parts, mut outputs) = (Vec::new(), Vec::<Range<usize>>::new(), None);
        let mut first = Some(first);
        loop {
            let before = features.len();
            let mut returned = Returned { first: first.take(), stream: &mut *stream };
            let found = safe_stream_sums(&mut returned, &survey, Sums::is_safe, context);
            let found = found.map_err(|error| error.in_columns_from(before))?;
            if let (None, Some((sums, _))) = (&outputs, found.first()) {
                outputs = Some((sums.n, outputs_of(sums, self.method)?));
            }
            features.extend(found.iter().map(|(sums, divisor)| columns_of(sums, *divisor)));
            parts.push(before..features.len());
            if !stream.next_part()? {
                break;
            }
        }
        let Some((n, outputs)) = outputs else {
            return Err(Error::TooFew { what: "features", minimum: 1, found: 0 });
        };
        Ok(Surveyed::new(self.method, n, features, outputs, parts))
    }
}

fn bytes_of_table(data: &Dataset) -> usize {
    data.n_samples().saturating_mul(data.n_features()).saturating_mul(size_of::<f64>())
}

/// Whether all values are stored, so that products of sparse columns would not be less work.
fn is_dense(data: &Dataset) -> Result<bool, Error> {
    let mut scratch = Vec::new();
    for j in 0..data.n_features() {
        if let Column::Sparse { .. } = data.x().column(j, &mut scratch)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// What a selection is made from, beside the rows.
struct Run<'a> {
    model: &'a Model<'a>,
    table: &'a Surveyed,
    /// A row, for what is to be known of the target.
    data: &'a Dataset,
    budget: Budget,
    control: Control<'a>,
    context: &'a Context<'a>,
}

impl Run<'_> {
    /// Bytes that products may take.
    fn most_bytes(&self) -> usize {
        self.context.memory.unwrap_or(MOST_BYTES)
    }

    /// The columns of `features`, by their products with each other and with the outputs.
    fn columns(&self, stream: &mut dyn SampleStream, features: &[usize]) -> Result<LinearColumns<'_>, Error> {
        let (gram, of_outputs) = self.table.square(stream, features, self.most_bytes(), self.context)?;
        LinearColumns::of_products(self.data, self.table.sources(features), gram, of_outputs)
    }
}
