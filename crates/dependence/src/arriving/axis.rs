//! Where the values of a variable are counted that arrives.

use std::ops::Range;

use fewest_core::{Error, State};

/// Nodes around a value among which it counts: polynomials of degree 7 are exact.
pub(crate) const POINTS: usize = 8;

/// `Π_{j ≠ i} (i − j)` for eight nodes.
const DENOMINATORS: [f64; POINTS] = [-5040.0, 720.0, -240.0, 144.0, -144.0, 240.0, -720.0, 5040.0];

/// Share of a kernel's entries that interpolation between nodes may be wrong by, for a distance of 1 between
/// them, in widths of the kernel. At other distances: times its eighth power.
///
/// `105 / 8! · (½ · 3/2 · 5/2 · 7/2)²` in one variable, since no eighth derivative of `exp(−t²/2)` is above
/// 105; `1 + 1.49` times that in both; and twice for what was moved from finer nodes.
const ERROR: f64 = 0.56;

/// How many of them are below the one just below the value.
const BEFORE: i64 = POINTS as i64 / 2 - 1;

/// The nodes of a variable.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Axis {
    /// One for each level of a category, or each class.
    Levels(usize),
    /// Equally spaced ones for numbers.
    Numbers(Numbers),
}

/// What is known of the numbers of a variable, and the nodes that follow from it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Numbers {
    low: f64,
    high: f64,
    most: usize,
    /// Whether no value outside this range comes.
    is_whole: bool,
    grid: Option<Grid>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Grid {
    steps: Steps,
    /// The number of the first node.
    first: i64,
    len: usize,
}

/// How the number of steps to a value is found, of which each node has a whole one.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Steps {
    /// Multiples of a power of two, where wider values may come: of two grids of one variable the coarser one
    /// has every second, fourth, … node of the other, whatever values made them.
    Powers {
        exponent: i32,
        /// What a value is multiplied with, one after the other.
        powers: [f64; 2],
    },
    /// The range of the values in equal cells, where none is outside of it: a variable in other units, or
    /// negated, has the same nodes.
    Cells {
        /// Halves, since a range may be above the largest number.
        half_low: f64,
        half_range: f64,
        cells: f64,
    },
}

/// Nodes side by side, with the share of a value that counts at each.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    pub(crate) first: usize,
    len: usize,
    shares: [f64; POINTS],
}

impl Place {
    pub(crate) fn at(node: usize) -> Self {
        Self { first: node, len: 1, shares: [1.0; POINTS] }
    }

    pub(crate) fn shares(&self) -> &[f64] {
        &self.shares[..self.len]
    }
}

/// A value times two numbers, one after the other: neither overflows.
fn in_steps(value: f64, [first, second]: [f64; 2]) -> f64 {
    value * first * second
}

/// Two numbers whose product is `2^-exponent`, which may itself be none.
fn powers(exponent: i32) -> [f64; 2] {
    let half = exponent / 2;
    [2.0_f64.powi(-half), 2.0_f64.powi(half - exponent)]
}

/// The `e` of `2^e ≤ |value| < 2^(e + 1)`, or −1023.
fn exponent(value: f64) -> i32 {
    (value.to_bits() >> 52 & 0x7ff) as i32 - 1023
}

impl Steps {
    fn of(&self, value: f64) -> f64 {
        match *self {
            Self::Powers { powers, .. } => in_steps(value, powers),
            Self::Cells { half_low, half_range, cells } => (0.5 * value - half_low) / half_range * cells,
        }
    }

    fn value(&self, steps: f64) -> f64 {
        match *self {
            Self::Powers { exponent, .. } => in_steps(steps, powers(-exponent)),
            Self::Cells { half_low, half_range, cells } => 2.0 * (half_low + steps / cells * half_range),
        }
    }
}

