//! The arguments of `fewest evaluate` and `fewest compare`.

use std::path::PathBuf;

use clap::Args;
use fewest::eval::Network;

use super::{DataArgs, GroupArgs, NetworkArgs, RunArgs, TermArgs};

/// `fewest evaluate`.
#[derive(Debug, Args)]
pub(crate) struct EvaluateArgs {
    #[command(flatten)]
    pub data: DataArgs,
    #[command(flatten)]
    pub run: RunArgs,
    /// Method, one of those `fewest methods` lists
    #[arg(short, long, value_name = "ID", default_value = "hsic-lasso")]
    pub method: String,
    #[command(flatten)]
    pub evaluation: EvaluationArgs,
}

/// `fewest compare`.
#[derive(Debug, Args)]
pub(crate) struct CompareArgs {
    #[command(flatten)]
    pub data: DataArgs,
    #[command(flatten)]
    pub run: RunArgs,
    /// Methods, at least two of those `fewest methods` lists; --param ID.NAME=VALUE sets a parameter of one
    /// of them
    #[arg(short, long, alias = "method", value_name = "ID,ID,…", value_delimiter = ',', required = true)]
    pub methods: Vec<String>,
    #[command(flatten)]
    pub evaluation: EvaluationArgs,
}

/// How methods are evaluated.
#[derive(Debug, Args)]
#[command(next_help_heading = "Evaluation")]
pub(crate) struct EvaluationArgs {
    /// Numbers of features to evaluate: 5,10,20 or 1-10, or `auto` to let the method decide in each fold
    ///
    /// `auto` is for methods that decide by themselves, such as boruta, and for those with a penalty that is
    /// given by --param; it may stand among numbers. Default: 1, 2, 5, 10, 20, 50, 100 up to the number of
    /// features, and all features if there are at most 100.
    #[arg(short, long, alias = "top", value_name = "N,…", value_delimiter = ',')]
    pub k: Vec<Ks>,
    /// Learner that predicts from the selected features
    ///
    /// Scaling and the parameters of kernel learners are found on the training samples of each fold.
    /// Default: the first learner that supports the target.
    #[arg(short, long, value_name = "ID")]
    pub learner: Option<String>,
    /// Parameter of the learner (repeat for several)
    #[arg(long, value_name = "NAME=VALUE")]
    pub learner_param: Vec<String>,
    /// Metrics of the predictions
    ///
    /// The first decides which number of features is best. Default: the first metric that supports the
    /// target.
    #[arg(long, value_name = "ID,…", value_delimiter = ',')]
    pub metric: Vec<String>,
    /// Number of folds: parts of equal size, each used once for testing; classes keep their proportions
    /// [default: 10]
    #[arg(long, value_name = "N", conflicts_with = "test_share")]
    pub folds: Option<usize>,
    /// Test on a random share of the samples instead; classes keep their proportions
    #[arg(long, value_name = "SHARE")]
    pub test_share: Option<f64>,
    /// Divide the samples this many times, each time differently
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub repeats: usize,
    /// Column of groups (patients, batches): a group is never in both the training and the test samples
    ///
    /// The column is not used as a feature. There is one fold for each group, or as many as --folds says.
    #[arg(long, value_name = "COLUMN", conflicts_with = "test_share")]
    pub group_column: Option<String>,
    /// Leave out what is reached without a selection: without features, and with all of them
    ///
    /// With all features the learner may take longer than everything else. Without both, nothing says whether
    /// a selection is better than none.
    #[arg(long)]
    pub no_baselines: bool,
    #[command(flatten)]
    pub terms: TermArgs,
    #[command(flatten)]
    pub grouping: GroupArgs,
    #[command(flatten)]
    pub network: NetworkArgs,
    /// What methods see of linked samples besides the training samples [default: inductive]
    ///
    /// inductive: nothing; links between training and test samples are left out. transductive: all samples
    /// with all links, but no label of a test sample; for methods such as fsnet, linkedfs, lufs and netfs.
    #[arg(long = "network", value_name = "inductive|transductive", value_parser = seen)]
    pub seen: Option<Network>,
    /// Store finished folds in this file, and continue from those already in it
    ///
    /// Only for the same arguments and the same data; methods may differ.
    #[arg(long, value_name = "FILE")]
    pub resume: Option<PathBuf>,
    /// Write a report for any browser to this HTML file
    #[arg(long, value_name = "FILE.html")]
    pub report: Option<PathBuf>,
}

fn seen(text: &str) -> Result<Network, String> {
    let named = Network::ALL.into_iter().find(|network| network.name() == text);
    named.ok_or_else(|| "it must be inductive or transductive".to_owned())
}

/// A value of `-k`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ks {
    /// All numbers from the first to the second.
    Counts(usize, usize),
    /// As many as the method decides.
    Auto,
}

impl std::str::FromStr for Ks {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == "auto" {
            return Ok(Self::Auto);
        }
        let (from, to) = text.split_once('-').unwrap_or((text, text));
        match (from.trim().parse(), to.trim().parse()) {
            (Ok(from), Ok(to)) if 0 < from && from <= to => Ok(Self::Counts(from, to)),
            _ => Err("give whole numbers of at least 1, such as 5,10,20 or 1-10, or auto".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_features_are_single_or_from_to() {
        assert_eq!("7".parse(), Ok(Ks::Counts(7, 7)));
        assert_eq!("2-5".parse(), Ok(Ks::Counts(2, 5)));
        assert_eq!("auto".parse(), Ok(Ks::Auto));
        for wrong in ["0", "5-2", "-3", "1-", "a", "", "1-2-3", "0-4", "Auto-3"] {
            assert!(wrong.parse::<Ks>().is_err(), "{wrong}");
        }
    }
}
