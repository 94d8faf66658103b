//! How far a feature spreads between classes and within them.

use fewest_core::{Column, Context, Error, FeatureKind, SampleStream};

use crate::statistical::classes::{ClassSums, ClassTable, stream_sums};

/// The two parts of a feature's scatter; their sum is that around the mean of all samples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Scatter {
    /// `Σ_j n_j (μ_j − μ)²`.
    pub(super) between: f64,
    /// `Σ_j n_j σ_j²`, `σ_j²` dividing by `n_j`.
    pub(super) within: f64,
    /// Both are in units of its square, which is 1 unless values are so extreme that squares would not be
    /// numbers.
    pub(super) unit: f64,
}

impl Scatter {
    /// Nothing, in units of 1.
    pub(super) const ZERO: Self = Self { between: 0.0, within: 0.0, unit: 1.0 };

    /// `between / within`, in which the unit cancels; 0 for 0/0.
    pub(super) fn ratio(&self) -> f64 {
        if self.between > 0.0 { self.between / self.within } else { 0.0 }
    }

    /// Whether the sum of both is a number.
    pub(super) fn is_finite(&self) -> bool {
        (self.between + self.within).is_finite()
    }

    /// In units of 1, which extreme values may make infinite.
    pub(super) fn absolute(self) -> Self {
        let square = self.unit * self.unit;
        Self { between: self.between * square, within: self.within * square, unit: 1.0 }
    }
}

impl ClassTable {
    /// The scatter of feature `j` over the classes; zero for a constant one.
    pub(super) fn scatter(&self, j: usize, column: Column<'_>, kind: &FeatureKind) -> Result<Scatter, Error> {
        self.sums(j, column, kind).map(Scatter::of)
    }
}

/// The scatter of every feature of a stream over the classes.
pub(super) fn stream_scatters(
    stream: &mut dyn SampleStream,
    method: &'static str,
    context: &Context<'_>,
) -> Result<Vec<Scatter>, Error> {
    Ok(stream_sums(stream, method, context)?.into_iter().map(Scatter::of).collect())
}

impl Scatter {
    /// From sums over values that were divided by `unit`.
    pub(super) fn of((sums, unit): (ClassSums, f64)) -> Self {
        let spread = sums.spread();
        // The spread of categories is that of their indicators, divided by √2.
        let times = if sums.is_of_levels() { 2.0 } else { 1.0 };
        let within = spread.within.iter().sum::<f64>();
        Self { between: times * spread.between, within: times * within, unit }
    }
}
