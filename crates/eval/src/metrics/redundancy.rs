//! The redundancy of the selected features.

use fewest_core::{Columns, Error};

use super::real::{centred, correlation_of_centred};

/// The redundancy rate `RED = 1/(m(m−1)) Σ_{k>l} |ρ_{k,l}|` of `features` (Yamada et al. 2014, Section
/// 4.3.1), smaller is better.
///
/// As printed, the sum is over unordered pairs, so it is **half** the mean absolute correlation, in `[0, ½]`.
/// It is a property of the selected features, not of predictions. `None` for fewer than two features; a
/// constant feature counts as uncorrelated; categories enter by their codes. `O(m² n)`.
///
/// # Errors
/// [`Error::InvalidParameter`] for a feature that does not exist; [`Error::Unreadable`].
pub fn redundancy_rate(x: &dyn Columns, features: &[usize]) -> Result<Option<f64>, Error> {
    let n_features = x.n_features();
    if let Some(feature) = features.iter().find(|&&j| j >= n_features) {
        let expected = format!("below the number of features, {n_features}");
        return Err(Error::parameter("features", feature, expected));
    }
    let m = features.len();
    if m < 2 || x.n_samples() == 0 {
        return Ok(None);
    }
    let mut scratch = Vec::new();
    let mut columns = Vec::with_capacity(m);
    for &j in features {
        columns.push(centred(&x.column(j, &mut scratch)?.to_vec(x.n_samples())));
    }
    let mut sum = 0.0;
    for k in 1..m {
        for l in 0..k {
            sum += correlation_of_centred(&columns[k], &columns[l]).abs();
        }
    }
    Ok(Some(sum / (m * (m - 1)) as f64))
}
