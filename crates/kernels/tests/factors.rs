//! Factors against the Gram matrices they stand for.

use std::sync::atomic::{AtomicUsize, Ordering};

use fewest_core::Error;
use fewest_kernels::{
    Definiteness, Delta, Factor, Gaussian, Gram, Laplace, Linear, NormalisedDelta, Polynomial, ScalarKernel,
    Sigmoid, Stacked, TableGaussian, nocco, squared_cross_norms,
};
use proptest::prelude::*;

/// `‖A - B‖_F`.
fn distance(a: &Gram, b: &Gram) -> f64 {
    a.as_slice().iter().zip(b.as_slice()).map(|(x, y)| (x - y).powi(2)).sum::<f64>().sqrt()
}

fn kernels(points: &[f64]) -> Vec<Box<dyn ScalarKernel>> {
    vec![
        Box::new(Gaussian::new(0.8).unwrap()),
        Box::new(Laplace::new(1.3).unwrap()),
        Box::new(Delta),
        Box::new(NormalisedDelta::from_points(points)),
        Box::new(Linear),
        Box::new(Polynomial::new(3, 1.0, 0.5).unwrap()),
        Box::new(Polynomial::new(2, -1.0, 1.0).unwrap()),
        Box::new(Sigmoid::new(0.7, -0.4).unwrap()),
        Box::new(TableGaussian::new(0.8).unwrap()),
    ]
}

