//! Elementary functions over slices, vectorised for the machine the program runs on.
//!
//! Every function is compiled for AVX-512, for AVX2 with FMA and for the build's baseline, and the best
//! one is chosen when the program runs. Each element goes through the same operations whatever its
//! position, the slice's length or its alignment, so a machine gives the same bits for any division
//! of the work. Machines with and without FMA may differ in the last digit.

use fewest_linalg::{dispatched, multiply_add};

/// `exp(r) = 1 + r + r² Σ_k POLYNOMIAL[k] r^k` on `|r| <= ln(2)/2`: interpolation at Chebyshev nodes,
/// relative truncation error 1.7e-17.
const POLYNOMIAL: [f64; 10] = [
    0.5000000000000001,
    0.16666666666666669,
    0.04166666666662413,
    0.008333333333330062,
    0.0013888888917213717,
    0.00019841269863053618,
    2.4801521295954376e-5,
    2.7557268459997064e-6,
    2.7620088445409746e-7,
    2.510038549551032e-8,
];

/// The upper 42 bits of ln(2): its product with any exponent is exact.
const LN_2_HIGH: f64 = 0.6931471805598903;
/// ln(2) minus [`LN_2_HIGH`].
const LN_2_LOW: f64 = 5.497923018708371e-14;

/// `1.5 * 2^52 + 2046`: adding it rounds a small number `n` to an integer and leaves `n + 2046` in the
/// lowest bits of the sum.
const ROUND: f64 = 6_755_399_441_057_790.0;

/// `exp(x)` without a branch. Comparisons are written so that NaN stays NaN.
#[inline(always)]
fn exp_one<const FMA: bool>(x: f64) -> f64 {
    // Beyond these bounds the result is 0 or infinite anyway; within them every exponent below fits.
    let x = if -746.0 > x { -746.0 } else { x };
    let x = if 710.0 < x { 710.0 } else { x };
    let shifted = multiply_add::<FMA>(x, std::f64::consts::LOG2_E, ROUND);
    let n = shifted - ROUND;
    let r = multiply_add::<FMA>(n, -LN_2_HIGH, x);
    let r = multiply_add::<FMA>(n, -LN_2_LOW, r);
    // Estrin's scheme: the processor works on the independent pairs at once.
    let pair = |k: usize| multiply_add::<FMA>(POLYNOMIAL[k + 1], r, POLYNOMIAL[k]);
    let (r2, r4) = (r * r, (r * r) * (r * r));
    let low = multiply_add::<FMA>(pair(2), r2, pair(0));
    let high = multiply_add::<FMA>(pair(8), r4, multiply_add::<FMA>(pair(6), r2, pair(4)));
    let q = multiply_add::<FMA>(high, r4, low);
    let p = multiply_add::<FMA>(q, r2, r) + 1.0;
    // 2^n in two factors, since n reaches from -1076 to 1024: the first product is exact, the second
    // rounds once, also into the subnormal numbers, to zero and to infinity. The lowest 12 bits of
    // `half` and `rest` are the exponents' bit patterns; shifting drops all others.
    let half = shifted.to_bits() >> 1;
    let rest = shifted.to_bits().wrapping_sub(half);
    p * f64::from_bits(half << 52) * f64::from_bits(rest << 52)
}

/// Values that go through a function at once.
const WIDTH: usize = 8;

/// `out[i] = value(points[i])`, as far as the shorter of the two slices reaches. The last values go together
/// with some before them, once more: one by one they would take as long as all the others.
#[inline(always)]
fn each(points: &[f64], out: &mut [f64], value: impl Fn(f64) -> f64) {
    let n = points.len().min(out.len());
    let (points, out) = (&points[..n], &mut out[..n]);
    let run = |points: &[f64], out: &mut [f64]| {
        for (out, &point) in out.iter_mut().zip(points) {
            *out = value(point);
        }
    };
    if n < WIDTH {
        return run(points, out);
    }
    let whole = n - n % WIDTH;
    run(&points[..whole], &mut out[..whole]);
    if whole < n {
        run(&points[n - WIDTH..], &mut out[n - WIDTH..]);
    }
}

dispatched! {
    /// Replaces every value by its exponential.
    ///
    /// Relative error below 4e-16 for normal results, half a unit in the last place for subnormal ones;
    /// `exp(-inf) = 0`, `exp(inf) = inf`, NaN stays NaN.
    ///
    /// ```
    /// let mut values = [0.0, 1.0, f64::NEG_INFINITY];
    /// fewest_kernels::exp_in_place(&mut values);
    /// assert!((values[1] - 1f64.exp()).abs() < 1e-15);
    /// assert_eq!((values[0], values[2]), (1.0, 0.0));
    /// ```
    pub fn exp_in_place(values: &mut [f64]) = exp_in_place_body
}

#[inline(always)]
fn exp_in_place_body<const FMA: bool>(values: &mut [f64]) {
    for value in values {
        *value = exp_one::<FMA>(*value);
    }
}

dispatched! {
    /// `out[i] = exp(-factor (x - points[i])²)`, as far as the shorter of the two slices reaches.
    pub(crate) fn gaussian_row(x: f64, points: &[f64], factor: f64, out: &mut [f64]) = gaussian_row_body
}

#[inline(always)]
fn gaussian_row_body<const FMA: bool>(x: f64, points: &[f64], factor: f64, out: &mut [f64]) {
    each(points, out, |point| {
        let difference = x - point;
        exp_one::<FMA>(-factor * (difference * difference))
    });
}

dispatched! {
    /// `exp(-factor (points[j] - points[i])²)` for `j = 0..n, i = 0..=j`, in this order.
    ///
    /// All exponents are written first and one loop takes their exponentials: short columns would spend
    /// half their time in the remainders of vector loops.
    pub(crate) fn gaussian_triangle(points: &[f64], factor: f64, out: &mut [f64]) = gaussian_triangle_body
}

