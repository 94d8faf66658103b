//! Distances from each sample to all others, row after row.

use std::ops::Range;

use fewest_core::{Context, Error};

use crate::Samples;
use crate::tile::PANEL;

/// Panels between two checks of the interruption flag.
const BATCH: usize = 64;

/// Number of distances that may always be kept: 32 MiB.
const SMALL: usize = 1 << 22;

/// The distances from every sample to all others.
///
/// When half the matrix of distances takes no more memory than the samples do (or little), it is computed
/// once, each pair once, and kept; otherwise every row is computed when it is visited, and each thread holds
/// eight rows.
#[derive(Debug)]
pub struct Distances<'a> {
    samples: &'a Samples,
    /// For each panel of rows, its distances to the samples of this and all later panels.
    triangle: Option<Vec<Vec<f64>>>,
}

impl<'a> Distances<'a> {
    /// The distances between `samples`. Cost, where they are kept: `O(n² d / 2)`.
    pub fn new(samples: &'a Samples) -> Self {
        let n = samples.n_samples();
        let affordable = SMALL.max(n.saturating_mul(samples.n_coordinates()));
        Self::within(samples, affordable)
    }

    /// [`Distances::new`], keeping no more than `affordable` numbers.
    pub(crate) fn within(samples: &'a Samples, affordable: usize) -> Self {
        let n = samples.n_samples();
        let panels = n.div_ceil(PANEL);
        let kept = (n.saturating_mul(n) / 2 <= affordable).then(|| {
            fewest_parallel::map(panels, |a| {
                let length = n - a * PANEL;
                let rows = PANEL.min(length);
                let mut upper = vec![0.0; rows * length];
                for b in a..panels {
                    let tile = samples.tile(a, b);
                    let here = PANEL.min(n - b * PANEL);
                    for (row, distances) in upper.chunks_exact_mut(length).zip(&tile) {
                        let start = (b - a) * PANEL;
                        row[start..start + here].copy_from_slice(&distances[..here]);
                    }
                }
                upper
            })
        });
        Self { samples, triangle: kept }
    }

    /// The samples.
    pub fn samples(&self) -> &'a Samples {
        self.samples
    }

    /// Whether the distances are kept, so that visiting them again costs nothing.
    pub(crate) fn are_kept(&self) -> bool {
        self.triangle.is_some()
    }

    /// The distances from the samples of panel `a` to all samples, `n_samples` a row.
    fn rows(&self, a: usize, out: &mut [f64]) {
        let n = self.samples.n_samples();
        match &self.triangle {
            Some(triangle) => {
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
            None => {
                for b in 0..n.div_ceil(PANEL) {
                    let tile = self.samples.tile(a, b);
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
        let n = self.samples.n_samples();
        if samples.end > n {
            return Err(Error::parameter("samples", samples.end, format!("at most {n}")));
        }
        let mut results = Vec::with_capacity(samples.len());
        let panels: Vec<usize> = (samples.start / PANEL..samples.end.div_ceil(PANEL)).collect();
        for batch in panels.chunks(BATCH) {
            context.go_on("the distances between all samples were known")?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Coordinate, DistanceMetric};

    #[test]
    fn rows_do_not_depend_on_whether_they_are_kept() -> Result<(), Error> {
        // 3000² / 2 distances of a single coordinate are more than is kept; those of 100 samples are not.
        let column: Vec<f64> = (0..3000).map(|i| (f64::from(i) * 2.1).sin()).collect();
        let pack = |values: &[f64]| {
            Samples::pack(DistanceMetric::Manhattan, values.len(), &[Coordinate::Numeric], |_, out| {
                out.copy_from_slice(values);
                Ok(())
            })
        };
        let (many, few) = (pack(&column)?, pack(&column[..100])?);
        let (many, few) = (Distances::new(&many), Distances::new(&few));
        assert!(!many.are_kept() && few.are_kept());
        let context = Context::default();
        let whole = many.map_rows(37..61, &context, |_, row| row[..100].to_vec())?;
        assert_eq!(whole, few.map_rows(37..61, &context, |_, row| row.to_vec())?);
        Ok(())
    }
}
