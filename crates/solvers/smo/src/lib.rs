#![doc = include_str!("../README.md")]

mod basis;
mod cache;
mod calibration;
pub mod certificate;
mod coupling;
mod descent;
mod linear;
mod machine;
mod pairwise;
mod passes;
mod polish;
mod problem;
mod rows;
mod solver;

pub use calibration::PlattScaling;
pub use certificate::SvmCertificate;
pub use coupling::{Calibration, couple};
pub use linear::{DualCoordinateDescent, LinearKernel, LinearProblem, LinearSolution, SampleRows};
pub use machine::{Classifier, Loss, Machine, Regressor};
pub use pairwise::{PairMachine, Pairwise, SubsetRows, most_votes};
pub use problem::DualProblem;
pub use rows::{GramRows, KernelRows, RowsBy, SignedRows};
pub use solver::{DualSolution, Smo};
