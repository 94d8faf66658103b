//! What a selection by a cluster costs: bytes from the form of the sums, seconds from measured runs.

use std::fmt::Write as _;

use super::{COLUMNS, EXECUTORS, Run, SHORT, SPARSE, Table, seconds, tasks};
use crate::Result;

/// Classes of the tables, levels of a feature, and features to select.
pub(super) const CLASSES: f64 = 3.0;
const LEVELS: f64 = 5.0;
const K: f64 = 20.0;

/// A table, the tasks of a pass over it, and the parts in which its columns come.
pub(super) struct Size {
    pub(super) columns: f64,
    pub(super) tasks: f64,
    pub(super) parts: f64,
}

/// A method that is measured.
pub(super) struct Method {
    /// Begins with the word that the command has for it.
    pub(super) name: &'static str,
    /// Parameters.
    pub(super) parameters: &'static [&'static str],
    /// Passes over the rows of a table that comes in one part.
    pub(super) passes: usize,
    /// Bytes that all tasks of all passes send back.
    pub(super) bytes: fn(&Size) -> f64,
    /// Bytes that a task is sent besides in all of its passes: sums of earlier passes over all rows, or which
    /// columns to multiply.
    pub(super) carried: fn(&Size) -> f64,
}

impl Method {
    /// The word that the command has for it.
    pub(super) fn id(&self) -> &'static str {
        self.name.split(' ').next().unwrap_or(self.name)
    }

    /// Bytes that all tasks of all passes are sent.
    pub(super) fn sent(&self, size: &Size) -> f64 {
        let passes = if self.name == "mrmr" { passes_of_mrmr(size.columns) } else { self.passes as f64 };
        size.tasks * (REQUEST * passes * size.parts + (self.carried)(size))
    }
}

/// Bytes of what a task is asked besides: the table, the method, its rows.
const REQUEST: f64 = 374.0;

/// Bytes of the range of a feature over all rows.
const RANGE: f64 = 18.0;
/// Bytes of its counts: the levels, their counts by class, and where each was first seen.
const COUNTS: f64 =
    (8.0 + 8.0 * LEVELS) + (8.0 + 8.0 * LEVELS * CLASSES) + 8.0 + (8.0 + CLASSES * (8.0 + 8.0 * LEVELS));
/// Bytes of the moments of a feature and its products with the indicators of the classes.
const MOMENTS: f64 = 16.0 + 8.0 + 33.0 + 9.0 + 8.0 * CLASSES;
/// Bytes of the range and the moments of a feature, and of the target with a number of samples; and of the
/// counts at its nodes by class.
const RANGES: f64 = 8.0 + 2.0 * 40.0;
const NODE_COUNTS: f64 = 8.0 * NODES * CLASSES;

pub(super) const METHODS: &[Method] = &[
    Method {
        name: "f-score",
        parameters: &[],
        passes: 1,
        bytes: |size| sums(size, 16.0 + 9.0 + 33.0 * CLASSES),
        carried: |_| 0.0,
    },
    Method { name: "chi2", parameters: &[], passes: 2, bytes: tables, carried: |size| RANGE * size.columns },
    Method {
        name: "mrmr",
        parameters: &[],
        passes: 3,
        bytes: |size| tables(size) + size.tasks * (16.0 + PAIR * pairs(size.columns)),
        carried: |size| match passes_of_mrmr(size.columns) > 3.0 {
            false => size.columns * (2.0 * RANGE + COUNTS),
            true => size.columns * (3.0 * RANGE + 2.0 * COUNTS) + PAIR * all_pairs(LIKELY),
        },
    },
    Method {
        name: "lasso",
        parameters: &[],
        passes: 2,
        bytes: |size| sums(size, MOMENTS) + size.tasks * (24.0 + square(size.columns + CLASSES)),
        carried: |size| instructions(size.columns),
    },
    Method { name: "hsic", parameters: &[], passes: 2, bytes: nodes, carried: |size| RANGES * size.columns },
    Method {
        name: "hsic-lasso",
        parameters: &["related=0"],
        passes: 3,
        bytes: |size| nodes(size) + size.tasks * (24.0 + square(2.0 * K * RANK)),
        carried: |size| size.columns * (2.0 * RANGES + NODE_COUNTS),
    },
];

/// The methods that are measured on wide tables, of which columns come in parts: of a table, those that come
/// before.
pub(super) const WIDE_METHODS: [&Method; 3] = [&METHODS[0], &METHODS[1], &WORKING_SET];

