//! Latent factors of samples.

use std::borrow::Cow;

use fewest_core::{Context, Dataset, Error, Graph, Target, choice, derive_seed};
use fewest_linalg::{Krylov, largest_eigenpairs};
use nalgebra::DMatrix;

use super::METHOD;

/// Vectors beyond those wanted.
const EXTRA: usize = 6;

/// Blocks of a Krylov space, and restarts; the residual to reach is a share of the mean degree.
const BLOCKS: usize = 8;
const RESTARTS: usize = 25;
const RESIDUAL: f64 = 1e-10;

/// An eigenvalue that is zero but for rounding, in that unit.
const ZERO: f64 = 1e-9;

choice! {
    /// Where latent factors of the samples come from.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub enum LatentFactors {
        /// The leading eigenvectors of the modularity matrix `A − d dᵀ / Σ d` of the links, `d = A 1`, of
        /// length `√n`; fewer where fewer eigenvalues are above zero.
        Links {
            /// Number of factors.
            factors: usize = 5, Count(1);
        } = "links",
        /// The outputs of a real target.
        Target = "target",
    }
}

impl LatentFactors {
    /// `P` of the samples, factor after factor.
    pub(super) fn of(self, data: &Dataset, context: &Context<'_>) -> Result<Vec<f64>, Error> {
        let Self::Links { factors } = self else {
            return match data.target() {
                Target::Real(outputs) => {
                    Ok((0..outputs.n_outputs()).flat_map(|k| outputs.output(k).iter().copied()).collect())
                }
                other => {
                    let expected = "a real target, whose outputs are the factors";
                    Err(Error::UnsupportedTarget { method: METHOD, expected, found: other.describe() })
                }
            };
        };
        let none = || Error::Unsupported {
            method: METHOD,
            what: "selecting without links between samples".to_owned(),
            instead: "name a table of links (--links), or give latent=target with factors as outputs"
                .to_owned(),
        };
        let links = data.sample_graph().ok_or_else(none)?;
        let found = leading(links, factors, context)?;
        if found.is_empty() { Err(none()) } else { Ok(found) }
    }
}

/// The leading eigenvectors of the modularity matrix, of length `√n`.
fn leading(links: &Graph, wanted: usize, context: &Context<'_>) -> Result<Vec<f64>, Error> {
    // Linked in either direction is linked.
    let links = if links.is_directed() { Cow::Owned(links.symmetrised()) } else { Cow::Borrowed(links) };
    let n = links.n_nodes();
    let wanted = wanted.min(n);
    let degrees: Vec<f64> = (0..n).map(|i| links.weights(i).iter().sum()).collect();
    let total: f64 = degrees.iter().sum();
    let n_linked = degrees.iter().filter(|degree| **degree > 0.0).count();
    if n_linked == 0 {
        return Ok(Vec::new());
    }
    let unit = total / n_linked as f64;
    let product = |v: &DMatrix<f64>| {
        context.go_on("the factors of the links were known")?;
        let mut out = DMatrix::zeros(n, v.ncols());
        for (mut out, from) in out.column_iter_mut().zip(v.column_iter()) {
            let share = degrees.iter().zip(from.iter()).map(|(d, v)| d * v).sum::<f64>() / total;
            for i in 0..n {
                let linked = links.neighbours(i).iter().zip(links.weights(i));
                let sum: f64 = linked.map(|(&j, &weight)| weight * from[j as usize]).sum();
                out[i] = sum - share * degrees[i];
            }
        }
        Ok::<_, Error>(out)
    };
    let uniform = |at: usize| derive_seed(0, at as u64) as f64 / u64::MAX as f64 - 0.5;
    let start = DMatrix::from_fn(n, (wanted + EXTRA).min(n), |i, j| uniform(i + j * n));
    let krylov = Krylov { blocks: BLOCKS, tolerance: RESIDUAL * unit, restarts: RESTARTS };
    let found = largest_eigenpairs(start, wanted, &[], krylov, product)?.ok_or(Error::Numerical {
        what: "the factors of the links",
        hint: "their weights are too large or too small; take weights closer to 1".to_owned(),
    })?;
    let n_positive = found.values.iter().filter(|value| **value > ZERO * unit).count();
    let scale = (n as f64).sqrt();
    Ok(found.vectors.columns(0, n_positive).iter().map(|entry| entry * scale).collect())
}
