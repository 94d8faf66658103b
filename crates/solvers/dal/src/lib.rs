#![doc = include_str!("../README.md")]

mod active;
mod cholesky;
mod columns;
mod inner;
mod newton;
mod polish;
mod problem;
mod quadratic;
mod solver;

pub use problem::PenalisedLoss;
pub use solver::DualAugmentedLagrangian;