/// A lasso of more columns than there is memory for the products of, where one working set is enough. One
/// pass more, over this set alone, comes beside those of the parts.
const WORKING_SET: Method = Method {
    name: "lasso by a working set",
    parameters: &[],
    passes: 3,
    bytes: |size| {
        let rectangle = |width: f64| size.parts * 32.0 + size.columns * 8.0 * width;
        let of_products = rectangle(CLASSES) + 32.0 + square(WORKING + CLASSES) + rectangle(JOINED);
        sums(size, MOMENTS) + size.tasks * of_products
    },
    carried: |size| {
        let Size { columns, parts, .. } = *size;
        let with_outputs = parts * instructions(columns / parts);
        let with_joined = parts * (instructions(columns / parts) + (COLUMN + PLACE) * JOINED);
        REQUEST + with_outputs + instructions(WORKING) + with_joined
    },
};

/// Columns of a working set, and those of them with a coefficient at one of the points that decide.
const WORKING: f64 = 512.0;
const JOINED: f64 = K;

/// Methods whose rows are summed in 64 parts at most.
const IN_PARTS: [&str; 3] = ["lasso", "hsic", "hsic-lasso"];

/// Candidates whose pairs mRMR counts to foresee the next ones: four for each feature to select.
const LIKELY: f64 = 4.0 * K;

/// Nodes of a feature of these tables, and features of its kernel, on average.
const NODES: f64 = 54.5;
const RANK: f64 = 12.75;

/// Counts of a pair of features by class: two lengths, a form, a length, and a count for each cell.
const PAIR: f64 = 16.0 + 9.0 + 8.0 * LEVELS * LEVELS * CLASSES;

/// Sums of so many bytes a feature: each task has a node of the tree of batches, which has two numbers
/// besides, in a list with three.
fn sums(size: &Size, bytes: f64) -> f64 {
    size.tasks * (25.0 + size.columns * (bytes + 16.0 + 26.0))
}

/// The range of each feature, and in the next pass its counts of levels by class.
fn tables(size: &Size) -> f64 {
    sums(size, 16.0) + sums(size, COUNTS)
}

/// The range and the moments of each feature and of the target with a number of samples, and the counts at
/// its nodes by class.
fn nodes(size: &Size) -> f64 {
    sums(size, RANGES) + size.tasks * size.columns * (NODE_COUNTS + 42.0)
}

/// Pairs of features that mRMR counts: all, or those of four candidates a selected feature with each other,
/// and of the selected ones with all.
fn pairs(columns: f64) -> f64 {
    let all = all_pairs(columns);
    if all <= 3.0 * K * columns { all } else { all_pairs(LIKELY) + K * columns }
}

fn all_pairs(columns: f64) -> f64 {
    columns * (columns - 1.0) / 2.0
}

/// Passes of mRMR over the rows.
fn passes_of_mrmr(columns: f64) -> f64 {
    if pairs(columns) == all_pairs(columns) { 3.0 } else { 4.0 }
}

/// What a pass for products is told in place of earlier sums: the columns that are read and what standardises
/// them, their places among these, and the same of the outputs.
fn instructions(columns: f64) -> f64 {
    60.0 + (COLUMN + PLACE) * columns + 49.0 * CLASSES
}

const COLUMN: f64 = 8.0 + 42.0;
const PLACE: f64 = 8.0;

/// The products of so many columns with each other, in tiles of up to 64 × 64 above the diagonal.
fn square(width: f64) -> f64 {
    let cuts = (width / 64.0).ceil();
    let tiles = cuts * (cuts + 1.0) / 2.0;
    let each = (width / cuts).powi(2);
    8.0 * tiles * each + 8.0 * tiles
}

/// What the time of each method is made of.
pub(super) struct Model {
    fitted: Vec<Fitted>,
    /// Seconds of a task for each column that it opens, in each pass: its pages are decompressed as a whole,
    /// also where a task has few of their rows.
    column: f64,
}

/// Four numbers of a method, for all of its passes together.
struct Fitted {
    name: &'static str,
    /// Seconds without tasks, however many executors there are: until the scheduler has planned a pass, and
    /// what the command computes.
    start: f64,
    /// Seconds of a task without rows: until it is handed out, and what it sends.
    task: f64,
    /// Seconds of a row with [`COLUMNS`] columns.
    row: f64,
    /// How much faster two executors on this machine compute than one.
    speedup: f64,
}

/// Numbers of tasks and of rows that differ by less than this do not tell the time of one from the other's.
const TELLING: f64 = 0.1;