/// Values with ties: some from a grid, some anywhere.
fn points(n: impl Into<proptest::collection::SizeRange>) -> impl Strategy<Value = Vec<f64>> {
    proptest::collection::vec(prop_oneof![(-3i32..4).prop_map(f64::from), -3.0..3.0f64], n)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn a_factor_is_its_gram_within_the_tolerance(points in points(1..60), exponent in 2i32..11) {
        let tolerance = 10f64.powi(-exponent);
        for kernel in kernels(&points) {
            let gram = Gram::new(&*kernel, &points);
            let factor = Factor::new(&*kernel, &points, tolerance, points.len()).unwrap();
            // Bounds: the residual's trace (semidefinite), or its Frobenius norm, exact for so few samples.
            let size = if factor.signs().is_some() { gram.frobenius_norm() } else { gram.trace() };
            let found = distance(&factor.to_gram(), &gram);
            prop_assert!(found <= tolerance * size + 1e-12 * size, "{:?}: {found}", kernel.definiteness());
            prop_assert!(factor.trace_error() <= tolerance);
            prop_assert_eq!(factor.signs().is_some(), kernel.definiteness() != Definiteness::PositiveSemidefinite);
            let trace: f64 = factor.diagonal().iter().sum();
            prop_assert!((trace - factor.to_gram().trace()).abs() <= 1e-12 * size);
        }
    }

    #[test]
    fn memory_of_another_factor_changes_no_bit(a in points(1..40), b in points(1..40)) {
        for kernel in kernels(&b) {
            let memory = Factor::new(&Gaussian::new(0.8).unwrap(), &a, 1e-9, a.len()).unwrap().into_values();
            let again = Factor::new_in(memory, &*kernel, &b, 1e-6, b.len()).unwrap();
            prop_assert_eq!(again, Factor::new(&*kernel, &b, 1e-6, b.len()).unwrap());
        }
    }

    #[test]
    fn the_diagonal_is_that_of_the_kernel(points in points(0..20)) {
        for kernel in kernels(&points) {
            let points = [points.as_slice(), &[f64::NAN, f64::INFINITY]].concat();
            let mut diagonal = vec![-1.0; points.len()];
            kernel.diagonal(&points, &mut diagonal);
            for (value, &point) in diagonal.iter().zip(&points) {
                let exact = kernel.eval(point, point);
                prop_assert!(*value == exact || value.is_nan() && exact.is_nan());
            }
        }
    }

    #[test]
    fn the_rank_is_capped_and_the_error_told(points in points(20..40), cap in 1usize..6) {
        for kernel in kernels(&points) {
            let factor = Factor::new(&*kernel, &points, 0.0, cap).unwrap();
            prop_assert!(factor.rank() <= cap);
            prop_assert_eq!(factor.values().len(), factor.rank() * points.len());
            let gram = Gram::new(&*kernel, &points);
            let found = distance(&factor.to_gram(), &gram);
            let size = if factor.signs().is_some() { gram.frobenius_norm() } else { gram.trace() };
            prop_assert!(found <= factor.trace_error() * size * (1.0 + 1e-9) + 1e-12 * size);
        }
    }

    #[test]
    fn centring_inner_products_and_stacks_agree_with_grams(x in points(25), y in points(25), z in points(25)) {
        let mut factors = Vec::new();
        let mut grams = Vec::new();
        for points in [&x, &y, &z] {
            for kernel in kernels(points) {
                let mut factor = Factor::new(&*kernel, points, 1e-13, 25).unwrap();
                factor.centre();
                let once = factor.clone();
                factor.centre();
                let drift = once.values().iter().zip(factor.values()).fold(0.0f64, |d, (a, b)| d.max((a - b).abs()));
                prop_assert!(drift < 1e-12);
                grams.push(Gram::new(&*kernel, points).centre());
                factors.push(factor);
            }
        }
        let stacked = Stacked::from_factors(25, &factors).unwrap();
        let mut all = vec![0.0; factors.len() * factors.len()];
        squared_cross_norms(&stacked, &stacked, &mut all);
        for (k, factor) in factors.iter().enumerate() {
            let mut row = vec![0.0; factors.len()];
            let alone = Stacked::from_factors(25, [factor]).unwrap();
            squared_cross_norms(&alone, &stacked, &mut row);
            for (l, other) in factors.iter().enumerate() {
                let exact = grams[k].inner(&grams[l]);
                let size = grams[k].frobenius_norm() * grams[l].frobenius_norm() + 1.0;
                for found in [factor.inner(other), row[l], all[k + l * factors.len()]] {
                    prop_assert!((found - exact).abs() < 1e-8 * size, "{k} {l}: {found} {exact}");
                }
                prop_assert!((factor.inner(other) - other.inner(factor)).abs() < 1e-12 * size);
            }
        }
    }

    #[test]
    fn nocco_of_a_factor_is_that_of_its_gram(points in points(2..40), exponent in 1i32..5) {
        let epsilon = 10f64.powi(-exponent);
        for kernel in kernels(&points) {
            let mut factor = Factor::new(&*kernel, &points, 1e-14, points.len()).unwrap();
            factor.centre();
            // Away from the singular values of indefinite matrices both ways are well conditioned.
            let (found, exact) = (factor.nocco(epsilon), nocco::normalise(&factor.to_gram(), epsilon));
            prop_assert!(found.is_ok() && exact.is_ok() || factor.signs().is_some());
            let (Ok(found), Ok(exact)) = (found, exact) else { continue };
            let size = exact.frobenius_norm();
            prop_assert!(distance(&found.to_gram(), &exact) <= 1e-8 * (1.0 + size * size), "{size}");
        }
    }

    #[test]
    fn compression_keeps_the_matrix_and_sorts_its_columns(points in points(2..50), exponent in 2i32..9) {
        let tolerance = 10f64.powi(-exponent);
        for kernel in kernels(&points) {
            let mut factor = Factor::new(&*kernel, &points, 1e-12, points.len()).unwrap();
            factor.centre();
            let small = factor.compress(tolerance).unwrap();
            prop_assert!(small.rank() <= factor.rank());
            let (gram, size) = (factor.to_gram(), factor.frobenius_norm());
            prop_assert!(distance(&small.to_gram(), &gram) <= tolerance * size * (1.0 + 1e-6) + 1e-12);
            let norms: Vec<f64> =
                (0..small.rank()).map(|a| small.column(a).iter().map(|v| v * v).sum::<f64>()).collect();
            prop_assert!(norms.windows(2).all(|pair| pair[0] >= pair[1] * (1.0 - 1e-9)));
        }
    }
}

proptest! {
    #[test]
    fn leading_parts_bound_products_from_below(
        a in points(8..60), b in points(8..60), share in 0.01..0.5,
    ) {
        let n = a.len().min(b.len());
        let kernel = Gaussian::new(1.0).unwrap();
        let factor = |points: &[f64]| {
            let mut factor = Factor::new(&kernel, &points[..n], 1e-12, n).unwrap();
            factor.centre();
            factor
        };
        let (a, b) = (factor(&a), factor(&b));
        let (lead_a, lead_b) = (a.leading(share), b.leading(share));
        for (whole, found) in [(&a, &lead_a), (&b, &lead_b)] {
            let squared_norm = whole.inner(whole);
            prop_assert!((found.squared_norm - squared_norm).abs() <= 1e-9 * squared_norm);
            if let Some((part, left_out)) = &found.part {
                prop_assert!(2 * part.rank() <= whole.rank() + 1);
                prop_assert!(*left_out <= share * squared_norm.sqrt());
                prop_assert!((distance(&part.to_gram(), &whole.to_gram()) - left_out).abs() <= 1e-7);
            }
        }
        if let (Some((part_a, left_a)), Some((part_b, left_b))) = (&lead_a.part, &lead_b.part) {
            let (low, exact) = (part_a.inner(part_b), a.inner(&b));
            let loose = left_a * lead_b.squared_norm.sqrt() + left_b * lead_a.squared_norm.sqrt();
            prop_assert!(low <= exact + 1e-9 && exact <= low + loose + 1e-9, "{low} {exact} {loose}");
        }
    }
}

