//! ADWIN: a window of values that drops what the newer ones differ from.

use std::convert::Infallible;

use fewest_core::{Error, State};

/// Most buckets of one size.
const MOST_BUCKETS: usize = 5;

/// Neighbouring values of a stream.
#[derive(Debug, Clone)]
pub(super) struct Bucket<T> {
    n: u64,
    mean: f64,
    /// `Σ (value − mean)²`.
    deviations: f64,
    /// What comes with the values.
    with: T,
}

impl<T> Bucket<T> {
    fn merge<E>(&mut self, later: Self, join: &impl Fn(&mut T, T) -> Result<(), E>) -> Result<(), E> {
        let (own, other) = (self.n as f64, later.n as f64);
        let difference = later.mean - self.mean;
        self.mean += difference * (other / (own + other));
        self.deviations += later.deviations + difference * difference * (own * other / (own + other));
        self.n += later.n;
        join(&mut self.with, later.with)
    }
}

impl<T: State> State for Bucket<T> {
    fn save(&self, to: &mut Vec<u8>) {
        (self.n, self.mean, self.deviations).save(to);
        self.with.save(to);
    }

    fn load(from: &mut &[u8]) -> Result<Self, Error> {
        let (n, mean, deviations) = State::load(from)?;
        Ok(Self { n, mean, deviations, with: T::load(from)? })
    }
}

/// A change that [`Adwin`] found.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Shift {
    /// The mean of the older values where they were cut off.
    pub before: f64,
    /// The mean of the newer ones.
    pub after: f64,
    /// Number of values left in the window.
    pub n_left: u64,
}

/// Where a window falls apart.
struct Cut {
    /// Number of buckets before it.
    border: usize,
    before: f64,
    after: f64,
}

/// The window, with something for each value that is joined as values are.
#[derive(Debug, Clone)]
pub(super) struct Window<T> {
    delta: f64,
    /// The oldest first, of sizes that do not increase, each a power of two.
    pub(super) buckets: Vec<Bucket<T>>,
}

impl<T> Window<T> {
    pub(super) fn new(delta: f64) -> Self {
        Self { delta, buckets: Vec::new() }
    }

    pub(super) fn n_values(&self) -> u64 {
        self.buckets.iter().map(|bucket| bucket.n).sum()
    }

    /// What came with the values, the oldest first.
    pub(super) fn with(&self) -> impl Iterator<Item = &T> {
        self.buckets.iter().map(|bucket| &bucket.with)
    }

    /// Adds a value from 0 to 1, and drops older ones while they differ: also what came with those.
    ///
    /// # Errors
    /// Those of `join`.
    pub(super) fn add<E>(
        &mut self,
        value: f64,
        with: T,
        join: impl Fn(&mut T, T) -> Result<(), E>,
    ) -> Result<Option<(Shift, Vec<T>)>, E> {
        self.buckets.push(Bucket { n: 1, mean: value, deviations: 0.0, with });
        self.compress(&join)?;
        let (mut found, mut dropped) = (None, Vec::new());
        while let Some(Cut { border, before, after }) = self.cut() {
            dropped.extend(self.buckets.drain(..border).map(|bucket| bucket.with));
            found = found.or(Some((before, after)));
        }
        let n_left = self.n_values();
        Ok(found.map(|(before, after)| (Shift { before, after, n_left }, dropped)))
    }

    /// Joins the two oldest buckets of a size that has too many.
    fn compress<E>(&mut self, join: &impl Fn(&mut T, T) -> Result<(), E>) -> Result<(), E> {
        let mut end = self.buckets.len();
        while end > 0 {
            let size = self.buckets[end - 1].n;
            let start = self.buckets[..end].iter().take_while(|bucket| bucket.n > size).count();
            if end - start <= MOST_BUCKETS {
                break;
            }
            let later = self.buckets.remove(start + 1);
            self.buckets[start].merge(later, join)?;
            end = start + 1;
        }
        Ok(())
    }

