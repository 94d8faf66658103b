//! Inner products between all samples, from which features can be taken away.

use fewest_core::Error;

/// `K_il = Σ_j ⟨x_ij, x_lj⟩` over the features present. A feature is taken away in `O(n²)`; when half of the features are
/// gone since the products were last computed they are computed afresh, so that rounding stays that of the features left.
pub(crate) struct Products {
    features: Vec<Vec<f64>>,
    present: Vec<bool>,
    n: usize,
    values: Vec<f64>,
    n_present: usize,
    n_when_fresh: usize,
}

impl Products {
    pub(crate) fn new(features: Vec<Vec<f64>>, n: usize) -> Result<Self, Error> {
        let n_present = features.len();
        let present = vec![true; n_present];
        let mut products =
            Self { features, present, n, values: Vec::new(), n_present, n_when_fresh: n_present };
        products.compute();
        if products.values.iter().any(|value| !value.is_finite()) {
            let hint = "the samples are too large: standardise their features".to_owned();
            return Err(Error::Numerical { what: "a product of samples", hint });
        }
        Ok(products)
    }

    pub(crate) fn feature(&self, j: usize) -> &[f64] {
        &self.features[j]
    }

    pub(crate) fn row(&self, i: usize) -> &[f64] {
        &self.values[i * self.n..(i + 1) * self.n]
    }

    pub(crate) fn remove(&mut self, j: usize) {
        self.present[j] = false;
        self.n_present -= 1;
        if 2 * self.n_present <= self.n_when_fresh {
            self.n_when_fresh = self.n_present;
            self.compute();
        } else {
            add(&self.features[j], -1.0, self.n, &mut self.values);
        }
    }

    fn compute(&mut self) {
        self.values.clear();
        self.values.resize(self.n * self.n, 0.0);
        for (feature, _) in self.features.iter().zip(&self.present).filter(|(_, present)| **present) {
            add(feature, 1.0, self.n, &mut self.values);
        }
    }
}

fn add(feature: &[f64], sign: f64, n: usize, values: &mut [f64]) {
    for coordinate in feature.chunks_exact(n) {
        for (row, &own) in values.chunks_exact_mut(n).zip(coordinate) {
            // Of a category most coordinates are zero.
            if own != 0.0 {
                let factor = sign * own;
                row.iter_mut().zip(coordinate).for_each(|(value, other)| *value += factor * other);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_those_of_the_features_left() {
        let (n, d) = (9, 40);
        let features: Vec<Vec<f64>> = (0..d)
            .map(|j| {
                (0..n * (1 + j % 2)).map(|i| ((i * (j + 2)) as f64 * 0.7).sin() * (j as f64 + 1.0)).collect()
            })
            .collect();
        let mut products = Products::new(features.clone(), n).unwrap();
        let mut left: Vec<usize> = (0..d).collect();
        while left.len() > 1 {
            let gone = left.remove((left.len() * 7) % left.len().max(3) % left.len());
            products.remove(gone);
            let scale: f64 = left.iter().map(|&j| ((j + 1) as f64).powi(2)).sum();
            for i in 0..n {
                for l in 0..n {
                    let expected: f64 = left
                        .iter()
                        .flat_map(|&j| features[j].chunks_exact(n))
                        .map(|coordinate| coordinate[i] * coordinate[l])
                        .sum();
                    assert!((products.row(i)[l] - expected).abs() < 1e-13 * scale.max(1600.0));
                }
            }
        }
    }
}
