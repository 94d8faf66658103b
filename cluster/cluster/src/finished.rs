//! Passes that are over, kept in a folder, so that a run that was ended goes on behind them.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use fewest::core::State;
use fewest::data::{Folder, Stamp};

use crate::request::{Request, body};
use crate::secret::hash;
use crate::{Error, VERSION};

/// The sums of a pass, in a file whose name follows from all that they depend on.
pub(crate) struct Finished {
    folder: Option<PathBuf>,
    /// The files of the table, with their lengths and the times at which they were written.
    files: Vec<u8>,
}

impl Finished {
    /// In this folder, if there is one, for passes over the table at `table`.
    pub(crate) fn new(folder: Option<&Path>, table: &Path) -> Result<Self, Error> {
        let Some(folder) = folder else { return Ok(Self { folder: None, files: Vec::new() }) };
        std::fs::create_dir_all(folder).map_err(|error| told(folder, error))?;
        let files = Folder::or_file(table)?;
        let stamps = files.parts().iter().map(|part| Stamp::of(part.path()));
        let stamps = stamps.collect::<Result<Vec<_>, _>>()?;
        Ok(Self { folder: Some(folder.to_owned()), files: format!("{stamps:?}").into_bytes() })
    }

    fn path(&self, request: &Request) -> Option<PathBuf> {
        let name = hash(&[&body(request, VERSION), &self.files]);
        let name: String = name.iter().map(|byte| format!("{byte:02x}")).collect();
        self.folder.as_ref().map(|folder| folder.join(name).with_extension("sums"))
    }

    /// The sums of a pass that was over before.
    pub(crate) fn get(&self, request: &Request) -> Result<Option<Vec<Vec<u8>>>, Error> {
        let Some(path) = self.path(request) else { return Ok(None) };
        let bytes = match std::fs::read(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            read => read.map_err(|error| told(&path, error))?,
        };
        let sums = bytes.split_first_chunk().filter(|(tag, sums)| hash(&[sums]) == **tag);
        let Some((_, mut sums)) = sums else { return Err(told(&path, "the file was changed: remove it")) };
        Ok(Some(State::load(&mut sums)?))
    }

    pub(crate) fn keep(&self, request: &Request, sums: &Vec<Vec<u8>>) -> Result<(), Error> {
        let Some(path) = self.path(request) else { return Ok(()) };
        let mut bytes = Vec::new();
        sums.save(&mut bytes);
        let tag = hash(&[&bytes]);
        Ok(fewest::data::write_atomically(&path, &[&tag[..], &bytes].concat())?)
    }
}

fn told(path: &Path, problem: impl std::fmt::Display) -> Error {
    Error::Table { path: format!("--resume {}", path.display()), problem: problem.to_string() }
}
