//! `cargo xtask bench --cluster`: selections by executors on this machine, how their time grows with rows and
//! with executors, and what a model fitted to them says of larger tables and more machines.

mod model;

use std::fmt::Write as _;
use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use self::model::{CLASSES, METHODS, Method, Model, Size, WIDE_METHODS, is_fitted_wide};
use super::Arguments;
use super::passes::draw;
use crate::output::minimum;
use crate::plot::{Panel, Series, lines};
use crate::{Result, machine, workspace};

/// Rows of the long tables, and of those of a trial; columns of all of them.
const ROWS: [usize; 3] = [1_000_000, 2_000_000, 4_000_000];
const TRIAL: [usize; 3] = [50_000, 100_000, 200_000];
const COLUMNS: usize = 100;

/// Rows of a table of two tasks, which tells what a pass takes however few rows there are. Of fewer the lasso
/// and HSIC Lasso take the rows as they are.
const SHORT: usize = 8192;

/// Rows and columns of the wide tables, and of those of a trial; the share of values of the second one that
/// are not 0.
const WIDE: [usize; 2] = [40_000, 10_000];
const WIDE_TRIAL: [usize; 2] = [10_000, 10_000];
const SPARSE: f64 = 0.01;

const EXECUTORS: [usize; 2] = [1, 2];

/// The tasks of a pass at most: the default of the command.
const TASKS: usize = 64;

/// How long a server may take to listen.
const START: Duration = Duration::from_secs(60);

/// A table that is drawn.
#[derive(Clone, Copy, PartialEq)]
struct Table {
    rows: usize,
    columns: usize,
    /// The share of values that are not 0 by intent.
    share: f64,
}

impl Table {
    /// Of three tables, the one with so many rows.
    fn long(rows: usize) -> Self {
        Self { rows, columns: COLUMNS, share: 1.0 }
    }

    fn is_long(&self) -> bool {
        self.columns == COLUMNS
    }

    /// What is measured on it.
    fn methods(&self) -> Vec<&'static Method> {
        if self.is_long() { METHODS.iter().collect() } else { WIDE_METHODS.to_vec() }
    }
}

/// One selection.
struct Run {
    method: &'static Method,
    table: Table,
    executors: usize,
    passes: usize,
    seconds: f64,
    sent: u64,
    received: u64,
}

/// A process that ends with this value.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Server {
    /// Starts the program, and waits until it listens on this port.
    fn start(program: &Path, words: &[&str], port: u16) -> Result<Self> {
        let mut command = Command::new(program);
        command.args(words).args(["--port", &port.to_string()]);
        let server = Self(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?);
        let started = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            if started.elapsed() > START {
                return Err(format!("{} does not listen on port {port}", words[0]).into());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(server)
    }
}

/// A port that is free, and the one after it.
fn free_ports() -> Result<u16> {
    // Below those that the system gives to connections.
    for port in (21_000..32_000).step_by(2) {
        let is_free = |port: u16| TcpListener::bind(("127.0.0.1", port)).is_ok();
        if is_free(port) && is_free(port + 1) {
            return Ok(port);
        }
    }
    Err("no port is free".into())
}

/// Runs every method; writes `docs/benchmarks/cluster.csv`, `.md` and `.svg`, or with `--quick` or `--only`,
/// of smaller tables, into `target/bench`.
pub(super) fn run(arguments: &Arguments) -> Result<()> {
    let scratch = workspace::root().join("target/bench");
    fs::create_dir_all(&scratch)?;
    let program = build()?;
    let sizes = if arguments.quick { TRIAL } else { ROWS };
    let mut runs = Vec::new();
    let [rows, columns] = if arguments.quick { WIDE_TRIAL } else { WIDE };
    let wide = [1.0, SPARSE].map(|share| Table { rows, columns, share });
    let long = [SHORT].into_iter().chain(sizes).map(Table::long);
    for table in long.chain(wide) {
        let mut methods = table.methods();
        methods.retain(|method| method.name.contains(&arguments.only));
        let folder = scratch.join("cluster");
        draw(&folder, [table.rows, table.columns], table.share)?;
        for executors in EXECUTORS {
            let port = free_ports()?;
            let _scheduler = Server::start(&program, &["scheduler"], port)?;
            let address = format!("127.0.0.1:{port}");
            let words = ["executor", "--slots", "1", "--scheduler", &address];
            let start = |_| Server::start(&program, &words, free_ports()?);
            let _executors = (0..executors).map(start).collect::<Result<Vec<_>>>()?;
            for method in &methods {
                for _ in 0..arguments.repetitions {
                    runs.push(select(&program, &address, &folder, method, (table, executors))?);
                }
            }
        }
        fs::remove_dir_all(&folder)?;
    }
    let facts = machine::facts();
    let documents = arguments.documents_unless(arguments.quick, facts);
    let header = [
        "method",
        "rows",
        "columns",
        "share_not_zero",
        "executors",
        "passes",
        "seconds",
        "bytes_sent",
        "bytes_received",
    ];
    documents.csv("cluster", &header, &runs.iter().map(Run::cells).collect::<Vec<_>>())?;
    let model = Model::fitted(&runs, sizes)?;
    documents.page("cluster", page(&runs, &model, sizes)?)?;
    lines(&documents.path("cluster.svg"), &panels(&runs, &model, sizes)?)
}

