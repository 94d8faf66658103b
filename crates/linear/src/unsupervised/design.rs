//! The standardised table, and the rows of coefficients of its features.

use fewest_core::{Context, Dataset, Error, room};
use fewest_neighbours::{Coordinate, DistanceMetric, Distances, nearest, standardised_distances};
use nalgebra::DMatrix;

use crate::columns::LinearColumns;
use crate::lines::{Line, WIDTH, by_lines};
use crate::projections::{Between, FeatureRows};

/// The standardised columns of the features that vary.
pub(crate) struct Design {
    /// A sample a row, a column each.
    pub(crate) x: DMatrix<f64>,
    pub(crate) rows: FeatureRows,
}

impl Design {
    pub(crate) fn new(data: &Dataset, method: &'static str, context: &Context<'_>) -> Result<Self, Error> {
        let n = data.n_samples();
        if n < 2 {
            return Err(Error::TooFew { what: "samples", minimum: 2, found: n });
        }
        let columns = LinearColumns::with_outputs(data, method, Vec::new(), context)?;
        let rows = FeatureRows::new(&columns, data.n_features());
        let what = "memory for the standardised table";
        drop(room(what, &[3, n, rows.len()], method, "use fewer samples or features")?);
        let x = DMatrix::from_vec(n, rows.len(), columns.gather(&rows.columns)?);
        Ok(Self { x, rows })
    }

    /// Every sample with its `k` nearest after it, and what `of` makes of their squared distances from each
    /// other by the columns.
    ///
    /// Nearest are those by the features, of which a category counts as one.
    pub(super) fn neighbourhoods<T: Send>(
        &self,
        data: &Dataset,
        k: usize,
        method: &'static str,
        context: &Context<'_>,
        of: impl Fn(&DMatrix<f64>) -> Result<T, Error> + Sync,
    ) -> Result<Vec<(Vec<usize>, T)>, Error> {
        let (n, p) = self.x.shape();
        // The matrix of each, and its entries with their places, twice.
        let sizes = [6, n, k.saturating_add(1).min(n), k.saturating_add(1).min(n)];
        drop(room("memory for the neighbourhoods", &sizes, method, "use fewer neighbours")?);
        let by_features = DistanceMetric::SquaredEuclidean;
        let distances = if self.rows.has_categories() {
            standardised_distances(data, by_features, context)?
        } else {
            let fill = |j: usize, out: &mut [f64]| {
                out.copy_from_slice(&self.x.as_slice()[j * n..(j + 1) * n]);
                Ok(())
            };
            Distances::new(by_features, n, &vec![Coordinate::Numeric; p], fill, context)?
        };
        let neighbours = nearest(&distances, k, context)?;
        // Where the distances between samples are those by the columns, and kept, they need not be computed.
        let is_known = !self.rows.has_categories() && distances.between_two(0, 0).is_some();
        let rows = if is_known { DMatrix::zeros(0, 0) } else { self.x.transpose() };
        let square = |a: usize, b: usize| {
            let apart = || {
                let row = |i: usize| &rows.as_slice()[i * p..(i + 1) * p];
                row(a).iter().zip(row(b)).map(|(a, b)| (a - b) * (a - b)).sum()
            };
            if is_known { distances.between_two(a, b).unwrap_or_else(apart) } else { apart() }
        };
        fewest_parallel::try_map(n, |i| {
            context.go_on("the neighbourhoods were compared")?;
            let members: Vec<usize> =
                [i].into_iter().chain(neighbours.of(i).indices.iter().copied()).collect();
            let mut squares = DMatrix::zeros(members.len(), members.len());
            for b in 1..members.len() {
                for a in 0..b {
                    squares[(a, b)] = square(members[a], members[b]);
                    squares[(b, a)] = squares[(a, b)];
                }
            }
            let made = of(&squares)?;
            Ok((members, made))
        })
    }
}

/// A sparse symmetric matrix, row by row, as the sum of one for each neighbourhood.
pub(super) struct SparseSymmetric {
    rows: Vec<Vec<(usize, f64)>>,
}

impl SparseSymmetric {
    /// The sum of entries `(i, j, value)`, in any order.
    pub(super) fn of_sum(n: usize, entries: impl Iterator<Item = (usize, usize, f64)>) -> Self {
        let mut rows = vec![Vec::new(); n];
        for (i, j, value) in entries {
            rows[i].push((j, value));
        }
        for row in &mut rows {
            // Stable, so that the terms of an entry are added in their order.
            row.sort_by_key(|(j, _)| *j);
            *row = row
                .chunk_by(|a, b| a.0 == b.0)
                .map(|same| (same[0].0, same.iter().map(|e| e.1).sum()))
                .collect();
        }
        Self { rows }
    }
}

impl Between for SparseSymmetric {
    fn product(&self, v: &DMatrix<f64>) -> DMatrix<f64> {
        by_lines(v, |i, lines| {
            let mut sums = [0.0; WIDTH];
            for &(j, entry) in &self.rows[i] {
                let Line(values) = lines[j];
                sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += entry * value);
            }
            Line(sums)
        })
    }

    fn dense(&self) -> DMatrix<f64> {
        let mut dense = DMatrix::zeros(self.rows.len(), self.rows.len());
        for (i, row) in self.rows.iter().enumerate() {
            for &(j, value) in row {
                dense[(i, j)] = value;
            }
        }
        dense
    }

    fn trace(&self) -> f64 {
        let own = |(i, row): (usize, &Vec<(usize, f64)>)| {
            row.binary_search_by_key(&i, |(j, _)| *j).map_or(0.0, |at| row[at].1)
        };
        self.rows.iter().enumerate().map(own).sum()
    }

    /// The samples that neighbourhoods connect: each neighbourhood has products with all vectors but those
    /// that are constant on it.
    fn null_sets(&self) -> Vec<Vec<usize>> {
        let mut is_seen = vec![false; self.rows.len()];
        let mut sets = Vec::new();
        for first in 0..self.rows.len() {
            let mut set = Vec::new();
            let mut waiting = vec![first];
            while let Some(i) = waiting.pop() {
                if !std::mem::replace(&mut is_seen[i], true) {
                    set.push(i);
                    waiting.extend(self.rows[i].iter().map(|(j, _)| *j));
                }
            }
            if !set.is_empty() {
                sets.push(set);
            }
        }
        sets
    }
}
