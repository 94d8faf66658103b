//! Squared distances between all samples, from which features can be taken away.

use fewest_core::{Context, Error};

use crate::fast;

/// Coordinates summed at once; the sums of blocks are added after that, so that thousands of coordinates cost
/// few digits.
const BLOCK: usize = 32;

/// Rows between two looks at the clock.
const ROWS: usize = 64;

/// Rounding errors, in units of `2⁻⁵³` of a distance, above which it is computed again: 2.5e-13 of it.
const MOST_ERRORS: f64 = 2250.0;

/// A whole row is computed again if at least one in this many of its distances must be.
const MANY: usize = 8;

/// `D_il = Σ_j ‖x_ij − x_lj‖²` over the features present, all `n²` of them, with each feature's coordinates:
/// `8 n² + 8 n d` bytes, and `8 n²` more once a feature is taken away. A feature is taken away in `O(n²)`.
///
/// A difference of large numbers has the rounding of the large ones. So for each pair a bound on its error is
/// kept, and if it exceeds 2.5e-13 of the distance, the distance is computed again from the remaining
/// features: this happens when the distance has become a small part of its old value, so a pair is computed
/// about `log d` times while all features are removed one by one.
///
/// ```
/// use fewest_core::Context;
/// use fewest_kernels::SquaredDistances;
///
/// let context = Context::default();
/// let mut distances = SquaredDistances::new(vec![vec![0.0, 3.0], vec![1.0, 5.0]], 2, &context)?;
/// assert_eq!(distances.row(0), [0.0, 25.0]);
/// distances.remove(1, &context)?;
/// assert_eq!(distances.values(), [0.0, 9.0, 9.0, 0.0]);
/// # Ok::<(), fewest_core::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct SquaredDistances {
    features: Vec<Vec<f64>>,
    present: Vec<bool>,
    n: usize,
    values: Vec<f64>,
    /// Bounds on the rounding error of each value, in units of `2⁻⁵³`; none as long as all values are fresh.
    errors: Vec<f64>,
}

impl SquaredDistances {
    /// From the coordinates of each feature in all `n_samples` samples, coordinate after coordinate: one for
    /// a number, several for a category. `O(n² d)`.
    ///
    /// # Errors
    /// [`Error::TooFew`] without a sample; [`Error::ShapeMismatch`] unless every feature has whole
    /// coordinates; [`Error::NonFinite`]; [`Error::Numerical`] if a distance overflows or there is no memory
    /// for them; [`Error::Stopped`] when `context` says stop.
    pub fn new(features: Vec<Vec<f64>>, n_samples: usize, context: &Context<'_>) -> Result<Self, Error> {
        if n_samples == 0 {
            return Err(Error::TooFew { what: "samples", minimum: 1, found: 0 });
        }
        for (column, values) in features.iter().enumerate() {
            if values.is_empty() || !values.len().is_multiple_of(n_samples) {
                let expected = values.len().div_ceil(n_samples).max(1) * n_samples;
                return Err(Error::ShapeMismatch {
                    what: "values of a feature",
                    expected,
                    found: values.len(),
                });
            }
            if let Some(position) = values.iter().position(|value| !value.is_finite()) {
                let (name, row) = (format!("f{column}"), position % n_samples);
                return Err(Error::NonFinite { name, column, row, value: values[position] });
            }
        }
        let present = vec![true; features.len()];
        let values = room(n_samples)?;
        let mut distances = Self { features, present, n: n_samples, values, errors: Vec::new() };
        let mut row = vec![0.0; n_samples];
        for i in 0..n_samples {
            go_on(i, context)?;
            distances.compute_row(i, None, &mut row);
            if row.iter().any(|value| !value.is_finite()) {
                let hint = "the samples are too large: standardise their features".to_owned();
                return Err(Error::Numerical { what: "a squared distance", hint });
            }
            distances.values.extend_from_slice(&row);
        }
        Ok(distances)
    }

    /// Number of samples.
    pub fn n_samples(&self) -> usize {
        self.n
    }

    /// The coordinates of feature `j`, as given.
    pub fn feature(&self, j: usize) -> &[f64] {
        &self.features[j]
    }

    /// The distances from sample `i`.
    pub fn row(&self, i: usize) -> &[f64] {
        &self.values[i * self.n..(i + 1) * self.n]
    }

    /// All distances, row after row.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Takes feature `j` away. `O(n²)` on average.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] unless it is present; [`Error::Numerical`] where there is no memory for
    /// the bounds of errors; [`Error::Stopped`] when `context` says stop: then the distances are those with
    /// the feature for some samples and without it for others.
    pub fn remove(&mut self, j: usize, context: &Context<'_>) -> Result<(), Error> {
        self.check_present(j)?;
        let mut errors = std::mem::take(&mut self.errors);
        if errors.is_empty() {
            errors = room(self.n)?;
        }
        let mut values = std::mem::take(&mut self.values);
        let done = self.subtract(j, &mut values, &mut errors, context);
        (self.values, self.errors) = (values, errors);
        self.present[j] = false;
        done
    }

