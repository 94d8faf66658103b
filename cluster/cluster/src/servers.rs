//! The scheduler and the executors of a cluster.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use ballista_core::JobId;
use ballista_core::registry::BallistaFunctionRegistry;
use ballista_executor::execution_engine::{DefaultExecutionEngine, ExecutionEngine, QueryStageExecutor};
use ballista_executor::executor_process::{ExecutorProcessConfig, start_executor_process};
use ballista_scheduler::cluster::BallistaCluster;
use ballista_scheduler::config::SchedulerConfig;
use ballista_scheduler::scheduler_process::start_server;
use datafusion::common::exec_err;
use datafusion::datasource::memory::MemorySourceConfig;
use datafusion::datasource::source::DataSourceExec;
use datafusion::error::Result as FusionResult;
use datafusion::execution::{FunctionRegistry, SessionState};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::prelude::SessionConfig;

use crate::error::one_line;
use crate::function::Sums;
use crate::{Error, Secret, VERSION};

/// Bytes of a message between machines at most: sums of many features, and of the passes before.
pub(crate) const LARGEST_MESSAGE: u32 = 1 << 30;

/// The part of the time after which an executor is lost, in which the scheduler looks for it.
const LOOKS: u64 = 5;

/// Where a scheduler listens, and when it gives up an executor.
#[derive(Debug, Clone)]
pub struct SchedulerOptions {
    /// The address. Default: port 50050 of the loopback interface, which other machines cannot reach.
    pub address: SocketAddr,
    /// Seconds without a sign of life after which an executor is lost, and its tasks are given to others: two
    /// of its intervals or more. Default: 15.
    pub lost_after: u64,
    /// The secret of the executors, without which a scheduler listens on the loopback interface only. It
    /// computes nothing, and takes any work: executors look at the seals. Default: none.
    pub secret: Secret,
}

impl Default for SchedulerOptions {
    fn default() -> Self {
        let address = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 50050);
        Self { address, lost_after: 15, secret: Secret::default() }
    }
}

/// What an executor is told when it starts.
#[derive(Debug, Clone)]
pub struct ExecutorOptions {
    /// The host and the port of the scheduler. Default: port 50050 of this machine.
    pub scheduler: (String, u16),
    /// The address for those who fetch sums; the next port is for tasks. Default: port 50051 of the loopback
    /// interface, which other machines cannot reach.
    pub address: SocketAddr,
    /// The name or address by which other machines reach this one. Default: that of `address`.
    pub host: Option<String>,
    /// Tasks at a time; 0: as many as there are cores. Default: 0.
    pub slots: usize,
    /// A folder for sums that were not fetched yet.
    pub work_folder: PathBuf,
    /// Seconds between signs of life. Default: 3.
    pub interval: u64,
    /// The secret of the requests that are answered; without one an executor listens on the loopback
    /// interface only. Default: none.
    pub secret: Secret,
    /// The version of the requests that are answered. Default: that of this crate.
    pub version: String,
    /// A wait before each task, to see what happens when an executor ends within. Default: none.
    pub pause: Duration,
}

impl ExecutorOptions {
    /// The defaults, with this folder.
    pub fn new(work_folder: PathBuf) -> Self {
        Self {
            scheduler: ("127.0.0.1".to_owned(), 50050),
            address: SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 50051),
            host: None,
            slots: 0,
            work_folder,
            interval: 3,
            secret: Secret::default(),
            version: VERSION.to_owned(),
            pause: Duration::ZERO,
        }
    }
}

/// Without a secret executors open any table that is asked for: nobody but this machine may reach them.
fn check_reach(address: SocketAddr, secret: &Secret) -> Result<(), Error> {
    match secret.is_there() || address.ip().to_canonical().is_loopback() {
        true => Ok(()),
        false => Err(Error::NoSecret { address: address.ip() }),
    }
}

/// A host as Ballista joins it with a port: an address with colons needs brackets.
fn before_port(host: &str) -> String {
    match host.parse::<Ipv6Addr>() {
        Ok(address) => format!("[{address}]"),
        Err(_) => host.to_owned(),
    }
}

/// A session of the scheduler, which knows the function by name.
fn session(config: SessionConfig) -> FusionResult<SessionState> {
    let mut state = ballista_core::utils::default_session_builder(config)?;
    state.register_udf(Arc::new(Sums::named()))?;
    Ok(state)
}

/// Runs a scheduler, until it fails.
///
/// # Errors
/// [`Error::NoSecret`] for an address that others reach, without a secret; [`Error::Server`], for example for
/// a port that is taken.
pub async fn scheduler(options: SchedulerOptions) -> Result<(), Error> {
    let SchedulerOptions { address, lost_after, secret } = options;
    check_reach(address, &secret)?;
    let host = before_port(&address.ip().to_string());
    let failed = |error: &dyn std::fmt::Display| Error::Server {
        what: format!("scheduler {address}"),
        problem: format!("{}: take another port by --port", one_line(error)),
    };
    let config = SchedulerConfig {
        bind_host: host.clone(),
        external_host: host,
        bind_port: address.port(),
        executor_timeout_seconds: lost_after,
        expire_dead_executor_interval_seconds: (lost_after / LOOKS).max(1),
        no_executors_grace_period_seconds: lost_after.saturating_mul(2),
        grpc_server_max_decoding_message_size: LARGEST_MESSAGE,
        grpc_server_max_encoding_message_size: LARGEST_MESSAGE,
        grpc_client_max_message_size: LARGEST_MESSAGE,
        override_session_builder: Some(Arc::new(session)),
        ..SchedulerConfig::default()
    };
    let cluster = BallistaCluster::new_from_config(&config).await.map_err(|error| failed(&error))?;
    start_server(cluster, address, Arc::new(config)).await.map_err(|error| failed(&error))
}

