//! Sums without rounding: no order and no division of the terms changes a bit.

mod moments;
mod sum;
#[cfg(test)]
mod tests;

pub use moments::{ExactMoments, ExactProducts, Unit};
pub use sum::{ExactSum, NotFinite};
