//! How wide a kernel is.

use fewest_core::Error;

/// The width of a kernel.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Bandwidth {
    /// This one.
    Fixed(f64),
    /// The median distance between two different samples.
    Median,
}

impl Bandwidth {
    /// The width for `points`; for the median rule in `O(n²)`.
    ///
    /// # Errors
    /// [`Error::TooFew`] when no two points differ.
    pub fn resolve(&self, points: &[f64]) -> Result<f64, Error> {
        match self {
            Self::Fixed(width) => Ok(*width),
            Self::Median => Err(Error::TooFew { what: "different points", minimum: 2, found: points.len() }),
        }
    }
}
