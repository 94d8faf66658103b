//! Distances from each sample to all others, row after row.

use std::ops::Range;

use fewest_core::{Context, Error};

use crate::samples::{Samples, order};
use crate::tile::PANEL;
use crate::{Coordinate, DistanceMetric};

/// What a stopped run had not got to.
const BEFORE: &str = "the distances between all samples were known";

/// Panels between two checks of the interruption flag.
const BATCH: usize = 64;

/// Number of distances that may always be kept: 32 MiB.
const SMALL: usize = 1 << 22;

/// Numbers of the columns that are packed at a time, 8 MiB, and fewest columns: a panel of so many is as
/// large as the innermost cache.
const PART: usize = 1 << 20;
const FEWEST_COLUMNS: usize = 512;

/// The distances from every sample to all others.
///
/// Where half the matrix of distances takes no more memory than a copy of the samples does (or little), it is
/// computed once, each pair once, from some columns after others, and kept. Otherwise a copy of the samples
/// is kept, every row is computed when it is visited, and each thread holds eight rows.
#[derive(Debug)]
pub struct Distances {
    metric: DistanceMetric,
    n_samples: usize,
    held: Held,
}

/// What is in memory.
#[derive(Debug)]
enum Held {
    /// For each panel of rows, its distances to the samples of this and all later panels.
    Triangle(Vec<Vec<f64>>),
    Samples(Samples),
}

impl Distances {
    /// The distances between `n_samples` samples whose coordinate `j` is written by `fill(j, out)`, in
    /// parallel; every coordinate once.
    ///
    /// Cost, where they are kept: `O(n² d / 2)`. By the cosine, which is no sum over columns, all of them are
    /// in memory a second time until all distances are known.
    ///
    /// # Errors
    /// Those of `fill`; [`Error::Unsupported`] for a category with [`DistanceMetric::Cosine`];
    /// [`Error::Stopped`] when `context` says so.
    pub fn new(
        metric: DistanceMetric,
        n_samples: usize,
        coordinates: &[Coordinate],
        fill: impl Fn(usize, &mut [f64]) -> Result<(), Error> + Sync,
        context: &Context<'_>,
    ) -> Result<Self, Error> {
        if n_samples.saturating_mul(n_samples) / 2 > SMALL.max(n_samples.saturating_mul(coordinates.len())) {
            let held = Held::Samples(Samples::pack(metric, n_samples, coordinates, fill)?);
            return Ok(Self { metric, n_samples, held });
        }
        let order = order(metric, coordinates)?;
        let n_columns = match metric {
            DistanceMetric::Cosine => order.len(),
            _ => FEWEST_COLUMNS.max(PART / n_samples.max(1)),
        };
        let mut triangle = empty(n_samples);
        for (at, part) in order.chunks(n_columns.max(1)).enumerate() {
            context.go_on(BEFORE)?;
            let kinds: Vec<Coordinate> = part.iter().map(|&j| coordinates[j]).collect();
            let packed = Samples::pack(metric, n_samples, &kinds, |at, out| fill(part[at], out))?;
            add(&packed, &mut triangle, at == 0, context)?;
        }
        Ok(Self { metric, n_samples, held: Held::Triangle(triangle) })
    }

    /// The distances between the samples `rows`, increasing and each below `n_samples()`: the same, bit for
    /// bit.
    pub(crate) fn between(&self, rows: &[usize]) -> Self {
        let n_samples = rows.len();
        let held = match &self.held {
            Held::Samples(samples) => Held::Samples(samples.subset(rows)),
            Held::Triangle(triangle) => {
                let mut part = empty(n_samples);
                fewest_parallel::chunks(&mut part, 1, |a, upper| {
                    let others = &rows[a * PANEL..];
                    let pairs = others.iter().take(PANEL).flat_map(|i| others.iter().map(move |j| (i, j)));
                    for (distance, (i, j)) in upper.iter_mut().flatten().zip(pairs) {
                        *distance = kept(triangle, self.n_samples, *i, *j);
                    }
                });
                Held::Triangle(part)
            }
        };
        Self { metric: self.metric, n_samples, held }
    }

