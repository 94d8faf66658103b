//! The command line arguments.

mod bounds;
mod evaluation;
mod listed;
mod memory;
mod stream;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use fewest::data::{Header, Missing, Task, Unknown};
use fewest::registry::TargetKind;

pub(crate) use bounds::BoundArgs;
pub(crate) use evaluation::{CompareArgs, EvaluateArgs, EvaluationArgs, Ks};
pub(crate) use listed::command;
pub(crate) use memory::MemoryArgs;
pub(crate) use stream::StreamArgs;

/// Select the fewest features that predict a target.
///
/// Reads a table, ranks its features by their relevance for a target column, and writes the best ones: as
/// a table for people, as JSON for programs, as a reduced table, as an HTML report. Or measures how well
/// the selected features predict the target on test samples that were not used for the selection.
///
/// Exit status: 0 success, 2 wrong arguments or data (one line on stderr says what is wrong and what to
/// do), 124 cut short by --time-limit, 130 interrupted by Ctrl-C (with both the best result so far is still
/// reported; where there is none yet, one line on stderr says so).
#[derive(Debug, Parser)]
#[command(name = "fewest", version, max_term_width = 110)]
pub(crate) struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Select the best k features
    Select(SelectArgs),
    /// Score every feature separately
    Score(ScoreArgs),
    /// Measure how well k features predict the target, for several k
    ///
    /// Divides the samples several times into training and test samples, selects and learns on the training
    /// samples only, and measures the predictions on the test samples. Reports which number of features is
    /// best, and selects that many on all samples. The best of several means is slightly optimistic, because
    /// the same folds were used to choose it.
    ///
    /// Missing values: --missing mean and median replace them, in every fold, by the mean or median of its
    /// training samples. With values of the whole table, information would leak from the test samples.
    Evaluate(EvaluateArgs),
    /// Evaluate several methods on the same folds, and test their differences
    ///
    /// Works as `fewest evaluate`, for each method. At each number of features the others are tested
    /// against the best method by the corrected resampled t-test of Nadeau and Bengio (2003), which
    /// accounts for the overlap of the training samples.
    Compare(CompareArgs),
    /// Select from data that arrive: a pipe, or a file that grows
    ///
    /// Reads a CSV file line by line, once, with memory that does not grow. Lines are samples, or features
    /// with --features-in-rows, whichever the method takes. Tells the answer while data arrive (--every,
    /// --every-seconds) and at the end: in one line each, or with --json as a line of JSON. A line that
    /// cannot be used ends the stream: the answer of those before it is told, and then what is wrong.
    Stream(StreamArgs),
    /// Make the selected features from the rows of another table
    ///
    /// Columns are found by name, in any order. Missing values are filled in by what the training table has
    /// taught, and the levels of a categorical feature are those of the training table: another one is an
    /// error, or with --unknown missing a missing value. A target is not needed, and not written.
    Apply(ApplyArgs),
    /// List the methods, or describe one
    Methods(MethodsArgs),
    /// Describe a file: shape, types, missing values, constants, classes
    Info(InfoArgs),
}

