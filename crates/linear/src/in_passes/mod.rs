//! Lasso and elastic net from sums over rows: the products of all columns, or of a working set of them.
//! Tables in memory with many rows and few columns take the same sums.

mod decided;
mod products;
mod survey;
mod working_set;

use std::ops::Range;

use fewest_columns::{few_rows, safe_stream_sums};
use fewest_core::method::{Choice as _, Regularization};
use fewest_core::{
    BATCH_ROWS, Budget, Column, Context, Dataset, Error, Returned, RowBatches, SampleStream, Selection,
};
use fewest_solver::bisection::Tried;

use super::columns::LinearColumns;
use super::loss::LinearLoss;
use super::penalised::opened;
use super::search::{Model, Problem};
pub(super) use decided::{Asked, Decided};
use products::{ProductPass, Surveyed, bytes_of_square};
use survey::{Sums, Survey, columns_of, outputs_of};

/// Bytes that products may take where the context gives no number.
const MOST_BYTES: usize = 1 << 30;

/// A table in memory takes products where it has at most so many columns, or so many for each feature that
/// is asked for, up to a number: then they are no more work than to pass over its rows for each step of a
/// path.
const FEW_COLUMNS: usize = 128;
const FEW_OF_EACH: usize = 20;
const MOST_COLUMNS: usize = 1024;

