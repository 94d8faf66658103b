//! From the file to a data set, and from names to features.

use std::io;
use std::path::{Path, PathBuf};

use fewest::core::{Authors, Dataset, FeatureKind, Graph, Target, Views};
use fewest::data::{
    Complete, Header, LinkOptions, Missing, Nodes, ReadOptions, Reduced, Reduction, Table, TargetChoice,
    TargetFound, Unknown, matching_names, parse_views, read_authors, read_groups, read_links, read_views,
};
use fewest::registry::{self, Method, Registry, TargetKind};
use fewest_study::{DataInfo, SampleInfo};

use crate::args::{DataArgs, FileArgs, GroupArgs, NetworkArgs, ViewArgs};
use crate::failure::Failure;
use crate::text;

/// The method or evaluation that uses the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct User {
    /// Its name, for messages.
    pub id: &'static str,
    /// Whether it needs a target.
    pub supervised: bool,
}

impl User {
    /// One run of a method.
    pub(crate) fn method(method: &Method) -> Self {
        Self { id: method.id, supervised: !method.targets.contains(&TargetKind::None) }
    }
}

/// A table, and how its target was found if no argument names it.
pub(crate) struct Found {
    /// The table.
    pub table: Table,
    /// "the column of that name", "the last column".
    pub target_found: Option<&'static str>,
    /// What the reader notes, and what may be meant otherwise.
    pub notes: Vec<String>,
}

impl Found {
    fn new(table: Table, target_found: Option<&'static str>) -> Self {
        let notes = table.notes().to_vec();
        Self { table, target_found, notes }
    }
}

/// How to read the file, without what concerns the roles of its columns.
pub(crate) fn options(registry: &Registry, args: &FileArgs) -> Result<ReadOptions, Failure> {
    let formats = registry.formats().clone();
    let named =
        |name: &String| formats.named(name).map_err(|error| Failure::new(format!("--format: {error}")));
    let format = args.format.as_ref().map(named).transpose()?;
    let tokens = ReadOptions::default().missing_tokens;
    Ok(ReadOptions {
        formats,
        format,
        header: args.header,
        delimiter: args.delimiter,
        id: args.id_column.clone(),
        missing_tokens: tokens.into_iter().chain(args.missing_token.iter().cloned()).collect(),
        encoding: args.encoding.clone(),
        transpose: args.transpose,
        first_index: args.first_index,
        x_variable: args.x_variable.clone(),
        allow_large: args.allow_large,
        ..ReadOptions::default()
    })
}

/// The features of a selection, made from the rows of a file.
pub(crate) fn reduced(
    registry: &Registry,
    args: &FileArgs,
    ignore: &[String],
    reduction: Reduction,
    unknown: Unknown,
) -> Result<Reduced, Failure> {
    let header = match args.header {
        // Also where the first line could hold values: there are names by which columns are found.
        Header::Auto if reduction.named => Header::Yes,
        given => given,
    };
    let options = ReadOptions {
        target: TargetChoice::None,
        header,
        ignore: ignore.to_vec(),
        reduction: Some(reduction.clone()),
        ..options(registry, args)?
    };
    let table = table(args, &options)?;
    reduction.apply(table, unknown).map_err(|error| match error {
        fewest::data::Error::MissingValue { path, place } => Failure::new(format!(
            "{}: {place}the value is missing, and the selection does not say what fills it in: write the cell, or run \
             `fewest select` again with --missing drop-rows, mean or median",
            path.display()
        )),
        error => Failure::new(error.to_string()),
    })
}

/// What is needed of a file beside its features.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Needs<'a> {
    /// A target: the last column, if no column has a name of a target.
    pub target: bool,
    /// The SHA-256 of the file, for a report.
    pub digest: bool,
    /// The column with the weights of the samples.
    pub weights: Option<&'a str>,
    /// The column with the groups of the samples, which take the place of their names.
    pub groups: Option<&'a str>,
}

/// How to read the table.
pub(crate) fn table_options(
    registry: &Registry,
    args: &DataArgs,
    needs: Needs<'_>,
) -> Result<ReadOptions, Failure> {
    Ok(ReadOptions {
        target: match args.target.is_empty() {
            true => TargetChoice::Guess { or_last: needs.target },
            false => TargetChoice::Columns(args.target.clone()),
        },
        task: args.task,
        weights: needs.weights.map(str::to_owned),
        sample_groups: needs.groups.map(str::to_owned),
        ignore: args.ignore.clone(),
        categorical: args.categorical.clone(),
        file_digest: needs.digest,
        ..options(registry, &args.read)?
    })
}

