//! Products that are computed once.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use crate::{Atoms, Error, InnerProducts};

/// An [`InnerProducts`] that keeps whole columns of products, up to a number of bytes: a path is computed in
/// stages, and each stage needs most of the products of the previous one.
pub struct CachedProducts<P> {
    inner: P,
    products: ColumnCache,
    lower_bounds: ColumnCache,
}

impl<P: InnerProducts> CachedProducts<P> {
    /// Caches at most `most_bytes` of products of `inner`; further products are not cached.
    pub fn new(inner: P, most_bytes: usize) -> Self {
        let cache = || ColumnCache::new(inner.n_atoms(), most_bytes / 2);
        let (products, lower_bounds) = (cache(), cache());
        Self { inner, products, lower_bounds }
    }
}

/// Entries of a square matrix, by whole columns, that are computed on first use.
pub struct ColumnCache {
    /// For each atom: its entries with all atoms, NaN if not computed yet.
    columns: Mutex<BTreeMap<usize, Vec<f64>>>,
    n_atoms: usize,
    most_columns: usize,
}

impl ColumnCache {
    /// For a matrix of `n_atoms` columns, of which at most `most_bytes` are cached; further entries
    /// are not cached.
    pub fn new(n_atoms: usize, most_bytes: usize) -> Self {
        let most_columns = most_bytes / (size_of::<f64>() * n_atoms.max(1));
        Self { columns: Mutex::default(), n_atoms, most_columns }
    }

    /// Writes `out[i + j · rows.len()]`, the entry at `rows[i]` and `columns[j]`, by `compute` where it is
    /// not known; `compute` gets rows, columns and a separate `out` with the same layout.
    pub fn get(
        &self,
        rows: &[usize],
        columns: &[usize],
        out: &mut [f64],
        compute: impl Fn(&[usize], &[usize], &mut [f64]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let lock = || self.columns.lock().unwrap_or_else(PoisonError::into_inner);
        let (missing, unknown) = {
            let mut known = lock();
            let unseen = columns.iter().filter(|column| !known.contains_key(column)).count();
            if known.len() + unseen > self.most_columns {
                drop(known);
                return compute(rows, columns, out);
            }
            for &column in columns {
                known.entry(column).or_insert_with(|| vec![f64::NAN; self.n_atoms]);
            }
            missing(&known, rows, columns)
        };
        // Not under the lock: the parallel computation may request products itself.
        let mut computed = vec![0.0; missing.len() * unknown.len()];
        if !unknown.is_empty() {
            compute(&missing, &unknown, &mut computed)?;
        }
        let mut known = lock();
        for (column, computed) in unknown.iter().zip(computed.chunks_exact(missing.len().max(1))) {
            if let Some(values) = known.get_mut(column) {
                for (&row, &value) in missing.iter().zip(computed) {
                    values[row] = value;
                }
            }
        }
        for (column, out) in columns.iter().zip(out.chunks_exact_mut(rows.len().max(1))) {
            let values = &known[column];
            for (value, &row) in out.iter_mut().zip(rows) {
                *value = values[row];
            }
        }
        Ok(())
    }
}

/// The columns with missing rows, and the rows missing in any of them.
fn missing(known: &BTreeMap<usize, Vec<f64>>, rows: &[usize], columns: &[usize]) -> (Vec<usize>, Vec<usize>) {
    let mut lacks = vec![false; rows.len()];
    let mut unknown = Vec::new();
    for &column in columns {
        let values = &known[&column];
        let mut complete = true;
        for (lacks, &row) in lacks.iter_mut().zip(rows) {
            if values[row].is_nan() {
                *lacks = true;
                complete = false;
            }
        }
        if !complete {
            unknown.push(column);
        }
    }
    (rows.iter().zip(lacks).filter(|(_, lacks)| *lacks).map(|(&row, _)| row).collect(), unknown)
}

impl<P: InnerProducts> InnerProducts for CachedProducts<P> {
    fn atoms(&self) -> &Atoms {
        self.inner.atoms()
    }

    fn products(&self, rows: &[usize], columns: &[usize], out: &mut [f64]) -> Result<(), Error> {
        self.products.get(rows, columns, out, |rows, columns, out| self.inner.products(rows, columns, out))
    }

    fn lower_bounds(&self, rows: &[usize], columns: &[usize], out: &mut [f64]) -> Result<(), Error> {
        let compute =
            |rows: &[usize], columns: &[usize], out: &mut [f64]| self.inner.lower_bounds(rows, columns, out);
        self.lower_bounds.get(rows, columns, out, compute)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;
    use crate::Quadratic;

    /// Products that fail once.
    struct Once(Quadratic, AtomicBool);

    impl InnerProducts for Once {
        fn atoms(&self) -> &Atoms {
            self.0.atoms()
        }

        fn products(&self, rows: &[usize], columns: &[usize], out: &mut [f64]) -> Result<(), Error> {
            if !self.1.swap(true, Ordering::Relaxed) {
                return Err(Error::unreadable(1, "the disk is gone"));
            }
            self.0.products(rows, columns, out)
        }
    }

    #[test]
    fn failed_products_are_not_cached() -> Result<(), Error> {
        let problem = Quadratic::new(vec![2.0, 0.5, 0.5, 3.0], vec![1.0, -1.0], 4.0)?;
        let cached = CachedProducts::new(Once(problem, AtomicBool::new(false)), 1 << 20);
        let mut out = [0.0; 2];
        let failed = cached.products(&[0, 1], &[1], &mut out);
        assert_eq!(failed, Err(Error::unreadable(1, "the disk is gone")));
        cached.products(&[0, 1], &[1], &mut out)?;
        assert_eq!(out, [0.5, 3.0]);
        Ok(())
    }
}
