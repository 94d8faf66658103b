//! A command that runs beside others, with what they leave of the processors.

use std::fs::File;
use std::path::PathBuf;
use std::process::{Child, Command};

use crate::{Result, workspace};

/// It is killed where nobody waits for it.
pub(crate) struct Beside {
    child: Child,
    output: PathBuf,
}

impl Beside {
    /// Starts `cargo` with these arguments; what it prints is kept in a file below `target/`. Where there is
    /// no `nice`, it has as much of the processors as the others.
    pub(crate) fn cargo(arguments: &str, with: impl Fn(&mut Command)) -> Result<Self> {
        let folder = workspace::root().join("target");
        std::fs::create_dir_all(&folder)?;
        let output = folder.join("beside.log");
        let file = File::create(&output)?;
        let cargo = workspace::cargo();
        let start = |mut command: Command| {
            command.current_dir(workspace::root()).args(arguments.split(' '));
            with(&mut command);
            command.stdout(file.try_clone()?).stderr(file.try_clone()?).spawn()
        };
        let mut nice = Command::new("nice");
        nice.arg("-n19").arg(cargo.get_program());
        let child = start(nice).or_else(|_| start(cargo))?;
        Ok(Self { child, output })
    }

    /// Waits for its end, and prints what it printed if it failed.
    pub(crate) fn finish(mut self) -> Result<()> {
        if self.child.wait()?.success() {
            return Ok(());
        }
        eprint!("{}", std::fs::read_to_string(&self.output)?);
        Err("the command that ran beside the others failed".into())
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        // Both fail where it has ended, as it should have.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
