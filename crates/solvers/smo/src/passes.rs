//! The loops over all variables, vectorised for the machine the program runs on.
//!
//! No operation is fused or reordered across elements, so that every machine gives the same bits.

/// A stored kernel value.
pub(crate) trait Element: Copy + Send + Sync {
    const ZERO: Self;
    fn narrow(value: f64) -> Self;
    fn widen(self) -> f64;
    /// `errors[k] -= first.0 first.1[k] + second.0 second.1[k]`, and the [`extremes`] afterwards.
    fn update(
        errors: &mut [f64],
        first: (f64, &[Self]),
        second: (f64, &[Self]),
        up: &[f64],
        down: &[f64],
    ) -> Extremes;
    /// The position of the largest `(highest − errors[k] − down[k])² / (own + diagonal[k] − 2 row[k])` among
    /// those with a positive base, the first at a tie (Fan, Chen and Lin 2005, Eq. 11).
    fn partner(
        errors: &[f64],
        down: &[f64],
        diagonal: &[f64],
        row: &[Self],
        own: f64,
        highest: f64,
    ) -> Option<usize>;
    /// `sums[k] -= factor row[k]`.
    fn subtract(sums: &mut [f64], row: &[Self], factor: f64);
}

/// Curvatures at or below 0 count as this (Fan, Chen and Lin 2005, Section 2.3).
pub(crate) const LEAST_CURVATURE: f64 = 1e-12;

/// The largest `errors + up` with its position, and the smallest `errors + down`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Extremes {
    pub(crate) highest: f64,
    pub(crate) place: usize,
    pub(crate) lowest: f64,
}

impl Extremes {
    pub(crate) fn violation(self) -> f64 {
        self.highest - self.lowest
    }
}

/// Elements that are searched together; the position of the largest is then found inside its block.
const BLOCK: usize = 128;
const LANES: usize = 16;

/// The largest of `value(k)` for `k < n` and its first position, block by block.
#[inline(always)]
fn largest(n: usize, value: impl Fn(usize) -> f64) -> f64 {
    let mut lanes = [f64::NEG_INFINITY; LANES];
    let whole = n - n % LANES;
    for start in (0..whole).step_by(LANES) {
        for k in 0..LANES {
            let value = value(start + k);
            lanes[k] = if value > lanes[k] { value } else { lanes[k] };
        }
    }
    for k in whole..n {
        let value = value(k);
        lanes[0] = if value > lanes[0] { value } else { lanes[0] };
    }
    let mut best = lanes[0];
    for &lane in &lanes[1..] {
        best = if lane > best { lane } else { best };
    }
    best
}

struct Search {
    highest: f64,
    block: usize,
    lowest: f64,
}

impl Search {
    const NEW: Self = Self { highest: f64::NEG_INFINITY, block: 0, lowest: f64::INFINITY };

    #[inline(always)]
    fn look(&mut self, block: usize, errors: &[f64], up: &[f64], down: &[f64]) {
        let n = errors.len();
        let (up, down) = (&up[..n], &down[..n]);
        let highest = largest(n, |k| errors[k] + up[k]);
        let lowest = -largest(n, |k| -(errors[k] + down[k]));
        if highest > self.highest {
            self.highest = highest;
            self.block = block;
        }
        self.lowest = if lowest < self.lowest { lowest } else { self.lowest };
    }

    #[inline(always)]
    fn found(self, errors: &[f64], up: &[f64]) -> Extremes {
        let start = self.block * BLOCK;
        let inside = errors.iter().zip(up).skip(start).position(|(error, up)| error + up == self.highest);
        Extremes { highest: self.highest, place: start + inside.unwrap_or(0), lowest: self.lowest }
    }
}

