//! The atoms of a lasso over kernels, as far as their products are known.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use fewest_columns::{Chosen, Made, stream_products};
use fewest_core::{BATCH_ROWS, Column, Context, Dataset, Error, SampleStream, order, rank};
use fewest_solver::{Atoms, InnerProducts};

use super::nodes::Nodes;

/// Bytes of products where the context gives no number.
const MOST_BYTES: usize = 256 << 20;

/// Atoms whose products with each other are summed first: so many for each wanted feature.
const AHEAD: usize = 2;
const LEAST_AHEAD: usize = 30;

const UNKNOWN: Error = Error::Stopped { before: "a product of two features had been summed" };

/// Atoms of which norms and products with the target are known, and some of their products with each other.
/// Those that are not are an error, and noted: [`learn`](Self::learn) sums them in a pass over the rows,
/// after which what needed them can be done again.
pub(super) struct KnownAtoms {
    nodes: Vec<Nodes>,
    atoms: Atoms,
    /// Whether the norm of each was summed over rows, as products are: before that it is by counts, which may
    /// differ by the error of the grid.
    has_norm: Vec<bool>,
    products: HashMap<[usize; 2], f64>,
    /// Atoms in the order in which they are likely to be needed.
    likely: Vec<usize>,
    asked: Mutex<Asked>,
}

/// What was asked for.
#[derive(Default)]
struct Asked {
    /// All columns so far.
    columns: BTreeSet<usize>,
    /// Rows and columns of unknown products since the last pass.
    missing_rows: BTreeSet<usize>,
    missing_columns: BTreeSet<usize>,
}

/// `len`, halved until it is not too much; at least 1.
fn halved(mut len: usize, is_too_much: impl Fn(usize) -> bool) -> usize {
    while len > 1 && is_too_much(len) {
        len = len.div_ceil(2);
    }
    len
}

/// The sum of the squares of all `value(i, j)`, `i` below `n` and `j` below `m`.
fn squares(n: usize, m: usize, value: impl Fn(usize, usize) -> f64) -> f64 {
    let value = &value;
    (0..n).flat_map(|i| (0..m).map(move |j| value(i, j).powi(2))).sum()
}

impl KnownAtoms {
    /// Of these variables with this product with the target each; `relevance` says which are needed first.
    pub(super) fn new(
        nodes: Vec<Nodes>,
        target: &Nodes,
        target_products: Vec<f64>,
        relevance: &[f64],
    ) -> Self {
        let error = nodes.iter().map(|nodes| nodes.error).fold(target.error, f64::max);
        let atoms = Atoms {
            target_squared_norm: target.norm * target.norm,
            target_products,
            squared_norms: nodes.iter().map(|nodes| nodes.norm * nodes.norm).collect(),
            approximation_error: error,
            products_are_nonnegative: true,
            // Products are at least 0, and at most the product of both norms.
            lower_bound_errors: vec![0.5; nodes.len()],
            ..Atoms::default()
        };
        let mut likely = rank(relevance, true);
        likely.retain(|&j| nodes[j].rank > 0);
        let has_norm = nodes.iter().map(|nodes| nodes.rank == 0).collect();
        Self { nodes, atoms, has_norm, products: HashMap::new(), likely, asked: Mutex::default() }
    }

    /// Looks ahead for `wanted` features: how many are worked on at a time.
    pub(super) fn looking_ahead(mut self, wanted: usize) -> Self {
        self.likely.truncate((AHEAD * wanted).max(LEAST_AHEAD));
        self.atoms.n_cached = 2 * self.likely.len();
        self
    }

    /// What `select` makes of the atoms, once the products that it asks for are known.
    ///
    /// # Errors
    /// Those of `select`, and of the stream.
    pub(super) fn answer<T>(
        &mut self,
        stream: &mut dyn SampleStream,
        n_samples: usize,
        context: &Context<'_>,
        select: impl Fn(&Self) -> Result<T, Error>,
    ) -> Result<T, Error> {
        loop {
            let answer = select(self);
            if answer.is_ok() || !self.lacks_products() {
                return answer;
            }
            self.learn(stream, n_samples, context)?;
        }
    }

