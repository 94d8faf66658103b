//! Means, squared deviations and products of deviations from exact sums.

use fewest_core::state;

use super::sum::{Parts, parts};
use super::{ExactSum, NotFinite};
use crate::moments::Moments;

/// The largest exponent of a [`Unit`], of either sign: squares in it are numbers, and so is the unit.
const MOST_WINDOWS: i32 = 31;

/// A power of two in which the squares of some values neither overflow nor vanish.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unit(i32);

impl Unit {
    /// That of these values; 1 unless they are very large or very small.
    pub fn of<'a>(moments: impl IntoIterator<Item = &'a ExactMoments>) -> Self {
        let largest = moments.into_iter().filter_map(|moments| moments.squares.window()).max();
        Self(largest.map_or(0, |window| window.div_euclid(2).clamp(-MOST_WINDOWS, MOST_WINDOWS)))
    }

    /// What values are divided by.
    pub fn divisor(self) -> f64 {
        2.0_f64.powi(32 * self.0)
    }
}

/// How many values there are, what they and their squares sum to, without rounding.
///
/// ```
/// use fewest_columns::{ExactMoments, Unit};
///
/// let (mut first, mut second) = (ExactMoments::default(), ExactMoments::default());
/// first.add(1e9)?;
/// second.add(1e9 + 2.0)?;
/// first.merge(&second);
/// assert_eq!(first.moments(Unit::of([&first])).map(|moments| moments.deviations), Some(2.0));
/// # Ok::<(), fewest_columns::NotFinite>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct ExactMoments {
    n: u64,
    sum: ExactSum,
    squares: ExactSum,
}

state!(ExactMoments { n, sum, squares });

impl ExactMoments {
    /// Of `zeros` values that are 0 and `ones` that are 1.
    pub fn of_two(zeros: u64, ones: u64) -> Self {
        let sum = ExactSum::whole(ones);
        Self { n: zeros + ones, squares: sum.clone(), sum }
    }

    /// Adds a value.
    ///
    /// # Errors
    /// [`NotFinite`], and the sums are as before.
    #[inline]
    pub fn add(&mut self, value: f64) -> Result<(), NotFinite> {
        self.add_parts(parts(value)?);
        Ok(())
    }

    #[inline]
    fn add_parts(&mut self, value: Parts) {
        self.sum.add_parts(value);
        self.squares.add_product_of_parts(value, value);
        self.n += 1;
    }

    /// Adds those of other values.
    pub fn merge(&mut self, other: &Self) {
        self.n = self.n.saturating_add(other.n);
        self.sum.merge(&other.sum);
        self.squares.merge(&other.squares);
    }

    /// Those of several series in one.
    pub fn together<'a>(parts: impl IntoIterator<Item = &'a Self>) -> Self {
        let mut all = Self::default();
        parts.into_iter().for_each(|part| all.merge(part));
        all
    }

    /// Whether there are two different values.
    pub fn varies(&self) -> bool {
        self.n_deviations().window().is_some()
    }

    /// `n Σ (x − m)²`.
    fn n_deviations(&self) -> ExactSum {
        self.squares.times(&ExactSum::whole(self.n)).minus(&self.sum.times(&self.sum))
    }

    /// Number of values.
    pub fn n(&self) -> u64 {
        self.n
    }

    /// Mean and squared deviations of the values divided by `unit`: `Σ (x − m)² = (n Σ x² − (Σ x)²) / n`, of
    /// which only the division rounds, and the numerator once. Nothing where there are no values.
    pub fn moments(&self, unit: Unit) -> Option<Moments> {
        if self.n == 0 {
            return None;
        }
        let n = self.n as f64;
        let sum = self.sum.shifted(-unit.0);
        let origin = sum.value() / n;
        // What rounding the mean has left over.
        let mut others = ExactSum::default();
        others.add(origin).ok()?;
        let offset = sum.minus(&others.times(&ExactSum::whole(self.n))).value() / n;
        let deviations = self.n_deviations().shifted(-2 * unit.0).value() / n;
        Some(Moments::from_parts(origin, offset, deviations))
    }

    /// `Σ (x − m)` over the values divided by `unit`, `m` the mean of `all`.
    pub fn deviation_from(&self, all: &Self, unit: Unit) -> f64 {
        let own = self.sum.times(&ExactSum::whole(all.n));
        let expected = all.sum.times(&ExactSum::whole(self.n));
        own.minus(&expected).shifted(-unit.0).value() / all.n as f64
    }

    /// Bytes that it holds outside itself.
    pub fn heap_bytes(&self) -> usize {
        self.sum.heap_bytes() + self.squares.heap_bytes()
    }
}

/// The moments of two series of values side by side, and what their products sum to, without rounding.
#[derive(Debug, Clone, Default)]
pub struct ExactProducts {
    /// Those of the first.
    pub x: ExactMoments,
    /// Those of the second.
    pub y: ExactMoments,
    products: ExactSum,
}

state!(ExactProducts { x, y, products });

impl ExactProducts {
    /// Of values `x` by class, and `y` that are 0 in the first class and 1 in the second.
    pub fn of_two(zeros: &ExactMoments, ones: &ExactMoments) -> Self {
        let x = ExactMoments::together([zeros, ones]);
        Self { x, y: ExactMoments::of_two(zeros.n, ones.n), products: ones.sum.clone() }
    }

    /// Adds a pair.
    ///
    /// # Errors
    /// [`NotFinite`] of one of them, and the sums are as before.
    #[inline]
    pub fn add(&mut self, x: f64, y: f64) -> Result<(), NotFinite> {
        let (x, y) = (parts(x)?, parts(y)?);
        self.products.add_product_of_parts(x, y);
        self.x.add_parts(x);
        self.y.add_parts(y);
        Ok(())
    }

    /// Adds those of other pairs.
    pub fn merge(&mut self, other: &Self) {
        self.x.merge(&other.x);
        self.y.merge(&other.y);
        self.products.merge(&other.products);
    }

    /// `Σ (x − m) (y − l) = (n Σ x y − Σ x Σ y) / n`, `m` and `l` the means, each series divided by its unit.
    pub fn product(&self, x_unit: Unit, y_unit: Unit) -> f64 {
        let products = self.products.times(&ExactSum::whole(self.x.n));
        let exact = products.minus(&self.x.sum.times(&self.y.sum));
        exact.shifted(-x_unit.0 - y_unit.0).value() / self.x.n as f64
    }

    /// Bytes that it holds outside itself.
    pub fn heap_bytes(&self) -> usize {
        self.x.heap_bytes() + self.y.heap_bytes() + self.products.heap_bytes()
    }
}
