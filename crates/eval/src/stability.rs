//! How much selections from different samples agree.

use fewest_core::{Error, order};
use statrs::distribution::{ContinuousCDF, Normal};

use crate::features::check_features;

/// A measure of agreement with its confidence interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stability {
    /// The measure: 1 for equal selections, about 0 for random ones.
    pub phi: f64,
    /// The estimated variance of the measure; `None` for two selections: of one size they have equal shares
    /// in the measure, so that the estimate would be 0 whatever they are.
    pub variance: Option<f64>,
    /// The ends of the confidence interval, the lower first, within the range of the measure; `None` where no
    /// variance is estimated.
    pub interval: Option<(f64, f64)>,
}

fn check(selections: &[&[usize]], n_features: usize) -> Result<(), Error> {
    if selections.len() < 2 {
        return Err(Error::TooFew { what: "selections to compare", minimum: 2, found: selections.len() });
    }
    for selection in selections {
        check_features(selection, n_features)?;
        let mut sorted = selection.to_vec();
        order::sort_indices(&mut sorted);
        if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(Error::parameter("features", pair[0], "named once in a selection"));
        }
    }
    Ok(())
}

/// The stability measure of Nogueira, Sechidis and Brown (2018, *JMLR* 18(174)), for `M` selections of any
/// sizes from `d` features: `Φ = 1 − (1/d) Σ_f s_f² / (k̄/d (1 − k̄/d))` (their Definition 4) with
/// `s_f² = M/(M−1) p̂_f (1 − p̂_f)`, where `p̂_f` is the share of selections with feature `f` and `k̄` the
/// mean size. In `[−1/(M−1), 1]`. For selections of one size it is Kuncheva's index.
///
/// The interval at level `confidence` in `(0, 1)` is the normal one with the variance of their Theorem 7, cut
/// at the ends of the measure's range: values beyond cannot be, so that nothing it covers is lost.
/// `O(M k̄ log k̄)`: features in no selection are not visited.
///
/// ```
/// use fewest_eval::stability::nogueira;
///
/// let stability = nogueira(&[&[0, 1], &[0, 1], &[0, 2]], 10, 0.95)?;
/// assert!((stability.phi - 0.58333333).abs() < 1e-6);
/// # Ok::<(), fewest_core::Error>(())
/// ```
///
/// # Errors
/// [`Error::TooFew`] for fewer than two selections, or when all are empty or hold all features;
/// [`Error::InvalidParameter`] for a feature that does not exist or is named twice, or a confidence out of
/// range.
pub fn nogueira(selections: &[&[usize]], n_features: usize, confidence: f64) -> Result<Stability, Error> {
    check(selections, n_features)?;
    if !(confidence > 0.0 && confidence < 1.0) {
        return Err(Error::parameter("confidence", confidence, "above 0 and below 1"));
    }
    let (m, d) = (selections.len() as f64, n_features as f64);
    let mut counts = std::collections::BTreeMap::new();
    for &feature in selections.iter().copied().flatten() {
        *counts.entry(feature).or_insert(0_usize) += 1;
    }
    let mean_size = selections.iter().map(|selection| selection.len()).sum::<usize>() as f64 / m;
    let by_chance = mean_size / d * (1.0 - mean_size / d);
    if by_chance <= 0.0 {
        let (what, minimum) = ("features that some but not all selections leave out", 1);
        return Err(Error::TooFew { what, minimum, found: 0 });
    }
    let share = |count: usize| count as f64 / m;
    let spread: f64 =
        counts.values().map(|&count| share(count) * (1.0 - share(count))).sum::<f64>() * m / (m - 1.0);
    let phi = 1.0 - spread / d / by_chance;
    let terms: Vec<f64> = selections
        .iter()
        .map(|selection| {
            let size = selection.len() as f64;
            let agreement: f64 =
                selection.iter().filter_map(|feature| counts.get(feature)).map(|&count| share(count)).sum();
            let bracket = 2.0 * size * mean_size / (d * d) - size / d - mean_size / d + 1.0;
            (agreement / d - size * mean_size / (d * d) + 0.5 * phi * bracket) / by_chance
        })
        .collect();
    let mean = terms.iter().sum::<f64>() / m;
    let spread: f64 = terms.iter().map(|term| (term - mean).powi(2)).sum();
    let variance = (selections.len() > 2).then(|| 4.0 / (m * m) * spread);
    let (least, most) = (-1.0 / (m - 1.0), 1.0);
    let interval = variance.map(|variance| {
        let width = Normal::standard().inverse_cdf(0.5 + 0.5 * confidence) * variance.sqrt();
        ((phi - width).max(least).min(phi), (phi + width).min(most).max(phi))
    });
    Ok(Stability { phi, variance, interval })
}

