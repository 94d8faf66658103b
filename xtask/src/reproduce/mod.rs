//! `cargo xtask reproduce`: published figures and tables, from our code.

mod experiments;
mod hsic_lasso;
mod once;
mod survey;

use clap::{Args, Subcommand};

use crate::Result;

/// Recomputes a figure or a table of a paper; writes raw CSV, a summary and an SVG under docs/reproduction.
#[derive(Debug, Args)]
pub struct Arguments {
    #[command(subcommand)]
    paper: Paper,
}

#[derive(Debug, Subcommand)]
enum Paper {
    /// Yamada et al., High-dimensional feature selection by feature-wise kernelized Lasso, 2014.
    HsicLasso(hsic_lasso::Arguments),
    /// Li et al., Feature selection: a data perspective, 2016.
    Survey(survey::Arguments),
}

/// Recomputes what was asked for.
pub fn run(arguments: &Arguments) -> Result<()> {
    match &arguments.paper {
        Paper::HsicLasso(arguments) => hsic_lasso::run(arguments),
        Paper::Survey(arguments) => survey::run(arguments),
    }
}
