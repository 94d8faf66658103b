//! `cargo xtask reproduce`: published figures and tables, from our code.

mod comparison;
mod estimate;
mod experiments;
mod fdr;
mod finished;
mod given;
mod heterogeneous;
mod hsic_lasso;
mod machines;
mod mik_fs;
mod nmmkl;
mod paired;
mod public;
mod sd_rfe;
mod streams;
mod survey;
mod tuned;
mod views;

use clap::{Args, Subcommand};

use crate::Result;
use experiments::Protocol;

/// Recomputes a figure or a table of a paper; writes raw CSV, a summary and an SVG below target/reproduce, or
/// with --publish under docs/reproduction.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    paper: Paper,
}

#[derive(Debug, Subcommand)]
enum Paper {
    /// Yamada et al., High-dimensional feature selection by feature-wise kernelized Lasso, 2014.
    ///
    /// Figures: 1 on synthetic problems, 2 classification, 3 with several widths and 4 with another kernel of
    /// the classes, 5 regression. Tables: 3 accuracy, 4 redundancy. Both, and Figure 2, come from the same
    /// runs and are written together.
    HsicLasso(hsic_lasso::Arguments),
    /// Xue, Song and Xu, Multiple indefinite kernel learning for feature selection, 2017.
    MikFs(mik_fs::Arguments),
    /// Yang, Xu, Lyu and King, Budget constrained non-monotonic feature selection, 2015.
    ///
    /// Figures: 2 classification with many features, 3 predictions of the weighted sum. Tables: 1 the problem
    /// of three features, 3 classification, 4 and 5 the weighted sum, 6 Boston housing, 7 forest fires.
    /// Tables 4 and 5 come from the same runs and are written together.
    Nmmkl(Wanted),
    /// Yang and Ong, Feature selection using probabilistic prediction of support vector regression, 2011.
    ///
    /// Figure: 2 the exponential problem, which comes from the runs of Table 1 and is written with it.
    /// Tables: 1 artificial problems, 3 real data.
    SdRfe(Wanted),
    /// Li et al., Feature selection: a data perspective, 2016.
    Survey(survey::Arguments),
    /// Simulations of the bounds on false discoveries: knockoffs and stability selection.
    Fdr(fdr::Arguments),
    /// Generated networks and views with known relevant features: methods that know links or views, and
    /// others.
    Heterogeneous(heterogeneous::Arguments),
    /// Methods to which data arrive on eight data sets, in several orders of arrival: `--runs` of them.
    Streams(streams::Arguments),
}

/// What to recompute of a paper.
#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("what").required(true).args(["figure", "table"]))]
struct Wanted {
    /// A figure of the paper.
    #[arg(long)]
    figure: Option<String>,
    /// A table of the paper.
    #[arg(long)]
    table: Option<String>,
    #[command(flatten)]
    protocol: Protocol,
}

impl Wanted {
    /// Refuses all but these figures and tables.
    fn check(&self, figures: &[&str], tables: &[&str]) -> Result<()> {
        for (what, asked, there) in [("figure", &self.figure, figures), ("table", &self.table, tables)] {
            if let Some(asked) = asked.as_deref().filter(|asked| !there.contains(asked)) {
                return Err(format!("--{what} {asked}: there is {}", there.join(", ")).into());
            }
        }
        Ok(())
    }
}

/// Recomputes the requested experiments.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    match &arguments.paper {
        Paper::HsicLasso(arguments) => hsic_lasso::run(arguments),
        Paper::MikFs(arguments) => mik_fs::run(arguments),
        Paper::Nmmkl(arguments) => nmmkl::run(arguments),
        Paper::SdRfe(arguments) => sd_rfe::run(arguments),
        Paper::Survey(arguments) => survey::run(arguments),
        Paper::Fdr(arguments) => fdr::run(arguments),
        Paper::Heterogeneous(arguments) => heterogeneous::run(arguments),
        Paper::Streams(arguments) => streams::run(arguments),
    }
}
