//! Products of columns over rows that come in batches, in an order that the numbers of the rows fix.

use std::ops::Range;

use fewest_core::{BATCH_ROWS, Context, Dataset, Error, SampleStream};
use fewest_linalg::dot_products;

use crate::together::together;

/// Columns of a tile of products: the columns of two tiles over a batch of rows stay in the cache.
const TILE: usize = 64;

/// Columns that are made of the features of a batch of rows: some for each of several sources.
pub struct Made<'a> {
    /// Number of columns of each source.
    pub widths: Vec<usize>,
    /// Writes the columns of a source for these rows of a batch, one after the other.
    pub write: &'a WriteColumns<'a>,
}

/// Writes what is made of some rows of a batch: `write(source, batch, rows, out)`.
pub type WriteColumns<'a> =
    dyn Fn(usize, &Dataset, Range<usize>, &mut [f64]) -> Result<(), Error> + Sync + 'a;

impl Made<'_> {
    fn n_columns(&self) -> usize {
        self.widths.iter().sum()
    }

    /// The columns of some batches of rows, batch after batch.
    fn columns(&self, data: &Dataset, batches: &[Range<usize>]) -> Result<Vec<Vec<f64>>, Error> {
        let n_columns = self.n_columns();
        let mut written: Vec<Vec<f64>> =
            batches.iter().map(|rows| vec![0.0; rows.len() * n_columns]).collect();
        let mut tasks = Vec::with_capacity(batches.len() * self.widths.len());
        for (rows, written) in batches.iter().zip(&mut written) {
            let mut rest = written.as_mut_slice();
            for (source, width) in self.widths.iter().enumerate() {
                let (own, others) = rest.split_at_mut(rows.len() * width);
                tasks.push((source, rows.clone(), own));
                rest = others;
            }
        }
        // A few tasks a thread: each batch of a source is little work.
        let done = fewest_parallel::chunks(&mut tasks, self.widths.len().div_ceil(4).max(1), |_, tasks| {
            tasks
                .iter_mut()
                .try_for_each(|(source, rows, out)| (self.write)(*source, data, rows.clone(), out))
        });
        done.into_iter().collect::<Result<(), Error>>()?;
        Ok(written)
    }
}

/// The products of all columns of `left` with those of `right`, `[i + j · columns of left]`, over all rows of
/// `stream` from where it is, and the number of these rows. Without `right`, of `left` with itself.
///
/// Products are summed over batches of [`BATCH_ROWS`] rows by the numbers of the rows, and these sums added
/// in their order: the result does not depend on how the rows come, nor on the number of threads. Memory:
/// the products, and beside them about `bytes`, but no less than a batch.
///
/// # Errors
/// Those of the stream and of what writes columns; [`Error::TooFew`] for a stream without rows;
/// [`Error::Stopped`].
pub fn stream_products(
    stream: &mut dyn SampleStream,
    left: &Made<'_>,
    right: Option<&Made<'_>>,
    bytes: usize,
    context: &Context<'_>,
) -> Result<(Vec<f64>, usize), Error> {
    let (a, b) = (left.n_columns(), right.unwrap_or(left).n_columns());
    let width = a + right.map_or(0, Made::n_columns);
    let batch = size_of::<f64>().saturating_mul(BATCH_ROWS).saturating_mul(width.max(1));
    let at_once = (bytes / batch).max(1);
    let tiles = |n: usize| (0..n).step_by(TILE).map(move |first| first..n.min(first + TILE));
    let mut sums: Vec<Tile> = Vec::new();
    for columns in tiles(b) {
        let above = tiles(a).filter(|rows| right.is_some() || rows.start <= columns.start);
        sums.extend(above.map(|rows| Tile::new(rows, columns.clone())));
    }
    let n = together(stream, |several, first_row| {
        let len = several.n_samples();
        let batches: Vec<Range<usize>> =
            (0..len).step_by(BATCH_ROWS).map(|first| first..len.min(first + BATCH_ROWS)).collect();
        let in_rows = |error: Error| error.in_rows_from(first_row);
        for batches in batches.chunks(at_once) {
            context.go_on("all products had been summed")?;
            let of_left = left.columns(&several, batches).map_err(in_rows)?;
            let of_right =
                right.map(|right| right.columns(&several, batches)).transpose().map_err(in_rows)?;
            let of_right = of_right.as_ref().unwrap_or(&of_left);
            fewest_parallel::chunks(&mut sums, 1, |_, tiles| {
                for tile in tiles {
                    for (rows, (left, right)) in batches.iter().zip(of_left.iter().zip(of_right)) {
                        tile.add(left, right, rows.len());
                    }
                }
            });
        }
        Ok(())
    })?;
    let mut products = vec![0.0; a * b];
    for tile in &sums {
        let height = tile.rows.len();
        for (j, column) in tile.columns.clone().zip(tile.values.chunks_exact(height.max(1))) {
            products[tile.rows.start + j * a..][..height].copy_from_slice(column);
            if right.is_none() {
                tile.rows.clone().zip(column).for_each(|(i, value)| products[j + i * a] = *value);
            }
        }
    }
    Ok((products, n))
}

