//! Who may depend on whom.

use super::Finding;
use crate::metadata::Package;

/// What a workspace crate may depend on among the others, and why.
struct Rule {
    package: &'static str,
    may_use: &'static [&'static str],
    why: &'static str,
}

const SOLVER_CRATES: &[&str] =
    &["fewest-pgd", "fewest-cd", "fewest-dal", "fewest-lars", "fewest-smo", "fewest-dca"];

const RULES: &[Rule] = &[
    Rule { package: "fewest-core", may_use: &[], why: "everything meets in core, so core knows nobody" },
    Rule {
        package: "fewest-data",
        may_use: &["fewest-core", "fewest-columns"],
        why: "readers make a Dataset; they know no method",
    },
    Rule {
        package: "fewest-kernels",
        may_use: &["fewest-core", "fewest-linalg"],
        why: "a kernel sees numbers; a target's kernel is a kernel like any other",
    },
    Rule {
        package: "fewest-solver",
        may_use: &["fewest-core"],
        why: "what solvers share: numbers, datafits, penalties; only Status and the context come from core",
    },
    Rule { package: "fewest-linalg", may_use: &[], why: "slices of numbers only" },
    Rule {
        package: "fewest-columns",
        may_use: &["fewest-core", "fewest-linalg"],
        why: "columns of a table; no method, no solver",
    },
    Rule {
        package: "fewest-dependence",
        may_use: &[
            "fewest-core",
            "fewest-columns",
            "fewest-counts",
            "fewest-kernels",
            "fewest-linalg",
            "fewest-solver",
            "fewest-cd",
            "fewest-lars",
        ],
        why: "kernel, then solver, then selector; families of methods never know each other",
    },
    Rule {
        package: "fewest-linear",
        may_use: &[
            "fewest-core",
            "fewest-columns",
            "fewest-kernels",
            "fewest-linalg",
            "fewest-solver",
            "fewest-cd",
            "fewest-lars",
        ],
        why: "who wants the lasso compiles no conic solver and no machine; families of methods never know each other",
    },
    Rule {
        package: "fewest-margin",
        may_use: &[
            "fewest-core",
            "fewest-columns",
            "fewest-kernels",
            "fewest-linalg",
            "fewest-solver",
            "fewest-cd",
            "fewest-lars",
            "fewest-smo",
            "fewest-machines",
        ],
        why: "families of methods never know each other",
    },
    Rule {
        package: "fewest-mkl",
        may_use: &[
            "fewest-core",
            "fewest-columns",
            "fewest-kernels",
            "fewest-linalg",
            "fewest-solver",
            "fewest-dca",
            "fewest-pgd",
            "fewest-smo",
        ],
        why: "families of methods never know each other",
    },
    Rule {
        package: "fewest-filters",
        may_use: &[
            "fewest-core",
            "fewest-columns",
            "fewest-counts",
            "fewest-kernels",
            "fewest-linalg",
            "fewest-neighbours",
        ],
        why: "families of methods never know each other",
    },
    Rule {
        package: "fewest-counts",
        may_use: &["fewest-core", "fewest-columns"],
        why: "levels and joint counts serve filters and other families alike, which never know each other",
    },
    Rule {
        package: "fewest-neighbours",
        may_use: &["fewest-core"],
        why: "neighbours of samples serve filters, other families and learners alike",
    },
    Rule {
        package: "fewest-machines",
        may_use: &["fewest-core", "fewest-kernels", "fewest-linalg", "fewest-solver", "fewest-smo"],
        why: "kernel machines serve wrappers and learners alike, which never know each other",
    },
    Rule {
        package: "fewest-eval",
        may_use: &[
            "fewest-core",
            "fewest-columns",
            "fewest-kernels",
            "fewest-linalg",
            "fewest-neighbours",
            "fewest-solver",
            "fewest-smo",
            "fewest-machines",
        ],
        why: "evaluation sees selectors and learners through their traits: it knows no method",
    },
    Rule {
        package: "fewest-wrappers",
        may_use: &[
            "fewest-core",
            "fewest-columns",
            "fewest-kernels",
            "fewest-linalg",
            "fewest-solver",
            "fewest-smo",
            "fewest-machines",
            "fewest-eval",
        ],
        why: "a wrapper judges features by what is learned from them; families of methods never know each \
              other",
    },
    Rule {
        package: "fewest",
        may_use: &[
            "fewest-core",
            "fewest-data",
            "fewest-kernels",
            "fewest-solver",
            "fewest-pgd",
            "fewest-cd",
            "fewest-dal",
            "fewest-dca",
            "fewest-lars",
            "fewest-smo",
            "fewest-neighbours",
            "fewest-counts",
            "fewest-machines",
            "fewest-columns",
            "fewest-linalg",
            "fewest-dependence",
            "fewest-linear",
            "fewest-margin",
            "fewest-mkl",
            "fewest-filters",
            "fewest-wrappers",
            "fewest-eval",
        ],
        why: "the façade re-exports the libraries, and nothing below knows it",
    },
    Rule {
        package: "fewest-study",
        may_use: &["fewest"],
        why: "a study takes methods, learners and metrics by their ids; it knows no terminal",
    },
    Rule {
        package: "fewest-cli",
        may_use: &["fewest", "fewest-study"],
        why: "the command line holds no algorithm: it reaches everything through the façade and through studies",
    },
    Rule {
        package: "fewest-testkit",
        may_use: &["fewest-core", "fewest-data"],
        why: "test data and comparisons; what is tested is handed to it",
    },
    Rule {
        package: "xtask",
        may_use: &[],
        why: "it builds in seconds; what needs the library is in experiments/",
    },
];

