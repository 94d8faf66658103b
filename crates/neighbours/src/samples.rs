//! A packed copy of a table, laid out for distances between samples.

use fewest_core::Error;

use crate::tile::{PANEL, Tile, add_absolute, add_mismatches, add_squared};

/// Columns read before they are packed, at least, and numbers in them: only these are in memory twice.
const BATCH: usize = 64;
const BATCH_NUMBERS: usize = 1 << 14;

/// The distance of two samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DistanceMetric {
    /// `Σ_j |a_j − b_j|`.
    Manhattan,
    /// `Σ_j (a_j − b_j)²`, the square of the Euclidean distance.
    SquaredEuclidean,
    /// `1 − aᵀb / (‖a‖ ‖b‖)`; 1 from a sample of zeros to any other.
    Cosine,
}

/// The contribution of a coordinate to a distance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Coordinate {
    /// A difference, as defined by the metric.
    Numeric,
    /// This weight where two samples differ, 0 where they are equal. Not with [`DistanceMetric::Cosine`].
    Category(f64),
}

/// Samples with finite coordinates, packed: a copy of the table, or of some of its columns.
#[derive(Debug, Clone)]
pub(crate) struct Samples {
    metric: DistanceMetric,
    n_samples: usize,
    n_numeric: usize,
    mismatch: Vec<f64>,
    /// Panel after panel; in each, numeric coordinates first, then categories.
    panels: Vec<f64>,
    /// For the cosine: the samples of zeros, which have no direction.
    without_direction: Vec<bool>,
}

impl Samples {
    /// Packs `n_samples` samples whose coordinate `j` is written by `fill(j, out)`, in parallel.
    ///
    /// # Errors
    /// Those of `fill`, that of the lowest coordinate first; [`Error::Unsupported`] for a category with
    /// [`DistanceMetric::Cosine`].
    pub(crate) fn pack(
        metric: DistanceMetric,
        n_samples: usize,
        coordinates: &[Coordinate],
        fill: impl Fn(usize, &mut [f64]) -> Result<(), Error> + Sync,
    ) -> Result<Self, Error> {
        let order = order(metric, coordinates)?;
        let n_numeric = order.iter().filter(|&&j| coordinates[j] == Coordinate::Numeric).count();
        let mismatch = order
            .iter()
            .filter_map(|&j| match coordinates[j] {
                Coordinate::Category(weight) => Some(weight),
                Coordinate::Numeric => None,
            })
            .collect();
        let width = order.len();
        let mut panels = vec![0.0; n_samples.div_ceil(PANEL) * PANEL * width];
        let batch_size = BATCH.max(BATCH_NUMBERS / n_samples.max(1));
        let mut columns = vec![0.0; n_samples * batch_size.min(width)];
        for (batch, positions) in order.chunks(batch_size).enumerate() {
            if n_samples == 0 {
                break;
            }
            let batch_columns = &mut columns[..n_samples * positions.len()];
            let filled =
                fewest_parallel::chunks(batch_columns, n_samples, |at, column| fill(positions[at], column));
            let failed = filled
                .into_iter()
                .zip(positions)
                .filter_map(|(result, &j)| result.err().map(|error| (j, error)))
                .min_by_key(|(j, _)| *j);
            if let Some((_, error)) = failed {
                return Err(error);
            }
            fewest_parallel::chunks(&mut panels, PANEL * width, |panel, values| {
                let first = panel * PANEL;
                let here = PANEL.min(n_samples - first);
                for (at, column) in columns.chunks_exact(n_samples).take(positions.len()).enumerate() {
                    let place = (batch * batch_size + at) * PANEL;
                    values[place..place + here].copy_from_slice(&column[first..first + here]);
                }
            });
        }
        let without_direction = match metric {
            DistanceMetric::Cosine => to_unit_length(&mut panels, width),
            DistanceMetric::Manhattan | DistanceMetric::SquaredEuclidean => Vec::new(),
        };
        Ok(Self { metric, n_samples, n_numeric, mismatch, panels, without_direction })
    }

    /// Number of samples.
    pub(crate) fn n_samples(&self) -> usize {
        self.n_samples
    }

    /// Number of coordinates.
    pub(crate) fn n_coordinates(&self) -> usize {
        self.n_numeric + self.mismatch.len()
    }

    /// The metric.
    pub(crate) fn metric(&self) -> DistanceMetric {
        self.metric
    }

    /// A copy of the samples `rows`, each below `n_samples()`. Their distances are the same, bit for bit.
    pub(crate) fn subset(&self, rows: &[usize]) -> Self {
        let width = self.n_coordinates();
        let mut panels = vec![0.0; rows.len().div_ceil(PANEL) * PANEL * width];
        if width > 0 {
            fewest_parallel::chunks(&mut panels, PANEL * width, |panel, values| {
                for (s, &row) in rows.iter().skip(panel * PANEL).take(PANEL).enumerate() {
                    let from = self.panel(row / PANEL).iter().skip(row % PANEL).step_by(PANEL);
                    for (to, value) in values.iter_mut().skip(s).step_by(PANEL).zip(from) {
                        *to = *value;
                    }
                }
            });
        }
        // For other metrics there is no such list; the cosine looks up the samples of a whole panel.
        let without_direction = match self.metric {
            DistanceMetric::Cosine => {
                let real = rows.iter().map(|&row| self.without_direction.get(row).copied().unwrap_or(true));
                real.chain(std::iter::repeat(true)).take(rows.len().div_ceil(PANEL) * PANEL).collect()
            }
            DistanceMetric::Manhattan | DistanceMetric::SquaredEuclidean => Vec::new(),
        };
        Self { n_samples: rows.len(), panels, without_direction, mismatch: self.mismatch.clone(), ..*self }
    }