impl Grid {
    /// `len` nodes over a range that no value is outside of, with as many before it as behind; `None` for a
    /// single value.
    fn whole(low: f64, high: f64, len: usize) -> Option<Self> {
        let (half_low, half_range) = (0.5 * low, 0.5 * high - 0.5 * low);
        let cells = len as f64 - 1.0 - 2.0 * BEFORE as f64;
        let steps = Steps::Cells { half_low, half_range, cells };
        (half_range > 0.0).then_some(Self { steps, first: -BEFORE, len })
    }

    /// The finest nodes of which `most` or fewer are enough; `None` for a single value.
    fn over(low: f64, high: f64, most: usize) -> Option<Self> {
        if low >= high {
            return None;
        }
        // Halves, since a range may be above the largest number. No finer than the values themselves are.
        let finest = exponent(0.5 * high - 0.5 * low) - exponent(most as f64) - 1;
        let mut exponent = finest.max(exponent(low.abs().max(high.abs())) - 52);
        loop {
            let powers = powers(exponent);
            let (first, last) = (in_steps(low, powers).floor(), in_steps(high, powers).floor());
            let len = last - first + POINTS as f64;
            if len <= most as f64 {
                let steps = Steps::Powers { exponent, powers };
                return Some(Self { steps, first: first as i64 - BEFORE, len: len as usize });
            }
            exponent += 1;
        }
    }

    /// Nodes around a value, by the polynomial through them. Exact at a node.
    fn place(&self, value: f64) -> Place {
        let steps = self.steps.of(value);
        let whole = steps.floor();
        let cell = (whole as i64).saturating_sub(self.first);
        let first = (cell - BEFORE).clamp(0, (self.len - POINTS) as i64);
        let at = (cell - first) as f64 + (steps - whole);
        let mut shares = [1.0; POINTS];
        let mut before = 1.0;
        for (i, share) in shares.iter_mut().enumerate() {
            *share = before / DENOMINATORS[i];
            before *= at - i as f64;
        }
        let mut behind = 1.0;
        for (i, share) in shares.iter_mut().enumerate().rev() {
            *share *= behind;
            behind *= at - i as f64;
        }
        Place { first: first as usize, len: POINTS, shares }
    }

    fn value(&self, node: usize) -> f64 {
        self.steps.value((self.first + node as i64) as f64)
    }
}

impl Numbers {
    /// Of no value yet, on at most so many nodes.
    pub(crate) fn new(most: usize) -> Self {
        Self { low: f64::INFINITY, high: f64::NEG_INFINITY, most, is_whole: false, grid: None }
    }

    /// The nodes of the values of both.
    #[must_use]
    pub(crate) fn joined(&self, other: &Self) -> Self {
        self.over(self.low.min(other.low), self.high.max(other.high))
    }

    fn over(&self, low: f64, high: f64) -> Self {
        let grid = match self.is_whole {
            true => Grid::whole(low, high, self.most),
            false => Grid::over(low, high, self.most),
        };
        Self { low, high, grid, ..*self }
    }

    /// Of values in this range, and no others, on so many nodes.
    pub(crate) fn of_range(range: Range<f64>, nodes: usize) -> Self {
        Self { is_whole: true, ..Self::new(nodes) }.over(range.start, range.end)
    }

    /// The spacing of the nodes in units of the width `sigma` on the standardised variable, whose samples
    /// count as `marginal` says; `None` where all values are equal.
    ///
    /// The variance is that of the samples but for rounding: shares keep the first seven powers.
    pub(crate) fn spacing(&self, marginal: &[f64], sigma: f64) -> Option<f64> {
        self.grid?;
        let n: f64 = marginal.iter().sum();
        let mean = |of: &dyn Fn(f64) -> f64| -> f64 {
            marginal.iter().enumerate().map(|(i, count)| count * of(i as f64)).sum::<f64>() / n
        };
        let centre = mean(&|i| i);
        Some((mean(&|i| (i - centre).powi(2)).sqrt() * sigma).recip())
    }
}