impl Model<'_> {
    /// Whether a table in memory takes [products](Self::few_columns) from the start: one whose answer is
    /// [decided](Self::is_decided) by products, and that has few columns.
    pub(super) fn takes_products(&self, data: &Dataset, budget: Budget) -> bool {
        let most = match (self.lasso.regularization, budget) {
            (Regularization::Count, Budget::Count(k)) => {
                FEW_OF_EACH.saturating_mul(k).clamp(FEW_COLUMNS, MOST_COLUMNS)
            }
            _ => FEW_COLUMNS,
        };
        data.n_features() <= most && self.is_decided(data)
    }

    /// All columns of a table in memory by their products with each other, where they are few.
    pub(super) fn few_columns<'d>(
        &self,
        data: &'d Dataset,
        context: &Context<'_>,
    ) -> Result<Option<LinearColumns<'d>>, Error> {
        let all: Vec<usize> = (0..data.n_features()).collect();
        self.columns_of(data, &all, MOST_COLUMNS, context)
    }

    /// The columns of some features of a table in memory by their products with each other, with the bits of
    /// [`select_stream`](Self::select_stream); `None` where columns are sparse, so that it would be more
    /// work, where there are more than `most`, and where the products would take more memory than the table.
    pub(super) fn columns_of<'d>(
        &self,
        data: &'d Dataset,
        features: &[usize],
        most: usize,
        context: &Context<'_>,
    ) -> Result<Option<LinearColumns<'d>>, Error> {
        if features.is_empty() {
            return Ok(None);
        }
        let part = data.feature_subset(features)?;
        let Some(is_stored) = is_stored(&part)? else { return Ok(None) };
        let (n, of_row) = (data.n_samples(), size_of::<f64>() * features.len().max(1));
        // Columns that are made when they are asked for are made once, not once for each batch.
        let at_once = if is_stored { BATCH_ROWS } else { (MOST_BYTES / of_row).max(BATCH_ROWS) };
        let copied = if !is_stored && at_once >= n { Some(part.copy_rows(0..n)?) } else { None };
        // Columns behind the first one that is made were not looked at before.
        if let Some(copied) = &copied
            && self::is_stored(copied)? != Some(true)
        {
            return Ok(None);
        }
        let rows = match &copied {
            Some(copied) => RowBatches::new(copied, BATCH_ROWS)?,
            None => RowBatches::new(&part, at_once)?,
        };
        let mut stream = Told { rows, n_told: 0, n, context };
        let bytes = n.saturating_mul(size_of::<f64>() * data.n_features().max(1));
        let bytes = if most == MOST_COLUMNS { bytes } else { bytes.max(MOST_BYTES) };
        let context = &Context { memory: Some(bytes), ..*context };
        let Some(first) = stream.next_batch()? else { return Ok(None) };
        let table = match self.surveyed(&mut stream, first, context) {
            // The squares of the target overflow; in memory it is scaled before.
            Err(Error::Numerical { .. }) => return Ok(None),
            table => table?,
        };
        let all: Vec<usize> = (0..features.len()).collect();
        let n_columns = table.n_columns(&all);
        if n_columns > most || bytes_of_square(n_columns, &table) > bytes {
            return Ok(None);
        }
        let (gram, of_outputs) = table.square(&mut stream, &all, bytes, context)?;
        let mut sources = table.sources(&all);
        sources.iter_mut().for_each(|source| source.feature = features[source.feature]);
        LinearColumns::of_products(data, sources, gram, of_outputs).map(Some)
    }

    /// The selection from rows that are read in passes: one for means and deviations, and one for the
    /// products of all columns, from which the problem is solved and its gap certified as from a table. Where
    /// there is no memory for the products of all columns, they are those of a [working
    /// set](working_set), and the answer is checked over all columns. It is that of the columns which
    /// [decide](decided) on it.
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
        if let Some(instructions) = stream.instructions() {
            let pass = ProductPass::instructed(instructions)?;
            pass.sum(stream, self.method, context.memory.unwrap_or(MOST_BYTES), context)?;
            return Err(Error::Stopped { before: "the products of all rows were put together" });
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
        let asked = Asked { data: &data, n_features: table.features.len(), budget, control, context };
        let run = Run { model: self, table: &table, asked };
        if table.parts.len() == 1 && table.are_few_rows(run.most_bytes()) {
            let whole = few_rows(stream, &data, table.n)?;
            return Selection::only(self.select_many(&whole, &[budget], context)?);
        }
        let all: Vec<usize> = (0..table.features.len()).collect();
        let n_columns = table.n_columns(&all);
        if table.parts.len() > 1 || bytes_of_square(n_columns, &table) > run.most_bytes() {
            return run.by_working_set(stream);
        }
        let columns = run.columns(stream, &all)?;
        let problem = Problem::new(self, &data, &columns, control, context)?;
        let fit = problem.fit(budget, &mut Tried::none(), context)?;
        match self.decided(&problem, &fit, asked, &|features| columns.restricted(features))? {
            Some(decided) => decided.selection(self, asked),
            None => problem.selection(&fit, budget, table.features.len()),
        }
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

/// Whether the table has all columns in memory as they are, or makes some when they are asked for; `None`
/// where some are sparse, of those up to the first that is made.
fn is_stored(data: &Dataset) -> Result<Option<bool>, Error> {
    let mut scratch = Vec::new();
    for j in 0..data.n_features() {
        if let Column::Sparse { .. } = data.x().column(j, &mut scratch)? {
            return Ok(None);
        }
        // A column that is there needs no buffer.
        if !scratch.is_empty() {
            return Ok(Some(false));
        }
    }
    Ok(Some(true))
}

/// The rows of a table, whose progress is told.
struct Told<'a> {
    rows: RowBatches<'a>,
    n_told: usize,
    n: usize,
    context: &'a Context<'a>,
}

impl SampleStream for Told<'_> {
    fn next_batch(&mut self) -> Result<Option<Dataset>, Error> {
        let batch = self.rows.next_batch()?;
        self.n_told += batch.as_ref().map_or(0, Dataset::n_samples);
        self.context.report("products of columns", self.n_told, self.n);
        Ok(batch)
    }

    fn rewind(&mut self) -> Result<bool, Error> {
        self.n_told = 0;
        self.rows.rewind()
    }
}

/// What a selection is made from, beside the rows.
struct Run<'a> {
    model: &'a Model<'a>,
    table: &'a Surveyed,
    asked: Asked<'a>,
}

impl<'a> Run<'a> {
    /// Bytes that products may take.
    fn most_bytes(&self) -> usize {
        self.asked.context.memory.unwrap_or(MOST_BYTES)
    }

    /// The columns of `features`, by their products with each other and with the outputs.
    fn columns(&self, stream: &mut dyn SampleStream, features: &[usize]) -> Result<LinearColumns<'a>, Error> {
        let (gram, of_outputs) =
            self.table.square(stream, features, self.most_bytes(), self.asked.context)?;
        LinearColumns::of_products(self.asked.data, self.table.sources(features), gram, of_outputs)
    }
}
