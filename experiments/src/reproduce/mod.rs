//! `cargo xtask reproduce`: published figures and tables, from our code.

mod comparison;
mod experiments;
mod given;
mod hsic_lasso;
mod machines;
mod mik_fs;
mod nmmkl;
mod sd_rfe;
mod survey;
mod tuned;

use clap::{Args, Subcommand};

use crate::Result;

/// Recomputes a figure or a table of a paper; writes raw CSV, a summary and an SVG under docs/reproduction.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    paper: Paper,
}

#[derive(Debug, Subcommand)]
enum Paper {
    /// Yamada et al., High-dimensional feature selection by feature-wise kernelized Lasso, 2014.
    HsicLasso(hsic_lasso::Arguments),
    /// Xue, Song and Xu, Multiple indefinite kernel learning for feature selection, 2017.
    MikFs(mik_fs::Arguments),
    /// Yang, Xu, Lyu and King, Budget constrained non-monotonic feature selection, 2015.
    Nmmkl(nmmkl::Arguments),
    /// Yang and Ong, Feature selection using probabilistic prediction of support vector regression, 2011.
    SdRfe(sd_rfe::Arguments),
    /// Li et al., Feature selection: a data perspective, 2016.
    Survey(survey::Arguments),
}

/// Recomputes what was asked for.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    match &arguments.paper {
        Paper::HsicLasso(arguments) => hsic_lasso::run(arguments),
        Paper::MikFs(arguments) => mik_fs::run(arguments),
        Paper::Nmmkl(arguments) => nmmkl::run(arguments),
        Paper::SdRfe(arguments) => sd_rfe::run(arguments),
        Paper::Survey(arguments) => survey::run(arguments),
    }
}
