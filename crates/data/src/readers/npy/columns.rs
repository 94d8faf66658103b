//! An array in place, for methods that read a table column by column.

use std::path::Path;

use fewest_core::{Column, Columns};

use super::{Element, Header, Kind, failure, read_header};
use crate::Error;

/// The columns of a `.npy` array whose bytes are somewhere else: in a file mapped into memory, in a shared
/// buffer, in the program itself. A method that reads column by column then takes a table larger than memory;
/// one that keeps standardised columns or kernels needs memory for these.
///
/// A column of an array of little-endian `float64` that is stored column by column (`numpy.asfortranarray`)
/// is read where it is. Others are converted into the buffer of the caller at each reading; of an array
/// stored row by row that touches all of it for each column. An array with one dimension is one column.
///
/// Missing values (NaN) are not told: a [`Table`](crate::Table) has policies for them. Methods refuse them.
///
/// This crate maps no file: while another program shortens or changes it, a map is not memory that Rust may
/// take for constant, so that making one is unsafe. Who knows that the file stays as it is makes the map, for
/// example with the crate memmap2:
///
/// ```
/// use std::path::Path;
/// use fewest_core::{Column, Columns};
/// use fewest_data::NpyColumns;
///
/// # let path = std::env::temp_dir().join(format!("fewest-mapped-{}.npy", std::process::id()));
/// # let mut bytes = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
/// # let header = "{'descr': '<f8', 'fortran_order': True, 'shape': (2, 1), }";
/// # bytes.extend(format!("{header:117}\n").bytes());
/// # [0.5_f64, 1.5].iter().for_each(|value| bytes.extend(value.to_le_bytes()));
/// # std::fs::write(&path, bytes)?;
/// let file = std::fs::File::open(&path)?;
/// // Sound as long as nobody changes the file.
/// let map = unsafe { memmap2::Mmap::map(&file)? };
/// let x = NpyColumns::new(&path, map)?;
/// assert_eq!(x.column(0, &mut Vec::new())?, Column::Dense(&[0.5, 1.5]));
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct NpyColumns<B> {
    bytes: B,
    header: Header,
    /// The byte at which the values start.
    start: usize,
}

impl<B: AsRef<[u8]> + Send + Sync> NpyColumns<B> {
    /// The array in `bytes`, the content of a `.npy` file; `path` is its name in messages.
    ///
    /// # Errors
    /// [`Error::Malformed`], [`Error::Unsupported`]: as [`Table::read`](crate::Table::read).
    pub fn new(path: impl AsRef<Path>, bytes: B) -> Result<Self, Error> {
        let (path, content) = (path.as_ref(), bytes.as_ref());
        let failed = |place, error| failure(path, false, place, error);
        let (header, start) = read_header(path, &mut &content[..], &failed)?;
        header.check(path, (content.len() as u64).checked_sub(start))?;
        // What is in memory has a length that fits.
        Ok(Self { start: usize::try_from(start).unwrap_or(content.len()), header, bytes })
    }

    /// The bytes of `count` values from value `first` of the array on. They are there, unless `bytes` has
    /// become shorter than it was.
    fn values(&self, first: usize, count: usize, j: usize) -> Result<&[u8], fewest_core::Error> {
        let size = self.header.element.size();
        let start = self.start + first * size;
        let found = self.bytes.as_ref().get(start..start + count * size);
        found.ok_or_else(|| fewest_core::Error::unreadable(j, "the bytes of the array have become fewer"))
    }
}

impl<B: AsRef<[u8]> + Send + Sync> Columns for NpyColumns<B> {
    fn n_samples(&self) -> usize {
        self.header.n_rows
    }

    fn n_features(&self) -> usize {
        self.header.n_columns
    }

    fn column<'a>(&'a self, j: usize, scratch: &'a mut Vec<f64>) -> Result<Column<'a>, fewest_core::Error> {
        let Header { element, fortran_order, n_rows, n_columns, .. } = self.header;
        let size = element.size();
        scratch.clear();
        // Of one column both orders are the same.
        if fortran_order || n_columns == 1 {
            let bytes = self.values(j * n_rows, n_rows, j)?;
            let in_place = matches!(element, Element { kind: Kind::Float(8), big_endian: false });
            // Not where the array does not start at a multiple of 8 bytes.
            if in_place
                && cfg!(target_endian = "little")
                && let Ok(values) = bytemuck::try_cast_slice(bytes)
            {
                return Ok(Column::Dense(values));
            }
            scratch.extend(bytes.chunks_exact(size).map(|bytes| element.decode(bytes)));
        } else {
            let bytes = self.values(0, n_rows * n_columns, j)?;
            scratch.extend(bytes.chunks_exact(size).skip(j).step_by(n_columns).map(|b| element.decode(b)));
        }
        Ok(Column::Dense(scratch))
    }
}
