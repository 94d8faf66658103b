//! Products of columns over rows that come in batches, in an order that the numbers of the rows fix.

use std::ops::Range;

use fewest_core::{BATCH_ROWS, Context, Dataset, Error, RowSums, SampleStream, State, part_rows};
use fewest_linalg::{PairProducts, pair_product};

use crate::together::together;

/// Most parts of the rows. The tree of [`Partial`](fewest_core::Partial) holds sums for each doubling of the
/// rows, for which the products of all pairs of columns are too many: they are added batch by batch in each
/// of these parts, and then part by part.
pub const MOST_PARTS: u64 = 64;

/// Bytes that products of several parts may take where the context gives no number.
const MOST_BYTES: usize = 1 << 30;

/// Times that all products are in memory while a stream is summed: over the part of the rows that is being
/// summed, over all parts, and in one table.
pub const COPIES_OF_PRODUCTS: usize = 3;

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
/// `stream` from where it is: `n_rows`, as an earlier pass found. Without `right`, of `left` with itself.
///
/// Products are summed over batches of [`BATCH_ROWS`] rows by the numbers of the rows, these sums added in
/// the order of the batches of each of up to 64 [parts](part_rows) of the rows, and those of the parts in
/// their order: the product of a pair does not depend on how the rows come, nor on what else is multiplied,
/// nor on the number of threads, nor on whether parts are summed [elsewhere](SampleStream::sum_elsewhere).
/// Memory: [`COPIES_OF_PRODUCTS`] times the products, and beside them about `bytes`, but no less than a
/// batch.
///
/// # Errors
/// Those of the stream and of what writes columns; [`Error::Unreadable`] for another number of rows;
/// [`Error::Stopped`].
pub fn stream_products(
    stream: &mut dyn SampleStream,
    left: &Made<'_>,
    right: Option<&Made<'_>>,
    n_rows: usize,
    bytes: usize,
    context: &Context<'_>,
) -> Result<Vec<f64>, Error> {
    let sums = ProductSums { left, right, n_rows, bytes, context };
    let (n, totals): (usize, Vec<Vec<f64>>) = match stream.sum_elsewhere(&sums)? {
        Some(whole) => State::load(&mut whole.as_slice())?,
        None => sums.over(stream, 0, false)?,
    };
    if n != n_rows {
        return Err(Error::unreadable(0, "the stream has another number of rows than in an earlier pass"));
    }
    let a = left.n_columns();
    let mut products = vec![0.0; a * right.unwrap_or(left).n_columns()];
    for ((rows, columns), total) in sums.tiles().into_iter().zip(totals) {
        let height = rows.len();
        for (j, column) in columns.zip(total.chunks_exact(height.max(1))) {
            products[rows.start + j * a..][..height].copy_from_slice(column);
            if right.is_none() {
                rows.clone().zip(column).for_each(|(i, value)| products[j + i * a] = *value);
            }
        }
    }
    Ok(products)
}

/// The product of two columns of a table in memory, with the bits of [`stream_products`], whatever else is
/// multiplied there.
///
/// # Panics
/// Where they have other lengths.
///
/// ```
/// assert_eq!(fewest_columns::table_product(&[1.0, 2.0], &[3.0, 4.0]), 11.0);
/// ```
pub fn table_product(x: &[f64], y: &[f64]) -> f64 {
    assert_eq!(x.len(), y.len(), "columns of the same length");
    let rows_of_part = batches_of_part(x.len()) * BATCH_ROWS;
    let of_part = |(x, y): (&[f64], &[f64])| {
        let batches = x.chunks(BATCH_ROWS).zip(y.chunks(BATCH_ROWS));
        batches.fold(0.0, |sum, (x, y)| sum + pair_product(x, y))
    };
    x.chunks(rows_of_part).zip(y.chunks(rows_of_part)).fold(0.0, |sum, part| sum + of_part(part))
}

/// Batches that each of the parts of so many rows has, at most.
fn batches_of_part(n_rows: usize) -> usize {
    let rows = usize::try_from(part_rows(n_rows as u64, MOST_PARTS)).unwrap_or(usize::MAX);
    (rows / BATCH_ROWS).max(1)
}

/// The products over rows, tile by tile.
struct ProductSums<'a> {
    left: &'a Made<'a>,
    right: Option<&'a Made<'a>>,
    n_rows: usize,
    bytes: usize,
    context: &'a Context<'a>,
}

