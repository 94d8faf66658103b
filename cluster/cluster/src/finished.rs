//! Finished passes, kept in a folder, so that an interrupted run continues after them.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use fewest::core::State;
use fewest::data::{Folder, Stamp};

use crate::request::{Request, body};
use crate::secret::hash;
use crate::{Error, VERSION};

/// The sums of passes, each in a file whose name follows from all that they depend on: the request, the
/// version of this program, and the lengths and times of the files of the table, as this machine sees them.
pub(crate) struct Finished {
    folder: Option<PathBuf>,
    files: Vec<Stamp>,
}

impl Finished {
    /// In this folder, if there is one, for passes over the files of a table.
    pub(crate) fn new(folder: Option<&Path>, table: &Folder) -> Result<Self, Error> {
        let Some(folder) = folder else { return Ok(Self { folder: None, files: Vec::new() }) };
        let folder = std::path::absolute(folder).map_err(|error| told(folder, error))?;
        if folder.starts_with(table.path()) {
            return Err(told(&folder, "this folder is part of the table: name another one"));
        }
        std::fs::create_dir_all(&folder).map_err(|error| told(&folder, error))?;
        let files = table.parts().iter().map(Stamp::of);
        Ok(Self { folder: Some(folder), files: files.collect::<Result<_, _>>()? })
    }

    fn path(&self, request: &Request) -> Option<PathBuf> {
        let files = format!("{:?}", self.files);
        let name = hash(&[&body(request, VERSION), files.as_bytes()]);
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

    /// Keeps the sums of a pass, unless a file of the table is another now.
    pub(crate) fn keep(&self, request: &Request, sums: &Vec<Vec<u8>>) -> Result<(), Error> {
        let Some(path) = self.path(request) else { return Ok(()) };
        self.files.iter().try_for_each(Stamp::check)?;
        // The place of the tag, which is that of what follows it.
        let mut bytes = vec![0; hash(&[]).len()];
        sums.save(&mut bytes);
        if let Some((tag, sums)) = bytes.split_first_chunk_mut() {
            *tag = hash(&[sums]);
        }
        Ok(fewest::data::write_atomically(&path, &bytes)?)
    }
}

fn told(path: &Path, problem: impl std::fmt::Display) -> Error {
    Error::Table { path: format!("--resume {}", path.display()), problem: problem.to_string() }
}
