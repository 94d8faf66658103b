use fewest_core::State;
use proptest::prelude::*;

use super::*;

fn sum(values: &[f64]) -> ExactSum {
    let mut sum = ExactSum::default();
    values.iter().for_each(|value| sum.add(*value).unwrap());
    sum
}

fn bytes(state: &impl State) -> Vec<u8> {
    let mut to = Vec::new();
    state.save(&mut to);
    to
}

/// Any finite number, subnormal ones and both zeros among them.
fn number() -> impl Strategy<Value = f64> {
    any::<u64>().prop_map(f64::from_bits).prop_filter("finite", |value| value.is_finite())
}

/// Numbers of similar size, as columns have.
fn usual() -> impl Strategy<Value = f64> {
    (-1_000_000_i64..1_000_000, -30..30).prop_map(|(whole, power)| whole as f64 * 2_f64.powi(power))
}

fn numbers() -> impl Strategy<Value = Vec<f64>> {
    prop_oneof![prop::collection::vec(number(), 0..40), prop::collection::vec(usual(), 0..200)]
}

proptest! {
    /// In another order, in parts that are added up before others, and through bytes.
    #[test]
    fn no_order_and_no_division_changes_a_bit(
        (values, shuffled) in numbers().prop_flat_map(|v| (Just(v.clone()), Just(v).prop_shuffle())),
        cuts in prop::collection::vec(1_usize..20, 1..6),
    ) {
        let whole = sum(&values);
        let (mut merged, mut rest, mut cut) = (ExactSum::default(), shuffled.as_slice(), cuts.iter().cycle());
        while !rest.is_empty() {
            let (part, others) = rest.split_at(rest.len().min(*cut.next().unwrap()));
            let part = bytes(&sum(part));
            merged.merge(&ExactSum::load(&mut part.as_slice()).unwrap());
            rest = others;
        }
        prop_assert_eq!(bytes(&merged), bytes(&whole));
        prop_assert_eq!(merged.value().to_bits(), whole.value().to_bits());
    }

    /// Sums and products of two numbers are rounded correctly by the machine, over the whole range.
    #[test]
    fn two_terms_and_a_product_are_rounded_as_the_machine_does(a in number(), b in number()) {
        prop_assert_eq!(sum(&[a, b]).value(), a + b);
        let mut product = ExactSum::default();
        product.add_product(a, b).unwrap();
        prop_assert_eq!(product.value(), a * b);
        prop_assert_eq!(bytes(&sum(&[a]).times(&sum(&[b]))), bytes(&product));
        // Near 0, where products are below the smallest numbers.
        let (a, b) = (a.rem_euclid(1.0) * 1e-160, b.rem_euclid(1.0) * 1e-160);
        let mut product = ExactSum::default();
        product.add_product(a, b).unwrap();
        prop_assert_eq!(product.value(), a * b);
    }

    /// Whole numbers in units of 2⁻⁴⁰ are summed by an integer, which the machine rounds correctly.
    #[test]
    fn many_terms_are_rounded_once(
        terms in prop::collection::vec((-(1_i64 << 53)..=1 << 53, 0..60), 0..100),
    ) {
        let exact: i128 = terms.iter().map(|(whole, power)| i128::from(*whole) << power).sum();
        let values: Vec<f64> =
            terms.iter().map(|(whole, power)| *whole as f64 * 2_f64.powi(power - 40)).collect();
        prop_assert_eq!(sum(&values).value(), exact as f64 * 2_f64.powi(-40));
    }

    /// `(a + b) c = a c + b c`, to the bit.
    #[test]
    fn products_of_sums_are_exact(a in numbers(), b in numbers(), c in numbers()) {
        let (a, b, c) = (sum(&a), sum(&b), sum(&c));
        let mut both = a.clone();
        both.merge(&b);
        let mut products = a.times(&c);
        products.merge(&c.times(&b));
        prop_assert_eq!(bytes(&both.times(&c)), bytes(&products));
        prop_assert_eq!(both.minus(&b).minus(&a).window(), None);
        prop_assert_eq!(bytes(&a.shifted(5).shifted(-5)), bytes(&a));
    }

    /// Whole numbers have moments that integers know.
    #[test]
    fn moments_are_those_of_integers(values in prop::collection::vec(-1_000_000_000_i64..1_000_000_000, 1..100)) {
        let mut moments = ExactMoments::default();
        values.iter().for_each(|value| moments.add(*value as f64).unwrap());
        let unit = Unit::of([&moments]);
        let found = moments.moments(unit).unwrap();
        let n = values.len() as i128;
        let total: i128 = values.iter().map(|value| i128::from(*value)).sum();
        let squares: i128 = values.iter().map(|value| i128::from(*value).pow(2)).sum();
        let divisor = unit.divisor();
        prop_assert_eq!(found.deviations * divisor * divisor, (n * squares - total * total) as f64 / n as f64);
        let mean = total as f64 / n as f64;
        prop_assert!((found.mean() * divisor - mean).abs() <= 1e-15 * mean.abs());
    }

    /// Products of deviations, from their definition.
    #[test]
    fn products_are_those_of_integers(
        pairs in prop::collection::vec((-1_000_000_i64..1_000_000, -1_000_000_i64..1_000_000), 1..100),
    ) {
        let mut products = ExactProducts::default();
        pairs.iter().for_each(|(x, y)| products.add(*x as f64, *y as f64).unwrap());
        let sum = |term: &dyn Fn(i128, i128) -> i128| -> i128 {
            pairs.iter().map(|(x, y)| term((*x).into(), (*y).into())).sum()
        };
        let n = pairs.len() as i128;
        let exact = n * sum(&|x, y| x * y) - sum(&|x, _| x) * sum(&|_, y| y);
        let (x, y) = (Unit::of([&products.x]), Unit::of([&products.y]));
        prop_assert_eq!(products.product(x, y) * x.divisor() * y.divisor(), exact as f64 / n as f64);
    }
}