impl ProductSums<'_> {
    /// The columns of the left and of the right of each tile.
    fn tiles(&self) -> Vec<(Range<usize>, Range<usize>)> {
        // Of about the same size: each column is laid out once for each tile.
        let cut = |n: usize| {
            let tiles = n.div_ceil(TILE);
            (0..tiles).map(move |at| n * at / tiles..n * (at + 1) / tiles)
        };
        let mut tiles = Vec::new();
        // One after the other those of the same columns of the left, of which there may be very many.
        for rows in cut(self.left.n_columns()) {
            // Of a symmetric table the tiles above the diagonal.
            let above = |columns: &Range<usize>| self.right.is_some() || rows.start <= columns.start;
            let columns = cut(self.right.unwrap_or(self.left).n_columns()).filter(above);
            tiles.extend(columns.map(|columns| (rows.clone(), columns)));
        }
        tiles
    }

    /// The number of rows of `stream`, whose first batch has this number, and for each tile its products: of
    /// all parts together, or of one after the other where `keeps_parts`.
    fn over(
        &self,
        stream: &mut dyn SampleStream,
        first_batch: usize,
        keeps_parts: bool,
    ) -> Result<(usize, Vec<Vec<f64>>), Error> {
        let (left, right) = (self.left, self.right);
        let width = left.n_columns() + right.map_or(0, Made::n_columns);
        let batch = size_of::<f64>().saturating_mul(BATCH_ROWS).saturating_mul(width.max(1));
        let at_once = (self.bytes / batch).max(1);
        let batches_of_part = batches_of_part(self.n_rows);
        let mut tiles: Vec<Tile> = self.tiles().into_iter().map(Tile::new).collect();
        let n = together(stream, |several, first_row| {
            let len = several.n_samples();
            let all: Vec<Range<usize>> =
                (0..len).step_by(BATCH_ROWS).map(|first| first..len.min(first + BATCH_ROWS)).collect();
            let in_rows = |error: Error| error.in_rows_from(first_batch * BATCH_ROWS + first_row);
            for (at, batches) in all.chunks(at_once).enumerate() {
                self.context.go_on("all products had been summed")?;
                let of_left = left.columns(&several, batches).map_err(in_rows)?;
                let of_right =
                    right.map(|right| right.columns(&several, batches)).transpose().map_err(in_rows)?;
                let of_right = of_right.as_ref().unwrap_or(&of_left);
                let first = first_row / BATCH_ROWS + at * at_once;
                fewest_parallel::chunks(&mut tiles, 1, |_, tiles| {
                    let mut products = PairProducts::default();
                    for tile in tiles {
                        let mut of_batch = vec![0.0; tile.part.len()];
                        for (at, (rows, (left, right))) in
                            batches.iter().zip(of_left.iter().zip(of_right)).enumerate()
                        {
                            let number = first + at;
                            if number > 0 && number.is_multiple_of(batches_of_part) {
                                tile.end_part(keeps_parts);
                            }
                            tile.add(left, right, rows.len(), &mut products, &mut of_batch);
                        }
                    }
                });
                self.check_memory(&tiles)?;
            }
            Ok(())
        })?;
        tiles.iter_mut().for_each(|tile| tile.end_part(keeps_parts));
        Ok((n, tiles.into_iter().map(|tile| tile.ended).collect()))
    }
}

impl ProductSums<'_> {
    /// Refuses products of several parts that take more than there is for sums.
    fn check_memory(&self, tiles: &[Tile]) -> Result<(), Error> {
        let most = self.context.memory.unwrap_or(MOST_BYTES);
        let kept = tiles.iter().map(|tile| tile.ended.len()).sum::<usize>() * size_of::<f64>();
        if kept <= most {
            return Ok(());
        }
        Err(Error::Unsupported {
            method: "sums of products",
            what: format!("several parts of the rows together: they take more than {} MiB", most >> 20),
            instead: format!("cut the rows into {MOST_PARTS} tasks, or give it more memory"),
        })
    }

    /// The products of each tile over each of the parts of these `n` rows, as `of_part` wrote them.
    fn check_part(&self, n: usize, tiles: &[Vec<f64>]) -> Result<(), Error> {
        let sizes: Vec<usize> =
            self.tiles().iter().map(|(rows, columns)| rows.len() * columns.len()).collect();
        let n_parts = n.div_ceil(batches_of_part(self.n_rows).saturating_mul(BATCH_ROWS));
        let is_whole = |(tile, size): (&Vec<f64>, &usize)| size.checked_mul(n_parts) == Some(tile.len());
        if n > 0 && tiles.len() == sizes.len() && tiles.iter().zip(&sizes).all(is_whole) {
            return Ok(());
        }
        let expected = sizes.iter().sum::<usize>().saturating_mul(n_parts);
        let found = tiles.iter().map(Vec::len).sum();
        Err(Error::ShapeMismatch { what: "products of a part", expected, found })
    }
}