/// `fewest select`.
#[derive(Debug, Args)]
pub(crate) struct SelectArgs {
    #[command(flatten)]
    pub data: DataArgs,
    #[command(flatten)]
    pub run: RunArgs,
    /// Method, one of those `fewest methods` lists
    #[arg(short, long, value_name = "ID", default_value = "hsic-lasso")]
    pub method: String,
    /// Number of features to select, or `auto` to let the method decide
    ///
    /// Default: 10 (all features if there are fewer), or auto if a parameter decides the number, such as
    /// the penalty by --param lambda or lambda_ratio, or the level of a test by --param alpha.
    #[arg(short, long, alias = "top", value_name = "N", allow_hyphen_values = true)]
    pub k: Option<KArg>,
    /// Features that must be selected, by name or by the number of the column in the file, from 0; `*` in a
    /// name stands for any characters
    #[arg(long, visible_alias = "unpenalised", value_name = "FEATURE,…", value_delimiter = ',')]
    pub force_in: Vec<String>,
    #[command(flatten)]
    pub terms: TermArgs,
    /// Column with the weight of each sample, for methods that use weights
    ///
    /// Numbers of at least 0: for lasso, elastic-net, adaptive-lasso and dantzig, where only ratios count,
    /// and for nmmkl, where they multiply the cost. Other methods refuse them.
    #[arg(long, value_name = "COLUMN")]
    pub weights: Option<String>,
    #[command(flatten)]
    pub memory: MemoryArgs,
    #[command(flatten)]
    pub grouping: GroupArgs,
    #[command(flatten)]
    pub bounds: BoundArgs,
    #[command(flatten)]
    pub network: NetworkArgs,
    /// Write the selected features, best first, and the target to this file: CSV or .parquet
    #[arg(long, value_name = "FILE")]
    pub write_reduced: Option<PathBuf>,
    /// Write a report for any browser to this HTML file
    #[arg(long, value_name = "FILE.html")]
    pub report: Option<PathBuf>,
}

/// Features that a method takes into account without selecting them.
#[derive(Debug, Args)]
pub(crate) struct TermArgs {
    /// Features that are taken into account, but not selected (age, batch …); `*` in a name stands for any
    /// characters
    ///
    /// The kernel methods remove their effect from the target first; the lasso has them in its model, without
    /// a penalty. Where methods are evaluated, the learner has them as features beside the selected ones.
    #[arg(long, value_name = "FEATURE,…", value_delimiter = ',')]
    pub covariates: Vec<String>,
    /// Features that are added to the fitted values as they are (the log of an exposure …), not selected
    ///
    /// Where methods are evaluated, only the selection uses them: no learner has an offset.
    #[arg(long, value_name = "FEATURE,…", value_delimiter = ',')]
    pub offset: Vec<String>,
}

impl TermArgs {
    /// Each option with the parameter that it sets and its features.
    pub(crate) fn options(&self) -> [(&'static str, &'static str, &[String]); 2] {
        [("--covariates", "covariates", &self.covariates), ("--offset", "offset", &self.offset)]
    }
}

/// Groups and links of features.
#[derive(Debug, Args)]
pub(crate) struct GroupArgs {
    /// Table with columns `feature` and `group`, or a tree with columns `node` and `parent`
    ///
    /// For methods with feature groups, such as group-lasso, tree-lasso, or hsic-lasso with --param
    /// penalty=group. A feature that a table with columns `feature` and `group` does not list forms its own
    /// group; in a tree, every name in the column `parent` is a group.
    #[arg(long, visible_alias = "tree", value_name = "FILE.csv")]
    pub groups: Option<PathBuf>,
    /// Table of links between features, one a line: two features and, optionally, a weight above 0
    ///
    /// For methods with --param graph=given, such as graph-lasso. Links of a feature to itself are left out.
    #[arg(long, value_name = "FILE.csv")]
    pub feature_graph: Option<PathBuf>,
    #[command(flatten)]
    pub views: ViewArgs,
}

/// Which features come from which source.
#[derive(Debug, Args)]
pub(crate) struct ViewArgs {
    /// Table with columns `feature` and `view`, or `view`, `first` and `last`; or a view, NAME=COLUMNS,
    /// once for each
    ///
    /// For methods of several sources, such as gpcov-var. COLUMNS are names or numbers from 0, ranges
    /// FIRST:LAST, and names with `*`, separated by commas. Every feature belongs to one view.
    #[arg(long, value_name = "FILE.csv|NAME=COLUMNS")]
    pub views: Vec<String>,
}

