//! Inner products of all samples with a few vectors, with sums kept in registers.

use fewest_linalg::{dispatched, multiply_add};

/// Samples in a panel: with two vectors the sums fill eight four-wide registers, or four eight-wide ones.
pub(super) const PANEL: usize = 16;

/// Samples coordinate by coordinate, sixteen at a time; the last panel is filled up with zeros.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Panels {
    values: Vec<f64>,
    n_samples: usize,
    width: usize,
}

impl Panels {
    /// From samples one after the other, each of `width` coordinates, at least one.
    pub(super) fn new(samples: &[f64], width: usize) -> Self {
        let n_samples = samples.len() / width;
        let mut values = vec![0.0; n_samples.div_ceil(PANEL) * PANEL * width];
        for (i, sample) in samples.chunks_exact(width).enumerate() {
            let panel = &mut values[i / PANEL * PANEL * width..];
            for (place, &value) in panel.iter_mut().skip(i % PANEL).step_by(PANEL).zip(sample) {
                *place = value;
            }
        }
        Self { values, n_samples, width }
    }

    pub(super) fn n_samples(&self) -> usize {
        self.n_samples
    }

    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// Sample `i`.
    pub(super) fn sample(&self, i: usize) -> Vec<f64> {
        let panel = &self.values[i / PANEL * PANEL * self.width..];
        panel.iter().skip(i % PANEL).step_by(PANEL).take(self.width).copied().collect()
    }

    /// `‖x_i‖²`, with the bits of the product of a sample with itself.
    pub(super) fn squares(&self) -> Vec<f64> {
        let mut squares = vec![0.0; self.n_samples];
        squares_of(&self.values, self.width, &mut squares);
        squares
    }

    /// `out[i] = ⟨x_i, vector⟩`. The product of two samples has the same bits in both orders, and
    /// whether it is computed here or by [`two_products`](Self::two_products).
    pub(super) fn products(&self, vector: &[f64], out: &mut [f64]) {
        products_with_one(&self.values, [vector], [out]);
    }

    /// As [`products`](Self::products) with two vectors, in little more time.
    pub(super) fn two_products(&self, vectors: [&[f64]; 2], out: [&mut [f64]; 2]) {
        products_with_two(&self.values, vectors, out);
    }
}

dispatched! {
    fn products_with_one(panels: &[f64], vectors: [&[f64]; 1], out: [&mut [f64]; 1]) = products_with_one_body
}

#[inline(always)]
fn products_with_one_body<const FMA: bool>(panels: &[f64], vectors: [&[f64]; 1], out: [&mut [f64]; 1]) {
    products::<1, FMA>(panels, vectors, out);
}

dispatched! {
    fn products_with_two(panels: &[f64], vectors: [&[f64]; 2], out: [&mut [f64]; 2]) = products_with_two_body
}

#[inline(always)]
fn products_with_two_body<const FMA: bool>(panels: &[f64], vectors: [&[f64]; 2], out: [&mut [f64]; 2]) {
    products::<2, FMA>(panels, vectors, out);
}

#[inline(always)]
fn products<const R: usize, const FMA: bool>(panels: &[f64], vectors: [&[f64]; R], out: [&mut [f64]; R]) {
    let width = vectors[0].len();
    let mut out = out.map(|row| row.chunks_mut(PANEL));
    for panel in panels.chunks_exact(PANEL * width.max(1)) {
        let mut sums = [[0.0_f64; PANEL]; R];
        for (j, x) in panel.chunks_exact(PANEL).enumerate() {
            for r in 0..R {
                let value = vectors[r][j];
                for k in 0..PANEL {
                    sums[r][k] = multiply_add::<FMA>(x[k], value, sums[r][k]);
                }
            }
        }
        for (sums, out) in sums.iter().zip(&mut out) {
            if let Some(places) = out.next() {
                places.copy_from_slice(&sums[..places.len()]);
            }
        }
    }
}

dispatched! {
    fn squares_of(panels: &[f64], width: usize, out: &mut [f64]) = squares_of_body
}

#[inline(always)]
fn squares_of_body<const FMA: bool>(panels: &[f64], width: usize, out: &mut [f64]) {
    for (panel, places) in panels.chunks_exact(PANEL * width.max(1)).zip(out.chunks_mut(PANEL)) {
        let mut sums = [0.0_f64; PANEL];
        for x in panel.chunks_exact(PANEL) {
            for k in 0..PANEL {
                sums[k] = multiply_add::<FMA>(x[k], x[k], sums[k]);
            }
        }
        places.copy_from_slice(&sums[..places.len()]);
    }
}
