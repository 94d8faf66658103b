//! The first look: what all rows decide about columns.

use std::collections::HashMap;
use std::path::Path;

use fewest_core::{Error as CoreError, FeatureKind, State};

use super::Pieces;
use crate::hints::go_on_as_row_numbers;
use crate::levels::{Interner, sort_levels};
use crate::roles::{self, Role};
use crate::suspicions::{FEW_SAMPLES, Level, Suspicions, check_target};
use crate::target::{are_classes_counted, check_names_of_samples};
use crate::{ColumnLabel, Error, Place, ReadOptions, RowLabel, Table, TargetChoice, Task};

/// More different numbers than a target of classes has, unless somebody says that it is one.
const MANY: usize = 100;

/// The levels of a column, with how often each occurs.
#[derive(Debug, Clone, Default)]
pub(super) struct Levels {
    names: Vec<String>,
    codes: HashMap<String, f64>,
    counts: Vec<usize>,
    /// The number of the first sample of each, and what it is called; not where they were sent.
    firsts: Vec<(usize, RowLabel)>,
}

impl State for Levels {
    fn save(&self, to: &mut Vec<u8>) {
        self.names.save(to);
        self.counts.save(to);
    }

    fn load(from: &mut &[u8]) -> Result<Self, CoreError> {
        let (names, counts): (Vec<String>, _) = State::load(from)?;
        let codes = names.iter().cloned().zip((0..names.len()).map(|code| code as f64)).collect();
        Ok(Self { names, codes, counts, firsts: Vec::new() })
    }
}

impl Levels {
    pub(super) fn names(&self) -> &[String] {
        &self.names
    }

    pub(super) fn counts(&self) -> Vec<usize> {
        self.counts.clone()
    }

    fn occurring(&self) -> Vec<Level<'_>> {
        let counts = self.counts.iter().zip(&self.firsts);
        let levels = self.names.iter().zip(counts);
        levels.map(|(name, (&count, (first, _)))| Level { name, count, first: *first }).collect()
    }

    /// What the first sample of a level is called.
    fn row(&self, level: &Level<'_>) -> RowLabel {
        let own = self.firsts.iter().find(|(first, _)| *first == level.first);
        own.map_or(RowLabel::Sample(level.first), |(_, label)| *label)
    }

    pub(super) fn code(&self, name: &str) -> Option<f64> {
        self.codes.get(name).copied()
    }
}

/// Names while they come.
#[derive(Debug, Default)]
struct Gathered {
    names: Interner,
    counts: Vec<usize>,
    /// The number of the first sample of each, and what it is called.
    firsts: Vec<Option<(usize, RowLabel)>>,
    /// Values that are not categories.
    n_numbers: usize,
    /// The last of them, as long as they number the rows.
    last: Option<f64>,
}

impl Gathered {
    /// Those of a table with so many rows before it.
    fn add(&mut self, table: &Table, levels: &[String], values: &[f64], n_before: usize) {
        let own: Vec<usize> = levels.iter().map(|name| self.names.code(name) as usize).collect();
        self.counts.resize(self.names.names().len(), 0);
        self.firsts.resize(self.counts.len(), None);
        for (i, value) in values.iter().enumerate().filter(|(_, value)| !value.is_nan()) {
            if let Some(&code) = own.get(*value as usize) {
                self.counts[code] += 1;
                self.firsts[code].get_or_insert_with(|| {
                    let row = n_before + i;
                    // Of several files the rows count together, as in one table.
                    let label = match table.row_label(i) {
                        RowLabel::Sample(_) => RowLabel::Sample(row),
                        line => line,
                    };
                    (row, label)
                });
            }
        }
    }

    fn finish(self) -> Levels {
        let found = self.names.into_names();
        let mut order: Vec<f64> = (0..found.len()).map(|code| code as f64).collect();
        let names = sort_levels(&mut order, found.clone());
        let mut counts = vec![0; names.len()];
        let mut firsts = vec![(usize::MAX, RowLabel::Sample(0)); names.len()];
        for ((code, count), first) in order.iter().zip(self.counts).zip(self.firsts) {
            let code = *code as usize;
            counts[code] += count;
            if let Some(first) = first.filter(|(row, _)| *row < firsts[code].0) {
                firsts[code] = first;
            }
        }
        Levels { codes: found.into_iter().zip(order).collect(), names, counts, firsts }
    }
}

