//! Rows of a table interpolated between its nodes by cubics, and their products with vectors.

use fewest_linalg::{dispatched, multiply_add};

/// Number of nodes around a point from which its row is interpolated.
pub(super) const NODES: usize = 4;

/// Columns of the factor that lie next to each other: one of most registers, in single precision.
pub(super) const WIDTH: usize = 8;

/// `2^52`: a sum of it and a smaller integer holds the integer in its lowest bits.
const INTEGER: f64 = 4_503_599_627_370_496.0;

/// Where either vector is not zero, and both there.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    pub(super) place: usize,
    pub(super) values: [f64; 2],
}

dispatched! {
    /// The first of four nodes around every point, and the weights of the cubic through them: those of all
    /// points for the first node, then for the second and so on.
    pub(super) fn place(points: &[f64], low: f64, inverse_step: f64, n_nodes: usize, cells: &mut [u32], weights: &mut [f32]) = place_body
}

#[inline(always)]
fn place_body<const FMA: bool>(
    points: &[f64],
    low: f64,
    inverse_step: f64,
    n_nodes: usize,
    cells: &mut [u32],
    weights: &mut [f32],
) {
    let last = (n_nodes - NODES) as f64;
    let (first, rest) = weights.split_at_mut(points.len());
    let (second, rest) = rest.split_at_mut(points.len());
    let (third, fourth) = rest.split_at_mut(points.len());
    let weights = first.iter_mut().zip(second).zip(third.iter_mut().zip(fourth));
    for ((&x, cell), ((first, second), (third, fourth))) in points.iter().zip(cells).zip(weights) {
        let place = (x - low) * inverse_step;
        // The point lies between the second and the third node, but near the ends.
        let start = (place - 1.0).floor().clamp(0.0, last);
        // The lowest bits of the sum are the integer itself, without the cases of a conversion.
        *cell = (start + INTEGER).to_bits() as u32;
        let s = (place - start) as f32;
        let (a, b, c) = (s - 1.0, s - 2.0, s - 3.0);
        *first = a * b * c * (-1.0 / 6.0);
        *second = s * b * c * 0.5;
        *third = s * a * c * -0.5;
        *fourth = s * a * b * (1.0 / 6.0);
    }
}

/// [`multiply_add`] in single precision.
#[inline(always)]
fn single<const FMA: bool>(a: f32, b: f32, c: f32) -> f32 {
    if FMA { a.mul_add(b, c) } else { a * b + c }
}

dispatched! {
    /// A block's columns at every point.
    pub(super) fn interpolate(block: &[f32], cells: &[u32], weights: &[f32], rows: &mut [f32]) = interpolate_body
}

#[inline(always)]
fn interpolate_body<const FMA: bool>(block: &[f32], cells: &[u32], weights: &[f32], rows: &mut [f32]) {
    let n = cells.len();
    let (first, rest) = weights.split_at(n);
    let (second, rest) = rest.split_at(n);
    let (third, fourth) = rest.split_at(n);
    let weights = first.iter().zip(second).zip(third.iter().zip(fourth));
    for ((&cell, ((first, second), (third, fourth))), row) in
        cells.iter().zip(weights).zip(rows.chunks_exact_mut(WIDTH))
    {
        let start = cell as usize * WIDTH;
        let Some(nodes) = block.get(start..start + NODES * WIDTH) else { continue };
        for k in 0..WIDTH {
            let low = single::<FMA>(*second, nodes[WIDTH + k], first * nodes[k]);
            let high = single::<FMA>(*fourth, nodes[3 * WIDTH + k], third * nodes[2 * WIDTH + k]);
            row[k] = low + high;
        }
    }
}

dispatched! {
    /// `out = [Σ_i u[i] rows[i], Σ_i v[i] rows[i]]`, in double precision.
    pub(super) fn weigh(rows: &[f32], entries: &[Entry], out: &mut [[f64; WIDTH]; 2]) = weigh_body
}

#[inline(always)]
fn weigh_body<const FMA: bool>(rows: &[f32], entries: &[Entry], out: &mut [[f64; WIDTH]; 2]) {
    // Even and odd entries in separate sums, so that additions do not wait for each other.
    let mut sums = [[[0.0; WIDTH]; 2]; 2];
    let add = |sums: &mut [[f64; WIDTH]; 2], entry: &Entry| {
        let Some(row) = rows.get(entry.place * WIDTH..(entry.place + 1) * WIDTH) else { return };
        for k in 0..WIDTH {
            let value = f64::from(row[k]);
            for (sum, weight) in sums.iter_mut().zip(entry.values) {
                sum[k] = multiply_add::<FMA>(weight, value, sum[k]);
            }
        }
    };
    let couples = entries.chunks_exact(2);
    if let [last] = couples.remainder() {
        add(&mut sums[0], last);
    }
    for couple in couples {
        for (sums, entry) in sums.iter_mut().zip(couple) {
            add(sums, entry);
        }
    }
    for (which, out) in out.iter_mut().enumerate() {
        for (k, out) in out.iter_mut().enumerate() {
            *out = sums[0][which][k] + sums[1][which][k];
        }
    }
}
