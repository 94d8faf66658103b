//! The solvers that parameter `solver` names.
//!
//! A family compiles none but those it needs; here all are known, and its methods start from options that
//! know them.

use std::sync::Arc;

use fewest_cd::CoordinateDescent;
use fewest_core::method::{Draft, Method};
use fewest_dal::DualAugmentedLagrangian;
use fewest_dependence::{HsicLasso, LassoOptions, NoccoLasso};
use fewest_lars::Lars;
use fewest_linear::{ElasticNet, Lasso};
use fewest_pgd::ProximalGradient;
use fewest_solver::{NamedSolvers, QuadraticSolver, SolverChoice};

static SOLVERS: NamedSolvers = NamedSolvers { words: &["auto", "cd", "dal", "lars", "pgd"], find };

fn find(word: &str) -> Option<Arc<dyn QuadraticSolver>> {
    match word {
        "cd" => Some(Arc::new(CoordinateDescent::default())),
        "dal" => Some(Arc::new(DualAugmentedLagrangian::default())),
        "lars" => Some(Arc::new(Lars)),
        "pgd" => Some(Arc::new(ProximalGradient::default())),
        _ => None,
    }
}

fn lasso() -> Lasso {
    Lasso { solver: SolverChoice::AutoOr(&SOLVERS), ..Lasso::default() }
}

fn lasso_options() -> LassoOptions {
    LassoOptions { solver: SolverChoice::AutoOr(&SOLVERS), ..LassoOptions::default() }
}

/// The method with parameter `solver`, where it takes any of these.
pub(super) fn with_solvers(method: &Method) -> Method {
    let options: fn() -> Draft = match method.id {
        "hsic-lasso" => || Draft::selector(HsicLasso { lasso: lasso_options(), ..HsicLasso::default() }),
        "nocco-lasso" => || Draft::selector(NoccoLasso { lasso: lasso_options(), ..NoccoLasso::default() }),
        "lasso" => || Draft::selector(lasso()),
        "elastic-net" => || Draft::selector(ElasticNet { lasso: lasso(), ..ElasticNet::default() }),
        _ => return method.clone(),
    };
    method.clone().with_options(options)
}