/// Machines that nobody measured.
const MACHINES: f64 = 100.0;
const SLOTS: f64 = 8.0;
/// Parts in which the columns of both widest tables come where a task has 16 GiB: all rows of a part, up to
/// 2¹⁶ of them, take an eighth of that.
const PARTS: f64 = 246.0;
/// Bytes a second that the command sends or receives.
const NETWORK: f64 = 1e9;

/// Whether the model is made from this run on a wide table.
pub(super) fn is_fitted_wide(run: &Run) -> bool {
    let is_first = run.method.name == WIDE_METHODS[0].name && run.executors == EXECUTORS[0];
    is_first && !run.table.is_long() && run.table.share >= 1.0
}

/// Seconds of a task and of a row, from the tasks, the rows and the seconds of two tables beyond those of
/// another.
fn slopes(small: (f64, f64, f64), large: (f64, f64, f64), than: (f64, f64, f64)) -> (f64, f64) {
    let beyond = |of: (f64, f64, f64)| (of.0 - than.0, of.1 - than.1, of.2 - than.2);
    let ((tasks, rows, time), (more_tasks, more_rows, longer)) = (beyond(small), beyond(large));
    let determinant = tasks * more_rows - more_tasks * rows;
    let is_told = determinant > TELLING * tasks * more_rows;
    let task = if is_told { (time * more_rows - longer * rows) / determinant } else { 0.0 };
    let task = task.max(0.0);
    (task, ((longer - task * more_tasks) / more_rows).max(0.0))
}

impl Model {
    /// From a table of two batches, and the smallest and the largest of the other long ones, with one
    /// executor, and the largest one with two; and from the first method on the dense wide table with one.
    pub(super) fn fitted(runs: &[Run], sizes: [usize; 3]) -> Result<Self> {
        let mut fitted = Vec::new();
        for method in METHODS.iter().filter(|method| runs.iter().any(|run| run.method.name == method.name)) {
            let large = sizes[2];
            let taken = |rows: usize, executors: usize| seconds(runs, method, Table::long(rows), executors);
            let of = |rows: usize| (tasks(rows), rows as f64, taken(rows, EXECUTORS[0]));
            let (short, small, largest) = (of(SHORT), of(sizes[0]), of(large));
            let (mut task, mut row) = slopes(small, largest, short);
            let mut start = short.2 - task * short.0 - row * short.1;
            if start < 0.0 {
                ((task, row), start) = (slopes(small, largest, (0.0, 0.0, 0.0)), 0.0);
            }
            let with_two = taken(large, EXECUTORS[1]) - start;
            let computing = task * largest.0 + row * largest.1;
            let speedup = if computing > 0.0 { (computing / with_two.max(0.0)).clamp(1.0, 2.0) } else { 1.0 };
            fitted.push(Fitted { name: method.name, start, task, row, speedup });
        }
        let mut model = Self { fitted, column: 0.0 };
        if let Some(run) = runs.iter().find(|run| is_fitted_wide(run)) {
            let more = seconds(runs, run.method, run.table, run.executors) - model.wide(run)?;
            model.column = (more / model.columns_opened(run)).max(0.0);
        }
        Ok(model)
    }

    /// Columns that the tasks of all passes open: each has those of its part.
    fn columns_opened(&self, run: &Run) -> f64 {
        (run.passes * run.table.columns) as f64 / run.parts() as f64 * tasks(run.table.rows)
    }

    fn of(&self, name: &str) -> Result<&Fitted> {
        let found = self.fitted.iter().find(|fitted| fitted.name == name);
        found.ok_or_else(|| format!("{name} was not measured").into())
    }

    /// Seconds with one or two executors of one task each, on the long tables.
    pub(super) fn measured(&self, method: &Method, rows: usize, executors: usize) -> Result<f64> {
        let Fitted { start, task, row, .. } = self.of(method.name)?;
        let work = task * tasks(rows) + row * rows as f64;
        Ok(start + work / self.faster(method.name, rows, executors)?)
    }

    /// How much faster so many executors are than one.
    fn faster(&self, name: &str, rows: usize, executors: usize) -> Result<f64> {
        let speedup = self.of(name)?.speedup;
        Ok(if executors > 1 && tasks(rows) > 1.0 { speedup } else { 1.0 })
    }