    /// `exp(−γ D_il)` of the given distances in their place, `γ` any number.
    pub fn gaussian(gamma: f64, distances: &mut [f64]) {
        for value in distances.iter_mut() {
            *value *= -gamma;
        }
        fast::exp_in_place(distances);
    }

    fn check_present(&self, j: usize) -> Result<(), Error> {
        if self.present.get(j) == Some(&true) {
            return Ok(());
        }
        Err(Error::parameter("feature", j, "one that is present"))
    }

    /// The error bound of a sum of squares as [`compute_row`](Self::compute_row) forms it, for each unit of
    /// it.
    fn errors_when_fresh(&self) -> f64 {
        let coordinates: usize = self.features.iter().map(|values| values.len() / self.n).sum();
        (BLOCK + coordinates.div_ceil(BLOCK) + 3) as f64
    }

    /// The coordinates of the features present, but for one.
    fn coordinates(&self, without: Option<usize>) -> Vec<&[f64]> {
        let is_there = |j: &usize| self.present[*j] && Some(*j) != without;
        let kept = (0..self.features.len()).filter(is_there);
        kept.flat_map(|j| self.features[j].chunks_exact(self.n)).collect()
    }

    /// The distances from sample `i` over the features present but for one, from the definition.
    fn compute_row(&self, i: usize, without: Option<usize>, out: &mut [f64]) {
        out.fill(0.0);
        let mut sums = vec![0.0; self.n];
        for block in self.coordinates(without).chunks(BLOCK) {
            sums.fill(0.0);
            for coordinate in block {
                add_squares(coordinate[i], coordinate, &mut sums);
            }
            for (value, sum) in out.iter_mut().zip(&sums) {
                *value += sum;
            }
        }
    }

    /// Takes the part of feature `j` from `values`, and brings `errors` up to date; they grow where they are
    /// those of fresh values.
    fn subtract(
        &self,
        j: usize,
        values: &mut [f64],
        errors: &mut Vec<f64>,
        context: &Context<'_>,
    ) -> Result<(), Error> {
        let n = self.n;
        let fresh = self.errors_when_fresh();
        let mut part = vec![0.0; n];
        let mut afresh = vec![0.0; n];
        let rest = self.coordinates(Some(j));
        for (i, row) in values.chunks_exact_mut(n).enumerate() {
            go_on(i, context)?;
            part.fill(0.0);
            for coordinate in self.features[j].chunks_exact(n) {
                add_squares(coordinate[i], coordinate, &mut part);
            }
            if errors.len() == i * n {
                errors.extend(row.iter().map(|value| fresh * value));
            }
            let bounds = &mut errors[i * n..(i + 1) * n];
            let mut n_lost = 0;
            for ((value, part), bound) in row.iter_mut().zip(&part).zip(bounds.iter_mut()) {
                *bound += 3.0 * *value;
                *value -= *part;
                n_lost += usize::from(*bound > MOST_ERRORS * *value);
            }
            if n_lost > 0 {
                let whole = n_lost * MANY >= n;
                if whole {
                    self.compute_row(i, Some(j), &mut afresh);
                }
                for l in 0..n {
                    if bounds[l] > MOST_ERRORS * row[l] {
                        row[l] = if whole { afresh[l] } else { pair(&rest, i, l) };
                        bounds[l] = fresh * row[l];
                    }
                }
            }
        }
        Ok(())
    }
}

/// Room for a number for each pair of `n` samples.
fn room(n: usize) -> Result<Vec<f64>, Error> {
    let what = "memory for the distances of all pairs of samples";
    fewest_core::room(what, &[n, n], &format!("a table of {n} samples"), "use fewer samples")
}

/// [`Error::Stopped`] before some of the rows if `context` says stop.
fn go_on(row: usize, context: &Context<'_>) -> Result<(), Error> {
    if row.is_multiple_of(ROWS) { context.go_on("all distances of samples were computed") } else { Ok(()) }
}

fn add_squares(x: f64, others: &[f64], sums: &mut [f64]) {
    for (sum, other) in sums.iter_mut().zip(others) {
        *sum += (x - other) * (x - other);
    }
}

