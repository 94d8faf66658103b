//! Laws of centring, HSIC, its block estimator and the median bandwidth, against their definitions.

use fewest_core::Error;
use fewest_core::method::KernelWidth;
use fewest_kernels::hsic::{self, HsicScaling, KernelMatrix};
use fewest_kernels::{
    BlockEstimator, Delta, Factor, Gaussian, GaussianRows, Gram, Laplace, Linear, NormalisedDelta,
    Polynomial, SampleBlocks, ScalarKernel, Sigmoid, TableGaussian, block_hsic, centred_packed, kernel_width,
    packed_len,
};
use fewest_linalg::dot_products;
use proptest::prelude::*;

fn points(n: impl Into<proptest::collection::SizeRange>) -> impl Strategy<Value = Vec<f64>> {
    proptest::collection::vec(prop_oneof![(-3i32..4).prop_map(f64::from), -3.0..3.0f64], n)
}

fn pair(n: std::ops::Range<usize>) -> impl Strategy<Value = (Vec<f64>, Vec<f64>)> {
    n.prop_flat_map(|n| (points(n), points(n)))
}

/// Song et al. (2012), Eq. 5, term by term.
fn unbiased_by_definition(k: &Gram, l: &Gram) -> f64 {
    let n = k.n();
    let hollow = |m: &Gram, i: usize, j: usize| if i == j { 0.0 } else { m.get(i, j) };
    let (mut product, mut sum_k, mut sum_l, mut chain) = (0.0, 0.0, 0.0, 0.0);
    for i in 0..n {
        for j in 0..n {
            product += hollow(k, i, j) * hollow(l, j, i);
            sum_k += hollow(k, i, j);
            sum_l += hollow(l, i, j);
            for m in 0..n {
                chain += hollow(k, i, j) * hollow(l, j, m);
            }
        }
    }
    let n = n as f64;
    (product + sum_k * sum_l / ((n - 1.0) * (n - 2.0)) - 2.0 / (n - 2.0) * chain) / (n * (n - 3.0))
}

/// `tr(K H L H)` by four matrix products.
fn trace_by_definition(k: &Gram, l: &Gram) -> f64 {
    let n = k.n();
    let h = Gram::from_fn(n, |i, j| f64::from(u8::from(i == j)) - 1.0 / n as f64);
    let multiply = |a: &[f64], b: &[f64]| -> Vec<f64> {
        (0..n * n).map(|at| (0..n).map(|m| a[at % n + m * n] * b[m + at / n * n]).sum()).collect()
    };
    let product = multiply(&multiply(k.as_slice(), h.as_slice()), &multiply(l.as_slice(), h.as_slice()));
    (0..n).map(|i| product[i * n + i]).sum()
}

