//! Quantiles of values that come in parts: their bounds hold, and parts change no bit.

use std::ops::Range;

use fewest_core::{BATCH_ROWS, Error, Partial, derive_seed, order};
use fewest_counts::discretisation::{Discretisation, DiscretisationRule, Quantiles};

fn noise(i: usize) -> f64 {
    (derive_seed(0, i as u64) >> 11) as f64 / (1_u64 << 53) as f64
}

/// Values in all the orders and with all the ties that a sketch might mind.
fn kinds(n: usize) -> Vec<(&'static str, Vec<f64>)> {
    let of = |value: &dyn Fn(usize) -> f64| (0..n).map(value).collect();
    vec![
        ("sorted", of(&|i| i as f64)),
        ("reversed", of(&|i| -(i as f64))),
        ("constant", of(&|_| 2.5)),
        ("noise", of(&noise)),
        ("heavy tails", of(&|i| (noise(i) - 0.5).powi(-9) * 1e200)),
        ("few values", of(&|i| (5.0 * noise(i)).floor())),
        (
            "half zeros of both signs",
            of(&|i| if i % 2 == 0 { noise(i) - 0.5 } else { [0.0, -0.0][i / 2 % 2] }),
        ),
        ("saw", of(&|i| (i % 1000) as f64 + (i / 1000) as f64 * 1e-3)),
        ("smallest numbers", of(&|i| f64::from_bits((noise(i) * 100.0) as u64))),
    ]
}

/// The quantiles of batches of values, merged as sums over rows are.
fn part(values: &[f64], batches: Range<usize>, capacity: usize) -> Result<Partial<Quantiles>, Error> {
    let mut part = Partial::new(batches.start);
    for batch in values.chunks(BATCH_ROWS).skip(batches.start).take(batches.len()) {
        part.push(Quantiles::new(batch.to_vec(), capacity), merge)?;
    }
    Ok(part)
}

fn merge(own: &mut Quantiles, later: Quantiles) -> Result<(), Error> {
    own.merge(later);
    Ok(())
}

fn whole(values: &[f64], capacity: usize) -> Result<Quantiles, Error> {
    let all = part(values, 0..values.len().div_ceil(BATCH_ROWS), capacity)?;
    Ok(all.finish(merge)?.expect("values"))
}

/// Against the sorted values, for every rank: certain ends hold, and a middle is as near as is told.
#[test]
fn bounds_hold_for_every_rank() -> Result<(), Error> {
    for n in [1, 2, 100, BATCH_ROWS, BATCH_ROWS + 1, 5 * BATCH_ROWS + 777] {
        for (name, values) in kinds(n) {
            let mut sorted: Vec<f64> = values.iter().map(|value| value + 0.0).collect();
            order::sort(&mut sorted);
            for capacity in [0, 2, 16, 100, 1024, 1 << 20] {
                let quantiles = whole(&values, capacity)?;
                let (error, what) = (quantiles.rank_error(), format!("{name}, {n} values, {capacity}"));
                assert_eq!(quantiles.count(), n as u64, "{what}");
                if capacity >= n {
                    assert_eq!(error, 0, "{what}");
                }
                let ranks: Vec<u64> = (1..=n as u64).collect();
                for (at, bracket) in quantiles.brackets(&ranks).into_iter().enumerate() {
                    let exact = sorted[at];
                    let told = format!("{what}: rank {} is {exact} in {bracket:?}", at + 1);
                    assert!(bracket.low <= exact && exact <= bracket.high, "{told}");
                    assert!(bracket.low <= bracket.middle && bracket.middle <= bracket.high, "{told}");
                    if error == 0 {
                        assert_eq!((bracket.low, bracket.high), (exact, exact), "{told}");
                    }
                    // The ranks of the middle, from 0.
                    let below = sorted.partition_point(|value| *value < bracket.middle);
                    let up_to = sorted.partition_point(|value| *value <= bracket.middle);
                    assert!(below < up_to, "{told}: not a value");
                    let distance = below.saturating_sub(at).max((at + 1).saturating_sub(up_to));
                    assert!(distance as u64 <= error, "{told}: {distance} ranks off, {error} told");
                }
                // No rank is below the smallest value or above the largest.
                let ends = quantiles.brackets(&[0, u64::MAX]);
                assert_eq!((ends[0].low, ends[1].high), (sorted[0], sorted[n - 1]), "{what}");
            }
        }
    }
    Ok(())
}

