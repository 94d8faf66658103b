//! Losses against their definitions: derivatives by differences, conjugates by Fenchel and Young, weights,
//! offsets, ties, and fitted values of any size.

use fewest_core::derive_seed;
use fewest_solver::Error;
use fewest_solver::certificate::relative;
use fewest_solver::loss::{
    Cox, Huber, Logistic, Loss, Multinomial, Poisson, RowNorm, Samples, ScalarLoss, Separable, Squared,
    SquaredHinge, Ties,
};

type Tested = Result<(), Error>;

const N: usize = 9;

fn noise(n: usize, seed: u64) -> Vec<f64> {
    (0..n as u64).map(|i| 2.0 * (derive_seed(seed, i) as f64 / u64::MAX as f64) - 1.0).collect()
}

fn signs() -> Vec<f64> {
    (0..N).map(|i| if i % 3 == 0 { 1.0 } else { -1.0 }).collect()
}

const TIMES: [f64; N] = [3.0, 1.0, 4.0, 1.0, 5.0, 1.0, 4.0, 6.0, 2.0];
const EVENTS: [bool; N] = [true, true, true, true, false, false, true, true, true];

type Losses = Vec<(&'static str, Box<dyn Loss>)>;

/// Every loss with the weights `samples`; all smooth near the points of the tests.
fn losses(samples: &Samples) -> Result<Losses, Error> {
    let one = || samples.clone();
    let counts = vec![0.0, 3.0, 1.0, 0.0, 12.0, 2.0, 0.0, 1.0, 5.0];
    Ok(vec![
        ("squared", Box::new(Separable::new(Squared, noise(N, 1), one())?)),
        ("two outputs", Box::new(Separable::new(Squared, noise(2 * N, 1), one())?)),
        ("logistic", Box::new(Separable::new(Logistic, signs(), one())?)),
        ("squared hinge", Box::new(Separable::new(SquaredHinge, signs(), one())?)),
        ("huber", Box::new(Separable::new(Huber::new(0.7)?, noise(N, 2), one())?)),
        ("poisson", Box::new(Separable::new(Poisson, counts, one())?)),
        ("multinomial", Box::new(Multinomial::new((0..N).map(|i| i % 3).collect(), 3, one())?)),
        ("row norm", Box::new(RowNorm::new(noise(3 * N, 3), 1e-9, one())?)),
        ("smooth row norm", Box::new(RowNorm::new(noise(3 * N, 3), 0.9, one())?)),
        ("breslow", Box::new(Cox::new(&TIMES, &EVENTS, Ties::Breslow, one())?)),
        ("efron", Box::new(Cox::new(&TIMES, &EVENTS, Ties::Efron, one())?)),
    ])
}

fn weighted() -> Result<Samples, Error> {
    Samples::weighted(&[1.0, 2.0, 0.5, 1.0, 3.0, 1.0, 0.0, 2.0, 1.0])
}

fn dual(loss: &dyn Loss, fitted: &[f64]) -> Vec<f64> {
    let mut dual = vec![f64::NAN; fitted.len()];
    loss.dual_point(fitted, &mut dual);
    dual
}

/// `DᵀHD` for a change of the fitted values, with the reductions taken off.
fn curvature_along(loss: &dyn Loss, fitted: &[f64], change: &[f64]) -> f64 {
    let (n, c) = (loss.n_samples(), loss.n_outputs());
    let mut h = vec![f64::NAN; n * c * c];
    loss.curvature(fitted, &mut h);
    // Of each output by itself; those of the whole change are their sum.
    let outputs: Vec<usize> = (0..c).collect();
    let reductions = loss.reductions(fitted, change, &outputs);
    let n_rows = reductions.len() / c;
    let row = |at: usize| reductions.iter().skip(at).step_by(n_rows.max(1)).sum::<f64>();
    let mut sum = -(0..n_rows).map(|at| row(at) * row(at)).sum::<f64>();
    for i in 0..n {
        for k in 0..c {
            for l in 0..c {
                let entry = h[i + n * (k + c * l)];
                assert_eq!(entry, h[i + n * (l + c * k)]);
                sum += change[i + k * n] * entry * change[i + l * n];
            }
        }
    }
    sum
}

#[test]
fn derivatives_are_those_of_the_value() -> Tested {
    for samples in [Samples::mean(N), weighted()?] {
        for (name, loss) in losses(&samples)? {
            for (size, seed) in [(0.3, 11), (1.5, 12)] {
                let m = loss.n_samples() * loss.n_outputs();
                let fitted: Vec<f64> = noise(m, seed).iter().map(|z| size * z).collect();
                let change = noise(m, seed + 7);
                let at =
                    |t: f64| -> Vec<f64> { fitted.iter().zip(&change).map(|(z, d)| z + t * d).collect() };
                let slope = |point: &[f64]| -> f64 {
                    -dual(&*loss, point).iter().zip(&change).map(|(a, d)| a * d).sum::<f64>()
                };
                let step = 1e-5;
                let difference = (loss.value(&at(step)) - loss.value(&at(-step))) / (2.0 * step);
                assert!((difference - slope(&fitted)).abs() < 1e-8, "{name}: {difference}");
                // The Hessian, and a little more where it vanishes.
                let second = (slope(&at(step)) - slope(&at(-step))) / (2.0 * step);
                let given = curvature_along(&*loss, &fitted, &change);
                let extra = if ["huber", "row norm", "smooth row norm"].contains(&name) { 0.3 } else { 4e-3 };
                let slack = extra * change.iter().map(|d| d * d).sum::<f64>();
                assert!(given >= second - 1e-6, "{name}: {given} {second}");
                assert!(given <= second + slack, "{name}: {given} {second}");
                assert!(loss.value(&fitted) >= 0.0, "{name}");
            }
        }
    }
    Ok(())
}

/// The gap is 0 at the dual point itself and above 0 elsewhere; it bounds the distance to every other value:
/// `ℓ(Z') ≥ −ℓ*(−tΘ) − t⟨Θ, Z'⟩ = ℓ(Z) − gap − t⟨Θ, Z' − Z⟩`.
#[test]
fn gaps_bound_every_other_value() -> Tested {
    for samples in [Samples::mean(N), weighted()?] {
        for (name, loss) in losses(&samples)? {
            let m = loss.n_samples() * loss.n_outputs();
            for seed in 20..24 {
                let fitted = noise(m, seed);
                let mut dual = dual(&*loss, &fitted);
                let own = loss.loss_gap(&fitted, &dual, 1.0);
                assert!((0.0..=1e-15).contains(&own), "{name}: {own}");
                loss.balance(&mut dual);
                for output in dual.chunks_exact(loss.n_samples()) {
                    assert!(output.iter().sum::<f64>().abs() < 1e-15, "{name}: {output:?}");
                }
                for scale in [0.0, 0.3, 0.9, 1.0] {
                    let gap = loss.loss_gap(&fitted, &dual, scale);
                    assert!(gap >= 0.0 && gap.is_finite(), "{name}: {gap}");
                    for other in 30..60 {
                        let size = 1.0 + f64::from(other - 30);
                        let point: Vec<f64> = noise(m, other as u64).iter().map(|z| size * z).collect();
                        let along: f64 =
                            dual.iter().zip(point.iter().zip(&fitted)).map(|(a, (p, z))| a * (p - z)).sum();
                        let bound = loss.value(&fitted) - gap - scale * along;
                        let value = loss.value(&point);
                        assert!(
                            value >= bound - 1e-12 * value.abs().max(1.0),
                            "{name} {scale}: {value} {bound}"
                        );
                    }
                }
            }
        }
    }
    Ok(())
}

/// `x ln x`.
fn x_ln_x(x: f64) -> f64 {
    if x > 0.0 { x * x.ln() } else { 0.0 }
}

/// Fenchel and Young for the functions of one value: the gap is the sum of its parts, with the conjugate
/// `φ*(−θ)` as it is documented, and infinite outside the conjugate's domain.
#[test]
fn scalar_gaps_are_sums_of_value_and_conjugate() -> Tested {
    let huber = Huber::new(0.7)?;
    type Conjugate = fn(f64, f64) -> f64;
    let squared: Conjugate = |y, dual| 0.5 * dual * dual - dual * y;
    let logistic: Conjugate = |y, dual| x_ln_x(y * dual) + x_ln_x(1.0 - y * dual);
    let hinge: Conjugate = |y, dual| 0.25 * dual * dual - y * dual;
    let poisson: Conjugate = |y, dual| x_ln_x(y - dual) - (y - dual) + y - x_ln_x(y);
    // The last: a dual value outside the domain, for the first observation.
    let functions: [(&dyn ScalarLoss, Conjugate, [f64; 2], f64); 5] = [
        (&Squared, squared, [0.3, -2.0], f64::NAN),
        (&Logistic, logistic, [1.0, -1.0], 1.001),
        (&SquaredHinge, hinge, [1.0, -1.0], -0.001),
        (&huber, squared, [0.3, -2.0], -0.701),
        (&Poisson, poisson, [4.0, 0.0], 4.001),
    ];
    for (function, conjugate, observations, outside) in functions {
        let gap = function.gap(observations[0], 0.2, outside);
        assert!(outside.is_nan() || gap == f64::INFINITY, "{outside}: {gap}");
        for y in observations {
            for z in [-3.0, -0.4, 0.0, 0.9, 2.5] {
                let dual = function.dual(y, z);
                for scale in [0.0, 0.4, 1.0] {
                    let sum = function.value(y, z) + conjugate(y, scale * dual) + scale * dual * z;
                    let gap = function.gap(y, z, scale * dual);
                    assert!((gap - sum).abs() < 1e-13, "{y} {z} {scale}: {gap} {sum}");
                }
            }
        }
    }
    Ok(())
}

/// A sample twice is a sample of weight 2, and one of weight 0 is none; not for Efron's rule, where it is a
/// tie.
#[test]
fn weights_are_copies() -> Tested {
    let weights = [2.0, 1.0, 0.0, 3.0, 1.0, 1.0, 2.0, 0.0, 1.0];
    let rows: Vec<usize> = (0..N).flat_map(|i| vec![i; weights[i] as usize]).collect();
    let pick = |values: &[f64]| -> Vec<f64> {
        values.chunks_exact(N).flat_map(|output| rows.iter().map(|&i| output[i])).collect()
    };
    let copies = || Samples::mean(rows.len());
    let weighted = Samples::weighted(&weights)?;
    let counts: Vec<f64> = (0..N).map(|i| (i % 4) as f64).collect();
    let classes: Vec<usize> = (0..N).map(|i| i % 3).collect();
    let events: Vec<bool> = rows.iter().map(|&i| EVENTS[i]).collect();
    let pairs: Vec<(Box<dyn Loss>, Box<dyn Loss>)> = vec![
        (
            Box::new(Separable::new(Logistic, signs(), weighted.clone())?),
            Box::new(Separable::new(Logistic, pick(&signs()), copies())?),
        ),
        (
            Box::new(Separable::new(Poisson, counts.clone(), weighted.clone())?),
            Box::new(Separable::new(Poisson, pick(&counts), copies())?),
        ),
        (
            Box::new(Multinomial::new(classes.clone(), 3, weighted.clone())?),
            Box::new(Multinomial::new(rows.iter().map(|&i| classes[i]).collect(), 3, copies())?),
        ),
        (
            Box::new(Cox::new(&TIMES, &EVENTS, Ties::Breslow, weighted)?),
            Box::new(Cox::new(&pick(&TIMES), &events, Ties::Breslow, copies())?),
        ),
    ];
    for (weighted, copied) in pairs {
        let fitted = noise(N * weighted.n_outputs(), 5);
        let many = pick(&fitted);
        let (a, b) = (weighted.value(&fitted), copied.value(&many));
        assert!((a - b).abs() < 1e-14, "{a} {b}");
        let (own, of_copies) = (dual(&*weighted, &fitted), dual(&*copied, &many));
        for (k, own) in own.chunks_exact(N).enumerate() {
            for i in 0..N {
                let of = of_copies[k * rows.len()..(k + 1) * rows.len()].iter().zip(&rows);
                let sum: f64 = of.filter(|(_, row)| **row == i).map(|(value, _)| value).sum();
                assert!((own[i] - sum).abs() < 1e-15, "{i}: {} {sum}", own[i]);
            }
        }
    }
    Ok(())
}

/// An offset is part of the fitted value.
#[test]
fn offsets_are_added() -> Tested {
    let shifts = noise(3 * N, 8);
    for c in [1, 2, 3] {
        let samples = Samples::mean(N).with_offsets(shifts[..c * N].to_vec())?;
        let with: Vec<Box<dyn Loss>> = match c {
            1 => vec![
                Box::new(Separable::new(Logistic, signs(), samples.clone())?),
                Box::new(Cox::new(&TIMES, &EVENTS, Ties::Efron, samples)?),
            ],
            2 => vec![Box::new(Separable::new(Squared, noise(2 * N, 1), samples)?)],
            _ => vec![
                Box::new(Multinomial::new((0..N).map(|i| i % 3).collect(), 3, samples.clone())?),
                Box::new(RowNorm::new(noise(3 * N, 3), 1e-9, samples)?),
            ],
        };
        let plain = Samples::mean(N);
        let without: Vec<Box<dyn Loss>> = match c {
            1 => vec![
                Box::new(Separable::new(Logistic, signs(), plain.clone())?),
                Box::new(Cox::new(&TIMES, &EVENTS, Ties::Efron, plain)?),
            ],
            2 => vec![Box::new(Separable::new(Squared, noise(2 * N, 1), plain)?)],
            _ => vec![
                Box::new(Multinomial::new((0..N).map(|i| i % 3).collect(), 3, plain.clone())?),
                Box::new(RowNorm::new(noise(3 * N, 3), 1e-9, plain)?),
            ],
        };
        for (with, without) in with.iter().zip(&without) {
            let fitted = noise(c * N, 9);
            let moved: Vec<f64> = fitted.iter().zip(&shifts).map(|(z, o)| z + o).collect();
            assert!((with.value(&fitted) - without.value(&moved)).abs() < 1e-14);
            for (a, b) in dual(&**with, &fitted).into_iter().zip(dual(&**without, &moved)) {
                assert!((a - b).abs() < 1e-15, "{a} {b}");
            }
        }
    }
    Ok(())
}

/// The partial likelihood as it is written, with both rules of ties, less the logarithm of those who share
/// the time and have not had their event: what would be left if they alone were at risk.
#[test]
fn the_partial_likelihood_is_its_definition() -> Tested {
    let fitted = noise(N, 4);
    let e: Vec<f64> = fitted.iter().map(|z| z.exp()).collect();
    for ties in [Ties::Breslow, Ties::Efron] {
        let mut expected = 0.0;
        for i in (0..N).filter(|&i| EVENTS[i]) {
            // The events at the same time, in the order of the samples.
            let tied: Vec<usize> = (0..N).filter(|&j| EVENTS[j] && TIMES[j] == TIMES[i]).collect();
            let place = tied.iter().position(|&j| j == i).unwrap_or(0) as f64;
            let share = if ties == Ties::Efron { place / tied.len() as f64 } else { 0.0 };
            let at_risk: f64 = (0..N).filter(|&j| TIMES[j] >= TIMES[i]).map(|j| e[j]).sum();
            let less: f64 = tied.iter().map(|&j| share * e[j]).sum();
            let least = (tied.len() as f64 * (1.0 - share)).ln();
            expected += (at_risk - less).ln() - fitted[i] - least;
        }
        let loss = Cox::new(&TIMES, &EVENTS, ties, Samples::mean(N))?;
        assert!((loss.value(&fitted) - expected / N as f64).abs() < 1e-14, "{ties}");
    }
    Ok(())
}

#[test]
fn fitted_values_of_any_size_give_numbers() -> Tested {
    for (name, loss) in losses(&Samples::mean(N))? {
        let m = loss.n_samples() * loss.n_outputs();
        for size in [40.0, 700.0, 1e8] {
            let fitted: Vec<f64> = noise(m, 3).iter().map(|z| size * z).collect();
            let value = loss.value(&fitted);
            assert!(value >= 0.0, "{name} {size}: {value}");
            if value.is_finite() {
                let mut theta = dual(&*loss, &fitted);
                assert!(theta.iter().all(|value| value.is_finite()), "{name} {size}: {theta:?}");
                loss.balance(&mut theta);
                for scale in [0.0, 0.5, 1.0] {
                    let gap = loss.loss_gap(&fitted, &theta, scale);
                    assert!(gap >= 0.0 && gap.is_finite(), "{name} {size}: {gap}");
                }
                assert!(curvature_along(&*loss, &fitted, &noise(m, 2)) >= -1e-15, "{name}");
            } else {
                assert_eq!(name, "poisson");
            }
        }
    }
    Ok(())
}

#[test]
fn what_a_loss_is_not_defined_for_is_an_error() -> Tested {
    let two = || Samples::mean(2);
    assert!(Separable::new(Logistic, vec![1.0, 0.0], two()).is_err());
    assert!(Separable::new(SquaredHinge, vec![1.0, 2.0], two()).is_err());
    assert!(Separable::new(Poisson, vec![1.0, -1e-9], two()).is_err());
    assert!(Separable::new(Squared, vec![1.0, f64::NAN], two()).is_err());
    assert!(Separable::new(Squared, vec![1.0; 3], two()).is_err());
    let none = Separable::new(Squared, Vec::new(), Samples::mean(0));
    assert!(matches!(none, Err(Error::TooFew { minimum: 1, found: 0, .. })), "{none:?}");
    assert!(Huber::new(0.0).is_err() && Huber::new(f64::INFINITY).is_err());
    assert!(Multinomial::new(vec![0, 0], 1, two()).is_err());
    assert!(Multinomial::new(vec![0, 0], 2, two()).is_err(), "a class without a sample");
    assert!(Multinomial::new(vec![0, 2], 2, two()).is_err());
    for n_classes in [1 << 60, usize::MAX] {
        let many = Multinomial::new(vec![0, 1], n_classes, two());
        assert!(matches!(many, Err(Error::TooFew { found: 2, .. })), "{many:?}");
    }
    assert!(RowNorm::new(vec![1.0; 4], 0.0, two()).is_err());
    assert!(Samples::weighted(&[0.0, 0.0]).is_err() && Samples::weighted(&[1.0, -1.0]).is_err());
    assert!(two().with_offsets(vec![1.0; 3]).is_err());
    let cox = |times: &[f64], events: &[bool]| {
        Cox::new(times, events, Ties::Breslow, Samples::mean(times.len())).is_err()
    };
    assert!(cox(&[1.0, 2.0], &[false, false]), "no event");
    assert!(cox(&[1.0, 2.0], &[false, true]), "nobody else at risk");
    assert!(cox(&[1.0, f64::NAN], &[true, true]));
    assert!(!cox(&[1.0, 2.0], &[true, false]));
    Ok(())
}

/// Every loss and its gradient with `Samples::sum` are `n` times those with `Samples::mean`.
#[test]
fn a_sum_is_as_many_means() -> Tested {
    for ((name, sum), (_, mean)) in losses(&Samples::sum(N))?.into_iter().zip(losses(&Samples::mean(N))?) {
        let fitted = noise(N * sum.n_outputs(), 4);
        let (whole, part) = (sum.value(&fitted), mean.value(&fitted));
        assert!((whole - N as f64 * part).abs() < 1e-13 * whole, "{name}: {whole} {part}");
        for (whole, part) in dual(&*sum, &fitted).into_iter().zip(dual(&*mean, &fitted)) {
            assert!((whole - N as f64 * part).abs() < 1e-13, "{name}: {whole} {part}");
        }
    }
    Ok(())
}

/// Events that weigh less than the others, and than 1, do not make the partial likelihood negative.
#[test]
fn light_events_leave_the_loss_above_zero() -> Tested {
    let samples = Samples::weighted(&[0.1, 0.1, 0.1, 10.0])?;
    let loss = Cox::new(&[1.0, 2.0, 3.0, 0.5], &[true, true, true, false], Ties::Breslow, samples)?;
    let expected = 0.1 / 10.3 * 6.0_f64.ln();
    assert!((loss.value(&[0.0; 4]) - expected).abs() < 1e-16);
    assert!(loss.value(&[40.0, 0.0, -40.0, 0.0]) >= 0.0);
    Ok(())
}

/// A gap that is above 0 is not small in relation to nothing, nor to less.
#[test]
fn no_gap_is_small_relative_to_nothing() {
    for size in [0.0, -0.1] {
        assert_eq!((relative(1e-12, size), relative(0.0, size)), (f64::INFINITY, 0.0));
    }
    assert_eq!(relative(1.0, 4.0), 0.25);
}

/// Where the probability of an event underflows, its part of the divergence is as large as it is.
#[test]
fn gaps_of_events_without_probability_are_large() -> Tested {
    for low in [-700.0, -800.0, -1e6] {
        let samples = || Samples::sum(2).with_offsets(vec![low, 0.0]);
        let loss = Cox::new(&[1.0, 2.0], &[true, false], Ties::Breslow, samples()?)?;
        let theta = dual(&loss, &[0.0; 2]);
        let half = 0.5_f64;
        let expected = half * (half.ln() - low) + half * half.ln();
        let gap = loss.loss_gap(&[0.0; 2], &theta, 0.5);
        assert!((gap - expected).abs() < 1e-14 * expected, "{low}: {gap} {expected}");
        let at_zero = loss.loss_gap(&[0.0; 2], &theta, 0.0);
        assert!((at_zero + low).abs() < 1e-14 * at_zero, "{low}: {at_zero}");
    }
    Ok(())
}

/// Also where a class has so little probability that its mean is rounding.
#[test]
fn multinomial_dual_points_are_balanced_anywhere() -> Tested {
    let classes = || (0..N).map(|i| i % 3).collect::<Vec<usize>>();
    for samples in [Samples::mean(N), weighted()?] {
        let loss = Multinomial::new(classes(), 3, samples)?;
        for seed in 0..300 {
            let mut fitted: Vec<f64> = noise(3 * N, seed).iter().map(|z| 3.0 * z).collect();
            fitted[2 * N..].iter_mut().for_each(|z| *z -= 60.0);
            let mut theta = dual(&loss, &fitted);
            loss.balance(&mut theta);
            for output in theta.chunks_exact(N) {
                assert!(output.iter().sum::<f64>().abs() < 1e-15, "{seed}: {output:?}");
            }
            assert!(theta.iter().any(|value| *value != 0.0), "{seed}");
            assert!(loss.loss_gap(&fitted, &theta, 1.0).is_finite(), "{seed}");
        }
    }
    // A class that hardly counts cannot be balanced by a mixture: zero is.
    let tiny = Samples::weighted(&[1.0, 1.0, 1e-30])?;
    let loss = Multinomial::new(vec![0, 1, 2], 3, tiny)?;
    let fitted = noise(9, 1);
    let mut theta = dual(&loss, &fitted);
    loss.balance(&mut theta);
    for output in theta.chunks_exact(3) {
        assert!(output.iter().sum::<f64>().abs() < 1e-15, "{output:?}");
    }
    Ok(())
}

/// A share of a dual value, divided by the share, may round to just beyond its bound.
#[test]
fn rounding_of_shares_leaves_the_gap_finite() -> Tested {
    for n in 1..60 {
        let counts = (0..n).map(|i| f64::from(1 + i)).collect();
        let loss = Separable::new(Poisson, counts, Samples::mean(n as usize))?;
        let fitted = vec![-800.0; n as usize];
        let gap = loss.loss_gap(&fitted, &dual(&loss, &fitted), 1.0);
        assert!(gap < 1e-9, "{n}: {gap}");
        let huber = Separable::new(Huber::new(0.7)?, vec![3.0; n as usize], Samples::mean(n as usize))?;
        let fitted = vec![-1.0; n as usize];
        let gap = huber.loss_gap(&fitted, &dual(&huber, &fitted), 1.0);
        assert!(gap < 1e-12, "{n}: {gap}");
    }
    Ok(())
}
