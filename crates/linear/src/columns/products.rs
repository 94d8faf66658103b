//! Products of columns with each other and with vectors, and sums of columns.

use fewest_core::{Column, Error};
use fewest_linalg::{dot_products, lanes};
use fewest_solver::{Atoms, InnerProducts};

use super::stored::{Stored, add_row};
use super::{LinearColumns, Place, weigh};

/// Columns multiplied at a time.
pub(super) const PANEL: usize = 64;

/// Samples that products of sparse columns pass over at a time: what these have is read again and again.
pub(super) const SAMPLES: usize = 512;

/// Where fewer than one value in so many is stored, products of columns take those alone.
const SPARSE: usize = 4;

/// Products with at most so many columns are computed one by one: copies would take longer than they do.
pub(super) const FEW: usize = 8;

impl LinearColumns<'_> {
    /// `X w` for every output, one after the other, from the coefficients that are not zero.
    pub(crate) fn fitted(&self, outputs: &[Vec<(usize, f64)>]) -> Result<Vec<f64>, Error> {
        let n = self.n_samples();
        let mut fitted = vec![0.0; outputs.len() * n];
        let mut scratch = Vec::new();
        for (coefficients, fitted) in outputs.iter().zip(fitted.chunks_exact_mut(n.max(1))) {
            let mut shift = 0.0;
            for &(column, weight) in coefficients {
                shift += self.stored(column, &mut scratch)?.add_to(weight, fitted);
            }
            fitted.iter_mut().for_each(|value| *value -= shift);
        }
        Ok(fitted)
    }

    /// `xⱼᵀ v` of `columns` with every `v` in `right`, those of a column after each other: not divided by the
    /// number of samples, and without weights. `sums` are those of the entries of each `v`.
    pub(crate) fn correlate(
        &self,
        columns: impl ExactSizeIterator<Item = usize>,
        right: &[f64],
        sums: &[f64],
    ) -> Result<Vec<f64>, Error> {
        let mut scratch = Vec::new();
        let mut products = vec![0.0; columns.len() * sums.len()];
        for (column, out) in columns.zip(products.chunks_exact_mut(sums.len().max(1))) {
            self.stored(column, &mut scratch)?.products(right, sums, out);
        }
        Ok(products)
    }

    /// `xⱼᵀ v` of `columns` with many `v`, one after the other in `right`: the products of a column after
    /// each other, not divided by the number of samples, and without weights.
    pub(crate) fn products_with(&self, columns: &[usize], right: &[f64]) -> Result<Vec<f64>, Error> {
        let n = self.n_samples();
        let k = right.len() / n.max(1);
        let sums: Vec<f64> = right.chunks_exact(n.max(1)).map(lanes::sum).collect();
        // By samples, so that a stored value is multiplied by neighbours in memory.
        let mut by_samples = vec![0.0; right.len()];
        fewest_parallel::chunks(&mut by_samples, SAMPLES * k.max(1), |part, out| {
            for (at, v) in right.chunks_exact(n.max(1)).enumerate() {
                let rows = out.chunks_exact_mut(k).zip(&v[part * SAMPLES..]);
                rows.for_each(|(row, value)| row[at] = *value);
            }
        });
        let panels = fewest_parallel::try_map(columns.len().div_ceil(PANEL), |at| {
            let panel = &columns[at * PANEL..columns.len().min((at + 1) * PANEL)];
            let mut products = vec![0.0; panel.len() * k];
            let (mut sparse, mut dense) = (Vec::new(), Vec::new());
            let mut scratches = vec![Vec::new(); panel.len()];
            for (place, (&column, scratch)) in panel.iter().zip(&mut scratches).enumerate() {
                // Others are dense, and not kept here.
                if !matches!(self.places.get(column), Some(Place::Table { .. })) {
                    dense.push(place);
                    continue;
                }
                match self.stored(column, scratch)? {
                    Stored { values: Column::Sparse { rows, values }, scale, shift }
                        if rows.len() * SAMPLES < n =>
                    {
                        // To find the few values of each stretch would be most of the work.
                        let out = &mut products[place * k..][..k];
                        for (&row, &value) in rows.iter().zip(values) {
                            add_row(out, scale * value, &by_samples[row * k..][..k]);
                        }
                        out.iter_mut().zip(&sums).for_each(|(out, sum)| *out -= shift * sum);
                    }
                    stored @ Stored { values: Column::Sparse { .. }, .. } => sparse.push((place, stored)),
                    _ => dense.push(place),
                }
            }
            for first in (0..n).step_by(SAMPLES) {
                for (place, stored) in &sparse {
                    let Column::Sparse { rows, values } =
                        stored.values.stretch(first..n.min(first + SAMPLES))
                    else {
                        continue;
                    };
                    let out = &mut products[place * k..][..k];
                    for (&row, &value) in rows.iter().zip(values) {
                        add_row(out, stored.scale * value, &by_samples[row * k..][..k]);
                    }
                }
            }
            for (place, stored) in sparse {
                let out = products[place * k..][..k].iter_mut();
                out.zip(&sums).for_each(|(out, sum)| *out -= stored.shift * sum);
            }
            if !dense.is_empty() {
                let chosen: Vec<usize> = dense.iter().map(|&place| panel[place]).collect();
                let of_dense = if k <= FEW {
                    self.correlate(chosen.into_iter(), right, &sums)?
                } else {
                    let mut of_dense = vec![0.0; chosen.len() * k];
                    dot_products(right, &self.gather(&chosen)?, n, &mut of_dense);
                    of_dense
                };
                for (place, values) in dense.into_iter().zip(of_dense.chunks_exact(k.max(1))) {
                    products[place * k..][..k].copy_from_slice(values);
                }
            }
            Ok::<Vec<f64>, Error>(products)
        })?;
        Ok(panels.concat())
    }

    /// The sums of `columns` with `weights`, those of a column side by side: one sum after the other.
    pub(crate) fn combined(&self, columns: &[usize], weights: &[f64]) -> Result<Vec<f64>, Error> {
        let n = self.n_samples();
        let k = weights.len() / columns.len().max(1);
        let mut by_samples = vec![0.0; n * k];
        let mut shifts = vec![0.0; k];
        let mut scratches = vec![Vec::new(); PANEL.min(columns.len())];
        for (panel, weights) in columns.chunks(PANEL).zip(weights.chunks((PANEL * k).max(1))) {
            let mut scaled = Vec::with_capacity(weights.len());
            let mut table = Vec::with_capacity(panel.len());
            let each = panel.iter().zip(&mut scratches).zip(weights.chunks_exact(k.max(1)));
            for ((&column, scratch), weights) in each {
                let stored = self.stored(column, scratch)?;
                scaled.extend(weights.iter().map(|weight| weight * stored.scale));
                shifts.iter_mut().zip(weights).for_each(|(shift, weight)| *shift += weight * stored.shift);
                table.push(stored.values);
            }
            fewest_parallel::chunks(&mut by_samples, SAMPLES * k.max(1), |part, out| {
                let first = part * SAMPLES;
                let samples = first..n.min(first + SAMPLES);
                for (column, weights) in table.iter().zip(scaled.chunks_exact(k.max(1))) {
                    match column.stretch(samples.clone()) {
                        Column::Dense(values) => {
                            let rows = out.chunks_exact_mut(k.max(1)).zip(values);
                            rows.for_each(|(row, &value)| add_row(row, value, weights));
                        }
                        Column::Sparse { rows, values } => {
                            for (&row, &value) in rows.iter().zip(values) {
                                add_row(&mut out[(row - first) * k..][..k], value, weights);
                            }
                        }
                    }
                }
            });
        }
        let mut combined = vec![0.0; n * k];
        for (at, (out, shift)) in combined.chunks_exact_mut(n.max(1)).zip(&shifts).enumerate() {
            let values = by_samples.chunks_exact(k).map(|row| row[at] - shift);
            out.iter_mut().zip(values).for_each(|(out, value)| *out = value);
        }
        Ok(combined)
    }

    /// Whether products of `columns` take fewer multiplications by their stored values, one by one, than by
    /// all values in panels.
    pub(crate) fn are_sparse(&self, columns: &[usize]) -> Result<bool, Error> {
        // Where the products are known, there are no columns.
        Ok(self.gram.is_none() && self.n_stored(columns)? < self.n_samples() * columns.len() / SPARSE)
    }

    /// The number of stored values of `columns`: all, where they are dense.
    pub(crate) fn n_stored(&self, columns: &[usize]) -> Result<usize, Error> {
        let mut scratch = Vec::new();
        columns.iter().try_fold(0, |sum, &column| {
            // What is kept or built is dense.
            let stored = match self.places[column] {
                Place::Table { .. } => match self.stored(column, &mut scratch)?.values {
                    Column::Sparse { rows, .. } => rows.len(),
                    Column::Dense(values) => values.len(),
                },
                Place::Copy { .. } | Place::Read { .. } | Place::Nowhere => self.n_samples(),
            };
            Ok(sum + stored)
        })
    }

    /// The standardised columns `columns`, one after the other.
    pub(crate) fn gather(&self, columns: &[usize]) -> Result<Vec<f64>, Error> {
        let n = self.data.n_samples();
        let mut gathered = vec![0.0; columns.len() * n];
        let mut scratch = Vec::new();
        for (&column, out) in columns.iter().zip(gathered.chunks_exact_mut(n.max(1))) {
            self.stored(column, &mut scratch)?.standardise(out);
        }
        Ok(gathered)
    }
}