    /// The border at which the means differ most beyond the bound, if they do.
    fn cut(&self) -> Option<Cut> {
        let n: f64 = self.n_values() as f64;
        let mean = self.buckets.iter().map(|bucket| bucket.n as f64 * bucket.mean).sum::<f64>() / n;
        let spread = |bucket: &Bucket<T>| bucket.deviations + bucket.n as f64 * (bucket.mean - mean).powi(2);
        let variance = self.buckets.iter().map(spread).sum::<f64>() / n;
        let log = (2.0 * n.ln().max(1.0) / self.delta).ln();
        let (mut n_before, mut sum_before) = (0.0, 0.0);
        let mut most: Option<(f64, Cut)> = None;
        let last = self.buckets.len().saturating_sub(1);
        for (at, bucket) in self.buckets[..last].iter().enumerate() {
            n_before += bucket.n as f64;
            sum_before += bucket.n as f64 * bucket.mean;
            let n_after = n - n_before;
            let (before, after) = (sum_before / n_before, (n * mean - sum_before) / n_after);
            let harmonic = 1.0 / (1.0 / n_before + 1.0 / n_after);
            let bound = (2.0 / harmonic * variance * log).sqrt() + 2.0 / (3.0 * harmonic) * log;
            let excess = (before - after).abs() - bound;
            if excess > 0.0 && most.as_ref().is_none_or(|(most, _)| excess > *most) {
                most = Some((excess, Cut { border: at + 1, before, after }));
            }
        }
        most.map(|(_, cut)| cut)
    }
}

/// ADWIN2 (Bifet and Gavaldà 2007): a window of values from 0 to 1 that holds as many of the last ones as
/// have the same mean.
///
/// ```text
/// drop the older ones while a border splits the window, of n values and variance σ², into n₀ older and n₁
/// newer ones with   |μ₀ − μ₁| > √(2/m σ² ln(2/δ')) + 2/(3m) ln(2/δ'),   1/m = 1/n₀ + 1/n₁,   δ' = δ / ln n
/// ```
///
/// Of several such borders it is the one where the means differ most beyond the bound: all values before it
/// are dropped at once, so that what is left begins near the change. In the paper the oldest bucket is
/// dropped, and then the next, while there is any such border: a change is found at the same value.
///
/// It needs neither the values' distribution nor the size of a change. While their mean does not change, the
/// probability that a value is dropped is at most about `δ` each time one is added (Theorem 3.1; with the
/// variance in the bound it is an approximation, as the paper says). Borders are those of buckets of `2ᵏ`
/// values, at most five of a size, so that `n` values take `O(log n)` numbers and time.
///
/// ```
/// use fewest_streams::Adwin;
///
/// let mut adwin = Adwin::new(0.002)?;
/// let value = |i: u64| fewest_core::derive_seed(7, i) as f64 / u64::MAX as f64;
/// assert!((0..500).all(|i| adwin.add(0.5 * value(i)).is_none()));
/// let found = (0..100).find_map(|i| adwin.add(0.5 + 0.5 * value(i))).unwrap();
/// assert!(found.after > found.before && adwin.n_values() < 100);
/// # Ok::<(), fewest_core::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Adwin(Window<()>);

impl Adwin {
    /// An empty window.
    ///
    /// # Errors
    /// [`InvalidParameter`](fewest_core::Error::InvalidParameter) unless `delta` is between 0 and 1.
    pub fn new(delta: f64) -> Result<Self, fewest_core::Error> {
        if delta > 0.0 && delta < 1.0 {
            return Ok(Self(Window::new(delta)));
        }
        Err(fewest_core::Error::parameter("delta", delta, "a number above 0 and below 1"))
    }

    /// Adds a value from 0 to 1 (others count as the nearer of these, NaN as 1), and drops older ones while
    /// they differ.
    pub fn add(&mut self, value: f64) -> Option<Shift> {
        let value = if value.is_nan() { 1.0 } else { value.clamp(0.0, 1.0) };
        let Ok(found) = self.0.add(value, (), |(), ()| Ok::<(), Infallible>(()));
        found.map(|(shift, _)| shift)
    }

    /// Number of values in the window.
    pub fn n_values(&self) -> u64 {
        self.0.n_values()
    }

