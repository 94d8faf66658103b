//! What all solver crates share.
//!
//! Every problem here is
//!
//! ```text
//! minimise over w   f(w) + Ω(w)
//! ```
//!
//! with a smooth convex [`Datafit`] `f` and a [`Penalty`] `Ω`. For least squares,
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

pub mod certificate;
mod composite;
mod control;
mod datafit;
mod dual_datafit;
mod inner_products;
mod operator;
mod penalty;
mod quadratic;
mod remembered;
mod solution;
pub mod working_set;

pub use composite::Composite;
pub use control::{Control, SolverState, run};
pub use datafit::{Datafit, Logistic, SquaredLoss};
pub use dual_datafit::DualDatafit;
pub use fewest_core::{Error, Status};
pub use inner_products::{InnerProducts, Normalised, Projected, Ridged};
pub use operator::{DenseOperator, LinearOperator};
pub use penalty::{Blocks, ElasticNet, GroupLasso, L1, Penalty};
pub use quadratic::{Quadratic, QuadraticSolver};
pub use remembered::Remembered;
pub use solution::Solution;
