//! Figures 3 and 4: accuracy of HSIC Lasso with other widths and with another kernel of the classes.

use super::blocks::runs_of;
use super::curves::{panels, table};
use super::{HSIC_LASSO, HSIC_WIDTHS, REFERENCE, Work, classification, differences, hsic_lasso};
use crate::Result;
use crate::plot::lines;
use crate::reproduce::experiments::{Method, Row};
use crate::reproduce::paired;

/// The kernels of the classes.
const OUTPUTS: [Method; 2] =
    [HSIC_LASSO, hsic_lasso("HSIC Lasso, Gaussian output kernel", &["related=0", "output=gaussian"])];

/// Writes `figure-3.md`, `.csv` and `.svg`.
pub(super) fn figure_3(work: &Work<'_>) -> Result<()> {
    figure(
        work,
        "3",
        &HSIC_WIDTHS,
        "widths of the features' kernel",
        "The paper draws HSIC Lasso with several widths and does not say which in its text. Here the width \
         `σ_x` on standardised features is 0.25, 0.5, 1 (HSIC Lasso of Table 3), 2 and 4.\n\nThe paper: \
         \"the proposed method is not so sensitive to the Gaussian width\".",
    )
}

/// Writes `figure-4.md`, `.csv` and `.svg`.
pub(super) fn figure_4(work: &Work<'_>) -> Result<()> {
    figure(
        work,
        "4",
        &OUTPUTS,
        "kernels of the classes",
        "HSIC Lasso has the delta kernel. The other has the Gaussian kernel on the standardised number of \
         the class, of width 1; the paper does not give its width. The number of a class is its place in \
         the file, so that this kernel takes some classes as nearer to each other than others.\n\nThe \
         paper: \"HSIC Lasso with delta kernel clearly outperforms that with Gaussian kernel\".",
    )
}

fn figure(work: &Work<'_>, number: &str, methods: &[Method], title: &str, about: &str) -> Result<()> {
    let name = format!("figure-{number}");
    let (rows, documents) = classification::collect(work, methods, &name)?;
    let accuracy = |row: &Row| row.scores[0];
    let figure = panels(&rows, "", methods, accuracy, "mean accuracy");
    lines(&documents.path(&format!("{name}.svg")), &figure)?;
    let text = format!(
        "# HSIC Lasso, Figure {number}: {title}\n\n{REFERENCE}, Section 4.3.1. Every run is in \
         [{name}.csv]({name}.csv). Divisions of the samples, learner and numbers of features are those of \
         [Table 3](table-3.md).\n\n{about}\n\n![Accuracy against the number of features]({name}.svg)\n\n{}\n\
         ## Mean accuracy\n\nMean ± standard error over the runs.\n\n{}\n## Differences with 50 features\n\n{}\n{}",
        runs_of(&rows, methods, work.protocol.runs, &format!("--figure {number}")),
        table(&rows, methods, accuracy, 3),
        paired::LEGEND,
        differences::table(&rows, methods, accuracy, 3)?,
    );
    documents.page(&name, text)
}
