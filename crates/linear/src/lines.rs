//! Values of a sample side by side, as many as one line of the processor's cache has: what is read of samples
//! here and there then is one line each.

use nalgebra::DMatrix;

/// Values of a line.
pub(crate) const WIDTH: usize = 8;

/// Samples copied or computed by one task.
const ROWS: usize = 1024;

/// Some values of one sample.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(align(64))]
pub(crate) struct Line(pub(crate) [f64; WIDTH]);

impl Line {
    const ZERO: Self = Self([0.0; WIDTH]);
}

/// A line for each of `n` samples, from at most so many columns as it has values; the others are 0.
pub(crate) fn lines(columns: &[f64], n: usize) -> Vec<Line> {
    let mut lines = vec![Line::ZERO; n];
    fewest_parallel::chunks(&mut lines, ROWS, |at, lines| {
        for (k, column) in columns.chunks_exact(n.max(1)).enumerate() {
            lines.iter_mut().zip(&column[at * ROWS..]).for_each(|(line, value)| line.0[k] = *value);
        }
    });
    lines
}

/// The rows that `row` makes for each sample of those of `v`, some columns at a time.
pub(crate) fn by_lines(v: &DMatrix<f64>, row: impl Fn(usize, &[Line]) -> Line + Sync) -> DMatrix<f64> {
    let (n, k) = v.shape();
    let mut out = DMatrix::zeros(n, k);
    let mut made = vec![Line::ZERO; n];
    let parts = v.as_slice().chunks(WIDTH * n.max(1));
    for (part, out) in parts.zip(out.as_mut_slice().chunks_mut(WIDTH * n.max(1))) {
        let lines = lines(part, n);
        fewest_parallel::chunks(&mut made, ROWS, |at, made| {
            (at * ROWS..).zip(made).for_each(|(i, made)| *made = row(i, &lines));
        });
        for (k, out) in out.chunks_exact_mut(n.max(1)).enumerate() {
            out.iter_mut().zip(&made).for_each(|(out, line)| *out = line.0[k]);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// However many columns there are, every row has the values of its sample.
    #[test]
    fn rows_have_the_values_of_their_samples() {
        let n = 2 * ROWS + 5;
        for k in [0, 1, WIDTH - 1, WIDTH, 2 * WIDTH + 1] {
            let v = DMatrix::from_fn(n, k, |i, j| (i + n * j) as f64);
            let reversed = by_lines(&v, |i, lines| lines[n - 1 - i]);
            assert_eq!(reversed, DMatrix::from_fn(n, k, |i, j| v[(n - 1 - i, j)]));
        }
        assert_eq!(by_lines(&DMatrix::zeros(0, 3), |i, lines| lines[i]).shape(), (0, 3));
    }
}
