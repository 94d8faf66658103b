//! A sum of numbers as whole numbers by exponent.

use std::fmt;

use fewest_core::{Error, State};

/// Bits of a window: a bin counts in units of `2^(32 i)`.
const WINDOW: u32 = 32;

/// A part that is added to a bin is below `2⁵³ · 2³¹`. So many of them are below `2¹²⁴`, and a bin has 127
/// bits.
const MOST_PENDING: u64 = 1 << 40;

/// Bits of the significand of an `f64`.
const SIGNIFICAND: u32 = 53;

/// The power of two of the smallest `f64` above zero.
const LOWEST: i32 = -1074;

/// A state holds no more windows than these, from no lower than that: products of products of numbers do not
/// reach further.
const MOST_WINDOWS: usize = 512;

/// A NaN or an infinity, which no sum of whole numbers can hold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NotFinite(pub f64);

impl fmt::Display for NotFinite {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} has no place in an exact sum: leave such values out", self.0)
    }
}

impl std::error::Error for NotFinite {}

/// A sum of finite numbers, and of products of two, without rounding.
///
/// Each term is a whole number times a power of two. It is added to a 128-bit integer, one for every 32
/// powers of two that occur, so that the sum does not depend on the order of the terms, nor on which were
/// added up before others. [`value`](Self::value) rounds it once, to the nearest `f64`. Numbers of similar
/// size take two or three integers, the whole range of `f64` takes 66, and that of their products 132.
///
/// ```
/// use fewest_columns::ExactSum;
///
/// let mut sum = ExactSum::default();
/// for term in [1e308, 1e308, 1.0, -1e308, -1e308, 5e-324] {
///     sum.add(term)?;
/// }
/// assert_eq!(sum.value(), 1.0);
/// # Ok::<(), fewest_columns::NotFinite>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct ExactSum {
    /// The window of the first bin.
    first: i32,
    /// The sum is `Σ bins[i] · 2^(32 (first + i))`.
    bins: Vec<i128>,
    /// Parts that were added since bins were below `2¹²⁴`.
    pending: u64,
}

/// An exact number as others see it: the same for equal sums.
struct Digits {
    negative: bool,
    /// The window of the first digit.
    first: i32,
    /// In base `2³²`, the lowest first; neither the first nor the last is 0.
    digits: Vec<u32>,
}

/// A whole number below `2⁵³`, and the power of two that it is multiplied by.
pub(super) type Parts = (i64, i32);

/// Those of `value`.
#[inline]
pub(super) fn parts(value: f64) -> Result<Parts, NotFinite> {
    let bits = value.to_bits();
    let exponent = (bits >> 52 & 0x7FF) as i32;
    if exponent == 0x7FF {
        return Err(NotFinite(value));
    }
    let significand = (bits & ((1 << 52) - 1) | u64::from(exponent != 0) << 52) as i64;
    Ok((if bits >> 63 == 0 { significand } else { -significand }, exponent.max(1) - 1 + LOWEST))
}

impl ExactSum {
    /// The whole number `n`.
    pub fn whole(n: u64) -> Self {
        Self { first: 0, bins: vec![i128::from(n)], pending: 0 }
    }

    /// Adds a number.
    ///
    /// # Errors
    /// [`NotFinite`], and the sum is as before.
    #[inline]
    pub fn add(&mut self, value: f64) -> Result<(), NotFinite> {
        self.add_parts(parts(value)?);
        Ok(())
    }

    /// Adds `x y`, without rounding the product.
    ///
    /// # Errors
    /// [`NotFinite`] of a factor, and the sum is as before.
    #[inline]
    pub fn add_product(&mut self, x: f64, y: f64) -> Result<(), NotFinite> {
        self.add_product_of_parts(parts(x)?, parts(y)?);
        Ok(())
    }

    #[inline]
    pub(super) fn add_parts(&mut self, (significand, power): Parts) {
        self.add_part(significand, power);
        self.count(1);
    }

