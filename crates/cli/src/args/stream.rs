//! Arguments of `fewest stream`.

use std::path::PathBuf;

use clap::Args;

use super::{DataArgs, KArg, RunArgs, positive, seconds};

/// `fewest stream`.
#[derive(Debug, Args)]
pub(crate) struct StreamArgs {
    #[command(flatten)]
    pub data: DataArgs,
    #[command(flatten)]
    pub run: RunArgs,
    /// Method to which data arrive, one of those `fewest methods --streams` lists
    #[arg(short, long, value_name = "ID")]
    pub method: String,
    /// Number of features to select, or `auto` to let the method decide
    ///
    /// Default: 10 (all features if there are fewer), or auto if a parameter decides the number.
    #[arg(short, long, alias = "top", value_name = "N", allow_hyphen_values = true)]
    pub k: Option<KArg>,
    /// Tell the answer after every N samples, or features, that arrived
    #[arg(long, value_name = "N", value_parser = positive)]
    pub every: Option<usize>,
    /// Tell the answer after so many seconds, if anything arrived since the last one
    #[arg(long, value_name = "S", value_parser = seconds, allow_negative_numbers = true)]
    pub every_seconds: Option<f64>,
    /// Write the state to this file, and go on from it where it exists
    ///
    /// The same command started again passes over the lines that were used, which have to come again from the
    /// start, and ends with the answer of a run that was never stopped, after kill -9 as well. The state of
    /// another command, or of other lines, is refused.
    #[arg(long, value_name = "FILE")]
    pub checkpoint: Option<PathBuf>,
    /// Samples, or features, between two checkpoints [default: 10000]
    #[arg(long, value_name = "N", value_parser = positive, requires = "checkpoint")]
    pub checkpoint_every: Option<usize>,
    /// At the end of the file wait for more, until Ctrl-C or --time-limit
    #[arg(long)]
    pub follow: bool,
    /// Samples that are read before the first is used, and decide what the columns, the classes and the
    /// levels are [default: 1000]
    #[arg(long, value_name = "N", value_parser = positive)]
    pub first_rows: Option<usize>,
    /// Table with the target of the features, a line for each sample, in the order of the columns
    ///
    /// With --features-in-rows; without it, the first line of values is the target.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["orders", "first_rows"])]
    pub target_file: Option<PathBuf>,
    /// Only the last N samples count: the answer is that of `fewest select` on a table of them
    ///
    /// For every method of samples, also those that `fewest methods --streams` does not list. The samples of
    /// the window stay in memory.
    #[arg(long, value_name = "N", value_parser = positive, conflicts_with_all = ["half_life", "drift"])]
    pub window: Option<usize>,
    /// The weight of a sample halves every N samples
    ///
    /// For f-score, correlation and variance. Weights fade in steps of a hundredth of N.
    #[arg(long, value_name = "N", value_parser = half_life, conflicts_with = "drift")]
    pub half_life: Option<f64>,
    /// Watch whether the selection still holds, and forget what came before a change
    ///
    /// For f-score, correlation and variance. An alarm is told with its own answer: since when the selection
    /// does not hold, which features left and came, and the rank correlation of the scores then and now.
    #[arg(long)]
    pub drift: bool,
    /// Table with columns `feature` and `group`: features that arrive are used group by group
    ///
    /// For ogfs and gfssf. The features of a group are in lines that follow each other, and are used once all
    /// have come; a feature that is not listed is a group of its own.
    #[arg(long, value_name = "FILE.csv", conflicts_with = "orders")]
    pub groups: Option<PathBuf>,
    /// Table of links between samples, one a line: two samples and, optionally, a weight above 0
    ///
    /// For methods to which features of linked samples arrive. Samples by their names in the first line.
    #[arg(long, value_name = "FILE.csv", conflicts_with = "orders")]
    pub links: Option<PathBuf>,
    /// Read the whole file and run N shuffled orders of it: how stable the answer is
    #[arg(long, value_name = "N", value_parser = several,
          conflicts_with_all = ["every", "every_seconds", "checkpoint", "follow", "first_rows",
                                "window", "half_life", "drift"])]
    pub orders: Option<usize>,
}

fn half_life(text: &str) -> Result<f64, String> {
    let samples = text.parse().ok().filter(|samples: &f64| *samples >= 1.0 && samples.is_finite());
    samples.ok_or_else(|| "give a number of samples of at least 1".to_owned())
}

fn several(text: &str) -> Result<usize, String> {
    let count = text.parse().ok().filter(|count| *count > 1);
    count.ok_or_else(|| "give a whole number of at least 2".to_owned())
}
