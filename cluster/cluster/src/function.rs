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
use crate::request::{Reply, Request};
use crate::secret::Secret;

/// The name of the function.
pub(crate) const NAME: &str = "fewest_sums";

/// `fewest_sums(request, first, end)`: the sums of one pass of a method over the rows `first .. end` of a
/// table, as bytes.
///
/// A row that is wrong is an answer, too, and no error of the query: trying again would not help.
#[derive(Debug)]
pub(crate) struct Sums {
    registry: Registry,
    version: String,
    secret: Secret,
    pause: Duration,
    signature: Signature,
}

impl Sums {
    /// The function, which takes requests of this version and with this secret, and waits before each.
    pub(crate) fn function(
        version: &str,
        secret: Secret,
        pause: Duration,
    ) -> std::result::Result<ScalarUDF, CoreError> {
        let types = vec![DataType::Binary, DataType::UInt64, DataType::UInt64];
        Ok(ScalarUDF::from(Self {
            registry: registry()?,
            version: version.to_owned(),
            secret,
            pause,
            // Nothing may be computed while a query is planned.
            signature: Signature::exact(types, Volatility::Volatile),
        }))
    }

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
        let (method, parameters) = request.method(&self.registry).map_err(one_line)?;
        let selector = method.build(&parameters).map_err(one_line)?.into_selector();
        let Some(selector) = selector.in_passes() else {
            return Err(format!("{} has no passes over rows: take another method", method.id));
        };
        let needs_target = !method.targets.contains(&TargetKind::None);
        let options = request.table.options(&self.registry, needs_target);
        let first_batch = usize::try_from(rows.start / BATCH_ROWS as u64).map_err(one_line)?;
        let mut rows = request.rows(&options, rows).map_err(one_line)?;
        let context = Context { memory: Some(request.memory), ..Context::default() };
        let method = |stream: &mut dyn SampleStream| {
            selector.select_stream(stream, Budget::Count(request.k), &context)
        };
        sum_part(&mut rows, first_batch, &request.earlier, method).map(Reply::Sums).map_err(
            |error| match rows.take_failure() {
                Some(error) => one_line(error),
                None => in_table(&request.table.path, &error),
            },
        )
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
        self.version == other.version
    }
}

impl Eq for Sums {}

impl Hash for Sums {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (NAME, &self.version).hash(state);
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
            each.map(|((request, first), end)| Some(self.answer(request?, first?..end?))).collect();
        Ok(ColumnarValue::Array(Arc::new(answers.iter().map(Option::as_deref).collect::<BinaryArray>())))
    }
}