fn close(a: f64, b: f64, tolerance: f64) -> bool {
    (a - b).abs() <= tolerance * (1.0 + a.abs().max(b.abs()))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn estimators_are_their_definitions((x, y) in pair(4..25)) {
        let (k, l) = (Gram::new(&Gaussian::new(0.9).unwrap(), &x), Gram::new(&Laplace::new(1.1).unwrap(), &y));
        let trace = trace_by_definition(&k, &l);
        let n = x.len() as f64;
        prop_assert!(close(hsic::biased(&k, &l, HsicScaling::Trace).unwrap(), trace, 1e-12));
        prop_assert!(close(hsic::biased(&k, &l, HsicScaling::SampleSize).unwrap(), trace / (n * n), 1e-13));
        let less_one = hsic::biased(&k, &l, HsicScaling::SampleSizeLessOne).unwrap();
        prop_assert!(close(less_one, trace / ((n - 1.0) * (n - 1.0)), 1e-13));
        prop_assert!(close(hsic::unbiased(&k, &l).unwrap(), unbiased_by_definition(&k, &l), 1e-12));
        prop_assert!(trace >= -1e-12);
        let factors = [&k, &l].map(|gram| Factor::from_gram(gram, 1e-14).unwrap());
        prop_assert!(close(hsic::biased(&factors[0], &factors[1], HsicScaling::Trace).unwrap(), trace, 1e-11));
        let unbiased = hsic::unbiased(&factors[0], &factors[1]).unwrap();
        prop_assert!(close(unbiased, unbiased_by_definition(&k, &l), 1e-11));
    }

    #[test]
    fn estimators_are_symmetric_and_do_not_see_the_order_of_samples((x, y) in pair(5..25), turn in 1usize..5) {
        let (kernel_x, kernel_y) = (Gaussian::new(0.9).unwrap(), Sigmoid::new(0.4, -0.2).unwrap());
        let turned = |values: &[f64]| [&values[turn..], &values[..turn]].concat();
        let (k, l) = (Gram::new(&kernel_x, &x), Gram::new(&kernel_y, &y));
        let (k_turned, l_turned) = (Gram::new(&kernel_x, &turned(&x)), Gram::new(&kernel_y, &turned(&y)));
        for estimator in [|k: &Gram, l: &Gram| hsic::biased(k, l, HsicScaling::Trace), hsic::unbiased, hsic::normalised] {
            let value = estimator(&k, &l).unwrap();
            prop_assert!(close(value, estimator(&l, &k).unwrap(), 1e-12));
            prop_assert!(close(value, estimator(&k_turned, &l_turned).unwrap(), 1e-10));
            prop_assert!(close(value, estimator(&k.centred(), &l.centred()).unwrap(), 1e-10));
        }
        let own = hsic::normalised(&k, &k).unwrap();
        prop_assert!(own == 0.0 || close(own, 1.0, 1e-12));
    }

    #[test]
    fn centring_gives_rows_of_zero_sum_and_can_be_repeated(x in points(1..40)) {
        let n = x.len();
        let kernels: [Box<dyn ScalarKernel>; 8] = [
            Box::new(Gaussian::new(0.7).unwrap()),
            Box::new(Laplace::new(0.7).unwrap()),
            Box::new(Delta),
            Box::new(NormalisedDelta::from_points(&x)),
            Box::new(Linear),
            Box::new(Polynomial::new(2, 1.0, 1.0).unwrap()),
            Box::new(Sigmoid::new(1.0, -0.5).unwrap()),
            Box::new(TableGaussian::new(0.7).unwrap()),
        ];
        for kernel in &kernels {
            let gram = Gram::new(&**kernel, &x);
            for i in 0..n {
                for j in 0..n {
                    prop_assert!(close(gram.get(i, j), kernel.eval(x[i], x[j]), 1e-14));
                    prop_assert_eq!(gram.get(i, j), gram.get(j, i));
                }
            }
            let centred = gram.centre();
            let twice = centred.centre();
            let size = 1.0 + gram.frobenius_norm();
            for j in 0..n {
                prop_assert!(centred.column(j).iter().sum::<f64>().abs() < 1e-13 * size * n as f64);
                for i in 0..n {
                    prop_assert!((centred.get(i, j) - twice.get(i, j)).abs() < 1e-13 * size);
                    prop_assert_eq!(centred.get(i, j), centred.get(j, i));
                }
            }
            let (mut scratch, mut packed) = (vec![3.0; 2], vec![f64::NAN; packed_len(n)]);
            centred_packed(&**kernel, &x, &mut scratch, &mut packed);
            let mut at = 0;
            for j in 0..n {
                for i in 0..=j {
                    let scale = if i == j { 1.0 } else { std::f64::consts::SQRT_2 };
                    prop_assert!((packed[at] - scale * centred.get(i, j)).abs() < 1e-13 * size);
                    at += 1;
                }
            }
        }
    }

    #[test]
    fn the_median_is_that_of_all_differences(x in points(2..30), offset in -1e3..1e3f64) {
        let shifted: Vec<f64> = x.iter().map(|value| value + offset).collect();
        for points in [&x, &shifted] {
            let mut all: Vec<f64> =
                (0..points.len()).flat_map(|j| (0..j).map(move |i| (points[i] - points[j]).abs())).collect();
            all.sort_by(f64::total_cmp);
            let median = |sorted: &[f64]| {
                let half = sorted.len() / 2;
                if sorted.len() % 2 == 1 { sorted[half] } else { 0.5 * sorted[half - 1] + 0.5 * sorted[half] }
            };
            let resolved = kernel_width(KernelWidth::Median, points).unwrap();
            let positive: Vec<f64> = all.iter().copied().filter(|&difference| difference > 0.0).collect();
            let expected = match (2 * positive.len() > all.len(), positive.is_empty()) {
                (true, _) => median(&all),
                (false, false) => median(&positive),
                (false, true) => 1.0,
            };
            prop_assert_eq!(resolved, expected);
        }
    }

    #[test]
    fn blocks_cover_every_sample_and_one_block_is_the_full_estimator(
        (x, y) in pair(4..40), size in 2usize..20, permutations in 1usize..4, seed in 0u64..1000,
    ) {
        let n = x.len();
        let (kernel_x, kernel_y) = (Gaussian::new(0.9).unwrap(), Delta);
        let (k, l) = (Gram::new(&kernel_x, &x), Gram::new(&kernel_y, &y));
        let whole = SampleBlocks::new(n, n, permutations, seed).unwrap();
        for (estimator, full) in [
            (BlockEstimator::Biased(HsicScaling::Trace), hsic::biased(&k, &l, HsicScaling::Trace)),
            (BlockEstimator::Unbiased, hsic::unbiased(&k, &l)),
            (BlockEstimator::Normalised, hsic::normalised(&k, &l)),
        ] {
            let found = block_hsic(&kernel_x, &x, &kernel_y, &y, &whole, estimator).unwrap();
            prop_assert!(close(found, full.unwrap(), 1e-13));
        }
        if size > n {
            prop_assert!(SampleBlocks::new(n, size, permutations, seed).is_err());
            return Ok(());
        }
        let blocks = SampleBlocks::new(n, size, permutations, seed).unwrap();
        prop_assert_eq!(&blocks, &SampleBlocks::new(n, size, permutations, seed).unwrap());
        let mut counts = vec![0; n];
        let mut weights = 0.0;
        for block in blocks.iter() {
            prop_assert!(block.len() <= size && block.len() + 1 >= size.min(n / n.div_ceil(size)));
            weights += blocks.weight(block.len());
            block.iter().for_each(|&sample| counts[sample] += 1);
        }
        prop_assert!(counts.iter().all(|&count| count == permutations) && (weights - 1.0).abs() < 1e-12);
    }

    #[test]
    fn products_are_dot_products_whatever_the_width(a in 1usize..9, b in 1usize..9, m in 1usize..40) {
        let values = |count: usize, step: f64| -> Vec<f64> { (0..count).map(|i| (i as f64 * step).sin()).collect() };
        let (left, right) = (values(a * m, 0.7), values(b * m, 1.3));
        let mut out = vec![f64::NAN; a * b];
        dot_products(&left, &right, m, &mut out);
        for i in 0..a {
            for j in 0..b {
                let exact: f64 = (0..m).map(|k| left[i * m + k] * right[j * m + k]).sum();
                prop_assert!((out[i + j * a] - exact).abs() < 1e-13 * m as f64);
            }
        }
    }
}