/// Reads the table.
pub(crate) fn read(registry: &Registry, args: &DataArgs, needs: Needs<'_>) -> Result<Found, Failure> {
    read_by(args, &table_options(registry, args, needs)?)
}

/// Reads the table by these options.
pub(crate) fn read_by(args: &DataArgs, options: &ReadOptions) -> Result<Found, Failure> {
    let table = table(&args.read, options)?;
    if !args.target.is_empty() {
        return Ok(Found::new(table, None));
    }
    let target_found = table.guess();
    let hint = (target_found == Some(TargetFound::Last) && table.looks_transposed()).then(|| {
        format!(
            "{} rows, each with a name, and {} columns: if rows are features (genes) and columns samples, add \
             --transpose",
            text::count(table.n_samples()),
            text::count(table.n_features() + 1)
        )
    });
    let found = Found::new(table, target_found.map(TargetFound::words));
    Ok(Found { notes: found.notes.into_iter().chain(hint).collect(), ..found })
}

/// The table in the file, or in stdin for `-`.
fn table(args: &FileArgs, options: &ReadOptions) -> Result<Table, Failure> {
    let path = args.file.as_path();
    let table = match path.as_os_str() == "-" {
        true => Table::read_stream(path, io::stdin(), options),
        false => Table::read(path, options),
    };
    table.map_err(|error| wrong_file(&error))
}

/// The message of the reader, with the names of options as they are typed.
pub(crate) fn wrong_file(error: &fewest::data::Error) -> Failure {
    use fewest::core::Error::InvalidParameter;
    let option = match error {
        fewest::data::Error::Core(InvalidParameter { name, value, expected }) => match *name {
            "x_variable" => Some(("--x-variable", value, format!("{expected} (as .mat files have)"))),
            "first_index" => Some(("--first-index", value, expected.clone())),
            "missing_tokens" => Some(("--missing-token", value, expected.clone())),
            "encoding" => Some(("--encoding", value, expected.clone())),
            "delimiter" => Some(("--delimiter", value, expected.clone())),
            "missing" => Some(("--missing", value, expected.clone())),
            _ => None,
        },
        _ => None,
    };
    Failure::new(match option {
        Some((option, value, expected)) => format!("{option} is {value}, but must be {expected}"),
        None => error.to_string(),
    })
}

/// The data set after the policy for missing values, checked against the needs of `user`.
pub(crate) fn complete(found: Found, args: &DataArgs, user: User) -> Result<(Complete, DataInfo), Failure> {
    let Found { table, target_found, notes } = found;
    let file_digest = table.file_digest().map(str::to_owned);
    let complete = table.complete(args.missing).map_err(|error| Failure::new(error.to_string()))?;
    let kinds = complete.substitutes.iter().map(|(j, _)| complete.dataset.feature_kind(*j));
    let filled = format!("filled by {}", filler(args.missing, kinds));
    let info = describe(&complete, args, user, target_found, &filled, notes)?;
    Ok((complete, DataInfo { file_digest, ..info }))
}

/// As [`complete`], but with the missing values, which are filled in every fold.
pub(crate) fn with_gaps(found: Found, args: &DataArgs, user: User) -> Result<(Complete, DataInfo), Failure> {
    let Found { table, target_found, notes } = found;
    let file_digest = table.file_digest().map(str::to_owned);
    let complete = table.with_gaps(args.missing).map_err(|error| Failure::new(error.to_string()))?;
    let kinds = (0..complete.dataset.n_features()).map(|j| complete.dataset.feature_kind(j));
    let filled = format!("filled in every fold by {} of its training samples", filler(args.missing, kinds));
    let info = describe(&complete, args, user, target_found, &filled, notes)?;
    Ok((complete, DataInfo { file_digest, ..info }))
}

/// The description of the data for outputs, after a check that `user` can work with them.
fn describe(
    complete: &Complete,
    args: &DataArgs,
    user: User,
    target_found: Option<&'static str>,
    filled: &str,
    notes: Vec<String>,
) -> Result<DataInfo, Failure> {
    let data = &complete.dataset;
    let n_dropped = complete.dropped.len();
    if data.n_samples() < 2 && n_dropped > 0 {
        return Err(Failure::new(format!(
            "{}: {} of {} rows have a missing value and are left out (--missing drop-rows), so that only {} is left: \
             take --missing mean or median, or --ignore columns with many",
            args.read.file.display(),
            text::count(n_dropped),
            text::count(n_dropped + data.n_samples()),
            data.n_samples()
        )));
    }
    check_target(&args.read.file, data, user)?;
    Ok(DataInfo {
        targets: complete.target_names.clone(),
        target_found,
        missing: args.missing,
        missing_done: missing_done(complete, filled),
        gaps: complete.filled,
        columns: complete.columns.clone(),
        notes,
        ..DataInfo::new(args.read.file.display().to_string(), data)
    })
}

