//! Support vector machines by sequential minimal optimisation, on argmin.
//!
//! # Problem
//!
//! ```text
//! minimise over β   ½ βᵀKβ + Σ_i (½ r_i β_i² − t_i β_i + ε_i |β_i|)   subject to   Σ β = Δ,  l ≤ β ≤ u
//! ```
//!
//! with a positive semidefinite `K` that is seen by its rows only ([`KernelRows`]). The duals of
//! [classification](Classifier) and [regression](Regressor) are of this form with `n` variables, and so is the common
//! form `½ aᵀQa + pᵀa`, `yᵀa = Δ`, `0 ≤ a ≤ C` ([`DualProblem::from_standard_form`]).
//!
//! # Method
//!
//! With `e = t − Kβ − rβ` a step
//!
//! 1. takes the variable whose rise gains most, and as its partner the one with which the objective falls most by
//!    second order (Fan, Chen and Lin 2005, WSS 2);
//! 2. moves both, `Σ β` kept, to the minimum on their line or a bound, over the kinks of `|β|` on the way;
//! 3. updates `e` by their two rows, and finds `m(β)` and `M(β)` in the same pass.
//!
//! Once the steps have cost as much as one, a Newton step goes to the minimum over the free variables, cut at the
//! first bound: with a nearly singular kernel that saves millions of steps.
//!
//! Every 1000 steps (or `n`) variables at a bound or kink that no pair wants are set aside (Joachims 1999); when
//! the rest is solved they come back, with their `e` brought up to date by the rows of what moved since. The rows used
//! last are kept in a given memory: in double precision if the whole matrix fits, in single precision otherwise. Then `e`
//! is computed afresh from the definition in double precision before the run ends, and the steps go on from
//! there if the [certificate](Certificate) is not what was asked for: so an answer is as exact as with rows in double
//! precision.
//!
//! It is deterministic, and the objective never rises by more than rounding. If `K` is seen to be indefinite, the
//! run ends as [`Stalled`](fewest_solver::Status::Stalled) at a stationary point; a machine is not made of that, but an
//! [error](fewest_solver::Error::Indefinite) that names the kernel.
//!
//! # Complexity
//!
//! A step takes `O(n)` and at most two rows. The certificate takes one row for each non-zero variable. Memory: the kept
//! rows and `O(n)`.
//!
//! # Example
//!
//! ```
//! use fewest_smo::{Classifier, GramRows};
//! use fewest_solver::{Control, Status};
//!
//! // Four points on a line, x = -2, -1, 1, 2, with the linear kernel; the widest street is between -1 and 1.
//! let x = [-2.0, -1.0, 1.0, 2.0];
//! let gram = x.iter().flat_map(|a| x.iter().map(move |b| a * b)).collect();
//! let kernel = GramRows::new(gram, 4)?;
//! let machine = Classifier::default().train(&kernel, &[false, false, true, true], &[], &Control::default())?;
//! assert_eq!(machine.dual.solution.status, Status::Converged);
//! assert_eq!(machine.support, [1, 2]);
//! assert!((machine.decision(&[-6.0, -3.0, 3.0, 6.0])? - 3.0).abs() < 1e-8);
//! # Ok::<(), fewest_solver::Error>(())
//! ```
//!
//! # References
//!
//! - Platt, *Fast training of support vector machines using sequential minimal optimization*, 1999.
//! - Joachims, *Making large-scale SVM learning practical*, 1999.
//! - Mangasarian, Musicant, *Successive overrelaxation for support vector machines*, 1999.
//! - Fan, Chen, Lin, *Working set selection using second order information for training support vector machines*, 2005.
//! - Hsieh, Chang, Lin, Keerthi, Sundararajan, *A dual coordinate descent method for large-scale linear SVM*, 2008.
//! - Ho, Lin, *Large-scale linear support vector regression*, 2012.
//! - Lin, Lin, Weng, *A note on Platt's probabilistic outputs for support vector machines*, 2007.
//! - Wu, Lin, Weng, *Probability estimates for multi-class classification by pairwise coupling*, 2004.
//! - Yang, Ong, *Feature selection using probabilistic prediction of support vector regression*, 2011.
//! - Chang, Lin, *LIBSVM: a library for support vector machines*, 2011.

mod basis;
mod cache;
mod calibration;
pub mod certificate;
mod coupling;
mod descent;
mod linear;
mod machine;
mod noise;
mod pairwise;
mod passes;
mod polish;
mod problem;
mod rows;
mod solver;

pub use calibration::Sigmoid;
pub use certificate::Certificate;
pub use coupling::{Calibration, couple};
pub use linear::{DualCoordinateDescent, LinearKernel, LinearProblem, LinearSolution, SampleRows};
pub use machine::{Classifier, Loss, Machine, Regressor};
pub use noise::Noise;
pub use pairwise::{PairMachine, Pairwise, SubsetRows, most_votes};
pub use problem::DualProblem;
pub use rows::{GramRows, KernelRows, RowsBy, SignedRows};
pub use solver::{DualSolution, Smo};