#[test]
fn a_shift_of_all_values_changes_nothing() {
    // Powers of two, so that shifted values are exact and every difference is the same number.
    let x: Vec<f64> = (0..64).map(|i| f64::from(i * 37 % 64) / 16.0).collect();
    let shifted: Vec<f64> = x.iter().map(|value| value + 2f64.powi(20)).collect();
    let kernels: [Box<dyn ScalarKernel>; 3] = [
        Box::new(Gaussian::new(1.0).unwrap()),
        Box::new(Laplace::new(1.0).unwrap()),
        Box::new(TableGaussian::new(1.0).unwrap()),
    ];
    for kernel in &kernels {
        assert_eq!(Gram::new(&**kernel, &x), Gram::new(&**kernel, &shifted));
        let factors = [&x, &shifted].map(|points| Factor::new(&**kernel, points, 1e-6, 64).unwrap());
        assert_eq!(factors[0], factors[1]);
    }
    assert_eq!(kernel_width(KernelWidth::Median, &x), kernel_width(KernelWidth::Median, &shifted));
}

#[test]
fn the_table_is_as_exact_as_stated_and_ends() {
    let (table, exact) = (TableGaussian::new(2.0).unwrap(), Gaussian::new(2.0).unwrap());
    let mut worst = 0.0f64;
    for i in 0..100_000 {
        let difference = f64::from(i) * 2e-4;
        worst = worst.max((table.eval(0.0, difference) - exact.eval(0.0, difference)).abs());
    }
    assert!(worst > 1e-5 && worst < 6e-4, "{worst}");
    assert_eq!(table.eval(5.0, 5.0), 1.0);
    assert_eq!(table.eval(0.0, 1e300), 0.0);
    assert!(table.eval(f64::NAN, 0.0).is_nan());
}

#[test]
fn constants_depend_on_nothing() {
    let kernel = Gaussian::new(1.0).unwrap();
    for n in [5, 49, 100] {
        let x: Vec<f64> = (0..n).map(f64::from).collect();
        let constant = vec![3.25; x.len()];
        let (k, l) = (Gram::new(&kernel, &x), Gram::new(&kernel, &constant));
        assert_eq!(hsic::biased(&k, &l, HsicScaling::Trace).unwrap(), 0.0);
        assert_eq!(hsic::normalised(&k, &l).unwrap(), 0.0);
        let classes = Gram::new(&NormalisedDelta::from_points(&constant), &constant);
        assert_eq!(hsic::normalised(&k, &classes).unwrap(), 0.0);
        assert_eq!(classes.centre().frobenius_norm(), 0.0);
        for kernel in [&kernel as &dyn ScalarKernel, &Linear, &NormalisedDelta::from_points(&constant)] {
            let mut packed = vec![1.0; packed_len(x.len())];
            centred_packed(kernel, &constant, &mut Vec::new(), &mut packed);
            assert!(packed.iter().all(|&value| value == 0.0));
        }
    }
}