#[inline(always)]
fn update_body<T: Element>(
    errors: &mut [f64],
    first: (f64, &[T]),
    second: (f64, &[T]),
    up: &[f64],
    down: &[f64],
) -> Extremes {
    let mut search = Search::NEW;
    let blocks = errors.chunks_mut(BLOCK).zip(first.1.chunks(BLOCK)).zip(second.1.chunks(BLOCK));
    let sides = up.chunks(BLOCK).zip(down.chunks(BLOCK));
    for (block, (((errors, a), b), (up, down))) in blocks.zip(sides).enumerate() {
        let n = errors.len();
        let (a, b) = (&a[..n], &b[..n]);
        for k in 0..n {
            errors[k] -= first.0 * a[k].widen() + second.0 * b[k].widen();
        }
        search.look(block, errors, up, down);
    }
    search.found(errors, up)
}

#[inline(always)]
fn partner_body<T: Element>(
    errors: &[f64],
    down: &[f64],
    diagonal: &[f64],
    row: &[T],
    own: f64,
    highest: f64,
) -> Option<usize> {
    let gain = |error: f64, down: f64, diagonal: f64, value: T| {
        let slope = highest - (error + down);
        let curvature = own + diagonal - 2.0 * value.widen();
        let curvature = if curvature > LEAST_CURVATURE { curvature } else { LEAST_CURVATURE };
        // Minus infinity squared would win.
        if slope > 0.0 { slope * slope / curvature } else { 0.0 }
    };
    let (mut best, mut place) = (0.0, None);
    let blocks =
        errors.chunks(BLOCK).zip(down.chunks(BLOCK)).zip(diagonal.chunks(BLOCK)).zip(row.chunks(BLOCK));
    for (block, (((errors, down), diagonal), row)) in blocks.enumerate() {
        let n = errors.len();
        let (down, diagonal, row) = (&down[..n], &diagonal[..n], &row[..n]);
        let value = largest(n, |k| gain(errors[k], down[k], diagonal[k], row[k]));
        if value > best {
            best = value;
            place = Some(block * BLOCK);
        }
    }
    let start = place?;
    (start..errors.len()).find(|&k| gain(errors[k], down[k], diagonal[k], row[k]) == best)
}

macro_rules! element {
    ($kind:ty, $update:ident, $partner:ident, $subtract:ident) => {
        #[multiversion::multiversion(targets(
            "x86_64+avx512f+avx512bw+avx512cd+avx512dq+avx512vl+avx2+fma",
            "x86_64+avx2+fma",
        ))]
        fn $update(
            errors: &mut [f64],
            first: (f64, &[$kind]),
            second: (f64, &[$kind]),
            up: &[f64],
            down: &[f64],
        ) -> Extremes {
            update_body(errors, first, second, up, down)
        }

        #[multiversion::multiversion(targets(
            "x86_64+avx512f+avx512bw+avx512cd+avx512dq+avx512vl+avx2+fma",
            "x86_64+avx2+fma",
        ))]
        fn $partner(
            errors: &[f64],
            down: &[f64],
            diagonal: &[f64],
            row: &[$kind],
            own: f64,
            highest: f64,
        ) -> Option<usize> {
            partner_body(errors, down, diagonal, row, own, highest)
        }

        #[multiversion::multiversion(targets("x86_64+avx2+fma"))]
        fn $subtract(sums: &mut [f64], row: &[$kind], factor: f64) {
            for (sum, value) in sums.iter_mut().zip(row) {
                *sum -= factor * value.widen();
            }
        }

        impl Element for $kind {
            const ZERO: Self = 0.0;
            #[inline(always)]
            fn narrow(value: f64) -> Self {
                value as $kind
            }
            #[inline(always)]
            fn widen(self) -> f64 {
                f64::from(self)
            }
            fn update(
                errors: &mut [f64],
                first: (f64, &[Self]),
                second: (f64, &[Self]),
                up: &[f64],
                down: &[f64],
            ) -> Extremes {
                $update(errors, first, second, up, down)
            }
            fn partner(
                errors: &[f64],
                down: &[f64],
                diagonal: &[f64],
                row: &[Self],
                own: f64,
                highest: f64,
            ) -> Option<usize> {
                $partner(errors, down, diagonal, row, own, highest)
            }
            fn subtract(sums: &mut [f64], row: &[Self], factor: f64) {
                $subtract(sums, row, factor);
            }
        }
    };
}