    /// The distance between samples `i` and `j`, the one that [`map_rows`](Self::map_rows) visits; `None`
    /// where distances are not kept.
    ///
    /// # Panics
    /// Unless both samples exist.
    pub fn between_two(&self, i: usize, j: usize) -> Option<f64> {
        match &self.held {
            Held::Triangle(triangle) => Some(kept(triangle, self.n_samples, i, j)),
            Held::Samples(_) => None,
        }
    }

    /// Number of samples.
    pub fn n_samples(&self) -> usize {
        self.n_samples
    }

    /// The metric.
    pub(crate) fn metric(&self) -> DistanceMetric {
        self.metric
    }

    /// The samples, where they are kept instead of the distances.
    pub(crate) fn samples(&self) -> Option<&Samples> {
        match &self.held {
            Held::Samples(samples) => Some(samples),
            Held::Triangle(_) => None,
        }
    }

    /// The distances from the samples of panel `a` to all samples, `n_samples` a row.
    fn rows(&self, a: usize, out: &mut [f64]) {
        let n = self.n_samples;
        match &self.held {
            Held::Triangle(triangle) => {
                for (b, earlier) in triangle.iter().enumerate().take(a) {
                    let length = n - b * PANEL;
                    for (s, distances) in earlier.chunks_exact(length).enumerate() {
                        let start = (a - b) * PANEL;
                        for (row, &distance) in out.chunks_exact_mut(n).zip(&distances[start..]) {
                            row[b * PANEL + s] = distance;
                        }
                    }
                }
                let length = n - a * PANEL;
                for (row, upper) in out.chunks_exact_mut(n).zip(triangle[a].chunks_exact(length)) {
                    row[a * PANEL..].copy_from_slice(upper);
                }
            }
            Held::Samples(samples) => {
                for b in 0..n.div_ceil(PANEL) {
                    let tile = samples.tile(a, b);
                    let here = PANEL.min(n - b * PANEL);
                    for (row, distances) in out.chunks_exact_mut(n).zip(&tile) {
                        row[b * PANEL..b * PANEL + here].copy_from_slice(&distances[..here]);
                    }
                }
            }
        }
    }

    /// `visit(i, distances)` for every sample `i` of `samples`, in parallel; the answers in the order of the
    /// samples. `distances[j]` is that from `i` to `j`, zero for `j = i`.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] when a sample does not exist; [`Error::Stopped`] when `context` says so.
    pub fn map_rows<T: Send>(
        &self,
        samples: Range<usize>,
        context: &Context<'_>,
        visit: impl Fn(usize, &[f64]) -> T + Sync,
    ) -> Result<Vec<T>, Error> {
        let n = self.n_samples;
        if samples.end > n {
            return Err(Error::parameter("samples", samples.end, format!("at most {n}")));
        }
        let mut results = Vec::with_capacity(samples.len());
        let panels: Vec<usize> = (samples.start / PANEL..samples.end.div_ceil(PANEL)).collect();
        for batch in panels.chunks(BATCH) {
            context.go_on(BEFORE)?;
            let answers = fewest_parallel::map_with(batch.len(), |rows: &mut Vec<f64>, at| {
                let first = batch[at] * PANEL;
                rows.resize(PANEL.min(n - first) * n, 0.0);
                self.rows(batch[at], rows);
                let visited = rows.chunks_exact(n).zip(first..).filter(|(_, i)| samples.contains(i));
                visited.map(|(distances, i)| visit(i, distances)).collect::<Vec<T>>()
            });
            results.extend(answers.into_iter().flatten());
        }
        Ok(results)
    }
}

/// The distance between samples `i` and `j` of `n` whose distances are kept.
fn kept(triangle: &[Vec<f64>], n: usize, i: usize, j: usize) -> f64 {
    let (first, second) = (i.min(j), i.max(j));
    let start = first / PANEL * PANEL;
    triangle[first / PANEL][(first - start) * (n - start) + second - start]
}

/// The distances between `n` samples by no coordinate.
fn empty(n: usize) -> Vec<Vec<f64>> {
    fewest_parallel::map(n.div_ceil(PANEL), |a| vec![0.0; PANEL.min(n - a * PANEL) * (n - a * PANEL)])
}