#[test]
fn leading_parts_of_indefinite_and_of_empty_factors() {
    let points: Vec<f64> = (0..40).map(|i| (f64::from(i) * 0.7).sin()).collect();
    let signed = Factor::new(&Sigmoid::new(1.0, -0.5).unwrap(), &points, 1e-9, 40).unwrap();
    assert!(signed.signs().is_some() && signed.leading(0.1).part.is_none());
    let mut constant = Factor::new(&Gaussian::new(1.0).unwrap(), &[7.0; 50], 0.0, 50).unwrap();
    constant.centre();
    let found = constant.leading(0.1);
    assert_eq!((found.squared_norm, found.part.map(|(part, _)| part.rank())), (0.0, Some(0)));
}

#[test]
fn duplicates_and_constants_give_the_rank_they_have() {
    let kernel = Gaussian::new(1.0).unwrap();
    let repeated: Vec<f64> = (0..300).map(|i| f64::from(i % 3)).collect();
    assert_eq!(Factor::new(&kernel, &repeated, 0.0, 300).unwrap().rank(), 3);
    let mut constant = Factor::new(&kernel, &[7.0; 50], 0.0, 50).unwrap();
    assert_eq!(constant.rank(), 1);
    constant.centre();
    assert!(constant.values().iter().all(|&value| value == 0.0));
    for kernel in kernels(&[2.0; 9]) {
        let mut factor = Factor::new(&*kernel, &[2.0; 9], 1e-9, 9).unwrap();
        assert!(factor.rank() <= 1);
        factor.centre();
        assert_eq!(factor.compress(1e-3).unwrap().rank(), 0);
        assert_eq!(factor.nocco(1e-3).unwrap().frobenius_norm(), 0.0);
    }
    for kernel in kernels(&[]) {
        assert_eq!(Factor::new(&*kernel, &[], 1e-6, 10).unwrap().n_samples(), 0);
    }
}

#[test]
fn smooth_kernels_of_many_samples_have_tiny_rank() {
    // Normal quantiles, scattered by a multiplication modulo a prime.
    let n = 5003usize;
    let points: Vec<f64> = (0..n)
        .map(|i| {
            let u = ((i * 1999 % n) as f64 + 0.5) / n as f64;
            (u / (1.0 - u)).ln() / 1.8
        })
        .collect();
    let gaussian = Factor::new(&Gaussian::new(1.0).unwrap(), &points, 1e-6, 100).unwrap();
    assert!(gaussian.rank() <= 20, "{}", gaussian.rank());
    let kernel = Sigmoid::new(0.5, -0.3).unwrap();
    let tanh = Factor::new(&kernel, &points, 1e-6, 100).unwrap();
    assert!(tanh.rank() <= 40 && tanh.trace_error() <= 2e-6, "{} {}", tanh.rank(), tanh.trace_error());
    // The estimate holds on columns that the factorisation never saw.
    let (mut wrong, mut size) = (0.0, 0.0);
    for j in (0..n).step_by(97) {
        for i in 0..n {
            let exact = kernel.eval(points[i], points[j]);
            let found: f64 = (0..tanh.rank())
                .map(|a| tanh.signs().unwrap()[a] * tanh.column(a)[i] * tanh.column(a)[j])
                .sum();
            wrong += (found - exact).powi(2);
            size += exact * exact;
        }
    }
    assert!((wrong / size).sqrt() < 3e-6, "{}", (wrong / size).sqrt());
}

/// Few columns of the matrix are looked at, whatever ends the factorisation: the tolerance, the number of
/// columns allowed, which the last pivot may need two of, or rounding.
#[test]
fn few_columns_are_looked_at_whatever_ends_the_factorisation() {
    struct Counted(Sigmoid, AtomicUsize);
    impl ScalarKernel for Counted {
        fn eval(&self, a: f64, b: f64) -> f64 {
            self.1.fetch_add(1, Ordering::Relaxed);
            self.0.eval(a, b)
        }
        fn definiteness(&self) -> Definiteness {
            Definiteness::Indefinite
        }
    }
    let n = 400_usize;
    let points: Vec<f64> = (0..n).map(|i| (i * 151 % n) as f64 / 100.0 - 2.0).collect();
    let run = |tolerance: f64, max_rank: usize| {
        let kernel = Counted(Sigmoid::new(1.5, -0.3).unwrap(), AtomicUsize::new(0));
        let factor = Factor::new(&kernel, &points, tolerance, max_rank).unwrap();
        let looks = kernel.1.load(Ordering::Relaxed) / n;
        assert!(factor.rank() <= max_rank, "{}", factor.rank());
        // The watched ones, those that check them once or twice, two a pivot of two rows, and the diagonal.
        assert!(
            looks <= 2 * factor.rank() + 32 + 2 * 16 + 2,
            "{tolerance} {max_rank}: {looks} {}",
            factor.rank()
        );
        factor.rank()
    };
    for max_rank in 1..25 {
        assert!(run(1e-9, max_rank) + 1 >= max_rank.min(16));
    }
    let (fine, finest) = (run(1e-12, n), run(0.0, n));
    assert!(fine <= finest && finest <= 2 * fine, "{fine} {finest}");
}

