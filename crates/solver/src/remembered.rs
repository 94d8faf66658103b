//! Products that are computed once.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use crate::InnerProducts;

/// An [`InnerProducts`] that keeps whole columns of products, up to a number of bytes: a path is followed in
/// stages, and each asks again for most of what the one before asked for.
pub struct Remembered<P> {
    inner: P,
    /// By atom: its products with all atoms, NaN where not yet asked for.
    columns: Mutex<BTreeMap<usize, Vec<f64>>>,
    most_columns: usize,
}

impl<P: InnerProducts> Remembered<P> {
    /// Keeps at most `most_bytes` of products of `inner`; beyond, requests go through.
    pub fn new(inner: P, most_bytes: usize) -> Self {
        let most_columns = most_bytes / (size_of::<f64>() * inner.n_atoms().max(1));
        Self { inner, columns: Mutex::default(), most_columns }
    }
}

impl<P: InnerProducts> InnerProducts for Remembered<P> {
    fn n_atoms(&self) -> usize {
        self.inner.n_atoms()
    }

    fn target_squared_norm(&self) -> f64 {
        self.inner.target_squared_norm()
    }

    fn target_products(&self) -> &[f64] {
        self.inner.target_products()
    }

    fn squared_norms(&self) -> &[f64] {
        self.inner.squared_norms()
    }

    fn products(&self, rows: &[usize], columns: &[usize], out: &mut [f64]) {
        let mut known = self.columns.lock().unwrap_or_else(PoisonError::into_inner);
        let unseen = columns.iter().filter(|column| !known.contains_key(column)).count();
        if known.len() + unseen > self.most_columns {
            drop(known);
            return self.inner.products(rows, columns, out);
        }
        let n_atoms = self.n_atoms();
        for &column in columns {
            known.entry(column).or_insert_with(|| vec![f64::NAN; n_atoms]);
        }
        // Columns that lack some row, and the rows lacking in any of them.
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
        let lacking: Vec<usize> =
            rows.iter().zip(lacks).filter(|(_, lacks)| *lacks).map(|(&row, _)| row).collect();
        if !unknown.is_empty() {
            let mut products = vec![0.0; lacking.len() * unknown.len()];
            self.inner.products(&lacking, &unknown, &mut products);
            for (column, products) in unknown.iter().zip(products.chunks_exact(lacking.len())) {
                if let Some(values) = known.get_mut(column) {
                    for (&row, &product) in lacking.iter().zip(products) {
                        values[row] = product;
                    }
                }
            }
        }
        for (column, out) in columns.iter().zip(out.chunks_exact_mut(rows.len().max(1))) {
            let values = &known[column];
            for (value, &row) in out.iter_mut().zip(rows) {
                *value = values[row];
            }
        }
    }

    fn atoms_at_hand(&self) -> usize {
        self.inner.atoms_at_hand()
    }

    fn products_are_nonnegative(&self) -> bool {
        self.inner.products_are_nonnegative()
    }
}