    /// Seconds of a run on a wide table with as many executors, had it no zeros.
    pub(super) fn wide(&self, run: &Run) -> Result<f64> {
        let (method, Table { rows, columns, .. }) = (run.method, run.table);
        let (start, task) = self.without_rows(method)?;
        let parts = run.size().parts;
        let work = task * tasks(rows) * parts + self.each(method, columns as f64)? * rows as f64;
        // Each executor opens those of its tasks.
        let opening = self.column * self.columns_opened(run) / run.executors as f64;
        Ok(start * parts + opening + work / self.faster(method.id(), rows, run.executors)?)
    }

    /// How much of the seconds of a row remain where most values are 0, for each method that was measured on
    /// such a table, from one executor.
    pub(super) fn sparse(&self, runs: &[Run]) -> Result<Vec<(&'static str, f64)>> {
        let mut shares = Vec::new();
        for name in WIDE_METHODS.map(|method| method.name) {
            let found = |is_sparse: bool| {
                let wide = |run: &&Run| !run.table.is_long() && (run.table.share < 1.0) == is_sparse;
                runs.iter().filter(wide).find(|run| run.method.name == name && run.executors == 1)
            };
            let (Some(dense), Some(sparse)) = (found(false), found(true)) else { continue };
            // What remains is too little to leave out what tasks take without rows, too.
            let opening = self.column * self.columns_opened(dense);
            let computing = |run: &Run| (seconds(runs, run.method, run.table, 1) - opening).max(0.0);
            let whole = computing(dense);
            shares.push((name, if whole > 0.0 { computing(sparse) / whole } else { 1.0 }));
        }
        Ok(shares)
    }

    /// Seconds without tasks, and of a task without rows: of each part of the columns, with as many passes as
    /// the method has there.
    fn without_rows(&self, method: &Method) -> Result<(f64, f64)> {
        let Fitted { start, task, .. } = self.of(method.id())?;
        let measured = METHODS.iter().find(|measured| measured.name == method.id());
        let more = measured.map_or(1.0, |measured| method.passes as f64 / measured.passes as f64);
        Ok((more * start, more * task))
    }

    /// Seconds of a row with so many columns: the work of `f-score` and `chi2` grows with the columns, what
    /// the others do besides with the pairs that they count or multiply.
    fn each(&self, method: &Method, columns: f64) -> Result<f64> {
        let measured = COLUMNS as f64;
        let share = columns / measured;
        let of = |name: &str| self.of(name).map(|fitted| fitted.row);
        // What a lasso does beside reading the values, for each product.
        let product = || -> Result<f64> {
            Ok((of("lasso")? - 2.0 * of("f-score")?).max(0.0) / square(measured + CLASSES))
        };
        Ok(match method.name {
            "mrmr" => {
                // Each pass reads the values, as that of `f-score` does.
                let own = (of("mrmr")? - of("chi2")? - of("f-score")?).max(0.0) / pairs(measured);
                let more = passes_of_mrmr(columns) - 2.0;
                of("chi2")? * share + more * of("f-score")? * share + own * pairs(columns)
            }
            "lasso" => 2.0 * of("f-score")? * share + product()? * square(columns + CLASSES),
            "lasso by a working set" => {
                let products = square(WORKING + CLASSES) + 8.0 * columns * (CLASSES + JOINED);
                3.0 * of("f-score")? * share + product()? * products
            }
            // As many products, of however many columns they are the likely ones.
            "hsic-lasso" => {
                let own = (of("hsic-lasso")? - of("hsic")?).max(0.0);
                of("hsic")? * share + own
            }
            name => of(name)? * share,
        })
    }