/// Links between samples.
#[derive(Debug, Args)]
pub(crate) struct NetworkArgs {
    /// Table of links between samples, one a line: two samples and, optionally, a weight above 0
    ///
    /// For methods such as fsnet. Samples by their ids (--id-column), or else by their numbers from 0. Links
    /// have no direction; those of a sample to itself are left out.
    #[arg(long, value_name = "FILE.csv")]
    pub links: Option<PathBuf>,
    /// Table with the column `author`, a line for each sample, or with the columns `sample` and `author`
    ///
    /// For methods such as linkedfs.
    #[arg(long, value_name = "FILE.csv")]
    pub authors: Option<PathBuf>,
    /// Table of links between authors, one a line: the follower and the followed
    #[arg(long, value_name = "FILE.csv", requires = "authors")]
    pub follows: Option<PathBuf>,
}

/// `fewest score`.
#[derive(Debug, Args)]
pub(crate) struct ScoreArgs {
    #[command(flatten)]
    pub data: DataArgs,
    #[command(flatten)]
    pub run: RunArgs,
    #[command(flatten)]
    pub memory: MemoryArgs,
    /// Method, one of those `fewest methods` lists as a score
    #[arg(short, long, value_name = "ID", default_value = "hsic")]
    pub method: String,
    /// List only the best N features, in every output [default: all]
    ///
    /// q-values are over all features that were tested, also those that are not listed.
    #[arg(short = 'k', long, alias = "k", value_name = "N", value_parser = positive)]
    pub top: Option<usize>,
    /// Write a report for any browser to this HTML file
    #[arg(long, value_name = "FILE.html")]
    pub report: Option<PathBuf>,
}

/// `fewest apply`.
#[derive(Debug, Args)]
pub(crate) struct ApplyArgs {
    /// Result of `fewest select --json`
    #[arg(value_name = "RESULT.json")]
    pub result: PathBuf,
    #[command(flatten)]
    pub read: FileArgs,
    /// Columns of the file that are no samples, with --transpose, besides those that the selection left out
    #[arg(long, value_name = "COLUMN,…", value_delimiter = ',', requires = "transpose")]
    pub ignore: Vec<String>,
    /// Write the selected features, best first, to this file: CSV or .parquet; `-` is stdout
    #[arg(long, value_name = "FILE")]
    pub write_reduced: PathBuf,
    /// What to do with a level that the training table does not have
    ///
    /// error: stop at the first cell; missing: take it for a missing value, which is filled in, or its row
    /// left out, as --missing said when the features were selected.
    #[arg(long, value_name = "error|missing", default_value = "error", value_parser = parse::<Unknown>)]
    pub unknown: Unknown,
}

/// `fewest methods`.
#[derive(Debug, Args)]
pub(crate) struct MethodsArgs {
    /// Method to show with all its parameters
    #[arg(value_name = "ID", conflicts_with_all = ["targets", "family", "streams"])]
    pub id: Option<String>,
    /// Only methods for this kind of target
    ///
    /// classification: classes; regression: a number; outputs: several numbers; survival: times until an
    /// event; none: methods that need no target.
    #[arg(long = "for", value_name = "classification|regression|outputs|survival|none", value_parser = target_kind)]
    pub targets: Option<TargetKind>,
    /// Only methods of this family
    #[arg(long, value_name = "NAME")]
    pub family: Option<String>,
    /// Only methods to which data may arrive, as `fewest stream` takes them
    #[arg(long)]
    pub streams: bool,
}

/// `fewest info`.
#[derive(Debug, Args)]
pub(crate) struct InfoArgs {
    #[command(flatten)]
    pub data: DataArgs,
    /// List every feature, also with its number of different values; otherwise the first 12
    #[arg(long)]
    pub columns: bool,
    /// Write the description, with every feature, as JSON to this file; `-` writes it to stdout instead
    /// of the
    /// text
    #[arg(long, value_name = "FILE", conflicts_with_all = ["links", "authors", "views"])]
    pub json: Option<PathBuf>,
    #[command(flatten)]
    pub network: NetworkArgs,
    #[command(flatten)]
    pub views: ViewArgs,
}

