//! A reduced table of rows that are read in passes.

use std::path::Path;

use fewest_core::{BATCH_ROWS, Context, SampleStream};

use super::Rows;
use crate::write::written_columns;
use crate::{Error, Format};

/// Numbers that take the memory of a name of a sample, in all places that hold it while it is written.
const NUMBERS_OF_A_NAME: usize = 32;

impl Rows {
    /// Writes these of the features, in the order given, the names of the samples and the target, in a pass
    /// of its own: what [`Format::write`] writes of the whole table. Of the columns that are not written only
    /// those are read that decide which rows are left out. Afterwards the rows have the features that were
    /// read, as after [`take_features`](SampleStream::take_features), from the first row on.
    ///
    /// # Errors
    /// As [`Format::write`], and those of reading; [`fewest_core::Error::Stopped`] where the context ends it.
    /// The file is then what it was.
    ///
    /// ```
    /// use fewest_data::{Formats, Missing, Passes, ReadOptions};
    /// # let folder = std::env::temp_dir().join(format!("fewest-reduced-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder)?;
    /// # let (long, short) = (folder.join("long.csv"), folder.join("short.csv"));
    /// std::fs::write(&long, "id,a,b,c,y\none,1,2,3,no\ntwo,4,5,6,yes\n")?;
    /// let options = ReadOptions { id: Some("id".to_owned()), ..ReadOptions::with_target("y") };
    /// let mut rows = Passes::open(&long, &options)?.expect("text").rows(Missing::Error, 1 << 30)?;
    /// rows.write(Formats::standard().to_write(&short)?, &short, &[2, 0], &Default::default())?;
    /// assert_eq!(std::fs::read_to_string(&short)?, "id,c,a,y\none,3,1,no\ntwo,6,4,yes\n");
    /// # std::fs::remove_dir_all(&folder)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn write(
        &mut self,
        format: Format,
        path: impl AsRef<Path>,
        features: &[usize],
        context: &Context<'_>,
    ) -> Result<(), Error> {
        let n_features = self.features.len();
        if let Some(j) = features.iter().find(|j| **j >= n_features) {
            let expected = format!("below the number of features, {n_features}");
            return Err(fewest_core::Error::parameter("feature", j, expected).into());
        }
        let mut wanted = features.to_vec();
        fewest_core::order::sort_indices(&mut wanted);
        wanted.dedup();
        let first = self.first().map(|first| first.dataset.clone());
        let wanted = match self.take_features(&wanted)? {
            true => wanted,
            false => {
                self.start_again()?;
                (0..n_features).collect()
            }
        };
        let places: Vec<usize> = features.iter().filter_map(|j| wanted.binary_search(j).ok()).collect();
        // Features without a name are numbered, and some of them would get other numbers.
        let names = first.map(|first| wanted.iter().map(|&j| first.feature_name(j)).collect());
        let rows = self.rows;
        self.read_names(true);
        let written = self.write_pieces(format, path.as_ref(), (&places, names), context);
        self.read_names(false);
        self.rows = rows;
        written.and_then(|()| self.start_again())
    }

    fn write_pieces(
        &mut self,
        format: Format,
        path: &Path,
        (places, names): (&[usize], Option<Vec<String>>),
        context: &Context<'_>,
    ) -> Result<(), Error> {
        let targets = self.first().map(|first| first.target_names.clone()).unwrap_or_default();
        let all = usize::try_from(self.n_rows()).unwrap_or(usize::MAX);
        let mut done = 0;
        format.write_pieces(path, &mut || {
            context.go_on("the reduced table was written")?;
            let Some(rows) = self.next()? else { return Ok(None) };
            done += rows.n_samples();
            context.report("rows written", done, all.max(done));
            let rows = match &names {
                Some(names) => rows.with_feature_names(names.clone())?,
                None => rows,
            };
            written_columns(&rows, places, &targets).map(Some)
        })
    }

    /// Whether the names of the samples are read, where they have names.
    fn read_names(&mut self, are_read: bool) {
        let Some(id) = &self.id else { return };
        let options = &mut self.options;
        options.ignore.retain(|name| name != id);
        match are_read {
            true => {
                options.id = Some(id.clone());
                // Pieces are as long as their numbers allow, of which names take the place of some.
                let columns = self.known.columns.len() + self.n_others;
                let batches = self.rows / BATCH_ROWS * columns.max(1) / (columns.max(1) + NUMBERS_OF_A_NAME);
                self.rows = batches.max(1) * BATCH_ROWS;
            }
            false => options.ignore.extend(options.id.take()),
        }
    }

    /// Number of rows, or about how many.
    fn n_rows(&self) -> u64 {
        self.n_used.map_or_else(|| self.pieces.n_rows().0, |(used, _)| used as u64)
    }
}