/// One distance, by the sums of [`SquaredDistances::compute_row`].
fn pair(coordinates: &[&[f64]], i: usize, l: usize) -> f64 {
    let square = |sum: f64, coordinate: &&[f64]| {
        let difference = coordinate[i] - coordinate[l];
        sum + difference * difference
    };
    coordinates.chunks(BLOCK).map(|block| block.iter().fold(0.0, square)).fold(0.0, |sum, block| sum + block)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GO: Context<'_> =
        Context { seed: 0, progress: None, deadline: None, interrupt: None, memory: None };

    /// Features of very different scales, with duplicates, constants, repeated samples and one of two
    /// coordinates.
    fn features(n: usize, d: usize) -> Vec<Vec<f64>> {
        let mut features: Vec<Vec<f64>> = (0..d)
            .map(|j| {
                let scale = 10.0_f64.powi((j * 7 % 5) as i32 - 2);
                (0..n).map(|i| scale * ((i / 2 * (j + 3)) as f64 * 1.7).sin()).collect()
            })
            .collect();
        features[1] = features[0].clone();
        features[2] = vec![4.0; n];
        let second: Vec<f64> = features[3].iter().map(|value| value * value).collect();
        features[3].extend(second);
        features
    }

    /// The largest relative difference from sums over the features present, the other way round.
    fn worst(distances: &SquaredDistances, values: &[f64]) -> f64 {
        let n = distances.n_samples();
        let mut worst = 0.0_f64;
        for i in 0..n {
            for l in 0..n {
                let mut expected = 0.0;
                for j in (0..distances.present.len()).rev().filter(|&j| distances.present[j]) {
                    for coordinate in distances.feature(j).chunks_exact(n) {
                        expected += (coordinate[i] - coordinate[l]).powi(2);
                    }
                }
                let found = values[i * n + l];
                assert_eq!(found, values[l * n + i]);
                worst = worst.max(if expected == found { 0.0 } else { (found - expected).abs() / expected });
            }
        }
        worst
    }

    #[test]
    fn distances_stay_exact_while_features_go() {
        for (n, d) in [(2, 5), (30, 40), (12, 700)] {
            let mut distances = SquaredDistances::new(features(n, d), n, &GO).unwrap();
            let mut order: Vec<usize> = (0..d).collect();
            order.sort_by_key(|j| (j * 7919 + 3) % d);
            for (step, &j) in order[..d - 1].iter().enumerate() {
                distances.remove(j, &GO).unwrap();
                assert!(!distances.present[j]);
                if step % 50 == 0 || step + 20 > d {
                    assert!(worst(&distances, distances.values()) < 1e-12, "{n} {d} after {step}");
                }
            }
            distances.remove(order[d - 1], &GO).unwrap();
            assert!(distances.values().iter().all(|value| *value == 0.0));
        }
    }

    #[test]
    fn few_pairs_are_computed_twice() {
        // Without the bound the last distances would have the rounding of the first, 1e16 times as large.
        let mut features = vec![vec![0.0, 1.0, 2.0]];
        features.extend((0..6).map(|j| vec![0.0, 1e8 + f64::from(j), 3e7]));
        let mut distances = SquaredDistances::new(features, 3, &GO).unwrap();
        for j in 1..7 {
            distances.remove(j, &GO).unwrap();
        }
        assert_eq!(distances.values(), [0.0, 1.0, 4.0, 1.0, 0.0, 1.0, 4.0, 1.0, 0.0]);
    }

    #[test]
    fn faults_are_named() {
        assert!(matches!(SquaredDistances::new(vec![], 0, &GO), Err(Error::TooFew { .. })));
        for values in [vec![], vec![1.0; 3]] {
            assert!(matches!(SquaredDistances::new(vec![values], 2, &GO), Err(Error::ShapeMismatch { .. })));
        }
        let nan = SquaredDistances::new(vec![vec![0.0; 2], vec![1.0, f64::NAN]], 2, &GO);
        assert!(matches!(nan, Err(Error::NonFinite { column: 1, row: 1, .. })));
        let huge = SquaredDistances::new(vec![vec![1e300, -1e300]], 2, &GO);
        assert!(matches!(huge, Err(Error::Numerical { .. })));
        let mut distances = SquaredDistances::new(vec![vec![0.0, 1.0]; 2], 2, &GO).unwrap();
        distances.remove(1, &GO).unwrap();
        for j in [1, 2] {
            let error = distances.remove(j, &GO);
            assert!(matches!(error, Err(Error::InvalidParameter { name: "feature", .. })));
            assert!(distances.remove(j, &GO).is_err());
        }
    }

    #[test]
    fn who_says_stop_is_heard() {
        let flag = std::sync::atomic::AtomicBool::new(true);
        let stop = Context { interrupt: Some(&flag), ..GO };
        let is_stopped = |result: Result<(), Error>| matches!(result, Err(Error::Stopped { .. }));
        assert!(is_stopped(SquaredDistances::new(features(30, 4), 30, &stop).map(drop)));
        let mut distances = SquaredDistances::new(features(30, 4), 30, &GO).unwrap();
        assert!(is_stopped(distances.remove(0, &stop)));
    }

    #[test]
    fn what_does_not_fit_into_memory_is_told() {
        for n in [1 << 30, usize::MAX] {
            let error = room(n).unwrap_err().to_string();
            assert!(error.contains("use fewer samples"), "{error}");
        }
    }
}