/// The data and how to read them.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Data")]
pub(crate) struct DataArgs {
    #[command(flatten)]
    pub read: FileArgs,
    /// Target column: a name, a number from 0, or `last`; several columns, separated by commas, are real
    /// outputs, or time and event with --task survival
    ///
    /// Default: the target of the file format (Y of .mat, the labels of svmlight), else the column named
    /// target, label, class or y, else the last column. The output says which column is used.
    #[arg(short, long, value_name = "COLUMN", value_delimiter = ',', allow_negative_numbers = true)]
    pub target: Vec<String>,
    /// Kind of target: with auto, text and integers with few levels are classes
    ///
    /// survival: --target TIME,EVENT names two columns, the time until an event, and 1 where it happened then
    /// or 0 where the sample was last seen then without one.
    #[arg(long, value_name = "auto|classification|regression|survival", default_value = "auto", value_parser = parse::<Task>)]
    pub task: Task,
    /// How to handle missing values
    #[arg(long, value_name = "error|drop-rows|mean|median", default_value = "error", value_parser = parse::<Missing>)]
    pub missing: Missing,
    /// Columns to ignore; `*` stands for any characters: 'GENE*'. With --transpose also columns of the file
    /// that are no samples, such as a description
    #[arg(long, value_name = "COLUMN,…", value_delimiter = ',')]
    pub ignore: Vec<String>,
    /// Columns of numbers to read as categories; `*` stands for any characters
    #[arg(long, value_name = "COLUMN,…", value_delimiter = ',')]
    pub categorical: Vec<String>,
}

/// A file and how to read it. Columns are named by their names or by their numbers in the file, from 0.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Data")]
pub(crate) struct FileArgs {
    /// Table: CSV or TSV (also .gz), .xlsx, .xls, .ods, Parquet, Arrow, .mat, svmlight, .npy, or a folder;
    /// `-` reads stdin
    #[arg(value_name = "DATA")]
    pub file: PathBuf,
    /// Column with the names of the samples
    #[arg(long, value_name = "COLUMN")]
    pub id_column: Option<String>,
    /// Cell text that means "missing", in addition to the empty cell, NA, N/A, NaN, null and ?
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub missing_token: Vec<String>,
    /// Whether the first line contains names
    #[arg(long, value_name = "auto|yes|no", default_value = "auto", value_parser = parse::<Header>)]
    pub header: Header,
    /// Character between cells [default: what a line such as `sep=;` above the table tells, or detected from
    /// the first line]
    #[arg(long, value_name = "CHAR", value_parser = delimiter)]
    pub delimiter: Option<char>,
    /// File format, if content and name do not determine it
    #[arg(long, value_name = "NAME")]
    pub format: Option<String>,
    /// Encoding of the text, such as latin1 [default: utf-8, or utf-16 where the first bytes say so]
    #[arg(long, value_name = "NAME")]
    pub encoding: Option<String>,
    /// Lines of the table are features (genes) and columns are samples; the first column has the names
    #[arg(long, visible_alias = "features-in-rows")]
    pub transpose: bool,
    /// Index of the first feature of an svmlight file [default: 0 if an index is 0, else 1]
    #[arg(long, value_name = "0|1", value_parser = first_index)]
    pub first_index: Option<usize>,
    /// Variable of a .mat file that holds the features [default: X], or sheet of a workbook [default: the
    /// first]
    #[arg(long, value_name = "NAME")]
    pub x_variable: Option<String>,
    /// Read the file even if it needs more than half of the memory
    #[arg(long)]
    pub allow_large: bool,
}