impl RowSums for ProductSums<'_> {
    fn of_part(&self, part: &mut dyn SampleStream, first_batch: usize) -> Result<Vec<u8>, Error> {
        let each = batches_of_part(self.n_rows);
        if !first_batch.is_multiple_of(each) {
            return Err(Error::Unsupported {
                method: "sums of products",
                what: format!("rows in more than {MOST_PARTS} tasks"),
                instead: format!("take at most {MOST_PARTS}"),
            });
        }
        let mut bytes = Vec::new();
        (first_batch, self.over(part, first_batch, true)?).save(&mut bytes);
        Ok(bytes)
    }

    fn of_all(&self, parts: &[Vec<u8>]) -> Result<Vec<u8>, Error> {
        let (mut n, mut totals) = (0_usize, vec![Vec::new(); self.tiles().len()]);
        for part in parts {
            let (first_batch, (n_own, tiles)): (usize, (usize, Vec<Vec<f64>>)) =
                State::load(&mut part.as_slice())?;
            if !n.is_multiple_of(BATCH_ROWS) || first_batch != n / BATCH_ROWS {
                let expected = format!("{}: parts follow each other", n.div_ceil(BATCH_ROWS));
                return Err(Error::parameter("first batch of a part", first_batch, expected));
            }
            self.check_part(n_own, &tiles)?;
            n = n.saturating_add(n_own);
            for (((rows, columns), total), parts) in self.tiles().iter().zip(&mut totals).zip(&tiles) {
                parts.chunks(rows.len() * columns.len()).for_each(|part| add(total, part));
            }
        }
        let mut bytes = Vec::new();
        (n, totals).save(&mut bytes);
        Ok(bytes)
    }
}

/// Adds what is summed over a later part of the rows; there may be nothing before.
fn add(total: &mut Vec<f64>, part: &[f64]) {
    total.resize(part.len(), 0.0);
    total.iter_mut().zip(part).for_each(|(sum, value)| *sum += value);
}

/// The products of some columns of the left with some of the right.
struct Tile {
    rows: Range<usize>,
    columns: Range<usize>,
    /// Over the part of the rows that is being summed.
    part: Vec<f64>,
    /// Over the parts before, together or one after the other.
    ended: Vec<f64>,
}

impl Tile {
    fn new((rows, columns): (Range<usize>, Range<usize>)) -> Self {
        let part = vec![0.0; rows.len() * columns.len()];
        Self { rows, columns, part, ended: Vec::new() }
    }

    /// Adds the products over `n` rows.
    fn add(
        &mut self,
        left: &[f64],
        right: &[f64],
        n: usize,
        products: &mut PairProducts,
        of_batch: &mut [f64],
    ) {
        let (left, right) = (
            &left[self.rows.start * n..self.rows.end * n],
            &right[self.columns.start * n..self.columns.end * n],
        );
        products.of(left, right, n, of_batch);
        self.part.iter_mut().zip(of_batch).for_each(|(sum, value)| *sum += *value);
    }