/// Adds the distances by the coordinates of `samples` to those by the coordinates before them, which, where
/// these are the `first`, are not read: a system that has yet to give the memory would give each page twice.
fn add(
    samples: &Samples,
    triangle: &mut [Vec<f64>],
    is_first: bool,
    context: &Context<'_>,
) -> Result<(), Error> {
    let n = samples.n_samples();
    let results = fewest_parallel::chunks(triangle, 1, |a, upper| {
        context.go_on(BEFORE)?;
        let length = n - a * PANEL;
        for upper in upper {
            for b in a..n.div_ceil(PANEL) {
                let start = (b - a) * PANEL;
                let here = PANEL.min(length - start);
                let mut tile = [[0.0; PANEL]; PANEL];
                if !is_first {
                    for (distances, row) in tile.iter_mut().zip(upper.chunks_exact(length)) {
                        distances[..here].copy_from_slice(&row[start..start + here]);
                    }
                }
                samples.add(a, b, &mut tile);
                for (row, distances) in upper.chunks_exact_mut(length).zip(&tile) {
                    row[start..start + here].copy_from_slice(&distances[..here]);
                }
            }
        }
        Ok(())
    });
    results.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Coordinate, DistanceMetric};

    #[test]
    fn rows_do_not_depend_on_whether_they_are_kept() -> Result<(), Error> {
        // 3000² / 2 distances of a single coordinate are more than is kept; those of 100 samples are not.
        let column: Vec<f64> = (0..3000).map(|i| (f64::from(i) * 2.1).sin()).collect();
        let context = Context::default();
        let of = |values: &[f64]| {
            let fill = |_, out: &mut [f64]| {
                out.copy_from_slice(values);
                Ok(())
            };
            Distances::new(DistanceMetric::Manhattan, values.len(), &[Coordinate::Numeric], fill, &context)
        };
        let (many, few) = (of(&column)?, of(&column[..100])?);
        assert!(many.samples().is_some() && few.samples().is_none());
        let whole = many.map_rows(37..61, &context, |_, row| row[..100].to_vec())?;
        assert_eq!(whole, few.map_rows(37..61, &context, |_, row| row.to_vec())?);
        for (i, row) in (37..61).zip(&whole) {
            for (j, distance) in row.iter().enumerate() {
                assert_eq!([many.between_two(i, j), few.between_two(j, i)], [None, Some(*distance)]);
            }
        }
        Ok(())
    }

    /// Columns come in parts; a distance has the bits of the sum over all of them at once.
    #[test]
    fn parts_of_the_columns_add_up() -> Result<(), Error> {
        let (n, d) = (37, 2 * FEWEST_COLUMNS.max(PART / 37) + 11);
        let coordinates: Vec<Coordinate> = (0..d)
            .map(|j| if j % 3 == 1 { Coordinate::Category(0.3) } else { Coordinate::Numeric })
            .collect();
        let fill = |j: usize, out: &mut [f64]| {
            out.iter_mut().enumerate().for_each(|(i, out)| *out = ((i * 31 + j * 17) % 101) as f64 / 7.0);
            Ok(())
        };
        let context = Context::default();
        for metric in [DistanceMetric::Manhattan, DistanceMetric::SquaredEuclidean] {
            let at_once = Held::Samples(Samples::pack(metric, n, &coordinates, fill)?);
            let at_once = Distances { metric, n_samples: n, held: at_once };
            let in_parts = Distances::new(metric, n, &coordinates, fill, &context)?;
            let rows = |distances: &Distances| {
                distances.map_rows(0..distances.n_samples(), &context, |_, r| r.to_vec())
            };
            assert!(in_parts.samples().is_none());
            assert_eq!(rows(&at_once)?, rows(&in_parts)?);
            let drawn: Vec<usize> = (0..n).filter(|i| i % 5 != 2 && *i != 0).collect();
            assert_eq!(rows(&at_once.between(&drawn))?, rows(&in_parts.between(&drawn))?);
        }
        Ok(())
    }
}