/// How to run a method, and where to write its result.
#[derive(Debug, Args)]
#[command(next_help_heading = "Run")]
pub(crate) struct RunArgs {
    /// Parameter of the method (repeat for several); `fewest methods ID` lists them
    #[arg(short, long, value_name = "NAME=VALUE")]
    pub param: Vec<String>,
    /// Seed of all random numbers: the same seed gives the same result
    #[arg(long, value_name = "S", default_value_t = 0, value_parser = seed)]
    pub seed: u64,
    /// Number of threads; it does not change the result [default: all of the machine]
    #[arg(long, value_name = "T", value_parser = threads)]
    pub threads: Option<u16>,
    /// Stop this long after the start, report the best result so far, and exit with status 124
    #[arg(long, value_name = "SECONDS", value_parser = seconds, allow_negative_numbers = true)]
    pub time_limit: Option<f64>,
    /// Write the result as JSON to this file; `-` writes it to stdout instead of the table
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Show no progress bar
    #[arg(short, long)]
    pub quiet: bool,
}

/// The value of `-k`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KArg {
    /// This many.
    Count(usize),
    /// The method decides.
    Auto,
}

impl std::str::FromStr for KArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == "auto" {
            return Ok(KArg::Auto);
        }
        match text.parse() {
            Ok(count) if count > 0 => Ok(KArg::Count(count)),
            _ => Err("give a whole number of at least 1, or auto".to_owned()),
        }
    }
}

fn parse<T>(text: &str) -> Result<T, String>
where
    T: std::str::FromStr<Err = fewest::core::Error>,
{
    text.parse().map_err(message)
}

fn message(error: fewest::core::Error) -> String {
    match error {
        fewest::core::Error::InvalidParameter { expected, .. } => format!("give {expected}"),
        other => other.to_string(),
    }
}

fn delimiter(text: &str) -> Result<char, String> {
    let mut characters = text.chars();
    match (characters.next(), characters.next()) {
        (Some(character), None) => Ok(character),
        _ if text == "\\t" => Ok('\t'),
        _ => Err("give a single character, or \\t for a tab".to_owned()),
    }
}

fn target_kind(text: &str) -> Result<TargetKind, String> {
    match text {
        "classification" | "classes" => Ok(TargetKind::Classes),
        "regression" | "numbers" => Ok(TargetKind::Real),
        "outputs" => Ok(TargetKind::Outputs),
        "survival" => Ok(TargetKind::Survival),
        "none" | "unsupervised" => Ok(TargetKind::None),
        _ => Err("give classification, regression, outputs, survival or none".to_owned()),
    }
}

fn first_index(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|index| *index < 2).ok_or("give 0 or 1".to_owned())
}

fn seed(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("give a whole number from 0 to {}", u64::MAX))
}

fn threads(text: &str) -> Result<u16, String> {
    let count = text.parse().ok().filter(|count| (1..=1024).contains(count));
    count.ok_or("give a whole number from 1 to 1024".to_owned())
}

fn positive(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|count| *count > 0).ok_or("give a whole number of at least 1".to_owned())
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        // A century equals no limit in practice, and can be added to any clock without overflow.
        Ok(seconds) if seconds > 0.0 => Ok(seconds.min(3.2e9)),
        _ => Err("give a number of seconds above 0".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fewest::registry::Registry;

    #[test]
    fn the_call_is_well_formed() {
        command(Registry::standard()).debug_assert();
    }

    #[test]
    fn values_are_checked() {
        assert_eq!("12".parse(), Ok(KArg::Count(12)));
        assert_eq!("auto".parse(), Ok(KArg::Auto));
        assert!("0".parse::<KArg>().is_err() && "-3".parse::<KArg>().is_err());
        assert_eq!(delimiter("\\t"), Ok('\t'));
        assert!(delimiter(";;").is_err() && delimiter("").is_err());
        assert!(seconds("nan").is_err() && seconds("0").is_err() && seconds("-1").is_err());
        assert_eq!(seconds("inf"), Ok(3.2e9));
        assert!(seed("x").is_err_and(|told| told.contains("whole number from 0")) && seed("7") == Ok(7));
        assert!(
            ["0", "-1", "1025", "x"].iter().all(|wrong| threads(wrong).is_err()) && threads("2") == Ok(2)
        );
        assert!(parse::<Task>("clustering").unwrap_err().contains("classification"));
    }
}
