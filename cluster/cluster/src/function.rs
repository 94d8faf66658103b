//! What executors compute: the function `fewest_sums`.

use std::hash::{Hash, Hasher};
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use datafusion::arrow::array::{ArrayRef, AsArray, BinaryArray};
use datafusion::arrow::datatypes::{DataType, UInt64Type};
use datafusion::common::exec_err;
use datafusion::error::Result;
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use fewest::core::{BATCH_ROWS, Budget, Context, Error as CoreError, SampleStream, State, sum_part};
use fewest::registry::{Registry, TargetKind};

use crate::error::one_line;
use crate::last_table::LastTable;
use crate::request::{Reply, Request};
use crate::s3::Stores;
use crate::secret::Secret;

/// The name of the function.
pub(crate) const NAME: &str = "fewest_sums";

/// Bytes of an answer at most: a column of them has offsets of 32 bits.
const LARGEST_REPLY: usize = 1 << 30;

/// `fewest_sums(request, first, end)`: the sums of one pass of a method over the rows `first .. end` of a
/// table, as bytes.
///
/// A row that is wrong is an answer, too, and no error of the query: trying again would not help.
#[derive(Debug)]
pub(crate) struct Sums {
    /// `None` where plans are made and handed on.
    work: Option<Work>,
    signature: Signature,
}

/// What an executor computes with.
#[derive(Debug)]
struct Work {
    registry: Registry,
    version: String,
    secret: Secret,
    pause: Duration,
    stores: Stores,
    last_table: LastTable,
}

impl Sums {
    /// The function, which takes requests of this version and with this secret, and waits before each.
    pub(crate) fn function(
        version: &str,
        secret: Secret,
        pause: Duration,
    ) -> std::result::Result<ScalarUDF, CoreError> {
        let version = version.to_owned();
        let (stores, last_table) = (Stores::default(), LastTable::default());
        let work = Work { registry: registry()?, version, secret, pause, stores, last_table };
        Ok(Self::of(Some(work)))
    }

    /// The function for plans, which computes nothing: the scheduler has no secret to ask for.
    pub(crate) fn named() -> ScalarUDF {
        Self::of(None)
    }

    fn version(&self) -> Option<&str> {
        self.work.as_ref().map(|work| work.version.as_str())
    }

    fn of(work: Option<Work>) -> ScalarUDF {
        let types = vec![DataType::Binary, DataType::UInt64, DataType::UInt64];
        // Nothing may be computed while a query is planned.
        ScalarUDF::from(Self { work, signature: Signature::exact(types, Volatility::Volatile) })
    }
}

impl Work {
    /// The sealed answer for some rows.
    fn answer(&self, sealed: &[u8], rows: Range<u64>) -> Vec<u8> {
        std::thread::sleep(self.pause);
        let reply = match self.secret.opened(&[], sealed) {
            None => Reply::WrongSecret,
            Some(body) => {
                // A panic would end the query without a word about the rows.
                let reply = catch_unwind(AssertUnwindSafe(|| self.reply(body, rows.clone())));
                reply.unwrap_or_else(|_| Reply::Failed("an executor ended by a fault of fewest".to_owned()))
            }
        };
        let mut message = Vec::new();
        reply.save(&mut message);
        if message.len() > LARGEST_REPLY {
            let told =
                "the sums of a task take more than 1 GiB: leave out features, such as those of small f-score";
            message.clear();
            Reply::Failed(told.to_owned()).save(&mut message);
        }
        self.secret.sealed(&about(sealed, &rows), message)
    }

    fn reply(&self, mut body: &[u8], rows: Range<u64>) -> Reply {
        let failed = |error: CoreError| Reply::Failed(one_line(error));
        match String::load(&mut body) {
            Ok(version) if version == self.version => {}
            Ok(_) => return Reply::OtherVersion(self.version.clone()),
            Err(error) => return failed(error),
        }
        match Request::load(&mut body) {
            Ok(request) => self.sums(&request, rows).unwrap_or_else(Reply::Failed),
            Err(error) => failed(error),
        }
    }

    /// The sums; the error is the line that the user sees.
    fn sums(&self, request: &Request, rows: Range<u64>) -> std::result::Result<Reply, String> {
        if !request.has_task(&rows) {
            let Range { start, end } = rows;
            return Err(format!(
                "rows {start} to {end} are no task of this request: start the command again"
            ));
        }
        let (method, parameters) = request.method(&self.registry).map_err(one_line)?;
        let selector = method.build(&parameters).map_err(one_line)?.into_selector();
        let Some(selector) = selector.in_passes() else {
            return Err(format!("{} has no passes over rows: take another method", method.id));
        };
        let needs_target = !method.targets.contains(&TargetKind::None);
        let first_batch = usize::try_from(rows.start / BATCH_ROWS as u64).map_err(one_line)?;
        let (from, how) = ((&self.stores, &self.last_table), (&self.registry, needs_target));
        let mut rows = request.rows(from, how, rows).map_err(one_line)?;
        // The method counts from the first feature of its part.
        let before = if request.pass.part > 0 { rows.first_feature() } else { 0 };
        let context = Context { memory: Some(request.memory), ..Context::default() };
        let method = |stream: &mut dyn SampleStream| {
            selector.select_stream(stream, Budget::Count(request.k), &context)
        };
        sum_part(&mut rows, first_batch, &request.pass, method).map(Reply::Sums).map_err(|error| {
            match rows.take_failure() {
                Some(error) => one_line(error),
                None => in_table(&request.table.path, &error.in_columns_from(before)),
            }
        })
    }
}