    /// Nothing where not all methods were measured.
    pub(super) fn predictions(&self, sparse: Vec<(&'static str, f64)>) -> Result<String> {
        if self.fitted.len() < METHODS.len() {
            return Ok(String::new());
        }
        let mut text = format!(
            "\n## Past this machine\n\n\
             What the model says. Nobody has measured it. It supposes:\n\n\
             - {MACHINES:.0} machines with {SLOTS:.0} tasks at a time, and tables at a path that all of them read as fast \
             as this machine reads its own. The look at the target before the passes, which one machine takes, comes \
             besides.\n\
             - a command that sends and receives {:.0} GB a second, and has memory for three times what comes in a pass: `mrmr` \
             takes most.\n\
             - `--tasks {:.0}` for `f-score`, `chi2` and `mrmr`, and the 64 that are allowed for the lassos and `hsic`. \
             All tasks but the last have the same number of batches of 4096 rows, a power of two: so there \
             are fewer of them in the table.\n\
             - `--memory 16GiB` for each task. A piece of rows takes an eighth of it, so that the columns of the wide \
             tables come in {PARTS:.0} parts, each with all of its passes.\n\
             - seconds of a row that grow with the columns, for `mrmr` and `lasso` also with the pairs that are counted \
             or multiplied.\n\
             - of the sparse table the share of these seconds that was measured above, with one executor, once the time \
             for opening columns is taken off. Little is left then for `chi2`, with two passes, so that its share is \
             uncertain.\n\n\
             | table | method | tasks | waiting, s | computing, s | sent, GB | received, GB | moving, s | all, s |\n|---|---|---|---|---|---|---|---|---|\n",
            NETWORK / 1e9,
            MACHINES * SLOTS,
        );
        let mut line = |table: &str,
                        method: &Method,
                        [rows, columns]: [f64; 2],
                        parts: f64,
                        share: f64|
         -> Result<()> {
            let name = method.name;
            let most = if IN_PARTS.contains(&method.id()) { 64 } else { (MACHINES * SLOTS) as u64 };
            let each = fewest::core::part_rows(rows as u64, most) as f64;
            let tasks = (rows / each).ceil();
            let rounds = (tasks / (MACHINES * SLOTS)).ceil();
            let more_passes = if name == "mrmr" { passes_of_mrmr(columns) / 3.0 } else { 1.0 };
            let (start, task) = self.without_rows(method)?;
            let opening = rounds * self.column * columns * method.passes as f64;
            let waiting = ((start + rounds * task) * parts + opening) * more_passes;
            let computing = rounds * self.each(method, columns)? * each.min(rows) * share;
            let size = Size { columns, tasks, parts };
            let (sent, received) = (method.sent(&size), (method.bytes)(&size));
            let moving = (sent + received) / NETWORK;
            let _ = writeln!(
                text,
                "| {table} | `{name}` | {tasks:.0} | {waiting:.1} | {computing:.1} | {:.2} | {:.2} | {moving:.1} | {:.0} |",
                sent / 1e9,
                received / 1e9,
                waiting + computing + moving,
            );
            Ok(())
        };
        for method in METHODS {
            line("10⁸ × 10³", method, [1e8, 1e3], 1.0, 1.0)?;
        }
        for method in METHODS.iter().filter(|method| method.name == "mrmr") {
            line("6.4·10⁷ × 631", method, [6.4e7, 631.0], 1.0, 1.0)?;
        }
        for method in WIDE_METHODS {
            line("10⁶ × 10⁶", method, [1e6, 1e6], PARTS, 1.0)?;
        }
        let percent = 100.0 * SPARSE;
        for method in WIDE_METHODS {
            let share = sparse.iter().find(|(name, _)| *name == method.name).map_or(1.0, |(_, share)| *share);
            let table = format!("10⁶ × 10⁶, sparse: {percent:.0} of 100 values");
            line(&table, method, [1e6, 1e6], PARTS, share)?;
        }
        line("16 000 × 4·10⁶", WIDE_METHODS[0], [16e3, 4e6], PARTS, 1.0)?;
        text += "\nThe sparse table is one of Parquet with all its zeros, which a task decodes, since readers of sparse \
                 files need the whole table. `mrmr` and `hsic-lasso` of 10⁶ columns are refused: they need eight batches \
                 of all columns at once, 262 GB for each task. `lasso` takes a [working \
                 set](../scale.md#a-lasso-of-many-columns), here one that is enough. What the command does between its passes \
                 is not in the model.\n\n\
                 What others print:\n\n\
                 | program | table | machines | time |\n|---|---|---|---|\n\
                 | fast-mRMR-MPI (González-Domínguez et al. 2019) | 16 000 × 4·10⁶, k = 200 | 32 nodes, 768 cores | less than a \
                 minute; one core more than eight hours |\n\
                 | Spark infotheoretic (Ramírez-Gallego et al. 2018) | 6.4·10⁷ × 631, and 2·10⁷ × 3·10⁷ sparse | Spark, 400 cores \
                 | less than a minute for each selected feature; an earlier version 150 s, on 6.5·10⁷ × 631 (its README of 2019 \
                 and before) |\n\
                 | LAND (Yamada et al. 2018) | tens of thousands × 10⁶ | commodity cloud | its abstract tells none; its paper was \
                 not at hand |\n\n\
                 A table of 16 000 rows has four batches, so that here four tasks share it, however many machines there \
                 are: parts of the rows suit long tables. For few rows and very many columns one machine with many threads \
                 is the better choice.\n";
        Ok(text)
    }
}
