//! Weighted sums of kernel values over all pairs of samples, with and without a feature.

use fewest_core::{Context, Error};
use fewest_kernels::exp_in_place;

use crate::Round;
use crate::elimination::{JUDGED, go_on_in_row};
use crate::kernel::KernelMatrix;
use fewest_linalg::dot;

/// Pairs processed at a time: they fit in the first cache of the processor.
const PAIRS: usize = 1024;

/// Features scored side by side.
const BLOCK: usize = 64;

/// `Σ_il w_il k(x_i, x_l) − Σ_il w_il k₍₋ⱼ₎(x_i, x_l)` over `samples` for every feature `j` of the round,
/// where `column(l, …)` writes `w_il` for the places `i ≤ l` in `samples`; `w` is symmetric, and its diagonal
/// has no effect for a Gaussian kernel. With the linear kernel the sum is `Σ w_il ⟨x_ij, x_lj⟩`, diagonal
/// included. NaN for features that a stopped run has not reached.
pub(super) fn changes(
    round: &Round<'_>,
    samples: &[usize],
    column: &dyn Fn(usize, &mut [f64]),
    context: &Context<'_>,
) -> Result<Vec<f64>, Error> {
    let n = samples.len();
    // Column after column, the pairs (0, l) … (l − 1, l); each represents its mirror image too.
    let (mut weights, mut diagonal, mut buffer) = (Vec::new(), Vec::with_capacity(n), vec![0.0; n]);
    for l in 0..n {
        go_on_in_row(l, context)?;
        column(l, &mut buffer[..=l]);
        weights.extend(buffer[..l].iter().map(|weight| 2.0 * weight));
        diagonal.push(buffer[l]);
    }
    let coordinates = |at: usize| -> Vec<Vec<f64>> {
        round.coordinates(at).map(|values| samples.iter().map(|&i| values[i]).collect()).collect()
    };
    let distances: Vec<f64> = match round.kernel {
        KernelMatrix::Linear { .. } => Vec::new(),
        KernelMatrix::Gaussian { distances, gamma, .. } => {
            let mut values = Vec::with_capacity(weights.len());
            for l in 0..n {
                go_on_in_row(l, context)?;
                let row = distances.row(samples[l]);
                values.extend(samples[..l].iter().map(|&i| gamma * row[i]));
            }
            values
        }
    };
    let change = |at: usize, buffer: &mut Vec<f64>| -> Result<f64, Error> {
        let coordinates = coordinates(at);
        match round.kernel {
            KernelMatrix::Linear { .. } => coordinates
                .iter()
                .map(|x| {
                    let mut sum: f64 = x.iter().zip(&diagonal).map(|(x, w)| w * x * x).sum();
                    let mut first = 0;
                    for l in 0..n {
                        go_on_in_row(l, context)?;
                        sum += x[l] * dot(&weights[first..first + l], &x[..l]);
                        first += l;
                    }
                    Ok(sum)
                })
                .sum(),
            KernelMatrix::Gaussian { gamma, .. } => {
                let (mut sum, mut first, mut l) = (0.0, 0, 1);
                while l < n {
                    go_on_in_row(n, context)?;
                    buffer.clear();
                    // Twice as long as the pairs: the exponents with the feature, then those without.
                    let start = l;
                    let mut length = 0;
                    while l < n && (length == 0 || length + l <= PAIRS) {
                        length += l;
                        l += 1;
                    }
                    buffer.extend(distances[first..first + length].iter().map(|distance| -distance));
                    buffer.extend_from_within(..length);
                    let mut rest = &mut buffer[length..];
                    for l in start..l {
                        let (column, after) = rest.split_at_mut(l);
                        for x in &coordinates {
                            let own = x[l];
                            for (value, other) in column.iter_mut().zip(x) {
                                *value += gamma * (own - other) * (own - other);
                            }
                        }
                        // Rounding may leave a distance just below zero.
                        column.iter_mut().for_each(|value| *value = value.min(0.0));
                        rest = after;
                    }
                    exp_in_place(buffer);
                    let (with, without) = buffer.split_at_mut(length);
                    // The difference of each pair first: nearly equal sums would cancel.
                    without.iter_mut().zip(with).for_each(|(without, with)| *without = *with - *without);
                    sum += dot(without, &weights[first..first + length]);
                    first += length;
                }
                Ok(sum)
            }
        }
    };
    let mut all = Vec::with_capacity(round.n_features());
    for first in (0..round.n_features()).step_by(BLOCK) {
        let block = BLOCK.min(round.n_features() - first);
        let changes = fewest_parallel::map_with(block, |buffer, at| {
            context.go_on(JUDGED)?;
            change(first + at, buffer)
        });
        for change in changes {
            match change {
                Err(Error::Stopped { .. }) => all.push(f64::NAN),
                change => all.push(change?),
            }
        }
    }
    Ok(all)
}
