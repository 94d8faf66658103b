//! The rows last used, in the current order of the variables.

use fewest_solver::Error;

use crate::passes::Element;
use crate::{KernelRows, rows};

const ABSENT: usize = usize::MAX;

/// Rows of a kernel, as many as fit; the least recently used one is replaced.
#[derive(Debug, Clone)]
pub(crate) struct RowCache<T> {
    /// The slot of each sample's row.
    slots: Vec<usize>,
    rows: Vec<Slot<T>>,
    pub(crate) most_rows: usize,
    clock: u64,
    natural: Vec<f64>,
    /// Rows computed so far.
    pub(crate) n_computed: u64,
}

#[derive(Debug, Clone)]
struct Slot<T> {
    sample: usize,
    used: u64,
    values: Vec<T>,
}

impl<T: Element> RowCache<T> {
    /// For `n` samples, with space for at least two rows.
    pub(crate) fn new(n: usize, bytes: usize) -> Self {
        Self {
            slots: vec![ABSENT; n],
            rows: Vec::new(),
            most_rows: (bytes / (n.max(1) * size_of::<T>())).clamp(2, n.max(2)),
            clock: 0,
            natural: vec![0.0; n],
            n_computed: 0,
        }
    }

    /// Loads row `sample`, its entries ordered by `order`, and returns its slot. The slot returned before
    /// stays valid; older ones may not.
    pub(crate) fn fetch(
        &mut self,
        kernel: &dyn KernelRows,
        sample: usize,
        order: &[usize],
    ) -> Result<usize, Error> {
        self.clock += 1;
        let known = self.slots[sample];
        if let Some(slot) = self.rows.get_mut(known) {
            slot.used = self.clock;
            return Ok(known);
        }
        kernel.row(sample, &mut self.natural);
        self.n_computed += 1;
        let natural = &self.natural;
        if natural.iter().fold(0.0, |sum, value| sum + value * 0.0) != 0.0 {
            let j = natural.iter().position(|value| !value.is_finite()).unwrap_or(sample);
            return Err(rows::not_finite(sample, j, natural[j]));
        }
        let (own, diagonal) = (natural[sample], kernel.diagonal(sample));
        if (own - diagonal).abs() > rows::SYMMETRY * own.abs().max(diagonal.abs()) {
            let value = format!("{own} in row {sample} at the diagonal (counted from 0)");
            return Err(Error::parameter("kernel", value, format!("the diagonal entry {diagonal}")));
        }
        let place = if self.rows.len() < self.most_rows {
            self.rows.push(Slot { sample, used: 0, values: vec![T::ZERO; order.len()] });
            self.rows.len() - 1
        } else {
            let oldest = (0..self.rows.len()).min_by_key(|&k| self.rows[k].used).unwrap_or(0);
            self.slots[self.rows[oldest].sample] = ABSENT;
            oldest
        };
        let slot = &mut self.rows[place];
        slot.sample = sample;
        slot.used = self.clock;
        for (value, &i) in slot.values.iter_mut().zip(order) {
            *value = T::narrow(natural[i]);
        }
        self.slots[sample] = place;
        Ok(place)
    }

    pub(crate) fn row(&self, slot: usize) -> &[T] {
        &self.rows[slot].values
    }

    /// Exchanges entries of all rows, pair by pair.
    pub(crate) fn exchange(&mut self, pairs: &[(usize, usize)]) {
        for slot in &mut self.rows {
            for &(a, b) in pairs {
                slot.values.swap(a, b);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::GramRows;

    #[test]
    fn the_row_used_longest_ago_makes_room() {
        let values: Vec<f64> = (0..16).map(|k| ((k / 4) * (k % 4)) as f64).collect();
        let kernel = GramRows::new(values, 4).unwrap();
        let mut order = vec![0, 1, 2, 3];
        let mut cache = RowCache::<f32>::new(4, 2 * 4 * 4);
        let first = cache.fetch(&kernel, 2, &order).unwrap();
        cache.fetch(&kernel, 3, &order).unwrap();
        assert_eq!(cache.fetch(&kernel, 2, &order).unwrap(), first);
        cache.fetch(&kernel, 1, &order).unwrap();
        assert_eq!(cache.n_computed, 3);
        assert_eq!(cache.fetch(&kernel, 2, &order).unwrap(), first);
        assert_eq!(cache.n_computed, 3);
        order.swap(0, 3);
        cache.exchange(&[(0, 3)]);
        assert_eq!(cache.row(first), [6.0, 2.0, 4.0, 0.0]);
        let slot = cache.fetch(&kernel, 3, &order).unwrap();
        assert_eq!((cache.row(slot), cache.n_computed), ([9.0, 3.0, 6.0, 0.0].as_slice(), 4));
    }
}
