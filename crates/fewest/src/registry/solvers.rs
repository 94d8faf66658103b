//! The solvers that parameter `solver` names.
//!
//! A family compiles only the solvers it needs; here all are available, and its methods start from
//! options with all of them.

use std::sync::Arc;

use fewest_cd::CoordinateDescent;
use fewest_core::method::{Draft, Method};
use fewest_dal::DualAugmentedLagrangian;
#[cfg(feature = "dependence")]
use fewest_dependence::{HsicLasso, LassoOptions, NoccoLasso};
use fewest_lars::Lars;
#[cfg(feature = "linear")]
use fewest_linear::{AdaptiveLasso, ElasticNet, Lasso};
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

#[cfg(feature = "linear")]
fn lasso() -> Lasso {
    Lasso { solver: SolverChoice::AutoOr(&SOLVERS), ..Lasso::default() }
}

#[cfg(feature = "dependence")]
fn lasso_options() -> LassoOptions {
    LassoOptions { solver: SolverChoice::AutoOr(&SOLVERS), ..LassoOptions::default() }
}

/// The id of a method, and its options with the solvers available here.
type WithSolvers = (&'static str, fn() -> Draft);

/// The methods that take any of these.
static METHODS: &[WithSolvers] = &[
    #[cfg(feature = "dependence")]
    ("hsic-lasso", || Draft::selector(HsicLasso { lasso: lasso_options(), ..HsicLasso::default() })),
    #[cfg(feature = "dependence")]
    ("nocco-lasso", || Draft::selector(NoccoLasso { lasso: lasso_options(), ..NoccoLasso::default() })),
    #[cfg(feature = "linear")]
    ("lasso", || Draft::selector(lasso())),
    #[cfg(feature = "linear")]
    ("elastic-net", || Draft::selector(ElasticNet { lasso: lasso(), ..ElasticNet::default() })),
    #[cfg(feature = "linear")]
    ("adaptive-lasso", || Draft::selector(AdaptiveLasso { lasso: lasso(), ..AdaptiveLasso::default() })),
];

/// The method with parameter `solver`, where it takes any of these.
pub(super) fn with_solvers(method: &Method) -> Method {
    match METHODS.iter().find(|(id, _)| *id == method.id) {
        Some((_, options)) => method.clone().with_options(*options),
        None => method.clone(),
    }
}

#[cfg(all(test, feature = "dependence", feature = "linear"))]
mod tests {
    use fewest_core::method::Range;

    use crate::registry::Registry;

    use super::*;

    /// Besides the choice of a solver, the options given here are the defaults of the method of that id.
    #[test]
    fn the_methods_listed_differ_by_their_solver_alone() {
        let families = [fewest_dependence::METHODS, fewest_linear::METHODS].concat();
        for (id, _) in METHODS {
            let Some(own) = families.iter().find(|method| method.id == *id) else {
                panic!("{id} is no method")
            };
            let Ok(here) = Registry::standard().find(id) else { panic!("{id} is not registered") };
            let values = |method: &Method| -> Vec<(&str, Option<String>)> {
                let parameters = method.parameters().into_iter();
                let text = |value: fewest_core::method::Value| value.to_string();
                parameters.map(|parameter| (parameter.name, parameter.default.map(text))).collect()
            };
            assert_eq!(values(here), values(own), "{id}");
            assert!(solvers(here) == Some(SOLVERS.words) && solvers(own) == Some(&["auto"]), "{id}");
        }
    }

    /// The words of a method's parameter `solver`.
    fn solvers(method: &Method) -> Option<&'static [&'static str]> {
        let parameters = method.parameters();
        match parameters.iter().find(|parameter| parameter.name == "solver")?.range {
            Range::OneOf(words) => Some(words),
            _ => None,
        }
    }

    /// A family's own options know `auto` alone: a method that is not listed would offer that and no more.
    #[test]
    fn every_method_that_takes_a_solver_is_listed() {
        let families = [fewest_dependence::METHODS, fewest_linear::METHODS].concat();
        let takes_any = |method: &&Method| solvers(method) == Some(&["auto"]);
        let mut found: Vec<&str> = families.iter().filter(takes_any).map(|method| method.id).collect();
        let mut listed: Vec<&str> = METHODS.iter().map(|(id, _)| *id).collect();
        found.sort_unstable();
        listed.sort_unstable();
        assert_eq!(found, listed, "list it in {}", file!());
    }
}
