#![doc = include_str!("../README.md")]

pub use fewest_columns as columns;
pub use fewest_core as core;
pub use fewest_counts as counts;
pub use fewest_data as data;
#[cfg(feature = "dependence")]
pub use fewest_dependence as dependence;
pub use fewest_eval as eval;
#[cfg(feature = "filters")]
pub use fewest_filters as filters;
pub use fewest_kernels as kernels;
pub use fewest_linalg as linalg;
#[cfg(feature = "linear")]
pub use fewest_linear as linear;
pub use fewest_machines as machines;
#[cfg(feature = "margin")]
pub use fewest_margin as margin;
#[cfg(feature = "mkl")]
pub use fewest_mkl as mkl;
pub use fewest_neighbours as neighbours;
pub use fewest_solver as solver;
#[cfg(feature = "streams")]
pub use fewest_streams as streams;
#[cfg(feature = "wrappers")]
pub use fewest_wrappers as wrappers;

/// The solver crates, one family each.
#[cfg(feature = "solvers")]
pub mod solvers {
    pub use fewest_admm as admm;
    pub use fewest_cd as cd;
    pub use fewest_dal as dal;
    pub use fewest_dca as dca;
    pub use fewest_lars as lars;
    pub use fewest_newton as newton;
    pub use fewest_pgd as pgd;
    pub use fewest_simplex as simplex;
    pub use fewest_smo as smo;
}

pub mod prelude;
pub mod registry;