    /// The mean of the values in the window; NaN without any.
    pub fn mean(&self) -> f64 {
        let sum: f64 = self.0.buckets.iter().map(|bucket| bucket.n as f64 * bucket.mean).sum();
        sum / self.n_values() as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uniform(seed: u64, i: u64) -> f64 {
        fewest_core::derive_seed(seed, i) as f64 / u64::MAX as f64
    }

    /// The values that a window holds, by the definition, from a list of all of them and the borders.
    #[test]
    fn a_window_is_its_values() {
        let mut window: Window<Vec<f64>> = Window::new(0.002);
        let mut all: Vec<f64> = Vec::new();
        for i in 0..600 {
            let value = if i < 400 { 0.3 * uniform(1, i) } else { 0.6 + 0.3 * uniform(1, i) };
            all.push(value);
            let join = |own: &mut Vec<f64>, later| {
                own.extend::<Vec<f64>>(later);
                Ok::<(), Infallible>(())
            };
            let Ok(shift) = window.add(value, vec![value], join);
            let held: Vec<f64> = window.with().flatten().copied().collect();
            assert_eq!(held, all[all.len() - held.len()..]);
            assert_eq!(window.n_values(), held.len() as u64);
            for bucket in &window.buckets {
                let mean = bucket.with.iter().sum::<f64>() / bucket.n as f64;
                let deviations: f64 = bucket.with.iter().map(|value| (value - mean).powi(2)).sum();
                assert!((bucket.mean - mean).abs() < 1e-12 && (bucket.deviations - deviations).abs() < 1e-12);
                assert!(bucket.n.is_power_of_two() && bucket.n as usize == bucket.with.len());
            }
            assert!(window.buckets.windows(2).all(|pair| pair[0].n >= pair[1].n));
            for size in window.buckets.iter().map(|bucket| bucket.n) {
                assert!(window.buckets.iter().filter(|bucket| bucket.n == size).count() <= MOST_BUCKETS);
            }
            // No border is left that the formula would cut at.
            let (n, mean) = (held.len() as f64, held.iter().sum::<f64>() / held.len() as f64);
            let variance = held.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / n;
            let mut first = 0;
            for bucket in &window.buckets[..window.buckets.len() - 1] {
                first += bucket.n as usize;
                let (old, new) = held.split_at(first);
                let of = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
                let m = 1.0 / (1.0 / old.len() as f64 + 1.0 / new.len() as f64);
                let log = (2.0 * n.ln().max(1.0) / 0.002).ln();
                let bound = (2.0 / m * variance * log).sqrt() + 2.0 / (3.0 * m) * log;
                assert!((of(old) - of(new)).abs() <= bound + 1e-12);
            }
            if let Some((shift, dropped)) = shift {
                assert!(i >= 400 && shift.after > shift.before && !dropped.is_empty());
                assert_eq!(shift.n_left as usize, held.len());
            }
        }
        assert!((190..=210).contains(&window.n_values()), "{}", window.n_values());
        assert!(window.buckets.len() < 40);
    }

    /// False alarms at most delta a value, as the paper's experiments have it, on values of two kinds.
    #[test]
    fn a_constant_mean_is_left_alone() {
        for delta in [0.05, 0.2] {
            let (mut n_alarms, mut n_values) = (0_u32, 0_u32);
            for seed in 0..20 {
                let mut adwin = Adwin::new(delta).unwrap();
                for i in 0..2000 {
                    let value = uniform(seed, i);
                    let value = if seed % 2 == 0 { value } else { f64::from(u8::from(value < 0.3)) };
                    n_alarms += u32::from(adwin.add(value).is_some());
                    n_values += 1;
                }
                assert!(adwin.mean() > 0.2 && adwin.mean() < 0.6);
            }
            assert!(f64::from(n_alarms) <= delta * f64::from(n_values), "{n_alarms} of {n_values}");
        }
        assert!(Adwin::new(0.0).is_err() && Adwin::new(f64::NAN).is_err());
        let mut adwin = Adwin::new(0.1).unwrap();
        assert!(adwin.add(f64::NAN).is_none() && adwin.add(f64::INFINITY).is_none());
        assert_eq!(adwin.mean(), 1.0);
    }
}