/// What was found.
#[derive(Debug, Clone, Default)]
pub(super) struct Looked {
    pub(super) task: Task,
    pub(super) classes: Option<Levels>,
    /// By the column in the file.
    pub(super) levels: HashMap<usize, Levels>,
    /// How many rows were looked at.
    pub(super) n_rows: Option<u64>,
    /// What may be meant otherwise; not where this was sent.
    pub(super) notes: Vec<String>,
    /// Of features that were read, and are numbers: whether they number the rows. Not where this was sent.
    pub(super) numbers: HashMap<usize, bool>,
}

impl State for Looked {
    fn save(&self, to: &mut Vec<u8>) {
        self.task.name().to_owned().save(to);
        self.classes.save(to);
        let mut columns: Vec<usize> = self.levels.keys().copied().collect();
        columns.sort_unstable();
        let levels = columns.iter().filter_map(|column| Some((*column, self.levels.get(column)?.clone())));
        levels.collect::<Vec<_>>().save(to);
        self.n_rows.save(to);
    }

    fn load(from: &mut &[u8]) -> Result<Self, CoreError> {
        let task: String = State::load(from)?;
        let (classes, levels): (_, Vec<(usize, Levels)>) = State::load(from)?;
        Ok(Self {
            task: task.parse()?,
            classes,
            levels: levels.into_iter().collect(),
            n_rows: State::load(from)?,
            notes: Vec::new(),
            numbers: HashMap::new(),
        })
    }
}

/// The target, if it is one column.
fn single_target(roles: &[Role]) -> Option<usize> {
    let mut targets = (0..roles.len()).filter(|&column| matches!(roles[column], Role::Target(_)));
    targets.next().filter(|_| targets.next().is_none())
}

/// Whether only the rows tell what this column is.
fn is_open(pieces: &dyn Pieces, column: usize, role: Role, task: Task) -> bool {
    let is_number = pieces.is_category(column) == Some(false);
    match role {
        Role::Category => true,
        Role::Feature => !is_number,
        Role::Target(_) => task != Task::Regression || !is_number,
        _ => false,
    }
}

/// Whether there is something to look for.
pub(super) fn looks(pieces: &dyn Pieces, roles: &[Role], options: &ReadOptions) -> bool {
    let target = single_target(roles);
    (0..roles.len()).any(|column| {
        let is_target = matches!(roles[column], Role::Target(_));
        (!is_target || target == Some(column)) && is_open(pieces, column, roles[column], options.task)
    })
}

impl Looked {
    /// Where nothing has to be looked for: features are numbers, and so is the target, if there is one.
    pub(super) fn none(options: &ReadOptions) -> Self {
        Self { task: options.task, ..Self::default() }
    }

    pub(super) fn kind(&self, column: usize) -> FeatureKind {
        match self.levels.get(&column) {
            Some(levels) => FeatureKind::Categorical { levels: levels.names.clone() },
            None => FeatureKind::Numeric,
        }
    }

