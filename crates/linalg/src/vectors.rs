//! A few operations on slices.

use multiversion::multiversion;

/// `out += scale x`.
#[multiversion(targets("x86_64+avx2"))]
pub fn add_scaled(out: &mut [f64], scale: f64, x: &[f64]) {
    for (out, x) in out.iter_mut().zip(x) {
        *out += scale * x;
    }
}

/// Takes the mean off.
pub fn centre(values: &mut [f64]) {
    let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
    values.iter_mut().for_each(|value| *value -= mean);
}

/// The largest entry of the projected gradient over `d ≥ 0`.
pub fn projected(d: &[f64], gradient: &[f64]) -> f64 {
    let entry = |(d, g): (&f64, &f64)| if *d > 0.0 { g.abs() } else { (-g).max(0.0) };
    d.iter().zip(gradient).map(entry).fold(0.0, f64::max)
}
