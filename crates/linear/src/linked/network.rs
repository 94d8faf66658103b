//! The links of the samples as a matrix, of which only products are computed.

use std::borrow::Cow;

use fewest_core::{Context, Error, Graph, derive_seed};
use fewest_linalg::{Eigenpairs, Krylov, largest_eigenpairs};
use nalgebra::DMatrix;

use crate::lines::{Line, WIDTH, by_lines};

/// Vectors beyond those wanted.
const EXTRA: usize = 6;

/// Nodes whose links are added up by one task.
const NODES: usize = 1024;

/// Most communities that are looked for by the gap between eigenvalues.
const MOST_CLUSTERS: usize = 15;

/// Eigenvectors in full, and those that tell the number of communities: residuals as shares of the mean
/// degree. Vectors in the bulk of the spectrum hardly converge, and say nothing of communities.
const FULL: Krylov = Krylov { blocks: 8, tolerance: 1e-10, restarts: 25 };
const ROUGH: Krylov = Krylov { blocks: 8, tolerance: 1e-2, restarts: 6 };

/// The largest residual, in that unit, that is not told.
const SMALL: f64 = 1e-5;

/// An eigenvalue that is zero but for rounding, in that unit.
const ZERO: f64 = 1e-9;

/// Links without a direction: `A`, and the degrees `d = A 1`.
pub(super) struct Network<'a> {
    graph: Cow<'a, Graph>,
    degrees: Vec<f64>,
    /// `1ᵀ A 1`: every link twice.
    total: f64,
}

/// The matrix whose eigenvectors are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operator {
    /// `A`.
    Links,
    /// `A − d dᵀ / Σ d`.
    Modularity,
}

/// Eigenvectors of the largest eigenvalues above zero, the largest first.
pub(super) struct Leading {
    pub(super) values: Vec<f64>,
    pub(super) vectors: DMatrix<f64>,
    /// Number of communities: that asked for, or by the largest gap.
    pub(super) clusters: usize,
    pub(super) notes: Vec<String>,
}

impl<'a> Network<'a> {
    /// Nodes are linked that are linked in either direction, with the larger weight.
    pub(super) fn new(graph: &'a Graph) -> Self {
        let graph = if graph.is_directed() { Cow::Owned(graph.symmetrised()) } else { Cow::Borrowed(graph) };
        let degrees: Vec<f64> = (0..graph.n_nodes()).map(|i| graph.weights(i).iter().sum()).collect();
        Self { total: degrees.iter().sum(), degrees, graph }
    }

    /// Number of nodes.
    pub(super) fn n(&self) -> usize {
        self.degrees.len()
    }

    pub(super) fn degrees(&self) -> &[f64] {
        &self.degrees
    }

    /// The mean degree of the nodes with links, 0 without links.
    fn unit(&self) -> f64 {
        let linked = self.degrees.iter().filter(|degree| **degree > 0.0).count();
        self.total / linked.max(1) as f64
    }

    /// `Σ_ij aᵢⱼ²`.
    pub(super) fn squared_norm(&self) -> f64 {
        (0..self.n()).map(|i| self.graph.weights(i).iter().map(|a| a * a).sum::<f64>()).sum()
    }