/// The optimised `fewest-cluster`, built if need be.
fn build() -> Result<PathBuf> {
    let folder = workspace::root().join("cluster");
    let mut command = workspace::cargo();
    command.args(["build", "--release", "--package", "fewest-cluster", "--manifest-path"]);
    workspace::run(command.arg(folder.join("Cargo.toml")))?;
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| folder.join("target"), PathBuf::from);
    Ok(target.join("release").join(format!("fewest-cluster{}", std::env::consts::EXE_SUFFIX)))
}

fn select(
    program: &Path,
    address: &str,
    folder: &Path,
    method: &'static Method,
    (table, executors): (Table, usize),
) -> Result<Run> {
    let mut command = Command::new(program);
    command.arg("select").arg(folder).args(["--cluster", address, "--target", "outcome"]);
    command.args(["--method", method.id(), "-k", "20"]);
    method.parameters.iter().for_each(|parameter| {
        command.args(["--param", parameter]);
    });
    let output = command.stderr(Stdio::inherit()).output()?;
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = told.lines().rfind(|line| line.contains("bytes sent")).unwrap_or_default();
    let words: Vec<&str> = line.split_whitespace().collect();
    // The number before these words.
    let number = |behind: &[&str]| -> Result<f64> {
        let at = words.windows(behind.len()).position(|some| some == behind);
        let found = at.and_then(|at| words.get(at.checked_sub(1)?)?.parse().ok());
        found.ok_or_else(|| format!("{} told no `{}`: {told}", method.name, behind.join(" ")).into())
    };
    let passes = number(&["passes", "over"]).or_else(|_| number(&["pass", "over"]))?;
    let run = Run {
        method,
        table,
        executors,
        passes: passes as usize,
        seconds: number(&["s;"])?,
        sent: number(&["bytes", "sent"])? as u64,
        received: number(&["bytes", "received"])? as u64,
    };
    let Table { rows, columns, .. } = table;
    eprintln!("{}, {rows} × {columns}, {executors} executors: {:.2} s", method.name, run.seconds);
    Ok(run)
}

impl Run {
    /// In how many parts the columns came, each with all of its passes.
    fn parts(&self) -> usize {
        self.passes / self.method.passes
    }

    fn size(&self) -> Size {
        let Table { rows, columns, .. } = self.table;
        Size { columns: columns as f64, tasks: tasks(rows), parts: self.parts() as f64 }
    }

    /// The bytes of the model over those that were counted: sent, and received.
    fn bytes_of_model(&self) -> [f64; 2] {
        let size = self.size();
        [self.method.sent(&size) / self.sent as f64, (self.method.bytes)(&size) / self.received as f64]
    }

    fn cells(&self) -> Vec<String> {
        vec![
            self.method.name.to_owned(),
            self.table.rows.to_string(),
            self.table.columns.to_string(),
            self.table.share.to_string(),
            self.executors.to_string(),
            self.passes.to_string(),
            format!("{:.3}", self.seconds),
            self.sent.to_string(),
            self.received.to_string(),
        ]
    }
}

/// The tasks of a pass over so many rows.
fn tasks(rows: usize) -> f64 {
    let each = fewest::core::part_rows(rows as u64, TASKS as u64);
    (rows as u64).div_ceil(each) as f64
}

/// The smallest time of a method.
fn seconds(runs: &[Run], method: &Method, table: Table, executors: usize) -> f64 {
    let same =
        |run: &&Run| run.method.name == method.name && run.table == table && run.executors == executors;
    minimum(&runs.iter().filter(same).map(|run| run.seconds).collect::<Vec<_>>())
}

