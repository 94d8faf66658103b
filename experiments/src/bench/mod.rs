//! `cargo xtask bench`: speed against earlier versions and against other packages.

mod against;
mod cases;
mod cluster;
pub(crate) mod cpu;
mod filters;
mod linear;
pub(crate) mod machines;
mod measure;
mod mik_fs;
pub(crate) mod networks;
mod nonmonotonic;
mod passes;
mod peers;
mod programs;
mod scaling;
mod sparse;
pub(crate) mod streams;
mod text;
pub(crate) mod worker;
mod wrappers;

use std::path::PathBuf;

use clap::Args;

use crate::output::Documents;
use crate::{Result, workspace};

const MEBIBYTE: f64 = 1_048_576.0;

/// Without a switch: the criterion benchmarks of `benches`. The others start programs, and write raw CSV, a
/// summary and an SVG under docs/benchmarks.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Criterion's quick mode: fast and less accurate.
    #[arg(long)]
    quick: bool,
    /// Measure HSIC Lasso against another package, in a virtual environment with pinned versions.
    #[arg(long, conflicts_with_all = ["scaling", "filters"])]
    peers: bool,
    /// Measure the filters against other packages, on data drawn here.
    #[arg(long, conflicts_with = "scaling")]
    filters: bool,
    /// Measure support vector machines against scikit-learn and LIBSVM, and compare their objectives.
    #[arg(long, conflicts_with_all = ["peers", "filters", "scaling"])]
    machines: bool,
    /// Measure the lasso, l1 logistic regression and group lassos against other packages, on data drawn here
    /// and on real data.
    #[arg(long, conflicts_with_all = ["peers", "filters", "machines", "scaling"])]
    linear: bool,
    /// Measure other sparse learning against other packages, on data drawn here: linear programs, best
    /// subsets, RFS, UDFS, and a lasso of a million features.
    #[arg(long, conflicts_with_all = ["peers", "filters", "machines", "linear", "scaling"])]
    sparse: bool,
    /// Measure recursive elimination against scikit-learn's, on data drawn here.
    #[arg(long, conflicts_with_all = ["peers", "filters", "machines", "scaling"])]
    wrappers: bool,
    /// Measure how time and memory grow with samples and features.
    #[arg(long)]
    scaling: bool,
    /// Measure non-monotonic selection, and a conic solver on the same problems, on data drawn here.
    #[arg(long, conflicts_with_all = ["peers", "filters", "scaling"])]
    nonmonotonic: bool,
    /// Measure how methods of linked samples grow with samples, links and features; with --quick on small
    /// networks.
    #[arg(long, conflicts_with_all = ["peers", "filters", "machines", "linear", "wrappers", "scaling"])]
    networks: bool,
    /// Measure features and samples a second of methods to which data arrive, beside river; with --quick on a
    /// hundredth of them.
    #[arg(long, conflicts_with_all = ["peers", "filters", "machines", "linear", "wrappers", "scaling"])]
    streams: bool,
    /// Measure tables larger than memory, in passes over Parquet files drawn here, beside polars and
    /// DuckDB; with --quick on a small part of them. The files take 8 GB.
    #[arg(long, conflicts_with_all = ["peers", "filters", "machines", "linear", "wrappers", "scaling"])]
    passes: bool,
    /// Measure how fast tables of text are read, beside polars; with --quick a small one.
    #[arg(long, conflicts_with_all = ["peers", "filters", "machines", "linear", "wrappers", "scaling"])]
    text: bool,
    /// Measure selections by executors on this machine, on Parquet files drawn here; with --quick on a small
    /// part of them. It builds `cluster/`, which takes minutes.
    #[arg(long, conflicts_with_all = ["peers", "filters", "machines", "linear", "wrappers", "scaling"])]
    cluster: bool,
    /// Measure MIK-FS on real data, with low-rank factors and with whole Gram matrices.
    #[arg(long, conflicts_with_all = ["peers", "filters", "scaling"])]
    mik_fs: bool,
    /// Measure this older build of the command against the one built here, in turn.
    #[arg(long, conflicts_with_all = ["peers", "filters", "scaling"])]
    against: Option<PathBuf>,
    /// Run only benchmarks or cases whose name contains this.
    #[arg(long, default_value = "")]
    only: String,
    /// With --streams and --only: measure these cases, and keep the other lines of the page.
    #[arg(long, requires_all = ["streams", "only"])]
    keep: bool,
    /// How often every program is run, in turn.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    repetitions: u32,
    /// Threads of every program.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..))]
    threads: u32,
    /// The folder with the data sets, for --peers, --machines, --linear, --nonmonotonic, --mik-fs and
    /// --against.
    #[arg(long, env = "FEWEST_DATA")]
    data: Option<PathBuf>,
    /// A Python with the pinned packages, for --peers, --filters, --machines, --linear, --sparse, --wrappers
    /// and --streams; else one is made in the checkout.
    #[arg(long)]
    python: Option<PathBuf>,
}

/// The paths that the programs of a benchmark need.
struct Start {
    /// A folder for data and answers.
    scratch: PathBuf,
    /// The file to which a program of ours writes its answer.
    json: PathBuf,
    /// This program.
    program: PathBuf,
    /// A Python with the packages to measure against.
    python: PathBuf,
}

impl Arguments {
    /// With a Python that has the packages of `requirements`, in the virtual environment `name`.
    fn start(&self, name: &str, requirements: &str) -> Result<Start> {
        let scratch = workspace::root().join("target/bench");
        std::fs::create_dir_all(&scratch)?;
        let json = scratch.join("answer.json");
        let program = std::env::current_exe()?;
        let python = match &self.python {
            Some(python) => python.clone(),
            None => programs::prepare_python(name, requirements)?,
        };
        Ok(Start { scratch, json, program, python })
    }

    /// The folder of the documents: those of some cases must not replace those of all.
    fn documents(&self, facts: Vec<(&'static str, String)>) -> Documents {
        self.documents_unless(false, facts)
    }

    /// The same, nor must those of a trial.
    fn documents_unless(&self, is_trial: bool, facts: Vec<(&'static str, String)>) -> Documents {
        let is_page = self.only.is_empty() || self.keep;
        let folder = if is_page && !is_trial { "docs/benchmarks" } else { "target/bench" };
        Documents::new(workspace::root().join(folder), facts)
    }
}

/// Runs the requested benchmarks.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    if let Some(older) = &arguments.against {
        against::run(arguments, older)
    } else if arguments.peers {
        peers::run(arguments)
    } else if arguments.filters {
        filters::run(arguments)
    } else if arguments.machines {
        machines::run(arguments)
    } else if arguments.linear {
        linear::run(arguments)
    } else if arguments.sparse {
        sparse::run(arguments)
    } else if arguments.wrappers {
        wrappers::run(arguments)
    } else if arguments.mik_fs {
        mik_fs::run(arguments)
    } else if arguments.scaling {
        scaling::run(arguments)
    } else if arguments.networks {
        networks::run(arguments)
    } else if arguments.streams {
        streams::run(arguments)
    } else if arguments.passes {
        passes::run(arguments)
    } else if arguments.text {
        text::run(arguments)
    } else if arguments.cluster {
        cluster::run(arguments)
    } else if arguments.nonmonotonic {
        nonmonotonic::run(arguments)
    } else {
        let mut command = workspace::cargo();
        command.args(["bench", "--package", "fewest-benches", "--bench", "fewest", "--"]);
        if arguments.quick {
            command.arg("--quick");
        }
        if !arguments.only.is_empty() {
            command.arg(&arguments.only);
        }
        workspace::run(&mut command)
    }
}