#[inline(always)]
fn gaussian_triangle_body<const FMA: bool>(points: &[f64], factor: f64, out: &mut [f64]) {
    let mut rest = &mut *out;
    for (j, &x) in points.iter().enumerate() {
        let Some((column, after)) = rest.split_at_mut_checked(j + 1) else { break };
        for (value, &point) in column.iter_mut().zip(points) {
            let difference = x - point;
            *value = -factor * (difference * difference);
        }
        rest = after;
    }
    exp_in_place_body::<FMA>(out);
}

dispatched! {
    /// `out[i] = exp(-factor |x - points[i]|)`, as far as the shorter of the two slices reaches.
    pub(crate) fn laplace_row(x: f64, points: &[f64], factor: f64, out: &mut [f64]) = laplace_row_body
}

#[inline(always)]
fn laplace_row_body<const FMA: bool>(x: f64, points: &[f64], factor: f64, out: &mut [f64]) {
    each(points, out, |point| exp_one::<FMA>(-factor * (x - point).abs()));
}

dispatched! {
    /// `out[i] = tanh(scale x points[i] + offset)`, as far as the shorter of the two slices reaches.
    ///
    /// Absolute error below 3e-16, computed as `sign(z) (1 - e)/(1 + e)` with `e = exp(-2|z|)`.
    pub(crate) fn tanh_row(x: f64, points: &[f64], scale: f64, offset: f64, out: &mut [f64]) = tanh_row_body
}

#[inline(always)]
fn tanh_row_body<const FMA: bool>(x: f64, points: &[f64], scale: f64, offset: f64, out: &mut [f64]) {
    each(points, out, |point| {
        let z = scale * (x * point) + offset;
        let e = exp_one::<FMA>(-2.0 * z.abs());
        ((1.0 - e) / (1.0 + e)).copysign(z)
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The largest relative error over `values`, against the standard library (itself below one unit
    /// in the last place); subnormal results are compared in units of the smallest one.
    fn worst(values: &[f64], run: impl Fn(&mut [f64])) -> f64 {
        let mut out = values.to_vec();
        run(&mut out);
        let mut worst = 0.0f64;
        for (&x, &found) in values.iter().zip(&out) {
            let exact = x.exp();
            let error = if exact < f64::MIN_POSITIVE {
                assert!((found - exact).abs() <= f64::from_bits(1), "exp({x}) = {found:e}");
                0.0
            } else {
                (found - exact).abs() / exact
            };
            worst = worst.max(error);
        }
        worst
    }

    #[test]
    fn exp_is_exact_to_the_last_digits() {
        let values: Vec<f64> = (0..200_000).map(|i| -745.2 + 1454.9 * (f64::from(i) / 199_999.0)).collect();
        let near_zero: Vec<f64> = (0..20_000).map(|i| (f64::from(i) - 10_000.0) * 1e-4).collect();
        for points in [&values, &near_zero] {
            assert!(worst(points, exp_in_place) < 5e-16);
            assert!(worst(points, exp_in_place_body::<false>) < 5e-16);
        }
    }

    #[test]
    fn exp_at_the_edges() {
        let tiny = f64::from_bits(1);
        let mut values = [
            0.0,
            -0.0,
            tiny,
            -1e-300,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::NAN,
            709.78,
            709.79,
            -745.1,
            -745.2,
        ];
        exp_in_place(&mut values);
        assert_eq!(values[..6], [1.0, 1.0, 1.0, 1.0, f64::INFINITY, 0.0]);
        assert!(values[6].is_nan());
        assert!(values[7].is_finite() && values[8].is_infinite());
        assert_eq!(values[9..], [tiny, 0.0]);
        let mut large = [f64::MAX, f64::MIN, 1e5, -1e5];
        exp_in_place(&mut large);
        assert_eq!(large, [f64::INFINITY, 0.0, f64::INFINITY, 0.0]);
    }

    #[test]
    fn position_and_length_change_no_bit() {
        let values: Vec<f64> = (0..67).map(|i| -0.37 * f64::from(i)).collect();
        let mut whole = values.clone();
        exp_in_place(&mut whole);
        for start in 0..20 {
            for end in start..=values.len() {
                let mut part = values[start..end].to_vec();
                exp_in_place(&mut part);
                assert_eq!(part, whole[start..end]);
            }
        }
    }

    #[test]
    fn rows_and_triangle_agree_with_their_formulas() {
        let points: Vec<f64> = (0..23).map(|i| (f64::from(i) * 1.7).sin() * 3.0).collect();
        let mut triangle = vec![0.0; 23 * 24 / 2];
        gaussian_triangle(&points, 0.5, &mut triangle);
        let (mut gauss, mut laplace, mut tanh) = (vec![0.0; 23], vec![0.0; 23], vec![0.0; 23]);
        let mut offset = 0;
        for (j, &x) in points.iter().enumerate() {
            gaussian_row(x, &points, 0.5, &mut gauss);
            assert_eq!(gauss[..=j], triangle[offset..=offset + j]);
            offset += j + 1;
            laplace_row(x, &points, 0.7, &mut laplace);
            tanh_row(x, &points, 0.3, -0.2, &mut tanh);
            for i in 0..23 {
                assert!((gauss[i] - (-0.5 * (x - points[i]).powi(2)).exp()).abs() < 1e-15);
                assert!((laplace[i] - (-0.7 * (x - points[i]).abs()).exp()).abs() < 1e-15);
                assert!((tanh[i] - (0.3 * (x * points[i]) - 0.2).tanh()).abs() < 3e-16);
            }
        }
    }
}
