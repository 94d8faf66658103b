//! The number of external packages that a crate may need.

use super::Finding;
use crate::metadata::Package;

/// Each member of the workspace with the most external packages that it may be compiled with (normal
/// dependencies and theirs). A change that needs more raises the number here, and its message gives the
/// reason.
const AT_MOST: &[(&str, usize)] = &[
    ("fewest", 88),
    ("fewest-arrow", 103),
    ("fewest-benches", 0),
    ("fewest-admm", 40),
    ("fewest-cd", 49),
    ("fewest-cli", 149),
    ("fewest-columns", 38),
    ("fewest-core", 29),
    ("fewest-counts", 38),
    ("fewest-dal", 49),
    ("fewest-data", 80),
    ("fewest-excel", 99),
    ("fewest-dca", 40),
    ("fewest-dependence", 55),
    ("fewest-eval", 56),
    ("fewest-experiments", 132),
    ("fewest-fuzz", 128),
    ("fewest-filters", 46),
    ("fewest-kernels", 45),
    ("fewest-lars", 46),
    ("fewest-linalg", 33),
    ("fewest-linear", 56),
    ("fewest-machines", 55),
    ("fewest-margin", 55),
    ("fewest-mkl", 55),
    ("fewest-neighbours", 45),
    ("fewest-newton", 49),
    ("fewest-parallel", 6),
    ("fewest-pgd", 49),
    // PyO3, NumPy's arrays and Arrow's, by which tables of Python are read where they lie.
    ("fewest-python", 140),
    ("fewest-report", 100),
    ("fewest-simplex", 49),
    ("fewest-smo", 43),
    ("fewest-solver", 40),
    ("fewest-streams", 50),
    ("fewest-study", 88),
    ("fewest-testkit", 36),
    ("fewest-wrappers", 56),
    ("xtask", 15),
];

/// Members with more external dependencies than they may have, or without a bound, and bounds of no member.
pub(super) fn check(members: &[Package]) -> Vec<Finding> {
    check_against(AT_MOST, members)
}

fn check_against(bounds: &[(&str, usize)], members: &[Package]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for Package { name, n_external: count, .. } in members {
        let message = match bounds.iter().find(|(package, _)| package == name) {
            Some((_, most)) if count <= most => continue,
            Some((_, most)) => format!("has {count} external dependencies, at most {most} are allowed"),
            None => format!("has no bound on its {count} external dependencies"),
        };
        findings.push(finding(name, &message));
    }
    for (package, _) in bounds {
        if !members.iter().any(|member| member.name == *package) {
            findings.push(finding(package, "has a bound on its dependencies, but is no member"));
        }
    }
    findings
}

fn finding(package: &str, message: &str) -> Finding {
    let place = "see xtask/src/tidy/dependencies.rs";
    Finding::new(&format!("package {package}"), 0, format!("{message}: {place}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(bounds: &[(&str, usize)], counts: &[(&str, usize)]) -> Vec<String> {
        let member = |&(name, n_external): &(&str, usize)| Package {
            name: name.to_owned(),
            dependencies: Vec::new(),
            n_external,
            is_published: true,
        };
        let members: Vec<_> = counts.iter().map(member).collect();
        check_against(bounds, &members).into_iter().map(|finding| finding.to_string()).collect()
    }

    #[test]
    fn up_to_the_bound_is_fine() {
        assert_eq!(messages(&[("a", 3), ("b", 0)], &[("a", 3), ("b", 0)]), [""; 0]);
    }

    #[test]
    fn each_fault_fires() {
        for (bounds, counts, word) in [
            (vec![("a", 3)], vec![("a", 4)], "at most 3"),
            (vec![], vec![("a", 4)], "no bound"),
            (vec![("a", 3), ("b", 1)], vec![("a", 3)], "no member"),
        ] {
            let found = messages(&bounds, &counts);
            assert_eq!(found.len(), 1, "{found:?}");
            assert!(found[0].contains(word), "{found:?}");
        }
    }
}