#[test]
fn what_cancels_leaves_no_trace() {
    assert_eq!(sum(&[1e308, 1e308, -1e308, -1e308, 5e-324]).value(), 5e-324);
    assert_eq!(sum(&[1.0, 1e100, 1.0, -1e100]).value(), 2.0);
    assert_eq!(bytes(&sum(&[1e308, -1e308])), bytes(&ExactSum::default()));
    assert_eq!(sum(&[0.0, -0.0]).value().to_bits(), 0.0_f64.to_bits());
}

#[test]
fn beyond_the_range_is_infinite_and_comes_back() {
    let mut large = sum(&[f64::MAX, f64::MAX]);
    assert_eq!(large.value(), f64::INFINITY);
    large.merge(&sum(&[-f64::MAX; 4]));
    assert_eq!(large.value(), f64::NEG_INFINITY);
    large.merge(&sum(&[f64::MAX]));
    assert_eq!(large.value(), -f64::MAX);
    // Half a unit of the last place more is a tie, which goes to the even number: none.
    let half = 2_f64.powi(970);
    assert_eq!(sum(&[f64::MAX, half]).value(), f64::INFINITY);
    assert_eq!(sum(&[f64::MAX, half, -f64::from_bits(1)]).value(), f64::MAX);
}

/// Sums of as many terms as there can be are carried before an integer is full.
#[test]
fn sums_of_very_many_terms_are_exact() {
    let mut many = sum(&[1.5, -0.1, f64::MAX, 3e-310]);
    let mut doubled = many.clone();
    (0..63).for_each(|_| doubled.merge(&doubled.clone()));
    many = many.times(&ExactSum::whole(1 << 63));
    assert_eq!(bytes(&doubled), bytes(&many));
}

#[test]
fn what_is_not_finite_is_refused_and_changes_nothing() {
    let mut sum = sum(&[3.0]);
    for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert!(sum.add(value).is_err() && sum.add_product(1.0, value).is_err());
        assert!(sum.add_product(value, 0.0).is_err());
    }
    assert_eq!(sum.value(), 3.0);
}

/// The squares of values as large and as small as there are neither overflow nor vanish, and values that are
/// all equal do not vary.
#[test]
fn extreme_values_have_moments() {
    for scale in [1.0, 2_f64.powi(1020), 2_f64.powi(-1070)] {
        let mut moments = ExactMoments::default();
        [1.0, 2.0, 6.0].iter().for_each(|value| moments.add(value * scale).unwrap());
        let unit = Unit::of([&moments]);
        let found = moments.moments(unit).unwrap();
        assert!((found.deviations * (unit.divisor() / scale).powi(2) - 14.0).abs() < 1e-13, "{scale}");
        let mut equal = ExactMoments::default();
        (0..7).for_each(|_| equal.add(0.1 * scale).unwrap());
        assert_eq!(equal.moments(Unit::of([&equal])).unwrap().deviations, 0.0);
    }
    assert_eq!(ExactMoments::default().moments(Unit::of([])), None);
}

#[test]
fn broken_states_are_errors() {
    let saved = bytes(&sum(&[1.0, -1e-300]));
    for len in 0..saved.len() {
        assert!(ExactSum::load(&mut &saved[..len]).is_err());
    }
    let mut far = bytes(&ExactSum::whole(1).shifted(-513));
    assert!(ExactSum::load(&mut far.as_slice()).is_err());
    far = bytes(&ExactSum::whole(1).shifted(-512));
    assert!(ExactSum::load(&mut far.as_slice()).is_ok());
}
