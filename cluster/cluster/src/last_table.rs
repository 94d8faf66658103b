//! The table that was opened last.

use std::fmt;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use fewest::data::{Error, Folder, Passes, ReadOptions};

use crate::objects::Object;
use crate::request::Table;

/// The table of the last task, opened: what its files tell of their columns is read once for all tasks of a
/// run, which takes longer than a task where columns are many.
#[derive(Default)]
pub(crate) struct LastTable(Mutex<Option<(Of, Passes)>>);

/// What says that a table is the same, whose files say by themselves whether they have changed.
#[derive(PartialEq)]
pub(crate) struct Of {
    pub(crate) table: Table,
    pub(crate) objects: Vec<Object>,
    pub(crate) files: Vec<PathBuf>,
    pub(crate) needs_target: bool,
}

impl LastTable {
    /// This table; `None` for a format without a reader of pieces.
    ///
    /// # Errors
    /// Those of [`Passes::open_folder`].
    pub(crate) fn open(
        &self,
        of: Of,
        folder: Folder,
        options: &ReadOptions,
    ) -> Result<Option<Passes>, Error> {
        if let Some(opened) = self.again(&of) {
            return Ok(Some(opened));
        }
        // Tasks that begin together open it each, so that none waits for a store that does not answer.
        let Some(opened) = Passes::open_folder(folder, options)? else { return Ok(None) };
        if let Some(again) = opened.again()? {
            *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((of, again));
        }
        Ok(Some(opened))
    }

    /// The table, if it is the last one, and its files are those that were opened.
    fn again(&self, of: &Of) -> Option<Passes> {
        let last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (_, opened) = last.as_ref().filter(|(known, _)| known == of)?;
        // Files that have changed are opened, which tells how they differ.
        opened.again().ok().flatten()
    }
}

impl fmt::Debug for LastTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LastTable")
    }
}
