//! Allowed dependencies between crates.

use super::Finding;
use crate::metadata::Package;

/// The workspace crates that a crate may depend on, and why.
struct Rule {
    package: &'static str,
    may_use: &'static [&'static str],
    why: &'static str,
}

/// The rule of `fewest-…` packages, whose names are given without that.
macro_rules! rules {
    ($($package:literal: [$($may_use:ident)*], $why:expr;)*) => {
        &[$(Rule {
            package: concat!("fewest-", $package),
            may_use: &[$(concat!("fewest-", stringify!($may_use))),*],
            why: $why,
        }),*]
    };
}

const FAMILY: &str = "kernel, then solver, then selector; families of methods never know each other";
const SOLVER: &str =
    "a solver sees numbers, datafits, penalties, operators: never a data set, a kernel or another solver";

const RULES: &[Rule] = rules! {
    "core": [], "everything meets in core, so core knows nobody";
    "parallel": [], "loops over threads; they know no data";
    "linalg": [parallel], "slices of numbers only";
    "columns": [core linalg parallel], "columns of a table; no method, no solver";
    "data": [core columns parallel], "readers make a Dataset; they know no method";
    "arrow": [core data parallel], "two formats more; it knows how tables are read and written, and nothing else";
    "excel": [data], "one format more; it knows how tables are read, and nothing else";
    "kernels": [core linalg], "a kernel sees numbers; a target's kernel is a kernel like any other";
    "counts": [core columns], "levels and joint counts serve all families, which never know each other";
    "neighbours": [core columns linalg parallel], "neighbours of samples serve filters, other families and learners alike";
    "solver": [core], "numbers, datafits, penalties; only Status and the context come from core";
    "admm": [core solver], SOLVER;
    "cd": [core linalg solver], SOLVER;
    "dal": [core linalg solver], SOLVER;
    "dca": [core solver], SOLVER;
    "lars": [core solver parallel], SOLVER;
    "newton": [core linalg solver], SOLVER;
    "pgd": [core linalg solver], SOLVER;
    "simplex": [core linalg solver], SOLVER;
    "smo": [core solver], SOLVER;
    "machines": [core kernels linalg solver smo], "kernel machines serve wrappers and learners alike";
    "filters": [core columns counts kernels linalg neighbours parallel], FAMILY;
    "dependence": [core columns counts kernels linalg parallel solver cd lars], FAMILY;
    "linear": [core columns kernels linalg neighbours parallel solver admm cd dal lars newton simplex], FAMILY;
    "margin": [core columns kernels linalg parallel solver cd lars simplex smo machines], FAMILY;
    "mkl": [core columns kernels linalg parallel solver dca pgd smo], FAMILY;
    "streams": [core columns counts linalg solver cd newton], FAMILY;
    "wrappers": [core columns kernels linalg parallel solver smo machines eval], FAMILY;
    "eval": [core columns kernels linalg neighbours parallel solver smo machines],
        "evaluation sees selectors and learners through their traits: it knows no method";
    "testkit": [core data], "test data and comparisons; what is tested is handed to it";
};

/// Above the libraries.
const TOP_RULES: &[Rule] = &[
    Rule {
        package: "fewest-study",
        may_use: &["fewest"],
        why: "a study takes methods, learners and metrics by their ids; it knows no terminal",
    },
    Rule {
        package: "fewest-report",
        may_use: &["fewest", "fewest-study"],
        why: "a report draws what was computed, for the command and for Python alike",
    },
    Rule {
        package: "fewest-cli",
        may_use: &["fewest", "fewest-study", "fewest-report", "fewest-arrow", "fewest-excel"],
        why: "the command line holds no algorithm: it reaches everything through the façade and through studies",
    },
    Rule {
        package: "fewest-python",
        may_use: &["fewest", "fewest-study", "fewest-report"],
        why: "Python gets methods and documents through the façade and through studies; nothing numerical is done there",
    },
    Rule {
        package: "fewest-fuzz",
        may_use: &["fewest", "fewest-study", "fewest-arrow", "fewest-excel"],
        why: "it damages what the command reads, and sees of it what the command sees",
    },
    Rule {
        package: "xtask",
        may_use: &[],
        why: "it builds in seconds; what needs the library is in experiments/",
    },
];

/// May depend on any library: the façade, which offers them all, and programs.
const ANY_LIBRARY: &[&str] = &["fewest", "fewest-benches", "fewest-experiments"];

/// Nothing depends on them, and they are not published.
const PROGRAMS: &[&str] = &["fewest-benches", "fewest-experiments", "fewest-fuzz", "fewest-python", "xtask"];

/// Broken rules among the `members`' dependencies on each other. Tests may also use the testkit, and
/// anything their crate's position in the flow allows to stand below or beside it, but never the programs.
pub(super) fn check(members: &[Package]) -> Vec<Finding> {
    let is_member = |name: &str| members.iter().any(|member| member.name == name);
    let mut findings = Vec::new();
    for member in members {
        let file = format!("package {}", member.name);
        let rule = rule_of(&member.name);
        let may_use_any = ANY_LIBRARY.contains(&member.name.as_str());
        if rule.is_none() && !may_use_any {
            let message = "has no rule in xtask/src/tidy/edges.rs: add one, with the reason";
            findings.push(Finding::new(&file, 0, message));
            continue;
        }
        for dependency in member.dependencies.iter().filter(|dependency| is_member(&dependency.name)) {
            let name = dependency.name.as_str();
            let fine = match dependency.kind.as_deref() {
                Some("dev") => !PROGRAMS.contains(&name),
                // The façade offers what is published with it; the test kit is for tests.
                _ if member.name == "fewest" && name == "fewest-testkit" => false,
                _ => rule.map_or_else(|| is_library(name), |rule| rule.may_use.contains(&name)),
            };
            if !fine {
                let why = rule.map_or("programs and the façade use libraries only", |rule| rule.why);
                findings.push(Finding::new(&file, 0, format!("must not depend on {name}: {why}")));
            }
        }
    }
    findings
}

/// The rule of `package`; `None` for a package without a rule.
fn rule_of(package: &str) -> Option<&'static Rule> {
    RULES.iter().chain(TOP_RULES).find(|rule| rule.package == package)
}

/// Whether `package` is a library below the façade.
fn is_library(package: &str) -> bool {
    package == "fewest" || RULES.iter().any(|rule| rule.package == package)
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