    #[inline]
    pub(super) fn add_product_of_parts(&mut self, (x, x_power): Parts, (y, y_power): Parts) {
        let product = i128::from(x) * i128::from(y);
        // Two parts of 53 bits each: the lower is not negative, the upper has the sign.
        let low = product & ((1 << SIGNIFICAND) - 1);
        self.add_part(low as i64, x_power + y_power);
        self.add_part((product >> SIGNIFICAND) as i64, x_power + y_power + SIGNIFICAND as i32);
        self.count(2);
    }

    /// Adds `part · 2^power`, `|part| ≤ 2⁵³`.
    #[inline]
    fn add_part(&mut self, part: i64, power: i32) {
        // Windows are counted down below zero.
        let window = power >> WINDOW.ilog2();
        let shifted = i128::from(part) << (power & (WINDOW as i32 - 1));
        match self.bin(window) {
            Some(bin) => *bin += shifted,
            None => self.add_outside(window, shifted),
        }
    }

    #[inline]
    fn bin(&mut self, window: i32) -> Option<&mut i128> {
        // One below the first is far above the last.
        self.bins.get_mut((window - self.first).cast_unsigned() as usize)
    }

    /// Adds to a window that has no bin yet.
    #[cold]
    fn add_outside(&mut self, window: i32, shifted: i128) {
        if shifted == 0 {
            return;
        }
        if self.bins.is_empty() {
            self.first = window;
        }
        let below = usize::try_from(self.first - window).unwrap_or(0);
        self.bins.splice(0..0, std::iter::repeat_n(0, below));
        self.first = self.first.min(window);
        let len = usize::try_from(window - self.first).map_or(0, |at| at + 1);
        self.bins.resize(self.bins.len().max(len), 0);
        if let Some(bin) = self.bin(window) {
            *bin += shifted;
        }
    }

    #[inline]
    fn count(&mut self, parts: u64) {
        self.pending += parts;
        if self.pending >= MOST_PENDING {
            carry(&mut self.bins);
            self.pending = 0;
        }
    }

    /// Adds another sum.
    pub fn merge(&mut self, other: &Self) {
        // Before, so that no bin is full in between.
        self.count(other.pending);
        for (bin, window) in other.bins.iter().zip(other.first..) {
            match self.bin(window) {
                Some(own) => *own += bin,
                None => self.add_outside(window, *bin),
            }
        }
    }

    /// The sum less `other`.
    #[must_use]
    pub fn minus(&self, other: &Self) -> Self {
        let mut difference = self.clone();
        let bins = other.bins.iter().map(|bin| -bin).collect();
        difference.merge(&Self { first: other.first, bins, pending: other.pending });
        difference
    }

    /// The product of two sums.
    #[must_use]
    pub fn times(&self, other: &Self) -> Self {
        let (own, other) = (self.digits(), other.digits());
        let mut bins = vec![0_i128; own.digits.len() + other.digits.len()];
        for (at, a) in own.digits.iter().enumerate() {
            for (bin, b) in bins.iter_mut().skip(at).zip(&other.digits) {
                *bin += i128::from(*a) * i128::from(*b);
            }
        }
        if own.negative != other.negative {
            bins.iter_mut().for_each(|bin| *bin = -*bin);
        }
        Self { first: own.first + other.first, bins, pending: 0 }
    }

    /// The sum times `2^(32 windows)`.
    #[must_use]
    pub fn shifted(&self, windows: i32) -> Self {
        Self { first: self.first + windows, ..self.clone() }
    }

    /// The `w` with `2^(32 w) ≤ |sum| < 2^(32 (w + 1))`; nothing of 0.
    pub fn window(&self) -> Option<i32> {
        let Digits { first, digits, .. } = self.digits();
        (first..).zip(digits).last().map(|(window, _)| window)
    }

    /// The sum, rounded to the nearest `f64`, of two equally near ones to the even. Infinite beyond their
    /// range.
    pub fn value(&self) -> f64 {
        let Digits { negative, first, digits } = self.digits();
        let (lower, upper) = digits.split_at(digits.len().saturating_sub(4));
        let leading = upper.iter().rev().fold(0_u128, |number, digit| number << WINDOW | u128::from(*digit));
        let power = (first + lower.len() as i32) * WINDOW as i32;
        let magnitude = nearest(leading, power, !lower.is_empty());
        if negative { -magnitude } else { magnitude }
    }