    fn product(&self, a: usize, b: usize) -> Option<f64> {
        if a == b {
            return self.atoms.squared_norms.get(a).copied().filter(|_| self.has_norm.get(a) == Some(&true));
        }
        let is_zero = |j: usize| self.nodes.get(j).is_none_or(|nodes| nodes.rank == 0);
        if is_zero(a) || is_zero(b) {
            return Some(0.0);
        }
        let product = self.products.get(&[a.min(b), a.max(b)]).copied()?;
        // Where one norm is by counts, a copy of the other must not exceed both by the error of the grid.
        let norm = |j: usize| self.atoms.squared_norms.get(j).map_or(0.0, |square| square.sqrt());
        Some(product.min(norm(a) * norm(b)))
    }

    /// Whether a product was asked for that is not known.
    fn lacks_products(&self) -> bool {
        !self.asked.lock().unwrap_or_else(PoisonError::into_inner).missing_rows.is_empty()
    }

    /// Sums products that are not known: the first time those of the likely atoms with each other, and then
    /// those that were asked for, together with those of the same atoms that may follow, and their norms. One
    /// pass, or more where memory is short.
    fn learn(
        &mut self,
        stream: &mut dyn SampleStream,
        n_samples: usize,
        context: &Context<'_>,
    ) -> Result<(), Error> {
        let asked = self.asked.get_mut().unwrap_or_else(PoisonError::into_inner);
        let rows = std::mem::take(&mut asked.missing_rows);
        let missing = std::mem::take(&mut asked.missing_columns);
        let columns: Vec<usize> = asked.columns.union(&missing).copied().collect();
        let bytes = context.memory.unwrap_or(MOST_BYTES) / 2;
        let likely = std::mem::take(&mut self.likely);
        if likely.len() > 1 && self.bytes(&likely, &likely) <= bytes {
            return self.sum(stream, &likely, None, bytes, n_samples, context);
        }
        let (rows, columns) = if likely.len() > 1 {
            (likely.clone(), likely)
        } else {
            // Columns that all of these rows have known products with add nothing.
            let is_lacking = |&j: &usize| rows.iter().any(|&i| self.product(i, j).is_none());
            let columns: Vec<usize> = columns.into_iter().filter(is_lacking).collect();
            let rows: BTreeSet<usize> = rows.iter().chain(&columns).copied().collect();
            (rows.into_iter().collect(), columns)
        };
        let mut left_columns = columns.as_slice();
        while !left_columns.is_empty() {
            let width =
                halved(left_columns.len(), |width| self.bytes(&rows[..1], &left_columns[..width]) > bytes);
            let (some, others) = left_columns.split_at(width);
            let mut left_rows = rows.as_slice();
            while !left_rows.is_empty() {
                let len = halved(left_rows.len(), |len| self.bytes(&left_rows[..len], some) > bytes);
                let (part, others) = left_rows.split_at(len);
                self.sum(stream, part, Some(some), bytes, n_samples, context)?;
                left_rows = others;
            }
            left_columns = others;
        }
        Ok(())
    }

    /// Bytes of the products of the features of these atoms, in parts and as a whole, and of what is made of
    /// a batch of rows.
    fn bytes(&self, rows: &[usize], columns: &[usize]) -> usize {
        let features = |atoms: &[usize]| atoms.iter().map(|&j| self.nodes[j].rank).sum::<usize>();
        let (rows, columns) = (features(rows), features(columns));
        let products = rows.saturating_mul(columns).saturating_mul(3);
        products.saturating_add((rows + columns).saturating_mul(BATCH_ROWS)).saturating_mul(size_of::<f64>())
    }