/// What a reply is about: the request and the rows.
pub(crate) fn about(sealed_request: &[u8], rows: &Range<u64>) -> Vec<u8> {
    [sealed_request, &rows.start.to_le_bytes(), &rows.end.to_le_bytes()].concat()
}

/// An error of the core about a table, in one line: those of parameters do not come from it.
pub(crate) fn in_table(path: &Path, error: &CoreError) -> String {
    match error {
        CoreError::InvalidParameter { .. } | CoreError::Unsupported { .. } => one_line(error),
        _ => one_line(format!("{}: {error}", path.display())),
    }
}

/// The methods that are sums over rows, and all formats.
pub(crate) fn registry() -> std::result::Result<Registry, CoreError> {
    let registry = Registry::standard().clone();
    registry.with_format(fewest_arrow::PARQUET)?.with_format(fewest_arrow::ARROW)
}

impl PartialEq for Sums {
    fn eq(&self, other: &Self) -> bool {
        self.version() == other.version()
    }
}

impl Eq for Sums {}

impl Hash for Sums {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (NAME, self.version()).hash(state);
    }
}

impl ScalarUDFImpl for Sums {
    fn name(&self) -> &str {
        NAME
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Binary)
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let Some(work) = &self.work else {
            return exec_err!("{NAME} is computed by executors: start one by `fewest-cluster executor`");
        };
        let columns = ColumnarValue::values_to_arrays(&arguments.args)?;
        let numbers = |column: &ArrayRef| column.as_primitive_opt::<UInt64Type>().cloned();
        let found = match columns.as_slice() {
            [requests, first, end] => requests.as_binary_opt::<i32>().zip(numbers(first)).zip(numbers(end)),
            _ => None,
        };
        let Some(((requests, first), end)) = found else {
            return exec_err!("{NAME} takes a request and the first and the last row");
        };
        let each = requests.iter().zip(first.iter()).zip(end.iter());
        let answers: Vec<Option<Vec<u8>>> =
            each.map(|((request, first), end)| Some(work.answer(request?, first?..end?))).collect();
        Ok(ColumnarValue::Array(Arc::new(answers.iter().map(Option::as_deref).collect::<BinaryArray>())))
    }
}

#[cfg(test)]
mod tests {
    use datafusion::arrow::array::UInt64Array;
    use datafusion::arrow::datatypes::Field;
    use datafusion::config::ConfigOptions;
    use fewest::core::AskedPass;

    use super::*;
    use crate::VERSION;
    use crate::request::{Table, sealed_request};

    /// The answer of the function for one row of its arguments.
    fn answer(function: &ScalarUDF, request: &[u8], rows: &Range<u64>) -> Result<Vec<u8>> {
        let number = |number| ColumnarValue::Array(Arc::new(UInt64Array::from(vec![number])));
        let request = ColumnarValue::Array(Arc::new(BinaryArray::from(vec![request])));
        let field = |name, kind| Arc::new(Field::new(name, kind, true));
        let arguments = ScalarFunctionArgs {
            args: vec![request, number(rows.start), number(rows.end)],
            arg_fields: vec![
                field("request", DataType::Binary),
                field("first", DataType::UInt64),
                field("end", DataType::UInt64),
            ],
            number_rows: 1,
            return_field: field("sums", DataType::Binary),
            config_options: Arc::new(ConfigOptions::default()),
        };
        let answers = function.invoke_with_args(arguments)?.to_array(1)?;
        Ok(answers.as_binary::<i32>().value(0).to_vec())
    }

    /// A request over 20 000 rows in tasks of two batches, of a table that is not there.
    fn sealed(secret: &Secret) -> Vec<u8> {
        let request = Request {
            table: Table { path: "no-such-folder/table.parquet".into(), ..Table::default() },
            objects: Vec::new(),
            method: "f-score".to_owned(),
            parameters: Vec::new(),
            k: 1,
            memory: 1 << 20,
            known: Vec::new(),
            n_rows: 20_000,
            task_rows: 8192,
            pass: AskedPass::default(),
        };
        sealed_request(&request, VERSION, secret)
    }

    #[test]
    fn rows_of_no_task_are_refused_before_they_are_read() {
        let secret = Secret::new(b"sixteen bytes or more").unwrap();
        let request = sealed(&secret);
        let function = Sums::function(VERSION, secret.clone(), Duration::ZERO).unwrap();
        let told = |rows: Range<u64>| {
            let reply = answer(&function, &request, &rows).unwrap();
            let message = secret.opened(&about(&request, &rows), &reply).unwrap();
            match Reply::load(&mut &*message).unwrap() {
                Reply::Failed(problem) => problem,
                other => panic!("{other:?}"),
            }
        };
        // As who overheard the request would ask for one row, or for a batch.
        for rows in [17..18, 0..1, 0..4096, 4096..12_288, 16_384..24_576, 19_999..20_000, 8..8, 0..u64::MAX] {
            let problem = told(rows.clone());
            let expected = format!("rows {} to {} are no task of this request", rows.start, rows.end);
            assert!(problem.starts_with(&expected), "{problem}");
        }
        for rows in [0..8192, 8192..16_384, 16_384..20_000] {
            let problem = told(rows);
            assert!(problem.contains("table.parquet"), "{problem}");
        }
    }

    #[test]
    fn where_plans_are_made_nothing_is_computed() {
        let request = sealed(&Secret::default());
        let problem = answer(&Sums::named(), &request, &(0..8192)).unwrap_err().to_string();
        assert!(problem.contains("is computed by executors"), "{problem}");
    }
}
