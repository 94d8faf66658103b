//! Where `reproduce` writes, and what it needs for that.

use std::path::Path;
use std::process::{Command, Output};
use std::time::Duration;

use tempfile::TempDir;

/// A folder that looks like a checkout.
fn checkout() -> std::io::Result<TempDir> {
    let folder = tempfile::tempdir()?;
    std::fs::write(folder.path().join("Cargo.lock"), "")?;
    std::fs::create_dir(folder.path().join("xtask"))?;
    std::fs::write(folder.path().join("xtask/Cargo.toml"), "")?;
    Ok(folder)
}

fn command(folder: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fewest-experiments"));
    command.arg("reproduce").args(words).current_dir(folder).env_remove("FEWEST_DATA");
    command
}

fn reproduce(folder: &Path, words: &[&str]) -> std::io::Result<Output> {
    command(folder, words).output()
}

/// The program finds the checkout that it is called in, not the one it was compiled in.
#[test]
fn pages_are_written_below_the_checkout_of_the_call() -> std::io::Result<()> {
    let here = checkout()?;
    let (below, published) = (here.path().join("target/reproduce"), here.path().join("docs/reproduction"));
    let words = ["nmmkl", "--table", "4", "--runs", "2"];
    // From a folder inside of it as well.
    let ran = reproduce(&here.path().join("xtask"), &words)?;
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    assert!(below.join("nmmkl/table-4.md").is_file() && !published.exists());
    // What is published must be of an optimised program, which that of the tests is not.
    let ran = reproduce(here.path(), &[&words[..], &["--publish"]].concat())?;
    assert_eq!(ran.status.success(), published.join("nmmkl/table-4.md").is_file());
    assert!(ran.status.success() || String::from_utf8_lossy(&ran.stderr).contains("not optimised"));
    Ok(())
}

/// What needs data sets says where they are looked for; what draws its own needs none.
#[test]
fn data_are_asked_for_where_they_are_needed() -> std::io::Result<()> {
    let here = checkout()?;
    let ran = reproduce(here.path(), &["nmmkl", "--table", "3", "--runs", "2"])?;
    assert!(!ran.status.success());
    assert!(String::from_utf8_lossy(&ran.stderr).contains("give --data or FEWEST_DATA"));
    // It takes minutes; what it lacked it would say at once.
    let mut drawing = command(here.path(), &["hsic-lasso", "--figure", "1", "--runs", "2"]).spawn()?;
    std::thread::sleep(Duration::from_secs(2));
    let ended = drawing.try_wait()?;
    drawing.kill()?;
    drawing.wait()?;
    assert!(ended.is_none_or(|status| status.success()), "{ended:?}");
    Ok(())
}