    /// One pass: the products of `rows` with `columns`, or with each other.
    fn sum(
        &mut self,
        stream: &mut dyn SampleStream,
        rows: &[usize],
        columns: Option<&[usize]>,
        bytes: usize,
        n_samples: usize,
        context: &Context<'_>,
    ) -> Result<(), Error> {
        let widths = |atoms: &[usize]| atoms.iter().map(|&j| self.nodes[j].rank).collect();
        let mut read = [rows, columns.unwrap_or(&[])].concat();
        order::sort_indices(&mut read);
        read.dedup();
        let write = |j: usize, data: &Dataset, range: Range<usize>, out: &mut [f64]| {
            let (Some(nodes), Ok(at)) = (self.nodes.get(j), read.binary_search(&j)) else {
                return Err(Error::unreadable(j, "the stream has fewer features than in an earlier pass"));
            };
            let mut scratch = Vec::new();
            match data.x().column(at, &mut scratch)?.stretch(range.clone()) {
                Column::Dense(values) => nodes.write(j, values, out),
                Column::Sparse { rows, values } => {
                    let mut dense = vec![0.0; range.len()];
                    rows.iter().zip(values).for_each(|(row, value)| dense[row - range.start] = *value);
                    nodes.write(j, &dense, out)
                }
            }
        };
        let of_rows = |at: usize, data: &Dataset, range: Range<usize>, out: &mut [f64]| {
            write(rows[at], data, range, out)
        };
        let others = columns.unwrap_or(rows);
        let of_columns = |at: usize, data: &Dataset, range: Range<usize>, out: &mut [f64]| {
            write(others[at], data, range, out)
        };
        let left = Made { widths: widths(rows), write: &of_rows };
        let right = columns.map(|columns| Made { widths: widths(columns), write: &of_columns });
        let mut chosen = Chosen::of(stream, &read)?;
        let products = stream_products(&mut chosen, &left, right.as_ref(), n_samples, bytes, context)?;
        let height: usize = left.widths.iter().sum();
        let mut first_column = 0;
        for &b in others {
            let mut first_row = 0;
            let width = self.nodes[b].rank;
            for &a in rows {
                let own = self.nodes[a].rank;
                let at =
                    |row: usize, column: usize| products[(first_column + column) * height + first_row + row];
                // In an order that does not tell which of both was the row.
                let sum = match a < b {
                    true => squares(own, width, at),
                    false => squares(width, own, |column, row| at(row, column)),
                };
                if a == b {
                    (self.atoms.squared_norms[a], self.has_norm[a]) = (sum, true);
                } else {
                    self.products.entry([a.min(b), a.max(b)]).or_insert(sum);
                }
                first_row += own;
            }
            first_column += width;
        }
        Ok(())
    }
}

impl InnerProducts for KnownAtoms {
    fn atoms(&self) -> &Atoms {
        &self.atoms
    }

    fn products(&self, rows: &[usize], columns: &[usize], out: &mut [f64]) -> Result<(), Error> {
        let mut lacking = Vec::new();
        for (&column, out) in columns.iter().zip(out.chunks_exact_mut(rows.len().max(1))) {
            for (&row, out) in rows.iter().zip(out) {
                match self.product(row, column) {
                    Some(product) => *out = product,
                    None => lacking.push([row, column]),
                }
            }
        }
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        asked.columns.extend(columns);
        asked.missing_rows.extend(lacking.iter().map(|[row, _]| row));
        asked.missing_columns.extend(lacking.iter().map(|[_, column]| column));
        if lacking.is_empty() { Ok(()) } else { Err(UNKNOWN) }
    }

    /// Products that are known, and 0 in place of others: no product is negative.
    fn lower_bounds(&self, rows: &[usize], columns: &[usize], out: &mut [f64]) -> Result<(), Error> {
        for (&column, out) in columns.iter().zip(out.chunks_exact_mut(rows.len().max(1))) {
            for (&row, out) in rows.iter().zip(out) {
                *out = self.product(row, column).unwrap_or(0.0);
            }
        }
        Ok(())
    }
}
