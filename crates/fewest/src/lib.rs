//! The fewest features that carry the answer: feature selection, nonlinear and without redundancy.
//!
//! This crate gathers the others under one name. Depend on it to have everything, or on a single `fewest-*`
//! crate to have little:
//!
//! | module | crate | what it holds |
//! |---|---|---|
//! | [`core`] | `fewest-core` | data sets, selectors, scorers, selections: what everything meets in |
//! | [`data`] | `fewest-data` | readers, writers, missing values, scaling, synthetic problems |
//! | [`kernels`] | `fewest-kernels` | scalar kernels, Gram matrices, low-rank factors, HSIC, NOCCO |
//! | [`solver`] | `fewest-solver` | what all solvers share: datafits, penalties, certificates |
//! | [`machines`] | `fewest-machines` | support vector machines on tables, bounds on their error |
//! | [`neighbours`] | `fewest-neighbours` | nearest neighbours and the graphs built on them |
//! | [`counts`] | `fewest-counts` | discretisation, joint counts, mutual information |
//! | [`filters`] | `fewest-filters` | similarity, information and statistical scores |
//! | [`solvers`] | `fewest-cd`, `-dal`, `-dca`, `-lars`, `-pgd`, `-smo` | one family of solvers each |
//! | [`dependence`] | `fewest-dependence` | HSIC Lasso, NOCCO Lasso, and what they are compared with |
//! | [`mkl`] | `fewest-mkl` | NMMKL, MIK-FS, kernel learning |
//! | [`margin`] | `fewest-margin` | linear large-margin machines |
//! | [`linear`] | `fewest-linear` | lasso, elastic net, SpAM |
//! | [`wrappers`] | `fewest-wrappers` | recursive elimination, sequential search, stepwise regression |
//! | [`eval`] | `fewest-eval` | splitters, learners, metrics, stability, significance |
//! | [`registry`] | | every method by its id |
//! | [`evaluation`] | | every learner and metric by its id |
//!
//! ```
//! use fewest::prelude::*;
//!
//! // Feature 0 matters through its square, feature 1 repeats it, feature 2 matters linearly, 3 is noise.
//! let wave = |step: i32| (0..60).map(|i| f64::from(i * step % 61) / 30.0 - 1.0).collect::<Vec<f64>>();
//! let (a, b, c) = (wave(1), wave(17), wave(23));
//! let target = a.iter().zip(&b).map(|(a, b)| 3.0 * a * a + b).collect();
//! let data = Dataset::new(DenseColumns::from_columns(&[a.clone(), a, b, c])?, Target::real(target)?)?;
//!
//! let selection = HsicLasso::default().select(&data, Budget::Count(2), &Context::default())?;
//! for (&j, score) in selection.order.iter().zip(&selection.scores) {
//!     println!("{:<4} {score:.3}", data.feature_name(j));
//! }
//! assert_eq!(selection.mask(), [true, false, true, false]);
//! # Ok::<(), Error>(())
//! ```

pub use fewest_columns as columns;
pub use fewest_core as core;
pub use fewest_counts as counts;
pub use fewest_data as data;
pub use fewest_dependence as dependence;
pub use fewest_eval as eval;
pub use fewest_filters as filters;
pub use fewest_kernels as kernels;
pub use fewest_linalg as linalg;
pub use fewest_linear as linear;
pub use fewest_machines as machines;
pub use fewest_margin as margin;
pub use fewest_mkl as mkl;
pub use fewest_neighbours as neighbours;
pub use fewest_solver as solver;
pub use fewest_wrappers as wrappers;

/// The solver crates, one family each.
pub mod solvers {
    pub use fewest_cd as cd;
    pub use fewest_dal as dal;
    pub use fewest_dca as dca;
    pub use fewest_lars as lars;
    pub use fewest_pgd as pgd;
    pub use fewest_smo as smo;
}

pub mod prelude;
pub mod registry;
