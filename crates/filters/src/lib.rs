//! Filter feature selection: features scored, or chosen greedily, by what the data alone say.

mod features;

pub mod information;
pub mod similarity;
pub mod statistical;

pub use fewest_core::Error;
pub use fewest_counts::discretisation;
