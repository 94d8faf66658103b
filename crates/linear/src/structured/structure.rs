//! A penalty over the columns of a linear model, and how it is solved.

use std::borrow::Cow;

use fewest_core::Error;
use fewest_solver::{BlockPenalty, SignedEdge};

use super::majorised::Majorised;

/// The penalty of a strength.
pub(super) type Family = Box<dyn Fn(f64) -> Result<Box<dyn BlockPenalty>, Error> + Sync>;

/// A penalty over the columns of a linear model.
pub(super) struct Structure {
    pub(super) penalty: Family,
    /// Whether the blocks of the penalty may be large, so that working sets are of coefficients.
    pub(super) coupled: bool,
    /// Whether squared errors are those of fitted values, where there are more columns than samples.
    pub(super) by_residuals: bool,
    /// Edges whose squared differences are added, with this level for a penalty of 1.
    pub(super) links: Option<(f64, Vec<SignedEdge>)>,
    /// The column of each coefficient, where a column has several.
    pub(super) copies: Option<Vec<usize>>,
    /// The penalty itself, where it is not convex.
    pub(super) majorised: Option<Majorised>,
}

impl Structure {
    /// A penalty whose blocks are small.
    pub(super) fn by_blocks<P: BlockPenalty + 'static>(
        penalty: impl Fn(f64) -> Result<P, Error> + Sync + 'static,
    ) -> Self {
        let penalty = move |lambda: f64| Ok(Box::new(penalty(lambda)?) as Box<dyn BlockPenalty>);
        Self {
            penalty: Box::new(penalty),
            coupled: false,
            by_residuals: false,
            links: None,
            copies: None,
            majorised: None,
        }
    }

    /// With squared errors by residuals, not by inner products of columns: for blocks of several columns, of
    /// which more may be in the model than there are samples.
    pub(super) fn by_residuals(self) -> Self {
        Self { by_residuals: true, ..self }
    }

    /// A penalty of blocks of any size.
    pub(super) fn coupled<P: BlockPenalty + 'static>(
        penalty: impl Fn(f64) -> Result<P, Error> + Sync + 'static,
    ) -> Self {
        Self { coupled: true, ..Self::by_blocks(penalty) }
    }

    /// With squared differences of coefficients.
    pub(super) fn linked(self, level: f64, edges: Vec<SignedEdge>) -> Self {
        Self { links: Some((level, edges)), ..self }
    }

    /// With a coefficient for each of these columns, of which some are the same.
    pub(super) fn copied(self, columns: Vec<usize>) -> Self {
        Self { copies: Some(columns), ..self }
    }

    /// With a penalty that is not convex in place of the one that it starts from.
    pub(super) fn majorised(self, majorised: Majorised) -> Self {
        Self { majorised: Some(majorised), ..self }
    }

    /// What belongs to each column, for each coefficient.
    pub(super) fn of_coefficients<'a>(&self, of_columns: &'a [f64]) -> Cow<'a, [f64]> {
        match &self.copies {
            Some(copies) => copies.iter().map(|&column| of_columns[column]).collect(),
            None => Cow::Borrowed(of_columns),
        }
    }

    /// The sum of the coefficients of each column.
    pub(super) fn of_columns<'a>(&self, coefficients: &'a [f64], n_columns: usize) -> Cow<'a, [f64]> {
        let Some(copies) = &self.copies else { return Cow::Borrowed(coefficients) };
        let mut sums = vec![0.0; n_columns];
        copies.iter().zip(coefficients).for_each(|(&column, value)| sums[column] += value);
        Cow::Owned(sums)
    }
}