/// Runs an executor, until it is told to end.
///
/// # Errors
/// [`Error::NoSecret`] for an address that others reach, without a secret; [`Error::Server`], for example for
/// a scheduler that cannot be reached.
pub async fn executor(options: ExecutorOptions) -> Result<(), Error> {
    check_reach(options.address, &options.secret)?;
    let (host, port) = options.scheduler.clone();
    let failed = |error: &dyn std::fmt::Display| Error::Server {
        what: format!("executor {}", options.address),
        problem: format!(
            "{}: does the scheduler {host}:{port} run (--scheduler), and are this port and the next one free (--port)?",
            one_line(error)
        ),
    };
    let grpc_port = options.address.port().checked_add(1).ok_or_else(|| failed(&"the port is too high"))?;
    // An executor without its ports would end as if it had been told to.
    for port in [options.address.port(), grpc_port] {
        TcpListener::bind((options.address.ip(), port)).map_err(|error| failed(&error))?;
    }
    let mut functions = BallistaFunctionRegistry::default();
    let function = Sums::function(&options.version, options.secret.clone(), options.pause);
    let function = function.map_err(|error| failed(&error))?;
    let own = options.address.ip().to_string();
    functions.scalar_functions = HashMap::from([(function.name().to_owned(), Arc::new(function))]);
    let config = ExecutorProcessConfig {
        bind_host: before_port(&own),
        external_host: Some(before_port(options.host.as_ref().unwrap_or(&own))),
        port: options.address.port(),
        grpc_port,
        scheduler_host: before_port(&host),
        scheduler_port: port,
        // Executors may be started first.
        scheduler_connect_timeout_seconds: 30,
        vcores: options.slots,
        work_dir: Some(options.work_folder.display().to_string()),
        grpc_max_decoding_message_size: LARGEST_MESSAGE,
        grpc_max_encoding_message_size: LARGEST_MESSAGE,
        executor_heartbeat_interval_seconds: options.interval,
        override_function_registry: Some(Arc::new(functions)),
        override_execution_engine: Some(Arc::new(SumsOnly(DefaultExecutionEngine::new()))),
        ..ExecutorProcessConfig::default()
    };
    start_executor_process(Arc::new(config)).await.map_err(|error| failed(&error))
}

/// Executes plans that read no files: rows come from the function alone.
struct SumsOnly(DefaultExecutionEngine);

impl ExecutionEngine for SumsOnly {
    fn create_query_stage_exec(
        &self,
        job: JobId,
        stage: usize,
        task: usize,
        partitions: Vec<usize>,
        plan: Arc<dyn ExecutionPlan>,
        work_folder: &str,
        config: &SessionConfig,
    ) -> FusionResult<Arc<dyn QueryStageExecutor>> {
        check(&plan)?;
        self.0.create_query_stage_exec(job, stage, task, partitions, plan, work_folder, config)
    }
}

/// Refuses plans other than what the command asks for.
fn check(plan: &Arc<dyn ExecutionPlan>) -> FusionResult<()> {
    let source = plan.downcast_ref::<DataSourceExec>();
    let is_known = match source {
        Some(source) => {
            let source: &dyn std::any::Any = source.data_source().as_ref();
            source.is::<MemorySourceConfig>()
        }
        None => ["ShuffleWriterExec", "ProjectionExec"].contains(&plan.name()),
    };
    if !is_known {
        return exec_err!(
            "executors of fewest compute sums for fewest, and nothing else: not {}",
            plan.name()
        );
    }
    plan.children().into_iter().try_for_each(check)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_stand_before_ports() {
        for (host, expected) in [
            ("::1", "[::1]:50051"),
            ("fe80::a1", "[fe80::a1]:50051"),
            ("[::1]", "[::1]:50051"),
            ("127.0.0.1", "127.0.0.1:50051"),
        ] {
            let joined = format!("{}:{}", before_port(host), 50051);
            assert_eq!(joined, expected);
            assert!(joined.parse::<SocketAddr>().is_ok());
        }
        assert_eq!(before_port("executor-1.example"), "executor-1.example");
    }

    #[test]
    fn without_a_secret_nobody_else_is_listened_to() {
        let secret = Secret::new(b"sixteen bytes or more").unwrap();
        for own in ["127.0.0.1:1", "127.9.9.9:1", "[::1]:1", "[::ffff:127.0.0.1]:1"] {
            assert!(check_reach(own.parse().unwrap(), &Secret::default()).is_ok(), "{own}");
        }
        for other in ["0.0.0.0:1", "[::]:1", "192.0.2.1:1", "[2001:db8::1]:1", "[::ffff:192.0.2.1]:1"] {
            let address = other.parse().unwrap();
            let found = check_reach(address, &Secret::default());
            assert!(matches!(found, Err(Error::NoSecret { address: ip }) if ip == address.ip()), "{other}");
            assert!(check_reach(address, &secret).is_ok());
        }
    }
}