/// The mean of `similarity(shared, size, other size)` over all pairs of selections.
fn mean_over_pairs(selections: &[&[usize]], similarity: impl Fn(f64, f64, f64) -> f64) -> f64 {
    let sorted: Vec<Vec<usize>> = selections
        .iter()
        .map(|selection| {
            let mut sorted = selection.to_vec();
            order::sort_indices(&mut sorted);
            sorted
        })
        .collect();
    let mut sum = 0.0;
    for (i, a) in sorted.iter().enumerate() {
        for b in &sorted[..i] {
            let shared = a.iter().filter(|feature| b.binary_search(feature).is_ok()).count();
            sum += similarity(shared as f64, a.len() as f64, b.len() as f64);
        }
    }
    sum / (sorted.len() * (sorted.len() - 1) / 2) as f64
}

/// Kuncheva's consistency index (2007), `(r d − k²) / (k (d − k))` for two selections of `k` of `d` features
/// that share `r`, averaged over all pairs. In `[−1, 1]`.
///
/// # Errors
/// As [`nogueira`]; [`Error::ShapeMismatch`] for selections of different sizes.
pub fn kuncheva(selections: &[&[usize]], n_features: usize) -> Result<f64, Error> {
    check(selections, n_features)?;
    let size = selections.first().map_or(0, |selection| selection.len());
    if let Some(other) = selections.iter().find(|selection| selection.len() != size) {
        return Err(Error::ShapeMismatch {
            what: "features of a selection",
            expected: size,
            found: other.len(),
        });
    }
    if size == 0 || size == n_features {
        let expected = format!("at least 1 and below the number of features, {n_features}");
        return Err(Error::parameter("k", size, expected));
    }
    let d = n_features as f64;
    Ok(mean_over_pairs(selections, |shared, k, _| (shared * d - k * k) / (k * (d - k))))
}

/// The Jaccard index `|A ∩ B| / |A ∪ B|`, averaged over all pairs of selections. In `[0, 1]`; two empty
/// selections agree. It is not corrected for chance: it grows with the size of the selections.
///
/// # Errors
/// [`Error::TooFew`] for fewer than two selections; [`Error::InvalidParameter`] for a feature named twice.
pub fn jaccard(selections: &[&[usize]]) -> Result<f64, Error> {
    check(selections, usize::MAX)?;
    Ok(mean_over_pairs(selections, |shared, a, b| {
        let union = a + b - shared;
        if union > 0.0 { shared / union } else { 1.0 }
    }))
}

/// Spearman's rank correlation between scores of the same features, averaged over all pairs of score vectors.
/// In `[−1, 1]`; ties share their mean rank, NaN ranks below everything, and constant scores are uncorrelated
/// with any.
///
/// # Errors
/// [`Error::TooFew`] for fewer than two score vectors or features; [`Error::ShapeMismatch`] for different
/// numbers of features.
pub fn spearman(scores: &[&[f64]]) -> Result<f64, Error> {
    if scores.len() < 2 {
        return Err(Error::TooFew { what: "rankings to compare", minimum: 2, found: scores.len() });
    }
    let n_features = scores[0].len();
    if n_features < 2 {
        return Err(Error::TooFew { what: "features to rank", minimum: 2, found: n_features });
    }
    if let Some(other) = scores.iter().find(|scores| scores.len() != n_features) {
        return Err(Error::ShapeMismatch {
            what: "features ranked",
            expected: n_features,
            found: other.len(),
        });
    }
    let ranks: Vec<Vec<f64>> = scores.iter().map(|scores| centred_ranks(scores)).collect();
    let mut sum = 0.0;
    for (i, a) in ranks.iter().enumerate() {
        for b in &ranks[..i] {
            sum += crate::metrics::correlation_of_centred(a, b);
        }
    }
    Ok(sum / (ranks.len() * (ranks.len() - 1) / 2) as f64)
}

fn centred_ranks(scores: &[f64]) -> Vec<f64> {
    let order = fewest_core::rank(scores, true);
    let equal = |a: usize, b: usize| scores[a] == scores[b] || (scores[a].is_nan() && scores[b].is_nan());
    let mut ranks = vec![0.0; scores.len()];
    let mut first = 0;
    for tied in order.chunk_by(|&a, &b| equal(a, b)) {
        let middle = first as f64 + (tied.len() - 1) as f64 / 2.0;
        for &j in tied {
            ranks[j] = middle - (scores.len() - 1) as f64 / 2.0;
        }
        first += tied.len();
    }
    ranks
}

#[cfg(test)]
mod tests;
