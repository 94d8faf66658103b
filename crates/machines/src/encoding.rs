//! Tables as points in space, for methods with distances or inner products.

use fewest_core::{Columns, Dataset, Error, FeatureKind, order};

/// How each feature becomes coordinates, learned from training samples.
///
/// A numeric feature is standardised: minus the mean of the training samples, divided by their standard
/// deviation (that divides by n); a constant one becomes 0. A categorical feature becomes a coordinate for
/// each level in the training samples, `1/√2` for its own level and 0 for others, so that samples of two
/// levels are at distance 1; a level that does not occur in training is all zeros.
#[derive(Debug, Clone)]
pub struct Encoding {
    names: Vec<String>,
    features: Vec<Feature>,
    width: usize,
}

#[derive(Debug, Clone)]
enum Feature {
    Numeric { mean: f64, factor: f64 },
    Categorical { levels: Vec<f64> },
}

/// Points, one after the other.
#[derive(Debug, Clone, PartialEq)]
pub struct Points {
    /// All coordinates.
    pub values: Vec<f64>,
    /// Number of points.
    pub n_samples: usize,
    /// Coordinates of a point.
    pub width: usize,
}

impl Points {
    /// The coordinates of point `i`.
    pub fn point(&self, i: usize) -> &[f64] {
        &self.values[i * self.width..(i + 1) * self.width]
    }
}

/// `‖a − b‖²`.
pub fn squared_distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
}

/// The value of feature `j` in every sample, all finite.
///
/// # Errors
/// [`Error::Unreadable`]; [`Error::NonFinite`].
pub fn finite_column(x: &dyn Columns, names: &[String], j: usize) -> Result<Vec<f64>, Error> {
    let values = x.column(j, &mut Vec::new())?.to_vec(x.n_samples());
    match values.iter().position(|value| !value.is_finite()) {
        None => Ok(values),
        Some(row) => {
            let name = names.get(j).map_or_else(|| format!("f{j}"), |name| format!("`{name}`"));
            Err(Error::NonFinite { name, column: j, row, value: values[row] })
        }
    }
}

/// The names of all features of `data`.
pub fn feature_names(data: &Dataset) -> Vec<String> {
    (0..data.n_features()).map(|j| data.feature_name(j)).collect()
}

/// Whether `x` has as many features as a model was trained on.
///
/// # Errors
/// [`Error::ShapeMismatch`] unless it has.
pub fn check_width(x: &dyn Columns, expected: usize) -> Result<(), Error> {
    let found = x.n_features();
    if found == expected {
        return Ok(());
    }
    Err(Error::ShapeMismatch { what: "features to predict from", expected, found })
}

impl Encoding {
    /// Learns from `data`.
    ///
    /// # Errors
    /// [`Error::NonFinite`]; [`Error::Numerical`] for values whose squares overflow.
    pub fn fit(data: &Dataset) -> Result<Self, Error> {
        let names = feature_names(data);
        let n = data.n_samples() as f64;
        let mut features = Vec::with_capacity(names.len());
        let mut width = 0;
        for j in 0..data.n_features() {
            let values = finite_column(data.x(), &names, j)?;
            features.push(match data.feature_kind(j) {
                FeatureKind::Categorical { .. } => {
                    let levels = order::distinct(values);
                    width += levels.len();
                    Feature::Categorical { levels }
                }
                _ => {
                    width += 1;
                    let constant = values.iter().all(|value| *value == values[0]);
                    let mean = if constant { values[0] } else { values.iter().sum::<f64>() / n };
                    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / n;
                    if !variance.is_finite() {
                        let hint = format!("the values of `{}` are too large: rescale them", names[j]);
                        return Err(Error::Numerical { what: "standardisation", hint });
                    }
                    // Values whose squares underflow count as constant.
                    let factor = if variance > 0.0 { 1.0 / variance.sqrt() } else { 0.0 };
                    Feature::Numeric { mean, factor }
                }
            });
        }
        Ok(Self { names, features, width })
    }

    /// The coordinates of each feature in `points`, coordinate after coordinate.
    pub fn by_feature(&self, points: &Points) -> Vec<Vec<f64>> {
        let mut first = 0;
        let mut features = Vec::with_capacity(self.features.len());
        for feature in &self.features {
            let count = match feature {
                Feature::Numeric { .. } => 1,
                Feature::Categorical { levels } => levels.len(),
            };
            let value = |c: usize| (0..points.n_samples).map(move |i| points.values[i * points.width + c]);
            features.push((first..first + count).flat_map(value).collect());
            first += count;
        }
        features
    }

    /// The samples of `x` as points.
    ///
    /// # Errors
    /// [`Error::ShapeMismatch`] for another number of features; [`Error::NonFinite`].
    pub fn encode(&self, x: &dyn Columns) -> Result<Points, Error> {
        check_width(x, self.features.len())?;
        let (n_samples, width) = (x.n_samples(), self.width);
        let mut values = vec![0.0; n_samples * width];
        let mut first = 0;
        for (j, feature) in self.features.iter().enumerate() {
            let column = finite_column(x, &self.names, j)?;
            match feature {
                Feature::Numeric { mean, factor } => {
                    for (i, value) in column.iter().enumerate() {
                        values[i * width + first] = (value - mean) * factor;
                    }
                    first += 1;
                }
                Feature::Categorical { levels } => {
                    for (i, value) in column.iter().enumerate() {
                        if let Some(level) = levels.iter().position(|level| level == value) {
                            values[i * width + first + level] = std::f64::consts::FRAC_1_SQRT_2;
                        }
                    }
                    first += levels.len();
                }
            }
        }
        Ok(Points { values, n_samples, width })
    }
}
