//! The exact path of the non-negative lasso.
//!
//! ```text
//! minimise over w ≥ 0   ½‖b − Σⱼ wⱼ Aⱼ‖² + λ Σⱼ weightⱼ wⱼ      for every λ from λ_max down
//! ```
//!
//! The solution is piecewise linear in λ (Osborne, Presnell and Turlach 2000; Efron, Hastie, Johnstone
//! and Tibshirani 2004): between two breakpoints the active set `S` is fixed and
//!
//! ```text
//! w_S(λ) = p − λ q,     G_SS p = c_S,   G_SS q = weight_S
//! ```
//!
//! [`Homotopy`] steps from breakpoint to breakpoint: an atom joins when its correlation with the residual
//! reaches `λ weight`, one leaves when its coefficient reaches zero. Each segment is computed afresh from
//! `G_SS`, so errors do not add up along the path. Cost of a step: one column of products, `|S|²` for the
//! triangular solves and `n_atoms · |S|` for the correlations.
//!
//! [`path`] follows the path over many atoms by working on few: it checks every breakpoint against **all**
//! atoms and takes in those that should have joined, until none is left.
//!
//! ```
//! use fewest_lars::{PathOptions, path};
//! use fewest_solver::{Control, Quadratic};
//!
//! // Two orthogonal atoms with correlations 3 and 1: the path is max(c − λ, 0) in each.
//! let problem = Quadratic::new(vec![1.0, 0.0, 0.0, 1.0], vec![3.0, 1.0], 10.0)?;
//! let path = path(&problem, &PathOptions { smallest_lambda: 0.5, ..PathOptions::default() }, &Control::default())?;
//! let lambdas: Vec<f64> = path.breakpoints.iter().map(|point| point.lambda).collect();
//! assert_eq!(lambdas, [3.0, 1.0, 0.5]);
//! assert_eq!(path.breakpoints[2].coefficients, [(0, 2.5), (1, 0.5)]);
//! # Ok::<(), fewest_lars::Error>(())
//! ```

mod active_set;
mod homotopy;
mod path;
mod quadratic_solver;

pub use fewest_core::Error;
pub use homotopy::{Breakpoint, Event, Homotopy};
pub use path::{LassoPath, PathOptions, path};
pub use quadratic_solver::Lars;