    fn end_part(&mut self, keeps_parts: bool) {
        match keeps_parts {
            true => self.ended.extend_from_slice(&self.part),
            false => add(&mut self.ended, &self.part),
        }
        self.part.fill(0.0);
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
            stream_products(&mut RowBatches::new(&data, rows)?, &all, right, n, bytes, &context)
        };
        let square = products(n, usize::MAX, None)?;
        let column = |c: usize, i: usize| columns[c / 2][i].powi(1 + c as i32 % 2);
        for (i, j) in [(0, 0), (3, 88), (88, 3), (64, 65), (89, 89), (17, 70)] {
            let expected: f64 = (0..n).map(|row| column(i, row) * column(j, row)).sum();
            assert!((square[i + j * 2 * d] - expected).abs() < 1e-9 * n as f64, "{i} {j}");
        }
        let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
        let part = products(n, usize::MAX, Some(&few))?;
        // Of a pair the same, whatever else is multiplied.
        assert!(bits(&part) == bits(&square[..2 * d * 6]));
        for (rows, bytes) in [(1000, 0), (BATCH_ROWS + 1, 1 << 23), (n, 1 << 20)] {
            assert!(bits(&products(rows, bytes, None)?) == bits(&square), "{rows} {bytes}");
            assert!(bits(&products(rows, bytes, Some(&few))?) == bits(&part), "{rows} {bytes}");
        }
        let none = Dataset::new(DenseColumns::from_columns(&columns)?, Target::None)?;
        let mut ended = RowBatches::new(&none, n)?;
        ended.next_batch()?;
        assert!(stream_products(&mut ended, &all, None, n, 0, &context).is_err());
        let mut short = RowBatches::new(&data, n)?;
        let short = stream_products(&mut short, &all, None, n + 1, 0, &context);
        assert!(matches!(short, Err(Error::Unreadable { .. })), "{short:?}");
        Ok(())
    }

    /// A stream whose sums were taken elsewhere.
    struct Summed(Vec<u8>);

    impl SampleStream for Summed {
        fn next_batch(&mut self) -> Result<Option<Dataset>, Error> {
            Ok(None)
        }

        fn sum_elsewhere(&mut self, _: &dyn RowSums) -> Result<Option<Vec<u8>>, Error> {
            Ok(Some(self.0.clone()))
        }
    }

    /// Parts of the rows that are summed by themselves, of several batches each, give the bits of all rows.
    #[test]
    fn products_of_parts_are_those_of_all_rows() -> Result<(), Error> {
        let (n, d) = (66 * BATCH_ROWS + 700, TILE + 6);
        assert_eq!(part_rows(n as u64, MOST_PARTS), 2 * BATCH_ROWS as u64);
        let value = |i: usize, j: usize| ((i * (2 * j + 1)) as f64 * 0.37).sin();
        let columns: Vec<Vec<f64>> = (0..d).map(|j| (0..n).map(|i| value(i, j)).collect()).collect();
        let data = Dataset::new(DenseColumns::from_columns(&columns)?, Target::None)?;
        let write = |source: usize, data: &Dataset, rows: Range<usize>, out: &mut [f64]| {
            let mut values = vec![0.0; data.n_samples()];
            data.x().copy_column(source, &mut values)?;
            out.copy_from_slice(&values[rows]);
            Ok(())
        };
        let made = |width: usize| Made { widths: vec![1; width], write: &write };
        let (all, few) = (made(d), made(3));
        let context = Context::default();
        for right in [None, Some(&few)] {
            let sums = ProductSums { left: &all, right, n_rows: n, bytes: 0, context: &context };
            let stream = &mut RowBatches::new(&data, n)?;
            let here = stream_products(stream, &all, right, n, 0, &context)?;
            for (i, j) in [(0, 0), (1, 2), (d - 1, 0), (d - 2, 2)] {
                assert_eq!(table_product(&columns[i], &columns[j]).to_bits(), here[i + j * d].to_bits());
            }
            // Of one, of 15 and of 33 parts at a time.
            for each in [2, 30, 66] {
                let starts = (0..n).step_by(each * BATCH_ROWS);
                let of_part = |start: usize| {
                    let part = data.subset(&(start..n.min(start + each * BATCH_ROWS)).collect::<Vec<_>>())?;
                    sums.of_part(&mut RowBatches::new(&part, 5000)?, start / BATCH_ROWS)
                };
                let parts = starts.map(of_part).collect::<Result<Vec<_>, _>>()?;
                let mut whole = Summed(sums.of_all(&parts)?);
                let found = stream_products(&mut whole, &all, right, n, 0, &context)?;
                assert!(found.iter().zip(&here).all(|(a, b)| a.to_bits() == b.to_bits()), "{each}");
                // Parts that are none: not the first, without a tile, with a tile that is too short.
                let load = |part: &Vec<u8>| <(usize, (usize, Vec<Vec<f64>>))>::load(&mut part.as_slice());
                let (_, (n_own, tiles)) = load(&parts[0])?;
                let refused = |tiles: &[Vec<f64>]| {
                    let mut bytes = Vec::new();
                    (0_usize, (n_own, tiles.to_vec())).save(&mut bytes);
                    assert!(sums.of_all(&[bytes]).is_err());
                };
                assert!(sums.of_all(&parts[1..]).is_err());
                refused(&tiles[1..]);
                refused(&[&[tiles[0][1..].to_vec()], &tiles[1..]].concat());
            }
            assert!(sums.of_part(&mut RowBatches::new(&data, n)?, 1).is_err());
        }
        Ok(())
    }
}