impl Axis {
    /// Number of nodes.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Levels(n) => *n,
            Self::Numbers(own) if own.low > own.high => 0,
            Self::Numbers(own) => own.grid.map_or(1, |grid| grid.len),
        }
    }

    /// Where a value counts, which it has [seen](Self::with).
    pub(crate) fn place(&self, value: f64) -> Place {
        match self {
            Self::Levels(_) => Place::at(value as usize),
            Self::Numbers(own) => own.grid.map_or(Place::at(0), |grid| grid.place(value)),
        }
    }

    /// With one more value.
    #[must_use]
    pub(crate) fn with(&self, value: f64) -> Self {
        match self {
            Self::Levels(n) => Self::Levels(*n.max(&(value as usize + 1))),
            Self::Numbers(own) => Self::Numbers(own.over(own.low.min(value), own.high.max(value))),
        }
    }

    /// Whether one more value changes nothing.
    pub(crate) fn has_seen(&self, value: f64) -> bool {
        match self {
            Self::Levels(n) => value < *n as f64,
            Self::Numbers(own) => value >= own.low && value <= own.high,
        }
    }

    /// With the values of both.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`] where one is of numbers and the other is not.
    pub(crate) fn joined(&self, other: &Self) -> Result<Self, Error> {
        match (self, other) {
            (Self::Levels(own), Self::Levels(other)) => Ok(Self::Levels(*own.max(other))),
            (Self::Numbers(own), Self::Numbers(other)) => Ok(Self::Numbers(own.joined(other))),
            _ => Err(Error::parameter("sums", "of a category and of numbers", "of the same variables")),
        }
    }

    /// Whether a wider axis has the same nodes.
    pub(crate) fn has_nodes_of(&self, wider: &Self) -> bool {
        let grid = |axis: &Self| match axis {
            Self::Levels(_) => None,
            Self::Numbers(own) => own.grid,
        };
        self.len() == wider.len() && grid(self) == grid(wider)
    }

    /// Where what counts at each node of this axis counts on a wider one.
    pub(crate) fn moves(&self, wider: &Self) -> Vec<Place> {
        (0..self.len())
            .map(|node| match self {
                Self::Levels(_) => Place::at(node),
                Self::Numbers(own) => wider.place(own.grid.map_or(own.low, |grid| grid.value(node))),
            })
            .collect()
    }
}

/// How far an entry of the kernel may be from that between two samples, for this
/// [spacing](Numbers::spacing).
pub(crate) fn entry_error(spacing: f64) -> f64 {
    (ERROR * spacing.powi(POINTS as i32)).min(1.0)
}

/// So many nodes over a range of so many widths of the kernel leave an [`entry_error`] of at most `error`,
/// but no more than `most`.
pub(crate) fn enough_nodes(widths: f64, error: f64, most: usize) -> usize {
    let spacing = (error / ERROR).powf(1.0 / POINTS as f64);
    // Of no number: as many as there can be.
    let nodes = (widths / spacing).ceil() + POINTS as f64;
    if nodes < most as f64 { (nodes as usize).max(2 * POINTS) } else { most }
}

impl State for Axis {
    fn save(&self, to: &mut Vec<u8>) {
        match self {
            Self::Levels(n) => (true, *n).save(to),
            Self::Numbers(own) => {
                (false, own.most).save(to);
                (own.low, own.high).save(to);
                own.is_whole.save(to);
            }
        }
    }

    fn load(from: &mut &[u8]) -> Result<Self, Error> {
        let (is_levels, n) = State::load(from)?;
        if is_levels {
            return Ok(Self::Levels(n));
        }
        let (low, high): (f64, f64) = State::load(from)?;
        let is_whole = bool::load(from)?;
        let is_empty = (low, high) == (f64::INFINITY, f64::NEG_INFINITY);
        if n < 2 * POINTS || !(is_empty || low.is_finite() && high.is_finite()) {
            return Err(Error::parameter(
                "state",
                "no state of this stream",
                "what `save` returned, unchanged",
            ));
        }
        Ok(Self::Numbers(Numbers { is_whole, ..Numbers::new(n) }.over(low, high)))
    }
}
