//! Distances between eight samples and eight others, the innermost loop of everything here.

/// Samples in a panel: values lie coordinate by coordinate, eight samples at a time.
pub(crate) const PANEL: usize = 8;
/// Samples of the first panel handled at once: 4 × 8 sums fit the registers of every processor.
const STRIP: usize = 4;

/// The distances from each sample of one panel to each of another.
pub(crate) type Tile = [[f64; PANEL]; PANEL];

/// Goes on with the sums of `tile`: the same bits whether coordinates come at once or part after part.
#[inline(always)]
fn add(a: &[f64], b: &[f64], tile: &mut Tile, term: impl Fn(f64, f64) -> f64) {
    for (strip, rows) in tile.chunks_exact_mut(STRIP).enumerate() {
        let mut sums = [[0.0; PANEL]; STRIP];
        sums.copy_from_slice(rows);
        for (a, b) in a.chunks_exact(PANEL).zip(b.chunks_exact(PANEL)) {
            for r in 0..STRIP {
                let value = a[strip * STRIP + r];
                for s in 0..PANEL {
                    sums[r][s] += term(value, b[s]);
                }
            }
        }
        rows.copy_from_slice(&sums);
    }
}

/// Adds `Σ_j |a_j − b_j|` over the coordinates of two panels.
#[multiversion::multiversion(targets(
    "x86_64+avx512f+avx512bw+avx512cd+avx512dq+avx512vl+avx2+fma",
    "x86_64+avx2+fma",
))]
pub(crate) fn add_absolute(a: &[f64], b: &[f64], tile: &mut Tile) {
    add(a, b, tile, |a, b| (a - b).abs());
}

/// Adds `Σ_j (a_j − b_j)²` over the coordinates of two panels.
#[multiversion::multiversion(targets(
    "x86_64+avx512f+avx512bw+avx512cd+avx512dq+avx512vl+avx2+fma",
    "x86_64+avx2+fma",
))]
pub(crate) fn add_squared(a: &[f64], b: &[f64], tile: &mut Tile) {
    add(a, b, tile, |a, b| (a - b) * (a - b));
}

/// Adds `Σ_j weights[j] [a_j ≠ b_j]` over the coordinates of two panels.
#[multiversion::multiversion(targets(
    "x86_64+avx512f+avx512bw+avx512cd+avx512dq+avx512vl+avx2+fma",
    "x86_64+avx2+fma",
))]
pub(crate) fn add_mismatches(a: &[f64], b: &[f64], weights: &[f64], tile: &mut Tile) {
    for ((a, b), &weight) in a.chunks_exact(PANEL).zip(b.chunks_exact(PANEL)).zip(weights) {
        for (row, &value) in tile.iter_mut().zip(a) {
            for s in 0..PANEL {
                row[s] += if value == b[s] { 0.0 } else { weight };
            }
        }
    }
}
