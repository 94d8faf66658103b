//! The values of a feature.

/// Whether every value is the same.
pub(super) fn is_constant(values: &[f64]) -> bool {
    values.iter().all(|value| *value == values[0])
}

/// What values are to be divided by so that their squares neither overflow nor vanish; 1 for all but extreme
/// ones.
pub(super) fn unit(values: &[f64]) -> f64 {
    let largest = values.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
    if largest == 0.0 || (1e-100..1e100).contains(&largest) { 1.0 } else { largest }
}

/// Subtracts the mean; says the standard deviation (divided by n).
pub(super) fn centre(values: &mut [f64]) -> f64 {
    let n = values.len() as f64;
    // In two passes, and a third for what the first rounding left: an offset costs no accuracy.
    for _ in 0..2 {
        let mean = values.iter().map(|value| value / n).sum::<f64>();
        values.iter_mut().for_each(|value| *value -= mean);
    }
    (values.iter().map(|value| value * value).sum::<f64>() / n).sqrt()
}

/// To mean 0 and standard deviation 1 (divided by n); a constant becomes 0.
pub(super) fn standardise(values: &mut [f64]) {
    if !fewest_columns::standardise(values) {
        values.fill(0.0);
    }
}
