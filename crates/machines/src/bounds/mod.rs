//! Bounds on the leave-one-out error of a machine, and their derivatives.

mod ball;
mod radius_margin;
mod sensitivity;
mod span;
mod support;

pub use ball::Ball;
pub use radius_margin::RadiusMargin;
pub use sensitivity::BoundSensitivity;
pub use span::SpanBound;

use fewest_core::order;
use nalgebra::DMatrix;

/// The sensitivity with its samples in increasing order.
fn in_order(samples: &[usize], weights: DMatrix<f64>) -> BoundSensitivity {
    let order = order::by_key(samples);
    let weights = DMatrix::from_fn(order.len(), order.len(), |a, b| weights[(order[a], order[b])]);
    BoundSensitivity { samples: order.iter().map(|&a| samples[a]).collect(), weights }
}

#[cfg(test)]
mod tests;
