//! Every method and every solver has a page.

use super::Finding;

/// Pages that are missing among the tracked `files`: of the methods `ids` and of the solver crates.
pub fn check(files: &[String], ids: &[String]) -> Vec<Finding> {
    let mut findings = missing("docs/methods", "method", ids, files);
    findings.extend(missing("docs/solvers", "solver crate", &solvers(files), files));
    findings
}

/// The names of the folders of `crates/solvers`.
fn solvers(files: &[String]) -> Vec<String> {
    files
        .iter()
        .filter_map(|file| file.strip_prefix("crates/solvers/")?.strip_suffix("/Cargo.toml"))
        .map(str::to_owned)
        .collect()
}

fn missing(folder: &str, what: &str, names: &[String], files: &[String]) -> Vec<Finding> {
    names
        .iter()
        .map(|name| (name, format!("{folder}/{name}.md")))
        .filter(|(_, page)| !files.contains(page))
        .map(|(name, page)| Finding::new(&page, 0, format!("is missing: {what} `{name}` needs its page")))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_method_without_a_page_is_named() {
        let files = ["docs/methods/hsic.md".to_owned()];
        let findings = check(&files, &["hsic", "nocco"].map(str::to_owned));
        assert_eq!(findings.len(), 1);
        assert_eq!(findings[0].file, "docs/methods/nocco.md");
    }

    #[test]
    fn a_solver_without_a_page_is_named() {
        let files = ["crates/solvers/cd/Cargo.toml", "crates/solvers/dal/Cargo.toml", "docs/solvers/cd.md"];
        let findings = check(&files.map(str::to_owned), &[]);
        assert_eq!(findings.len(), 1);
        assert_eq!(findings[0].file, "docs/solvers/dal.md");
    }
}
