//! A cluster, and how it is asked for the sums of a pass.

use std::net::{TcpStream, ToSocketAddrs};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ballista_core::execution_plans::execute_physical_plan;
use ballista_core::extension::SessionConfigExt;
use ballista_core::serde::BallistaPhysicalExtensionCodec;
use datafusion::arrow::array::{ArrayRef, AsArray, RecordBatch, UInt64Array};
use datafusion::arrow::datatypes::{DataType, Field, Schema, UInt64Type};
use datafusion::common::ScalarValue;
use datafusion::datasource::memory::MemorySourceConfig;
use datafusion::error::Result as FusionResult;
use datafusion::physical_expr::expressions::{col, lit};
use datafusion::physical_expr::{PhysicalExpr, ScalarFunctionExpr};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::projection::{ProjectionExec, ProjectionExpr};
use datafusion::prelude::SessionConfig;
use datafusion_proto::protobuf::PhysicalPlanNode;
use fewest::core::State;
use futures::TryStreamExt;
use tokio::runtime::Runtime;

use crate::error::one_line;
use crate::function::{NAME, Sums, about};
use crate::request::{Reply, Request, sealed_request};
use crate::servers::LARGEST_MESSAGE;
use crate::{Error, Secret, VERSION};

/// How often a pass is tried, and the wait before it is tried again.
const ATTEMPTS: usize = 4;
const WAIT: Duration = Duration::from_secs(1);

/// How long a scheduler may take to accept a connection.
const CONNECT: Duration = Duration::from_secs(5);

/// A cluster, and how it is used.
#[derive(Debug, Clone)]
pub struct Cluster {
    /// Host and port of the scheduler.
    pub address: String,
    /// The secret that the executors have.
    pub secret: Secret,
    /// The parts in which rows are summed at most: no more than 64 where products of columns are summed. An
    /// executor that ends loses what it has summed in this pass. `None`: 64, or 4 for text, which each task
    /// reads from the start.
    pub tasks: Option<usize>,
    /// Bytes of memory that a task may use. Default: 1 GiB.
    pub memory: u64,
    /// How long a pass may take. Default: an hour.
    pub pass_limit: Duration,
    /// A folder that keeps the sums of finished passes. A run with the same table, method, parameters, `k`,
    /// `tasks` and `memory` reuses them.
    pub resume: Option<PathBuf>,
}

impl Cluster {
    /// The cluster of the scheduler at `HOST:PORT`, with the defaults.
    pub fn new(address: impl Into<String>) -> Self {
        let pass_limit = Duration::from_secs(3600);
        Self {
            address: address.into(),
            secret: Secret::default(),
            tasks: None,
            memory: 1 << 30,
            pass_limit,
            resume: None,
        }
    }
}

/// The rows of all tasks.
pub(crate) fn ranges(n_rows: u64, each: u64) -> Vec<Range<u64>> {
    let starts = (0..n_rows.div_ceil(each)).map(|task| task * each);
    starts.map(|start| start..n_rows.min(start + each)).collect()
}

/// The passes of one run.
pub(crate) struct Query<'a> {
    cluster: &'a Cluster,
    tasks: Vec<Range<u64>>,
    runtime: Runtime,
    session: SessionConfig,
}

impl<'a> Query<'a> {
    /// Over these rows, as [`ranges`] makes them.
    pub(crate) fn new(cluster: &'a Cluster, tasks: Vec<Range<u64>>) -> Result<Self, Error> {
        let failed = |error| Error::Server { what: "this command".to_owned(), problem: one_line(error) };
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
        let session = SessionConfig::new_with_ballista()
            .with_ballista_grpc_client_max_message_size(LARGEST_MESSAGE as usize)
            .with_ballista_job_name("fewest")
            // A task is one range, whatever the number of cores of its executor.
            .set_str("ballista.scheduler.max_partitions_per_task", "1");
        Ok(Self { cluster, tasks, runtime: runtime.map_err(|error| failed(error.to_string()))?, session })
    }

    /// The sums of each task, in the order of the rows; counts the bytes that were sent and received.
    pub(crate) fn ask(&self, request: &Request, bytes: &mut (u64, u64)) -> Result<Vec<Vec<u8>>, Error> {
        let sealed = sealed_request(request, VERSION, &self.cluster.secret);
        // None: a limit that no clock of this machine will reach.
        let deadline = Instant::now().checked_add(self.cluster.pass_limit);
        let mut attempts = 0;
        loop {
            self.reach()?;
            attempts += 1;
            let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            let left = left.unwrap_or(Duration::MAX);
            let answered =
                self.runtime.block_on(async { tokio::time::timeout(left, self.collect(&sealed)).await });
            let problem = match answered {
                Err(_) => return Err(Error::TooLate { limit: self.cluster.pass_limit }),
                Ok(Ok(batches)) => match self.replies(&batches, &sealed)? {
                    Some(sums) => {
                        bytes.0 += (sealed.len() * self.tasks.len()) as u64;
                        bytes.1 += sums.iter().map(|sums| sums.len() as u64).sum::<u64>();
                        return Ok(sums);
                    }
                    None => "some rows were not summed".to_owned(),
                },
                Ok(Err(error)) => one_line(error),
            };
            if problem.contains(&format!("UDF named \"{NAME}\"")) {
                return Err(Error::OtherScheduler { address: self.cluster.address.clone(), function: NAME });
            }
            // An executor may have ended with sums that were not fetched: they are summed again.
            if attempts == ATTEMPTS {
                return Err(Error::Query { attempts, problem });
            }
            std::thread::sleep(WAIT);
        }
    }