fn page(runs: &[Run], model: &Model, sizes: [usize; 3]) -> Result<String> {
    let mut text = format!(
        "# Selections by a cluster\n\n\
         `fewest-cluster` with executors on this machine, each with one task at a time, on Parquet files of \
         {COLUMNS} columns and {CLASSES} classes, k = 20, `hsic-lasso` with `related=0`; the smallest of the runs. The executors share \
         the cores of this machine with the scheduler and the command. Seconds are those of the passes: before them \
         the command looks at the target by itself. Every run is in [cluster.csv](cluster.csv). The *model* has four numbers \
         for each method: seconds without tasks, which is mostly the time until the scheduler has planned each pass, \
         seconds of a task without rows, and seconds a row, from a table of two batches and the smallest and the largest of \
         the others with one executor; and how much faster two executors on this machine are than one, from the largest \
         table. The other runs were not used to make it.\n\n\
         ![Seconds against rows and against executors](cluster.svg)\n\n\
         ## Time\n\n| method | rows | executors | passes | seconds | model, s |\n|---|---|---|---|---|---|\n"
    );
    let each: Vec<&Run> = distinct(runs);
    let (long, wide): (Vec<&Run>, Vec<&Run>) = each.iter().partition(|run| run.table.is_long());
    for run in &long {
        let rows = run.table.rows;
        let used = rows == sizes[2] || run.executors == 1 && (rows == sizes[0] || rows == SHORT);
        let _ = writeln!(
            text,
            "| {} | {rows} | {} | {} | {:.2} | {:.2}{} |",
            run.method.name,
            run.executors,
            run.passes,
            seconds(runs, run.method, run.table, run.executors),
            model.measured(run.method, rows, run.executors)?,
            if used { " (fitted)" } else { "" },
        );
    }
    if let Some(first) = wide.first() {
        let Table { rows, columns, .. } = first.table;
        let _ = write!(
            text,
            "\n## Wide tables\n\nTables of {rows} rows and {columns} columns, of which the eight batches of 4096 rows \
             that a task needs are more than it has memory for by default (1 GiB): the columns come in parts, each with \
             all of its passes. Of the sparse table {:.0} of 100 values are not 0; it is Parquet too, with all its zeros. The model is that of the \
             long tables, with work that grows with the columns, and one number more, from the run that is marked: what \
             a task takes for each column that it opens, whose pages are decompressed as a whole. It knows no zeros: of \
             the sparse table it says what it says of the dense one, which is too long.\n\n\
             | table | method | executors | parts | passes | seconds | model, s |\n\
             |---|---|---|---|---|---|---|\n",
            100.0 * SPARSE,
        );
        for run in &wide {
            let _ = writeln!(
                text,
                "| {} | {} | {} | {} | {} | {:.2} | {:.2}{} |",
                if run.table.share < 1.0 { "sparse" } else { "dense" },
                run.method.name,
                run.executors,
                run.parts(),
                run.passes,
                seconds(runs, run.method, run.table, run.executors),
                model.wide(run)?,
                if is_fitted_wide(run) { " (fitted)" } else { "" },
            );
        }
    }
    text += "\n## Bytes\n\nWhat tasks are sent and what they send back, and what their states make it \
             (`experiments/src/bench/cluster/model.rs`): a number of bytes for each feature, level, class or pair, for each \
             task; and what a task is asked, with the sums of the passes before it or, of a lasso, the columns of its products. They are counted as the command \
             writes and reads them, without what Ballista adds to carry them, and without tasks that were tried again.\n\n\
             | method | rows | columns | tasks | sent | model ÷ sent | received | model ÷ received |\n\
             |---|---|---|---|---|---|---|---|\n";
    for run in each.iter().filter(|run| run.executors == 1) {
        let [of_sent, of_received] = run.bytes_of_model();
        let Table { rows, columns, share } = run.table;
        let _ = writeln!(
            text,
            "| {} | {rows} | {columns}{} | {} | {} | {of_sent:.3} | {} | {of_received:.3} |",
            run.method.name,
            if share < 1.0 { ", sparse" } else { "" },
            tasks(rows),
            run.sent,
            run.received,
        );
    }
    text += &model.predictions(model.sparse(runs)?)?;
    Ok(text)
}

