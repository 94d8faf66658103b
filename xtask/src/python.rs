//! `cargo xtask python`: the Python package under `bindings/python`, built and tested by pytest; with
//! `--soak`, `--peers` and `--notebooks`, its programs instead.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{Result, workspace};

/// What finds a Python that is new enough, in this order.
const INTERPRETERS: &[&str] = &["python3", "python3.14", "python3.13", "python3.12", "python3.11", "python"];

/// The oldest Python that the package works with.
const OLDEST: (u32, u32) = (3, 11);

/// Prints what `pyproject.toml` says that the package and this extra of it need.
const REQUIREMENTS: &str = "\
import sys, tomllib
project = tomllib.load(open('bindings/python/pyproject.toml', 'rb'))['project']
print('\\n'.join(project['dependencies'] + project['optional-dependencies'][sys.argv[1]]))";

/// Builds the package and runs pytest on it, with these arguments. `with` is added to the environment of
/// cargo.
///
/// The library is built with the profile `dev` and the features of the whole workspace, which `cargo test
/// --workspace` has built before, or in the environment of its other steps `cargo xtask ci`: only the
/// module itself is left to compile. What `pip install ./bindings/python` builds instead is optimised,
/// and takes minutes.
pub(crate) fn run(arguments: &[OsString], with: &[(&str, OsString)]) -> Result<()> {
    let root = workspace::root();
    let program = arguments.first().and_then(|first| first.to_str());
    let extra = match program {
        Some("--notebooks") => "notebooks",
        Some("--peers") => "peers",
        _ => "test",
    };
    let python = environment(&root.join("target/python"), extra)?;
    let mut build = workspace::cargo();
    // The test decides nothing but that features are those of tests.
    build.args(["build", "--workspace", "--lib", "--bin", "fewest", "--test", "quantiles", "--locked"]);
    build.envs(with.iter().cloned());
    workspace::run(&mut build)?;
    let package = assembled(&root)?;
    let own = |arguments: &[&str]| {
        let mut own = Command::new(&python);
        own.current_dir(root.join("bindings/python"))
            .env("PYTHONPATH", &package)
            // The command, whose results are compared with those of the package.
            .env("FEWEST_COMMAND", root.join("target/debug/fewest"))
            .args(arguments);
        own
    };
    match program {
        Some("--soak") => return workspace::run(own(&["soak.py"]).args(&arguments[1..])),
        Some("--peers") => return workspace::run(own(&["peers.py"]).args(&arguments[1..])),
        Some("--notebooks") => return executed(&root, own),
        _ => {}
    }
    let mut stubs = Command::new(&python);
    stubs.current_dir(&root).env("PYTHONPATH", &package).args(["-m", "fewest._stubs"]);
    let stubs = workspace::stdout_of(&mut stubs)?;
    let written = root.join("bindings/python/python/fewest/__init__.pyi");
    if std::env::var_os("FEWEST_WRITE_STUBS").is_some() {
        std::fs::write(&written, &stubs)?;
    } else if std::fs::read_to_string(&written).unwrap_or_default() != stubs {
        return Err("bindings/python/python/fewest/__init__.pyi is not what the methods say: write it by \
             FEWEST_WRITE_STUBS=1 cargo xtask python"
            .into());
    }
    let mut pytest = own(&["-m", "pytest"]);
    workspace::run(pytest.args(arguments))
}

/// Executes every notebook, and writes its outputs into it.
fn executed(root: &Path, own: impl Fn(&[&str]) -> Command) -> Result<()> {
    let mut notebooks = Vec::new();
    for entry in std::fs::read_dir(root.join("bindings/python/notebooks"))? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "ipynb") {
            notebooks.push(path);
        }
    }
    notebooks.sort();
    let execute = ["-m", "nbconvert", "--to", "notebook", "--execute", "--inplace"];
    let mut command = own(&execute);
    // Times would differ at every run.
    command.arg("--ExecutePreprocessor.record_timing=False").args(notebooks);
    workspace::run(&mut command)
}