    /// An error where no scheduler accepts a connection.
    fn reach(&self) -> Result<(), Error> {
        let none = |problem: String| Error::NoScheduler { address: self.cluster.address.clone(), problem };
        let addresses = self.cluster.address.to_socket_addrs().map_err(|error| none(one_line(error)))?;
        let mut problem = "it has no address".to_owned();
        for address in addresses {
            match TcpStream::connect_timeout(&address, CONNECT) {
                Ok(_) => return Ok(()),
                Err(error) => problem = one_line(error),
            }
        }
        Err(none(problem))
    }

    async fn collect(&self, sealed: &[u8]) -> FusionResult<Vec<RecordBatch>> {
        let (config, codec) = (self.session.ballista_config(), BallistaPhysicalExtensionCodec::default());
        let stream = execute_physical_plan::<PhysicalPlanNode>(
            format!("http://{}", self.cluster.address),
            &config,
            self.plan(sealed)?,
            &codec,
            job_session(sealed),
            self.session.clone(),
        );
        stream.await?.try_collect().await
    }

    /// A row for each task, each a partition of its own, and the function of it.
    fn plan(&self, sealed: &[u8]) -> FusionResult<Arc<dyn ExecutionPlan>> {
        let number = |name: &str| Field::new(name, DataType::UInt64, false);
        let schema = Arc::new(Schema::new(vec![number("first"), number("end")]));
        let partition = |rows: &Range<u64>| {
            let column = |row: u64| Arc::new(UInt64Array::from(vec![row])) as ArrayRef;
            RecordBatch::try_new(schema.clone(), vec![column(rows.start), column(rows.end)])
                .map(|batch| vec![batch])
        };
        let partitions = self.tasks.iter().map(partition).collect::<Result<Vec<_>, _>>()?;
        let source = MemorySourceConfig::try_new_exec(&partitions, schema.clone(), None)?;
        let (first, end) = (col("first", &schema)?, col("end", &schema)?);
        let sums = ScalarFunctionExpr::try_new(
            Arc::new(Sums::named()),
            vec![lit(ScalarValue::Binary(Some(sealed.to_vec()))), first.clone(), end.clone()],
            &schema,
            self.session.options().clone(),
        )?;
        let named =
            |expr: Arc<dyn PhysicalExpr>, alias: &str| ProjectionExpr { expr, alias: alias.to_owned() };
        let columns = [named(first, "first"), named(end, "end"), named(Arc::new(sums), "sums")];
        Ok(Arc::new(ProjectionExec::try_new(columns, source)?))
    }

    /// The sums in the order of the rows; `None` where some are not there.
    fn replies(&self, batches: &[RecordBatch], sealed: &[u8]) -> Result<Option<Vec<Vec<u8>>>, Error> {
        let mut found: Vec<(Range<u64>, Vec<u8>)> = Vec::new();
        for batch in batches {
            let [first, end, sums] = batch.columns() else { return Ok(None) };
            let number = |column: &'_ ArrayRef| column.as_primitive_opt::<UInt64Type>().cloned();
            let (Some(first), Some(end), Some(sums)) =
                (number(first), number(end), sums.as_binary_opt::<i32>())
            else {
                return Ok(None);
            };
            for ((first, end), sums) in first.iter().zip(end.iter()).zip(sums.iter()) {
                if let (Some(first), Some(end), Some(sums)) = (first, end, sums) {
                    found.push((first..end, sums.to_vec()));
                }
            }
        }
        found.sort_by_key(|(rows, _)| rows.start);
        if !found.iter().map(|(rows, _)| rows).eq(&self.tasks) {
            return Ok(None);
        }
        // The error of the first rows that have one is that of a single reader.
        found.iter().map(|(rows, reply)| self.opened(rows, reply, sealed)).collect::<Result<_, _>>().map(Some)
    }

    fn opened(&self, rows: &Range<u64>, reply: &[u8], sealed: &[u8]) -> Result<Vec<u8>, Error> {
        let Some(mut message) = self.cluster.secret.opened(&about(sealed, rows), reply) else {
            return Err(Error::Secret { theirs: "another secret, or none" });
        };
        match Reply::load(&mut message)? {
            Reply::Sums(sums) => Ok(sums),
            Reply::Failed(message) => Err(Error::Rows(message)),
            Reply::OtherVersion(executor) => Err(Error::OtherVersion { executor, own: VERSION.to_owned() }),
            Reply::WrongSecret => Err(Error::Secret { theirs: "another secret" }),
        }
    }
}

/// A name for the session of a pass on the scheduler, which has to be unique.
fn job_session(sealed: &[u8]) -> String {
    let now = std::time::UNIX_EPOCH.elapsed().map_or(0, |time| time.as_nanos());
    format!("fewest-{}-{now}-{}", std::process::id(), sealed.len())
}

#[cfg(test)]
mod tests {
    use fewest::core::part_rows;

    use super::*;

    #[test]
    fn tasks_are_whole_batches() {
        for (n_rows, tasks, expected) in [
            (1, 64, &[0, 1][..]),
            (4096, 64, &[0, 4096]),
            (4097, 64, &[0, 4096, 4097]),
            (20_000, 2, &[0, 16_384, 20_000]),
            (20_000, 1, &[0, 20_000]),
            (20_000, 0, &[0, 20_000]),
            (500_000, 40, &(0..=30).map(|i| i * 16_384).chain([500_000]).collect::<Vec<_>>()[..]),
        ] {
            let expected: Vec<_> = expected.windows(2).map(|cut| cut[0]..cut[1]).collect();
            assert_eq!(ranges(n_rows, part_rows(n_rows, tasks)), expected, "{n_rows} {tasks}");
        }
    }
}