#[test]
fn several_outputs_count_together() {
    let (first, second) = ([0.0, 1.0, 2.5, -1.0], [3.0, 3.0, 1.0, 0.5]);
    let kernel = GaussianRows::new([first, second].concat(), 4, 1.3).unwrap();
    let gram = kernel.gram();
    let parts = [first, second].map(|output| Gram::new(&Gaussian::new(1.3).unwrap(), &output));
    let factor = kernel.factor(1e-13, 4).unwrap().to_gram();
    for i in 0..4 {
        for j in 0..4 {
            // The Gaussian of a sum of squares is a product of Gaussians.
            let expected = parts[0].get(i, j) * parts[1].get(i, j);
            for found in [gram.get(i, j), kernel.eval(i, j), factor.get(i, j)] {
                assert!((found - expected).abs() < 1e-12);
            }
        }
    }
    assert!(matches!(GaussianRows::new(vec![0.0; 5], 4, 1.0), Err(Error::ShapeMismatch { .. })));
    assert!(matches!(GaussianRows::new(vec![], 0, 1.0), Err(Error::ShapeMismatch { .. })));
    let error = GaussianRows::new(vec![0.0, 1.0, 2.0, f64::NAN], 2, 1.0).unwrap_err();
    assert!(matches!(error, Error::NonFiniteTarget { row: 1, .. }));
}

#[test]
fn bad_calls_are_errors_that_say_why() {
    let (three, five) = (Gram::from_fn(3, |_, _| 1.0), Gram::from_fn(5, |_, _| 1.0));
    assert!(matches!(hsic::biased(&three, &five, HsicScaling::Trace), Err(Error::ShapeMismatch { .. })));
    assert!(matches!(hsic::unbiased(&three, &three), Err(Error::TooFew { minimum: 4, .. })));
    assert!(SampleBlocks::new(10, 11, 1, 0).unwrap_err().to_string().contains("`block_size` is 11"));
    assert!(
        SampleBlocks::new(10, 1, 1, 0).is_err()
            && SampleBlocks::new(10, 5, 0, 0).is_err()
            && SampleBlocks::new(0, 2, 1, 0).is_err()
    );
    let (kernel, blocks) = (Gaussian::new(1.0).unwrap(), SampleBlocks::new(10, 3, 1, 0).unwrap());
    let (short, long) = ([0.0; 9], [0.0; 10]);
    let run = |x: &[f64], y: &[f64]| block_hsic(&kernel, x, &kernel, y, &blocks, BlockEstimator::Unbiased);
    assert!(matches!(run(&short, &long), Err(Error::ShapeMismatch { .. })));
    assert!(matches!(run(&long, &long), Err(Error::TooFew { .. })));
    assert!(matches!(kernel_width(KernelWidth::Median, &[1.0]), Err(Error::TooFew { .. })));
    assert!(
        kernel_width(KernelWidth::Median, &[1.0, f64::NAN]).is_err()
            && kernel_width(KernelWidth::Median, &[f64::MAX, f64::MIN]).is_err()
    );
    assert!(kernel_width(KernelWidth::Value(0.0), &[]).is_err());
    assert!(Gram::from_values(vec![0.0; 3], 2).is_err());
    let error = Gram::from_values(vec![1.0, 0.5, 0.4, 1.0], 2).unwrap_err();
    assert!(error.to_string().contains("symmetric"), "{error}");
    assert!(Gram::from_values(vec![1.0, f64::NAN, 0.4, 1.0], 2).unwrap_err().to_string().contains("(1, 0)"));
    assert_eq!(Gram::from_values(vec![1.0, 0.5, 0.5, 1.0], 2).unwrap().get(1, 0), 0.5);
}

#[test]
fn different_seeds_give_different_partitions() {
    let order =
        |seed| SampleBlocks::new(30, 10, 2, seed).unwrap().iter().flatten().copied().collect::<Vec<_>>();
    assert_ne!(order(0), order(1));
    assert_ne!(order(0)[..30], order(0)[30..]);
}