/// The Python of a virtual environment below `folder` that has what the package and this extra of it need.
fn environment(folder: &Path, extra: &str) -> Result<PathBuf> {
    // Other packages ask for older versions of what the tests need.
    let venv = folder.join(if extra == "peers" { "venv-peers" } else { "venv" });
    let python = [venv.join("bin/python"), venv.join("Scripts/python.exe")];
    let found = || python.iter().find(|python| python.is_file()).cloned();
    let new = found().is_none();
    if new {
        let mut make = Command::new(interpreter()?);
        make.args(["-m", "venv"]).arg(&venv);
        workspace::run(&mut make).map_err(|error| {
            format!("{error}: the module venv is missing; on Debian: apt-get install python3-venv")
        })?;
    }
    let Some(python) = found() else { return Err(format!("{} has no Python", venv.display()).into()) };
    let mut read = Command::new(&python);
    let requirements =
        workspace::stdout_of(read.current_dir(workspace::root()).args(["-c", REQUIREMENTS, extra]))?;
    // Asking the registry takes seconds: only when something is new.
    let done = folder.join(format!("requirements-{extra}.txt"));
    if new || std::fs::read_to_string(&done).unwrap_or_default() != requirements {
        let mut install = Command::new(&python);
        install
            .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"])
            .args(requirements.lines());
        workspace::run(&mut install)?;
        std::fs::write(&done, &requirements)?;
    }
    Ok(python)
}

/// The first Python on the path that is new enough.
fn interpreter() -> Result<&'static str> {
    let version = |name: &str| {
        let print = "import sys; print(*sys.version_info[:2])";
        let text = workspace::stdout_of(Command::new(name).args(["-c", print])).ok()?;
        let mut numbers = text.split_whitespace().map(|number| number.parse::<u32>().ok());
        Some((numbers.next()??, numbers.next()??))
    };
    let found: Vec<(&str, (u32, u32))> =
        INTERPRETERS.iter().filter_map(|name| Some((*name, version(name)?))).collect();
    chosen(&found)
}

fn chosen(found: &[(&'static str, (u32, u32))]) -> Result<&'static str> {
    if let Some((name, _)) = found.iter().find(|(_, version)| *version >= OLDEST) {
        return Ok(name);
    }
    let (major, minor) = OLDEST;
    let there = match found.first() {
        Some((name, (major, minor))) => format!("`{name}` is {major}.{minor}"),
        None => "there is none on the path".to_owned(),
    };
    Err(format!(
        "the tests of the Python package need Python {major}.{minor} or newer, but {there}: install it; on Debian: \
         apt-get install python3 python3-venv"
    )
    .into())
}

/// The folder with the package: its sources and the module that was built.
fn assembled(root: &Path) -> Result<PathBuf> {
    let folder = root.join("target/python/package");
    let package = folder.join("fewest");
    if package.exists() {
        std::fs::remove_dir_all(&package)?;
    }
    std::fs::create_dir_all(&package)?;
    for entry in std::fs::read_dir(root.join("bindings/python/python/fewest"))? {
        let path = entry?.path();
        if let Some(name) = path.file_name().filter(|_| path.is_file()) {
            std::fs::copy(&path, package.join(name))?;
        }
    }
    let built = |name: &str| root.join("target/debug").join(name);
    let (module, name) = match std::env::consts::OS {
        "windows" => (built("_fewest.dll"), "_fewest.pyd"),
        "macos" => (built("lib_fewest.dylib"), "_fewest.abi3.so"),
        _ => (built("lib_fewest.so"), "_fewest.abi3.so"),
    };
    std::fs::copy(&module, package.join(name)).map_err(|error| format!("{}: {error}", module.display()))?;
    Ok(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_that_is_new_enough_is_taken_and_what_is_missing_is_told() {
        let told = |found: &[(&'static str, (u32, u32))]| chosen(found).map_err(|error| error.to_string());
        assert_eq!(told(&[("python3", (3, 9)), ("python3.12", (3, 12))]), Ok("python3.12"));
        let none = told(&[]).unwrap_err();
        assert!(none.contains("Python 3.11 or newer, but there is none on the path: install it"), "{none}");
        assert!(told(&[("python3", (3, 9))]).unwrap_err().contains("`python3` is 3.9"));
    }
}