/// The products of some columns of the left with some of the right.
struct Tile {
    rows: Range<usize>,
    columns: Range<usize>,
    values: Vec<f64>,
    batch: Vec<f64>,
}

impl Tile {
    fn new(rows: Range<usize>, columns: Range<usize>) -> Self {
        let zeros = vec![0.0; rows.len() * columns.len()];
        Self { rows, columns, batch: zeros.clone(), values: zeros }
    }

    /// Adds the products over `n` rows.
    fn add(&mut self, left: &[f64], right: &[f64], n: usize) {
        let (left, right) = (
            &left[self.rows.start * n..self.rows.end * n],
            &right[self.columns.start * n..self.columns.end * n],
        );
        dot_products(left, right, n, &mut self.batch);
        self.values.iter_mut().zip(&self.batch).for_each(|(sum, value)| *sum += value);
    }
}

#[cfg(test)]
mod tests {
    use fewest_core::{DenseColumns, RowBatches, Target};

    use super::*;

    /// Of each feature its values and their squares; over any batches and memory the same bits, and the sums
    /// from their definition.
    #[test]
    fn products_do_not_depend_on_how_rows_come() -> Result<(), Error> {
        let (n, d) = (2 * BATCH_ROWS + 700, 45);
        let value = |i: usize, j: usize| {
            (fewest_core::derive_seed(j as u64, i as u64) >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
        };
        let columns: Vec<Vec<f64>> = (0..d).map(|j| (0..n).map(|i| value(i, j)).collect()).collect();
        let data = Dataset::new(DenseColumns::from_columns(&columns)?, Target::None)?;
        let write = |source: usize, data: &Dataset, rows: Range<usize>, out: &mut [f64]| {
            let mut values = vec![0.0; data.n_samples()];
            data.x().copy_column(source, &mut values)?;
            let (own, squares) = out.split_at_mut(rows.len());
            own.copy_from_slice(&values[rows]);
            squares.iter_mut().zip(own).for_each(|(square, value)| *square = *value * *value);
            Ok(())
        };
        let made = |n: usize| Made { widths: vec![2; n], write: &write };
        let (all, few) = (made(d), made(3));
        let context = Context::default();
        let products = |rows: usize, bytes: usize, right: Option<&Made<'_>>| {
            stream_products(&mut RowBatches::new(&data, rows)?, &all, right, bytes, &context)
        };
        let (square, counted) = products(n, usize::MAX, None)?;
        assert_eq!(counted, n);
        let column = |c: usize, i: usize| columns[c / 2][i].powi(1 + c as i32 % 2);
        for (i, j) in [(0, 0), (3, 88), (88, 3), (64, 65), (89, 89), (17, 70)] {
            let expected: f64 = (0..n).map(|row| column(i, row) * column(j, row)).sum();
            assert!((square[i + j * 2 * d] - expected).abs() < 1e-9 * n as f64, "{i} {j}");
        }
        let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
        let (part, _) = products(n, usize::MAX, Some(&few))?;
        assert!((part[7 + 4 * 2 * d] - square[7 + 4 * 2 * d]).abs() < 1e-9 && part.len() == 2 * d * 6);
        for (rows, bytes) in [(1000, 0), (BATCH_ROWS + 1, 1 << 23), (n, 1 << 20)] {
            assert!(bits(&products(rows, bytes, None)?.0) == bits(&square), "{rows} {bytes}");
            assert!(bits(&products(rows, bytes, Some(&few))?.0) == bits(&part), "{rows} {bytes}");
        }
        let none = Dataset::new(DenseColumns::from_columns(&columns)?, Target::None)?;
        let mut ended = RowBatches::new(&none, n)?;
        ended.next_batch()?;
        assert!(stream_products(&mut ended, &all, None, 0, &context).is_err());
        Ok(())
    }
}
