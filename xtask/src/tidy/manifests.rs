//! One place for versions and lints: the root `Cargo.toml`.

use toml::{Table, Value};

use super::Finding;

const INHERITED: &[&str] = &["version", "edition", "rust-version", "license"];
const TABLES: &[&str] = &["dependencies", "dev-dependencies", "build-dependencies"];

/// Broken rules in the member manifest `file`; a root manifest has no such rules, nor have the crates under
/// `extensions/`, which are like crates of others.
pub(super) fn check(file: &str, text: &str) -> Vec<Finding> {
    let manifest: Table = match text.parse() {
        Ok(manifest) => manifest,
        Err(error) => return vec![Finding::new(file, 0, format!("is no TOML: {error}"))],
    };
    if manifest.contains_key("workspace") || file.starts_with("extensions/") {
        return Vec::new();
    }
    let mut findings = Vec::new();
    if !inherits(manifest.get("lints")) {
        findings.push(Finding::new(
            file,
            0,
            "add `[lints] workspace = true`: the lints are the same everywhere",
        ));
    }
    for key in INHERITED {
        if !inherits(manifest.get("package").and_then(|package| package.get(key))) {
            findings.push(Finding::new(file, 0, format!("write `{key}.workspace = true`: it has one place")));
        }
    }
    for (name, value) in dependencies(&manifest) {
        if !inherits(Some(value)) {
            let message =
                format!("take `{name}` from [workspace.dependencies], so that there is one version of it");
            findings.push(Finding::new(file, 0, message));
        }
    }
    findings
}

/// Entries of the root's `[workspace.dependencies]` that no tracked manifest uses.
pub(super) fn unused(files: &[String], read: impl Fn(&str) -> Option<String>) -> Vec<Finding> {
    let parse = |file: &str| read(file).and_then(|text| text.parse::<Table>().ok());
    let Some(root) = parse("Cargo.toml") else { return Vec::new() };
    let offered = root
        .get("workspace")
        .and_then(|workspace| workspace.get("dependencies"))
        .and_then(Value::as_table)
        .cloned()
        .unwrap_or_default();
    let members: Vec<Table> =
        files.iter().filter(|file| file.ends_with("/Cargo.toml")).filter_map(|file| parse(file)).collect();
    let used = |name: &str| members.iter().any(|member| dependencies(member).any(|(other, _)| other == name));
    offered
        .keys()
        .filter(|name| !used(name))
        .map(|name| Finding::new("Cargo.toml", 0, format!("no crate uses the dependency `{name}`: drop it")))
        .collect()
}

fn inherits(value: Option<&Value>) -> bool {
    value.and_then(|value| value.get("workspace")).and_then(Value::as_bool) == Some(true)
}

/// Those of every platform, and of some.
fn dependencies(manifest: &Table) -> impl Iterator<Item = (&String, &Value)> {
    let platforms = manifest.get("target").and_then(Value::as_table).into_iter().flatten();
    std::iter::once(manifest)
        .chain(platforms.filter_map(|(_, platform)| platform.as_table()))
        .flat_map(|platform| TABLES.iter().filter_map(|table| platform.get(*table)))
        .filter_map(Value::as_table)
        .flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "[package]\nname = 'a'\nversion.workspace = true\nedition.workspace = true\n\
        rust-version.workspace = true\nlicense.workspace = true\n[dependencies]\nserde.workspace = true\n\
        [lints]\nworkspace = true\n";

    #[test]
    fn a_good_manifest_is_silent() {
        assert_eq!(check("crates/a/Cargo.toml", GOOD), []);
    }

    #[test]
    fn each_fault_fires() {
        let faults = [
            ("[lints]\nworkspace = true\n", ""),
            ("edition.workspace = true", "edition = '2024'"),
            ("serde.workspace = true", "serde = '1'"),
            ("[lints]", "[target.'cfg(unix)'.dependencies]\nnix = '1'\n[lints]"),
            ("name = 'a'", "name = "),
        ];
        for (good, bad) in faults {
            assert_eq!(check("crates/a/Cargo.toml", &GOOD.replace(good, bad)).len(), 1, "{bad}");
        }
    }

    #[test]
    fn dependencies_nobody_uses_are_named() {
        let read = |file: &str| {
            Some(match file {
                "Cargo.toml" => "[workspace.dependencies]\nserde = '1'\nrand = '0.10'".to_owned(),
                _ => GOOD.to_owned(),
            })
        };
        let findings = unused(&["Cargo.toml".to_owned(), "crates/a/Cargo.toml".to_owned()], read);
        assert_eq!(findings.len(), 1);
        assert!(findings[0].message.contains("rand"));
    }
}
