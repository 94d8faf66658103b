//! Every solver has a page. That every method has one is a test of `experiments/`, which knows the registry.

use super::Finding;

/// Pages of solver crates, the folders of `crates/solvers`, that are missing among the tracked `files`.
pub(super) fn check(files: &[String]) -> Vec<Finding> {
    files
        .iter()
        .filter_map(|file| file.strip_prefix("crates/solvers/")?.strip_suffix("/Cargo.toml"))
        .map(|name| (name, format!("docs/solvers/{name}.md")))
        .filter(|(_, page)| !files.contains(page))
        .map(|(name, page)| {
            Finding::new(&page, 0, format!("is missing: solver crate `{name}` needs its page"))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_solver_without_a_page_is_named() {
        let files = ["crates/solvers/cd/Cargo.toml", "crates/solvers/dal/Cargo.toml", "docs/solvers/cd.md"];
        let findings = check(&files.map(str::to_owned));
        assert_eq!(findings.len(), 1);
        assert_eq!(findings[0].file, "docs/solvers/dal.md");
    }
}