/// What is told stays as small as the documentation says, and so does the memory.
#[test]
fn errors_grow_as_the_logarithm() -> Result<(), Error> {
    let (capacity, doublings) = (BATCH_ROWS, 6);
    let n = capacity << doublings;
    for (name, values) in kinds(n) {
        let quantiles = whole(&values, capacity)?;
        let most = (n * doublings / (4 * capacity)) as u64;
        let error = quantiles.rank_error();
        assert!(0 < error && error <= most, "{name}: {error} of at most {most}");
    }
    Ok(())
}

/// Cut at any batches, and put together in any order.
#[test]
fn parts_change_no_bit() -> Result<(), Error> {
    let n_batches = 9;
    for (name, values) in kinds((n_batches - 1) * BATCH_ROWS + 50) {
        for capacity in [64, 3000] {
            let expected = whole(&values, capacity)?;
            for first in 0..=n_batches {
                for second in first..=n_batches {
                    let of = |batches: Range<usize>| part(&values, batches, capacity);
                    let (mut all, mut rest) = (of(0..first)?, of(first..second)?);
                    rest.append(of(second..n_batches)?, merge)?;
                    all.append(rest, merge)?;
                    let found = all.finish(merge)?.expect("values");
                    assert_eq!(found, expected, "{name}, {capacity}, cut at {first} and {second}");
                }
            }
        }
    }
    Ok(())
}

/// The bins of a table from values of ranks: `⌊b r/n⌋`, with `r` the number of values below, is the number of
/// those of the `⌈c n/b⌉`-th smallest values that are below.
#[test]
fn bins_of_equally_many_samples_are_between_values_of_ranks() -> Result<(), Error> {
    for n in [1, 2, 3, 7, 10, 97, 1000] {
        for (name, values) in kinds(n) {
            for bins in [2, 3, 5, 10, 64] {
                let ranks: Vec<u64> =
                    (1..bins as u64).map(|c| (c * n as u64).div_ceil(bins as u64)).collect();
                let cuts = Quantiles::new(values.clone(), n).brackets(&ranks);
                let bin = |value: &f64| cuts.partition_point(|cut| cut.middle < *value);
                // Levels are the bins that occur.
                let found: Vec<usize> = values.iter().map(bin).collect();
                let mut occur = found.clone();
                order::sort_indices(&mut occur);
                occur.dedup();
                let level = |bin: &usize| occur.partition_point(|other| other < bin) as u32;
                let discretisation = DiscretisationRule::EqualFrequency;
                let rule = Discretisation { discretisation, bins, ..Discretisation::default() };
                let expected = rule.levels(&values, None)?.codes;
                assert_eq!(found.iter().map(level).collect::<Vec<_>>(), expected, "{name}, {n}, {bins}");
                let below = |value: &f64| values.iter().filter(|other| *other < value).count();
                let defined: Vec<usize> = values.iter().map(|value| bins * below(value) / n).collect();
                assert_eq!(found, defined, "{name}, {n}, {bins}");
            }
        }
    }
    Ok(())
}

#[test]
fn quantiles_of_nothing_are_infinite() {
    let mut none = Quantiles::new(Vec::new(), 10);
    assert_eq!((none.count(), none.rank_error()), (0, 0));
    let bracket = none.brackets(&[1])[0];
    assert_eq!((bracket.low, bracket.high), (f64::NEG_INFINITY, f64::NEG_INFINITY));
    none.merge(Quantiles::new(vec![1.0], 10));
    assert_eq!(none, Quantiles::new(vec![1.0], 10));
}
