//! What all solver crates share.
//!
//! Every problem here is
//!
//! ```text
//! minimise over w   f(w) + Ω(w)
//! ```
//!
//! with a smooth convex [`Datafit`] `f` and a [`Penalty`] `Ω`, of which most are sums over blocks of
//! coefficients ([`BlockPenalty`]). For least squares,
//! `f(w) = ½‖b − Σⱼ wⱼ Aⱼ‖²`, the atoms `Aⱼ` may live in a space too large to write down (the n × n
//! matrices of HSIC Lasso): then they are seen only through [`InnerProducts`]. A [`QuadraticSolver`]
//! minimises the small dense problem left by a working set, and
//! [`working_set::solve`] grows that set until the certificate holds for **all** atoms. So a new
//! solver crate implements one method and works at any scale.
//!
//! Solvers know nothing of data sets: they see numbers, datafits, penalties and operators. They are
//! argmin [`Solver`](argmin::core::Solver)s over [`SolverState`], so argmin's observers, checkpoints
//! and time limits apply; [`run`] hides argmin's executor from those who do not need it. A solution
//! comes with its [`certificate`], which anyone can recompute from the definition.
//!
//! ```
//! use fewest_solver::{L1, Penalty, Quadratic, certificate};
//!
//! // Two orthonormal atoms with products 3 and 0.5 with a target of squared norm 10.
//! let problem = Quadratic::new(vec![1.0, 0.0, 0.0, 1.0], vec![3.0, 0.5], 10.0)?;
//! let penalty = L1::new(1.0, 2)?;
//! // The lasso solution: the products, moved towards zero by 1.
//! let mut w = vec![3.0, 0.5];
//! penalty.prox(&mut w, 1.0);
//! assert_eq!(w, [2.0, 0.0]);
//!
//! let correlations = certificate::correlations(&problem, &w)?;
//! let certificate = certificate::certify(&problem, &penalty, &w, &correlations);
//! assert_eq!(certificate.objective, 3.0);
//! assert_eq!(certificate.duality_gap, 0.0);
//! # Ok::<(), fewest_solver::Error>(())
//! ```

pub mod bisection;
pub mod certificate;
mod choice;
mod composite;
mod control;
mod datafit;
mod dual_datafit;
mod extrapolation;
mod inner_products;
mod operator;
mod penalty;
#[cfg(feature = "argmin-math")]
mod point;
mod quadratic;
mod solution;
mod squared_hinge;
pub mod working_set;

pub use choice::SolverChoice;
pub use composite::Composite;
pub use control::{Control, SolverState, run};
pub use datafit::{Datafit, Logistic, SquaredLoss};
pub use dual_datafit::DualDatafit;
pub use extrapolation::extrapolation_weights;
pub use fewest_core::{Error, Status};
pub use inner_products::{CachedProducts, ColumnCache, InnerProducts, Normalised, Projected, Ridged, Signed};
pub use operator::{DenseOperator, LinearOperator};
pub use penalty::{BlockPenalty, Blocks, ElasticNet, GroupLasso, L1, Penalty};
#[cfg(feature = "argmin-math")]
pub use point::Point;
pub use quadratic::{Quadratic, QuadraticSolver};
pub use solution::Solution;
pub use squared_hinge::SquaredHinge;
