//! Features as columns of finite numbers, categories by their levels.

use fewest_core::{Dataset, Error, FeatureKind, order};

/// The values of feature `j`.
///
/// # Errors
/// [`Error::Unreadable`]; [`Error::NonFinite`] naming the cell.
pub fn finite_values(data: &Dataset, j: usize) -> Result<Vec<f64>, Error> {
    let mut values = vec![0.0; data.n_samples()];
    data.x().copy_column(j, &mut values)?;
    data.check_finite(j, &values)?;
    Ok(values)
}

/// The values of a numeric feature; of a category an indicator, 1 or 0, for each level that occurs, in
/// increasing order.
pub fn parts(values: Vec<f64>, kind: &FeatureKind) -> Vec<Vec<f64>> {
    let FeatureKind::Categorical { .. } = kind else { return vec![values] };
    let indicator = |level| values.iter().map(|&value| f64::from(value == level)).collect();
    order::distinct(values.clone()).into_iter().map(indicator).collect()
}

/// The chance that two samples, drawn independently, are of one level; below 1 unless all are.
///
/// `1 − chance` is the variance of all indicators together, and half the mean squared distance that they
/// make.
pub fn chance_of_one_level(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    order::counted(values.to_vec()).into_iter().map(|(_, count)| (count as f64 / n).powi(2)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_indicators_of_a_category_add_up_to_one_and_vary_by_the_chance_that_levels_differ() {
        let kind = FeatureKind::Categorical { levels: ["a", "b", "c", "d"].map(str::to_owned).to_vec() };
        let values = vec![3.0, 0.0, 1.0, 0.0, 3.0, 3.0, 3.0];
        let n = values.len() as f64;
        let columns = parts(values.clone(), &kind);
        assert_eq!(columns.len(), 3, "nothing for a level that does not occur");
        let mut variance = 0.0;
        for column in &columns {
            let mean = column.iter().sum::<f64>() / n;
            variance += column.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / n;
        }
        assert!((variance - (1.0 - chance_of_one_level(&values))).abs() < 1e-15);
        for (i, &value) in values.iter().enumerate() {
            assert_eq!(columns.iter().map(|column| column[i]).sum::<f64>(), 1.0);
            let at = [0.0, 1.0, 3.0].iter().position(|level| *level == value);
            assert_eq!(columns.iter().position(|column| column[i] == 1.0), at);
        }
        assert_eq!(parts(values.clone(), &FeatureKind::Numeric), [values]);
        assert_eq!(chance_of_one_level(&[2.0; 5]), 1.0);
    }
}