    /// `A v`.
    pub(super) fn product(&self, v: &DMatrix<f64>) -> DMatrix<f64> {
        by_lines(v, |i, lines| {
            let mut sums = [0.0; WIDTH];
            for (&j, &weight) in self.graph.neighbours(i).iter().zip(self.graph.weights(i)) {
                let Line(values) = lines[j as usize];
                sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += weight * value);
            }
            Line(sums)
        })
    }

    /// `(D − A) v`.
    pub(super) fn laplacian_product(&self, v: &DMatrix<f64>) -> DMatrix<f64> {
        let mut product = -self.product(v);
        for (mut out, from) in product.column_iter_mut().zip(v.column_iter()) {
            let terms = out.iter_mut().zip(from.iter()).zip(&self.degrees);
            terms.for_each(|((out, value), degree)| *out += degree * value);
        }
        product
    }

    /// `Σ_{i<j} aᵢⱼ (vᵢ − vⱼ)²` of every column of `v`, a line for each node: `vᵀ (D − A) v`.
    pub(super) fn squared_differences(&self, v: &[Line]) -> [f64; WIDTH] {
        let sums = fewest_parallel::map(self.n().div_ceil(NODES), |part| {
            let mut sums = [0.0; WIDTH];
            for i in part * NODES..self.n().min((part + 1) * NODES) {
                let Line(own) = v[i];
                for (&j, &weight) in self.graph.neighbours(i).iter().zip(self.graph.weights(i)) {
                    let Line(other) = v[j as usize];
                    for (sum, (a, b)) in sums.iter_mut().zip(own.iter().zip(&other)) {
                        *sum += weight * (a - b) * (a - b);
                    }
                }
            }
            sums
        });
        // Every link was met twice.
        sums.into_iter().fold([0.0; WIDTH], |all, part| std::array::from_fn(|k| all[k] + 0.5 * part[k]))
    }

    fn operate(&self, operator: Operator, v: &DMatrix<f64>) -> DMatrix<f64> {
        let mut product = self.product(v);
        if operator == Operator::Modularity && self.total > 0.0 {
            for (mut out, from) in product.column_iter_mut().zip(v.column_iter()) {
                let share = fewest_linalg::dot(&self.degrees, from.into_owned().as_slice()) / self.total;
                out.iter_mut().zip(&self.degrees).for_each(|(out, degree)| *out -= share * degree);
            }
        }
        product
    }

    /// The leading eigenvectors, as many as there are `clusters`, or as there are by the largest gap between
    /// eigenvalues: from 2 to 15 `c`, that where `λ_c − λ_{c+1}` is largest. Only eigenvalues above zero
    /// count, since others tell no community.
    pub(super) fn leading(
        &self,
        operator: Operator,
        clusters: Option<usize>,
        context: &Context<'_>,
    ) -> Result<Leading, Error> {
        let n = self.n();
        if let Some(clusters) = clusters.filter(|clusters| *clusters > n) {
            let expected = format!("at most the number of samples, {n}");
            return Err(Error::parameter("clusters", clusters, expected));
        }
        let unit = self.unit();
        let mut notes = Vec::new();
        if unit <= 0.0 {
            let clusters = clusters.unwrap_or(n.min(2));
            return Ok(Leading { values: Vec::new(), vectors: DMatrix::zeros(n, 0), clusters, notes });
        }
        let find = |start: DMatrix<f64>, wanted: usize, krylov: Krylov| -> Result<Eigenpairs, Error> {
            let krylov = Krylov { tolerance: krylov.tolerance * unit, ..krylov };
            let product = |v: &DMatrix<f64>| {
                context.go_on("the communities of the links were known")?;
                Ok::<_, Error>(self.operate(operator, v))
            };
            largest_eigenpairs(start, wanted, &[], krylov, product)?.ok_or(Error::Numerical {
                what: "the eigenvectors of the links",
                hint: "their weights are too large or too small; take weights closer to 1".to_owned(),
            })
        };
        let uniform = |at: usize| derive_seed(0, at as u64) as f64 / u64::MAX as f64 - 0.5;
        let width = |wanted: usize| (wanted + EXTRA).min(n);
        let from_noise = |wanted: usize| DMatrix::from_fn(n, width(wanted), |i, j| uniform(i + j * n));
        let (clusters, start) = match clusters {
            Some(clusters) => (clusters, from_noise(clusters)),
            None => {
                let most = (MOST_CLUSTERS + 1).min(n);
                let rough = find(from_noise(most), most, ROUGH)?;
                let c = by_gap(&rough.values);
                notes.push(format!(
                    "`clusters` was not given: it is {c}, by the largest gap between eigenvalues of the links"
                ));
                let columns = width(c).min(rough.vectors.ncols());
                (c, rough.vectors.columns(0, columns).into_owned())
            }
        };
        let found = find(start, clusters, FULL)?;
        if found.residual > SMALL * unit {
            notes.push(format!(
                "eigenvector {clusters} of the links is among many with nearly the same eigenvalue (residual \
                 {:.1e} of {:.3}): it tells no community, fewer `clusters` would do",
                found.residual,
                found.values.last().copied().unwrap_or(0.0),
            ));
        }
        let positive = found.values.iter().filter(|value| **value > ZERO * unit).count();
        if positive < clusters {
            notes.push(format!(
                "number of eigenvalues of the links above 0: {positive}, fewer than `clusters`, {clusters}"
            ));
        }
        let vectors = found.vectors.columns(0, positive).into_owned();
        Ok(Leading { values: found.values[..positive].to_vec(), vectors, clusters, notes })
    }
}

/// The number of values before the largest gap, at least 2 where there are as many.
fn by_gap(values: &[f64]) -> usize {
    let mut best = (0.0, values.len().min(2));
    for (c, pair) in (1..).zip(values.windows(2)).filter(|(c, _)| *c >= 2) {
        let gap = pair[0] - pair[1];
        if gap > best.0 {
            best = (gap, c);
        }
    }
    best.1
}