/// What missing values of features of these kinds are filled in by.
pub(crate) fn filler<'a>(missing: Missing, kinds: impl Iterator<Item = &'a FeatureKind>) -> String {
    let categorical: Vec<bool> = kinds.map(|kind| matches!(kind, FeatureKind::Categorical { .. })).collect();
    let number = format!("the {}", missing.name());
    match (categorical.contains(&false), categorical.contains(&true)) {
        (_, false) => number,
        (false, true) => "the most frequent level".to_owned(),
        (true, true) => format!("{number} or, of categorical features, the most frequent level"),
    }
}

fn missing_done(complete: &Complete, filled: &str) -> Option<String> {
    let mut done: Vec<String> = text::left_out(complete.dropped.len()).into_iter().collect();
    if complete.filled > 0 {
        let cells = text::counted(complete.filled, "missing value", "missing values");
        done.push(format!("{cells} {filled}"));
    }
    (!done.is_empty()).then(|| done.join(", "))
}

/// Errors that a method would report later, in terms of the command line arguments.
fn check_target(file: &Path, data: &Dataset, user: User) -> Result<(), Failure> {
    let file = file.display();
    if data.n_samples() < 2 {
        return Err(Failure::new(format!(
            "{file}: there is only 1 sample, but at least 2 are needed: check the delimiter, the header, and \
             whether samples are rows"
        )));
    }
    let User { id, supervised } = user;
    match data.target() {
        Target::None if supervised && data.n_features() == 1 => Err(Failure::new(format!(
            "{file}: only one column is left, so that there is no feature beside a target: check the delimiter \
             (--delimiter), and what --ignore leaves out"
        ))),
        Target::None if supervised => {
            Err(Failure::new(format!("{file}: {id} needs a target: name its column with --target")))
        }
        Target::Class(classes) if supervised && classes.n_classes() < 2 => {
            let name = classes.names().first().map_or("", String::as_str);
            Err(Failure::new(format!(
                "{file}: every sample is of class `{name}`, but at least two classes are needed: name \
                 another column with --target"
            )))
        }
        Target::Real(outputs) if supervised => {
            let constant = (0..outputs.n_outputs()).all(|output| {
                let values = outputs.output(output);
                values.iter().all(|value| *value == values[0])
            });
            match constant {
                true => Err(Failure::new(format!(
                    "{file}: the target is the same in every sample, so there is nothing to predict: name \
                     another column with --target"
                ))),
                false => Ok(()),
            }
        }
        _ => Ok(()),
    }
}

/// The features that `wanted` names, each by its name or else by the number of its column in the file, from
/// 0, or several by a pattern of names, for the option `option`.
pub(crate) fn features(option: &str, wanted: &[String], info: &DataInfo) -> Result<Vec<usize>, Failure> {
    let mut found = Vec::with_capacity(wanted.len());
    let mut named = Vec::new();
    for wanted in wanted {
        let number: Option<usize> = wanted.parse().ok();
        let by_name = info.names.iter().position(|name| name == wanted);
        let by_number = || info.columns.iter().position(|column| Some(*column) == number);
        let matching = matching_names(&info.names, wanted);
        match by_name.or_else(by_number) {
            Some(j) if named.contains(&j) => {
                let name = info.name(j);
                return Err(Failure::new(format!("{}: {option}: `{name}` is named twice", info.file)));
            }
            Some(j) => {
                named.push(j);
                found.push(j);
            }
            None if !matching.is_empty() => found.extend(matching),
            None => return Err(no_feature(option, wanted, number, info)),
        }
    }
    // A pattern may match what is named, too.
    let mut seen = std::collections::HashSet::new();
    found.retain(|&j| seen.insert(j));
    Ok(found)
}

/// There is no feature of this name or number.
fn no_feature(option: &str, wanted: &str, number: Option<usize>, info: &DataInfo) -> Failure {
    let hint = match (registry::nearest(wanted, &info.names).first(), number) {
        _ if info.targets.iter().any(|target| target == wanted) => {
            return Failure::new(format!(
                "{}: {option}: `{wanted}` is the target, which is no feature: leave it out, or name another \
                 target with --target",
                info.file
            ));
        }
        _ if wanted.contains(['*', '?']) => {
            "`*` stands for any characters and `?` for one; small and capital letters differ".to_owned()
        }
        (Some(near), _) => format!("did you mean `{near}`?"),
        (None, Some(number)) if info.columns.last().is_some_and(|last| number < *last) => {
            "that column of the file is no feature".to_owned()
        }
        _ => format!(
            "use a name of the header, or the number of the column in the file, 0 to {}",
            info.columns.last().copied().unwrap_or(0)
        ),
    };
    Failure::new(format!("{}: {option}: there is no feature `{wanted}`: {hint}", info.file))
}

