#![doc = include_str!("../README.md")]

mod model;
mod quadratic;
mod restricted;
mod rows;

pub use model::{LinearModel, NewtonSolution, Null, Start};