/// The first run of each kind.
fn distinct(runs: &[Run]) -> Vec<&Run> {
    let mut each: Vec<&Run> = Vec::new();
    for run in runs {
        let key = |run: &Run| (run.method.name, run.table, run.executors);
        if each.iter().all(|other| key(other) != key(run)) {
            each.push(run);
        }
    }
    each
}

fn panels(runs: &[Run], model: &Model, sizes: [usize; 3]) -> Result<Vec<Panel>> {
    let each = distinct(runs);
    let methods: Vec<&Method> =
        METHODS.iter().filter(|method| each.iter().any(|run| run.method.name == method.name)).collect();
    let series = |name: String, points: Vec<(f64, f64)>, is_guide| Series {
        name,
        points,
        errors: Vec::new(),
        is_guide,
    };
    // Of tables with so many rows, and so many executors: measured, and as the model has it.
    let panel = |title: String, x_label: &str, places: &[(f64, usize, usize)]| -> Result<Panel> {
        let mut drawn = Vec::new();
        for method in &methods {
            let (mut measured, mut expected) = (Vec::new(), Vec::new());
            for &(x, rows, executors) in places {
                measured.push((x, seconds(runs, method, Table::long(rows), executors)));
                expected.push((x, model.measured(method, rows, executors)?));
            }
            drawn.push(series(method.name.to_owned(), measured, false));
            drawn.push(series(String::new(), expected, true));
        }
        Ok(Panel {
            title,
            x_label: x_label.to_owned(),
            y_label: "seconds".to_owned(),
            logarithmic: true,
            y_range: None,
            series: drawn,
        })
    };
    let middle = sizes[1];
    let by_rows = sizes.map(|rows| (rows as f64, rows, 2));
    let by_executors = EXECUTORS.map(|executors| (executors as f64, middle, executors));
    Ok(vec![
        panel("Two executors; grey: the model".to_owned(), "rows", &by_rows)?,
        panel(format!("{middle} rows; grey: the model"), "executors", &by_executors)?,
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The runs of `docs/benchmarks/cluster.csv`.
    fn written() -> Result<Vec<Run>> {
        let text = fs::read_to_string(workspace::root().join("docs/benchmarks/cluster.csv"))?;
        let lines = text.lines().filter(|line| !line.starts_with('#')).skip(1);
        lines
            .map(|line| {
                let cells: Vec<&str> = line.split(',').collect();
                let [name, rows, columns, share, executors, passes, seconds, sent, received] = cells[..]
                else {
                    return Err(format!("a line of other cells: {line}").into());
                };
                let table = Table { rows: rows.parse()?, columns: columns.parse()?, share: share.parse()? };
                let mut methods = table.methods().into_iter();
                Ok(Run {
                    method: methods.find(|method| method.name == name).ok_or("an unknown method")?,
                    table,
                    executors: executors.parse()?,
                    passes: passes.parse()?,
                    seconds: seconds.parse()?,
                    sent: sent.parse()?,
                    received: received.parse()?,
                })
            })
            .collect()
    }

    #[test]
    fn bytes_are_those_of_the_model() -> Result<()> {
        for run in written()? {
            let Table { rows, columns, share } = run.table;
            // One working set, which has one pass beside those of the parts.
            let beside = usize::from(run.method.name != run.method.id());
            assert_eq!(run.passes, run.parts() * run.method.passes + beside, "{}", run.method.name);
            for ratio in run.bytes_of_model() {
                let name = run.method.name;
                assert!((0.915..1.085).contains(&ratio), "{name} {rows} × {columns} {share}: {ratio}");
            }
        }
        Ok(())
    }

    /// `FEWEST_WRITE_PAGES=1 cargo test -p fewest-experiments cluster` writes the page.
    #[test]
    fn the_page_is_that_of_the_runs() -> Result<()> {
        let runs = written()?;
        let path = workspace::root().join("docs/benchmarks/cluster.md");
        let text = fs::read_to_string(&path)?;
        let (_, facts) = text.split_once("\n## Machine\n").ok_or("the page has no machine")?;
        let page = page(&runs, &Model::fitted(&runs, ROWS)?, ROWS)?;
        let right = format!("{page}\n## Machine\n{facts}");
        if std::env::var_os("FEWEST_WRITE_PAGES").is_some() {
            fs::write(&path, &right)?;
        } else {
            assert!(text == right, "write it with FEWEST_WRITE_PAGES=1");
        }
        Ok(())
    }
}