    fn digits(&self) -> Digits {
        let mut bins = self.bins.clone();
        carry(&mut bins);
        let negative = bins.last().is_some_and(|last| *last < 0);
        if negative {
            bins.iter_mut().for_each(|bin| *bin = -*bin);
            carry(&mut bins);
        }
        let low = bins.iter().take_while(|bin| **bin == 0).count();
        let end = bins.iter().rposition(|bin| *bin != 0).map_or(low, |last| last + 1);
        let digits: Vec<u32> = bins.drain(low..end).map(|bin| bin as u32).collect();
        // One zero only.
        let first = if digits.is_empty() { 0 } else { self.first + low as i32 };
        Digits { negative, first, digits }
    }

    /// Bytes that it holds outside itself.
    pub fn heap_bytes(&self) -> usize {
        self.bins.capacity() * size_of::<i128>()
    }
}

/// Moves what a bin has above its window to the next ones: every bin but the last is a digit of base `2³²`,
/// and the last is no further from 0.
fn carry(bins: &mut Vec<i128>) {
    let mut over = 0;
    for bin in bins.iter_mut() {
        let whole = *bin + over;
        over = whole >> WINDOW;
        *bin = whole - (over << WINDOW);
    }
    while over != 0 && over != -1 {
        let next = over >> WINDOW;
        bins.push(over - (next << WINDOW));
        over = next;
    }
    if let Some(last) = bins.last_mut() {
        *last += over << WINDOW;
    }
}

/// The `f64` nearest to `leading · 2^power`, where `more` says that digits below `leading` are not all 0;
/// then `leading` has more than 96 bits.
fn nearest(leading: u128, power: i32, more: bool) -> f64 {
    let bits = (u128::BITS - leading.leading_zeros()) as i32;
    // To 53 bits, and to none below the smallest number.
    let dropped = (bits - SIGNIFICAND as i32).max(LOWEST - power).max(0);
    let significand = leading.checked_shr(dropped.unsigned_abs()).unwrap_or(0);
    let kept = significand.checked_shl(dropped.unsigned_abs()).unwrap_or(0);
    let half = 1_u128.checked_shl((dropped - 1).unsigned_abs()).unwrap_or(0);
    // What is less than half of the smallest number has no half here.
    let up = dropped > 0 && half > 0 && {
        let rest = leading - kept;
        rest > half || rest == half && (more || significand & 1 == 1)
    };
    // At most 2⁵³, and the product is a number: nothing is rounded again.
    (significand + u128::from(up)) as f64 * power_of_two(power + dropped)
}

/// `2^power`, infinite beyond the range; `power` is that of a number or above.
fn power_of_two(power: i32) -> f64 {
    match power {
        ..=-1023 => f64::from_bits(1 << (power - LOWEST).clamp(0, 51)),
        -1022..=1023 => f64::from_bits(((power + 1023) as u64) << 52),
        _ => f64::INFINITY,
    }
}

/// Equal sums have equal bytes.
impl State for ExactSum {
    fn save(&self, to: &mut Vec<u8>) {
        let Digits { negative, first, digits } = self.digits();
        negative.save(to);
        first.cast_unsigned().save(to);
        digits.save(to);
    }

    fn load(from: &mut &[u8]) -> Result<Self, Error> {
        let (negative, first) = (bool::load(from)?, u32::load(from)?.cast_signed());
        let digits: Vec<u32> = State::load(from)?;
        if digits.len() > MOST_WINDOWS || first.unsigned_abs() as usize > MOST_WINDOWS {
            let found = format!("an exact sum of {} windows from {first}", digits.len());
            return Err(Error::parameter("state", found, "what `save` returned, unchanged"));
        }
        let sign = if negative { -1 } else { 1 };
        let bins = digits.into_iter().map(|digit| sign * i128::from(digit)).collect();
        Ok(Self { first, bins, pending: 0 })
    }
}