impl InnerProducts for LinearColumns<'_> {
    fn atoms(&self) -> &Atoms {
        &self.atoms
    }

    fn products(&self, rows: &[usize], columns: &[usize], out: &mut [f64]) -> Result<(), Error> {
        if rows.is_empty() || columns.is_empty() {
            return Ok(());
        }
        if let Some(gram) = &self.gram {
            return gram.products(rows, columns, out);
        }
        let n = self.data.n_samples();
        if self.are_sparse(rows)? {
            for (at, columns) in columns.chunks(PANEL).enumerate() {
                let mut right = self.gather(columns)?;
                right.chunks_exact_mut(n.max(1)).for_each(|column| weigh(column, self.weights.as_ref()));
                let products = self.products_with(rows, &right)?;
                for (row, products) in products.chunks_exact(columns.len()).enumerate() {
                    for (position, product) in products.iter().enumerate() {
                        out[(at * PANEL + position) * rows.len() + row] = product / n as f64;
                    }
                }
            }
            return Ok(());
        }
        let mut right = self.gather(columns)?;
        right.chunks_exact_mut(n.max(1)).for_each(|column| weigh(column, self.weights.as_ref()));
        let k = columns.len();
        if k <= FEW {
            let sums: Vec<f64> = right.chunks_exact(n.max(1)).map(lanes::sum).collect();
            let panels = fewest_parallel::try_map(rows.len().div_ceil(PANEL), |at| {
                let panel = rows[at * PANEL..rows.len().min((at + 1) * PANEL)].iter().copied();
                self.correlate(panel, &right, &sums)
            })?;
            for (row, products) in panels.iter().flat_map(|panel| panel.chunks_exact(k)).enumerate() {
                for (position, product) in products.iter().enumerate() {
                    out[position * rows.len() + row] = product / n as f64;
                }
            }
            return Ok(());
        }
        let panels = fewest_parallel::try_map(rows.len().div_ceil(PANEL), |at| {
            let panel = &rows[at * PANEL..rows.len().min((at + 1) * PANEL)];
            let mut products = vec![0.0; panel.len() * k];
            dot_products(&self.gather(panel)?, &right, n, &mut products);
            Ok::<Vec<f64>, Error>(products)
        })?;
        for (at, (panel, products)) in rows.chunks(PANEL).zip(panels).enumerate() {
            for (position, products) in products.chunks_exact(panel.len()).enumerate() {
                let start = position * rows.len() + at * PANEL;
                for (value, product) in out[start..start + panel.len()].iter_mut().zip(products) {
                    *value = product / n as f64;
                }
            }
        }
        Ok(())
    }

    /// By the combination itself: `n (rows + support)` multiplications.
    fn subtract_fitted(
        &self,
        rows: &[usize],
        support: &[usize],
        weights: &[f64],
        out: &mut [f64],
    ) -> Result<(), Error> {
        if rows.is_empty() || support.is_empty() {
            return Ok(());
        }
        if let Some(gram) = &self.gram {
            return gram.subtract_fitted(rows, support, weights, out);
        }
        let n = self.data.n_samples();
        let mut fitted = vec![0.0; n];
        let (mut shift, mut scratch) = (0.0, Vec::new());
        for (&column, &weight) in support.iter().zip(weights) {
            shift += self.stored(column, &mut scratch)?.add_to(weight, &mut fitted);
        }
        fitted.iter_mut().for_each(|value| *value = (*value - shift) / n as f64);
        weigh(&mut fitted, self.weights.as_ref());
        let sum = lanes::sum(&fitted);
        let panels = fewest_parallel::chunks(out, PANEL, |at, out| {
            let mut scratch = Vec::new();
            for (value, &row) in out.iter_mut().zip(&rows[at * PANEL..]) {
                *value -= self.stored(row, &mut scratch)?.product(&fitted, sum);
            }
            Ok(())
        });
        panels.into_iter().collect()
    }
}
