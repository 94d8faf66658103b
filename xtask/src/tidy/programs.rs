//! The tests of a crate are one program: every file of `tests/` is a module of `tests/main.rs`.
//!
//! Each program is optimised and linked by itself, so one for each file takes minutes more. A file that
//! `main.rs` leaves out would never run, and nobody would see it.

use super::Finding;

/// Files of a `tests` folder among the tracked `files` that no `main.rs` and no `Cargo.toml` there names.
pub(super) fn check(files: &[String], read: impl Fn(&str) -> Option<String>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for main in files.iter().filter(|file| file.ends_with("/tests/main.rs")) {
        let folder = main.strip_suffix("main.rs").unwrap_or(main);
        let manifest = main.replace("tests/main.rs", "Cargo.toml");
        let (modules, manifest) = (read(main).unwrap_or_default(), read(&manifest).unwrap_or_default());
        for file in files.iter().filter(|&file| file != main) {
            let name = file.strip_prefix(folder).and_then(|file| file.strip_suffix(".rs"));
            let Some(name) = name else { continue };
            let name = name.strip_suffix("/main").or(name.strip_suffix("/mod")).unwrap_or(name);
            let program = manifest.contains(&format!("[[test]]\nname = \"{name}\"\nrequired-features"));
            if !name.contains('/') && !program && !modules.contains(&format!("\nmod {name};\n")) {
                findings.push(Finding::new(file, 0, format!("never runs: write `mod {name};` into {main}")));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_never_runs_is_named() {
        let files = ["a/Cargo.toml", "a/tests/main.rs", "a/tests/b.rs", "a/tests/c.rs", "a/tests/d.rs"];
        let files = [&files[..], &["a/tests/b/e.rs", "f/tests/g.rs", "a/tests/h/main.rs"]]
            .concat()
            .into_iter()
            .map(str::to_owned);
        let read = |file: &str| match file {
            "a/tests/main.rs" => Some("//! All.\n\nmod b;\n".to_owned()),
            _ => Some("[[test]]\nname = \"d\"\nrequired-features = [\"d\"]\n".to_owned()),
        };
        let findings = check(&files.collect::<Vec<_>>(), read);
        let found: Vec<&str> = findings.iter().map(|finding| finding.file.as_str()).collect();
        assert_eq!(found, ["a/tests/c.rs", "a/tests/h/main.rs"]);
    }
}