    /// Whether some coordinates are categories.
    pub(crate) fn has_categories(&self) -> bool {
        !self.mismatch.is_empty()
    }

    /// The numeric coordinates of sample `i < n_samples()`.
    pub(crate) fn numbers(&self, i: usize) -> impl Iterator<Item = f64> {
        self.panel(i / PANEL)[..PANEL * self.n_numeric].iter().skip(i % PANEL).step_by(PANEL).copied()
    }

    fn panel(&self, panel: usize) -> &[f64] {
        let length = PANEL * self.n_coordinates();
        &self.panels[panel * length..(panel + 1) * length]
    }

    /// Distances between the samples of panels `a` and `b`; those of samples that do not exist are undefined.
    pub(crate) fn tile(&self, a: usize, b: usize) -> Tile {
        let mut tile = [[0.0; PANEL]; PANEL];
        self.add(a, b, &mut tile);
        tile
    }

    /// Adds the [`tile`](Samples::tile) of these coordinates to that of the coordinates before them. By the
    /// cosine, which is no sum over coordinates, there are none before.
    pub(crate) fn add(&self, a: usize, b: usize, tile: &mut Tile) {
        let ((numeric_a, category_a), (numeric_b, category_b)) =
            (self.panel(a).split_at(PANEL * self.n_numeric), self.panel(b).split_at(PANEL * self.n_numeric));
        match self.metric {
            DistanceMetric::Manhattan => add_absolute(numeric_a, numeric_b, tile),
            DistanceMetric::SquaredEuclidean | DistanceMetric::Cosine => {
                add_squared(numeric_a, numeric_b, tile);
            }
        }
        if !self.mismatch.is_empty() {
            add_mismatches(category_a, category_b, &self.mismatch, tile);
        }
        if self.metric == DistanceMetric::Cosine {
            for (r, row) in tile.iter_mut().enumerate() {
                for (s, distance) in row.iter_mut().enumerate() {
                    let undirected = |panel: usize, at: usize| self.without_direction[panel * PANEL + at];
                    // Of unit vectors, 1 − cos is half the squared distance, without cancellation.
                    *distance = if undirected(a, r) || undirected(b, s) { 1.0 } else { 0.5 * *distance };
                }
            }
        }
    }
}

/// The coordinates in the order in which they are added up: numbers first, then categories.
///
/// # Errors
/// [`Error::Unsupported`] for a category with [`DistanceMetric::Cosine`].
pub(crate) fn order(metric: DistanceMetric, coordinates: &[Coordinate]) -> Result<Vec<usize>, Error> {
    let is_numeric = |j: &usize| coordinates[*j] == Coordinate::Numeric;
    let (mut order, categories): (Vec<usize>, Vec<usize>) = (0..coordinates.len()).partition(is_numeric);
    if metric == DistanceMetric::Cosine && !categories.is_empty() {
        return Err(Error::Unsupported {
            method: "the cosine of the angle between samples",
            what: "a categorical feature".to_owned(),
            instead: "use Euclidean distances".to_owned(),
        });
    }
    order.extend(categories);
    Ok(order)
}

/// Scales every sample to length 1 and returns those of length 0.
fn to_unit_length(panels: &mut [f64], width: usize) -> Vec<bool> {
    if width == 0 {
        return Vec::new();
    }
    let normalise = |panel: &mut [f64], s: usize| {
        // First divided by the largest entry: squares neither overflow nor underflow.
        let largest = panel.iter().skip(s).step_by(PANEL).fold(0.0, |m: f64, v| m.max(v.abs()));
        if largest == 0.0 {
            return true;
        }
        let squares: f64 = panel.iter().skip(s).step_by(PANEL).map(|v| (v / largest).powi(2)).sum();
        let norm = squares.sqrt();
        for value in panel.iter_mut().skip(s).step_by(PANEL) {
            *value = *value / largest / norm;
        }
        false
    };
    fewest_parallel::chunks(panels, PANEL * width, |_, panel| {
        (0..PANEL).map(|s| normalise(panel, s)).collect::<Vec<bool>>()
    })
    .concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subset_keeps_every_distance() {
        let value = |j: usize, i: usize| ((i * 37 + j * 11) % 23) as f64 / 7.0 - 1.0;
        let rows: Vec<usize> = (0..43).filter(|i| i % 3 != 1).collect();
        for (metric, kind) in [
            (DistanceMetric::Manhattan, Coordinate::Category(0.5)),
            (DistanceMetric::SquaredEuclidean, Coordinate::Numeric),
            (DistanceMetric::Cosine, Coordinate::Numeric),
        ] {
            let kinds = [Coordinate::Numeric, Coordinate::Numeric, kind];
            let samples = Samples::pack(metric, 43, &kinds, |j, out| {
                // Sample 5 has no direction.
                out.iter_mut().enumerate().for_each(|(i, out)| *out = if i == 5 { 0.0 } else { value(j, i) });
                Ok(())
            })
            .unwrap();
            let distance = |samples: &Samples, i: usize, j: usize| {
                samples.tile(i / PANEL, j / PANEL)[i % PANEL][j % PANEL].to_bits()
            };
            let part = samples.subset(&rows);
            for (a, &i) in rows.iter().enumerate() {
                for (b, &j) in rows.iter().enumerate() {
                    assert_eq!(distance(&part, a, b), distance(&samples, i, j), "{metric:?} {i} {j}");
                }
            }
        }
    }
}
