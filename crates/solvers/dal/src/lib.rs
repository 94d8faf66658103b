//! The dual augmented Lagrangian method (DAL) on argmin.
//!
//! # The problem
//!
//! ```text
//! minimise over w ∈ Rⁿ   ℓ(A w) + Ω(w)                                           (primal)
//! maximise over α ∈ Rᵐ   −ℓ*(−α) − Ω*(Aᵀα)                                       (dual)
//! ```
//!
//! `A` is any [`LinearOperator`](fewest_solver::LinearOperator) with `m` rows and `n` columns, `ℓ` the
//! squared or the logistic loss ([`DualDatafit`](fewest_solver::DualDatafit)), `Ω` an l1, elastic-net or
//! group-lasso penalty, with or without `w ≥ 0` ([`Penalty`](fewest_solver::Penalty)). The best case is
//! many more columns than rows; the other way round works too.
//!
//! # The method
//!
//! Tomioka, Suzuki and Sugiyama (2011) minimise by proximal steps
//!
//! ```text
//! w ← argmin over x of  ℓ(Ax) + Ω(x) + ‖x − w‖² / (2η)
//! ```
//!
//! with `η` growing geometrically, and find each of them in its own dual (their Section 3: DAL as proximal
//! minimisation). With `u(α) = w + ηAᵀα` that is
//!
//! ```text
//! α ← argmin of  φ(α) = ℓ*(−α) + max over p of [ pᵀu/η − ‖p‖²/(2η) − Ω(p) ]      (inner problem)
//! w ← prox_{ηΩ}(w + η Aᵀα)                                                        (outer iteration)
//! ```
//!
//! The maximum is the Moreau envelope of `Ω*`, attained at `p = prox_{ηΩ}(u)`; for penalties that are
//! norms it is the `‖prox_{ηΩ}(u)‖² / (2η)` of the paper, the form here holds for every convex `Ω`. `φ` is
//! convex and differentiable, and its generalised Hessian needs the columns of the *active* coefficients
//! only, those with `p ≠ 0`:
//!
//! ```text
//! ∇φ(α)  = ∇[ℓ*(−α)] + A p
//! ∇²φ(α) = diag([ℓ*(−α)]″) + η A₊ J₊ A₊ᵀ,    J = Jacobian of prox_{ηΩ} at u
//! ```
//!
//! *Inner problem.* Semismooth Newton steps with Armijo backtracking, from the dual point of `w` scaled to
//! feasibility, until `‖∇φ‖ ≤ √(γ/η) ‖p − w‖`, where `∇ℓ` is `1/γ`-Lipschitz: the paper's criterion, under
//! which the outer iterations converge super-linearly as `η` grows.
//!
//! *Newton system*, with `k` active coefficients: a Cholesky factorisation of size `k` by the Woodbury identity
//! when `k < m`, of size `m` otherwise. When both exceed 2000 (the matrix would take 32 MiB and seconds to
//! factorise), or the `k` columns more than 2²⁶ entries, conjugate gradients preconditioned with
//! `diag([ℓ*(−α)]″)`, which need nothing but products with `A`.
//!
//! *Polishing.* `w + ηAᵀα` multiplies the rounding error of `Aᵀα` by `η`. So each outer iteration ends with up
//! to four semismooth Newton steps on `w ↦ w − prox_{τΩ}(w + τAᵀα(w))` with a short step `τ`, `α(w) = −∇ℓ(Aw)`
//! (for the l1 penalty and the squared loss: least squares on the support), each kept only if the objective
//! does not rise. It takes the gap to rounding as soon as the active set is right. It is left out when more than
//! 2000 coefficients are active.
//!
//! *Certificate.* Every outer iteration ends with the duality gap of `w` and the dual point `tα(w)`, scaled by
//! the largest feasible `t ≤ 1`, as a sum of terms that are not negative:
//!
//! ```text
//! gap = [ℓ(Aw) + ℓ*(−tα) + tαᵀAw] + [Ω(w) + Ω*(tAᵀα) − t wᵀAᵀα]
//! ```
//!
//! With a penalty of zero only `t = 0` is feasible, so the gap stays at `ℓ(Aw)` and the status is
//! [`Stalled`](fewest_solver::Status::Stalled), although the coefficients are those of the unpenalised problem.
//!
//! # Cost
//!
//! Typically 3 to 10 outer iterations and 10 to 100 Newton steps in all. A Newton step takes one product with
//! `Aᵀ`, the columns that are newly active (each fetched once and kept), and
//! `min(k, m)² · max(k, m)` multiplications; an outer iteration one to five more products with `Aᵀ`. Memory:
//! `m` times the columns kept, at most 512 MiB, and a few vectors.
//!
//! # Use
//!
//! [`DualAugmentedLagrangian::solve`] for an explicit operator; as
//! [`QuadraticSolver`](fewest_solver::QuadraticSolver) for problems seen through inner products, where a
//! pivoted Cholesky factorisation of the Gram matrix supplies the operator; on argmin's executor, with
//! [`PenalisedLoss`] as the problem, for observers and checkpoints.
//!
//! ```
//! use fewest_dal::DualAugmentedLagrangian;
//! use fewest_solver::{Control, DenseOperator, L1, SquaredLoss, Status};
//!
//! // Two observations, three columns: (1, 0), (0, 1), (1, 1).
//! let operator = DenseOperator::new(vec![1.0, 0.0, 0.0, 1.0, 1.0, 1.0], 2, 3)?;
//! let datafit = SquaredLoss::new(operator, vec![4.0, 2.0])?;
//! let penalty = L1::new(1.0, 3)?.nonnegative();
//! let solver = DualAugmentedLagrangian::default();
//! let solution = solver.solve(&datafit, &penalty, &[0.0; 3], &Control::default())?;
//!
//! // At (1, 0, 2) the residual is (1, 0): products 1, 0, 1 with the columns, none above λ = 1.
//! assert_eq!(solution.status, Status::Converged);
//! for (w, expected) in solution.coefficients.iter().zip([1.0, 0.0, 2.0]) {
//!     assert!((w - expected).abs() < 1e-9);
//! }
//! # Ok::<(), fewest_solver::Error>(())
//! ```
//!
//! # References
//!
//! - R. Tomioka, T. Suzuki, M. Sugiyama. Super-linear convergence of dual augmented Lagrangian algorithm for
//!   sparsity regularized estimation. *Journal of Machine Learning Research* 12, 1537–1586, 2011.
//! - M. Yamada et al. High-dimensional feature selection by feature-wise kernelized lasso. *Neural Computation*
//!   26(1), 185–207, 2014. (Section 2.4: DAL for HSIC Lasso, with non-negativity; Section 2.6: group lasso.)
//! - W. W. Hager, H. Zhang. A new conjugate gradient method with guaranteed descent and an efficient line
//!   search. *SIAM Journal on Optimization* 16(1), 170–192, 2005. (The line search close to the minimum.)

mod active;
mod cholesky;
mod columns;
mod inner;
mod newton;
mod polish;
mod problem;
mod quadratic;
mod solver;

pub use problem::PenalisedLoss;
pub use solver::DualAugmentedLagrangian;