    /// A pass over the columns that are open, in pieces of so many rows, or as many as have so many cells.
    pub(super) fn read(
        path: &Path,
        pieces: &mut dyn Pieces,
        roles: &[Role],
        options: &ReadOptions,
        (rows, cells): (usize, u64),
    ) -> Result<Self, Error> {
        let target = single_target(roles);
        let name = |column: usize| match pieces.names().and_then(|names| names.get(column)) {
            Some(name) if !name.is_empty() => name.clone(),
            _ => column.to_string(),
        };
        let is_read = |column: usize| match roles[column] {
            Role::Target(_) if target != Some(column) => false,
            role => is_open(pieces, column, role, options.task),
        };
        // A nameless first column is one of ids, whatever else is said.
        let is_left = |column: usize| !is_read(column) && roles[column] != Role::Id;
        // The levels of a target of numbers have the names that classes get.
        let is_coded =
            |column: usize| is_read(column) && (roles[column] == Role::Category || target == Some(column));
        let columns: Vec<usize> = (0..roles.len()).filter(|&column| is_read(column)).collect();
        let is_text = target.is_some_and(|target| pieces.is_category(target) == Some(true));
        let reading = ReadOptions {
            target: TargetChoice::None,
            task: Task::Auto,
            ignore: (0..roles.len()).filter(|&column| is_left(column)).map(name).collect(),
            categorical: (0..roles.len()).filter(|&column| is_coded(column)).map(name).collect(),
            ..options.clone()
        };
        let names: Vec<ColumnLabel> =
            columns.iter().map(|&column| roles::label(pieces.names(), column)).collect();
        let mut gathered: Vec<Gathered> = columns.iter().map(|_| Gathered::default()).collect();
        let mut is_closed = false;
        let rows = rows.min((cells / columns.len().max(1) as u64) as usize).max(1);
        pieces.rewind()?;
        let mut n_rows = 0;
        let look = |table: Table| {
            let n_before = usize::try_from(n_rows).unwrap_or(usize::MAX);
            n_rows += table.n_samples() as u64;
            for (j, own) in gathered.iter_mut().enumerate().take(table.n_features()) {
                let is_target = target == Some(columns[j]);
                if is_target && is_closed {
                    continue;
                }
                let n = table.n_samples();
                let values = table.features.stored(j).to_vec(n);
                match table.feature_kind(j) {
                    FeatureKind::Categorical { levels } => {
                        own.add(&table, levels, &values, n_before);
                    }
                    _ => {
                        own.n_numbers += values.iter().filter(|value| !value.is_nan()).count();
                        let mut last = if n_before == 0 { Some(f64::NEG_INFINITY) } else { own.last };
                        own.last = last.take_if(|last| go_on_as_row_numbers(last, &values));
                    }
                }
                // Of a target of measurements, no more has to be known.
                is_closed |= is_target
                    && options.task == Task::Auto
                    && !is_text
                    && own.names.names().len() > MANY
                    && own.names.names().iter().all(|name| is_number(name));
            }
            Ok(())
        };
        fewest_parallel::ahead(|| pieces.next(rows, &reading), look)?;
        let mut looked = Self { task: options.task, n_rows: Some(n_rows), ..Self::default() };
        let mut suspicions = Suspicions::default();
        for ((column, own), label) in columns.into_iter().zip(gathered).zip(names) {
            if target == Some(column) {
                let n_numbers = own.names.names().iter().filter(|name| is_number(name)).count();
                let is_text = is_text || (n_numbers == 0 && !own.names.names().is_empty());
                if !is_text && n_numbers < own.names.names().len() && options.task == Task::Auto {
                    return Err(mixture(path, label));
                }
                looked.decide(path, label, own.finish(), is_text, is_closed)?;
            } else if own.names.names().is_empty() {
                // Numbers, or nothing at all.
                looked.numbers.insert(column, own.last.is_some() && n_rows >= FEW_SAMPLES as u64);
            } else if own.n_numbers > 0 {
                return Err(mixture(path, label));
            } else {
                let levels = own.finish();
                match roles[column] {
                    Role::Feature => suspicions.text(&levels.occurring(), label, |level| levels.row(level)),
                    _ => suspicions.categories(&levels.occurring(), label),
                }
                looked.levels.insert(column, levels);
            }
        }
        looked.notes = suspicions.into_notes();
        Ok(looked)
    }

    /// The task, as the whole table decides it.
    fn decide(
        &mut self,
        path: &Path,
        label: ColumnLabel,
        levels: Levels,
        is_text: bool,
        is_closed: bool,
    ) -> Result<(), Error> {
        let are_classes = match self.task {
            Task::Classification => true,
            Task::Auto if is_text => {
                check_target(path, &label, &levels.occurring(), |level| levels.row(level))?;
                let n_samples = levels.counts.iter().sum();
                check_names_of_samples(path, &label, levels.names.len(), n_samples)?;
                true
            }
            Task::Auto => {
                let numbers = levels.names.iter().filter_map(|name| name.trim().parse().ok());
                let counted: Vec<(f64, usize)> = numbers.zip(levels.counts()).collect();
                !is_closed && are_classes_counted(&counted)
            }
            // Text is told where it is read.
            _ => false,
        };
        self.task = if are_classes { Task::Classification } else { Task::Regression };
        self.classes = are_classes.then_some(levels);
        Ok(())
    }
}

fn is_number(name: &str) -> bool {
    name.trim().parse::<f64>().is_ok_and(f64::is_finite)
}

fn mixture(path: &Path, label: ColumnLabel) -> Error {
    let problem = "the column holds numbers in some rows and text in others";
    let advice = "correct the text, say that it means \"missing\", or that the column is categorical (on the \
                  command line: --missing-token, --categorical)";
    Error::malformed(path, Place::Column(label), problem, advice)
}