/// Where weights and links of samples come from, for outputs.
pub(crate) fn sample_info(weights: Option<&str>, files: &NetworkArgs) -> SampleInfo {
    let name = |file: &Option<PathBuf>| file.as_ref().map(|file| file.display().to_string());
    SampleInfo {
        weights: weights.map(str::to_owned),
        links: name(&files.links),
        authors: name(&files.authors),
        follows: name(&files.follows),
    }
}

/// The links between the samples of a table, as its rows are in the file.
pub(crate) struct Network {
    links: Option<Graph>,
    authors: Option<Authors>,
}

impl Network {
    /// Reads the files, where there are such.
    pub(crate) fn read(found: &Found, files: &NetworkArgs) -> Result<Self, Failure> {
        let wrong = |option: &str, error: fewest::data::Error| Failure::new(format!("{option}: {error}"));
        if files.links.is_none() && files.authors.is_none() {
            return Ok(Self { links: None, authors: None });
        }
        let nodes = Nodes::samples(&found.table).map_err(|error| wrong("--id-column", error))?;
        let links = |file| read_links(file, &nodes, &LinkOptions::default());
        let links = files.links.as_ref().map(links).transpose().map_err(|error| wrong("--links", error))?;
        let authors = |file| read_authors(file, &nodes, files.follows.as_deref());
        let authors = files.authors.as_ref().map(authors).transpose();
        let authors = authors.map_err(|error| wrong("--authors", error))?;
        Ok(Self { links: links.map(|links| links.graph), authors })
    }

    /// The links between samples, where they are known.
    pub(crate) fn links(&self) -> Option<&Graph> {
        self.links.as_ref()
    }

    /// The authors of the samples, where they are known.
    pub(crate) fn authors(&self) -> Option<&Authors> {
        self.authors.as_ref()
    }

    /// `data` with the links of its samples: those of the table but the `dropped` ones.
    pub(crate) fn of(self, data: Dataset, dropped: &[usize]) -> Result<Dataset, Failure> {
        let n = data.n_samples() + dropped.len();
        let kept: Vec<usize> = (0..n).filter(|row| dropped.binary_search(row).is_err()).collect();
        let mut data = data;
        if let Some(links) = self.links {
            data = data.with_sample_graph(links.subset(&kept)?)?;
        }
        if let Some(authors) = self.authors {
            data = data.with_authors(authors.subset(&kept)?)?;
        }
        Ok(data)
    }
}

/// The failure to read a file about features of these names, for the option `option`.
fn wrong_features(option: &str, error: &fewest::data::Error, names: &[String]) -> Failure {
    let near = match error {
        fewest::data::Error::Unknown { name, .. } => registry::nearest(name, names),
        _ => Vec::new(),
    };
    let hint = near.first().map_or(String::new(), |near| format!(": did you mean `{near}`?"));
    Failure::new(format!("{option}: {error}{hint}"))
}

/// The views of features of these names, where there are any.
pub(crate) fn views(args: &ViewArgs, names: &[String]) -> Result<Option<Views>, Failure> {
    let nodes = Nodes::features(names);
    let views = match &args.views[..] {
        [] => return Ok(None),
        [file] if !file.contains('=') || Path::new(file).is_file() => {
            read_views(file, &nodes).map_err(|error| wrong_features("--views", &error, names))?
        }
        texts => parse_views(texts, &nodes).map_err(|error| match error {
            fewest::core::Error::InvalidParameter { value, expected, .. } => {
                Failure::new(format!("--views is {value}, but must be {expected}"))
            }
            error => Failure::new(format!("--views: {error}")),
        })?,
    };
    Ok(Some(views))
}

/// The data set with the groups, the links and the views of its features, where these were given.
pub(crate) fn with_groups(data: Dataset, files: &GroupArgs, info: &DataInfo) -> Result<Dataset, Failure> {
    let nodes = Nodes::features(&info.names);
    let wrong = |option, error: fewest::data::Error| wrong_features(option, &error, &info.names);
    let mut data = data;
    if let Some(views) = views(&files.views, &info.names)? {
        data = data.with_views(views)?;
    }
    if let Some(file) = &files.groups {
        data =
            data.with_feature_groups(read_groups(file, &nodes).map_err(|error| wrong("--groups", error))?)?;
    }
    if let Some(file) = &files.feature_graph {
        let links = read_links(file, &nodes, &LinkOptions::default());
        data = data.with_feature_graph(links.map_err(|error| wrong("--feature-graph", error))?.graph)?;
    }
    Ok(data)
}