/// Nothing depends on them, and they are not published. Those without a rule may depend on any library.
const PROGRAMS: &[&str] = &["fewest-benches", "fewest-experiments", "xtask"];

/// Broken rules among the `members`' dependencies on each other. Tests may also use the testkit, and
/// anything their crate's position in the flow allows to stand below or beside it, but never the programs.
pub(super) fn check(members: &[Package]) -> Vec<Finding> {
    let is_member = |name: &str| members.iter().any(|member| member.name == name);
    let mut findings = Vec::new();
    for member in members {
        let file = format!("package {}", member.name);
        let Some((may_use, why)) = allowed(&member.name) else {
            findings.push(Finding::new(
                &file,
                0,
                "has no rule in xtask/src/tidy/edges.rs: add one, with the reason",
            ));
            continue;
        };
        for dependency in member.dependencies.iter().filter(|dependency| is_member(&dependency.name)) {
            let name = dependency.name.as_str();
            let fine = match dependency.kind.as_deref() {
                Some("dev") => !PROGRAMS.contains(&name),
                _ => {
                    may_use.contains(&name)
                        || (may_use_any_library(&member.name) && !PROGRAMS.contains(&name))
                }
            };
            if !fine {
                findings.push(Finding::new(&file, 0, format!("must not depend on {name}: {why}")));
            }
        }
    }
    findings
}

/// The crates `package` may use and the reason; `None` for a package nobody thought about.
fn allowed(package: &str) -> Option<(&'static [&'static str], &'static str)> {
    if SOLVER_CRATES.contains(&package) {
        return Some((
            &["fewest-core", "fewest-solver"],
            "a solver sees numbers, datafits, penalties, operators: never a data set, a kernel or another \
             solver",
        ));
    }
    if may_use_any_library(package) {
        return Some((&[], "programs use libraries only"));
    }
    RULES.iter().find(|rule| rule.package == package).map(|rule| (rule.may_use, rule.why))
}

fn may_use_any_library(package: &str) -> bool {
    PROGRAMS.contains(&package) && !RULES.iter().any(|rule| rule.package == package)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metadata::Dependency;

    fn package(name: &str, dependencies: &[(&str, Option<&str>)]) -> Package {
        let dependencies = dependencies
            .iter()
            .map(|&(name, kind)| Dependency { name: name.to_owned(), kind: kind.map(str::to_owned) })
            .collect();
        Package { name: name.to_owned(), dependencies, n_external: 0, is_published: true }
    }

    #[test]
    fn core_depends_on_nobody_here_but_may_use_others() {
        let members = [
            package("fewest-core", &[("fewest-solver", None), ("nalgebra", None)]),
            package("fewest-solver", &[("fewest-core", None)]),
        ];
        let findings = check(&members);
        assert_eq!(findings.len(), 1);
        assert!(findings[0].message.contains("fewest-solver"));
    }

    #[test]
    fn one_solver_knows_no_other_except_in_tests() {
        let cd = |kind| [package("fewest-cd", &[("fewest-pgd", kind)]), package("fewest-pgd", &[])];
        assert_eq!(check(&cd(None)).len(), 1);
        assert_eq!(check(&cd(Some("build"))).len(), 1);
        assert_eq!(check(&cd(Some("dev"))), []);
    }

    #[test]
    fn the_command_line_goes_through_the_facade() {
        let members = [package("fewest-cli", &[("fewest-cd", None)]), package("fewest-cd", &[])];
        assert_eq!(check(&members).len(), 1);
    }

    #[test]
    fn a_package_without_a_rule_is_named() {
        assert_eq!(check(&[package("fewest-new", &[])]).len(), 1);
    }

    #[test]
    fn nothing_depends_on_the_programs() {
        let members = [
            package("fewest-data", &[("fewest-experiments", Some("dev"))]),
            package("fewest-experiments", &[("fewest-data", None)]),
        ];
        assert_eq!(check(&members).len(), 1);
    }

    #[test]
    fn of_the_programs_xtask_alone_is_kept_light() {
        let with_library = |name| [package(name, &[("fewest", None)]), package("fewest", &[])];
        assert_eq!(check(&with_library("xtask")).len(), 1);
        assert_eq!(check(&with_library("fewest-experiments")), []);
        let two = [package("fewest-experiments", &[("xtask", None)]), package("xtask", &[])];
        assert_eq!(check(&two).len(), 1);
    }
}
