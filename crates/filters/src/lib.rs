//! Filter feature selection: features scored, or chosen greedily, by what the data alone say.

mod features;

pub mod discretisation;
pub mod information;
pub mod similarity;
pub mod statistical;

pub use fewest_core::Error;
