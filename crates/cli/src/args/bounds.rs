//! Arguments for selections with a bound on irrelevant features.

use clap::Args;
use fewest::eval::Construction;

/// Bounds on the irrelevant features among the selected ones.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "False discoveries")]
pub(crate) struct BoundArgs {
    /// Bound on the expected share of irrelevant features among the selected ones, such as 0.1, by knockoffs
    ///
    /// In place of -k: the bound decides how many features are selected. For scores, for lasso and
    /// elastic-net with the squared loss (λ is chosen by cross-validation unless --param gives it), and for
    /// other methods with a given penalty. With 0.1, fewer than 10 features are never selected.
    #[arg(long, value_name = "SHARE", value_parser = share, conflicts_with_all = ["k", "per_family_error"])]
    pub fdr: Option<f64>,
    /// Sets of knockoffs; more of them depend less on the seed and take as many times as long [default: 1]
    ///
    /// With more than one a set in which fewer than 2/SHARE features are found has no vote.
    #[arg(long, value_name = "N", requires = "fdr", value_parser = super::positive)]
    pub fdr_draws: Option<usize>,
    /// 0 selects more features with a weaker bound [default: 1]
    #[arg(long, value_name = "0|1", requires = "fdr", value_parser = super::first_index)]
    pub fdr_offset: Option<usize>,
    /// How knockoffs are made unlike their features [default: auto]
    #[arg(long, value_name = "auto|mvr|sdp|equicorrelated", requires = "fdr",
          value_parser = super::parse::<Construction>)]
    pub fdr_construction: Option<Construction>,
    /// Bound on the expected number of irrelevant features, such as 1, by stability selection
    ///
    /// In place of -k: the method selects on 100 random halves of the samples, and what it selects in most of
    /// them is stable.
    #[arg(long, value_name = "NUMBER", value_parser = above_zero, conflicts_with = "k")]
    pub per_family_error: Option<f64>,
    /// Share of the halves that have to select a stable feature [default: 0.75]
    #[arg(long, value_name = "SHARE", requires = "per_family_error", value_parser = most)]
    pub stability_threshold: Option<f64>,
}

fn share(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|share| *share > 0.0 && *share < 1.0);
    number.ok_or_else(|| "give a number above 0 and below 1".to_owned())
}

fn above_zero(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| *number > 0.0 && number.is_finite());
    number.ok_or_else(|| "give a number above 0".to_owned())
}

fn most(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|share| *share > 0.5 && *share <= 1.0);
    number.ok_or_else(|| "give a number above 0.5 and at most 1".to_owned())
}