#[test]
fn a_false_claim_and_bad_numbers_are_errors() {
    struct Liar;
    impl ScalarKernel for Liar {
        fn eval(&self, a: f64, b: f64) -> f64 {
            if a == b { 1.0 } else { 2.0 }
        }
        fn definiteness(&self) -> Definiteness {
            Definiteness::PositiveSemidefinite
        }
    }
    let error = Factor::new(&Liar, &[0.0, 1.0, 2.0], 1e-6, 3).unwrap_err();
    assert!(matches!(&error, Error::Numerical { hint, .. } if hint.contains("sample 1")), "{error}");
    for kernel in [&Gaussian::new(1.0).unwrap() as &dyn ScalarKernel, &Sigmoid::new(1.0, 0.0).unwrap()] {
        let error = Factor::new(kernel, &[0.0, f64::NAN, 2.0], 1e-6, 3).unwrap_err();
        assert!(error.to_string().contains("not finite"), "{error}");
        for tolerance in [-1.0, 1.0, f64::NAN] {
            assert!(Factor::new(kernel, &[0.0, 1.0], tolerance, 3).is_err());
        }
    }
    let overflowing = Polynomial::new(64, 1.0, 1.0).unwrap();
    assert!(Factor::new(&overflowing, &[1e200, 1.0], 1e-6, 2).is_err());
    assert!(
        Gaussian::new(f64::NAN).is_err() && Laplace::new(-1.0).is_err() && Gaussian::new(1e-200).is_err()
    );
    assert!(Polynomial::new(0, 1.0, 1.0).is_err() && Polynomial::new(2, 1.0, 0.0).is_err());
    let factor = Factor::new(&Gaussian::new(1.0).unwrap(), &[0.0, 1.0], 1e-6, 2).unwrap();
    assert!(
        factor.nocco(0.0).is_err() && factor.nocco(f64::INFINITY).is_err() && factor.compress(2.0).is_err()
    );
    assert!(Stacked::from_factors(3, [&factor]).is_err());
}

#[test]
fn explicit_grams_are_factored_with_the_signs_they_have() {
    let points: Vec<f64> = (0..90).map(|i| (f64::from(i) * 0.37).sin() * 2.0).collect();
    for kernel in kernels(&points) {
        let gram = Gram::new(&*kernel, &points);
        let factor = Factor::from_gram(&gram, 1e-9).unwrap();
        let found = distance(&factor.to_gram(), &gram);
        assert!(found <= 1e-9 * gram.trace().abs().max(gram.frobenius_norm()) * 1.01, "{found}");
    }
    let hollow = Gram::from_fn(5, |i, j| if i == j { 0.0 } else { (i + j) as f64 });
    assert!(distance(&Factor::from_gram(&hollow, 1e-13).unwrap().to_gram(), &hollow) < 1e-11);
}

/// Asked before each column: after three there is no fourth.
#[test]
fn a_factorisation_hears_a_stop() -> Result<(), Error> {
    let points: Vec<f64> = (0..400).map(|i| (i * 37 % 401) as f64 * 0.01).collect();
    let kernels: [Box<dyn ScalarKernel>; 2] =
        [Box::new(Laplace::new(0.1)?), Box::new(Sigmoid::new(0.7, -0.4)?)];
    for kernel in kernels {
        let asked = std::cell::Cell::new(0);
        let is_stopped = || asked.replace(asked.get() + 1) >= 3;
        let stopped = Factor::new_unless(&*kernel, &points, 1e-9, 400, &is_stopped);
        assert!(matches!(stopped, Err(Error::Stopped { .. })));
        assert_eq!(asked.get(), 4);
        let whole = Factor::new_unless(&*kernel, &points, 1e-9, 400, &|| false)?;
        assert_eq!(whole.values(), Factor::new(&*kernel, &points, 1e-9, 400)?.values());
    }
    Ok(())
}
