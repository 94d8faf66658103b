//! The workspace as git and cargo describe it.

use std::collections::{HashMap, HashSet};
use std::process::Command;

use serde_json::Value;

use crate::Result;
use crate::workspace::{cargo, root, stdout_of};

/// The platform whose dependencies are counted, so that the counts are the same on every machine.
const PLATFORM: &str = "x86_64-unknown-linux-gnu";

/// The files that git tracks or would track, relative to the root, in order, without broken links.
pub(crate) fn tracked_files() -> Result<Vec<String>> {
    let list = stdout_of(
        Command::new("git")
            .args(["ls-files", "--cached", "--others", "--exclude-standard"])
            .current_dir(root()),
    )?;
    let mut files: Vec<String> =
        list.lines().filter(|file| root().join(file).is_file()).map(str::to_owned).collect();
    files.sort();
    Ok(files)
}

/// A member of the workspace.
#[derive(Debug, Clone)]
pub(crate) struct Package {
    /// The package's name.
    pub name: String,
    /// Its dependencies in the manifest, workspace members and others.
    pub dependencies: Vec<Dependency>,
    /// The number of external packages compiled for it: its normal dependencies and theirs, each version
    /// once. Those of tests and of build scripts are left out. Cargo resolves features for the workspace as a
    /// whole, so an optional dependency that any member switches on counts for all.
    pub n_external: usize,
    /// False where its manifest says `publish = false`.
    pub is_published: bool,
}

/// A dependency of a [`Package`].
#[derive(Debug, Clone)]
pub(crate) struct Dependency {
    /// The name of the package depended on.
    pub name: String,
    /// `None` for a normal dependency, else `dev` or `build`.
    pub kind: Option<String>,
}

/// The members of the workspace.
pub(crate) fn members() -> Result<Vec<Package>> {
    let arguments = ["metadata", "--format-version", "1", "--filter-platform", PLATFORM];
    parse(&stdout_of(cargo().args(arguments))?)
}

/// The members in the output of `cargo metadata`.
fn parse(text: &str) -> Result<Vec<Package>> {
    let metadata: Value = serde_json::from_str(text)?;
    let members: HashSet<&str> = list(&metadata["workspace_members"]).filter_map(Value::as_str).collect();
    let compiled_with: HashMap<&str, Vec<&str>> = list(&metadata["resolve"]["nodes"])
        .map(|node| {
            (word(&node["id"]), list(&node["deps"]).filter(is_normal).map(|to| word(&to["pkg"])).collect())
        })
        .collect();
    let n_external = |member: &str| {
        let (mut seen, mut waiting) = (HashSet::new(), vec![member]);
        while let Some(package) = waiting.pop() {
            waiting.extend(compiled_with.get(package).into_iter().flatten().filter(|id| seen.insert(**id)));
        }
        seen.difference(&members).count()
    };
    let dependency = |value: &Value| Dependency {
        name: word(&value["name"]).to_owned(),
        kind: value["kind"].as_str().map(str::to_owned),
    };
    Ok(list(&metadata["packages"])
        .filter(|package| members.contains(word(&package["id"])))
        .map(|package| Package {
            name: word(&package["name"]).to_owned(),
            dependencies: list(&package["dependencies"]).map(dependency).collect(),
            n_external: n_external(word(&package["id"])),
            is_published: package["publish"].is_null(),
        })
        .collect())
}

/// Whether a package is compiled with this one, not only its tests or its build script.
fn is_normal(dependency: &&Value) -> bool {
    list(&dependency["dep_kinds"]).any(|dependency| dependency["kind"].is_null())
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn word(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_counted_once_and_tests_do_not_count() {
        let edge = |to: &str, kind: &str| format!(r#"{{"pkg":"{to}","dep_kinds":[{{"kind":{kind}}}]}}"#);
        let node = |id: &str, edges: &[String]| format!(r#"{{"id":"{id}","deps":[{}]}}"#, edges.join(","));
        let package = |id: &str| format!(r#"{{"id":"{id}","name":"{id}","dependencies":[]}}"#);
        let text = format!(
            r#"{{"packages":[{}],"workspace_members":["top","low"],"resolve":{{"nodes":[{}]}}}}"#,
            ["top", "low", "a", "b", "c", "d"].map(package).join(","),
            [
                node("top", &[edge("low", "null"), edge("a", "null"), edge("c", "\"dev\"")]),
                node("low", &[edge("a", "null")]),
                node("a", &[edge("b", "null"), edge("d", "\"build\"")]),
                node("b", &[]),
            ]
            .join(",")
        );
        let members = parse(&text).unwrap();
        let counts: Vec<_> = members.iter().map(|member| (member.name.as_str(), member.n_external)).collect();
        assert_eq!(counts, [("top", 2), ("low", 2)]);
    }
}