element!(f32, update_single, partner_single, subtract_single);
element!(f64, update_double, partner_double, subtract_double);

/// The result of [`Element::update`] for unchanged errors.
pub(crate) fn extremes(errors: &[f64], up: &[f64], down: &[f64]) -> Extremes {
    let mut search = Search::NEW;
    let sides = up.chunks(BLOCK).zip(down.chunks(BLOCK));
    for (block, (errors, (up, down))) in errors.chunks(BLOCK).zip(sides).enumerate() {
        search.look(block, errors, up, down);
    }
    search.found(errors, up)
}

/// `sums[k] -= factor row[k]`.
pub(crate) fn subtract(sums: &mut [f64], row: &[f64], factor: f64) {
    subtract_double(sums, row, factor);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wave(n: usize, step: f64) -> Vec<f64> {
        (0..n).map(|k| (k as f64 * step).sin()).collect()
    }

    #[test]
    fn any_length_agrees_with_plain_loops() {
        for n in [1, 2, 15, 16, 17, 127, 128, 129, 300, 1000] {
            let (a, b) = (wave(n, 0.3), wave(n, 1.1));
            let narrow: Vec<f32> = a.iter().map(|&value| value as f32).collect();
            let up: Vec<f64> = (0..n).map(|k| if k % 3 == 0 { f64::NEG_INFINITY } else { 0.1 }).collect();
            let down: Vec<f64> = (0..n).map(|k| if k % 4 == 1 { f64::INFINITY } else { -0.1 }).collect();
            let mut errors = wave(n, 0.7);
            let expected: Vec<f64> =
                errors.iter().zip(&a).zip(&b).map(|((e, a), b)| e - (0.5 * a - 0.25 * b)).collect();
            let found = f64::update(&mut errors, (0.5, &a), (-0.25, &b), &up, &down);
            assert_eq!(errors, expected);
            assert_eq!(found, extremes(&errors, &up, &down));
            let raised: Vec<f64> = errors.iter().zip(&up).map(|(e, u)| e + u).collect();
            assert_eq!(found.highest, raised.iter().copied().fold(f64::NEG_INFINITY, f64::max));
            if found.highest.is_finite() {
                assert_eq!(raised.iter().position(|value| *value == found.highest), Some(found.place));
            }
            let lowered = errors.iter().zip(&down).map(|(e, d)| e + d).fold(f64::INFINITY, f64::min);
            assert_eq!(found.lowest, lowered);

            let diagonal = vec![1.5; n];
            let gain = |k: usize, value: f64| {
                let slope = 0.5 - (errors[k] + down[k]);
                if slope > 0.0 { slope * slope / (1.0 + 1.5 - 2.0 * value) } else { 0.0 }
            };
            let plain = |value: &dyn Fn(usize) -> f64| {
                let best = (0..n).map(|k| gain(k, value(k))).fold(0.0, f64::max);
                (0..n).find(|&k| best > 0.0 && gain(k, value(k)) == best)
            };
            assert_eq!(f64::partner(&errors, &down, &diagonal, &a, 1.0, 0.5), plain(&|k| a[k]));
            let single = f32::partner(&errors, &down, &diagonal, &narrow, 1.0, 0.5);
            assert_eq!(single, plain(&|k| f64::from(narrow[k])));
        }
    }

    #[test]
    fn the_first_of_equals_wins() {
        let zero = vec![0.0; 400];
        assert_eq!(extremes(&zero, &zero, &zero).place, 0);
        let one = vec![1.0; 400];
        assert_eq!(f64::partner(&zero, &zero, &one, &zero, 1.0, 1.0), Some(0));
        let mut up = vec![f64::NEG_INFINITY; 400];
        up[137] = 0.0;
        up[139] = 0.0;
        assert_eq!(extremes(&zero, &up, &zero).place, 137);
    }
}
